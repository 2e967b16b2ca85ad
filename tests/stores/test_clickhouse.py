#!/usr/bin/env python3
"""History on a real ClickHouse: everything acknowledged is there exactly once, whatever is killed,
and the API reads what the data folder keeps no longer."""

import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from clickhouses import ClickHouse  # noqa: E402

DAY = 86400
SECRET = "very-hidden-word"


class OnClickHouse(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.store = ClickHouse(SECRET)
        cls.addClassCleanup(cls.store.stop)
        cls.arguments = ["--history-embedded-days", "2"]
        cls.server = bed.Server(arguments=cls.arguments, environment={
            "VEDETTE_HISTORY_STORE": "clickhouse=" + cls.store.url("vedette")})
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def send(self, rows):
        """Rows of host, key, value, clock, nanoseconds; whether all were acknowledged."""
        data = [dict(zip(("host", "key", "value", "clock", "ns"), row)) for row in rows]
        try:
            answer = bed.send(self.server.address, {"request": "sender data", "data": data})
        except (OSError, ValueError):
            return False
        return bool(answer) and answer["info"].startswith("processed: %d; failed: 0;" % len(rows))

    def wait_for_rows(self, table, item, count):
        def rows():
            sql = "SELECT count() FROM vedette.%s FINAL WHERE itemid = %s" % (table, item)
            return self.store.query(sql) == str(count)
        bed.wait_for("%d rows in %s" % (count, table), rows)

    def history(self, item, kind, **more):
        return self.api.call("history.get", history=kind, itemids=item, sortfield="clock", **more)

    def test_every_value_type_arrives_as_it_was_sent(self):
        kinds = {"float": 0, "char": 1, "log": 2, "unsigned": 3, "text": 4}
        _, items = self.host("types", [{"key_": k, "value_type": v} for k, v in kinds.items()])
        now = int(time.time())
        sent = {
            "float": ["-0.1", "12.5"], "char": ["", "\U0001f980 \\'\t"],
            "log": ["a line", ""], "unsigned": ["0", str(2**64 - 1)],
            "text": ["x" * 65535, "\u00e9\n\u20ac"],
        }
        rows = [("types", key, value, now - 5 + n, n + 1)
                for key, values in sent.items() for n, value in enumerate(values)]
        self.assertTrue(self.send(rows))
        tables = {"float": "history_float", "char": "history_text", "log": "history_log",
                  "unsigned": "history_uint", "text": "history_text"}
        for key, table in tables.items():
            self.wait_for_rows(table, items[key], 2)
            stored = self.store.query(
                "SELECT ns FROM vedette.%s FINAL WHERE itemid = %s ORDER BY clock"
                % (table, items[key]))
            self.assertEqual([str(row["value"]) for row in self.history(items[key], kinds[key])],
                             sent[key])
            self.assertEqual(stored, "1\n2")
        self.assertEqual(
            self.store.query("SELECT toString(value) FROM vedette.history_uint FINAL WHERE "
                             "itemid = %s ORDER BY clock" % items["unsigned"]),
            "0\n18446744073709551615")
        self.assertEqual(
            self.store.query("SELECT length(value) FROM vedette.history_text FINAL WHERE "
                             "itemid = %s ORDER BY clock" % items["text"]), "65535\n6")

    def test_killed_paused_and_restarted_nothing_is_lost_or_twice(self):
        _, items = self.host("faults", [{"key_": "n", "value_type": 3}])
        start = int(time.time()) - 3000
        acknowledged, stop = [], threading.Event()

        def sender():
            first = 0
            while not stop.is_set():
                rows = [("faults", "n", str(n), start + n // 10, n) for n in range(first, first + 20)]
                # What was not acknowledged is sent again, as senders do.
                if self.send(rows):
                    acknowledged.extend(rows)
                    first += 20
                stop.wait(0.02)

        thread = threading.Thread(target=sender)
        thread.start()
        try:
            for fault in (self.store_killed, self.store_paused, self.server_killed,
                          self.server_killed_while_the_store_is_away, self.store_killed):
                before = len(acknowledged)
                fault()
                bed.wait_for("more values", lambda b=before: len(acknowledged) > b + 100)
        finally:
            stop.set()
            thread.join()
        self.api = self.server.api()
        self.wait_for_rows("history_uint", items["n"], len(acknowledged))
        sums = self.store.query(
            "SELECT count(), sum(value), uniqExact(clock, ns) FROM vedette.history_uint FINAL "
            "WHERE itemid = %s" % items["n"])
        count = len(acknowledged)
        self.assertEqual(sums, "%d\t%d\t%d" % (count, count * (count - 1) // 2, count))
        self.assertNotIn(SECRET, self.server.log(100000))

    def store_killed(self):
        self.store.kill()
        time.sleep(1)
        self.store.start()

    def store_paused(self):
        self.store.pause()
        time.sleep(3)
        self.store.go_on()

    def server_killed(self):
        self.server.kill()
        self.server.start()

    def server_killed_while_the_store_is_away(self):
        self.store.kill()
        time.sleep(0.5)
        self.server.kill()
        self.server.start()
        time.sleep(0.5)
        self.store.start()

    def test_older_values_come_from_the_store_and_younger_ones_do_without(self):
        hostid, items = self.host("old", [{"key_": "n", "value_type": 3}])
        gauge = self.api.call("item.create", hostid=hostid, name="lag", type=5, value_type=3,
                              key_="zabbix[vedette,stores,written]", delay="1s")["itemids"][0]
        self.assertTrue(self.send([("old", "n", "1", int(time.time()) - 60, 0)]))
        self.wait_for_rows("history_uint", items["n"], 1)
        # Only the store has this one: another tool, or a time before the data folder's.
        old = int(time.time()) - 20 * DAY
        self.store.query("INSERT INTO vedette.history_uint (itemid, clock, ns, value, keep) VALUES "
                         "(%s, %d, 7, 42, 31)" % (items["n"], old))
        rows = self.history(items["n"], 3)
        self.assertEqual([(r["value"], r["ns"]) for r in rows], [("42", "7"), ("1", "0")])
        rows = self.history(items["n"], 3, sortorder="DESC", limit=1)
        self.assertEqual([row["value"] for row in rows], ["1"])
        bed.wait_for("the gauge", lambda: self.history(gauge, 3)[-1]["value"] != "0")
        self.store.kill()
        try:
            begin = time.monotonic()
            with self.assertRaises(bed.ApiError):
                self.history(items["n"], 3)
            self.assertLess(time.monotonic() - begin, 30)
            rows = self.history(items["n"], 3, time_from=int(time.time()) - DAY)
            self.assertEqual([row["value"] for row in rows], ["1"])
            last = self.api.call("item.get", itemids=items["n"], output=["lastvalue"])
            self.assertEqual(last[0]["lastvalue"], "1")
        finally:
            self.store.start()

    def test_cleared_history_leaves_the_store(self):
        _, items = self.host("cleared", [{"key_": k, "value_type": 3} for k in ("n", "kept")])
        now = int(time.time())
        self.assertTrue(self.send([("cleared", k, str(n), now - 500 + n, n)
                                   for n in range(50) for k in ("n", "kept")]))
        self.wait_for_rows("history_uint", items["n"], 50)
        self.api.call("history.clear", [items["n"]])
        self.assertTrue(self.send([("cleared", "n", "7", now - 3, 1)]))
        self.wait_for_rows("history_uint", items["n"], 1)
        self.wait_for_rows("history_uint", items["kept"], 50)
        self.assertEqual([row["value"] for row in self.history(items["n"], 3)], ["7"])

    def test_views_of_the_documentation_show_each_row_once(self):
        _, items = self.host("shown", [{"key_": "f", "value_type": 0}, {"key_": "u", "value_type": 3}])
        now = int(time.time())
        self.assertTrue(self.send([("shown", "f", "1.5", now - 9, 1), ("shown", "u", "2", now - 8, 2)]))
        self.wait_for_rows("history_float", items["f"], 1)
        self.wait_for_rows("history_uint", items["u"], 1)
        # The same once more, as after an answer that got lost.
        self.store.query("INSERT INTO vedette.history_uint (itemid, clock, ns, value, keep) SELECT "
                         "itemid, clock, ns, value, keep FROM vedette.history_uint FINAL")
        for table in ("trends_float", "trends_uint"):
            self.store.query("INSERT INTO vedette.%s (itemid, clock, num, min, avg, max, keep) VALUES "
                             "(%s, 3600, 4, 1, 2, 3, 372)" % (table, items["f"]))
        with open(os.path.join(bed.ROOT, "docs", "stores", "clickhouse.md")) as page:
            statements = [part.split("```")[0] for part in page.read().split("```sql\n")[1:]]
        views = [sql for sql in statements if sql.startswith("CREATE VIEW")]
        self.assertEqual(len(views), 2)
        for sql in views:
            self.store.query(sql)
        both = "%s, %s" % (items["f"], items["u"])
        self.assertEqual(self.store.query(
            "SELECT value, ns FROM vedette.numbers WHERE itemid IN (%s) ORDER BY clock" % both),
            "1.5\t1\n2\t2")
        self.assertEqual(self.store.query(
            "SELECT num, min, avg, max FROM vedette.hours WHERE itemid IN (%s)" % both),
            "4\t1\t2\t3\n4\t1\t2\t3")


class Refused(bed.unittest.TestCase):
    def test_a_wrong_parameter_is_told_without_secrets(self):
        for store, said in (
            ("clickhouse=htp://u:%s@h/x" % SECRET, "is not like"),
            ("clickhouse:http://u:%s@h/x" % SECRET, "is named like"),
            ("mongo=http://u:%s@h/x" % SECRET, "is no store"),
        ):
            server = bed.Server(environment={"VEDETTE_HISTORY_STORE": store})
            self.addCleanup(server.clean)
            with self.assertRaises(AssertionError):
                server.start(timeout=20)
            self.assertIn(said, server.log())
            self.assertNotIn(SECRET, server.log())


if __name__ == "__main__":
    bed.main()
