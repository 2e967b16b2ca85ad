#!/usr/bin/env python3
"""Certificates that the load balancer's engine orders from a real authority."""

import contextlib
import glob
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
import pebble  # noqa: E402

WWW, API = "www.example.com", "api.example.com"


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = ("from the server: " + self.path).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@unittest.skipUnless(shutil.which("pebble"), "needs pebble")
class Acme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.state = os.path.join(self.folder, "acme")
        self.log = os.path.join(self.folder, "engine.log")
        self.http, self.tls, self.second = (bed.free_port() for _ in range(3))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.backend = server.server_address[1]

    def authority(self, seconds=0):
        pebble.start(self, self.folder, self.http, self.tls, seconds)

    def configuration(self, certificates, **acme):
        """A service that redirects to one with TLS, and one more with the same certificates."""
        names = [certificate["name"] for certificate in certificates]
        directory = self.door.directory if hasattr(self, "door") else "https://127.0.0.1:1/dir"
        settings = {
            "folder": self.state, "directory": directory, "contact": ["admin@example.com"],
            "terms_agreed": True, "http_port": self.http, "tls_port": self.tls, "certificates": certificates}
        if hasattr(self, "pebble"):
            settings["ca"] = self.pebble.authority.pem
        settings.update(acme)
        redirect = [{"then": {"redirect": {"status": 301, "location": "https://{host}{uri}"}}}]
        limit = {"by": "client_ip", "requests": 1, "per": "1h"}

        def service(name, port, **members):
            return dict({"name": name, "type": "http", "listen": "127.0.0.1:%d" % port, "pool": "app"}, **members)

        return {
            "threads": 2, "acme": settings,
            "virtual_services": [
                service("plain", self.http, rules=redirect, rate_limit=limit),
                service("tls", self.tls, tls={"certificates": names}),
                service("second", self.second, tls={"certificates": names, "alpn": ["h2", "http/1.1"]})],
            "pools": [{"name": "app", "servers": [{"name": "s", "address": "127.0.0.1:%d" % self.backend}]}]}

    def write(self, configuration):
        path = os.path.join(self.folder, "lb.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(configuration, file)
        return path

    def run_engine(self, configuration):
        path = self.write(configuration)
        with open(self.log, "ab") as log:
            self.engine = subprocess.Popen([bed.BINARY, "engine", "--config", path], stdout=log, stderr=log)
        self.addCleanup(self.stop, self.engine)
        bed.wait_for("the engine to listen", lambda: bed.listens(self.tls))

    def stop(self, engine):
        if engine.poll() is None:
            engine.terminate()
            self.assertEqual(engine.wait(60), 0)

    def text(self):
        with contextlib.suppress(OSError), open(self.log, encoding="utf-8") as file:
            return file.read()
        return ""

    def wait_for_log(self, *parts, timeout=60):
        def found():
            return [line for line in self.text().splitlines() if all(part in line for part in parts)]
        try:
            return bed.wait_for("a line of the log with %s" % (parts,), found, timeout)
        except AssertionError as problem:
            raise AssertionError("%s\n%s" % (problem, self.text())) from None

    def connect(self, name=WWW, port=None, **members):
        """A TLS connection of a client that trusts Pebble alone."""
        context = ssl.create_default_context(cafile=self.root)
        if "alpn" in members:
            context.set_alpn_protocols(members["alpn"])
        plain = socket.create_connection(("127.0.0.1", port or self.tls), 30)
        try:
            return context.wrap_socket(plain, server_hostname=name)
        except OSError:
            plain.close()
            raise

    def get(self, path, connection):
        client = http.client.HTTPConnection(WWW)
        client.sock = connection
        client.request("GET", path)
        answer = client.getresponse()
        return answer.status, answer.read().decode()

    def get_once(self, path, name=WWW):
        with self.connect(name) as connection:
            return self.get(path, connection)

    def serial(self, name=WWW, port=None):
        with self.connect(name, port) as connection:
            return connection.getpeercert()["serialNumber"]

    def refused(self, name=WWW):
        with self.assertRaises(ssl.SSLError) as problem:
            self.connect(name)
        self.assertNotIsInstance(problem.exception, ssl.SSLCertVerificationError)

    def plain(self, path):
        client = http.client.HTTPConnection("127.0.0.1", self.http, timeout=30)
        with contextlib.closing(client):
            client.request("GET", path, headers={"Host": WWW})
            return client.getresponse().status

    def test_http_01_precedes_redirects_and_limits(self):
        self.authority()
        self.door.refuse = (503, {}, b"closed")
        configuration = self.configuration([{"name": "www", "domains": [WWW, API]}])
        self.run_engine(configuration)
        self.wait_for_log("certificate 'www' is not issued", "TLS connections for %s, %s are refused" % (API, WWW))
        self.refused()
        self.assertEqual(self.plain("/.well-known/acme-challenge/unknown"), 301)
        self.assertEqual(self.plain("/"), 429, "the limit holds for all other requests")
        # A reload ends the pause after the failed order.
        self.door.refuse = None
        self.engine.send_signal(signal.SIGHUP)
        self.wait_for_log("certificate 'www' is issued")
        self.assertEqual(self.get_once("/x"), (200, "from the server: /x"))
        first = self.serial()
        self.assertEqual(self.serial(API, self.second), first, "two services share it")
        for path in [self.state] + glob.glob(os.path.join(self.state, "*")):
            self.assertEqual(os.stat(path).st_mode & 0o077, 0, path)
        self.assertEqual(len(glob.glob(os.path.join(self.state, "account-*.json"))), 1)
        # After a restart without the authority.
        self.stop(self.engine)
        self.door.refuse = (503, {}, b"closed")
        asked = len(self.door.paths)
        self.run_engine(configuration)
        self.assertEqual(self.serial(), first)
        time.sleep(3)
        self.assertEqual(len(self.door.paths), asked)
        # A second engine must not use the folder.
        other = self.configuration([{"name": "www", "domains": [WWW, API]}])
        for service in other["virtual_services"]:
            service["listen"] = "127.0.0.1:%d" % bed.free_port()
        other["acme"].update(http_port=int(other["virtual_services"][0]["listen"].split(":")[1]))
        run = subprocess.run([bed.BINARY, "engine", "--config", self.write(other)], capture_output=True, text=True,
                             timeout=60, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("in use by another engine", run.stdout + run.stderr)

    def test_tls_alpn_01_serves_other_protocols_too(self):
        self.authority()
        self.run_engine(self.configuration([
            {"name": "www", "domains": [WWW, API], "challenge": "tls-alpn-01"}]))
        self.wait_for_log("certificate 'www' is issued")
        with self.connect(API, self.second, alpn=["h2"]) as connection:
            self.assertEqual(connection.selected_alpn_protocol(), "h2")
        with self.connect(WWW, self.tls, alpn=["anything"]) as connection:
            self.assertIsNone(connection.selected_alpn_protocol())
            self.assertEqual(self.get("/x", connection), (200, "from the server: /x"))

    def test_dns_01_gets_a_wildcard_by_the_program_of_the_user(self):
        self.authority()
        hook = os.path.join(self.folder, "hook")
        with open(hook, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n"
                       "echo \"$1 $2\" >> %s/calls\n"
                       "case $1 in add) path=set-txt ;; remove) path=clear-txt ;; esac\n"
                       "exec curl -sf -X POST http://127.0.0.1:%d/$path -d '{\"host\":\"'$2'.\",\"value\":\"'$3'\"}'\n"
                       % (self.folder, self.pebble.dns_management))
        os.chmod(hook, 0o700)
        self.run_engine(self.configuration(
            [{"name": "all", "domains": ["*.example.com"], "challenge": "dns-01"}], dns_hook=hook))
        self.wait_for_log("certificate 'all' is issued")
        self.assertEqual(self.get_once("/x", "any.example.com"), (200, "from the server: /x"))
        with open(os.path.join(self.folder, "calls"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "add _acme-challenge.example.com\nremove _acme-challenge.example.com\n")

    def test_a_renewal_is_swapped_in_and_open_connections_stay(self):
        self.authority(seconds=18)
        self.run_engine(self.configuration([{"name": "www", "domains": [WWW]}]))
        self.wait_for_log("certificate 'www' is issued")
        first = self.serial()
        with self.connect() as connection:
            self.assertEqual(self.get("/before", connection), (200, "from the server: /before"))
            bed.wait_for("the renewal", lambda: self.serial() != first, pause=0.5)
            self.assertEqual(self.get("/after", connection), (200, "from the server: /after"))
        accounts = [path for path in self.door.created if "sign-me-up" in path]
        self.assertEqual(len(accounts), 1, self.door.paths)
        # A renewal that fails: clients keep the certificate, and the log shows how long.
        self.door.refuse = (503, {"Retry-After": "7200"}, b"closed")
        line = self.wait_for_log("certificate 'www' is not renewed", "status 503")[0]
        self.assertIn("ERROR", line)
        # A machine that stands still for some seconds finds it expired: it is valid for 18.
        self.assertRegex(line, "the one in use expire[sd] at")

    def test_the_authority_can_ask_for_an_early_renewal(self):
        self.authority(seconds=1800)
        now = time.time()
        self.door.window = (pebble.rfc3339(now - 60), pebble.rfc3339(now - 1))
        self.run_engine(self.configuration([{"name": "www", "domains": [WWW]}]))
        self.wait_for_log("certificate 'www' is issued")
        first = self.serial()
        self.wait_for_log("certificate 'www'", "the authority wants its renewal at")
        bed.wait_for("the renewal", lambda: self.serial() != first)
        self.assertEqual(len(self.door.replaced), 1, self.door.replaced)

    def test_authority_that_is_down_is_left_alone_after_restarts(self):
        self.authority()
        self.door.refuse = (503, {"Retry-After": "3600"}, b"maintenance")
        configuration = self.configuration([
            {"name": "www", "domains": [WWW]}, {"name": "api", "domains": [API]}])
        self.run_engine(configuration)
        line = self.wait_for_log("is not issued", "status 503", "maintenance")[0]
        self.assertIn("attempt 1, the next one is at", line)
        for again in range(3):
            time.sleep(1.5)
            self.stop(self.engine)
            self.run_engine(configuration)
        time.sleep(1.5)
        self.assertEqual(self.door.paths, ["/dir"], "one request, for both certificates and all starts")
        self.engine.send_signal(signal.SIGHUP)
        time.sleep(1.5)
        self.assertEqual(self.door.paths, ["/dir"])

    def test_an_authority_that_does_not_listen_is_named(self):
        self.run_engine(self.configuration([{"name": "www", "domains": [WWW]}]))
        self.wait_for_log("certificate 'www' is not issued", "https://127.0.0.1:1/dir", "cannot connect")

    def test_wrong_answers_of_the_authority_are_named(self):
        self.authority()
        self.pebble.resolve("lost.example.com", "127.0.0.7")
        other = os.path.join(self.folder, "other.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "30",
             "-addext", "subjectAltName=DNS:" + WWW, "-keyout", os.devnull, "-out", other],
            check=True, capture_output=True)
        with open(other, "rb") as file:
            foreign = file.read()

        def change(path, body):
            return foreign if "/certZ/" in path else body

        self.door.change = change
        self.run_engine(self.configuration([
            {"name": "www", "domains": [WWW]}, {"name": "lost", "domains": [API, "lost.example.com"]}]))
        self.wait_for_log("'www' is not issued", "unusable certificate", "do not fit together")
        line = self.wait_for_log("'lost' is not issued", "lost.example.com was not confirmed")[0]
        self.assertNotIn(API + " was not confirmed", line)
        self.refused()
        self.stop(self.engine)
        self.door.change = lambda path, body: b"<html>welcome</html>"
        shutil.rmtree(self.state)
        self.run_engine(self.configuration([{"name": "www", "domains": [WWW]}]))
        self.wait_for_log("'www' is not issued", "cannot use the directory " + self.door.directory, "not one of ACME")

    def test_damaged_files_lead_to_a_new_order(self):
        self.authority()
        configuration = self.configuration([{"name": "www", "domains": [WWW]}])
        self.run_engine(configuration)
        self.wait_for_log("certificate 'www' is issued")
        first = self.serial()
        self.stop(self.engine)
        stored = os.path.join(self.state, "www.pem")
        os.truncate(stored, os.path.getsize(stored) // 2)
        account, = glob.glob(os.path.join(self.state, "account-*.json"))
        with open(account, "w", encoding="utf-8") as file:
            file.write("{")
        self.run_engine(configuration)
        self.wait_for_log("the file %s is damaged" % stored, "a new certificate is ordered")
        # A certificate that arrived a moment ago: the next order waits a minute.
        self.wait_for_log("the file %s is damaged" % account, "a new account is created", timeout=120)
        bed.wait_for("the new certificate", lambda: len(self.wait_for_log("'www' is issued")) == 2)
        self.assertNotEqual(self.serial(), first)
        # Other host names need another certificate; until then the old one is in use.
        self.write(self.configuration([{"name": "www", "domains": [WWW, API]}]))
        self.engine.send_signal(signal.SIGHUP)
        bed.wait_for("the certificate for both", lambda: self.serial(API))
        self.assertTrue(os.path.exists(stored + ".damaged"))

    def test_an_authority_that_forgot_the_account_gets_a_new_one(self):
        self.authority()
        self.run_engine(self.configuration([{"name": "www", "domains": [WWW]}]))
        self.wait_for_log("certificate 'www' is issued")
        self.pebble.end()
        self.pebble.start()
        self.root = self.pebble.root()
        self.write(self.configuration([{"name": "www", "domains": [WWW, API]}], contact=["other@example.com"]))
        self.engine.send_signal(signal.SIGHUP)
        bed.wait_for("the certificate of the new account", lambda: self.serial(API))
        self.assertEqual(self.text().count("an account at"), 2)
        self.assertNotIn("is not issued", self.text())
        # A changed contact is sent to the authority.
        account, = glob.glob(os.path.join(self.state, "account-*.json"))
        with open(account, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["contact"], ["other@example.com"])

    def test_check_reports_mistakes(self):
        def problems(certificate, **acme):
            path = self.write(self.configuration([dict({"name": "www", "domains": [WWW]}, **certificate)], **acme))
            run = subprocess.run([bed.BINARY, "engine", "check", "--config", path], capture_output=True, text=True,
                                 timeout=60, check=False)
            return run.returncode, run.stderr

        self.assertEqual(problems({}), (0, ""))
        self.assertFalse(os.path.exists(self.state), "a check changes nothing")
        for certificate, acme, part in (
                ({}, {"terms_agreed": False}, "'acme.terms_agreed' is not true"),
                ({"domains": ["*.example.com"]}, {}, "a wildcard needs the challenge dns-01"),
                ({"challenge": "dns-01"}, {}, "'dns-01' needs 'acme.dns_hook'"),
                ({}, {"ca": "/nonexistent"}, "'acme.ca': /nonexistent"),
                ({}, {"http_port": 80}, "'http-01' needs a virtual service of type http without TLS on port 80"),
                ({"challenge": "tls-alpn-01"}, {"tls_port": 443}, "'tls-alpn-01' needs a virtual service on port 443")):
            code, text = problems(certificate, **acme)
            self.assertEqual(code, 1)
            self.assertIn(part, text)


if __name__ == "__main__":
    bed.main()
