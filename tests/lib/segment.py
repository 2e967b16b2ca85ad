"""Machines in one network without a router: engines with keepalived, which move VIPs (VRRP).

Each machine is a network namespace: a client, machines with an engine and keepalived, a server, and a switch.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

import bed
from machines import SERVER, TIMEOUT_S, VIP, VIP6, Load, Machine, connect, finish, get

#: Sorted in front of the others.
ADDED = "192.0.1.1"


class Segment(unittest.TestCase):
    #: Machines with an engine.
    NUMBERS = (1, 2)
    SERVER = SERVER

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.switch, self.client, self.server = Machine(self), Machine(self), Machine(self)
        self.machines = {number: Machine(self) for number in self.NUMBERS}
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
        server = self.server.start(sys.executable, "-c", self.SERVER, stdout=subprocess.PIPE, text=True)
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
        others = [one for one in self.NUMBERS if one != number]
        config = {
            "name": "e%d" % number, "threads": 1,
            "announce": {"networks": [VIP + "/32", VIP6 + "/128", ADDED + "/32"], "keepalived": {
                "interface": "eth0", "virtual_router_id": 51, "address": "192.0.2.%d" % (10 + number),
                "peers": ["192.0.2.%d" % (10 + other) for other in others], "pid_file": self.path("k%d.pid" % number),
                "folder": self.path("k%d" % number)}},
            "virtual_services": [{"name": "web", "type": "http", "listen": addresses, "pool": "web"}],
            "pools": [{"name": "web", "servers": [{"name": "s", "address": "192.0.2.20:80"}],
                       "health": {"type": "tcp", "interval": "200ms", "timeout": "20s", "up": 1, "down": 1}}]}
        self.adapt(config)
        # The engine reads it when it gets SIGHUP.
        with open(self.path("new"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        os.replace(self.path("new"), self.path("e%d.yaml" % number))
        return self.path("e%d.yaml" % number)

    def adapt(self, config):
        """Changes the configuration of an engine."""

    def start_engine(self, number, *arguments):
        file = self.configure(number)
        announced = self.log("e%d.log" % number).count("announced VIPs")
        with open(self.path("e%d.log" % number), "ab") as log:
            self.engines[number] = self.machines[number].start(
                bed.BINARY, "engine", "--config", file, "--drain", "60s", *arguments, stderr=log)
        self.wait("an announcement", lambda: self.log("e%d.log" % number).count("announced VIPs") > announced)

    def start_all(self):
        for number in self.NUMBERS:
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
        return [number for number in self.NUMBERS if self.has(number, vip)]

    def settled(self):
        """The machine that alone has the VIPs, and the other ones."""
        self.wait("one owner", lambda: len(self.owners()) == 1 and self.owners() == self.owners(VIP6))
        self.wait("a request", lambda: self.responds(VIP) and self.responds(VIP6))
        owner, = self.owners()
        return owner, *(one for one in self.NUMBERS if one != owner)

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
