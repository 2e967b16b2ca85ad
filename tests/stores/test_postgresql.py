#!/usr/bin/env python3
"""History on a real PostgreSQL: everything acknowledged is there exactly once, whatever is killed,
and the API reads what the data folder keeps no longer."""

import json
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
from databases import Postgres  # noqa: E402
from storecase import DAY, SECRET, UNSIGNED  # noqa: E402
from tlscase import UNTRUSTED, Certificates, believing  # noqa: E402

VIEWS = {0: "history_float", 1: "history_text", 2: "history_log", 3: "history_uint",
         4: "history_text"}
SECOND = 10**9
# The administrator comes as he likes; others say a password, and not in the clear.
ENTRY = """host all postgres 127.0.0.1/32 trust
{kind} all all 127.0.0.1/32 scram-sha-256
"""


class OnPostgreSql(storecase.AsksForPasswords, storecase.Constrained,
                   storecase.PromisesOnSmallDisk):
    """With a user whose rights are those of the documentation."""

    says_when_wrong = "password authentication failed"
    server_of_store = Postgres

    @classmethod
    def make_store(cls):
        store = cls.server_of_store()
        cls.addClassCleanup(store.stop)
        cls.admit(store, "host")
        for sql in storecase.statements_of("postgresql"):
            store.query(sql)
        return store

    @classmethod
    def admit(cls, store, kind):
        with open(os.path.join(store.data, "pg_hba.conf"), "w") as file:
            file.write(ENTRY.format(kind=kind))
        store.query("SELECT pg_reload_conf()")

    @classmethod
    def parameter(cls):
        return "postgresql=" + cls.store.url("vedette", "vedette:" + SECRET)

    def set_password(self, password):
        self.store.query("ALTER USER vedette PASSWORD '%s'" % password)

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

    def set_version(self, version):
        self.query("DELETE FROM vedette_schema; INSERT INTO vedette_schema (version) VALUES (%d)" % version)

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

    def test_a_question_that_is_given_up_does_not_go_on(self):
        _, items = self.host("given up", [{"key_": "n", "value_type": UNSIGNED}])
        self.assertTrue(self.send([("given up", "n", "1", int(time.time()) - 60, 0)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        self.insert(items["n"], int(time.time()) - 20 * DAY, 7, 42)
        self.query("ALTER TABLE history_uint_31 RENAME TO hidden; CREATE VIEW history_uint_31 AS "
                   "SELECT hidden.* FROM hidden, pg_sleep(150); "
                   "GRANT SELECT ON history_uint_31 TO vedette")
        try:
            with self.assertRaisesRegex(bed.ApiError, "18 seconds"):
                self.history(items["n"], UNSIGNED)
            bed.wait_for("the end of the question", lambda: self.query(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'vedette' "
                "AND state = 'active' AND query LIKE '%% IN (%s) %%'" % items["n"]) == "0")
        finally:
            self.query("DROP VIEW history_uint_31; ALTER TABLE hidden RENAME TO history_uint_31")
        self.assertEqual([row["value"] for row in self.history(items["n"], UNSIGNED)], ["42", "1"])

    def test_tls_sends_values_only_to_a_verified_server(self):
        certificates = Certificates()
        self.addCleanup(certificates.remove)

        def show(name):
            for end, setting in (".pem", "ssl_cert_file"), (".key", "ssl_key_file"):
                path = os.path.join(self.store.data, name + end)
                shutil.copy(certificates.path(name + end), path)
                os.chmod(path, 0o600)
                if os.getuid() == 0:
                    shutil.chown(path, "postgres")
                self.store.query("ALTER SYSTEM SET %s = '%s'" % (setting, path))
            self.store.query("ALTER SYSTEM SET ssl = on")
            self.admit(self.store, "hostssl")

        self.addCleanup(self.admit, self.store, "host")
        for name, mode, authority, refused in (
            ("node", "disable", certificates.ours, "no encryption"),
            ("node", "require", certificates.other, ""),
            ("node", "verify-full", certificates.ours, ""),
            ("node", "verify-full", certificates.other, UNTRUSTED),
            ("elsewhere", "verify-full", certificates.ours, UNTRUSTED),
        ):
            show(name)
            said = self.outcome(self.parameter() + "?sslmode=" + mode, believing(authority))
            self.assertEqual(bool(said), bool(refused), said)
            self.assertIn(refused, said)

    def test_what_is_odd_before_rows_are_sent_blames_none(self):
        self.refused_until(
            "blamed",
            lambda: self.query("ALTER TABLE vedette_schema RENAME TO hidden; CREATE VIEW "
                               "vedette_schema AS SELECT 1 / (version - 1) AS version FROM hidden; "
                               "GRANT SELECT ON vedette_schema TO vedette"),
            lambda: self.query("DROP VIEW vedette_schema; ALTER TABLE hidden RENAME TO vedette_schema"),
            "division by zero")

    def test_views_have_real_times_and_need_only_select(self):
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
    def test_errors_of_parameters_contain_no_secrets(self):
        storecase.check_wrong_parameters(
            self,
            ("postgresql=postgre://u:%s@h/x" % SECRET, "is not like"),
            ("postgresql=postgresql://u:%s@h/x;y" % SECRET, "odd name"),
            ("postgresql=postgresql://u:%s@h/x?sslmode=%s" % (SECRET, SECRET), "sslmode=disable"),
        )


if __name__ == "__main__":
    bed.main()
