#!/usr/bin/env python3
"""`vedette history copy` and `check` between a data folder and a ClickHouse, back into another data
folder, and between stores."""

import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from clickhouses import ClickHouse  # noqa: E402
from databases import Postgres  # noqa: E402
from test_legacy import TABLE  # noqa: E402

DAY = 86400
DAYS = "60"
SECRET = "very-hidden-word"
KINDS = {"float": 0, "log": 2, "unsigned": 3, "text": 4}


class Copy(bed.unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = ClickHouse(SECRET)
        cls.addClassCleanup(cls.store.stop)
        cls.server = bed.Server()
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        case = bed.Case()
        case.api = cls.api = cls.server.api()
        # Values of the server's own items would be counted.
        own = cls.api.call("host.get", output=["hostid"])
        cls.api.call("host.delete", [host["hostid"] for host in own])
        _, cls.items = case.host("copied", [
            {"key_": key, "value_type": kind, "history": "90d"} for key, kind in KINDS.items()])
        cls.values = cls.send()
        cls.seen = cls.history(cls.api)
        cls.server.stop()

    @classmethod
    def send(cls):
        """Two values of each item on each of 20 days."""
        now, rows = int(time.time()), []
        for day in range(20):
            for n, key in enumerate(KINDS):
                for ns in (1, 999999999):
                    value = "%d" % (day * 10 + n) if n % 2 == 0 else "'%d\t\u20ac" % day
                    value = {"text": "t" + value, "log": "l" + value}.get(key, "%d" % (day + n))
                    rows.append({"host": "copied", "key": key, "value": value,
                                 "clock": now - 60 - day * DAY, "ns": ns})
        answer = bed.send(cls.server.address, {"request": "sender data", "data": rows})
        assert answer["info"].startswith("processed: %d; failed: 0;" % len(rows)), answer
        return len(rows)

    @classmethod
    def history(cls, api):
        return {key: api.call("history.get", history=kind, itemids=cls.items[key],
                              sortfield=["clock", "ns"], output="extend")
                for key, kind in KINDS.items()}

    def start(self, command, first, second, *more, folder=None, said=subprocess.PIPE):
        data = folder or os.path.join(self.server.folder, "data")
        environment = dict(os.environ, VEDETTE_HISTORY_STORE="clickhouse=" + self.store.url("copy"))
        return subprocess.Popen(
            [bed.BINARY, "history", command, "--from", first, "--to", second, "--data", data,
             "--days", DAYS, *more], env=environment, stdout=said, stderr=subprocess.STDOUT, text=True)

    def vedette(self, command, first, second, *more, folder=None):
        """The command's exit code and what it said."""
        with self.start(command, first, second, *more, folder=folder) as run:
            said = run.communicate(timeout=300)[0]
        self.assertNotIn(SECRET, said)
        return run.returncode, said

    def places(self):
        """Files of copies that were interrupted."""
        stores = os.path.join(self.server.folder, "data", "history", "stores")
        return [name for name in os.listdir(stores) if name.endswith(".place")]

    def interrupted(self, first, second):
        """A copy that is killed on its way."""
        with self.start("copy", first, second, said=subprocess.DEVNULL) as run:
            bed.wait_for("the first step", self.places, pause=0.01)
            run.kill()

    def assert_same(self, first, second, values=None):
        code, said = self.vedette("check", first, second)
        self.assertEqual(code, 0, said)
        self.assertIn("the same: %d values" % (values or self.values), said)

    def test_1_interrupted_it_goes_on_and_everything_is_there(self):
        self.interrupted("embedded", "store")
        code, said = self.vedette("copy", "embedded", "store")
        self.assertEqual(code, 0, said)
        self.assertIn("going on after", said)
        self.assertFalse(self.places())
        self.assert_same("embedded", "store")
        rows = [self.store.query("SELECT count() FROM copy.%s FINAL WHERE itemid IN (%s)" % (
            table, ",".join(self.items.values())))
            for table in ("history_float", "history_uint", "history_text", "history_log")]
        self.assertEqual(rows, ["40"] * 4)

    def test_2_differences_are_found_and_mended(self):
        item = self.items["unsigned"]
        self.store.query("ALTER TABLE copy.history_uint DELETE WHERE itemid = %s AND ns = 1" % item)
        self.store.query("INSERT INTO copy.history_float (itemid, clock, ns, value, keep) VALUES "
                         "(%s, now() - 100, 3, 1, 31)" % self.items["float"])

        gone = "SELECT count() FROM system.mutations WHERE is_done = 0"
        bed.wait_for("the deletion", lambda: self.store.query(gone) == "0")
        code, said = self.vedette("check", "embedded", "store")
        self.assertEqual(code, 1, said)
        self.assertIn("differ: 20 rows only in embedded, 1 only in clickhouse", said)
        code, said = self.vedette("copy", "embedded", "store")
        self.assertEqual(code, 0, said)
        code, said = self.vedette("check", "embedded", "store")
        self.assertIn("differ: 0 rows only in embedded, 1 only in clickhouse", said)
        self.store.query("ALTER TABLE copy.history_float DELETE WHERE ns = 3")
        bed.wait_for("the deletion", lambda: self.store.query(gone) == "0")

    def test_3_another_data_folder_gets_it_back(self):
        other = bed.Server()
        self.addCleanup(other.clean)
        folder = os.path.join(other.folder, "data")
        os.makedirs(folder)
        for name in ("config.db", "config-state.db"):
            shutil.copy(os.path.join(self.server.folder, "data", name), folder)
        code, said = self.vedette("copy", "store", "embedded", folder=folder)
        self.assertEqual(code, 0, said)
        other.start()
        self.assertEqual(self.history(other.api()), self.seen)
        # A running server's folder is nobody else's.
        code, said = self.vedette("check", "embedded", "store", folder=folder)
        self.assertEqual(code, 1)
        self.assertIn("in use by another vedette server", said)

    def test_4_wrong_arguments_are_refused_by_name(self):
        for first, second, expected in (
            ("embedded", "embedded", "source and target are the same; specify two"),
            ("store", "store", "specify two different stores"),
            ("store", "clickhouse", "is named like"),
            ("mongo=http://x", "embedded", "unknown history store"),
        ):
            code, said = self.vedette("copy", first, second)
            self.assertEqual(code, 1)
            self.assertIn(expected, said)

    def test_5_from_one_store_to_another_and_back(self):
        postgres = Postgres()
        self.addCleanup(postgres.stop)
        other = "postgresql=" + postgres.url("other", "postgres:" + SECRET)
        self.interrupted("store", other)
        code, said = self.vedette("copy", "store", other, "--restart")
        self.assertEqual(code, 0, said)
        self.assertNotIn("going on after", said)
        self.assertIn("copied %d values" % self.values, said)
        self.assertFalse(self.places())
        self.assert_same("store", other)
        rows = [postgres.query("SELECT count(*) FROM " + view, "other") for view in (
            "history_float", "history_uint", "history_text", "history_log")]
        self.assertEqual(rows, ["40"] * 4)
        # A row that somebody changed.
        table = postgres.query("SELECT relname FROM pg_class WHERE relkind = 'p' "
                               "AND relname LIKE 'history_uint_%'", "other")
        postgres.query("UPDATE %s SET value = 4711 WHERE moment = (SELECT max(moment) FROM %s)"
                       % (table, table), "other")
        code, said = self.vedette("check", "store", other)
        self.assertEqual(code, 1, said)
        self.assertIn(", 1 with other values", said)
        self.assertIn("4711", said)
        self.assertEqual(self.vedette("copy", "store", other)[0], 0)
        self.assert_same("store", other)
        back = "clickhouse=" + self.store.url("back")
        code, said = self.vedette("copy", other, back)
        self.assertEqual(code, 0, said)
        self.assert_same("store", back)

    def test_6_from_the_table_of_another_server(self):
        self.store.query("CREATE DATABASE zabbix")
        self.store.query(TABLE)
        sources = {"float": "0, value, ''", "unsigned": "toInt64(value), 0, ''",
                   "text": "0, 0, value", "log": "0, 0, value"}
        for kind, columns in sources.items():
            table = "copy.history_" + {"unsigned": "uint"}.get(kind, kind)
            self.store.query("INSERT INTO zabbix.history SELECT toDate(clock), itemid, clock, ns, "
                             "%s FROM %s FINAL" % (columns, table))
        old = "clickhouse=" + self.store.url("zabbix") + "?legacy=history"
        new = "clickhouse=" + self.store.url("moved")
        code, said = self.vedette("copy", old, new)
        self.assertEqual(code, 0, said)
        self.assertIn("copied %d values and 0 trends" % self.values, said)
        # Log lines are none that the table would be given.
        self.assert_same(old, new, self.values * 3 // 4)
        for table in ("float", "uint", "text", "log"):
            rows = ["SELECT itemid, clock, ns, value FROM %s.history_%s FINAL ORDER BY itemid, clock, ns"
                    % (database, table) for database in ("copy", "moved")]
            self.assertEqual(*map(self.store.query, rows))


if __name__ == "__main__":
    bed.main()
