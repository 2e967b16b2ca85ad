#!/usr/bin/env python3
"""The list of problems, and updates of one and of many."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Problems(flowcase.FlowCase):
    def test_problems(self):
        self.walk("problems", steps=9)


if __name__ == "__main__":
    bed.main()
