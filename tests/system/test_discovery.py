#!/usr/bin/env python3
"""Network discovery and agents that announce themselves: real peers become hosts by actions."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import listeners  # noqa: E402
import peers  # noqa: E402
import snmpd  # noqa: E402
from pulse import Pulse  # noqa: E402

#: Nobody listens there; a /16 takes a minute.
NETWORK = os.environ.get("VEDETTE_DISCOVERY_NETWORK", "127.77.0.0/20")


class Scene(bed.Case):
    """A group, a template, and words for rules and actions. A server each: all peers have the address of
    loopback, and hosts are known by their addresses."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # A check that a slow machine ends late would count as a loss.
        cls.api.call("settings.update", timeout_zabbix_agent="30s", timeout_simple_check="30s",
                     timeout_snmp_agent="10s")
        cls.group = cls.api.call("hostgroup.create", name="Found")["groupids"][0]
        templates = cls.api.call("templategroup.create", name="T")["groupids"][0]
        cls.template = cls.api.call(
            "template.create", host="Found one", groups=[{"groupid": templates}])["templateids"][0]
        cls.api.call("item.create", hostid=cls.template, name="sent", key_="sent", type=2, value_type=3)

    def rule(self, name, addresses, checks, delay="1s"):
        ids = self.api.call("drule.create", name=name, iprange=addresses, delay=delay, dchecks=checks)
        self.addCleanup(self.api.call, "drule.delete", ids["druleids"])
        return ids["druleids"][0]

    def action(self, name, source, conditions, operations):
        conditions = [dict(zip(("conditiontype", "operator", "value"), c)) for c in conditions]
        ids = self.api.call("action.create", name=name, eventsource=source, operations=operations,
                            filter={"evaltype": 1, "conditions": conditions})["actionids"]
        self.addCleanup(self.api.call, "action.delete", ids)

    def everything(self):
        """What an action can give a host."""
        return [
            {"operationtype": 4, "opgroup": [{"groupid": self.group}]},
            {"operationtype": 6, "optemplate": [{"templateid": self.template}]},
            {"operationtype": 13, "optag": [{"tag": "from", "value": "action"}]},
            {"operationtype": 10, "opinventory": {"inventory_mode": 1}},
        ]

    def found(self, **options):
        rows = self.api.call(
            "host.get", output=["host", "name", "status", "inventory_mode"], selectTags=["tag", "value"],
            selectInterfaces=["type", "main", "ip", "port", "useip", "dns", "details"],
            selectHostGroups=["name"], selectParentTemplates=["host"], selectItems=["key_"], **options)
        return rows[0] if len(rows) == 1 else None

    def complete(self, host):
        self.assertEqual(sorted(g["name"] for g in host["hostgroups"]), ["Discovered hosts", "Found"])
        self.assertEqual(host["parentTemplates"][0]["host"], "Found one")
        self.assertEqual([i["key_"] for i in host["items"]], ["sent"])
        self.assertEqual(host["tags"], [{"tag": "from", "value": "action"}])
        self.assertEqual((host["status"], host["inventory_mode"]), ("0", "1"))

    def dhost(self, rule, status):
        rows = self.api.call("dhost.get", druleids=rule, selectDServices="extend")
        return rows if [row["status"] for row in rows] == [status] else None


class Network(Scene):
    def test_found_lost_and_found_again(self):
        agent = peers.Agent(self.server.folder, "web-1", options=["HostMetadata=x"])
        self.addCleanup(agent.stop)
        agent.start()
        service = listeners.Service("127.0.0.1")
        rule = self.rule("lab", "127.0.0.1-3", [
            {"type": 8, "ports": "%d,1" % service.port},
            {"type": 9, "ports": str(agent.port), "key_": "agent.hostname", "host_source": 3}])
        of_rule = (18, 0, rule)
        self.action("add", 1, [of_rule, (8, 0, "9")], self.everything())
        self.action("off", 1, [of_rule, (21, 0, "1"), (10, 0, "3")], [{"operationtype": 9}])
        self.action("on", 1, [of_rule, (21, 0, "1"), (10, 0, "2")], [{"operationtype": 8}])
        row = bed.wait_for("the host", lambda: self.dhost(rule, "0"))[0]
        self.assertEqual({s["ip"] for s in row["dservices"]}, {"127.0.0.1"})
        ports = {(s["port"], s["value"], s["status"]) for s in row["dservices"]}
        self.assertEqual(ports, {(str(agent.port), "web-1", "0"), (str(service.port), "", "0")})
        host = bed.wait_for("the new host", lambda: self.found(filter={"host": "web-1"}))
        self.complete(host)
        self.assertIn(("1", "1", "127.0.0.1", str(agent.port)),
                      [tuple(i[k] for k in ("type", "main", "ip", "port")) for i in host["interfaces"]])
        # It is monitored at once.
        bed.wait_for("a value taken", lambda: "failed: 0" in bed.send(self.server.address, {
            "request": "sender data",
            "data": [{"host": "web-1", "key": "sent", "value": "1"}]})["info"])
        agent.stop()
        service.stop()
        bed.wait_for("the loss", lambda: self.dhost(rule, "1"))
        bed.wait_for("a host off", lambda: self.found(filter={"host": "web-1"})["status"] == "1")
        agent.start()
        bed.wait_for("the return", lambda: self.dhost(rule, "0"))
        back = bed.wait_for("a host on", lambda: [
            h for h in [self.found(filter={"host": "web-1"})] if h["status"] == "0"])[0]
        self.assertEqual(len(back["interfaces"]), len(host["interfaces"]))
        events = self.api.call("event.get", source=1, object=1, objectids=row["dhostid"],
                               output=["value"], sortfield="eventid")
        changes = [e["value"] for e in events if e["value"] in "23"]
        self.assertEqual(changes, ["2", "3", "2"])
        hosts = self.api.call("host.get", search={"host": "web-1"}, countOutput=True)
        self.assertEqual(hosts, "1")


