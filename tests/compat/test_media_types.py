#!/usr/bin/env python3
"""The official webhooks, unchanged: import, export, and what each of them sends.

    VEDETTE_SHARED=FOLDER tests/compat/test_media_types.py

The media types are those of the reference. Each webhook is run by the request `alert.send` of the trapper port on the
reference and on Vedette, for a problem, an update, a recovery and other messages, with the same parameters and against
the same receiver. Both must send the same requests, byte for byte, and return the same. Needs root or namespaces of
users: in the test's own network the names of all services lead to the receiver.
"""

import glob
import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

import bed  # noqa: E402
import receivers  # noqa: E402
import reference  # noqa: E402

#: Names that stand in scripts and in the parameters of `FILLED`.
NAMES = re.compile(r"https?://([a-z0-9.-]+\.[a-z]+)")
SITE = "https://receiver.test"

#: What a site fills in, by name of the parameter; others that say `<…>` get a word.
FILLED = {
    "zabbix_url": "https://monitor.test", "ZABBIX.URL": "https://monitor.test", "Zabbix_URL": "https://monitor.test",
    "zbxurl": "https://monitor.test", "url": "https://monitor.test", "discord_endpoint": SITE + "/api/webhooks/1/abc",
    "send_to": "receiver.test", "github_repo": "owner/repository", "api_parse_mode": "MarkdownV2",
    "servicenow_url": SITE, "mantisbt_url": SITE, "express_send_to": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "alert_sendto": "project", "rc_send_to": "#channel", "api_chat_id": "-100200300", "channel": "#alerts",
    "samanage_url": SITE, "opsgenie_api": SITE + "/v2/alerts",
    "zendesk_token": "user@receiver.test/token:word", "otrs_customer": "c@receiver.test",
    "zammad_customer": "c@receiver.test", "api_token": "0123456789abcdef0123456789abcdef",
    "sd_on_premise": "true", "itop_organization_id": "1", "jira_request_type_id": "10", "jira_servicedesk_id": "2",
    "user": "u" * 30, "token": "a" * 30, "sysaid_template_id": "1", "sysaid_urgency_id": "2",
}
#: Values of macros in all messages.
MACROS = {
    "ALERT.SENDTO": "receiver", "ALERT.SUBJECT": "Problem: disk \"/\" is full & ä€😀",
    "ALERT.MESSAGE": "Problem started\r\nat 10:00\ton <web-1>\\ \"x\" Ünïcödé 😀\nOriginal problem ID: 42",
    "EVENT.ID": "42", "EVENT.NAME": "disk is full", "EVENT.SEVERITY": "High", "EVENT.NSEVERITY": "4",
    "EVENT.DATE": "2026.01.31", "EVENT.TIME": "10:00:00", "EVENT.OPDATA": "98 %", "EVENT.ACK.STATUS": "No",
    "EVENT.OBJECT": "0", "EVENT.TAGS": "scope:capacity, service:web", "EVENT.STATUS": "PROBLEM",
    "EVENT.DURATION": "5m", "TRIGGER.ID": "7", "TRIGGER.NAME": "disk is full", "TRIGGER.STATUS": "PROBLEM",
    "TRIGGER.DESCRIPTION": "The disk\nis nearly full", "TRIGGER.SEVERITY": "High", "TRIGGER.VALUE": "1",
    "TRIGGER.HOSTGROUP.NAME": "Linux servers", "HOST.NAME": "web-1", "HOST.HOST": "web-1", "HOST.IP": "192.0.2.1",
    "HOST.ID": "10", "HOST.PORT": "10050", "USER.FULLNAME": "Zabbix Administrator (Admin)", "ACTION.NAME": "report",
}
TAGS = [{"tag": "scope", "value": "capacity"}, {"tag": "größe", "value": "a b"}]
#: What distinguishes the messages.
MESSAGES = {
    "problem": {"EVENT.SOURCE": "0", "EVENT.VALUE": "1", "EVENT.UPDATE.STATUS": "0"},
    "update": {"EVENT.SOURCE": "0", "EVENT.VALUE": "1", "EVENT.UPDATE.STATUS": "1", "EVENT.UPDATE.MESSAGE": "seen \"it\"",
               "EVENT.UPDATE.ACTION": "acknowledged, commented", "EVENT.UPDATE.DATE": "2026.01.31",
               "EVENT.UPDATE.TIME": "10:01:00", "EVENT.UPDATE.NSEVERITY": "4", "EVENT.UPDATE.SEVERITY": "High",
               "EVENT.ACK.STATUS": "Yes"},
    "recovery": {"EVENT.SOURCE": "0", "EVENT.VALUE": "0", "EVENT.UPDATE.STATUS": "0", "EVENT.RECOVERY.VALUE": "0",
                 "EVENT.RECOVERY.DATE": "2026.01.31", "EVENT.RECOVERY.TIME": "10:05:00", "TRIGGER.STATUS": "OK",
                 "TRIGGER.VALUE": "0", "EVENT.STATUS": "RESOLVED"},
    "discovery": {"EVENT.SOURCE": "1", "EVENT.VALUE": "0", "EVENT.NSEVERITY": "{EVENT.NSEVERITY}"},
    "internal": {"EVENT.SOURCE": "3", "EVENT.VALUE": "1", "EVENT.NSEVERITY": "{EVENT.NSEVERITY}"},
    "refused": {"EVENT.SOURCE": "0", "EVENT.VALUE": "1", "EVENT.UPDATE.STATUS": "0"},
    "garbled": {"EVENT.SOURCE": "0", "EVENT.VALUE": "1", "EVENT.UPDATE.STATUS": "0"},
}

