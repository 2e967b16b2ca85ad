#!/usr/bin/env python3
"""History on a real MariaDB: everything acknowledged is there exactly once, whatever is killed,
and the API reads what the data folder keeps no longer."""

import contextlib
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
from databases import MariaDb  # noqa: E402
from storecase import DAY, SECRET, UNSIGNED  # noqa: E402
from tlscase import UNTRUSTED, Certificates, believing  # noqa: E402

VIEWS = {0: "history_float", 1: "history_text", 2: "history_log", 3: "history_uint",
         4: "history_text"}
SECOND = 10**9


class OnMariaDb(storecase.AsksForPasswords, storecase.Constrained,
                storecase.PromisesOnSmallDisk):
    """With a user whose rights are those of the documentation, and a server that takes no long
    statements."""

    longest_text = 30000
    says_when_wrong = "Access denied for user 'vedette'"
    # 1114 is how InnoDB says it.
    says_when_full = ("No space left on device", "is full", "(1114)")

    @classmethod
    def make_store(cls):
        cls.certificates = Certificates()
        cls.addClassCleanup(cls.certificates.remove)
        cls.shown = [cls.certificates.path("shown" + end) for end in (".pem", ".key")]
        cls.show("node")
        store = MariaDb(("innodb-buffer-pool-size=32M", "innodb-flush-log-at-trx-commit=2",
                         "max-allowed-packet=64K", "ssl-cert=" + cls.shown[0],
                         "ssl-key=" + cls.shown[1]))
        cls.addClassCleanup(store.stop)
        store.run("\n".join(storecase.statements_of("mysql")))
        return store

    @classmethod
    def show(cls, name):
        """The certificate that the server shows when it looks again."""
        for path, end in zip(cls.shown, (".pem", ".key")):
            shutil.copy(cls.certificates.path(name + end), path)
            os.chmod(path, 0o644)

    def set_password(self, password):
        self.store.run("ALTER USER vedette IDENTIFIED BY '%s'" % password)

    @classmethod
    def parameter(cls):
        return "mysql=" + cls.store.url("vedette", "vedette:" + SECRET)

    def query(self, sql):
        return self.store.query(sql, "vedette")

    def rows(self, item, kind):
        value = "value" if kind in (0, UNSIGNED) else "HEX(value)"
        found = self.query("SELECT moment, %s FROM %s WHERE itemid = %s ORDER BY moment"
                           % (value, VIEWS[kind], item))
        read = {0: float, UNSIGNED: int}.get(kind, lambda text: bytes.fromhex(text).decode())
        return [(int(moment) // SECOND, int(moment) % SECOND, read(value))
                for moment, value in found]

    def trends(self, item):
        found = self.query("SELECT moment DIV %d, num, min, avg, max FROM trends_uint "
                           "WHERE itemid = %s ORDER BY moment" % (SECOND, item))
        return [tuple(map(int, row)) for row in found]

    def insert(self, item, clock, ns, value):
        self.query("INSERT INTO history_uint_31 (itemid, moment, value) VALUES (%s, %d, %d)"
                   % (item, clock * SECOND + ns, value))

    def set_version(self, version):
        self.query("DELETE FROM vedette_schema; INSERT INTO vedette_schema (version) VALUES (%d)" % version)

    def store_takes_no_writes(self):
        """As after a failover to a machine that only answers questions."""
        for state in ("ON", "OFF"):
            self.store.run("SET GLOBAL read_only = " + state)
            time.sleep(2)

    def connections_end(self):
        for (number,) in self.query("SELECT id FROM information_schema.processlist "
                                    "WHERE user = 'vedette'"):
            # It may have ended by itself.
            with contextlib.suppress(OSError):
                self.store.query("KILL " + number)

    def faults(self):
        return (*super().faults(), self.connections_end, self.store_takes_no_writes)

    def test_a_row_that_is_refused_blocks_no_other(self):
        _, items = self.host("refused", [{"key_": "t", "value_type": 4}])
        now = int(time.time())
        sent = ["small", "x" * 65535, "small again"]
        self.assertTrue(self.send([("refused", "t", text, now - 9 + n, 0)
                                   for n, text in enumerate(sent)]))
        rows = self.wait_for_rows(items["t"], 4, 2)
        self.assertEqual([value for _, _, value in rows], ["small", "small again"])
        refused = bed.wait_for("the file", lambda: self.refused(items["t"]))
        self.assertEqual(len(refused), 1)
        self.assertTrue(refused[0].startswith("%s\t%d." % (items["t"], now - 8)), refused[0][:80])
        self.assertIn("max_allowed_packet", refused[0])
        self.assertEqual([row["value"] for row in self.history(items["t"], 4)], sent)

    def test_a_question_that_is_given_up_does_not_go_on(self):
        _, items = self.host("given up", [{"key_": "n", "value_type": UNSIGNED}])
        self.assertTrue(self.send([("given up", "n", "1", int(time.time()) - 60, 0)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        self.insert(items["n"], int(time.time()) - 20 * DAY, 7, 42)
        self.query("RENAME TABLE history_uint_31 TO hidden; CREATE VIEW history_uint_31 AS "
                   "SELECT * FROM hidden WHERE SLEEP(150) = 0")
        try:
            with self.assertRaisesRegex(bed.ApiError, "18 seconds"):
                self.history(items["n"], UNSIGNED)
            bed.wait_for("the end of the question", lambda: self.query(
                "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'vedette' "
                "AND info LIKE '%% IN (%s) %%'" % items["n"]) == [["0"]])
        finally:
            self.query("DROP VIEW history_uint_31; RENAME TABLE hidden TO history_uint_31")
        self.assertEqual([row["value"] for row in self.history(items["n"], UNSIGNED)], ["42", "1"])

    def test_tls_sends_values_only_to_a_verified_server(self):
        self.store.run("ALTER USER vedette REQUIRE SSL")
        self.addCleanup(self.store.run, "ALTER USER vedette REQUIRE NONE")
        ours, other = self.certificates.ours, self.certificates.other
        for name, mode, authority, refused in (
            ("node", "disable", ours, "Access denied"),
            ("node", "require", other, ""),
            ("node", "verify-full", ours, ""),
            ("node", "verify-full", other, UNTRUSTED),
            ("elsewhere", "verify-full", ours, UNTRUSTED),
        ):
            self.show(name)
            self.store.run("FLUSH SSL")
            said = self.outcome(self.parameter() + "?sslmode=" + mode, believing(authority))
            self.assertEqual(bool(said), bool(refused), said)
            self.assertIn(refused, said)

    def test_views_have_real_times_and_need_only_select(self):
        _, items = self.host("views", [{"key_": "n", "value_type": UNSIGNED}])
        now = int(time.time()) - 60
        self.assertTrue(self.send([("views", "n", str(2**64 - 1), now, 5000)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        self.store.run("CREATE USER grafana; GRANT SELECT ON vedette.history_uint TO grafana")
        found = self.store.query(
            "SET time_zone = '+05:00'; SELECT time, value FROM history_uint "
            "WHERE itemid = %s AND moment >= %d" % (items["n"], now * SECOND), "vedette", "grafana")
        told = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now)) + ".000005"
        self.assertEqual(found, [[told, "18446744073709551615"]])


class Refused(bed.unittest.TestCase):
    def test_errors_of_parameters_contain_no_secrets(self):
        storecase.check_wrong_parameters(
            self,
            ("mysql=mariadb://u:%s@h/x" % SECRET, "is not like"),
            ("mysql=mysql://u:%s@h/x?secret=%s" % (SECRET, SECRET), "sslmode=disable"),
        )


if __name__ == "__main__":
    bed.main()
