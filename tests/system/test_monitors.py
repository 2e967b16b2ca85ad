#!/usr/bin/env python3
"""Health monitors of pools: several of them, programs and ICMP, their reasons, and problems and maintenance of
the monitored hosts that servers are."""

import http.client
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = self.server.name.encode()
        self.send_response(self.server.status if self.path == "/health" else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def backend(case, name):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.name, server.status = name, 200
    threading.Thread(target=server.serve_forever, daemon=True).start()
    case.addCleanup(server.server_close)
    case.addCleanup(server.shutdown)
    return server


def answer(port):
    """The name of the server that responds; the status of other responses than 200."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        client.request("GET", "/")
        response = client.getresponse()
        text = response.read().decode()
        return text if response.status == 200 else response.status
    except OSError:
        return None
    finally:
        client.close()


FAST = {"interval": "50ms", "timeout": "10s", "up": 1, "down": 1}


class FromFile(bed.unittest.TestCase):
    """An engine that runs from a file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.port = folder.name, bed.free_port()
        self.server = backend(self, "app")

    def write(self, health, **members):
        pool = {
            "name": "app", "health": health, "eject": {"failures": 0},
            "servers": [{"name": "a", "address": "127.0.0.1:%d" % self.server.server_address[1]}]}
        pool.update(members.pop("pool", {}))
        config = {
            "threads": 1, "pools": [pool],
            "virtual_services": [
                {"name": "web", "type": "http", "listen": "127.0.0.1:%d" % self.port, "pool": "app",
                 "timeouts": {"queue": "100ms"}}], **members}
        path = os.path.join(self.folder, "lb.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path

    def start(self, health, **members):
        path = self.write(health, **members)
        self.log = os.path.join(self.folder, "engine.log")
        with open(self.log, "wb") as log:
            engine = subprocess.Popen(
                [bed.BINARY, "engine", "--config", path], stderr=log, stdout=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.terminate)
        bed.wait_for("the engine to listen", lambda: bed.listens(self.port))

    def check(self, health, **members):
        """What is wrong with a configuration."""
        run = subprocess.run(
            [bed.BINARY, "engine", "check", "--config", self.write(health, **members)],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode != 0, run.stderr != "", run.stderr)
        return run.stderr

    def wait_for_log(self, *texts):
        def text():
            with open(self.log, encoding="utf-8") as log:
                return log.read()
        try:
            bed.wait_for("the log: %s" % (texts,), lambda: all(part in text() for part in texts))
        except AssertionError as error:
            raise AssertionError("%s\nThe log has:\n%s" % (error, text())) from None

    def test_all_monitors_or_a_number_of_them_must_pass(self):
        tcp, web = dict(FAST, type="tcp"), dict(FAST, type="http", name="web", path="/health")
        self.start([tcp, web])
        bed.wait_for("the server", lambda: answer(self.port) == "app")
        self.server.status = 503
        self.wait_for_log("server a is down: web: status 503 instead of 200")
        self.assertEqual(answer(self.port), 503)
        self.server.status = 200
        self.wait_for_log("server a is up")
        bed.wait_for("the server", lambda: answer(self.port) == "app")

    def test_one_of_two_monitors_is_enough(self):
        tcp, web = dict(FAST, type="tcp"), dict(FAST, type="http", name="web", path="/health")
        self.server.status = 500
        self.start([tcp, web], pool={"min_monitors": 1})
        self.wait_for_log("server a fails web: status 500 instead of 200")
        self.assertEqual(answer(self.port), "app")

    def script(self, text):
        folder = os.path.join(self.folder, "scripts")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "check.sh")
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path + ".new", 0o755)
        os.rename(path + ".new", path)
        return folder

    def test_a_program_decides_with_its_exit_status(self):
        health = dict(FAST, type="script", script={"program": "check.sh", "parameters": {"user": "me"}})
        folder = self.script("exit 0")
        for members, part in (({}, "no folder of programs"), ({"monitor_scripts": self.folder}, "No such file")):
            self.assertIn(part, self.check(health, **members))
        self.assertEqual(self.check(health, monitor_scripts=folder), "")
        self.script('echo "$1 $2 $MONITOR_USER has no space" >&2; exit 3')
        self.start(health, monitor_scripts=folder)
        port = self.server.server_address[1]
        self.wait_for_log("server a is down: script: exit status: 3: 127.0.0.1 %d me has no space" % port)
        self.script("exit 0")
        self.wait_for_log("server a is up")
        # What cannot be run says nothing about the server. The file stays: a shell that has just been started for
        # it still has to open it.
        os.chmod(os.path.join(folder, "check.sh"), 0o644)
        self.wait_for_log("monitor script cannot run; servers keep their state")
        self.assertEqual(answer(self.port), "app")

    def test_icmp_works_or_is_refused_with_a_reason(self):
        health = dict(FAST, type="icmp")
        problem = self.check(health)
        if problem:
            self.assertIn("ping_group_range", problem)
            return
        # Up needs both decisions; the server is in use until then, so the log tells.
        self.server.status = 503
        self.start([health, dict(FAST, type="http", name="web", path="/health")])
        self.wait_for_log("server a is down: web: status 503 instead of 200")
        self.server.status = 200
        self.wait_for_log("server a is up")


