#!/usr/bin/env python3
"""Web scenarios of a host."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class WebScenarios(flowcase.FlowCase):
    def test_web_scenarios(self):
        self.walk("web-scenarios", steps=6)


if __name__ == "__main__":
    bed.main()
