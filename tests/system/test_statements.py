#!/usr/bin/env python3
"""No statement reads a whole table that grows with what is monitored, unless the list in
`statements` says so; and none finds its rows by an index of a column that has 0 in most rows.

The server logs its statements while typical calls run; SQLite explains the plan of each."""

import os
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from statements import (  # noqa: E402
    SMALL, everything, finds_the_usual, is_allowed, logged, parameters, tables)


class Statements(bed.Case):
    arguments = ("--log", "trace")

    def test_no_statement_reads_a_whole_large_table(self):
        everything(self.server, self.api)
        found = logged(self.server)
        self.assertGreater(len(found), 280)
        data = os.path.join(self.server.folder, "data")
        database = sqlite3.connect(os.path.join(data, "config.db"))
        self.addCleanup(database.close)
        database.execute("ATTACH DATABASE ? AS state", (os.path.join(data, "config-state.db"),))
        scans, usual = [], []
        for sql in found:
            short = tables(sql)
            for row in database.execute("EXPLAIN QUERY PLAN " + sql, [None] * parameters(sql)):
                if finds_the_usual(row[3], sql):
                    usual.append("%s: %s" % (row[3], sql))
                scan = re.match(r"SCAN ([a-z]\w*)", row[3])
                # `v`: the rows of VALUES.
                if not scan or scan.group(1) == "v" or short.get(scan.group(1), scan.group(1)) in SMALL:
                    continue
                if not is_allowed(sql):
                    scans.append("%s: %s" % (row[3], sql))
        print("%d statements, %d scans" % (len(found), len(scans)))
        self.assertEqual(scans, [], "\n" + "\n".join(scans))
        self.assertEqual(usual, [], "\n" + "\n".join(usual))


if __name__ == "__main__":
    bed.main()
