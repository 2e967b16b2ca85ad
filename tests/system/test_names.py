#!/usr/bin/env python3
"""Names of hosts, and a name server that says nothing."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import listeners  # noqa: E402

#: Where the name server would be, and how many names are asked of it.
SERVER = "127.66.0.53"
DEAD = 2000
#: The server sees a resolver's file of its own.
OWN_FILE = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"']


def refusal():
    """Why this cannot be tried here, if it cannot."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return "needs root and unshare"
    with tempfile.NamedTemporaryFile() as own:
        run = subprocess.run([*OWN_FILE, own.name, "true"], capture_output=True, text=True, check=False)
        return run.stderr if run.returncode else ""


@bed.unittest.skipIf(refusal(), "no mounts of its own here: " + refusal())
class Names(bed.Case):
    @classmethod
    def setUpClass(cls):
        # Takes questions, never answers.
        cls.silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        cls.silent.bind((SERVER, 53))
        cls.addClassCleanup(cls.silent.close)
        cls.file = tempfile.NamedTemporaryFile("w", suffix=".conf")
        cls.addClassCleanup(cls.file.close)
        cls.file.write("nameserver %s\n" % SERVER)
        cls.file.flush()
        cls.server = bed.Server(through=[*OWN_FILE, cls.file.name])
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def test_a_silent_name_server_holds_up_no_name_that_is_known(self):
        service = listeners.Service("127.0.0.1")
        self.addCleanup(service.stop)
        agent = listeners.PassiveAgent("127.0.0.1", "7")
        self.addCleanup(agent.stop)
        # "localhost" stands in the machine's own file.
        by_name = {"type": 1, "main": 1, "useip": 0, "ip": "", "dns": "localhost", "port": str(agent.port)}
        hostid, _ = self.host("living", interfaces=[by_name])
        interface = self.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
        simple = "net.tcp.service[tcp,localhost,%d]" % service.port
        living = {key: self.api.call(
            "item.create", hostid=hostid, name=key, key_=key, type=kind, value_type=3, delay="1s",
            timeout="20s", interfaceid=interface)["itemids"][0]
            for key, kind in ((simple, 3), ("agent.hostname", 0))}
        values = {simple: "1", "agent.hostname": "7"}

        def last(item):
            return self.api.call("item.get", itemids=item, output=["lastvalue", "lastclock"])[0]
        for key, item in living.items():
            bed.wait_for(key, lambda item=item, key=key: last(item)["lastvalue"] == values[key])
        dead, _ = self.host("dead", interfaces=[dict(by_name, dns="dead.example")])
        self.api.call("item.create", [
            {"hostid": dead, "name": key, "key_": key, "type": 3, "value_type": 3, "delay": "5s",
             "timeout": "3s"}
            for key in ("net.tcp.service[tcp,d%d.example,80]" % n for n in range(DEAD))])

        def silence():
            rows = self.api.call("item.get", hostids=dead, output=["lastclock"])
            return sum(row["lastclock"] != "0" for row in rows) >= DEAD // 4
        bed.wait_for("checks of names that nobody tells", silence)
        # While they hang, what is known is checked as if nothing were: waiting for each of them would take minutes.
        since = int(last(living[simple])["lastclock"])
        for key, item in living.items():
            def rows(item=item):
                return self.api.call("history.get", itemids=item, history=3, time_from=since, output="extend")
            with self.subTest(key):
                bed.wait_for("eight values", lambda rows=rows: len(rows()) >= 8)
                self.assertEqual({row["value"] for row in rows()}, {values[key]})
        with open("/proc/%d/status" % self.server.process.pid) as f:
            threads = [int(line.split()[1]) for line in f if line.startswith("Threads")][0]
        self.assertLess(threads, 1_500)


if __name__ == "__main__":
    bed.main()
