#!/usr/bin/env python3
"""UDP services of the load balancer: DNS through an engine, with real sockets and processes."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

TIMEOUT_S = 60

#: A server of DNS with one zone: it responds to queries of A for NAME.example.com with its own address, and to all
#: others with NXDOMAIN.
SERVER = r"""
import socket, struct, sys
address, own = sys.argv[1], sys.argv[2]
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
host, port = address.rsplit(":", 1)
udp.bind((host, int(port)))
print("READY", flush=True)
while True:
    query, client = udp.recvfrom(4096)
    if len(query) < 17:
        continue
    end, labels = 12, []
    while query[end]:
        labels.append(query[end + 1:end + 1 + query[end]].lower())
        end += 1 + query[end]
    question, kind = query[12:end + 5], struct.unpack("!H", query[end + 1:end + 3])[0]
    known = kind == 1 and labels[-2:] == [b"example", b"com"]
    head = query[:2] + struct.pack("!HHHHH", 0x8180 if known else 0x8183, 1, int(known), 0, 0)
    record = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton(own)
    udp.sendto(head + question + (record if known else b""), client)
"""


def query(number, name="www.example.com"):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", 1, 1)


def resolve(port, number=1, name="www.example.com", source="127.0.0.1", timeout=TIMEOUT_S):
    """The response code and the address; None: there is no response."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind((source, 0))
        client.settimeout(timeout)
        client.sendto(query(number, name), ("127.0.0.1", port))
        try:
            response, server = client.recvfrom(4096)
        except TimeoutError:
            return None
    if server != ("127.0.0.1", port) or struct.unpack("!H", response[:2])[0] != number:
        raise AssertionError("%r from %r" % (response, server))
    code = response[3] & 15
    return code, socket.inet_ntoa(response[-4:]) if code == 0 else None


def sockets_of(pid):
    """How many sockets a process has open. Its files come and go: a record file is opened to be written."""
    count, folder = 0, "/proc/%d/fd" % pid
    for name in os.listdir(folder):
        try:
            count += os.readlink(os.path.join(folder, name)).startswith("socket:")
        except FileNotFoundError:
            pass  # Closed since it was listed.
    return count


