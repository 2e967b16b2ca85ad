#!/usr/bin/env python3
"""Changes of many hosts with SQLite: others change the configuration meanwhile, and kill -9."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from portioncases import PortionCases  # noqa: E402


class Portions(PortionCases, unittest.TestCase):
    def setUp(self):
        self.server = bed.Server()
        self.addCleanup(self.server.clean)
        self.server.start()


if __name__ == "__main__":
    bed.main()
