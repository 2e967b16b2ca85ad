#!/usr/bin/env python3
"""ClickHouse's HTTP interface over its newest engine as a Python module: `chdbserver.py PORT FOLDER`.

No package has a newer server than 18.16. The engine has no server of its own, so this speaks as much
of the interface as Vedette uses: statements in the body or in `query`, rows of an insert in the body.
"""

import os
import re
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from chdb.session import Session

INSERT = re.compile(r"\s*INSERT\s+INTO\s+(.*?)\s+FORMAT\s+(\w+)\s*$", re.S | re.I)
# What an address has beside settings.
NO_SETTINGS = {"query", "database", "wait_end_of_query"}
FORMAT = re.compile(r"\s+FORMAT\s+(\w+)\s*;?\s*$", re.I)


class Engine:
    """One session; statements take turns."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.session = Session(folder)
        self.rows = os.path.join(folder, "..", "rows")
        self.turn = threading.Lock()
        # Those that were asked for stay, for statements that do not ask for them as well.
        self.settings = set()

    def run(self, sql, database, settings, body):
        with self.turn:
            self.session.query("USE `%s`" % database)
            for setting in settings - self.settings:
                self.session.query("SET %s = %s" % setting)
                self.settings.add(setting)
            insert = INSERT.match(sql)
            if insert and body:
                with open(self.rows, "wb") as file:
                    file.write(body)
                sql = "INSERT INTO %s FROM INFILE '%s' FORMAT %s" % (
                    insert.group(1), os.path.abspath(self.rows), insert.group(2))
                self.session.query(sql)
                return b""
            wanted = FORMAT.search(sql)
            if wanted:
                sql = sql[:wanted.start()]
            answer = self.session.query(sql, wanted.group(1) if wanted else "TabSeparated")
            return (answer.bytes() or b"") if answer is not None else b""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A body behind its head would wait 40 ms for the client's kernel to confirm the head.
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer(200, b"Ok.\n")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        query = asked.get("query", [""])[0]
        if not query:
            query, body = body.decode(), b""
        try:
            settings = {(name, asked[name][0]) for name in set(asked) - NO_SETTINGS}
            answer = self.server.engine.run(
                query, asked.get("database", ["default"])[0], settings, body)
        except Exception as problem:  # whatever the engine raises is its answer
            self.answer(500, str(problem).encode())
        else:
            self.answer(200, answer)

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.engine = Engine(sys.argv[2])
    server.serve_forever()


if __name__ == "__main__":
    main()
