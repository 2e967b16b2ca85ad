#!/usr/bin/env python3
"""History on a real Cassandra: everything acknowledged is there exactly once, whatever is killed,
also on three nodes of which one is down; and the API reads what the data folder keeps no longer."""
# separate: OnThreeNodes

import os
import shutil
import ssl
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
from cassandra import Cassandra, Replicas  # noqa: E402
from certificates import Authority  # noqa: E402
from cql import ONE, QUORUM, Cql  # noqa: E402
from storecase import DAY, SECRET, UNSIGNED  # noqa: E402

# Tables and their numbers in the list of days, by the API's value type.
TABLES = {0: ("history_float", 0), 1: ("history_text", 2), 2: ("history_log", 3),
          3: ("history_uint", 1), 4: ("history_text", 2)}


def stored(ask, item, kind, consistency=ONE):
    """All rows of an item: the list of days tells where they are."""
    table, number = TABLES[kind]
    rows = []
    for keep, day in ask("SELECT keep, day FROM vedette.history_days WHERE itemid = %s "
                         "AND kind = %d ALLOW FILTERING" % (item, number), consistency):
        rows += ask("SELECT clock, ns, value FROM vedette.%s_%dd WHERE itemid = %s AND day = %d"
                    % (table, keep, item, day), consistency)
    return sorted(rows)


class OnOneNode(storecase.AsksForPasswords, storecase.PromisesOnSmallDisk):
    """With passwords and rights, a limit that one text is above, and one for the disk: a node whose
    disk is really full leaves its clients without a word."""

    longest_text = 30000
    # Of the disk, data may take a tenth; there is some room for the log of writes.
    left_when_full = 4 << 20
    says_when_full = ("disk usage exceeds",)
    says_when_wrong = "bad credentials"

    @classmethod
    def make_store(cls):
        store = Cassandra(settings=(
            "authenticator: PasswordAuthenticator", "authorizer: CassandraAuthorizer",
            "column_value_size_fail_threshold: 40KiB",
            "data_disk_usage_percentage_warn_threshold: 5",
            "data_disk_usage_percentage_fail_threshold: 10",
        ), user=("cassandra", "cassandra"))
        cls.addClassCleanup(store.stop)
        for cql in (
            "CREATE ROLE vedette WITH LOGIN = true AND PASSWORD = '%s'" % SECRET,
            "CREATE KEYSPACE vedette WITH replication = "
            "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
            "GRANT ALL PERMISSIONS ON KEYSPACE vedette TO vedette",
        ):
            store.ask(cql)
        store.kill, store.start = store.nodes[0].kill, store.nodes[0].start
        store.pause, store.go_on = store.nodes[0].pause, store.nodes[0].go_on
        return store

    def set_password(self, password):
        self.store.ask("ALTER ROLE vedette WITH PASSWORD = '%s'" % password)
        # The node takes a password that it has just seen for some seconds more.
        node = self.store.nodes[0]

        def refuses(word):
            try:
                Cql(node.host, self.store.port, "vedette", word).socket.close()
            except OSError as refused:
                return "0100" in str(refused)
            return False

        other = "another-word" if password == SECRET else SECRET
        bed.wait_for("the password", lambda: refuses(other) and not refuses(password))

    @classmethod
    def parameter(cls):
        return "cassandra=" + cls.store.url("vedette", user=("vedette", SECRET))

    def rows(self, item, kind):
        return stored(self.store.ask, item, kind)

    def insert(self, item, clock, ns, value):
        day = clock // DAY
        self.store.ask("INSERT INTO vedette.history_uint_31d (itemid, day, clock, ns, value) "
                       "VALUES (%s, %d, %d, %d, %d)" % (item, day, clock, ns, value))
        self.store.ask("INSERT INTO vedette.history_days (itemid, keep, kind, day) "
                       "VALUES (%s, 31, 1, %d)" % (item, day))

    def set_version(self, version):
        self.store.ask("INSERT INTO vedette.vedette_state (name, value) VALUES ('version', %d)"
                       % version)

    def test_a_row_that_is_refused_blocks_no_other(self):
        _, items = self.host("refused", [{"key_": "t", "value_type": 4}])
        now = int(time.time())
        sent = ["small", "x" * 65535, "small again"]
        self.assertTrue(self.send([("refused", "t", text, now - 9 + n, 0)
                                   for n, text in enumerate(sent)]))
        rows = self.wait_for_rows(items["t"], 4, 2)
        self.assertEqual([value for _, _, value in rows], ["small", "small again"])
        refused = bed.wait_for("the file", self.refused)
        self.assertEqual(len(refused), 1)
        self.assertTrue(refused[0].startswith("%s\t%d." % (items["t"], now - 8)), refused[0][:80])
        self.assertIn("column_value_size", refused[0])
        shown = [row["value"] for row in self.history(items["t"], 4)]
        self.assertEqual(shown, sent)


