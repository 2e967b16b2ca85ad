#!/usr/bin/env python3
"""Processes of the load balancer's engine that follow each other under load: no request fails."""

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
import unittest

# Debian's Python has the library for HTTP/2.
PYTHON = "/usr/bin/python3"
if os.path.realpath(sys.executable) != os.path.realpath(PYTHON):
    os.execv(PYTHON, [PYTHON, *sys.argv])

import h2.config  # noqa: E402
import h2.connection  # noqa: E402
import h2.events  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import networks  # noqa: E402

if __name__ == "__main__":
    networks.enter()  # Before any thread exists.
import bed  # noqa: E402
import certificates  # noqa: E402

TIMEOUT_S = 60
UPGRADES = 5


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    #: Requests of /slow wait for it.
    released = threading.Event()
    waiting = threading.Semaphore(0)

    def do_GET(self):
        if self.path == "/slow":
            self.waiting.release()
            self.released.wait(TIMEOUT_S)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


class Http1:
    """A connection of HTTP/1.1; a response may say that it was the last one."""

    def __init__(self, port, context=None):
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname="www.example.com")
        self.stream = self.socket.makefile("rb")

    def get(self, path="/"):
        """Whether the connection can be used again."""
        self.socket.sendall(b"GET %s HTTP/1.1\r\nHost: www.example.com\r\n\r\n" % path.encode())
        status, length, last = self.stream.readline(), 0, False
        if not status.startswith(b"HTTP/1.1 200 "):
            raise ConnectionError("no response but %r" % status)
        while (line := self.stream.readline()) != b"\r\n":
            name, value = line.lower().split(b":", 1)
            length = int(value) if name == b"content-length" else length
            last = last or (name == b"connection" and value.strip() == b"close")
        if self.stream.read(length) != b"ok":
            raise ConnectionError("another content")
        return not last

    def close(self):
        self.stream.close()
        self.socket.close()


class Http2:
    """A connection of HTTP/2 with one stream at a time."""

    def __init__(self, port, context):
        plain = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        self.socket = context.wrap_socket(plain, server_hostname="www.example.com")
        self.state = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.state.initiate_connection()
        self.last = False

    def get(self, path="/"):
        stream = self.state.get_next_available_stream_id()
        self.state.send_headers(stream, [(":method", "GET"), (":scheme", "https"), (":path", path),
                                         (":authority", "www.example.com")], end_stream=True)
        ended = False
        while not ended:
            self.socket.sendall(self.state.data_to_send())
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("the connection ended before the response")
            for event in self.receive(data):
                if isinstance(event, h2.events.ResponseReceived) and (":status", "200") not in event.headers:
                    raise ConnectionError("no response but %s" % event.headers)
                if isinstance(event, h2.events.StreamReset):
                    raise ConnectionError("the stream was reset")
                ended = ended or isinstance(event, h2.events.StreamEnded)
        self.socket.sendall(self.state.data_to_send())
        return not self.last

    def receive(self, data):
        # The library ends at GOAWAY, also if streams go on.
        frames, rest = [], data
        self.buffer = getattr(self, "buffer", b"") + rest
        while len(self.buffer) >= 9:
            length = 9 + int.from_bytes(self.buffer[:3], "big")
            if len(self.buffer) < length:
                break
            frame, self.buffer = self.buffer[:length], self.buffer[length:]
            if frame[3] == 7:
                self.last = True
            else:
                frames += self.state.receive_data(frame)
        return frames

    def close(self):
        self.socket.close()


class Client(threading.Thread):
    """Sends requests until it is stopped, on each connection as many as `per` and the engine allow."""

    def __init__(self, connect, per):
        super().__init__(daemon=True)
        self.connect, self.per = connect, per
        self.stopped = threading.Event()
        self.count = 0
        self.failures = []

    def run(self):
        while not self.stopped.is_set():
            try:
                connection = self.connect()
                try:
                    for _ in range(self.per):
                        again = connection.get()
                        self.count += 1
                        if not again or self.stopped.is_set():
                            break
                finally:
                    connection.close()
            except (OSError, ValueError) as error:
                self.failures.append("%s: %r" % (type(error).__name__, error))


