#!/usr/bin/env python3
"""Simple checks: the same keys and the same services for a real server 7.0 and for Vedette."""

import concurrent.futures
import json
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
import services  # noqa: E402

#: Keys whose answer does not depend on who listens where; {} = a port where somebody listens.
KEYS = """
net.tcp.service
net.tcp.service[]
net.tcp.service[foo]
net.tcp.service[SSH]
net.tcp.service[tcp]
net.tcp.service[tcp,,x]
net.tcp.service[tcp,,0]
net.tcp.service[tcp,,65536]
net.tcp.service[tcp,,{}]
net.tcp.service[tcp,,{},x]
net.tcp.service[tcp,localhost,{}]
net.tcp.service[tcp,no.such.invalid,{}]
net.tcp.service[tcp,"127.0.0.1 ",{}]
net.tcp.service[tcp,127.0.0.1,1]
net.tcp.service.perf[tcp,127.0.0.1,1]
net.tcp.service.perf[foo,,{}]
net.tcp.service.perf
net.tcp.service[ntp]
net.tcp.service[dns]
net.tcp.service[pop3,,{}]
net.tcp.service[ldap,,{}]
net.tcp.service[https,,{}]
net.udp.service
net.udp.service[tcp]
net.udp.service[dns]
net.udp.service[ntp,,1]
net.udp.service.perf[ntp,,1]
net.udp.service.perf[ntp,,x]
net.tcp.port[,{}]
net.tcp.dns
net.tcp.service.foo
agent.ping
system.cpu.load
net.tcp.service[tcp,,{}
""".split("\n")[1:-1]

#: Pings: the reference has no item.test for them, so real items tell value or error.
PINGS = """
icmpping
icmpping[]
icmpping[127.0.0.1,2,1000,68,500]
icmpping[127.0.0.1,1,,,,allow_redirect]
icmpping[127.0.0.1,1,,,,foo]
icmpping[127.0.0.1,1,,,,ALLOW_REDIRECT]
icmpping[127.0.0.1,2,1000,68,500,,x]
icmpping[,0,1,1,1,foo,x]
icmpping[,0,1,1,1,foo]
icmpping[,1,1,1,1,foo]
icmpping[,1,20,1,1,foo]
icmpping[,1,20,24,1,foo]
icmppingsec[,1,20,24,1,bar,foo]
icmppingsec[,1,20,24,50,bar,foo]
icmpping[127.0.0.1,10001]
icmpping[127.0.0.1,-1]
icmpping[127.0.0.1,+1]
icmpping[127.0.0.1,1.5]
icmpping[127.0.0.1,x]
icmpping[127.0.0.1,01]
icmpping[127.0.0.1, 1]
icmpping[127.0.0.1,1,19]
icmpping[127.0.0.1,1,20]
icmpping[127.0.0.1,1,1K]
icmpping[127.0.0.1,1,4294967296]
icmpping[127.0.0.1,1,,24]
icmpping[127.0.0.1,1,,65508]
icmppingloss[127.0.0.1,1,,60000]
icmpping[127.0.0.1,1,,,49]
icmpping[127.0.0.1,1,,,50]
icmppingloss
icmppingloss[127.0.0.1,3,20]
icmppingloss[127.0.0.1,1,,,,avg]
icmppingsec[127.0.0.1,1,,,,foo]
icmppingsec[127.0.0.1,1,,,,MAX]
icmppingsec[127.0.0.1,1,,,,min,foo]
icmppingsec[127.0.0.1,1,,,,min,,]
icmppingsec[127.0.0.1,1,,,,min]
icmppingsec[127.0.0.1,1,,,,max,allow_redirect]
icmppingfoo[127.0.0.1]
icmpping[localhost,1]
icmpping[no.such.invalid,1]
icmpping["127.0.0.1 127.0.0.2",1]
icmpping[255.255.255.255,1]
""".split("\n")[1:-1]

#: Without an interface there has to be a target.
BARE = ["icmpping", "icmpping[127.0.0.1,1]", "net.tcp.service[http]", "net.udp.service[ntp]"]

