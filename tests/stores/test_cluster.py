#!/usr/bin/env python3
"""History spread over two ClickHouse servers, of which one hangs, stops and comes back while writing goes
on."""

import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
from clickhouses import ClickHouses  # noqa: E402
from storecase import DAY, SECRET  # noqa: E402

KEYS = ["n%d" % n for n in range(20)]


class Cluster(storecase.StoreCase):
    @classmethod
    def make_store(cls):
        store = ClickHouses(SECRET)
        cls.addClassCleanup(store.stop)
        return store

    @classmethod
    def parameter(cls):
        return "clickhouse=" + cls.store.url("vedette")

    def local(self, sql):
        """What each server says of its own rows of these items."""
        sql = "SELECT %s FROM vedette.history_uint_local FINAL WHERE itemid IN (%s)" % (
            sql, ",".join(self.items.values()))
        return [int(node.query(sql)) for node in self.store.nodes]

    def one_hangs(self, number):
        """For so long that calls are given up; values go on."""
        since = self.log_end()
        self.store.nodes[number].pause()
        before = len(self.acknowledged)
        try:
            self.old_values_fail(self.items[KEYS[0]])
            bed.wait_for("a call to be given up", lambda: self.complaint(since))
            bed.wait_for("values go on", lambda: len(self.acknowledged) > before + 100)
        finally:
            self.store.nodes[number].go_on()

    def test_outages_of_the_store_lose_and_repeat_nothing(self):
        _, items = self.host("spread", [{"key_": key, "value_type": 3} for key in KEYS])
        self.items = items
        start = int(time.time()) - 3000
        acknowledged, stop = [], threading.Event()
        self.acknowledged = acknowledged

        def sender():
            # Of nanoseconds 0 the server makes others.
            number = 1000
            while not stop.is_set():
                data = [{"host": "spread", "key": key, "value": str(number),
                         "clock": start + number // 10, "ns": number} for key in KEYS]
                try:
                    answer = bed.send(self.server.address, {"request": "sender data", "data": data})
                except (OSError, ValueError):
                    answer = None
                if answer and answer["info"].startswith("processed: %d; failed: 0;" % len(KEYS)):
                    acknowledged.append(number)
                    number += 1
                stop.wait(0.02)

        thread = threading.Thread(target=sender)
        thread.start()
        try:
            bed.wait_for("rows on both", lambda: all(self.local("count()")))
            self.one_hangs(1)
            for away in (1, 0):
                self.store.nodes[away].kill()
                before = len(acknowledged)
                bed.wait_for("values go on", lambda b=before: len(acknowledged) > b + 50)
                # Reading all needs all; the other serves what it has.
                self.old_values_fail(items[KEYS[0]])
                self.assertNotEqual("0", self.store.nodes[1 - away].query(
                    "SELECT count() FROM vedette.history_uint_local"))
                if away == 0:
                    # A start finds one of two.
                    self.server.kill()
                    self.server.start()
                    bed.wait_for("values go on", lambda b=before: len(acknowledged) > b + 100)
                self.store.nodes[away].start()
                before = len(acknowledged)
                bed.wait_for("values go on", lambda b=before: len(acknowledged) > b + 20)
        finally:
            stop.set()
            thread.join()
        rows = len(acknowledged) * len(KEYS)
        bed.wait_for("all rows", lambda: sum(self.local("count()")) == rows)
        self.assertTrue(all(self.local("count()")), "both have a part")
        self.assertEqual(sum(self.local("sum(value)")), sum(acknowledged) * len(KEYS))
        self.assertEqual(sum(self.local("uniqExact(itemid)")), len(KEYS), "an item has one place")
        self.api = self.server.api()
        self.read_and_clear(items)
        self.assertNotIn(SECRET, self.server.log(100000))

    def read_and_clear(self, items):
        """Old values of items of both servers are read and deleted."""
        for key in KEYS[:2]:
            self.store.nodes[0].query(
                "INSERT INTO vedette.history_uint (itemid, clock, ns, value, keep) VALUES "
                "(%s, %d, 7, 42, 31)" % (items[key], int(time.time()) - 20 * DAY))

        def oldest(key):
            rows = self.api.call("history.get", history=3, itemids=items[key], sortfield="clock",
                                 limit=1)
            return [row["value"] for row in rows]
        for key in KEYS[:2]:
            # The table of all gives rows away in its own time.
            bed.wait_for("the old value", lambda k=key: oldest(k) == ["42"])
        buckets = self.api.call("history.buckets", itemids=[items[key] for key in KEYS[:2]],
                                time_till=int(time.time()) - 10 * DAY, width=2**32 - 1)
        self.assertEqual([(bucket["num"], bucket["value_max"]) for bucket in buckets],
                         [("1", "42")] * 2)
        self.api.call("history.clear", [items[key] for key in KEYS[:2]])
        both = ",".join(items[key] for key in KEYS[:2])
        bed.wait_for("the deletion", lambda: self.local("countIf(itemid IN (%s))" % both) == [0, 0])
        self.assertEqual([oldest(key) for key in KEYS[:2]], [[], []])


if __name__ == "__main__":
    bed.main()
