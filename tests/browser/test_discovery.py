#!/usr/bin/env python3
"""Network discovery, its actions, and autoregistration."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Discovery(flowcase.FlowCase):
    def test_discovery(self):
        self.walk("discovery", steps=11)


if __name__ == "__main__":
    bed.main()
