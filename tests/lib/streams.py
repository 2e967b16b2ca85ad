"""A receiver of connectors' messages on loopback."""

import http.server
import json
import threading


class Message:
    """One request: its path, headers, body and records."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body
        self.records = [json.loads(line) for line in body.splitlines()]


class Receiver:
    """Keeps messages; `answer(path)` gives the status of the response, and may block."""

    def __init__(self, port, answer=lambda path: 200):
        self.messages, self.answer, self.lock, self.port = [], answer, threading.Lock(), port
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                message = Message(self.path, dict(self.headers.items()), body)
                with receiver.lock:
                    receiver.messages.append(message)
                self.send_response(receiver.answer(self.path))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path):
        return "http://127.0.0.1:%d%s" % (self.port, path)

    def of(self, path):
        """Messages that came for a path."""
        with self.lock:
            return [message for message in self.messages if message.path == path]

    def records(self, path):
        return [record for message in self.of(path) for record in message.records]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
