#!/usr/bin/env python3
"""Settings, housekeeping and the audit log: the same calls to a real server 7.0 and to Vedette."""

import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402

#: Changes of settings, good and bad.
SETTINGS = [
    {"search_limit": "x"}, {"search_limit": 0}, {"search_limit": 1000000}, {"search_limit": "500"},
    {"default_theme": "x"}, {"default_theme": "dark-theme"}, {"default_lang": "xx"},
    {"default_timezone": "Europe/Riga"}, {"work_period": "x"}, {"work_period": "1-5,09:00-18:00;6,10:00-12:00"},
    {"severity_color_0": "zz"}, {"severity_color_0": "AABBCC"}, {"severity_name_0": ""}, {"severity_name_0": "None"},
    {"refresh_unsupported": "1h"}, {"period_default": "5x"}, {"period_default": "2h"}, {"max_period": "1d"},
    {"max_period": "800d"}, {"url": "x" * 3000}, {"blink_period": "3m"}, {"ok_period": "2d"},
    {"history_period": "25h"}, {"discovery_groupid": "999"}, {"alert_usrgrpid": "7"}, {"alert_usrgrpid": "999"},
    {"login_attempts": 0}, {"login_attempts": 33}, {"login_block": "10s"}, {"login_block": "2h"},
    {"validate_uri_schemes": 2}, {"uri_valid_schemes": "http,https"}, {"x_frame_options": ""},
    {"iframe_sandboxing_exceptions": "allow-forms"}, {"socket_timeout": "0"}, {"connect_timeout": "31s"},
    {"script_timeout": "301s"}, {"item_test_timeout": "601s"}, {"timeout_zabbix_agent": "0s"},
    {"timeout_zabbix_agent": "5s"}, {"timeout_browser": "601s"}, {"timeout_snmp_agent": "{$X}"},
    {"ha_failover_delay": "1m"}, {"nope": 1}, {"default_inventory_mode": "1"}, {"default_inventory_mode": "5"},
    {"snmptrap_logging": 0}, {"custom_color": 1}, {"show_technical_errors": 1}, {"vault_provider": 1},
    {"geomaps_tile_provider": "OpenStreetMap.Mapnik"}, {"geomaps_tile_provider": "x"}, {"geomaps_max_zoom": 31},
    {"geomaps_tile_url": "x"}, {"auditlog_enabled": 0}, {"report_test_timeout": "5s"},
    {"max_overview_table_size": 4}, {"max_in_table": 5}, {"server_check_interval": 5},
    {"server_check_interval": "10"}, {}, [],
]
HOUSEKEEPING = [
    {"hk_events_mode": 2}, {"hk_events_mode": 0}, {"hk_events_trigger": "12h"}, {"hk_events_trigger": "30d"},
    {"hk_history": "0"}, {"hk_history": "25y"}, {"hk_history_global": 1}, {"hk_trends": "1h"}, {"hk_sessions": "x"},
    {"hk_audit": "20d"}, {"compression_status": 1}, {"compress_older": "5d"}, {"compress_older": "7d"},
    {"hk_events_service": "2d"}, {"hk_services": "10d"}, {"nope": 1}, {},
]
READS = [
    ("settings.get", {"output": "extend"}), ("settings.get", {"output": ["search_limit", "nope"]}),
    ("settings.get", {"output": "count"}), ("settings.get", {}), ("housekeeping.get", {"output": "extend"}),
    ("housekeeping.get", {"output": ["hk_trends"]}), ("housekeeping.get", {"output": ["hk_trends", "nope"]}),
]


