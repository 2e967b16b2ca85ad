"""The statements of the server while typical calls run."""

import re
import time

import bed

# Tables with few rows on any installation: settings, people, rules.
SMALL = {"roles", "users", "usergroups", "user_groups", "group_rights", "tag_filters", "settings",
         "regexps", "regexp_expressions", "globalmacros", "actions", "action_conditions",
         "operations", "operation_groups", "operation_templates", "operation_tags", "drules",
         "operation_messages", "operation_message_groups", "operation_message_users",
         "operation_conditions", "operation_commands", "operation_command_hosts",
         "operation_command_groups", "media_types", "media_type_params", "media_type_messages",
         "media", "proxies", "proxy_groups", "scripts", "script_params", "correlations", "correlation_conditions", "correlation_operations",
         "dchecks", "maintenances", "maintenance_hosts", "maintenance_groups",
         "maintenance_periods", "maintenance_tags", "schema_version", "ids", "groups_",
         "state_version", "state_ids", "state_settings",
         "mfa", "totp_secrets", "userdirectories", "userdirectory_media", "userdirectory_groups",
         "connectors", "connector_tags", "reports", "report_users", "report_user_groups",
         # Few: a row for each process of the load balancer.
         "engines", "engine_states", "engine_certificates", "engine_authorities", "ticket_secrets",
         # Few: a row for each group of them.
         "engine_placements",
         # Few: a row for each certificate that is ordered.
         "certificate_states",
         # Rows only while hosts take over changes of templates.
         "inheritance"}

# Statements that may read a whole large table, by their beginning.
ALLOWED = [
    # A start looks whether there are images.
    "SELECT imageid FROM images LIMIT 1",
    # A start reads everything once; so does a change of global macros or settings.
    "SELECT hostid, macro, value, type FROM hostmacros ORDER BY",
    "SELECT hostid, name, value FROM host_inventory WHERE value <> ''",
    "SELECT hostid, tag, value FROM host_tags ORDER BY",
    "SELECT hostid, templateid FROM host_templates ORDER BY",
    "SELECT i.interfaceid, i.hostid, i.type, i.main, i.useip",
    "SELECT DISTINCT objectid FROM problems WHERE r_eventid = 0",
    "SELECT eventid, objectid FROM problems WHERE r_eventid = 0",
    # A start looks for graphs and dashboards of earlier versions.
    "SELECT p.partid, p.hostid, p.kind, p.name, p.doc, h.host FROM parts p",
    # Housekeeping looks at each escalation that is under way once an hour.
    "DELETE FROM escalations WHERE NOT EXISTS",
    # The keeper of services reads all of them when the server starts, and again after it could not write.
    "SELECT serviceid, algorithm, weight, propagation_rule, propagation_value FROM services",
    "SELECT serviceid, status FROM service_states",
    "SELECT serviceid, eventid FROM service_problems",
    "SELECT serviceid, parentid FROM service_links",
    "SELECT serviceid, tag, operator, value FROM service_problem_tags",
    "SELECT serviceid, type, limit_value, limit_status, new_status FROM service_status_rules",
    # Once a minute, and when a maintenance begins or ends.
    "SELECT hostid, maintenanceid, maintenance_type, maintenance_from FROM hosts",
    # One row per group that discovery has made.
    "SELECT groupdiscoveryid, groupid FROM group_discovery WHERE NOT EXISTS",
    # Once an hour, rows whose object is gone.
    "DELETE FROM trigger_states WHERE NOT EXISTS",
    "DELETE FROM sessions WHERE lastaccess < ? OR NOT EXISTS",
    "DELETE FROM token_accesses WHERE NOT EXISTS",
]

# What is suppressed, by maintenance or manually. The latter reads all updates of problems.
SUPPRESSED = (
    "(SELECT eventid, maintenanceid, suppress_until, 0 AS userid FROM event_suppress UNION ALL "
    "SELECT a.eventid, 0 AS maintenanceid, a.suppress_until, a.userid FROM acknowledges a "
    "WHERE (a.action & 32) <> 0 AND (a.suppress_until = 0 OR a.suppress_until > ?) AND NOT EXISTS "
    "(SELECT 1 FROM acknowledges b WHERE b.eventid = a.eventid "
    "AND b.acknowledgeid > a.acknowledgeid AND (b.action & 96) <> 0)) s")

PROBLEMS = (
    "SELECT t.eventid, t.source, t.object, t.objectid, t.clock, t.ns, t.r_eventid, t.r_clock, "
    "t.r_ns, t.correlationid, t.userid, t.name, t.acknowledged, t.severity, t.cause_eventid, "
    "t.opdata FROM problems t WHERE t.source = ? AND t.object = ? AND ")

