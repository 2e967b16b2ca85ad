#!/usr/bin/env python3
"""Simple checks against real services and small ones, and pings: answered, lost, without rights."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import services  # noqa: E402

INTERFACE = {"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "10050"}
CAN_PING = os.geteuid() == 0


class Program:
    """A daemon in the foreground on a port of its own."""

    def __init__(self, command, port):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.port = port

        def listens():
            if self.process.poll() is not None:
                raise AssertionError("%s ended: %s" % (command[0], self.process.stderr.read()))
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return True
        bed.wait_for(command[0] + " to listen", listens, pause=0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.process.stderr.close()


def nginx(folder):
    """A web server with and without TLS; gives the program and the port of TLS."""
    plain, secure = bed.free_port(), bed.free_port()
    services.tls_context(folder)
    config = os.path.join(folder, "nginx.conf")
    with open(config, "w") as f:
        f.write("""
daemon off; master_process off; pid %(folder)s/nginx.pid; error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path %(folder)s/body; proxy_temp_path %(folder)s/proxy;
  fastcgi_temp_path %(folder)s/fastcgi; uwsgi_temp_path %(folder)s/uwsgi; scgi_temp_path %(folder)s/scgi;
  server { listen 127.0.0.1:%(plain)d; return 200 "hi"; }
  server { listen 127.0.0.1:%(secure)d ssl; return 404;
    ssl_certificate %(folder)s/web.pem; ssl_certificate_key %(folder)s/web.key; }
}
""" % locals())
    return Program([shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", config], plain), secure


def sshd(folder):
    """OpenSSH with a key of its own."""
    key, port = os.path.join(folder, "host_key"), bed.free_port()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    # Where it looks for its separated part.
    with contextlib.suppress(OSError):
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    program = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
    return Program([program, "-D", "-e", "-f", "/dev/null", "-h", key, "-p", str(port),
                    "-o", "ListenAddress=127.0.0.1", "-o", "PidFile=none", "-o", "UsePAM=no"], port)


class Simple(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.server.folder
        cls.web, cls.secure = nginx(folder)
        cls.addClassCleanup(cls.web.stop)
        cls.ssh = sshd(folder)
        cls.addClassCleanup(cls.ssh.stop)

    def checked(self, name, keys, interfaces=(INTERFACE,), kind=4):
        """Values or errors of real items, by key."""
        hostid = self.host(name, interfaces=list(interfaces))[0]
        found = self.api.call("hostinterface.get", hostids=hostid, output=["interfaceid"])
        more = {"interfaceid": found[0]["interfaceid"]} if found else {}
        ids = self.api.call("item.create", [
            dict(more, hostid=hostid, name=key, key_=key, type=3, value_type=kind, delay="2s", timeout="30s")
            if "icmp" not in key else
            dict(more, hostid=hostid, name=key, key_=key, type=3, value_type=kind, delay="2s")
            for key in keys])["itemids"]
        by_id = dict(zip(ids, keys))

        def known():
            items = self.api.call("item.get", itemids=ids, output=["state", "error", "lastvalue", "lastclock"])
            out = {by_id[i["itemid"]]: "error: " + i["error"] if i["state"] == "1" else i["lastvalue"]
                   for i in items if i["state"] == "1" or i["lastclock"] != "0"}
            return out if len(out) == len(keys) else None
        return bed.wait_for("values of " + name, known)

    def expect(self, name, expected, **more):
        found = self.checked(name, list(expected), **more)
        for key, value in expected.items():
            with self.subTest(key):
                if callable(value):
                    self.assertTrue(value(found[key]), found[key])
                else:
                    self.assertEqual(found[key], value)

    def test_real_services(self):
        def some(text):
            return 0.0001 <= float(text) < 30
        self.expect("real", {
            "net.tcp.service[ssh,,%d]" % self.ssh.port: "1",
            "net.tcp.service.perf[ssh,,%d]" % self.ssh.port: some,
            "net.tcp.service[http,,%d]" % self.web.port: "1",
            "net.tcp.service[https,,%d]" % self.secure: "1",
            "net.tcp.service.perf[https,localhost,%d]" % self.secure: some,
            "net.tcp.service[https,,%d]" % self.web.port: "0",
            "net.tcp.service[smtp,,%d]" % self.ssh.port: "0",
            "net.tcp.service[tcp,,%d]" % self.ssh.port: "1",
            "net.tcp.service[tcp,,%d]" % bed.free_port(): "0",
            "net.tcp.service.perf[tcp,,%d]" % bed.free_port(): "0",
            "net.tcp.service[dns]": "error: Invalid first parameter.",
            "net.tcp.service[tcp]": "error: Invalid third parameter.",
        })

    def test_small_services(self):
        greetings = {
            "smtp": [b"220-one\r\n", b"220 two\r\n"], "ftp": b"220 ftp\r\n", "pop": b"+OK\r\n", "imap": b"* OK\r\n",
            "nntp": b"201 news\r\n", "telnet": b"\xff\xfd\x18host login: ", "ldap": services.LDAP_ANSWERS["entry"]}
        talkers = {name: services.Talker(greeting, first_listen=name == "ldap", patience=30)
                   for name, greeting in greetings.items()}
        clock = services.TimeServer()
        for one in [clock, *talkers.values()]:
            self.addCleanup(one.stop)
        expected = {"net.tcp.service[%s,,%d]" % (name, one.port): "1" for name, one in talkers.items()}
        expected["net.udp.service[ntp,,%d]" % clock.port] = "1"
        expected["net.tcp.service[pop,,%d]" % talkers["imap"].port] = "0"
        self.expect("small", expected)
        # They hear the farewell after the check has its result.
        for name, farewell in (("smtp", b"QUIT\r\n"), ("imap", b"a1 LOGOUT\r\n")):
            bed.wait_for("the farewell to " + name, lambda name=name, said=farewell: said in talkers[name].heard)

    def test_without_an_interface(self):
        self.expect("bare", {
            "net.tcp.service[ssh]": "error: Check service item must have IP parameter or host interface specified.",
            "net.tcp.service[tcp,127.0.0.1,%d]" % self.ssh.port: "1",
            "icmpping": "error: Ping item must have target or host interface specified.",
        }, interfaces=())

    @bed.unittest.skipUnless(CAN_PING, "only root may ping")
    def test_pings(self):
        def fast(text):
            return 0.0001 <= float(text) < 20
        v6 = os.path.exists("/proc/net/if_inet6") and bool(open("/proc/net/if_inet6").read())
        self.expect("pinged", {
            "icmpping": "1",
            "icmppingloss[127.7.7.7,5,20,,20000]": "0",
            "icmppingsec[,2,20,,20000]": fast,
            "icmppingsec[127.0.0.1,2,20,1400,20000,max]": fast,
            "icmpping[localhost,1,,,20000]": "1",
            "icmpping[255.255.255.255,1]": "0",
            "icmppingloss[255.255.255.255,1]": "100",
            "icmppingsec[255.255.255.255,1]": "0",
            "icmpping[no.such.invalid]": "error: Cannot send ICMP ping packets to this host.",
            "icmpping[,0]": "error: Number of packets \"0\" is not between 1 and 10000.",
            **({"icmpping[::1,1,,,20000]": "1"} if v6 else {}),
        })


@bed.unittest.skipUnless(CAN_PING and shutil.which("ip"), "needs root and network namespaces")
class Lost(bed.unittest.TestCase):
    """A network of its own that answers, swallows, or has no way."""

    SPACE = "vedette-%d" % os.getpid()

    def ip(self, *arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True)

    def setUp(self):
        try:
            self.ip("netns", "add", self.SPACE)
        except subprocess.CalledProcessError as problem:
            self.skipTest("no network namespaces here: %s" % problem.stderr)
        self.addCleanup(self.ip, "netns", "del", self.SPACE)
        self.ip("-n", self.SPACE, "link", "set", "lo", "up")

    def bench(self, *arguments):
        """Figures of `vedette bench ping` within the namespace."""
        report = os.path.join(bed.tempfile.mkdtemp(prefix="vedette-test-"), "ping.json")
        self.addCleanup(shutil.rmtree, os.path.dirname(report))
        subprocess.run(["ip", "netns", "exec", self.SPACE, bed.BINARY, "bench", "ping", "--json", report,
                        "--rounds", "1", *arguments], check=True, capture_output=True, timeout=60)
        with open(report) as f:
            return bed.json.load(f)["results"]

    def test_answers_and_silence(self):
        loud = self.bench("--addresses", "4000", "--packets", "2", "--timeout", "5s")
        self.assertEqual((loud["sent"], loud["answered"]), (8000, 8000))
        # A route that swallows everything: sent, and never answered.
        self.ip("-n", self.SPACE, "route", "add", "198.51.100.0/24", "dev", "lo")
        lost = self.bench("--first", "198.51.100.10", "--addresses", "100", "--packets", "2",
                          "--interval", "20ms", "--timeout", "100ms")
        self.assertEqual((lost["sent"], lost["answered"]), (200, 0))
        # No way at all: lost as well.
        nowhere = self.bench("--first", "203.0.113.1", "--addresses", "50", "--timeout", "100ms")
        self.assertEqual((nowhere["sent"], nowhere["answered"]), (50, 0))


@bed.unittest.skipUnless(CAN_PING and shutil.which("setpriv"), "only root can give up rights")
class WithoutRights(bed.unittest.TestCase):
    def test_what_to_do_is_said(self):
        with open("/proc/sys/net/ipv4/ping_group_range") as f:
            least, most = map(int, f.read().split())
        if least <= os.getgid() <= most:
            self.skipTest("everybody may ping here")
        command = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", "--no-new-privs",
                   bed.BINARY, "bench", "ping", "--addresses", "1", "--rounds", "1"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(run.returncode, 0)
        for word in ("CAP_NET_RAW", "setcap cap_net_raw+ep", "AmbientCapabilities=CAP_NET_RAW"):
            self.assertIn(word, run.stderr + run.stdout)


if __name__ == "__main__":
    bed.main()
