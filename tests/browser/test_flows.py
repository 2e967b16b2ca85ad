#!/usr/bin/env python3
"""Flows over the pages in a real Chromium, against a server as a new user has it."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

PICTURES = os.path.join(bed.ROOT, "target", "screenshots")


class Flows(bed.Case):
    agent = "127.0.0.1:%d" % bed.free_port()

    def test_pages(self):
        hosts = self.api.call("host.get", output=["host"], selectItems="count")
        machine = [h["host"] for h in hosts if h["host"] != "Vedette"][0]
        self.host("trouble", [{"key_": "load", "value_type": 0}])
        self.api.call("trigger.create", description="Coolant is low", priority=4, manual_close=1,
                      expression="last(/trouble/load)>5",
                      tags=[{"tag": "scope", "value": "load"}] + [
                          {"tag": tag, "value": "cooling of the first hall"}
                          for tag in ("component", "room", "service", "team", "vendor")])
        bed.send(self.server.address, {
            "request": "sender data", "data": [{"host": "trouble", "key": "load", "value": "9"}]})
        bed.wait_for("the problem", lambda: self.api.call("problem.get", search={"name": "Coolant is low"}))

        def measured():
            rows = self.api.call("item.get", host=machine, output=["lastclock"],
                                 search={"key_": "system.cpu"})
            return rows and all(row["lastclock"] != "0" for row in rows[:6])
        bed.wait_for("values of this machine", measured, 120)
        shutil.rmtree(PICTURES, ignore_errors=True)
        os.makedirs(PICTURES)
        environment = dict(
            os.environ, BASE_URL="http://127.0.0.1:%d" % self.server.http, USER="Admin",
            PASSWORD=bed.PASSWORD, OUT=PICTURES, HOST=machine, TROUBLE="trouble",
            PROBLEM="Coolant is low")
        done = subprocess.run(["npm", "run", "--silent", "e2e"], cwd=os.path.join(bed.ROOT, "web"),
                              env=environment, timeout=1800)
        self.assertEqual(done.returncode, 0, "see the flows above and the pictures in " + PICTURES)
        self.assertGreater(len(os.listdir(PICTURES)), 100)


if __name__ == "__main__":
    bed.main()
