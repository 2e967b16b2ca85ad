#!/usr/bin/env python3
"""Kerberos with MIT's key distribution center and Apache: HTTP agent items, web scenarios, scripts."""

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import kerberos  # noqa: E402
import webpeer  # noqa: E402

KERBEROS = 3


class Kerberos(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.realm = kerberos.Realm()
        cls.addClassCleanup(cls.realm.stop)
        cls.server = cls.launched(KRB5_CLIENT_KTNAME=cls.realm.path("monitor.keytab"))
        cls.api = cls.server.api()

    @classmethod
    def launched(cls, **environment):
        """A server whose cache of tickets is empty, or as `environment` says."""
        server = bed.Server()
        cache = {"KRB5CCNAME": "FILE:%s/cache" % server.folder, "KRB5_CLIENT_KTNAME": "/nowhere"}
        server.environment = cls.realm.environment(**dict(cache, **environment))
        cls.addClassCleanup(server.clean)
        server.start()
        return server

    @staticmethod
    def ask(server, token, item):
        data = {"item": item, "host": {"hostid": "0"}, "options": {"single": False, "state": 0}}
        answer = bed.send(server.address, {"request": "item.test", "sid": token, "data": data}, timeout=90)
        item = answer["data"]["item"]
        return item.get("result", item.get("error"))

    def web(self, url, server=None, **case):
        """What an HTTP agent item gets."""
        server = server or self.server
        token = self.api.token if server is self.server else server.api().token
        return self.ask(server, token, kerberos.web_item(url, **case))

    def script(self, call, server=None):
        server = server or self.server
        token = self.api.token if server is self.server else server.api().token
        return self.ask(server, token, kerberos.script_item(call))

    def test_http_items(self):
        """Name and password of the item do not count; the ticket is in the first request, with the body."""
        realm, web, mark = self.realm, self.realm.web, self.realm.mark()
        user = "monitor@" + kerberos.REALM
        self.assertEqual(self.web(realm.url(mark=mark)), "secret")
        self.assertEqual(self.web(realm.url(mark=mark), posts="text", request_method=1), "secret")
        self.assertEqual(self.web(realm.url("/open", mark=mark)), "open")
        self.assertEqual([request[:5] for request in realm.seen(mark, 3)], [
            (web, user, 200, "GET /secret", True), (web, user, 200, "POST /secret", True),
            (web, "-", 200, "GET /open", True)])
        # Without the ticket the page is closed.
        self.assertIn('Response code "401"', self.web(realm.url(), authtype=0))
        both = self.web(realm.url(), retrieve_mode=2)
        self.assertIn("X-User: monitor@", both)
        self.assertIn("WWW-Authenticate: Negotiate", both)

    def test_connections_are_the_user_s(self):
        """The server takes all of a connection as the user's: nobody else's requests go over it."""
        realm, mark = self.realm, self.realm.mark()
        for _ in range(3):
            self.assertEqual(self.web(realm.url("/bound", mark=mark)), "bound")
        self.assertIn('Response code "401"', self.web(realm.url("/bound", mark=mark), authtype=0))
        seen = realm.seen(mark, 4)
        self.assertEqual([request[2] for request in seen], [200, 200, 200, 401])
        self.assertNotIn(seen[-1][5], {request[5] for request in seen[:-1]})

    def test_redirects(self):
        """The same server gets a ticket again, another one gets none."""
        realm = self.realm
        for ask in (self.web, lambda url: self.script("get('%s')" % url)):
            for path, text, told in (
                    ("/near", "secret", [(realm.web, 302, True), (realm.web, 200, True)]),
                    ("/away", "open", [(realm.web, 302, True), (realm.other, 200, False)]),
                    ("/abroad", "401", [(realm.web, 302, True), (realm.other, 401, False)])):
                mark = realm.mark()
                self.assertIn(text, ask(realm.url(path, mark=mark)))
                seen = [(port, status, proof) for port, _, status, _, proof, _ in realm.seen(mark, 2)]
                self.assertEqual(seen, told, path)

    def test_scripts(self):
        realm, mark = self.realm, self.realm.mark()
        self.assertEqual(self.script("get('%s')" % realm.url(mark=mark)), "secret")
        self.assertEqual(self.script("post('%s', 'text')" % realm.url(mark=mark)), "secret")
        self.assertEqual(self.script("get('%s')" % realm.url("/open", mark=mark)), "open")
        self.assertEqual([request[2:5] for request in realm.seen(mark, 3)], [
            (200, "GET /secret", True), (200, "POST /secret", True), (200, "GET /open", True)])

    def test_scenarios_and_items_are_polled(self):
        realm = self.realm
        hostid, ids = self.host("kerberized", [
            {"key_": "page", "type": 19, "value_type": 4, "delay": "1s", "authtype": KERBEROS,
             "url": realm.url(), "username": "somebody", "password": "wrong"},
            {"key_": "script", "type": 21, "value_type": 4, "delay": "1s",
             "params": kerberos.SCRIPT % ("get('%s')" % realm.url())}])
        steps = [{"name": "page", "no": 1, "url": realm.url(), "status_codes": "200", "required": "^secret$"},
                 {"name": "again", "no": 2, "url": realm.url("/near"), "status_codes": "200",
                  "required": "^secret$"}]
        self.api.call("httptest.create", hostid=hostid, name="in", delay="1s", steps=steps,
                      authentication=KERBEROS, http_user="somebody", http_password="wrong")

        expected = {"page", "script", "web.test.fail[in]", "web.test.rspcode[in,again]"}

        def values():
            found = {item["key_"]: item["lastvalue"] for item in self.api.call(
                "item.get", hostids=hostid, webitems=True, output=["key_", "lastvalue", "lastclock"])
                if item["lastclock"] != "0"}
            return found if expected <= set(found) else None
        found = bed.wait_for("values of all items", values)
        self.assertEqual((found["page"], found["script"]), ("secret", "secret"))
        self.assertEqual((found["web.test.fail[in]"], found["web.test.rspcode[in,again]"]), ("0", "200"))
        self.assertNotIn("web.test.error[in]", found)
        self.api.call("host.delete", [hostid])

    def test_a_ticket_of_a_person(self):
        """A cache that somebody filled, no keytab."""
        cache = self.realm.path("cache")
        self.realm.ticket(cache)
        server = self.launched(KRB5CCNAME="FILE:" + cache)
        self.assertEqual(self.web(self.realm.url(), server), "secret")

    def test_what_is_wrong_is_said(self):
        realm = self.realm
        none = self.launched()
        wrong = self.launched(KRB5_CLIENT_KTNAME=realm.path("stranger.keytab"))
        dead = self.launched(KRB5_CLIENT_KTNAME=realm.path("monitor.keytab"),
                             KRB5_CONFIG=realm.path("dead.conf"))
        address = realm.url(host="127.0.0.1")
        unknown = realm.url(host="127.0.0.2")
        for server, url, texts in (
                (none, realm.url(), ("no Kerberos ticket for HTTP@localhost", "KRB5_CLIENT_KTNAME")),
                (wrong, realm.url(), ("no Kerberos ticket for", "export it again")),
                (dead, realm.url(), ("Cannot contact any KDC for realm", "krb5.conf")),
                (self.server, unknown, ("HTTP/127.0.0.2@", "not found in Kerberos database", "the URL has to")),
                (self.server, address, ("HTTP@127.0.0.1 rejects the Kerberos ticket", "keytab"))):
            for error in (self.web(url, server), self.script("get('%s')" % url, server)):
                for text in texts:
                    self.assertIn(text, error)
        # Pages for everybody are still there.
        self.assertEqual(self.web(realm.url("/open"), none), "open")
        self.assertEqual(self.script("get('%s')" % realm.url("/open"), none), "open")

    def test_a_silent_key_distribution_center_delays_no_other_item(self):
        """It takes connections and says nothing: requests for a ticket fail in time, other centers are used."""
        center = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.addCleanup(center.close)
        silent = self.realm.path("silent.conf")
        with open(silent, "w") as f:
            f.write(kerberos.KRB5.format(realm=kerberos.REALM, kdc=center.getsockname()[1]))
        server = self.launched(KRB5_CLIENT_KTNAME=self.realm.path("monitor.keytab"), KRB5_CONFIG=silent)
        late = self.web(self.realm.url(), server, timeout="1s")
        self.assertIn("Kerberos has no ticket yet, its key distribution center may not answer", late)
        peer = webpeer.WebPeer()
        self.addCleanup(peer.stop)
        api = server.api()
        group = api.call("hostgroup.create", name="Test")["groupids"][0]
        hostid = api.call("host.create", host="half", groups=[{"groupid": group}])["hostids"][0]
        item = {"hostid": hostid, "type": 19, "value_type": 4, "delay": "1s"}
        waiting = [dict(item, name=str(n), key_="waiting%d" % n, url=self.realm.url("/%d" % n),
                        authtype=KERBEROS, timeout="2s") for n in range(200)]
        api.call("item.create", waiting)
        living = api.call("item.create", dict(item, name="l", key_="living", url=peer.url("/hello")))["itemids"]

        def values():
            errors = api.call("item.get", hostids=hostid, filter={"state": 1}, output=["error"])
            count = api.call("history.get", itemids=living, history=4, countOutput=True)
            return errors if len(errors) > 50 and int(count) >= 5 else None
        errors = bed.wait_for("values of the living and errors of the others", values)
        for error in errors:
            self.assertIn("Kerberos", error["error"])


if __name__ == "__main__":
    bed.main()
