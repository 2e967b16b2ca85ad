#!/usr/bin/env python3
"""Services that are created in the server, run by an engine."""

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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


def has_ipv6():
    """Whether this machine has the address ::1."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        text = ("%s %s %s" % (self.server.name, self.path, self.headers["X-Forwarded-Proto"])).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class LoadBalancer(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.cert, cls.key = (os.path.join(cls.folder, name) for name in ("www.pem", "www.key"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=www.example.com", "-addext", "subjectAltName=DNS:www.example.com", "-days", "30",
             "-keyout", cls.key, "-out", cls.cert], check=True, capture_output=True)

    def backend(self, name):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        server.name = name
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_address[1]

    def create(self, kind, **members):
        found = self.api.call(kind + ".create", **members)
        return next(iter(found.values()))[0]

    def pool(self, name, monitor):
        server = {"name": name + "-1", "address": "127.0.0.1", "port": self.backend(name)}
        return self.create("pool", name=name, servers=[server], healthmonitorid=monitor)

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def services(self):
        """Two services on one VIP, without and with TLS; returns their group, ports and pools."""
        group = self.create("enginegroup", name="edge")
        vip = self.create("vip", name="loopback", ipv4="127.0.0.1", ipv6="::1" if has_ipv6() else "")
        monitor = self.create("healthmonitor", name="path", type="http", path="/health", interval="200ms")
        app, api = self.pool("app", monitor), self.pool("api", monitor)
        certificate = self.create(
            "certificate", name="www", certificate=self.read(self.cert), private_key=self.read(self.key))
        plain, tls = bed.free_port(), bed.free_port()
        rules = [{"if": {"path_prefix": "/api/"}, "then": {"poolid": api}},
                 {"if": {"path": "/old"}, "then": {"redirect": {"status": 301, "location": "https://{host}/"}}}]
        common = {"enginegroupid": group, "vipid": vip, "poolid": app, "rules": rules}
        self.create("virtualservice", name="plain", port=plain, **common)
        self.create("virtualservice", name="tls", port=tls, certificates=[{"certificateid": certificate}], **common)
        return group, (plain, tls), (app, api)

    def configuration(self, group):
        """What the group should run, with the private key that the API hides."""
        found, = self.api.call("enginegroup.configuration", enginegroupids=[group])
        shown = found["configuration"]["certificates"][0]
        self.assertEqual(shown["key"], "******")
        shown["key"] = self.read(self.key)
        return found["hash"], found["configuration"]

    def write(self, configuration):
        path = os.path.join(self.folder, "lb.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(configuration, file)
        return path

    def get(self, port, path, tls=False, host="127.0.0.1"):
        context = ssl.create_default_context(cafile=self.cert) if tls else None
        connection = socket.create_connection((host, port), 10)
        if context:
            connection = context.wrap_socket(connection, server_hostname="www.example.com")
        client = http.client.HTTPConnection("www.example.com")
        client.sock = connection
        try:
            client.request("GET", path)
            response = client.getresponse()
            return response.status, response.read().decode()
        finally:
            client.close()

    def test_an_engine_runs_what_the_api_has_created(self):
        group, (plain, tls), (_, api) = self.services()
        before, configuration = self.configuration(group)
        path = self.write(configuration)
        check = subprocess.run(
            [bed.BINARY, "engine", "check", "--config", path], capture_output=True, text=True, check=False)
        self.assertEqual(check.returncode, 0, check.stderr)
        engine = subprocess.Popen(
            [bed.BINARY, "engine", "--config", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.terminate)
        bed.wait_for("the engine to listen", lambda: bed.listens(tls))
        bed.wait_for("the servers to be up", lambda: self.get(plain, "/")[0] == 200)
        self.assertEqual(self.get(plain, "/x"), (200, "app /x http"))
        if has_ipv6():
            self.assertEqual(self.get(plain, "/x", host="::1"), (200, "app /x http"))
        self.assertEqual(self.get(tls, "/api/x", tls=True), (200, "api /api/x https"))
        self.assertEqual(self.get(tls, "/old", tls=True)[0], 301)
        # A change in the server, applied without a restart.
        server = {"name": "new", "address": "127.0.0.1", "port": self.backend("new")}
        change = {"poolid": api, "servers": [server]}
        touched = self.api.call("enginegroup.compare", {"method": "pool.update", "params": change})
        self.assertEqual([one["name"] for one in touched], ["plain", "tls"])
        self.assertEqual(self.configuration(group)[0], before)
        self.api.call("pool.update", **change)
        after, configuration = self.configuration(group)
        self.assertNotEqual(after, before)
        self.write(configuration)
        engine.send_signal(signal.SIGHUP)
        bed.wait_for("the new server", lambda: self.get(plain, "/api/")[1].startswith("new "))


if __name__ == "__main__":
    bed.main()
