"""Writing in the background: `Writer` has a thread, `AsyncWriter` a task."""

import asyncio
import collections
import json
import os
import threading
import time

from .messages import FRAME_BYTES, MESSAGE_MAX, VALUES_MAX, Error, encode, value

# Bytes of a batch, unless a single value has more.
BATCH_BYTES = 4 << 20
# Pauses between attempts to send a batch again, seconds.
PAUSE_FIRST, PAUSE_MAX = 0.1, 10.0
# How long a writer waits for access, seconds: an administrator may have to renew a token first.
PATIENCE = 900.0


def _is_access_problem(error):
    """Whether the fault is the token or something in front of the service, such as a proxy, and not
    the values. A body that is too large will not get smaller."""
    return error.reason in ("not_signed_in", "denied") or (
        error.reason.startswith("http_") and error.reason != "http_413")


def _encoded(item, content, clock, ns):
    """A value with its moment: sent again it has the same one, by which the server knows it."""
    if not clock:
        clock, ns = divmod(time.time_ns(), 10 ** 9)
    one = encode(value(item, content, clock, ns))
    if len(one) > MESSAGE_MAX - FRAME_BYTES:
        raise ValueError("a value of %d bytes does not fit a message" % len(one))
    return one


class _Delivery:
    """Shared by both writers: the waiting values, the current batch, its outcome, and how the writer
    ends. Values are encoded when they are put, so that an unfit one costs no other."""

    def __init__(self, client, queue_max, refused, patience):
        self._client, self._refused, self._patience = client, refused, patience
        self._no_access_since = None
        # Why the last attempt failed; None: it did not.
        self.last_error = None
        self._queue, self._queue_max, self._in_hand = collections.deque(), queue_max, 0
        self._ending, self._problem, self._process = False, None, os.getpid()
        self.kept = 0

    def _left(self):
        return len(self._queue) + self._in_hand

    def _is_settled(self):
        return self._ending or not self._left()

    def _takes(self):
        return self._ending or self._left() < self._queue_max

    def _has_work(self):
        return self._ending or self._queue

    def _is_lost_by_fork(self):
        return self._process != os.getpid()

    def _check_process(self):
        if self._is_lost_by_fork():
            raise Error("forked", "caller", False, "this writer is of process %d: make one in each "
                        "process, after the fork" % self._process)

    def _check_problem(self):
        if self._problem is not None:
            raise Error("ended", "caller", False,
                        "the writer has ended: %r" % self._problem) from self._problem

    def _append(self, one):
        self._check_problem()
        if self._ending:
            raise ValueError("the writer is closed")
        self._queue.append(one)

    def _take(self):
        """The next values, as many as fit a batch."""
        batch, room = [], BATCH_BYTES
        while self._queue and len(batch) < VALUES_MAX:
            room -= len(self._queue[0]) + 1
            if batch and room < 0:
                break
            batch.append(self._queue.popleft())
        self._in_hand = len(batch)
        return batch

    def _settle(self, batch, outcome):
        """Takes what a write came to, Written or an Error; whether the batch is done with."""
        no_access = isinstance(outcome, Error) and _is_access_problem(outcome)
        self.last_error = outcome if isinstance(outcome, Error) else None
        if not no_access:
            self._no_access_since = None
        if isinstance(outcome, Error):
            if no_access:
                self._wait_for_access(batch, outcome)
            if outcome.retry or no_access:
                return False
            refusals = [(one, outcome) for one in batch]
        else:
            self.kept += outcome.kept
            refusals = [(batch[refusal.index], refusal) for refusal in outcome.refused]
        for one, refusal in refusals if self._refused else ():
            self._refused(json.loads(one), refusal)
        return True

    def _wait_for_access(self, batch, error):
        """Ends the writer when access has been refused for too long. All values that wait go to
        `refused`; without it they count as left."""
        now = time.monotonic()
        if self._no_access_since is None:
            self._no_access_since = now
        if now - self._no_access_since < self._patience:
            return
        if self._refused:
            for one in batch:
                self._refused(json.loads(one), error)
            self._in_hand = 0
            while self._queue:
                self._refused(json.loads(self._queue.popleft()), error)
        raise Error("no_access", error.fault, False, "access was refused for %g s: %s (%s)" % (
            self._patience, error, error.reason)) from error


