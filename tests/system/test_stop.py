#!/usr/bin/env python3
"""What a stop leaves: complete databases without write-ahead logs."""

import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Stop(bed.Case):
    def logs(self):
        """Bytes of the write-ahead logs of the configuration, 0 for an absent file."""
        paths = [self.path(name) for name in ("config.db-wal", "config-state.db-wal")]
        return [os.path.getsize(path) if os.path.exists(path) else 0 for path in paths]

    def path(self, name):
        return os.path.join(self.server.folder, "data", name)

    def test_sigterm_leaves_complete_databases_without_logs(self):
        hostid, _ = self.host("stopped", [{"key_": "k", "value_type": 3}])
        self.api.call("trigger.create", description="high", expression="last(/stopped/k)>5")
        data = [{"host": "stopped", "key": "k", "value": "9"}]
        bed.wait_for("the value", lambda: "processed: 1" in bed.send(
            self.server.address, {"request": "sender data", "data": data})["info"])
        bed.wait_for("the problem", lambda: self.api.call("problem.get", hostids=hostid))
        # While the server runs, changes are in the logs.
        self.assertTrue(all(self.logs()), self.logs())

        self.server.stop()
        self.assertEqual(self.server.process.returncode, 0, self.server.log())
        self.assertEqual(self.logs(), [0, 0])
        with tempfile.TemporaryDirectory() as folder:
            for name, sql in (("config.db", "SELECT COUNT(*) FROM hosts WHERE host = 'stopped'"),
                              ("config-state.db", "SELECT COUNT(*) FROM problems WHERE name = 'high'")):
                copy = shutil.copy(self.path(name), folder)
                with contextlib.closing(sqlite3.connect(copy)) as database:
                    self.assertEqual(database.execute(sql).fetchone(), (1,), name)


if __name__ == "__main__":
    bed.main()
