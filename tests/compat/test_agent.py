#!/usr/bin/env python3
"""`vedette agent` and a real zabbix_get 7.0: values, and encryption with keys and certificates."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import peers  # noqa: E402
import reference  # noqa: E402
from certificates import Authority  # noqa: E402

REFUSED = "ZBX_NOTSUPPORTED"


class Getter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([reference.TOOL, "setup"], check=True, stdout=subprocess.DEVNULL)
        cls.get = reference.program("get")
        folder = tempfile.TemporaryDirectory(prefix="vedette-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        authority = Authority(cls.folder)
        for name in ("server", "agent", "revoked"):
            authority.sign(name)
        Authority(cls.folder, "other", "Other authority").sign("stranger")
        cls.revoke("revoked")
        for name, digits in (("own.psk", "1f"), ("wrong.psk", "2e")):
            with open(os.path.join(cls.folder, name), "w") as f:
                f.write(digits * 32 + "\n")
        cls.agents = {}
        for name, options in (
                ("unencrypted", []),
                ("psk", ["TLSPSKIdentity=own", "TLSPSKFile=%s/own.psk" % cls.folder]),
                ("cert", ["TLSCAFile=%s/ca.pem" % cls.folder, "TLSCertFile=%s/agent.pem" % cls.folder,
                          "TLSKeyFile=%s/agent.key" % cls.folder, "TLSCRLFile=%s/crl.pem" % cls.folder,
                          "TLSServerCertIssuer=CN=Test authority,O=Test"]),
                ("named", ["TLSCAFile=%s/ca.pem" % cls.folder, "TLSCertFile=%s/agent.pem" % cls.folder,
                           "TLSKeyFile=%s/agent.key" % cls.folder,
                           "TLSServerCertSubject=CN=somebody else,O=Test"])):
            kind = "cert" if name == "named" else name
            agent = peers.Agent(cls.folder, name, [bed.BINARY, "agent"], options=options + [
                "TLSAccept=" + kind, "UserParameter=echo[*],printf '%s\\n' \"$1\"; printf ' \\t\\n'",
                "UserParameter=sleep.3,sleep 3; echo 1", "UserParameter=hang,sleep 1000 & sleep 1000"])
            cls.addClassCleanup(agent.stop)
            cls.agents[name] = agent.start()

    @classmethod
    def revoke(cls, name):
        """Makes `crl.pem`, a list of the authority with the certificate of that name."""
        conf = os.path.join(cls.folder, "ca.conf")
        with open(conf, "w") as f:
            f.write("[ca]\ndefault_ca=d\n[d]\ndatabase=%s/index\ndefault_md=sha256\ndefault_crl_days=2\n" % cls.folder)
        open(os.path.join(cls.folder, "index"), "w").close()
        common = ["openssl", "ca", "-config", conf, "-keyfile", "ca.key", "-cert", "ca.pem"]
        for more in (["-revoke", name + ".pem"], ["-gencrl", "-out", "crl.pem"]):
            subprocess.run(common + more, cwd=cls.folder, check=True, capture_output=True)

    def value(self, agent, key, *options, seconds=10):
        """What zabbix_get prints; `None` = it got no response."""
        command = self.get + ["-s", "127.0.0.1", "-p", str(self.agents[agent].port), "-t", str(seconds), "-k", key]
        run = subprocess.run(command + list(options), capture_output=True, text=True, timeout=60)
        text = run.stdout + run.stderr
        return None if "Get value error" in text or "Check access restrictions" in text else text[:-1]

    def psk(self, identity="own", file="own.psk"):
        return ["--tls-connect", "psk", "--tls-psk-identity", identity,
                "--tls-psk-file", os.path.join(self.folder, file)]

    def cert(self, name, authority="ca"):
        return ["--tls-connect", "cert", "--tls-ca-file", "%s/%s.pem" % (self.folder, authority),
                "--tls-cert-file", "%s/%s.pem" % (self.folder, name),
                "--tls-key-file", "%s/%s.key" % (self.folder, name)]

    def test_values(self):
        for key, expected in (
                ("agent.ping", "1"), ("echo[a b]", "a b"), ("echo[\"a,b\"]", "a,b"), ("sleep.3", "1"),
                ("echo[;]", REFUSED), ("no.such.key", REFUSED + ": Unsupported item key.")):
            with self.subTest(key):
                found = self.value("unencrypted", key)
                self.assertEqual(found[:len(expected)] if expected == REFUSED else found, expected)
        self.assertEqual(self.value("unencrypted", "hang", seconds=1),
                         REFUSED + ": Timeout while executing a shell script.")

    def test_encryption(self):
        for agent, options, expected in (
                ("psk", self.psk(), "1"), ("psk", self.psk(file="wrong.psk"), None),
                ("psk", self.psk(identity="other"), None), ("psk", [], None),
                ("psk", self.cert("server"), None),
                ("cert", self.cert("server"), "1"), ("cert", self.cert("revoked"), None),
                ("cert", self.cert("stranger"), None), ("cert", self.cert("stranger", "other"), None),
                ("cert", self.psk(), None), ("cert", [], None),
                ("named", self.cert("server"), None),
                ("unencrypted", [], "1"), ("unencrypted", self.psk(), None)):
            with self.subTest(agent=agent, options=options[1:]):
                found = self.value(agent, "agent.ping", *options)
                self.assertEqual(found, expected, self.agents[agent].log())


if __name__ == "__main__":
    bed.main()
