"""A relay in front of PostgreSQL that loses the response to a COMMIT."""

import socket
import threading

COMMIT = b"Q\x00\x00\x00\x0bCOMMIT\x00"


class CommitCutter:
    """Relays connections. After `arm`, the transaction that sends the given word loses its
    connection at its COMMIT, and the next connections are refused."""

    def __init__(self, port):
        self.server, self.word, self.reaches, self.refused, self.cut = port, None, False, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def arm(self, word, reaches, refused):
        """`reaches`: whether the server gets the COMMIT. `refused`: connections refused after it."""
        self.refused, self.reaches, self.word = refused, reaches, word.encode()

    def stop(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            if self.word is None and self.refused > 0:
                self.refused -= 1
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.server))
            silent = threading.Event()
            threading.Thread(target=self.up, args=(client, server, silent), daemon=True).start()
            threading.Thread(target=self.down, args=(client, server, silent), daemon=True).start()

    def up(self, client, server, silent):
        """From the client to the server."""
        armed = False
        while data := self.receive(client):
            armed |= self.word is not None and self.word in data
            if armed and data.endswith(COMMIT):
                silent.set()
                self.cut += 1
                self.word = None
                if self.reaches:
                    # The end of the session follows the end of the transaction; `down` closes both ends.
                    server.sendall(data + b"X\x00\x00\x00\x04")
                    return
                break
            server.sendall(data)
        self.close(client, server)

    def down(self, client, server, silent):
        """From the server to the client."""
        while data := self.receive(server):
            if not silent.is_set():
                client.sendall(data)
        self.close(client, server)

    @staticmethod
    def receive(end):
        try:
            return end.recv(65536)
        except OSError:
            return b""

    @staticmethod
    def close(*ends):
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
