#!/usr/bin/env python3
"""Records of what a load balancer's engine has carried: real connections, then `vedette transactions`."""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import certificates  # noqa: E402


def token(key, **claims):
    """Claims signed with HMAC."""
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    text = ".".join(part(json.dumps(one).encode()) for one in ({"alg": "HS256"}, claims))
    return "%s.%s" % (text, part(hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()))


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    posts = 0

    def do_POST(self):
        Server.posts += 1
        self.rfile.read(int(self.headers["Content-Length"]))

    def do_GET(self):
        if self.path == "/hang-up":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"half")
            self.close_connection = True
            return
        status = int(self.path.strip("/").split("?")[0]) if self.path.strip("/")[:1].isdigit() else 200
        self.send_response(status)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


class Transactions(bed.unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.records = os.path.join(folder.name, "records")
        self.file = os.path.join(folder.name, "lb.yaml")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.web, self.raw, self.none = bed.free_port(), bed.free_port(), bed.free_port()
        closed = bed.free_port()

        def service(name, kind, port, pool):
            return {"name": name, "type": kind, "listen": "127.0.0.1:%d" % port, "pool": pool}

        def pool(name, port):
            return {"name": name, "servers": [{"name": name + "-1", "address": "127.0.0.1:%d" % port}]}

        self.config = {
            "name": "lb-1", "threads": 2, "transactions": {"folder": self.records},
            "virtual_services": [
                service("web", "http", self.web, "app"), service("raw", "tcp", self.raw, "app"),
                service("none", "http", self.none, "dead")],
            "pools": [pool("app", server.server_address[1]), pool("dead", closed)]}
        self.config["virtual_services"][0]["rules"] = [
            {"if": {"path": "/denied"}, "then": {"deny": 403}}]
        self.engine = None
        self.start()

    def start(self):
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump(self.config, file)
        self.engine = subprocess.Popen(
            [bed.BINARY, "engine", "--config", self.file], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(self.engine.stderr.close)
        self.addCleanup(self.stop)
        bed.wait_for("the engine to listen", lambda: all(map(bed.listens, (self.web, self.raw, self.none))))

    def stop(self):
        """Ends the engine as an init system does: all records are on the disk afterwards."""
        if self.engine.poll() is None:
            self.engine.send_signal(signal.SIGTERM)
        self.assertEqual(self.engine.wait(60), 0)

    def get(self, port, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            response.read()
            return response.status
        except http.client.HTTPException:
            return None
        finally:
            connection.close()

    def search(self, *words):
        run = subprocess.run(
            [bed.BINARY, "transactions", "--folder", self.records, *words],
            capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def found(self, *words):
        return [json.loads(line) for line in self.search("--json", "--rows", "1000", *words).splitlines()]

    def test_every_request_has_a_record(self):
        for number in range(50):
            self.assertEqual(self.get(self.web, "/200?n=%d" % number), 200)
        self.assertEqual(self.get(self.web, "/404", **{"User-Agent": "probe/1"}), 404)
        self.assertEqual(self.get(self.web, "/500"), 500)
        self.assertEqual(self.get(self.web, "/denied"), 403)
        self.stop()
        records = self.found("service=web", "method=GET")
        self.assertEqual(len(records), 53)
        self.assertEqual([record["query"] for record in records[:50]], ["n=%d" % n for n in range(50)])
        for record in records[:50]:
            self.assertEqual(
                (record["engine"], record["pool"], record["server"], record["client"], record["status"]),
                ("lb-1", "app", "app-1", "127.0.0.1", 200))
            self.assertGreater(record["total"], 0)
            self.assertLessEqual(record["connect"] + record["response"], record["total"])
        self.assertEqual([record["user_agent"] for record in self.found("status=404")], ["probe/1"])
        by_fault = {record["path"]: record["fault"] for record in records[50:]}
        self.assertEqual(by_fault, {"/404": "client", "/500": "server", "/denied": "client"})
        denied, = self.found("path=/denied")
        self.assertEqual((denied["end"], denied["server"], denied["server_status"]), ("local", "", 0))
        text = self.search("service=web", "method=GET", "--group", "status")
        self.assertIn("53 of ", text)
        self.assertRegex(text, r"(?m)^ +50 +0 .* 200$")

    def test_failed_transactions_show_their_reason(self):
        self.assertEqual(self.get(self.none, "/"), 503)
        self.assertIsNone(self.get(self.web, "/hang-up"))
        with socket.create_connection(("127.0.0.1", self.web), 30) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost : bad\r\n\r\n")
            while client.recv(4096):
                pass
        self.stop()
        dead, = self.found("service=none", "method=GET")
        self.assertEqual((dead["status"], dead["end"], dead["fault"]), (503, "no server", "server"))
        cut, = self.found("path=/hang-up")
        self.assertEqual((cut["status"], cut["end"], cut["fault"]), (200, "server closed", "server"))
        bad, = self.found("service=web", "status=400")
        self.assertEqual((bad["method"], bad["end"], bad["fault"]), ("", "local", "client"))

    def test_retry_without_another_server_answers_the_first_failure(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        self.stop()
        self.config["pools"][1] = {
            "name": "dead", "retries": {"count": 2, "on": ["timeout"]},
            "servers": [{"name": "dead-1", "address": "127.0.0.1:%d" % silent.getsockname()[1]}]}
        self.config["virtual_services"][2]["timeouts"] = {"server": "200ms"}
        self.start()
        self.assertEqual(self.get(self.none, "/slow"), 504)
        self.stop()
        record, = self.found("path=/slow")
        self.assertEqual((record["status"], record["fault"], record["server"], record["tries"]), (504, "server", "dead-1", 1))

    def test_a_connection_that_is_passed_on_has_a_record(self):
        self.assertEqual(self.get(self.raw, "/200", Connection="close"), 200)
        bed.wait_for("the record", lambda: self.found("service=raw", "request_bytes>0"))
        record, = self.found("service=raw", "request_bytes>0")
        self.assertEqual((record["protocol"], record["server"], record["end"]), ("TCP", "app-1", "complete"))
        self.assertGreater(record["response_bytes"], 5)

    def test_requests_cut_off_by_a_stop_have_records(self):
        with socket.create_connection(("127.0.0.1", self.web), 30) as client:
            client.sendall(b"POST /200 HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")
            bed.wait_for("the request at the server", lambda: Server.posts > 0)
            self.stop()
        record, = self.found("method=POST")
        self.assertEqual((record["end"], record["fault"], record["status"]), ("stopped", "balancer", 0))

    def test_records_are_readable_while_running_and_after_a_crash(self):
        for _ in range(20):
            self.get(self.web, "/200")
        bed.wait_for("records on the disk", lambda: len(self.found("path=/200")) == 20)
        self.engine.kill()
        self.engine.wait()
        self.assertEqual(len(self.found("path=/200")), 20)
        self.start()
        self.get(self.web, "/201")
        self.stop()
        self.assertEqual(len(self.found("path^=/20")), 21)

    def test_a_second_engine_does_not_write_to_the_folder(self):
        self.config["virtual_services"] = self.config["virtual_services"][1:2]
        self.config["virtual_services"][0]["listen"] = "127.0.0.1:%d" % bed.free_port()
        other = self.file + ".other"
        with open(other, "w", encoding="utf-8") as file:
            json.dump(self.config, file)
        run = subprocess.run(
            [bed.BINARY, "engine", "--config", other], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("in use by another process", run.stderr)

    def test_users_are_those_who_were_authenticated(self):
        key, folder = "0123456789abcdef0123456789abcdef", os.path.dirname(self.file)
        hashed = subprocess.run(["openssl", "passwd", "-6", "secret"], check=True, capture_output=True, text=True)
        authority = certificates.Authority(folder)
        authority.sign("lb", "IP:127.0.0.1")
        authority.sign("machine-7", "DNS:machine-7")
        pem = {name: os.path.join(folder, name) for name in ("lb.pem", "lb.key", "machine-7.pem", "machine-7.key")}
        self.stop()
        self.config["certificates"] = [{"name": "lb", "cert": pem["lb.pem"], "key": pem["lb.key"]}]
        web, _, secure = self.config["virtual_services"]
        web["authentication"] = {
            "basic": [{"name": "staff", "users": {"alice": hashed.stdout.strip()}}],
            "jwt": [{"name": "api", "keys": [{"algorithm": "HS256", "key": key}]}]}
        web["rules"] = [{"if": {"path_prefix": "/basic"}, "then": {"authentication": "staff"}},
                        {"if": {"path_prefix": "/jwt"}, "then": {"authentication": "api"}}]
        secure["pool"] = "app"
        secure["tls"] = {"certificates": ["lb"], "client_auth": "optional", "client_ca": authority.pem}
        self.start()

        def basic(pair):
            return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}

        def bearer(secret, **claims):
            return {"Authorization": "Bearer " + token(secret, exp=int(time.time()) + 600, **claims)}

        for path, headers, status in (
                ("/basic/right", basic("alice:secret"), 200), ("/basic/wrong", basic("alice:guess"), 401),
                ("/basic/unknown", basic("mallory:secret"), 401), ("/open", basic("alice:secret"), 200),
                ("/jwt/right", bearer(key, sub="bob\x1b[2J"), 200), ("/jwt/wrong", bearer("other", sub="bob"), 401),
                ("/jwt/nobody", bearer(key), 200), ("/jwt/long", bearer(key, sub="x" * 5000), 200)):
            self.assertEqual(self.get(self.web, path, **headers), status, path)
        for name in ("machine-7", None):
            context = ssl.create_default_context(cafile=authority.pem)
            if name:
                context.load_cert_chain(pem[name + ".pem"], pem[name + ".key"])
            client = http.client.HTTPSConnection("127.0.0.1", self.none, timeout=30, context=context)
            client.request("GET", "/tls/%s" % name)
            self.assertEqual(client.getresponse().read(), b"hello")
            client.close()
        self.stop()
        users = {record["path"]: record["user"] for record in self.found("method=GET")}
        self.assertEqual(users, {
            "/basic/right": "alice", "/basic/wrong": "", "/basic/unknown": "", "/open": "", "/jwt/wrong": "",
            "/jwt/right": "bob\x1b[2J", "/jwt/nobody": "", "/jwt/long": "x" * 2048,
            "/tls/machine-7": "machine-7", "/tls/None": ""})
        self.assertEqual([record["path"] for record in self.found("user=alice")], ["/basic/right"])
        text = self.search("path^=/jwt/r", "--group", "user")
        self.assertIn("bob\ufffd[2J", text)
        self.assertNotIn("\x1b", text)

    def test_a_filter_that_is_not_understood_says_why(self):
        run = subprocess.run(
            [bed.BINARY, "transactions", "--folder", self.records, "stats=5xx"],
            capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("no column is named \"stats\"", run.stderr)


if __name__ == "__main__":
    bed.main()
