#!/usr/bin/env python3
"""The whole server with its configuration on a real PostgreSQL."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from databases import Postgres  # noqa: E402


class OnPostgres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.stop)

    def test_the_server_starts_works_and_starts_again(self):
        url = self.postgres.create("vedette")
        server = bed.Server(arguments=["--database", url])
        self.addCleanup(server.clean)
        server.start()
        api = server.api()
        names = {host["host"] for host in api.call("host.get", output=["host"])}
        self.assertEqual(names, {"Vedette"})
        group = api.call("hostgroup.create", name="Pg ?'x")["groupids"][0]
        templates = api.call("template.get", output=["templateid"], filter={"host": "Bare host by agent"})
        hostid = api.call(
            "host.create", host="pg", groups=[{"groupid": group}],
            templates=[{"templateid": templates[0]["templateid"]}],
            interfaces=[{"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "1"}],
        )["hostids"][0]
        items = api.call("item.get", hostids=hostid, output=["key_"], sortfield="key_")
        self.assertEqual([item["key_"] for item in items],
                         ["agent.ping", "agent.version", "system.hostname", "system.uptime"])
        found = api.call("item.get", hostids=hostid, search={"key_": "AGENT"}, countOutput=True)
        self.assertEqual(found, "2")
        item = api.call("item.create", name="v", key_="v", hostid=hostid, type=2, value_type=0)
        item = item["itemids"][0]
        api.call("trigger.create", description="high", expression="last(/pg/v)>1", priority=3)
        bed.send(server.address, {"request": "sender data",
                                  "data": [{"host": "pg", "key": "v", "value": "2"}]})
        bed.wait_for("the problem", lambda: api.call("problem.get", hostids=hostid))
        server.stop()
        server.start()
        api = server.api()
        self.assertEqual(len(api.call("problem.get", hostids=hostid)), 1)
        self.assertEqual(api.call("history.get", history=0, itemids=item)[0]["value"], "2")
        api.call("host.delete", [hostid])
        self.assertEqual(api.call("item.get", hostids=hostid, countOutput=True), "0")

    def test_a_wrong_address_is_told_without_the_password(self):
        url = "postgresql://somebody:hidden@127.0.0.1:%d/none" % self.postgres.port
        server = bed.Server(arguments=["--database", url])
        self.addCleanup(server.clean)
        with self.assertRaises(AssertionError):
            server.start(timeout=10)
        self.assertIn("configuration database postgresql://somebody@127.0.0.1", server.log())
        self.assertNotIn("hidden", server.log())


if __name__ == "__main__":
    bed.main()