class OnThreeNodes(storecase.StoreCase):
    """Three replicas, of which two confirm."""

    @classmethod
    def make_store(cls):
        store = Replicas()
        cls.addClassCleanup(store.stop)
        return store

    @classmethod
    def parameter(cls):
        return "cassandra=" + cls.store.url("vedette")

    def rows(self, item, kind):
        return stored(self.store.nodes[1].ask, item, kind, QUORUM)

    def one_dies(self):
        self.store.nodes[2].kill()

    def it_returns(self):
        self.store.nodes[2].start()

    def the_first_stops(self):
        self.store.nodes[0].terminate()
        self.store.nodes[0].end()

    def the_first_returns(self):
        self.store.nodes[0].start()

    def one_hangs(self):
        self.store.nodes[2].pause()
        time.sleep(5)
        self.store.nodes[2].go_on()

    def two_are_away(self):
        """Of what comes meanwhile nothing is confirmed."""
        since, away = self.log_end(), self.store.nodes[1:]
        for node in away:
            node.kill()
        bed.wait_for("a complaint", lambda: self.complaint(since))
        confirmed, taken = self.written_by_now(), len(self.acknowledged)
        self.old_values_fail(self.sent_item)
        bed.wait_for("values to be taken", lambda: len(self.acknowledged) > taken + 500)
        self.assertEqual(self.written_by_now(), confirmed)
        for node in away:
            node.start(wait=False)
        for node in away:
            node.wait()

    def test_nodes_stop_and_return_while_values_come(self):
        def arriving():
            before = self.written()
            bed.wait_for("rows in the store", lambda: self.written() > before + 200, 120)

        hostid, _ = self.host("gauges")
        self.gauge = self.api.call(
            "item.create", hostid=hostid, name="written", type=5, value_type=3,
            key_="zabbix[vedette,stores,written]", delay="1s")["itemids"][0]
        bed.wait_for("the gauge", lambda: self.history(self.gauge, UNSIGNED))
        # With two of three nodes up, rows go on arriving: nothing waits for the third.
        item = self.send_through("nodes", (self.one_dies, self.it_returns, self.the_first_stops,
                                           self.the_first_returns, self.one_hangs,
                                           self.two_are_away), arriving)
        # Each node sees them all, asking one other.
        rows = stored(self.store.nodes[0].ask, item, UNSIGNED, QUORUM)
        for node in self.store.nodes[1:]:
            self.assertEqual(stored(node.ask, item, UNSIGNED, QUORUM), rows)
        replication = self.store.ask("SELECT replication FROM system_schema.keyspaces "
                                     "WHERE keyspace_name = 'vedette'")
        self.assertIn(b"3", replication[0][0])

    def gauge_rows(self):
        return self.history(self.gauge, UNSIGNED, time_from=int(time.time()) - DAY)

    def written(self):
        return int(self.gauge_rows()[-1]["value"])

    def written_by_now(self):
        """What was confirmed, as told by a value of a later second."""
        now = int(time.time())
        bed.wait_for("the gauge", lambda: int(self.gauge_rows()[-1]["clock"]) > now)
        return self.written()


