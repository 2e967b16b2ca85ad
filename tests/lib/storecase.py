"""What the whole product promises of every history store, whatever is killed.

A test of a store subclasses `Promises` and looks into the store with eyes of its own; one that
needs a server with a store for something else, `StoreCase`. (Import the module, not the classes:
unittest runs every class that it finds in a file.)
"""

import glob
import contextlib
import os
import re
import secrets
import sys
import tempfile
import threading
import time

import bed

sys.path.insert(0, os.path.join(bed.ROOT, "clients", "python"))
import vedette_history
from slowline import SlowLine
from smalldisk import SmallDisk

HOUR, DAY = 3600, 86400
SECRET = "very-hidden-word"
FLOAT, CHAR, LOG, UNSIGNED, TEXT = range(5)


def check_wrong_parameters(case, *wrong):
    """With each of these parameters a server ends at once, says what is wrong, and tells no
    secret."""
    for parameter, said in wrong:
        server = bed.Server(environment={"VEDETTE_HISTORY_STORE": parameter})
        case.addCleanup(server.clean)
        with case.assertRaises(AssertionError):
            server.start()
        case.assertIn(said, server.log())
        case.assertNotIn(SECRET, server.log())


def statements_of(page):
    """What the page of a store tells its administrator to run, with our secret."""
    with open(os.path.join(bed.ROOT, "docs", "stores", page + ".md")) as file:
        first = file.read().split("```sql\n")[1].split("```")[0]
    return [line.replace("'secret'", "'%s'" % SECRET) for line in first.splitlines()]


