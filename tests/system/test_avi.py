#!/usr/bin/env python3
"""The Avi API of a running server: what its clients send, over HTTP, beside the JSON-RPC API and the UI."""

import base64
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import aviclient  # noqa: E402
import bed  # noqa: E402

# Defaults that Terraform sends with each object.
POOL_DEFAULTS = {
    "append_port": "NON_DEFAULT_80_443", "capacity_estimation": False, "connection_ramp_duration": 10,
    "default_server_port": 80, "enabled": True, "graceful_disable_timeout": 1,
    "graceful_hm_down_disable_timeout": -1, "inline_health_monitor": True, "lb_algorithm_core_nonaffinity": 2,
    "lb_algorithm_hash": "LB_ALGORITHM_CONSISTENT_HASH_SOURCE_IP_ADDRESS", "pool_type": "POOL_TYPE_GENERIC_APP",
    "request_queue_depth": 128, "server_disable_type": "DISALLOW_NEW_CONNECTION", "sni_enabled": True,
}


def server(port, **more):
    return dict({"ip": {"addr": "127.0.0.1", "type": "V4"}, "port": port}, **more)


class AviApi(bed.Case):
    def setUp(self):
        super().setUp()
        self.avi = aviclient.AviClient(self.server.http)
        self.assertEqual(self.avi.sign_in("Admin", bed.PASSWORD), 200)

    def expect(self, status, method, path, body=None, **more):
        found, shown = self.avi.send(method, path, body, **more)
        self.assertEqual(found, status, shown)
        return shown

    def test_sign_in(self):
        login = self.avi.login
        self.assertEqual(login["version"]["Version"], "30.2.1")
        self.assertEqual(self.avi.cookies["avi-sessionid"], self.avi.cookies[login["session_cookie_name"]])
        self.expect(200, "GET", "/api/cluster/version")
        self.expect(403, "POST", "/api/pool", {"name": "p"}, headers={"X-CSRFToken": "other"})
        self.expect(404, "GET", "/api/pool", headers={"X-Avi-Tenant": "other"})
        self.assertEqual(self.avi.send("POST", "/logout")[0], 200)
        self.assertFalse(self.avi.cookies["avi-sessionid"])
        self.expect(401, "GET", "/api/pool")
        stranger = aviclient.AviClient(self.server.http)
        self.assertEqual(stranger.send("GET", "/api/initial-data")[0], 200)
        self.assertEqual(stranger.send("GET", "/api/pool")[0], 401)
        self.assertEqual(stranger.sign_in("Admin", bed.PASSWORD, form=False), 200)
        stranger.cookies = {}
        pair = base64.b64encode(("Admin:" + bed.PASSWORD).encode()).decode()
        self.assertEqual(stranger.send("GET", "/api/pool", headers={"Authorization": "Basic " + pair})[0], 200)
        # The addresses of the JSON-RPC API and the UI are the same as before.
        self.assertTrue(bed.Api(self.server.url).call("apiinfo.version", []).startswith("7.0."))
        self.assertEqual(stranger.send("GET", "/api/history/range")[0], 405)
        self.assertEqual(stranger.send("POST", "/login", "{", {"Content-Type": "application/json"})[0], 401)

    def test_failed_sign_ins_block_the_account(self):
        self.server.api().call("user.create", username="guessed", passwd="Pa55word-x", roleid="2",
                               usrgrps=[{"usrgrpid": "7"}])
        stranger = aviclient.AviClient(self.server.http)
        for _ in range(5):
            self.assertEqual(stranger.sign_in("guessed", "wrong"), 401)
        self.assertEqual(stranger.sign_in("guessed", "Pa55word-x"), 401, "the account is blocked")

    def test_objects(self):
        api = self.server.api()
        pool = dict(POOL_DEFAULTS, name="p1", lb_algorithm="LB_ALGORITHM_ROUND_ROBIN",
                    servers=[server(8080, enabled=True, ratio=1, static=False)])
        created = self.expect(201, "POST", "/api/pool", pool)
        path = "/api/pool/" + created["uuid"]
        # Terraform compares what it has sent with this response.
        read = self.expect(200, "GET", path + "?skip_default=true")
        self.assertEqual({name: read[name] for name in pool}, pool)
        # Ansible looks an object up by name and sends only its own members.
        found = self.expect(200, "GET", "/api/pool?include_refs=&include_name=&name=p1")
        self.assertEqual((found["count"], found["results"][0]["uuid"]), (1, created["uuid"]))
        changed = self.expect(200, "PUT", path, {"name": "p1", "lb_algorithm": "LB_ALGORITHM_LEAST_CONNECTIONS",
                                                 "servers": [server(8080), server(8081)]})
        self.assertEqual(len(changed["servers"]), 2)
        # avisdk sends the object that it has read, with its version.
        self.expect(200, "PUT", path, dict(changed, enabled=False))
        self.expect(412, "PUT", path, dict(changed, enabled=True))
        self.expect(200, "PATCH", path, {"replace": {"enabled": True}})
        self.expect(200, "PATCH", path, {"delete": {"servers": [server(8081)]}})
        vip = {"vip_id": "1", "ip_address": {"addr": "127.0.0.1", "type": "V4"}}
        vip = self.expect(201, "POST", "/api/vsvip", {"name": "v1", "vip": [vip]})
        monitor = {"name": "m1", "type": "HEALTH_MONITOR_HTTP", "http_monitor": {
            "http_request": "GET /health HTTP/1.1", "http_response_code": ["HTTP_2XX"]}}
        monitor = self.expect(201, "POST", "/api/healthmonitor", monitor)
        self.expect(200, "PATCH", path, {"add": {"health_monitor_refs": [monitor["url"]]}})
        rule = {"index": 1, "name": "r", "enable": True,
                "match": {"path": {"match_criteria": "BEGINS_WITH", "match_str": ["/old/"]}},
                "redirect_action": {"protocol": "HTTPS"}}
        policy = {"name": "s1", "http_request_policy": {"rules": [rule]}}
        policy = self.expect(201, "POST", "/api/httppolicyset", policy)
        service = {"name": "vs1", "pool_ref": "/api/pool?name=p1", "vsvip_ref": vip["url"],
                   "http_policies": [{"index": 1, "http_policy_set_ref": policy["url"]}],
                   "services": [{"port": bed.free_port()}, {"port": bed.free_port()}]}
        service = self.expect(201, "POST", "/api/virtualservice", service)
        rows = api.call("virtualservice.get", output=["name", "rules"], sortfield="name")
        self.assertEqual([row["name"] for row in rows], ["vs1", "vs1 (%d)" % service["services"][1]["port"]])
        self.assertEqual(rows[0]["rules"][0]["if"], {"path_prefix": "/old/"})
        # Errors name the member, or the object that is in the way.
        error = self.expect(400, "POST", "/api/pool", {"name": "p2", "fail_action": {"type": "FAIL_ACTION_HTTP_RSP"}})
        self.assertIn("fail_action", error["error"])
        self.expect(409, "POST", "/api/pool", {"name": "p1"})
        error = self.expect(412, "DELETE", path)
        self.assertIn("vs1", error["error"])
        self.expect(400, "POST", "/api/pool", "{")
        self.expect(404, "GET", "/api/pool/pool-1")
        # UUIDs and objects survive a restart.
        self.server.stop()
        self.server.start()
        self.assertEqual(self.avi.sign_in("Admin", bed.PASSWORD, form=False), 200)
        again = self.expect(200, "GET", "/api/virtualservice/" + service["uuid"])
        self.assertEqual(again, service)
        for one in (service, policy, vip, created, monitor):
            kind = one["uuid"].split("-")[0]
            self.expect(204, "DELETE", "/api/%s/%s" % (kind, one["uuid"]))
        for kind in ("virtualservice", "vip", "pool", "healthmonitor"):
            self.assertEqual(self.server.api().call(kind + ".get"), [])


if __name__ == "__main__":
    bed.main()
