"""Client of Vedette's history service: other programs write and read history.

Standard library only. `Client` for programs that wait, `AsyncClient` for asyncio; `Writer` and
`AsyncWriter` write in the background, in batches, until everything is acknowledged. It speaks the
HTTP/JSON form of the service; docs/history-service.md has examples.
"""

import asyncio
import collections
import http.client
import json
import socket
import ssl
import threading
import time
import urllib.parse

__version__ = "1.0"

# Values that one write may carry.
VALUES_MAX = 10_000
# Bytes of a message, and of the batches that writers make.
MESSAGE_MAX, BATCH_BYTES = 16 << 20, 2 << 20
# Pauses between attempts to send a batch again, seconds.
PAUSE_FIRST, PAUSE_MAX = 0.1, 10.0

Sample = collections.namedtuple("Sample", "itemid clock ns value")
Hour = collections.namedtuple("Hour", "itemid hour count min avg max")
Log = collections.namedtuple("Log", "text clock source severity eventid", defaults=(0, "", 0, 0))
Refusal = collections.namedtuple("Refusal", "index reason fault retry message")
Written = collections.namedtuple("Written", "kept refused")


class Error(Exception):
    """A call failed. `reason` and `fault` are those of the protocol ("network": there was no
    answer); `retry`: send the same again, a write with resend=True."""

    def __init__(self, reason, fault, retry, message):
        super().__init__(message)
        self.reason, self.fault, self.retry = reason, fault, retry


def _network(problem):
    return Error("network", "server", True, "no answer: %s" % (problem or type(problem).__name__))


def _failure(members):
    return Error(members["reason"], members["fault"], members["retry"], members["message"])


def _refused(status, body):
    """The error of an answer that is not 200."""
    try:
        return _failure(json.loads(body)["failure"])
    except (ValueError, KeyError, TypeError):
        text = body.decode("utf-8", "replace").strip() or "HTTP status %d" % status
        caller = 400 <= status < 500
        return Error("http_%d" % status, "caller" if caller else "server", not caller, text)


def _name(item):
    """An item: its id, or (host, key)."""
    if isinstance(item, tuple):
        host, key = item
        return {"host": host, "key": key}
    return {"itemid": str(item)}


def value(item, content, clock=0, ns=0):
    """A value for `write`. `item`: id or (host, key). `content`: text, number or Log. `clock`:
    seconds since 1970, also as a float with `ns` left out; 0 = when it arrives."""
    if isinstance(clock, float):
        clock, ns = int(clock), int(clock % 1 * 1e9)
    one = dict(_name(item), clock=clock, ns=ns)
    if isinstance(content, Log):
        one["log"] = content._asdict()
    elif isinstance(content, bool):
        one["unsigned"] = str(int(content))
    elif isinstance(content, int) and 0 <= content < 1 << 64:
        one["unsigned"] = str(content)
    elif isinstance(content, float):
        finite = content == content and content not in (float("inf"), float("-inf"))
        names = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
        one["float"] = content if finite else names[repr(content)]
    else:
        one["text"] = str(content)
    return one


def _encode(message):
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    if len(body) > MESSAGE_MAX:
        # The server would end the connection in the middle of it.
        raise Error("invalid", "caller", False, "a message may have %d bytes, this one has %d"
                    % (MESSAGE_MAX, len(body)))
    return body


def _batch(take, room):
    """The next values of a queue, as many as fit a message. `take` gives one; None: no more."""
    batch = []
    while len(batch) < VALUES_MAX and room > 0:
        one = take()
        if one is None:
            break
        batch.append(one)
        room -= len(one.get("text", "")) + len(one.get("log", {}).get("text", ""))
    return batch


def _write(values, synced, resend):
    return {"values": list(values), "synced": synced, "resend": resend}


def _written(reply):
    refused = [
        Refusal(one["index"], *(one["failure"][n] for n in ("reason", "fault", "retry", "message")))
        for one in reply.get("refused", ())
    ]
    return Written(int(reply["kept"]), refused)


def _rows(line):
    """What is in a line of an answer."""
    page = json.loads(line)
    if "failure" in page:
        raise _failure(page["failure"])
    itemid = int(page["itemid"])
    for one in page.get("samples", ()):
        if "log" in one:
            content = Log(**one["log"])
        elif "unsigned" in one:
            content = int(one["unsigned"])
        elif "float" in one:
            content = float(one["float"])
        else:
            content = one["text"]
        yield Sample(itemid, one["clock"], one["ns"], content)
    for one in page.get("trends", ()):
        whole = "unsigned" in one
        figures = one["unsigned" if whole else "float"]
        numbers = ((int if whole else float)(figures[name]) for name in ("min", "avg", "max"))
        yield Hour(itemid, one["hour"], one["count"], *numbers)


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


