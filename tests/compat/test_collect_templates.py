#!/usr/bin/env python3
"""Official templates on a real server 7.0 and on Vedette, watching the same programs: the same
items, discoveries and triggers, and the same values, but for what moves from question to question."""

import argparse
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
import templatepeers  # noqa: E402

#: Rounds of questions go on until nothing differs, or so long, seconds.
PATIENCE = 75
PAUSE = 4
#: A user that is a macro: exports leave passwords out, those of templates are macros beside it.
USER = re.compile(r"^( *)username: '\{\$(\w+)\.USERNAME\}'$", re.MULTILINE)
NUMBER = re.compile(r"\d+(\.\d+)?([eE][+-]?\d+)?")
#: Types of items that a server asks by itself; texts of those that are fed by others follow them.
ASKED = {"0", "3", "11", "15", "19", "20"}
#: The same error, in words of their own.
NO_DATA = "not enough data"
PARTS = ("template_groups", "host_groups", "templates", "items", "discoveryRules", "triggers", "graphs",
         "valueMaps")
#: Preprocessing that makes differences or rates of values; what servers get depends on when.
RATES = {"9", "10"}


def pairs(rows, *names):
    return [dict(zip(names, row)) for row in rows]


def copy_templates(real, own, names):
    """What the reference has under these names, imported into Vedette."""
    found = real.call("template.get", filter={"host": names}, output=["templateid", "host"])
    missing = set(names) - {row["host"] for row in found}
    if missing:
        raise AssertionError("the reference has no template %s" % sorted(missing))
    ids = [row["templateid"] for row in found]
    text = real.call("configuration.export", format="yaml", options={"templates": ids})
    text = USER.sub(r"\g<0>\n\1password: '{$\2.PASSWORD}'", text)
    rules = {part: {"createMissing": True, "updateExisting": True} for part in PARTS}
    rules["templateLinkage"] = {"createMissing": True}
    own.call("configuration.import", format="yaml", source=text, rules=rules)


class Watched:
    """A host with a template on one server."""

    def __init__(self, api, group, template, macros, interface):
        self.api = api
        ids = api.call("template.get", filter={"host": [template]}, output=["templateid"])
        self.hostid = api.call(
            "host.create", host="watched " + template, groups=[{"groupid": group}],
            interfaces=[interface] if interface else [],
            templates=[{"templateid": ids[0]["templateid"]}],
            macros=pairs(macros.items(), "macro", "value"))["hostids"][0]

    def look(self):
        rows = self.api.call(
            "item.get", hostids=self.hostid, selectPreprocessing=["type"],
            output=["itemid", "key_", "name", "type", "value_type", "status", "state", "error",
                    "lastvalue", "lastclock", "flags", "history"])
        self.items = {row["key_"]: row for row in rows}
        triggers = self.api.call("trigger.get", hostids=self.hostid,
                                 output=["description", "priority", "status", "flags"])
        self.triggers = sorted((t["description"], t["priority"], t["status"], t["flags"])
                               for t in triggers)

    def ask(self):
        """Has everything checked now that is on."""
        rules = self.api.call("discoveryrule.get", hostids=self.hostid,
                              output=["itemid", "type", "status"])
        ids = [row["itemid"] for row in list(self.items.values()) + rules
               if row["type"] in ASKED and row["status"] == "0"]
        for itemid in ids:
            # One that has been discovered a moment ago may not be known to the server yet.
            try:
                self.api.call("task.create", [{"type": 6, "request": {"itemid": itemid}}])
            except bed.ApiError as error:
                if "disabled" not in error.data and "not monitored" not in error.data:
                    raise


def plausible(one, other):
    """Whether both numbers may be readings of the same thing some seconds apart."""
    return abs(one - other) <= 0.5 * max(abs(one), abs(other)) + 100


def values_differ(one, other):
    texts = one["lastvalue"], other["lastvalue"]
    if texts[0] == texts[1]:
        return False
    if one["value_type"] in ("0", "3"):
        rate = any(step["type"] in RATES for step in one["preprocessing"])
        return not rate and not plausible(*(float(text or 0) for text in texts))
    return shape(texts[0]) != shape(texts[1])