class Devices(Scene):
    def test_snmp_devices(self):
        device = snmpd.Snmpd(self.server.folder)
        self.addCleanup(device.stop)
        device.start()
        user = {"snmpv3_securityname": "shaaes", "snmpv3_securitylevel": 2, "snmpv3_authprotocol": 1,
                "snmpv3_privprotocol": 1, "snmpv3_authpassphrase": snmpd.AUTH,
                "snmpv3_privpassphrase": snmpd.PRIVACY}
        port = str(device.port)
        name = {"key_": "1.3.6.1.2.1.1.5.0", "ports": port}
        rule = self.rule("devices", "127.0.0.1", [
            dict(name, type=13, **user),
            dict(name, type=11, snmp_community="public", uniq=1, name_source=3),
            dict(name, type=10, snmp_community="wrong")])
        self.action("devices", 1, [(18, 0, rule)], [{"operationtype": 2}])
        row = bed.wait_for("the device", lambda: self.dhost(rule, "0"))[0]
        self.assertEqual(len({s["value"] for s in row["dservices"]}), 1)
        self.assertEqual(len(row["dservices"]), 2)
        value = row["dservices"][0]["value"]
        host = bed.wait_for("its host", lambda: self.found(filter={"name": value}))
        details = [i["details"] for i in host["interfaces"] if i["type"] == "2"]
        self.assertEqual([d["version"] for d in details], ["2"])
        self.assertEqual(details[0]["community"], "public")


class Registration(Scene):
    def test_agents_announce_themselves(self):
        self.action("agents", 2, [(24, 8, "^lin.x-[0-9]+$")], self.everything())
        for number, program in enumerate((peers.AGENTD, peers.AGENT2)):
            name = "auto-%d" % number
            for metadata, expected in (("windows", False), ("linux-%d" % number, True)):
                agent = peers.Agent(
                    self.server.folder, name, program, self.server.trapper,
                    ["HostMetadata=" + metadata, "RefreshActiveChecks=60"])
                agent.start()
                self.addCleanup(agent.stop)
                if expected:
                    host = bed.wait_for("the host of " + name,
                                        lambda: self.found(filter={"host": name}))
                    self.complete(host)
                    interface = host["interfaces"][0]
                    self.assertEqual((interface["ip"], interface["port"], interface["useip"]),
                                     ("127.0.0.1", str(agent.port), "1"))
                else:
                    bed.wait_for("the announcement", lambda: self.announced() > number)
                    self.assertIsNone(self.found(filter={"host": name}))
                agent.stop()
                os.rename(agent.folder, agent.folder + "-" + metadata)
        # One that says where it wants to be reached.
        agent = peers.Agent(self.server.folder, "auto-0", peers.AGENTD, self.server.trapper,
                            ["HostMetadata=linux-7", "HostInterface=agent.example"])
        self.addCleanup(agent.stop)
        agent.start()
        bed.wait_for("the other interface", lambda: [
            i for i in self.found(filter={"host": "auto-0"})["interfaces"]
            if (i["useip"], i["dns"]) == ("0", "agent.example")])
        self.assertEqual(self.api.call("host.get", search={"host": "auto-"}, countOutput=True), "2")

    def announced(self):
        return len({e["objectid"] for e in self.api.call("event.get", source=2, object=3)})


class Large(Scene):
    def test_a_large_network_delays_no_other_rule(self):
        _, items = self.host("busy", [
            {"key_": "zabbix[uptime]", "type": 5, "value_type": 3, "delay": "1s"},
            {"key_": "net.tcp.service[tcp,127.0.0.1,%d]" % self.server.http, "type": 3, "value_type": 3,
             "delay": "1s"}])
        memory = self.server.memory_kib()
        begin = int(time.time())

        def clocks(item):
            rows = self.api.call("history.get", itemids=item, history=3, time_from=begin, sortfield="clock",
                                 output=["clock"])
            return [int(row["clock"]) for row in rows]
        with Pulse() as pulse:
            rule = self.rule("large", NETWORK, [{"type": 8, "ports": "1"}], "1h")
            for key, item in items.items():
                bed.wait_for("values of " + key, lambda item=item: len(clocks(item)) >= 6)
        for key, item in items.items():
            times = [begin, *clocks(item)]
            longest = max(after - before for before, after in zip(times, times[1:]))
            # An interval is one second.
            self.assertLess(longest, 4 + pulse.longest_s, (key, times))
        self.assertEqual(self.api.call("dhost.get", druleids=rule, countOutput=True), "0")
        self.assertLess(self.server.memory_kib() - memory, 100_000)


if __name__ == "__main__":
    bed.main()
