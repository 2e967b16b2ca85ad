#!/usr/bin/env python3
"""The same discovery rules get the same rows on a real server 7.0 and on Vedette: the same hosts,
groups, items and triggers, as the API shows them."""

import argparse
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import lldcases as cases  # noqa: E402
import reference  # noqa: E402

#: Seconds until both sides have to be the same.
PATIENCE = 60
#: The reference takes over new rules within this time.
SETTLE = 7
#: Seconds without a change until a value counts as worked off.
QUIET = 3
HOST_LISTS = ("selectHostGroups", "selectTags", "selectMacros", "selectInterfaces",
              "selectInventory", "selectParentTemplates", "selectHostDiscovery",
              "selectDiscoveryRule", "selectInheritedTags", "selectValueMaps", "selectItems",
              "selectTriggers", "selectGraphs", "selectDiscoveries", "selectHttpTests",
              "selectDashboards")
ITEM_LISTS = ("selectTags", "selectPreprocessing", "selectItemDiscovery")
TRIGGER_LISTS = ("selectTags", "selectFunctions", "selectTriggerDiscovery", "selectDependencies")
#: What says when, or differs from server to server.
OWN = {"lastcheck", "lastchange", "ts_delete", "ts_disable", "uuid", "lastclock", "lastns",
       "disable_until", "errors_from"}
#: What the value path says of an item or trigger, not discovery.
STATE = {"expression", "recovery_expression", "error", "state", "lastvalue", "prevvalue",
         "available", "active_available"}


def plain(thing):
    """Without ids and moments; rows in an order that does not depend on ids. Whether there is one
    stays."""
    if isinstance(thing, dict):
        if thing.get("status") == "0" and "ts_delete" in thing:
            # What is found again keeps its old moments on 7.0; they mean nothing then.
            thing = {k: v for k, v in thing.items()
                     if k not in ("ts_delete", "ts_disable", "disable_source")}
        view = {}
        for name, value in thing.items():
            if name in STATE or (name == "value" and "triggerid" in thing):
                continue
            if name.endswith("id") or name in OWN:
                view[name] = value not in ("", "0", 0, None)
            else:
                view[name] = plain(value)
        return view
    if isinstance(thing, list):
        return sorted((plain(one) for one in thing), key=lambda one: json.dumps(one, sort_keys=True))
    return thing if thing is None or isinstance(thing, bool) else str(thing)


