"""Devices of snmpsim: many of them in one process, each with a file of its own, named by its community."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile

import bed
import snmpd

PROGRAM = os.path.join(bed.ROOT, ".cache", "snmpsim", "bin", "snmpsim-command-responder")
OCTETS, INTEGER, OID, COUNTER, GAUGE, TICKS, COUNTER64 = 4, 2, 6, 65, 66, 67, 70
SYSTEM, IF, IFX = "1.3.6.1.2.1.1", "1.3.6.1.2.1.2.2.1", "1.3.6.1.2.1.31.1.1.1"


def system(name, description="A device"):
    """The system group."""
    return [(SYSTEM + ".1.0", OCTETS, description), (SYSTEM + ".2.0", OID, "1.3.6.1.4.1.9.1.1208"),
            (SYSTEM + ".3.0", TICKS, 4_320_000), (SYSTEM + ".4.0", OCTETS, "noc@example.org"),
            (SYSTEM + ".5.0", OCTETS, name), (SYSTEM + ".6.0", OCTETS, "Rack 7"),
            (SYSTEM + ".7.0", INTEGER, 6)]


def interfaces(names, first=0):
    """Interfaces, whose counters begin at `first`."""
    rows = [("1.3.6.1.2.1.2.1.0", INTEGER, len(names))]
    for n, name in enumerate(names, 1):
        rows += [("%s.%d.%d" % (IF, column, n), kind, value) for column, kind, value in (
            (1, INTEGER, n), (2, OCTETS, name), (3, INTEGER, 6), (4, INTEGER, 1500),
            (5, GAUGE, 100_000_000), (6, OCTETS, "00:1b:21:00:00:%02x" % n), (7, INTEGER, 1),
            (8, INTEGER, 1), (9, TICKS, 100), (10, COUNTER, first + n), (13, COUNTER, 0), (14, COUNTER, 0),
            (16, COUNTER, first + 2 * n), (19, COUNTER, 0), (20, COUNTER, 0))]
        rows += [("%s.%d.%d" % (IFX, column, n), kind, value) for column, kind, value in (
            (1, OCTETS, name), (6, COUNTER64, first + n), (10, COUNTER64, first + 2 * n), (15, GAUGE, 100),
            (18, OCTETS, "to the next"))]
    return rows


def switch(name):
    """What templates for Cisco's IOS ask for: processors, memory, sensors, parts."""
    cisco, entity = "1.3.6.1.4.1.9.9", "1.3.6.1.2.1.47.1.1.1.1"
    rows = system(name, "Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE4, "
                        "RELEASE SOFTWARE (fc1)")
    rows += interfaces(["GigabitEthernet0/1", "GigabitEthernet0/2", "Vlan1"], 4_000_000)
    rows += [("1.3.6.1.2.1.10.7.2.1.19.%d" % n, INTEGER, 3) for n in (1, 2)]
    for n, (part, kind, serial) in enumerate((("c2960 chassis", 3, "FOC1"), ("WS-C2960 module", 9, "FOC2")), 1):
        rows += [("%s.%d.%d" % (entity, column, n), type_, value) for column, type_, value in (
            (2, OCTETS, part), (5, INTEGER, kind), (7, OCTETS, part), (8, OCTETS, "V02"),
            (9, OCTETS, "15.0(2)SE4"), (10, OCTETS, "15.0(2)SE4"), (11, OCTETS, serial),
            (13, OCTETS, "WS-C2960"))]
    rows += [("%s.109.1.1.1.1.%d.1" % (cisco, column), GAUGE, value)
             for column, value in ((2, 1), (6, 12), (7, 14), (8, 15))]
    for n, pool in enumerate(("Processor", "I/O"), 1):
        rows += [("%s.48.1.1.1.%d.%d" % (cisco, column, n), kind, value) for column, kind, value in (
            (2, OCTETS, pool), (5, GAUGE, 30_000_000 * n), (6, GAUGE, 50_000_000))]
    rows += [("%s.13.1.%d.1.%d.%d" % (cisco, table, column, n), kind, value)
             for table, column, n, kind, value in (
                 (3, 2, 1006, OCTETS, "SW#1, Sensor#1, GREEN"), (3, 3, 1006, GAUGE, 41),
                 (3, 6, 1006, INTEGER, 1), (4, 2, 1004, OCTETS, "Switch#1, Fan#1"), (4, 3, 1004, INTEGER, 1),
                 (5, 2, 1003, OCTETS, "Sw1, PS1 Normal, RPS Normal"), (5, 3, 1003, INTEGER, 1))]
    return rows


def _key(row):
    return [int(part) for part in row[0].split(".")]


class Snmpsim:
    """`devices` = rows by community; each answers at all of the `addresses`."""

    def __init__(self, devices, addresses):
        if not os.path.exists(PROGRAM):
            raise AssertionError("%s is missing: scripts/suites/snmpsim installs it" % PROGRAM)
        self.folder = tempfile.mkdtemp(prefix="vedette-snmpsim-")
        self.port = snmpd.udp_port()
        data, cache = (os.path.join(self.folder, name) for name in ("data", "cache"))
        for folder in (data, cache):
            os.mkdir(folder)
        for community, rows in devices.items():
            with open(os.path.join(data, community + ".snmprec"), "w") as f:
                f.writelines("%s|%d|%s\n" % row for row in sorted(rows, key=_key))
        os.chmod(self.folder, 0o755)
        os.chmod(cache, 0o777)
        command = [PROGRAM, "--data-dir=" + data, "--cache-dir=" + cache]
        if os.getuid() == 0:
            command += ["--process-user=nobody", "--process-group=nogroup"]
        command += ["--agent-udpv4-endpoint=%s:%d" % (ip, self.port) for ip in addresses]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            env=dict(os.environ, TMPDIR=self.folder, HOME=self.folder))
        try:
            bed.wait_for("snmpsim to listen", lambda: self._listens(addresses[-1]), 240, pause=0.2)
        except BaseException:
            self.stop()
            raise

    def _listens(self, ip):
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log"), errors="replace") as f:
                raise AssertionError("snmpsim ended: " + f.read()[-2000:])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.bind((ip, self.port))
            except OSError:
                return True
        return False

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def interface(self, community, ip="127.0.0.1"):
        """The interface of a device as `host.create` takes it."""
        return {"type": 2, "main": 1, "useip": 1, "ip": ip, "dns": "", "port": str(self.port),
                "details": snmpd.v2(community=community)}
