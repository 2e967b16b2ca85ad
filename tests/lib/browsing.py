"""Chromium's WebDriver, pages for it, and scripts of browser items with what they return."""

import contextlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading

import bed

BROWSER = 22
PAGE = b"""<html><head><title>T</title><script src="/a.js"></script></head><body>
<h1 id="h">Hello</h1><a href="/next">Next page</a><input id="i" value="abc" data-x="1">
<button id="b" onclick="alert('sure')">Ask</button><iframe id="f" src="/frame"></iframe>
<script>performance.mark("m1"); performance.mark("m2"); performance.measure("me", "m1", "m2")
</script></body></html>"""
FILES = {"/a.js": ("text/javascript", b"var a = 1;"),
         "/frame": ("text/html", b"<p id='inner'>Within</p>")}


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, body = FILES.get(self.path, ("text/html", PAGE))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "c=1; Path=/")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Peers:
    """A site and a WebDriver."""

    def __init__(self):
        self.site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=self.site.serve_forever, daemon=True).start()
        self.page = "http://127.0.0.1:%d/" % self.site.server_address[1]
        self.port = bed.free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        self.folder = tempfile.mkdtemp(prefix="vedette-browser-")
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                ["chromedriver", "--port=%d" % self.port], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=self.folder))
        bed.wait_for("the WebDriver", lambda: bed.listens(self.port), pause=0.05)

    def browsers(self):
        """The process ids of the browsers that the WebDriver has open."""
        children = subprocess.run(["ps", "--ppid", str(self.process.pid), "-o", "pid="],
                                  capture_output=True, text=True, check=False)
        return [int(pid) for pid in children.stdout.split()]

    def stop(self):
        browsers = self.browsers()
        self.process.terminate()
        self.process.wait(timeout=60)
        # A browser whose session was not ended outlives its driver.
        for pid in browsers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.site.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)


OPEN = """var options = Browser.chromeOptions();
options.capabilities.alwaysMatch['goog:chromeOptions'].args.push(
    '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage');
var b = new Browser(options);
b.navigate(JSON.parse(value).page);
"""
CAUGHT = "try { %s } catch (e) { return [e instanceof BrowserError, e instanceof Error, %s].join() }"


def cases():
    """Script without its beginning, and what it returns: a text, or the start of an error."""
    return (
        ("return JSON.stringify(Browser.firefoxOptions())",
         '{"capabilities":{"alwaysMatch":{"browserName":"firefox","pageLoadStrategy":"normal",'
         '"moz:firefoxOptions":{"args":["--headless"]}}}}'),
        ("var e = b.findElement('css selector', '#i'); return [e.getAttribute('data-x'), "
         "e.getAttribute('none'), e.getProperty('value'), e.getText(), JSON.stringify(e)].join('|')",
         "1||abc||{}"),
        ("return b.findElement('xpath', '//h1').getText()", "Hello"),
        ("return b.findElement('css selector', '#none')", ""),
        ("return b.findElements('css selector', 'input').length + '|' + "
         "b.findElements('css selector', 'none').length", "1|0"),
        ("var e = b.findElement('css selector', '#i'); e.clear(); e.sendKeys('xyz'); "
         "return e.getProperty('value')", "xyz"),
        ("b.findElement('link text', 'Next page').click(); return b.getUrl().slice(-5)", "/next"),
        ("return b.getPageSource().indexOf('Hello') > 0", "true"),
        ("b.addCookie({name: 'k', value: 'v'}); return b.getCookies().map(function (c) "
         "{ return c.name + '=' + c.value; }).sort().join()", "c=1,k=v"),
        ("b.setScreenSize(800, 600); return b.getScreenshot().slice(0, 5)", "iVBOR"),
        ("return b.getAlert()", ""),
        ("b.findElement('css selector', '#b').click(); var a = b.getAlert(); a.accept(); "
         "return a.text + b.getAlert()", "surenull"),
        ("b.switchFrame(b.findElement('css selector', '#f')); "
         "var t = b.findElement('css selector', '#inner').getText(); b.switchFrame(); "
         "return t + b.findElement('css selector', 'h1').getText()", "WithinHello"),
        ("b.setScriptTimeout(1000); b.setSessionTimeout(2000); b.setElementWaitTimeout(100); "
         "return 1", "1"),
        (CAUGHT % ("b.findElement('bad', 'x')",
                   "String(e).slice(0, 53), b.getResult().error.code, b.getError().http_status"),
         "true,true,Error: cannot find element: invalid argument: invalid,invalid argument,400"),
        ("b.setError('mine'); var r = JSON.stringify(b.getResult().error); b.discardError(); "
         "return r + JSON.stringify(b.getError())",
         '{"http_status":0,"code":"","message":"mine"}null'),
        ("return Object.keys(b.getResult()).join()", "duration"),
        ("return b.getRawPerfEntriesByType('navigation').length + '|' + "
         "(b.getRawPerfEntries().length > 2)", "1|true"),
        ("return Object.keys(Object.getPrototypeOf(b)).length + typeof Element + typeof Alert",
         "0undefinedundefined"),
        ("var l = []; for (var i = 0; i < 5; i++) l.push(new Browser(options)); return 1",
         Exception("Cannot execute script: Error: maximum count of Browser objects was reached")),
        ("b.switchFrame(7)",
         Exception("Cannot execute script: Error: cannot switch frame: no such frame")),
        ("throw new BrowserError('x')", Exception("Cannot execute script: Error: x")),
        ("b.navigate()",
         Exception("Cannot execute script: Error: cannot open url: invalid argument")),
        ("", Exception("Cannot execute script: undefined return value")),
    )


