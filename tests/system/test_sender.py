#!/usr/bin/env python3
"""The sender protocol against a running server, and what its API then tells."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Sender(bed.Case):
    def test_values_good_and_bad(self):
        _, items = self.host("sender", [
            {"key_": "u", "value_type": 3}, {"key_": "f", "value_type": 0},
            {"key_": "t", "value_type": 4}, {"key_": "c", "value_type": 1},
        ])
        now = int(time.time())
        data = []
        for n in range(500):
            data.append({"host": "sender", "key": "u", "value": str(n), "clock": now - 500 + n, "ns": n})
            data.append({"host": "sender", "key": "f", "value": "%d.25" % n, "clock": now - 500 + n})
            data.append({"host": "sender", "key": "nosuch", "value": "1"})
        data.append({"host": "sender", "key": "u", "value": "not a number"})
        data.append({"host": "nosuch", "key": "u", "value": "1"})
        for compress in (False, True):
            answer = bed.send(self.server.address, {"request": "sender data", "data": data}, compress)
            self.assertEqual(answer["response"], "success")
            self.assertTrue(answer["info"].startswith("processed: 1001; failed: 501; total: 1502;"), answer)
        history = self.api.call("history.get", history=3, itemids=items["u"], sortfield="clock")
        self.assertEqual([row["value"] for row in history], [str(n) for n in range(500)])
        self.assertEqual([row["ns"] for row in history], [str(n) for n in range(500)])

        def unsupported():
            row = self.api.call("item.get", itemids=items["u"], output=["state", "error"])[0]
            return row["state"] == "1" and "not a number" in row["error"]
        bed.wait_for("the bad value to show at the item", unsupported)

    def test_prevclock_tells_a_first_value_from_zero(self):
        _, items = self.host("first", [{"key_": "v", "value_type": 0}])
        seen = []
        for n, clock in enumerate((1_700_000_000, 1_700_000_060)):
            bed.send(self.server.address, {"request": "sender data", "data": [
                {"host": "first", "key": "v", "value": str(5 + n), "clock": clock}]})
            row = bed.wait_for("the value", lambda: [row for row in self.api.call(
                "item.get", itemids=items["v"], output=["lastvalue", "prevvalue", "prevclock"])
                if row["lastvalue"] == str(5 + n)])[0]
            seen.append((row["prevvalue"], row["prevclock"]))
        self.assertEqual(seen, [("0", "0"), ("5", "1700000000")])
        extended = self.api.call("item.get", itemids=items["v"], output="extend")[0]
        self.assertNotIn("prevclock", extended)

    def test_the_newest_value_is_live_at_once(self):
        _, items = self.host("live", [{"key_": "v", "value_type": 4}])
        for n in range(3):
            begin = time.monotonic()
            bed.send(self.server.address, {
                "request": "sender data", "data": [{"host": "live", "key": "v", "value": "x%d" % n}]})
            bed.wait_for("the value", lambda: self.api.call(
                "item.get", itemids=items["v"], output=["lastvalue"])[0]["lastvalue"] == "x%d" % n, pause=0.01)
            self.assertLess(time.monotonic() - begin, 30)

    def test_push(self):
        _, items = self.host("push", [{"key_": "p", "value_type": 0}])
        answer = self.api.call("history.push", [{"itemid": items["p"], "value": 1.5},
                                                {"host": "push", "key": "nosuch", "value": 1}])
        self.assertEqual(answer["response"], "success")
        self.assertEqual(answer["data"][0], {"itemid": int(items["p"])})
        self.assertIn("error", answer["data"][1])


class Problems(bed.Case):
    def test_a_problem_opens_is_acknowledged_and_recovers(self):
        self.host("trouble", [{"key_": "load", "value_type": 0}])
        trigger = self.api.call(
            "trigger.create", description="Load of {HOST.NAME} is {ITEM.VALUE}", priority=4,
            expression="last(/trouble/load)>5", manual_close=1,
            tags=[{"tag": "scope", "value": "test"}])["triggerids"][0]

        def value(v):
            bed.send(self.server.address, {
                "request": "sender data", "data": [{"host": "trouble", "key": "load", "value": v}]})

        def problems(**more):
            return self.api.call("problem.get", objectids=trigger, output="extend",
                                 selectTags="extend", selectAcknowledges="extend", **more)
        value("9.5")
        problem = bed.wait_for("the problem", problems)[0]
        self.assertEqual(problem["name"], "Load of trouble is 9.5")
        self.assertEqual(problem["severity"], "4")
        self.assertIn({"tag": "scope", "value": "test"}, problem["tags"])
        self.api.call("event.acknowledge", eventids=problem["eventid"], action=6, message="seen")
        problem = bed.wait_for("the acknowledgement", lambda: [
            p for p in problems() if p["acknowledged"] == "1"])[0]
        self.assertEqual(problem["acknowledges"][0]["message"], "seen")
        value("1")
        bed.wait_for("the recovery", lambda: not problems())
        self.assertEqual(self.api.call("event.get", objectids=trigger, countOutput=True), "2")
        value("7")
        problem = bed.wait_for("the second problem", problems)[0]
        self.api.call("event.acknowledge", eventids=problem["eventid"], action=1)
        bed.wait_for("the close by hand", lambda: not problems())
        recent = problems(recent=True)
        self.assertEqual(len(recent), 2)
        value("8")
        bed.wait_for("a third problem after a close by hand", problems)


if __name__ == "__main__":
    bed.main()
