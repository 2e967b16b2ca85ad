"""A large estate, written straight into a fresh configuration database."""

import contextlib
import os
import sqlite3
import time

import bed

#: Hosts with values and problems, and hosts that never sent a value.
TALKING, SILENT = 2_000, 18_000
PROBLEMS_EACH = 50
FIRST = 1_000_000
#: Items of each host, for lists of 200,000 items: the first two have triggers.
KEYS = ("load", "fault", *("value.%d" % n for n in range(8)))
#: Triggers on the load of each talking host: name, a value that fires it, its threshold.
OVERLOADS = (("Overload", "9", 5), ("Overload II", "90", 50), ("Overload III", "900", 500))


def fill(server):
    """Fills the database of a server that is stopped; returns the number of problems."""
    data = os.path.join(server.folder, "data")
    now = int(time.time())
    with contextlib.closing(sqlite3.connect(os.path.join(data, "config.db"))) as db:
        db.execute("ATTACH DATABASE ? AS state", (os.path.join(data, "config-state.db"),))
        def many(table, columns, rows):
            marks = ", ".join("?" * len(columns.split(",")))
            db.executemany("INSERT INTO %s (%s) VALUES (%s)" % (table, columns, marks), rows)
        hosts = range(FIRST, FIRST + TALKING + SILENT)
        talking = range(FIRST, FIRST + TALKING)
        triggers = [(FIRST + n, FIRST + n // PROBLEMS_EACH)
                    for n in range(TALKING * PROBLEMS_EACH)]
        many("groups_", "groupid, name, uuid", [(FIRST, "Estate", "")])
        many("hosts", "hostid, host, name",
             [(h, "node-%05d" % (h - FIRST), "node-%05d" % (h - FIRST)) for h in hosts])
        many("host_groups", "hostid, groupid", [(h, FIRST) for h in hosts])
        many("items", "itemid, hostid, type, name, key_, value_type",
             [(h * 10 + n, h, 2, key.capitalize(), key, 0)
              for h in hosts for n, key in enumerate(KEYS)])
        many("triggers", "triggerid, description, expression, priority, manual_close",
             [(t, "Fault %d" % (t % PROBLEMS_EACH), "{%d}>0" % t, severity(t), t % 2)
              for t, _ in triggers])
        many("trigger_states", "triggerid, value", [(t, 1) for t, _ in triggers])
        many("functions", "functionid, triggerid, itemid, name, parameter",
             [(t, t, h * 10 + 1, "last", "$") for t, h in triggers])
        for turn, (name, _, threshold) in enumerate(OVERLOADS):
            overloads = [(FIRST * (2 + turn) + n, h) for n, h in enumerate(talking)]
            many("triggers", "triggerid, description, expression, priority",
                 [(t, name, "{%d}>%d" % (t, threshold), 4) for t, _ in overloads])
            many("functions", "functionid, triggerid, itemid, name, parameter",
                 [(t, t, h * 10, "last", "$") for t, h in overloads])
        for table, more in (("events", ", value"), ("problems", ", r_clock")):
            many(table, "eventid, objectid, clock, severity, name" + more,
                 [(t, t, now - 86_400 + (t - FIRST) // 2, severity(t),
                   "Fault %d of node-%05d" % (t % PROBLEMS_EACH, h - FIRST), int(table == "events"))
                  for t, h in triggers])
        # The next ids are above all of these.
        db.execute("UPDATE ids SET next = ?", (FIRST * 100,))
        db.execute("INSERT OR REPLACE INTO state_ids (name, next) VALUES ('events', ?)", (FIRST * 100,))
        db.commit()
    return len(triggers)


def severity(trigger):
    """Warning, average, high and disaster in turn."""
    return 2 + trigger % 4


def send_values(server, hosts=range(TALKING), value="1"):
    """A value of each of these talking hosts."""
    for start in range(0, len(hosts), 500):
        bed.send(server.address, {"request": "sender data", "data": [
            {"host": "node-%05d" % n, "key": "load", "value": value}
            for n in hosts[start:start + 500]]}, timeout=60)
