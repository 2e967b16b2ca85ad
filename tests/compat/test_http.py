#!/usr/bin/env python3
"""HTTP agent items of a real server 7.0 and of Vedette ask the same web server: no value and no
error text may differ."""

import concurrent.futures
import itertools
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
import webcases  # noqa: E402
import webpeer  # noqa: E402

WORKERS = 4


class Http(bed.unittest.TestCase):
    maxDiff = 10_000

    @classmethod
    def setUpClass(cls):
        base = os.environ.get("VEDETTE_REFERENCE_PORT")
        real = reference.Reference(int(base) if base else None)
        cls.addClassCleanup(real.stop)
        server = bed.Server()
        cls.addClassCleanup(server.clean)
        server.start()
        cls.apis = [real.api(), server.api()]
        cls.sides = [(real.trapper, cls.apis[0].token), (server.trapper, cls.apis[1].token)]
        folder = tempfile.mkdtemp(prefix="vedette-http-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.peer, cls.other = webpeer.WebPeer(), webpeer.WebPeer()
        cls.tls = webpeer.WebPeer(webpeer.certificate(folder))
        for peer in (cls.peer, cls.other, cls.tls):
            cls.addClassCleanup(peer.stop)

    def ask(self, side, case):
        port, token = side
        data = {"item": dict(webcases.DEFAULTS, **case), "host": {"hostid": "10084"},
                "options": {"single": False, "state": 0}}
        answer = bed.send(("127.0.0.1", port), {"request": "item.test", "sid": token, "data": data})
        return answer.get("data", {}).get("item", answer)

    def compare(self, cases):
        cases = list(cases)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            asked = pool.map(lambda pair: self.ask(*pair), itertools.product(self.sides, cases))
            answers = list(asked)
        for case, real, ours in zip(cases, answers[:len(cases)], answers[len(cases):]):
            with self.subTest(case=case):
                self.assertEqual(webcases.settled(ours), webcases.settled(real))

    def test_answers(self):
        self.compare(webcases.answers(self.peer))

    def test_texts(self):
        self.compare(webcases.texts(self.peer))

    def test_requests(self):
        self.compare(webcases.requests(self.peer))

    def test_urls(self):
        self.compare(webcases.urls(self.peer))

    def test_proxies(self):
        self.compare(webcases.proxied(self.other))

    def test_tls(self):
        local = self.tls.url("/hello", host="localhost")
        self.compare([{"url": self.tls.url("/hello"), "retrieve_mode": 2},
                      {"url": local, "verify_host": 1}])
        # Which words a TLS library has for it differs from one to the next.
        for case in ({"url": local, "verify_peer": 1}, {"url": self.tls.url("/hello"), "verify_host": 1},
                     {"url": local, "ssl_cert_file": "missing.pem"}):
            for side in self.sides:
                self.assertIn("Cannot perform request: ", self.ask(side, case)["error"], case)

    def scenarios(self, api):
        """Codes, numbers of failed steps and errors of all scenarios by key."""
        wanted = dict(webcases.scenarios(self.peer))
        group = api.call("hostgroup.create", name="Web scenarios")["groupids"][0]
        self.addCleanup(api.call, "hostgroup.delete", [group])
        hostid = api.call("host.create", host="web", groups=[{"groupid": group}])["hostids"][0]
        self.addCleanup(api.call, "host.delete", [hostid])
        for name, scenario in wanted.items():
            api.call("httptest.create", hostid=hostid, name=name, delay="1s", **scenario)

        def values():
            items = api.call("item.get", hostids=hostid, webitems=True,
                             output=["key_", "lastvalue", "lastclock", "name", "units", "history", "trends"])
            failed = [i for i in items if i["key_"].startswith("web.test.fail[") and i["lastclock"] != "0"]
            return items if len(failed) == len(wanted) else None
        items = bed.wait_for("all scenarios", values)
        return {item["key_"]: (item["name"], item["units"], item["history"], item["trends"],
                               "" if item["lastclock"] == "0" or item["key_"].startswith(("web.test.in", "web.test.time"))
                               else webcases.settled(item["lastvalue"])) for item in items}

    def test_web_scenarios(self):
        real, ours = [self.scenarios(api) for api in self.apis]
        self.assertEqual(sorted(ours), sorted(real))
        for key in real:
            with self.subTest(key=key):
                self.assertEqual(ours[key], real[key])


if __name__ == "__main__":
    bed.main()
