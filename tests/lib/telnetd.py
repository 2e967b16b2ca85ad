"""A small telnet server: negotiates, asks for name and password, echoes, answers."""

import socketserver
import threading

SE, SB, WILL, DO, IAC = 240, 250, 251, 253, 255
USER, PASSWORD = "admin", "secret"
ANSWERS = {
    "show": b"one\r\ntwo\r\n\r\n",
    "prompt": b"a > b\r\n",
    "latin": b"\xe4\r\n",
    "crnul": b"a\r\0b\r\n",
    "empty": b"",
    "nonl": b"text",
}


class Session(socketserver.BaseRequestHandler):
    def line(self):
        """What is typed, without wishes about options."""
        out = b""
        while True:
            sign = self.request.recv(1)
            if not sign:
                raise ConnectionError
            if sign[0] == IAC:
                self.server.wishes.append(tuple(self.request.recv(2)))
            elif sign == b"\n":
                return out.rstrip(b"\r").decode()
            else:
                out += sign

    def handle(self):
        try:
            self.talk(self.request.sendall)
        except OSError:
            pass

    def talk(self, send):
        send(bytes([IAC, DO, 24, IAC, WILL, 1, IAC, WILL, 3, IAC, SB, 24, 1, IAC, SE]))
        if self.server.silent:
            self.line()
            return
        send(b"Welcome\r\nlogin: ")
        user = self.line()
        send(user.encode() + b"\r\nPassword: ")
        if (user, self.line()) != (USER, PASSWORD):
            send(b"\r\nLogin incorrect\r\nlogin: ")
            self.line()
            return
        send(b"\r\nhost> ")
        while True:
            command = self.line()
            send(command.encode() + b"\r\n")
            if command == "hang":
                self.line()
            if command == "close":
                return
            unknown = b"unknown: " + command.encode() + b"\r\n"
            send(ANSWERS.get(command, unknown) + b"host> ")


class Server(socketserver.ThreadingTCPServer):
    """Started by making one; `port` is where it listens."""

    daemon_threads = True

    def __init__(self, silent=False):
        super().__init__(("127.0.0.1", 0), Session)
        self.silent, self.wishes, self.port = silent, [], self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()
