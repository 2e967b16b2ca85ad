#!/usr/bin/env python3
"""Connectors and files of exports: receivers that fail, hang and come back, changes of connectors, a stop."""

import contextlib
import json
import os
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import streams  # noqa: E402


class Export(bed.Case):
    folder = tempfile.TemporaryDirectory()
    arguments = ("--export-dir", folder.name, "--export-file-size", "2K", "--export-type", "events,history,trends")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.hangs = threading.Event()
        cls.receiver = streams.Receiver(bed.free_port(), cls.answer)
        cls.addClassCleanup(lambda: cls.receiver.stop())
        cls.addClassCleanup(cls.hangs.set)
        cls.reader = cls.host(cls, "reader")[0]

    @classmethod
    def answer(cls, path):
        if path.startswith("/hangs"):
            cls.hangs.wait()
        return 503 if path.startswith("/fails") else 200

    def case(self, name):
        """A host with an item whose tag tells it from others."""
        return self.host(name, [{"key_": "k", "value_type": 3, "tags": [{"tag": "case", "value": name}]}])

    def connector(self, path, case, receiver=None, **more):
        """For the values of that host."""
        url, tags = (receiver or self.receiver).url(path), [{"tag": "case", "operator": 0, "value": case}]
        return self.api.call("connector.create", dict({"tags": tags}, name=path, url=url, **more))["connectorids"][0]

    def send(self, host, *values, key="k"):
        data = [{"host": host, "key": key, "value": str(value)} for value in values]
        answer = bed.send(self.server.address, {"request": "sender data", "data": data})
        self.assertIn("failed: 0;", answer["info"])

    def values(self, path, host, receiver=None):
        records = (receiver or self.receiver).records(path)
        return [record["value"] for record in records if record["host"]["host"] == host]

    def wait(self, path, host, wanted, receiver=None):
        bed.wait_for_equal("values at " + path, lambda: self.values(path, host, receiver), wanted)

    def figure(self, key):
        item = {"key": key, "type": "5", "value_type": "4", "timeout": "3s", "steps": []}
        data = {"item": item, "host": {"hostid": self.reader}, "options": {"single": False, "state": 0}}
        answer = bed.send(self.server.address, {"request": "item.test", "sid": self.api.token, "data": data})
        return int(answer["data"]["item"]["result"])

    def records(self, kind):
        """Records in the file of that kind and the one before it."""
        found = []
        for ending in (".old", ""):
            path = os.path.join(self.folder.name, kind + "-history-syncer-1.ndjson" + ending)
            with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
                # A line may not be complete yet.
                found += [json.loads(line) for line in file if line.endswith("\n")]
        return found

    def test_a_hanging_receiver_delays_no_other(self):
        self.case("hang")
        hanging = self.connector("/hangs", "hang", timeout="60s", max_records=1)
        self.connector("/works", "hang")
        self.send("hang", 1)
        bed.wait_for("a message that hangs", lambda: self.receiver.of("/hangs"))
        self.send("hang", 2, 3)
        self.wait("/works", "hang", [1, 2, 3])
        self.assertEqual(len(self.receiver.of("/hangs")), 1)
        self.assertGreaterEqual(self.figure("zabbix[connector_queue]"), 3)
        # What a deleted connector has queued is gone.
        self.api.call("connector.delete", [hanging])
        self.send("hang", 4)
        self.wait("/works", "hang", [1, 2, 3, 4])
        bed.wait_for_equal("empty queues", lambda: self.figure("zabbix[connector_queue]"), 0)
        self.hangs.set()

    def test_failures_are_retried_and_dropped_values_counted(self):
        self.case("fail")
        before = self.figure("zabbix[vedette,export,dropped,connectors]")
        connector = self.connector("/fails", "fail", max_attempts=3, attempt_interval="0s")
        self.send("fail", 1)
        bed.wait_for_equal("three attempts", lambda: self.values("/fails", "fail"), [1, 1, 1])
        bed.wait_for_equal("a dropped value", lambda: self.figure("zabbix[vedette,export,dropped,connectors]"),
                           before + 1)
        self.api.call("connector.update", connectorid=connector, url=self.receiver.url("/moved"))
        self.send("fail", 2)
        self.wait("/moved", "fail", [2])

    def test_a_receiver_that_comes_back_gets_what_was_queued(self):
        self.case("back")
        port = bed.free_port()
        later = streams.Receiver(port)
        later.stop()
        self.connector("/later", "back", later, max_attempts=5, attempt_interval="5s")
        self.send("back", 1, 2)
        bed.wait_for("queued values", lambda: self.figure("zabbix[connector_queue]") >= 2)
        later = streams.Receiver(port)
        self.addCleanup(later.stop)
        self.wait("/later", "back", [1, 2], later)

    def test_changes_take_effect_at_once(self):
        _, items = self.case("change")
        connector = self.connector("/changes", "change", status=0)
        self.send("change", 1)
        self.api.call("connector.update", connectorid=connector, status=1)
        self.send("change", 2)
        self.wait("/changes", "change", [2])
        self.api.call("item.update", itemid=items["k"], name="renamed", tags=[{"tag": "case", "value": "new"}])
        self.send("change", 3)
        self.api.call("connector.update", connectorid=connector, max_senders=3,
                      tags=[{"tag": "case", "operator": 0, "value": "new"}])
        self.send("change", 4)
        self.wait("/changes", "change", [2, 4])
        names = [record["name"] for record in self.receiver.records("/changes")]
        self.assertEqual(names, ["k", "renamed"])

    def test_events_go_to_connectors_and_files(self):
        self.case("events")
        self.connector("/events", "events", data_type=1, tags=[{"tag": "scope", "operator": 12}])
        self.api.call("trigger.create", description="High", expression="last(/events/k)>5", priority=4,
                      tags=[{"tag": "scope", "value": "x"}])
        self.send("events", 7)
        bed.wait_for("a problem", lambda: self.receiver.records("/events"))
        self.send("events", 1)
        bed.wait_for("its end", lambda: len(self.receiver.records("/events")) == 2)
        problem, recovery = self.receiver.records("/events")
        self.assertEqual([problem["value"], problem["name"], problem["severity"], problem["groups"], problem["tags"]],
                         [1, "High", 4, ["Test"],
                          [{"tag": "scope", "value": "x"}, {"tag": "case", "value": "events"}]])
        self.assertEqual([recovery["value"], recovery["p_eventid"]], [0, problem["eventid"]])
        ids = {problem["eventid"], recovery["eventid"]}
        bed.wait_for_equal("both in the file",
                           lambda: [one for one in self.records("problems") if one["eventid"] in ids],
                           [problem, recovery])

    def test_large_files_are_renamed(self):
        self.host("files", [{"key_": "k", "value_type": 4, "trends": "0"}])
        text = "x" * 700
        for value in range(6):
            self.send("files", "%d %s" % (value, text))

        def last():
            values = [one["value"] for one in self.records("history") if one["host"]["host"] == "files"]
            return values and values[-1][0] == "5"

        bed.wait_for("the last value", last)
        path = os.path.join(self.folder.name, "history-history-syncer-1.ndjson")
        for name in (path, path + ".old"):
            self.assertLessEqual(os.path.getsize(name), 2048)


