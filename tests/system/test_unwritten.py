#!/usr/bin/env python3
"""kill -9 between a value's acknowledgement and its event: the next start opens the problem, once."""

import os
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

MARK = "SELECT value FROM state_settings WHERE name = 'findings_written'"


class Unwritten(bed.Case):
    def setUp(self):
        items = [{"name": "a", "key_": "a", "type": 2, "value_type": 3}]
        self.name = self.id().rsplit(".", 1)[-1]
        self.host(self.name, items)
        self.triggers = self.api.call("trigger.create", {
            "description": "a is high", "expression": "last(/%s/a)>5" % self.name})["triggerids"]

    def database(self):
        database = sqlite3.connect(os.path.join(self.server.folder, "data", "config-state.db"), timeout=60,
                                   isolation_level=None)
        self.addCleanup(database.close)
        return database

    def put(self, value):
        answer = bed.send(("127.0.0.1", self.server.trapper), {
            "request": "sender data", "data": [{"host": self.name, "key": "a", "value": str(value)}]})
        self.assertIn("processed: 1", answer["info"])

    def events(self):
        found = self.api.call("event.get", {
            "output": ["value"], "objectids": self.triggers, "sortfield": "eventid"})
        return [int(event["value"]) for event in found]

    def crash_before_the_event(self, value):
        """The value is acknowledged, its event never written."""
        database = self.database()
        bed.wait_for("a mark", lambda: database.execute(MARK).fetchall())
        database.execute("BEGIN IMMEDIATE")
        self.put(value)
        self.server.kill()
        database.execute("ROLLBACK")
        # The last process that closes the database removes its log: this has to be the server.
        self.server.start()
        database.close()

    def test_problem_and_recovery_come_after_the_crash_once(self):
        bed.wait_for("the item to take values", self.takes_values)
        self.crash_before_the_event(9)
        bed.wait_for("the problem", lambda: self.events() == [1])
        # What is written is not written again, neither after a crash nor after an orderly stop.
        self.restart(self.server.kill)
        self.assertEqual(self.events(), [1])
        self.restart(self.server.stop)
        self.assertEqual(self.events(), [1])
        self.crash_before_the_event(2)
        bed.wait_for("the recovery", lambda: self.events() == [1, 0])

    def test_orderly_stop_that_can_keep_no_event_counts_as_a_crash(self):
        bed.wait_for("the item to take values", self.takes_values)
        database = self.database()
        bed.wait_for("a mark", lambda: database.execute(MARK).fetchall())
        # Neither the database nor the file takes the event.
        nowhere = os.path.join(self.server.folder, "data", "unsent-events")
        os.mkdir(nowhere)
        database.execute("BEGIN IMMEDIATE")
        self.put(9)
        self.server.stop()
        database.execute("ROLLBACK")
        os.rmdir(nowhere)
        self.server.start()
        database.close()
        bed.wait_for("the problem", lambda: self.events() == [1])

    def takes_values(self):
        answer = bed.send(("127.0.0.1", self.server.trapper), {
            "request": "sender data", "data": [{"host": self.name, "key": "a", "value": "1"}]})
        return "processed: 1" in answer["info"]

    def restart(self, end):
        database = self.database()
        before = database.execute(MARK).fetchall()
        # Marks count seconds.
        bed.wait_for("another second", lambda: time.time() >= int(before[0][0]) + 1)
        end()
        self.server.start()
        # The shards set the mark again once they have looked at what the crash left.
        bed.wait_for("a new mark", lambda: database.execute(MARK).fetchall() != before)
        database.close()


if __name__ == "__main__":
    bed.main()