class UnderTheServer(bed.Case):
    """An engine under the server."""

    engines = bed.free_port()
    arguments = ("--engines", "127.0.0.1:%d" % engines)

    def create(self, kind, **members):
        found = self.api.call(kind + ".create", **members)
        return next(iter(found.values()))[0]

    def run_engine(self, group):
        engine = self.create("engine", name="lb-1", enginegroupid=group)
        made, = self.api.call("engine.generate", [engine])
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        environment = dict(os.environ, VEDETTE_ENGINE_TOKEN=made["token"])
        running = subprocess.Popen(
            [bed.BINARY, "engine", "--controller", "127.0.0.1:%d" % self.engines, "--data", folder.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        return engine

    def health(self, pool):
        """Servers of the pool by name."""
        found, = self.api.call("pool.health", poolids=[pool])
        return {server["name"]: server for server in found["servers"]}

    def send(self, value):
        return bed.send(self.server.address, {"request": "sender data", "data": [
            {"host": "app1", "key": "load", "value": str(value)}]})["info"]

    def test_api_shows_reasons_and_hosts_disable_servers(self):
        first, second = backend(self, "one"), backend(self, "two")
        hostid, _ = self.host("app1", [{"key_": "load", "type": 2, "value_type": 3}])
        self.api.call("trigger.create", {
            "description": "High load", "priority": 4, "expression": "last(/app1/load)>5"})
        fast = {"interval": "200ms", "timeout": "10s", "up": 1, "down": 1}
        web = self.create("healthmonitor", name="web", type="http", path="/health", **fast)
        tcp = self.create("healthmonitor", name="tcp", type="tcp", **fast)
        load = self.create("healthmonitor", name="load", type="trigger", trigger_filter={"min_severity": 4})
        servers = [
            {"name": name, "address": "127.0.0.1", "port": server.server_address[1], "hostid": host}
            for name, server, host in (("s1", first, hostid), ("s2", second, "0"))]
        pool = self.create(
            "pool", name="app", servers=servers, healthmonitorid=web, host_maintenance="drain",
            further_monitors=[{"healthmonitorid": one} for one in (tcp, load)])
        # A monitor that is not the first one is in use, too.
        with self.assertRaisesRegex(bed.ApiError, "used by pool"):
            self.api.call("healthmonitor.delete", [tcp])
        self.assertEqual(self.health(pool)["s1"]["state"], "unknown")
        group = self.create("enginegroup", name="edge")
        vip = self.create("vip", name="loopback", ipv4="127.0.0.1")
        port = bed.free_port()
        self.create("virtualservice", name="web", port=port, enginegroupid=group, vipid=vip, poolid=pool)
        self.run_engine(group)
        bed.wait_for("both servers", lambda: {answer(port) for _ in range(4)} == {"one", "two"})
        first.status = 503
        bed.wait_for("the failure", lambda: {answer(port) for _ in range(8)} == {"two"})
        bed.wait_for("the report", lambda: self.health(pool)["s1"]["state"] == "down")

        def monitors():
            engine, = self.health(pool)["s1"]["engines"]
            return [(one["name"], one["result"], one["reason"]) for one in engine["monitors"]]
        expected = [("web", "fails", "status 503 instead of 200"), ("tcp", "passes", "")]
        bed.wait_for("the results of all monitors", lambda: monitors() == expected)
        found = self.health(pool)["s1"]
        engine, = found["engines"]
        for one in engine["monitors"]:
            self.assertLess(abs(int(one["changed_at"]) - time.time()), 600)
            self.assertGreaterEqual(int(one["checked_at"]), int(one["changed_at"]))
        checks = {one["name"]: one["result"] for one in found["host_checks"]}
        self.assertEqual(checks, {"maintenance": "passes", "load": "passes"})
        self.assertEqual(self.health(pool)["s2"]["host_checks"], [])
        first.status = 200
        bed.wait_for("the return", lambda: {answer(port) for _ in range(8)} == {"one", "two"})
        # A problem of the host takes its server out of use until it is resolved.
        bed.wait_for("the value", lambda: "failed: 0" in self.send(9))
        bed.wait_for("the problem", lambda: {answer(port) for _ in range(8)} == {"two"})
        found = self.health(pool)["s1"]
        self.assertEqual(found["host_effect"], "down")
        self.assertIn("problem: High load", [one["reason"] for one in found["host_checks"]])
        self.send(1)
        bed.wait_for("the recovery", lambda: {answer(port) for _ in range(8)} == {"one", "two"})
        # So does maintenance.
        now = int(time.time())
        self.api.call(
            "maintenance.create", name="patches", active_since=now - 600, active_till=now + 3600,
            hosts=[{"hostid": hostid}],
            timeperiods=[{"timeperiod_type": 0, "start_date": now - 600, "period": 3600}])
        bed.wait_for("maintenance", lambda: self.health(pool)["s1"]["host_effect"] == "drain")
        bed.wait_for("the drain", lambda: {answer(port) for _ in range(8)} == {"two"})


if __name__ == "__main__":
    bed.main()
