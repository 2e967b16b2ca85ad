"""Connections to the service: `Client` waits, `AsyncClient` is for asyncio."""

import asyncio
import http.client
import os
import selectors
import ssl
import urllib.parse

from .messages import (
    Error, encode, name, network, read_body, refused, rows, write_body, written)


class _Address:
    """Of the server: "http://HOST:PORT" or "https://HOST:PORT"."""

    def __init__(self, url, token, ca_file):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("no address like http://127.0.0.1:8080: %r" % url)
        if "\r" in token or "\n" in token:
            raise ValueError("a token is one line")
        self.host, self.secure = parts.hostname, parts.scheme == "https"
        self.port = parts.port or (443 if self.secure else 80)
        self.context = ssl.create_default_context(cafile=ca_file) if self.secure else None
        self.headers = {"Content-Type": "application/json", "Authorization": "Bearer " + token}


def _is_stale(connection):
    """Whether there is something to read of an idle connection: the server has ended it."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        return bool(selector.select(0))


class _Calls:
    """The calls of both clients, over `_read` and `write_encoded`."""

    def write(self, values, synced=False, resend=False):
        """Writes `value`s; returns how many are kept and which were refused."""
        return self.write_encoded([encode(one) for one in values], synced, resend)

    def range(self, items, since=0, till=0, limit=0, descending=False):
        """Samples of a span, item after item; till 0 = without end, limit (per item) 0 = all."""
        names = [name(item) for item in items]
        return self._read("range", {"items": names, "from": since, "till": till, "limit": limit,
                                    "descending": descending})

    def newest(self, items, count=1):
        """The newest samples of each item, newest first."""
        return self._read("newest", {"items": [name(item) for item in items], "count": count})

    def trends(self, items, since=0, till=0):
        """Hours of a span, item after item."""
        names = [name(item) for item in items]
        return self._read("trends", {"items": names, "from": since, "till": till})


class Client(_Calls):
    """A connection: one call at a time. A lost one is created again with the next call, and so is a
    parent's after a fork. A call ends what another one was still reading: that raises an Error."""

    def __init__(self, url, token, ca_file=None, timeout=60.0):
        at = self._at = _Address(url, token, ca_file)
        if at.secure:
            self._http = http.client.HTTPSConnection(
                at.host, at.port, timeout=timeout, context=at.context)
        else:
            self._http = http.client.HTTPConnection(at.host, at.port, timeout=timeout)
        # The process and number of the call that has the connection, until its answer is read.
        self._calls, self._process, self._reading = 0, os.getpid(), False

    def close(self):
        self._calls += 1
        self._http.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _post(self, call, body):
        """The answer to a call; its body is not read yet."""
        connection = self._http.sock
        if (self._reading or self._process != os.getpid()
                or connection is not None and _is_stale(connection)):
            self._http.close()
        self._calls += 1
        self._process, self._reading = os.getpid(), True
        try:
            self._http.request("POST", "/api/history/" + call, body, self._at.headers)
            answer = self._http.getresponse()
            if not answer.chunked and answer.length is None:
                raise http.client.HTTPException("nothing tells where the answer ends")
            if answer.status != 200:
                raise refused(answer.status, answer.read())
        except (OSError, http.client.HTTPException) as problem:
            self._http.close()
            raise network(problem) from problem
        return answer

    def write_encoded(self, values, synced=False, resend=False):
        """As `write`, of values that `messages.encode` has made bytes of."""
        answer = self._post("write", write_body(values, synced, resend))
        try:
            reply = answer.read()
        except (OSError, http.client.HTTPException) as problem:
            self._http.close()
            raise network(problem) from problem
        self._reading = False
        return written(reply)

    def _pieces(self, answer):
        """The body until HTTP says that it ends: the connection's end is none of a body."""
        mine = self._calls, os.getpid()
        while True:
            if mine != (self._calls, os.getpid()):
                raise Error("interrupted", "caller", False,
                            "another call, close or a fork took the connection of this answer")
            try:
                # Not readline, which ends where the connection does.
                piece = answer.read1(1 << 16) if answer.chunked else answer.read()
            except (OSError, http.client.HTTPException) as problem:
                self._http.close()
                raise network(problem) from problem
            if not piece:
                self._reading = False
                return
            yield piece

    def _read(self, call, message):
        rest = b""
        for piece in self._pieces(self._post(call, read_body(message))):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield from rows(line)
        if rest:
            yield from rows(rest)


class AsyncClient(_Calls):
    """The same for asyncio; several calls at a time have a connection each."""

    def __init__(self, url, token, ca_file=None, timeout=60.0):
        self._at = _Address(url, token, ca_file)
        self._timeout = timeout
        # Connections without a call, and the process and loop that they belong to.
        self._idle, self._home = [], None

    async def close(self):
        while self._idle:
            self._idle.pop()[1].close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()

    async def _wait(self, what):
        try:
            return await asyncio.wait_for(what, self._timeout)
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as problem:
            raise network(problem) from problem

    async def _connection(self):
        home = os.getpid(), asyncio.get_running_loop()
        if self._home != home:
            self._idle, self._home = [], home
        while self._idle:
            reader, writer = self._idle.pop()
            ended = reader.at_eof() or writer.is_closing()
            if not ended and not _is_stale(writer.get_extra_info("socket")):
                return reader, writer
            writer.close()
        at = self._at
        # A line holds a page: at most 16 MiB.
        return await self._wait(asyncio.open_connection(
            at.host, at.port, ssl=at.context, limit=32 << 20))

    async def _head(self, reader):
        status = int((await self._wait(reader.readline())).split(b" ")[1])
        headers = {}
        while True:
            line = (await self._wait(reader.readline())).rstrip()
            if not line:
                return status, headers
            title, _, text = line.partition(b":")
            headers[title.strip().lower()] = text.strip().lower()

    async def _body(self, reader, headers):
        """The pieces of an answer."""
        if headers.get(b"transfer-encoding") != b"chunked":
            yield await self._wait(reader.readexactly(int(headers.get(b"content-length", 0))))
            return
        while True:
            size = int(await self._wait(reader.readline()), 16)
            piece = await self._wait(reader.readexactly(size + 2))
            if not size:
                return
            yield piece[:-2]

    async def _lines(self, call, body):
        """The lines of the answer to a call."""
        reader, writer = await self._connection()
        whole = False
        try:
            head = ["POST /api/history/%s HTTP/1.1" % call,
                    "Host: %s:%d" % (self._at.host, self._at.port),
                    "Content-Length: %d" % len(body)]
            head += ["%s: %s" % header for header in self._at.headers.items()]
            writer.write("\r\n".join(head + ["", ""]).encode() + body)
            await self._wait(writer.drain())
            status, headers = await self._head(reader)
            rest = b""
            async for piece in self._body(reader, headers):
                rest += piece
                if status == 200:
                    *lines, rest = rest.split(b"\n")
                    for line in lines:
                        yield line
            whole = headers.get(b"connection") != b"close"
            if status != 200:
                raise refused(status, rest)
            if rest:
                yield rest
        except (IndexError, ValueError) as problem:
            # The connection broke in the middle of a number.
            raise network(problem) from problem
        finally:
            if whole:
                self._idle.append((reader, writer))
            else:
                writer.close()

    async def write_encoded(self, values, synced=False, resend=False):
        """As `write`, of values that `messages.encode` has made bytes of."""
        lines = self._lines("write", write_body(values, synced, resend))
        return written(b"".join([line async for line in lines]))

    async def _read(self, call, message):
        async for line in self._lines(call, read_body(message)):
            for row in rows(line):
                yield row
