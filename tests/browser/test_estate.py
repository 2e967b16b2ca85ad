#!/usr/bin/env python3
"""20,000 hosts with 200,000 items and 100,000 open problems in a real Chromium, over TLS."""
# alone: it counts what a browser shows of 100 new problems per second

import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import fleet  # noqa: E402
from certificates import Authority  # noqa: E402

PICTURES = os.path.join(bed.ROOT, "target", "screenshots-estate")
#: `make test-deep` makes it a minute.
STORM_S = int(os.environ.get("STORM_S", "15"))
EACH_SECOND = 100
#: Limit of the age of the newest row, exceeded at most by one of twenty. A short storm has few rows, and
#: its first ones count the start.
NEWEST_ROW_S = 2 if STORM_S >= 60 else 5


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
        certificates = tempfile.TemporaryDirectory(prefix="vedette-estate-")
        self.addCleanup(certificates.cleanup)
        authority = Authority(certificates.name)
        self.server.secure(authority)
        self.server.start(timeout=300)
        fleet.send_values(self.server)
        os.makedirs(PICTURES, exist_ok=True)
        turn, last = divmod(STORM_S * EACH_SECOND - 1, fleet.TALKING)
        environment = dict(
            os.environ, BASE_URL="https://127.0.0.1:%d" % self.server.http, USER="Admin",
            PASSWORD=bed.PASSWORD, OUT=PICTURES, PROBLEMS=str(problems),
            TLS_KEY_HASH=authority.key_hash("web"), SILENT=str(fleet.SILENT), STORM_S=str(STORM_S), NEWEST_ROW_S=str(NEWEST_ROW_S), LAST="node-%05d" % last,
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
