#!/usr/bin/env python3
"""The cases of script items, SSH, Telnet, JMX and databases, asked of a real server 7.0: what they
expect of Vedette is what it answers."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
import remotes  # noqa: E402


class Remote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.peers = remotes.Peers()
        cls.addClassCleanup(cls.peers.stop)
        os.environ["ODBCINI"] = cls.peers.odbc_ini
        cls.reference = reference.Reference(more=[
            "JavaGateway=127.0.0.1", "JavaGatewayPort=%d" % cls.peers.gateway.port,
            "StartJavaPollers=1", "SSHKeyLocation=" + cls.peers.keys])
        cls.addClassCleanup(cls.reference.stop)
        cls.api = cls.reference.api()
        cls.host = cls.api.call("host.get", output=["hostid"])[0]["hostid"]

    def check(self, kind, tries=1):
        for item, expected in remotes.cases(self.peers)[kind]:
            with self.subTest(key=item["key"], params=item.get("params")):
                for _ in range(tries):
                    found = remotes.ask(
                        self.api, self.reference.trapper, self.host, self.peers, item)
                    if not remotes.differs(found, expected):
                        break
                self.assertEqual(remotes.differs(found, expected), "")

    def test_scripts(self):
        self.check("scripts")

    def test_ssh(self):
        self.check("ssh")

    def test_telnet(self):
        # The reference takes what has come when it looks for the end of a prompt: where the text
        # comes in two pieces it says at times that the login failed.
        self.check("telnet", tries=5)

    def test_jmx(self):
        self.check("jmx")

    def test_odbc(self):
        self.check("odbc")


if __name__ == "__main__":
    bed.main()
