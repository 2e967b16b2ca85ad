#!/usr/bin/env python3
"""Three engines in one network share the connections of their VIPs: the machine that keepalived gives the VIPs hands
them on by rules of nftables.

The servers say which engine a connection comes from.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import networks  # noqa: E402

if __name__ == "__main__":
    networks.enter()  # Before any thread exists.
import bed  # noqa: E402
from machines import TIMEOUT_S, VIP, VIP6, Machine, connect, inside  # noqa: E402
from segment import Segment  # noqa: E402

#: HTTP on port 80, on port 7 the address of the engine and then an echo, and the same for datagrams.
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
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            self.request.sendall(self.client_address[0].encode() + b"\n")
            while data := self.request.recv(65536):
                self.request.sendall(data)
        except OSError:
            pass  # The engine was killed.
class Datagrams(socketserver.BaseRequestHandler):
    def handle(self):
        self.request[1].sendto(self.client_address[0].encode() + b"\n" + self.request[0], self.client_address)
class Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 1024
echo, web = Threads(("0.0.0.0", 7), Echo), Threads(("0.0.0.0", 80), Http)
datagrams = socketserver.UDPServer(("0.0.0.0", 7), Datagrams)
for server in (echo, datagrams):
    threading.Thread(target=server.serve_forever, daemon=True).start()
print("READY", flush=True)
web.serve_forever()
"""
CONNECTIONS = 300


class Line:
    """A connection through an engine to the echo service; it knows which engine."""

    def __init__(self, client, vip=VIP, timeout=TIMEOUT_S):
        with inside(client):
            self.socket = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect((vip, 7))
            self.stream = self.socket.makefile("rb")
            greeting = self.stream.readline()
            if not greeting.startswith(b"192.0.2.1"):
                raise ConnectionError("the connection ended: %r" % greeting)
        except OSError:
            self.socket.close()
            raise
        self.engine = int(greeting.decode().strip().rpartition(".")[2]) - 10

    def works(self, text=b"line\n"):
        try:
            self.socket.sendall(text)
            return self.stream.read(len(text)) == text
        except OSError:
            return False

    def close(self):
        self.stream.close()
        self.socket.close()


class Traffic(threading.Thread):
    """Uses lines until it is stopped."""

    def __init__(self, lines):
        super().__init__(daemon=True)
        self.lines, self.broken, self.rounds, self.stopped = list(lines), [], 0, threading.Event()

    def run(self):
        while not self.stopped.is_set():
            for line in self.lines:
                if line not in self.broken and not line.works():
                    self.broken.append(line)
            self.rounds += 1


