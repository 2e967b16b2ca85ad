"""Pebble, the test authority of Let's Encrypt, behind a door that can refuse, change and count requests."""

import base64
import contextlib
import http.client
import http.server
import json
import os
import ssl
import subprocess
import threading
import time
import urllib.request

import bed
import certificates

#: Headers of one connection alone.
OWN = ("connection", "transfer-encoding", "content-length")


class Pebble:
    """An authority whose names all resolve to 127.0.0.1. `seconds` = lifetime of its certificates."""

    def __init__(self, folder, http_port, tls_port, seconds=0):
        self.folder = folder
        self.authority = certificates.Authority(folder, "directory-ca")
        self.authority.sign("pebble", "IP:127.0.0.1,DNS:localhost")
        self.trusted = ssl.create_default_context(cafile=self.authority.pem)
        self.port, self.management, self.dns, self.dns_management = (bed.free_port() for _ in range(4))
        config = {"pebble": {
            "listenAddress": "127.0.0.1:%d" % self.port, "managementListenAddress": "127.0.0.1:%d" % self.management,
            "certificate": os.path.join(folder, "pebble.pem"), "privateKey": os.path.join(folder, "pebble.key"),
            "httpPort": http_port, "tlsPort": tls_port, "certificateValidityPeriod": seconds}}
        self.config = os.path.join(folder, "pebble.json")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.processes = []
        self.log = open(os.path.join(folder, "pebble.log"), "ab")

    def start(self):
        names = "127.0.0.1:%d" % self.dns
        self._run("pebble-challtestsrv", "-dns01", names, "-management", "127.0.0.1:%d" % self.dns_management,
                  "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", "")
        self._run("pebble", "-config", self.config, "-dnsserver", names)
        bed.wait_for("pebble", lambda: bed.listens(self.port) and bed.listens(self.management))
        bed.wait_for("the names of pebble", lambda: bed.listens(self.dns_management))
        return self

    def _run(self, *command):
        environment = dict(os.environ, PEBBLE_VA_NOSLEEP="1", PEBBLE_AUTHZREUSE="0")
        self.processes.append(subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log))

    def resolve(self, name, address):
        """Another address for one name."""
        body = json.dumps({"host": name + ".", "addresses": [address]}).encode()
        with urllib.request.urlopen("http://127.0.0.1:%d/add-a" % self.dns_management, body, timeout=60):
            pass

    def root(self):
        """Path of the certificate that signs what is issued."""
        url = "https://127.0.0.1:%d/roots/0" % self.management
        path = os.path.join(self.folder, "root.pem")
        with urllib.request.urlopen(url, context=self.trusted, timeout=60) as answer, open(path, "wb") as file:
            file.write(answer.read())
        return path

    def end(self):
        """Ends it; another start knows no account."""
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes = []

    def stop(self):
        self.end()
        self.log.close()


def start(test, folder, http_port, tls_port, seconds=0):
    """Gives a test case an authority (`pebble`), its `door`, and its `root` certificate, until the test ends."""
    test.pebble = Pebble(folder, http_port, tls_port, seconds)
    test.addCleanup(test.pebble.stop)
    test.pebble.start()
    test.door = Door(test.pebble)
    test.addCleanup(test.door.stop)
    test.root = test.pebble.root()


class Door:
    """Passes requests on to Pebble. `refuse` = (status, headers, body) instead; `change` gets the path and the body
    of each response that is no error, and returns the body that is sent; `window` = the time of renewal that is
    suggested. `paths` has all requests, `created` those that have created something, and `replaced` the certificates
    that new orders replace: Pebble refuses some requests by chance, which then come again (RFC 8555, 6.5)."""

    def __init__(self, pebble):
        self.pebble = pebble
        self.refuse = self.change = self.window = None
        self.paths, self.created, self.replaced = [], [], []
        door = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                door.serve(self)

            do_POST = do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*(os.path.join(pebble.folder, "pebble" + end) for end in (".pem", ".key")))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.directory = "https://127.0.0.1:%d/dir" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def serve(self, request):
        length = int(request.headers.get("Content-Length", 0))
        body = request.rfile.read(length)
        self.paths.append(request.path)
        if self.refuse:
            return self.respond(request, *self.refuse)
        if request.path.startswith("/renewal/"):
            window = {"suggestedWindow": dict(zip(("start", "end"), self.window))}
            return self.respond(request, 200, {"Retry-After": "60"}, json.dumps(window).encode())
        status, headers, answer = self.forward(request, body)
        if status == 201:
            self.created.append(request.path)
        if request.path == "/dir" and self.window:
            host = request.headers["Host"]
            answer = json.dumps(dict(json.loads(answer), renewalInfo="https://%s/renewal" % host)).encode()
        answer = self.reflect(status, body, answer)
        if self.change and status < 400:
            answer = self.change(request.path, answer)
        return self.respond(request, status, headers, answer)

    def forward(self, request, body):
        connection = http.client.HTTPSConnection("127.0.0.1", self.pebble.port, timeout=60, context=self.pebble.trusted)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in OWN}
        with contextlib.closing(connection):
            connection.request(request.command, request.path, body, headers)
            answer = connection.getresponse()
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in OWN}
            return answer.status, kept, answer.read()

    def reflect(self, status, body, answer):
        """The member of an order that Pebble does not know (RFC 9773, 5)."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            payload = json.loads(base64.urlsafe_b64decode(json.loads(body)["payload"] + "=="))
            replaced = payload["replaces"]
            if status == 201:
                self.replaced.append(replaced)
            return json.dumps(dict(json.loads(answer), replaces=replaced)).encode()
        return answer

    @staticmethod
    def respond(request, status, headers, body):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
