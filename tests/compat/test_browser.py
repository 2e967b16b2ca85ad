#!/usr/bin/env python3
"""The cases of browser items, asked of a real server 7.0: what they expect of Vedette is what it
answers, and a result has the same members."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import browsing  # noqa: E402
import reference  # noqa: E402
import remotes  # noqa: E402


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.peers = browsing.Peers()
        cls.addClassCleanup(cls.peers.stop)
        cls.reference = reference.Reference(
            more=["StartBrowserPollers=1", "WebDriverURL=" + cls.peers.url])
        cls.addClassCleanup(cls.reference.stop)
        cls.api = cls.reference.api()

    def test_scripts(self):
        for script, expected in browsing.cases():
            with self.subTest(script=script):
                found = browsing.ask(self.api, self.reference.trapper, self.peers.page, script)
                self.assertEqual(remotes.differs(found, expected), "")

    def test_results_have_the_same_members(self):
        server = bed.Server(arguments=["--webdriver-url", self.peers.url])
        self.addCleanup(server.clean)
        server.start()
        ours = browsing.result(server.api(), server.trapper, self.peers.page)
        self.maxDiff = None
        theirs = browsing.result(self.api, self.reference.trapper, self.peers.page)
        self.assertEqual(ours, theirs)


if __name__ == "__main__":
    bed.main()
