#!/usr/bin/env python3
"""CPU time of 25 typical reads of the API: Vedette, and Zabbix 7.0 with PostgreSQL, filled alike.

    VEDETTE_SHARED=FOLDER VEDETTE_BIN=PROGRAM tests/bench/reads.py [--scale N] [--alone] [--only TEXT] [--keep FOLDER]

Both get the same rows by SQL: 20,000 hosts, 450,000 items, a trigger per item in ten, 100,000 open problems, divided by
`--scale`. A row of the table is the CPU time of all processes of a server (database and PHP included) per request,
the median of several; the servers alternate. `--alone` leaves the reference out. A timing decides nothing here.

With `--keep`, both servers' data and the rows of the table stay in FOLDER, and the reference goes on running. The next
run with FOLDER fills nothing and measures only rows that are missing, or those of `--only`.
"""

import argparse
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import servers  # noqa: E402

HOSTS, ITEMS, TRIGGERS, PROBLEMS = 20_000, 450_000, 135_000, 100_000
GROUPS = 20
# First ids, far from those of an initial installation.
GROUP, HOST, INTERFACE, ITEM, TRIGGER, FUNCTION, EVENT = (
    9_000, 20_000, 60_000, 1_000_000, 2_000_000, 3_000_000, 10_000_000)
REPEATS = 5


class Kept:
    """What a run leaves in a folder for the next one: data, the time of the estate, rows of the table."""

    def __init__(self, folder, scale):
        self.folder = folder and os.path.abspath(folder)
        self.found = {"scale": scale, "now": int(time.time()), "filled": False, "base": None, "rows": {}}
        if self.folder:
            os.makedirs(self.folder, exist_ok=True)
            self.path = os.path.join(self.folder, "reads.json")
            if os.path.exists(self.path):
                with open(self.path) as file:
                    self.found = json.load(file)
            if self.found["scale"] != scale:
                sys.exit("%s has an estate of scale %d" % (folder, self.found["scale"]))

    def __getitem__(self, name):
        return self.found[name]

    def set(self, name, value):
        self.found[name] = value
        if self.folder:
            with open(self.path + ".new", "w") as file:
                json.dump(self.found, file, indent=1)
            os.replace(self.path + ".new", self.path)


class Size:
    def __init__(self, scale, now):
        self.hosts, self.items = HOSTS // scale, ITEMS // scale
        self.triggers, self.problems = TRIGGERS // scale, PROBLEMS // scale
        self.now = now


