"""Changes of many hosts: others change the configuration meanwhile, and a kill -9 loses no part of them."""

import threading

import bed

HOSTS, ITEMS = 200, 100


class PortionCases:
    """For a test case with a running server of its own in `self.server`."""

    def make_estate(self):
        api = self.server.api()
        self.group = api.call("hostgroup.create", name="Many")["groupids"][0]
        group = api.call("templategroup.create", name="Many")["groupids"][0]
        self.template = api.call("template.create", host="Many", groups=[{"groupid": group}])["templateids"][0]
        api.call("item.create", [{"hostid": self.template, "name": "i%d" % n, "key_": "i[%d]" % n, "type": 2,
                                  "value_type": 3} for n in range(ITEMS)])
        self.hosts = api.call("host.create", [
            {"host": "many-%d" % n, "groups": [{"groupid": self.group}],
             "templates": [{"templateid": self.template}]} for n in range(HOSTS)])["hostids"]
        self.assertEqual(self.items(api), HOSTS * ITEMS)

    def items(self, api):
        return int(api.call("item.get", hostids=self.hosts, countOutput=True))

    def links(self, api):
        return int(api.call("host.get", templateids=self.template, countOutput=True))

    def unlink(self):
        """Starts to unlink and clear all hosts; returns the thread and a session once the first ones are done."""
        api, watch = self.server.api(), self.server.api()

        def call():
            try:
                api.call("host.massremove", hostids=self.hosts, templateids_clear=[self.template])
            except OSError:
                pass  # the server was killed

        thread = threading.Thread(target=call)
        thread.start()
        bed.wait_for("the first hosts", lambda: self.items(watch) < HOSTS * ITEMS, pause=0.005)
        return thread, watch

    def test_configuration_changes_while_hosts_are_unlinked(self):
        self.make_estate()
        thread, api = self.unlink()
        self.assertEqual(self.links(api), 0, "the links go at once")
        api.call("host.create", host="other", groups=[{"groupid": self.group}])
        self.assertTrue(thread.is_alive(), "they waited for the end of the unlinking")
        thread.join()
        self.assertEqual(self.items(api), 0)

    def test_unlinking_is_completed_after_a_kill(self):
        self.make_estate()
        thread, _ = self.unlink()
        self.server.kill()
        thread.join()
        self.server.start()
        api = self.server.api()
        self.assertEqual((self.items(api), self.links(api)), (0, 0))
        # The hosts are as good as new.
        api.call("host.massadd", hosts=[{"hostid": host} for host in self.hosts],
                 templates=[{"templateid": self.template}])
        self.assertEqual(self.items(api), HOSTS * ITEMS)
