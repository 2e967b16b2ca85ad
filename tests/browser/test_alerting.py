#!/usr/bin/env python3
"""Media types, media of users, actions with escalations, and the action log."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Alerting(flowcase.FlowCase):
    def test_alerting(self):
        self.walk("alerting", steps=8)


if __name__ == "__main__":
    bed.main()
