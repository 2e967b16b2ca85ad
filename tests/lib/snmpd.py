"""net-snmp's agent on a port of its own, and single questions to a server about it."""

import os
import signal
import socket
import subprocess
import time

import bed

#: User, authentication (name of snmpd, number of the API), privacy (the same).
USERS = [
    ("md5des", ("MD5", 0), ("DES", 0)),
    ("shaaes", ("SHA", 1), ("AES", 1)),
    ("sha224aes", ("SHA-224", 2), ("AES", 1)),
    ("sha256aes192", ("SHA-256", 3), ("AES-192", 2)),
    ("sha384aes256", ("SHA-384", 4), ("AES-256", 3)),
    ("sha512aes192c", ("SHA-512", 5), ("AES-192-C", 4)),
    ("sha512aes256c", ("SHA-512", 5), ("AES-256-C", 5)),
]
AUTH, PRIVACY = "authpass1", "privpass1"
#: Below it every type of value, a small table, and one with a name that two rows have.
ROOT = ".1.3.6.1.4.1.99999"
VALUES = """
1.1.0 integer -5
1.2.0 octet_str "plain text"
1.3.0 octet_str "with \\"quotes\\" and back\\\\slash"
1.4.0 octet_str 0x001b213c4d5e
1.5.0 octet_str 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021
1.6.0 object_id .1.3.6.1.4.1.8072.3.2.10
1.7.0 counter 4000000000
1.8.0 uinteger 3000000000
1.9.0 timeticks 123456
1.11.0 octet_str ""
1.12.0 octet_str 0xc3bc72677574
1.13.0 octet_str 0x6c696e65310a6c696e6532
1.14.0 octet_str 0x61626300
1.15.0 octet_str 0x09746162
1.16.0 octet_str 0x0d0a
1.17.0 null
1.18.0 octet_str 0x7fff
1.19.0 octet_str 0x07e90b150f1e2d00
2.1.1 octet_str "eth0"
2.1.2 octet_str "eth1"
2.1.3 octet_str "lo"
2.2.1 counter 100
2.2.2 counter 200
2.2.4 counter 400
3.1.1 octet_str "twin"
3.1.2 octet_str "alone"
3.1.3 octet_str "twin"
3.2.1 counter 1
3.2.3 counter 3
"""


def udp_port():
    return bed.free_port(socket.SOCK_DGRAM)


class Snmpd:
    """A running snmpd with its files in a folder, on loopback's address and `more` of that network."""

    def __init__(self, folder, port=None, more=()):
        self.folder = os.path.join(folder, "snmpd")
        os.makedirs(self.folder, exist_ok=True)
        self.port = port or udp_port()
        self.process = None
        at = ",".join("udp:%s:%d" % (ip, self.port) for ip in ("127.0.0.1", *more))
        lines = ["agentaddress " + at, "rocommunity public",
                 'sysLocation Nowhere "here"', "sysContact Me <me@example.org>", "sysName tester",
                 "createUser noauth", "rouser noauth noauth"]
        for name, (auth, _), (privacy, _) in USERS:
            lines.append('createUser %s %s "%s" %s "%s"' % (name, auth, AUTH, privacy, PRIVACY))
            lines.append("rouser %s priv" % name)
        lines += ["override %s.%s" % (ROOT, row) for row in VALUES.strip().split("\n")]
        with open(self.folder + "/snmpd.conf", "w") as f:
            f.write("\n".join(lines) + "\n")

    def start(self):
        environment = dict(os.environ, SNMP_PERSISTENT_DIR=self.folder + "/state", MIBS="")
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(
                ["/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c", self.folder + "/snmpd.conf",
                 "-p", self.folder + "/pid"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment)
        # The smallest question of all: sysUpTime, version 2c.
        question = bytes.fromhex("302902010104067075626c6963a01c020410203040020100020100"
                                 "300e300c06082b060102010103000500")

        def answers():
            if self.process.poll() is not None:
                with open(self.folder + "/log", errors="replace") as f:
                    raise AssertionError("snmpd ended: " + f.read()[-2000:])
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.settimeout(1)
                s.sendto(question, ("127.0.0.1", self.port))
                return s.recv(1000)
        bed.wait_for("snmpd to answer", answers, pause=0.05)
        return self

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def interface(self, **details):
        """The interface as `host.create` takes it."""
        return {"type": 2, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                "port": str(self.port), "details": v2(**details)}


def v2(**details):
    return dict({"version": 2, "bulk": 1, "community": "public", "max_repetitions": 10}, **details)


def v3(name, level, auth=0, privacy=0, auth_phrase=AUTH, priv_phrase=PRIVACY, context=""):
    return {"version": 3, "bulk": 1, "max_repetitions": 10, "securityname": name,
            "securitylevel": level, "authprotocol": auth, "authpassphrase": auth_phrase,
            "privprotocol": privacy, "privpassphrase": priv_phrase, "contextname": context}


def users():
    """Details of every user of `USERS`."""
    return [v3(name, 2, auth, privacy) for name, (_, auth), (_, privacy) in USERS]


def ask(address, token, port, oid, details=None, timeout="2s", flags=0, ip="127.0.0.1"):
    """One `item.test`: ("value" or "error", text, seconds)."""
    interface = {"interfaceid": 0, "type": 2, "main": 1, "useip": 1, "ip": ip, "dns": "",
                 "address": ip, "port": str(port), "details": details or v2()}
    item = {"type": 20, "key": "k", "snmp_oid": oid, "value_type": 4, "timeout": timeout,
            "flags": flags, "steps": []}
    data = {"item": item, "host": {"hostid": 0, "interface": interface}}
    begin = time.monotonic()
    answer = bed.send(address, {"request": "item.test", "sid": token, "data": data}, timeout=90)
    took = time.monotonic() - begin
    told = answer["data"]["item"]
    if "result" in told:
        return "value", told["result"], took
    return "error", told["error"], took