#: An answer with what most services return.
USUAL = {"ok": True, "success": True, "id": "77", "key": "AB-7", "ts": "1700000000.000100", "channel": "C1",
         "permalink": "https://chat.test/7", "status": "success", "result": {"message_id": 77, "sys_id": "77", "id": 77},
         "issue": {"id": 77}, "ticket": {"id": 77}, "request": {"id": "77"}, "TicketID": "77", "requestId": "1",
         "number": 77, "message": {"_id": "m1", "rid": "r1"}, "room": {"_id": "r1", "t": "c", "name": "channel"},
         "issueId": "77", "issueKey": "AB-7", "issueIdOrKey": "AB-7", "dedup_key": "k", "user": {"id": "5"},
         "data": {"alertId": "9", "isSuccess": True, "status": "ok"}, "response_status": {"status": "success"},
         "sync_id": "s1", "code": 0, "objects": {"UserRequest::77": {"key": "77", "fields": {"id": "77"}}},
         "projects": [{"id": 1, "name": "word-of-redmine_project"}], "session_token": "s", "total_count": 1}
#: Services that answer otherwise: method, part of host and path, status, body.
ROUTES = [
    ("*", "/api/v4/botx", 202, {"status": "ok", "result": {"sync_id": "6ba7b811-9dad-11d1-80b4-00c04fd430c8"}}),
    ("POST", "api.github.com", 201, {"number": 77, "id": 1, "html_url": "https://github.test/7"}),
    ("POST", "/rest/api/", 201, USUAL),
    ("POST", "/rest/servicedeskapi/", 201, USUAL),
    ("POST", "events.pagerduty.com", 202, USUAL),
    ("*", "api.pushover.net", 200, {"status": 1, "request": "r"}),
    ("POST", "/apirest.php/Problem", 201, USUAL),
    ("POST", "/apirest.php/ITILFollowup", 201, USUAL),
    ("POST", "/api/rest/issues", 201, USUAL),
    ("POST", "issues.json", 201, USUAL),
    ("POST", "/api/now/", 201, USUAL),
    ("GET", "/v2/alerts/requests", 200,
     {"data": {"success": True, "isSuccess": True, "alertId": "9", "status": "Created alert"}}),
    ("*", "/v2/alerts", 202, USUAL),
    ("*", "/tas/api/", 201, {"id": "77", "number": "I-2601-077"}),
    ("*", "/api/v3/botx", 202, {"status": "ok", "result": {"sync_id": "6ba7b811-9dad-11d1-80b4-00c04fd430c8"}}),
    ("POST", "ticket", 201, USUAL),
    ("POST", "connect.signl4.com", 201, {"eventId": "77"}),
    ("POST", "incidents.json", 201, USUAL),
    ("POST", "/api/v4/", 201, USUAL),
    ("POST", "/teams", 200, "1"),
    ("POST", "/workflow", 202, ""),
    ("*", "", 200, USUAL),
]


