"""OpenIPMI's simulator of a management controller, with sensors of every kind."""

import os
import shutil
import socket
import subprocess
import tempfile

import bed

USER = "monitor"
PASSWORD = "secret"
# Numbers of the specification: units, linearisations.
CELSIUS, VOLTS, WATTS, RPM, SECONDS = 1, 4, 6, 18, 22
LINEAR, SQUARE, INVERSE = 0, 8, 7


def full(number, name, kind, raw, m=1, b=0, r_exp=0, b_exp=0, unit=0, unit_flags=0, modifier=0,
         linear=LINEAR, reading=1, entity=(3, 1), thresholds=None, readable=None, name_kind=0xC0,
         scanning=True):
    """A full sensor record and the commands that make its sensor. `thresholds` = raw values of
    lower non-critical, critical, non-recoverable, upper non-critical, critical, non-recoverable."""
    given = thresholds or [None] * 6
    mask = sum(1 << bit for bit, value in enumerate(given) if value is not None)
    values = [value or 0 for value in given]
    text = name if isinstance(name, bytes) else name.encode()
    record = bytes([
        0x20, 0, number, entity[0], entity[1], 0x7F, 0x68 if mask else 0x40, kind, reading,
        0, 0, 0, 0, mask, mask, unit_flags, unit, modifier, linear,
        m & 0xFF, (m >> 2) & 0xC0, b & 0xFF, (b >> 2) & 0xC0, 0,
        ((r_exp & 15) << 4) | (b_exp & 15), 0, 0, 0, 0, 0xFF, 0,
        values[5], values[4], values[3], values[2], values[1], values[0], 0, 0, 0, 0, 0,
        name_kind | len(text)]) + text
    lines = ["sensor_add 0x20 0 %d %d %d" % (number, kind, reading)]
    if reading == 1:
        lines.append("sensor_set_value 0x20 0 %d %d 0" % (number, raw))
        if mask:
            bits = "".join("1" if mask & (1 << bit) else "0" for bit in range(5, -1, -1))
            lines.append("sensor_set_threshold 0x20 0 %d readable %s %s" % (
                number, bits, " ".join(str(value) for value in reversed(values))))
    else:
        lines += ["sensor_set_bit 0x20 0 %d %d 1 0" % (number, bit)
                  for bit in range(15) if raw & (1 << bit)]
    lines.append("sensor_set_event_support 0x20 0 %d enable %s none %s" % (
        number, "scanning" if scanning else "no-scanning", " ".join(["0" * 15] * 4)))
    return lines, sdr(1, record)


def compact(number, name, kind, bits, reading=0x6F, entity=(10, 1)):
    """A compact record of a discrete sensor whose `bits` are set."""
    lines, _ = full(number, name, kind, bits, reading=reading)
    text = name.encode()
    record = bytes([0x20, 0, number, entity[0], entity[1], 0x7F, 0x40, kind, reading,
                    0, 0, 0, 0, 0xFF, 0x7F, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                    0xC0 | len(text)]) + text
    return lines, sdr(2, record)


def sdr(kind, record):
    """A command that adds a record."""
    data = bytes([0, 0, 0x51, kind, len(record)]) + record
    return "main_sdr_add 0x20 " + " ".join("0x%02x" % byte for byte in data)


SENSORS = [
    full(1, "CPU Temp", 1, 0x46, unit=CELSIUS, thresholds=[None, None, None, 0x55, 0x5A, 0x64]),
    full(2, "Fan 1", 4, 0x28, m=75, unit=RPM, entity=(29, 1),
         thresholds=[0x10, 0x08, 0x04, None, None, None]),
    full(3, "12V", 2, 0xC7, m=60, b=10, r_exp=-3, b_exp=1, unit=VOLTS, entity=(7, 1),
         thresholds=[0xB0, 0xA8, None, 0xD8, 0xE0, None]),
    compact(4, "PSU Status", 8, 0b1001),
    full(5, "Power Sq", 0x0B, 12, unit=WATTS, linear=SQUARE, entity=(10, 2)),
    full(6, "Inlet Temp", 1, 0xF6, unit=CELSIUS, unit_flags=0x80, entity=(55, 1)),
    full(7, "Off", 1, 0x10, unit=CELSIUS, entity=(55, 2), scanning=False),
    full(8, "Fan 1", 4, 0x14, m=75, unit=RPM, entity=(29, 2)),
    full(9, "Load", 0x0B, 50, unit_flags=1, entity=(3, 1)),
    compact(10, "Intrusion", 5, 1, reading=3, entity=(23, 1)),
    full(11, "Flow", 0x0B, 30, unit=WATTS, unit_flags=0x02, modifier=SECONDS, entity=(30, 1)),
    full(12, "Rate", 0x0B, 30, unit=WATTS, unit_flags=0x18, entity=(30, 2)),
    full(13, "Inverse", 2, 8, unit=VOLTS, linear=INVERSE, entity=(30, 3)),
    compact(14, "Presence", 0x25, 0, entity=(10, 3)),
    full(15, bytes([0x21, 0xC3, 0x0A]), 1, 33, unit=CELSIUS, entity=(64, 1), name_kind=0x80),
]