def requests(size):
    """Name, method, parameters."""
    host, last = str(HOST), str(HOST + size.hosts - 1)
    some_hosts = [str(HOST + n) for n in range(0, size.hosts, size.hosts // 100)]
    triggers = [str(TRIGGER + n) for n in range(100)]
    newest = {"sortfield": ["eventid"], "sortorder": "DESC"}
    return [
        ("UI: 50 newest problems", "problem.get",
         dict(newest, output="extend", selectTags="extend", selectAcknowledges="extend", limit=50)),
        ("UI: number of problems", "problem.get", {"countOutput": True}),
        ("all problem ids", "problem.get", {"output": ["eventid"]}),
        ("all problems with tags", "problem.get",
         {"output": ["eventid", "objectid", "name", "severity", "clock"], "selectTags": "extend"}),
        ("problems of severity high", "problem.get", {"output": "extend", "severities": [4, 5], "limit": 1000}),
        ("UI: 100 newest events", "event.get",
         dict(newest, output="extend", selectHosts=["hostid", "name"], selectTags="extend", limit=100)),
        ("newest events by time", "event.get",
         {"output": "extend", "sortfield": ["clock", "eventid"], "sortorder": "DESC", "limit": 100}),
        ("triggers of 100 problems", "trigger.get",
         {"triggerids": triggers, "output": "extend", "selectHosts": ["hostid", "name"],
          "selectItems": ["itemid", "name"], "expandDescription": True, "preservekeys": True}),
        ("Grafana: triggers in problem state", "trigger.get",
         {"only_true": True, "monitored": True, "output": ["triggerid", "description", "priority", "lastchange"]}),
        ("100 worst triggers", "trigger.get",
         {"only_true": True, "monitored": True, "skipDependent": True, "output": "extend", "sortfield": "priority",
          "sortorder": "DESC", "limit": 100, "selectHosts": ["name"]}),
        ("Ansible: a host by name", "host.get",
         {"filter": {"host": ["host-%d" % (size.hosts // 2)]}, "output": "extend", "selectInterfaces": "extend",
          "selectParentTemplates": ["templateid"], "selectHostGroups": "extend", "selectMacros": "extend",
          "selectTags": "extend"}),
        ("all host names", "host.get", {"output": ["hostid", "host", "name"]}),
        ("Ansible: all hosts with interfaces", "host.get",
         {"output": ["hostid", "host", "status"], "selectInterfaces": ["ip", "dns", "port", "type"]}),
        ("all hosts with groups and tags", "host.get",
         {"output": ["hostid", "name"], "selectHostGroups": ["groupid", "name"], "selectTags": "extend"}),
        ("UI: hosts with the number of items", "host.get", {"output": ["hostid", "name"], "selectItems": "count"}),
        ("UI: search of hosts", "host.get",
         {"output": ["hostid", "name"], "search": {"name": "host-1"}, "sortfield": "name", "limit": 50}),
        ("all interfaces", "hostinterface.get", {"output": "extend"}),
        ("Grafana: groups with hosts", "hostgroup.get",
         {"output": ["groupid", "name"], "with_hosts": True, "sortfield": "name"}),
        ("groups with their hosts", "hostgroup.get", {"output": ["name"], "selectHosts": ["hostid"]}),
        ("Grafana: items of a host", "item.get",
         {"hostids": host, "output": ["itemid", "name", "key_", "value_type", "units", "lastvalue", "status", "state"],
          "selectHosts": ["hostid", "name"], "sortfield": "name"}),
        ("items of 100 hosts", "item.get",
         {"hostids": some_hosts, "output": ["itemid", "name", "key_", "hostid"], "selectTags": "extend"}),
        ("number of items", "item.get", {"countOutput": True}),
        ("number of items of a host", "item.get", {"hostids": last, "countOutput": True}),
        ("20,000 items, everything", "item.get", {"output": "extend", "limit": max(size.items // 22, 10)}),
        ("triggers of a host", "trigger.get",
         {"hostids": host, "output": "extend", "selectFunctions": "extend", "selectTags": "extend",
          "expandExpression": True}),
    ]


def call(url, token, method, params):
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": 1}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + token}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=600) as answer:
        text = answer.read()
    if text.startswith(b'{"jsonrpc":"2.0","error"'):
        raise bed.ApiError(json.loads(text)["error"])
    return text


class Vedette:
    def __init__(self, size, kept):
        self.server = bed.Server(kept.folder)
        if not kept["filled"]:
            self.server.start()
            self.server.stop()
            self.fill(size)
            kept.set("filled", True)
        self.server.start()
        self.url, self.token = self.server.url, self.server.api().token
        self.pids = [self.server.process.pid]

    def fill(self, size):
        folder = os.path.join(self.server.folder, "data")
        database = sqlite3.connect(os.path.join(folder, "config.db"))
        database.execute("ATTACH ? AS state", [os.path.join(folder, "config-state.db")])

        def insert(table, columns, rows):
            marks = ", ".join("?" * len(columns.split(", ")))
            database.executemany("INSERT INTO %s (%s) VALUES (%s)" % (table, columns, marks), rows)

        hosts, items, triggers = range(size.hosts), range(size.items), range(size.triggers)
        insert("groups_", "groupid, name, type, uuid",
               ((GROUP + n, "bench %d" % n, 0, "%032x" % n) for n in range(GROUPS)))
        insert("hosts", "hostid, host, name",
               ((HOST + n, "host-%d" % n, "Host-%d of the bench" % n) for n in hosts))
        insert("host_groups", "hostid, groupid", ((HOST + n, GROUP + n % GROUPS) for n in hosts))
        insert("host_tags", "hosttagid, hostid, tag, value", ((HOST + n, HOST + n, "site", str(n % 50)) for n in hosts))
        insert("interfaces", "interfaceid, hostid, main, type, ip, port",
               ((INTERFACE + n, HOST + n, 1, 1, "10.1.%d.%d" % (n // 250, n % 250), "10050") for n in hosts))
        insert("items", "itemid, hostid, type, name, key_, delay, value_type, units, interfaceid",
               ((ITEM + n, HOST + n % size.hosts, 2, "Metric %d" % (n // size.hosts), "bench.metric[%d]" % (n // size.hosts),
                 "0", 0, "B", 0) for n in items))
        insert("triggers", "triggerid, description, expression, priority",
               ((TRIGGER + n, "High on {HOST.NAME}", "{%d}>5" % (FUNCTION + n), n % 6) for n in triggers))
        insert("trigger_states", "triggerid, value, lastchange",
               ((TRIGGER + n, int(n < size.problems), size.now - n) for n in triggers))
        insert("functions", "functionid, triggerid, itemid, name, parameter",
               ((FUNCTION + n, TRIGGER + n, ITEM + n, "last", "$") for n in triggers))
        for table in ("events", "problems"):
            value = ", value" if table == "events" else ""
            insert(table, "eventid, source, object, objectid, clock, ns, name, severity" + value,
                   ((EVENT + n, 0, 0, TRIGGER + n, size.now - size.problems + n, 0,
                     "High on Host-%d of the bench" % (n % size.hosts), n % 6) + ((1,) if value else ())
                    for n in range(size.problems)))
        insert("event_tags", "eventtagid, eventid, tag, value",
               ((EVENT + n, EVENT + n, "scope", "performance") for n in range(size.problems)))
        for name, last in (("hosts", HOST + size.hosts), ("items", ITEM + size.items), ("events", EVENT + size.problems),
                           ("event_tags", EVENT + size.problems), ("triggers", TRIGGER + size.triggers),
                           ("functions", FUNCTION + size.triggers), ("interfaces", INTERFACE + size.hosts),
                           ("host_tags", HOST + size.hosts), ("groups_", GROUP + GROUPS)):
            ids = "state_ids" if name.startswith("event") else "ids"
            if not database.execute("UPDATE %s SET next = ? WHERE name = ?" % ids, [last, name]).rowcount:
                database.execute("INSERT INTO %s (name, next) VALUES (?, ?)" % ids, [name, last])
        database.commit()
        database.close()

    def stop(self):
        self.server.clean()


class Zabbix:
    def __init__(self, size, kept):
        import reference  # needs VEDETTE_SHARED
        self.reference = reference.Reference(kept["base"])
        self.url, self.token = self.reference.about["api_url"], self.reference.api().token
        base, self.stays = self.reference.base, kept["base"] is not None
        self.pids = [owner(base + 3), owner(base + 4)]
        if kept["base"] is None:
            self.fill(size, base + 4)
            self.stays = bool(kept.folder)
            kept.set("base", base)

    @staticmethod
    def fill(size, port):
        def series(last):
            return "generate_series(0, %d) n" % (last - 1)

        hosts, items, triggers, problems = map(series, (size.hosts, size.items, size.triggers, size.problems))
        sql = """
INSERT INTO hstgrp (groupid, name, uuid, type) SELECT {G} + n, 'bench ' || n, lpad(to_hex(n), 32, '0'), 0 FROM {groups};
INSERT INTO hosts (hostid, host, name, name_upper, status, flags, description)
  SELECT {H} + n, 'host-' || n, 'Host-' || n || ' of the bench', 'HOST-' || n || ' OF THE BENCH', 0, 0, '' FROM {hosts};
INSERT INTO hosts_groups (hostgroupid, hostid, groupid) SELECT {H} + n, {H} + n, {G} + n % {GN} FROM {hosts};
INSERT INTO host_tag (hosttagid, hostid, tag, value) SELECT {H} + n, {H} + n, 'site', n % 50 FROM {hosts};
INSERT INTO interface (interfaceid, hostid, main, type, useip, ip, dns, port)
  SELECT {I} + n, {H} + n, 1, 1, 1, '10.1.' || n / 250 || '.' || n % 250, '', '10050' FROM {hosts};
INSERT INTO items (itemid, hostid, type, name, key_, name_resolved, name_resolved_upper, delay, value_type, units, params,
    description, posts, headers)
  SELECT {T} + n, {H} + n % {hn}, 2, 'Metric ' || n / {hn}, 'bench.metric[' || n / {hn} || ']', 'Metric ' || n / {hn},
    'METRIC ' || n / {hn}, '0', 0, 'B', '', '', '', '' FROM {items};
INSERT INTO item_rtname (itemid, name_resolved, name_resolved_upper)
  SELECT {T} + n, 'Metric ' || n / {hn}, 'METRIC ' || n / {hn} FROM {items};
INSERT INTO item_rtdata (itemid) SELECT {T} + n FROM {items};
INSERT INTO triggers (triggerid, description, expression, priority, value, lastchange, comments)
  SELECT {R} + n, 'High on {{HOST.NAME}}', '{{' || {F} + n || '}}>5', n % 6, (n < {pn})::int, {now} - n, '' FROM {triggers};
INSERT INTO functions (functionid, triggerid, itemid, name, parameter)
  SELECT {F} + n, {R} + n, {T} + n, 'last', '$' FROM {triggers};
INSERT INTO events (eventid, source, object, objectid, clock, ns, name, severity, value)
  SELECT {E} + n, 0, 0, {R} + n, {now} - {pn} + n, 0, 'High on Host-' || n % {hn} || ' of the bench', n % 6, 1 FROM {problems};
INSERT INTO problem (eventid, source, object, objectid, clock, ns, name, severity)
  SELECT {E} + n, 0, 0, {R} + n, {now} - {pn} + n, 0, 'High on Host-' || n % {hn} || ' of the bench', n % 6 FROM {problems};
INSERT INTO event_tag (eventtagid, eventid, tag, value) SELECT {E} + n, {E} + n, 'scope', 'performance' FROM {problems};
INSERT INTO problem_tag (problemtagid, eventid, tag, value) SELECT {E} + n, {E} + n, 'scope', 'performance' FROM {problems};
ANALYZE;
""".format(G=GROUP, H=HOST, I=INTERFACE, T=ITEM, R=TRIGGER, F=FUNCTION, E=EVENT, GN=GROUPS, hn=size.hosts,
           pn=size.problems, now=size.now, groups=series(GROUPS), hosts=hosts, items=items, triggers=triggers,
           problems=problems)
        # A column that this version does not have is left out, and a table as well.
        psql = ["psql", "-q", "-h", "127.0.0.1", "-p", str(port), "-U", "zabbix", "-d", "zabbix", "-At"]
        known = subprocess.run(psql + ["-c", "SELECT table_name || '.' || column_name FROM information_schema.columns"],
                               check=True, capture_output=True, text=True).stdout.split()
        kept = [one for one in map(str.strip, sql.split(";")) if one and fits(one, known)]
        kept = [re.sub(r", name_resolved, name_resolved_upper|, 'Metric ' \|\| n / \d+,\s+'METRIC ' \|\| n / \d+(?=, '0')", "", one)
                if "items.name_resolved" not in known and one.startswith("INSERT INTO items ") else one for one in kept]
        subprocess.run(psql + ["-v", "ON_ERROR_STOP=1"], input=";\n".join(kept) + ";", check=True, text=True,
                       stdout=subprocess.DEVNULL)

    def stop(self):
        if self.stays:
            print("The reference goes on running: reference down --base-port %d" % self.reference.base, file=sys.stderr)
        else:
            self.reference.stop()


def fits(statement, known):
    table = re.match(r"INSERT INTO (\w+)", statement)
    return not table or any(one.startswith(table.group(1) + ".") for one in known)


def owner(port):
    """The oldest process that listens on a port of loopback."""
    inodes = set()
    with open("/proc/net/tcp") as table:
        for line in list(table)[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == port:
                inodes.add("socket:[%s]" % fields[9])
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir("/proc/%s/fd" % pid):
                if os.readlink("/proc/%s/fd/%s" % (pid, fd)) in inodes:
                    found.append(int(pid))
        except OSError:
            continue
    return min(found)


def cpu_of(server, method, params):
    """CPU seconds of a request, and the bytes of its answer."""
    def once(times):
        before = servers.cpu_s(server.pids)
        for _ in range(times):
            text = call(server.url, server.token, method, params)
        return (servers.cpu_s(server.pids) - before) / times, len(text)

    cost, _ = once(1)
    # The kernel counts ticks of 10 ms.
    times = max(1, min(200, round(0.3 / max(cost, 0.0015))))
    found = [once(times) for _ in range(REPEATS if cost < 2 else 2)]
    return statistics.median(cost for cost, _ in found), found[0][1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default=None, metavar="FOLDER")
    options = parser.parse_args()
    kept = Kept(options.keep, options.scale)
    size = Size(options.scale, kept["now"])
    both = [Vedette(size, kept)]
    try:
        if not options.alone:
            both.append(Zabbix(size, kept))
        print("%d hosts, %d items, %d triggers, %d open problems; CPU ms a request"
              % (size.hosts, size.items, size.triggers, size.problems))
        print("| Request | Bytes | Vedette | Zabbix | Ratio |\n| --- | --- | --- | --- | --- |")
        for name, method, params in requests(size):
            if options.only not in name:
                continue
            row = kept["rows"].get(name)
            if row is None or options.only or len(row) < len(both):
                row = [cpu_of(server, method, params) for server in both]
                kept.set("rows", dict(kept["rows"], **{name: row}))
            cells = ["%.2f" % (cost * 1e3) for cost, _ in row] + [""] * (2 - len(row))
            ratio = "%.1f" % (row[1][0] / max(row[0][0], 1e-5)) if len(row) > 1 else ""
            print("| %s | %d | %s | %s |" % (name, row[0][1], " | ".join(cells), ratio), flush=True)
    finally:
        for server in both:
            server.stop()


if __name__ == "__main__":
    main()