class Upgrade(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        server = Server(("127.0.0.1", 0), Backend)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.authority = certificates.Authority(self.folder)
        self.authority.sign("www", "DNS:www.example.com")
        self.plain, self.tls = bed.free_port(), bed.free_port()
        self.transactions = os.path.join(self.folder, "transactions")
        pem = {name: os.path.join(self.folder, name) for name in ("www.pem", "www.key")}
        config = {
            "name": "edge", "threads": 2, "transactions": {"folder": self.transactions},
            "certificates": [{"name": "www", "cert": pem["www.pem"], "key": pem["www.key"]}],
            "virtual_services": [
                {"name": "web", "type": "http", "listen": "127.0.0.1:%d" % self.plain, "pool": "app"},
                {"name": "secure", "type": "http", "listen": "127.0.0.1:%d" % self.tls, "pool": "app",
                 "tls": {"certificates": ["www"], "alpn": ["h2", "http/1.1"]}}],
            "pools": [{"name": "app", "servers": [{"name": "s", "address": "127.0.0.1:%d" % server.server_port}]}]}
        self.file = os.path.join(self.folder, "lb.yaml")
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.engines = 0

    def start(self, *arguments):
        """An engine that has told its service manager that it is ready."""
        self.engines += 1
        log = os.path.join(self.folder, "engine-%d.log" % self.engines)
        address = os.path.join(self.folder, "notify-%d" % self.engines)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, open(log, "wb") as output:
            manager.bind(address)
            manager.settimeout(TIMEOUT_S)
            engine = subprocess.Popen([bed.BINARY, "engine", "--config", self.file, *arguments], stderr=output,
                                      env={**os.environ, "NOTIFY_SOCKET": address})
            self.addCleanup(engine.wait)
            self.addCleanup(engine.kill)
            try:
                self.assertEqual(manager.recv(100), b"READY=1")
            except TimeoutError:
                self.fail(self.log(self.engines))
        return engine

    def log(self, number):
        with open(os.path.join(self.folder, "engine-%d.log" % number), encoding="utf-8") as file:
            return file.read()

    def clients(self):
        trusted = ssl.create_default_context(cafile=self.authority.pem)
        http2 = ssl.create_default_context(cafile=self.authority.pem)
        http2.set_alpn_protocols(["h2"])
        kinds = {
            "keep-alive": (lambda: Http1(self.plain), 1_000_000),
            "new connections": (lambda: Http1(self.plain), 1),
            "TLS keep-alive": (lambda: Http1(self.tls, trusted), 1_000_000),
            "TLS new connections": (lambda: Http1(self.tls, trusted), 1),
            "HTTP/2": (lambda: Http2(self.tls, http2), 1_000_000),
        }
        return {kind: [Client(*parameters) for _ in range(2)] for kind, parameters in kinds.items()}

    def upgrade_under_load(self):
        clients = self.clients()
        every = [client for kind in clients.values() for client in kind]
        engine = self.start("--drain", "60s")
        for client in every:
            client.start()
        for _ in range(UPGRADES):
            before = [client.count for client in every]
            bed.wait_for("requests of all clients", lambda: all(
                client.count > count + 5 for client, count in zip(every, before)), TIMEOUT_S)
            following = self.start("--drain", "60s", "--takeover")
            engine.send_signal(signal.SIGTERM)
            self.assertEqual(engine.wait(TIMEOUT_S), 0)
            engine = following
        for client in every:
            client.stopped.set()
        for client in every:
            client.join(TIMEOUT_S)
        counts = {kind: sum(client.count for client in some) for kind, some in clients.items()}
        failures = [failure for client in every for failure in client.failures]
        print("%d upgrades, requests: %s; failed: %d" % (UPGRADES, counts, len(failures)))
        self.assertEqual(failures, [])
        for number in range(1, self.engines):
            self.assertIn("all connections are closed", self.log(number))
        engine.send_signal(signal.SIGTERM)
        self.assertEqual(engine.wait(TIMEOUT_S), 0)
        return sum(counts.values())

    def test_no_request_fails_and_each_one_is_recorded_once(self):
        networks.setting("net.ipv4.tcp_migrate_req", 1)
        count = self.upgrade_under_load()
        self.assertNotIn("tcp_migrate_req", self.log(1))
        run = subprocess.run([bed.BINARY, "transactions", "--folder", self.transactions, "status=200"], check=True,
                             capture_output=True, text=True)
        self.assertIn("%d " % count, run.stdout.replace(",", ""), run.stdout[:400])

    def test_no_request_fails_where_the_system_migrates_nothing(self):
        networks.setting("net.ipv4.tcp_migrate_req", 0)
        self.upgrade_under_load()
        self.assertIn("net.ipv4.tcp_migrate_req is 0", self.log(1))

    def test_requests_in_progress_end_until_the_deadline(self):
        networks.setting("net.ipv4.tcp_migrate_req", 1)
        engine = self.start("--drain", "60s")
        connection = Http1(self.plain)
        self.addCleanup(connection.close)
        results = []
        thread = threading.Thread(target=lambda: results.append(connection.get("/slow")))
        thread.start()
        self.assertTrue(Backend.waiting.acquire(timeout=TIMEOUT_S))
        following = self.start("--drain", "1ms", "--takeover")
        engine.send_signal(signal.SIGTERM)
        bed.wait_for("the drain", lambda: "the engine drains" in self.log(1), TIMEOUT_S)
        fresh = Http1(self.plain)
        self.addCleanup(fresh.close)
        self.assertTrue(fresh.get(), "the other process keeps its connections")
        self.assertIsNone(engine.poll())
        Backend.released.set()
        thread.join(TIMEOUT_S)
        self.assertEqual(results, [False], "the last response of its connection")
        self.assertEqual(engine.wait(TIMEOUT_S), 0)
        # The idle connection has no request that could be its last one.
        following.send_signal(signal.SIGTERM)
        self.assertEqual(following.wait(TIMEOUT_S), 0)
        self.assertIn("cut off", self.log(2))

    def test_a_second_signal_ends_a_process_that_drains(self):
        engine = self.start("--drain", "1h")
        connection = Http1(self.plain)
        self.addCleanup(connection.close)
        connection.get()
        engine.send_signal(signal.SIGTERM)
        bed.wait_for("the drain", lambda: "the engine drains" in self.log(1), TIMEOUT_S)
        engine.send_signal(signal.SIGTERM)
        self.assertEqual(engine.wait(TIMEOUT_S), 0)
        self.assertEqual(connection.socket.recv(1), b"")

    def test_two_processes_without_takeover_share_no_folder(self):
        self.start()
        run = subprocess.run([bed.BINARY, "engine", "--config", self.file], capture_output=True, text=True,
                             timeout=TIMEOUT_S, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("in use by another process", run.stderr)


if __name__ == "__main__":
    bed.main()
