#!/usr/bin/env python3
"""Engines of a group announce the VIPs that they own, as the server says: a router sees the VIP of an active/standby
group at one engine, and at another one after a failure or a drain.

The server is in the network of this test. A router and three engines with BIRD have networks of their own. All engines
use the same paths, as on machines of their own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import networks  # noqa: E402

if __name__ == "__main__":
    networks.enter()  # Before any thread exists.
import bed  # noqa: E402
from machines import Machine, connect  # noqa: E402

VIP = "192.0.2.1"
ENGINES = (1, 2, 3)
PORT = 10061


class Here:
    """The network of this test, with the methods of a machine that `connect` uses."""

    class holder:
        pid = os.getpid()

    def run(self, *command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@unittest.skipUnless(shutil.which("bird"), "needs BIRD 2 (bird2)")
class GroupAnnounce(bed.Case):
    arguments = ("--engines", "0.0.0.0:%d" % PORT)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        os.makedirs(self.path("machine"))
        self.router = Machine(self)
        self.router.run("ip", "link", "add", "lan", "type", "bridge")
        self.router.run("ip", "address", "add", "10.1.0.254/24", "dev", "lan")
        self.router.run("ip", "link", "set", "lan", "up")
        self.machines, self.processes, self.ids = {}, {}, {}
        for number in ENGINES:
            machine = self.machines[number] = Machine(self)
            connect(machine, "eth0", "10.1.0.%d/24" % number, self.router, "e%d" % number, "10.9.%d.1/32" % number)
            self.router.run("ip", "link", "set", "e%d" % number, "master", "lan")
            connect(machine, "ctl", "10.2.%d.2/24" % number, Here(), "c%d" % number, "10.2.%d.1/24" % number)
        self.start_router()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, machine, own, *command, **more):
        """A process that sees a folder of its own under the path that all have."""
        os.makedirs(own, exist_ok=True)
        script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
        return machine.start("unshare", "--mount", "sh", "-c", script, "sh", own, self.path("machine"), *command, **more)

    def start_router(self):
        text = "router id 10.1.0.254;\nprotocol device { }\n" \
               "protocol bfd { interface \"*\" { interval 50 ms; multiplier 3; }; }\n" \
               "protocol kernel { ipv4 { import none; export all; }; merge paths on; }\n"
        for number in ENGINES:
            text += "protocol bgp e%d { local as 65000; neighbor 10.1.0.%d as 65001; bfd on; error wait time 1, 2; " \
                    "connect retry time 1; connect delay time 1; ipv4 { import all; export none; }; }\n" % (
                        number, number)
        with open(self.path("router.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        self.router.start("bird", "-f", "-c", self.path("router.conf"), "-s", self.path("router.ctl"),
                          "-P", self.path("router.pid"), stderr=subprocess.DEVNULL)

    def start_machine(self, number, token=None):
        """BIRD, and an engine that knows of it by the server alone."""
        own = self.path("e%d" % number)
        os.makedirs(own, exist_ok=True)
        with open(os.path.join(own, "bird.conf"), "w", encoding="utf-8") as file:
            file.write('protocol device { }\ninclude "%s";\n' % self.path("machine", "routes", "*.conf"))
        os.makedirs(os.path.join(own, "routes"), exist_ok=True)
        self.start(self.machines[number], own, "bird", "-f", "-c", self.path("machine", "bird.conf"),
                   "-s", self.path("machine", "bird.ctl"), "-P", self.path("machine", "bird.pid"),
                   stderr=subprocess.DEVNULL)
        self.start_engine(number, token)

    def start_engine(self, number, token=None):
        environment = dict(os.environ, **({"VEDETTE_ENGINE_TOKEN": token} if token else {}))
        with open(self.path("e%d.log" % number), "ab") as log:
            self.processes[number] = self.start(
                self.machines[number], self.path("e%d" % number), bed.BINARY, "engine", "--controller",
                "10.2.%d.1:%d" % (number, PORT), "--data", self.path("machine", "data"), stderr=log, stdout=log,
                env=environment)

    def create(self, kind, **members):
        found = self.api.call(kind + ".create", **members)
        return next(iter(found.values()))[0]

    def logs(self):
        text = ""
        for number in self.processes:
            with open(self.path("e%d.log" % number), encoding="utf-8") as file:
                text += "engine %d:\n%s" % (number, file.read())
        return text

    def hops(self):
        """Numbers of the engines to which the router sends packets for the VIP."""
        shown = self.router.run("ip", "route", "show", VIP, "proto", "bird") + " "
        return {number for number in ENGINES if "via 10.1.0.%d " % number in shown.replace("\n", " ")}

    def wait_for_hops(self, *numbers):
        try:
            bed.wait_for("routes to %s" % (numbers,), lambda: self.hops() == set(numbers), 90, 0.05)
        except AssertionError as problem:
            raise AssertionError("%s\n%s" % (problem, self.logs())) from None

    def owner(self):
        found, = self.api.call("enginegroup.placement", enginegroupids=[self.group])
        active = [one["engineid"] for vip in found["vips"] for one in vip["engines"] if one["role"] == "active"]
        return next((number for number, own in self.ids.items() if [own] == active), None)

    def test_the_vip_has_one_route_which_moves(self):
        announce = {"networks": ["192.0.2.0/24"], "local_as": 65001, "neighbours": [{"address": "10.1.0.254", "as": 65000}],
                    "bird": self.path("machine", "bird.ctl"), "folder": self.path("machine", "routes")}
        self.group = self.create("enginegroup", name="edge", ha_mode=2, failover_after=1, announce=announce)
        vip = self.create("vip", name="vip", ipv4=VIP)
        pool = self.create("pool", name="app", servers=[{"name": "s", "address": "10.2.1.1", "port": 9}])
        self.create("virtualservice", name="web", type="tcp", port=80, vipid=vip, enginegroupid=self.group, poolid=pool)
        for number in ENGINES:
            self.ids[number] = self.create("engine", name="e%d" % number, enginegroupid=self.group)
            made, = self.api.call("engine.generate", [self.ids[number]])
            self.start_machine(number, made["token"])
        bed.wait_for("an owner", lambda: self.owner())
        first = self.owner()
        self.wait_for_hops(first)
        # Engines on standby have the service too.
        for number in ENGINES:
            bed.wait_for("the service", lambda number=number: ":80 " in self.machines[number].run("ss", "-Hltn") + " ")
        self.processes[first].kill()
        self.processes[first].wait()
        bed.wait_for("the takeover", lambda: self.owner() not in (None, first))
        second = self.owner()
        self.wait_for_hops(second)
        self.start_engine(first)
        self.api.call("engine.update", engineid=self.ids[second], drain=1)
        bed.wait_for("the move", lambda: self.owner() not in (None, second))
        third = self.owner()
        self.wait_for_hops(third)
        # All engines announce the VIP by the same settings once the group says so.
        self.api.call("engine.update", engineid=self.ids[second], drain=0)
        self.api.call("enginegroup.update", enginegroupid=self.group, ha_mode=0)
        self.wait_for_hops(*ENGINES)
        # Without the server, an engine that starts again goes on with its share.
        self.server.kill()
        self.processes[third].kill()
        self.processes[third].wait()
        self.wait_for_hops(*(number for number in ENGINES if number != third))
        self.start_engine(third)
        self.wait_for_hops(*ENGINES)


if __name__ == "__main__":
    bed.main()
