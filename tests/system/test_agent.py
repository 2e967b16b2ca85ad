#!/usr/bin/env python3
"""`vedette agent` with the configuration file of a Zabbix agent, against a running server."""

import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import peers  # noqa: E402
from certificates import Authority  # noqa: E402

PROGRAM = [bed.BINARY, "agent"]
PSK = "1f" * 32


def ask(port, key, timeout=60):
    """The response to a key in the old dialect; errors begin with ZBX_NOTSUPPORTED, empty = refused."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(bed.frame(key))
        return bed.read_frame(connection).decode(errors="replace")


class AgentCommand(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.server = server = bed.Server()
        cls.addClassCleanup(server.clean)
        authority = Authority(server.folder)
        for name in ("server", "agent"):
            authority.sign(name)
        folder = server.folder
        server.arguments += [
            "--tls-ca-file", folder + "/ca.pem", "--tls-cert-file", folder + "/server.pem",
            "--tls-key-file", folder + "/server.key"]
        server.start()
        cls.api = server.api()
        with open(folder + "/own.psk", "w") as f:
            f.write(PSK + "\n")
        certificates = [
            "TLSCAFile=%s/ca.pem" % folder, "TLSCertFile=%s/agent.pem" % folder,
            "TLSKeyFile=%s/agent.key" % folder,
            "TLSServerCertIssuer=CN=Test authority,O=Test", "TLSServerCertSubject=CN=server,O=Test"]
        cls.agents = {}
        for name, options, rule in (
                ("plain", [], {}),
                ("psk", ["TLSPSKIdentity=own", "TLSPSKFile=%s/own.psk" % folder],
                 {"tls_psk_identity": "own", "tls_psk": PSK}),
                ("cert", certificates, {})):
            kind = {"plain": 1, "psk": 2, "cert": 4}[name]
            if kind > 1:
                options = options + ["TLSConnect=" + name, "TLSAccept=" + name]
            cls.machine(name, options, tls_connect=kind, tls_accept=kind, **rule)

    @classmethod
    def machine(cls, name, options, **rule):
        """A host with passive and active items of commands, and its agent."""
        includes = os.path.join(cls.server.folder, name + ".d")
        os.makedirs(includes)
        with open(includes + "/echo.conf", "w") as f:
            f.write("UserParameter=echo[*],echo \"$1 of $2\"\nAlias=short:echo[alias,%s]\n" % name)
        agent = peers.Agent(cls.server.folder, name, PROGRAM, cls.server.trapper, options + [
            "Include=%s/*.conf" % includes, "Timeout=10", "DenyKey=vfs.*[*]"])
        cls.agents[name] = agent
        hostid, _ = cls.host(cls, name, interfaces=[agent.interface()], **rule)
        interface = cls.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
        for kind, key in ((0, "echo[passive,%s]"), (7, "echo[active,%s]"), (0, "short"), (7, "agent.ping"),
                          (7, "vfs.fs.size[/]"), (0, "echo[;,%s]")):
            more = {"interfaceid": interface} if kind == 0 else {}
            key = key.replace("%s", name)
            cls.api.call("item.create", name=key, key_=key, hostid=hostid, type=kind, value_type=4,
                         delay="1s", **more)
        cls.addClassCleanup(agent.stop)
        agent.start()

    def test_values_arrive_over_all_kinds_of_connections(self):
        for name, agent in self.agents.items():
            with self.subTest(name):
                values = {"echo[passive,%s]" % name: "passive of " + name, "short": "alias of " + name,
                          "echo[active,%s]" % name: "active of " + name, "agent.ping": "1"}

                def read():
                    rows = self.api.call("item.get", filter={"host": name}, output=["key_", "lastvalue", "error"])
                    found = {row["key_"]: row["lastvalue"] for row in rows if row["key_"] in values}
                    errors = {row["key_"]: row["error"][:22] for row in rows if row["key_"] not in values}
                    return found, errors
                try:
                    bed.wait_for_equal("values of " + name, read, (values, {
                        "vfs.fs.size[/]": "Unsupported item key.",
                        "echo[;,%s]" % name: "Special characters \"\\,"}))
                except AssertionError:
                    sys.stderr.write(agent.log())
                    raise

    def test_plain_requests_to_an_encrypted_agent_are_refused(self):
        for name in ("psk", "cert"):
            self.assertEqual(ask(self.agents[name].port, "agent.ping"), "", name)
        self.assertEqual(ask(self.agents["plain"].port, "agent.ping"), "1")

    def test_a_server_that_hangs_delays_nothing_else(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            agent = peers.Agent(self.server.folder, "hung", PROGRAM, options=[
                "ServerActive=127.0.0.1:%d,127.0.0.1:%d" % (silent.getsockname()[1], self.server.trapper),
                "Timeout=30", "UserParameter=one,echo 1"])
            self.addCleanup(agent.stop)
            hostid, _ = self.host("hung")
            self.api.call("item.create", name="one", key_="one", hostid=hostid, type=7, value_type=3, delay="1s")
            agent.start()
            silent.settimeout(60)
            with silent.accept()[0]:
                self.assertEqual(ask(agent.port, "one"), "1")
                bed.wait_for("a value over the other server", lambda: self.api.call(
                    "item.get", hostids=hostid, output=["lastvalue"])[0]["lastvalue"] == "1")

    def test_files_and_keys_can_be_tested(self):
        path = os.path.join(self.server.folder, "test.conf")

        def run(text, *arguments):
            with open(path, "w") as f:
                f.write(text)
            return subprocess.run(PROGRAM + ["--config", path, *arguments], capture_output=True, text=True,
                                  timeout=60)
        good = "Server=127.0.0.1\nUserParameter=echo[*],echo $1\n"
        one = run(good, "--test", "echo[a b]")
        self.assertEqual((one.returncode, one.stdout), (0, "echo[a b]".ljust(46) + "[t|a b]\n"), one.stderr)
        every = run(good, "--print").stdout
        for part in ("agent.ping".ljust(46) + "[u|1]\n", "\necho ", "\nvfs.fs.size[/,free] "):
            self.assertIn(part, every)
        wrong = run("Server=127.0.0.1\nFoo=1\n", "--test", "agent.ping")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("test.conf, line 2: unknown parameter \"Foo\"", wrong.stderr)


if __name__ == "__main__":
    bed.main()
