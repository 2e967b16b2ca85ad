#!/usr/bin/env python3
"""Inhibition, fallback media and the heartbeat on a whole server, over a crash."""

import http.server
import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Receiver:
    """A web server that notes the path of each request."""

    def __init__(self, case):
        self.paths = []
        paths = self.paths

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                paths.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        case.addCleanup(server.server_close)
        case.addCleanup(server.shutdown)
        self.url = "http://127.0.0.1:%d" % server.server_address[1]


class Calm(unittest.TestCase):
    def setUp(self):
        self.server = bed.Server()
        self.addCleanup(self.server.clean)
        self.server.start()
        self.api = self.server.api()

    def trigger(self, key, priority):
        self.api.call("item.create", hostid=self.host, name=key, key_=key, type=2, value_type=3)
        self.api.call("trigger.create", description=key, expression="last(/shop/%s)>0" % key, priority=priority,
                      tags=[{"tag": "service", "value": "shop"}])

    def send(self, key, value):
        def taken():
            answer = bed.send(self.server.address, {"request": "sender data", "data": [
                {"host": "shop", "key": key, "value": str(value)}]})
            return "failed: 0" in answer["info"]
        bed.wait_for("the item %s" % key, taken)

    def alerts(self):
        alerts = self.api.call("alert.get", output=["subject", "status", "error", "mediatypeid"], sortfield="alertid")
        return [(one["subject"], one["status"]) for one in alerts]

    def shop(self):
        """A host with two triggers, and an action whose messages fail by one media type and go by another one."""
        group = self.api.call("hostgroup.create", name="Shop")["groupids"][0]
        self.host = self.api.call("host.create", host="shop", groups=[{"groupid": group}])["hostids"][0]
        self.trigger("down", 5)
        self.trigger("slow", 2)
        texts = [{"eventsource": 0, "recovery": mode, "subject": "%s {EVENT.NAME}" % word, "message": "text"}
                 for mode, word in ((0, "PROBLEM"), (1, "OK"))]
        webhook = {"type": 4, "status": 0, "message_templates": texts}
        good = self.api.call("mediatype.create", name="Good", script="return 'ok'", **webhook)["mediatypeids"][0]
        bad = self.api.call("mediatype.create", name="Bad", script="throw 'no'", maxattempts=1,
                            fallback_mediatypeid=good, **webhook)["mediatypeids"][0]
        self.api.call("user.update", userid="1", medias=[
            {"mediatypeid": one, "sendto": "admin", "active": 0, "severity": 63, "period": "1-7,00:00-24:00"}
            for one in (bad, good)])
        self.api.call("action.create", name="Calm", eventsource=0, esc_period="1h", inhibition={"tags": ["service"]},
                      # The server has triggers of its own.
                      filter={"evaltype": 0, "conditions": [{"conditiontype": 1, "value": self.host}]},
                      operations=[{"operationtype": 0, "opmessage": {"default_msg": 1, "mediatypeid": bad},
                                   "opmessage_usr": [{"userid": "1"}]}],
                      recovery_operations=[{"operationtype": 11, "opmessage": {"default_msg": 1}}])
        return bad, good

    def test_messages_are_withheld_and_fall_back_over_a_crash(self):
        self.shop()
        self.send("down", 1)
        told = [("PROBLEM down", "2"), ("PROBLEM down", "1")]
        bed.wait_for("the fallback", lambda: self.alerts() == told)
        failed = self.api.call("alert.get", output=["error"], filter={"status": 2})[0]
        self.assertTrue(failed["error"].endswith("Sent by Good instead."), failed)
        self.send("slow", 1)
        held = told + [("PROBLEM slow", "4")]
        bed.wait_for("a withheld message", lambda: self.alerts() == held)
        problem = self.api.call("problem.get", output=["eventid"], filter={"name": "slow"})[0]
        running = self.api.call("escalation.get", eventids=[problem["eventid"]])[0]
        self.assertEqual(running["pauses"], ["inhibited"])
        self.server.kill()
        self.server.start()
        self.api = self.server.api()
        self.assertEqual(self.alerts(), held)
        self.send("down", 0)
        bed.wait_for("the message that was held back", lambda: ("PROBLEM slow", "1") in self.alerts())

    def test_heartbeats_are_sent_while_the_server_works(self):
        receiver = Receiver(self)
        self.shop()
        self.api.call("settings.update", heartbeat_url=receiver.url + "/beat", heartbeat_period="10s")

        def two():
            # It shows with values that they are stored and evaluated.
            self.send("down", 0)
            return receiver.paths[:2] == ["/beat", "/beat"]
        bed.wait_for("two heartbeats", two)
        shown = self.api.call("settings.get", output=["heartbeat_period"])
        self.assertEqual(shown, {"heartbeat_period": "10s"})


if __name__ == "__main__":
    bed.main()