@unittest.skipUnless(shutil.which("keepalived") and shutil.which("nft"), "needs keepalived and nftables")
class Dispatch(Segment):
    NUMBERS = (1, 2, 3)
    SERVER = SERVER

    def adapt(self, config):
        settings = config["announce"]["keepalived"]
        settings["dispatch"] = {}
        settings["address"] = settings["address"].replace("192.0.2.", self.OWN)
        settings["peers"] = [peer.replace("192.0.2.", self.OWN) for peer in settings["peers"]]
        addresses = [VIP + ":7", "[%s]:7" % VIP6]
        config["virtual_services"] += [
            {"name": "echo", "type": "tcp", "listen": addresses, "pool": "echo"},
            {"name": "datagrams", "type": "udp", "listen": addresses, "pool": "datagrams"}]
        config["pools"] += [
            {"name": name, "servers": [{"name": "s", "address": "192.0.2.20:7"}]} for name in ("echo", "datagrams")]

    #: Network of the machines' own addresses.
    OWN = "192.0.2."

    def spread_of(self, number):
        """Machines over which an engine last spread connections."""
        lines = [line for line in self.log("e%d.log" % number).splitlines() if "connections to VIPs are spread" in line
                 or "serves the connections of its VIPs alone" in line]
        if not lines or "spread over: " not in lines[-1]:
            return [number]
        return [int(one[-2:]) - 10 for one in lines[-1].partition("spread over: ")[2].strip().split(", ")]

    def spread_over(self, *expected, among=None):
        self.wait("rules for %s" % (expected,), lambda: all(
            self.spread_of(number) == sorted(expected) for number in among or expected))

    def start_group(self):
        settled = self.start_all()
        self.spread_over(*self.NUMBERS)
        return settled

    def lines(self, count, vip=VIP):
        lines = [Line(self.client, vip) for _ in range(count)]
        for line in lines:
            self.addCleanup(line.close)
        return lines

    def lines_by_engine(self):
        lines = self.lines(60)
        by_engine = {number: [line for line in lines if line.engine == number] for number in self.NUMBERS}
        self.assertTrue(all(by_engine.values()), by_engine)
        return by_engine

    def check_shares(self, counts, what):
        shares = {number: counts.count(number) for number in self.NUMBERS}
        print("%s of %d: %s" % (what, len(counts), shares))
        for count in shares.values():
            self.assertGreaterEqual(count, 0.15 * len(counts), shares)

    def datagram(self, data, vip=VIP):
        """Number of the engine that forwards a datagram, on a socket of its own."""
        with inside(self.client):
            client = socket.socket(socket.AF_INET6 if ":" in vip else socket.AF_INET, socket.SOCK_DGRAM)
        with client:
            client.settimeout(1)
            client.connect((vip, 7))

            def exchanged():
                try:
                    client.send(data)
                    return client.recv(65536)
                except OSError:
                    return None
            response = None
            while response is None:
                response = bed.wait_for("a datagram", exchanged, TIMEOUT_S, 0.01)
        address, _, echoed = response.partition(b"\n")
        self.assertEqual(echoed, data)
        return int(address.decode().rpartition(".")[2]) - 10

    def tables(self, number):
        return [line for line in self.machines[number].run("nft", "list", "tables", "netdev").splitlines()
                if line.startswith("table netdev vedette_51_")]

    def test_connections_are_spread_over_all_machines(self):
        owner, *_ = self.start_group()
        for vip in (VIP, VIP6):
            self.check_shares([line.engine for line in self.lines(CONNECTIONS, vip)], "TCP connections to %s" % vip)
            self.check_shares([self.datagram(b"x", vip) for _ in range(100)], "UDP clients of %s" % vip)
            # Only the first of its parts has ports.
            self.assertEqual({self.datagram(b"x" * 4000, vip) for _ in range(12)}, {owner})
        self.assertEqual(self.owners(), [owner])
        for line in self.lines(30):
            self.assertTrue(line.works(os.urandom(300_000)), line.engine)
        # Neighbours know the VIP at the machine that has it, also if another one responds.
        own = self.machines[owner].run("ip", "link", "show", "dev", "eth0").split("link/ether ")[1].split()[0]
        self.assertIn("lladdr %s" % own, self.client.run("ip", "neigh", "show", VIP))

    def test_errors_of_routers_reach_the_engine_that_they_are_for(self):
        """A client behind a smaller network learns responses whole only if engines hear of its size."""
        router, far = Machine(self), Machine(self)
        connect(router, "eth0", "192.0.2.8/24", self.switch, "port8")
        self.switch.run("ip", "link", "set", "port8", "master", "switch")
        connect(far, "eth0", "198.51.100.2/24", router, "far", "198.51.100.1/24")
        router.run("ip", "link", "set", "far", "mtu", "1300")
        router.setting("net.ipv4.ip_forward", 1)
        far.run("ip", "route", "add", "default", "via", "198.51.100.1")
        for machine in self.machines.values():
            machine.run("ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.8")
        self.start_group()
        engines = set()
        for _ in range(30):
            line = Line(far)
            self.addCleanup(line.close)
            self.assertTrue(line.works(os.urandom(100_000)), line.engine)
            engines.add(line.engine)
        self.assertEqual(engines, set(self.NUMBERS))

    def attempts(self, action, what):
        """Runs an action while new connections begin, until they work again."""
        stopped, failures, count = threading.Event(), [], [0]

        def connecting():
            while not stopped.is_set():
                began = time.monotonic()
                try:
                    Line(self.client, timeout=5).close()
                except OSError as error:
                    failures.append((began, time.monotonic(), repr(error)))
                count[0] += 1
        threads = [threading.Thread(target=connecting, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        self.wait("connections", lambda: count[0] > 50)
        began = time.monotonic()
        action()
        rebuilt = time.monotonic()
        successes = [count[0], len(failures)]

        def a_hundred_in_a_row():
            if len(failures) != successes[1]:
                successes[:] = count[0], len(failures)
            return count[0] > successes[0] + 100
        self.wait("connections", a_hundred_in_a_row)
        stopped.set()
        for thread in threads:
            thread.join(TIMEOUT_S)
        last = max((end for _, end, _ in failures), default=began)
        print("%s: rules current after %.0f ms, %d of %d new connections failed, the last one after %.0f ms" % (
            what, (rebuilt - began) * 1000, len(failures), count[0], (last - began) * 1000))

    def kill(self, number):
        self.engines[number].kill()
        self.engines[number].wait()

    def others(self, number):
        return [one for one in self.NUMBERS if one != number]

    def unbroken(self, by_engine, numbers):
        for number in numbers:
            for line in by_engine[number]:
                self.assertTrue(line.works(), number)

    def test_a_killed_engine_loses_its_connections_alone(self):
        owner, killed, third = self.start_group()
        by_engine = self.lines_by_engine()
        traffic = Traffic(by_engine[owner] + by_engine[third])
        traffic.start()

        def kill():
            self.kill(killed)
            self.spread_over(owner, third)
        self.attempts(kill, "an engine that has no VIP is killed")
        self.end(traffic)
        self.unbroken(by_engine, (owner, third))
        self.assertEqual({line.engine for line in self.lines(60)}, {owner, third})
        # It returns, and gets the connections back that it would have had. Others go on.
        self.start_engine(killed)
        self.spread_over(*self.NUMBERS)
        self.assertEqual({line.engine for line in self.lines(60)}, set(self.NUMBERS))
        self.unbroken(by_engine, (owner, third))

    def end(self, traffic):
        rounds = traffic.rounds
        self.wait("traffic", lambda: traffic.rounds > rounds + 1)
        traffic.stopped.set()
        traffic.join(TIMEOUT_S)
        self.assertEqual([line.engine for line in traffic.broken], [])

    def test_connections_of_others_survive_the_owner(self):
        killed, *others = self.start_group()
        by_engine = self.lines_by_engine()
        traffic = Traffic([line for number in others for line in by_engine[number]])
        traffic.start()

        def kill():
            self.kill(killed)
            self.wait("another owner", lambda: len(self.owners()) == 1 and self.owners() != [killed])
            self.spread_over(*others)
        self.attempts(kill, "the engine that has the VIPs is killed")
        self.end(traffic)
        self.unbroken(by_engine, others)
        self.assertEqual({line.engine for line in self.lines(60)}, set(others))
        # Nothing of it is left.
        self.wait("no rules", lambda: not self.tables(killed))
        self.assertNotIn(VIP + "/", self.machines[killed].run("ip", "address"))

    def test_machines_can_have_ipv6_addresses(self):
        self.OWN = "2001:db8::"
        owner, *others = self.start_group()
        for vip in (VIP, VIP6):
            self.assertEqual({line.engine for line in self.lines(60, vip)}, set(self.NUMBERS))
        self.kill(owner)
        self.spread_over(*others)
        self.assertEqual({line.engine for line in self.lines(60)}, set(others))

    def test_rules_belong_to_the_engine(self):
        """Neither a service manager that ends the processes of a service nor another program removes them."""
        owner, *_ = self.start_group()
        table, = self.tables(owner)
        engine = self.engines[owner].pid
        holders = set()
        for task in os.listdir("/proc/%d/task" % engine):
            with open("/proc/%d/task/%s/children" % (engine, task), encoding="utf-8") as file:
                holders.update(file.read().split())
        groups = {os.getpgid(int(pid)) for pid in holders} - {os.getpgid(engine)}
        self.assertEqual(len(groups), 1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.killpg(*groups, number)
        self.machines[owner].run("nft", "flush", "ruleset")
        self.check_shares([line.engine for line in self.lines(CONNECTIONS)], "TCP connections")
        self.assertEqual(self.tables(owner), [table])
        # The program that has them is killed: they come back.
        os.killpg(*groups, signal.SIGKILL)
        self.wait("other rules", lambda: self.tables(owner) not in ([], [table]))
        self.check_shares([line.engine for line in self.lines(CONNECTIONS)], "TCP connections")

    def test_a_machine_that_hangs_gets_no_connections(self):
        owner, hung, third = self.start_group()
        by_engine = self.lines_by_engine()
        self.engines[hung].send_signal(signal.SIGSTOP)
        self.addCleanup(self.engines[hung].send_signal, signal.SIGCONT)
        self.spread_over(owner, third, among=(owner, third))
        self.assertEqual({line.engine for line in self.lines(60)}, {owner, third})
        self.unbroken(by_engine, (owner, third))
        self.engines[hung].send_signal(signal.SIGCONT)
        self.spread_over(*self.NUMBERS)

    def test_no_request_fails_when_engines_drain_or_are_upgraded(self):
        owner, other, third = self.start_group()
        by_engine = self.lines_by_engine()
        traffic = Traffic(by_engine[third])
        traffic.start()
        for number in (owner, other):
            for line in by_engine[number]:
                line.close()
        clients = self.load()
        self.upgrade(owner)
        self.upgrade(other)
        self.served(clients)
        self.assertEqual(self.owners(), [owner])
        self.drain(other, (owner, third))
        self.finish(clients, "upgrades, and a drain of an engine that has no VIP")
        clients = self.load()
        self.drain(owner, (third,))
        self.assertEqual(self.owners(), [third])
        self.finish(clients, "a drain of the engine that has the VIPs")
        self.end(traffic)

    def upgrade(self, number):
        old = self.engines[number]
        made = self.log("e%d.log" % number).count("connections to VIPs are spread")
        self.start_engine(number, "--takeover")
        self.wait("rules", lambda: self.log("e%d.log" % number).count("connections to VIPs are spread") > made)
        old.send_signal(signal.SIGTERM)
        self.assertEqual(old.wait(TIMEOUT_S), 0)

    def drain(self, number, left):
        self.engines[number].send_signal(signal.SIGTERM)
        self.spread_over(*left, among=left)
        self.assertEqual(self.engines[number].wait(TIMEOUT_S), 0)

    def test_a_machine_with_fewer_servers_gets_no_connections(self):
        owner, cut, third = self.start_group()
        self.machines[cut].run("ip", "route", "add", "blackhole", "192.0.2.20/32")
        self.spread_over(owner, third, among=(owner, third))
        self.assertEqual({line.engine for line in self.lines(60)}, {owner, third})
        # If no machine reaches one, all respond.
        for number in (owner, third):
            self.machines[number].run("ip", "route", "add", "blackhole", "192.0.2.20/32")
        self.spread_over(*self.NUMBERS)
        for number in self.NUMBERS:
            self.machines[number].run("ip", "route", "del", "blackhole", "192.0.2.20/32")
        self.wait("a request", lambda: self.responds(VIP))

    def test_without_nft_the_owner_forwards(self):
        path = self.path("bin")
        os.mkdir(path)
        for program in ("ip", "sh", "cat", "sleep", "nsenter"):
            os.symlink(shutil.which(program), os.path.join(path, program))
        environment = {**os.environ, "PATH": path}
        for number in self.NUMBERS:
            self.start_keepalived(number)
            self.wait("keepalived", lambda one=number: os.path.exists(self.path("k%d.pid" % one)))
            with open(self.path("e%d.log" % number), "ab") as log:
                self.machines[number].start(bed.BINARY, "engine", "--config", self.configure(number), stderr=log,
                                            env=environment)
        owner, *_ = self.settled()
        self.wait("an error", lambda: all("install nftables" in self.log("e%d.log" % number) for number in self.NUMBERS))
        self.assertEqual({line.engine for line in self.lines(30)}, {owner})
        # Its rules begin when it can.
        os.symlink(shutil.which("nft"), os.path.join(path, "nft"))
        self.spread_over(*self.NUMBERS)
        self.assertEqual({line.engine for line in self.lines(60)}, set(self.NUMBERS))

    def test_bad_settings_are_refused(self):
        file = self.configure(1)
        with open(file, encoding="utf-8") as text:
            good = text.read()
        for old, new, problem in (('"dispatch": {}', '"dispatch": {"port": 0}', "port"),
                                  ('"networks": ["192.0.2.1/32"', '"networks": ["192.0.2.0/24"', "contains the machine")):
            self.assertIn(old, good)
            with open(file, "w", encoding="utf-8") as text:
                text.write(good.replace(old, new))
            check = subprocess.run([bed.BINARY, "engine", "check", "--config", file], capture_output=True, text=True,
                                   check=False)
            self.assertNotEqual(check.returncode, 0)
            self.assertIn(problem, check.stdout + check.stderr)


if __name__ == "__main__":
    bed.main()
