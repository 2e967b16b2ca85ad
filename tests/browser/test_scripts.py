#!/usr/bin/env python3
"""Scripts: editor, menus of hosts with input and confirmation, and operations of actions."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Scripts(flowcase.FlowCase):
    def test_scripts(self):
        self.walk("scripts", steps=10)


if __name__ == "__main__":
    bed.main()
