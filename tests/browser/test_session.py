#!/usr/bin/env python3
"""Signing in and out, themes, addresses that do not exist."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Session(flowcase.FlowCase):
    def test_session(self):
        self.walk("session", steps=8)


if __name__ == "__main__":
    bed.main()
