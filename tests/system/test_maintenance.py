#!/usr/bin/env python3
"""Hosts in maintenance: problems hidden while values come, and no values at all without collection."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Maintenance(bed.Case):
    def setUp(self):
        self.name = "m-" + self.id().rsplit("_", 2)[-2]
        self.hostid, self.items = self.host(self.name, [
            {"key_": "sent", "type": 2, "value_type": 3},
            {"key_": "zabbix[uptime]", "type": 5, "value_type": 3, "delay": "1s"}])
        self.api.call("trigger.create", {
            "description": "high on " + self.name, "expression": "last(/%s/sent)>5" % self.name})

    def send(self, value):
        return bed.send(self.server.address, {"request": "sender data", "data": [
            {"host": self.name, "key": "sent", "value": str(value)}]})["info"]

    def begin(self, kind):
        now = int(time.time())
        return self.api.call("maintenance.create", {
            "name": self.name, "maintenance_type": kind, "active_since": now - 600,
            "active_till": now + 3600, "hosts": [{"hostid": self.hostid}],
            "timeperiods": [{"timeperiod_type": 0, "start_date": now - 600, "period": 3600}],
        })["maintenanceids"][0]

    def in_maintenance(self):
        row = self.api.call("host.get", hostids=self.hostid, output=[
            "maintenance_status", "maintenance_type", "maintenanceid"])[0]
        return row["maintenance_status"], row["maintenance_type"], row["maintenanceid"]

    def problems(self):
        return self.api.call(
            "problem.get", hostids=self.hostid, output=["suppressed"], selectSuppressionData="extend")

    def count(self, key):
        return int(self.api.call(
            "history.get", itemids=self.items[key], history=3, countOutput=True))

    def test_problems_are_suppressed_with_data(self):
        bed.wait_for("values", lambda: "failed: 0" in self.send(9))
        bed.wait_for("a problem", self.problems)
        self.assertEqual([p["suppressed"] for p in self.problems()], ["0"])
        maintenance = self.begin(0)
        bed.wait_for("maintenance", lambda: self.in_maintenance() == ("1", "0", maintenance))
        bed.wait_for("suppression", lambda: [p["suppressed"] for p in self.problems()] == ["1"])
        data = self.problems()[0]["suppression_data"]
        self.assertEqual([row["maintenanceid"] for row in data], [maintenance])
        self.assertIn("failed: 0", self.send(3))
        bed.wait_for("recovery", lambda: not self.problems())
        # One that opens meanwhile is hidden as well.
        self.assertIn("failed: 0", self.send(8))
        bed.wait_for("another problem, hidden",
                     lambda: [p["suppressed"] for p in self.problems()] == ["1"])
        self.api.call("maintenance.delete", [maintenance])
        bed.wait_for("the end", lambda: self.in_maintenance() == ("0", "0", "0"))
        bed.wait_for("a visible problem", lambda: [p["suppressed"] for p in self.problems()] == ["0"])

    def test_nothing_is_collected_without_data(self):
        bed.wait_for("values", lambda: "failed: 0" in self.send(1))
        bed.wait_for("checks", lambda: self.count("zabbix[uptime]") > 1)
        maintenance = self.begin(1)
        bed.wait_for("maintenance", lambda: self.in_maintenance() == ("1", "1", maintenance))
        bed.wait_for("refusal", lambda: "failed: 1" in self.send(2))
        pushed = self.api.call("history.push", [{"itemid": self.items["sent"], "value": "3"}])
        self.assertEqual(pushed["data"][0]["error"], "Host is in maintenance without data collection.")
        # What was under way has arrived when two counts agree.
        bed.wait_for("silence", self.silence)
        self.api.call("maintenance.delete", [maintenance])
        before = self.count("zabbix[uptime]")
        bed.wait_for("checks again", lambda: self.count("zabbix[uptime]") > before + 1)
        bed.wait_for("values again", lambda: "failed: 0" in self.send(4))

    def silence(self):
        before = self.count("zabbix[uptime]")
        time.sleep(3)
        return self.count("zabbix[uptime]") == before


if __name__ == "__main__":
    bed.main()