def files():
    """The reference's media types, as its packages bring them."""
    tree = reference.program("js")[-1].split("/usr/bin/")[0]
    folder = os.path.join(tree, "usr/share/doc/zabbix-frontend-php/templates/media")
    return sorted(glob.glob(os.path.join(folder, "*", "*.yaml")))


def filled(hook, message, tags):
    """Parameters of a webhook as a site has them, for a message about a problem with these tags."""
    macros = {**MACROS, **MESSAGES[message]}
    macros["EVENT.TAGSJSON"] = json.dumps(TAGS + [{"tag": tag, "value": str(value)} for tag, value in tags.items()])

    def value(macro):
        name = macro.group(1)
        if name.startswith("EVENT.TAGS."):
            return str(tags.get(name[len("EVENT.TAGS."):], "*UNKNOWN*"))
        return macros.get(name, macro.group(0))

    found = {}
    for name, stored in ((one["name"], one["value"]) for one in hook["parameters"]):
        if name == "teams_endpoint":
            found[name] = SITE + ("/workflow" if "Workflow" in hook["name"] else "/teams")
        elif name in FILLED:
            found[name] = FILLED[name]
        elif stored.startswith("<"):
            is_address = re.search("(?i)url|api>|web>|endpoint", name + stored)
            found[name] = SITE if is_address else "word-of-" + name
        else:
            found[name] = re.sub(r"\{([A-Z][A-Z0-9._#@a-z-]*)\}", value, stored)
    return found


def returned_tags(said):
    """Tags in what a webhook returned."""
    try:
        return json.loads(said)["tags"]
    except (ValueError, KeyError, TypeError):
        return {}


