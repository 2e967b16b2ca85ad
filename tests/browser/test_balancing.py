#!/usr/bin/env python3
"""Virtual services and what they use, and the search of transactions."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402


class Balancing(flowcase.FlowCase):
    def test_balancing(self):
        self.walk("balancing", steps=9)

    def test_rules(self):
        self.walk("rules", steps=7)


class FirstService(flowcase.FlowCase):
    """A server on which nothing is balanced yet."""

    engines = bed.free_port()
    arguments = ("--engines", "127.0.0.1:%d" % engines)

    def test_balance(self):
        self.walk(
            "balance", steps=9, ENGINES="127.0.0.1:%d" % self.engines,
            PROGRAMS=os.path.dirname(bed.BINARY))


if __name__ == "__main__":
    bed.main()
