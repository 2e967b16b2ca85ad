#!/usr/bin/env python3
"""The cache of responses: a real engine in front of a real server, from a file and configured in the server."""

import http.client
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Handler(http.server.BaseHTTPRequestHandler):
    """A site with a version, which POST makes a newer one. The path of a request names the Cache-Control of its response."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65_536

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers.items())))
        if self.path == "/slow":
            self.server.released.wait(60)
        if self.server.broken:
            self.respond(503, "down")
            return
        tag = '"v%d"' % self.server.version
        if self.headers["If-None-Match"] == tag:
            self.send_response(304)
            self.send_header("Cache-Control", "max-age=600")
            self.send_header("ETag", tag)
            self.end_headers()
            return
        self.respond(200, "version %d" % self.server.version, {
            "/fresh": {"Cache-Control": "max-age=600"},
            "/slow": {"Cache-Control": "max-age=600"},
            "/old": {"Cache-Control": "max-age=600", "Age": "900"},
            "/private": {"Cache-Control": "private, max-age=600"},
            "/login": {"Cache-Control": "public, max-age=600", "Set-Cookie": "id=%d" % len(self.server.requests)},
            "/swr": {"Cache-Control": "max-age=1, stale-while-revalidate=600", "Age": "2"},
            "/robust": {"Cache-Control": "max-age=1, stale-if-error=600", "Age": "2"},
        }.get(self.path, {}), tag)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.version += 1
        self.respond(200, "changed")

    def respond(self, status, text, headers=(), tag=None):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        if tag:
            self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class Site:
    """The server, and a client of the engine."""

    def __init__(self, test):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.version, self.server.broken, self.server.requests = 1, False, []
        self.server.released = threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)
        self.backend = self.server.server_address[1]
        self.port = bed.free_port()

    def ask(self, path, method="GET", body=None, **headers):
        """Status, headers and text of a response."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            client.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = client.getresponse()
            return response.status, response.headers, response.read().decode()
        finally:
            client.close()

    def text(self, path, **headers):
        return self.ask(path, **headers)[2]

    def count(self, path):
        return sum(1 for one, _ in self.server.requests if one == path)


