#!/usr/bin/env python3
"""The Avi API with recorded requests of its clients, and with the Python SDK itself.

VEDETTE_SHARED names a folder with `conformance/lb/avi-clients`: `exchanges.jsonl`, and the script `sdk.py`.
"""

import json
import os
import re
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import aviclient  # noqa: E402
import bed  # noqa: E402

FOLDER = os.path.join(os.environ.get("VEDETTE_SHARED", ""), "conformance", "lb", "avi-clients")
VENV = os.path.join(bed.ROOT, ".cache", "avi-clients")
UUID = re.compile(r"[a-z0-9]+-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
STATUS = {"POST": 201, "GET": 200, "PUT": 200, "PATCH": 200, "DELETE": 204}


def read(name):
    with open(os.path.join(FOLDER, name)) as f:
        return f.read()


class Recorded(bed.Case):
    """Each client's requests in their order. UUIDs of the recording are those of objects of this server."""

    def clear(self):
        avi = aviclient.AviClient(self.server.http)
        self.assertEqual(avi.sign_in("Admin", bed.PASSWORD), 200)
        for kind in ("virtualservice", "pool"):
            for one in avi.send("GET", "/api/" + kind)[1]["results"]:
                self.assertEqual(avi.send("DELETE", "/api/%s/%s" % (kind, one["uuid"]))[0], 204)

    def test_recorded_requests(self):
        clients = {}
        for line in read("exchanges.jsonl").splitlines():
            exchange = json.loads(line)
            clients.setdefault(exchange["client"], []).append(exchange)
        self.assertEqual(len(clients), 3)
        for client, exchanges in clients.items():
            with self.subTest(client=client):
                self.clear()
                self.replay(exchanges)

    def replay(self, exchanges):
        avi = aviclient.AviClient(self.server.http)
        known, created = {}, []
        for exchange in exchanges:
            method, path = exchange["method"], exchange["path"]
            if path == "/login":
                form = exchange["headers"]["Content-Type"] != "application/json"
                self.assertEqual(avi.sign_in("Admin", bed.PASSWORD, form), 200)
                continue
            body = exchange["body"]
            # A recorded UUID appears first after its object was created.
            for recorded in UUID.findall(path + body):
                kind = recorded.split("-")[0]
                if recorded not in known:
                    known[recorded] = next(uuid for uuid in reversed(created) if uuid.startswith(kind + "-"))
            for recorded, own in known.items():
                path, body = path.replace(recorded, own), body.replace(recorded, own)
            status, shown = avi.send(method, path, body or None)
            self.assertEqual(status, STATUS[method], "%s %s: %s" % (method, path, shown))
            if method == "POST":
                created.append(shown["uuid"])
                self.sent_comes_back(avi, shown, json.loads(body))

    def sent_comes_back(self, avi, shown, sent):
        path = "/api/%s/%s?skip_default=true" % (shown["uuid"].split("-")[0], shown["uuid"])
        _, read_back = avi.send("GET", path)
        for member, value in sent.items():
            if member.endswith("_ref"):
                parts = urllib.parse.urlsplit(value)
                if not parts.query:
                    self.assertTrue(read_back[member].endswith(parts.path), read_back[member])
            else:
                self.assertEqual(read_back[member], value, member)


class Sdk(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = os.path.join(VENV, "bin", "python")
        if not os.path.exists(cls.python):
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([cls.python, "-m", "pip", "install", "--quiet", "setuptools<81", "avisdk==32.1.4"], check=True)

    def test_avisdk(self):
        script = read("sdk.py").replace("CONTROLLER", "http://127.0.0.1:%d" % self.server.http)
        script = script.replace("'admin','pw'", "'Admin',%r" % bed.PASSWORD)
        done = subprocess.run([self.python, "-c", script], capture_output=True, text=True, timeout=120)
        lines = done.stdout.split("\n")
        self.assertEqual([lines[0]] + lines[2:6], ["201", "200", "200", "1", "204"], done.stdout + done.stderr)


if __name__ == "__main__":
    bed.main()
