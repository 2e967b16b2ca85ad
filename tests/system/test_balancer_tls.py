#!/usr/bin/env python3
"""TLS of engines under the server: orders of certificates, session tickets, certificates of the link."""

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
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import certificates  # noqa: E402
import pebble  # noqa: E402

WWW, API = "www.example.com", "api.example.com"


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Engines(bed.Case):
    """Two engines of one group accept connections on the same ports: the system chooses one of them."""

    engines = bed.free_port()
    arguments = ("--engines", "127.0.0.1:%d" % engines)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.plain, self.tls = bed.free_port(), bed.free_port()
        name = self.id().rsplit(".", 1)[-1][:60]
        self.group = self.create("enginegroup", name=name)
        vips = self.api.call("vip.get", filter={"ipv4": "127.0.0.1"}, output=["vipid"])
        vip = vips[0]["vipid"] if vips else self.create("vip", name="loopback", ipv4="127.0.0.1")
        pool = self.create("pool", name=name, servers=[
            {"name": "s", "address": "127.0.0.1", "port": server.server_address[1]}])
        self.service = {"enginegroupid": self.group, "vipid": vip, "poolid": pool}
        self.called = name

    def create(self, kind, **members):
        found = self.api.call(kind + ".create", **members)
        return next(iter(found.values()))[0]

    def enrol(self, name):
        """A new engine, which runs; returns its id and its process."""
        engine = self.create("engine", name="%s %s" % (self.called, name), enginegroupid=self.group)
        made, = self.api.call("engine.generate", [engine])
        return engine, self.run_engine(name, made["token"])

    def run_engine(self, name, token=None, arguments=()):
        environment = dict(os.environ)
        environment.pop("VEDETTE_ENGINE_TOKEN", None)
        if token:
            environment["VEDETTE_ENGINE_TOKEN"] = token
        with open(self.log(name), "ab") as log:
            process = subprocess.Popen(
                [bed.BINARY, "engine", "--controller", "127.0.0.1:%d" % self.engines,
                 "--data", os.path.join(self.folder, name), *arguments], stdout=log, stderr=log, env=environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def log(self, name):
        return os.path.join(self.folder, name + ".log")

    def text(self, name):
        with open(self.log(name), encoding="utf-8") as file:
            return file.read()

    def engine(self, engine):
        found, = self.api.call("engine.get", engineids=[engine], output="extend")
        return found

    def wait_for_configuration(self, *engines):
        def all_current():
            shown = [self.engine(engine) for engine in engines]
            return all(one["running_hash"] == one["desired_hash"] != "" for one in shown)
        bed.wait_for("the configuration on all engines", all_current)


@unittest.skipUnless(shutil.which("pebble"), "needs pebble")
class Orders(Engines):
    def setUp(self):
        super().setUp()
        pebble.start(self, self.folder, self.plain, self.tls)

    def order(self, name, **acme):
        with open(self.pebble.authority.pem, encoding="utf-8") as file:
            settings = {"directory": self.door.directory, "ca": file.read(), "contact": ["admin@example.com"],
                        "terms_agreed": True, **acme}
        return self.create("certificate", name=name, acme=settings)

    def certificate(self, certificate):
        found, = self.api.call("certificate.get", certificateids=[certificate], output="extend")
        return found

    def wait_for(self, certificate, state, text=""):
        def found():
            shown = self.certificate(certificate)
            return shown if shown["order_state"] == state and text in shown["error"] else None
        try:
            return bed.wait_for("the state %s" % state, found)
        except AssertionError as problem:
            raise AssertionError("%s\n%s" % (problem, self.certificate(certificate))) from None

    def serial(self, name=WWW):
        context = ssl.create_default_context(cafile=self.root)
        with socket.create_connection(("127.0.0.1", self.tls), 30) as plain:
            with context.wrap_socket(plain, server_hostname=name) as connection:
                return connection.getpeercert()["serialNumber"]

    def serials(self, name=WWW):
        """Those of many connections: the system spreads them over the engines."""
        return {self.serial(name) for _ in range(30)}

    def test_all_engines_answer_checks_and_get_the_certificate(self):
        certificate = self.order("www", domains=[WWW])
        self.wait_for(certificate, "waiting", "'http-01' needs an enabled virtual service")
        self.create("virtualservice", name="plain", port=self.plain, **self.service)
        self.create("virtualservice", name="tls", port=self.tls, certificates=[{"certificateid": certificate}],
                    **self.service)
        self.wait_for(certificate, "waiting", "no engine that could pass the checks of the authority is connected")
        self.assertEqual(self.door.paths, [], "the authority is not asked in vain")
        # One engine has a certificate that cannot be served yet.
        self.door.refuse = (503, {}, b"closed")
        first, _ = self.enrol("one")
        second, _ = self.enrol("two")
        shown = self.wait_for(certificate, "failed", "status 503")
        self.assertGreater(int(shown["next_attempt"]), 0)
        self.assertEqual(shown["valid_until"], "0")
        self.wait_for_configuration(first, second)
        with self.assertRaises(ssl.SSLError):
            self.serial()
        self.door.refuse = None
        self.api.call("certificate.renew", [certificate])
        shown = self.wait_for(certificate, "issued")
        self.assertEqual((shown["error"], shown["names"]), ("", [WWW]))
        self.assertGreater(int(shown["valid_until"]), int(shown["next_attempt"]))
        self.wait_for_configuration(first, second)
        before = self.serials()
        self.assertEqual(len(before), 1, "both engines have the same certificate")
        self.assertNotIn("private_key", shown)
        # A renewal on demand; then other host names, whose check is made during TLS handshakes.
        self.api.call("certificate.renew", [certificate])
        bed.wait_for("the renewal", lambda: self.serial() not in before)
        self.api.call("certificate.update", certificateid=certificate, acme=dict(
            shown["acme"], domains=[WWW, API], challenge="tls-alpn-01"))
        bed.wait_for("the certificate for both names", lambda: self.certificate(certificate)["names"] == [API, WWW])
        self.wait_for_configuration(first, second)
        self.assertEqual(len(self.serials(API)), 1)
        self.assertEqual(len([path for path in self.door.created if "sign-me-up" in path]), 1, "one account")
        # A restart of the server orders nothing again.
        asked = len(self.door.paths)
        self.server.kill()
        self.server.start()
        type(self).api = self.server.api()
        self.wait_for(certificate, "issued")
        self.assertEqual(len(self.door.paths), asked)
        self.assertEqual(len(self.serials(API)), 1)

    def test_mistakes_are_refused(self):
        for acme, text in (
                ({"domains": ["*.example.com"]}, "a wildcard needs the challenge dns-01"),
                ({"domains": [WWW], "terms_agreed": False}, "'terms_agreed' is not true"),
                ({"domains": [WWW], "ca": "/etc/passwd"}, "PEM text with certificates is expected"),
                ({"domains": [WWW], "folder": "/tmp"}, "folder")):
            with self.assertRaises(bed.ApiError) as refused:
                self.order("wrong", **acme)
            self.assertIn(text, str(refused.exception))
        certificate = self.order("wild", domains=["*.example.com"], challenge="dns-01")
        self.wait_for(certificate, "waiting", "--acme-dns-hook")
        with self.assertRaises(bed.ApiError) as refused:
            self.api.call("certificate.update", certificateid=certificate, certificate="x", private_key="x")
        self.assertRegex(str(refused.exception), "ordered from an authority|PEM text")


class Link(Engines):
    def setUp(self):
        super().setUp()
        self.pem, self.key = (os.path.join(self.folder, name) for name in ("www.pem", "www.key"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=" + WWW, "-addext", "subjectAltName=DNS:" + WWW, "-days", "30",
             "-keyout", self.key, "-out", self.pem], check=True, capture_output=True)
        texts = []
        for path in (self.pem, self.key):
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        certificate = self.create("certificate", name=self.called, certificate=texts[0], private_key=texts[1])
        self.create("virtualservice", name=self.called, port=self.tls,
                    certificates=[{"certificateid": certificate}], **self.service)

    def resumed(self, context, session=None):
        """Whether a connection continues a session, and the session of the next one."""
        with socket.create_connection(("127.0.0.1", self.tls), 30) as plain:
            with context.wrap_socket(plain, server_hostname=WWW, session=session) as connection:
                client = http.client.HTTPConnection(WWW)
                client.sock = connection
                client.request("GET", "/")
                self.assertEqual(client.getresponse().read(), b"ok")
                return connection.session_reused, connection.session

    def test_a_session_continues_at_any_engine_of_the_group(self):
        first, running = self.enrol("one")
        second, _ = self.enrol("two")
        self.wait_for_configuration(first, second)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl.create_default_context(cafile=self.pem)
            context.minimum_version = context.maximum_version = version
            reused, session = self.resumed(context)
            self.assertFalse(reused)
            for _ in range(20):
                reused, session = self.resumed(context, session)
                self.assertTrue(reused, version)
        # A restarted engine accepts the tickets from before.
        running.kill()
        running.wait()
        connected = int(self.engine(first)["connected_at"])
        bed.wait_for("another second", lambda: time.time() > connected + 1)
        self.run_engine("one")
        bed.wait_for("the engine", lambda: int(self.engine(first)["connected_at"]) > connected)
        bed.wait_for("the secrets", lambda: all(self.resumed(context, session)[0] for _ in range(20)))

    def test_engine_renews_its_certificate_once(self):
        engine, running = self.enrol("one")
        self.wait_for_configuration(engine)
        shown = self.engine(engine)
        days = (int(shown["certificate_until"]) - int(shown["connected_at"])) / 86400
        self.assertTrue(364 < days < 366, shown)
        version = subprocess.run([bed.BINARY, "--version"], check=True, capture_output=True, text=True).stdout
        self.assertIn(shown["version"], version)
        folder, old = os.path.join(self.folder, "one"), os.path.join(self.folder, "old")
        os.mkdir(old, 0o700)
        shutil.copy(os.path.join(folder, "identity.pem"), old)
        running.send_signal(signal.SIGHUP)
        bed.wait_for("the renewal", lambda: "the certificate of the engine is renewed" in self.text("one"))
        bed.wait_for("the connection", lambda: self.text("one").count("connected to the server") > 1)
        self.assertEqual(os.stat(os.path.join(folder, "identity.pem")).st_mode & 0o077, 0)
        self.run_engine("old")
        bed.wait_for("the refusal", lambda: "does not know this engine" in self.text("old"))
        # The new one works, also after a restart.
        running.kill()
        running.wait()
        before = self.text("one").count("connected to the server")
        self.run_engine("one")
        bed.wait_for("the connection", lambda: self.text("one").count("connected to the server") > before)

    def test_a_process_takes_over_the_folder_of_another_one(self):
        engine, first = self.enrol("one")
        self.wait_for_configuration(engine)
        first.kill()
        first.wait()
        context = ssl.create_default_context(cafile=self.pem)
        running = self.run_engine("one", arguments=("--drain", "60s"))
        bed.wait_for("the engine", lambda: self.text("one").count("connected to the server") == 2)
        self.resumed(context)
        before = self.text("one").count("runs with its stored configuration")
        following = self.run_engine("one", arguments=("--drain", "60s", "--takeover"))
        bed.wait_for("the other process", lambda: self.text("one").count("runs with its stored") > before)
        # The old process still gets changes; the new one reads them when it takes over.
        found, = self.api.call("virtualservice.get", filter={"name": self.called}, output=["virtualserviceid"])
        self.api.call("virtualservice.update", **found, port=self.plain)
        self.wait_for_configuration(engine)
        self.assertNotIn("has taken over", self.text("one"))
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(60), 0)
        bed.wait_for("the connection", lambda: self.text("one").count("connected to the server") == 3)
        self.assertIn("has taken over", self.text("one"))
        self.assertIsNone(following.poll())
        self.tls = self.plain
        self.resumed(context)
        bed.wait_for("both records", lambda: self.api.call(
            "transaction.get", filter='engine="%s one"' % self.called, countOutput=True) in ("2", 2))


