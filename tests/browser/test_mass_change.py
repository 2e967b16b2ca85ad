#!/usr/bin/env python3
"""Change several items at once, and find the change in the audit log."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class MassChange(flowcase.FlowCase):
    def test_mass_change(self):
        self.walk("mass-change", steps=7)


if __name__ == "__main__":
    bed.main()
