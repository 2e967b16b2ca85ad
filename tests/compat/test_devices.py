#!/usr/bin/env python3
"""Simulated network devices: hundreds at once, discovered and polled through one template; and
official templates on one of them, whose items, discoveries and values are those of a real server 7.0."""
# needs: snmpsim

import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bed  # noqa: E402
import reference  # noqa: E402
import snmpsim  # noqa: E402
import test_collect_templates as templates  # noqa: E402

#: 250 show what 1,000 show: the simulator takes most of the time.
DEVICES = int(os.environ.get("VEDETTE_DEVICES", "250"))
#: Addresses that they share: communities tell those of one address apart.
ADDRESSES = ["127.90.0.%d" % n for n in range(1, 21)]
PORTS = ("one", "two", "three")
#: How often each item is asked, a time suffix. The simulator answers a few hundred requests a second with a
#: core of its own: at 20s it falls behind on a busy machine, requests time out, and devices that became
#: unavailable are asked again only after a minute.
INTERVAL = "1m"
#: Until every device has all its values, seconds. Alone it takes two intervals.
PATIENCE = 450
IF = snmpsim.IF
#: Numbers of preprocessing.
WALK_VALUE, WALK_TO_JSON = 28, 29


def name_of(n):
    return "dev%05d" % n


def make_template(api):
    """A walk with what is discovered and taken from it, and requests of their own."""
    groups = api.call("templategroup.create", name="Devices")["groupids"][0]
    made = api.call("template.create", host="Device", groups=[{"groupid": groups}])["templateids"][0]
    one = {"hostid": made, "delay": INTERVAL}
    api.call("item.create", dict(one, name="name", key_="name", type=20, value_type=4,
                                 snmp_oid="get[1.3.6.1.2.1.1.5.0]"))
    api.call("item.create", dict(one, name="uptime", key_="uptime", type=20, value_type=3,
                                 snmp_oid="1.3.6.1.2.1.1.3.0"))
    walk = api.call("item.create", dict(
        one, name="walk", key_="walk", type=20, value_type=4, history="0",
        snmp_oid="walk[%s.2,%s.10]" % (IF, IF)))["itemids"][0]

    def step(kind, *parameters):
        return [{"type": kind, "params": "\n".join(parameters), "error_handler": 0,
                 "error_handler_params": ""}]
    rule = api.call("discoveryrule.create", hostid=made, name="ports", key_="ports", type=18,
                    master_itemid=walk, delay="0",
                    preprocessing=step(WALK_TO_JSON, "{#PORT}", IF + ".2", "0"))["itemids"][0]
    part = {"hostid": made, "ruleid": rule, "value_type": 3}
    api.call("itemprototype.create", dict(
        part, name="in {#PORT}", key_="in[{#PORT}]", type=18, master_itemid=walk,
        preprocessing=step(WALK_VALUE, IF + ".10.{#SNMPINDEX}", "0")))
    api.call("itemprototype.create", dict(
        part, name="state {#PORT}", key_="state[{#PORT}]", type=20, delay=INTERVAL,
        snmp_oid="get[%s.7.{#SNMPINDEX}]" % IF))
    return made


def expected(n):
    """Values by key of a device."""
    values = {"name": name_of(n), "uptime": "4320000"}
    for port, label in enumerate(PORTS, 1):
        values["in[%s]" % label] = str(n * 10 + port)
        values["state[%s]" % label] = "1"
    return values


def many(server, problems):
    """All devices on Vedette; how many values were looked at."""
    api = server.api()
    devices = {name_of(n): snmpsim.system(name_of(n)) + snmpsim.interfaces(PORTS, n * 10)
               for n in range(DEVICES)}
    simulator = snmpsim.Snmpsim(devices, ADDRESSES)
    try:
        template = make_template(api)
        group = api.call("hostgroup.create", name="Devices")["groupids"][0]
        begin = time.monotonic()
        ids = api.call("host.create", [
            {"host": name, "groups": [{"groupid": group}], "templates": [{"templateid": template}],
             "interfaces": [simulator.interface(name, ADDRESSES[n % len(ADDRESSES)])]}
            for n, name in enumerate(devices)])["hostids"]
        made = time.monotonic() - begin
        wanted = [expected(n) for n in range(DEVICES)]
        found = {}

        def complete():
            rows = api.call("item.get", groupids=group, output=["hostid", "key_", "lastvalue", "error"])
            found.clear()
            for row in rows:
                if row["key_"] != "walk":
                    found.setdefault(row["hostid"], {})[row["key_"]] = row["error"] or row["lastvalue"]
            return all(found.get(hostid) == values for hostid, values in zip(ids, wanted))
        try:
            bed.wait_for("all devices", complete, PATIENCE, pause=3)
        except AssertionError:
            wrong = [(values["name"], found.get(hostid)) for hostid, values in zip(ids, wanted)
                     if found.get(hostid) != values]
            problems.append("%d of %d devices are not complete, as %s %s"
                            % (len(wrong), DEVICES, *wrong[0]))
        print("%d devices made in %.0f s, complete after %.0f s, the server has %d MiB"
              % (DEVICES, made, time.monotonic() - begin, server.memory_kib() // 1024))
        states = api.call("hostinterface.get", hostids=ids, output=["available"])
        dead = sum(row["available"] != "1" for row in states)
        if dead:
            problems.append("%d interfaces are not available" % dead)
        return sum(len(values) for values in wanted) + 1
    finally:
        simulator.stop()


class Official:
    """A device for official templates, as `templates.compare` takes it."""

    def __init__(self):
        self.simulator = snmpsim.Snmpsim({"switch": snmpsim.switch("core-1")}, ["127.90.1.1"])
        interface = self.simulator.interface("switch", "127.90.1.1")
        self.watched = [(name, {"{$SNMP_COMMUNITY}": "switch"}, interface)
                        for name in ("Cisco IOS by SNMP", "Network Generic Device by SNMP")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-port", type=int, help="use a reference that runs already")
    parser.add_argument("--only", choices=("many", "official"), help="one of the two parts")
    options = parser.parse_args()
    count, problems = 0, []
    if options.only != "official":
        server = bed.Server()
        try:
            server.start()
            count += many(server, problems)
        finally:
            server.clean()
    if options.only != "many":
        server, real, official = bed.Server(), None, Official()
        try:
            server.start()
            real = reference.Reference(options.base_port)
            more, found = templates.compare([real.api(), server.api()], official, "")
            count, problems = count + more, problems + found
        finally:
            official.simulator.stop()
            server.clean()
            if real:
                real.stop()
    for problem in problems:
        print(problem)
    print("%d passed, %d failed, 0 skipped" % (count - len(problems), len(problems)))
    sys.exit(1 if problems or not count else 0)


if __name__ == "__main__":
    main()
