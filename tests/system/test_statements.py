#!/usr/bin/env python3
"""No statement reads a whole table that grows with what is monitored, unless the list below says so.

The server logs its statements while typical calls run; SQLite explains the plan of each."""

import os
import re
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

# Tables with few rows on any installation: settings, people, rules.
SMALL = {"roles", "users", "usergroups", "user_groups", "group_rights", "tag_filters", "settings",
         "regexps", "regexp_expressions", "globalmacros", "actions", "action_conditions",
         "operations", "operation_groups", "operation_templates", "operation_tags", "drules",
         "dchecks", "maintenances", "maintenance_hosts", "maintenance_groups",
         "maintenance_periods", "maintenance_tags", "schema_version", "ids", "groups_",
         "state_version", "state_ids", "state_settings"}

# Statements that may read a whole large table, by their beginning.
ALLOWED = [
    # A start reads everything once; so does a change of global macros or settings.
    "SELECT hostid, macro, value, type FROM hostmacros ORDER BY",
    "SELECT hostid, name, value FROM host_inventory WHERE value <> ''",
    "SELECT hostid, tag, value FROM host_tags ORDER BY",
    "SELECT hostid, templateid FROM host_templates ORDER BY",
    "SELECT i.interfaceid, i.hostid, i.type, i.main, i.useip",
    "SELECT DISTINCT objectid FROM problems WHERE r_eventid = 0",
    "SELECT eventid, objectid FROM problems WHERE r_eventid = 0",
    # Once a minute, and when a maintenance begins or ends.
    "SELECT hostid, maintenanceid, maintenance_type, maintenance_from FROM hosts",
    # One row per group that discovery has made.
    "SELECT DISTINCT groupid FROM group_discovery WHERE NOT EXISTS",
    # The call asks for all problems: the result is as large as the table.
    "SELECT t.eventid, t.source, t.object, t.objectid, t.clock, t.ns, t.r_eventid, t.r_clock",
    "SELECT s.eventid FROM (SELECT eventid, maintenanceid, suppress_until",
    "SELECT t.triggerid, t.uuid, t.description, t.expression, t.event_name",
    # Once an hour, rows whose object is gone.
    "DELETE FROM trigger_states WHERE NOT EXISTS",
    "DELETE FROM sessions WHERE lastaccess < ? OR NOT EXISTS",
    "DELETE FROM token_accesses WHERE NOT EXISTS",
    # Once per trigger of an import; to be replaced by an index.
    "SELECT triggerid FROM triggers WHERE description = ?",
]


def shortened(sql):
    """A statement with its white space and the lists of its conditions made equal."""
    sql = " ".join(sql.split())
    return re.sub(r"IN \(\?(, \?)+\)", "IN (?)", sql)


