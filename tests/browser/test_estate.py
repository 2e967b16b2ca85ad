#!/usr/bin/env python3
"""20,000 hosts, 100,000 open problems and 18,000 hosts without data in a real Chromium."""
# alone: it counts what a browser shows of 100 new problems per second

import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import fleet  # noqa: E402

PICTURES = os.path.join(bed.ROOT, "target", "screenshots-estate")
#: `make test-deep` makes it a minute.
STORM_S = int(os.environ.get("STORM_S", "15"))
EACH_SECOND = 100


class Estate(bed.Case):
    def storm(self):
        """New problems every tenth of a second: of one trigger of each host, then of the next."""
        step = EACH_SECOND // 10
        for n in range(0, STORM_S * EACH_SECOND, step):
            turn, first = divmod(n, fleet.TALKING)
            fleet.send_values(self.server, range(first, first + step), fleet.OVERLOADS[turn][1])
            time.sleep(0.1)

    def test_estate(self):
        self.server.stop()
        problems = fleet.fill(self.server)
        self.server.start(timeout=300)
        fleet.send_values(self.server)
        os.makedirs(PICTURES, exist_ok=True)
        turn, last = divmod(STORM_S * EACH_SECOND - 1, fleet.TALKING)
        environment = dict(
            os.environ, BASE_URL="http://127.0.0.1:%d" % self.server.http, USER="Admin",
            PASSWORD=bed.PASSWORD, OUT=PICTURES, PROBLEMS=str(problems),
            SILENT=str(fleet.SILENT), STORM_S=str(STORM_S), LAST="node-%05d" % last,
            LAST_PROBLEM=fleet.OVERLOADS[turn][0], SERVER_PID=str(self.server.process.pid))
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
