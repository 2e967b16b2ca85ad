"""Machines for tests: network namespaces with cables between them, and clients of a VIP."""

import contextlib
import os
import socket
import subprocess
import threading
import time

import bed
import networks

TIMEOUT_S = 60
VIP, VIP6 = "192.0.2.1", "2001:db8::1"
#: A server: it responds to HTTP on port 80 and echoes lines on port 7.
SERVER = r"""
import http.server, socketserver, threading
class Http(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_):
        pass
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line)
class Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 1024
echo, web = Threads(("0.0.0.0", 7), Echo), Threads(("0.0.0.0", 80), Http)
threading.Thread(target=echo.serve_forever, daemon=True).start()
print("READY", flush=True)
web.serve_forever()
"""


class Machine:
    """A process that keeps a network namespace; commands run in it."""

    def __init__(self, case):
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        case.addCleanup(self.holder.wait)
        case.addCleanup(self.holder.kill)
        own = os.readlink("/proc/self/ns/net")
        bed.wait_for("a network namespace", lambda: os.readlink(
            "/proc/%d/ns/net" % self.holder.pid) != own and self.comm() == "sleep", TIMEOUT_S, 0.01)
        self.case = case
        self.run("ip", "link", "set", "lo", "up")

    def comm(self):
        with open("/proc/%d/comm" % self.holder.pid, encoding="utf-8") as file:
            return file.read().strip()

    def command(self, *command):
        return ["nsenter", "--target", str(self.holder.pid), "--net", *command]

    def run(self, *command):
        run = subprocess.run(self.command(*command), capture_output=True, text=True, check=False)
        if run.returncode:
            raise AssertionError("%s: %s%s" % (command, run.stdout, run.stderr))
        return run.stdout

    def start(self, *command, **more):
        process = subprocess.Popen(self.command(*command), **more)
        self.case.addCleanup(process.wait)
        self.case.addCleanup(process.kill)
        return process

    def setting(self, name, value):
        self.run("sh", "-c", "echo %s > /proc/sys/%s" % (value, name.replace(".", "/")))


def connect(machine, name, address, other, other_name, other_address=None):
    """A cable between two machines."""
    machine.run("ip", "link", "add", name, "type", "veth", "peer", "name", other_name, "netns",
                str(other.holder.pid))
    for one, interface, own in ((machine, name, address), (other, other_name, other_address)):
        if own:
            one.run("ip", "address", "add", own, "dev", interface)
        one.run("ip", "link", "set", interface, "up")


@contextlib.contextmanager
def inside(machine):
    """Sockets of this thread are made in the network of a machine."""
    with open("/proc/thread-self/ns/net", "rb") as own, \
            open("/proc/%d/ns/net" % machine.holder.pid, "rb") as other:
        networks.join(other)
        try:
            yield
        finally:
            networks.join(own)


class Line:
    """A connection through an engine to the echo service."""

    def __init__(self, client, timeout=TIMEOUT_S):
        with inside(client):
            self.socket = socket.socket()
        self.socket.settimeout(timeout)
        self.socket.connect((VIP, 7))
        self.stream = self.socket.makefile("rb")

    def works(self):
        try:
            self.socket.sendall(b"line\n")
            return self.stream.readline() == b"line\n"
        except OSError:
            return False

    def close(self):
        self.stream.close()
        self.socket.close()


def get(client, timeout=TIMEOUT_S, keep=None, vip=VIP):
    """A request on a new connection, or on that of `keep`; returns the connection unless it was its last request."""
    if keep is None:
        with inside(client):
            keep = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET)
        keep.settimeout(timeout)
    try:
        return request(keep, vip)
    except OSError:
        keep.close()
        raise


def request(keep, vip):
    try:
        keep.getpeername()
    except OSError:
        keep.connect((vip, 80))
    keep.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    text = b""
    while not text.endswith(b"\r\n\r\nok"):
        data = keep.recv(4096)
        if not data:
            raise ConnectionError("the connection ended: %r" % text)
        text += data
    if not text.startswith(b"HTTP/1.1 200 "):
        raise ConnectionError(repr(text))
    if b"\r\nconnection: close\r\n" in text.lower():
        keep.close()
        return None
    return keep


class Load(threading.Thread):
    """Requests until it is stopped."""

    def __init__(self, client, keeps, vip=VIP):
        super().__init__(daemon=True)
        self.client, self.keeps, self.vip = client, keeps, vip
        self.stopped = threading.Event()
        self.count, self.failures, self.longest = 0, [], 0.0

    def run(self):
        connection = None
        while not self.stopped.is_set():
            began = time.monotonic()
            try:
                connection = get(self.client, keep=connection, vip=self.vip)
                self.count += 1
                self.longest = max(self.longest, time.monotonic() - began)
            except OSError as error:
                self.failures.append(repr(error))
                connection = None
            if connection and not self.keeps:
                connection.close()
                connection = None
        if connection:
            connection.close()


def finish(case, clients, what):
    """Stops loads; no request of theirs may have failed."""
    for client in clients:
        client.stopped.set()
    for client in clients:
        client.join(TIMEOUT_S)
    failures = [failure for client in clients for failure in client.failures]
    print("%s: %d requests, %d failed, the longest took %.0f ms" % (
        what, sum(client.count for client in clients), len(failures),
        max(client.longest for client in clients) * 1000))
    case.assertEqual(failures, [])