class FromFile(bed.unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.site = Site(self)
        self.log = os.path.join(self.folder, "engine.log")

    def write(self, **cache):
        config = {
            "threads": 2, "name": "lb-1", "transactions": {"folder": os.path.join(self.folder, "records")},
            "virtual_services": [{
                "name": "web", "type": "http", "listen": "127.0.0.1:%d" % self.site.port, "pool": "app",
                "cache": {"size": "8M", "status_header": True, **cache}}],
            "pools": [{"name": "app", "servers": [{"name": "s", "address": "127.0.0.1:%d" % self.site.backend}]}]}
        path = os.path.join(self.folder, "lb.yaml")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(config, file)
        os.rename(path + ".new", path)
        return path

    def start(self):
        path = self.write()
        with open(self.log, "wb") as log:
            self.engine = subprocess.Popen(
                [bed.BINARY, "engine", "--config", path, "--control", self.control()], stderr=log,
                stdout=subprocess.DEVNULL)
        self.addCleanup(self.engine.wait)
        self.addCleanup(self.engine.terminate)
        bed.wait_for("the engine to listen", lambda: bed.listens(self.site.port))

    def control(self):
        return os.path.join(self.folder, "control")

    def purge(self, *what):
        """What the command prints."""
        return subprocess.run(
            [bed.BINARY, "engine", "purge", "--control", self.control(), *what], check=True, timeout=60,
            capture_output=True, text=True).stdout

    def reload(self, **cache):
        def applied():
            with open(self.log, encoding="utf-8") as log:
                return log.read().count(" applied")
        before = applied()
        self.write(**cache)
        self.engine.send_signal(signal.SIGHUP)
        bed.wait_for("the new configuration", lambda: applied() > before)

    def records(self, condition):
        """The records with a value of the column cache."""
        found = subprocess.run(
            [bed.BINARY, "transactions", "--folder", os.path.join(self.folder, "records"), "--json", condition],
            check=True, timeout=60, capture_output=True, text=True)
        return [json.loads(line) for line in found.stdout.splitlines()]

    def test_responses_are_kept_as_long_as_they_may_be(self):
        self.start()
        site = self.site
        _, headers, text = site.ask("/fresh")
        self.assertEqual((text, headers["Cache-Status"]), ("version 1", "vedette; fwd=miss; stored"))
        status, headers, text = site.ask("/fresh")
        self.assertEqual((status, text), (200, "version 1"))
        self.assertTrue(headers["Cache-Status"].startswith("vedette; hit; ttl="), headers["Cache-Status"])
        self.assertEqual(site.ask("/fresh", If_None_Match='"v1"')[0], 304)
        self.assertEqual(site.ask("/fresh", method="HEAD")[1]["Content-Length"], "9")
        self.assertEqual(site.count("/fresh"), 1)
        # A stale response is confirmed by the server, and is then fresh.
        for _ in range(3):
            self.assertEqual(site.text("/old"), "version 1")
        self.assertEqual(site.count("/old"), 2)
        # What is for one user goes to the server.
        self.assertNotEqual(site.ask("/login")[1]["Set-Cookie"], site.ask("/login")[1]["Set-Cookie"])
        for _ in range(2):
            site.ask("/private")
            site.ask("/fresh", Cookie="session=1")
        self.assertEqual((site.count("/private"), site.count("/fresh")), (2, 3))
        # A change removes what is stored of its resource, and of no other.
        self.assertEqual(site.ask("/fresh", method="POST", body="x")[2], "changed")
        self.assertEqual((site.text("/fresh"), site.text("/old")), ("version 2", "version 1"))
        # A server that fails.
        self.assertEqual(site.text("/robust"), "version 2")
        site.server.broken = True
        self.assertEqual(site.text("/robust"), "version 2")
        self.assertEqual(site.ask("/private")[0], 503)
        site.server.broken = False
        # Other settings begin with nothing.
        before = site.count("/fresh")
        self.reload(max_objects=9)
        # A thread may use the settings before until it has woken up.
        bed.wait_for("an empty cache", lambda: site.text("/fresh") and site.count("/fresh") > before)

        def counts():
            words = ["hit", "miss", "revalidated", "stale", "passed"]
            return {word: len(self.records("cache=%s path!=/fresh" % word)) for word in words}
        wanted = {"hit": 2, "miss": 7, "revalidated": 1, "stale": 1, "passed": 0}
        bed.wait_for("the records", lambda: sum(counts().values()) == sum(wanted.values()))
        self.assertEqual(counts(), wanted)
        stale, = self.records("cache=stale")
        self.assertEqual((stale["status"], stale["server_status"]), (200, 503))
        for hit in self.records("cache=hit"):
            self.assertEqual((hit["server"], hit["server_status"], hit["end"]), ("", 0, "complete"))


    def test_equal_requests_are_one_and_responses_are_purged(self):
        self.start()
        site = self.site
        texts = []
        clients = [threading.Thread(target=lambda: texts.append(site.text("/slow"))) for _ in range(10)]
        for client in clients:
            client.start()
        bed.wait_for("a request at the server", lambda: site.count("/slow") == 1)
        site.server.released.set()
        for client in clients:
            client.join(60)
        self.assertEqual((texts, site.count("/slow")), (["version 1"] * 10, 1))
        # The client does not wait for the validation of an expired response.
        self.assertEqual(site.text("/swr"), "version 1")
        site.server.version = 2
        _, headers, text = site.ask("/swr")
        self.assertEqual(text, "version 1")
        self.assertTrue(headers["Cache-Status"].startswith("vedette; hit; ttl=-"), headers["Cache-Status"])
        bed.wait_for("the validated response", lambda: site.text("/swr") == "version 2")
        # URIs have the host as the client sends it, with the port.
        host = "127.0.0.1:%d" % site.port
        self.assertEqual(site.text("/slow"), "version 1")
        self.assertEqual(self.purge("--uri", host + "/slow"), "1 responses removed\n")
        self.assertEqual(site.text("/slow"), "version 2")
        self.assertEqual(self.purge("--service", "web", "--prefix", host + "/s"), "2 responses removed\n")
        self.assertEqual(self.purge("--all"), "0 responses removed\n")
        with self.assertRaises(subprocess.CalledProcessError) as failed:
            self.purge("--service", "none", "--all")
        self.assertIn("virtual service 'none' does not exist or has no cache", failed.exception.stderr)


class InTheServer(bed.Case):
    engines = bed.free_port()
    arguments = ("--engines", "127.0.0.1:%d" % engines)

    def create(self, kind, **members):
        return next(iter(self.api.call(kind + ".create", **members).values()))[0]

    def test_services_have_a_cache(self):
        site = Site(self)
        server = {"name": "s", "address": "127.0.0.1", "port": site.backend}
        pool = self.create("pool", name="app", servers=[server])
        engines = self.create("enginegroup", name="edge")
        vip = self.create("vip", name="loopback", ipv4="127.0.0.1")
        cache = {"size": "8M", "max_object": "1M", "key_headers": ["X-Tenant"]}
        service = self.create(
            "virtualservice", name="web", port=site.port, poolid=pool, enginegroupid=engines, vipid=vip, cache=cache,
            rules=[{"if": {"path_prefix": "/old"}, "then": {"no_cache": True}}])
        found, = self.api.call("virtualservice.get", virtualserviceids=[service], output=["cache"])
        self.assertEqual(found["cache"], cache)
        with self.assertRaises(bed.ApiError) as refused:
            self.api.call("virtualservice.update", virtualserviceid=service, cache={"size": "8M", "max_object": "3M"})
        self.assertIn("'cache.max_object' is at most a quarter of 'cache.size'", str(refused.exception))
        found, = self.api.call("enginegroup.configuration", enginegroupids=[engines])
        self.assertIn("cache", json.dumps(found["configuration"]))
        engine = self.create("engine", name="one", enginegroupid=engines)
        away = self.create("engine", name="two", enginegroupid=engines)
        made, = self.api.call("engine.generate", [engine])
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = subprocess.Popen(
            [bed.BINARY, "engine", "--controller", "127.0.0.1:%d" % self.engines, "--data", folder.name],
            env={**os.environ, "VEDETTE_ENGINE_TOKEN": made["token"]})
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        bed.wait_for("the engine to listen", lambda: bed.listens(site.port))
        for tenant in ("a", "b", "a", "b"):
            self.assertEqual(site.text("/fresh", X_Tenant=tenant), "version 1")
        self.assertEqual(site.count("/fresh"), 2)
        for _ in range(2):
            site.text("/old")
        self.assertEqual(site.count("/old"), 2)
        conditions = [headers.get("If-None-Match") for path, headers in site.server.requests if path == "/old"]
        self.assertEqual(conditions, [None, None], "nothing is stored")
        uri = "127.0.0.1:%d/fresh" % site.port
        purged, = self.api.call("virtualservice.purge", virtualserviceids=[service], uri=uri)
        self.assertEqual((purged["virtualserviceid"], purged["purged"]), (service, "2"))
        errors = {one["engineid"]: one["error"] for one in purged["engines"]}
        self.assertEqual(errors, {engine: "", away: "the engine is not connected"})
        self.assertEqual(site.text("/fresh", X_Tenant="a"), "version 1")
        self.assertEqual(site.count("/fresh"), 3)
        for wrong in ({}, {"uri": uri, "all": True}, {"uri": "/fresh"}):
            with self.assertRaises(bed.ApiError):
                self.api.call("virtualservice.purge", virtualserviceids=[service], **wrong)


if __name__ == "__main__":
    bed.main()
