#!/usr/bin/env python3
"""Engine groups: which engines own which VIPs, while engines and the server fail and return."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

NAMES = ("one", "two", "three")


class Groups(bed.Case):
    engines = bed.free_port()
    arguments = ("--engines", "127.0.0.1:%d" % engines)
    #: Each VIP has an address of its own.
    addresses = iter("127.77.%d.%d" % (net, host) for net in range(256) for host in range(1, 255))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.called = self.id().rsplit(".", 1)[-1][:60]
        self.processes, self.ids, self.vips = {}, {}, {}

    def create(self, kind, **members):
        found = self.api.call(kind + ".create", **members)
        return next(iter(found.values()))[0]

    def group(self, vips, **settings):
        """A group with three engines that run, and these VIPs, each with a service."""
        self.enginegroup = self.create("enginegroup", name=self.called, failover_after=1, **settings)
        for name in NAMES:
            self.ids[name] = self.create(
                "engine", name="%s %s" % (self.called, name), enginegroupid=self.enginegroup)
            made, = self.api.call("engine.generate", [self.ids[name]])
            self.run_engine(name, made["token"])
        self.wait_for_states(one="up", two="up", three="up")
        pool = self.create("pool", name=self.called, servers=[
            {"name": "s", "address": "127.0.0.1", "port": 9}])
        port = bed.free_port()
        for number in range(vips):
            address = next(self.addresses)
            vip = self.create("vip", name=address, ipv4=address)
            self.vips[vip] = address
            self.create("virtualservice", name="%s %d" % (self.called, number), type="tcp", port=port, vipid=vip,
                        enginegroupid=self.enginegroup, poolid=pool)
        bed.wait_for("a placement", lambda: len(self.placement()["vips"]) == vips)
        self.settled()

    def run_engine(self, name, token=None):
        environment = dict(os.environ)
        environment.pop("VEDETTE_ENGINE_TOKEN", None)
        if token:
            environment["VEDETTE_ENGINE_TOKEN"] = token
        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            process = subprocess.Popen(
                [bed.BINARY, "engine", "--controller", "127.0.0.1:%d" % self.engines,
                 "--data", os.path.join(self.folder, name)], stdout=log, stderr=log, env=environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.processes[name] = process

    def kill(self, name):
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()

    def log(self, name):
        with open(os.path.join(self.folder, name + ".log"), encoding="utf-8") as file:
            return file.read()

    def name(self, engine):
        return next(name for name, own in self.ids.items() if own == engine)

    def placement(self):
        found, = self.api.call("enginegroup.placement", enginegroupids=[self.enginegroup])
        return found

    def states(self):
        return {self.name(one["engineid"]): one["state"] for one in self.placement()["engines"]}

    def wait_for_states(self, **states):
        bed.wait_for("the states %s" % states, lambda: states.items() <= self.states().items(), 120)

    def owners(self):
        """Names of the active engines of each VIP, by its address."""
        return {self.vips[vip["vipid"]]: {self.name(one["engineid"]) for one in vip["engines"]
                                          if one["role"] == "active"} for vip in self.placement()["vips"]}

    def times(self):
        """Who owns each VIP since when."""
        return {vip["vipid"]: [(one["engineid"], one["since"]) for one in vip["engines"] if one["role"] == "active"]
                for vip in self.placement()["vips"]}

    def told(self, name):
        """The VIPs that an engine has on its disk."""
        with open(os.path.join(self.folder, name, "placement"), encoding="utf-8") as file:
            return set(json.load(file)["vips"])

    def agree(self):
        """Whether all running engines own what the server says."""
        owners = self.owners()
        running = [name for name, process in self.processes.items() if process.poll() is None]
        with contextlib.suppress(FileNotFoundError):
            return all(self.told(name) == {vip for vip, names in owners.items() if name in names}
                       for name in running)
        return False

    def settled(self):
        undecided = "the server has not placed the VIP yet"
        bed.wait_for("a placement", lambda: all(vip["reason"] != undecided for vip in self.placement()["vips"]))
        bed.wait_for("engines that own what the server says", self.agree)
        return self.owners()

    def restart_server(self):
        self.server.kill()
        self.server.start()
        type(self).api = self.server.api()

    def test_a_standby_takes_over_and_keeps_the_vips(self):
        self.group(2, ha_mode=2)
        before = self.settled()
        first, second = before
        self.assertEqual([len(names) for names in before.values()], [1, 1])
        self.assertNotEqual(before[first], before[second], "distributed")
        vip = self.placement()["vips"][0]
        self.assertEqual([one["role"] for one in vip["engines"]], ["active", "standby"])
        self.assertEqual((vip["wanted"], vip["reason"]), ("1", ""))
        failed, = before[first]
        standby = self.name(vip["engines"][1]["engineid"])
        self.kill(failed)
        bed.wait_for("the takeover", lambda: self.owners()[first] == {standby})
        self.assertEqual(self.settled()[second], before[second], "other VIPs stay")
        # It returns, and nothing moves.
        self.run_engine(failed)
        self.wait_for_states(**{failed: "up"})
        after = self.settled()
        self.assertEqual((after[first], after[second]), ({standby}, before[second]))
        times = self.times()
        self.restart_server()
        self.wait_for_states(one="up", two="up", three="up")
        self.settled()
        self.assertEqual(self.times(), times, "a restart of the server moves nothing")
        # Without the server an engine goes on with what it has on its disk.
        self.server.kill()
        told = self.told(standby)
        self.assertIn(first, told)
        self.kill(standby)
        self.run_engine(standby)
        shown = "VIPs of this engine: [%s]" % ", ".join(sorted(told))
        bed.wait_for("the stored placement", lambda: self.log(standby).rstrip().count(shown) >= 2)
        bed.wait_for("the stored configuration", lambda: "runs with its stored configuration" in self.log(standby))
        self.server.start()
        type(self).api = self.server.api()
        self.wait_for_states(one="up", two="up", three="up")
        self.settled()
        self.assertEqual(self.times(), times)

    def test_spare_room_is_for_vips_of_a_failed_engine(self):
        self.group(5, ha_mode=1, engines_per_vip=1, spare_engines=1, vips_per_engine=2)
        before = self.settled()
        placed = {vip: names for vip, names in before.items() if names}
        self.assertEqual(len(placed), 4)
        reasons = [vip["reason"] for vip in self.placement()["vips"] if vip["reason"]]
        self.assertEqual(reasons, ["the remaining room is kept free by \"spare_engines\""])
        rooms = sorted(int(one["room"]) for one in self.placement()["engines"])
        self.assertEqual(rooms, [0, 1, 1])
        full, = [self.name(one["engineid"]) for one in self.placement()["engines"] if one["room"] == "0"]
        self.kill(full)
        self.wait_for_states(**{full: "down"})
        after = self.settled()
        self.assertEqual(sum(bool(names) for names in after.values()), 4)
        for vip, names in placed.items():
            self.assertTrue(after[vip] == names if names != {full} else after[vip] and full not in after[vip], vip)

    def test_vips_leave_an_engine_that_drains(self):
        self.group(3, ha_mode=1, engines_per_vip=1)
        before = self.settled()
        vip, names = next(iter(before.items()))
        drained, = names
        change = {"engineid": self.ids[drained], "drain": 1}
        told = self.api.call("enginegroup.compare", {"method": "engine.update", "params": change, "moves": True})
        self.assertEqual(told["services"], [])
        move, = told["moves"]
        self.assertEqual((move["name"], move["from"]), (vip, [self.ids[drained]]))
        self.assertEqual(self.settled(), before, "a comparison moves nothing")
        self.api.call("engine.update", **change)
        bed.wait_for("the move", lambda: self.owners()[vip] == {self.name(move["to"][0])})
        after = self.settled()
        self.assertEqual(self.states()[drained], "draining")
        self.assertEqual(self.told(drained), set())
        self.assertEqual({one: names for one, names in after.items() if one != vip},
                         {one: names for one, names in before.items() if one != vip})
        self.api.call("engine.update", engineid=self.ids[drained], drain=0)
        self.wait_for_states(**{drained: "up"})
        self.assertEqual(self.settled(), after)
        # With fewer engines per VIP than before, all engines still load everything.
        self.api.call("enginegroup.update", enginegroupid=self.enginegroup, ha_mode=0)
        bed.wait_for("more owners", lambda: all(len(names) == 1 for names in self.settled().values()))
        self.api.call("enginegroup.update", enginegroupid=self.enginegroup, engines_per_vip=0)
        bed.wait_for("all owners", lambda: all(len(names) == 3 for names in self.settled().values()))


if __name__ == "__main__":
    bed.main()
