#!/usr/bin/env python3
"""Problems open while hosts are linked to a template, whatever the writer of the configuration waits for."""

import os
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from commitgate import CommitGates  # noqa: E402

#: The call commits once, and then once for each 25 hosts.
HOSTS, ITEMS, PROBLEMS = 150, 100, 5


class ProblemOrder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vedette-gates-")
        self.addCleanup(folder.cleanup)
        self.gates = CommitGates(folder.name)
        self.server = bed.Server(environment=self.gates.environment)
        self.addCleanup(self.server.clean)
        self.addCleanup(self.gates.open_all)
        self.server.start()
        self.api = self.server.api()
        self.group = self.api.call("hostgroup.create", name="Order")["groupids"][0]
        self.hosts = self.make_hosts(["order-%d" % n for n in range(HOSTS)])
        self.make_trigger()

    def make_hosts(self, names):
        return self.api.call("host.create", [
            {"host": name, "groups": [{"groupid": self.group}]} for name in names])["hostids"]

    def make_template(self):
        call = self.api.call
        group = call("templategroup.create", name="Order")["groupids"][0]
        template = call("template.create", host="Order", groups=[{"groupid": group}])["templateids"][0]
        call("item.create", [{"hostid": template, "name": "i%d" % n, "key_": "i[%d]" % n, "type": 2,
                              "value_type": 3} for n in range(ITEMS)])
        return template

    def make_trigger(self):
        """A trigger that opens a problem for each value."""
        host = self.make_hosts(["probe"])[0]
        self.api.call("item.create", hostid=host, name="v", key_="v", type=2, value_type=3)
        self.trigger = self.api.call("trigger.create", description="high", type=1,
                                     expression="last(/probe/v)>0")["triggerids"][0]

    def items(self):
        """Items that the hosts have inherited so far."""
        return int(self.api.call("item.get", hostids=self.hosts, countOutput=True))

    def problems(self):
        return int(self.api.call("problem.get", objectids=self.trigger, countOutput=True))

    def open_problem(self, number):
        answer = bed.send(self.server.address, {"request": "sender data", "data": [
            {"host": "probe", "key": "v", "value": str(number)}]})
        self.assertIn("processed: 1", answer["info"])
        bed.wait_for("problem %d" % number, lambda: self.problems() == number, pause=0.005)

    def test_problems_open_before_the_commits_of_a_link(self):
        template = self.make_template()
        linked = []
        other = self.server.api()

        def link():
            linked.append(other.call("host.massadd", hosts=[{"hostid": host} for host in self.hosts],
                                     templates=[{"templateid": template}]))

        thread = threading.Thread(target=link)
        self.gates.close(1)
        thread.start()
        inherited = []
        for number in range(1, PROBLEMS + 1):
            # The transaction is in its commit: nothing else changes the configuration until the gate opens.
            self.gates.wait(number)
            inherited.append(self.items())
            self.open_problem(number)
            self.assertEqual((self.items(), linked), (inherited[-1], []))
            # The next transaction finds its gate closed, however soon it comes.
            if number < PROBLEMS:
                self.gates.close(number + 1)
            self.gates.open(number)
        thread.join()
        self.assertEqual((len(linked), self.items()), (1, HOSTS * ITEMS))
        # Links first, then portion after portion.
        portion = inherited[-1] // (PROBLEMS - 2)
        self.assertEqual(inherited, [0] + [portion * n for n in range(PROBLEMS - 1)])
        self.assertGreater(portion, 0)


if __name__ == "__main__":
    bed.main()
