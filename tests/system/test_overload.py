#!/usr/bin/env python3
"""More values than the server can take: senders wait, memory is bounded, and what was acknowledged
is there once.

VEDETTE_OVERLOAD_SECONDS makes the storm longer; the sizes are those of a test that others wait for.
"""
# alone: it measures how many values the server can store, and sends twice as many

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

SECONDS = int(os.environ.get("VEDETTE_OVERLOAD_SECONDS", "6"))
# What queues, requests in hand and the newest values may take together, beside an idle server.
MEMORY_MIB_MAX = 2048


class Overload(bed.Case):
    def test_nothing_acknowledged_is_lost(self):
        out = os.path.join(self.server.folder, "overload.json")
        plot = os.path.join(self.server.folder, "overload.svg")
        # So few items that the proof covers each value of each of them.
        storm = subprocess.run(
            [bed.BINARY, "bench", "overload", "--api", self.server.url, "--user", "Admin",
             "--password", bed.PASSWORD, "--server", "%s:%d" % self.server.address,
             "--pid", str(self.server.process.pid), "--hosts", "10", "--items", "20",
             "--batch", "500", "--connections", "2", "--connections-times", "16", "--times", "2",
             "--calm", "2", "--seconds", str(SECONDS), "--json", out, "--plot", plot],
            capture_output=True, text=True, timeout=600)
        self.assertEqual(storm.returncode, 0, storm.stdout + storm.stderr)
        print(storm.stdout.strip())
        with open(out) as file:
            found = json.load(file)
        results = found["results"]
        self.assertGreater(results["checked"], 0)
        for what in ("missing", "duplicated", "different", "failed", "unanswered"):
            self.assertEqual(results[what], 0, what)
        self.assertLess(results["rss_max_mib"], results["rss_start_mib"] + MEMORY_MIB_MAX)
        # A look at the server each second, which has to wait for a server that is overloaded.
        self.assertGreaterEqual(len(found["steps"]), SECONDS // 3)
        self.assertIn("queue_max_percent", results)
        with open(plot) as file:
            self.assertIn("Queue in front of history", file.read())
        # The server is well afterwards: a value comes and is there.
        self.host("after", [{"key_": "k", "value_type": 3}])
        request = {"request": "sender data", "data": [{"host": "after", "key": "k", "value": "7"}]}
        bed.wait_for("a value after the storm", lambda: "processed: 1;" in bed.send(
            self.server.address, request)["info"])


if __name__ == "__main__":
    bed.main()
