#!/usr/bin/env python3
"""Why users are notified of a problem, or not, and the rehearsal of an action."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Explain(flowcase.FlowCase):
    def test_explain(self):
        self.walk("explain", steps=9)


if __name__ == "__main__":
    bed.main()