# Whole statements, as `shortened` makes them, that may do so.
ALLOWED_WHOLE = {
    # The call asks for all problems, also recently resolved ones: the result is as large as the table.
    PROBLEMS + "(t.r_eventid = 0 OR t.r_clock > ?) ORDER BY t.eventid",
    PROBLEMS + "t.eventid IN (SELECT s.eventid FROM " + SUPPRESSED
    + ") AND +t.r_eventid = 0 ORDER BY t.eventid",
    "SELECT s.eventid FROM " + SUPPRESSED + " WHERE s.eventid IN (?)",
}


def is_allowed(sql):
    """Whether the statement may read a whole large table."""
    return sql in ALLOWED_WHOLE or sql.startswith(tuple(ALLOWED))


def shortened(sql):
    """A statement with its white space and the lists of its conditions made equal."""
    sql = " ".join(sql.split())
    return re.sub(r"IN \(\?(, \?)+\)", "IN (?)", sql)


def everything(server, api):
    """Makes one of everything and reads, changes and deletes it."""
    call = api.call
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
        bed.send(server.address, {"request": "sender data",
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
    proxy_groups = call("proxygroup.create", name="pg")["proxy_groupids"]
    proxies = call("proxy.create", name="p", operating_mode=0, proxy_groupid=proxy_groups[0],
                   local_address="127.0.0.1", hosts=[{"hostid": hostid}])["proxyids"]
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
            ("valuemap", {"hostids": [hostid]}), ("host", {"proxyids": proxies, "proxy_groupids": proxy_groups}),
            ("proxy", {"selectHosts": "extend", "selectProxyGroup": "extend", "proxy_groupids": proxy_groups}),
            ("proxygroup", {"selectProxies": "extend", "proxyids": proxies}), ("maintenance", {"selectHosts": "extend"})):
        call(method + ".get", **members)
    exported = call("configuration.export", format="yaml", options={"templates": [template]})
    both = {"createMissing": True, "updateExisting": True}
    call("configuration.import", format="yaml", source=exported, rules={
        "templates": both, "items": both, "triggers": both, "discoveryRules": both,
        "template_groups": both, "valueMaps": both})
    call("proxy.update", proxyid=proxies[0], hosts=[])
    call("proxy.delete", proxies)
    call("proxygroup.delete", proxy_groups)
    call("host.update", hostid=hostid, name="renamed")
    call("template.update", templateid=template, name="renamed t")
    call("maintenance.delete", maintenance)
    call("host.delete", [hostid])
    call("template.delete", [template])


def logged(server):
    """The statements that a server with SQLite has logged, each once, but for those about SQLite's own tables; it logs at
    the level trace."""
    with open(server.log_path, errors="replace") as log:
        text = re.sub(r"\x1b\[[0-9;]*m", "", log.read())
    found = re.findall(r'config::sql: sql="((?:[^"\\\\]|\\\\.)*)"', text)
    statements = {shortened(sql.encode().decode("unicode_escape")) for sql in found}
    words = ("SELECT", "UPDATE", "DELETE", "INSERT", "WITH")
    return sorted(sql for sql in statements if sql.split(" ", 1)[0] in words and "sqlite_" not in sql)


def tables(sql):
    """Tables by their short names."""
    names = dict(re.findall(r"(?:FROM|JOIN|,) ([a-z_]+) (?:AS )?([a-z_0-9]+)", sql))
    return {alias: table for table, alias in names.items()}


# Statements that are about all rows with the value 0 of a column.
OF_ALL = (r"FROM hosts (t )?WHERE (t\.)?kind = 0( AND \(\(LOWER\(t\.name\) LIKE .*)?( ORDER BY .*)?$",
          r"^SELECT hg\.hostid, g\.groupid, g\.name FROM host_groups hg JOIN groups_ g ON [^?]*$",
          r"^SELECT v\.valuemapid, m\.type, m\.value, m\.newvalue FROM valuemaps v")


def finds_the_usual(step, sql):
    """Whether a step of SQLite's plan finds rows by `column = 0` alone: where 0 means none, most rows have it."""
    found = re.match(r"SEARCH \w+ USING (?:COVERING )?INDEX \w+ \((\w+)=\?\)", step)
    usual = bool(found) and re.search(r"[ (.]%s = 0\b" % found.group(1), sql)
    return bool(usual) and not any(re.search(pattern, sql) for pattern in OF_ALL)


def parameters(sql):
    """How many there are."""
    return re.sub(r"'[^']*'", "", sql).count("?")
