#!/usr/bin/env python3
"""Internal items and the requests `zabbix.stats` and `queue.get`: Vedette beside a real server 7.0, and the official
templates that read them."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import internalkeys  # noqa: E402
import reference  # noqa: E402

#: Everything that a server 7.0 can start: Vedette has it all the time.
STARTED = ("StartVMwareCollectors=1", "StartIPMIPollers=1", "StartConnectors=1", "StartSNMPTrapper=1",
           "StartJavaPollers=1", "JavaGateway=127.0.0.1", "StartReportWriters=1",
           "WebServiceURL=http://127.0.0.1:1/report")
TEMPLATES = ("Zabbix server health", "Remote Zabbix server health", "Zabbix server health by Zabbix agent")
RULES = {name: {"createMissing": True, "updateExisting": True} for name in (
    "template_groups", "templates", "items", "triggers", "discoveryRules", "valueMaps", "graphs")}
ROWS = [{"value": "1"}]


class Peer:
    """A server or gateway that gives one response to each request."""

    def __init__(self, port):
        self.response, self.requests = b"", []
        self.socket = socket.create_server(("127.0.0.1", port))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:
                self.requests.append(json.loads(connection.recv(65536)[13:]))
                connection.sendall(self.response)

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


class Side:
    """One of the servers."""

    def __init__(self, api, trapper):
        self.api, self.trapper = api, ("127.0.0.1", trapper)
        self.group = api.call("hostgroup.create", name="Internal items")["groupids"][0]
        self.host = self.make("internals", 1)

    def make(self, name, port):
        """A host with an agent's interface."""
        interface = {"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": str(port)}
        return self.api.call("host.create", host=name, groups=[{"groupid": self.group}],
                             interfaces=[interface])["hostids"][0]

    def request(self, name, **members):
        return bed.send(self.trapper, dict(members, request=name))

    def read(self, key):
        """The item's value, or the error, as the test of an item shows it."""
        item = {"key": key, "type": "5", "value_type": "4", "timeout": "3s", "steps": []}
        data = {"item": item, "host": {"hostid": self.host}, "options": {"single": False, "state": 0}}
        answer = self.request("item.test", sid=self.api.token, data=data)
        result = answer["data"]["item"]
        return ("error", result["error"]) if "error" in result else ("value", result["result"])

    def number(self, key):
        kind, text = self.read(key)
        assert kind == "value", (key, text)
        return float(text)


