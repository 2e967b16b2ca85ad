#!/usr/bin/env python3
"""On-call schedules on a whole server: who gets messages, over a crash, and calendars without a session."""

import os
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

DAY = 86_400


class OnCall(unittest.TestCase):
    def setUp(self):
        self.server = bed.Server()
        self.addCleanup(self.server.clean)
        self.server.start()
        self.api = self.server.api()
        group = self.api.call("hostgroup.create", name="Shop")["groupids"][0]
        self.host = self.api.call("host.create", host="shop", groups=[{"groupid": group}])["hostids"][0]
        self.team = self.api.call("usergroup.create", name="team", hostgroup_rights=[
            {"id": group, "permission": 2}])["usrgrpids"][0]
        self.users = {name: self.user(name) for name in ("ann", "bob")}
        self.now = int(time.time())
        self.schedule = self.api.call("oncall.create", name="Linux", timezone="UTC", usergroups=[
            {"usrgrpid": self.team}], layers=[{
                "name": "days", "users": [{"userid": self.users["ann"]}, {"userid": self.users["bob"]}],
                "start": self.now - DAY // 2, "period": "1d"}])["scheduleids"][0]
        self.api.call("action.create", name="on call", eventsource=0, operations=[
            {"operationtype": 0, "opmessage": {"default_msg": 0, "subject": "s", "message": "m"},
             "opmessage_oncall": [{"scheduleid": self.schedule, "who": 0}]}])

    def user(self, name):
        media_type = self.api.call("mediatype.get", filter={"name": "Email"}, output=["mediatypeid"])[0]["mediatypeid"]
        return self.api.call("user.create", username=name, passwd="Pa55word-x", roleid="1",
                             usrgrps=[{"usrgrpid": self.team}],
                             medias=[{"mediatypeid": media_type, "sendto": [name + "@example.com"]}])["userids"][0]

    def as_user(self, name):
        api = bed.Api(self.server.url)
        api.login(name, "Pa55word-x")
        return api

    def problem(self, name):
        """Opens a problem, and gives the rows of its message."""
        self.api.call("item.create", hostid=self.host, name=name, key_=name, type=2, value_type=3)
        trigger = self.api.call("trigger.create", description=name,
                                expression="last(/shop/%s)>0" % name)["triggerids"][0]

        def taken():
            answer = bed.send(self.server.address, {"request": "sender data", "data": [
                {"host": "shop", "key": name, "value": "1"}]})
            return "failed: 0" in answer["info"]
        bed.wait_for("the item %s" % name, taken)
        alerts = bed.wait_for("the alert of %s" % name, lambda: self.api.call(
            "alert.get", objectids=[trigger], output=["userid", "error", "sendto"]))
        return [(alert["userid"], alert["sendto"], alert["error"]) for alert in alerts]

    def calendar(self, path):
        address = "http://127.0.0.1:%d%s" % (self.server.http, path)
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    def test_messages_follow_the_schedule_over_a_crash(self):
        disabled = "Media type disabled."
        ann, bob = ((self.users[name], name + "@example.com", disabled) for name in ("ann", "bob"))
        self.assertEqual(self.problem("first"), [ann])
        # Ann gives the rest of her shift to Bob.
        end = self.now + DAY // 2
        self.as_user("ann").call("oncall.override", scheduleid=self.schedule, userid=self.users["bob"],
                                 **{"from": self.now, "to": end})
        self.server.kill()
        self.server.start()
        self.api = self.server.api()
        self.assertEqual(self.problem("second"), [bob])
        # A gap says so.
        self.api.call("oncall.update", scheduleid=self.schedule, layers=[])
        overrides = self.api.call("oncall.get", selectOverrides=["overrideid"])[0]["overrides"]
        self.as_user("bob").call("oncall.revoke", [one["overrideid"] for one in overrides])
        self.assertEqual(self.problem("third"), [("0", "", "Nobody is on call in Linux.")])

    def test_a_calendar_needs_its_token_alone(self):
        ann = self.as_user("ann")
        made = ann.call("oncall.ical", scheduleid=self.schedule)
        kind, text = self.calendar(made["path"])
        self.assertEqual(kind, "text/calendar; charset=utf-8")
        self.assertTrue(text.startswith("BEGIN:VCALENDAR\r\n"), text)
        self.assertIn("SUMMARY:ann: on call\\, Linux\r\n", text)
        self.assertIn("SUMMARY:bob: on call\\, Linux\r\n", text)
        # Other servers read it back as a layer.
        copy = self.api.call("oncall.create", name="Copy", timezone="UTC",
                             layers=[{"name": "copy", "calendar": text.replace(": on call\\, Linux", "")}])
        within = {"from": self.now, "to": self.now + 20 * DAY}
        shifts = [[(one["userid"], one["from"], one["to"]) for one in self.api.call(
            "oncall.shifts", scheduleids=[schedule], **within)]
            for schedule in (self.schedule, copy["scheduleids"][0])]
        self.assertEqual(len(shifts[0]), 21)
        self.assertEqual(shifts[0], shifts[1])
        ann.call("oncall.ical", scheduleid=self.schedule, revoke=1)
        for path in (made["path"], "/oncall/x.ics"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.calendar(path)
            self.assertEqual(refused.exception.code, 404)


if __name__ == "__main__":
    bed.main()