class MediaTypes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.reference = reference.Reference()
        cls.addClassCleanup(cls.reference.stop)
        cls.server = bed.Server()
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.apis = {"reference": cls.reference.api(), "vedette": cls.server.api()}
        cls.addresses = {"reference": ("127.0.0.1", cls.reference.trapper), "vedette": cls.server.address}
        cls.message = "problem"
        usual = receivers.answers(ROUTES)

        def answer(request):
            return {"refused": (400, '{"error": "no", "errors": ["x"]}'), "garbled": (200, "<html>")}.get(
                cls.message) or usual(request)

        cls.receivers = receivers.Receivers(FOLDER.name, answer)
        cls.addClassCleanup(cls.receivers.stop)
        cls.imported = {}
        rules = {"mediaTypes": {"createMissing": True, "updateExisting": True}}
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for api in cls.apis.values():
                assert api.call("configuration.import", {"format": "yaml", "source": text, "rules": rules}) is True
        for name, api in cls.apis.items():
            found = api.call("mediatype.get", {"output": "extend"})
            cls.imported[name] = {one["name"]: one for one in found}

    def exported(self, server, name):
        ids = [self.imported[server][name]["mediatypeid"]]
        options = {"options": {"mediaTypes": ids}, "format": "json"}
        return self.apis[server].call("configuration.export", options)

    def test_exports_are_those_of_the_reference(self):
        rules = {"mediaTypes": {"createMissing": True, "updateExisting": True}}
        names = [name for name, one in self.imported["reference"].items() if one["type"] == "4"]
        self.assertGreater(len(names), 30)
        for name in names:
            with self.subTest(name):
                first = self.exported("vedette", name)
                theirs = json.loads(self.exported("reference", name))
                self.assertEqual(json.loads(first), theirs)
                options = {"format": "json", "source": first, "rules": rules}
                self.apis["vedette"].call("configuration.import", options)
                self.assertEqual(self.exported("vedette", name), first)

    def test_refusals_are_those_of_the_reference(self):
        for request in ({"data": {"mediatypeid": "1"}}, {"sid": "0" * 32, "data": {"mediatypeid": "1"}}, {"sid": "<own>"},
                        {"sid": "<own>", "data": {}}, {"sid": "<own>", "data": {"mediatypeid": "9999"}}):
            with self.subTest(request):
                answers = []
                for server, api in self.apis.items():
                    own = {"sid": api.token} if request.get("sid") == "<own>" else {}
                    answers.append(bed.send(self.addresses[server], {"request": "alert.send", **request, **own}))
                self.assertEqual(answers[1], answers[0])

    def run_on(self, server, name, parameters):
        """What a webhook returns, and the requests that it sends."""
        api = self.apis[server]
        self.receivers.take()
        data = {"mediatypeid": self.imported[server][name]["mediatypeid"], "parameters": parameters}
        answer = bed.send(self.addresses[server], {"request": "alert.send", "sid": api.token, "data": data})
        # Texts of errors in JSON are the engine's, and where they happened.
        said = answer.get("data", answer.get("info", "")).split("\n")[0]
        said = re.sub("SyntaxError: .*", "SyntaxError", said)
        log = [(line["level"], re.sub("SyntaxError: .*", "SyntaxError", line["message"].split("\n")[0]))
               for line in answer["debug"]["logs"]]
        requests = [request.shown() for request in self.receivers.take()]
        found = {"response": answer["response"], "said": said, "log": log, "requests": requests}
        # Some scripts send the time of day in milliseconds.
        return json.loads(re.sub(r"\b1[789]\d{11}\b", "<now>", json.dumps(found)))

    def test_webhooks_send_what_the_reference_sends(self):
        hooks = {name: one for name, one in self.imported["reference"].items() if one["type"] == "4"}
        self.assertGreater(len(hooks), 30)
        silent, delivered = [], set()
        for name, hook in sorted(hooks.items()):
            tags = {}
            for message in MESSAGES:
                with self.subTest(name, message=message):
                    type(self).message = message
                    parameters = filled(hook, message, tags)
                    theirs = self.run_on("reference", name, parameters)
                    ours = self.run_on("vedette", name, parameters)
                    if message == "problem":
                        tags = returned_tags(theirs["said"])
                    if os.environ.get("SHOW"):
                        print(name, message, theirs["response"], theirs["said"][:150],
                              [(one["method"], one["path"]) for one in theirs["requests"]], flush=True)
                    self.assertEqual(ours, theirs)
                    if message in ("problem", "update", "recovery"):
                        delivered.update([(name, message)] if theirs["response"] == "success" else [])
                        silent += [] if theirs["requests"] else ["%s: %s: %s" % (name, message, theirs["said"])]
        print("%d webhooks, %d messages accepted; without a request: %s" % (len(hooks), len(delivered), silent))
        # A comparison of webhooks that all fail early would show nothing.
        self.assertGreaterEqual(len(delivered), ACCEPTED_LEAST)


#: Messages about problems that the receivers accept.
ACCEPTED_LEAST = 95

FILES = files()

if __name__ == "__main__":
    FOLDER = tempfile.TemporaryDirectory()
    reference.subprocess.run([reference.TOOL, "setup"], check=True, stdout=reference.subprocess.DEVNULL)
    HOSTS = {"receiver.test", "monitor.test"}
    for PATH in FILES:
        with open(PATH, encoding="utf-8") as FILE:
            HOSTS.update(NAMES.findall(FILE.read()))
    receivers.enter(HOSTS, FOLDER.name)
    bed.main()