class _Reading:
    """The calls that give rows one after the other, over `_read`."""

    def range(self, items, since=0, till=0, limit=0, descending=False):
        """Samples of a span, item after item; till 0 = without end, limit (per item) 0 = all."""
        names = [_name(item) for item in items]
        return self._read("range", {"items": names, "from": since, "till": till, "limit": limit,
                                    "descending": descending})

    def newest(self, items, count=1):
        """The newest samples of each item, newest first."""
        return self._read("newest", {"items": [_name(item) for item in items], "count": count})

    def trends(self, items, since=0, till=0):
        """Hours of a span, item after item."""
        names = [_name(item) for item in items]
        return self._read("trends", {"items": names, "from": since, "till": till})


class Client(_Reading):
    """A connection: one call at a time. A lost one is made anew with the next call."""

    def __init__(self, url, token, ca_file=None, timeout=60.0):
        at = self._at = _Address(url, token, ca_file)
        if at.secure:
            self._http = http.client.HTTPSConnection(
                at.host, at.port, timeout=timeout, context=at.context)
        else:
            self._http = http.client.HTTPConnection(at.host, at.port, timeout=timeout)
        self._used = False

    def close(self):
        self._http.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _post(self, call, message):
        """The answer to a call; its body is not read yet."""
        body = _encode(message)
        if self._used:
            # An answer that was left halfway, or a connection that the server has ended since.
            self._http.close()
        self._used = True
        try:
            self._http.request("POST", "/api/history/" + call, body, self._at.headers)
            self._http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            answer = self._http.getresponse()
            if answer.status != 200:
                raise _refused(answer.status, answer.read())
        except (OSError, http.client.HTTPException) as problem:
            self._http.close()
            raise _network(problem) from problem
        return answer

    def write(self, values, synced=False, resend=False):
        """Writes `value`s; returns how many are kept and which were refused."""
        answer = self._post("write", _write(values, synced, resend))
        try:
            reply = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as problem:
            self._http.close()
            raise _network(problem) from problem
        self._used = False
        return _written(reply)

    def _read(self, call, message):
        answer = self._post(call, message)
        try:
            while True:
                line = answer.readline()
                if not line:
                    break
                yield from _rows(line)
        except (OSError, http.client.HTTPException) as problem:
            self._http.close()
            raise _network(problem) from problem
        self._used = False


class AsyncClient(_Reading):
    """The same for asyncio; several calls at a time have a connection each."""

    def __init__(self, url, token, ca_file=None, timeout=60.0):
        self._at = _Address(url, token, ca_file)
        self._timeout = timeout
        self._idle = []

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
            raise _network(problem) from problem

    async def _connection(self):
        while self._idle:
            reader, writer = self._idle.pop()
            if not reader.at_eof() and not writer.is_closing():
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
            name, _, text = line.partition(b":")
            headers[name.strip().lower()] = text.strip().lower()

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

    async def _lines(self, call, message):
        """The lines of the answer to a call."""
        body = _encode(message)
        reader, writer = await self._connection()
        whole = False
        try:
            head = ["POST /api/history/%s HTTP/1.1" % call,
                    "Host: %s:%d" % (self._at.host, self._at.port),
                    "Content-Length: %d" % len(body)]
            head += ["%s: %s" % header for header in self._at.headers.items()]
            writer.write("\r\n".join(head + ["", ""]).encode() + body)
            await self._wait(writer.drain())
            try:
                status, headers = await self._head(reader)
            except (IndexError, ValueError) as problem:
                raise _network(problem) from problem
            rest = b""
            async for piece in self._body(reader, headers):
                rest += piece
                if status == 200:
                    *lines, rest = rest.split(b"\n")
                    for line in lines:
                        yield line
            whole = headers.get(b"connection") != b"close"
            if status != 200:
                raise _refused(status, rest)
            if rest:
                yield rest
        finally:
            if whole:
                self._idle.append((reader, writer))
            else:
                writer.close()

    async def write(self, values, synced=False, resend=False):
        """Writes `value`s; returns how many are kept and which were refused."""
        lines = self._lines("write", _write(values, synced, resend))
        return _written(json.loads(b"".join([line async for line in lines])))

    async def _read(self, call, message):
        async for line in self._lines(call, message):
            for row in _rows(line):
                yield row


