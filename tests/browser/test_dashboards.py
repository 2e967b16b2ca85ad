#!/usr/bin/env python3
"""Dashboards in a browser: the list, one with widgets, and that of a template on its host."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Dashboards(flowcase.FlowCase):
    def test_dashboards(self):
        self.walk("dashboards", steps=45)


if __name__ == "__main__":
    bed.main()
