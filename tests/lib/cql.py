"""Asks Cassandra over its own protocol (version 4): an eye that shares nothing with the driver."""

import socket
import struct

ONE, QUORUM, ALL = 1, 4, 5
STARTUP, AUTH_RESPONSE, QUERY = 0x01, 0x0F, 0x07
ERROR, READY, AUTHENTICATE, RESULT, AUTH_SUCCESS = 0x00, 0x02, 0x03, 0x08, 0x10
ASCII, BIGINT, DOUBLE, INT, VARCHAR, VARINT = 0x01, 0x02, 0x07, 0x09, 0x0D, 0x0E
LIST, MAP, SET = 0x20, 0x21, 0x22


class Cell:
    """Reads a body from front to back."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, count):
        self.at += count
        return self.body[self.at - count:self.at]

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self):
        return self.take(self.number(">H")).decode()

    def kind(self):
        """The type of a column; of collections the types inside are passed over."""
        kind = self.number(">H")
        for _ in range({LIST: 1, SET: 1, MAP: 2}.get(kind, 0)):
            self.kind()
        return kind

    def bytes(self):
        length = self.number(">i")
        return None if length < 0 else self.take(length)


def value(kind, data):
    """A cell as Python has it; bytes where the type is none that tests need."""
    if data is None:
        return None
    if kind in (ASCII, VARCHAR):
        return data.decode()
    if kind in (BIGINT, INT, VARINT):
        return int.from_bytes(data, "big", signed=True)
    return struct.unpack(">d", data)[0] if kind == DOUBLE else data


class Cql:
    """A connection; use it in `with`."""

    def __init__(self, host, port, user="", password="", tls=None, timeout=20):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        try:
            if tls:
                self.socket = tls.wrap_socket(self.socket)
            options = struct.pack(">H", 1) + self.string("CQL_VERSION") + self.string("3.0.0")
            kind, _ = self.call(STARTUP, options)
            if kind == AUTHENTICATE:
                token = ("\0%s\0%s" % (user, password)).encode()
                kind, _ = self.call(AUTH_RESPONSE, struct.pack(">i", len(token)) + token)
            if kind not in (READY, AUTH_SUCCESS):
                raise OSError("Cassandra answered %d to a start" % kind)
        except Exception:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    @staticmethod
    def string(text):
        return struct.pack(">H", len(text)) + text.encode()

    def read(self, count):
        data = b""
        while len(data) < count:
            block = self.socket.recv(count - len(data))
            if not block:
                raise ConnectionResetError("Cassandra closed the connection")
            data += block
        return data

    def call(self, opcode, body):
        self.socket.sendall(struct.pack(">BBhBi", 4, 0, 1, opcode, len(body)) + body)
        _, _, _, kind, length = struct.unpack(">BBhBi", self.read(9))
        answer = self.read(length)
        if kind == ERROR:
            error = Cell(answer)
            raise OSError("%04x %s" % (error.number(">i"), error.text()))
        return kind, answer

    def ask(self, cql, consistency=ONE):
        """All rows, as tuples."""
        rows, paging = [], b""
        while True:
            body = struct.pack(">i", len(cql.encode())) + cql.encode()
            body += struct.pack(">HB", consistency, 8 if paging else 0)
            if paging:
                body += struct.pack(">i", len(paging)) + paging
            kind, answer = self.call(QUERY, body)
            cells = Cell(answer)
            if kind != RESULT or cells.number(">i") != 2:
                return rows
            paging = self.rows(cells, rows)
            if not paging:
                return rows

    @staticmethod
    def rows(cells, rows):
        """Adds the rows of an answer; returns where the next begins, if there are more."""
        marks, columns = cells.number(">i"), cells.number(">i")
        paging = cells.bytes() if marks & 2 else b""
        if marks & 1:
            cells.text(), cells.text()
        kinds = []
        for _ in range(columns):
            if not marks & 1:
                cells.text(), cells.text()
            cells.text()
            kinds.append(cells.kind())
        for _ in range(cells.number(">i")):
            rows.append(tuple(value(kind, cells.bytes()) for kind in kinds))
        return paging
