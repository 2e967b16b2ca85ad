#!/usr/bin/env python3
"""Debian 12's own agents and sender (6.0), passive and active, against a running server."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import peers  # noqa: E402
from certificates import Authority  # noqa: E402
from pulse import Pulse  # noqa: E402

TEMPLATE = "Linux machine by Vedette agent"
PSK = "1f" * 32
PROGRAMS = {"agentd": peers.AGENTD, "agent2": peers.AGENT2}


def certificates(folder):
    """An authority and certificates of a server and an agent, signed by it."""
    authority = Authority(folder)
    for name in ("server", "agent"):
        authority.sign(name)


class Agents(bed.Case):
    """Hosts and agents are made once; the outage of one of them runs beside the other tests."""

    @classmethod
    def setUpClass(cls):
        cls.server = server = bed.Server()
        cls.addClassCleanup(server.clean)
        cls.agents = {}
        cls.logs = {}
        certificates(server.folder)
        server.arguments += [
            "--tls-ca-file", server.folder + "/ca.pem",
            "--tls-cert-file", server.folder + "/server.pem",
            "--tls-key-file", server.folder + "/server.key"]
        server.start()
        cls.api = server.api()
        found = cls.api.call("template.get", filter={"host": [TEMPLATE]}, output=["templateid"])
        cls.template = found[0]["templateid"]
        cls.group = cls.api.call("hostgroup.create", name="Agents")["groupids"][0]
        cls.psk = server.folder + "/psk"
        with open(cls.psk, "w") as f:
            f.write(PSK + "\n")
        os.chmod(cls.psk, 0o644)
        for kind in PROGRAMS:
            cls.machine(kind)
            cls.encrypted(kind, "psk")
            cls.encrypted(kind, "cert")
        cls.machine("agentd", "outage", active=False)

    @classmethod
    def add(cls, name, kind, options=(), items=(), templates=(), **more):
        """A host and its agent. Active items are there before the agent asks for them, passive
        ones only when it listens."""
        agent = peers.Agent(cls.server.folder, name, PROGRAMS[kind], cls.server.trapper, options)
        cls.agents[name] = agent
        hostid = cls.api.call(
            "host.create", host=name, groups=[{"groupid": cls.group}],
            interfaces=[agent.interface()], **more)["hostids"][0]
        interface = cls.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]

        def create(passive):
            for item in items:
                full = dict({"name": item["key_"], "hostid": hostid, "delay": "1s"}, **item)
                if passive:
                    full["interfaceid"] = interface
                if passive == (full["type"] == 0):
                    cls.api.call("item.create", full)
        create(False)
        cls.addClassCleanup(agent.stop)
        agent.start()
        create(True)
        cls.api.call("host.update", hostid=hostid,
                     templates=[{"templateid": t} for t in templates])
        return hostid

    @classmethod
    def machine(cls, kind, name=None, active=True):
        """A host with the template, its intervals made short, and active items."""
        name = name or kind
        cls.logs[name] = os.path.join(cls.server.folder, name + "-watched.log")
        with open(cls.logs[name], "w") as f:
            f.write("first line\n")
        items = [
            {"key_": "system.cpu.load[percpu,avg5]", "type": 7, "value_type": 0},
            {"key_": "agent.hostmetadata", "type": 7, "value_type": 1},
            {"key_": "system.localtime[utc]", "type": 7, "value_type": 3},
            {"key_": "log[%s]" % cls.logs[name], "type": 7, "value_type": 2},
            {"key_": "log[%s,\"number ([0-9]+)\",,,,\\1]" % cls.logs[name], "type": 7,
             "value_type": 2},
            {"key_": "log[/nonexistent/file]", "type": 7, "value_type": 2},
            {"key_": "no.such.key", "type": 7, "value_type": 4},
            {"key_": "no.such.passive.key", "type": 0, "value_type": 4},
            {"key_": "vfs.file.contents[/nonexistent]", "type": 0, "value_type": 4},
        ]
        hostid = cls.add(
            name, kind, items=items if active else (), templates=[cls.template],
            macros=[{"macro": "{$AGENT.SILENCE}", "value": "10s"}],
            options=["HostMetadata=linux test"])
        rows = cls.api.call("item.get", hostids=hostid, inherited=True, filter={"type": 0},
                            output=["itemid", "delay"])
        for row in rows:
            cls.api.call("item.update", itemid=row["itemid"], delay="2s")
        return hostid

    @classmethod
    def encrypted(cls, kind, way):
        """A host with a passive, an active and a trapper item behind TLS."""
        items = [
            {"key_": "agent.ping", "type": 0, "value_type": 3},
            {"key_": "system.cpu.num", "type": 7, "value_type": 3},
            {"key_": "trap", "type": 2, "value_type": 4, "delay": "0"},
        ]
        name = "%s-%s" % (way, kind)
        folder = cls.server.folder
        if way == "psk":
            more = {"tls_connect": 2, "tls_accept": 2, "tls_psk_identity": name, "tls_psk": PSK}
            options = ["TLSPSKIdentity=" + name, "TLSPSKFile=" + cls.psk]
        else:
            more = {"tls_connect": 4, "tls_accept": 4, "tls_issuer": "CN=Test authority,O=Test",
                    "tls_subject": "CN=agent,O=Test"}
            options = ["TLSCAFile=%s/ca.pem" % folder, "TLSCertFile=%s/agent.pem" % folder,
                       "TLSKeyFile=%s/agent.key" % folder,
                       "TLSServerCertIssuer=CN=Test authority,O=Test",
                       "TLSServerCertSubject=CN=server,O=Test"]
        options += ["TLSConnect=" + way, "TLSAccept=" + way]
        cls.add(name, kind, options, items, **more)

    def items(self, host, **more):
        rows = self.api.call(
            "item.get", host=host, output=["itemid", "key_", "state", "error", "lastvalue",
                                           "lastclock", "type", "value_type", "history"], **more)
        return {row["key_"]: row for row in rows}

    def history(self, host, key):
        item = self.items(host)[key]
        return self.api.call("history.get", history=int(item["value_type"]), sortfield="clock",
                             itemids=item["itemid"], output="extend")

    def interface_state(self, host):
        hostid = self.api.call("host.get", filter={"host": [host]})[0]["hostid"]
        row = self.api.call("hostinterface.get", hostids=hostid, output="extend")[0]
        return row["available"], row["error"]

    def test_00_the_outage_begins(self):
        bed.wait_for("the interface to answer", lambda: self.interface_state("outage")[0] == "1")
        bed.wait_for("a value", lambda: self.items("outage")["agent.ping"]["lastvalue"] == "1")
        self.agents["outage"].stop()

    def nothing_is(self, missing):
        """Waits until `missing` has nothing; a failure shows what it has."""
        try:
            bed.wait_for("the values", lambda: not missing())
        except AssertionError:
            self.assertEqual(missing(), {})

    def test_passive_items_have_values(self):
        for host in PROGRAMS:
            with self.subTest(host):
                def missing():
                    return {key: row["error"] for key, row in self.items(host, inherited=True).items()
                            if row["state"] != "0"
                            or row["lastclock"] == "0" and row["history"] != "0"}
                self.nothing_is(missing)
                rows = self.items(host)
                self.assertGreater(len([r for r in rows.values() if r["type"] == "0"]), 30)
                self.assertEqual(rows["agent.ping"]["lastvalue"], "1")
                self.assertEqual(rows["agent.hostname"]["lastvalue"], host)
                self.assertTrue(rows["agent.version"]["lastvalue"].startswith("6.0."))
                time_of_agent = rows["system.localtime"]
                self.assertAlmostEqual(int(time_of_agent["lastvalue"]), int(time_of_agent["lastclock"]), delta=20)
                self.assertEqual(rows["system.uname"]["lastvalue"].split()[0], os.uname().sysname)
                self.assertEqual(rows["system.cpu.num"]["lastvalue"], str(os.cpu_count()))
                used = float(rows["vedette.memory.use"]["lastvalue"])
                self.assertTrue(0 < used < 100, used)
                bed.wait_for("the interface", lambda: self.interface_state(host) == ("1", ""))
        seen = self.history("agentd", "agent.ping")
        clocks = [int(row["clock"]) for row in seen]
        self.assertEqual(len(set(clocks)), len(clocks))

    def test_passive_errors(self):
        for host in PROGRAMS:
            def unsupported():
                rows = self.items(host)
                return all(rows[key]["state"] == "1" for key in (
                    "no.such.passive.key", "vfs.file.contents[/nonexistent]", "no.such.key",
                    "log[/nonexistent/file]"))
            with self.subTest(host):
                bed.wait_for("the errors", unsupported, 75)
                rows = self.items(host)
                for key in ("no.such.passive.key", "no.such.key"):
                    self.assertRegex(rows[key]["error"], "(?i)unsupported item key|unknown metric",
                                     key)
                self.assertTrue(rows["vfs.file.contents[/nonexistent]"]["error"])
                self.assertIn("/nonexistent/file", rows["log[/nonexistent/file]"]["error"])

    def test_active_items_have_values(self):
        for host in PROGRAMS:
            with self.subTest(host):
                with open(self.logs[host], "a") as f:
                    f.write("number 17\nsecond line, with \u00e4 and \"quotes\"\n")

                def lines():
                    return [row["value"] for row in
                            self.history(host, "log[%s]" % self.logs[host])][:3]
                bed.wait_for("the lines", lambda: len(lines()) >= 3)
                self.assertEqual(lines(), ["first line", "number 17",
                                           "second line, with \u00e4 and \"quotes\""])
                match = "log[%s,\"number ([0-9]+)\",,,,\\1]" % self.logs[host]
                bed.wait_for("the match", lambda: self.history(host, match))
                self.assertEqual(self.history(host, match)[0]["value"], "17")
                bed.wait_for("the metadata", lambda: self.items(host)["agent.hostmetadata"]["lastclock"] != "0")
                self.assertEqual(self.items(host)["agent.hostmetadata"]["lastvalue"], "linux test")
                for key in ("system.cpu.load[percpu,avg5]", "system.localtime[utc]"):
                    begin = time.time()
                    bed.wait_for("a new value of " + key, lambda key=key: int(
                        self.items(host)[key]["lastclock"]) > begin)

    def test_an_outage_of_the_server_loses_and_repeats_nothing(self):
        def add(host, lines):
            with open(self.logs[host], "a") as f:
                f.write("".join("outage %d\n" % n for n in lines))

        def got(host):
            rows = self.history(host, "log[%s]" % self.logs[host])
            return [row["value"] for row in rows if row["value"].startswith("outage ")]
        for host in PROGRAMS:
            add(host, range(20))
        for host in PROGRAMS:
            bed.wait_for("lines before the outage", lambda: len(got(host)) >= 20)
        self.server.stop()
        gone = time.time()
        with Pulse() as pulse:
            for part in range(4):
                for host in PROGRAMS:
                    add(host, range(20 + 10 * part, 30 + 10 * part))
                time.sleep(1.5)
            self.server.start()
        back = time.time()
        self.api.login()
        for host in PROGRAMS:
            add(host, range(60, 80))
        for host in PROGRAMS:
            with self.subTest(host):
                bed.wait_for("all lines of %s" % host, lambda: len(got(host)) >= 80, 120)
                # What arrives twice arrives within the agent's next sendings.
                end = int(time.time()) + 4
                bed.wait_for("a younger value", lambda: int(
                    self.items(host)["system.localtime[utc]"]["lastclock"]) > end)
                self.assertEqual(got(host), ["outage %d" % n for n in range(80)])
                seen = self.history(host, "system.localtime[utc]")
                times = [(row["clock"], row["ns"]) for row in seen]
                self.assertEqual(len(set(times)), len(times))
                # Agents collect a value each second, when the machine does not stand still.
                inside = {int(t[0]) for t in times if gone + 1 < int(t[0]) < back - 1}
                expected = {second for second in pulse.seconds if gone + 1 < second < back - 1}
                self.assertGreaterEqual(len(inside), len(expected) - 2, (gone, back, expected, times))

    def test_log_positions_outlive_server_and_agent(self):
        # An agent that starts afresh asks the server how far it had read.
        host = "psk-agentd"
        path = os.path.join(self.server.folder, "positions.log")
        with open(path, "w") as f:
            f.write("one\ntwo\n")
        hostid = self.api.call("host.get", filter={"host": [host]})[0]["hostid"]
        self.api.call("item.create", hostid=hostid, name="positions", key_="log[%s]" % path, type=7,
                      value_type=2, delay="1s")
        agent = self.agents[host]

        def lines():
            return [row["value"] for row in self.history(host, "log[%s]" % path)]
        agent.stop()
        agent.start()
        bed.wait_for("two lines", lambda: len(lines()) >= 2)
        agent.stop()
        self.server.stop()
        with open(path, "a") as f:
            f.write("three\n")
        self.server.start()
        self.api.login()
        agent.start()
        bed.wait_for("the third line", lambda: "three" in lines())
        self.assertEqual(lines(), ["one", "two", "three"])

    def test_tls(self):
        for way in ("psk", "cert"):
            for kind in PROGRAMS:
                host = "%s-%s" % (way, kind)
                with self.subTest(host):
                    expected = {"agent.ping": "1", "system.cpu.num": str(os.cpu_count())}

                    def values():
                        rows = self.items(host)
                        return {key: rows[key]["lastvalue"] for key in expected}
                    try:
                        bed.wait_for("values of " + host, lambda: values() == expected)
                    except AssertionError:
                        self.assertEqual(values(), expected, (self.interface_state(host), self.agents[host].log()))

    def test_tls_of_senders(self):
        folder = self.server.folder
        path = os.path.join(folder, "tls.txt")
        psk = ["--tls-connect", "psk", "--tls-psk-identity", "psk-agentd", "--tls-psk-file", self.psk]
        cert = ["--tls-connect", "cert", "--tls-ca-file", folder + "/ca.pem",
                "--tls-cert-file", folder + "/agent.pem", "--tls-key-file", folder + "/agent.key"]
        stranger = cert[:4] + ["--tls-cert-file", folder + "/server.pem",
                               "--tls-key-file", folder + "/server.key"]
        for host, options, processed in (
                ("psk-agentd", psk, 2), ("psk-agentd", cert, 0), ("psk-agentd", [], 0),
                ("cert-agentd", cert, 2), ("cert-agentd", psk, 0), ("cert-agentd", [], 0),
                ("cert-agentd", stranger, 0), ("psk-agent2", psk, 0)):
            peers.sender_file(path, peers.monotonic_rows(host, "trap", ["a", "b"]))
            with self.subTest(host=host, options=options[:2]):
                found = peers.send(self.server.trapper, path, options=options)
                self.assertEqual(found, (processed, 2 - processed, 2))
        with open(os.path.join(folder, "wrong"), "w") as f:
            f.write("2e" * 32 + "\n")
        with self.assertRaises(AssertionError):
            peers.send(self.server.trapper, path, options=psk[:-1] + [folder + "/wrong"])

    def test_sender_with_10_000_values(self):
        _, items = self.host("bulk", [
            {"key_": "u", "value_type": 3}, {"key_": "f", "value_type": 0},
            {"key_": "t[\"a b\"]", "value_type": 4}, {"key_": "c", "value_type": 1}])
        begin = int(time.time()) - 30
        rows = []
        for n in range(2000):
            at = (begin + n // 100, n % 100 * 10_000_000 + 1)
            rows += [("bulk", "u", *at, str(n * 3)), ("bulk", "f", *at, "%d.5" % n),
                     ("bulk", "t[\"a b\"]", *at, "text \u20ac %d\nsecond line" % n),
                     ("bulk", "nosuch", *at, "1"), ("nosuch", "u", *at, "1")]
        path = os.path.join(self.server.folder, "bulk.txt")
        peers.sender_file(path, rows)
        self.assertEqual(peers.send(self.server.trapper, path), (6000, 4000, 10000))
        for key, kind in (("u", 3), ("f", 0), ("t[\"a b\"]", 4)):
            seen = self.api.call("history.get", history=kind, itemids=items[key], sortfield="clock",
                                 output="extend")
            found = sorted((int(r["clock"]), int(r["ns"]), r["value"]) for r in seen)
            wanted = [(row[2], row[3], row[4]) for row in rows if row[:2] == ("bulk", key)]
            self.assertEqual(len(found), len(wanted))
            for have, want in zip(found, wanted):
                if kind == 0:
                    self.assertEqual((have[0], have[1], float(have[2])),
                                     (want[0], want[1], float(want[2])))
                else:
                    self.assertEqual(have, want)

    def test_zz_the_outage_is_seen_and_ends(self):
        def problems(**of):
            rows = self.api.call("problem.get", output="extend", search={"name": "unreachable"}, **of)
            return [row for row in rows if row["name"].startswith("Agent is unreachable for 10s")]
        hostid = self.api.call("host.get", filter={"host": ["outage"]})[0]["hostid"]
        problem = bed.wait_for("the problem", lambda: problems(hostids=hostid), 90)[0]
        # Agents that had no server for a while, in the tests before, have recovered.
        bed.wait_for("no problem of another host", lambda: len(problems()) == 1)
        self.assertEqual([row["eventid"] for row in problems()], [problem["eventid"]])
        state = bed.wait_for("the interface to be unavailable", lambda: self.interface_state("outage")[0]
                             == "2" and self.interface_state("outage"), 90)
        self.assertIn("Get value from agent failed: ", state[1])
        self.assertIn("Connection refused", state[1])
        self.api.call("event.acknowledge", eventids=problem["eventid"], action=6, message="seen")
        self.agents["outage"].start()
        bed.wait_for("the interface to answer again",
                     lambda: self.interface_state("outage") == ("1", ""), 90)
        bed.wait_for("the recovery", lambda: not problems(hostids=hostid))
        event = self.api.call("event.get", eventids=problem["eventid"], output="extend",
                              selectAcknowledges="extend")[0]
        self.assertNotEqual(event["r_eventid"], "0")
        self.assertEqual(event["acknowledged"], "1")
        self.assertEqual(event["acknowledges"][0]["message"], "seen")


if __name__ == "__main__":
    bed.main()
