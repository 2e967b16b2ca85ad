#!/usr/bin/env python3
"""Script items, SSH, Telnet, JMX and databases with real peers: OpenSSH, Debian's Java gateway,
PostgreSQL and MariaDB by ODBC."""

import json
import os
import socketserver
import sys
import threading

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
        cls.api.call("settings.update", timeout_ssh_agent="30s", timeout_telnet_agent="30s", timeout_db_monitor="30s")

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
                "publickey": "plain.pub", "privatekey": "plain", "timeout": "30s"}
        found = remotes.ask(self.api, self.server.trapper, hostid, self.peers, item)
        self.assertEqual(found, "said")

    def test_ssh_host_keys(self):
        hostid, _ = self.host("key of a host")
        port = self.peers.ssh.port
        item = {"type": remotes.SSH, "key": "ssh.run[a,127.0.0.1,%d]" % port, "params": "echo hi",
                "username": self.peers.ssh.user, "authtype": "1", "publickey": "plain.pub",
                "privatekey": "plain", "timeout": "30s"}
        known = os.path.join(self.server.folder, "data", "ssh-known-hosts")

        def ask():
            return remotes.ask(self.api, self.server.trapper, hostid, self.peers, item)
        self.assertEqual(ask(), "hi")
        with open(known) as f:
            lines = [line for line in f if not line.startswith("[127.0.0.1]:%d " % port)]
        with open(self.peers.keys + "/stranger.pub") as f:
            other = "[127.0.0.1]:%d %s" % (port, f.read())
        with open(known, "w") as f:
            f.writelines(lines + [other])
        self.assertIn("the key of the host has changed", str(ask()))
        with open(known, "w") as f:
            f.writelines(lines)
        self.assertEqual(ask(), "hi")
        with open(known) as f:
            self.assertIn("[127.0.0.1]:%d ssh-ed25519 " % port, f.read())

    def test_items_are_checked_at_their_intervals(self):
        peers = self.peers
        endpoint = "service:jmx:rmi:///jndi/rmi://{HOST.CONN}:{HOST.PORT}/jmxrmi"
        memory = "jmx[\"java.lang:type=Memory\",%s]"
        wanted = {
            "script": ("{\"name\":\"polled\"}", {
                "type": remotes.SCRIPT, "params": "return value", "timeout": "30s",
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
            bed.wait_for("all values", lambda: not missing())
        finally:
            self.assertEqual(missing(), {})

        def state():
            row = self.api.call("hostinterface.get", hostids=hostid, output="extend")[0]
            return row["available"], row["error"]
        bed.wait_for("the interface to be available", lambda: state() == ("1", ""))


class Gateway(socketserver.BaseRequestHandler):
    """Says what it was asked."""

    def handle(self):
        data = self.request.recv(65536)
        while len(data) < 13 or len(data) < 13 + int.from_bytes(data[5:9], "little"):
            data += self.request.recv(65536)
        keys = json.loads(data[13:])["keys"]
        self.server.asked.append(keys)
        rows = [{"error": "no"} if key == "bad" else {"value": "of " + key} for key in keys]
        answer = json.dumps({"response": "success", "data": rows})
        self.request.sendall(bed.frame(answer))


class Together(bed.Case):
    """JMX items of one interface."""

    @classmethod
    def setUpClass(cls):
        cls.gateway = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Gateway)
        cls.gateway.asked = []
        threading.Thread(target=cls.gateway.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.gateway.server_close)
        cls.addClassCleanup(cls.gateway.shutdown)
        cls.arguments = ["--java-gateway", "127.0.0.1:%d" % cls.gateway.server_address[1]]
        super().setUpClass()

    def test_what_is_due_together_is_one_request_for_each_endpoint(self):
        hostid, _ = self.host("java", interfaces=[{
            "type": 4, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "1"}])
        interface = self.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
        keys = ["a", "b", "c", "bad"] + ["other%d" % n for n in range(40)]
        self.api.call("item.create", [{
            "hostid": hostid, "name": key, "key_": key, "type": remotes.JMX, "value_type": 4,
            "interfaceid": interface, "delay": "0;wd1-7h0-23m0-59s0-59",
            "jmx_endpoint": "service:jmx:" + key[:5]} for key in keys])

        def values():
            rows = self.api.call("item.get", hostids=hostid, output=["key_", "lastvalue", "error"])
            return {row["key_"]: row["lastvalue"] or row["error"] for row in rows}
        wanted = {key: "no" if key == "bad" else "of " + key for key in keys}
        bed.wait_for("all values", lambda: values() == wanted)
        bed.wait_for("a request for many", lambda: max(len(keys) for keys in self.gateway.asked) > 10)
        for keys in self.gateway.asked:
            self.assertEqual(len({key[:5] for key in keys}), 1, keys)


if __name__ == "__main__":
    bed.main()
