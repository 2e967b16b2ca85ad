#!/usr/bin/env python3
"""Calls about sign-in, connectors and reports to a real server 7.0 and to Vedette: results and errors are equal."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
import signincalls  # noqa: E402


class SignIn(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reference = reference.Reference()
        cls.addClassCleanup(cls.reference.stop)

    def check(self, part):
        theirs = signincalls.run(self.reference.api(), part, bed.ApiError)
        ours = signincalls.run(self.api, part, bed.ApiError)
        different = ["%s\n  reference: %s\n  Vedette:   %s" % (call, wanted, found)
                     for (call, wanted), (_, found) in zip(theirs, ours) if wanted != found]
        self.assertEqual(different, [], "\n".join(different))

    def test_mfa(self):
        self.check("mfa")

    def test_directories(self):
        self.check("directories")

    def test_connectors(self):
        self.check("connectors")

    def test_others(self):
        self.check("others")


if __name__ == "__main__":
    bed.main()
