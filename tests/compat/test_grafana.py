#!/usr/bin/env python3
"""Everything that Grafana's Zabbix plugin asks, asked of a real server 7.0 and of Vedette with the same
hosts, values and problems: the same answers.

Ids are compared by what they stand for, rows without regard to their order but for values. Times of
problems and values are those of the values.
"""

import argparse
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import grafanacalls  # noqa: E402
import reference  # noqa: E402

HOSTS = {"web1": ("Web server 1", "Web"), "web2": ("Web server 2", "Web"), "db1": ("Database", "Shop databases")}
#: Key, value type, tag.
ITEMS = (("load", 0, "cpu"), ("state", 3, "system"), ("text", 4, "log"), ("word", 1, "log"), ("log", 2, "log"))
#: Description, expression, severity, tags.
TRIGGERS = (
    ("High load", "last(/web1/load)>{$LIMIT}", 4, [("service", "shop")]),
    ("Not well", "last(/web1/state)=2", 2, [("service", "shop"), ("kind", "{ITEM.VALUE}")]),
    ("Load of {HOST.NAME} is {ITEM.LASTVALUE1}", "last(/web2/load)>5", 3, []),
    ("Quiet", "last(/db1/load)>1000", 1, []),
)
#: Members that differ with the moment, or are made at random.
BY_THE_MOMENT = {"uuid"}
#: Names of objects that each server makes for itself.
OWN = {"Vedette", "Vedette server", "Zabbix servers", "Zabbix server"}
#: An id of something else.
UNKNOWN = "some"
#: What an id names, by the end of its member's name.
KINDS = {"hostid": "host", "groupid": "group", "itemid": "item", "triggerid": "trigger", "objectid": "trigger",
         "eventid": "event", "hostmacroid": "macro"}
OF_METHOD = {"trigger.get": "trigger", "event.get": "event"}


class Side:
    """One of the two servers, with the ids of what was made there."""

    def __init__(self, api, trapper):
        self.api, self.trapper, self.ids = api, ("127.0.0.1", trapper), {}

    def make(self, what, known_as, **members):
        """The id of a new object, which `known_as` will stand for."""
        self.ids[known_as] = next(iter(self.api.call(what + ".create", **members).values()))[0]
        return self.ids[known_as]

    def configure(self):
        api = self.api
        api.call("usermacro.createglobal", macro="{$LIMIT}", value="10")
        for group in ("Web", "Shop databases"):
            self.make("hostgroup", "group " + group, name=group)
        for host, (name, group) in HOSTS.items():
            hostid = self.make(
                "host", "host " + host, host=host, name=name, groups=[{"groupid": self.ids["group " + group]}],
                tags=[{"tag": "site", "value": "north" if host == "web1" else "south"}],
                macros=[{"macro": "{$WHO}", "value": host, "description": "of " + host}])
            self.ids["macro " + host] = api.call("usermacro.get", hostids=hostid)[0]["hostmacroid"]
            states = self.make("valuemap", "valuemap " + host, hostid=hostid, name="States", mappings=[
                {"type": 0, "value": "1", "newvalue": "well"}, {"type": 5, "newvalue": "ill"}])
            for key, kind, component in ITEMS:
                self.make("item", "item %s %s" % (host, key), hostid=hostid, key_=key, name="The %s of it" % key,
                          type=2, value_type=kind, tags=[{"tag": "component", "value": component}],
                          **({"valuemapid": states} if key == "state" else {}),
                          **({"units": "%"} if key == "load" else {}))
        for description, expression, severity, tags in TRIGGERS:
            self.make("trigger", "trigger " + description, description=description, expression=expression,
                      priority=severity, comments="Ask {$WHO}.",
                      tags=[{"tag": tag, "value": value} for tag, value in tags])
        # Made last: a server that knows it knows the triggers too.
        self.make("item", "item db1 ready", hostid=self.ids["host db1"], key_="ready", name="Ready", type=2,
                  value_type=3)

    def push(self, rows):
        answer = bed.send(self.trapper, {"request": "sender data", "data": [
            dict(zip(("host", "key", "value", "clock", "ns"), row)) for row in rows]})
        return "failed: 0" in answer["info"]

    def feed(self, rows):
        """One after the other, as soon as the server knows what was configured."""
        ready = ("db1", "ready", "1", int(time.time()), 0)
        bed.wait_for("the items to be known", lambda: self.push([ready]))
        for row in rows:
            assert self.push([row]), row

    def events(self):
        rows = self.api.call("event.get", source=0, object=0, output=["eventid", "clock", "ns"])
        return sorted(rows, key=lambda row: (int(row["clock"]), int(row["ns"])))

    def settle(self, events, clock):
        """Waits for what comes of the values."""
        bed.wait_for("events", lambda: len(self.events()) >= events)
        for number, row in enumerate(self.events()):
            self.ids["event %d" % number] = row["eventid"]
        bed.wait_for("trends", lambda: len(self.api.call(
            "trend.get", itemids=self.ids["item web1 load"], time_till=clock)) >= 2)

    def ask(self, method, params):
        """The answer, with names for ids; the text of an error instead."""
        if method == "apiinfo.version":
            return bed.Api(self.api.url).call(method, [])[:3]
        try:
            answer = self.api.call(method, self.filled(params))
        except bed.ApiError as problem:
            return str(problem)
        names = {}
        for name, number in self.ids.items():
            names[(name.split()[0], number)] = name
        if isinstance(answer, dict) and method in OF_METHOD:
            answer = {names.get((OF_METHOD[method], key), key): row for key, row in answer.items()}
        return named(answer, names, ordered=params.get("sortfield") == "clock")

    def filled(self, params):
        """Parameters with this side's ids."""
        if isinstance(params, dict):
            return {key: self.filled(value) for key, value in params.items()}
        if isinstance(params, list):
            return [self.filled(value) for value in params]
        return self.ids[params[1:]] if isinstance(params, str) and params.startswith("@") else params


