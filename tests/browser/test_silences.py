#!/usr/bin/env python3
"""Silences and maintenance."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Silences(flowcase.FlowCase):
    def test_silences(self):
        self.walk("silences", steps=14)


if __name__ == "__main__":
    bed.main()