class Stapling(unittest.TestCase):
    """An engine that runs from a file, and a responder of OCSP."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.responder, self.port = bed.free_port(), bed.free_port()
        self.authority = certificates.Authority(self.folder)
        self.authority.sign("www", "DNS:%s\nauthorityInfoAccess=OCSP;URI:http://127.0.0.1:%d" % (WWW, self.responder))
        serial = subprocess.run(["openssl", "x509", "-in", self.path("www.pem"), "-noout", "-serial"], check=True,
                                capture_output=True, text=True).stdout.strip().split("=")[1]
        with open(self.path("index"), "w", encoding="ascii") as file:
            file.write("V\t391231235959Z\t\t%s\tunknown\t/O=Test/CN=www\n" % serial)
        with open(self.path("chain.pem"), "w", encoding="ascii") as chain:
            for name in ("www.pem", "ca.pem"):
                with open(self.path(name), encoding="ascii") as file:
                    chain.write(file.read())
        configuration = {
            "threads": 1, "ocsp": {"folder": self.path("ocsp")},
            "certificates": [{"name": "www", "cert": self.path("chain.pem"), "key": self.path("www.key")}],
            "virtual_services": [{"name": "web", "type": "http", "listen": "127.0.0.1:%d" % self.port, "pool": "app",
                                  "tls": {"certificates": ["www"]}}],
            "pools": [{"name": "app", "servers": [{"name": "s", "address": "127.0.0.1:9"}]}]}
        with open(self.path("lb.json"), "w", encoding="ascii") as file:
            json.dump(configuration, file)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_engine(self):
        with open(self.path("engine.log"), "ab") as log:
            engine = subprocess.Popen(
                [bed.BINARY, "engine", "--config", self.path("lb.json")], stdout=log, stderr=log)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        bed.wait_for("the engine to listen", lambda: bed.listens(self.port))
        return engine

    def respond(self, signer):
        """Starts a responder with the key of this certificate; returns what ends it."""
        case = self

        class Responder(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                question, response = case.path("question.der"), case.path("response.der")
                with open(question, "wb") as file:
                    file.write(self.rfile.read(int(self.headers["Content-Length"])))
                subprocess.run(
                    ["openssl", "ocsp", "-index", case.path("index"), "-CA", case.path("ca.pem"),
                     "-rsigner", case.path(signer + ".pem"), "-rkey", case.path(signer + ".key"), "-ndays", "1",
                     "-reqin", question, "-respout", response], check=True, capture_output=True)
                with open(response, "rb") as file:
                    body = file.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", self.responder), Responder)
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def stop():
            server.shutdown()
            server.server_close()
        return stop

    def shown(self):
        run = subprocess.run(
            ["openssl", "s_client", "-connect", "127.0.0.1:%d" % self.port, "-servername", WWW, "-status",
             "-CAfile", self.path("ca.pem")], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            check=False)
        return "Cert Status: good" in run.stdout

    def text(self):
        with open(self.path("engine.log"), encoding="utf-8") as file:
            return file.read()

    def test_stapled_response_survives_a_restart(self):
        stop = self.respond("ca")
        engine = self.run_engine()
        bed.wait_for("the response", self.shown)
        stop()
        engine.kill()
        engine.wait()
        self.run_engine()
        bed.wait_for("the kept response", self.shown)
        kept, = os.listdir(self.path("ocsp"))
        self.assertEqual(os.stat(self.path("ocsp")).st_mode & 0o077, 0)
        self.assertTrue(kept.endswith(".ocsp"))

    def test_a_response_of_a_stranger_is_not_shown(self):
        certificates.Authority(self.folder, "stranger")
        self.addCleanup(self.respond("stranger"))
        self.run_engine()
        bed.wait_for("the refusal", lambda: "has not signed the response" in self.text())
        self.assertFalse(self.shown())
        self.assertFalse(os.path.exists(self.path("ocsp")))


if __name__ == "__main__":
    bed.main()