class Side:
    """One of the servers, with a host and a rule for each scene."""

    def __init__(self, name, api, trapper):
        self.name, self.api, self.trapper = name, api, ("127.0.0.1", trapper)
        self.group = self.make("hostgroup", name="LLD")
        people = self.make("hostgroup", name="LLD people")
        self.make("usergroup", name="LLD", hostgroup_rights=[{"id": people, "permission": 2}])
        self.templates = {}
        own = self.make("templategroup", name="LLD")
        for name in ("LLD T", "LLD U"):
            made = self.make("template", host=name, groups=[{"groupid": own}], tags=[
                {"tag": "of", "value": name}], macros=[{"macro": "{$OF}", "value": name}])
            self.templates[name] = made
            self.make("item", hostid=made, name=name, key_="of[%s]" % name[-1], type=2, value_type=3)
        self.rules = {}

    def make(self, what, **members):
        try:
            ids = self.api.call(what + ".create", members)
        except bed.ApiError as problem:
            raise AssertionError("%s refuses %s %s: %s" % (self.name, what, members, problem))
        return next(iter(ids.values()))[0]

    def named(self, list_of, names):
        return [{"templateid": list_of[name]} for name in names]

    def prepare(self, scene, case):
        """The scene's host, rule and prototypes."""
        host = "LLD " + scene
        more = dict(case.get("more", {}))
        if "interfaces" in case:
            more["interfaces"] = case["interfaces"]
        hostid = self.make("host", host=host, groups=[{"groupid": self.group}], **more)
        rule = dict(case.get("rule", {}))
        if "overrides" in rule:
            rule["overrides"] = json.loads(json.dumps(rule["overrides"]))
            for one in rule["overrides"]:
                for operation in one["operations"]:
                    if "optemplate" in operation:
                        operation["optemplate"] = self.named(self.templates, operation["optemplate"])
        ruleid = self.make("discoveryrule", hostid=hostid, name="rule", key_="rule", type=2, **rule)
        self.rules[scene] = (host, hostid, ruleid)
        interfaces = {row["type"]: row["interfaceid"] for row in self.api.call(
            "hostinterface.get", hostids=hostid, output=["type", "interfaceid"])}
        for item in case.get("items", ()):
            item = {k: v for k, v in item.items() if v is not None}
            need = {13: "1", 16: "4", 20: "2", 12: "3"}.get(item["type"])
            if need in interfaces:
                item["interfaceid"] = interfaces[need]
            elif need:
                item["interfaceid"] = self.make(
                    "hostinterface", hostid=hostid, type=int(need), main=1, useip=1,
                    ip="192.0.2.1", dns="", port="1")
                interfaces[need] = item["interfaceid"]
            self.make("itemprototype", hostid=hostid, ruleid=ruleid, **item)
        for trigger in case.get("triggers", ()):
            self.make("triggerprototype", **{
                name: value.replace("{HOST}", host) if isinstance(value, str) else value
                for name, value in trigger.items()})
        for one in case.get("hosts", ()):
            self.host_prototype(ruleid, scene, dict(one))

    def host_prototype(self, ruleid, scene, one):
        links = [{"groupid": self.group} for _ in one.pop("groups")]
        patterns = [{"name": name} for name in one.pop("group_prototypes", ())]
        templates = self.named(self.templates, one.pop("templates", ()))
        self.make("hostprototype", ruleid=ruleid, groupLinks=links, groupPrototypes=patterns,
                  templates=templates, **one)

    def change(self, scene, at, groups):
        """Gives a host prototype these groups (place of the pattern that it was, pattern), or
        deletes it."""
        ruleid = self.rules[scene][2]
        found = self.api.call("hostprototype.get", discoveryids=ruleid, output=["hostid"],
                              selectGroupPrototypes="extend")
        one = sorted(found, key=lambda row: int(row["hostid"]))[at]
        if groups is None:
            self.api.call("hostprototype.delete", [one["hostid"]])
            return
        before = sorted(int(row["group_prototypeid"]) for row in one["groupPrototypes"])
        groups = [{"name": name} if place is None else
                  {"group_prototypeid": before[place], "name": name} for place, name in groups]
        self.api.call("hostprototype.update", hostid=one["hostid"], groupPrototypes=groups)

    def send(self, scene, rows):
        """One value for the rule; whether it was taken."""
        short = "".join(c for c in scene if c.isalnum())
        rows = [dict(row, **{"{#SCENE}": short}) for row in rows]
        data = [{"host": self.rules[scene][0], "key": "rule", "value": json.dumps(rows)}]
        answer = bed.send(self.trapper, {"request": "sender data", "data": data})
        return "processed: 1" in answer["info"]

    def view(self, scene):
        host, hostid, rule = self.rules[scene]
        found = self.api.call("host.get", output="extend", filter={"flags": 4}, **dict.fromkeys(
            HOST_LISTS, "extend"))
        found = [row for row in found if row["discoveryRule"]
                 and row["discoveryRule"]["itemid"] == rule]
        for row in found:
            row["discoveryRule"] = row["discoveryRule"]["key_"]
            row["parentTemplates"] = [
                {name: one.get(name) for name in ("host", "link_type")}
                for one in row["parentTemplates"]]
            for lists in ("hostgroups", "items", "triggers"):
                row[lists] = [{k: one[k] for k in one if k in (
                    "name", "flags", "key_", "status", "description")} for one in row[lists]]
        items = self.api.call("item.get", output="extend", hostids=hostid, filter={"flags": 4},
                              **dict.fromkeys(ITEM_LISTS, "extend"))
        triggers = self.api.call("trigger.get", output="extend", hostids=hostid, expandExpression=True,
                                 filter={"flags": 4}, **dict.fromkeys(TRIGGER_LISTS, "extend"))
        expressions = [[row["expression"], row["recovery_expression"]] for row in triggers]
        error = self.api.call("discoveryrule.get", itemids=rule, output=["error", "state"])[0]
        self.error = error["error"]
        view = {"has an error": bool(error["error"]), "state": error["state"],
                "expressions": sorted(expressions)}
        for kind, rows, key in (("host", found, "host"), ("item", items, "key_"),
                                ("trigger", triggers, "description")):
            for row in rows:
                view["%s %s" % (kind, json.dumps(row[key]))] = plain(row)
        return view

    def groups(self):
        """Host groups that discovery has made, and who has rights on groups."""
        rows = self.api.call(
            "hostgroup.get", output="extend", filter={"flags": 4}, selectHosts=["host"],
            selectDiscoveryRules=["key_"], selectHostPrototypes=["host"],
            selectGroupDiscoveries="extend")
        for row in rows:
            # The reference names a prototype once for each of its patterns.
            row["hostPrototypes"] = [
                json.loads(one) for one in {json.dumps(one) for one in row["hostPrototypes"]}]
        names = {row["groupid"]: row["name"] for row in self.api.call(
            "hostgroup.get", output=["groupid", "name"])}
        people = self.api.call("usergroup.get", output=["name"], filter={"name": "LLD"},
                               selectHostGroupRights="extend")[0]
        rights = sorted([names[one["id"]], one["permission"]] for one in people["hostgroup_rights"])
        return {"rights": rights, **{json.dumps(row["name"]): plain(row) for row in rows}}


