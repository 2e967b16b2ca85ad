#!/usr/bin/env python3
"""VMware items of a real server 7.0: what the tests expect of Vedette is what it answers to each key
(`--write` writes its answers down), and official templates on both have the same items and values
and discover the same hosts."""
# needs: vcsim

import json
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bed  # noqa: E402
import reference  # noqa: E402
import test_collect_templates as templates  # noqa: E402
import test_lld as lld  # noqa: E402
import vcsim  # noqa: E402

ANSWERS = os.path.join(os.path.dirname(os.path.abspath(vcsim.__file__)), "vmwareanswers.json")
#: Lines of its configuration file: without them it reads no vCenter, or once a minute.
COLLECTORS = ["StartVMwareCollectors=3", "VMwareFrequency=10", "VMwarePerfFrequency=10"]
# From login to the last counter: the field's server reads counters one round after it was asked.
ROUNDS_S = 60
# Until both servers have the same discovered hosts.
HOSTS_S = 60


def answers():
    """What a real server says to every key: `["value", text]` or `["error", text]`."""
    peer = vcsim.Simulator()
    try:
        peer.prepare()
        front = vcsim.Front(peer)
        server = reference.Reference(more=COLLECTORS)
        try:
            return collected(server.api(), front.url)
        finally:
            server.stop()
            front.stop()
    finally:
        peer.stop()


def collected(api, url):
    group = api.call("hostgroup.get", output=["groupid"], limit=1)[0]["groupid"]
    host = api.call("host.create", host="vcenter", groups=[{"groupid": group}])["hostids"][0]
    keys = {key.replace("{}", url): key for key in vcsim.keys()}
    for key in keys.values():
        api.call("item.create", hostid=host, **vcsim.item(url, key))
    time.sleep(ROUNDS_S)
    rows = api.call("item.get", hostids=host,
                    output=["key_", "lastvalue", "lastclock", "state", "error"])
    return {keys[row["key_"]]: ["error", row["error"]] if row["state"] == "1"
            else ["value", row["lastvalue"] if row["lastclock"] != "0" else None]
            for row in rows}


def discovered_hosts(api):
    """Hosts that discovery has made, with what they are made of, by their names."""
    rows = api.call(
        "host.get", filter={"flags": 4}, output=["host", "name", "status", "custom_interfaces"],
        selectHostGroups=["name", "flags"], selectTags="extend", selectMacros="extend",
        selectInterfaces=["type", "main", "useip", "ip", "dns", "port"],
        selectParentTemplates=["host", "link_type"], selectItems=["key_", "flags"])
    for row in rows:
        # What their own rules discover comes in its own time.
        row["items"] = [item for item in row["items"] if item["flags"] == "0"]
    return {row["host"]: lld.plain(row) for row in rows}


class Official:
    """A vCenter, a hypervisor and a machine for official templates, as `templates.compare` takes
    them."""

    def __init__(self, url):
        login = {"{$VMWARE.URL}": url, "{$VMWARE.USERNAME}": vcsim.USER,
                 "{$VMWARE.PASSWORD}": vcsim.PASSWORD}
        self.watched = [
            ("VMware", login, None),
            ("VMware Hypervisor", dict(login, **{"{$VMWARE.HV.UUID}": vcsim.HOST}), None),
            ("VMware Guest", dict(login, **{"{$VMWARE.VM.UUID}": vcsim.MACHINE}), None),
        ]


class Vmware(unittest.TestCase):
    def test_templates_use_no_other_keys(self):
        """Keys of the official templates that ask a service are all among the tested ones."""
        tested = {key.split("[")[0] for key in vcsim.keys()} | {"vmware.eventlog"}
        found = set()
        folder = os.path.join(reference.SHARED, "templates", "zabbix-7.0")
        for name in ("vmware", "vmware_fqdn", "vmware_guest", "vmware_hypervisor"):
            with open(os.path.join(folder, name + ".yaml")) as f:
                found.update(re.findall(r"key: '?(vmware\.[\w.]+)\[\{\$VMWARE\.URL\}", f.read()))
        self.assertGreater(len(found), 80)
        self.assertEqual(sorted(found - tested), [])

    def test_official_templates(self):
        peer = vcsim.Simulator()
        self.addCleanup(peer.stop)
        peer.prepare()
        front = vcsim.Front(peer)
        self.addCleanup(front.stop)
        server = bed.Server()
        self.addCleanup(server.clean)
        server.start()
        real = reference.Reference(more=COLLECTORS)
        self.addCleanup(real.stop)
        api = real.api()
        # Which events a server sees depends on who logs in when.
        for row in api.call("item.get", templated=True, output=["itemid"],
                            filter={"key_": "vmware.eventlog[{$VMWARE.URL},skip]"}):
            api.call("item.update", itemid=row["itemid"], status=1)
        count, problems = templates.compare([api, server.api()], Official(front.url), "")
        self.assertEqual(problems, [])
        self.assertGreater(count, 100)
        sides = api, server.api()
        bed.wait_for("discovered hosts", lambda: all(map(discovered_hosts, sides)))
        end = time.monotonic() + HOSTS_S
        views = [discovered_hosts(side) for side in sides]
        while views[0] != views[1] and time.monotonic() < end:
            time.sleep(1)
            views = [discovered_hosts(side) for side in sides]
        self.assertEqual(lld.differences(*views), [])
        self.assertGreater(len(views[1]), 2)

    def test_answers(self):
        with open(ANSWERS) as f:
            expected = json.load(f)
        for key, (kind, text) in answers().items():
            with self.subTest(key=key):
                self.assertEqual((kind, vcsim.same(text)),
                                 (expected[key][0], vcsim.same(expected[key][1])))


if __name__ == "__main__":
    if "--write" in sys.argv:
        with open(ANSWERS, "w") as out:
            json.dump(dict(sorted(answers().items())), out, indent=1, ensure_ascii=False)
            out.write("\n")
    else:
        bed.main()
