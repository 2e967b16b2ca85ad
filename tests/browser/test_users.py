#!/usr/bin/env python3
"""User groups, roles, users, passwords and API tokens."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Users(flowcase.FlowCase):
    def test_users(self):
        self.walk("users", steps=7)


if __name__ == "__main__":
    bed.main()
