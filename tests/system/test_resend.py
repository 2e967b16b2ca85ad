#!/usr/bin/env python3
"""kill -9 after values of an active agent were kept: the agent, which did not hear of it, sends them
again, and nothing of it is there twice: neither in history, nor in trends, nor as an event."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

SESSION = "0123456789abcdef0123456789abcdef"


class Resend(bed.Case):
    def setUp(self):
        self.hostid, self.items = self.host("resend", [
            {"key_": "count", "type": 7, "value_type": 3, "delay": "1m"}])
        # Each value above 5 opens a problem of its own, so that events count evaluations.
        self.api.call("trigger.create", {
            "description": "each", "expression": "last(/resend/count)>5", "type": 1})
        self.begin = int(time.time()) - 600

    def row(self, number):
        """The n-th value; each fifth has the moment of the one before."""
        moment = number - 1 if number % 5 == 3 else number
        return {"itemid": self.items["count"], "id": number, "value": str(100 + number),
                "clock": self.begin + moment, "ns": 5}

    def send(self, numbers):
        answer = bed.send(self.server.address, {
            "request": "agent data", "session": SESSION, "version": "7.0.22", "variant": 2,
            "host": "resend", "data": [self.row(number) for number in numbers]})
        self.assertEqual(answer["response"], "success", answer)
        self.assertIn("processed: %d; failed: 0; total: %d;" % (len(numbers), len(numbers)), answer["info"])

    def values(self):
        rows = self.api.call("history.get", {
            "itemids": self.items["count"], "history": 3, "output": "extend",
            "sortfield": "clock", "sortorder": "ASC"})
        return sorted(int(row["value"]) - 100 for row in rows)

    def events(self):
        return int(self.api.call("event.get", {"hostids": self.hostid, "value": 1, "countOutput": True}))

    def expect(self, last):
        bed.wait_for("values 1 to %d" % last, lambda: self.values() == list(range(1, last + 1)))
        bed.wait_for("%d events" % last, lambda: self.events() >= last)
        self.assertEqual(self.events(), last)

    def test_resend_after_kill(self):
        last = 0
        for _ in range(3):
            self.send(range(last + 1, last + 21))
            last += 20
            self.expect(last)
            self.server.kill()
            self.server.start()
            self.api = self.server.api()
            # In other portions than before, with new values behind.
            self.send(range(last - 19, last - 7))
            self.send(range(last - 7, last + 6))
            last += 5
            # A repeated event would come before those of these.
            self.expect(last)


if __name__ == "__main__":
    bed.main()