class Statements(bed.Case):
    arguments = ("--log", "trace")

    def everything(self):
        """Makes one of everything and reads, changes and deletes it."""
        call = self.api.call
        group = call("hostgroup.create", name="g")["groupids"][0]
        tgroup = call("templategroup.create", name="tg")["groupids"][0]
        template = call("template.create", host="t", groups=[{"groupid": tgroup}],
                        tags=[{"tag": "a", "value": "b"}],
                        macros=[{"macro": "{$A}", "value": "1"}])["templateids"][0]
        call("item.create", name="i", key_="i", hostid=template, type=2, value_type=3)
        call("trigger.create", description="d", expression="last(/t/i)>{$A}",
             tags=[{"tag": "x", "value": "y"}], manual_close=1)
        rule = call("discoveryrule.create", name="r", key_="r", hostid=template, type=2)["itemids"][0]
        call("itemprototype.create", name="p", key_="p[{#N}]", hostid=template, ruleid=rule, type=2,
             value_type=3)
        call("triggerprototype.create", description="tp {#N}", expression="last(/t/p[{#N}])>5")
        hostid = call("host.create", host="h", groups=[{"groupid": group}],
                      templates=[{"templateid": template}], tags=[{"tag": "a", "value": "b"}],
                      interfaces=[{"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                                   "port": "1"}])["hostids"][0]
        def send(key, value):
            bed.send(self.server.address, {"request": "sender data",
                                           "data": [{"host": "h", "key": key, "value": value}]})
        send("r", '[{"{#N}": "one"}]')
        bed.wait_for("discovery", lambda: call("item.get", hostids=hostid, search={"key_": "p["}))
        send("i", 5)
        problem = bed.wait_for("a problem", lambda: call("problem.get", hostids=hostid))[0]["eventid"]
        maintenance = call("maintenance.create", name="m", active_since=0, active_till=2000000000,
             hosts=[{"hostid": hostid}], timeperiods=[{"period": 86400, "timeperiod_type": 0,
                                                       "start_date": int(time.time()) - 60}])["maintenanceids"]
        bed.wait_for("suppression", lambda: call("problem.get", suppressed=True))
        call("event.acknowledge", eventids=problem, action=1 | 2 | 4, message="m")
        for method, members in (
                ("host", {"selectInterfaces": "extend", "selectItems": "count", "selectTags": "extend",
                          "selectHostGroups": "extend", "selectParentTemplates": "extend",
                          "selectMacros": "extend", "selectTriggers": "count"}),
                ("host", {"search": {"name": "h"}, "limit": 10}), ("host", {"filter": {"host": "h"}}),
                ("item", {"hostids": hostid, "selectTags": "extend", "selectPreprocessing": "extend",
                          "selectTriggers": "extend", "selectHosts": "extend"}),
                ("item", {"filter": {"key_": "i"}, "hostids": hostid}),
                ("item", {"templateids": template}), ("item", {"groupids": group, "limit": 5}),
                ("trigger", {"hostids": hostid, "selectFunctions": "extend", "selectTags": "extend",
                             "expandDescription": True, "selectDependencies": "extend"}),
                ("trigger", {"only_true": True, "monitored": True}),
                ("problem", {"recent": True, "selectTags": "extend", "selectAcknowledges": "extend"}),
                ("problem", {"severities": [4, 5], "sortfield": "eventid", "sortorder": "DESC",
                             "limit": 10}),
                ("event", {"objectids": "1", "selectTags": "extend"}),
                ("event", {"sortfield": "eventid", "sortorder": "DESC", "limit": 5}),
                ("event", {"hostids": hostid, "select_acknowledges": "extend"}),
                ("template", {"selectHosts": "count", "selectItems": "count"}),
                ("discoveryrule", {"hostids": hostid}), ("itemprototype", {"hostids": template}),
                ("triggerprototype", {"hostids": template}), ("hostgroup", {"selectHosts": "count"}),
                ("hostinterface", {"hostids": hostid}), ("usermacro", {"hostids": hostid}),
                ("valuemap", {"hostids": [hostid]}), ("maintenance", {"selectHosts": "extend"})):
            call(method + ".get", **members)
        exported = call("configuration.export", format="yaml", options={"templates": [template]})
        both = {"createMissing": True, "updateExisting": True}
        call("configuration.import", format="yaml", source=exported, rules={
            "templates": both, "items": both, "triggers": both, "discoveryRules": both,
            "template_groups": both, "valueMaps": both})
        call("host.update", hostid=hostid, name="renamed")
        call("template.update", templateid=template, name="renamed t")
        call("maintenance.delete", maintenance)
        call("host.delete", [hostid])
        call("template.delete", [template])

    def test_no_statement_reads_a_whole_large_table(self):
        self.everything()
        with open(self.server.log_path, errors="replace") as log:
            text = re.sub(r"\x1b\[[0-9;]*m", "", log.read())
        found = {shortened(sql.encode().decode("unicode_escape"))
                 for sql in re.findall(r'config::sql: sql="((?:[^"\\\\]|\\\\.)*)"', text)}
        self.assertGreater(len(found), 300)
        data = os.path.join(self.server.folder, "data")
        database = sqlite3.connect(os.path.join(data, "config.db"))
        self.addCleanup(database.close)
        database.execute("ATTACH DATABASE ? AS state", (os.path.join(data, "config-state.db"),))
        scans = []
        for sql in sorted(found):
            if sql.split(" ", 1)[0] not in ("SELECT", "UPDATE", "DELETE", "INSERT", "WITH"):
                continue
            marks = re.sub(r"'[^']*'", "", sql).count("?")
            names = dict(re.findall(r"(?:FROM|JOIN|,) ([a-z_]+) (?:AS )?([a-z_0-9]+)", sql))
            tables = {alias: table for table, alias in names.items()}
            for row in database.execute("EXPLAIN QUERY PLAN " + sql, [None] * marks):
                scan = re.match(r"SCAN ([a-z]\w*)", row[3])
                # `v`: the rows of VALUES.
                if not scan or scan.group(1) == "v" or tables.get(scan.group(1), scan.group(1)) in SMALL:
                    continue
                if not sql.startswith(tuple(ALLOWED)):
                    scans.append("%s: %s" % (row[3], sql[:300]))
        print("%d statements, %d scans" % (len(found), len(scans)))
        self.assertEqual(scans, [], "\n" + "\n".join(scans))


if __name__ == "__main__":
    bed.main()
