#!/usr/bin/env python3
"""Strangers on the trapper and API ports: clear errors, bounded memory, others keep being served."""

import contextlib
import http.client
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

MIB = 1 << 20
# Attackers come from another address than users.
STRANGER = "127.0.0.2"
# A failing test ends; a passing one never waits for it. Before the limits existed it took 8 to 60 s.
PATIENCE = 5
# A reverse proxy, whose clients are told apart.
PROXY = "127.0.0.9"
HARD_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (HARD_FILES, HARD_FILES))


class Hostile(bed.Case):
    arguments = ("--http-proxies", PROXY)

    def setUp(self):
        self.before = self.server.memory_kib()

    def served(self):
        """An honest client is still served, at once."""
        answer = bed.send(self.server.address, {"request": "sender data", "data": []}, timeout=10)
        self.assertEqual(answer["response"], "success")
        self.assertEqual(bed.Api(self.server.url).call("apiinfo.version", []), "7.0.22")

    def bounded(self, mib):
        grown = (self.server.memory_kib() - self.before) / 1024
        self.assertLess(grown, mib, "memory grew by %d MiB" % grown)

    def raw(self, data, timeout=10):
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
            self.raw(b"ZBXD\x03" + struct.pack("<II", len(packed), claimed) + packed, timeout=60)
        self.served()
        self.bounded(256)

    def test_a_flood_of_slow_connections(self):
        slow = []
        for n in range(300):
            s = socket.create_connection(self.server.address, timeout=10)
            s.sendall(b"ZBXD\x01" + struct.pack("<II", 1000, 0) + b"{"[: n % 2])
            slow.append(s)
        self.served()
        http = []
        for _ in range(300):
            s = socket.create_connection(("127.0.0.1", self.server.http), timeout=10)
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

    def login(self, name, password, source="127.0.0.1", forwarded=None):
        body = {"jsonrpc": "2.0", "method": "user.login", "id": 1,
                "params": {"username": name, "password": password}}
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.server.http, timeout=PATIENCE, source_address=(source, 0))
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
        """What users and agents notice of an attack by another address; at most a second each."""
        held = attack()
        begin = time.monotonic()
        slowest = 0
        for _ in range(5):
            for request in (
                lambda: self.api.call("hostgroup.get", limit=1),
                lambda: bed.send(self.server.address, {"request": "sender data", "data": []},
                                 timeout=PATIENCE),
                lambda: self.login("Admin", bed.PASSWORD),
            ):
                start = time.monotonic()
                self.assertTrue(request())
                slowest = max(slowest, time.monotonic() - start)
        print("%s: slowest of users' requests %.2f s, all %.2f s"
              % (self.id().split(".")[-1], slowest, time.monotonic() - begin))
        for s in held:
            s.close()

    def from_stranger(self, port, data, count, sources=(STRANGER,)):
        """Connections that send a part of a request and stay."""
        def attack():
            held = []
            for n in range(count):
                s = socket.socket()
                s.bind((sources[n % len(sources)], 0))
                s.settimeout(PATIENCE)
                s.connect(("127.0.0.1", port))
                if data:
                    s.sendall(data)
                held.append(s)
            return held
        return attack

    def test_batches_of_sign_ins(self):
        call = {"jsonrpc": "2.0", "method": "user.login", "id": 1,
                "params": {"username": "Admin", "password": "x"}}
        body = json.dumps([call] * 1000).encode()
        head = ("POST /api_jsonrpc.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                "Content-Length: %d\r\n\r\n" % len(body)).encode()
        self.attacked(self.from_stranger(self.server.http, head + body, 60))
        self.bounded(128)
        with open("/proc/%d/status" % self.server.process.pid) as status:
            threads = next(int(line.split()[1]) for line in status if line.startswith("Threads"))
        self.assertLess(threads, 150)

    def test_announced_bodies(self):
        head = (b"POST /api_jsonrpc.php HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: 8388608\r\n\r\n{")
        self.attacked(self.from_stranger(self.server.http, head, 50))
        self.bounded(64)

    def test_idle_http_connections(self):
        self.attacked(self.from_stranger(self.server.http, b"", 2500))

    def test_half_open_trapper_connections(self):
        sources = [STRANGER, "127.0.0.3", "127.0.0.4"]
        data = b"ZBXD\x01" + struct.pack("<II", 1000, 0) + b"{"
        self.attacked(self.from_stranger(self.server.trapper, data, 9000, sources))
        self.bounded(256)

    def test_missing_file_descriptors(self):
        """Errors of accept are logged rarely, and the server recovers."""
        pid = self.server.process.pid
        used = len(os.listdir("/proc/%d/fd" % pid))
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 20, HARD_FILES))
        try:
            held = self.from_stranger(self.server.trapper, b"", 300)()
            bed.wait_for("a log line", lambda: "cannot accept" in self.server.log(400))
            for s in held:
                s.close()
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        self.served()
        self.assertLess(self.server.log(400).count("cannot accept"), 5)


if __name__ == "__main__":
    bed.main()
