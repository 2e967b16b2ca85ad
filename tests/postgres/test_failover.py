#!/usr/bin/env python3
"""The configuration on a PostgreSQL whose primary is lost while the server runs."""

import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from databases import Postgres, Standby  # noqa: E402


class Failover(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.primary = Postgres()
        cls.addClassCleanup(cls.stop_primary)
        cls.primary.create("vedette")
        cls.standby = Standby(cls.primary)
        cls.addClassCleanup(cls.standby.stop)
        url = "postgresql://postgres@127.0.0.1:%d,127.0.0.1:%d/vedette?target_session_attrs=read-write" % (
            cls.primary.port, cls.standby.port)
        cls.server = bed.Server(arguments=["--database", url])
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    @classmethod
    def stop_primary(cls):
        """It was killed, unless the test failed before."""
        try:
            cls.primary.kill()
        except (OSError, ValueError):
            pass

    def change(self, name):
        """Whether the change was acknowledged."""
        try:
            return bool(self.api.call("hostgroup.create", name=name))
        except bed.ApiError:
            return False

    def test_promoted_standby_takes_over_without_loss(self):
        group = self.api.call("hostgroup.create", name="g")["groupids"][0]
        hostid = self.api.call("host.create", host="h", groups=[{"groupid": group}])["hostids"][0]
        self.api.call("item.create", name="k", key_="k", hostid=hostid, type=2, value_type=3)
        self.api.call("trigger.create", description="high", expression="last(/h/k)>5")
        acknowledged, ends = [], threading.Event()

        def changes():
            n = 0
            while not ends.is_set():
                n += 1
                if self.change("change %d" % n):
                    acknowledged.append("change %d" % n)

        load = threading.Thread(target=changes)
        load.start()
        self.addCleanup(load.join)
        self.addCleanup(ends.set)
        bed.wait_for("changes", lambda: len(acknowledged) > 20, pause=0.02)
        self.primary.kill()
        # A value that opens a problem while no database can be written.
        bed.wait_for("the value", lambda: "processed: 1" in bed.send(self.server.address, {
            "request": "sender data", "data": [{"host": "h", "key": "k", "value": "9"}]})["info"])
        before = len(acknowledged)
        self.standby.promote()
        bed.wait_for("changes after the failover", lambda: len(acknowledged) > before + 20, pause=0.05)
        ends.set()
        load.join()
        bed.wait_for("the problem", lambda: self.api.call("problem.get", hostids=hostid))
        names = [row["name"] for row in self.api.call("hostgroup.get", output=["name"], search={"name": "change "})]
        self.assertEqual(sorted(set(acknowledged) - set(names)), [])
        self.assertEqual(len(names), len(set(names)))
        print("%d changes acknowledged before the failover, %d after it" % (before, len(acknowledged) - before))
        self.assertEqual(self.standby.query(
            "SELECT COUNT(*) FROM events WHERE name = 'high'", "vedette"), "1")


if __name__ == "__main__":
    bed.main()
