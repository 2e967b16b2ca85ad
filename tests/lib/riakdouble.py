#!/usr/bin/env python3
"""A double of one node of Riak KV at its HTTP interface, after the public documentation.

It does what the documentation says of buckets and their properties, keys, vector clocks, siblings,
tombstones and quorum errors. It is no Riak: it has no replicas, so no quorum ever fails by itself,
and nothing in it proves how Riak behaves when nodes come and go.

  riakdouble.py FOLDER PORT

What it was told is in a file of FOLDER before it is confirmed, so that it may be killed.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import bed
from storeprocess import StoreProcess

KEEPS_ALIVE_S = 60
# Bytes above which Riak refuses an object (riak.conf: object.size.maximum).
OBJECT_MAX = int(os.environ.get("RIAK_OBJECT_MAX", "52428800"))


class Object:
    """Siblings, by the number of the writing that made them. One node counts all writings, so its
    clock is how many it has seen."""

    def __init__(self):
        self.writings, self.siblings = 0, {}

    def write(self, seen, content, keep_all):
        """`content` = type and bytes, or None for a tombstone; it follows the first `seen`."""
        kept = {n: each for n, each in self.siblings.items() if n > seen} if keep_all else {}
        self.writings += 1
        self.siblings = kept | {self.writings: content}

    def is_deleted(self):
        return all(content is None for content in self.siblings.values())

    def vclock(self):
        return base64.b64encode(b"double:%d" % self.writings).decode()


def writings_of(vclock):
    """How many writings a clock has seen."""
    return int(base64.b64decode(vclock).decode().removeprefix("double:")) if vclock else 0


class Bucket:
    def __init__(self, typed):
        # Bucket types other than the default one keep siblings from the start.
        self.props = {"allow_mult": typed, "last_write_wins": False, "n_val": 3}
        self.objects = {}


class Store:
    """All buckets, and the file that they are made of again."""

    def __init__(self, folder):
        self.lock, self.buckets = threading.Lock(), {}
        path = os.path.join(folder, "log")
        self.log = open(path, "a+b")
        self.log.seek(0)
        whole = 0
        for line in self.log:
            # The last one may be cut off: it was not confirmed.
            if line.endswith(b"\n"):
                self.apply(json.loads(line))
                whole += len(line)
        self.log.truncate(whole)

    def bucket(self, name):
        return self.buckets.setdefault(name, Bucket(name.startswith("types/")))

    def write(self, entry):
        """With the lock held."""
        self.log.write(json.dumps(entry).encode() + b"\n")
        self.log.flush()
        self.apply(entry)

    def apply(self, entry):
        bucket = self.bucket(entry["bucket"])
        if "props" in entry:
            bucket.props.update(entry["props"])
            return
        content = entry["content"]
        if content is not None:
            content = (content[0], base64.b64decode(content[1]))
        found = bucket.objects.setdefault(entry["key"], Object())
        found.write(entry["seen"], content, bucket.props["allow_mult"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = KEEPS_ALIVE_S
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204 and self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def text(self, status, text, headers=()):
        self.answer(status, text.encode(), [("Content-Type", "text/plain"), *headers])

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        if parts == ["ping"]:
            return self.text(200, "OK")
        if parts == ["double", "fail"]:
            # Not Riak's: the next requests for keys are answered like this, but for those of
            # tests that inspect the simulator.
            self.server.failures = json.loads(body)
            return self.text(200, "OK")
        typed = parts[:1] == ["types"]
        name = "/".join(parts[:4] if typed else parts[:2])
        rest = parts[4:] if typed else parts[2:]
        if "buckets" not in parts or not rest:
            return self.text(404, "not found\n")
        if rest == ["props"]:
            return self.props(name, body)
        if rest[0] != "keys" or len(rest) != 2:
            return self.text(404, "not found\n")
        if self.server.failures and not self.headers.get("X-Double-Eyes"):
            status, reason = self.server.failures.pop(0)
            if status:
                return self.text(status, reason + "\n")
        return self.key(name, rest[1], parse_qs(url.query), body)

    def props(self, name, body):
        store = self.server.store
        with store.lock:
            if self.command == "GET":
                props = json.dumps({"props": dict(store.bucket(name).props, name=name)})
                return self.answer(200, props.encode(), [("Content-Type", "application/json")])
            if name.startswith("types/"):
                return self.text(403, "properties of types are changed by riak-admin\n")
            store.write({"bucket": name, "props": json.loads(body)["props"]})
        return self.answer(204)

    def key(self, name, key, query, body):
        store = self.server.store
        with store.lock:
            bucket = store.bucket(name)
            for each in ("r", "w", "dw", "pr", "pw"):
                value = query.get(each, ["default"])[0]
                if value.isdigit() and int(value) > bucket.props["n_val"]:
                    return self.text(400, "Specified %s value invalid for bucket n value of %d\n"
                                     % (each, bucket.props["n_val"]))
            found = bucket.objects.get(key)
            if self.command in ("GET", "HEAD"):
                return self.fetch(found)
            try:
                seen = writings_of(self.headers.get("X-Riak-Vclock"))
            except ValueError:
                return self.text(500, "Error: vclock cannot be decoded\n")
            if self.command == "DELETE":
                if found is None or found.is_deleted():
                    return self.gone(found)
                # Without a clock Riak reads the object and deletes what it found.
                seen = seen or found.writings
                content = None
            else:
                kind = self.headers.get("Content-Type")
                if not kind:
                    return self.text(400, "Missing Content-Type request header")
                if len(body) > OBJECT_MAX:
                    return self.text(413, "object too large\n")
                content = (kind, base64.b64encode(body).decode())
            store.write({"bucket": name, "key": key, "seen": seen, "content": content})
        return self.answer(204)

    def gone(self, found):
        if found is None:
            return self.text(404, "not found\n")
        return self.text(404, "not found\n",
                         [("X-Riak-Vclock", found.vclock()), ("X-Riak-Deleted", "true")])

    def fetch(self, found):
        if found is None or found.is_deleted():
            return self.gone(found)
        clock = ("X-Riak-Vclock", found.vclock())
        if len(found.siblings) == 1:
            (kind, body), = found.siblings.values()
            return self.answer(200, body, [clock, ("Content-Type", kind)])
        if "multipart/mixed" not in self.headers.get("Accept", ""):
            tags = "".join("v%d\n" % number for number in found.siblings)
            return self.text(300, "Siblings:\n" + tags, [clock])
        boundary = "YinLMzyUR9feB17okMytgKsylvh"
        body = b""
        for number, content in found.siblings.items():
            kind, each = content or ("application/octet-stream", b"")
            deleted = "" if content else "X-Riak-Deleted: true\r\n"
            body += ("\r\n--%s\r\nContent-Type: %s\r\n%sEtag: v%d\r\n"
                     "Last-Modified: Sun, 20 Nov 2022 00:00:00 GMT\r\n\r\n"
                     % (boundary, kind, deleted, number)).encode() + each
        body += ("\r\n--%s--\r\n" % boundary).encode()
        return self.answer(300, body, [clock, ("Content-Type",
                                               "multipart/mixed; boundary=" + boundary)])

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, folder, port):
        self.store, self.failures = Store(folder), []
        super().__init__(("127.0.0.1", port), Handler)

    def handle_error(self, request, client_address):
        # Clients that are killed end their connections.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class RiakDouble(StoreProcess):
    """The double as a process of its own, in a folder of its own."""

    def __init__(self, environment=()):
        self.environment = dict(environment)
        self.folder = tempfile.mkdtemp(prefix="vedette-riak-")
        self.port, self.process = bed.free_port(), None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), self.folder, str(self.port)],
            env=dict(os.environ, **self.environment))
        bed.wait_for("the double", lambda: self.call("GET", "ping")[1])

    def url(self, bucket="", user=""):
        return "http://%s127.0.0.1:%d/%s" % (user, self.port, bucket)

    def call(self, method, path, body=None, headers=()):
        """Status, body and headers."""
        request = urllib.request.Request(self.url(path), body, method=method,
                                         headers=dict(headers, **{"X-Double-Eyes": "1"}))
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as problem:
            return problem.code, problem.read(), problem.headers

    def fail(self, answers):
        """The next requests for keys are answered with these statuses and reasons."""
        self.call("POST", "double/fail", json.dumps(answers).encode())



if __name__ == "__main__":
    Server(sys.argv[1], int(sys.argv[2])).serve_forever()
