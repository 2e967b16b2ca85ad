#!/usr/bin/env python3
"""The server on a machine with one core: values, API, UI, problems, and recovery after kill -9."""
# needs: ui

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class OneCore(flowcase.FlowCase):
    @classmethod
    def setUpClass(cls):
        core = str(min(os.sched_getaffinity(0)))
        cls.server = bed.Server(through=["taskset", "-c", core])
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def store(self, value, clock):
        data = [{"host": "one", "key": "k", "value": value, "clock": clock, "ns": 0}]
        return bed.send(self.server.address, {"request": "sender data", "data": data})["info"]

    def values(self, item):
        rows = self.api.call("history.get", itemids=[item], history=3, sortfield="clock",
                             output="extend")
        return [row["value"] for row in rows]

    def problems(self, hostid):
        """Of the host alone: Vedette reports its own restart."""
        return [problem["name"] for problem in self.api.call("problem.get", output=["name"], hostids=hostid)]

    def test_values_problems_and_recovery_after_a_kill(self):
        hostid, ids = self.host("one", [{"key_": "k", "value_type": 3}])
        item = ids["k"]
        self.api.call("trigger.create", description="high", expression="last(/one/k)>5")
        clock = int(time.time()) - 10
        kept = "processed: 1; failed: 0"
        bed.wait_for("the first value", lambda: kept in self.store("1", clock))
        self.assertIn(kept, self.store("9", clock + 1))
        bed.wait_for("the problem", lambda: self.problems(hostid) == ["high"])
        self.assertEqual(self.values(item), ["1", "9"])

        self.server.kill()
        self.server.start()
        type(self).api = self.server.api()
        self.assertEqual(self.values(item), ["1", "9"])
        self.assertIn(kept, self.store("2", clock + 2))
        bed.wait_for("the recovery", lambda: not self.problems(hostid))
        self.assertEqual(self.values(item), ["1", "9", "2"])

    def test_users_sign_in_and_see_the_overview(self):
        self.walk("session", steps=2, ONLY="dark")


if __name__ == "__main__":
    bed.main()
