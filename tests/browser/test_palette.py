#!/usr/bin/env python3
"""The palette, and keys that work on every page."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Palette(flowcase.FlowCase):
    agent = "127.0.0.1:%d" % bed.free_port()

    def test_palette(self):
        self.walk("palette", steps=6)


if __name__ == "__main__":
    bed.main()
