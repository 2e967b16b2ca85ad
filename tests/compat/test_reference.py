#!/usr/bin/env python3
"""Agents and senders 7.0 with the official Linux templates: Vedette beside the reference server.

Both servers watch the same agents with the same templates, whose update intervals are made short.
"""

import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import peers  # noqa: E402
import reference  # noqa: E402

TEMPLATES = {
    "passive": ("linux_by_zabbix_agent.yaml", "Linux by Zabbix agent"),
    "active": ("linux_by_zabbix_agent_active.yaml", "Linux by Zabbix agent active"),
}
RULES = {name: {"createMissing": True, "updateExisting": True} for name in (
    "template_groups", "templates", "items", "triggers", "discoveryRules", "valueMaps", "graphs")}
INTERVAL = "5s"
# Both servers collect for so long before they are compared.
COLLECT_S = 100


def hurried(text):
    """The template with short intervals: each item, rule and prototype that has one."""
    lines, out = text.split("\n"), []
    for n, line in enumerate(lines):
        if re.match(r"\s+delay: ", line) and "'0'" not in line:
            line = re.sub(r"delay: .*", "delay: " + INTERVAL, line)
        out.append(line)
        key = re.match(r"(\s+)key: ", line)
        described = any("uuid:" in before for before in lines[max(0, n - 3):n])
        if key and described and not re.match(r"\s+delay: ", lines[n + 1]):
            out.append(key.group(1) + "delay: " + INTERVAL)
    return "\n".join(out)


class Side:
    """One of the two servers, with what the tests know of it."""

    def __init__(self, name, api, trapper):
        self.name, self.api, self.trapper = name, api, trapper
        self.hosts = {}
        self.group = api.call("hostgroup.create", name="Compared")["groupids"][0]

    def watch(self, agent, way):
        """A host for an agent: `way` is passive or active."""
        name = agent.name if way == "active" else agent.name + "-passive"
        template = self.api.call("template.get", filter={"host": [TEMPLATES[way][1]]},
                                 output=["templateid"])[0]
        more = {"interfaces": [agent.interface()]} if way == "passive" else {}
        self.hosts[name] = self.api.call(
            "host.create", host=name, groups=[{"groupid": self.group}],
            templates=[{"templateid": template["templateid"]}],
            macros=[{"macro": "{$AGENT.TIMEOUT}", "value": "15s"},
                    {"macro": "{$AGENT.NODATA_TIMEOUT}", "value": "30s"}], **more)["hostids"][0]

    def items(self, host):
        rows = self.api.call("item.get", hostids=self.hosts[host], output="extend")
        return {row["key_"]: row for row in rows}

    def history(self, item, limit=40):
        return self.api.call(
            "history.get", itemids=item["itemid"], history=int(item["value_type"]),
            sortfield="clock", sortorder="DESC", limit=limit, output="extend")

    def problems(self, host):
        return self.api.call("problem.get", hostids=self.hosts[host], output="extend",
                             selectTags="extend", selectAcknowledges="extend")


