"""A line to a server on which each answer takes its time."""

import contextlib
import socket
import socketserver
import threading
import time


class Connection(socketserver.BaseRequestHandler):
    """Passes on what both sides say."""

    asked = False

    def handle(self):
        with socket.create_connection(self.server.target) as target:
            back = threading.Thread(target=self.pass_on, args=(target, self.request))
            back.start()
            self.pass_on(self.request, target)
            back.join()

    def pass_on(self, source, to):
        """Until one of them ends."""
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                if source is self.request:
                    self.asked = True
                elif self.asked:
                    self.asked = False
                    time.sleep(self.server.delay)
                    self.server.delayed += 1
                to.sendall(piece)
        with contextlib.suppress(OSError):
            to.shutdown(socket.SHUT_WR)


class SlowLine(socketserver.ThreadingTCPServer):
    """Leads to a port of loopback; `delay` is in seconds, `delayed` counts."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port, delay):
        super().__init__(("127.0.0.1", 0), Connection)
        self.target, self.delay, self.delayed = ("127.0.0.1", port), delay, 0
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()
