#!/usr/bin/env python3
"""Real-time export: the same configuration and values on a real server 7.0 and on Vedette. The records that connectors
and files get are equal."""

import contextlib
import glob
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
import streams  # noqa: E402

#: The beginning of an hour, more than all times of the test ago.
CLOCK = int(time.time() - 400) // 3600 * 3600
#: Value type, value and other members of the request.
VALUES = [
    ("float", 0, "123456789012", {}), ("float", 0, "1.5", {}), ("float", 0, "-2", {}), ("float", 0, "0.1", {}),
    ("unsigned", 3, "18446744073709551615", {}), ("unsigned", 3, "0", {}),
    ("char", 1, "a \"b\" \\ / \u00e9 \t\u0001", {}), ("text", 4, "two\nlines", {}),
    ("log", 2, "line", {"timestamp": 17, "source": "Src", "severity": 4, "eventid": 9}), ("log", 2, "plain", {}),
]
STATUSES = (200, 204, 206, 301, 400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503)
TAGS = {
    "equals": (0, [("part", 0, "cpu")]), "other": (0, [("part", 1, "cpu")]), "contains": (0, [("part", 2, "CP")]),
    "lacks": (0, [("part", 3, "cp")]), "exists": (0, [("part", 12, "")]), "missing": (0, [("part", 13, "")]),
    "both": (0, [("part", 0, "cpu"), ("kind", 0, "char")]), "either": (2, [("part", 0, "cpu"), ("kind", 0, "char")]),
    "same": (0, [("kind", 0, "text"), ("kind", 0, "char")]), "negated": (0, [("kind", 1, "text"), ("kind", 1, "char")]),
    "mixed": (0, [("kind", 0, "float"), ("kind", 1, "float")]), "any": (2, [("part", 13, ""), ("kind", 3, "a")]),
    "host": (0, [("site", 12, "")]),
}
TYPES = {"float": 1, "texts": 2 + 4 + 16, "unsigned": 8}


class Side:
    """One of the servers with its receiver and its files."""

    def __init__(self, api, trapper, folder):
        self.api, self.trapper, self.folder = api, ("127.0.0.1", trapper), folder
        self.receiver = streams.Receiver(bed.free_port(), self.status)
        self.connectors()
        groups = [{"groupid": api.call("hostgroup.create", name=name)["groupids"][0]}
                  for name in ("Quito", "Quito/Web")]
        self.items, self.triggers = {}, []
        for host in ("web1", "web2"):
            hostid = api.call("host.create", host="exp-" + host, name="Shown \"%s\"" % host, groups=groups,
                              macros=[{"macro": "{$PART}", "value": host}],
                              tags=[{"tag": "site", "value": host}])["hostids"][0]
            for name, kind in {(name, kind) for name, kind, *_ in VALUES}:
                tags = [{"tag": "kind", "value": name}] + ([{"tag": "part", "value": "cpu"}] if kind in (0, 3) else [])
                item = api.call("item.create", hostid=hostid, name="A {$PART} %s" % name, key_=name, type=2,
                                value_type=kind, tags=tags, **({} if kind in (0, 3) else {"trends": "0"}))
                self.items[int(item["itemids"][0])] = "%s %s" % (host, name)
        problem = {"event_name": "On {HOST.NAME}", "priority": 4, "tags": [{"tag": "scope", "value": "x"}]}
        for expression, more in (("last(/exp-web1/unsigned)>5", problem),
                                 ("last(/exp-web2/unsigned)>0 and last(/exp-web1/float)<9", {"type": 1})):
            api.call("trigger.create", description="Trigger " + expression, expression=expression, **more)

    def connectors(self):
        receiver, create = self.receiver, self.api.call
        create("connector.create", name="all", url=receiver.url("/all"), authtype=5, token="tok")
        create("connector.create", name="events", url=receiver.url("/events"), data_type=1, authtype=1, username="u",
               password="p")
        create("connector.create", name="scope", url=receiver.url("/scope"), data_type=1,
               tags=[{"tag": "scope", "operator": 0, "value": "x"}])
        for name, (evaltype, tags) in TAGS.items():
            tags = [{"tag": tag, "operator": operator, "value": value} for tag, operator, value in tags]
            create("connector.create", name=name, url=receiver.url("/tags/" + name), tags_evaltype=evaltype, tags=tags)
        for name, types in TYPES.items():
            create("connector.create", name="t" + name, url=receiver.url("/types/" + name), item_value_type=types)
        for status in STATUSES:
            create("connector.create", name=str(status), url=receiver.url("/status/%d" % status), item_value_type=1,
                   max_attempts=3, attempt_interval="0s")

    def status(self, path):
        return int(path.rsplit("/", 1)[1]) if path.startswith("/status/") else 200

    def send(self, host, key, value, clock, **more):
        data = [{"host": "exp-" + host, "key": key, "value": value, "clock": clock, "ns": 123456789, **more}]
        answer = bed.send(self.trapper, {"request": "sender data", "data": data})
        return "processed: 1;" in answer["info"]

    def run(self):
        bed.wait_for("the hosts to be known", lambda: self.send("web2", "unsigned", "0", CLOCK))
        for host in ("web1", "web2"):
            for at, (key, _, value, more) in enumerate(VALUES):
                # Of the other host only the values below concern triggers.
                if (host, key) != ("web2", "unsigned"):
                    assert self.send(host, key, value, CLOCK + 1 + at, **more), (host, key)
        # One event after the other, so that their order is that of the values. The last value ends two problems.
        self.wait_for_events(2)
        for at, (host, value, events) in enumerate([("web1", "7", 3), ("web1", "8", 3), ("web1", "2", 4),
                                                    ("web2", "1", 5), ("web2", "2", 6), ("web2", "0", 8)]):
            assert self.send(host, "unsigned", value, CLOCK + 100 + at)
            self.wait_for_events(events)
        # The last value of each item: what comes before it is complete.
        for host in ("web1", "web2"):
            for key in sorted({key for key, *_ in VALUES}):
                assert self.send(host, key, "0", CLOCK + 200)
        bed.wait_for_equal("the last values", lambda: self.lasts("/all"), 10)
        for status in STATUSES:
            path = "/status/%d" % status
            bed.wait_for("the last values for " + path, lambda path=path: self.lasts(path) >= 2)

    def wait_for_events(self, count):
        bed.wait_for_equal("%d events" % count, lambda: len(self.events(self.receiver.records("/events"))), count)

    def lasts(self, path):
        return sum(record["clock"] == CLOCK + 200 and record["itemid"] in self.items
                   for record in self.receiver.records(path))

    def values(self, records):
        """Values of the own items, with names in place of ids, in the order of items and times."""
        own = [dict(record, itemid=self.items[record["itemid"]]) for record in records
               if record["itemid"] in self.items]
        own.sort(key=lambda record: (record["itemid"], record["clock"]))
        return [json.dumps(record, ensure_ascii=False) for record in own]

    def events(self, records):
        """Events of the own hosts, with numbers from 0 in place of ids. The order of tags, and of the problems that one
        event ends, says nothing."""
        own, numbers, places = [], {}, {}
        for record in records:
            places.setdefault(record["eventid"], len(places))
        for record in sorted(records, key=lambda one: (places[one["eventid"]], one.get("p_eventid", 0))):
            if any(host["host"].startswith("exp-") for host in record.get("hosts", [])) \
                    or record.get("p_eventid") in numbers:
                changed = {name: numbers.setdefault(record[name], len(numbers)) for name in ("eventid", "p_eventid")
                           if name in record}
                if "tags" in record:
                    changed["tags"] = sorted(record["tags"], key=json.dumps)
                own.append(json.dumps(dict(record, **changed), ensure_ascii=False))
        return own

    def attempts(self, path):
        """How often the first value of an item was sent."""
        values = [record["clock"] for record in self.receiver.records(path)
                  if self.items.get(record["itemid"]) == "web1 float"]
        return values.count(values[0])

    def file(self, kind):
        found = []
        for path in sorted(glob.glob(os.path.join(self.folder, kind + "-*.ndjson"))):
            with open(path, encoding="utf-8") as file:
                found += [json.loads(line) for line in file]
        return sorted(found, key=lambda record: record.get("itemid") or record["eventid"])


