#!/usr/bin/env python3
"""History on a real ClickHouse: everything acknowledged is there exactly once, whatever is killed,
and the API reads what the data folder keeps no longer."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
import tlscase  # noqa: E402
from clickhouses import RESTRICTED, ClickHouse  # noqa: E402
from storecase import FLOAT, LOG, SECRET, TEXT, UNSIGNED  # noqa: E402

TABLES = {FLOAT: "history_float", LOG: "history_log", UNSIGNED: "history_uint"}


class OnClickHouse(tlscase.OverHttps, storecase.PromisesOnSmallDisk):
    says_when_full = ("No space left on device", "not enough space")

    @classmethod
    def make_store(cls):
        store = ClickHouse(SECRET)
        cls.addClassCleanup(store.stop)
        return store

    @classmethod
    def parameter(cls):
        return "clickhouse=" + cls.store.url("vedette")

    def rows(self, item, kind):
        found = self.store.query(
            "SELECT toUInt32(clock), ns, value FROM vedette.%s FINAL WHERE itemid = %s "
            "ORDER BY clock, ns FORMAT JSONCompact" % (TABLES.get(kind, "history_text"), item))
        # JSON has numbers of 64 bits as texts.
        read = int if kind == UNSIGNED else lambda value: value
        return [(clock, ns, read(value)) for clock, ns, value in json.loads(found)["data"]]

    def trends(self, item):
        found = self.store.query("SELECT toUInt32(clock), num, min, avg, max FROM vedette.trends_uint "
                                 "FINAL WHERE itemid = %s ORDER BY clock" % item)
        return [tuple(map(int, line.split("\t"))) for line in found.splitlines()]

    def insert(self, item, clock, ns, value):
        self.store.query("INSERT INTO vedette.history_uint (itemid, clock, ns, value, keep) VALUES "
                         "(%s, %d, %d, %d, 31)" % (item, clock, ns, value))

    def set_version(self, version):
        table = "vedette.vedette_schema"
        self.store.query("ALTER TABLE %s DELETE WHERE version != %d" % (table, version))
        self.store.query("INSERT INTO %s VALUES (%d, now())" % (table, version))
        bed.wait_for("the version", lambda: self.store.query(
            "SELECT max(version) FROM " + table) == str(version))

    def faults(self):
        return (*super().faults(), self.store_killed)

    def test_a_row_that_is_refused_blocks_no_other(self):
        _, items = self.host("refused", [{"key_": "t", "value_type": TEXT}])
        now = int(time.time())
        self.assertTrue(self.send([("refused", "t", "1", now - 9, 1)]))
        self.wait_for_rows(items["t"], TEXT, 1)
        # A column of the administrator's, which this item's texts have to be numbers for.
        self.store.query("ALTER TABLE vedette.history_text ADD COLUMN number Float64 "
                         "DEFAULT toFloat64(if(itemid = %s, value, '0'))" % items["t"])
        try:
            self.assertTrue(self.send([("refused", "t", text, now - 8 + n, 1)
                                       for n, text in enumerate(("2", "three", "4"))]))
            rows = self.wait_for_rows(items["t"], TEXT, 3)
            self.assertEqual([value for _, _, value in rows], ["1", "2", "4"])
            [line] = bed.wait_for("the file", lambda: self.refused(items["t"]))
            self.assertTrue(line.startswith("%s\t%d." % (items["t"], now - 7)), line)
        finally:
            self.store.query("ALTER TABLE vedette.history_text DROP COLUMN number")

    def test_views_of_the_documentation_show_each_row_once(self):
        _, items = self.host("shown", [{"key_": "f", "value_type": FLOAT},
                                       {"key_": "u", "value_type": UNSIGNED}])
        now = int(time.time())
        self.assertTrue(self.send([("shown", "f", "1.5", now - 9, 1),
                                   ("shown", "u", "2", now - 8, 2)]))
        self.wait_for_rows(items["f"], FLOAT, 1)
        self.wait_for_rows(items["u"], UNSIGNED, 1)
        # The same once more, as after an answer that got lost.
        self.store.query("INSERT INTO vedette.history_uint (itemid, clock, ns, value, keep) SELECT "
                         "itemid, clock, ns, value, keep FROM vedette.history_uint FINAL")
        for table in ("trends_float", "trends_uint"):
            self.store.query("INSERT INTO vedette.%s (itemid, clock, num, min, avg, max, keep) "
                             "VALUES (%s, 3600, 4, 1, 2, 3, 372)" % (table, items["f"]))
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

    def test_a_deletion_waits_for_no_other_that_fails(self):
        _, items = self.host("deleted", [{"key_": "n", "value_type": UNSIGNED}])
        now = int(time.time())
        self.assertTrue(self.send([("deleted", "n", "1", now - 9, 1)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        # The administrator's, in a partition of its own.
        day = now // storecase.DAY
        self.store.query("INSERT INTO vedette.history_uint (itemid, clock, ns, value, keep) VALUES "
                         "(99999999, %d, 0, 1, 99)" % now)
        self.store.query("ALTER TABLE vedette.history_uint UPDATE value = throwIf(value = 1) "
                         "WHERE itemid = 99999999")
        try:
            self.api.call("history.clear", [items["n"]])
            self.wait_for_rows(items["n"], UNSIGNED, 0, 30)
            # What comes behind is written: nobody waits any more.
            self.assertTrue(self.send([("deleted", "n", "2", now - 8, 1)]))
            self.wait_for_rows(items["n"], UNSIGNED, 1, 30)
            self.assertNotEqual("0", self.store.query(
                "SELECT count() FROM system.mutations WHERE is_done = 0"))
        finally:
            self.store.query("ALTER TABLE vedette.history_uint DROP PARTITION (99,%d)" % day)

    def test_a_question_that_is_given_up_does_not_go_on(self):
        _, items = self.host("given up", [{"key_": "n", "value_type": UNSIGNED}])
        self.assertTrue(self.send([("given up", "n", "1", int(time.time()) - 60, 0)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        # A legacy table may be a view: of this one the server would look for a row for ever.
        self.store.query(
            "CREATE VIEW vedette.endless AS SELECT today() AS day, number + 4294967296 AS itemid, "
            "now() AS clock, toUInt32(0) AS ns, toInt64(0) AS value, toFloat64(0) AS value_dbl, "
            "'' AS value_str FROM system.numbers")
        usual = self.parameter()
        self.addCleanup(self.name_store, usual)
        self.name_store(usual + "?legacy=endless")
        with self.assertRaisesRegex(bed.ApiError, "18 seconds"):
            self.history(items["n"], UNSIGNED)
        bed.wait_for("the end of the question", lambda: self.store.query(
            "SELECT count() FROM system.processes "
            "WHERE position(query, concat('FROM end', 'less')) > 0") == "0")


class Restricted(storecase.AsksForPasswords, storecase.StoreCase):
    """A user who may use one database, and nothing else."""

    says_when_wrong = "Wrong password for user vedette"

    @classmethod
    def make_store(cls):
        store = ClickHouse(SECRET, users=RESTRICTED)
        cls.addClassCleanup(store.stop)
        store.query("CREATE DATABASE vedette")
        return store

    @classmethod
    def parameter(cls):
        return "clickhouse=" + cls.store.url("vedette").replace("default:", "vedette:")

    rows = OnClickHouse.rows

    def set_password(self, password):
        self.store.set_users(RESTRICTED.format(password=password))
        self.store.query("SYSTEM RELOAD CONFIG")

    def test_a_database_of_its_own_is_all_that_a_user_needs(self):
        _, items = self.host("own", [{"key_": "n", "value_type": UNSIGNED}])
        now = int(time.time())
        self.assertTrue(self.send([("own", "n", "1", now - 9, 1)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        self.api.call("history.clear", [items["n"]])
        self.wait_for_rows(items["n"], UNSIGNED, 0)
        with self.assertRaises(OSError):
            self.store.query("CREATE TABLE default.x (n UInt8) ENGINE = Memory", user="vedette")


class Refused(bed.unittest.TestCase):
    def test_errors_of_parameters_contain_no_secrets(self):
        storecase.check_wrong_parameters(
            self,
            ("clickhouse=htp://u:%s@h/x" % SECRET, "is not like"),
            ("clickhouse:http://u:%s@h/x" % SECRET, "is named like"),
            ("mongo=http://u:%s@h/x" % SECRET, "unknown history store"),
        )


if __name__ == "__main__":
    bed.main()
