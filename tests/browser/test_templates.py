#!/usr/bin/env python3
"""Templates: imported, created, deleted."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Templates(flowcase.FlowCase):
    def test_templates(self):
        self.walk("templates", steps=8)


if __name__ == "__main__":
    bed.main()
