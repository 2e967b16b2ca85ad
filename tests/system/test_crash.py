#!/usr/bin/env python3
"""kill -9 in the middle of a full-speed load: nothing acknowledged is missing or there twice."""

import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

KILLS = 20


class Crash(bed.Case):
    def bench(self, *arguments):
        return [bed.BINARY, "bench", *arguments, "--api", self.server.url, "--user", "Admin",
                "--password", bed.PASSWORD]

    def test_kill_loop(self):
        chance = random.Random(7)
        log = os.path.join(self.server.folder, "acknowledged.log")
        load = subprocess.Popen(
            self.bench("crash", "--server", "127.0.0.1:%d" % self.server.trapper, "--log", log,
                       "--seconds", "600", "--hosts", "20", "--items", "20", "--rate", "100000"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(load.kill)
        bed.wait_for("the load to begin", lambda: os.path.exists(log) and os.path.getsize(log) > 0)
        slowest = 0.0
        for _ in range(KILLS):
            time.sleep(0.3 + chance.random())
            self.server.kill()
            slowest = max(slowest, self.server.start())
        load.terminate()
        load.communicate(timeout=60)
        print("slowest start until serving: %.2f s" % slowest)
        check = subprocess.run(self.bench("crash", "--check", log), capture_output=True, text=True,
                               timeout=300)
        print(check.stdout.strip())
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.assertIn("missing 0, duplicated 0", check.stdout)


if __name__ == "__main__":
    bed.main()
