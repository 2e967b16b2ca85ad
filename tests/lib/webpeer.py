"""A web server of strange habits: what a test asks for stands in the path.

Standard library only. It speaks HTTP/1.1 by hand, because half of its answers are wrong on purpose.
"""

import base64
import gzip
import hashlib
import json
import os
import socket
import ssl
import struct
import subprocess
import threading
import urllib.parse
import zlib

USER, WORD = "monitor", "se cret"
NONCE = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
NTLM_NONCE = bytes.fromhex("0123456789abcdef")


def certificate(folder, name="web", subject="localhost", password=None):
    """A certificate that signs itself; the names of its files."""
    files = [os.path.join(folder, name + ending) for ending in (".pem", ".key")]
    key = ["-passout", "pass:" + password] if password else ["-nodes"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", *key, "-keyout", files[1],
         "-out", files[0], "-days", "2", "-subj", "/CN=" + subject, "-addext",
         "subjectAltName=DNS:" + subject], check=True, capture_output=True)
    return files


class Request:
    """One request as it came."""

    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, self.version = lines[0].split(" ", 2)
        self.headers = [line.split(": ", 1) if ": " in line else [line.rstrip(":"), ""]
                        for line in lines[1:] if line]
        self.body = body
        url = urllib.parse.urlsplit(self.target)
        self.path = url.path
        self.query = urllib.parse.parse_qsl(url.query, keep_blank_values=True)

    def header(self, name):
        return next((v for n, v in self.headers if n.lower() == name.lower()), "")


