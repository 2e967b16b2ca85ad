#!/usr/bin/env python3
"""History on a real TimescaleDB: what is promised on PostgreSQL, with hypertables and chunks."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import test_postgresql  # noqa: E402
from databases import TimescaleDb  # noqa: E402
from storecase import DAY, UNSIGNED  # noqa: E402
from test_postgresql import SECOND  # noqa: E402


class OnTimescaleDb(test_postgresql.OnPostgreSql):
    server_of_store = TimescaleDb

    @classmethod
    def make_store(cls):
        store = super().make_store()
        store.query("CREATE EXTENSION timescaledb", "vedette")
        return store

    def insert(self, item, clock, ns, value):
        self.query("INSERT INTO history_uint_31 (itemid, moment, value) VALUES (%s, %d, %d)"
                   % (item, clock * SECOND + ns, value))

    def chunks(self, table):
        """The first days of a hypertable's chunks, in order."""
        found = self.query("SELECT range_start_integer FROM timescaledb_information.chunks "
                           "WHERE hypertable_name = '%s' ORDER BY 1" % table)
        return [int(start) // (DAY * SECOND) for start in found.split()]

    def test_all_tables_are_hypertables_and_old_days_go_as_chunks(self):
        _, items = self.host("chunks", [{"key_": "n", "value_type": UNSIGNED, "history": "2d"}])
        now = int(time.time())
        self.assertTrue(self.send([("chunks", "n", "1", now - 60, 1)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        tables = self.query("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND "
                            "relnamespace = 'public'::regnamespace AND relname ~ '_[0-9]+$' "
                            "ORDER BY 1").split()
        self.assertIn("history_uint_2", tables)
        hypertables = self.query("SELECT hypertable_name FROM timescaledb_information.hypertables "
                                 "ORDER BY 1").split()
        self.assertEqual(hypertables, tables)
        today = now // DAY
        for day in range(today - 9, today):
            self.query("INSERT INTO history_uint_2 (itemid, moment, value) VALUES (%s, %d, 5)"
                       % (items["n"], day * DAY * SECOND))
        # Days that are over are dropped a minute after a start, then hourly.
        self.name_store(self.parameter())
        bed.wait_for("old chunks to go",
                     lambda: today - 9 not in self.chunks("history_uint_2"), 150)
        # Midnight may have passed.
        self.assertIn(self.chunks("history_uint_2")[0], (today - 2, today - 1))
        rows = self.rows(items["n"], UNSIGNED)
        self.assertIn(((today - 1) * DAY, 0, 5), rows)
        self.assertIn((now - 60, 1, 1), rows)


if __name__ == "__main__":
    bed.main()