def differences(real, own, path=""):
    """Lines that say where two views differ."""
    if isinstance(real, dict) and isinstance(own, dict):
        lines = []
        for name in sorted(set(real) | set(own)):
            lines += differences(real.get(name), own.get(name), "%s/%s" % (path, name))
        return lines
    if real == own:
        return []
    real, own = ("there" if len(str(one)) > 300 and isinstance(one, dict) else one
                 for one in (real, own))
    return ["  %s\n      7.0:     %s\n      Vedette: %s" % (path, json.dumps(real), json.dumps(own))]


def compare(sides, problems):
    """Adds lines of what differs; how many views were compared."""
    count = 0
    chosen = dict(cases.scenes())
    for scene, case in chosen.items():
        for side in sides:
            side.prepare(scene, case)
    time.sleep(SETTLE)
    for step in range(max(len(case["rows"]) for case in chosen.values())):
        scenes = [name for name, case in chosen.items() if step < len(case["rows"])]
        for side in sides:
            for scene in scenes:
                for change in chosen[scene].get("changes", {}).get(step, ()):
                    side.change(scene, *change)
                if not side.send(scene, chosen[scene]["rows"][step]):
                    problems.append("%s %s: value not taken" % (side.name, scene))
        looks = [(scene, lambda side, scene=scene: side.view(scene)) for scene in scenes]
        looks.append(("groups", Side.groups))
        time.sleep(QUIET)
        end = time.monotonic() + PATIENCE
        for name, look in looks:
            count += 1
            views = [look(side) for side in sides]
            while views[0] != views[1] and time.monotonic() < end:
                time.sleep(0.3)
                views = [look(side) for side in sides]
            lines = differences(*views)
            if lines:
                problems.append("%s, value %d" % (name, step + 1))
                problems += lines
                if name != "groups":
                    problems += ["      %s: %s" % (side.name, side.error) for side in sides]
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-port", type=int, help="use a reference that runs already")
    options = parser.parse_args()
    server, problems, count = bed.Server(), [], 0
    real = reference.Reference(options.base_port)
    try:
        server.start()
        sides = [Side("7.0", real.api(), real.trapper), Side("Vedette", server.api(), server.trapper)]
        count = compare(sides, problems)
    finally:
        server.clean()
        real.stop()
    failed = sum(not line.startswith(" ") for line in problems)
    for problem in problems:
        print(problem)
    print("%d passed, %d failed, 0 skipped" % (count - failed, failed))
    sys.exit(1 if failed or count < 40 else 0)


if __name__ == "__main__":
    main()
