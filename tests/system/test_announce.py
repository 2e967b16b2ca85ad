#!/usr/bin/env python3
"""Engines on several machines announce a VIP by BGP: a router spreads connections over them (ECMP).

Each machine is a network namespace: a client, a router with BIRD and a resilient group of next hops, four engines
with BIRD, and a server.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import networks  # noqa: E402

if __name__ == "__main__":
    networks.enter()  # Before any thread exists.
import bed  # noqa: E402
from machines import SERVER, TIMEOUT_S, VIP, VIP6, Line, Load, Machine, connect, finish, get  # noqa: E402

ENGINES = (1, 2, 3, 4)
#: Milliseconds and packets. A busy machine lets its processes wait for longer than the default of 150 ms: the router
#: would take the routes back, and connections with them.
PATIENT, QUICK = (500, 20), (50, 3)


@unittest.skipUnless(shutil.which("bird"), "needs BIRD 2 (bird2)")
class Announce(unittest.TestCase):
    BFD = PATIENT

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        self.client, self.router, self.server = Machine(self), Machine(self), Machine(self)
        self.machines = {number: Machine(self) for number in ENGINES}
        connect(self.client, "eth0", "10.9.0.2/24", self.router, "client", "10.9.0.1/24")
        self.client.run("ip", "route", "add", "default", "via", "10.9.0.1")
        connect(self.server, "eth0", "10.8.0.2/24", self.router, "server", "10.8.0.1/24")
        self.server.run("ip", "route", "add", "default", "via", "10.8.0.1")
        for name, value in (("net.ipv4.ip_forward", 1), ("net.ipv4.fib_multipath_hash_policy", 1)):
            self.router.setting(name, value)
        for number, machine in self.machines.items():
            connect(machine, "eth0", "10.1.%d.2/24" % number, self.router, "e%d" % number, "10.1.%d.1/24" % number)
            machine.run("ip", "-6", "address", "add", "fd00:%d::2/64" % number, "dev", "eth0", "nodad")
            self.router.run("ip", "-6", "address", "add", "fd00:%d::1/64" % number, "dev", "e%d" % number, "nodad")
            machine.run("ip", "route", "add", "default", "via", "10.1.%d.1" % number)
            machine.setting("net.ipv4.tcp_migrate_req", 1)
        server = self.server.start(sys.executable, "-c", SERVER, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.assertEqual(server.stdout.readline(), "READY\n")
        self.backend = server
        self.engines = {}
        self.birds = {}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def bird(self, name, machine, text):
        file = self.path(name + "-bird.conf")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        return machine.start("bird", "-f", "-c", file, "-s", self.path(name + ".ctl"),
                             "-P", self.path(name + ".pid"), stderr=subprocess.DEVNULL)

    def start_router(self):
        text = "router id 10.9.0.1;\nprotocol device { }\n" \
               "protocol bfd { interface \"*\" { interval %d ms; multiplier %d; }; }\n" % self.BFD + \
               "protocol kernel { ipv4 { import none; export all; }; merge paths on; }\n" \
               "protocol kernel { ipv6 { import none; export all; }; merge paths on; }\n"
        for number in ENGINES:
            for channel, address in (("ipv4", "10.1.%d.2"), ("ipv6", "fd00:%d::2")):
                text += "protocol bgp e%d%s { local as 65000; neighbor %s as 65001; bfd on; error wait time 1, 2; " \
                        "connect retry time 1; connect delay time 1; " \
                        "%s { import all; export none; }; }\n" % (number, channel, address % number, channel)
        self.bird("router", self.router, text)

    def start_bird(self, number):
        os.makedirs(self.path("e%d" % number), exist_ok=True)
        text = 'protocol device { }\ninclude "%s";\n' % self.path("e%d" % number, "*.conf")
        self.birds[number] = self.bird("e%d" % number, self.machines[number], text)

    def configuration(self, number, **more):
        services = [{"name": "web", "type": "http", "listen": [VIP + ":80", "[%s]:80" % VIP6], "pool": "web"},
                    {"name": "echo", "type": "tcp", "listen": VIP + ":7", "pool": "echo"}]
        pools = [{"name": name, "servers": [{"name": "s", "address": "10.8.0.2:%d" % port}],
                  "health": {"type": "tcp", "interval": "200ms", "timeout": "20s", "up": 1, "down": 1}}
                 for name, port in (("web", 80), ("echo", 7))]
        announce = {"networks": ["192.0.2.0/24", "2001:db8::/64"], "router_id": "10.1.%d.2" % number,
                    "bfd": {"interval": "%dms" % self.BFD[0], "multiplier": self.BFD[1]},
                    "local_as": 65001, "bird": self.path("e%d.ctl" % number), "folder": self.path("e%d" % number),
                    "neighbours": [{"address": "10.1.%d.1" % number, "as": 65000},
                                   {"address": "fd00:%d::1" % number, "as": 65000}]}
        config = {"name": "e%d" % number, "threads": 1, "announce": {**announce, **more},
                  "virtual_services": services, "pools": pools}
        file = self.path("lb-%d.yaml" % number)
        with open(file, "w", encoding="utf-8") as out:
            json.dump(config, out)
        return file

    def start_engine(self, number, *arguments, environment=None, drain="60s", **more):
        file = self.configuration(number, **more)
        with open(self.path("e%d.log" % number), "ab") as log:
            self.engines[number] = self.machines[number].start(
                bed.BINARY, "engine", "--config", file, "--drain", drain, *arguments, stderr=log,
                env=environment)
        return self.engines[number]

    def log(self, number):
        with open(self.path("e%d.log" % number), encoding="utf-8") as file:
            return file.read()

    def hops(self, *family):
        """Numbers of the engines to which the router sends packets for the VIP."""
        shown = self.router.run("ip", *family, "route", "show", VIP6 if family else VIP, "proto", "bird")
        return {number for number in ENGINES if "dev e%d " % number in shown.replace("\n", " ") + " "}

    def wait_for_hops(self, *numbers):
        try:
            bed.wait_for("routes to %s" % (numbers,), lambda: self.hops() == set(numbers), TIMEOUT_S, 0.05)
        except AssertionError as problem:
            logs = "\n".join(self.log(number) for number in self.engines)
            raise AssertionError("%s\n%s" % (problem, logs)) from None

    def start_all(self):
        self.start_router()
        for number in ENGINES:
            self.start_bird(number)
            self.start_engine(number)
        self.wait_for_hops(*ENGINES)
        bed.wait_for("routes of IPv6", lambda: self.hops("-6") == set(ENGINES), TIMEOUT_S)

    def withdrawal(self, action, number):
        """Milliseconds until the router sends no more packets to an engine."""
        began = time.monotonic()
        action()
        while number in self.hops():
            self.assertLess(time.monotonic() - began, TIMEOUT_S)
        return (time.monotonic() - began) * 1000

    def test_a_killed_engine_is_withdrawn_at_once(self):
        self.start_all()
        times = []
        for _ in range(3):
            times.append(self.withdrawal(self.engines[1].kill, 1))
            self.engines[1].wait()
            get(self.client).close()
            self.start_engine(1)
            self.wait_for_hops(*ENGINES)
        # Devices of processes that are gone have no files.
        files = os.listdir(self.path("e1"))
        self.assertEqual(len([name for name in files if name.startswith("vedbgp")]), 1, files)
        print("route gone after kill -9: %s ms (each look takes some)" % ", ".join("%.0f" % one for one in times))

    def test_a_machine_that_hangs_is_noticed_by_bfd(self):
        self.BFD = QUICK
        self.start_all()
        with open(self.path("e2.pid"), encoding="utf-8") as file:
            bird = int(file.read())
        taken = self.withdrawal(lambda: os.kill(bird, signal.SIGSTOP), 2)
        os.kill(bird, signal.SIGCONT)
        print("route gone after a hang of the machine: %.0f ms" % taken)
        self.wait_for_hops(*ENGINES)

    def resilient(self):
        """The router's table for the VIP with buckets that stay with their engine."""
        for number in ENGINES:
            self.router.run("ip", "nexthop", "replace", "id", str(number), "via", "10.1.%d.2" % number,
                            "dev", "e%d" % number)
        self.regroup(ENGINES)
        self.router.run("ip", "route", "replace", VIP + "/32", "nhid", "100", "metric", "1")

    def regroup(self, numbers):
        self.router.run("ip", "nexthop", "replace", "id", "100", "group", "/".join(map(str, sorted(numbers))),
                        "type", "resilient", "buckets", "128", "idle_timer", "1", "unbalanced_timer", "0")

    def follow(self):
        """Keeps the group as BIRD's routes are: what a router does in hardware."""
        stopped = threading.Event()

        def run():
            known = set(ENGINES)
            while not stopped.is_set():
                shown = self.router.run("ip", "route", "show", VIP, "proto", "bird")
                now = {number for number in ENGINES if "dev e%d " % number in shown.replace("\n", " ") + " "}
                if now and now != known:
                    self.regroup(now)
                    known = now

        thread = threading.Thread(target=run)
        thread.start()

        def stop():
            stopped.set()
            thread.join()

        self.addCleanup(stop)

    def test_connections_of_other_engines_survive_a_killed_one(self):
        self.start_all()
        self.resilient()
        self.follow()
        lines = [Line(self.client) for _ in range(80)]
        for line in lines:
            self.addCleanup(line.close)
            self.assertTrue(line.works())

        def carried(number):
            shown = self.machines[number].run("ss", "-Htn", "state", "established", "sport", "=", ":7")
            return {text.split()[3].rsplit(":", 1)[1] for text in shown.splitlines()}

        of_killed = carried(3)
        self.assertTrue(0 < len(of_killed) < 80, of_killed)
        others = [line for line in lines if str(line.socket.getsockname()[1]) not in of_killed]
        began = time.monotonic()
        self.engines[3].kill()
        failures, last = 0, began
        while time.monotonic() < began + 3:
            try:
                get(self.client, timeout=0.1).close()
            except OSError:
                failures, last = failures + 1, time.monotonic()
        broken = sum(not line.works() for line in others)
        print("one of four engines killed: %d of %d connections of the others broken; new connections: %d failed, "
              "the last one after %.0f ms" % (broken, len(others), failures, (last - began) * 1000))
        self.assertEqual(broken, 0)

    def load(self):
        clients = [Load(self.client, keeps) for keeps in (True, True, False, False)]
        for client in clients:
            client.start()
        return clients

    def served(self, clients):
        before = [client.count for client in clients]
        bed.wait_for("requests", lambda: all(client.count > count + 20 for client, count in zip(
            clients, before)), TIMEOUT_S)

    def test_no_request_fails_when_engines_drain(self):
        self.start_all()
        self.resilient()
        self.follow()
        clients = self.load()
        self.served(clients)
        for number in (1, 2):
            self.engines[number].send_signal(signal.SIGTERM)
            self.assertEqual(self.engines[number].wait(TIMEOUT_S), 0)
            self.assertNotIn(number, self.hops())
            self.served(clients)
        finish(self, clients, "planned drain of two of four engines")
        self.assertIn("the VIPs are withdrawn", self.log(1))

    def test_an_upgrade_withdraws_nothing(self):
        self.start_router()
        self.start_bird(1)
        self.start_engine(1)
        self.wait_for_hops(1)
        clients = self.load()
        self.served(clients)
        for _ in range(2):
            old, before = self.engines[1], self.log(1).count("announced VIPs")
            self.start_engine(1, "--takeover")
            bed.wait_for("the other process", lambda: self.log(1).count("announced VIPs") > before, TIMEOUT_S)
            old.send_signal(signal.SIGTERM)
            self.assertEqual(old.wait(TIMEOUT_S), 0)
            self.assertEqual(self.hops(), {1})
            self.served(clients)
        finish(self, clients, "two upgrades of the only engine")

    def start_ready(self, number, *arguments):
        """An engine that has told its service manager that it is ready."""
        address = self.path("notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            self.addCleanup(os.unlink, address)
            manager.settimeout(TIMEOUT_S)
            environment = {**os.environ, "NOTIFY_SOCKET": address}
            engine = self.start_engine(number, *arguments, environment=environment)
            self.assertEqual(manager.recv(100), b"READY=1")
        return engine

    def test_a_process_that_has_just_started_is_a_successor(self):
        self.start_router()
        self.start_bird(1)
        old = self.start_engine(1)
        self.wait_for_hops(1)
        line = Line(self.client)
        self.addCleanup(line.close)
        self.assertTrue(line.works())
        before = self.log(1).count("announced VIPs")
        self.start_ready(1, "--takeover")
        # As early as a service manager can.
        old.send_signal(signal.SIGTERM)
        began = time.monotonic()
        bed.wait_for("the other process", lambda: self.log(1).count("announced VIPs") > before, TIMEOUT_S)
        taken = time.monotonic() - began
        bed.wait_for("closed listeners", lambda: self.listeners(1) == 1, TIMEOUT_S)
        # The old process waits for 3 seconds. Slower machines show nothing here.
        if taken < 2:
            self.assertNotIn("other machines get them", self.log(1))
        self.assertEqual(self.hops(), {1})
        self.assertTrue(line.works())
        line.close()
        self.assertEqual(old.wait(TIMEOUT_S), 0)
        get(self.client).close()

    def listeners(self, number):
        """Sockets that accept connections for the echo service."""
        return len(self.machines[number].run("ss", "-Htln", "sport", "=", ":7").splitlines())

    def test_a_vip_is_withdrawn_when_a_successor_dies(self):
        self.start_router()
        self.start_bird(1)
        old = self.start_engine(1, drain="1h")
        self.wait_for_hops(1)
        # It keeps the old process.
        line = Line(self.client)
        self.addCleanup(line.close)
        self.assertTrue(line.works())
        before = self.log(1).count("announced VIPs")
        following = self.start_engine(1, "--takeover")
        bed.wait_for("the other process", lambda: self.log(1).count("announced VIPs") > before, TIMEOUT_S)
        old.send_signal(signal.SIGTERM)
        bed.wait_for("closed listeners", lambda: self.listeners(1) == 1, TIMEOUT_S)
        self.assertEqual(self.hops(), {1})
        following.kill()
        following.wait()
        # Nothing on this machine accepts connections: others may.
        self.wait_for_hops()
        self.assertIsNone(old.poll())
        self.start_engine(1, "--takeover")
        self.wait_for_hops(1)
        get(self.client).close()

    def test_a_vip_without_usable_servers_is_not_announced(self):
        self.start_router()
        for number in (1, 2):
            self.start_bird(number)
            self.start_engine(number)
        self.wait_for_hops(1, 2)
        self.backend.kill()
        self.wait_for_hops()
        server = self.server.start(sys.executable, "-c", SERVER, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.wait_for_hops(1, 2)

    def test_a_vip_returns_when_servers_failed_while_bird_was_down(self):
        self.start_router()
        self.start_bird(1)
        self.start_engine(1)
        self.wait_for_hops(1)
        file, = [name for name in os.listdir(self.path("e1")) if name.startswith("vedbgp")]

        def told():
            with open(self.path("e1", file), encoding="utf-8") as text:
                return "route %s/" % VIP in text.read()

        self.assertTrue(told())
        self.birds[1].kill()
        self.birds[1].wait()
        self.backend.kill()
        bed.wait_for("no VIP", lambda: not told(), TIMEOUT_S)
        server = self.server.start(sys.executable, "-c", SERVER, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        bed.wait_for("the VIP", told, TIMEOUT_S)
        self.start_bird(1)
        self.wait_for_hops(1)

    def test_without_bird_the_engine_forwards_and_retries(self):
        self.start_router()
        self.start_engine(1)
        bed.wait_for("an error", lambda: "BIRD does not respond at" in self.log(1), TIMEOUT_S)
        self.assertIn("forwarding continues, and the engine retries", self.log(1))
        self.router.run("ip", "route", "add", VIP, "via", "10.1.1.2")
        get(self.client).close()
        self.router.run("ip", "route", "del", VIP, "via", "10.1.1.2")
        self.start_bird(1)
        self.wait_for_hops(1)

    def test_a_bird_that_hangs_delays_nothing(self):
        with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as held:
            listener.settimeout(TIMEOUT_S)
            listener.bind(self.path("e1.ctl"))
            listener.listen()
            self.router.run("ip", "route", "add", VIP, "via", "10.1.1.2")
            engine = self.start_engine(1)
            for _ in range(3):
                held.enter_context(listener.accept()[0])
            get(self.client).close()
            self.assertEqual(self.log(1).count("it takes longer than 5 s"), 1, self.log(1))
            engine.send_signal(signal.SIGTERM)
            self.assertEqual(engine.wait(TIMEOUT_S), 0)
        self.assertIn("the VIPs are withdrawn", self.log(1))

    def test_engines_with_the_same_router_id_are_both_used(self):
        self.start_router()
        for number in (1, 2):
            self.start_bird(number)
            self.start_engine(number, router_id="10.1.1.2")
        self.wait_for_hops(1, 2)

    def test_an_address_of_no_machine_is_refused_with_a_remedy(self):
        file = self.configuration(1, networks=["198.51.100.0/24"])
        run = subprocess.run(self.machines[1].command(bed.BINARY, "engine", "--config", file), capture_output=True,
                             text=True, timeout=TIMEOUT_S, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("net.ipv4.ip_nonlocal_bind", run.stderr)


if __name__ == "__main__":
    bed.main()
