#!/usr/bin/env python3
"""Calls about sign-in, connectors and reports to a real server 7.0 and to Vedette: results and errors are equal."""

import contextlib
import os
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
import signincalls  # noqa: E402

# Makes the user and the medium what provisioning makes of them, without a directory that both servers reach.
PROVISION = [
    "UPDATE users SET userdirectoryid = %(ldap)s WHERE userid = %(user)s",
    "INSERT INTO userdirectory_media (userdirectory_mediaid, userdirectoryid, mediatypeid, name, attribute) "
    "VALUES (1, %(ldap)s, 1, 'm', 'mail')",
    "UPDATE media SET userdirectory_mediaid = 1 WHERE userid = %(user)s",
]


class SignIn(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reference = reference.Reference()
        cls.addClassCleanup(cls.reference.stop)

    def check(self, part, theirs=None, ours=None):
        """`theirs`, `ours`: ids that both servers have made before."""
        theirs = signincalls.run(self.reference.api(), part, bed.ApiError, theirs)
        ours = signincalls.run(self.api, part, bed.ApiError, ours)
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

    def test_groups(self):
        self.check("groups")

    def test_provisioned_users(self):
        theirs, ours = {}, {}
        self.check("provisioning", theirs, ours)
        for statement in PROVISION:
            psql = ["psql", "-q", "-v", "ON_ERROR_STOP=1", self.reference.about["postgresql"]]
            subprocess.run([*psql, "-c", statement % theirs], check=True)
        path = os.path.join(self.server.folder, "data", "config.db")
        with contextlib.closing(sqlite3.connect(path, timeout=60)) as database, database:
            for statement in PROVISION:
                database.execute(statement % ours)
        self.check("provisioned", theirs, ours)


if __name__ == "__main__":
    bed.main()
