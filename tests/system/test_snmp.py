#!/usr/bin/env python3
"""net-snmp's agent, asked in every version and with every algorithm that it has."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import baddevice  # noqa: E402
import snmpd  # noqa: E402

NAME = "1.3.6.1.2.1.1.5.0"
TABLE = snmpd.ROOT + ".2"


class Traps(bed.Case):
    """Traps that net-snmp sends and that another receiver writes to a file."""

    @classmethod
    def setUpClass(cls):
        cls.server = bed.Server()
        cls.addClassCleanup(cls.server.clean)
        cls.port = snmpd.udp_port()
        cls.file = os.path.join(cls.server.folder, "traps")
        open(cls.file, "w").close()
        cls.server.arguments += ["--snmp-traps", "127.0.0.1:%d" % cls.port, "--snmp-trap-file", cls.file]
        cls.server.start()
        cls.api = cls.server.api()
        group = cls.api.call("hostgroup.create", name="Traps")["groupids"][0]
        cls.hosts = {}
        for name, details in [("community", snmpd.v2()), ("user", snmpd.v3("shaaes", 2, 1, 1))]:
            interface = {"type": 2, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                         "port": "161", "details": details}
            hostid = cls.api.call("host.create", host="traps " + name, groups=[{"groupid": group}],
                                  interfaces=[interface])["hostids"][0]
            interface = cls.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
            for key in ("snmptrap[coldStart]", "snmptrap[1.3.6.1.6.3.1.1.5.3]", "snmptrap.fallback"):
                cls.api.call("item.create", hostid=hostid, interfaceid=interface, name=key, key_=key,
                             type=17, value_type=2)
            cls.hosts[name] = hostid

    def send(self, *arguments):
        subprocess.run(["snmptrap", "-m", ""] + list(arguments), check=True, timeout=90,
                       stderr=subprocess.DEVNULL,
                       env=dict(os.environ, SNMP_PERSISTENT_DIR=self.server.folder))

    def logged(self, name, key):
        items = self.api.call("item.get", hostids=self.hosts[name], filter={"key_": key}, output=["itemid"])
        rows = self.api.call("history.get", itemids=items[0]["itemid"], history=2, output="extend")
        return [row["value"] for row in rows]

    def arrives(self, name, key, what):
        def there():
            return [text for text in self.logged(name, key) if what in text]
        return bed.wait_for("a trap with " + what, there)

    def test_traps_reach_the_items_that_they_match(self):
        at = "127.0.0.1:%d" % self.port
        down = "1.3.6.1.6.3.1.1.5.3"
        bed.wait_for("the items", lambda: len(self.api.call("item.get", filter={"type": 17})) == 6)
        value = [snmpd.ROOT + ".5", "s"]
        self.send("-v2c", "-c", "public", at, "", down, *value, "version 2c")
        text = self.arrives("community", "snmptrap[1.3.6.1.6.3.1.1.5.3]", "version 2c")[0]
        for part in ("PDU INFO:\n  notificationtype               TRAP\n", "community                      public",
                     ".1.3.6.1.6.3.1.1.4.1.0 = OID: .1.3.6.1.6.3.1.1.5.3",
                     '.1.3.6.1.4.1.99999.5 = STRING: "version 2c"'):
            self.assertIn(part, text)
        self.send("-v1", "-c", "public", at, snmpd.ROOT, "10.0.0.7", "6", "42", "7", *value, "version 1")
        text = self.arrives("community", "snmptrap.fallback", "version 1")[0]
        self.assertIn("agentaddress                   10.0.0.7", text)
        self.assertIn(".1.3.6.1.4.1.99999.0.42", text)
        user = ["-v3", "-e", "0x8000000001020304", "-u", "shaaes", "-l", "authPriv", "-a", "SHA",
                "-A", snmpd.AUTH, "-x", "AES"]
        self.send(*user, "-X", snmpd.PRIVACY, at, "", down, *value, "version 3")
        self.arrives("user", "snmptrap[1.3.6.1.6.3.1.1.5.3]", "version 3")
        # An inform waits for its answer.
        self.send("-Ci", "-v2c", "-c", "public", "-r", "0", "-t", "60", at, "", down, *value, "inform")
        self.arrives("community", "snmptrap[1.3.6.1.6.3.1.1.5.3]", "inform")
        # Who has neither community nor keys is not heard.
        self.send("-v2c", "-c", "wrong", at, "", down, *value, "stranger")
        self.send(*user, "-X", "wrongpass", at, "", down, *value, "stranger")
        self.send("-v2c", "-c", "public", at, "", down, *value, "last")
        self.arrives("community", "snmptrap[1.3.6.1.6.3.1.1.5.3]", "last")
        for name in self.hosts:
            for key in ("snmptrap[1.3.6.1.6.3.1.1.5.3]", "snmptrap.fallback"):
                self.assertFalse([text for text in self.logged(name, key) if "stranger" in text])

    def test_traps_of_a_file(self):
        with open(self.file, "a") as f:
            f.write("12:00:01 ZBXTRAP 127.0.0.1\nPDU INFO:\n coldStart of a file\n")
            f.write("12:00:02 ZBXTRAP 127.0.0.1\nsomething else of a file\n")
        text = self.arrives("user", "snmptrap[coldStart]", "of a file")
        self.assertEqual(text, ["12:00:01 PDU INFO:\n coldStart of a file"])
        text = self.arrives("community", "snmptrap.fallback", "of a file")
        self.assertEqual(text, ["12:00:02 something else of a file"])


class Snmp(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.snmpd = snmpd.Snmpd(cls.server.folder).start()
        cls.addClassCleanup(cls.snmpd.stop)

    def ask(self, oid, details=None, **more):
        more = dict({"timeout": "20s"}, **more)
        return snmpd.ask(self.server.address, self.api.token, self.snmpd.port, oid, details, **more)

    def test_every_version_and_algorithm(self):
        ways = [snmpd.v2(version=1), snmpd.v2(), snmpd.v3("noauth", 0)] + snmpd.users()
        for details in ways:
            for oid in (NAME, "get[%s]" % NAME):
                with self.subTest(details=details, oid=oid):
                    self.assertEqual(self.ask(oid, details)[:2], ("value", "tester"))
            with self.subTest(details=details):
                kind, text, _ = self.ask("walk[%s.1]" % TABLE, details)
                rows = ['.1.3.6.1.4.1.99999.2.1.%d = STRING: "%s"' % row
                        for row in ((1, "eth0"), (2, "eth1"), (3, "lo"))]
                self.assertEqual((kind, text), ("value", "\n".join(rows)))

    def test_wrong_credentials_are_named(self):
        at = 'Cannot connect to "127.0.0.1:%d": ' % self.snmpd.port
        denied = "Authentication failure (incorrect password, community or key)."
        for details, why in [
            (snmpd.v3("nobody", 0), at + "Unknown user name."),
            (snmpd.v3("nobody", 2, 1, 1), at + "Unknown user name."),
            (snmpd.v3("shaaes", 2, 1, 1, auth_phrase="wrongpass"), at + denied),
            (snmpd.v3("shaaes", 2, 0, 1), at + denied),
            (snmpd.v3("noauth", 1, 1), at + "Unsupported security level."),
            (snmpd.v3("shaaes", 1, 1), "SNMP error: authorizationError (access denied to that object)"),
            (snmpd.v3("shaaes", 2, 1, 1, auth_phrase="short"),
             "Error generating Ku from authentication pass phrase"),
        ]:
            with self.subTest(why=why):
                self.assertEqual(self.ask(NAME, details)[:2], ("error", why))
        # What it cannot decrypt the agent drops.
        wrong = snmpd.v3("shaaes", 2, 1, 1, priv_phrase="wrongpass")
        kind, why, _ = self.ask("get[%s]" % NAME, wrong, timeout="5s")
        self.assertEqual(kind, "error")
        self.assertIn("Probe successful, cannot retrieve OID", why)

    def test_a_wrong_community_costs_one_timeout(self):
        kind, why, took = self.ask(NAME, snmpd.v2(community="wrong"), timeout="1s")
        self.assertEqual((kind, why), (
            "error", 'Timeout while connecting to "127.0.0.1:%d".' % self.snmpd.port))
        self.assertLess(took, 10)

    def test_items_of_every_kind_are_collected(self):
        items = {
            "get": "get[%s]" % NAME,
            "oid": NAME,
            "walk": "walk[%s.2]" % TABLE,
            "index": '%s.2["index","%s.1","eth1"]' % (TABLE, TABLE),
            "missing": snmpd.ROOT + ".9.0",
            "wrong": "no such name",
        }
        # So many together as one request may ask.
        items.update({"many%d" % n: "%s.1.%d.0" % (snmpd.ROOT, n % 8 + 1) for n in range(300)})
        group = self.api.call("hostgroup.create", name="Devices")["groupids"][0]
        hostid = self.api.call("host.create", host="device", groups=[{"groupid": group}],
                               interfaces=[self.snmpd.interface()])["hostids"][0]
        interface = self.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
        rows = [{"hostid": hostid, "interfaceid": interface, "name": key, "key_": key, "type": 20,
                 "value_type": 4, "delay": "1h", "snmp_oid": oid} for key, oid in items.items()]
        itemids = self.api.call("item.create", rows)["itemids"]
        self.api.call("discoveryrule.create", hostid=hostid, interfaceid=interface, name="rule",
                      key_="rule", type=20, delay="1h",
                      snmp_oid="discovery[{#NAME},%s.1]" % TABLE)
        rule = self.api.call("discoveryrule.get", hostids=hostid, output=["itemid"])[0]["itemid"]
        self.api.call("itemprototype.create", hostid=hostid, ruleid=rule, interfaceid=interface,
                      name="octets of {#NAME}", key_="octets[{#NAME}]", type=20, value_type=3,
                      delay="1h", snmp_oid="%s.2.{#SNMPINDEX}" % TABLE)

        def check_now(ids):
            self.api.call("task.create", [{"type": 6, "request": {"itemid": one}} for one in ids])
        # None of them is due: what comes soon comes for this.
        check_now(itemids + [rule])

        def discovered():
            rows = self.api.call("item.get", hostids=hostid, filter={"flags": 4}, output=["itemid"])
            return [row["itemid"] for row in rows] if len(rows) == 3 else None
        check_now(bed.wait_for("the rule", discovered))

        def found():
            return {row["key_"]: row for row in self.api.call(
                "item.get", hostids=hostid, output=["key_", "lastvalue", "state", "error", "lastclock"])}

        def complete():
            have = found()
            done = [row for row in have.values() if row["lastclock"] != "0" or row["state"] == "1"]
            return have if len(have) == len(items) + 3 and len(done) == len(have) else None
        have = bed.wait_for("all values", complete)
        for key, value in [("get", "tester"), ("oid", "tester"), ("index", "200"), ("many7", "3000000000"),
                           ("octets[eth0]", "100"), ("octets[eth1]", "200")]:
            with self.subTest(key=key):
                self.assertEqual((have[key]["lastvalue"], have[key]["error"]), (value, ""))
        self.assertIn(".1.3.6.1.4.1.99999.2.2.4 = Counter32: 400", have["walk"]["lastvalue"])
        for key, why in [
            ("missing", "No Such Object available on this agent at this OID"),
            ("wrong", 'snmp_parse_oid(): cannot parse OID "no such name".'),
            ("octets[lo]", "No Such Object available on this agent at this OID"),
        ]:
            with self.subTest(key=key):
                self.assertEqual((have[key]["state"], have[key]["error"]), ("1", why))

        def state():
            row = self.api.call("hostinterface.get", hostids=hostid, output=["available", "error"])[0]
            return row["available"], row["error"]
        bed.wait_for("the interface to be available", lambda: state() == ("1", ""))


class Misbehaving(bed.Case):
    """Devices that answer badly, beside one that does not: each check ends as it should."""

    #: The result of each: a text, or the interface is unavailable.
    WAYS = {"never": None, "late": "right", "twice": "right", "truncated": None, "second": "right",
            "elsewhere": None, "another": None, "junk": "right", "large": baddevice.LARGE.decode()}

    def test_each_value_is_right_or_none(self):
        group = self.api.call("hostgroup.create", name="Bad")["groupids"][0]
        hosts, devices = {}, {}
        for way in self.WAYS:
            devices[way] = baddevice.Device(way, late=1.3)
            self.addCleanup(devices[way].stop)
            interface = {"type": 2, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                         "port": str(devices[way].port), "details": snmpd.v2()}
            hosts[way] = self.api.call("host.create", host=way, groups=[{"groupid": group}],
                                       interfaces=[interface])["hostids"][0]
            interface = self.api.call("hostinterface.get", hostids=hosts[way])[0]["interfaceid"]
            self.api.call("item.create", [
                {"hostid": hosts[way], "interfaceid": interface, "name": oid, "key_": "k%d" % n, "type": 20,
                 "value_type": 4, "delay": "1s", "timeout": "5s", "snmp_oid": oid}
                for n, oid in enumerate(("get[%s]" % NAME, "get[1.3.6.1.2.1.1.6.0]"))])
        memory = self.server.memory_kib()

        def told(way):
            rows = self.api.call("item.get", hostids=hosts[way], output=["lastvalue", "lastclock"])
            state = self.api.call("hostinterface.get", hostids=hosts[way], output=["errors_from"])[0]
            values = {row["lastvalue"] for row in rows if row["lastclock"] != "0"}
            return len(rows), values, state["errors_from"] == "0"
        for way, value in self.WAYS.items():
            with self.subTest(way):
                if value is None:
                    bed.wait_for("an interface with errors", lambda way=way: not told(way)[2])
                    self.assertEqual(told(way)[1], set())
                else:
                    bed.wait_for("the value of both", lambda way=way, value=value: told(way) == (
                        2, {value}, True))
        for way, value in self.WAYS.items():
            if value is None:
                self.assertEqual(told(way)[1], set())
            else:
                bed.wait_for("more requests", lambda way=way: devices[way].heard > 5)
                rows = self.api.call("history.get", hostids=hosts[way], history=4, output=["value"])
                self.assertEqual({row["value"] for row in rows}, {value}, way)
        self.assertLess(self.server.memory_kib() - memory, 60_000)


if __name__ == "__main__":
    bed.main()
