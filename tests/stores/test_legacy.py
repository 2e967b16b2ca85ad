#!/usr/bin/env python3
"""The history table that patches of other servers for ClickHouse use: read, written, deleted from, and
nothing of it lost whatever is killed."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
from clickhouses import ClickHouse  # noqa: E402
from storecase import DAY, SECRET  # noqa: E402

KINDS = {"float": 0, "char": 1, "log": 2, "unsigned": 3, "text": 4}
TABLE = """CREATE TABLE zabbix.history (day Date, itemid UInt64, clock DateTime, ns UInt32,
    value Int64, value_dbl Float64, value_str String) ENGINE = MergeTree(day, (itemid, clock), 8192)"""


class LegacyCase(storecase.StoreCase):
    @classmethod
    def make_store(cls):
        store = ClickHouse(SECRET)
        cls.addClassCleanup(store.stop)
        store.query("CREATE DATABASE zabbix")
        store.query(TABLE)
        return store

    @classmethod
    def parameter(cls):
        return "clickhouse=" + cls.store.url("zabbix") + "?legacy=history"


class Faults(LegacyCase):
    def rows(self, item, kind):
        # What was sent again may be there twice, and is the same.
        found = self.store.query("SELECT DISTINCT toUInt32(clock), ns, value FROM zabbix.history "
                                 "WHERE itemid = %s ORDER BY clock, ns" % item)
        return [tuple(map(int, line.split("\t"))) for line in found.splitlines()]

    def test_killed_and_paused_nothing_is_lost(self):
        self.send_through("faults", (self.store_paused, self.store_killed,
                                     self.server_killed_while_the_store_is_away))


class Legacy(LegacyCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        _, cls.items = case.host("old", [
            {"key_": key, "value_type": kind} for key, kind in KINDS.items()])

    def history(self, key):
        rows = self.api.call("history.get", history=KINDS[key], itemids=self.items[key],
                             sortfield="clock")
        return [(row["value"], int(row["ns"])) for row in rows]

    def test_1_what_another_server_wrote_is_read(self):
        old = int(time.time()) - 20 * DAY
        columns = {"float": "0, 1.5, ''", "char": "0, 0, 'word'", "log": "0, 0, 'a line'",
                   "unsigned": "9223372036854775807, 0, ''", "text": "0, 0, 'text'"}
        expected = {"float": "1.5", "char": "word", "log": "a line",
                    "unsigned": "9223372036854775807", "text": "text"}
        for key, values in columns.items():
            # A zero, and each row twice, as after an insert that was tried again.
            for row in ("%d, 5, %s" % (old, values), "%d, 6, 0, 0, ''" % (old + 1)):
                for _ in range(2):
                    self.store.query("INSERT INTO zabbix.history VALUES (toDate(%d), %s, %s)" % (
                        old, self.items[key], row))
            zero = "0" if key in ("float", "unsigned") else ""
            self.assertEqual(self.history(key), [(expected[key], 5), (zero, 6)], key)
        for key in ("float", "unsigned"):
            [bucket] = self.api.call("history.buckets", history=KINDS[key], width=2**32 - 1,
                                     itemids=self.items[key], time_from=old, time_till=old + 1)
            found = [bucket[name] for name in ("clock", "num", "value_min", "value_max")]
            self.assertEqual(found, ["0", "2", "0", expected[key]], key)

    def test_2_values_arrive_and_rejected_ones_are_set_aside(self):
        now = int(time.time()) - 10
        sent = {"float": "-2.5", "char": "c", "unsigned": "7", "text": "t'\u20ac"}
        data = [{"host": "old", "key": key, "value": value, "clock": now, "ns": 3}
                for key, value in sent.items()]
        data.append({"host": "old", "key": "unsigned", "value": str(2**63), "clock": now, "ns": 4})
        # The table has no room for the source: the line stays embedded, older than other values may.
        line = {"value": "l", "source": "s", "clock": now - 9 * DAY, "ns": 3}
        data.append({"host": "old", "key": "log", **line})
        answer = bed.send(self.server.address, {"request": "sender data", "data": data})
        self.assertTrue(answer["info"].startswith("processed: 6; failed: 0;"), answer)
        columns = {"float": "value_dbl", "unsigned": "value"}
        for key, value in sent.items():
            sql = "SELECT %s FROM zabbix.history WHERE itemid = %s AND clock = %d AND ns = 3" % (
                columns.get(key, "value_str"), self.items[key], now)
            shown = value.replace("'", "\\'")
            bed.wait_for(key, lambda s=sql, v=shown: self.store.query(s) == v)
        refused = os.path.join(self.server.folder, "data", "history", "stores")

        def lines():
            name = [name for name in os.listdir(refused) if name.endswith(".refused")][0]
            with open(os.path.join(refused, name)) as file:
                return file.readlines()
        bed.wait_for("the refused row", lines)
        self.assertEqual([line.split("\t")[2] for line in lines()], [str(2**63)])
        # The embedded history has it.
        self.assertEqual(self.history("unsigned")[-1], (str(2**63), 4))
        [kept] = self.api.call("history.get", history=KINDS["log"], itemids=self.items["log"],
                               time_from=line["clock"], output="extend")
        self.assertEqual([kept["value"], kept["source"]], ["l", "s"])
        self.assertEqual(self.store.query("SELECT count() FROM zabbix.history WHERE itemid = %s "
                                          "AND clock >= %d" % (self.items["log"], now - 10 * DAY)), "0")

    def test_3_deletions_are_made(self):
        self.api.call("history.clear", [self.items["float"]])
        sql = "SELECT count() FROM zabbix.history WHERE itemid = "
        bed.wait_for("the deletion", lambda: self.store.query(sql + self.items["float"]) == "0")
        self.assertNotEqual(self.store.query(sql + self.items["unsigned"]), "0")


class Wrong(bed.unittest.TestCase):
    def test_a_table_of_another_shape_is_refused(self):
        store = ClickHouse()
        self.addCleanup(store.stop)
        store.query("CREATE TABLE default.history (a UInt8) ENGINE = Memory")
        server = bed.Server(environment={
            "VEDETTE_HISTORY_STORE": "clickhouse=" + store.url("default") + "?legacy=history"})
        self.addCleanup(server.clean)
        server.start()
        bed.wait_for("the log", lambda: "not a history table with the columns" in server.log(1000))


if __name__ == "__main__":
    bed.main()
