#!/usr/bin/env python3
"""kill -9 while problems open, change and end: no message is lost, none is sent twice, and alerts tell which are uncertain.
A receiver that takes each message once gets all."""

import collections
import contextlib
import http.server
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

#: `make test-deep` makes it 300.
KILLS = int(os.environ.get("ALERT_KILLS", "8"))
TRIGGERS = 40
#: Addresses of two media types; the receiver of the second one takes each message once.
ADDRESSES = ("plain", "once")
#: The error of an alert whose attempt was cut off.
UNCERTAIN = "may have been sent"

SCRIPT = """
var parameters = JSON.parse(value), request = new HttpRequest();
request.post(parameters.url, parameters.id + ' ' + parameters.to + ' ' + parameters.message);
if (request.getStatus() != 200) { throw 'status ' + request.getStatus(); }
return 'OK';
"""


class Sink:
    """A receiver that counts each text, but for messages with an id that it has taken."""

    def __init__(self):
        self.ids, self.repeated, self.texts, lock = set(), 0, collections.Counter(), threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(handler):
                length = int(handler.headers["Content-Length"])
                text = handler.rfile.read(length).decode()
                if len(text) < length:
                    return  # The server was killed while it was sending.
                number, _, text = text.partition(" ")
                with lock:
                    if number in self.ids:
                        self.repeated += 1
                    else:
                        self.texts[text] += 1
                    if number.isdecimal():
                        self.ids.add(number)
                with contextlib.suppress(OSError):
                    handler.send_response(200)
                    handler.send_header("Content-Length", "0")
                    handler.end_headers()

            def log_message(handler, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d/" % self.server.server_port

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Load(threading.Thread):
    """Opens, comments and ends problems, one trigger after the other; repeats what the server has not confirmed."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.stopping = server, threading.Event()
        self.opened, self.comments, self.failure = 0, set(), None

    def run(self):
        try:
            for turn in range(10 ** 9):
                for n in range(TRIGGERS):
                    if self.stopping.is_set():
                        return
                    self.value(n, 1)
                    self.opened += 1
                    if n % 4 == 0:
                        self.comment(n, "comment-%d-%d" % (turn, n))
                    self.value(n, 0)
        except Exception as problem:
            self.failure = problem
            raise

    def until(self, what, attempt):
        """The server is down for a moment again and again."""
        return bed.wait_for(what, attempt, timeout=120, pause=0.02)

    def value(self, n, value):
        message = {"request": "sender data", "data": [
            {"host": "crashing", "key": "t[%d]" % n, "value": str(value)}]}
        self.until("a value to be stored", lambda: "failed: 0" in (
            bed.send(self.server.address, message) or {}).get("info", ""))

    def comment(self, n, text):
        """A comment whose confirmation was lost may be made: it is looked for before it is made again."""
        api = bed.Api(self.server.url)

        def attempt():
            api.login()
            problems = api.call("problem.get", output=["eventid", "name"], selectAcknowledges=["message"],
                                filter={"name": "t%d" % n})
            for problem in problems:
                if text not in [one["message"] for one in problem["acknowledges"]]:
                    api.call("event.acknowledge", eventids=[problem["eventid"]], action=4, message=text)
                return True
            return False
        self.until("a problem to be there for a comment", attempt)
        self.comments.add(text)


class Crash(bed.Case):
    def configure(self, url, grouping=None):
        host, items = self.host("crashing", [{"key_": "t[%d]" % n, "value_type": 3} for n in range(TRIGGERS)])
        self.assertEqual(len(items), TRIGGERS)
        self.api.call("trigger.create", [
            {"description": "t%d" % n, "expression": "last(/crashing/t[%d])=1" % n} for n in range(TRIGGERS)])
        media_types = self.api.call("mediatype.create", [{
            "name": to, "type": 4, "status": 0, "script": SCRIPT, "maxsessions": 4, "attempt_interval": "1s",
            "maxattempts": 100, "deduplicates": int(to == "once"), "parameters": [
                {"name": "url", "value": url}, {"name": "to", "value": "{ALERT.SENDTO}"},
                {"name": "id", "value": "{ALERT.ID}"}, {"name": "message", "value": "{ALERT.MESSAGE}"}]}
            for to in ADDRESSES])["mediatypeids"]
        # Not the author of the comments, who gets no message of them.
        me = self.api.call("user.create", username="reader", passwd=bed.PASSWORD, roleid="3",
                           usrgrps=[{"usrgrpid": "7"}], medias=[
                               {"mediatypeid": media_type, "sendto": to}
                               for media_type, to in zip(media_types, ADDRESSES)])["userids"][0]

        def operation(text, **more):
            return {"operationtype": 0, "opmessage": {"default_msg": 0, "subject": "s", "message": text},
                    "opmessage_usr": [{"userid": me}], **more}
        self.api.call("action.create", {
            "name": "all", "eventsource": 0, "esc_period": "1h", "grouping": grouping,
            # The server has triggers of its own.
            "filter": {"evaltype": 0, "conditions": [{"conditiontype": 1, "value": host}]},
            "operations": [operation("problem {EVENT.ID}")],
            "recovery_operations": [operation("end {EVENT.ID}")],
            "update_operations": [operation("update {EVENT.ID} {EVENT.UPDATE.MESSAGE}")]})
        return host

    def expected(self, host, load):
        """What each address should have got."""
        def ended():
            events = self.api.call("event.get", hostids=[host], output=["eventid", "r_eventid"], value=[1],
                                   selectAcknowledges=["message"])
            return events if all(event["r_eventid"] != "0" for event in events) else None
        # A problem that a kill did not let open, and that had ended before the start, is none.
        events = bed.wait_for("all problems to end", ended)
        self.assertLessEqual(len(events), load.opened)
        texts = []
        for event in events:
            texts += ["problem %s" % event["eventid"], "end %s" % event["eventid"]]
            texts += ["update %s %s" % (event["eventid"], one["message"]) for one in event["acknowledges"]
                      if one["message"]]
        comments = {one["message"] for event in events for one in event["acknowledges"]}
        self.assertEqual(comments - {""}, load.comments)
        return collections.Counter("%s %s" % (to, text) for to in ADDRESSES for text in texts)

    def loaded(self, grouping=None):
        """What the receiver got, what each address should have got, and the load, after all kills."""
        sink = Sink()
        self.addCleanup(sink.close)
        host = self.configure(sink.url, grouping)
        chance = random.Random(11)
        load = Load(self.server)
        load.start()
        for _ in range(KILLS):
            time.sleep(0.05 + chance.random())
            self.server.kill()
            self.server.start()
        load.stopping.set()
        load.join(timeout=300)
        self.assertIsNone(load.failure)
        self.api.login()
        return sink, self.expected(host, load), load


class AlertCrash(Crash):
    def test_messages_survive_kills(self):
        sink, expected, load = self.loaded()

        def settled():
            alerts = self.api.call("alert.get", output=["sendto", "message", "status", "error"])
            done = len(alerts) >= expected.total() and all(one["status"] in ("1", "2") for one in alerts)
            if done:
                return alerts
            raise KeyError("%d of %d alerts, not settled: %r" % (
                len(alerts), expected.total(), [one for one in alerts if one["status"] not in ("1", "2")][:5]))
        alerts = bed.wait_for("all messages to be sent", settled, timeout=60)
        made = collections.Counter("%(sendto)s %(message)s" % one for one in alerts)
        self.assertEqual(made - expected, collections.Counter(), "alerts of nothing")
        self.assertEqual(expected - made, collections.Counter(), "lost")
        uncertain = {"%(sendto)s %(message)s" % one for one in alerts if one["status"] == "2"}
        errors = {one["error"] for one in alerts if one["status"] == "2"}
        self.assertEqual({text.split()[0] for text in uncertain} - {"plain"}, set())
        self.assertTrue(all(UNCERTAIN in error for error in errors), errors)
        twice = {text: count for text, count in sink.texts.items() if count > 1}
        lost = [text for text in expected if text not in sink.texts and text not in uncertain]
        arrived = sum(text in sink.texts for text in uncertain)
        print("%d kills, %d problems, %d comments, %d messages: lost %d, twice %d, uncertain %d (%d of them arrived), %d sent again"
              % (KILLS, load.opened, len(load.comments), expected.total(), len(lost), len(twice), len(uncertain),
                 arrived, sink.repeated))
        self.assertEqual((lost, twice), ([], {}))


class GroupedAlertCrash(Crash):
    def test_grouped_messages_survive_kills(self):
        sink, expected, load = self.loaded({"by": [], "wait": "1s", "interval": "1s"})

        def settled():
            alerts = self.api.call("alert.get", output=[
                "alertid", "sendto", "message", "status", "error", "withheld", "carrierid", "summary"])
            own = [one for one in alerts if one["summary"] == "0"]
            waiting = [one for one in alerts if one["status"] in ("0", "3")
                       or one["status"] == "4" and one["carrierid"] == "0"]
            if waiting or len(own) < expected.total():
                raise KeyError("%d of %d alerts, not settled: %r" % (len(own), expected.total(), waiting[:5]))
            return alerts
        alerts = bed.wait_for("all messages to be told", settled, timeout=120)

        def texts(of):
            return collections.Counter("%(sendto)s %(message)s" % one for one in of)
        own = [one for one in alerts if one["summary"] == "0"]
        self.assertEqual(texts(own), expected)
        self.assertEqual({one["withheld"] for one in own}, {"1"}, "all were grouped")
        summaries = {one["alertid"]: one for one in alerts if one["summary"] == "1"}
        told = [one for one in own if one["status"] == "4"]
        self.assertTrue(all(summaries[one["carrierid"]]["sendto"] == one["sendto"] for one in told))
        self.assertEqual({one["carrierid"] for one in told}, set(summaries), "a summary tells of something")
        left = [one for one in alerts if one["status"] != "4"]
        self.assertTrue(all(UNCERTAIN in one["error"] for one in left if one["status"] == "2"))
        lost = texts(one for one in left if one["status"] == "1") - sink.texts
        twice = sink.texts - texts(left)
        print("%d kills, %d messages in %d summaries and %d alone: lost %d, twice %d" % (
            KILLS, len(own), len(summaries), len(own) - len(told), lost.total(), twice.total()))
        self.assertEqual((lost, twice), (collections.Counter(), collections.Counter()))


if __name__ == "__main__":
    bed.main()
