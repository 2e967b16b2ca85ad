#!/usr/bin/env python3
"""Services as a tree, SLAs, their report, and event correlation."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Services(flowcase.FlowCase):
    def test_services(self):
        self.walk("services", steps=10)


if __name__ == "__main__":
    bed.main()
