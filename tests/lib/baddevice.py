"""SNMP devices that misbehave: each answers on a port of its own, in its own bad way."""

import random
import socket
import threading
import time

import bed

#: What all of them would say.
VALUE = b"right"
#: What two of which make a datagram of nearly the greatest size.
LARGE = b"0123456789abcdef" * 2_000


def tlv(tag, *parts):
    """One value of the basic encoding rules."""
    body = b"".join(parts)
    size = len(body)
    length = bytes([size]) if size < 128 else bytes([0x82, size >> 8, size & 255])
    return bytes([tag]) + length + body


def parts(data):
    """The values one after the other: tag and contents."""
    found = []
    while data:
        size, begin = data[1], 2
        if size & 0x80:
            begin += size & 0x7F
            size = int.from_bytes(data[2:begin], "big")
        found.append((data[0], data[begin:begin + size]))
        data = data[begin + size:]
    return found


def answer(request, value=VALUE, flip=0):
    """The answer to a GET of version 2c: each name has the value; `flip` changes the request's id."""
    (_, version), (_, community), (_, pdu) = parts(parts(request)[0][1])
    (_, identity), _, _, (_, varbinds) = parts(pdu)
    identity = bytes([*identity[:-1], identity[-1] ^ flip])
    rows = [tlv(0x30, tlv(6, parts(one)[0][1]), tlv(4, value)) for _, one in parts(varbinds)]
    zero = tlv(2, b"\0")
    return tlv(0x30, tlv(2, version), tlv(4, community),
               tlv(0xA2, tlv(2, identity), zero, zero, tlv(0x30, *rows)))


class Device:
    """A device; `way` names what it does with each request."""

    def __init__(self, way, late=0.0):
        self.way, self.late = way, late
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.port = bed.free_port(socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", self.port))
        self.other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.other.bind(("127.0.0.2", self.port))
        self.heard = 0
        self.random = random.Random(7)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                request, peer = self.socket.recvfrom(65536)
                self.heard += 1
                getattr(self, "_" + self.way)(request, lambda data: self.socket.sendto(data, peer), peer)
            except OSError:
                return

    def _never(self, request, send, peer):
        """Nothing is said."""

    def _late(self, request, send, peer):
        def say():
            try:
                send(answer(request))
            except OSError:
                """It was stopped meanwhile."""
        timer = threading.Timer(self.late, say)
        timer.daemon = True
        timer.start()

    def _twice(self, request, send, peer):
        send(answer(request))
        send(answer(request, b"wrong"))

    def _truncated(self, request, send, peer):
        whole = answer(request)
        for end in range(len(whole)):
            send(whole[:end])

    def _second(self, request, send, peer):
        whole = answer(request)
        send(whole if self.heard % 2 == 0 else whole[:-3])

    def _elsewhere(self, request, send, peer):
        self.other.sendto(answer(request, b"wrong"), peer)

    def _large(self, request, send, peer):
        send(answer(request, LARGE))

    def _another(self, request, send, peer):
        send(answer(request, b"wrong", flip=1))

    def _junk(self, request, send, peer):
        for n in range(2000):
            send(self.random.randbytes(n % 1400))
            if n % 200 == 0:
                time.sleep(0.001)
        send(answer(request))

    def stop(self):
        for one in (self.socket, self.other):
            one.close()