class StoreCase(bed.Case):
    """A server with a store; values older than two days are read from it."""

    longest_text = 65535

    @classmethod
    def make_store(cls):
        """A server that will be stopped, with `kill`, `start`, `pause`, `go_on` for faults."""
        raise NotImplementedError

    @classmethod
    def open_store(cls):
        """The store, wherever its folder is to be."""
        return cls.make_store()

    @classmethod
    def parameter(cls):
        """What --history-store is to be."""
        raise NotImplementedError

    def rows(self, item, kind):
        """Clock, nanoseconds and value of all rows of an item in the store, in order."""
        raise NotImplementedError

    def trends(self, item):
        """Hour, number, lowest, mean and highest of all hours of a whole number's item in the store,
        in order; nothing where no test looks at them."""
        return None

    def insert(self, item, clock, ns, value):
        """Puts a whole number into the store, past Vedette."""
        raise NotImplementedError

    def set_version(self, version):
        """Makes what is in the store that of another release; 1 is ours."""
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.store = cls.open_store()
        cls.server = bed.Server(arguments=["--history-embedded-days", "2"],
                                environment={"VEDETTE_HISTORY_STORE": cls.parameter()})
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def send(self, rows):
        """Rows of host, key, value, clock, nanoseconds; whether all were acknowledged."""
        data = [dict(zip(("host", "key", "value", "clock", "ns"), row)) for row in rows]
        try:
            answer = bed.send(self.server.address, {"request": "sender data", "data": data})
        except (OSError, ValueError):
            return False
        return bool(answer) and answer["info"].startswith("processed: %d; failed: 0;" % len(rows))

    def wait_for_rows(self, item, kind, count, timeout=120):
        """Waits until an item has so many rows in the store; returns them."""
        bed.wait_for("%d rows" % count, lambda: len(self.rows(item, kind)) == count, timeout)
        return self.rows(item, kind)

    def history(self, item, kind, **more):
        return self.api.call("history.get", history=kind, itemids=item, sortfield="clock", **more)

    def figures(self, item, **more):
        """Number, lowest, mean and highest of whole numbers of all time."""
        [bucket] = self.api.call("history.buckets", history=UNSIGNED, itemids=item,
                                 width=2**32 - 1, **more)
        return [bucket[name] for name in ("num", "value_min", "value_avg", "value_max")]

    def history_service(self):
        """A client of it."""
        tokenid = self.api.call("token.create", name="of a store", userid="1")["tokenids"][0]
        token = self.api.call("token.generate", [tokenid])[0]["token"]
        client = vedette_history.Client("http://127.0.0.1:%d" % self.server.http, token)
        self.addCleanup(client.close)
        return client

    def refused(self, item=None):
        """Lines of the files of rows that the store refused; of one item or of all."""
        lines = []
        for path in glob.glob(os.path.join(self.server.folder, "data/history/stores/*.refused")):
            with open(path) as file:
                lines += file.readlines()
        return [line for line in lines if item is None or line.startswith(item + "\t")]

    def send_through(self, host, faults, between=lambda: None):
        """Sends numbers without a pause while one fault after the other happens; returns the id of
        the item after every acknowledged number has arrived exactly once."""
        _, items = self.host(host, [{"key_": "n", "value_type": UNSIGNED}])
        start = int(time.time()) - 3000
        stop, self.sent_item = threading.Event(), items["n"]
        acknowledged = self.acknowledged = []

        def sender():
            first = 0
            while not stop.is_set():
                rows = [(host, "n", str(n), start + n // 10, n) for n in range(first, first + 20)]
                # What was not acknowledged is sent again, as senders do.
                if self.send(rows):
                    acknowledged.extend(rows)
                    first += 20
                stop.wait(0.02)

        thread = threading.Thread(target=sender)
        thread.start()
        try:
            for fault in faults:
                before = len(acknowledged)
                fault()
                bed.wait_for("more values", lambda b=before: len(acknowledged) > b + 100)
                between()
        finally:
            stop.set()
            thread.join()
        self.api = self.server.api()
        sent = [(clock, ns, int(value)) for _, _, value, clock, ns in acknowledged]
        self.assertEqual(self.wait_for_rows(items["n"], UNSIGNED, len(sent)), sent)
        self.assertNotIn(SECRET, self.server.log(100000))
        return items["n"]

    def outcome(self, parameter, environment=()):
        """The outcome of a value sent to a server with this store: the error of the store's
        feeder, or nothing when it arrives."""
        server = bed.Server(environment={"VEDETTE_HISTORY_STORE": parameter, **dict(environment)})
        self.addCleanup(server.clean)
        server.start()
        usual = self.api, self.server
        self.api, self.server = server.api(), server
        try:
            # Items of all these servers have the same numbers: the moment tells them apart.
            _, items = self.host("one value", [{"key_": "n", "value_type": UNSIGNED}])
            row = (int(time.time()) - 60, secrets.randbelow(10**9), 7)
            self.assertTrue(self.send([("one value", "n", "7", *row[:2])]))

            def ended():
                said = self.complaint(0)
                return [said] if said else row in self.rows(items["n"], UNSIGNED) and [""]
            return bed.wait_for("an end", ended)[0]
        finally:
            self.api, self.server = usual
            self.assertNotIn(SECRET, server.log(100000))
            server.clean()

    def refused_until(self, host, fault, mend, reason):
        """Something keeps the store from a server that starts: it takes values, says the reason and
        no secret, leaves the store alone, and gives it everything afterwards."""
        _, items = self.host(host, [{"key_": "n", "value_type": UNSIGNED}])
        clock = int(time.time()) - 100
        self.assertTrue(self.send([(host, "n", "1", clock, 1)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        self.server.stop()
        since = self.log_end()
        fault()
        try:
            self.server.start()
            self.api = self.server.api()
            self.assertTrue(self.send([(host, "n", "2", clock, 2)]))
            bed.wait_for("the complaint", lambda: self.complaint(since, reason))
            self.assertEqual(self.rows(items["n"], UNSIGNED), [(clock, 1, 1)])
            # Nor is it read.
            with self.assertRaises(bed.ApiError):
                self.history(items["n"], UNSIGNED)
        finally:
            mend()
        rows = self.wait_for_rows(items["n"], UNSIGNED, 2)
        self.assertEqual(rows, [(clock, 1, 1), (clock, 2, 2)])
        self.assertEqual(self.refused(items["n"]), [])
        self.assertNotIn(SECRET, self.server.log(100000))

    def complaint(self, since, *words):
        """The first line of the server's log after a position that reports a failed write to the store;
        if words are given, one with any of them."""
        with open(self.server.log_path, errors="replace") as log:
            log.seek(since)
            return next((line for line in log if "cannot write to a history store" in line and
                         any(word in line for word in words or [""])), None)

    def log_end(self):
        """The place in the server's log where the next line will be."""
        return os.path.getsize(self.server.log_path)

    def old_values_fail(self, item):
        """Requests for old values fail within half a minute while the store is unavailable."""
        begin = time.monotonic()
        with self.assertRaises(bed.ApiError):
            self.figures(item)
        self.assertLess(time.monotonic() - begin, 30)

    def name_store(self, parameter):
        """From now on the server has this store."""
        self.server.stop()
        self.server.environment["VEDETTE_HISTORY_STORE"] = parameter
        self.server.start()
        self.api = self.server.api()

    def store_killed(self):
        self.store.kill()
        time.sleep(1)
        self.store.start()

    def store_paused(self):
        """For so long that calls are given up, which the store has all the same and goes on with."""
        # A store without a table for these values is known to have none: nobody would ask it.
        bed.wait_for("the first rows", lambda: self.rows(self.sent_item, UNSIGNED))
        since = self.log_end()
        try:
            self.store.pause()
            self.old_values_fail(self.sent_item)
            bed.wait_for("a call to be given up", lambda: self.complaint(since))
        finally:
            self.store.go_on()

    def server_killed(self):
        self.server.kill()
        self.server.start()

    def server_killed_while_the_store_is_away(self):
        self.store.kill()
        time.sleep(0.5)
        self.server.kill()
        self.server.start()
        time.sleep(0.5)
        self.store.start()


class AsksForPasswords:
    """Beside the other promises of a store with users."""

    # What the store says of a wrong one.
    says_when_wrong = ""

    def set_password(self, password):
        """Gives another one to the user that Vedette is."""
        raise NotImplementedError

    def test_a_wrong_password_is_retried_and_stays_hidden(self):
        self.refused_until("wrong", lambda: self.set_password("another-word"),
                           lambda: self.set_password(SECRET), self.says_when_wrong)


class Promises(StoreCase):
    """What is tested of every store."""

    def faults(self):
        # Paused first: until then nothing has failed, so that a complaint is of the pause.
        return (self.store_paused, self.store_killed, self.server_killed,
                self.server_killed_while_the_store_is_away)

    def test_killed_paused_and_restarted_nothing_is_lost_or_twice(self):
        _, items = self.host("hours", [{"key_": "h", "value_type": UNSIGNED}])
        faults, now = self.faults(), int(time.time())
        # Behind each fault come values of an hour, the oldest first.
        hours = [(now // HOUR * HOUR - n * HOUR, n) for n in range(len(faults), 0, -1)]
        left = iter(hours)

        def next_hour():
            hour, n = next(left)
            self.assertTrue(self.send([("hours", "h", str(n), hour + 5, 1),
                                       ("hours", "h", str(3 * n), hour + 6, 1)]))

        self.send_through("faults", faults, next_hour)
        # The end of a server makes trends of what it has; the next one brings them to the store.
        self.server.stop()
        self.server.start()
        self.api = self.server.api()
        told = [(hour, 2, n, 2 * n, 3 * n) for hour, n in hours]
        shown = self.api.call("trend.get", itemids=items["h"])
        self.assertEqual(sorted(tuple(int(row[name]) for name in (
            "clock", "num", "value_min", "value_avg", "value_max")) for row in shown), told)
        if self.trends(items["h"]) is not None:
            with contextlib.suppress(AssertionError):
                bed.wait_for("trends", lambda: self.trends(items["h"]) == told)
            self.assertEqual(self.trends(items["h"]), told)

    def test_a_slow_store_delays_no_other(self):
        usual = self.parameter()
        port = int(re.search(r"127\.0\.0\.1:(\d+)", usual)[1])
        line = SlowLine(port, 1)
        self.addCleanup(line.stop)
        self.addCleanup(self.name_store, usual)
        self.name_store(usual.replace(":%d" % port, ":%d" % line.port))
        _, items = self.host("beside", [{"key_": "m", "value_type": UNSIGNED}])
        start = int(time.time()) - 100
        sent = [(start + n, n + 1, n) for n in range(30)]

        def newest_are_read():
            bed.wait_for("answers of the store", lambda: line.delayed)
            begin = time.monotonic()
            for clock, ns, value in sent:
                self.assertTrue(self.send([("beside", "m", str(value), clock, ns)]))
                rows = self.history(items["m"], UNSIGNED, sortorder="DESC", limit=1)
                self.assertEqual([row["value"] for row in rows], [str(value)])
            # Much less than one answer of the store for each.
            self.assertLess(time.monotonic() - begin, len(sent) * line.delay)
            # Slow still, but this test has an end.
            line.delay = 0.05

        self.send_through("slow", (newest_are_read,))
        self.assertEqual(self.wait_for_rows(items["m"], UNSIGNED, len(sent)), sent)
        # What only the store has takes its time, and comes.
        self.insert(items["m"], int(time.time()) - 20 * DAY, 7, 42)
        rows = self.history(items["m"], UNSIGNED, limit=1)
        self.assertEqual([row["value"] for row in rows], ["42"])

    def test_what_a_newer_release_made_is_left_alone(self):
        self.refused_until("newer", lambda: self.set_version(99), lambda: self.set_version(1),
                           "has version 99, this release knows 1: run the newer release")

    def test_every_value_type_arrives_as_it_was_sent(self):
        kinds = {"float": FLOAT, "char": CHAR, "log": LOG, "unsigned": UNSIGNED, "text": TEXT}
        _, items = self.host("types", [{"key_": k, "value_type": v} for k, v in kinds.items()])
        now = int(time.time())
        sent = {
            "float": ["-0.1", "12.5"], "char": ["", "\U0001f980 \\'\t"],
            "log": ["a line", ""], "unsigned": ["0", str(2**64 - 1)],
            "text": ["x" * self.longest_text, "\u00e9\n\u20ac"],
        }
        self.assertTrue(self.send([("types", key, value, now - 5 + n, n + 1)
                                   for key, values in sent.items()
                                   for n, value in enumerate(values)]))
        for key, kind in kinds.items():
            rows = self.wait_for_rows(items[key], kind, 2)
            self.assertEqual([row[:2] for row in rows], [(now - 5, 1), (now - 4, 2)], key)
            stored = [float(value) if kind == FLOAT else str(value) for _, _, value in rows]
            wanted = [float(value) for value in sent[key]] if kind == FLOAT else sent[key]
            self.assertEqual(stored, wanted, key)
            shown = [str(row["value"]) for row in self.history(items[key], kind)]
            self.assertEqual(shown, sent[key])

    def test_older_values_come_from_the_store(self):
        hostid, items = self.host("old", [{"key_": "n", "value_type": UNSIGNED}])
        gauge = self.api.call("item.create", hostid=hostid, name="written", type=5, value_type=3,
                              key_="zabbix[vedette,stores,written]", delay="1s")["itemids"][0]
        self.assertTrue(self.send([("old", "n", "1", int(time.time()) - 60, 0)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        # Only the store has this one: another tool, or a time before the data folder's.
        self.insert(items["n"], int(time.time()) - 20 * DAY, 7, 42)
        rows = self.history(items["n"], UNSIGNED)
        self.assertEqual([(r["value"], r["ns"]) for r in rows], [("42", "7"), ("1", "0")])
        rows = self.history(items["n"], UNSIGNED, sortorder="DESC", limit=1)
        self.assertEqual([row["value"] for row in rows], ["1"])
        # One bucket has values of both.
        self.assertEqual(self.figures(items["n"]), ["2", "1", "21.5", "42"])
        service = self.history_service()
        ranged = [(one.value, one.ns) for one in service.range([int(items["n"])])]
        self.assertEqual(ranged, [(42, 7), (1, 0)])
        bed.wait_for("the gauge", lambda: self.history(gauge, UNSIGNED)[-1]["value"] != "0")
        self.store.kill()
        try:
            begin = time.monotonic()
            with self.assertRaises(bed.ApiError):
                self.history(items["n"], UNSIGNED)
            self.assertLess(time.monotonic() - begin, 30)
            with self.assertRaises(bed.ApiError):
                self.figures(items["n"])
            with self.assertRaises(vedette_history.Error) as caught:
                list(service.range([int(items["n"])]))
            self.assertEqual(caught.exception.reason, "not_read")
            young = self.figures(items["n"], time_from=int(time.time()) - DAY)
            self.assertEqual(young, ["1"] * 4)
            rows = self.history(items["n"], UNSIGNED, time_from=int(time.time()) - DAY)
            self.assertEqual([row["value"] for row in rows], ["1"])
            last = self.api.call("item.get", itemids=items["n"], output=["lastvalue"])
            self.assertEqual(last[0]["lastvalue"], "1")
        finally:
            self.store.start()

    def test_functions_look_back_at_what_only_the_store_has(self):
        hostid, items = self.host("back", [{"key_": "n", "value_type": UNSIGNED}])
        self.assertTrue(self.send([("back", "n", "1", int(time.time()) - 60, 0)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        self.insert(items["n"], int(time.time()) - 20 * DAY, 7, 42)
        trigger = self.api.call("trigger.create", description="was high",
                                expression="max(/back/n,30d)=42")["triggerids"][0]
        formula = self.api.call("item.create", {
            "hostid": hostid, "name": "highest", "key_": "highest", "type": 15, "value_type": UNSIGNED,
            "delay": "1s", "params": "max(/back/n,30d)"})["itemids"][0]

        def is_problem():
            return self.api.call("trigger.get", triggerids=trigger, output=["value"])[0]["value"] == "1"

        def value_and_look():
            self.send([("back", "n", "2", int(time.time()), 0)])
            return is_problem()

        bed.wait_for("the problem", value_and_look, pause=1)
        bed.wait_for("the formula", lambda: [
            row["value"] for row in self.history(formula, UNSIGNED)][-1:] == ["42"])

    def test_cleared_history_leaves_the_store(self):
        _, items = self.host("cleared",
                             [{"key_": k, "value_type": UNSIGNED} for k in ("n", "kept")])
        now = int(time.time())
        self.assertTrue(self.send([("cleared", k, str(n), now - 500 + n, n)
                                   for n in range(50) for k in ("n", "kept")]))
        self.wait_for_rows(items["n"], UNSIGNED, 50)
        self.api.call("history.clear", [items["n"]])
        self.assertTrue(self.send([("cleared", "n", "7", now - 3, 1)]))
        self.assertEqual(self.wait_for_rows(items["n"], UNSIGNED, 1), [(now - 3, 1, 7)])
        self.wait_for_rows(items["kept"], UNSIGNED, 50)
        self.assertEqual([row["value"] for row in self.history(items["n"], UNSIGNED)], ["7"])


class Constrained:
    """For stores that speak SQL by `query`: people give a table a constraint."""

    def test_a_row_against_a_constraint_blocks_no_other(self):
        _, items = self.host("constrained", [{"key_": key, "value_type": UNSIGNED}
                                             for key in ("bad", "good")])
        now = int(time.time())
        self.assertTrue(self.send([("constrained", "good", "1", now - 9, 1)]))
        self.wait_for_rows(items["good"], UNSIGNED, 1)
        self.query("ALTER TABLE history_uint_31 ADD CONSTRAINT wanted CHECK (itemid <> %s)"
                   % items["bad"])
        try:
            # Of an existing day, and of one to be created.
            clocks = [now - 8, now + 3 * DAY]
            self.assertTrue(self.send([("constrained", key, "2", clock, 1)
                                       for clock in clocks for key in ("bad", "good")]))
            rows = self.wait_for_rows(items["good"], UNSIGNED, 3)
            self.assertEqual([value for _, _, value in rows], [1, 2, 2])
            bed.wait_for("two lines", lambda: self.refused(items["bad"])[1:])
            for line, clock in zip(self.refused(items["bad"]), clocks):
                self.assertTrue(line.startswith("%s\t%d." % (items["bad"], clock)), line)
                self.assertIn("wanted", line)
        finally:
            self.query("ALTER TABLE history_uint_31 DROP CONSTRAINT wanted")
        self.assertEqual(self.rows(items["bad"], UNSIGNED), [])


class PromisesOnSmallDisk(Promises):
    """The same of a store whose folder is on a disk that gets full."""

    # Bytes that are left on a full disk.
    left_when_full = 0
    # What the error says then, besides where the store is: one of these.
    says_when_full = ("No space left on device",)

    @classmethod
    def open_store(cls):
        cls.disk = SmallDisk()
        cls.addClassCleanup(cls.disk.remove)
        # The store's folder is made where temporary ones are; the server's, later, is elsewhere.
        usual, tempfile.tempdir = tempfile.tempdir, cls.disk.folder
        try:
            return super().open_store()
        finally:
            tempfile.tempdir = usual

    def disk_full(self):
        """Texts that cannot be compressed come until the store has no place for them."""
        item = self.texts
        begin, since = int(time.time()) - 2000, self.log_end()
        self.disk.fill(self.left_when_full)
        try:
            def is_told():
                number = len(self.sent_texts)
                text = secrets.token_hex(10000)
                if self.send([("full", "t", text, begin + number // 10, number)]):
                    self.sent_texts.append((begin + number // 10, number, text))
                return self.complaint(since, *self.says_when_full)

            line = bed.wait_for("the store is full", is_told, 180, pause=0.05)
            self.assertIn(":%d" % self.store.port, line)
            # Values are taken all the same.
            shown = self.history(item, TEXT, limit=1, sortorder="DESC", time_from=begin - DAY)
            self.assertEqual(shown[0]["value"], self.sent_texts[-1][2])
        finally:
            self.disk.make_room()

    def test_a_full_disk_loses_nothing_and_recovers(self):
        _, items = self.host("full", [{"key_": "t", "value_type": TEXT}])
        # Its disk gets full while it is at work, not while tables are made.
        first = (int(time.time()) - 2500, 1, "first")
        self.assertTrue(self.send([("full", "t", first[2], *first[:2])]))
        self.wait_for_rows(items["t"], TEXT, 1)
        # Of the texts, what was acknowledged.
        self.sent_texts, self.texts = [first], items["t"]

        def by_itself():
            rows = self.wait_for_rows(items["t"], TEXT, len(self.sent_texts))
            self.assertEqual(rows, self.sent_texts)

        self.send_through("numbers while full", (self.disk_full,), by_itself)
        self.assertEqual(self.refused(), [])
