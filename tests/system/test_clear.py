#!/usr/bin/env python3
"""history.clear deletes for good: nothing comes back with a restart, what is sent later stays."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Clear(bed.Case):
    def send(self, values):
        data = [{"host": "clear", "key": key, "value": value, "clock": clock}
                for key, value, clock in values]
        answer = bed.send(self.server.address, {"request": "sender data", "data": data})
        self.assertTrue(answer["info"].startswith("processed: %d; failed: 0;" % len(data)), answer)

    def values(self, item, kind):
        rows = self.api.call("history.get", history=kind, itemids=item, sortfield="clock")
        return [row["value"] for row in rows]

    def last(self, item):
        return self.api.call("item.get", itemids=item, output=["lastvalue"])[0]["lastvalue"]

    def test_cleared_values_stay_away(self):
        _, items = self.host("clear", [
            {"key_": "number", "value_type": 3}, {"key_": "text", "value_type": 4},
            {"key_": "kept", "value_type": 3}, {"key_": "deleted", "value_type": 3},
        ])
        now = int(time.time())
        self.send([(key, str(n), now - 7300 + n) for n in range(100)
                   for key in ("number", "text", "kept", "deleted")])
        # What a stop writes of trends has to go as well.
        self.server.stop()
        self.server.start()
        self.send([(key, "1000", now - 10) for key in ("number", "text", "kept", "deleted")])
        self.api.call("history.clear", [items["number"], items["text"]])
        self.api.call("item.delete", [items["deleted"]])

        def trends():
            rows = self.api.call("trend.get", itemids=[items["number"]])
            return sum(int(row["num"]) for row in rows)

        def check(numbers, texts):
            self.assertEqual(self.values(items["number"], 3), numbers)
            self.assertEqual(self.values(items["text"], 4), texts)
            self.assertEqual(len(self.values(items["kept"], 3)), 101)
            self.assertEqual(self.last(items["number"]), numbers[-1] if numbers else "0")
            self.assertEqual(self.last(items["text"]), texts[-1] if texts else "")
            # What is folded but not written is not shown.
            self.assertLessEqual(trends(), len(numbers))

        check([], [])
        self.server.kill()
        self.server.start()
        check([], [])
        # Older than what was cleared, but sent later: new. One of them is of the last hour, one of
        # an hour that is long over, which a crash must not cost either.
        hour = now - now % 3600
        self.send([("number", "5", now - 20), ("text", "new", now - 30),
                   ("number", "4", hour - 1800), ("number", "3", hour - 5400)])
        check(["3", "4", "5"], ["new"])
        for end in (self.server.kill, self.server.stop, self.server.kill):
            end()
            self.server.start()
            check(["3", "4", "5"], ["new"])
        self.assertEqual(trends(), 3)
        self.api.call("history.clear", [items["number"]])
        self.server.kill()
        self.server.start()
        check([], ["new"])


if __name__ == "__main__":
    bed.main()
