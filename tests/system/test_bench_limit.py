#!/usr/bin/env python3
"""`vedette bench limit`: what it observes, writes and leaves behind, not where the limit is."""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Limit(bed.Case):
    def limit(self, *more):
        """The report, and what was printed meanwhile."""
        path = os.path.join(self.server.folder, "limit.json")
        done = subprocess.run(
            [bed.BINARY, "bench", "limit", "--api", self.server.url,
             "--pid", str(self.server.process.pid), "--json", path, "--start", "20", "--factor", "2",
             "--hosts-max", "40", "--precision", "100", "--interval", "1", "--delay", "0s",
             "--settle", "5s", "--seconds", "3", "--readers", "2", *more],
            env=dict(os.environ, VEDETTE_ADMIN_PASSWORD=bed.PASSWORD), check=True,
            capture_output=True, text=True, timeout=240)
        with open(path) as file:
            return json.load(file), done.stderr

    def test_finished_steps_are_not_observed_again(self):
        kept = os.path.join(self.server.folder, "steps.json")
        plot = os.path.join(self.server.folder, "limit.svg")
        report, said = self.limit("--resume", kept, "--plot", plot)
        steps = report["steps"]
        # On a machine that is busy with something else, a rule may apply to the first step.
        self.assertIn([step["hosts"] for step in steps], ([20], [20, 40]))
        self.assertIn("step 1: 20 hosts", said)
        for step in steps:
            self.assertGreater(step["checks_per_s"], 0)
            self.assertGreater(step["page_p50_ms"], 0)
            self.assertEqual(step["page_failed"], 0)
        with open(plot) as file:
            drawn = file.read()
        for words in ("pollers busy", "allowed growth", "page of the UI"):
            self.assertIn(words, drawn)
        self.assertEqual(self.api.call("host.get", output=["host"], search={"host": "bench-"}), [])
        again, said = self.limit("--resume", kept)
        self.assertEqual((again["steps"], again["results"]), (steps, report["results"]))
        self.assertNotIn("step", said)


if __name__ == "__main__":
    bed.main()
