#!/usr/bin/env python3
"""The map editor: elements, links, undo, and a map that changes meanwhile."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Maps(flowcase.FlowCase):
    def test_maps(self):
        self.walk("maps", steps=7)


if __name__ == "__main__":
    bed.main()