class _Delivery:
    """What becomes of batches: values `kept`, and who is told of refusals."""

    def __init__(self, client, refused):
        self._client, self._refused = client, refused
        self.kept = 0

    def _settle(self, batch, outcome):
        """Takes what a write came to, Written or an Error; whether the batch is done with."""
        if isinstance(outcome, Error):
            if outcome.retry:
                return False
            refusals = [(one, outcome) for one in batch]
        else:
            self.kept += outcome.kept
            refusals = [(batch[refusal.index], refusal) for refusal in outcome.refused]
        for one, refusal in refusals if self._refused else ():
            self._refused(one, refusal)
        return True


class Writer(_Delivery):
    """Writes in the background: batches of what is put, one after the other. A batch is sent again
    until it is acknowledged. `put` waits while the queue is full. Refusals go to `refused`, which
    is called on the writer's thread with the value and its Refusal, or an Error."""

    def __init__(self, client, queue_max=100_000, refused=None):
        super().__init__(client, refused)
        self._queue, self._queue_max = collections.deque(), queue_max
        self._in_hand, self._ending = 0, False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, item, content, clock=0, ns=0):
        one = value(item, content, clock or time.time(), ns)
        with self._changed:
            self._changed.wait_for(lambda: len(self._queue) < self._queue_max or self._ending)
            if self._ending:
                raise ValueError("the writer is closed")
            self._queue.append(one)
            self._changed.notify_all()

    def flush(self, timeout=None):
        """Waits until all that was put is kept or refused; whether that is so."""
        def done():
            return not self._queue and not self._in_hand

        with self._changed:
            self._changed.wait_for(lambda: done() or self._ending, timeout)
            return done()

    def close(self, timeout=30.0):
        """Flushes and ends; returns how many values were neither kept nor refused."""
        self.flush(timeout)
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        self._thread.join(timeout)
        return len(self._queue) + self._in_hand

    def _run(self):
        try:
            self._batches()
        finally:
            # Also when `refused` raised: nobody is to wait for a thread that is gone.
            with self._changed:
                self._ending = True
                self._changed.notify_all()

    def _batches(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._ending)
                if self._ending:
                    return
                batch = _batch(lambda: self._queue.popleft() if self._queue else None, BATCH_BYTES)
                self._in_hand = len(batch)
                self._changed.notify_all()
            if not self._send(batch):
                return
            with self._changed:
                self._in_hand = 0
                self._changed.notify_all()

    def _send(self, batch):
        pause, resend = PAUSE_FIRST, False
        while True:
            try:
                outcome = self._client.write(batch, resend=resend)
            except Error as error:
                outcome = error
            if self._settle(batch, outcome):
                return True
            resend = True
            with self._changed:
                if self._changed.wait_for(lambda: self._ending, pause):
                    return False
            pause = min(pause * 2, PAUSE_MAX)


class AsyncWriter(_Delivery):
    """The same for asyncio: `async with AsyncWriter(client) as writer: await writer.put(…)`."""

    def __init__(self, client, queue_max=100_000, refused=None):
        super().__init__(client, refused)
        self._queue = asyncio.Queue(queue_max)
        self._task = None

    async def __aenter__(self):
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, kind, *_):
        if kind is None:
            await self.flush()
        self._task.cancel()

    async def put(self, item, content, clock=0, ns=0):
        await self._queue.put(value(item, content, clock or time.time(), ns))

    async def flush(self):
        """Waits until all that was put is kept or refused."""
        await self._queue.join()

    async def _run(self):
        while True:
            first = [await self._queue.get()]
            queue = self._queue

            def take():
                if first:
                    return first.pop()
                return None if queue.empty() else queue.get_nowait()

            batch = _batch(take, BATCH_BYTES)
            await self._send(batch)
            for _ in batch:
                self._queue.task_done()

    async def _send(self, batch):
        pause, resend = PAUSE_FIRST, False
        while True:
            try:
                outcome = await self._client.write(batch, resend=resend)
            except Error as error:
                outcome = error
            if self._settle(batch, outcome):
                return
            resend = True
            await asyncio.sleep(pause)
            pause = min(pause * 2, PAUSE_MAX)
