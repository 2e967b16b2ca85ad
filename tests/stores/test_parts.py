#!/usr/bin/env python3
"""Two real stores that are given a part each: numbers that are kept for longer than a month in
ClickHouse, log lines and texts in PostgreSQL, and the rest in the data folder alone."""

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
from clickhouses import ClickHouse  # noqa: E402
from databases import Postgres  # noqa: E402
from storecase import DAY, FLOAT, LOG, TEXT, UNSIGNED  # noqa: E402

#: Key: value type, days, where the values belong.
ITEMS = {
    "float": (FLOAT, 90, "clickhouse"),
    "long": (UNSIGNED, 31, "clickhouse"),
    "short": (UNSIGNED, 30, None),
    "log": (LOG, 7, "postgresql"),
    "text": (TEXT, 90, "postgresql"),
}
NUMBERS = ("float", "long", "short")
DAYS = (0, 1, 5, 6)


class Parts(storecase.StoreCase):
    @classmethod
    def setUpClass(cls):
        cls.clickhouse, cls.postgresql = ClickHouse(), Postgres()
        cls.addClassCleanup(cls.clickhouse.stop)
        cls.addClassCleanup(cls.postgresql.stop)
        cls.words = {
            "postgresql": "postgresql=%s?types=log,text" % cls.postgresql.url("vedette"),
            "clickhouse": "clickhouse=%s?types=float,unsigned&days=31-" % cls.clickhouse.url("vedette"),
        }
        cls.server = bed.Server(
            arguments=["--history-embedded-days", "2"],
            environment={"VEDETTE_HISTORY_STORE": " ".join(cls.words.values())})
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def counts(self, ids):
        """Key of an item and where it has how many rows; the server has items of its own."""
        found = []
        for kind in ("float", "uint", "text", "log"):
            sql = "SELECT itemid, count(*) FROM %shistory_" + kind + " GROUP BY itemid"
            for store, answer, mark in (
                    ("clickhouse", self.clickhouse.query(sql % "vedette."), "\t"),
                    ("postgresql", self.postgresql.query(sql % "", "vedette"), "|")):
                rows = dict(line.split(mark) for line in answer.splitlines())
                found += [(key, store, int(rows[ids[key]])) for key in ids if ids[key] in rows]
        return sorted(found)

    def times(self, item, kind):
        """Seconds of all that the API gives of an item."""
        return [int(row["clock"]) for row in self.history(item, kind)]

    def trends(self, ids):
        """Hours of numbers in ClickHouse: items keep them for a year. An hour that got more values is another
        row until ClickHouse merges them."""
        numbers = ",".join(ids[key] for key in NUMBERS)
        sql = "SELECT count() FROM vedette.trends_%s FINAL WHERE itemid IN (%s)"
        return sum(int(self.clickhouse.query(sql % (kind, numbers))) for kind in ("uint", "float"))

    def check(self, store):
        """What `vedette history check` says of the data folder and a store: items that differ. The
        server's own items do: what came in its last second waits in the log."""
        done = subprocess.run(
            [bed.BINARY, "history", "check", "--from", "embedded", "--to", self.words[store], "--data",
             os.path.join(self.server.folder, "data")], check=False, text=True, timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertRegex(done.stdout, "the same:|they differ:")
        return set(re.findall(r"ItemId\((\d+)\)", done.stdout))

    def test_each_store_has_its_part_and_all_is_read(self):
        _, ids = self.host("parts", [
            {"key_": key, "value_type": kind, "history": "%dd" % days}
            for key, (kind, days, _) in ITEMS.items()])
        now = int(time.time()) - 60
        moments = sorted(now - day * DAY for day in DAYS)
        self.assertTrue(self.send([("parts", key, "5", clock, 7)
                                   for clock in moments for key in ITEMS]))
        wanted = sorted((key, store, len(DAYS)) for key, (_, _, store) in ITEMS.items() if store)
        bed.wait_for("the stores to have their parts", lambda: self.counts(ids) == wanted)

        # Past Vedette: of a type of which it has some, a store is asked; of others it is not.
        odd = now - 4 * DAY
        insert = "INSERT INTO vedette.%s (itemid, clock, ns, value, keep) VALUES (%s, %d, 0, %s, 31)"
        self.clickhouse.query(insert % ("history_uint", ids["long"], odd, "9"))
        self.clickhouse.query(insert % ("history_uint", ids["short"], odd, "9"))
        self.clickhouse.query(insert % ("history_text", ids["text"], odd, "'9'"))
        with_odd = sorted(moments + [odd])
        for key, (kind, _, _) in ITEMS.items():
            with self.subTest(key=key):
                expected = with_odd if key in ("long", "short") else moments
                self.assertEqual(self.times(ids[key], kind), expected)

        # Kept for a shorter time from now on, new values stay; old ones are where they are.
        self.api.call("item.update", itemid=ids["long"], history="10d")
        self.assertTrue(self.send([("parts", "long", "6", now + 1, 7), ("parts", "log", "6", now + 1, 7)]))
        both = {("log", "postgresql", len(DAYS) + 1), ("long", "clickhouse", len(DAYS) + 1)}
        bed.wait_for("the next number and the next log line", lambda: both <= set(self.counts(ids)))
        self.assertEqual(self.times(ids["long"], UNSIGNED), [*with_odd, now + 1])

        # The end of a server makes trends of what it has; the next one brings them to the store.
        self.server.stop()
        self.server.start()
        self.api = self.server.api()
        bed.wait_for("trends", lambda: self.trends(ids) == len(self.api.call(
            "trend.get", itemids=[ids[key] for key in NUMBERS])) >= len(NUMBERS) * len(DAYS))
        self.server.stop()
        for store in self.words:
            self.assertFalse(self.check(store) & set(ids.values()))
        # It is seen where something is missing.
        for table in self.postgresql.query(
                "SELECT relname FROM pg_class WHERE relkind = 'p' AND relname LIKE 'history_log%'",
                "vedette").split():
            self.postgresql.query("DELETE FROM %s WHERE itemid = %s" % (table, ids["log"]), "vedette")
        self.assertIn(ids["log"], self.check("postgresql"))

    def test_unknown_words_are_reported(self):
        storecase.check_wrong_parameters(
            self,
            ("clickhouse=http://u:%s@h/d?types=integer" % storecase.SECRET, "some of float, unsigned, text, log"),
            ("clickhouse=http://u:%s@h/d?days=31" % storecase.SECRET, "are like 31-, -30 or 8-365"))


if __name__ == "__main__":
    bed.main()
