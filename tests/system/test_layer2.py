#!/usr/bin/env python3
"""Two engines in one network without a router of BGP: keepalived moves their VIPs (VRRP).

Each machine is a network namespace: a client, two machines with an engine and keepalived, a server, and a switch.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import networks  # noqa: E402

if __name__ == "__main__":
    networks.enter()  # Before any thread exists.
import bed  # noqa: E402
from machines import SERVER, TIMEOUT_S, VIP, VIP6, Load, Machine, connect, finish, get, inside  # noqa: E402

#: Sorted in front of the others.
ADDED = "192.0.1.1"
NUMBERS = (1, 2)


@unittest.skipUnless(shutil.which("keepalived"), "needs keepalived")
class Layer2(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.switch, self.client, self.server = Machine(self), Machine(self), Machine(self)
        self.machines = {number: Machine(self) for number in NUMBERS}
        self.switch.run("ip", "link", "add", "switch", "type", "bridge")
        self.switch.run("ip", "link", "set", "switch", "up")
        for host, machine in ((9, self.client), (20, self.server), *((10 + n, m) for n, m in self.machines.items())):
            connect(machine, "eth0", "192.0.2.%d/24" % host, self.switch, "port%d" % host)
            machine.run("ip", "address", "add", "2001:db8::%d/64" % host, "dev", "eth0", "nodad")
            self.switch.run("ip", "link", "set", "port%d" % host, "master", "switch")
        for machine in self.machines.values():
            machine.setting("net.ipv4.tcp_migrate_req", 1)
        self.client.run("ip", "route", "add", ADDED, "dev", "eth0")
        self.start_server()
        self.engines, self.keepalives = {}, {}

    def start_server(self):
        server = self.server.start(sys.executable, "-c", SERVER, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.assertEqual(server.stdout.readline(), "READY\n")
        self.backend = server

    def path(self, name):
        return os.path.join(self.folder, name)

    def start_keepalived(self, number):
        with open(self.path("k%d.conf" % number), "w", encoding="utf-8") as file:
            file.write("include %s\n" % self.path("k%d/*.conf" % number))
        pids = [part for flag, name in (("-p", "k%d.pid"), ("-r", "k%d-vrrp.pid"), ("-c", "k%d-check.pid"))
                for part in (flag, self.path(name % number))]
        with open(self.path("k%d.log" % number), "ab") as log:
            process = self.machines[number].start("keepalived", "-n", "-l", "-D", "-f",
                                                  self.path("k%d.conf" % number), *pids, stdout=log, stderr=log)
        # Killed, it would leave the process that it started for a moment.
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.keepalives[number] = process
        return process

    def configure(self, number, *more):
        addresses = [VIP + ":80", "[%s]:80" % VIP6, *(one + ":80" for one in more)]
        other = next(one for one in NUMBERS if one != number)
        config = {
            "name": "e%d" % number, "threads": 1,
            "announce": {"networks": [VIP + "/32", VIP6 + "/128", ADDED + "/32"], "keepalived": {
                "interface": "eth0", "virtual_router_id": 51, "address": "192.0.2.%d" % (10 + number),
                "peers": ["192.0.2.%d" % (10 + other)], "pid_file": self.path("k%d.pid" % number),
                "folder": self.path("k%d" % number)}},
            "virtual_services": [{"name": "web", "type": "http", "listen": addresses, "pool": "web"}],
            "pools": [{"name": "web", "servers": [{"name": "s", "address": "192.0.2.20:80"}],
                       "health": {"type": "tcp", "interval": "200ms", "timeout": "1s", "up": 1, "down": 1}}]}
        # The engine reads it when it gets SIGHUP.
        with open(self.path("new"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        os.replace(self.path("new"), self.path("e%d.yaml" % number))
        return self.path("e%d.yaml" % number)

    def start_engine(self, number, *arguments):
        file = self.configure(number)
        announced = self.log("e%d.log" % number).count("announced VIPs")
        with open(self.path("e%d.log" % number), "ab") as log:
            self.engines[number] = self.machines[number].start(
                bed.BINARY, "engine", "--config", file, "--drain", "60s", *arguments, stderr=log)
        self.wait("an announcement", lambda: self.log("e%d.log" % number).count("announced VIPs") > announced)

    def start_both(self):
        for number in NUMBERS:
            self.start_keepalived(number)
            self.wait("keepalived", lambda one=number: os.path.exists(self.path("k%d.pid" % one)))
            self.start_engine(number)
        return self.settled()

    def log(self, name):
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait(self, what, condition):
        try:
            bed.wait_for(what, condition, TIMEOUT_S, 0.005)
        except AssertionError as problem:
            logs = [name + ":\n" + self.log(name) for name in sorted(os.listdir(self.folder)) if name.endswith(".log")]
            raise AssertionError("%s\n%s" % (problem, "\n".join(logs))) from None

    def has(self, number, vip=VIP):
        return " %s/" % vip in self.machines[number].run("ip", "address", "show", "dev", "eth0")

    def states(self, number):
        """States that keepalived of a machine has entered."""
        return re.findall(r"\(vedette_51\) [Ee]ntering (\w+) STATE|\(vedette_51\) [Ee]ntering (FAULT)",
                          self.log("k%d.log" % number))

    def owners(self, vip=VIP):
        return [number for number in NUMBERS if self.has(number, vip)]

    def settled(self):
        """The machine that alone has the VIPs, and the other one."""
        self.wait("one owner", lambda: len(self.owners()) == 1 and self.owners() == self.owners(VIP6))
        self.wait("a request", lambda: self.responds(VIP) and self.responds(VIP6))
        owner, = self.owners()
        return owner, next(one for one in NUMBERS if one != owner)

    def responds(self, vip):
        try:
            get(self.client, 0.3, vip=vip).close()
            return True
        except OSError:
            return False

    def load(self):
        clients = [Load(self.client, keeps, vip) for keeps in (True, False) for vip in (VIP, VIP6)]
        for client in clients:
            client.start()
        self.served(clients)
        return clients

    def served(self, clients):
        before = [client.count for client in clients]
        self.wait("requests", lambda: all(client.count > count + 20 for client, count in zip(clients, before)))

    def finish(self, clients, what):
        self.served(clients)
        finish(self, clients, what)

    def takeover(self, action, taker):
        """Milliseconds until the other machine has the VIPs, and until it responds."""
        began = time.monotonic()
        action()
        self.wait("the VIP", lambda: self.has(taker))
        moved = time.monotonic()
        self.wait("a response", lambda: self.responds(VIP))
        self.wait("a response", lambda: self.responds(VIP6))
        return "%.0f ms (response after %.0f ms)" % ((moved - began) * 1000, (time.monotonic() - began) * 1000)

    def test_a_killed_engine_loses_its_vips_at_once(self):
        owner, other = self.start_both()
        times = []
        for _ in range(3):
            times.append(self.takeover(self.engines[owner].kill, other))
            self.engines[owner].wait()
            self.wait("no VIP", lambda one=owner: not self.has(one) and not self.has(one, VIP6))
            # It returns, and the VIPs stay.
            entered = len(self.states(owner))
            self.start_engine(owner)
            self.wait("a state", lambda: len(self.states(owner)) > entered)
            owner, other = other, owner
            self.assertEqual(self.settled(), (owner, other))
        # Nothing is waited for that has to come: the machine that returned would take the VIPs in this time.
        time.sleep(1.5)
        self.assertEqual(self.settled(), (owner, other))
        print("VIPs taken over after kill -9: %s" % ", ".join(times))

    def test_a_machine_or_keepalived_that_ends_is_replaced(self):
        owner, other = self.start_both()
        # The parent and its process for VRRP hang as a machine that hangs.
        pids = [int(self.log(name % owner)) for name in ("k%d.pid", "k%d-vrrp.pid")]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        self.switch.run("ip", "link", "set", "port%d" % (10 + owner), "nomaster")
        print("VIPs taken over after a hang of the machine: %s" % self.takeover(lambda: None, other))
        self.switch.run("ip", "link", "set", "port%d" % (10 + owner), "master", "switch")
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        owner, other = self.settled()
        self.keepalives[owner].terminate()
        self.keepalives[owner].wait()
        self.wait("the other owner", lambda: self.owners() == [other])
        self.start_keepalived(owner)
        self.wait("a state", lambda: "BACKUP" in str(self.states(owner)[-1:]))
        self.assertEqual(self.settled(), (other, owner))

    def test_no_request_fails_when_the_owner_drains(self):
        owner, other = self.start_both()
        clients = self.load()
        self.engines[owner].send_signal(signal.SIGTERM)
        self.assertEqual(self.engines[owner].wait(TIMEOUT_S), 0)
        self.assertEqual(self.settled(), (other, owner))
        self.finish(clients, "planned drain of the owner")
        self.assertIn("the VIPs are withdrawn", self.log("e%d.log" % owner))

    def test_an_upgrade_and_a_new_vip_move_nothing(self):
        owner, other = self.start_both()
        states = self.states(owner), self.states(other)
        clients = self.load()
        old = self.engines[owner]
        self.start_engine(owner, "--takeover")
        old.send_signal(signal.SIGTERM)
        self.assertEqual(old.wait(TIMEOUT_S), 0)
        self.served(clients)
        # One machine gets its new configuration first: they do not quarrel about it.
        for number in (other, owner):
            self.configure(number, ADDED)
            self.engines[number].send_signal(signal.SIGHUP)
            self.wait("the VIP", lambda one=number: ADDED in self.log("k%d/vedette-51.conf" % one))
            self.served(clients)
        self.wait("the added VIP", lambda: self.responds(ADDED))
        self.assertEqual(self.owners(ADDED), [owner])
        self.assertEqual((self.states(owner), self.states(other)), states)
        # A killed process does not matter while another one of the machine has the addresses.
        old = self.engines[owner]
        self.start_engine(owner, "--takeover")
        self.finish(clients, "an upgrade, and a VIP more")
        old.kill()
        old.wait()
        self.wait("a request", lambda: self.responds(VIP))
        self.assertEqual(self.settled(), (owner, other))
        self.assertEqual((self.states(owner), self.states(other)), states)

    def test_vips_leave_a_machine_that_reaches_no_server(self):
        owner, other = self.start_both()
        self.machines[owner].run("ip", "route", "add", "blackhole", "192.0.2.20/32")
        self.wait("the other owner", lambda: self.owners() == [other])
        self.settled()
        # No machine reaches one: clients get a response rather than none.
        self.backend.kill()
        self.backend.wait()
        self.wait("status 503", lambda: self.status() == [b"503"])
        self.assertEqual(len(self.owners()), 1)

    def status(self):
        """Status of a response to a request on a new connection."""
        with inside(self.client):
            stream = socket.socket()
        with stream:
            stream.settimeout(1)
            try:
                stream.connect((VIP, 80))
                stream.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return stream.makefile("rb").readline().split()[1:2]
            except OSError:
                return None

    def test_without_keepalived_the_engine_forwards(self):
        file = self.configure(1)
        with open(self.path("e1.log"), "ab") as log:
            self.machines[1].start(bed.BINARY, "engine", "--config", file, stderr=log)
        self.wait("an error", lambda: "keepalived does not run" in self.log("e1.log"))
        self.machines[1].run("ip", "address", "add", VIP + "/32", "dev", "eth0")
        self.wait("a request", lambda: self.responds(VIP))
        self.machines[1].run("ip", "address", "del", VIP + "/32", "dev", "eth0")
        self.start_keepalived(1)
        self.wait("the VIP", lambda: self.owners() == [1])
        self.assertNotIn("[ERROR]", self.log("e1.log").split("announced VIPs")[-1])


if __name__ == "__main__":
    bed.main()
