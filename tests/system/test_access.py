#!/usr/bin/env python3
"""Access by other users of the machine, and by clients without an account."""

import contextlib
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

WITHOUT_UMASK = ["sh", "-c", 'umask 0; exec "$0" "$@"']


class DataFolder(bed.unittest.TestCase):
    def modes(self, data):
        """Paths that other users may read, write or enter."""
        found = []
        for folder, _, files in os.walk(data):
            for path in [folder] + [os.path.join(folder, name) for name in files]:
                # A file that is replaced has another name for a moment.
                with contextlib.suppress(FileNotFoundError):
                    mode = stat.S_IMODE(os.lstat(path).st_mode)
                    if mode & 0o077:
                        found.append("%o %s" % (mode, path))
        return found

    def test_other_users_have_no_access(self):
        server = bed.Server(through=WITHOUT_UMASK)
        self.addCleanup(server.clean)
        data = os.path.join(server.folder, "data")
        server.start()
        server.api()
        self.assertEqual(self.modes(data), [])
        self.assertTrue(os.path.exists(os.path.join(data, "config.db")))
        server.stop()
        for folder, folders, files in os.walk(data):
            for name in folders + files:
                os.chmod(os.path.join(folder, name), 0o755)
        os.chmod(data, 0o755)
        server.start()
        self.assertEqual(self.modes(data), [])
        self.assertIn("removed their access", server.log())


if __name__ == "__main__":
    bed.main()
