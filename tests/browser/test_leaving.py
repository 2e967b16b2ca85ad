#!/usr/bin/env python3
"""Unsaved edits, Back and Cancel."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Leaving(flowcase.FlowCase):
    def test_leaving(self):
        self.walk("leaving", steps=10)


if __name__ == "__main__":
    bed.main()