class Writer(_Delivery):
    """Writes in the background: batches of what is put, one after the other. A batch is sent again
    until it is acknowledged. `put` waits while the queue is full. Refusals go to `refused`, which
    is called on the writer's thread with the value and its Refusal, or an Error. While access is
    refused (a token that expired, a proxy that knows no such page) values wait in the queue, and
    `last_error` says why; after `patience` seconds of that they are refused and the writer ends.
    The client is the writer's alone until it is closed."""

    def __init__(self, client, queue_max=100_000, refused=None, patience=PATIENCE):
        super().__init__(client, queue_max, refused, patience)
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, item, content, clock=0, ns=0):
        """TypeError and ValueError: no message can carry the value. Error: the writer is gone."""
        one = _encoded(item, content, clock, ns)
        self._check_process()
        with self._changed:
            self._changed.wait_for(self._takes)
            self._append(one)
            self._changed.notify_all()

    def flush(self, timeout=None):
        """Waits until all that was put is kept or refused; whether that is so."""
        self._check_process()
        with self._changed:
            self._changed.wait_for(self._is_settled, timeout)
            self._check_problem()
            return not self._left()

    def close(self, timeout=30.0):
        """Flushes and ends; returns how many values were neither kept nor refused. In a child of
        fork() it does nothing: the values are the parent's, which writes them."""
        if self._is_lost_by_fork():
            return 0
        with self._changed:
            self._changed.wait_for(self._is_settled, timeout)
            self._ending = True
            self._changed.notify_all()
        self._thread.join(timeout)
        return self._left()

    def _run(self):
        try:
            self._batches()
        except BaseException as problem:
            # Also of `refused`: nobody is to wait for a thread that is gone.
            self._problem = problem
            raise
        finally:
            with self._changed:
                self._ending = True
                self._changed.notify_all()

    def _batches(self):
        while True:
            with self._changed:
                self._changed.wait_for(self._has_work)
                if self._ending:
                    return
                batch = self._take()
            if not self._send(batch):
                return
            with self._changed:
                self._in_hand = 0
                self._changed.notify_all()

    def _send(self, batch):
        pause, resend = PAUSE_FIRST, False
        while True:
            try:
                outcome = self._client.write_encoded(batch, resend=resend)
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
    """The same for asyncio: `async with AsyncWriter(client) as writer: await writer.put(…)`, which
    flushes at its end."""

    def __init__(self, client, queue_max=100_000, refused=None, patience=PATIENCE):
        super().__init__(client, queue_max, refused, patience)
        self._changed = self._task = None

    async def __aenter__(self):
        self._changed = asyncio.Condition()
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, kind, *_):
        try:
            if kind is None:
                await self.flush()
        finally:
            await self.close(0)

    async def put(self, item, content, clock=0, ns=0):
        """As Writer's."""
        one = _encoded(item, content, clock, ns)
        self._check_process()
        async with self._changed:
            await self._changed.wait_for(self._takes)
            self._append(one)
            self._changed.notify_all()

    async def flush(self, timeout=None):
        """As Writer's."""
        self._check_process()
        await self._wait_until_settled(timeout)
        self._check_problem()
        return not self._left()

    async def close(self, timeout=30.0):
        """As Writer's."""
        if self._is_lost_by_fork():
            return 0
        await self._wait_until_settled(timeout)
        self._ending = True
        self._task.cancel()
        await asyncio.wait([self._task])
        return self._left()

    async def _wait_until_settled(self, timeout):
        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(self._is_settled), timeout)
            except asyncio.TimeoutError:
                pass

    async def _run(self):
        try:
            await self._batches()
        except Exception as problem:
            self._problem = problem
        finally:
            self._ending = True
            async with self._changed:
                self._changed.notify_all()

    async def _batches(self):
        while True:
            async with self._changed:
                await self._changed.wait_for(self._has_work)
                batch = self._take()
            await self._send(batch)
            async with self._changed:
                self._in_hand = 0
                self._changed.notify_all()

    async def _send(self, batch):
        pause, resend = PAUSE_FIRST, False
        while True:
            try:
                outcome = await self._client.write_encoded(batch, resend=resend)
            except Error as error:
                outcome = error
            if self._settle(batch, outcome):
                return
            resend = True
            await asyncio.sleep(pause)
            pause = min(pause * 2, PAUSE_MAX)