class InTwoCentres(storecase.StoreCase):
    """A node in each of two data centres."""

    @classmethod
    def make_store(cls):
        store = Cassandra(size=2, centres=("east", "west"))
        cls.addClassCleanup(store.stop)
        return store

    @classmethod
    def parameter(cls):
        return "cassandra=" + cls.store.url("vedette", "?datacenter=west")

    def rows(self, item, kind):
        return stored(self.store.nodes[1].ask, item, kind)

    def test_local_is_the_centre_that_is_named(self):
        _, items = self.host("two centres", [{"key_": "n", "value_type": UNSIGNED}])
        now = int(time.time()) - 60
        for settings, said in (("", "has several data centres"),
                               ("?datacenter=south", "has no data centre south")):
            before = os.path.getsize(self.server.log_path)
            self.name_store("cassandra=" + self.store.url("vedette", settings))

            def refused(before=before, said=said):
                with open(self.server.log_path, errors="replace") as log:
                    log.seek(before)
                    return [line for line in log
                            if "cannot write to a history store" in line and said in line]

            self.assertTrue(self.send([("two centres", "n", "1", now, len(settings))]))
            bed.wait_for("a complaint", refused)
        self.name_store(self.parameter())
        self.assertTrue(self.send([("two centres", "n", "2", now + 1, 0)]))
        self.wait_for_rows(items["n"], UNSIGNED, 3)
        # One replica in each centre, and the other centre is not missed.
        self.store.nodes[0].kill()
        self.assertTrue(self.send([("two centres", "n", "3", now + 2, 0)]))
        self.wait_for_rows(items["n"], UNSIGNED, 4)


class OverTls(storecase.StoreCase):
    """A node that speaks to nobody without TLS."""

    @classmethod
    def make_store(cls):
        cls.folder = tempfile.mkdtemp(prefix="vedette-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.authority = Authority(cls.folder)
        cls.authority.sign("node", "IP:127.0.0.1")
        cls.authority.sign("elsewhere", "DNS:node.example.com")
        options = """client_encryption_options:
  enabled: true
  optional: false
  store_type: PKCS12
  keystore: %s
  keystore_password: %s""" % (cls.authority.keystore("node", SECRET), SECRET)
        # A later certificate is not for the address.
        seen = ssl.create_default_context(cafile=cls.authority.pem)
        seen.check_hostname = False
        store = Cassandra(settings=(options,), tls=seen)
        cls.addClassCleanup(store.stop)
        store.kill, store.start = store.nodes[0].kill, store.nodes[0].start
        return store

    @classmethod
    def url(cls, settings):
        return "cassandra=" + cls.store.url("vedette", settings)

    @classmethod
    def parameter(cls):
        return cls.url("?sslrootcert=" + cls.authority.pem)

    def rows(self, item, kind):
        return stored(self.store.ask, item, kind)

    def test_only_an_authenticated_node_gets_values(self):
        self.send_through("over tls", (self.server_killed,))
        other = Authority(self.folder, "other", "Other authority")
        believing = "?sslrootcert=" + self.authority.pem
        for settings, refused in (
            ("?sslmode=require", False),
            (believing + "&sslmode=verify-ca", False),
            ("", True),
            ("?sslmode=verify-full", True),
            ("?sslrootcert=" + other.pem, True),
            ("?sslmode=verify-ca&sslrootcert=" + other.pem, True),
        ):
            said = self.outcome(self.url(settings))
            self.assertEqual("127.0.0.1:%d" % self.store.port in said, refused, (settings, said))
            if refused and settings:
                self.assertIn("certificate verify failed", said)
        # The same authority, and another machine.
        self.store.kill()
        shutil.copy(self.authority.keystore("elsewhere", SECRET),
                    os.path.join(self.folder, "node.p12"))
        self.store.start()
        self.assertEqual(self.outcome(self.url(believing + "&sslmode=verify-ca")), "")
        self.assertIn("certificate verify failed", self.outcome(self.url(believing)))


class Refused(bed.unittest.TestCase):
    def test_errors_of_parameters_contain_no_secrets(self):
        storecase.check_wrong_parameters(
            self,
            ("cassandra=cassandr://u:%s@h/x" % SECRET, "is not like"),
            ("cassandra=cassandra://u:%s@h/x?consistency=some" % SECRET, "is one of"),
            ("cassandra=cassandra://u:%s@h/x?secret=%s" % (SECRET, SECRET), "beside consistency"),
            ("cassandra=cassandra://u:%s@h/x?sslmode=%s" % (SECRET, SECRET), "sslmode of"),
            ("cassandra=cassandra://u:%s@h/x?sslmode=verify-ca" % SECRET, "wants sslrootcert"),
            ("cassandra=cassandra://u:%s@h/x?sslrootcert=no/file" % SECRET, "cannot read"),
        )


if __name__ == "__main__":
    bed.main()
