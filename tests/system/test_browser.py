#!/usr/bin/env python3
"""Browser items with Debian's Chromium and its WebDriver."""
# alone: its scripts have 20 seconds to start a browser

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import browsing  # noqa: E402
import remotes  # noqa: E402


class Browser(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.peers = browsing.Peers()
        cls.addClassCleanup(cls.peers.stop)
        cls.server = bed.Server(arguments=["--webdriver-url", cls.peers.url])
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()

    def ask(self, script, **more):
        return browsing.ask(self.api, self.server.trapper, self.peers.page, script, **more)

    def test_scripts(self):
        for script, expected in browsing.cases():
            with self.subTest(script=script):
                self.assertEqual(remotes.differs(self.ask(script), expected), "")

    def test_results(self):
        found = browsing.result(self.api, self.server.trapper, self.peers.page)
        self.assertEqual(found["members"], ["duration", "performance_data"])
        self.assertEqual([one["mark"] for one in found["details"]], ["one", "two"])
        self.assertEqual(found["details"][0]["user"],
                         [("mark", "m1"), ("mark", "m2"), ("measure", "me")])
        for sums in found["summary"].values():
            self.assertEqual(set(sums[0]), browsing.SUMS)
        self.assertEqual(found["summary"]["navigation"][1], 2)

    def test_sessions_end_with_their_script(self):
        late = self.ask("while (true) {}", timeout="10s")
        self.assertIn("script execution timeout", str(late))
        self.ask("throw 'why'")
        bed.wait_for("the browsers to end", lambda: browsing.sessions(self.peers) == 0)

    def test_other_scripts_have_no_browser(self):
        hostid, _ = self.host("scripts")
        item = {"type": remotes.SCRIPT, "key": "s", "params": "return typeof Browser",
                "parameters": {}, "timeout": "3s"}
        data = {"item": dict({"value_type": 4, "steps": []}, **item), "host": {"hostid": hostid},
                "options": {"single": False, "state": 0}}
        reply = bed.send(self.server.address,
                         {"request": "item.test", "sid": self.api.token, "data": data})
        self.assertEqual(reply["data"]["item"]["result"], "undefined")

    def test_an_item_is_checked_at_its_interval(self):
        hostid, ids = self.host("site", [{
            "key_": "site", "type": browsing.BROWSER, "value_type": 4, "delay": "2s",
            "timeout": "20s", "parameters": [{"name": "page", "value": self.peers.page}],
            "params": browsing.OPEN + "return b.findElement('css selector', 'h1').getText()"}])
        self.assertTrue(ids)

        def row():
            return self.api.call("item.get", hostids=hostid, output=["lastvalue", "error"])[0]
        bed.wait_for("a value", lambda: row()["lastvalue"] == "Hello")
        self.assertEqual(row()["error"], "")


class NoBrowser(bed.Case):
    def test_without_a_webdriver_items_say_what_is_missing(self):
        found = browsing.ask(self.api, self.server.trapper, "", "return 1", whole=True)
        self.assertIn("--webdriver-url", str(found))


if __name__ == "__main__":
    bed.main()
