#!/usr/bin/env python3
"""HTTP agent items against nginx, through tinyproxy, and against servers that do it wrong."""

import os
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import webcases  # noqa: E402
import webpeer  # noqa: E402

NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
  fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  gzip on; gzip_types *; gzip_min_length 1;
  server {{
    listen 127.0.0.1:{plain};
    location /status {{ stub_status; }}
    location /secret {{ auth_basic "r"; auth_basic_user_file {folder}/users; root {folder}/files; }}
    location /file {{ root {folder}/files; }}
    location /moved {{ return 301 /status; }}
    location /away {{ return 302 https://localhost:{tls}/; }}
  }}
  server {{
    listen 127.0.0.1:{tls} ssl; ssl_certificate {folder}/web.pem; ssl_certificate_key {folder}/web.key;
    location / {{ return 200 "safe"; }}
  }}
  server {{
    listen 127.0.0.1:{mutual} ssl; ssl_certificate {folder}/web.pem; ssl_certificate_key {folder}/web.key;
    ssl_client_certificate {folder}/client.pem; ssl_verify_client on;
    location / {{ return 200 "you are $ssl_client_s_dn"; }}
  }}
}}
"""


class Program:
    """A peer with a configuration file, stopped by its own pid."""

    def __init__(self, command, log):
        self.log = open(log, "ab")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()


class Http(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.server = server = bed.Server()
        cls.addClassCleanup(server.clean)
        cls.folder = folder = server.folder
        authorities, certs, keys = (os.path.join(folder, name) for name in ("ca", "certs", "keys"))
        for made in (authorities, certs, keys, folder + "/files/file"):
            os.makedirs(made)
        with open(folder + "/files/secret", "w") as f:
            f.write("in")
        webpeer.certificate(folder)
        client = webpeer.certificate(folder, "client", "somebody", password="pass word")
        shutil.copy(client[0], certs)
        shutil.copy(client[1], keys)
        shutil.copy(folder + "/web.pem", authorities)
        subprocess.run(["openssl", "rehash", authorities], check=True, capture_output=True)
        with open(folder + "/users", "w") as f:
            f.write("monitor:{PLAIN}secret\n")
        with open(folder + "/files/file/text", "w") as f:
            f.write("packed " * 1000)
        cls.ports = {name: bed.free_port() for name in ("plain", "tls", "mutual", "proxy")}
        with open(folder + "/nginx.conf", "w") as f:
            f.write(NGINX.format(folder=folder, **cls.ports))
        with open(folder + "/proxy.conf", "w") as f:
            f.write("Port %d\nListen 127.0.0.1\nTimeout 10\nMaxClients 20\nAllow 127.0.0.1\n"
                    "BasicAuth user word\nLogLevel Error\nConnectPort %d\n"
                    % (cls.ports["proxy"], cls.ports["tls"]))
        for command in (["/usr/sbin/nginx", "-c", folder + "/nginx.conf", "-p", folder, "-e", "stderr"],
                        ["/usr/bin/tinyproxy", "-d", "-c", folder + "/proxy.conf"]):
            program = Program(command, folder + "/peers.log")
            cls.addClassCleanup(program.stop)
        server.arguments += ["--ssl-ca-location", authorities, "--ssl-cert-location", certs,
                             "--ssl-key-location", keys]
        server.start()
        cls.api = server.api()
        cls.peer = webpeer.WebPeer()
        cls.addClassCleanup(cls.peer.stop)
        for name in ("plain", "proxy"):
            bed.wait_for(name, lambda name=name: bed.socket.create_connection(
                ("127.0.0.1", cls.ports[name]), 5).close() or True)

    def url(self, name, path="/", host="localhost"):
        return "%s://%s:%d%s" % ("http" if name == "plain" else "https", host, self.ports[name], path)

    def ask(self, timeout="60s", **case):
        """What an item would get: its value, or its error."""
        data = {"item": dict(webcases.DEFAULTS, timeout=timeout, **case), "host": {"hostid": "0"},
                "options": {"single": False, "state": 0}}
        answer = bed.send(
            self.server.address, {"request": "item.test", "sid": self.api.token, "data": data}, timeout=90)
        item = answer["data"]["item"]
        return item.get("result", item.get("error"))

    def test_nginx(self):
        self.assertIn("Active connections: ", self.ask(url=self.url("plain", "/status")))
        self.assertIn("Active connections: ", self.ask(url=self.url("plain", "/moved")))
        self.assertEqual(self.ask(url=self.url("plain", "/file/text")), "packed " * 1000)
        secret = self.url("plain", "/secret")
        self.assertIn('Response code "401"', self.ask(url=secret))
        self.assertEqual(
            self.ask(url=secret, authtype=1, username="monitor", password="secret"), "in")
        self.assertEqual(self.ask(url=self.url("plain", "/away"), verify_peer=1, verify_host=1), "safe")
        both = self.ask(url=self.url("plain", "/file/none"), retrieve_mode=2, status_codes="404")
        self.assertTrue(both.startswith("HTTP/1.1 404 Not Found\r\nServer: nginx"), both)

    def test_tls(self):
        self.assertEqual(self.ask(url=self.url("tls"), verify_peer=1, verify_host=1), "safe")
        address = self.url("tls", host="127.0.0.1")
        self.assertEqual(self.ask(url=address, verify_peer=1), "safe")
        self.assertIn("no alternative certificate subject name",
                      self.ask(url=address, verify_peer=1, verify_host=1))
        mutual = {"url": self.url("mutual"), "ssl_cert_file": "client.pem", "ssl_key_file": "client.key"}
        self.assertEqual(self.ask(ssl_key_password="pass word", **mutual), "you are CN=somebody")
        self.assertIn("could not use the private key", self.ask(ssl_key_password="x", **mutual))
        self.assertIn('Response code "400"', self.ask(url=self.url("mutual")))
        outside = dict(mutual, ssl_cert_file="../web.pem")
        self.assertIn("it must be in", self.ask(**outside))

    def test_proxy(self):
        proxy = "http://user:word@127.0.0.1:%d" % self.ports["proxy"]
        self.assertIn("Active connections", self.ask(url=self.url("plain", "/status"), http_proxy=proxy))
        self.assertEqual(
            self.ask(url=self.url("tls"), http_proxy=proxy, verify_peer=1, verify_host=1), "safe")
        nobody = "127.0.0.1:%d" % self.ports["proxy"]
        self.assertIn("CONNECT tunnel failed, response 407",
                      self.ask(url=self.url("tls"), http_proxy=nobody))
        self.assertIn('Response code "407"', self.ask(url=self.url("plain", "/status"), http_proxy=nobody))

    def test_broken_servers_cost_little(self):
        before = self.server.memory_kib()
        for path, text in (("/bomb", "larger than"), ("/endless", "larger than"), ("/hugehead/400", "Too large"),
                           ("/huge/200000000", "larger than"), ("/badchunk", "not a hex digit"),
                           ("/truncated", "91 bytes missing")):
            self.assertIn(text, self.ask(url=self.peer.url(path)), path)
        self.assertIn("Operation timed out", self.ask(url=self.peer.url("/slow"), timeout="5s"))
        self.assertLess(self.server.memory_kib() - before, 300 << 10)

    def test_items_are_polled(self):
        """On the schedule, over connections that are used again, from JSON to dependent items."""
        peer = webpeer.WebPeer()
        self.addCleanup(peer.stop)
        hostid, ids = self.host("web", [
            {"key_": "status", "type": 19, "value_type": 4, "delay": "1s", "url": self.url("plain", "/status")},
            {"key_": "echo", "type": 19, "value_type": 4, "delay": "1s", "url": peer.url("/echo"),
             "query_fields": [{"name": "h", "value": "{HOST.HOST} {$WORD}"}], "output_format": 1,
             "headers": [{"name": "X-A", "value": "{$WORD}"}], "post_type": 2, "request_method": 1,
             "posts": '{"a":"{$WORD}"}'},
            {"key_": "gone", "type": 19, "value_type": 4, "delay": "1s", "url": peer.url("/nothing")},
        ], macros=[{"macro": "{$WORD}", "value": 'a"b'}])
        self.api.call("item.create", name="sent", key_="sent", hostid=hostid, type=18, value_type=4,
                      master_itemid=ids["echo"], delay="0",
                      preprocessing=[{"type": 12, "params": "$.body.body", "error_handler": 0,
                                      "error_handler_params": ""}])

        def values():
            found = {item["key_"]: item for item in self.api.call(
                "item.get", hostids=hostid, output=["key_", "lastvalue", "state", "error", "lastclock"])}
            return found if all(found[key]["lastvalue"] for key in ("status", "echo", "sent")) \
                and found["gone"]["state"] == "1" else None
        found = bed.wait_for("values of all items", values)
        self.assertIn("Active connections", found["status"]["lastvalue"])
        self.assertEqual(found["sent"]["lastvalue"], '{"a":"a\\"b"}')
        self.assertIn('"target": "/echo?h=web%20a%22b"', found["echo"]["lastvalue"])
        self.assertIn('["X-A", "a\\"b"]', found["echo"]["lastvalue"])
        self.assertIn('Response code "404"', found["gone"]["error"])
        bed.wait_for("ten requests", lambda: len(peer.seen) >= 10)
        self.assertLess(peer.connections, len(peer.seen) / 2, "connections are not used again")

    def test_dead_servers_do_not_hold_up_the_living(self):
        """10,000 items ask a server that takes connections and never answers; others of the same
        host, so of the same poller, still come each second."""
        dead = socket.create_server(("127.0.0.1", 0), backlog=1)
        self.addCleanup(dead.close)
        address = "http://127.0.0.1:%d/" % dead.getsockname()[1]
        peer = webpeer.WebPeer()
        self.addCleanup(peer.stop)
        hostid, ids = self.host("half dead", [
            {"key_": "living%d" % n, "type": 19, "value_type": 4, "delay": "1s", "url": peer.url("/hello")}
            for n in range(5)])
        self.addCleanup(self.api.call, "host.delete", [hostid])
        for begin in range(0, 10_000, 2_000):
            self.api.call("item.create", [
                {"hostid": hostid, "name": str(n), "key_": "dead%d" % n, "type": 19, "value_type": 4,
                 "delay": "5s", "timeout": "10s", "url": address + str(n)}
                for n in range(begin, begin + 2_000)])

        def values():
            found = self.api.call("item.get", itemids=list(ids.values()), output=["lastclock"])
            return all(item["lastclock"] != "0" for item in found)
        bed.wait_for("values of the living", values, 90)

        def unanswered():
            found = self.api.call("item.get", hostids=hostid, filter={"state": 1}, countOutput=True)
            return int(found) > 300
        bed.wait_for("checks that end without an answer", unanswered)
        begin = int(time.time())

        def fewest():
            return min(int(self.api.call("history.get", itemids=itemid, history=4, time_from=begin, countOutput=True))
                       for itemid in ids.values())
        # One lane for all would ask each of them once in 25 seconds.
        bed.wait_for("six values of each of the living", lambda: fewest() >= 6)

    def test_web_scenarios(self):
        """From a template to values: variables and cookies go from step to step; errors have texts."""
        folder = self.api.call("templategroup.create", name="Web")["groupids"][0]
        template = self.api.call("template.create", host="web scenarios", groups=[{"groupid": folder}])
        template = template["templateids"][0]
        base = "http://127.0.0.1:{$PORT}"
        self.api.call(
            "httptest.create", hostid=template, name="login", delay="1s", retries=2,
            variables=[{"name": "{user}", "value": "some body"}],
            headers=[{"name": "X-Who", "value": "{user}"}],
            steps=[
                {"name": "form", "no": 1, "url": base + "/cookie/token=abc", "status_codes": "200",
                 "posts": [{"name": "user", "value": "{user}"}], "required": "^set$"},
                {"name": "page", "no": 2, "url": base + "/cookie", "status_codes": "200-299",
                 "variables": [{"name": "{token}", "value": "regex:token=(.*)"}]},
                {"name": "echo", "no": 3, "url": base + "/echo", "required": "t=abc",
                 "query_fields": [{"name": "t", "value": "{token}"}]}])
        self.api.call(
            "httptest.create", hostid=template, name="broken", delay="1s",
            steps=[{"name": "good", "no": 1, "url": base + "/hello"},
                   {"name": "bad", "no": 2, "url": base + "/nothing", "status_codes": "200"},
                   {"name": "never", "no": 3, "url": base + "/hello"}])
        hostid, _ = self.host("scenarios", templates=[{"templateid": template}],
                              macros=[{"macro": "{$PORT}", "value": str(self.peer.port)}])

        expected = {"web.test." + key for key in (
            "error[broken]", "fail[broken]", "rspcode[broken,bad]", "fail[login]", "rspcode[login,page]",
            "rspcode[login,echo]", "time[login,form,resp]", "in[login,,bps]")}

        def values():
            found = {item["key_"]: item["lastvalue"] for item in self.api.call(
                "item.get", hostids=hostid, webitems=True, output=["key_", "lastvalue", "lastclock"])
                if item["lastclock"] != "0"}
            return found if expected <= set(found) else None
        found = bed.wait_for("values of both scenarios", values)
        self.assertEqual((found["web.test.fail[login]"], found["web.test.fail[broken]"]), ("0", "2"))
        self.assertEqual(found["web.test.error[broken]"],
                         'response code "404" did not match any of the required status codes "200"')
        self.assertEqual((found["web.test.rspcode[login,page]"], found["web.test.rspcode[broken,bad]"]),
                         ("200", "404"))
        self.assertGreater(float(found["web.test.time[login,form,resp]"]), 0)
        self.assertGreater(float(found["web.test.in[login,,bps]"]), 0)
        self.assertNotIn("web.test.error[login]", found)
        self.assertNotIn("web.test.rspcode[broken,never]", found)
        form = next(request for _, request in self.peer.seen if request.path == "/cookie/token=abc")
        self.assertEqual((form.body, form.header("X-Who"), form.header("User-Agent")),
                         (b"user=some%20body", "some body", "Zabbix"))
        scenario = self.api.call("httptest.get", hostids=hostid, filter={"name": "broken"})[0]
        self.api.call("httptest.update", httptestid=scenario["httptestid"], status=1)
        left = self.api.call("item.get", hostids=hostid, webitems=True, filter={"status": 0}, countOutput=True)
        self.assertEqual(left, "12")


if __name__ == "__main__":
    bed.main()
