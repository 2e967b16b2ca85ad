#!/usr/bin/env python3
"""Correlation rules and internal events on a whole server, over a crash."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Correlation(unittest.TestCase):
    def setUp(self):
        self.server = bed.Server()
        self.addCleanup(self.server.clean)
        self.server.start()
        self.api = self.server.api()
        group = self.api.call("hostgroup.create", name="Shop")["groupids"][0]
        self.host = self.api.call("host.create", host="shop", groups=[{"groupid": group}])["hostids"][0]
        self.items = {}

    def item(self, key):
        self.items[key] = self.api.call("item.create", hostid=self.host, name=key, key_=key, type=2,
                                        value_type=3)["itemids"][0]

    def send(self, key, value):
        def taken():
            answer = bed.send(self.server.address, {"request": "sender data", "data": [
                {"host": "shop", "key": key, "value": str(value)}]})
            return "failed: 0" in answer["info"]
        bed.wait_for("the item %s" % key, taken)

    def open_problems(self, **options):
        return self.api.call("problem.get", output=["eventid", "objectid", "name"], sortfield="eventid", **options)

    def names(self):
        return [problem["name"] for problem in self.open_problems(hostids=self.host)]

    def wait_for_names(self, *names):
        bed.wait_for_equal("the open problems", self.names, list(names))

    def trigger(self, name, key, **tags):
        self.item(key)
        self.api.call("trigger.create", description=name, expression="last(/shop/%s)>0" % key,
                      tags=[{"tag": tag, "value": value} for tag, value in tags.items()])

    def test_a_rule_closes_problems_that_a_crash_left_open(self):
        self.trigger("slow", "slow", service="shop")
        self.trigger("down", "down", service="shop", state="down")
        self.trigger("other", "other", service="mail")
        rule = self.api.call("correlation.create", name="down replaces slow", operations=[{"type": 0}], filter={
            "evaltype": 1, "conditions": [{"type": 3, "oldtag": "service", "newtag": "service"},
                                          {"type": 5, "tag": "state", "value": "down"}]})["correlationids"][0]
        for key in ("slow", "other"):
            self.send(key, 1)
        self.wait_for_names("slow", "other")
        self.server.kill()
        self.server.start()
        self.api = self.server.api()
        self.send("down", 1)
        self.wait_for_names("other", "down")
        closed = self.api.call("problem.get", output="extend", recent=True)
        closed = [problem for problem in closed if problem["name"] == "slow"]
        self.assertEqual([problem["correlationid"] for problem in closed], [rule])
        # The trigger is in order again: its next value opens a new problem.
        self.send("slow", 2)
        self.wait_for_names("other", "down", "slow")

    def test_internal_problems_survive_a_crash(self):
        self.item("k")
        self.api.call("action.create", name="internal", eventsource=3, operations=[
            {"operationtype": 0, "opmessage_usr": [{"userid": "1"}], "opmessage": {"default_msg": 1}}],
            filter={"evaltype": 0, "conditions": []})
        internal = {"source": 3, "object": 4, "objectids": self.items["k"]}
        self.send("k", "no number")
        problems = bed.wait_for("an internal problem", lambda: self.open_problems(**internal))
        self.assertIn("no number", problems[0]["name"])
        self.assertEqual(self.names(), [])
        self.server.kill()
        self.server.start()
        self.api = self.server.api()
        state = self.api.call("item.get", itemids=self.items["k"], output=["state", "error"])[0]
        self.assertEqual((state["state"], state["error"]), ("1", problems[0]["name"]))
        self.assertEqual(self.open_problems(**internal), problems)
        self.send("k", 5)
        bed.wait_for("its end", lambda: not self.open_problems(**internal))
        events = self.api.call("event.get", output=["value"], sortfield="eventid", **internal)
        self.assertEqual([event["value"] for event in events], ["1", "0"])


if __name__ == "__main__":
    bed.main()