class Simulator:
    """Runs until `stop`."""

    def __init__(self, sensors=SENSORS):
        self.folder = tempfile.mkdtemp(prefix="vedette-ipmi-")
        self.port = bed.free_port(socket.SOCK_DGRAM)
        auths = "none md2 md5 straight"
        self.write("lan.conf", [
            'name "sim"', "set_working_mc 0x20", "startlan 1",
            "addr 127.0.0.1 %d" % self.port, "priv_limit admin"] + [
            "allowed_auths_%s %s" % (level, auths)
            for level in ("callback", "user", "operator", "admin")] + [
            "guid a123456789abcdefa123456789abcdef", "endlan",
            'user 1 true "" "" user 10 ' + auths,
            'user 2 true "%s" "%s" admin 10 %s' % (USER, PASSWORD, auths)])
        lines = ["mc_setbmc 0x20", "mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02"]
        for commands, record in sensors:
            lines += commands + [record]
        self.write("emu", lines + ["mc_enable 0x20"])
        os.mkdir(os.path.join(self.folder, "state"))
        self.start()

    def write(self, name, lines):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write("\n".join(lines) + "\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        with open(self.path("log"), "ab") as log:
            self.process = subprocess.Popen(
                ["ipmi_sim", "-n", "-c", self.path("lan.conf"), "-f", self.path("emu"),
                 "-s", self.path("state")], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        bed.wait_for("the simulator to answer", self.answers)

    def answers(self):
        """Asks for the ways to authenticate."""
        if self.process.poll() is not None:
            with open(self.path("log")) as log:
                raise AssertionError("ipmi_sim ended: " + log.read())
        ask = bytes.fromhex("0600ff0700000000000000000009 2018c881 04 38 0e 04 31".replace(" ", ""))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(1)
            s.sendto(ask, ("127.0.0.1", self.port))
            return len(s.recv(200)) > 20

    def halt(self):
        """It answers no more."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)


#: What a server 7.0 says of these sensors: the newest record comes first.
ALL = "[" + ",".join([
    '{"id":"A,L","name":"(64.1).A,L","sensor":{"type":1,"text":"temperature"},"reading":{"typ'
    'e":1,"text":"threshold"},"state":{"state":0,"text":""},"value":33.000000,"units":"C","th'
    'reshold":{"lower":{},"upper":{}}}',
    '{"id":"Presence","name":"(10.3).Presence","sensor":{"type":37,"text":"entity_presence"},'
    '"reading":{"type":111,"text":"sensor specific"},"state":{"state":0,"text":""}}',
    '{"id":"Inverse","name":"(30.3).Inverse","sensor":{"type":2,"text":"voltage"},"reading":{'
    '"type":1,"text":"threshold"},"state":{"state":0,"text":""},"value":0.125000,"units":"vol'
    'ts","threshold":{"lower":{},"upper":{}}}',
    '{"id":"Rate","name":"(30.2).Rate","sensor":{"type":11,"text":"other_units_based_sensor"}'
    ',"reading":{"type":1,"text":"threshold"},"state":{"state":0,"text":""},"value":30.000000'
    ',"units":"watts/sec","threshold":{"lower":{},"upper":{}}}',
    '{"id":"Flow","name":"(30.1).Flow","sensor":{"type":11,"text":"other_units_based_sensor"}'
    ',"reading":{"type":1,"text":"threshold"},"state":{"state":0,"text":""},"value":30.000000'
    ',"units":"watts/seconds","threshold":{"lower":{},"upper":{}}}',
    '{"id":"Intrusion","name":"(23.1).Intrusion","sensor":{"type":5,"text":"physical_security'
    '"},"reading":{"type":3,"text":"discrete_state"},"state":{"state":1,"text":"state deasser'
    'ted"}}',
    '{"id":"Load","name":"(3.1).Load","sensor":{"type":11,"text":"other_units_based_sensor"},'
    '"reading":{"type":1,"text":"threshold"},"state":{"state":0,"text":""},"value":50.000000,'
    '"units":"%","threshold":{"lower":{},"upper":{}}}',
    '{"id":"Fan 1","name":"(29.2).Fan 1","sensor":{"type":4,"text":"fan"},"reading":{"type":1'
    ',"text":"threshold"},"state":{"state":0,"text":""},"value":1500.000000,"units":"RPM","th'
    'reshold":{"lower":{},"upper":{}}}',
    '{"id":"Inlet Temp","name":"(55.1).Inlet Temp","sensor":{"type":1,"text":"temperature"},"'
    'reading":{"type":1,"text":"threshold"},"state":{"state":0,"text":""},"value":-10.000000,'
    '"units":"C","threshold":{"lower":{},"upper":{}}}',
    '{"id":"Power Sq","name":"(10.2).Power Sq","sensor":{"type":11,"text":"other_units_based_'
    'sensor"},"reading":{"type":1,"text":"threshold"},"state":{"state":0,"text":""},"value":1'
    '44.000000,"units":"watts","threshold":{"lower":{},"upper":{}}}',
    '{"id":"PSU Status","name":"(10.1).PSU Status","sensor":{"type":8,"text":"power_supply"},'
    '"reading":{"type":111,"text":"sensor specific"},"state":{"state":9,"text":"presence dete'
    'cted, power supply AC lost"}}',
    '{"id":"12V","name":"(7.1).12V","sensor":{"type":2,"text":"voltage"},"reading":{"type":1,'
    '"text":"threshold"},"state":{"state":0,"text":""},"value":12.040000,"units":"volts","thr'
    'eshold":{"lower":{"non_crit":10.660000,"crit":10.180000},"upper":{"non_crit":13.060000,"'
    'crit":13.540000}}}',
    '{"id":"Fan 1","name":"(29.1).Fan 1","sensor":{"type":4,"text":"fan"},"reading":{"type":1'
    ',"text":"threshold"},"state":{"state":0,"text":""},"value":3000.000000,"units":"RPM","th'
    'reshold":{"lower":{"non_crit":1200.000000,"crit":600.000000,"non_recover":300.000000},"u'
    'pper":{}}}',
    '{"id":"CPU Temp","name":"(3.1).CPU Temp","sensor":{"type":1,"text":"temperature"},"readi'
    'ng":{"type":1,"text":"threshold"},"state":{"state":0,"text":""},"value":70.000000,"units'
    '":"C","threshold":{"lower":{},"upper":{"non_crit":85.000000,"crit":90.000000,"non_recove'
    'r":100.000000}}}',
]) + "]"

IPMI = 12
LOGIN = {"ipmi_authtype": "-1", "ipmi_privilege": "2", "ipmi_username": USER,
         "ipmi_password": PASSWORD}
MISSING = "sensor or control %s@[127.0.0.1]:%d does not exist"


def cases(port):
    """Sensor, members of the host, and what comes: a text, or the start of an error."""
    for sensor, expected in (
            ("CPU Temp", "70.000000"), ("id:CPU Temp", "70.000000"),
            ("name:(3.1).CPU Temp", "70.000000"), ("Inlet Temp", "-10.000000"),
            ("Fan 1", "1500.000000"), ("name:(29.1).Fan 1", "3000.000000"),
            ("12V", "12.040000"), ("Power Sq", "144.000000"), ("Load", "50.000000"),
            ("Flow", "30.000000"), ("Rate", "30.000000"), ("Inverse", "0.125000"),
            ("PSU Status", "9"), ("Intrusion", "1"), ("Presence", "0"), ("A,L", "33.000000"),
            ("Off", Exception("sensor data is not available"))):
        yield sensor, {}, expected
    for sensor in ("none", "name:CPU Temp", "(3.1).CPU Temp", " CPU Temp", "cpu temp"):
        yield sensor, {}, Exception(MISSING % (sensor, port))
    refused = Exception("cannot connect to IPMI host: ")
    for how, expected in (
            ({"ipmi_password": "wrong"}, refused), ({"ipmi_username": "nobody"}, refused),
            ({"ipmi_authtype": "0"}, "70.000000"), ({"ipmi_authtype": "1"}, "70.000000"),
            ({"ipmi_authtype": "2"}, "70.000000"), ({"ipmi_authtype": "4"}, "70.000000"),
            ({"ipmi_authtype": "6"}, "70.000000"), ({"ipmi_privilege": "3"}, "70.000000"),
            ({"ipmi_privilege": "4"}, "70.000000")):
        yield "CPU Temp", how, expected


def ask(api, trapper, port, sensor, how, key="ipmi.sensor"):
    """The value that the server fetches, or its error as an exception."""
    host = dict(LOGIN, hostid="0", host="made up", interface={
        "interfaceid": "0", "type": 3, "useip": "1", "address": "127.0.0.1", "port": str(port)})
    host.update(how)
    data = {"item": {"type": IPMI, "key": key, "value_type": 4, "ipmi_sensor": sensor,
                     "timeout": "10s", "steps": []},
            "host": host, "options": {"single": False, "state": 0}}
    reply = bed.send(("127.0.0.1", trapper),
                     {"request": "item.test", "sid": api.token, "data": data}, timeout=60)
    found = reply.get("data", {}).get("item", reply)
    return found["result"] if "result" in found else Exception(found.get("error", str(found)))
