#!/usr/bin/env python3
"""History on a real PostgreSQL: everything acknowledged is there exactly once, whatever is killed,
and the API reads what the data folder keeps no longer."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
from databases import Postgres  # noqa: E402
from storecase import DAY, SECRET, UNSIGNED  # noqa: E402

VIEWS = {0: "history_float", 1: "history_text", 2: "history_log", 3: "history_uint",
         4: "history_text"}
SECOND = 10**9


class OnPostgreSql(storecase.Constrained, storecase.PromisesOnSmallDisk):
    @classmethod
    def make_store(cls):
        store = Postgres()
        cls.addClassCleanup(store.stop)
        return store

    @classmethod
    def parameter(cls):
        return "postgresql=" + cls.store.url("vedette", "postgres:" + SECRET)

    def query(self, sql):
        return self.store.query(sql, "vedette")

    def rows(self, item, kind):
        found = self.query(
            "SELECT coalesce(json_agg(json_build_array(moment, value) ORDER BY moment), '[]') "
            "FROM %s WHERE itemid = %s" % (VIEWS[kind], item))
        return [(moment // SECOND, moment % SECOND, value)
                for moment, value in json.loads(found)]

    def trends(self, item):
        found = self.query("SELECT moment / %d, num, min, avg, max FROM trends_uint "
                           "WHERE itemid = %s ORDER BY moment" % (SECOND, item))
        return [tuple(map(int, line.split("|"))) for line in found.splitlines()]

    def insert(self, item, clock, ns, value):
        day = clock // DAY
        self.query(
            "CREATE TABLE IF NOT EXISTS history_uint_31_p%d PARTITION OF history_uint_31 "
            "FOR VALUES FROM (%d) TO (%d)" % (day, day * DAY * SECOND, (day + 1) * DAY * SECOND))
        self.query("INSERT INTO history_uint_31 (itemid, moment, value) VALUES (%s, %d, %d)"
                   % (item, clock * SECOND + ns, value))

    def store_takes_no_writes(self):
        """As after a failover to a machine that only answers questions."""
        for state in ("on", "off"):
            self.store.query("ALTER SYSTEM SET default_transaction_read_only = %s" % state)
            self.store.query("SELECT pg_reload_conf()")
            time.sleep(2)

    def backends_end(self):
        self.store.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                         "WHERE application_name = 'vedette'")

    def faults(self):
        return (*super().faults(), self.backends_end, self.store_takes_no_writes)

    def test_views_have_real_times_and_their_reader_needs_nothing_else(self):
        _, items = self.host("views", [{"key_": "n", "value_type": UNSIGNED}])
        now = int(time.time()) - 60
        self.assertTrue(self.send([("views", "n", str(2**64 - 1), now, 5)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        self.query("CREATE USER grafana; GRANT SELECT ON history_uint TO grafana")
        found = self.query(
            "SET ROLE grafana; SELECT extract(epoch FROM date_trunc('second', time))::bigint, value "
            "FROM history_uint WHERE itemid = %s AND moment >= %d" % (items["n"], now * SECOND))
        self.assertEqual(found, "%d|18446744073709551615" % now)


class Refused(bed.unittest.TestCase):
    def test_a_wrong_parameter_is_told_without_secrets(self):
        storecase.check_wrong_parameters(
            self,
            ("postgresql=postgre://u:%s@h/x" % SECRET, "is not like"),
            ("postgresql=postgresql://u:%s@h/x;y" % SECRET, "odd name"),
            ("postgresql=postgresql://u:%s@h/x?sslmode=%s" % (SECRET, SECRET), "sslmode=disable"),
        )


if __name__ == "__main__":
    bed.main()
