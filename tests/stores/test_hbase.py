#!/usr/bin/env python3
"""History on a real HBase through its gateway: everything acknowledged is there exactly once,
whichever of the two is killed, and the API reads what the data folder keeps no longer."""

import base64
import json
import os
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import storecase  # noqa: E402
import tlscase  # noqa: E402
from hbase import HBase  # noqa: E402
from storecase import DAY, FLOAT, LOG, SECRET, UNSIGNED  # noqa: E402

LETTERS = {FLOAT: "f", LOG: "l", UNSIGNED: "u"}


def key(item, day=None):
    """The key of an item's row of a day, or what comes before those of all days."""
    spread = (int(item) * 0x9e3779b97f4a7c15 % 2**64) >> 56
    return "%02x-%s-%s" % (spread, item, "" if day is None else "%05d" % day)


def coded(text):
    return base64.b64encode(text).decode()


class OnHBase(tlscase.OverHttps, storecase.Promises):
    """With a limit that one text is above."""

    longest_text = 30000

    @classmethod
    def make_store(cls):
        store = HBase({"hbase.client.keyvalue.maxsize": 40960})
        cls.addClassCleanup(store.stop)
        return store

    @classmethod
    def parameter(cls):
        # This gateway asks nobody for a password; what is sent must not be told anywhere.
        return "hbase=" + cls.store.url("vedette", "user:%s@" % SECRET)

    def rows(self, item, kind):
        found = self.store.call("GET", "vedette_history_31d/*?startrow=%s&endrow=%s~"
                                % (key(item), key(item)))
        rows = []
        for row in found["Row"]:
            day = int(base64.b64decode(row["key"]).decode().rsplit("-", 1)[1])
            for cell in row["Cell"]:
                qualifier = base64.b64decode(cell["column"]).decode().split(":", 1)[1]
                value = base64.b64decode(cell["$"])
                if qualifier[14] != LETTERS.get(kind, "t"):
                    continue
                if kind in (FLOAT, UNSIGNED):
                    value, = struct.unpack(">d" if kind == FLOAT else ">Q", value)
                else:
                    value = json.loads(value)["value"] if kind == LOG else value.decode()
                rows.append((day * DAY + int(qualifier[:5]), int(qualifier[5:14]), value))
        return rows

    def insert(self, item, clock, ns, value):
        qualifier = "v:%05d%09du" % (clock % DAY, ns)
        self.store.call("PUT", "vedette_history_31d/rows", {"Row": [{
            "key": coded(key(item, clock // DAY).encode()),
            "Cell": [{"column": coded(qualifier.encode()), "$": coded(struct.pack(">Q", value))}],
        }]})

    def set_version(self, version):
        [row] = self.store.call("GET", "vedette_state/version")["Row"]
        [cell] = row["Cell"]
        # Later than what is there.
        row["Cell"] = [dict(cell, timestamp=cell["timestamp"] + 1, **{"$": coded(b"%d" % version)})]
        self.store.call("PUT", "vedette_state/rows", {"Row": [row]})

    def gateway_killed(self):
        self.store.kill_gateway()
        time.sleep(1)
        self.store.start()

    def faults(self):
        return (*super().faults(), self.gateway_killed)

    def test_more_than_one_request_has_arrives_whole(self):
        keys = ["t%d" % n for n in range(8)]
        _, items = self.host("large", [{"key_": key, "value_type": 4} for key in keys])
        now = int(time.time())
        text = "x" * self.longest_text
        # 6 MB, of which a request has 2.
        self.assertTrue(self.send([("large", key, "%d %s" % (n, text[10:]), now - 60 + n, n)
                                   for n in range(25) for key in keys]))
        for key in keys:
            rows = self.wait_for_rows(items[key], 4, 25)
            self.assertEqual([value.split(" ")[0] for _, _, value in rows],
                             [str(n) for n in range(25)])
            self.assertEqual(self.refused(items[key]), [])

    def test_a_row_that_is_refused_blocks_no_other(self):
        _, items = self.host("refused", [{"key_": "t", "value_type": 4}])
        now = int(time.time())
        self.assertTrue(self.send([("refused", "t", "one", now - 9, 0),
                                   ("refused", "t", "x" * 50000, now - 8, 0),
                                   ("refused", "t", "two", now - 7, 0)]))
        rows = self.wait_for_rows(items["t"], 4, 2)
        self.assertEqual([value for _, _, value in rows], ["one", "two"])
        refused = bed.wait_for("the file", lambda: self.refused(items["t"]))
        self.assertEqual(len(refused), 1, [line[:80] for line in refused])
        self.assertTrue(refused[0].startswith("%s\t%d." % (items["t"], now - 8)), refused[0][:80])


class Refused(bed.unittest.TestCase):
    def test_errors_of_parameters_contain_no_secrets(self):
        storecase.check_wrong_parameters(
            self, ("hbase=http://u:%s@h/x?compression=rar" % SECRET, "one of gz, none"))


if __name__ == "__main__":
    bed.main()