def shape(value):
    """JSON without its numbers and texts."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    return type(value).__name__


def outline(result):
    """What has to be the same of two results."""
    kind, text = result
    if kind == "error":
        # The reason after the address is the text of the system, or of the reference's library.
        return kind, re.sub(r"(cannot connect to \[\[.*\]:)\d+(\]): .*", r"\1PORT\2", text)
    if text[:1] in ("{", "["):
        return kind, shape(json.loads(text))
    if re.fullmatch(r"\d+", text):
        return kind, "unsigned"
    return kind, "float" if re.fullmatch(r"\d+\.\d{6}", text) else "text"


class Internals(bed.Case):
    gateway_port, peer_port = bed.free_port(), bed.free_port()
    arguments = ("--java-gateway", "127.0.0.1:%d" % gateway_port)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.real = reference.Reference(more=(*STARTED, "JavaGatewayPort=%d" % cls.gateway_port))
        cls.addClassCleanup(cls.real.stop)
        cls.theirs = Side(cls.real.api(), cls.real.trapper)
        cls.ours = Side(cls.api, cls.server.trapper)
        for side in (cls.theirs, cls.ours):
            bed.wait_for("the host to be known",
                         lambda side=side: side.read("zabbix[host,,items]") == ("value", "0"))

    def compare(self, key, ours=None):
        theirs, ours = outline(self.theirs.read(key)), outline(self.ours.read(ours or key))
        return [] if theirs == ours else ["%s: %r, and here %r" % (key, theirs, ours)]

    def test_keys_are_accepted_and_refused_alike(self):
        different = []
        pairs = zip(internalkeys.keys(self.theirs.trapper[1]), internalkeys.keys(self.ours.trapper[1]))
        for key, ours in pairs:
            different += self.compare(key, ours)
        self.assertEqual(different, [])

    def test_counts_grow_alike(self):
        # The reference's own host discovers items and triggers all the time.
        own = self.theirs.api.call("host.get", filter={"host": "Zabbix server"}, output=["hostid"])
        self.theirs.api.call("host.update", hostid=own[0]["hostid"], status=1)
        bed.wait_for_equal("the reference to be still", lambda: self.theirs.read("zabbix[items]"), ("value", "0"))
        plain = ("hosts", "items", "triggers", "requiredperformance", "items_unsupported")
        before = [{name: side.number("zabbix[%s]" % name) for name in plain} for side in (self.theirs, self.ours)]
        for side in (self.theirs, self.ours):
            hostid = side.make("counted", 2)
            for name, kind, delay, status in (("a", 2, "0", 0), ("b", 15, "30s", 0), ("c", 15, "10s", 1),
                                              ("d", 5, "7s", 0)):
                key = "zabbix[uptime,x]" if kind == 5 else "counted." + name
                item = {"hostid": hostid, "name": name, "key_": key, "type": kind, "value_type": 3, "delay": delay,
                        "status": status}
                side.api.call("item.create", dict(item, params="1") if kind == 15 else item)
            for key in ("zabbix[host,discovery,interfaces]", "zabbix[boottime,x]"):
                side.api.call("discoveryrule.create", hostid=hostid, name=key, key_=key, type=5, delay="9s")
            for status in (0, 1):
                side.api.call("trigger.create", description="t%d" % status, status=status,
                              expression="last(/counted/counted.a)=%d" % status)

        def grown():
            now = [{name: side.number("zabbix[%s]" % name) for name in plain} for side in (self.theirs, self.ours)]
            return [{name: round(after[name] - of[name], 5) for name in plain} for of, after in zip(before, now)]

        def different():
            theirs, ours = grown()
            return {name: (theirs[name], ours[name]) for name in plain if theirs[name] != ours[name]}

        for side in (self.theirs, self.ours):
            for method in ("item.get", "discoveryrule.get"):
                bed.wait_for("an error in " + method, lambda side=side, method=method: side.api.call(
                    method, search={"key_": "time,x]"}, filter={"state": 1}, output=["key_"]))
        bed.wait_for_equal("both to count alike", different, {}, timeout=30)
        self.assertGreaterEqual(grown()[1]["items_unsupported"], 1)

    def test_statistics_of_other_programs(self):
        peer = Peer(self.peer_port)
        self.addCleanup(peer.stop)
        frames = (b"hello", b"{}", b"[]", b"", b'{"response":"x"}', b'{"response":"failed"}', b'{"response":5}',
                  b'{"response":"failed","info":"Why."}', b'{"response":"failed","info":""}',
                  b'{"response":"success"}', b' {"response": "success", "data": {"a": 1}}')
        keys = ["zabbix[stats,127.0.0.1,%d]" % self.peer_port]
        different = []
        for text in frames:
            peer.response = bed.frame(text)
            different += self.compare(keys[0])
        for more in ("queue", "queue,,", "queue,10m", "queue,,1h", "queue,10m,1h", "queue,x"):
            keys.append("zabbix[stats,127.0.0.1,%d,%s]" % (self.peer_port, more))
            different += self.compare(keys[-1])
        peer.response = b""
        different += self.compare(keys[0])
        self.assertEqual(different, [])
        self.assertEqual(peer.requests[0::2], peer.requests[1::2])

    def test_the_java_gateway(self):
        different = self.compare("zabbix[java,,ping]")
        gateway = Peer(self.gateway_port)
        self.addCleanup(gateway.stop)
        for answer in ({"response": "success", "data": ROWS}, {"response": "failed", "error": "Why."},
                       {"response": "success", "data": [{"error": "No."}]}):
            gateway.response = bed.frame(json.dumps(answer).encode())
            for key in ("zabbix[java,,ping]", "zabbix[java,,version]", "zabbix[java]"):
                different += self.compare(key)
        self.assertEqual(different, [])
        self.assertEqual(gateway.requests[0::2], gateway.requests[1::2])

    def test_requests_are_answered_alike(self):
        requests = [("zabbix.stats", members) for members in (
            {}, {"type": "x"}, {"type": ""}, {"type": None}, {"params": {"from": "x"}}, {"type": "queue"},
            {"type": "queue", "params": {}}, {"type": "queue", "params": "x"},
            {"type": "queue", "params": {"from": "10m"}}, {"type": "queue", "params": {"from": 10}},
            {"type": "queue", "params": {"from": ""}}, {"type": "queue", "params": {"from": "x"}},
            {"type": "queue", "params": {"to": "x"}}, {"type": "queue", "params": {"to": "1"}},
            {"type": "queue", "params": {"from": "10m", "to": "5m"}})]
        requests += [("queue.get", members) for members in (
            {"type": "overview"}, {"type": "overview by proxy"}, {"type": "details", "limit": "5"},
            {"type": "details", "limit": 5}, {"type": "details", "limit": 0}, {"type": "details"},
            {"type": "details", "limit": "x"}, {"type": "details", "limit": -1}, {"type": "x"}, {}, {"type": ""},
            {"type": 5}, {"type": "Overview"}, {"type": "overview", "limit": "x"})]
        for name, members in requests:
            with self.subTest(request=name, **{"with": members}):
                sids = ((side.api.token, side) for side in (self.theirs, self.ours))
                answers = [side.request(name, sid=sid, **members) for sid, side in sids]
                if answers[0]["response"] == "success":
                    # Each server may have late items of its own.
                    answers = [shape(dict(answer, data=[] if name == "queue.get" else answer.get("data")))
                               for answer in answers]
                self.assertEqual(answers[1], answers[0])
        for sid in ({}, {"sid": "0" * 32}):
            refused = [side.request("queue.get", type="x", **sid) for side in (self.theirs, self.ours)]
            self.assertEqual(refused[1], refused[0])

    def test_late_items_are_counted_and_listed(self):
        silent = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.addCleanup(silent.close)
        port, found = silent.getsockname()[1], []
        for side in (self.theirs, self.ours):
            hostid = side.make("silent", port)
            interface = side.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
            # Spaces make the keys different.
            side.api.call("item.create", [
                {"hostid": hostid, "name": str(n), "type": 3, "value_type": 3, "delay": "1s", "timeout": "20s",
                 "key_": "net.tcp.service[ssh,127.0.0.1,%s%d]" % (" " * n, port), "interfaceid": interface}
                for n in range(20)])
            found.append(self.late(side, hostid))
            self.assertEqual(side.read("zabbix[queue,1h]"), ("value", "0"))
            side.api.call("host.delete", [hostid])
        # The reason is our own.
        found[1]["details"].discard("reason")
        self.assertEqual(found[1], found[0])

    def late(self, side, hostid):
        """The members of the rows of the queue, once items of the host are late."""
        itemids = {row["itemid"] for row in side.api.call("item.get", hostids=hostid, output=["itemid"])}

        def rows():
            get = {kind: side.request("queue.get", sid=side.api.token, type=kind, limit=100)
                   for kind in ("overview", "overview by proxy", "details")}
            late = [row for row in get["details"]["data"] if str(row["itemid"]) in itemids]
            simple = [row for row in get["overview"]["data"] if row["itemtype"] == 3]
            proxies = get["overview by proxy"]["data"]
            counted = side.number("zabbix[queue]"), side.number("zabbix[queue,6s,1h]")
            if not (late and simple and proxies and min(counted) >= 1):
                return None
            self.assertGreaterEqual(get["details"]["total"], len(late))
            return {"details": set(late[0]), "overview": set(simple[0]), "by proxy": shape(proxies[0])}

        return bed.wait_for("items to be late", rows)

    def test_real_programs_read_the_statistics(self):
        port = self.ours.trapper[1]
        agent = ("127.0.0.1", self.real.base + 1)
        for more, members in (("", {"data"}), (",queue,10m", {"queue"})):
            key = "zabbix.stats[127.0.0.1,%d%s]" % (port, more)
            run = subprocess.run([*reference.program("get"), "-s", agent[0], "-p", str(agent[1]), "-k", key],
                                 check=True, capture_output=True, text=True)
            self.assertEqual(set(json.loads(run.stdout)), members | {"response"}, run.stdout)
        here = self.theirs.read("zabbix[stats,127.0.0.1,%d]" % port)
        own = self.theirs.read("zabbix[stats,127.0.0.1,%d]" % self.theirs.trapper[1])
        self.assertEqual(outline(here), outline(own))

    def test_official_templates_have_no_unsupported_item(self):
        theirs, api = self.theirs.api, self.ours.api
        macros = [{"macro": "{$ZABBIX.SERVER.ADDRESS}", "value": "127.0.0.1"},
                  {"macro": "{$ZABBIX.SERVER.PORT}", "value": str(self.ours.trapper[1])}]
        hosts = []
        for name in TEMPLATES:
            found = theirs.call("template.get", filter={"host": name}, output=["templateid"])
            source = theirs.call("configuration.export", format="yaml",
                                 options={"templates": [found[0]["templateid"]]})
            api.call("configuration.import", format="yaml", source=source, rules=RULES)
            templateid = api.call("template.get", filter={"host": name}, output=["templateid"])[0]["templateid"]
            hosts.append(self.ours.make("linked to " + name, self.real.base + 1))
            api.call("host.update", hostid=hosts[-1], macros=macros, templates=[{"templateid": templateid}])
        wanted = {"hostids": hosts, "output": ["itemid", "hostid", "type", "key_", "state", "error", "lastclock",
                                               "history"]}
        masters = [row["itemid"] for row in api.call("item.get", wanted) if row["type"] != "18"]
        self.assertGreater(len(masters), 70)

        def polled():
            """What has neither a value nor an error yet. Rates need a second value, and masters keep none."""
            api.call("task.create", [{"type": 6, "request": {"itemid": itemid}} for itemid in masters])
            time.sleep(1)
            rows = api.call("item.get", wanted)
            return [row["key_"] for row in rows if row["lastclock"] == "0" and row["state"] == "0"
                    and row["history"] != "0"]

        bed.wait_for_equal("values of all items", polled, [], timeout=120, pause=1)
        rows = api.call("item.get", wanted)
        by_host = [sum(row["hostid"] == hostid for row in rows) for hostid in hosts]
        self.assertTrue(all(count > 70 for count in by_host), by_host)
        self.assertEqual([(row["key_"], row["error"]) for row in rows if row["state"] == "1"], [])
        rules = api.call("discoveryrule.get", hostids=hosts, output=["key_", "state", "error"])
        self.assertEqual([row for row in rules if row["state"] == "1"], [])


if __name__ == "__main__":
    bed.main()
