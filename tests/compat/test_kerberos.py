#!/usr/bin/env python3
"""A real server 7.0 and Vedette with the same keytab ask the same Apache: values, users and requests
are equal. Where a ticket is missing both have an error; Vedette's says why."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import kerberos  # noqa: E402
import reference  # noqa: E402


class Kerberos(bed.unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.realm = realm = kerberos.Realm()
        cls.addClassCleanup(realm.stop)
        # Each server has a cache of its own.
        os.environ.update(realm.environment(
            KRB5_CLIENT_KTNAME=realm.path("monitor.keytab"), KRB5CCNAME="FILE:" + realm.path("reference")))
        real = reference.Reference()
        cls.addClassCleanup(real.stop)
        server = bed.Server(environment={"KRB5CCNAME": "FILE:" + realm.path("ours")})
        cls.addClassCleanup(server.clean)
        server.start()
        cls.sides = [(("127.0.0.1", real.trapper), real.api().token), (server.address, server.api().token)]

    @staticmethod
    def ask(side, item):
        address, token = side
        data = {"item": item, "host": {"hostid": "10084"}, "options": {"single": False, "state": 0}}
        answer = bed.send(address, {"request": "item.test", "sid": token, "data": data})
        return answer.get("data", {}).get("item", answer)

    def opened(self, side):
        """What each item got, and the requests that Apache saw."""
        for number in range(len(list(kerberos.opened(self.realm, "")))):
            mark = self.realm.mark()
            item, count = list(kerberos.opened(self.realm, mark))[number]
            result = self.ask(side, item).get("result")
            yield result, [request[:5] for request in self.realm.seen(mark, count)]

    def test_what_a_ticket_opens(self):
        items = kerberos.opened(self.realm, "")
        for (item, _), real, ours in zip(items, *(self.opened(side) for side in self.sides)):
            with self.subTest(item=item.get("url") or item["params"]):
                self.assertEqual(ours, real)
                self.assertIn(ours[0], ("secret", "bound", "open"))

    def test_what_stays_closed(self):
        for item in kerberos.closed(self.realm):
            with self.subTest(item=item.get("url") or item["params"]):
                for found in (self.ask(side, item) for side in self.sides):
                    self.assertIn("error", found)


if __name__ == "__main__":
    bed.main()
