#!/usr/bin/env python3
"""The configuration on a PostgreSQL whose disk is full, and texts that are as long as the API accepts."""

import os
import random
import string
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from databases import Postgres  # noqa: E402
from smalldisk import SmallDisk  # noqa: E402


class Full(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.disk = SmallDisk()
        cls.addClassCleanup(cls.disk.remove)
        usual, tempfile.tempdir = tempfile.tempdir, cls.disk.folder
        try:
            # The log of the database cannot use spare segments when the disk is full.
            cls.postgres = Postgres(("fsync=off", "max_wal_size=32MB", "min_wal_size=32MB"))
        finally:
            tempfile.tempdir = usual
        cls.addClassCleanup(cls.postgres.stop)
        cls.server = bed.Server(arguments=["--database", cls.postgres.create("vedette")])
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()
        cls.group = cls.api.call("hostgroup.create", name="g")["groupids"][0]
        cls.hostid = cls.api.call("host.create", host="h", groups=[{"groupid": cls.group}])["hostids"][0]

    def send(self, value):
        bed.wait_for("the value", lambda: "processed: 1" in bed.send(self.server.address, {
            "request": "sender data", "data": [{"host": "h", "key": "k", "value": value}]})["info"])

    def problems(self):
        return [row["name"] for row in self.api.call("problem.get", hostids=self.hostid, output=["name"])]

    def test_full_disk_refuses_changes_until_there_is_room(self):
        self.api.call("item.create", name="k", key_="k", hostid=self.hostid, type=2, value_type=3)
        self.api.call("trigger.create", description="high", expression="last(/h/k)>5")
        self.disk.fill()
        acknowledged, refused = [], None
        for n in range(2_000):
            try:
                self.api.call("hostgroup.create", name="change %d" % n)
            except bed.ApiError as problem:
                refused = "change %d" % n
                print("refused:", problem.data)
                # Where its log cannot grow, PostgreSQL ends the connection.
                self.assertRegex(problem.data, "disk of the configuration database is full. Nothing was changed")
                break
            acknowledged.append("change %d" % n)
        self.assertIsNotNone(refused, "the disk was not full")
        # A value is stored all the same; its problem waits.
        self.send("9")
        self.disk.make_room()
        # PostgreSQL ends when it cannot write its log: a supervisor starts it again.
        try:
            os.kill(self.postgres.pid(), 0)
            ended = self.postgres.query("SELECT 1") != "1"
        except (OSError, ValueError):
            ended = True
        print("PostgreSQL had ended" if ended else "PostgreSQL went on")
        if ended:
            bed.wait_for("PostgreSQL", lambda: self.postgres.start() is None)
        bed.wait_for("changes", lambda: self.api.call("hostgroup.create", name="room again"))
        bed.wait_for("the problem", lambda: self.problems() == ["high"])
        names = {row["name"] for row in self.api.call("hostgroup.get", output=["name"])}
        self.assertEqual(set(acknowledged) - names, set())
        self.assertNotIn(refused, names)

    def test_longest_texts_are_kept(self):
        """Texts that cannot be compressed, and most of them with four bytes per character. Keys of items are
        in an index, whose entries are limited to 2,704 bytes."""
        chance = random.Random(7)

        def text(length):
            return "".join(chr(chance.randrange(0x10000, 0x1FFFF)) for _ in range(length))
        key = "k[%s]" % "".join(chance.choices(string.ascii_letters + string.digits, k=2045))
        found = self.api.call("item.create", name=text(255), key_=key, hostid=self.hostid, type=2, value_type=4,
                              description=text(20_000), tags=[{"tag": text(255), "value": text(255)}])
        kept, = self.api.call("item.get", itemids=found["itemids"], output=["key_"])
        self.assertEqual(kept["key_"], key)
        name = text(255)
        self.api.call("hostgroup.create", name=name)
        self.assertEqual(self.api.call("hostgroup.get", filter={"name": name}, countOutput=True), "1")
        for macro, value in (("{$A}", text(2048)), ('{$B:"%s"}' % text(240), text(2048))):
            self.api.call("usermacro.create", hostid=self.hostid, macro=macro, value=value)
        # One more character is refused with its field.
        with self.assertRaisesRegex(bed.ApiError, 'name.*too long'):
            self.api.call("hostgroup.create", name=text(256))
        event = text(2048)
        self.api.call("item.create", name="long", key_="long", hostid=self.hostid, type=2, value_type=4)
        self.api.call("trigger.create", description=text(255), expression="length(last(/h/long))>0",
                      event_name=event, opdata=text(255))
        bed.wait_for("the value", lambda: "processed: 1" in bed.send(self.server.address, {
            "request": "sender data", "data": [{"host": "h", "key": "long", "value": text(16_000)}]})["info"])
        bed.wait_for("the problem", lambda: event in self.problems())


if __name__ == "__main__":
    bed.main()
