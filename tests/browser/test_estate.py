#!/usr/bin/env python3
"""20,000 hosts, 100,000 open problems and 18,000 hosts without data in a real Chromium."""

import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import fleet  # noqa: E402

PICTURES = os.path.join(bed.ROOT, "target", "screenshots-estate")
STORM_S, EACH_SECOND = 15, 100


class Estate(bed.Case):
    def storm(self):
        """New problems on other hosts every tenth of a second."""
        step = EACH_SECOND // 10
        for n in range(STORM_S * 10):
            fleet.send_values(self.server, range(n * step, (n + 1) * step), "9")
            time.sleep(0.1)

    def test_estate(self):
        self.server.stop()
        problems = fleet.fill(self.server)
        self.server.start(timeout=300)
        fleet.send_values(self.server)
        os.makedirs(PICTURES, exist_ok=True)
        environment = dict(
            os.environ, BASE_URL="http://127.0.0.1:%d" % self.server.http, USER="Admin",
            PASSWORD=bed.PASSWORD, OUT=PICTURES, PROBLEMS=str(problems),
            SILENT=str(fleet.SILENT), LAST="node-%05d" % (STORM_S * EACH_SECOND - 1),
            SERVER_PID=str(self.server.process.pid))
        node = subprocess.Popen(
            ["node", "e2e/estate.mjs"], cwd=os.path.join(bed.ROOT, "web"), env=environment,
            stdout=subprocess.PIPE, text=True)
        try:
            for line in node.stdout:
                print(line, end="", flush=True)
                if line.startswith("STORM"):
                    threading.Thread(target=self.storm, daemon=True).start()
            self.assertEqual(node.wait(timeout=30), 0, "see the steps above and " + PICTURES)
        finally:
            node.kill()


if __name__ == "__main__":
    bed.main()
