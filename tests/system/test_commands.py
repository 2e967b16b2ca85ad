#!/usr/bin/env python3
"""Scripts that users and actions run: a real agent, an active agent, OpenSSH, Telnet, this machine."""

import json
import os
import shutil
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import peers  # noqa: E402
import remotes  # noqa: E402
import telnetd  # noqa: E402

HOSTILE = "it's $(touch {0}) `touch {0}` \"; touch {0}; #"


class Commands(bed.Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="vedette-commands-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.chmod(folder, 0o755)
        keys = os.path.join(folder, "keys")
        cls.ssh = remotes.Sshd(keys)
        cls.addClassCleanup(cls.ssh.stop)
        cls.telnet = telnetd.Server()
        cls.addClassCleanup(cls.telnet.stop)
        cls.server = bed.Server(arguments=["--ssh-keys", keys, "--global-scripts", "yes"])
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()
        options = ["AllowKey=system.run[*]"]
        cls.agent = peers.Agent(cls.server.folder, "commanded", peers.AGENTD, cls.server.trapper, options)
        cls.addClassCleanup(cls.agent.stop)
        cls.agent.start()

    def script(self, name, scope=2, **more):
        return self.api.call("script.create", name=name, scope=scope, **more)["scriptids"][0]

    def run_on(self, script, hostid, **more):
        return self.api.call("script.execute", scriptid=script, hostid=hostid, **more)["value"]

    def refused(self, script, hostid, **more):
        with self.assertRaises(bed.ApiError) as caught:
            self.run_on(script, hostid, **more)
        return str(caught.exception)

    def loopback(self, name):
        return self.host(name, interfaces=[{
            "type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "1"}])[0]

    def test_agent(self):
        hostid, _ = self.host("by agent", interfaces=[self.agent.interface()])
        script = self.script("agent", type=0, execute_on=0, command="echo '{HOST.HOST}', \"[a]\"")
        # The agent listens soon after its start.
        found = bed.wait_for("the agent", lambda: self.run_on(script, hostid))
        self.assertEqual(found, "by agent, [a]")

    def test_active_agent(self):
        hostid, _ = self.host("fetches")
        script = self.script("active", type=0, execute_on=0, command="id")
        results = []
        thread = threading.Thread(target=lambda: results.append(self.run_on(script, hostid)))
        thread.start()

        def fetch():
            request = {"request": "active checks", "host": "fetches", "version": "7.0.0", "session": "f" * 32}
            return self.trapper(request).get("commands")
        command = bed.wait_for("the command", fetch)[0]
        self.assertEqual((command["command"], command["wait"]), ("id", 1))
        # Another host cannot answer for it.
        self.host("stranger")
        for host, value in (("stranger", "forged"), ("fetches", "root")):
            self.trapper({
                "request": "agent data", "host": host, "session": "f" * 32, "version": "7.0.0", "data": [],
                "commands": [{"id": command["id"], "value": value}]})
        thread.join(60)
        self.assertEqual(results, ["root"])

    def trapper(self, request):
        return bed.send(self.server.address, request)

    def test_ssh(self):
        hostid = self.loopback("by ssh")
        script = self.script(
            "ssh", type=2, command="echo {HOST.HOST}", username=self.ssh.user, authtype=1, publickey="plain.pub",
            privatekey="plain", port=str(self.ssh.port))
        self.assertEqual(self.run_on(script, hostid), "by ssh")
        self.api.call("script.update", scriptid=script, privatekey="stranger")
        self.assertIn("authentication failed", self.refused(script, hostid))
        self.api.call("script.update", scriptid=script, privatekey="plain", port="1")
        self.assertIn("Cannot connect to SSH server", self.refused(script, hostid))

    def test_telnet(self):
        hostid = self.loopback("by telnet")
        script = self.script(
            "telnet", type=3, command="show", username=telnetd.USER, password="{$TELNET}",
            port=str(self.telnet.port))
        self.api.call("usermacro.create", hostid=hostid, macro="{$TELNET}", value=telnetd.PASSWORD, type=1)
        self.assertIn("one\ntwo", self.run_on(script, hostid))

    def test_server_and_what_values_cannot_do(self):
        mark = os.path.join(self.server.folder, "ran")
        hostid, _ = self.host("on server")
        script = self.script(
            "server", type=0, execute_on=1, command="printf '%s|' {MANUALINPUT} '{MANUALINPUT}' \"{MANUALINPUT}\"",
            manualinput=1, manualinput_prompt="Text?", manualinput_validator="^.+$", manualinput_default_value="x")
        value = HOSTILE.format(mark)
        self.assertEqual(self.run_on(script, hostid, manualinput=value), (value + "|") * 3)
        self.assertFalse(os.path.exists(mark))
        self.assertIn("manualinput", self.refused(script, hostid))
        log = self.api.call("auditlog.get", filter={"resourcetype": 25, "action": 7}, output="extend")
        details = [json.loads(row["details"]) for row in log if row["resourcename"] == "on server"]
        self.assertEqual(details[0]["script.output"], ["add", (value + "|") * 3])

    def test_rights(self):
        hostid, _ = self.host("guarded")
        script = self.script("guarded", type=5, command="return 'ran';", host_access=3)
        group = self.api.call("hostgroup.get", filter={"name": ["Test"]}, output=["groupid"])[0]["groupid"]
        readers = self.api.call(
            "usergroup.create", name="readers", hostgroup_rights=[{"id": group, "permission": 2}])["usrgrpids"][0]
        self.api.call("user.create", username="reader", passwd="Pa55word-x", roleid="1", usrgrps=[{"usrgrpid": readers}])
        reader = bed.Api(self.server.url).login("reader", "Pa55word-x")

        def run():
            return reader.call("script.execute", scriptid=script, hostid=hostid)["value"]
        self.assertRaises(bed.ApiError, run)
        offered = reader.call("script.getscriptsbyhosts", hostid=hostid)[hostid]
        self.assertNotIn(script, [one["scriptid"] for one in offered])
        self.api.call("usergroup.update", usrgrpid=readers, hostgroup_rights=[{"id": group, "permission": 3}])
        self.assertEqual(run(), "ran")
        self.api.call("role.update", roleid="1", rules={"actions": [{"name": "execute_scripts", "status": 0}]})
        self.addCleanup(
            self.api.call, "role.update", roleid="1", rules={"actions": [{"name": "execute_scripts", "status": 1}]})
        self.assertRaises(bed.ApiError, run)

    def test_an_action_runs_them(self):
        """A dead host delays no other."""
        out = os.path.join(self.server.folder, "events")
        hostid, items = self.host("acts", items=[{"key_": "k", "value_type": 3}], interfaces=[self.agent.interface()])
        dead = self.loopback("dead")
        self.api.call("trigger.create", description="bad $(touch %s)" % out, expression="last(/acts/k)>0", priority=4)
        agent = self.script("on agent", 1, type=0, execute_on=0, command="true")
        slow = self.script(
            "on dead", 1, type=3, command="x", username="u", password="p", port=str(self.telnet_silent()))
        server = self.script("on server", 1, type=0, execute_on=1, command="printf %%s {EVENT.NAME} > %s.part && mv %s.part %s" % (out, out, out))
        operations = [
            {"operationtype": 1, "opcommand": {"scriptid": script}, "opcommand_hst": [{"hostid": host}]}
            for script, host in ((slow, dead), (agent, hostid), (server, "0"))]
        action = self.api.call(
            "action.create", name="acts", eventsource=0, operations=operations,
            filter={"evaltype": 0, "conditions": [{"conditiontype": 1, "operator": 0, "value": hostid}]})["actionids"][0]
        value = {"request": "sender data", "data": [{"host": "acts", "key": "k", "value": "1"}]}
        bed.wait_for("the item", lambda: "failed: 0" in bed.send(self.server.address, value)["info"])

        def statuses():
            rows = self.api.call("alert.get", actionids=action, output=["status", "message"], sortfield="alertid")
            return [row["status"] for row in rows if not row["message"].startswith("dead:")] == ["1", "1"]
        bed.wait_for("both commands", statuses)
        with open(out) as f:
            self.assertEqual(f.read(), "bad $(touch %s)" % out)

    def telnet_silent(self):
        silent = telnetd.Server(silent=True)
        self.addCleanup(silent.stop)
        return silent.port


if __name__ == "__main__":
    bed.main()