def changes(api):
    """Changes objects of many kinds."""
    def create(kind, **members):
        return next(iter(api.call(kind + ".create", **members).values()))[0]

    group = create("hostgroup", name="Audited")
    template_group = create("templategroup", name="Audited templates")
    template = create("template", host="audited-template", groups=[{"groupid": template_group}])
    host = create(
        "host", host="audited", groups=[{"groupid": group}], tags=[{"tag": "a", "value": "b"}],
        interfaces=[{"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "10050"}],
        macros=[{"macro": "{$A}", "value": "1"}, {"macro": "{$S}", "type": 1, "value": "secret"}],
        inventory_mode=0, inventory={"os": "Linux"})
    item = create(
        "item", name="Item", key_="k", hostid=host, type=2, value_type=3, tags=[{"tag": "x", "value": "y"}],
        preprocessing=[{"type": 1, "params": "2", "error_handler": 0, "error_handler_params": ""}])
    trigger = create("trigger", description="Trigger", expression="last(/audited/k)>1", priority=3,
                     tags=[{"tag": "x", "value": "y"}])
    api.call("host.update", hostid=host, name="Audited host", templates=[{"templateid": template}],
             tags=[{"tag": "c", "value": "d"}], macros=[{"macro": "{$A}", "value": "2"}])
    api.call("item.update", itemid=item, name="Item 2", status=1, preprocessing=[])
    api.call("trigger.update", triggerid=trigger, priority=4, expression="last(/audited/k)>2")
    user = create("user", username="audited", passwd="Pa55word-xyz", roleid="1", usrgrps=[{"usrgrpid": "7"}])
    api.call("user.update", userid=user, passwd="Pa55word-xyz2", name="Name")
    macro = api.call("usermacro.createglobal", macro="{$AUDITED}", value="v")["globalmacroids"][0]
    api.call("usermacro.updateglobal", globalmacroid=macro, type=1, value="secret")
    maintenance = create(
        "maintenance", name="Audited", active_since=1700000000, active_till=1800000000,
        groups=[{"groupid": group}],
        timeperiods=[{"timeperiod_type": 0, "start_date": 1700000000, "period": 3600}])
    value_map = create("valuemap", name="Map", hostid=host, mappings=[{"type": 0, "value": "1", "newvalue": "up"}])
    api.call("valuemap.update", valuemapid=value_map, name="Map 2")
    user_group = create("usergroup", name="Audited", users=[{"userid": user}],
                        hostgroup_rights=[{"id": group, "permission": 2}])
    api.call("usergroup.update", usrgrpid=user_group, hostgroup_rights=[{"id": group, "permission": 3}])
    token = create("token", name="audited")
    for method, one in [("maintenance", maintenance), ("trigger", trigger), ("item", item), ("host", host),
                        ("template", template), ("hostgroup", group), ("token", token)]:
        api.call(method + ".delete", [one])


#: Fields that differ on purpose.
DIFFERENT = re.compile("|".join((
    # Vedette has no such numbers: these rows are found by what they link, or by their place.
    r"user\.usrgrps\[\]\.id", r"maintenance\.groups\[\]\.maintenance_groupid", r"template\.groups\[\]\.hostgroupid",
    r"item\.preprocessing\[\]\.item_preprocid", r"maintenance\.timeperiods\[\]\.timeperiodid",
    # The default is in the table.
    r"maintenance\.timeperiods\[\]\.period",
    # Rights on both kinds of groups are one list, and a new list replaces the former one.
    r"usergroup\.(hostgroup_|templategroup_)?rights\[\].*",
    # Only Vedette says who has made a token, and when.
    r"token\.(created_at|creator_userid)",
)))
#: Of these the reference has only the name: new hosts, triggers and value maps, and other members of hosts.
SAYS_LESS = {("4", "0"), ("4", "1"), ("13", "0"), ("17", "0")}
#: What happens to a group when a host joins it is in Vedette's entry of the host.
GROUP_HAS_HOSTS = ("14", "1")


def records(api):
    return {row["auditid"]: row for row in api.call("auditlog.get", output="extend")}


def said_of_changes(api):
    """Entries of the changes: what they are about, and fields without ids, which are each server's own."""
    before = records(api)
    changes(api)
    found = []
    for auditid, row in records(api).items():
        if auditid in before or (row["resourcetype"], row["action"]) == GROUP_HAS_HOSTS:
            continue
        fields = [(re.sub(r"\[\d+\]", "[]", path), value)
                  for path, value in (json.loads(row["details"]) if row["details"] else {}).items()]
        fields = [(path, "an id" if path.endswith("id") else [str(part) for part in value])
                  for path, value in fields if not DIFFERENT.fullmatch(path)]
        about = tuple(row[name] for name in ("resourcetype", "action", "resourcename", "username"))
        found.append((about, sorted(fields)))
    return sorted(found)


class Audit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.real = reference.Reference()
        cls.addClassCleanup(cls.real.stop)
        cls.server = bed.Server()
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.apis = cls.real.api(), cls.server.api()

    def same(self, method, params):
        shown = []
        for api in self.apis:
            try:
                reply = api.call(method, params)
            except bed.ApiError as problem:
                reply = str(problem)
            if isinstance(reply, dict):
                # A group that each server has made itself.
                reply.pop("discovery_groupid", None)
            shown.append(reply)
        self.assertEqual(shown[0], shown[1])

    def test_settings(self):
        for method, cases in (("settings.update", SETTINGS), ("housekeeping.update", HOUSEKEEPING)):
            for params in cases:
                with self.subTest(method=method, params=params):
                    self.same(method, params)
        for method, params in READS:
            with self.subTest(method=method, params=params):
                self.same(method, params)
        for api in self.apis:
            api.call("settings.update", auditlog_enabled=1)

    def test_the_audit_log(self):
        real, own = (said_of_changes(api) for api in self.apis)
        self.assertGreater(len(real), 20)
        self.assertEqual([about for about, _ in own], [about for about, _ in real])
        compared = 0
        for (about, fields), (_, ours) in zip(real, own):
            with self.subTest(about=about):
                self.assertEqual([field for field in fields if field not in ours], [])
                if about[:2] not in SAYS_LESS:
                    self.assertEqual(ours, fields)
                compared += len(fields)
        self.assertGreater(compared, 50)


if __name__ == "__main__":
    bed.main()
