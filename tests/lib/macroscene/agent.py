"""An agent that answers every check with 1 and remembers the keys that it was asked for."""

import json
import socket
import struct
import threading

import bed


class Agent(threading.Thread):
    """Listens on a free port of loopback until `stop`."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.keys = set()
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                try:
                    self._answer(connection)
                except OSError:
                    continue

    def _answer(self, connection):
        data = b""
        while len(data) < 13 or len(data) < 13 + struct.unpack("<I", data[5:9])[0]:
            block = connection.recv(65536)
            if not block:
                return
            data += block
        text = data[13:].decode()
        try:
            self.keys.add(json.loads(text)["data"][0]["key"])
            answer = json.dumps({"version": "7.0.0", "variant": 1, "data": [{"value": "1"}]})
        except ValueError:
            self.keys.add(text)
            answer = "1"
        connection.sendall(bed.frame(answer))

    def stop(self):
        self.listener.close()
