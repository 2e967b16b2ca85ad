#!/usr/bin/env python3
"""The UI, the API and the live stream over TLS, with HTTP/2 and HTTP/1.1, for curl."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from certificates import Authority  # noqa: E402


class Https(bed.Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="vedette-https-")
        cls.addClassCleanup(folder.cleanup)
        cls.authority = Authority(folder.name)
        cls.server = bed.Server()
        cls.server.secure(cls.authority)
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()
        cls.base = "https://127.0.0.1:%d" % cls.server.http

    def curl(self, *arguments, trusted=True):
        """The command."""
        believed = ["--cacert", self.authority.pem] if trusted else []
        return ["curl", "--silent", "--show-error", "--max-time", "120", *believed, *arguments]

    def fetch(self, *arguments, **how):
        """Version of HTTP, status and body of the response."""
        done = subprocess.run(
            self.curl("--write-out", "\n%{http_version} %{http_code}", *arguments, **how),
            capture_output=True, text=True, check=False)
        if done.returncode:
            return str(done.returncode), "", done.stderr
        body, _, end = done.stdout.rpartition("\n")
        return *end.split(), body

    def call(self, *arguments):
        """The same of an API call."""
        call = {"jsonrpc": "2.0", "method": "host.get", "params": {"output": ["host"], "limit": 1}, "id": 1}
        return self.fetch("-H", "Content-Type: application/json", "-H", "Authorization: Bearer " + self.api.token,
                          "--data", json.dumps(call), self.server.url, *arguments)

    def test_clients_choose_the_version(self):
        # The first is what curl proposes by itself.
        for arguments, version in (((), "2"), (("--http2",), "2"), (("--http1.1",), "1.1"),
                                   (("--no-alpn",), "1.1"), (("--http2-prior-knowledge",), "2")):
            with self.subTest(arguments=arguments):
                spoken, status, body = self.fetch(self.base + "/", *arguments)
                self.assertEqual((spoken, status), (version, "200"))
                self.assertIn("<title>Vedette</title>", body)
                spoken, status, body = self.call(*arguments)
                self.assertEqual((spoken, status), (version, "200"))
                self.assertEqual([row["host"] for row in json.loads(body)["result"]], ["Vedette"])

    def test_only_the_certificate_s_authority_makes_it_trusted(self):
        code, _, said = self.fetch(self.base + "/", trusted=False)
        self.assertEqual(code, "60", said)
        # Clear text on the port of TLS.
        code, _, said = self.fetch("http://127.0.0.1:%d/" % self.server.http)
        self.assertNotEqual(code, "0", said)
        self.assertEqual(self.fetch(self.base + "/")[:2], ("2", "200"))

    def test_events_share_a_connection_with_other_requests(self):
        self.host("live", [{"key_": "k", "value_type": 3}])
        self.api.call("trigger.create", description="high", expression="last(/live/k)>5")
        headers = ["-H", "Authorization: Bearer " + self.api.token]
        stream = subprocess.Popen(
            self.curl("--http2", "--no-buffer", "--include", *headers, self.base + "/api/live"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(stream.stdout.close)
        self.addCleanup(stream.wait)
        self.addCleanup(stream.kill)
        self.assertEqual(stream.stdout.readline().split(), ["HTTP/2", "200"])
        bed.wait_for("the value", lambda: "processed: 1" in bed.send(self.server.address, {
            "request": "sender data", "data": [{"host": "live", "key": "k", "value": "9"}]})["info"])
        for line in stream.stdout:
            if line.startswith("event: problem"):
                return
        self.fail("the stream ended without the problem")


if __name__ == "__main__":
    bed.main()