class Stop(bed.Case):
    folder = tempfile.TemporaryDirectory()
    arguments = ("--export-dir", folder.name)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.folder.cleanup)

    def test_a_stop_sends_and_writes_what_is_queued(self):
        receiver = streams.Receiver(bed.free_port())
        self.addCleanup(receiver.stop)
        self.host("stop", [{"key_": "k", "value_type": 3}])
        self.api.call("connector.create", name="stop", url=receiver.url("/stop"), max_records=1)
        for value in range(5):
            bed.send(self.server.address, {"request": "sender data", "data": [
                {"host": "stop", "key": "k", "value": str(value)}]})
        self.server.stop()
        own = [record["value"] for record in receiver.records("/stop") if record["host"]["host"] == "stop"]
        self.assertEqual(own, list(range(5)))
        for kind, members in (("history", {"value", "ns"}), ("trends", {"count", "min", "avg", "max"})):
            path = os.path.join(self.folder.name, kind + "-history-syncer-1.ndjson")
            with open(path, encoding="utf-8") as file:
                records = [json.loads(line) for line in file]
            own = [record for record in records if record["host"]["host"] == "stop"]
            self.assertTrue(own, kind)
            self.assertLessEqual(members, set(own[0]))
        self.assertEqual(sum(record["count"] for record in own), 5)


if __name__ == "__main__":
    bed.main()
