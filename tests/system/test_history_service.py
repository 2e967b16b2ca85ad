"""The history service with real clients: C, PHP through FFI, Python, gRPC's own library, curl."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed
from historyclients import CLIENTS, CLOCK, compile_c, run, vh

TOKEN_NAME = "history service test"
ITEMS = [
    {"key_": "app.users", "value_type": 3},
    {"key_": "app.load", "value_type": 0},
    {"key_": "app.state", "value_type": 4},
    {"key_": "app.log", "value_type": 2},
    {"key_": "app.rate", "value_type": 3,
     "preprocessing": [{"type": 1, "params": "8", "error_handler": 0, "error_handler_params": ""}]},
    {"key_": "app.off", "value_type": 3, "status": 1},
    {"key_": "app.polled", "value_type": 3, "type": 0, "delay": "1h"},
]


class ServiceCase(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.grpc_port = bed.free_port()
        cls.arguments = ["--history-service", "127.0.0.1:%d" % cls.grpc_port]
        super().setUpClass()
        cls.url = "http://127.0.0.1:%d" % cls.server.http
        cls.token = cls.make_token("1")
        cls.build = tempfile.mkdtemp(prefix="vedette-client-")
        cls.addClassCleanup(shutil.rmtree, cls.build, ignore_errors=True)

    @classmethod
    def make_token(cls, userid):
        name = "%s %d" % (TOKEN_NAME, time.monotonic_ns())
        tokenid = cls.api.call("token.create", name=name, userid=userid)["tokenids"][0]
        return cls.api.call("token.generate", [tokenid])[0]["token"]

    def estate(self, name, items=ITEMS):
        """A host whose items the server knows."""
        polled = any(item.get("type") == 0 for item in items)
        more = {"interfaces": [{"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                                "port": "1"}]} if polled else {}
        hostid, ids = self.host(name, [item for item in items if item.get("type") != 0], **more)
        for item in items if polled else ():
            if item.get("type") == 0:
                interface = self.api.call("hostinterface.get", hostids=hostid)[0]["interfaceid"]
                full = dict(item, name=item["key_"], hostid=hostid, interfaceid=interface)
                ids[item["key_"]] = self.api.call("item.create", full)["itemids"][0]
        return hostid, ids

    def grpc_peer(self, itemid, *ca_file):
        """What gRPC's own library saw."""
        run(["/usr/bin/python3", "-m", "grpc_tools.protoc", "-I", "docs",
             "--python_out", self.build, "--grpc_python_out", self.build,
             "docs/history-service.proto"])
        for name in ("pb2", "pb2_grpc"):
            made = os.path.join(self.build, "history_service_%s.py" % name)
            self.assertTrue(os.path.exists(made), os.listdir(self.build))
        return json.loads(run([
            "/usr/bin/python3", os.path.join("tests", "lib", "grpcpeer.py"), self.build,
            "127.0.0.1:%d" % self.grpc_port, self.token, itemid, *ca_file]))

    def client(self, token=None):
        client = vh.Client(self.url, token or self.token)
        self.addCleanup(client.close)
        return client


