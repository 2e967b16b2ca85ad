"""Receivers of webhooks for tests: one web server on loopback that stands for all services of the Internet.

The process moves to a network and to a view of the files of its own, in which all names lead to this server.
"""

import ctypes
import http.server
import json
import os
import ssl
import subprocess
import threading

import networks
import webpeer

NEW_FILES = 0x20000
ADDRESS = "127.0.0.1"


def enter(names, folder):
    """Moves this process, which has one thread, and those that it starts to a network in which these names are loopback."""
    networks.enter()
    if networks.libc.unshare(NEW_FILES):
        raise AssertionError("unshare: %s" % os.strerror(ctypes.get_errno()))
    hosts = os.path.join(folder, "hosts")
    with open(hosts, "w", encoding="utf-8") as file:
        file.write("".join("%s %s\n" % (ADDRESS, name) for name in ["localhost", *sorted(names)]))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)


class Receivers:
    """HTTP on port 80, HTTPS on 443; `answer` gives status and body for a request."""

    def __init__(self, folder, answer):
        self.requests, self.answer, self.lock = [], answer, threading.Lock()
        certificate, key = webpeer.certificate(folder, "receivers")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.servers = []
        for port in (80, 443):
            server = http.server.ThreadingHTTPServer((ADDRESS, port), self.handler())
            server.daemon_threads = True
            if port == 443:
                server.socket = context.wrap_socket(server.socket, server_side=True,
                                                    do_handshake_on_connect=False)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.servers.append(server)

    def handler(self):
        receivers = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self.command, self.path, list(self.headers.items()), body.decode("utf-8", "replace"))
                with receivers.lock:
                    receivers.requests.append(request)
                status, text = receivers.answer(request)
                data = text.encode()
                self.send_response(status)
                if status != 204:
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if status != 204:
                    self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

            def log_message(self, *_):
                pass

        return Handler

    def take(self):
        """Requests since the last call."""
        with self.lock:
            taken, self.requests = self.requests, []
        return taken

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


class Request:
    """One request as it came."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body

    @property
    def host(self):
        return next((value for name, value in self.headers if name.lower() == "host"), "")

    def shown(self):
        """What counts of it: neither the order of headers, nor which compression the client knows, nor a body that
        cannot be one: Zabbix sends GET with what memory has of the body before."""
        headers = sorted("%s: %s" % (name.lower(), value) for name, value in self.headers
                         if name.lower() not in ("accept-encoding", "content-length"))
        return {"method": self.method, "path": self.path, "headers": headers,
                "body": "" if self.method == "GET" else self.body}


def answers(routes):
    """An `answer` of routes: (method, part of host and path) to status and JSON."""
    def answer(request):
        for method, part, status, body in routes:
            if method in ("*", request.method) and part in request.host + request.path:
                return status, body if isinstance(body, str) else json.dumps(body)
        return 404, "{}"
    return answer
