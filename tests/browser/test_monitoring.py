#!/usr/bin/env python3
"""The overview, hosts, latest data and graphs of a host with an agent."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Monitoring(flowcase.FlowCase):
    agent = "127.0.0.1:%d" % bed.free_port()

    def test_monitoring(self):
        self.walk("monitoring", steps=15)


if __name__ == "__main__":
    bed.main()
