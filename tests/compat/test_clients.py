#!/usr/bin/env python3
"""API clients as people use them, from PyPI, unchanged: zabbix_utils and pyzabbix."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

VENV = os.path.join(bed.ROOT, ".cache", "clients")

ZABBIX_UTILS = """
import sys, time
from zabbix_utils import ZabbixAPI, Sender, ItemValue
url, user, password, trapper, template = sys.argv[1:]
with open(template) as f: source = f.read()
api = ZabbixAPI(url=url, user=user, password=password)
assert str(api.api_version()).startswith("7.0"), api.api_version()
group = api.hostgroup.create(name="Made by zabbix_utils")["groupids"][0]
host = api.host.create(host="utils", groups=[{"groupid": group}])["hostids"][0]
item = api.item.create(hostid=host, name="Value", key_="value", type=2, value_type=3)["itemids"][0]
trigger = api.trigger.create(description="High", expression="last(/utils/value)>5")["triggerids"][0]
both = {"createMissing": True, "updateExisting": True}
api.configuration.import_(format="yaml", source=source, rules={
    "template_groups": both, "templates": both, "items": both, "triggers": both,
    "discoveryRules": both, "valueMaps": both})
assert api.template.get(filter={"host": ["Bare host by agent"]}, output=["host"])
sender = Sender(server="127.0.0.1", port=int(trapper))
answer = sender.send([ItemValue("utils", "value", 7, int(time.time()))])
assert answer.processed == 1 and answer.failed == 0, answer
values = api.history.get(itemids=item, history=3, output="extend")
assert [v["value"] for v in values] == ["7"], values
for _ in range(300):
    problems = api.problem.get(objectids=trigger)
    if problems: break
    time.sleep(0.2)
assert len(problems) == 1, problems
api.host.delete(host)
api.logout()
print("ok")
"""

PYZABBIX = """
import sys
from pyzabbix import ZabbixAPI, ZabbixAPIException
url, user, password = sys.argv[1:4]
api = ZabbixAPI(url.replace("/api_jsonrpc.php", ""))
api.login(user, password)
group = api.hostgroup.create(name="Made by pyzabbix")["groupids"][0]
host = api.host.create(host="py", groups=[{"groupid": group}], interfaces=[
    {"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "10050"}])["hostids"][0]
interface = api.hostinterface.get(hostids=host)[0]["interfaceid"]
item = api.item.create(hostid=host, name="Load", key_="system.cpu.load", type=0, value_type=0,
                       interfaceid=interface, delay="30s")["itemids"][0]
trigger = api.trigger.create(description="Busy", expression="last(/py/system.cpu.load)>5", priority=3)
found = api.host.get(hostids=host, selectItems=["key_"], selectTriggers=["description"])[0]
assert found["items"][0]["key_"] == "system.cpu.load", found
assert found["triggers"][0]["description"] == "Busy", found
assert api.history.get(itemids=item, history=0) == []
try:
    api.host.create(host="py", groups=[{"groupid": group}])
except ZabbixAPIException as problem:
    assert "already exists" in str(problem), problem
else:
    raise AssertionError("a host was made twice")
api.host.delete(host)
api.user.logout()
print("ok")
"""


class Clients(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        python = os.path.join(VENV, "bin", "python")
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "zabbix_utils==2.0.4", "pyzabbix==1.3.1"],
                       check=True)
        cls.python = python

    def run_client(self, script):
        template = os.path.join(bed.ROOT, "templates", "bare-host.yaml")
        done = subprocess.run(
            [self.python, "-c", script, self.server.url, "Admin", bed.PASSWORD,
             str(self.server.trapper), template],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout.strip().splitlines()[-1:], ["ok"], done.stderr)

    def test_zabbix_utils(self):
        self.run_client(ZABBIX_UTILS)

    def test_pyzabbix(self):
        self.run_client(PYZABBIX)


if __name__ == "__main__":
    bed.main()
