#!/usr/bin/env python3
"""HTTP/3 of the load balancer with clients of others: Chromium, and aioquic with WebSocket (RFC 9220)."""

import base64
import hashlib
import http.server
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import certificates  # noqa: E402

TIMEOUT_S = 60
UPLOAD = 1 << 20
RESOURCES = 30
VENV = os.path.join(bed.ROOT, ".cache", "http3")
PACKAGE = "aioquic==1.7.2"
PAGE = b"""<!doctype html><title>page</title>
<script>
async function report() {
  const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const body = new Uint8Array(%d).map((_, at) => at * 31 + (at >> 8));
  const upload = await (await fetch("/upload", {method: "POST", body})).json();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  await fetch("/report", {method: "POST", body: JSON.stringify({
    protocols: entries.filter((one) => !one.name.includes("favicon")).map((one) => one.nextHopProtocol),
    loaded: window.loaded, upload, equal: upload.sha256 === hex})});
}
window.loaded = 0;
addEventListener("load", () => report().catch((error) => fetch("/report", {
  method: "POST", body: JSON.stringify({error: String(error)})})));
</script>
""" % UPLOAD + b"".join(b'<script src="/resource/%d"></script>\n' % number for number in range(RESOURCES))


def resource(number):
    """Of different lengths, up to 145 KB."""
    return b"window.loaded += 1;" + b"//" + (b"%d" % number) * (number * 2500) + b"\n"


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    reports = []

    def reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/socket":
            return self.web_socket()
        if self.path.startswith("/resource/"):
            return self.reply("text/javascript", resource(int(self.path.rsplit("/", 1)[1])))
        return self.reply("text/html", PAGE)

    def do_POST(self):
        if "Content-Length" in self.headers:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        else:
            body = b"".join(iter(self.chunk, b""))
        if self.path == "/report":
            self.reports.append(json.loads(body))
        self.reply("application/json", json.dumps(
            {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}).encode())

    def chunk(self):
        body = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return body

    def web_socket(self):
        """Returns each message, as one frame, until the client closes."""
        accepted = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(accepted.encode()).digest()).decode())
        self.send_header("Sec-WebSocket-Protocol", self.headers["Sec-WebSocket-Protocol"])
        self.end_headers()
        self.close_connection = True
        kind = None
        while kind != 8:
            kind, length = self.rfile.read(2)
            kind, length = kind & 15, length & 127
            if length > 125:
                length, = struct.unpack(*((">H", self.rfile.read(2)) if length == 126 else (">Q", self.rfile.read(8))))
            mask = self.rfile.read(4)
            content = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.rfile.read(length)))
            size = bytes([length]) if length < 126 else struct.pack(">BH", 126, length) if length < 1 << 16 \
                else struct.pack(">BQ", 127, length)
            self.wfile.write(bytes([0x80 | kind]) + size + content)

    def log_message(self, *_):
        pass


class Http3Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = os.path.join(VENV, "bin", "python")
        if not os.path.exists(cls.python):
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([cls.python, "-m", "pip", "install", "--quiet", PACKAGE], check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.authority = certificates.Authority(self.folder)
        self.authority.sign("www", "DNS:localhost,IP:127.0.0.1")
        backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        threading.Thread(target=backend.serve_forever, daemon=True).start()
        self.addCleanup(backend.server_close)
        self.addCleanup(backend.shutdown)
        self.port = bed.free_port()
        config = {
            "name": "e", "transactions": {"folder": self.path("records")},
            "certificates": [{"name": "www", "cert": self.path("www.pem"), "key": self.path("www.key")}],
            "virtual_services": [{"name": "web", "type": "http", "listen": "127.0.0.1:%d" % self.port, "pool": "web",
                                  "tls": {"certificates": ["www"], "alpn": ["h3"]}}],
            "pools": [{"name": "web", "servers": [
                {"name": "s", "address": "127.0.0.1:%d" % backend.server_address[1]}]}]}
        with open(self.path("lb.yaml"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        with open(self.path("log"), "ab") as log:
            engine = subprocess.Popen([bed.BINARY, "engine", "--config", self.path("lb.yaml")], stderr=log)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        bed.wait_for("the engine", lambda: bed.listens(self.port), TIMEOUT_S, 0.05)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_aioquic(self):
        client = os.path.join(bed.ROOT, "tests", "lib", "http3client.py")
        run = subprocess.run([self.python, client, str(self.port), self.authority.pem, str(UPLOAD)],
                             capture_output=True, text=True, timeout=3 * TIMEOUT_S, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        result = json.loads(run.stdout)
        self.assertEqual(result, {
            "alpn": "h3", "page": ["200", len(PAGE)],
            "resources": [["200", hashlib.sha256(resource(number)).hexdigest()] for number in range(RESOURCES)],
            "upload": ["200", True], "extended_connect": 1,
            "web_socket": {"status": "200", "protocol": "echo", "lengths": [0, 5, 200, 300_000], "closed": True},
            "after": "200"})

    @unittest.skipUnless(shutil.which("chromium"), "needs Chromium")
    def test_chromium(self):
        del Backend.reports[:]
        # Its processes: those of its session.
        with open(self.path("chromium"), "ab") as log:
            browser = subprocess.Popen([
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--disable-background-networking",
                "--user-data-dir=" + self.path("profile"), "--enable-quic",
                # The system's first address is that of IPv6, and QUIC tries no second one.
                "--host-resolver-rules=MAP localhost 127.0.0.1",
                "--origin-to-force-quic-on=localhost:%d" % self.port,
                "--ignore-certificate-errors-spki-list=" + self.authority.key_hash("www"),
                "https://localhost:%d/" % self.port], stdout=log, stderr=log, start_new_session=True)

        def end():
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()

        self.addCleanup(end)
        try:
            bed.wait_for("what Chromium has loaded", lambda: Backend.reports, TIMEOUT_S, 0.05)
        except AssertionError as problem:
            with open(self.path("chromium"), encoding="utf-8", errors="replace") as file:
                raise AssertionError("%s\n%s" % (problem, file.read())) from None
        report, = Backend.reports
        self.assertEqual(report.get("protocols"), ["h3"] * (RESOURCES + 1), report)
        self.assertEqual(report["loaded"], RESOURCES)
        self.assertEqual(report["upload"]["bytes"], UPLOAD)
        self.assertTrue(report["equal"])


if __name__ == "__main__":
    bed.main()
