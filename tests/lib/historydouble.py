"""A double of the history service over HTTP that fails as it is told, request after request.

What the service does when all is well, the tests of the real one show; nothing here proves it.
"""

import json
import socket
import struct
import threading
import time


class Double:
    """`answers`: one for each request, in turn; each sends what it wants through a connection and
    returns whether that stays open. The last one is for all further requests too."""

    def __init__(self, *answers, context=None):
        self._answers, self._context = list(answers), context
        # Of each request: the connection's number, the call, and its message.
        self.requests, self._connections, self._lock = [], 0, threading.Lock()
        #: Connections that it has ended.
        self.ended = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "%s://127.0.0.1:%d" % (
            "https" if context else "http", self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def messages(self, call="write"):
        """The messages of a call so far."""
        with self._lock:
            return [message for _, one, message in self.requests if one == call]

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections += 1
            arguments = connection, self._connections
            threading.Thread(target=self._serve, args=arguments, daemon=True).start()

    def _serve(self, connection, number):
        try:
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            stays = True
            while stays:
                request = _read_request(connection)
                if request is None:
                    break
                with self._lock:
                    self.requests.append((number, *request))
                    more = len(self._answers) > 1
                    answer = self._answers.pop(0) if more else self._answers[0]
                stays = answer(connection, request[1])
        except OSError:
            pass
        connection.close()
        with self._lock:
            self.ended += 1


def _read_request(connection):
    """The call and its message; None: the client has ended."""
    data = b""
    while b"\r\n\r\n" not in data:
        block = connection.recv(1 << 16)
        if not block:
            return None
        data += block
    head, body = data.split(b"\r\n\r\n", 1)
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                  if line.lower().startswith(b"content-length"))
    while len(body) < length:
        block = connection.recv(1 << 20)
        if not block:
            return None
        body += block
    # Not UTF-8 is an error here, as it is in the service.
    return head.split(b" ")[1].decode().rpartition("/")[2], json.loads(body.decode())


def _whole(connection, body, status="200 OK"):
    connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s"
                       % (status.encode(), len(body), body))
    return True


def kept(connection, message):
    """All is well with a write."""
    return _whole(connection, json.dumps({"kept": str(len(message["values"]))}).encode())


def kept_and_ended(connection, message):
    """The connection ends after the answer, as an idle one does."""
    kept(connection, message)
    return False


def kept_and_reset(connection, message):
    kept(connection, message)
    time.sleep(0.2)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def held(event, answer):
    """An answer that waits for an event."""
    def wait(connection, message):
        event.wait(60)
        return answer(connection, message)
    return wait


def lost(_connection, _message):
    """The answer does not arrive."""
    return False


def status(line):
    """Plain words, as of a proxy."""
    return lambda connection, message: _whole(connection, b"Not now.\n", line)


def failure(line, reason):
    """A refusal in the service's own form."""
    body = {"failure": {"reason": reason, "fault": "caller", "retry": False, "message": "no: " + reason}}
    return lambda connection, message: _whole(connection, json.dumps(body).encode(), line)


def pages(*lines, cut=False, pause=0.0):
    """The lines of a read, each in a chunk of its own; cut: the end does not come."""
    def answer(connection, _message):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for line in lines:
            body = json.dumps(line).encode() + b"\n"
            connection.sendall(b"%x\r\n%s\r\n" % (len(body), body))
            time.sleep(pause)
        if not cut:
            connection.sendall(b"0\r\n\r\n")
        return not cut
    return answer


def page(first, count, **content):
    """A page of samples of the item 1."""
    return {"itemid": "1", "samples": [dict(clock=first + n, ns=0, **(content or {"float": 0.5}))
                                       for n in range(count)]}
