"""What network discovery finds: listeners on addresses of loopback."""

import json
import socket
import threading

import bed


class Service:
    """Accepts connections on an address of loopback until it is stopped."""

    def __init__(self, ip, port=0):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # No connection takes it when nobody listens any more.
        self.port = port or bed.free_port()
        self.socket.bind((ip, self.port))
        self.socket.listen(64)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            try:
                self.answer(connection)
            except (OSError, ValueError):
                pass
            finally:
                connection.close()

    def answer(self, connection):
        """Nothing is said."""

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class PassiveAgent(Service):
    """Says one value, whatever it is asked for."""

    def __init__(self, ip, value, port=0):
        self.value = value
        super().__init__(ip, port)

    def answer(self, connection):
        connection.settimeout(5)
        asked = connection.recv(65536)
        said = self.value
        if b"passive checks" in asked:
            said = json.dumps({"version": "7.0.0", "variant": 1, "data": [{"value": said}]})
        connection.sendall(bed.frame(said))
