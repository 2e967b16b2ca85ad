#!/usr/bin/env python3
"""Services that are created in the server, run by an engine."""

import contextlib
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


def has_ipv6():
    """Whether this machine has the address ::1."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.paths.append(self.path)
        text = ("%s %s %s" % (self.server.name, self.path, self.headers["X-Forwarded-Proto"])).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class LoadBalancer(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.backends = {}
        cls.folder = folder.name
        cls.cert, cls.key = (os.path.join(cls.folder, name) for name in ("www.pem", "www.key"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=www.example.com", "-addext", "subjectAltName=DNS:www.example.com", "-days", "30",
             "-keyout", cls.key, "-out", cls.cert], check=True, capture_output=True)

    def backend(self, name, port=None):
        """On a port that no connection takes while it is closed."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port or bed.free_port()), Backend)
        server.name, server.paths = name, []
        self.backends[name] = server
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_address[1]

    def create(self, kind, **members):
        found = self.api.call(kind + ".create", **members)
        return next(iter(found.values()))[0]

    def pool(self, name, monitor):
        server = {"name": name + "-1", "address": "127.0.0.1", "port": self.backend(name)}
        return self.create("pool", name=name, servers=[server], healthmonitorid=monitor)

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def services(self):
        """Two services on one VIP, without and with TLS; returns their group, ports and pools."""
        group = self.create("enginegroup", name="edge")
        vip = self.create("vip", name="loopback", ipv4="127.0.0.1", ipv6="::1" if has_ipv6() else "")
        monitor = self.create("healthmonitor", name="path", type="http", path="/health", interval="200ms", timeout="10s")
        app, api = self.pool("app", monitor), self.pool("api", monitor)
        certificate = self.create(
            "certificate", name="www", certificate=self.read(self.cert), private_key=self.read(self.key))
        plain, tls = bed.free_port(), bed.free_port()
        rules = [{"if": {"path_prefix": "/api/"}, "then": {"poolid": api}},
                 {"if": {"path": "/old"}, "then": {"redirect": {"status": 301, "location": "https://{host}/"}}}]
        common = {"enginegroupid": group, "vipid": vip, "poolid": app, "rules": rules}
        limit = {"by": "header", "name": "X-Key", "requests": 5, "per": "1m"}
        self.create("virtualservice", name="plain", port=plain, rate_limit=limit, **common)
        self.create("virtualservice", name="tls", port=tls, certificates=[{"certificateid": certificate}], **common)
        return group, (plain, tls), (app, api)

    def configuration(self, group):
        """What the group should run, with the private key that the API hides."""
        found, = self.api.call("enginegroup.configuration", enginegroupids=[group])
        shown = found["configuration"]["certificates"][0]
        self.assertEqual(shown["key"], "******")
        shown["key"] = self.read(self.key)
        return found["hash"], found["configuration"]

    def write(self, configuration):
        path = os.path.join(self.folder, "lb.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(configuration, file)
        return path

    def get(self, port, path, tls=False, host="127.0.0.1"):
        context = ssl.create_default_context(cafile=self.cert) if tls else None
        connection = socket.create_connection((host, port), 30)
        if context:
            connection = context.wrap_socket(connection, server_hostname="www.example.com")
        client = http.client.HTTPConnection("www.example.com")
        client.sock = connection
        try:
            client.request("GET", path)
            response = client.getresponse()
            return response.status, response.read().decode()
        finally:
            client.close()

    def test_an_engine_runs_what_the_api_has_created(self):
        group, (plain, tls), (_, api) = self.services()
        before, configuration = self.configuration(group)
        limits = [service.get("rate_limit") for service in configuration["virtual_services"]]
        self.assertEqual(
            limits, [{"by": "header", "name": "X-Key", "requests": 5, "per": "1m", "status": 429}, None])
        path = self.write(configuration)
        check = subprocess.run(
            [bed.BINARY, "engine", "check", "--config", path], capture_output=True, text=True, check=False)
        self.assertEqual(check.returncode, 0, check.stderr)
        engine = subprocess.Popen(
            [bed.BINARY, "engine", "--config", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.terminate)
        bed.wait_for("the engine to listen", lambda: bed.listens(tls))
        bed.wait_for("the servers to be up", lambda: self.get(plain, "/")[0] == 200)
        self.assertEqual(self.get(plain, "/x"), (200, "app /x http"))
        if has_ipv6():
            self.assertEqual(self.get(plain, "/x", host="::1"), (200, "app /x http"))
        self.assertEqual(self.get(tls, "/api/x", tls=True), (200, "api /api/x https"))
        self.assertEqual(self.get(tls, "/old", tls=True)[0], 301)
        # A change in the server, applied without a restart.
        server = {"name": "new", "address": "127.0.0.1", "port": self.backend("new")}
        change = {"poolid": api, "servers": [server]}
        touched = self.api.call("enginegroup.compare", {"method": "pool.update", "params": change})
        self.assertEqual([one["name"] for one in touched], ["plain", "tls"])
        self.assertEqual(self.configuration(group)[0], before)
        self.api.call("pool.update", **change)
        after, configuration = self.configuration(group)
        self.assertNotEqual(after, before)
        self.write(configuration)
        engine.send_signal(signal.SIGHUP)
        bed.wait_for("the new server", lambda: self.get(plain, "/api/")[1].startswith("new "))


class Policies(LoadBalancer):
    """Compression, mirrors, and authentication with secrets that the API hides."""

    # That of the class above.
    test_an_engine_runs_what_the_api_has_created = None

    def test_responses_are_compressed_for_users_with_a_password(self):
        group = self.create("enginegroup", name="staff")
        vip = self.create("vip", name="staff", ipv4="127.0.0.2")
        servers = [{"name": "staff-1", "address": "127.0.0.1", "port": self.backend("staff")}]
        pool, port = self.create("pool", name="staff", servers=servers), bed.free_port()
        hashed = subprocess.run(
            ["openssl", "passwd", "-6", "secret"], check=True, capture_output=True, text=True).stdout.strip()
        service = self.create(
            "virtualservice", name="staff", enginegroupid=group, vipid=vip, poolid=pool, port=port,
            authentication={"require": "staff", "basic": [{"name": "staff", "users": {"alice": hashed}}]},
            compression={"algorithms": ["gzip"], "types": ["text/*"], "min_length": 1},
            rules=[{"if": {"path": "/open"}, "then": {"authentication": "none"}}])
        found, = self.api.call("enginegroup.configuration", enginegroupids=[group])
        self.assertNotIn(hashed, json.dumps(found))
        shown, = self.api.call("virtualservice.get", virtualserviceids=[service], output=["authentication"])
        users = shown["authentication"]["basic"][0]["users"]
        self.assertEqual(users, {"alice": "******"})
        self.assertNotIn(hashed, json.dumps(self.api.call("auditlog.get", output="extend")))
        configuration = found["configuration"]
        configuration["virtual_services"][0]["authentication"]["basic"][0]["users"] = {"alice": hashed}
        engine = subprocess.Popen(
            [bed.BINARY, "engine", "--config", self.write(configuration)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.terminate)
        url = "http://127.0.0.2:%d" % port
        curl = ["curl", "-s", "-i", "--max-time", "20", "--compressed"]

        def get(path, *more):
            done = subprocess.run([*curl, *more, url + path], capture_output=True, text=True, check=False)
            return done.stdout.partition("\n\n")

        bed.wait_for("the service", lambda: " 200 " in get("/open")[0])
        head, _, _ = get("/")
        self.assertIn(" 401 ", head)
        self.assertIn('WWW-Authenticate: Basic realm="staff"', head)
        self.assertIn(" 401 ", get("/", "-u", "alice:wrong")[0])
        head, _, body = get("/", "-u", "alice:secret")
        self.assertIn("Content-Encoding: gzip", head)
        self.assertEqual(body, "staff / http")

    def test_a_percentage_of_the_requests_is_copied_to_another_pool(self):
        group = self.create("enginegroup", name="mirror")
        vip = self.create("vip", name="mirror", ipv4="127.0.0.1")
        pools = []
        for name in ("live", "shadow"):
            servers = [{"name": name, "address": "127.0.0.1", "port": self.backend(name)}]
            pools.append(self.create("pool", name=name, servers=servers))
        live, shadow = pools
        port = bed.free_port()
        service = self.create(
            "virtualservice", name="mirror", enginegroupid=group, vipid=vip, poolid=live, port=port,
            mirror={"poolid": shadow, "percent": 12.5},
            rules=[{"if": {"path_prefix": "/all/"}, "then": {"mirror": {"poolid": shadow}}}])
        shown, = self.api.call("virtualservice.get", virtualserviceids=[service], output=["mirror"])
        self.assertEqual(shown["mirror"], {"poolid": shadow, "percent": 12.5})
        found, = self.api.call("enginegroup.configuration", enginegroupids=[group])
        engine = subprocess.Popen(
            [bed.BINARY, "engine", "--config", self.write(found["configuration"])],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.terminate)
        bed.wait_for("the engine to listen", lambda: bed.listens(port))
        sent = ["/%d" % number for number in range(400)]
        for path in sent:
            self.assertEqual(self.get(port, path), (200, "live %s http" % path))
        always = ["/all/%d" % number for number in range(3)]
        for path in always:
            self.assertEqual(self.get(port, path)[0], 200)
        copies = self.backends["shadow"].paths
        # Expected are 50 with a standard deviation of 6.6.
        bed.wait_for("the copies", lambda: set(always) <= set(copies) and len(copies) >= 10)
        self.assertLessEqual(set(copies), {*sent, *always})
        self.assertLessEqual(len(copies), 110)


    def test_a_script_chooses_a_pool_and_a_failed_one_is_recorded(self):
        group = self.create("enginegroup", name="script")
        host = "127.0.0.3"
        vip = self.create("vip", name="script", ipv4=host)
        pools = []
        for name in ("stable", "canary"):
            servers = [{"name": name, "address": "127.0.0.1", "port": self.backend(name)}]
            pools.append(self.create("pool", name=name, servers=servers))
        port = bed.free_port()
        script = {"request": 'if (request.path === "/bad") missing();\n'
                             'if (request.parameter("v") === "2") request.forward("canary");',
                  "pools": [{"poolid": pools[1]}], "timeout": "50ms"}
        service = {"name": "script", "enginegroupid": group, "vipid": vip, "poolid": pools[0], "port": port}
        with self.assertRaisesRegex(Exception, "line 1, column 5: SyntaxError"):
            self.create("virtualservice", **service, rules=[{"then": {"script": {"request": "if ()"}}}])
        self.create("virtualservice", **service, rules=[{"then": {"script": script}}])
        with self.assertRaisesRegex(Exception, "script"):
            self.api.call("pool.delete", [pools[1]])
        found, = self.api.call("enginegroup.configuration", enginegroupids=[group])
        records = os.path.join(self.folder, "records")
        configuration = dict(found["configuration"], transactions={"folder": records})
        engine = subprocess.Popen(
            [bed.BINARY, "engine", "--config", self.write(configuration)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.terminate)

        def get(path):
            try:
                return self.get(port, path, host=host)
            except OSError:
                return None

        bed.wait_for("the engine to listen", lambda: get("/"))
        self.assertEqual(get("/a?v=1"), (200, "stable /a?v=1 http"))
        self.assertEqual(get("/a?v=2"), (200, "canary /a?v=2 http"))
        self.assertEqual(get("/bad")[0], 500)

        def ends():
            command = [bed.BINARY, "transactions", "--folder", records, "--json", "path=/bad"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return [(record["end"], record["fault"]) for record in map(json.loads, done.stdout.splitlines())]

        bed.wait_for("the record", ends)
        self.assertEqual(ends(), [("script failed", "balancer")])


class UnderTheServer(LoadBalancer):
    """An engine that gets its configuration from the server and sends its records there."""

    engines = bed.free_port()
    arguments = ("--engines", "127.0.0.1:%d" % engines)

    def enrol(self, group, name):
        engine = self.create("engine", name=name, enginegroupid=group)
        made, = self.api.call("engine.generate", [engine])
        return engine, made["token"]

    def run_engine(self, folder, token=None):
        environment = dict(os.environ)
        environment.pop("VEDETTE_ENGINE_TOKEN", None)
        if token:
            environment["VEDETTE_ENGINE_TOKEN"] = token
        log = open(os.path.join(self.folder, "engine.log"), "ab")
        self.addCleanup(log.close)
        engine = subprocess.Popen(
            [bed.BINARY, "engine", "--controller", "127.0.0.1:%d" % self.engines, "--data", folder],
            stdout=log, stderr=log, env=environment)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        return engine

    def engine(self, engine):
        found, = self.api.call("engine.get", engineids=[engine], output="extend")
        return found

    def records(self, text):
        return int(self.api.call("transaction.get", filter=text, countOutput=True))

    def answers(self, port, path):
        try:
            return self.get(port, path)
        except OSError:
            return None

    def test_an_engine_runs_what_the_api_has_created(self):
        group, (plain, _), (_, api) = self.services()
        folder = os.path.join(self.folder, "engine")
        engine, token = self.enrol(group, "lb-1")
        running = self.run_engine(folder, token)
        bed.wait_for("the service", lambda: self.answers(plain, "/x") == (200, "app /x http"))
        bed.wait_for(
            "the engine's report",
            lambda: self.engine(engine)["running_hash"] == self.engine(engine)["desired_hash"])
        self.assertEqual(self.engine(engine)["error"], "")
        # The key and the token are secret, and the token is used up.
        for name in os.listdir(folder):
            # A file that is replaced has another name for a moment.
            with contextlib.suppress(FileNotFoundError):
                mode = os.stat(os.path.join(folder, name)).st_mode & 0o077
                self.assertEqual(mode, 0, name)
        second = self.run_engine(os.path.join(self.folder, "second"), token)
        self.assertNotEqual(second.wait(60), 0)
        # Each request is found on the server.
        for number in range(20):
            self.assertEqual(self.get(plain, "/first/%d" % number)[0], 200)
        bed.wait_for("the records", lambda: self.records("path^=/first/") == 20)
        # A change is live without a restart.
        server = {"name": "new", "address": "127.0.0.1", "port": self.backend("new")}
        self.api.call("pool.update", poolid=api, servers=[server])
        bed.wait_for("the new server", lambda: self.get(plain, "/api/")[1].startswith("new "))
        # Without the server the engine goes on, also after a restart.
        self.server.kill()
        running.send_signal(signal.SIGKILL)
        running.wait()
        running = self.run_engine(folder)
        bed.wait_for("the service", lambda: self.answers(plain, "/x") == (200, "app /x http"))
        for number in range(30):
            self.assertEqual(self.get(plain, "/second/%d" % number)[0], 200)
        self.server.start()
        type(self).api = self.server.api()
        bed.wait_for("the records of the outage", lambda: self.records("path^=/second/") == 30)
        self.assertEqual(self.records("path^=/first/"), 20)
        # A deleted engine gets nothing any more, but goes on.
        self.api.call("engine.delete", [engine])
        self.api.call("pool.update", poolid=api, servers=[dict(server, name="newer")])
        bed.wait_for("the refusal", lambda: "does not know this engine" in self.engine_log())
        self.assertEqual(self.get(plain, "/x")[0], 200)
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(60), 0)

    def engine_log(self):
        with open(os.path.join(self.folder, "engine.log"), encoding="utf-8") as file:
            return file.read()


class Analytics(UnderTheServer):
    """Hosts with the figures of services, pools and engines."""

    engines = bed.free_port()
    arguments = ("--engines", "127.0.0.1:%d" % engines)
    # That of the class above.
    test_an_engine_runs_what_the_api_has_created = None

    def host(self, name):
        found = self.api.call(
            "host.get", filter={"name": [name]}, output=["hostid", "host"], selectHostGroups=["name"])
        return found[0] if found else None

    def items(self, host):
        """Items of a host by the figure in their key."""
        found = self.api.call(
            "item.get", hostids=[host["hostid"]], output=["itemid", "key_", "lastvalue", "lastclock", "state", "error"])
        return {item["key_"].removeprefix("zabbix[vedette,lb,").removesuffix("]"): item for item in found}

    def value(self, host, figure):
        item = self.items(host).get(figure)
        return float(item["lastvalue"]) if item and item["lastclock"] != "0" else None

    def problems(self, host):
        return {one["name"] for one in self.api.call("problem.get", hostids=[host["hostid"]], output=["name"])}

    def keep_asking(self, port):
        """Requests from now on."""
        stop = threading.Event()

        def ask():
            while not stop.wait(0.05):
                self.answers(port, "/x")

        thread = threading.Thread(target=ask)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)

    def test_traffic_makes_values_and_a_killed_server_a_problem(self):
        group, (plain, tls), _ = self.services()
        engine, token = self.enrol(group, "lb-1")
        for name in ("Virtual service plain", "Virtual service tls", "Pool app", "Pool api", "Engine lb-1"):
            bed.wait_for(name, lambda name=name: self.host(name))
        hosts = [self.host(name) for name in ("Virtual service plain", "Virtual service tls", "Pool app", "Engine lb-1")]
        service, secured, pool, one = hosts
        self.assertEqual([group["name"] for group in service["hostgroups"]], ["Load balancer"])
        # Unknown, not zero: no engine has reported.
        bed.wait_for("no value", lambda: self.items(service)["requests"]["state"] == "1")
        self.assertIn("No engine has reported", self.items(service)["requests"]["error"])
        running = self.run_engine(os.path.join(self.folder, "analytics"), token)
        bed.wait_for("the service", lambda: self.answers(plain, "/x") == (200, "app /x http"))
        self.keep_asking(plain)
        self.assertEqual(self.get(tls, "/old", tls=True)[0], 301)
        for host, figure in ((service, "requests"), (service, "responses,2xx"), (service, "bytes,out"),
                             (service, "total,p95"), (service, "apdex,{$LB.APDEX.T}"), (pool, "requests"),
                             (pool, "response,p50"), (one, "requests"), (one, "cpu"), (one, "memory"),
                             (one, "connected"), (one, "configured"), (pool, "servers,up"),
                             (pool, "server,app-1,requests")):
            bed.wait_for(figure, lambda host=host, figure=figure: (self.value(host, figure) or 0) > 0, 90)
        self.assertLess(self.value(service, "requests"), 30)
        bed.wait_for("errors", lambda: self.value(service, "errors,engine") is not None)
        self.assertEqual(self.value(service, "errors,engine"), 0)
        item = self.items(service)["requests"]["itemid"]
        rows = self.api.call("history.get", itemids=[item], history=0, output="extend")
        self.assertTrue(any(float(row["value"]) > 0 for row in rows), rows)
        bed.wait_for("the state", lambda: self.value(pool, "server,app-1,state") == 1)
        bed.wait_for("the certificate", lambda: 28 < (self.value(secured, "certificate,www") or 0) < 31, 90)
        # A killed server is a problem of its pool and of the service, until it is back.
        server = self.backends["app"]
        port = server.server_address[1]
        server.shutdown()
        server.server_close()
        bed.wait_for("the problem", lambda: "Server app-1 is down" in self.problems(pool))
        self.assertEqual(self.value(pool, "server,app-1,state"), 0)
        bed.wait_for("the service's problem", lambda: "No server is up" in self.problems(service), 90)
        self.backend("app", port)
        bed.wait_for("the recovery", lambda: not self.problems(pool))
        bed.wait_for("the service's recovery", lambda: "No server is up" not in self.problems(service))
        # An engine that is gone is known to be.
        running.kill()
        running.wait()
        bed.wait_for("the engine's end", lambda: self.value(one, "connected") == 0)
        # Hosts follow their objects.
        services = self.api.call("virtualservice.get", filter={"name": ["tls"]}, output=["virtualserviceid"])
        self.api.call("virtualservice.delete", [services[0]["virtualserviceid"]])
        self.api.call("engine.update", engineid=engine, name="lb-one")
        bed.wait_for("the deletion", lambda: not self.host("Virtual service tls"))
        bed.wait_for("the new name", lambda: self.host("Engine lb-one"))
        self.assertEqual(self.host("Engine lb-one")["hostid"], one["hostid"])


class Bench(unittest.TestCase):
    """`vedette bench lb`: what it prints, not how fast anything is."""

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cores")
    def test_installed_balancers_are_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "lb.json")
            run = subprocess.run(
                [bed.BINARY, "bench", "lb", "--seconds", "0.2", "--repeat", "1", "--rows",
                 "keep-alive-64,tls-64,logged-64,new-1000,resumption,http2-8,logs-1000-x8,processes-2,tcp-bulk-8,change-100",
                 "--json", out], capture_output=True, text=True, timeout=600, check=False,
                env=dict(os.environ, TMPDIR=folder))
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(out, encoding="utf-8") as file:
                found = json.load(file)
            self.assertEqual(os.listdir(folder), ["lb.json"])
        names = [one["name"] for one in found["balancers"]]
        self.assertEqual(names, ["vedette"] + [name for name in ("haproxy", "nginx") if shutil.which(name)])
        self.assertEqual([row["name"] for row in found["rows"]], [
            "keep-alive-64", "new-1000", "tls-64", "resumption", "http2-8", "logged-64", "logs-1000-x8", "processes-2", "tcp-bulk-8",
            "change-100"])
        for row in found["rows"]:
            self.assertEqual(sorted(row["balancers"]), sorted(names))
            self.assertEqual(len(row["balancers"]["vedette"]["runs"]), 1)
            for one in row["balancers"].values():
                for measured in one["runs"]:
                    # How many depends on what else the machine does.
                    self.assertGreater(measured["requests"], 0)
        self.assertEqual(len(run.stdout.strip().splitlines()), 2 + len(found["rows"]) + len(found["notes"]) * 2)

    def test_a_missing_program_is_named(self):
        run = subprocess.run(
            [bed.BINARY, "bench", "lb", "--balancer", "haproxy-3.4=/nonexistent/haproxy"],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("/nonexistent/haproxy", run.stderr)


if __name__ == "__main__":
    bed.main()
