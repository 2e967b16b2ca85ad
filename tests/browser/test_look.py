#!/usr/bin/env python3
"""Every page on a phone and a desktop, light and dark."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Look(flowcase.FlowCase):
    agent = "127.0.0.1:%d" % bed.free_port()

    def test_look(self):
        self.walk("look", steps=123)


if __name__ == "__main__":
    bed.main()
