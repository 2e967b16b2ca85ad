#!/usr/bin/env python3
"""The same SNMP agent asked by a real server 7.0 and by Vedette: the same values, errors and
discoveries, one by one and, with --templates, by official templates."""

import argparse
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
import snmpd  # noqa: E402

E = snmpd.ROOT
NAME = "1.3.6.1.2.1.1.5.0"
TABLE = E + ".2"
#: Values that change from question to question.
MOVING = re.compile(r"\d+")
OIDS = ["%s.1.%d.0" % (E, n) for n in range(1, 21)]
OIDS += ["get[%s]" % oid for oid in OIDS]
OIDS += [
    "walk[%s.1]" % E, "walk[%s]" % TABLE, "walk[%s.2,%s.1]" % (TABLE, TABLE),
    "walk[%s.2,%s]" % (TABLE, TABLE), "walk[%s]" % NAME, "walk[1.3.6.1.2.1.1.77]",
    "walk[1.3.6.1.2.1.1.5,1.3.6.1.2.1.1.99]", "walk[1.3.6.1.6.3.99]", "walk[2]", "walk[]",
    "walk[x]", "walk[1.3.6.1.2.1.1,]", "walk[1.3.6.1.2.1.4.20.1]",
    NAME, "." + NAME, "iso.3.6.1.2.1.1.5.0", ".iso.3.6.1.2.1.1.5.0", "ifDescr.1",
    "1.3.6.1.2.1.1.99.0", "1.3.6.1.2.1.1.5", "1.3.6.1.2.1.1.2.0", "1.3.6.1.2.1.1.5.0.", " " + NAME,
    "1.3.6.1.2.1.4.20.1.1.127.0.0.1", "", ".", "1", "x y", "get", "get[]", "get[x y]",
    "get[%s" % NAME, "get[%s]x" % NAME, 'get["%s"]' % NAME, "get[1.3.6.1.2.1.1.2.0]", "getx[1]",
    '%s.2["index","%s.1","eth1"]' % (TABLE, TABLE), '%s.2["index","%s.1","eth"]' % (TABLE, TABLE),
    "%s.2[index,%s.1,eth0]" % (TABLE, TABLE), '%s.2["index","%s.77","x"]' % (TABLE, E),
    '%s.2["ix","%s.1","eth1"]' % (TABLE, TABLE), '%s.2["index","%s.1"]' % (TABLE, TABLE),
    '%s.2["index","%s.1","eth1"].5' % (TABLE, TABLE), 'ifIndex["index","ifDescr","lo"]',
    "discovery[{#A},%s.1,{#B},%s.2]" % (TABLE, TABLE), "discovery[{#A},%s.1]" % TABLE,
    "discovery[{#A}]", "discovery[]", "discovery[{#A},%s.77]" % E, "discovery[A,%s.1]" % TABLE,
    "discovery[{#A},x]", "discovery[{#A},%s.1.4,{#B},%s.1.11]" % (E, E),
]
#: Official templates whose items must be the same on both servers.
TEMPLATES = ["Network Generic Device by SNMP", "Linux by SNMP"]
FILES = {"Network Generic Device by SNMP": "network_generic_device_by_snmp.yaml", "Linux by SNMP": "linux_by_snmp.yaml"}


class Side:
    def __init__(self, api, port):
        self.api, self.address = api, ("127.0.0.1", port)

    def ask(self, port, oid, details, timeout):
        kind, text, _ = snmpd.ask(self.address, self.api.token, port, oid, details, timeout)
        return kind, text


def single(sides, port, problems):
    count = 0

    def compare(oid, details, timeout="2s"):
        nonlocal count
        count += 1
        said = [side.ask(port, oid, details, timeout) for side in sides]
        if said[0] != said[1]:
            problems.append("%s %s:\n    7.0:     %s %r\n    Vedette: %s %r"
                            % (oid, details, *said[0], *said[1]))
    for oid in OIDS:
        compare(oid, snmpd.v2())
        # Of an OID of one number the field's server makes no request in version 1.
        if oid != "walk[2]":
            compare(oid, snmpd.v2(version=1))
    for details in snmpd.users() + [
        snmpd.v3("noauth", 0), snmpd.v3("nobody", 0), snmpd.v3("noauth", 1, 1),
        snmpd.v3("shaaes", 2, 1, 1, auth_phrase="wrongpass"), snmpd.v3("shaaes", 2, 0, 1),
        snmpd.v3("shaaes", 1, 1), snmpd.v3("shaaes", 0),
    ]:
        for oid in (NAME, "get[%s]" % NAME, "walk[%s.1]" % TABLE):
            compare(oid, details)
    for oid in (NAME, "get[%s]" % NAME, "walk[%s]" % NAME):
        compare(oid, snmpd.v2(community="wrong"), "1s")
    return count


