#!/usr/bin/env python3
"""On-call schedules, and what makes actions and media types quieter."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class OnCall(flowcase.FlowCase):
    def test_oncall(self):
        self.walk("oncall", steps=13)


if __name__ == "__main__":
    bed.main()
