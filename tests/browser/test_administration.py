#!/usr/bin/env python3
"""Queue, health, capacity, system information and users of a new server."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Administration(flowcase.FlowCase):
    def test_administration(self):
        self.walk("administration", steps=7)


if __name__ == "__main__":
    bed.main()
