"""What is promised of stores over TLS: only one that shows who it is gets values."""

import os
import shutil
import subprocess
import tempfile

import bed
from certificates import Authority

UNTRUSTED = "certificate verify failed"
TERMINATOR = """defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend tls
  bind 127.0.0.1:{port} ssl crt {pem}
  default_backend store
backend store
  server store 127.0.0.1:{store}
"""


class Certificates:
    """Of an authority: one for this machine (`node`) and one for another (`elsewhere`); and an
    authority that signed neither. Servers may read them."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="vedette-tls-")
        os.chmod(self.folder, 0o755)
        self.ours, self.other = (Authority(self.folder, name, name) for name in ("ours", "other"))
        self.ours.sign("node", "IP:127.0.0.1")
        self.ours.sign("elsewhere", "DNS:node.example.com")

    def remove(self):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)


def believing(authority):
    """The environment of a program that takes this one for the system's only authority."""
    return {"SSL_CERT_FILE": authority.pem, "SSL_CERT_DIR": "/nowhere"}


class Terminator:
    """A proxy that speaks TLS to clients and none to the store behind it."""

    def __init__(self, certificates, name, store):
        self.port, joined = bed.free_port(), certificates.path(name + ".both")
        with open(joined, "w") as file:
            for end in (".pem", ".key"):
                with open(certificates.path(name + end)) as part:
                    file.write(part.read())
        config = certificates.path(name + ".cfg")
        with open(config, "w") as file:
            file.write(TERMINATOR.format(port=self.port, pem=joined, store=store))
        self.process = subprocess.Popen(["/usr/sbin/haproxy", "-f", config, "-db"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        bed.wait_for("the proxy", lambda: bed.listens(self.port), pause=0.05)

    def stop(self):
        self.process.kill()
        self.process.wait()


class OverHttps:
    """Beside the other promises of a store that is asked over HTTP."""

    def test_https_sends_values_only_to_a_verified_store(self):
        certificates = Certificates()
        self.addCleanup(certificates.remove)
        usual, port = self.parameter().replace("=http://", "=https://"), ":%d" % self.store.port
        for name, authority, refused in (("node", certificates.ours, ""),
                                         ("node", certificates.other, UNTRUSTED),
                                         ("elsewhere", certificates.ours, UNTRUSTED)):
            proxy = Terminator(certificates, name, self.store.port)
            self.addCleanup(proxy.stop)
            said = self.outcome(usual.replace(port, ":%d" % proxy.port), believing(authority))
            self.assertEqual(bool(said), bool(refused), said)
            for part in (refused, ":%d" % proxy.port) if refused else ():
                self.assertIn(part, said)
