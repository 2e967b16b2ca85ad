#!/usr/bin/env python3
"""Pages and actions follow the rules of roles."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Roles(flowcase.FlowCase):
    def test_roles(self):
        self.walk("roles", steps=3)


if __name__ == "__main__":
    bed.main()
