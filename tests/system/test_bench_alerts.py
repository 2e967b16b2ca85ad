#!/usr/bin/env python3
"""`vedette bench alerts`: what it counts and leaves behind, not how fast anything is."""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Alerts(bed.Case):
    def test_each_problem_has_its_message(self):
        path = os.path.join(self.server.folder, "alerts.json")
        subprocess.run(
            [bed.BINARY, "bench", "alerts", "--server", "127.0.0.1:%d" % self.server.trapper,
             "--api", self.server.url, "--pid", str(self.server.process.pid), "--json", path,
             "--hosts", "3", "--items", "2", "--open", "30", "--rate", "20", "--seconds", "1",
             "--messages", "40", "--grouped", "60", "--group-wait", "1s", "--values", "100"],
            env=dict(os.environ, VEDETTE_ADMIN_PASSWORD=bed.PASSWORD), check=True,
            capture_output=True, timeout=240)
        with open(path) as file:
            found = json.load(file)["results"]
        wanted = {"latency_missing": 0, "delivered_missing": 0, "groups": 3, "grouped_messages": 3,
                  "grouped_stored": 63}
        self.assertEqual({name: found[name] for name in wanted}, wanted)
        # A slow machine may open some problems of a host after its message.
        self.assertTrue(3 <= found["told"] <= 60, found["told"])
        for name in ("latency_p99_ms", "delivered_per_s", "memory_peak_mib", "values_ratio"):
            self.assertGreater(found[name], 0, name)
        api = self.server.api()
        for kind, name in (("host", "host"), ("mediatype", "name"), ("user", "username"),
                           ("action", "name")):
            left = api.call(kind + ".get", output=[name])
            self.assertNotIn("bench", str(left).lower(), kind)


if __name__ == "__main__":
    bed.main()
