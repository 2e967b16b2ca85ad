#!/usr/bin/env python3
"""No statement reads a whole table of PostgreSQL that grows with what is monitored, unless the list in
`statements` says so.

A server logs its statements while typical calls run. PostgreSQL explains the plan of each with
sequential scans switched off: one that is left has no index that could replace it."""

import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from databases import Postgres  # noqa: E402
from statements import SMALL, everything, is_allowed, logged, parameters  # noqa: E402

SETTINGS = """
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SET jit = off;
"""


def numbered(sql):
    """With PostgreSQL's parameters."""
    count = iter(range(1, 10_000))
    parts = re.split(r"('[^']*')", sql)
    return "".join(part if part.startswith("'") else re.sub(r"\?", lambda _: "$%d" % next(count), part)
                   for part in parts)


def scans(plan, limited=False):
    """Tables that a plan reads from their start to their end."""
    kind = plan["Node Type"]
    limited = kind == "Limit" or limited and kind not in ("Sort", "Aggregate", "Unique")
    whole = kind in ("Index Scan", "Index Only Scan") and "Index Cond" not in plan and not limited
    if kind == "Seq Scan" or whole:
        yield plan["Relation Name"]
    for inner in plan.get("Plans", ()):
        yield from scans(inner, limited)


class Plans(unittest.TestCase):
    def test_no_statement_reads_a_whole_large_table(self):
        server = bed.Server(arguments=["--log", "trace"])
        self.addCleanup(server.clean)
        server.start()
        everything(server, server.api())
        found = logged(server)
        self.assertGreater(len(found), 280)
        postgres = Postgres()
        self.addCleanup(postgres.stop)
        filled = bed.Server(arguments=["--database", postgres.create("vedette")])
        self.addCleanup(filled.clean)
        filled.start()
        filled.stop()
        script = os.path.join(postgres.folder, "statements.sql")
        with open(script, "w") as file:
            file.write("\\set ON_ERROR_STOP on\n" + SETTINGS)
            for number, sql in enumerate(found):
                values = ", ".join(["NULL"] * parameters(sql))
                file.write("PREPARE s%d AS %s;\n" % (number, numbered(sql)))
                file.write("EXPLAIN (FORMAT JSON) EXECUTE s%d%s;\n" % (number, values and "(%s)" % values))
                file.write("\\echo END\n")
        os.chmod(script, 0o644)
        plans = postgres.run("psql", "-h", "127.0.0.1", "-p", str(postgres.port), "-U", "postgres",
                             "-d", "vedette", "-X", "-A", "-t", "-q", "-f", script).decode()
        plans = [json.loads(plan) for plan in plans.split("END\n") if plan.strip()]
        self.assertEqual(len(plans), len(found))
        wrong = ["%s: %s" % (table, sql) for sql, plan in zip(found, plans)
                 for table in scans(plan[0]["Plan"])
                 if table not in SMALL and not is_allowed(sql)]
        print("%d statements, %d scans" % (len(found), len(wrong)))
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))


if __name__ == "__main__":
    bed.main()
