#!/usr/bin/env python3
"""VMware items with a simulated vCenter: every key, discovery, events, how little it is asked, and
how long a large one takes (`VEDETTE_MACHINES=2000`)."""
# needs: vcsim

import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import vcsim  # noqa: E402

#: Machines of the vCenter whose reading is measured.
MACHINES = int(os.environ.get("VEDETTE_MACHINES", "150"))
#: What is asked of each of them: properties, and counters of the one part that the simulator has.
OF_EACH = ["powerstate[{},%s]", "cpu.usage[{},%s]", "memory.size[{},%s]",
           'perfcounter[{},%s,"cpu/ready[summation]",*]', 'perfcounter[{},%s,"mem/active[average]",*]']

ANSWERS = os.path.join(os.path.dirname(os.path.abspath(vcsim.__file__)), "vmwareanswers.json")


class Vmware(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.peer = vcsim.Simulator()
        cls.addClassCleanup(cls.peer.stop)
        cls.peer.prepare()
        cls.front = vcsim.Front(cls.peer)
        cls.addClassCleanup(cls.front.stop)
        super().setUpClass()

    def ask(self, key, **more):
        return vcsim.ask(self.api, self.server.trapper, self.front.url, key, **more)

    def values(self, hostid):
        rows = self.api.call("item.get", hostids=hostid,
                             output=["key_", "lastvalue", "lastclock", "state", "error"])
        return {row["key_"]: row for row in rows}

    def test_every_key_as_the_field_answers(self):
        with open(ANSWERS) as f:
            expected = json.load(f)
        self.assertEqual(sorted(expected), sorted(vcsim.keys()))
        front = vcsim.Front(self.peer)
        self.addCleanup(front.stop)
        # Monitored once all items exist: the vCenter is read again for items that come later.
        hostid, _ = self.host("keys", [vcsim.item(front.url, key) for key in expected], status=1)
        self.api.call("host.update", hostid=hostid, status=0)
        bed.wait_for("an answer to every key", lambda: all(
            row["state"] == "1" or row["lastclock"] != "0"
            for row in self.values(hostid).values()))
        rows = self.values(hostid)
        for key, wanted in expected.items():
            row = rows[key.replace("{}", front.url)]
            found = row["error"] if row["state"] == "1" else row["lastvalue"]
            with self.subTest(key=key):
                kind, text = wanted
                self.assertEqual(row["state"], "1" if kind == "error" else "0", found)
                self.assertEqual(vcsim.same(found), vcsim.same(text))
        # However many items there are, the vCenter is read as a whole.
        self.assertEqual(front.methods.count("Login"), 1, front.methods)
        self.assertLess(len(front.methods), 150, front.methods)

    def test_test_button(self):
        self.assertEqual(self.ask("vmware.version[{}]"), "6.5.0")
        key = "vmware.hv.cpu.usage[{},%s]" % vcsim.HOST
        self.assertEqual(self.ask(key), "67000000")
        for key, more, why in [
            ("vmware.version[{}]", {"password": "wrong"}, "Login failure"),
            ("vmware.version[{}]", {"username": ""}, "Empty username."),
            ("vmware.version[]", {}, "Empty URL."),
            ("vmware.version[http://127.0.0.1/none]", {}, "Invalid URL: missing '/sdk'."),
            ("vmware.version[http://127.0.0.1:1/sdk]", {}, "Could not connect to server"),
            ("vmware.nosuch[{}]", {}, "Unsupported item key."),
        ]:
            with self.subTest(key=key, more=more):
                self.assertEqual(str(self.ask(key, **more)), why)

    def test_a_single_host_over_tls(self):
        peer = vcsim.Simulator("-esx", tls=True)
        self.addCleanup(peer.stop)
        for key, wanted in [("vmware.hv.discovery[{}]", ["localhost.localdomain"]),
                            ("vmware.vm.discovery[{}]", ["ha-host_VM0", "ha-host_VM1"])]:
            found = json.loads(vcsim.ask(self.api, self.server.trapper, peer.url, key))
            names = [row.get("{#VM.NAME}", row["{#HV.NAME}"]) for row in found]
            self.assertEqual(sorted(names), wanted)
        size = vcsim.ask(self.api, self.server.trapper, peer.url,
                         "vmware.datastore.size[{},LocalDS_0]")
        self.assertGreater(int(size), 0)

    def test_a_large_vcenter(self):
        # As many in each of three places.
        peer = vcsim.Simulator("-vm", str(MACHINES // 3))
        self.addCleanup(peer.stop)
        server = bed.Server(arguments=["--log", "debug"])
        self.addCleanup(server.clean)
        server.start()
        api = server.api()
        found = json.loads(vcsim.ask(api, server.trapper, peer.url, "vmware.vm.discovery[{}]",
                                     timeout="60s"))
        self.assertEqual(len(found), MACHINES // 3 * 3)
        group = api.call("hostgroup.create", name="Test")["groupids"][0]
        host = api.call("host.create", host="large", groups=[{"groupid": group}])["hostids"][0]
        memory, begin = server.memory_kib() // 1024, time.monotonic()
        for what in OF_EACH:
            api.call("item.create", [
                dict(vcsim.item(peer.url, "vmware.vm." + what % row["{#VM.UUID}"]),
                     hostid=host, delay="10s") for row in found])
        bed.wait_for("a value of each item", lambda: all(
            row["lastclock"] != "0" for row in api.call(
                "item.get", hostids=host, output=["lastclock", "error"])), 120, pause=1)
        took = time.monotonic() - begin
        rows = api.call("item.get", hostids=host, output=["key_", "lastvalue", "state"])
        self.assertEqual([row for row in rows if row["state"] != "0"], [])
        with open(server.log_path, errors="replace") as f:
            read = re.findall(r"(\d+) objects read in (\d+) ms", f.read())
        self.assertGreater(int(read[-1][0]), len(found))
        print("%d machines: %s objects, readings took %s ms; %d items had values after %.1f s; "
              "%d MiB before them, %d MiB now"
              % (len(found), read[-1][0], ", ".join(ms for _, ms in read), len(rows), took, memory,
                 server.memory_kib() // 1024))

    def events(self, item):
        rows = self.api.call("history.get", history=2, itemids=item, output="extend", limit=1000)
        return [(int(row["logeventid"]), row["value"]) for row in rows]

    def test_events_come_once(self):
        hostid, ids = self.host("events", [
            vcsim.item(self.front.url, "vmware.eventlog[{}]", delay="1s"),
            vcsim.item(self.front.url, "vmware.eventlog[{},skip]", delay="1s"),
            vcsim.item(self.front.url, "vmware.eventlog[{},all,error]", delay="1s"),
        ])
        every, new, errors = (ids["vmware.eventlog[%s]" % how.replace("{}", self.front.url)]
                              for how in ("{}", "{},skip", "{},all,error"))
        bed.wait_for("old events", lambda: len(self.events(every)) > 20)
        text = dict(self.events(every))[1]
        self.assertEqual(text, "Created datacenter DC0 in folder Datacenters\n\n"
                               "type: info/DatacenterCreatedEvent\nsource: DC0")
        self.assertEqual(self.events(new), [])

        def powered(state):
            self.peer.call("PowerO%sVM_Task" % state, ("VirtualMachine", "vm-60"))
            return "type: info/VmPoweredO%sEvent" % state

        off = powered("ff")
        for item in (every, new):
            bed.wait_for("the event", lambda item=item: any(
                off in text for _, text in self.events(item)))
        # Where the server was is known after a restart.
        self.server.stop()
        on = powered("n")
        self.server.start()
        type(self).api = self.server.api()
        bed.wait_for("the event of meanwhile", lambda: any(
            on in text for _, text in self.events(new)))
        for item in (every, new):
            keys = [key for key, _ in self.events(item)]
            self.assertEqual(sorted(set(keys)), sorted(keys))
        self.assertEqual(self.events(errors), [])

    def test_a_vcenter_that_was_away(self):
        peer = vcsim.Simulator()
        self.addCleanup(peer.stop)
        peer.stop()
        key = "vmware.version[{}]"
        hostid, _ = self.host("away", [vcsim.item(peer.url, key, delay="1s")])

        def row():
            return self.values(hostid)[key.replace("{}", peer.url)]

        bed.wait_for("the failure", lambda: row()["state"] == "1")
        self.assertEqual(row()["error"], "Could not connect to server")
        peer.start()
        bed.wait_for("the vCenter to be back", lambda: row()["lastvalue"] == "6.5.0")
        self.assertEqual(row()["state"], "0")


if __name__ == "__main__":
    bed.main()