class Export(bed.Case):
    folders = [tempfile.TemporaryDirectory() for _ in range(2)]
    arguments = ("--export-dir", folders[0].name)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for folder in cls.folders:
            cls.addClassCleanup(folder.cleanup)
        cls.real = reference.Reference(more=("StartConnectors=40", "ExportDir=" + cls.folders[1].name))
        running = contextlib.ExitStack()
        cls.addClassCleanup(running.close)
        running.callback(cls.real.stop)
        running.callback(cls.server.stop)
        cls.theirs = Side(cls.real.api(), cls.real.trapper, cls.folders[1].name)
        cls.ours = Side(cls.api, cls.server.trapper, cls.folders[0].name)
        for side in (cls.theirs, cls.ours):
            cls.addClassCleanup(side.receiver.stop)
            side.run()
        # Trends of the hour are written at the stop.
        running.close()

    def both(self, read):
        theirs, ours = read(self.theirs), read(self.ours)
        self.assertTrue(theirs)
        self.assertEqual(ours, theirs)

    def test_values_of_all_types_are_streamed(self):
        self.both(lambda side: side.values(side.receiver.records("/all")))

    def test_events_are_streamed(self):
        self.both(lambda side: side.events(side.receiver.records("/events")))
        self.both(lambda side: side.events(side.receiver.records("/scope")))

    def test_filters_choose_the_same_values(self):
        for path in ["/tags/" + name for name in TAGS] + ["/types/" + name for name in TYPES]:
            with self.subTest(path):
                self.assertEqual(self.ours.values(self.ours.receiver.records(path)),
                                 self.theirs.values(self.theirs.receiver.records(path)))

    def test_responses_lead_to_the_same_attempts(self):
        self.both(lambda side: {status: side.attempts("/status/%d" % status) for status in STATUSES})

    def test_headers_are_equal(self):
        names = ("Content-Type", "Accept", "Authorization")
        for path in ("/all", "/events"):
            self.both(lambda side, path=path: {name: side.receiver.of(path)[0].headers.get(name) for name in names})

    def test_files_have_the_same_records(self):
        self.both(lambda side: side.values(side.file("history")))
        self.both(lambda side: side.events(side.file("problems")))

    def test_trends_are_equal_but_for_rounding(self):
        def rounded(side):
            found = []
            for record in map(json.loads, side.values(side.file("trends"))):
                if record["type"] == 0:
                    record.update({name: float("%.10g" % record[name]) for name in ("min", "avg", "max")})
                found.append(record)
            return found

        self.both(rounded)


if __name__ == "__main__":
    bed.main()
