#!/usr/bin/env python3
"""Living messages on a whole server: chats whose message is edited in place, links that act without a sign-in, and
responses to mails."""

import email
import email.policy
import http.server
import json
import os
import re
import socketserver
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples")


class Chat:
    """Keeps posts and applies edits, as Slack and Mattermost do, for one token."""

    def __init__(self):
        self.posts, self.log, self.lock = {}, [], threading.Lock()
        #: Answers the next post with an error.
        self.busy = False
        chat = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
                known = self.headers.get("Authorization") == "Bearer secret"
                with chat.lock:
                    status, out = chat.handle(self.command, self.path, body) if known else (401, {"message": "no"})
                data = json.dumps(out).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handle(self, verb, path, body):
        if path.startswith("/slack/"):
            return 200, self.slack(path.rsplit("/", 1)[1], body)
        return self.mattermost(verb, path.replace("/api/v4/", ""), body)

    def post(self, key, content):
        self.posts[key] = content
        self.log.append(("post", key, content))

    def edit(self, key, content):
        self.posts[key] = content
        self.log.append(("edit", key, content))

    def slack(self, method, body):
        content = body["attachments"][0]
        if method == "chat.postMessage":
            if self.busy:
                self.busy = False
                return {"ok": False, "error": "ratelimited"}
            key = "D%s 15.%d" % (body["channel"], len(self.posts))
            self.post(key, content)
        else:
            key = "%s %s" % (body["channel"], body["ts"])
            if key not in self.posts:
                return {"ok": False, "error": "message_not_found"}
            self.edit(key, content)
        channel, ts = key.split(" ")
        return {"ok": True, "channel": channel, "ts": ts}

    def mattermost(self, verb, path, body):
        if verb == "GET":
            return 200, {"id": "id-of-" + path.rsplit("/", 1)[1]}
        if path == "channels/direct":
            return 201, {"id": "-".join(body)}
        content = body["props"]["attachments"][0]
        if verb == "POST" and path == "posts":
            key = "mm%d" % len(self.posts)
            self.post(key, dict(content, channel=body["channel_id"]))
            return 201, {"id": key}
        key = path.split("/")[1]
        if key not in self.posts:
            return 404, {"message": "not found"}
        self.edit(key, content)
        return 200, {"id": key}

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class MailServer:
    """Takes every mail."""

    def __init__(self):
        self.mails, self.lock = [], threading.Lock()
        server = self

        class Handler(socketserver.StreamRequestHandler):
            def say(self, line):
                self.wfile.write(line + b"\r\n")

            def handle(self):
                self.say(b"220 sink")
                for line in self.rfile:
                    word = line[:4].upper()
                    if word == b"DATA":
                        self.say(b"354 go on")
                        lines = []
                        for part in self.rfile:
                            if part == b".\r\n":
                                break
                            lines.append(part)
                        with server.lock:
                            server.mails.append(b"".join(lines))
                    self.say(b"221 bye" if word == b"QUIT" else b"250 fine")
                    if word == b"QUIT":
                        return

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Living(unittest.TestCase):
    def setUp(self):
        self.server = bed.Server()
        self.addCleanup(self.server.clean)
        self.server.start()
        self.api = self.server.api()
        self.site = "http://127.0.0.1:%d" % self.server.http
        self.api.call("settings.update", url=self.site + "/")
        group = self.api.call("hostgroup.create", name="Shop")["groupids"][0]
        self.hostid = host = self.api.call("host.create", host="shop", groups=[{"groupid": group}])["hostids"][0]
        self.api.call("item.create", hostid=host, name="k", key_="k", type=2, value_type=3)
        self.api.call("trigger.create", description="Disk is full", expression="last(/shop/k)>0", priority=4,
                      manual_close=1)
        users = self.api.call("usergroup.create", name="Ops", hostgroup_rights=[{"id": group, "permission": 3}])
        self.group, self.users = group, users["usrgrpids"][0]

    def user(self, name, media_type, sendto):
        made = self.api.call("user.create", username=name, passwd="Pa55word-x", roleid="1",
                             usrgrps=[{"usrgrpid": self.users}],
                             medias=[{"mediatypeid": media_type, "sendto": sendto}])
        return made["userids"][0]

    def action(self, users, **texts):
        to = {"operationtype": 0, "opmessage": dict({"default_msg": 1}, **texts)}
        self.api.call("action.create", name="tell", eventsource=0, esc_period="1h",
                      # The server has triggers of its own.
                      filter={"evaltype": 0, "conditions": [{"conditiontype": 1, "value": self.hostid}]},
                      operations=[dict(to, opmessage_usr=[{"userid": user} for user in users])],
                      recovery_operations=[dict(to, operationtype=11)],
                      update_operations=[dict(to, operationtype=12)])

    def imported(self, file, **parameters):
        """Imports an example, fills its parameters, switches it on; returns its id."""
        with open(os.path.join(EXAMPLES, file), encoding="utf-8") as source:
            text = source.read()
        name = re.search(r"- name: '(.*)'", text).group(1)
        rules = {"mediaTypes": {"createMissing": True}}
        self.api.call("configuration.import", format="yaml", rules=rules, source=text)
        found = self.api.call("mediatype.get", filter={"name": name}, output=["mediatypeid", "living", "parameters"])[0]
        self.assertEqual(found["living"], "1")
        known = [dict(one, value=parameters.get(one["name"], one["value"])) for one in found["parameters"]]
        self.api.call("mediatype.update", mediatypeid=found["mediatypeid"], parameters=known, status=0)
        return found["mediatypeid"]

    def send(self, value):
        def taken():
            answer = bed.send(self.server.address, {"request": "sender data", "data": [
                {"host": "shop", "key": "k", "value": str(value)}]})
            return "failed: 0" in answer["info"]
        bed.wait_for("the item", taken)

    def problem(self):
        return bed.wait_for("a problem", self.problems)[0]["eventid"]

    def problems(self):
        return self.api.call("problem.get", hostids=self.hostid, output=["eventid"])

    def updates(self, event):
        events = self.api.call("event.get", eventids=event, output=["acknowledged"], selectAcknowledges="extend")
        return events[0]["acknowledged"], [(one["userid"], one["action"], one["message"])
                                           for one in events[0]["acknowledges"]]

    def page(self, url, method):
        request = urllib.request.Request(url, data=b"" if method == "POST" else None, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def test_a_chat_has_one_message_for_a_problem(self):
        chat = Chat()
        self.addCleanup(chat.stop)
        slack = self.imported("slack-edited.yaml", api_url=chat.url + "/slack", token="secret")
        matter = self.imported("mattermost-edited.yaml", url=chat.url, token="secret")
        self.api.call("mediatype.update", mediatypeid=slack, attempt_interval="1s")
        bob = self.user("bob", slack, "UBOB")
        users = [bob, self.user("ann", matter, "@ann"), self.user("room", slack, "C1")]
        self.action(users)
        chat.busy = True
        self.send(1)
        event = self.problem()
        bed.wait_for("three posts", lambda: len(chat.posts) == 3)
        # Updates follow each other faster than a chat answers.
        for n in range(3):
            self.api.call("event.acknowledge", eventids=event, action=4, message="note %d" % n)
        bed.wait_for("alerts of all updates", lambda: len(self.api.call("alert.get", output=["alertid"])) == 12)
        self.send(0)

        def ended():
            return [one["title"] for one in chat.posts.values() if one["title"].startswith("Resolved")]
        bed.wait_for("all messages to say the end", lambda: len(ended()) == 3)
        bed.wait_for("all alerts to be sent", lambda: {one["status"] for one in self.api.call(
            "alert.get", output=["status"])} == {"1"})
        self.assertEqual(len(chat.posts), 3)
        for key in chat.posts:
            log = [(what, content["title"]) for what, of, content in chat.log if of == key]
            self.assertEqual([what for what, _ in log], ["post"] + ["edit"] * (len(log) - 1))
            self.assertTrue(log[0][1].startswith("Problem: "), log)
            self.assertTrue(all(title.startswith("PROBLEM for ") for _, title in log[1:-1]), log)
            self.assertEqual(chat.posts[key]["color"], "#2E9E5B")
        alerts = self.api.call("alert.get", output=["message_id"])
        self.assertTrue(all(one["message_id"] in chat.posts for one in alerts), alerts)
        first = {of: content for what, of, content in chat.log if what == "post"}
        buttons = {of: [one["url"] for one in content.get("actions", [])] for of, content in first.items()}
        self.assertEqual(sorted((of.split(" ")[0], len(urls)) for of, urls in buttons.items() if of[0] == "D"),
                         [("DC1", 0), ("DUBOB", 2)])
        direct = next(content for of, content in first.items() if of.startswith("mm"))
        self.assertEqual(direct["channel"], "id-of-me-id-of-ann")
        self.assertIn("[Acknowledge](%s/act/" % self.site, direct["text"])

    def test_links_act_for_their_recipient(self):
        mails = MailServer()
        self.addCleanup(mails.stop)
        media_type = self.mail_type(mails)
        bob = self.user("bob", media_type, "bob@example.com")
        self.action([bob], default_msg=0, subject="s", message="{ALERT.LINK.ACK} {ALERT.LINK.CLOSE}")
        self.send(1)
        event = self.problem()
        text = self.text_of(bed.wait_for("a mail", lambda: list(mails.mails))[0])
        acknowledge, close = text.split()
        for _ in range(2):
            status, html = self.page(acknowledge, "GET")
            self.assertEqual(status, 200)
            self.assertIn("Disk is full", html)
        self.assertEqual(self.updates(event), ("0", []))
        # Two presses at once do it once.
        results = []
        presses = [threading.Thread(target=lambda: results.append(self.page(acknowledge, "POST"))) for _ in range(4)]
        for press in presses:
            press.start()
        for press in presses:
            press.join()
        self.assertEqual(self.updates(event), ("1", [(bob, "2", "")]))
        self.assertIn("The problem is acknowledged", "".join(html for _, html in results))
        self.assertEqual(self.page(acknowledge, "POST")[0], 410)
        # Users who read alerts cannot act for others.
        stored = self.api.call("alert.get", output=["message"])
        self.assertEqual(stored[0]["message"], "{ALERT.LINK.ACK} {ALERT.LINK.CLOSE}")
        log = self.api.call("auditlog.get", filter={"resourcetype": 1100})
        self.assertEqual([(one["username"], one["resourceid"]) for one in log], [("bob", event)])
        # A restart forgets neither the key nor what was used.
        self.server.kill()
        self.server.start()
        self.api = self.server.api()
        self.assertEqual(self.page(acknowledge, "POST")[0], 410)
        self.api.call("usergroup.update", usrgrpid=self.users, users_status=1)
        status, html = self.page(close, "POST")
        self.assertEqual(status, 403)
        self.assertNotIn("Disk is full", html)
        self.api.call("usergroup.update", usrgrpid=self.users, users_status=0)
        self.assertEqual(self.page(close, "POST")[0], 200)
        bed.wait_for("the end of the problem", lambda: not self.problems())

    def mail_type(self, mails, **more):
        made = self.api.call("mediatype.create", name="mail", type=0, smtp_server="127.0.0.1", smtp_port=mails.port,
                             smtp_email="vedette@monitor.test", smtp_helo="monitor.test", message_format=0, status=0,
                             **more)
        return made["mediatypeids"][0]

    @staticmethod
    def text_of(mail):
        return email.message_from_bytes(mail, policy=email.policy.SMTP).get_content()

    def reply(self, mail, *arguments):
        command = [bed.BINARY, "mail-reply", "--server", self.site] + list(arguments)
        done = subprocess.run(command, input=mail.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              check=False)
        return done.returncode, done.stderr.decode()

    def test_a_response_to_a_mail_is_a_comment(self):
        mails = MailServer()
        self.addCleanup(mails.stop)
        media_type = self.mail_type(mails, reply_address="vedette@monitor.test")
        bob = self.user("bob", media_type, "Bob <bob@example.com>")
        self.action([bob], default_msg=0, subject="Disk", message="full")
        self.send(1)
        event = self.problem()
        sent = email.message_from_bytes(bed.wait_for("a mail", lambda: list(mails.mails))[0],
                                        policy=email.policy.SMTP)
        address = sent["Reply-To"]
        self.assertRegex(address, r"^vedette\+[a-z2-7]{40,}@monitor\.test$")
        self.assertEqual(sent["Auto-Submitted"], "auto-generated")
        mail = ("Return-Path: <bob@example.com>\nFrom: Bob <bob@example.com>\nTo: %s\nSubject: Re: Disk\n"
                "Message-ID: <1@example.com>\nIn-Reply-To: x\n%%s\nI clean it up.\n\n"
                "On Sunday, Vedette <%s> wrote:\n> full\n" % (address, address))
        self.assertEqual(self.reply(mail % "Auto-Submitted: auto-replied\n"),
                         (0, "vedette: the mail is ignored: a program wrote the mail: Auto-Submitted\n"))
        for _ in range(2):
            self.assertEqual(self.reply(mail % ""), (0, ""))
        self.assertEqual(self.updates(event), ("0", [(bob, "4", "I clean it up.")]))
        code, why = self.reply((mail % "").replace("From: Bob <bob@", "From: Eve <eve@"))
        self.assertEqual(code, 77)
        self.assertIn("Respond from the address that it was sent to.", why)
        code, why = self.reply(mail % "", "--recipient", address.replace("+a", "+b"))
        self.assertEqual((code, "Unknown link" in why), (0, True), why)
        self.assertEqual(self.reply(mail % "", "--sender", "")[0], 0)
        self.server.stop()
        self.assertEqual(self.reply((mail % "").replace("<1@", "<2@"))[0], 75)
        self.server.start()
        self.api = self.server.api()
        self.assertEqual(len(self.updates(event)[1]), 1)


if __name__ == "__main__":
    bed.main()
