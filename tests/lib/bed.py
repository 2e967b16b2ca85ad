"""Test bed: a real `vedette server` on ports of its own, clients for its protocols, real peers.

Standard library only. Each test case makes its own server in a temporary folder and stops it by
its own pid. VEDETTE_BIN names the program (default: target/debug/vedette of this clone).
"""

import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("VEDETTE_BIN", os.path.join(ROOT, "target", "debug", "vedette"))
PASSWORD = "first-password-of-a-test"
# Agents take no port above 32767; and connections are given none below, so that what starts slowly finds
# its port free. scripts/test gives each file that runs at the same time other ports.
PORTS = [int(port) for port in os.environ.get("TEST_PORTS", "11000-31999").split("-")]
#: Ports in random order, each one again only after all others: what starts slowly has not taken its own yet.
NEXT_PORTS = itertools.cycle(random.sample(range(PORTS[0], PORTS[1] + 1), PORTS[1] + 1 - PORTS[0]))


def free_port(kind=socket.SOCK_STREAM):
    """A TCP port of loopback that nobody uses now and that was not given for long; with SOCK_DGRAM, one of UDP."""
    for port in NEXT_PORTS:
        with socket.socket(type=kind) as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def listens(port):
    """Whether somebody listens on that port of loopback."""
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def pause(pid):
    """Stops a process, and returns when its last thread stands still, or when it has ended."""
    def stands_still():
        try:
            threads = os.listdir("/proc/%d/task" % pid)
        except FileNotFoundError:
            return True
        # A zombie stands still as well.
        return all(state(thread) in "TZX" for thread in threads)

    def state(thread):
        try:
            with open("/proc/%d/task/%s/stat" % (pid, thread)) as file:
                return file.read().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return "T"

    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    wait_for("process %d to stand still" % pid, stands_still, pause=0.01)


def wait_for(what, check, timeout=60.0, pause=0.2):
    """Repeats `check` until it gives something true; fails with its last answer. The last look is after the time is
    over: a machine that stands still for that long has had no chance."""
    end = time.monotonic() + timeout
    late = False
    while not late:
        late = time.monotonic() >= end
        try:
            last = check()
        except (OSError, ApiError, KeyError, IndexError) as problem:
            last = problem
        else:
            if last:
                return last
        time.sleep(pause)
    raise AssertionError("waited %g s for %s; last: %r" % (timeout, what, last))


def wait_for_equal(what, read, wanted, **times):
    """Repeats `read` until it gives `wanted`; fails with what it gave last."""
    last = []

    def equal():
        last[:] = [read()]
        return last == [wanted]

    try:
        wait_for(what, equal, **times)
    except AssertionError as failure:
        raise AssertionError("%s; wanted %r, have %r" % (failure, wanted, last)) from None


class ApiError(Exception):
    """An error answer of the JSON-RPC API."""

    def __init__(self, error):
        super().__init__("%(code)s %(message)s %(data)s" % error)
        self.code = error["code"]
        self.data = error["data"]


class Api:
    """JSON-RPC with a session."""

    def __init__(self, url, tls=None):
        """`tls`: what a server over HTTPS must present (`ssl.SSLContext`)."""
        self.url, self.tls = url, tls
        self.token = None
        self.timeout_s = 120

    def login(self, user="Admin", password=PASSWORD):
        self.token = None
        self.token = self.call("user.login", username=user, password=password)
        return self

    def call(self, method, params=None, **members):
        body = {"jsonrpc": "2.0", "method": method, "id": 1}
        body["params"] = members if params is None else params
        headers = {"Content-Type": "application/json-rpc"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=self.timeout_s, context=self.tls) as answer:
            reply = json.loads(answer.read())
        if "error" in reply:
            raise ApiError(reply["error"])
        return reply["result"]


def frame(payload, compress=False):
    """A ZBXD frame."""
    if isinstance(payload, str):
        payload = payload.encode()
    if compress:
        packed = zlib.compress(payload)
        return b"ZBXD\x03" + struct.pack("<II", len(packed), len(payload)) + packed
    return b"ZBXD\x01" + struct.pack("<II", len(payload), 0) + payload


def read_frame(connection):
    """The payload of one answer; empty when the other side just closed."""
    data = b""
    while True:
        try:
            block = connection.recv(65536)
        except ConnectionResetError:
            break
        if not block:
            break
        data += block
    if len(data) < 13:
        return b""
    body = data[13:]
    return zlib.decompress(body) if data[4] & 2 else body


def send(address, message, compress=False, timeout=60):
    """One request to a trapper port; the parsed answer."""
    with socket.create_connection(address, timeout=timeout) as connection:
        connection.sendall(frame(json.dumps(message), compress))
        reply = read_frame(connection)
    return json.loads(reply) if reply else None