class Dns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.port = bed.free_port()

    def serve(self, port, own):
        server = subprocess.Popen([sys.executable, "-c", SERVER, "127.0.0.1:%d" % port, own],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.addCleanup(server.stdout.close)
        self.assertEqual(server.stdout.readline(), "READY\n")
        return server

    def configure(self, ports, service=None, **pool):
        servers = [{"name": "r%d" % at, "address": "127.0.0.1:%d" % port} for at, port in enumerate(ports, 1)]
        config = {
            "name": "edge", "threads": 2,
            "transactions": {"folder": os.path.join(self.folder, "transactions")},
            "virtual_services": [{"name": "dns", "type": "udp", "listen": "0.0.0.0:%d" % self.port,
                                  "pool": "resolvers", "limits": {"responses": 1}, **(service or {})}],
            "pools": [{"name": "resolvers", "servers": servers, **pool}],
        }
        path = os.path.join(self.folder, "lb.yaml")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(config, file)
        os.rename(path + ".new", path)
        return path

    def start(self, path):
        engine = subprocess.Popen([bed.BINARY, "engine", "--config", path], stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.applied = threading.Semaphore(0)

        def read():
            for line in engine.stderr:
                self.lines.append(line)
                if "applied" in line:
                    self.applied.release()

        reader = threading.Thread(target=read)
        reader.start()
        self.addCleanup(engine.stderr.close)
        self.addCleanup(reader.join)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        self.assertTrue(self.applied.acquire(timeout=TIMEOUT_S), self.lines)
        return engine

    def reload(self, engine):
        engine.send_signal(signal.SIGHUP)
        self.assertTrue(self.applied.acquire(timeout=TIMEOUT_S), self.lines)

    def records(self, text):
        """Oldest first."""
        run = subprocess.run(
            [bed.BINARY, "transactions", "--folder", os.path.join(self.folder, "transactions"), text, "--json",
             "--rows", "100000"], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def until(self, found, wanted, what):
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            if found() == wanted:
                return
            time.sleep(0.05)
        self.fail("%s: %r, not %r" % (what, found(), wanted))

    def test_queries_are_balanced_and_recorded(self):
        ports = [bed.free_port(), bed.free_port()]
        for at, port in enumerate(ports, 1):
            self.serve(port, "192.0.2.%d" % at)
        health = {"type": "dns", "dns": {"name": "health.example.com"}, "interval": "100ms", "timeout": "20s"}
        engine = self.start(self.configure(ports, health=health))
        found = [resolve(self.port, number) for number in range(100)]
        self.assertEqual({one: found.count(one) for one in found}, {(0, "192.0.2.1"): 50, (0, "192.0.2.2"): 50})
        self.assertEqual(resolve(self.port, 7, "www.example.net"), (3, None))
        engine.terminate()
        engine.wait()
        records = self.records("protocol=UDP service=dns")
        self.assertEqual(len(records), 101)
        self.assertEqual({one["server"] for one in records}, {"r1", "r2"})
        newest = records[-1]
        self.assertEqual(newest["end"], "complete")
        self.assertEqual(int(newest["request_bytes"]), len(query(7, "www.example.net")))
        self.assertLess(0, int(newest["response"]))

    def test_two_queries_of_one_socket_at_once(self):
        """The resolver of libc asks for both versions of IP in this way."""
        port = bed.free_port()
        self.serve(port, "192.0.2.9")
        self.start(self.configure([port]))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(TIMEOUT_S)
            for number in (1, 2):
                client.sendto(query(number), ("127.0.0.1", self.port))
            numbers = sorted(struct.unpack("!H", client.recv(4096)[:2])[0] for _ in range(2))
        self.assertEqual(numbers, [1, 2])

    def load(self, stop, clients, lost):
        """Queries from several threads until `stop`; those without a response are in `lost`. The results are
        numbers of queries."""
        counts = [0] * clients

        def run(at):
            number = 0
            while not stop.is_set():
                number = (number + 1) % 65536
                if resolve(self.port, number) is None:
                    lost.append(number)
                counts[at] += 1

        threads = [threading.Thread(target=run, args=(at,)) for at in range(clients)]
        for thread in threads:
            thread.start()
        return counts, threads

    def test_reloads_under_load_lose_nothing(self):
        ports = [bed.free_port(), bed.free_port()]
        for at, port in enumerate(ports, 1):
            self.serve(port, "192.0.2.%d" % at)
        engine = self.start(self.configure(ports))
        stop, lost = threading.Event(), []
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as long:
            long.connect(("127.0.0.1", self.port))
            long.settimeout(TIMEOUT_S)
            counts, threads = self.load(stop, 4, lost)
            try:
                for turn in range(10):
                    before = sum(counts)
                    algorithm = ("random", "least_connections", "round_robin")[turn % 3]
                    self.configure(ports, algorithm=algorithm)
                    self.reload(engine)
                    long.send(query(turn))
                    self.assertEqual(struct.unpack("!H", long.recv(4096)[:2])[0], turn)
                    self.until(lambda: sum(counts) >= before + 50, True, "queries")
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
        self.assertEqual(lost, [])
        self.assertGreaterEqual(sum(counts), 500)

    def test_a_killed_server_costs_no_query(self):
        """The system tells the engine that a port is closed: the query goes to the other server."""
        ports = [bed.free_port(), bed.free_port()]
        first = self.serve(ports[0], "192.0.2.1")
        self.serve(ports[1], "192.0.2.2")
        engine = self.start(self.configure(ports, eject={"failures": 2, "for": "1h"}))
        for number in range(20):
            self.assertEqual(resolve(self.port, number)[0], 0)
        first.kill()
        first.wait()
        found = [resolve(self.port, number) for number in range(50)]
        self.assertEqual(found, [(0, "192.0.2.2")] * 50)
        engine.terminate()
        engine.wait()
        tries = [one["tries"] for one in self.records("protocol=UDP")]
        self.assertEqual(sorted(map(int, tries)), [1] * 68 + [2, 2])

    def test_a_flood_of_sources_stays_bounded_and_others_are_served(self):
        """Each source is an address of the loopback network: to the engine they are as many clients."""
        port = bed.free_port()
        self.serve(port, "192.0.2.1")
        limits = {"sessions": 300, "client_sessions": 100}
        engine = self.start(self.configure([port], {"limits": limits, "timeouts": {"session": "10m"}}))
        idle = sockets_of(engine.pid)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as regular:
            regular.connect(("127.0.0.1", self.port))
            regular.settimeout(TIMEOUT_S)
            for flood in range(5000):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
                    source.bind(("127.1.%d.%d" % divmod(flood, 250), 0))
                    source.sendto(b"x", ("127.0.0.1", self.port))
                if flood % 100 == 0:
                    regular.send(query(flood))
                    self.assertEqual(struct.unpack("!H", regular.recv(4096)[:2])[0], flood)
                    self.assertLessEqual(sockets_of(engine.pid), idle + 300)
        for number in range(300):
            resolve(self.port, number, source="127.0.0.2")
        self.assertLessEqual(sockets_of(engine.pid), idle + 300)
        self.until(lambda: any("sessions ended early" in line for line in self.lines), True, "the log")
        engine.terminate()
        engine.wait()
        ends = [one["end"] for one in self.records("client=127.1.0.0/16")]
        self.assertGreater(ends.count("displaced"), 4000)
        regular = self.records("client=127.0.0.1")
        self.assertEqual([one["end"] for one in regular], ["stopped"], "it was never displaced")
        self.assertEqual(self.records("client=127.0.0.2 end=displaced")[0]["end"], "displaced")


if __name__ == "__main__":
    bed.main()