def named(answer, names, key="", ordered=False):
    """An answer in which ids are names, and what may differ is left out."""
    if isinstance(answer, dict):
        moment = BY_THE_MOMENT | ({"clock"} if "acknowledgeid" in answer else set())
        return {k: named(v, names, k) for k, v in answer.items() if k not in moment}
    if isinstance(answer, list):
        rows = [named(each, names, key) for each in answer]
        rows = [row for row in rows if not isinstance(row, dict)
                or row.get("name") not in OWN and row.get("hostid") != UNKNOWN]
        return rows if ordered else sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
    if key == "expression":
        return re.sub(r"\{\d+\}", "{function}", answer)
    if key.endswith(("id", "ids")) and answer not in ("0", None):
        kind = next((kind for end, kind in KINDS.items() if key.rstrip("s").endswith(end)), None)
        return names.get((kind, str(answer)), UNKNOWN)
    return answer


def values(begin, hour):
    """Rows as senders send them: three hours, then two minutes in which three problems begin and one ends."""
    rows = [("web1", "load", str(n + 1.5), hour + n * 3600 + 60, 5) for n in range(3)]
    minute = (("load", ("4.25", "20.5", "21")), ("state", ("1", "2", "2")), ("text", ("a\nb", "ü", "")),
              ("word", ("one", "two", "three")), ("log", ("start", "stop", "start")))
    for n in range(3):
        for at, (key, texts) in enumerate(minute):
            # No two of a key at one second: their order would be anybody's.
            rows += [(host, key, texts[n], begin + 60 * n + 5 * at + place, 1000 * (at + 1))
                     for place, host in enumerate(HOSTS)]
    return rows + [("web1", "load", "3", begin + 200, 7)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-port", type=int, help="use a reference that runs already")
    options = parser.parse_args()
    server, real = bed.Server(), None
    begin = int(time.time()) - 600
    hour = begin // 3600 * 3600 - 4 * 3600
    problems, count = [], 0
    try:
        real = reference.Reference(options.base_port)
        server.start()
        sides = (Side(real.api(), real.trapper), Side(server.api(), server.trapper))
        for side in sides:
            side.configure()
        for side in sides:
            side.feed(values(begin, hour))
        for side in sides:
            side.settle(4, hour + 7199)
        for name, method, params in grafanacalls.calls(begin, hour):
            theirs, ours = (side.ask(method, params) for side in sides)
            count += 1
            if theirs != ours:
                problems.append("%s (%s %s)\n  7.0:     %s\n  Vedette: %s" % (
                    name, method, json.dumps(params), json.dumps(theirs, sort_keys=True),
                    json.dumps(ours, sort_keys=True)))
    finally:
        if real:
            real.stop()
        server.clean()
    print("\n".join(problems))
    print("%d passed, %d failed, 0 skipped" % (count - len(problems), len(problems)))
    sys.exit(1 if problems or not count else 0)


if __name__ == "__main__":
    main()
