#!/usr/bin/env python3
"""The cases of IPMI, asked of a real server 7.0: what they expect of Vedette is what it answers."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import ipmisim  # noqa: E402
import reference  # noqa: E402
import remotes  # noqa: E402


class Ipmi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.peer = ipmisim.Simulator()
        cls.addClassCleanup(cls.peer.stop)
        cls.reference = reference.Reference(more=["StartIPMIPollers=1"])
        cls.addClassCleanup(cls.reference.stop)
        cls.api = cls.reference.api()

    def ask(self, *arguments, **more):
        return ipmisim.ask(self.api, self.reference.trapper, self.peer.port, *arguments, **more)

    def test_values(self):
        for sensor, how, expected in ipmisim.cases(self.peer.port):
            with self.subTest(sensor=sensor, how=how):
                self.assertEqual(remotes.differs(self.ask(sensor, how), expected), "")

    def test_all_sensors(self):
        self.assertEqual(self.ask("", {}, key="ipmi.get"), ipmisim.ALL)


if __name__ == "__main__":
    bed.main()