def shape(text):
    """A text without what moves: of JSON the names, of all else everything but numbers."""
    def names(node):
        if isinstance(node, dict):
            return {name: names(value) for name, value in node.items()}
        return [names(value) for value in node] if isinstance(node, list) else None
    try:
        return names(json.loads(text))
    except ValueError:
        return NUMBER.sub("0", text)


def differences(real, own):
    """What is not the same, as lines."""
    lines = ["%s only on %s" % (key, "7.0" if key in real.items else "Vedette")
             for key in sorted(set(real.items) ^ set(own.items))]
    for key in sorted(set(real.items) & set(own.items)):
        one, other = real.items[key], own.items[key]
        told = [[row[name] for name in ("name", "type", "value_type", "status", "flags", "state")]
                + [NO_DATA if NO_DATA in row["error"] else row["error"]]
                # Without history the reference has no last value to show, Vedette has.
                + [row["history"] != "0" and row["lastclock"] != "0"] for row in (one, other)]
        if told[0] != told[1]:
            lines.append("%s\n    7.0:     %s\n    Vedette: %s" % (key, *told))
        elif one["history"] != "0" and values_differ(one, other):
            lines.append("%s\n    7.0:     %r\n    Vedette: %r"
                         % (key, one["lastvalue"], other["lastvalue"]))
    for trigger in sorted(set(real.triggers) ^ set(own.triggers)):
        side = "7.0" if trigger in real.triggers else "Vedette"
        lines.append("trigger %s only on %s" % (trigger, side))
    return lines


def silent(host):
    """Items that should have a value and have none; those that keep no history never show one."""
    return [key for key, row in host.items.items()
            if row["status"] == "0" and row["type"] in ASKED and row["history"] != "0"
            and row["lastclock"] == "0" and row["state"] == "0"]


def compare(sides, peers, only):
    watched = [one for one in peers.watched if only in one[0]]
    copy_templates(*sides, [template for template, _, _ in watched])
    groups = [api.call("hostgroup.create", name="Watched")["groupids"][0] for api in sides]
    hosts = [[Watched(api, group, *one) for api, group in zip(sides, groups)] for one in watched]
    left, problems, count = list(zip(watched, hosts)), [], 0
    begin = time.monotonic()
    while left:
        late = time.monotonic() - begin > PATIENCE
        open_yet = []
        for one, (real, own) in left:
            real.look()
            own.look()
            found = differences(real, own)
            values = sum(row["lastclock"] != "0" for row in own.items.values())
            if not late and (found or silent(real) or silent(own) or values < len(own.items) / 2):
                open_yet.append((one, (real, own)))
                real.ask()
                own.ask()
                continue
            if values < len(own.items) / 2:
                found.append("only %d of %d items have values" % (values, len(own.items)))
            discovered = sum(row["flags"] == "4" for row in own.items.values())
            print("%-32s %3d items, %3d of them discovered, %3d with values, %3d triggers, %2.0f s"
                  % (one[0], len(own.items), discovered, values, len(own.triggers),
                     time.monotonic() - begin))
            count += len(own.items) + len(own.triggers)
            problems += ["%s: %s" % (one[0], line) for line in found]
        left = open_yet
        if left:
            time.sleep(PAUSE)
    return count, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-port", type=int, help="use a reference that runs already")
    parser.add_argument("only", nargs="?", default="", help="templates with this in their names")
    options = parser.parse_args()
    peers = templatepeers.Peers(reference.program("agent2"))
    server = real = None
    count, problems = 0, []
    try:
        os.environ["ODBCINI"] = peers.odbc_ini
        server = bed.Server()
        server.start()
        real = reference.Reference(options.base_port)
        count, problems = compare([real.api(), server.api()], peers, options.only)
    finally:
        if server:
            server.clean()
        if real:
            real.stop()
        peers.stop()
    for problem in problems:
        print(problem)
    print("%d passed, %d failed, 0 skipped" % (count - len(problems), len(problems)))
    sys.exit(1 if problems or not count else 0)


if __name__ == "__main__":
    main()