class Compared(unittest.TestCase):
    maxDiff = 20_000

    @classmethod
    def setUpClass(cls):
        cls.begin = time.monotonic()
        cls.folder = tempfile.mkdtemp(prefix="vedette-compared-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.reference = reference.Reference()
        cls.addClassCleanup(cls.reference.stop)
        cls.server = bed.Server(folder=cls.folder)
        cls.addClassCleanup(cls.server.stop)
        cls.server.start()
        cls.ours = Side("vedette", cls.server.api(), cls.server.trapper)
        cls.theirs = Side("reference", cls.reference.api(), cls.reference.trapper)
        cls.sides = (cls.theirs, cls.ours)
        for file, _ in TEMPLATES.values():
            path = os.path.join(reference.SHARED, "templates", "zabbix-7.0", file)
            with open(path) as f:
                source = hurried(f.read())
            for side in cls.sides:
                side.api.call("configuration.import", format="yaml", rules=RULES, source=source)
        cls.agents = {}
        for name, program in (("agentd", "agentd"), ("agent2", "agent2"), ("outage", "agentd"),
                              ("outage2", "agent2")):
            active = "127.0.0.1:%d,127.0.0.1:%d" % tuple(side.trapper for side in cls.sides)
            agent = peers.Agent(
                cls.folder, name, reference.program(program),
                options=["ServerActive=" + active, "RefreshActiveChecks=5",
                         "HeartbeatFrequency=5"])
            cls.agents[name] = agent
            cls.addClassCleanup(agent.stop)
            agent.start()
            for side in cls.sides:
                for way in TEMPLATES:
                    side.watch(agent, way)
        cls.collecting_since = time.monotonic()

    def active_available(self, side, host):
        row = side.api.call("host.get", hostids=side.hosts[host], output=["active_available"])[0]
        return row["active_available"]

    def interface(self, side, host):
        row = side.api.call("hostinterface.get", hostids=side.hosts[host], output="extend")[0]
        return row["available"], row["error"]

    def test_1_agents_are_available_and_an_outage_begins(self):
        for side in self.sides:
            for name in self.agents:
                with self.subTest(side=side.name, agent=name):
                    bed.wait_for("the interface to answer", lambda: self.interface(
                        side, name + "-passive") == ("1", ""))
                    bed.wait_for("a heartbeat", lambda: self.active_available(
                        side, name) == "1")
                    bed.wait_for("the availability item", lambda: side.items(name + "-passive")[
                        "zabbix[host,agent,available]"]["lastvalue"] == "1")
                    bed.wait_for("the active availability item", lambda: side.items(name)[
                        "zabbix[host,active_agent,available]"]["lastvalue"] == "1")
        self.agents["outage"].stop()
        self.agents["outage2"].stop()

    def test_2_sender(self):
        """10,000 values, good and bad, in files of the real sender."""
        kinds = {"u": 3, "f": 0, "t[\"a b\"]": 4, "c": 1, "log": 2}
        ids = {}
        for side in self.sides:
            hostid = side.api.call("host.create", host="sent",
                                   groups=[{"groupid": side.group}])["hostids"][0]
            items = [{"name": key, "key_": key, "type": 2, "value_type": kind, "hostid": hostid}
                     for key, kind in kinds.items()]
            found = side.api.call("item.create", items)["itemids"]
            ids[side.name] = dict(zip(kinds, found))
        begin = int(time.time()) - 40
        odd = {
            "u": ["-1", "18446744073709551615", "18446744073709551616", "1.0", "1.9", " 12 ", "",
                  "0x10", "1e3", "1K", "abc", "+5", "007"],
            "f": ["1e308", "-1e308", "1e309", "nan", "inf", " 2.5 ", "", "1,5", "1K", ".5", "5.",
                  "1e-320", "0.1", "123456789.123456789", "-0", "1E+2"],
            "t[\"a b\"]": ["", " x ", "\u20ac \U0001f600", "a" * 70000, "line\nline", "quote \" end"],
            "c": ["", " x ", "\u20ac" * 300, "b" * 255, "b" * 256, "line\nline"],
            "log": ["", "a log line", "c" * 70000],
        }
        rows = []
        for n in range(1900):
            at = (begin + n // 100, n % 100 * 10_000_000)
            rows += [("sent", "u", *at, str(n * 7919)), ("sent", "f", *at, "%.6f" % (n / 7 - 50)),
                     ("sent", "t[\"a b\"]", *at, "text %d" % n), ("sent", "nosuch", *at, "1"),
                     ("nosuch", "u", *at, "1")]
        for key, values in odd.items():
            for n, value in enumerate(values):
                rows.append(("sent", key, begin + 30, n + 1, value))
        while len(rows) < 10000:
            n = len(rows)
            rows.append(("sent", "c", begin + 31 + n // 100000, n, "filling %d" % n))
        path = os.path.join(self.folder, "sent.txt")
        peers.sender_file(path, rows)
        program = reference.program("sender")
        # The reference takes up new items within its cache's interval.
        for side in self.sides:
            bed.wait_for("items to be live", lambda: all(bed.send(
                ("127.0.0.1", side.trapper), {"request": "sender data", "data": [
                    {"host": "sent", "key": key, "value": "1", "clock": begin - 5}]})["info"]
                .startswith("processed: 1;") for key in kinds), pause=1)
        totals = {side.name: peers.send(side.trapper, path, program) for side in self.sides}
        self.assertEqual(totals["vedette"], totals["reference"])
        self.assertEqual(totals["vedette"][2], 10000)

        def stored(side, key, kind):
            found = side.api.call("history.get", history=kind, itemids=ids[side.name][key],
                                  output="extend", time_from=begin)
            return sorted((int(r["clock"]), int(r["ns"]), r["value"]) for r in found)
        for key, kind in kinds.items():
            with self.subTest(key=key):
                # Values go from the reference's cache to its database every second.
                last = {"n": -1}

                def still():
                    before, last["n"] = last["n"], len(stored(self.theirs, key, kind))
                    return before == last["n"]
                bed.wait_for("the reference to have written", still, pause=1.5)
                theirs, ours = stored(self.theirs, key, kind), stored(self.ours, key, kind)
                self.assertGreaterEqual(len(theirs), 3)
                short = [(a[0] - begin, a[1], a[2][:60], len(a[2])) for a in theirs
                         if a not in set(ours)]
                extra = [(a[0] - begin, a[1], a[2][:60], len(a[2])) for a in ours
                         if a not in set(theirs)]
                self.assertEqual((short[:20], extra[:20]), ([], []))
                self.assertEqual(len(ours), len(theirs))

    def test_3_templates_collect_alike(self):
        remaining = COLLECT_S - (time.monotonic() - self.collecting_since)
        if remaining > 0:
            time.sleep(remaining)
        compared = 0
        # Tests that run beside this one make accounts: the servers then read different files.
        age_s = time.time() - os.stat("/etc/passwd").st_mtime
        accounts_changed = age_s < time.monotonic() - self.collecting_since
        for host in ("agentd-passive", "agent2-passive", "agentd", "agent2"):
            theirs = self.theirs.items(host)
            ours = self.ours.items(host)
            with self.subTest(host=host, what="the same items"):
                self.assertEqual(sorted(set(theirs) ^ set(ours)), [])
            faults = []
            for key, item in sorted(theirs.items()):
                if item["state"] != "0" or (accounts_changed and "[/etc/passwd" in key):
                    continue
                past = self.theirs.history(item)
                if key in ours and ours[key]["state"] != "0":
                    faults.append((key, "not supported: " + ours[key]["error"]))
                elif past:
                    compared += 1
                    fault = self.compare(key, item, past, ours.get(key))
                    if fault:
                        faults.append((key, fault))
            with self.subTest(host=host, what="values"):
                self.assertEqual(faults, [])
            print("%s: %d items, %d discovered" % (
                host, len(theirs), sum(i["flags"] == "4" for i in theirs.values())), file=sys.stderr)
        self.assertGreater(compared, 250)

    def compare(self, key, item, past, our):
        """What is wrong with our values, if anything."""
        if our is None:
            return "is missing"
        history = self.ours.history(our)
        if not history:
            return "no value; the reference has %r" % past[0]["value"][:80]
        if item["value_type"] not in "03":
            known = {row["value"] for row in past}
            if history[0]["value"] in known or self.alike(key, history[0]["value"], known):
                return None
            return "%r is none of %r" % (history[0]["value"][:200], [k[:200] for k in known])
        low = min(float(row["value"]) for row in past)
        high = max(float(row["value"]) for row in past)
        middle = statistics.median(float(row["value"]) for row in history)
        # What the metric did while it was watched, and as much again.
        natural = (high - low) * 2 + 0.05 * max(abs(low), abs(high))
        if item["units"] in ("%", "") or "rate" in key or "await" in key or "time" in key:
            natural += 5
        if item["units"] in ("Bps", "bps"):
            natural += 100_000
        if not low - natural <= middle <= high + natural:
            return "%g is not near %g to %g" % (middle, low, high)
        return None

    def alike(self, key, value, known):
        """Text values that hold counters: the same once their numbers are taken out. The reference
        writes the members of an object that a JSONPath found in an order of its own."""
        def form(text):
            def same(value):
                if isinstance(value, dict):
                    return {name: same(member) for name, member in value.items()}
                if isinstance(value, list):
                    return [same(member) for member in value]
                return "number" if isinstance(value, (int, float)) else value
            try:
                return same(json.loads(text))
            except ValueError:
                return re.sub(r"[0-9.]+", "0", text)
        return key.startswith(("vfs.fs.", "system.sw.packages")) and (
            form(value) in [form(text) for text in known])

    def test_4_the_outage_is_a_problem_and_ends(self):
        names = ("outage", "outage2")

        def problem(side, host):
            return [p for p in side.problems(host) if "agent is not available" in p["name"]]
        seen = {}
        for side in self.sides:
            for name in names:
                with self.subTest(side=side.name, agent=name):
                    bed.wait_for("the interface to be unavailable", lambda: self.interface(
                        side, name + "-passive")[0] == "2", 100)
                    bed.wait_for("the active agent to be unavailable", lambda: self.active_available(
                        side, name) == "2")
                    for host in (name, name + "-passive"):
                        seen[side.name, host] = bed.wait_for(
                            "the problem of " + host, lambda: problem(side, host))[0]
        for host in [n + tail for n in names for tail in ("", "-passive")]:
            ours, theirs = seen["vedette", host], seen["reference", host]
            for member in ("name", "severity", "source", "object", "acknowledged", "suppressed"):
                self.assertEqual(ours[member], theirs[member], member)
            self.assertEqual(sorted(t["tag"] + t["value"] for t in ours["tags"]),
                             sorted(t["tag"] + t["value"] for t in theirs["tags"]))
        for side in self.sides:
            for name in names:
                error = self.interface(side, name + "-passive")[1]
                self.assertIn("Get value from agent failed: ", error, side.name)
                self.assertIn("Connection refused", error, side.name)
            side.api.call("event.acknowledge", action=6, message="seen",
                          eventids=[seen[side.name, "outage-passive"]["eventid"]])
            self.assertEqual(problem(side, "outage-passive")[0]["acknowledged"], "1")
        for name in names:
            self.agents[name].start()
        for side in self.sides:
            for name in names:
                with self.subTest(side=side.name, agent=name, what="recovery"):
                    bed.wait_for("the interface to answer again", lambda: self.interface(
                        side, name + "-passive") == ("1", ""), 90)
                    bed.wait_for("the problems to end", lambda: not problem(side, name)
                                 and not problem(side, name + "-passive"))
        event = self.ours.api.call("event.get", selectAcknowledges="extend", output="extend",
                                   eventids=seen["vedette", "outage-passive"]["eventid"])[0]
        self.assertNotEqual(event["r_eventid"], "0")
        self.assertEqual(event["acknowledges"][0]["message"], "seen")


if __name__ == "__main__":
    bed.main()
