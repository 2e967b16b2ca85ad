#!/usr/bin/env python3
"""Every form with an object, on a phone and a desktop, light and dark."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Forms(flowcase.FlowCase):
    def test_forms(self):
        self.walk("forms", steps=24)


if __name__ == "__main__":
    bed.main()