class TestWriteAndRead(ServiceCase):
    def test_the_smallest_run(self):
        _, ids = self.estate("smallest")
        history = self.client()
        item = int(ids["app.users"])
        done = history.write([vh.value(item, 7, CLOCK, 5)], synced=True)
        self.assertEqual(done, vh.Written(1, []))
        self.assertEqual(list(history.newest([item])), [vh.Sample(item, CLOCK, 5, 7)])

    def test_every_type_by_id_and_by_key(self):
        _, ids = self.estate("types")
        history = self.client()
        big = (1 << 64) - 1
        line = vh.Log("a line with \"quotes\", \u00e9 and \u0001", 12, "source", 3, 4)
        cases = [
            (("types", "app.users"), big), (("types", "app.load"), -1.5e-7),
            (("types", "app.state"), "\u4f60 \n text"), (("types", "app.log"), line),
        ]
        done = history.write([vh.value(item, v, CLOCK, n) for n, (item, v) in enumerate(cases)])
        self.assertEqual(done, vh.Written(4, []))
        for n, (item, content) in enumerate(cases):
            itemid = int(ids[item[1]])
            self.assertEqual(list(history.range([item], CLOCK)),
                             [vh.Sample(itemid, CLOCK, n, content)])
        # The JSON-RPC API reads the same.
        rows = self.api.call("history.get", history=3, itemids=[ids["app.users"]])
        self.assertEqual([row["value"] for row in rows], [str(big)])

    def test_preprocessing_and_conversion_are_those_of_senders(self):
        _, ids = self.estate("steps")
        _, sent = self.estate("sent")
        texts = [("app.rate", "5"), ("app.users", "6.9"), ("app.load", "1e3"), ("app.state", "5")]
        done = self.client().write(
            [vh.value(("steps", key), text, CLOCK) for key, text in texts])
        self.assertEqual(done, vh.Written(4, []))
        data = [{"host": "sent", "key": key, "value": text, "clock": CLOCK, "ns": 0}
                for key, text in texts]
        answer = bed.send(self.server.address, {"request": "sender data", "data": data})
        self.assertIn("processed: 4; failed: 0", answer["info"])
        for key, _ in texts:
            kind = next(item["value_type"] for item in ITEMS if item["key_"] == key)
            values, state = [], []
            for one in (ids[key], sent[key]):
                rows = self.api.call("history.get", history=kind, itemids=[one])
                values.append([(row["clock"], row["value"]) for row in rows])
                item = self.api.call("item.get", itemids=[one], output=["state", "error"])[0]
                state.append((item["state"], item["error"]))
            self.assertEqual(values[0], values[1], key)
            self.assertEqual(state[0], state[1], key)
        rows = self.api.call("history.get", history=3, itemids=[ids["app.rate"]])
        self.assertEqual([row["value"] for row in rows], ["40"], "preprocessing multiplies")

    def test_refusals_name_value_and_reason(self):
        _, ids = self.estate("refusals")
        item = int(ids["app.users"])
        values = [
            vh.value(item, 1, CLOCK), vh.value(999999999, 1), vh.value(("refusals", "no"), 1),
            vh.value(int(ids["app.off"]), 1), vh.value(int(ids["app.polled"]), 1),
            {"itemid": str(item)}, {"itemid": str(item), "text": "1", "float": 1},
            {"itemid": str(item), "host": "refusals", "key": "app.users", "text": "1"},
            {"text": "1"}, vh.value(item, 1, 0, 5), vh.value(item, 1, CLOCK, 10 ** 9),
            vh.value(item, 1, 1 << 31), vh.value(item, 2, CLOCK + 1),
        ]
        done = self.client().write(values)
        self.assertEqual(done.kept, 2)
        self.assertEqual([(one.index, one.reason) for one in done.refused], [
            (1, "no_item"), (2, "no_item"), (3, "disabled"), (4, "wrong_type"), (5, "invalid"),
            (6, "invalid"), (7, "invalid"), (8, "invalid"), (9, "invalid"), (10, "invalid"),
            (11, "invalid"),
        ])
        self.assertTrue(all(one.fault == "caller" and not one.retry and one.message
                            for one in done.refused))

    def test_a_resend_changes_nothing(self):
        _, ids = self.estate("resent")
        history, item = self.client(), int(ids["app.users"])
        batch = [vh.value(item, n, CLOCK + n // 3) for n in range(10)]
        self.assertEqual(history.write(batch).kept, 10)
        before = list(history.range([item]))
        self.assertEqual(len(before), 10, "values of one moment are all kept")
        self.assertEqual(history.write(batch, resend=True), vh.Written(10, []))
        self.assertEqual(list(history.range([item])), before)

    def test_long_answers_come_in_pages(self):
        _, ids = self.estate("pages")
        history = self.client()
        numbers, texts = int(ids["app.users"]), int(ids["app.state"])
        # More than a page in one second, and pages that end everywhere.
        rows = [(CLOCK + max(0, n - 7000) // 2, n) for n in range(16_000)]
        for begin in range(0, len(rows), 8000):
            done = history.write([vh.value(numbers, n, clock, n if clock == CLOCK else n % 2)
                                  for clock, n in rows[begin:begin + 8000]])
            self.assertEqual(done.kept, 8000)
        read = [one.value for one in history.range([numbers])]
        self.assertEqual(read, [n for _, n in rows])
        down = [one.value for one in history.range([numbers], descending=True)]
        self.assertEqual(down, read[::-1])
        for limit in (1, 4999, 5000, 5001, 12_345, 16_000, 20_000):
            got = [one.value for one in history.range([numbers], limit=limit)]
            self.assertEqual(got, read[:limit], limit)
            got = [one.value for one in history.range([numbers], limit=limit, descending=True)]
            self.assertEqual(got, down[:limit], limit)
        lines = [("%d " % n) * 3000 for n in range(450)]
        for begin in range(0, 450, 150):
            history.write([vh.value(texts, lines[n], CLOCK + n) for n in range(begin, begin + 150)])
        read = [one.value for one in history.range([texts])]
        self.assertEqual(read, [line[:65535] for line in lines])
        self.assertEqual(sum(1 for _ in history.newest([texts, numbers], 1000)), 450 + 1000)

    def test_trends(self):
        _, ids = self.estate("trends")
        history, item = self.client(), int(ids["app.load"])
        hour = CLOCK // 3600 * 3600
        history.write([vh.value(item, float(n), hour + n) for n in range(5)])
        got = bed.wait_for("trends", lambda: list(history.trends([item], hour, hour)))
        self.assertEqual(got, [vh.Hour(item, hour, 5, 0.0, 2.0, 4.0)])

    def test_calls_that_are_refused(self):
        history = self.client()
        self.estate("calls")
        for call, reason in [
            (lambda: self.client("nobody").write([]), "not_signed_in"),
            (lambda: list(self.client("0" * 64).newest([1])), "not_signed_in"),
            (lambda: history.write([{"itemid": "x"}]), "invalid"),
            (lambda: history.write([{"item": "1"}]), "invalid"),
            (lambda: history.write([vh.value(1, 1)] * 10_001), "invalid"),
            (lambda: list(history.range([1])), "no_item"),
            (lambda: list(history.range([("calls", "app.users"), ("calls", "")])), "invalid"),
            (lambda: list(history.newest([("calls", "app.users")], 1001)), "invalid"),
            (lambda: list(history.range([1] * 10_001)), "invalid"),
            (lambda: history.write([vh.value(1, "x" * (17 << 20))]), "invalid"),
        ]:
            with self.assertRaises(vh.Error) as caught:
                call()
            problem = caught.exception
            found = (problem.reason, problem.fault, problem.retry)
            self.assertEqual(found, (reason, "caller", False))
        # The client goes on.
        self.assertEqual(history.write([]), vh.Written(0, []))

    def test_rights(self):
        hostid, ids = self.estate("rights")
        group = self.api.call("hostgroup.get", hostids=[hostid])[0]["groupid"]
        role = self.api.call("role.create", name="no history", type=1,
                             rules={"api.mode": 0, "api": ["history.*"]})["roleids"][0]
        item = int(ids["app.users"])

        def of(name, permission, roleid="1"):
            rights = [{"id": group, "permission": permission}] if permission else []
            users = self.api.call("usergroup.create", name=name, hostgroup_rights=rights)
            userid = self.api.call("user.create", username=name, passwd="Pa55word-x", roleid=roleid,
                                   usrgrps=[{"usrgrpid": users["usrgrpids"][0]}])["userids"][0]
            return self.client(self.make_token(userid))

        def reads(history):
            try:
                return len(list(history.newest([item])))
            except vh.Error as problem:
                return problem.reason

        def writes(history):
            try:
                done = history.write([vh.value(item, 1, CLOCK)])
            except vh.Error as problem:
                return problem.reason
            return [one.reason for one in done.refused] or done.kept

        self.assertEqual(writes(self.client()), 1)
        for name, permission, write, read in [
            ("writer", 3, 1, 1), ("reader", 2, ["no_item"], 1),
            ("denied", 0, ["no_item"], "no_item"),
        ]:
            history = of(name, permission)
            self.assertEqual((writes(history), reads(history)), (write, read), name)
        history = of("no-api", 3, role)
        self.assertEqual((writes(history), reads(history)), ("denied", "denied"))


class TestClients(ServiceCase):
    def test_what_the_page_says_runs(self):
        self.estate("page")
        with open(os.path.join(bed.ROOT, "docs", "history-service.md")) as f:
            blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", f.read(), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 7)
        environment = {
            "VEDETTE": self.url, "TOKEN": self.token, "HOST": "page", "BUILD": self.build,
            "PYTHONPATH": os.path.join(bed.ROOT, "clients", "python"),
        }
        said = ""
        for kind, text in blocks:
            shell = ["bash", "-euo", "pipefail", "-c"] if kind == "sh" else [sys.executable, "-c"]
            said += run(shell + [text], **environment)
        # curl, Python, C and PHP have each written and read.
        for part in ('{"sequence":"0","kept":"2"}', '"unsigned":"42"', " 43", "kept 1, refused 0",
                     "read 44", "kept 3\nread 0.5\nread 1.5\nread 2.5"):
            self.assertIn(part, said)
        loads = [one.value for one in self.client().range([("page", "app.load")])]
        self.assertEqual(len(loads), 2003)
        for n in range(1000):
            self.assertEqual(loads.count(n / 10), 2 + ((n / 10) in (0.5, 1.5, 2.5)), n)

    def test_c_alone(self):
        """What the header promises, in a program that is compiled here, without TLS, with asan."""
        self.estate("c-alone")
        program = os.path.join(self.build, "client")
        compile_c("historyclient.c", program)
        said = run([program, self.url, self.token, "c-alone"])
        self.assertEqual(said.splitlines()[-1], "all well")

    def test_grpc(self):
        _, ids = self.estate("grpc")
        told = self.grpc_peer(ids["app.users"])
        self.assertEqual(told["replies"], [[n, 1000, 0] for n in range(20)])
        self.assertEqual(told["again"], [77, 1, [[1, "no_item", "caller", False],
                                                 [2, "invalid", "caller", False]]])
        self.assertEqual(told["read"], list(range(20_000)))
        self.assertEqual(told["pages"], [5000] * 4)
        self.assertEqual(told["newest"], [19_999, 19_998])
        trailers = {"vedette-fault": "caller", "vedette-retry": "false"}
        for name, code, reason in [
            ("stranger", "UNAUTHENTICATED", "not_signed_in"),
            ("nobody", "UNAUTHENTICATED", "not_signed_in"),
            ("no item", "NOT_FOUND", "no_item"), ("too many", "INVALID_ARGUMENT", "invalid"),
        ]:
            self.assertEqual(told[name], [code, dict(trailers, **{"vedette-reason": reason})], name)

    def test_the_python_client_can_be_installed(self):
        _, ids = self.estate("installed")
        # Building writes beside the sources.
        source, venv = (os.path.join(self.build, name) for name in ("source", "venv"))
        shutil.copytree(os.path.join(bed.ROOT, "clients", "python"), source)
        run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", venv])
        python = os.path.join(venv, "bin", "python")
        run([python, "-m", "pip", "install", "--no-index", "--no-build-isolation", source])
        said = run([python, "-I", "-c", (
            "import sys, vedette_history as vh\nfrom importlib.metadata import metadata, requires\n"
            "about = metadata('vedette-history')\n"
            "print(vh.__file__, about['License'], about['Requires-Python'], requires('vedette-history'))\n"
            "assert about['Version'] == vh.__version__\n"
            "with vh.Client(*sys.argv[1:3]) as history:\n"
            "    print(history.write([vh.value(int(sys.argv[3]), 5)]).kept)\n"),
            self.url, self.token, ids["app.users"]])
        self.assertTrue(said.startswith(venv), said)
        self.assertTrue(said.endswith(" Apache-2.0 >=3.9 None\n1\n"), said)

    def test_asyncio_calls_go_side_by_side(self):
        _, ids = self.estate("asyncio")
        item = int(ids["app.users"])

        async def work():
            async with vh.AsyncClient(self.url, self.token) as history:
                batches = [[vh.value(item, n, CLOCK + n) for n in range(m * 100, m * 100 + 100)]
                           for m in range(10)]
                done = await asyncio.gather(*(history.write(batch) for batch in batches))
                read = [one.value async for one in history.range([item])]
                with self.assertRaises(vh.Error) as caught:
                    [one async for one in history.newest([0])]
                return sum(one.kept for one in done), read, caught.exception.reason

        self.assertEqual(asyncio.run(work()), (1000, list(range(1000)), "invalid"))

    def test_strangers_are_no_harm(self):
        """What is no HTTP/2, and what is half of it, ends or waits; others are served."""
        held = []
        for start in (b"", b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                      b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 64, bytes(1000)):
            connection = socket.create_connection(("127.0.0.1", self.grpc_port))
            self.addCleanup(connection.close)
            connection.sendall(start)
            held.append(connection)
        self.test_grpc_answers_after("strangers")

    def test_grpc_answers_after(self, name="after"):
        _, ids = self.estate(name)
        done = run(["curl", "--http2-prior-knowledge", "--silent", "--show-error", "-i",
                    "-H", "content-type: application/grpc", "-H", "te: trailers",
                    "-H", "authorization: Bearer " + self.token, "--data-binary", "@/dev/null",
                    "http://127.0.0.1:%d/vedette.history.v1.History/Nothing" % self.grpc_port])
        self.assertIn("grpc-status: 12", done)
        self.assertIn("vedette-reason: no_call", done)
        self.assertTrue(ids)


class TestWatched(ServiceCase):
    FIGURES = ("writes", "reads", "failed", "kept", "refused", "sent", "streams", "answers")

    def test_the_server_logs_what_it_does(self):
        _, ids = self.estate("watched")
        hostid, _ = self.host("watcher", [
            {"key_": "zabbix[vedette,service,%s]" % name, "value_type": 3, "type": 5, "delay": "1s"}
            for name in self.FIGURES])
        history, item = self.client(), int(ids["app.users"])

        def figures():
            rows = self.api.call("item.get", hostids=hostid, output=["key_", "lastvalue", "lastclock"])
            told = {row["key_"].split(",")[2][:-1]: int(row["lastvalue"]) for row in rows
                    if row["lastclock"] != "0"}
            return told if len(told) == len(self.FIGURES) else None

        before = bed.wait_for("figures of the service", figures)
        history.write([vh.value(item, n, CLOCK + n) for n in range(7)] + [vh.value(item, "", 0, 5)])
        with self.assertRaises(vh.Error):
            list(history.range([0]))
        self.assertEqual(len(list(history.range([item]))), 7)
        expected = {"writes": 1, "kept": 7, "refused": 1, "reads": 2, "failed": 1, "sent": 7,
                    "streams": 0, "answers": 0}

        def since():
            now = figures()
            return {name: now[name] - before[name] for name in self.FIGURES} == expected

        bed.wait_for("what was done", since)

    def test_bench(self):
        out = os.path.join(self.build, "bench.json")
        run([bed.BINARY, "bench", "history-service", "--api", self.server.url, "--user", "Admin",
             "--password", bed.PASSWORD, "--grpc", "127.0.0.1:%d" % self.grpc_port,
             "--pid", str(self.server.process.pid), "--hosts", "2", "--items", "20", "--batch", "10",
             "--streams", "2", "--seconds", "0", "--json", out])
        with open(out) as f:
            results = json.load(f)["results"]
        self.assertEqual(results["refused"], 0)
        for form in ("grpc", "http"):
            for name in ("one_values_per_s", "many_values_per_s", "newest_p50_ms", "range_p99_ms"):
                self.assertGreater(results["%s_%s" % (form, name)], 0, name)


class TestDurable(ServiceCase):
    def test_what_was_acknowledged_survives_a_kill(self):
        _, ids = self.estate("killed")
        history, item = self.client(), int(ids["app.users"])
        for n in range(50):
            done = history.write([vh.value(item, n * 20 + m, CLOCK + n, m) for m in range(20)],
                                 synced=n % 10 == 0)
            self.assertEqual(done.kept, 20)
        self.server.kill()
        # A writer goes on through the time without a server.
        writer = vh.Writer(history)
        writer.put(item, 1000, CLOCK + 50)
        self.server.start()
        self.assertEqual(writer.close(60), 0)
        self.assertEqual([one.value for one in history.range([item])], list(range(1001)))

    def test_a_paused_server_makes_writers_wait(self):
        _, ids = self.estate("paused")
        history, item = self.client(), int(ids["app.users"])
        history.write([vh.value(item, 0, CLOCK)])
        bed.pause(self.server.process.pid)
        try:
            writer = vh.Writer(history, queue_max=100)
            for n in range(1, 100):
                writer.put(item, n, CLOCK + n)
            self.assertFalse(writer.flush(0.2))
        finally:
            self.server.process.send_signal(signal.SIGCONT)
        self.assertEqual(writer.close(60), 0)
        self.assertEqual([one.value for one in history.range([item])], list(range(100)))


class TestSecured(ServiceCase):
    def test_an_address_that_others_reach_is_refused_without_tls(self):
        server = bed.Server(arguments=["--history-service", "0.0.0.0:%d" % bed.free_port()])
        self.addCleanup(server.clean)
        with self.assertRaises(AssertionError):
            server.start()
        self.assertIn("can be reached by others: give --http-tls-cert", server.log())
        server.arguments += ["--http-plain", "yes"]
        server.start()

    def test_tls(self):
        folder = self.build
        _, ids = self.estate("secured")
        self.server.stop()
        cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        self.server.arguments += ["--http-tls-cert", cert, "--http-tls-key", key]
        self.server.launch()
        url = "https://127.0.0.1:%d" % self.server.http

        def refused():
            with self.assertRaises(vh.Error) as caught:
                with vh.Client(url, "nobody", ca_file=cert) as history:
                    history.write([])
            return caught.exception.reason == "not_signed_in"

        bed.wait_for("HTTPS", refused)
        with self.assertRaises(vh.Error) as caught:
            with vh.Client(url, "nobody") as history:
                history.write([])
        self.assertEqual(caught.exception.reason, "network", "its certificate is not believed")
        run(["make", "-s", "-C", CLIENTS, "OUT=" + folder])
        program = os.path.join(folder, "history")
        run(["cc", os.path.join(CLIENTS, "examples", "history.c"), "-I", CLIENTS, "-o", program,
             os.path.join(folder, "libvedette-history.a"), "-lssl", "-lcrypto", "-pthread"])
        for ca_file, word in ((cert, "not_signed_in: There is no API token"), ("", "no TLS with")):
            environment = dict(os.environ, VEDETTE_CA_FILE=ca_file) if ca_file else None
            done = subprocess.run([program, url, "nobody", "h", "k", "1"], capture_output=True,
                                  text=True, env=environment)
            self.assertEqual(done.returncode, 1)
            self.assertIn(word, done.stdout + done.stderr)
        done = subprocess.run(
            ["openssl", "s_client", "-connect", "127.0.0.1:%d" % self.grpc_port, "-CAfile", cert,
             "-alpn", "h2", "-verify_return_error"],
            input="", capture_output=True, text=True, timeout=120)
        self.assertIn("ALPN protocol: h2", done.stdout)
        told = self.grpc_peer(ids["app.users"], cert)
        self.assertEqual(told["replies"], [[n, 1000, 0] for n in range(20)])
        self.assertEqual(told["read"], list(range(20_000)))
        # Nobody is served without it.
        with self.assertRaises(AssertionError) as caught:
            self.grpc_peer(ids["app.users"])
        self.assertIn("StatusCode.UNAVAILABLE", str(caught.exception))


if __name__ == "__main__":
    bed.main()