#: Names that results have, in sections that have them; times differ from run to run.
SUMS = {"dns_lookup_time", "tcp_handshake_time", "redirect_time", "request_time", "response_time",
        "resource_fetch_time", "dom_content_loading_time", "load_event_handler_time",
        "unload_event_handler_time", "load_finished", "encoded_size", "total_size",
        "transferred_size", "redirect_count", "count", "min_protocol"}


def shape(result):
    """What a result has, without its times: to be compared between servers."""
    data = result["performance_data"]
    details = []
    for one in data["details"]:
        navigation = dict(one["navigation"])
        navigation.pop("tls_negotiation_time", None)
        details.append({
            "mark": one.get("mark"), "navigation": sorted(navigation),
            "sizes": [navigation["encoded_body_size"], navigation["decoded_body_size"]],
            "resource": sorted(one["resource"]),
            "user": sorted((e["entry_type"], e["name"]) for e in one["user"])})
    summary = {}
    for name, sums in data["summary"].items():
        sums = dict(sums)
        sums.pop("tls_negotiation_time", None)
        # How many resources there are by then is a matter of time.
        counted = ("count", "encoded_size", "total_size", "min_protocol")
        summary[name] = [sorted(sums)] + [sums[n] for n in counted if name == "navigation"]
    return {"members": sorted(set(result) - {"error"}), "data": sorted(data), "details": details,
            "summary": summary, "marks": data.get("marks")}


RESULT = ("b.collectPerfEntries('one'); b.navigate(b.getUrl() + 'next'); "
          "b.collectPerfEntries('two'); return JSON.stringify(b.getResult())")


def ask(api, trapper, page, script, whole=False, timeout="20s"):
    """The value of a browser item, or its error as an exception."""
    data = {"item": {"type": BROWSER, "key": "k", "value_type": 4, "steps": [],
                     "params": script if whole else OPEN + script, "parameters": {"page": page},
                     "timeout": timeout},
            "host": {"hostid": "0", "host": "made up"}, "options": {"single": False, "state": 0}}
    reply = bed.send(("127.0.0.1", trapper),
                     {"request": "item.test", "sid": api.token, "data": data}, timeout=90)
    found = reply.get("data", {}).get("item", reply)
    return found["result"] if "result" in found else Exception(found.get("error", str(found)))


def sessions(peers):
    """How many browsers the WebDriver has open."""
    return len(peers.browsers())


def result(api, trapper, page):
    """The shape of a result with two marks."""
    found = ask(api, trapper, page, RESULT)
    if isinstance(found, Exception):
        raise AssertionError(str(found))
    return shape(json.loads(found))
