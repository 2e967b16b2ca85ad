#!/usr/bin/env python3
"""History on a double of Riak: what Vedette asks and makes of the answers, also when the double is
killed, has no quorum, or has siblings. How a real Riak behaves is proven by nothing here."""

import json
import os
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
from riakdouble import RiakDouble  # noqa: E402
from storecase import DAY, FLOAT, LOG, SECRET, UNSIGNED  # noqa: E402

BUCKET = "buckets/vedette/keys/"
BYTES = {"Content-Type": "application/octet-stream"}
LETTERS = {FLOAT: b"f", LOG: b"l", UNSIGNED: b"u"}


def rows_of(body):
    """Kind, second, nanosecond and bytes of the rows of an object."""
    assert body.startswith(b"VR1")
    at = 11
    while at < len(body):
        letter, clock, ns, size = struct.unpack_from(">cIII", body, at)
        at += 13
        yield letter, clock, ns, body[at:at + size]
        at += size


def key(item, clock):
    return "v-31-%s-%05d-%02d" % (item, clock // DAY, clock % DAY // 3600)


class OnRiak(storecase.Promises):
    """With a limit that many long texts of one hour are above."""

    @classmethod
    def make_store(cls):
        store = RiakDouble({"RIAK_OBJECT_MAX": "1000000"})
        cls.addClassCleanup(store.stop)
        return store

    @classmethod
    def parameter(cls):
        # The double asks nobody for a password; what is sent must not be told anywhere.
        return "riak=" + cls.store.url("vedette", "user:%s@" % SECRET)

    def rows(self, item, kind):
        rows, now = [], int(time.time())
        # What these tests send is of the last hours, and what comes with the clock's next one.
        for clock in range(now - 4 * 3600, now + 2 * 3600, 3600):
            status, body, headers = self.store.call("GET", BUCKET + key(item, clock))
            if status == 404:
                continue
            self.assertEqual(status, 200, headers)
            for letter, second, ns, value in rows_of(body):
                if letter != LETTERS.get(kind, b"t"):
                    continue
                if kind in (FLOAT, UNSIGNED):
                    value, = struct.unpack(">d" if kind == FLOAT else ">Q", value)
                else:
                    value = value.decode()
                    value = json.loads(value)["value"] if kind == LOG else value
                rows.append((second, ns, value))
        return rows

    def insert(self, item, clock, ns, value):
        row = struct.pack(">cIIIQ", b"u", clock, ns, 8, value)
        self.put(key(item, clock), b"VR1" + struct.pack(">Q", 1) + row)
        # The day has to be in the item's set.
        _, days, headers = self.store.call("GET", BUCKET + "i-%s" % item)
        day = struct.pack(">Q", 31 << 32 | clock // DAY)
        self.put("i-%s" % item, days + day, headers["X-Riak-Vclock"])

    def put(self, name, body, vclock=None):
        headers = dict(BYTES, **({"X-Riak-Vclock": vclock} if vclock else {}))
        status, said, _ = self.store.call("PUT", BUCKET + name, body, headers)
        self.assertEqual(status, 204, said)

    def set_version(self, version):
        headers = self.store.call("GET", BUCKET + "version")[2]
        self.put("version", b"VS1" + struct.pack(">Q", version), headers["X-Riak-Vclock"])

    def test_the_log_calls_it_experimental(self):
        self.assertIn("Riak is experimental", self.server.log(100000))

    def test_no_quorum_is_waited_for(self):
        _, items = self.host("quorum", [{"key_": "n", "value_type": UNSIGNED}])
        now = int(time.time())
        self.store.fail([[503, "R-value unsatisfied: 1/2"], [0, ""],
                         [503, "DW-value unsatisfied: 1/2"], [0, ""],
                         [503, "request timed out"], [500, "Error: overload"]])
        rows = [("quorum", "n", str(n), now - 500 + n, n) for n in range(50)]
        self.assertTrue(self.send(rows))
        stored = self.wait_for_rows(items["n"], UNSIGNED, 50)
        self.assertEqual([value for _, _, value in stored], list(range(50)))
        self.assertEqual(self.refused(items["n"]), [])

    def test_siblings_become_one(self):
        _, items = self.host("siblings", [{"key_": "n", "value_type": UNSIGNED}])
        clock = int(time.time()) // 3600 * 3600
        self.assertTrue(self.send([("siblings", "n", "1", clock, 1)]))
        self.wait_for_rows(items["n"], UNSIGNED, 1)
        # Another writer, who does not know of the first: one row more, and an older same one.
        rows = [struct.pack(">cIIIQ", b"u", clock, ns, 8, 40 + ns) for ns in (1, 2)]
        self.put(key(items["n"], clock), b"VR1" + struct.pack(">Q", 1) + b"".join(rows))
        self.assertEqual(self.store.call("GET", BUCKET + key(items["n"], clock))[0], 300)
        self.assertTrue(self.send([("siblings", "n", "3", clock, 3)]))
        bed.wait_for("one object", lambda: self.store.call(
            "GET", BUCKET + key(items["n"], clock))[0] == 200)
        self.assertEqual(self.rows(items["n"], UNSIGNED),
                         [(clock, 1, 1), (clock, 2, 42), (clock, 3, 3)])

    def test_a_row_that_is_refused_blocks_no_other(self):
        _, items = self.host("refused", [{"key_": "t", "value_type": 4}])
        # All in one hour, whenever this runs: their object has room for 16 of them.
        clock = int(time.time()) // 3600 * 3600
        sent = ["x" * 60000] * 18 + ["short"]
        self.assertTrue(self.send([("refused", "t", text, clock, ns)
                                   for ns, text in enumerate(sent)]))
        rows = self.wait_for_rows(items["t"], 4, 17)
        self.assertEqual([(ns, len(value)) for _, ns, value in rows],
                         [(ns, 60000) for ns in range(16)] + [(18, 5)])
        refused = bed.wait_for("two lines", lambda: self.refused(items["t"])[1:])
        self.assertTrue(refused[0].startswith("%s\t%d." % (items["t"], clock)), refused[0][:80])


class Refused(bed.unittest.TestCase):
    def test_errors_of_parameters_contain_no_secrets(self):
        storecase.check_wrong_parameters(
            self, ("riak=http://u:%s@h/x?n_val=3" % SECRET, "no other setting"))


if __name__ == "__main__":
    bed.main()
