#!/usr/bin/env python3
"""Strangers on the trapper and API ports: clear errors, bounded memory, others keep being served."""

import collections
import contextlib
import http.client
import itertools
import json
import os
import resource
import socket
import struct
import sys
import threading
import time
import urllib.error
import urllib.request
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from pulse import Pulse  # noqa: E402

MIB = 1 << 20
# Attackers come from another address than users.
STRANGER = "127.0.0.2"
# A failing test ends; a passing one never waits for it. Before the limits existed it took 8 to 60 s: what a request
# may take is compared with that after it has ended.
PATIENCE = 60
# Rounds of requests before an attack and while all its connections are open.
ROUNDS = 40
# Factor to the time without an attack where that is slow already.
SLOWER = 5
# Of linux/in.h; Python names it since 3.12.
BIND_ADDRESS_NO_PORT = 24
# A reverse proxy, whose clients are told apart.
PROXY = "127.0.0.9"
HARD_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (HARD_FILES, HARD_FILES))


def p95(times):
    """Exceeded by one of twenty."""
    return sorted(times)[len(times) * 95 // 100]


class Attack:
    """Opens connections, and while they are all open, replaces one after the other by a new one."""

    def __init__(self, connections):
        """Each connection: port, bytes to send, own address."""
        self.connections = connections
        self.opened, self.failure = 0, None
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __add__(self, other):
        return Attack(self.connections + other.connections)

    def start(self):
        self.thread.start()

    def is_opening(self):
        return self.thread.is_alive() and self.opened < len(self.connections)

    def stop(self):
        """Fails if it did not get as far as intended."""
        self.ends.set()
        self.thread.join()
        if self.failure or self.opened < len(self.connections):
            raise AssertionError("%d of %d connections: %r"
                                 % (self.opened, len(self.connections), self.failure))

    def run(self):
        held = collections.deque()
        try:
            for connection in itertools.cycle(self.connections):
                if self.ends.is_set():
                    break
                if len(held) == len(self.connections):
                    held.popleft().close()
                    time.sleep(0.001)
                held.append(self.open(*connection))
                self.opened += 1
        except OSError as problem:
            self.failure = problem
        finally:
            for s in held:
                s.close()

    def open(self, port, data, source):
        s = socket.socket()
        # The same port is used for connections to different ports.
        s.setsockopt(socket.IPPROTO_IP, BIND_ADDRESS_NO_PORT, 1)
        s.bind((source, 0))
        s.settimeout(PATIENCE)
        s.connect(("127.0.0.1", port))
        # The server may refuse the request before its end, or close the connection for a newer one.
        with contextlib.suppress(ConnectionError):
            s.sendall(data)
        return s


class Users:
    """Signed-in users, agents with values, and users who sign in, at an address of their own."""

    def __init__(self, case, host):
        self.case = case
        _, items = case.host(host, [{"key_": "n", "value_type": 3}])
        self.host, self.item, self.sent = host, items["n"], []
        self.clock = int(time.time()) - 3600
        bed.wait_for("the item", self.agent)

    def user(self):
        return self.case.api.call("item.get", itemids=self.item, output=["lastvalue"])

    def agent(self):
        """Sends values; whether they were acknowledged."""
        first = len(self.sent)
        data = [{"host": self.host, "key": "n", "value": str(n), "clock": self.clock + n, "ns": 0}
                for n in range(first, first + 10)]
        answer = bed.send(self.case.server.address, {"request": "sender data", "data": data},
                          timeout=PATIENCE)
        if not answer["info"].startswith("processed: 10; failed: 0"):
            return False
        self.sent += [row["value"] for row in data]
        return True

    def sign_in(self):
        return self.case.login("Admin", bed.PASSWORD)

    def requests(self, goes_on):
        """Seconds of each request by its kind, in rounds; `goes_on` gets the number of finished rounds."""
        seconds = {"user": [], "agent": [], "sign-in": []}
        rounds = 0
        while goes_on(rounds):
            for kind, request in (("user", self.user), ("agent", self.agent), ("sign-in", self.sign_in)):
                # Checking a password takes a tenth of a second.
                if kind == "sign-in" and rounds % 10:
                    continue
                start = time.monotonic()
                self.case.assertTrue(request(), kind)
                seconds[kind].append(time.monotonic() - start)
            rounds += 1
        return seconds

    def check_stored(self):
        """All acknowledged values are in the history."""
        rows = self.case.api.call("history.get", history=3, itemids=self.item, sortfield="clock",
                                  output=["value"])
        self.case.assertEqual([row["value"] for row in rows], self.sent)


class Hostile(bed.Case):
    arguments = ("--http-proxies", PROXY)

    def setUp(self):
        self.before = self.server.memory_kib()

    def served(self):
        """An honest client is still served, at once."""
        answer = bed.send(self.server.address, {"request": "sender data", "data": []})
        self.assertEqual(answer["response"], "success")
        self.assertEqual(bed.Api(self.server.url).call("apiinfo.version", []), "7.0.22")

    def bounded(self, mib):
        grown = (self.server.memory_kib() - self.before) / 1024
        self.assertLess(grown, mib, "memory grew by %d MiB" % grown)

    def raw(self, data, timeout=PATIENCE):
        """What the trapper answers to raw bytes; empty when it just closes."""
        with socket.create_connection(self.server.address, timeout=timeout) as s:
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError, OSError):
                pass
            return bed.read_frame(s)

    def test_frames_that_are_none(self):
        good = json.dumps({"request": "sender data", "data": []}).encode()
        for data in [
            b"", b"Z", b"ZBXD", b"ZBXD\x01", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00" * 4096,
            b"ZBXD\xff" + struct.pack("<II", 10, 0) + b"0123456789",
            b"ZBXD\x01" + struct.pack("<II", 100, 0) + good,          # shorter than announced
            b"ZBXD\x01" + struct.pack("<II", 0xFFFFFFFF, 0) + good,   # 4 GiB announced
            b"ZBXD\x05" + struct.pack("<QQ", 1 << 60, 0) + good,      # an exbibyte announced
            b"ZBXD\x03" + struct.pack("<II", 10, 10) + b"not zlib..",
            bed.frame("not json"), bed.frame("[]"), bed.frame("{}"), bed.frame('{"request":"nosuch"}'),
            bed.frame('{"request":"sender data","data":' + "[" * 100000),
        ]:
            self.raw(data)
        self.served()
        self.bounded(64)

    def test_compressed_bomb(self):
        packed = zlib.compress(b"\0" * (512 * MIB), 9)
        for claimed in (512 * MIB, 100, 0xFFFFFFFF):
            self.raw(b"ZBXD\x03" + struct.pack("<II", len(packed), claimed) + packed)
        self.served()
        self.bounded(256)

    def test_a_flood_of_slow_connections(self):
        slow = []
        for n in range(300):
            s = socket.create_connection(self.server.address, timeout=PATIENCE)
            s.sendall(b"ZBXD\x01" + struct.pack("<II", 1000, 0) + b"{"[: n % 2])
            slow.append(s)
        self.served()
        http = []
        for _ in range(300):
            s = socket.create_connection(("127.0.0.1", self.server.http), timeout=PATIENCE)
            s.sendall(b"POST /api_jsonrpc.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
            http.append(s)
        self.served()
        for s in slow + http:
            s.close()
        self.bounded(64)

    def test_many_at_once(self):
        _, items = self.host("crowd", [{"key_": "n", "value_type": 3}])
        problems = []

        def one(n):
            data = [{"host": "crowd", "key": "n", "value": "1", "clock": 1700000000 + n, "ns": i}
                    for i in range(50)]
            answer = bed.send(self.server.address, {"request": "sender data", "data": data})
            if not answer["info"].startswith("processed: 50; failed: 0"):
                problems.append(answer)
        threads = [threading.Thread(target=one, args=(n,)) for n in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        count = self.api.call("history.get", history=3, itemids=items["n"], countOutput=True)
        self.assertEqual(count, "5000")

    def post(self, body, headers=None, timeout=30):
        headers = dict({"Content-Type": "application/json"}, **(headers or {}))
        request = urllib.request.Request(self.server.url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as problem:
            return problem.code, problem.read()
        except (ConnectionError, urllib.error.URLError):
            return 0, b""

    def test_api_bodies(self):
        deep = b'{"jsonrpc":"2.0","method":"apiinfo.version","id":1,"params":' + b"[" * 200000
        status, body = self.post(deep)
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(body)["error"]["code"], -32700)
        status, _ = self.post(b"x" * (9 * MIB))
        self.assertIn(status, (0, 413))
        status, body = self.post(b"[" + b",".join([b"1"] * 2000) + b"]")
        self.assertEqual(json.loads(body)["error"]["code"], -32600)
        status, _ = self.post(b"{}", {"Content-Type": "text/html"})
        self.assertEqual(status, 412)
        for method in ("host.get", "nosuch.get", "host.nosuch", "user.login"):
            for params in ([], {}, {"limit": "x"}, {"output": {"a": 1}}, {"filter": 5}):
                status, body = self.post(json.dumps(
                    {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}).encode())
                self.assertEqual(status, 200)
                self.assertIn("error", json.loads(body))
        self.served()
        self.bounded(128)

    def test_long_lists(self):
        """A list is read once, not once for each of its members."""
        ids = list(range(1_000_000, 1_150_000))
        host = self.host("listed")[0]
        names = ["n%d" % n for n in range(20_000)]
        calls = [
            ("escalation.get", {"eventids": ids}),
            ("service.delete", ids),
            ("host.massupdate", {"hosts": [{"hostid": id} for id in ids], "status": 0}),
            ("service.update", [{"serviceid": id} for id in ids]),
            ("host.update", {"hostid": host, "tags": [{"tag": name} for name in names] * 2}),
            ("host.update", {"hostid": host, "macros": [
                {"macro": "{$%s}" % name.upper(), "value": "v"} for name in names] * 2}),
            ("host.get", {"tags": [{"tag": name} for name in names]}),
            ("drule.create", {"name": "d", "iprange": "127.0.0.1", "dchecks": [
                {"type": 0, "ports": str(n % 60_000 + 1)} for n in range(70_000)]}),
        ]
        api = self.server.api()
        api.timeout_s = 60
        for method, params in calls:
            with self.subTest(method), self.assertRaises(bed.ApiError) as refused:
                api.call(method, params)
            self.assertNotEqual(refused.exception.code, -32603)
        self.served()
        self.bounded(256)

    def test_blocked_accounts_stay_open_for_other_addresses(self):
        for name in ("Admin", "no such user"):
            for _ in range(8):
                with self.assertRaises(bed.ApiError) as caught:
                    self.login(name, "wrong", source=STRANGER)
                self.assertEqual(
                    caught.exception.data,
                    "Incorrect user name or password or account is temporarily blocked.")
        with self.assertRaises(bed.ApiError):
            self.login("Admin", bed.PASSWORD, source=STRANGER)
        self.assertTrue(self.login("Admin", bed.PASSWORD))

    def test_lock_outs_count_by_the_client_that_a_proxy_names(self):
        for n in range(8):
            with self.assertRaises(bed.ApiError):
                self.login("Admin", "wrong", source=PROXY, forwarded="198.51.100.1")
        with self.assertRaises(bed.ApiError):
            self.login("Admin", bed.PASSWORD, source=PROXY, forwarded="198.51.100.1")
        self.assertTrue(self.login("Admin", bed.PASSWORD, source=PROXY, forwarded="198.51.100.2"))
        # Who is no proxy cannot pass for another: these all count for one address.
        for n in range(8):
            with self.assertRaises(bed.ApiError):
                self.login("Admin", "wrong", source="127.0.0.5", forwarded="198.51.100.%d" % n)
        with self.assertRaises(bed.ApiError):
            self.login("Admin", bed.PASSWORD, source="127.0.0.5", forwarded="198.51.100.9")

    def login(self, name, password, source="127.0.0.1", forwarded=None, timeout=PATIENCE):
        body = {"jsonrpc": "2.0", "method": "user.login", "id": 1,
                "params": {"username": name, "password": password}}
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.server.http, timeout=timeout, source_address=(source, 0))
        with contextlib.closing(connection):
            headers = {"Content-Type": "application/json"}
            if forwarded:
                headers["X-Forwarded-For"] = forwarded
            connection.request("POST", "/api_jsonrpc.php", json.dumps(body), headers)
            reply = json.loads(connection.getresponse().read())
        if "error" in reply:
            raise bed.ApiError(reply["error"])
        return reply["result"]

    def attacked(self, attack):
        """Compares what users and agents notice during an attack by other addresses with the time before it."""
        name = self.id().split(".")[-1]
        users = Users(self, name)
        quiet = users.requests(lambda rounds: rounds < ROUNDS)
        with Pulse() as pulse:
            attack.start()
            opening = users.requests(lambda _: attack.is_opening())
            full = users.requests(lambda rounds: rounds < ROUNDS)
            attack.stop()
        during = {kind: times + full[kind] for kind, times in opening.items()}
        for kind, times in during.items():
            print("%s: %s: p95 %.3f s, slowest %.3f s of %d; without the attack %.3f s, %.3f s; still for %.3f s" % (
                name, kind, p95(times), max(times), len(times), p95(quiet[kind]), max(quiet[kind]), pulse.longest_s))
        for kind in ("user", "agent"):
            # Where other programs keep the cores busy, the requests before the attack are slow as well. Where the
            # machine stood still meanwhile, so did one request.
            self.assertLess(p95(during[kind]), max(1, SLOWER * p95(quiet[kind])), kind)
            self.assertLess(max(during[kind]), max(3, SLOWER * max(quiet[kind])) + pulse.longest_s, kind)
        users.check_stored()

    def from_strangers(self, port, data, count, sources=(STRANGER,)):
        """Connections that send a part of a request and stay."""
        return Attack([(port, data, sources[n % len(sources)]) for n in range(count)])

    def test_batches_of_sign_ins(self):
        call = {"jsonrpc": "2.0", "method": "user.login", "id": 1,
                "params": {"username": "Admin", "password": "x"}}
        body = json.dumps([call] * 1000).encode()
        head = ("POST /api_jsonrpc.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                "Content-Length: %d\r\n\r\n" % len(body)).encode()
        self.attacked(self.from_strangers(self.server.http, head + body, 60))
        self.bounded(128)
        with open("/proc/%d/status" % self.server.process.pid) as status:
            threads = next(int(line.split()[1]) for line in status if line.startswith("Threads"))
        self.assertLess(threads, 150)

    def test_announced_bodies(self):
        head = (b"POST /api_jsonrpc.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: 8388608\r\n\r\n{")
        self.attacked(self.from_strangers(self.server.http, head, 50))
        self.bounded(64)

    def test_half_open_and_idle_connections(self):
        """One and a half times the connections of the trapper port, and all of the web server."""
        sources = ["127.0.2.%d" % n for n in range(1, 14)]
        data = b"ZBXD\x01" + struct.pack("<II", 1000, 0) + b"{"
        half_open = self.from_strangers(self.server.trapper, data, 12_289, sources)
        idle = self.from_strangers(self.server.http, b"", 2_100, sources)
        self.attacked(half_open + idle)
        self.bounded(256)

    def test_missing_file_descriptors(self):
        """Errors of accept are logged rarely, and the server recovers."""
        pid = self.server.process.pid
        used = len(os.listdir("/proc/%d/fd" % pid))
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 20, HARD_FILES))
        try:
            attack = self.from_strangers(self.server.trapper, b"", 300)
            attack.start()
            bed.wait_for("all connections", lambda: not attack.is_opening())
            bed.wait_for("a log line", lambda: "cannot accept" in self.server.log(400))
            attack.stop()
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        self.served()
        self.assertLess(self.server.log(400).count("cannot accept"), 5)


if __name__ == "__main__":
    bed.main()
