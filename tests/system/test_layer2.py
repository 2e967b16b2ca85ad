#!/usr/bin/env python3
"""Two engines in one network without a router of BGP: keepalived moves their VIPs (VRRP)."""

import os
import shutil
import signal
import socket
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import networks  # noqa: E402

if __name__ == "__main__":
    networks.enter()  # Before any thread exists.
import bed  # noqa: E402
from machines import TIMEOUT_S, VIP, VIP6, inside  # noqa: E402
from segment import ADDED, Segment  # noqa: E402


@unittest.skipUnless(shutil.which("keepalived"), "needs keepalived")
class Layer2(Segment):
    def test_a_killed_engine_loses_its_vips_at_once(self):
        owner, other = self.start_all()
        times = []
        for _ in range(3):
            times.append(self.takeover(self.engines[owner].kill, other))
            self.engines[owner].wait()
            self.wait("no VIP", lambda one=owner: not self.has(one) and not self.has(one, VIP6))
            # It returns, and the VIPs stay.
            entered = len(self.states(owner))
            self.start_engine(owner)
            self.wait("a state", lambda: len(self.states(owner)) > entered)
            owner, other = other, owner
            self.assertEqual(self.settled(), (owner, other))
        # Nothing is waited for that has to come: the machine that returned would take the VIPs in this time.
        time.sleep(1.5)
        self.assertEqual(self.settled(), (owner, other))
        print("VIPs taken over after kill -9: %s" % ", ".join(times))

    def test_a_machine_or_keepalived_that_ends_is_replaced(self):
        owner, other = self.start_all()
        # The parent and its process for VRRP hang as a machine that hangs.
        pids = [int(self.log(name % owner)) for name in ("k%d.pid", "k%d-vrrp.pid")]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        self.switch.run("ip", "link", "set", "port%d" % (10 + owner), "nomaster")
        print("VIPs taken over after a hang of the machine: %s" % self.takeover(lambda: None, other))
        self.switch.run("ip", "link", "set", "port%d" % (10 + owner), "master", "switch")
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        owner, other = self.settled()
        self.keepalives[owner].terminate()
        self.keepalives[owner].wait()
        self.wait("the other owner", lambda: self.owners() == [other])
        self.start_keepalived(owner)
        self.wait("a state", lambda: "BACKUP" in str(self.states(owner)[-1:]))
        self.assertEqual(self.settled(), (other, owner))

    def test_no_request_fails_when_the_owner_drains(self):
        owner, other = self.start_all()
        clients = self.load()
        self.engines[owner].send_signal(signal.SIGTERM)
        self.assertEqual(self.engines[owner].wait(TIMEOUT_S), 0)
        self.assertEqual(self.settled(), (other, owner))
        self.finish(clients, "planned drain of the owner")
        self.assertIn("the VIPs are withdrawn", self.log("e%d.log" % owner))

    def test_an_upgrade_and_a_new_vip_move_nothing(self):
        owner, other = self.start_all()
        states = self.states(owner), self.states(other)
        clients = self.load()
        old = self.engines[owner]
        self.start_engine(owner, "--takeover")
        old.send_signal(signal.SIGTERM)
        self.assertEqual(old.wait(TIMEOUT_S), 0)
        self.served(clients)
        # One machine gets its new configuration first: they do not quarrel about it.
        for number in (other, owner):
            self.configure(number, ADDED)
            self.engines[number].send_signal(signal.SIGHUP)
            self.wait("the VIP", lambda one=number: ADDED in self.log("k%d/vedette-51.conf" % one))
            self.served(clients)
        self.wait("the added VIP", lambda: self.responds(ADDED))
        self.assertEqual(self.owners(ADDED), [owner])
        self.assertEqual((self.states(owner), self.states(other)), states)
        # A killed process does not matter while another one of the machine has the addresses.
        old = self.engines[owner]
        self.start_engine(owner, "--takeover")
        self.finish(clients, "an upgrade, and a VIP more")
        old.kill()
        old.wait()
        self.wait("a request", lambda: self.responds(VIP))
        self.assertEqual(self.settled(), (owner, other))
        self.assertEqual((self.states(owner), self.states(other)), states)

    def test_vips_leave_a_machine_that_reaches_no_server(self):
        owner, other = self.start_all()
        self.machines[owner].run("ip", "route", "add", "blackhole", "192.0.2.20/32")
        self.wait("the other owner", lambda: self.owners() == [other])
        self.settled()
        # No machine reaches one: clients get a response rather than none.
        self.backend.kill()
        self.backend.wait()
        self.wait("status 503", lambda: self.status() == [b"503"])
        self.assertEqual(len(self.owners()), 1)

    def status(self):
        """Status of a response to a request on a new connection."""
        with inside(self.client):
            stream = socket.socket()
        with stream:
            stream.settimeout(1)
            try:
                stream.connect((VIP, 80))
                stream.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return stream.makefile("rb").readline().split()[1:2]
            except OSError:
                return None

    def test_without_keepalived_the_engine_forwards(self):
        file = self.configure(1)
        with open(self.path("e1.log"), "ab") as log:
            self.machines[1].start(bed.BINARY, "engine", "--config", file, stderr=log)
        self.wait("an error", lambda: "keepalived does not run" in self.log("e1.log"))
        self.machines[1].run("ip", "address", "add", VIP + "/32", "dev", "eth0")
        self.wait("a request", lambda: self.responds(VIP))
        self.machines[1].run("ip", "address", "del", VIP + "/32", "dev", "eth0")
        self.start_keepalived(1)
        self.wait("the VIP", lambda: self.owners() == [1])
        self.assertNotIn("[ERROR]", self.log("e1.log").split("announced VIPs")[-1])


if __name__ == "__main__":
    bed.main()
