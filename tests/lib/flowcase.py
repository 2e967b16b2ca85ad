"""A flow over the pages in a real Chromium, with a server of its own as a new user has it."""

import os
import re
import shutil
import subprocess

import bed

PICTURES = os.path.join(bed.ROOT, "target", "screenshots")


class FlowCase(bed.Case):
    """A subclass has a `test_` method that calls `walk`."""

    def walk(self, flow, steps, **variables):
        """Runs a flow of `web/e2e/flows`, of which at least so many `steps` must pass and none fail.
        `variables`: more of its environment."""
        pictures = os.path.join(PICTURES, flow)
        shutil.rmtree(pictures, ignore_errors=True)
        environment = dict(
            os.environ, BASE_URL="http://127.0.0.1:%d" % self.server.http, USER="Admin",
            PASSWORD=bed.PASSWORD, OUT=pictures, **variables)
        with subprocess.Popen(
                ["node", "e2e/run.mjs", flow], cwd=os.path.join(bed.ROOT, "web"),
                env=environment, stdout=subprocess.PIPE, text=True) as node:
            output = ""
            for line in node.stdout:
                print(line, end="", flush=True)
                output += line
        self.assertEqual(node.returncode, 0, "see the steps above and the pictures in " + pictures)
        passed = int(re.search(r"(\d+) passed, 0 failed", output)[1])
        self.assertGreaterEqual(passed, steps)
