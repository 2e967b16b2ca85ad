"""Small services that simple checks meet: each listens on a free port of loopback and keeps what it
was told."""

import contextlib
import os
import socket
import ssl
import struct
import subprocess
import threading
import time

#: A service answers or hangs up after so many seconds.
PATIENCE = 1.0


class Talker:
    """Greets each client with the same bytes, in the same pieces, then listens."""

    def __init__(self, greeting=b"", first_listen=False, context=None, patience=PATIENCE):
        self.greeting = greeting if isinstance(greeting, list) else [greeting]
        self.first_listen = first_listen
        self.context, self.patience = context, patience
        self.heard = b""
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                connection.settimeout(self.patience)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with connection, contextlib.suppress(OSError):
                    if self.context:
                        with self.context.wrap_socket(connection, server_side=True) as secure:
                            self._talk(secure)
                    else:
                        self._talk(connection)

    def _talk(self, connection):
        # What the one before said in parting may have come after it was looked at.
        self.heard = b""
        if self.first_listen:
            self.heard += connection.recv(2000)
        for n, piece in enumerate(self.greeting):
            if n:
                time.sleep(0.15)
            connection.sendall(piece)
        while True:
            block = connection.recv(2000)
            if not block:
                return
            self.heard += block

    def stop(self):
        # Wakes the thread that accepts.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class TimeServer:
    """NTP over UDP: `change` makes of the right answer what is sent."""

    def __init__(self, change=lambda reply: [reply]):
        self.change = change
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                request, peer = self.socket.recvfrom(2000)
                if not peer:
                    return
                now = struct.pack(">II", int(time.time()) + 2208988800, 5)
                reply = bytearray(b"\x1c\x02\x03\xec" + bytes(8) + b"test" + now + request[40:48] + now + now)
                for packet in self.change(reply):
                    self.socket.sendto(bytes(packet), peer)

    def stop(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def element(tag, content):
    """BER: tag, length, content."""
    return bytes([tag, len(content)]) + content


def ldap_entry(attributes, message=1):
    """A searchResultEntry."""
    rows = b"".join(
        element(0x30, element(4, name) + element(0x31, b"".join(element(4, v) for v in values)))
        for name, values in attributes)
    entry = element(0x64, element(4, b"") + element(0x30, rows))
    return element(0x30, element(2, bytes([message])) + entry)


def ldap_done(code, message=1):
    """A searchResultDone."""
    done = element(0x65, element(10, bytes([code])) + element(4, b"") + element(4, b""))
    return element(0x30, element(2, bytes([message])) + done)


def tls_context(folder):
    """A server's TLS with a certificate of its own that nobody trusts."""
    key, certificate = os.path.join(folder, "web.key"), os.path.join(folder, "web.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "2", "-subj", "/CN=web.example"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


#: What a service says, and whether it counts as up: (service, greeting).
GREETINGS = [
    ("ssh", b"SSH-2.0-OpenSSH_9\r\n"), ("ssh", b"SSH-1.99-x\n"), ("ssh", b"SSH-2.0\r\n"),
    ("ssh", [b"hello\r\n", b"SSH-2.0-x\r\n"]), ("ssh", [b"SSH-", b"2.0-x\r\n"]),
    ("ssh", b"ssh-2.0-x\r\n"), ("ssh", b"SSH-x.y-z\r\n"), ("ssh", b"SSH-2-x\r\n"), ("ssh", b"SSH-2.0-x"),
    ("smtp", b"220 hi\r\n"), ("smtp", b"220\r\n"), ("smtp", [b"220-hi\r\n", b"220 there\r\n"]),
    ("smtp", b"220-hi\r\n"), ("smtp", b"220-hi\r\n554 no\r\n"), ("smtp", b"554 no\r\n"), ("smtp", b"220"),
    ("smtp", b"hello\r\n220 x\r\n"), ("smtp", b"22"),
    ("ftp", b"220 hi\r\n"), ("ftp", b"220-a\r\n220 b\r\n"), ("ftp", b"120 wait\r\n220 ok\r\n"),
    ("ftp", b"220-a\r\n"), ("ftp", b"220\r\n"), ("ftp", b"421 no\r\n"),
    ("pop", b"+OK hi\r\n"), ("pop", b"+OKAY\r\n"), ("pop", b"-ERR\r\n"), ("pop", b"hi\r\n+OK\r\n"),
    ("nntp", b"200 hi\r\n"), ("nntp", b"201 hi\r\n"), ("nntp", b"400 no\r\n"),
    ("imap", b"* OK hi\r\n"), ("imap", b"* PREAUTH hi\r\n"), ("imap", b"* BYE\r\n"), ("imap", b"* OK"),
    ("telnet", b"login:"), ("telnet", b"hello\r\nname: "), ("telnet", b"login: x"), ("telnet", b"user:\n"),
    ("telnet", [b"lo", b"gin:"]), ("telnet", b"\xff\xfd\x18\xff\xfd\x20\xff\xfb\x03login: "),
    ("telnet", b"hello"), ("tcp", b""), ("http", b"no web"),
]

#: Answers of a web server behind TLS.
WEB_ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.0 200\r\n\r\n", b"HTTP/2 200\r\n\r\n",
    b"HTTP/9.9 200\r\n\r\n", b"ICY 200 OK\r\n\r\n", b"junk\r\n", b"HTTP/1.1 100 Continue\r\n\r\n",
]

_CONTEXT = [(b"namingContexts", [b"dc=example"])]

#: Answers of a directory.
LDAP_ANSWERS = {
    "entry": ldap_entry(_CONTEXT) + ldap_done(0),
    "any attribute": ldap_entry([(b"a", [b"b"])]) + ldap_done(0),
    "no attributes": ldap_entry([]) + ldap_done(0),
    "too large": ldap_entry(_CONTEXT) + ldap_done(4),
    "only done": ldap_done(0),
    "refused": ldap_done(50),
    "not done": ldap_entry(_CONTEXT),
    "another's": ldap_entry(_CONTEXT, 2) + ldap_done(0, 2),
    "junk": b"junk",
}


def _set(at, value):
    def change(reply):
        reply[at] = value
        return [reply]
    return change


#: What may be wrong with the answer of a time server.
TIME_ANSWERS = {
    "version 3": lambda reply: [reply],
    "version 4": _set(0, 0x24),
    "version 2": _set(0, 0x14),
    "version 1": _set(0, 0x0c),
    "version 5": _set(0, 0x2c),
    "alarm": _set(0, 0xdc),
    "client": _set(0, 0x1b),
    "broadcast": _set(0, 0x1d),
    "stratum 0": _set(1, 0),
    "stratum 15": _set(1, 15),
    "stratum 16": _set(1, 16),
    "of another": _set(24, 1),
    "short": lambda reply: [reply[:47]],
    "long": lambda reply: [reply + bytes(20)],
    "no time": lambda reply: [reply[:40] + bytes(8)],
    "twice": lambda reply: [reply, reply],
    "silent": lambda reply: [],
}