class WebPeer:
    """The server; `port` is where it listens, `seen` what it was asked."""

    def __init__(self, files=None, client_ca=None):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.tls = None
        self.seen = []
        self.connections = 0
        if files:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*files)
            if client_ca:
                self.tls.load_verify_locations(client_ca)
                self.tls.verify_mode = ssl.CERT_REQUIRED
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def url(self, path="/", host="127.0.0.1"):
        return "%s://%s:%d%s" % ("https" if self.tls else "http", host, self.port, path)

    def stop(self):
        self.closing.set()
        self.listener.close()

    def _listen(self):
        while not self.closing.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            number, rest = self.connections, b""
            while True:
                request, rest = self._read(connection, rest)
                if request is None:
                    return
                self.seen.append((number, request))
                if not self._answer(connection, request):
                    return
        except (OSError, ssl.SSLError):
            pass
        finally:
            connection.close()

    @staticmethod
    def _read(connection, data):
        while b"\r\n\r\n" not in data:
            block = connection.recv(65536)
            if not block:
                return None, b""
            data += block
        head, data = data.split(b"\r\n\r\n", 1)
        request = Request(head, b"")
        if request.header("Expect"):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(request.header("Content-Length") or 0)
        while len(data) < length:
            block = connection.recv(65536)
            if not block:
                break
            data += block
        request.body = data[:length]
        return request, data[length:]

    def _answer(self, connection, request):
        """Answers one request; False = the connection ends."""
        words = request.path.strip("/").split("/")
        if request.method == "CONNECT":
            words = ["refused"]
        make = getattr(self, "do_" + words[0].replace("-", "_"), None)
        if make is None:
            connection.sendall(reply("404 Not Found", b"nothing here"))
            return True
        answer = make(connection, request, words[1:])
        if isinstance(answer, bytes):
            if request.method == "HEAD":
                answer = answer.split(b"\r\n\r\n", 1)[0] + b"\r\n\r\n"
            connection.sendall(answer)
            return True
        return bool(answer)

    # What paths do.

    def do_hello(self, _connection, _request, _words):
        return reply("200 OK", b"hello", "Content-Type: text/plain", "X-Case: MiXed")

    def do_echo(self, _connection, request, _words):
        headers = [[n, v.replace(str(self.port), "PORT")] for n, v in request.headers]
        told = {"method": request.method, "target": request.target, "headers": headers,
                "body": request.body.decode("latin-1")}
        return reply("200 OK", json.dumps(told).encode(), "Content-Type: application/json")

    def do_status(self, _connection, _request, words):
        return reply(" ".join(words), b"status " + words[0].encode())

    def do_bodyless(self, _connection, _request, words):
        return ("HTTP/1.1 %s X\r\nX-A: b\r\n\r\n" % words[0]).encode()

    def do_redirect(self, _connection, request, words):
        code, left = words[0], int(words[1])
        if left == 0:
            return self.do_echo(None, request, [])
        return reply(code + " Found", b"moved", "Location: /redirect/%s/%d" % (code, left - 1))

    def do_elsewhere(self, _connection, request, _words):
        return reply("302 Found", b"", "Location: " + dict(request.query).get("to", "/echo"))

    def do_cookie(self, _connection, request, words):
        if words:
            return reply("200 OK", b"set", *("Set-Cookie: " + urllib.parse.unquote(w) for w in words))
        return reply("200 OK", request.header("Cookie").encode())

    def do_gzip(self, _connection, _request, _words):
        return reply("200 OK", gzip.compress(b"packed text " * 100, mtime=0), "Content-Encoding: gzip")

    def do_deflate(self, _connection, _request, _words):
        return reply("200 OK", zlib.compress(b"packed text " * 100), "Content-Encoding: deflate")

    def do_badgzip(self, _connection, _request, _words):
        return reply("200 OK", b"this is not packed", "Content-Encoding: gzip")

    def do_bomb(self, _connection, _request, _words):
        return reply("200 OK", gzip.compress(bytes(300 << 20), 9), "Content-Encoding: gzip")

    def do_chunked(self, _connection, _request, _words):
        return (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\nX-Trailer: 1\r\n\r\n")

    def do_badchunk(self, connection, _request, _words):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n")
        return False

    def do_cutchunk(self, connection, _request, _words):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
        return False

    def do_untilclose(self, connection, _request, _words):
        connection.sendall(b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\nold but good")
        return False

    def do_truncated(self, connection, _request, _words):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        return False

    def do_nothttp(self, connection, _request, _words):
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        return False

    def do_badstatus(self, connection, _request, words):
        connection.sendall(b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n")
        return False

    def do_badlength(self, connection, _request, words):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello")
        return False

    def do_badheader(self, connection, _request, words):
        connection.sendall(b"HTTP/1.1 200 OK\r\nthis is no header\r\nContent-Length: 2\r\n\r\nok")
        return True

    def do_lf(self, connection, _request, words):
        connection.sendall(b"HTTP/1.1 200 OK\nX-A: b\nContent-Length: 2\n\nok")
        return True

    def do_fold(self, connection, _request, words):
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-A: b\r\n  c\r\nX-A: d\r\nx-a: e\r\nX-E:\r\n"
                           b"X-S:   spaces  \r\nContent-Length: 2\r\n\r\nok")
        return True

    def do_hints(self, connection, _request, words):
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                           b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return True

    def do_empty(self, _connection, _request, _words):
        return False

    def do_reset(self, connection, _request, _words):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def do_once(self, connection, _request, _words):
        """Ends without a word of it: the next request on this connection finds it closed."""
        connection.sendall(reply("200 OK", b"once"))
        return False

    def do_slow(self, connection, _request, words):
        if words:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        self.closing.wait(30)
        return False

    def do_huge(self, connection, _request, words):
        size = int(words[0])
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        block = b"x" * 65536
        while size > 0:
            connection.sendall(block[:size])
            size -= len(block)
        return True

    def do_hugehead(self, connection, _request, words):
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        for number in range(int(words[0])):
            connection.sendall(b"X-%d: %s\r\n" % (number, b"x" * 1000))
        connection.sendall(b"Content-Length: 2\r\n\r\nok")
        return True

    def do_endless(self, connection, _request, _words):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    def do_bytes(self, _connection, request, words):
        more = dict(request.query)
        kind = ["Content-Type: " + more["type"]] if "type" in more else []
        return reply("200 OK", bytes.fromhex("".join(words)), *kind)

    def do_basic(self, _connection, request, _words):
        wanted = "Basic " + base64.b64encode((USER + ":" + WORD).encode()).decode()
        if request.header("Authorization") == wanted:
            return reply("200 OK", b"basic let in")
        return reply("401 Unauthorized", b"who?", 'WWW-Authenticate: Basic realm="r"')

    def do_digest(self, _connection, request, words):
        algorithm = words[0] if words else "MD5"
        make = hashlib.sha256 if "256" in algorithm else hashlib.md5

        def digest(text):
            return make(text.encode()).hexdigest()
        said = request.header("Authorization")
        if said.startswith("Digest "):
            members = dict(urllib.request.parse_keqv_list(urllib.request.parse_http_list(said[7:])))
            secret = digest("%s:r:%s" % (USER, WORD))
            what = digest("%s:%s" % (request.method, request.target))
            wanted = digest(":".join((secret, NONCE, members.get("nc", ""), members.get("cnonce", ""),
                                      "auth", what)))
            if members.get("response") == wanted and members.get("username") == USER:
                return reply("200 OK", b"digest let in")
        return reply("401 Unauthorized", b"who?", 'WWW-Authenticate: Digest realm="r", nonce="%s", '
                     'qop="auth", algorithm=%s' % (NONCE, algorithm))

    def do_ntlm(self, connection, request, _words):
        """Lets in who gives the names right, on one connection; the proof is the codec's test."""
        said = request.header("Authorization")
        message = base64.b64decode(said[5:]) if said.startswith("NTLM ") else b""
        if message[8:9] == b"\x01":
            challenge = (b"NTLMSSP\0" + struct.pack("<IHHI", 2, 0, 0, 0x30)
                         + struct.pack("<I", 0x8a8207) + NTLM_NONCE + bytes(8)
                         + struct.pack("<HHI", 0, 0, 0x30))
            return reply("401 Unauthorized", b"prove it",
                         "WWW-Authenticate: NTLM " + base64.b64encode(challenge).decode())
        if message[8:9] == b"\x03":
            length, _, at = struct.unpack("<HHI", message[36:44])
            if message[at:at + length].replace(b"\0", b"").decode() == USER:
                return reply("200 OK", b"ntlm let in")
        return reply("401 Unauthorized", b"who?", "WWW-Authenticate: NTLM")


def reply(status, body, *headers):
    lines = ["HTTP/1.1 " + status, *headers, "Content-Length: %d" % len(body), "", ""]
    return "\r\n".join(lines).encode() + body
