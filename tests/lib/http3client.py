"""A client of HTTP/3 that shares no code with the engine (aioquic). Runs in an environment that has it; prints what it
learned as JSON. Arguments: port, file with the certificate of the authority, bytes to send."""

import asyncio
import collections
import hashlib
import json
import os
import struct
import sys

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection, Setting
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, StreamReset

TIMEOUT_S = 60
TEXT, CLOSE = 1, 8


class Exchange:
    """A stream: the head of its response, and its data as it arrives."""

    def __init__(self):
        self.head = asyncio.get_running_loop().create_future()
        self.data, self.ended, self.changed = b"", False, asyncio.Event()

    async def read(self, length=None):
        """So many bytes, or all of them."""
        while not self.ended if length is None else len(self.data) < length:
            if self.ended:
                raise ConnectionError("the stream ended after %d bytes" % len(self.data))
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), TIMEOUT_S)
        length = len(self.data) if length is None else length
        data, self.data = self.data[:length], self.data[length:]
        return data


class Client(QuicConnectionProtocol):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.http, self.exchanges, self.alpn = None, collections.defaultdict(Exchange), None

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.alpn = event.alpn_protocol
            self.http = H3Connection(self._quic)
        if isinstance(event, StreamReset):
            self.end(event.stream_id)
        for received in self.http.handle_event(event) if self.http else ():
            exchange = self.exchanges[received.stream_id]
            if isinstance(received, HeadersReceived) and not exchange.head.done():
                exchange.head.set_result({name.decode(): value.decode() for name, value in received.headers})
            if isinstance(received, DataReceived):
                exchange.data += received.data
            exchange.ended |= getattr(received, "stream_ended", False)
            exchange.changed.set()

    def end(self, stream):
        self.exchanges[stream].ended = True
        self.exchanges[stream].changed.set()

    def begin(self, method, path, more=(), end=False):
        stream = self._quic.get_next_available_stream_id()
        head = {":method": method, ":scheme": "https", ":authority": "localhost", ":path": path, **dict(more)}
        # Pseudo-header fields come first.
        order = sorted(head.items(), key=lambda field: not field[0].startswith(":"))
        self.http.send_headers(stream, [(name.encode(), value.encode()) for name, value in order], end)
        self.transmit()
        return stream, self.exchanges[stream]

    def send(self, stream, data, end=False):
        self.http.send_data(stream, data, end)
        self.transmit()

    async def fetch(self, path):
        _, exchange = self.begin("GET", path, end=True)
        head = await asyncio.wait_for(exchange.head, TIMEOUT_S)
        return head[":status"], await exchange.read()

    async def post(self, path, body):
        stream, exchange = self.begin("POST", path, {"content-length": str(len(body))})
        self.send(stream, body, True)
        head = await asyncio.wait_for(exchange.head, TIMEOUT_S)
        return head[":status"], await exchange.read()


def frame(kind, content):
    """A frame of WebSocket, masked as those of clients are."""
    mask = os.urandom(4)
    length = len(content)
    size = bytes([0x80 | length]) if length < 126 else struct.pack(
        ">BH", 0x80 | 126, length) if length < 1 << 16 else struct.pack(">BQ", 0x80 | 127, length)
    return bytes([0x80 | kind]) + size + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))


async def message(exchange):
    kind, length = await exchange.read(2)
    if length == 126:
        length, = struct.unpack(">H", await exchange.read(2))
    elif length == 127:
        length, = struct.unpack(">Q", await exchange.read(8))
    return kind & 15, await exchange.read(length)


async def web_socket(client):
    stream, exchange = client.begin("CONNECT", "/socket", {
        ":protocol": "websocket", "sec-websocket-version": "13", "sec-websocket-protocol": "echo"})
    head = await asyncio.wait_for(exchange.head, TIMEOUT_S)
    lengths = []
    for length in (0, 5, 200, 300_000):
        sent = os.urandom(length)
        client.send(stream, frame(TEXT, sent))
        kind, received = await message(exchange)
        lengths.append(len(received) if (kind, received) == (TEXT, sent) else "another message")
    client.send(stream, frame(CLOSE, b"\x03\xe8"), True)
    kind, _ = await message(exchange)
    await exchange.read()
    return {"status": head[":status"], "protocol": head.get("sec-websocket-protocol"), "lengths": lengths,
            "closed": kind == CLOSE}


async def main(port, authority, count):
    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, server_name="localhost", cafile=authority)
    async with connect("127.0.0.1", port, configuration=configuration, create_protocol=Client) as client:
        page = await client.fetch("/")
        resources = await asyncio.gather(*(client.fetch("/resource/%d" % number) for number in range(30)))
        body = os.urandom(count)
        status, shown = await client.post("/upload", body)
        settings = client.http.received_settings or {}
        result = {
            "alpn": client.alpn, "page": [page[0], len(page[1])],
            "resources": [[status, hashlib.sha256(data).hexdigest()] for status, data in resources],
            "upload": [status, json.loads(shown) == {"bytes": count, "sha256": hashlib.sha256(body).hexdigest()}],
            "extended_connect": settings.get(Setting.ENABLE_CONNECT_PROTOCOL),
            "web_socket": await web_socket(client),
            # The connection is as good as before.
            "after": (await client.fetch("/resource/0"))[0]}
    print(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