def host(api, snmp, name, template):
    found = api.call("hostgroup.get", filter={"name": ["SNMP"]}, output=["groupid"])
    group = found or [{"groupid": api.call("hostgroup.create", name="SNMP")["groupids"][0]}]
    ids = api.call("template.get", filter={"host": [template]}, output=["templateid"])
    return api.call("host.create", host=name, groups=[{"groupid": group[0]["groupid"]}],
                    interfaces=[snmp.interface()], templates=[{"templateid": ids[0]["templateid"]}],
                    macros=[{"macro": "{$SNMP_COMMUNITY}", "value": "public"}])["hostids"][0]


def items(api, hostid):
    """Items by key: whether they are discovered, their state and their value."""
    rows = api.call("item.get", hostids=hostid,
                    output=["key_", "name", "state", "error", "lastvalue", "lastclock", "flags", "type"])
    return {row["key_"]: row for row in rows}


def now(api, hostid):
    rows = api.call("item.get", hostids=hostid, output=["itemid", "type", "status"])
    rules = api.call("discoveryrule.get", hostids=hostid, output=["itemid", "type"])
    ids = [row["itemid"] for row in rows + rules if row["type"] == "20"]
    api.call("task.create", [{"type": 6, "request": {"itemid": one}} for one in ids])


def templates(sides, snmp, problems):
    count = 0
    for template in TEMPLATES:
        hosts = [host(side.api, snmp, "snmp " + template, template) for side in sides]
        deadline = time.monotonic() + 40
        while True:
            seen = [items(side.api, hostid) for side, hostid in zip(sides, hosts)]
            waiting = [key for rows in seen for key, row in rows.items()
                       if row["type"] == "20" and row["lastclock"] == "0" and row["state"] == "0"]
            if set(seen[0]) == set(seen[1]) and not waiting and any(
                    row["flags"] == "4" for row in seen[0].values()):
                break
            if time.monotonic() > deadline:
                problems.append("%s: waiting for %s" % (template, waiting[:5]))
                break
            for side, hostid in zip(sides, hosts):
                try:
                    now(side.api, hostid)
                except bed.ApiError:
                    pass
            time.sleep(4)
        for key in sorted(set(seen[0]) ^ set(seen[1])):
            problems.append("%s: %s only on %s" % (template, key, "7.0" if key in seen[0] else "Vedette"))
        for key in sorted(set(seen[0]) & set(seen[1])):
            one, other = seen[0][key], seen[1][key]
            count += 1
            if one["name"] != other["name"] or (one["state"], one["error"]) != (other["state"], other["error"]):
                problems.append("%s: %s\n    7.0:     %s\n    Vedette: %s" % (template, key, one, other))
            elif MOVING.sub("0", one["lastvalue"]) != MOVING.sub("0", other["lastvalue"]) \
                    and not numbers(one["lastvalue"], other["lastvalue"]):
                problems.append("%s: %s\n    7.0:     %r\n    Vedette: %r"
                                % (template, key, one["lastvalue"], other["lastvalue"]))
    return count


def numbers(*texts):
    try:
        return [float(text or 0) for text in texts]
    except ValueError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-port", type=int, help="use a reference that runs already")
    parser.add_argument("--templates", action="store_true", help="compare official templates, too")
    options = parser.parse_args()
    server = bed.Server()
    real = reference.Reference(options.base_port)
    snmp, problems, count = None, [], 0
    try:
        server.start()
        snmp = snmpd.Snmpd(server.folder).start()
        sides = [Side(real.api(), real.trapper), Side(server.api(), server.trapper)]
        count += single(sides, snmp.port, problems)
        if options.templates:
            folder = os.path.join(reference.SHARED, "templates", "zabbix-7.0")
            for name in FILES.values():
                with open(os.path.join(folder, name)) as f:
                    rules = {part: {"createMissing": True} for part in (
                        "template_groups", "templates", "items", "discoveryRules", "triggers", "graphs",
                        "valueMaps", "templateDashboards", "templateLinkage")}
                    rules.pop("templateDashboards")
                    sides[1].api.call("configuration.import", format="yaml", source=f.read(), rules=rules)
            count += templates(sides, snmp, problems)
    finally:
        if snmp:
            snmp.stop()
        server.clean()
        real.stop()
    for problem in problems:
        print(problem)
    print("%d passed, %d failed, 0 skipped" % (count - len(problems), len(problems)))
    sys.exit(1 if problems or not count else 0)


if __name__ == "__main__":
    main()
