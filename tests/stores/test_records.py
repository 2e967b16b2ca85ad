#!/usr/bin/env python3
"""Records of transactions on a real ClickHouse: each request of a real engine is found once, whatever is killed, and
users are those who were authenticated."""

import base64
import http.client
import http.server
import os
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from clickhouses import ClickHouse  # noqa: E402

SECRET = "very-hidden-word"


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Records(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.store = ClickHouse(SECRET)
        cls.addClassCleanup(cls.store.stop)
        cls.engines = bed.free_port()
        cls.server = bed.Server(
            arguments=["--engines", "127.0.0.1:%d" % cls.engines],
            environment={"VEDETTE_TRANSACTIONS_STORE": "clickhouse=" + cls.store.url("records")})
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def create(self, kind, **members):
        return next(iter(self.api.call(kind + ".create", **members).values()))[0]

    def start_engine(self):
        """An engine under the server with a service that wants a password below /staff."""
        backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        threading.Thread(target=backend.serve_forever, daemon=True).start()
        self.addCleanup(backend.server_close)
        self.addCleanup(backend.shutdown)
        made = subprocess.run(["openssl", "passwd", "-6", "-salt", "vedette", "open sesame"], check=True,
                              capture_output=True, text=True)
        self.port = bed.free_port()
        self.pool = self.create("pool", name="app", servers=[
            {"name": "app-1", "address": "127.0.0.1", "port": backend.server_address[1]}])
        group = self.create("enginegroup", name="edge")
        vip = self.create("vip", name="loopback", ipv4="127.0.0.1")
        self.create(
            "virtualservice", name="web", port=self.port, poolid=self.pool, enginegroupid=group, vipid=vip,
            authentication={"basic": [{"name": "staff", "users": {"alice": made.stdout.strip()}}]},
            rules=[{"if": {"path_prefix": "/staff"}, "then": {"authentication": "staff"}}])
        self.engine = self.create("engine", name="lb-1", enginegroupid=group)
        token, = self.api.call("engine.generate", [self.engine])
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = subprocess.Popen(
            [bed.BINARY, "engine", "--controller", "127.0.0.1:%d" % self.engines, "--data", folder.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, VEDETTE_ENGINE_TOKEN=token["token"]))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        bed.wait_for("the service", lambda: bed.listens(self.port))

    def get(self, path, credentials=None):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {}
        if credentials:
            headers["Authorization"] = "Basic " + base64.b64encode(credentials.encode()).decode()
        try:
            client.request("GET", path, headers=headers)
            response = client.getresponse()
            response.read()
            return response.status
        finally:
            client.close()

    def records(self, text, **more):
        return self.api.call("transaction.get", filter=text, **more)

    def count(self, text):
        try:
            return int(self.records(text, countOutput=True))
        except bed.ApiError:
            return None

    def send(self, path, number):
        for one in range(number):
            self.assertEqual(self.get("%s/%d" % (path, one)), 200)

    def wait_for_records(self, path, number):
        bed.wait_for("the records of " + path, lambda: self.count("path^=%s/" % path) == number, 120)

    def runs_the_newest(self):
        found, = self.api.call("engine.get", engineids=[self.engine], output="extend")
        return found["running_hash"] == found["desired_hash"]

    def restart(self):
        self.server.kill()
        self.server.start()
        type(self).api = self.server.api()

    def test_each_request_is_found_once_whatever_is_killed(self):
        self.start_engine()
        self.send("/first", 20)
        self.wait_for_records("/first", 20)
        # A name is recorded if the password is right.
        self.assertEqual(self.get("/staff/right", "alice:open sesame"), 200)
        self.assertEqual(self.get("/staff/wrong", "alice:guess"), 401)
        self.assertEqual(self.get("/staff/unknown", "mallory:open sesame"), 401)
        self.assertEqual(self.get("/staff/none"), 401)
        bed.wait_for("the records", lambda: self.count("path^=/staff/") == 4)
        users = {row["path"]: row["user"] for row in self.records("path^=/staff/", output=["path", "user"])}
        self.assertEqual(users, {
            "/staff/right": "alice", "/staff/wrong": "", "/staff/unknown": "", "/staff/none": ""})
        grouped = self.records("path^=/staff/", group="user", limit=0)["groups"]
        self.assertEqual({row["user"]: row["count"] for row in grouped}, {"": "3", "alice": "1"})
        # Text of a search stays text.
        self.assertEqual(self.count("path=\"') OR 1=1 OR path=('\""), 0)
        # Without ClickHouse the engine keeps its records, and its configuration goes on.
        self.store.kill()
        self.send("/down", 30)
        with self.assertRaisesRegex(bed.ApiError, "ClickHouse at http://127.0.0.1:.* does not answer"):
            self.records("path^=/down")
        bed.wait_for("the log", lambda: "engines keep them" in self.server.log())
        self.api.call("pool.update", poolid=self.pool, name="application")
        bed.wait_for("the configuration", self.runs_the_newest)
        # A server that begins without ClickHouse takes no records until it is there.
        self.restart()
        self.send("/later", 10)
        self.api.call("pool.update", poolid=self.pool, name="app")
        bed.wait_for("the configuration", self.runs_the_newest)
        self.store.start()
        self.wait_for_records("/down", 30)
        self.wait_for_records("/later", 10)
        # The server is killed between an insert and its acknowledgement, or not.
        for number in range(3):
            self.send("/killed/%d" % number, 20)
            self.restart()
        self.wait_for_records("/killed", 60)
        self.assertEqual(self.count("path^=/first/"), 20)
        self.assertEqual(self.count("path^=/down/"), 30)
        self.assertNotIn(SECRET, self.server.log())


class Refused(bed.unittest.TestCase):
    def test_errors_of_the_parameter_contain_no_secrets(self):
        for parameter, said in [
                ("clickhouse=htp://u:%s@h/x" % SECRET, "is not like"),
                ("mysql=http://u:%s@h/x" % SECRET, "a store of transactions is named like"),
                ("clickhouse=http://u:%s@h,i/x?cluster=two" % SECRET, "stored on one ClickHouse")]:
            server = bed.Server(environment={"VEDETTE_TRANSACTIONS_STORE": parameter})
            self.addCleanup(server.clean)
            with self.assertRaises(AssertionError):
                server.start()
            self.assertIn(said, server.log())
            self.assertNotIn(SECRET, server.log())


if __name__ == "__main__":
    bed.main()
