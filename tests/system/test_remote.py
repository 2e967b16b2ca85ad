#!/usr/bin/env python3
"""Script items, SSH, Telnet, JMX and databases with real peers: OpenSSH, Debian's Java gateway,
PostgreSQL and MariaDB by ODBC."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import remotes  # noqa: E402


class Remote(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.peers = remotes.Peers()
        cls.addClassCleanup(cls.peers.stop)
        cls.server = bed.Server(
            arguments=["--ssh-keys", cls.peers.keys,
                       "--java-gateway", "127.0.0.1:%d" % cls.peers.gateway.port],
            environment={"ODBCINI": cls.peers.odbc_ini})
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def check(self, kind):
        hostid, _ = self.host("asked by " + kind)
        for item, expected in remotes.cases(self.peers)[kind]:
            with self.subTest(key=item["key"], params=item.get("params")):
                found = remotes.ask(self.api, self.server.trapper, hostid, self.peers, item)
                self.assertEqual(remotes.differs(found, expected), "")

    def test_scripts(self):
        self.check("scripts")

    def test_ssh(self):
        self.check("ssh")

    def test_telnet(self):
        self.check("telnet")
        # All that it offers is refused but "suppress go ahead".
        self.assertEqual(set(self.peers.telnet.wishes), {(252, 24), (254, 1), (253, 3)})

    def test_jmx(self):
        self.check("jmx")

    def test_odbc(self):
        self.check("odbc")

    def test_ssh_subsystems(self):
        hostid, _ = self.host("subsystem")
        item = {"type": remotes.SSH, "key": "ssh.run[a,127.0.0.1,%d,,,echo]" % self.peers.ssh.port,
                "params": "said", "username": self.peers.ssh.user, "authtype": "1",
                "publickey": "plain.pub", "privatekey": "plain", "timeout": "3s"}
        found = remotes.ask(self.api, self.server.trapper, hostid, self.peers, item)
        self.assertEqual(found, "said")

    def test_items_are_checked_at_their_intervals(self):
        peers = self.peers
        endpoint = "service:jmx:rmi:///jndi/rmi://{HOST.CONN}:{HOST.PORT}/jmxrmi"
        memory = "jmx[\"java.lang:type=Memory\",%s]"
        wanted = {
            "script": ("{\"name\":\"polled\"}", {
                "type": remotes.SCRIPT, "params": "return value", "timeout": "3s",
                "parameters": [{"name": "name", "value": "{HOST.HOST}"}]}),
            "ssh.run[a,127.0.0.1,%d]" % peers.ssh.port: ("polled", {
                "type": remotes.SSH, "params": "echo {$NAME}", "username": peers.ssh.user,
                "authtype": 1, "publickey": "locked.pub", "privatekey": "locked",
                "password": "{$PHRASE}"}),
            "telnet.run[a,127.0.0.1,%d]" % peers.telnet.port: ("unknown: polled", {
                "type": remotes.TELNET, "params": "{$NAME}", "username": "admin",
                "password": "secret"}),
            memory % "Verbose": ("false", {
                "type": remotes.JMX, "username": "monitor", "password": "secret",
                "jmx_endpoint": endpoint}),
            "db.odbc.select[a,maria]": ("polled", {
                "type": remotes.DATABASE, "params": "select '{$NAME}'",
                "username": "monitor", "password": "{$PASSWORD}"}),
        }
        hostid, _ = self.host(
            "polled", interfaces=[{"type": 4, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                                   "port": str(peers.gateway.jmx)}],
            macros=[{"macro": "{$PASSWORD}", "value": remotes.PASSWORD},
                    {"macro": "{$PHRASE}", "value": "phrase"}, {"macro": "{$NAME}", "value": "polled"}])
        interface = self.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
        for key, (_, members) in wanted.items():
            item = dict({"name": key, "key_": key, "hostid": hostid, "delay": "1s",
                         "value_type": 4}, **members)
            if members["type"] == remotes.JMX:
                item["interfaceid"] = interface
            self.api.call("item.create", item)

        def missing():
            rows = self.api.call("item.get", hostids=hostid, output=["key_", "lastvalue", "error"])
            return {row["key_"]: (row["lastvalue"], row["error"]) for row in rows
                    if row["lastvalue"] != wanted[row["key_"]][0]}
        try:
            bed.wait_for("all values", lambda: not missing(), 30)
        finally:
            self.assertEqual(missing(), {})
        row = self.api.call("hostinterface.get", hostids=hostid, output="extend")[0]
        self.assertEqual((row["available"], row["error"]), ("1", ""))


if __name__ == "__main__":
    bed.main()