INTERFACE = {"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "10050"}


def plain(text):
    """A number without digits that depend on the machine: 0 stays 0, other times become "some"."""
    if re.fullmatch(r"\d+\.\d+", text):
        return "0" if float(text) == 0 else "some"
    return text


class Side:
    """One of the two servers."""

    def __init__(self, api, port):
        self.api, self.address, self.host = api, ("127.0.0.1", port), None

    def test(self, key):
        """The answer of item.test: a value, or the error."""
        item = {"type": 3, "key": key, "value_type": 4, "steps": [], "timeout": "2s"}
        host = {"hostid": self.host, "interface": {"address": "127.0.0.1", "port": "10050", "useip": 1, "type": 1}}
        data = {"item": item, "host": host, "options": {"single": False, "state": 0}}
        with socket.create_connection(self.address, timeout=30) as connection:
            connection.sendall(bed.frame(json.dumps({"request": "item.test", "sid": self.api.token, "data": data})))
            answer = json.loads(bed.read_frame(connection).decode(errors="replace"))
        found = answer["data"]["item"]
        return plain(found["result"]) if "result" in found else "error: " + found["error"]

    def make(self):
        """Hosts with real items; gives the keys of the items' ids."""
        group = self.api.call("hostgroup.create", name="Simple")["groupids"][0]
        keys = {}
        for name, wanted, interfaces in [("pinged", PINGS, [INTERFACE]), ("bare", BARE, [])]:
            hostid = self.api.call("host.create", host=name, groups=[{"groupid": group}], interfaces=interfaces)
            self.host = hostid = hostid["hostids"][0]
            found = self.api.call("hostinterface.get", hostids=hostid, output=["interfaceid"])
            more = {"interfaceid": found[0]["interfaceid"]} if found else {}
            ids = self.api.call("item.create", [
                dict(more, hostid=hostid, name=key, key_=key, type=3, value_type=0, delay="3s")
                for key in wanted])["itemids"]
            keys.update({itemid: (name, key) for itemid, key in zip(ids, wanted)})
        return keys

    def results(self, keys):
        """What the items say by now: (host, key) → value or error."""
        out = {}
        for item in self.api.call("item.get", itemids=list(keys), output=["state", "error", "lastvalue", "lastclock"]):
            if item["state"] == "1":
                out[keys[item["itemid"]]] = "error: " + item["error"]
            elif item["lastclock"] != "0":
                value = float(item["lastvalue"])
                sec = "sec" in keys[item["itemid"]][1]
                out[keys[item["itemid"]]] = "some" if sec and value else "%g" % value
        return out


class Simple(bed.unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.peer = reference.Reference()
        cls.addClassCleanup(cls.peer.stop)
        cls.server = bed.Server()
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.sides = [Side(cls.peer.api(), cls.peer.trapper), Side(cls.server.api(), cls.server.trapper)]
        # Real items run while the others are asked.
        cls.items = [side.make() for side in cls.sides]

    def differ(self, cases):
        """Asks both sides each case; `cases` = (name, key, service or None)."""
        def both(case):
            name, key, peer = case
            answers = []
            for side in self.sides:
                answers.append((side.test(key), peer.heard if hasattr(peer, "heard") else b""))
                if hasattr(peer, "heard"):
                    peer.heard = b""
            return name, answers
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            found = list(pool.map(both, cases))
        for name, (one, other) in found:
            with self.subTest(name):
                self.assertEqual(one[0], other[0], name)
        return found

    def serve(self, peers):
        for peer in peers:
            self.addCleanup(peer.stop)
        return peers

    def test_keys(self):
        (peer,) = self.serve([services.Talker()])
        found = self.differ([(key, key.replace("{}", str(peer.port)), None) for key in KEYS])
        self.assertEqual(len(found), len(KEYS))

    def test_greetings(self):
        peers = self.serve([services.Talker(said) for _, said in services.GREETINGS])
        self.differ([
            ("%s %r" % (service, said), "net.tcp.service[%s,127.0.0.1,%d]" % (service, peer.port), peer)
            for (service, said), peer in zip(services.GREETINGS, peers)])

    def test_web(self):
        context = services.tls_context(self.server.folder)
        peers = self.serve([services.Talker(said, True, context) for said in services.WEB_ANSWERS])
        self.differ([
            (repr(said), "net.tcp.service[https,127.0.0.1,%d]" % peer.port, peer)
            for said, peer in zip(services.WEB_ANSWERS, peers)])

    def test_directories(self):
        answers = services.LDAP_ANSWERS
        peers = self.serve([services.Talker(said, True) for said in answers.values()])
        found = self.differ([
            (name, "net.tcp.service[ldap,127.0.0.1,%d]" % peer.port, peer)
            for name, peer in zip(answers, peers)])
        for name, ((_, one), (_, other)) in found:
            # The same search, byte by byte.
            self.assertEqual(one[:55], other[:55], name)
            self.assertEqual(len(other[:55]), 55, name)

    def test_time_servers(self):
        answers = services.TIME_ANSWERS
        peers = self.serve([services.TimeServer(change) for change in answers.values()])
        self.differ([
            (name, "net.udp.service[ntp,127.0.0.1,%d]" % peer.port, None)
            for name, peer in zip(answers, peers)])

    def test_pings(self):
        wanted = len(PINGS) + len(BARE)

        def all_known():
            results = [side.results(keys) for side, keys in zip(self.sides, self.items)]
            return results if all(len(one) == wanted for one in results) else None
        one, other = bed.wait_for("all items to have a value or an error", all_known, 90, 1)
        for case, said in one.items():
            with self.subTest(case):
                self.assertEqual(said, other[case], case)


if __name__ == "__main__":
    bed.main()
