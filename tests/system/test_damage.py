#!/usr/bin/env python3
"""Files of the history are cut, flipped and deleted while the server is stopped: everything else stays
readable, and what is lost is in the log, a problem, the API and the report of `history verify`."""

import glob
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

VALUES = 1000


class Damage(bed.Case):
    def files(self, pattern):
        return sorted(glob.glob(os.path.join(self.server.folder, "data/history/shard-*", pattern)))

    def verify(self, *arguments):
        return subprocess.run([bed.BINARY, "history", "verify", "--data",
                               os.path.join(self.server.folder, "data"), *arguments], capture_output=True, text=True, timeout=60)

    def send(self, first):
        packet = {"request": "sender data", "data": [
            {"host": "h", "key": "k%d" % (n % 10), "value": str(n), "clock": first + n, "ns": 0}
            for n in range(VALUES)]}
        answer = bed.send(("127.0.0.1", self.server.trapper), packet)
        self.assertIn("processed: %d;" % VALUES, answer["info"])

    def count(self):
        return int(self.server.api().call("history.get", {
            "history": 3, "itemids": self.items, "countOutput": True}))

    def gaps(self):
        return self.server.api().call("history.gaps", {"itemids": self.items})

    def test_damage_is_reported_and_everything_else_is_kept(self):
        keys = ["k%d" % n for n in range(10)]
        _, ids = self.host("h", [{"key_": key, "value_type": 3} for key in keys])
        self.items = items = sorted(ids.values())
        start = int(time.time()) - 4 * VALUES
        for part in range(3):
            self.send(start + part * VALUES)
        self.assertEqual((self.count(), self.gaps()), (3 * VALUES, []))
        self.server.stop()
        whole = self.verify()
        self.assertEqual(whole.returncode, 0, whole.stdout + whole.stderr)

        # A flipped bit in the header of every write-ahead log costs nothing.
        for path in self.files("*.wal"):
            with open(path, "r+b") as file:
                file.seek(9)
                byte = file.read(1)[0]
                file.seek(9)
                file.write(bytes([byte ^ 4]))
        found = self.verify()
        self.assertEqual(found.returncode, 1, found.stdout)
        self.assertIn("header is damaged", found.stdout)
        self.server.start()
        self.assertEqual((self.count(), self.gaps()), (3 * VALUES, []))
        self.assertIn("header is damaged", self.server.log(400))

        # Deleted files are missed.
        self.server.stop()
        repaired = self.verify("--repair")
        self.assertEqual(repaired.returncode, 0, repaired.stdout + repaired.stderr)
        for path in self.files("*.seg") + self.files("*.wal"):
            os.remove(path)
        found = self.verify()
        self.assertEqual(found.returncode, 1, found.stdout)
        self.assertIn("the file is missing", found.stdout)
        self.server.start()
        lost = [gap for gap in self.gaps() if "missing" in gap["reason"]]
        self.assertEqual({gap["itemid"] for gap in lost}, set(items))
        self.assertLess(self.count(), 3 * VALUES)
        self.assertIn("history lost values", self.server.log(400))

        def problem():
            problems = self.server.api().call("problem.get", {"output": ["name"]})
            return any("History lost values" in row["name"] for row in problems)
        bed.wait_for("the problem on the host Vedette", problem)


if __name__ == "__main__":
    bed.main()
