#!/usr/bin/env python3
"""IPMI with a simulated management controller: values, authentication types, one session that is
kept, and the state of the interface when the controller is down."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import ipmisim  # noqa: E402
import remotes  # noqa: E402


class Ipmi(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.peer = ipmisim.Simulator()
        cls.addClassCleanup(cls.peer.stop)
        super().setUpClass()

    def ask(self, *arguments, **more):
        return ipmisim.ask(self.api, self.server.trapper, self.peer.port, *arguments, **more)

    def test_values(self):
        for sensor, how, expected in ipmisim.cases(self.peer.port):
            with self.subTest(sensor=sensor, how=how):
                self.assertEqual(remotes.differs(self.ask(sensor, how), expected), "")

    def test_all_sensors(self):
        self.assertEqual(self.ask("", {}, key="ipmi.get"), ipmisim.ALL)
        json.loads(ipmisim.ALL)

    def test_a_wrong_password_says_so(self):
        self.assertIn("refuses the password", str(self.ask("CPU Temp", {"ipmi_password": "wrong"})))
        self.assertIn("OEM", str(self.ask("CPU Temp", {"ipmi_authtype": "5"})))

    def test_items_are_checked_at_their_intervals(self):
        peer = ipmisim.Simulator()
        self.addCleanup(peer.stop)
        hostid, _ = self.host(
            "controller", ipmi_username=ipmisim.USER, ipmi_password="{$IPMI.PASSWORD}",
            macros=[{"macro": "{$IPMI.PASSWORD}", "value": ipmisim.PASSWORD}],
            interfaces=[{"type": 3, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                         "port": str(peer.port)}])
        interface = self.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
        wanted = {"temp": ("CPU Temp", "70.000000"), "fan": ("name:(29.1).Fan 1", "3000.000000"),
                  "psu": ("PSU Status", "9"), "ipmi.get": ("", ipmisim.ALL)}
        for key, (sensor, _) in wanted.items():
            self.api.call("item.create", hostid=hostid, name=key, key_=key, type=ipmisim.IPMI,
                          ipmi_sensor=sensor, interfaceid=interface, value_type=4, delay="1s")

        def values():
            rows = self.api.call("item.get", hostids=hostid, output=["key_", "lastvalue"])
            return {row["key_"]: row["lastvalue"] for row in rows}

        def state():
            row = self.api.call("hostinterface.get", hostids=hostid)[0]
            return row["available"], row["errors_from"] == "0"
        bed.wait_for("all values", lambda: values() == {k: v for k, (_, v) in wanted.items()})
        bed.wait_for("the interface to be available", lambda: state() == ("1", True))
        peer.halt()
        bed.wait_for("the failure to be seen", lambda: not state()[1])
        peer.start()
        # The next attempt is 15 s away, in a session that the controller has forgotten.
        bed.wait_for("the controller to answer", lambda: state() == ("1", True))


if __name__ == "__main__":
    bed.main()
