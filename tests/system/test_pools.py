#!/usr/bin/env python3
"""Shares of servers and pools: slow start, and pool groups with ratios and priorities, on a real engine."""

import collections
import http.client
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A response is one packet, which waits for no acknowledgement.
    wbufsize = 65_536

    def do_GET(self):
        text = self.server.name.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def open_server(name, port=None):
    """On a port that no connection takes while it is closed, not even one to itself."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port or bed.free_port()), Handler)
    server.name = name
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def close_server(server):
    server.shutdown()
    server.server_close()


class Client:
    """A connection that is kept, and the cookie that the engine has set."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.cookie = None

    def get(self, path="/"):
        """The name of the server; the status of other responses than 200."""
        self.connection.request("GET", path, headers={"Cookie": self.cookie} if self.cookie else {})
        response = self.connection.getresponse()
        text = response.read().decode()
        if response.headers["Set-Cookie"]:
            self.cookie = response.headers["Set-Cookie"].split(";")[0]
        return text if response.status == 200 else response.status

    def count(self, requests):
        return collections.Counter(self.get() for _ in range(requests))

    def close(self):
        self.connection.close()


class Running(bed.unittest.TestCase):
    """An engine with one service, run from a file."""

    kind = "http"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.port = bed.free_port()
        self.engine = None

    def backend(self, name, port=None):
        server = open_server(name, port)
        self.addCleanup(close_server, server)
        return server.server_address[1]

    def pool(self, name, *ports, **members):
        servers = [
            {"name": "%s-%d" % (name, number), "address": "127.0.0.1:%d" % port}
            for number, port in enumerate(ports, 1)]
        return {"name": name, "servers": servers, **members}

    def write(self, pools, target="app", groups=()):
        config = {
            "threads": 2, "name": "lb-1", "transactions": {"folder": os.path.join(self.folder, "records")},
            "virtual_services": [
                {"name": "web", "type": self.kind, "listen": "127.0.0.1:%d" % self.port, "pool": target}],
            "pools": pools, "pool_groups": list(groups)}
        path = os.path.join(self.folder, "lb.yaml")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(config, file)
        os.rename(path + ".new", path)
        return path

    def start(self, *config, **more):
        path = self.write(*config, **more)
        self.log = os.path.join(self.folder, "engine.log")
        with open(self.log, "wb") as log:
            self.engine = subprocess.Popen(
                [bed.BINARY, "engine", "--config", path], stderr=log, stdout=subprocess.DEVNULL)
        self.addCleanup(self.engine.wait)
        self.addCleanup(self.engine.terminate)
        bed.wait_for("the engine to listen", lambda: bed.listens(self.port))

    def text(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def applied(self):
        return self.text().count(" applied")

    def reload(self, *config, **more):
        before = self.applied()
        self.write(*config, **more)
        self.engine.send_signal(signal.SIGHUP)
        bed.wait_for("the new configuration", lambda: self.applied() > before)

    def client(self):
        client = Client(self.port)
        self.addCleanup(client.close)
        return client


class SlowStart(Running):
    def test_returning_server_starts_with_a_small_share(self):
        steady, returning = self.backend("steady"), open_server("returning")
        port = returning.server_address[1]
        health = {"type": "tcp", "interval": "50ms", "timeout": "20s", "up": 1, "down": 1}
        pool = self.pool("app", steady, port, health=health, slow_start="1d")
        self.start([pool])
        client = self.client()
        self.assertEqual(client.count(40), {"steady": 20, "returning": 20}, "whole from the start")
        close_server(returning)
        bed.wait_for("the failure", lambda: client.count(4) == {"steady": 4})
        self.backend("returning", port)
        bed.wait_for("the return", lambda: client.get() == "returning")
        # 51/1024 of its weight, or 47 of 1,000 requests; 5 standard deviations are 34.
        share = client.count(1000)["returning"]
        self.assertTrue(13 <= share <= 81, share)
        # The same return, seen with a shorter slow start: it is over.
        pool["slow_start"] = "1ms"
        self.reload([pool])
        self.assertEqual(client.count(40), {"steady": 20, "returning": 20})

    def test_a_server_that_is_added_starts_slowly(self):
        first, second = self.backend("first"), self.backend("second")
        self.start([self.pool("app", first, slow_start="1d")])
        client = self.client()
        self.assertEqual(client.count(10), {"first": 10})
        self.reload([self.pool("app", first, second, slow_start="1d")])
        share = client.count(1000)["second"]
        self.assertTrue(13 <= share <= 81, share)


class Groups(Running):
    def setUp(self):
        super().setUp()
        self.blue, self.green = self.backend("blue"), self.backend("green")

    def pools(self, **members):
        return [self.pool("blue", self.blue, **members), self.pool("green", self.green, **members)]

    def group(self, blue, green):
        return [{"name": "shop", "members": [{"pool": "blue", **blue}, {"pool": "green", **green}]}]

    def records(self, *words):
        out = subprocess.run(
            [bed.BINARY, "transactions", "--folder", os.path.join(self.folder, "records"), "--json", "--rows", "1000", *words],
            capture_output=True, text=True, check=True, timeout=60)
        return out.stdout

    def test_a_canary_gets_its_ratio_of_the_requests(self):
        self.start(self.pools(), "shop", self.group({"ratio": 9}, {"ratio": 1}))
        client = self.client()
        self.assertEqual(client.count(1000), {"blue": 900, "green": 100})
        self.reload(self.pools(), "shop", self.group({"ratio": 1}, {"ratio": 1}))
        self.assertEqual(client.count(100), {"blue": 50, "green": 50})
        self.engine.send_signal(signal.SIGTERM)
        self.engine.wait(60)
        # The record of a request has the pool that was chosen, which is that of the server.
        for pool, number in (("blue", 950), ("green", 150)):
            rows = [json.loads(line) for line in self.records("pool=%s" % pool).splitlines() if line]
            rows = [row for row in rows if "pool" in row]
            self.assertEqual(len(rows), number)
            self.assertEqual({row["server"] for row in rows}, {pool + "-1"})

    def test_a_cookie_keeps_clients_on_their_pool_during_a_canary(self):
        cookie = {"persistence": {"type": "cookie", "name": "srv"}}
        self.start(self.pools(**cookie), "shop", self.group({"ratio": 9}, {"ratio": 1}))
        clients = [self.client() for _ in range(40)]
        homes = [client.get() for client in clients]
        self.assertEqual(collections.Counter(homes), {"blue": 36, "green": 4})
        for client, home in zip(clients, homes):
            self.assertEqual(client.count(10), {home: 10})
        # The end of the canary: its clients stay, new ones do not come.
        self.reload(self.pools(**cookie), "shop", self.group({"ratio": 1}, {"ratio": 0}))
        self.assertEqual([client.get() for client in clients], homes)
        self.assertEqual({self.client().get() for _ in range(30)}, {"blue"})
        # A switch to another priority moves all clients.
        self.reload(self.pools(**cookie), "shop", self.group({"priority": 5}, {"priority": 1}))
        self.assertEqual({client.get() for client in clients}, {"blue"})

    def test_switches_between_blue_and_green_fail_no_request(self):
        sides = [self.group({"priority": 2}, {"priority": 1}), self.group({"priority": 1}, {"priority": 2})]
        self.start(self.pools(), "shop", sides[0])
        stop = threading.Event()
        results = [collections.Counter() for _ in range(4)]

        def load(counter):
            client = Client(self.port)
            while not stop.is_set():
                try:
                    counter[client.get()] += 1
                except (OSError, http.client.HTTPException) as error:
                    counter[repr(error)] += 1
                    return
            client.close()

        threads = [threading.Thread(target=load, args=(counter,)) for counter in results]
        for thread in threads:
            thread.start()
        try:
            client = self.client()
            for turn in range(1, 11):
                self.reload(self.pools(), "shop", sides[turn % 2])
                name = ("blue", "green")[turn % 2]
                bed.wait_for("the switch", lambda: client.get() == name)
                self.assertEqual(client.count(20), {name: 20})
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        total = sum(results, collections.Counter())
        self.assertEqual(set(total), {"blue", "green"}, total)
        self.assertGreater(min(total.values()), 20)

    def test_a_lower_priority_takes_over_while_servers_are_too_few(self):
        health = {"type": "tcp", "interval": "50ms", "timeout": "20s", "up": 1, "down": 1}
        second = open_server("blue")
        pools = [self.pool("blue", self.blue, second.server_address[1], health=health),
                 self.pool("green", self.green, self.green)]
        group = self.group({"priority": 9}, {})
        group[0]["min_servers"] = 2
        self.start(pools, "shop", group)
        client = self.client()
        self.assertEqual(client.count(20), {"blue": 20})
        close_server(second)
        bed.wait_for("green to take over", lambda: client.count(10) == {"green": 10})
        group[0]["min_servers"] = 1
        self.reload(pools, "shop", group)
        bed.wait_for("blue to be enough", lambda: client.count(10) == {"blue": 10})

    def test_a_wrong_group_is_named_by_the_check(self):
        path = self.write(self.pools(), "shop", [{"name": "shop", "members": [{"pool": "blue"}, {"pool": "grey"}]}])
        check = subprocess.run(
            [bed.BINARY, "engine", "check", "--config", path], capture_output=True, text=True, check=False)
        self.assertNotEqual(check.returncode, 0)
        self.assertIn("pool group 'shop': member 2: pool 'grey' does not exist", check.stderr)


class Mail:
    """A mail server that can refuse or hang."""

    def __init__(self, name):
        self.name, self.behaviour = name.encode(), "good"
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        with connection, connection.makefile("rb") as lines:
            try:
                if self.behaviour == "hanging":
                    connection.recv(1)
                    return
                connection.sendall(b"%d %s\r\n" % (220 if self.behaviour == "good" else 554, self.name))
                for line in lines:
                    if line.startswith(b"EHLO ["):
                        connection.sendall(b"250-%s\r\n250 PIPELINING\r\n" % self.name)
                    elif line == b"QUIT\r\n":
                        connection.sendall(b"221 bye\r\n")
                        return
            except OSError:
                pass

    def close(self):
        self.socket.close()


class MailMonitor(Running):
    def test_mail_servers_that_refuse_or_hang_get_no_connections(self):
        servers = [Mail("one"), Mail("two")]
        for server in servers:
            self.addCleanup(server.close)
        servers[1].behaviour = "refusing"
        health = {"type": "smtp", "interval": "100ms", "timeout": "5s", "up": 1, "down": 1}
        pool = self.pool("app", *(server.port for server in servers), health=health)
        self.kind = "tcp"
        self.start([pool])

        def greetings():
            found = set()
            for _ in range(6):
                with socket.create_connection(("127.0.0.1", self.port), 20) as client:
                    found.add(client.makefile("rb").readline())
            return found

        one, two = b"220 one\r\n", b"220 two\r\n"
        bed.wait_for("the refusal to be noticed", lambda: greetings() == {one})
        servers[1].behaviour = "good"
        bed.wait_for("both servers", lambda: greetings() == {one, two})
        before = len(self.text())
        servers[0].behaviour = "hanging"
        bed.wait_for("the hanging server to be noticed", lambda: "app-1 is down" in self.text()[before:])
        self.assertEqual(greetings(), {two})


class InTheServer(bed.Case):
    def create(self, kind, **members):
        return next(iter(self.api.call(kind + ".create", **members).values()))[0]

    def refused(self, text, method, params=None, **members):
        with self.assertRaises(bed.ApiError) as found:
            self.api.call(method, params, **members)
        self.assertIn(text, str(found.exception))

    def test_services_send_requests_to_pool_groups(self):
        server = {"address": "127.0.0.1", "port": 8000}
        pools = [self.create("pool", name=name, servers=[dict(server, name=name)], slow_start="30s")
                 for name in ("blue", "green")]
        members = [{"poolid": pools[0], "priority": 5, "ratio": 9}, {"poolid": pools[1], "priority": 5}]
        group = self.create("poolgroup", name="shop", members=members)
        engines = self.create("enginegroup", name="edge")
        vip = self.create("vip", name="loopback", ipv4="127.0.0.1")
        common = {"enginegroupid": engines, "vipid": vip}
        service = self.create(
            "virtualservice", name="web", port=bed.free_port(), poolgroupid=group,
            rules=[{"if": {"path": "/x"}, "then": {"poolgroupid": group}}], **common)
        found, = self.api.call("enginegroup.configuration", enginegroupids=[engines])
        configuration = found["configuration"]
        self.assertEqual(configuration["pool_groups"], [{"name": "shop", "min_servers": 1, "members": [
            {"pool": "blue", "priority": 5, "ratio": 9}, {"pool": "green", "priority": 5, "ratio": 1}]}])
        self.assertEqual({pool["slow_start"] for pool in configuration["pools"]}, {"30s"})
        web, = configuration["virtual_services"]
        self.assertEqual((web["pool"], web["rules"][0]["then"]["pool"]), ("shop", "shop"))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(configuration, file)
            file.flush()
            subprocess.run(
                [bed.BINARY, "engine", "check", "--config", file.name], check=True, timeout=60, capture_output=True)
        # A dry run names the services that a new ratio touches.
        members[1]["ratio"] = 3
        change = {"method": "poolgroup.update", "params": {"poolgroupid": group, "members": members}}
        touched = self.api.call("enginegroup.compare", change)
        self.assertEqual([one["name"] for one in touched], ["web"])
        # What is wrong is named.
        twice = [members[0], members[0]]
        self.refused("/1/members/2", "poolgroup.create", name="twice", members=twice)
        self.refused("/1/members/2/poolid", "poolgroup.create", name="none", members=[members[0], {"poolid": "999"}])
        self.refused("/1/members/1/ratio", "poolgroup.create", name="much", members=[dict(members[0], ratio=1001)])
        self.refused("'ratio' above 0", "poolgroup.create", name="zero", members=[dict(members[0], ratio=0)])
        self.refused("/1/name", "poolgroup.create", name="blue", members=members)
        self.refused("/1/name", "pool.create", name="shop", servers=[dict(server, name="s")])
        self.refused("/1/slow_start", "pool.update", poolid=pools[0], slow_start="soon")
        self.refused("poolgroupid", "virtualservice.create", name="none", port=bed.free_port(), **common)
        self.refused("/1/poolgroupid", "virtualservice.update", virtualserviceid=service, poolgroupid="999")
        self.refused(
            "either", "virtualservice.update", virtualserviceid=service, poolgroupid=group, poolid=pools[0])
        self.refused('used by virtual service "web"', "poolgroup.delete", [group])
        self.refused('used by pool group "shop"', "pool.delete", [pools[0]])
        # A pool takes the group's place.
        self.api.call("virtualservice.update", virtualserviceid=service, poolid=pools[1], rules=[])
        found, = self.api.call("virtualservice.get", virtualserviceids=[service], output=["poolid", "poolgroupid"])
        self.assertEqual((found["poolid"], found["poolgroupid"]), (pools[1], "0"))
        self.api.call("poolgroup.delete", [group])


if __name__ == "__main__":
    bed.main()