class Server:
    """A running `vedette server`."""

    def __init__(self, folder=None, arguments=(), agent="off", environment=None, through=()):
        """`through` = a command that becomes the server: the server's own command follows it."""
        self.folder = folder or tempfile.mkdtemp(prefix="vedette-test-")
        self.own_folder = folder is None
        self.http, self.trapper = free_port(), free_port()
        self.arguments = ["--agent", agent] + list(arguments)
        self.environment = environment or {}
        self.through = list(through)
        self.process = None
        self.log_path = os.path.join(self.folder, "server.log")
        self.url = "http://127.0.0.1:%d/api_jsonrpc.php" % self.http
        self.address = ("127.0.0.1", self.trapper)
        self.tls = None

    def secure(self, authority):
        """From the next start on it serves HTTPS with a certificate of this authority."""
        authority.sign("web", "IP:127.0.0.1")
        path = os.path.join(authority.folder, "web")
        self.arguments += ["--http-tls-cert", path + ".pem", "--http-tls-key", path + ".key"]
        self.url = self.url.replace("http:", "https:")
        self.tls = ssl.create_default_context(cafile=authority.pem)

    def launch(self):
        """Starts it without waiting."""
        environment = dict(os.environ, VEDETTE_ADMIN_PASSWORD=PASSWORD, **self.environment)
        command = self.through + [
            BINARY, "server", "--data", os.path.join(self.folder, "data"),
            "--http", "127.0.0.1:%d" % self.http, "--trapper", "127.0.0.1:%d" % self.trapper,
        ] + self.arguments
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, stdin=subprocess.DEVNULL
            )

    def start(self, timeout=60):
        """Starts it and waits until it serves; returns the seconds that took."""
        begin = time.monotonic()
        self.launch()

        def serves():
            if self.process.poll() is not None:
                raise AssertionError("the server ended: " + self.log())
            return Api(self.url, self.tls).call("apiinfo.version", [])

        wait_for("the server to serve", serves, timeout, pause=0.02)
        return time.monotonic() - begin

    def api(self):
        return Api(self.url, self.tls).login()

    def kill(self):
        """kill -9"""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError("the server did not stop within 30 s: " + self.log())

    def log(self, lines=40):
        with contextlib.suppress(OSError), open(self.log_path, errors="replace") as f:
            return "".join(f.readlines()[-lines:])
        return ""

    def clean(self):
        self.stop()
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def memory_kib(self):
        """Resident memory of the process."""
        with open("/proc/%d/status" % self.process.pid) as f:
            for line in f:
                if line.startswith("VmRSS"):
                    return int(line.split()[1])
        return 0


class Case(unittest.TestCase):
    """A test case with a server per class."""

    agent = "off"
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(agent=cls.agent, arguments=cls.arguments)
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def tearDown(self):
        outcome = getattr(self, "_outcome", None)
        failed = outcome and any(problem for _, problem in getattr(outcome.result, "errors", []))
        if failed:
            sys.stderr.write(self.server.log())

    def host(self, name, items=(), **more):
        """A host with items; returns its id and the items' ids by key."""
        groups = self.api.call("hostgroup.get", filter={"name": ["Test"]}, output=["groupid"])
        if groups:
            group = groups[0]["groupid"]
        else:
            group = self.api.call("hostgroup.create", name="Test")["groupids"][0]
        hostid = self.api.call("host.create", host=name, groups=[{"groupid": group}], **more)
        hostid = hostid["hostids"][0]
        ids = {}
        for item in items:
            full = dict({"name": item["key_"], "hostid": hostid, "type": 2}, **item)
            ids[item["key_"]] = self.api.call("item.create", full)["itemids"][0]
        return hostid, ids


class AllBut(unittest.TestLoader):
    """Loads a file's tests, but for those of some classes."""

    def __init__(self, without):
        super().__init__()
        self.without = without

    def loadTestsFromTestCase(self, case):
        return self.suiteClass() if case.__name__ in self.without else super().loadTestsFromTestCase(case)


def main():
    """Runs the tests of the calling file and prints the plain totals. Arguments: what to run, as unittest
    names it, or `--without CLASS,CLASS`."""
    arguments, without = sys.argv, ()
    if "--without" in arguments:
        without = arguments[-1].split(",")
        arguments = arguments[:1]
    program = unittest.main(exit=False, verbosity=2, module="__main__", argv=arguments,
                            testLoader=AllBut(without))
    result = program.result
    # A test with several failed parts is one failed test.
    failed = len({getattr(test, "test_case", test) for test, _ in result.failures + result.errors})
    print("%d passed, %d failed, %d skipped"
          % (result.testsRun - failed - len(result.skipped), failed, len(result.skipped)))
    sys.exit(1 if failed or not result.testsRun else 0)
