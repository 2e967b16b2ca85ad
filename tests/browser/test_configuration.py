#!/usr/bin/env python3
"""A host with its items, triggers, discovery rules, macros and value maps."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Configuration(flowcase.FlowCase):
    def test_configuration(self):
        self.walk("configuration", steps=32)


if __name__ == "__main__":
    bed.main()
