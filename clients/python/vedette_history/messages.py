"""What calls carry and what comes back, as JSON."""

import collections
import json
import operator
import re

# Values that one write may carry.
VALUES_MAX = 10_000
# Bytes that a message may have, and those of a write around its values, at most.
MESSAGE_MAX, FRAME_BYTES = 16 << 20, 256
# Answers that stand for "later" rather than "never": the body came too slowly, or a proxy's limit.
RETRY_STATUS = (408, 429)

Sample = collections.namedtuple("Sample", "itemid clock ns value")
Hour = collections.namedtuple("Hour", "itemid hour count min avg max")
Log = collections.namedtuple("Log", "text clock source severity eventid", defaults=(0, "", 0, 0))
Refusal = collections.namedtuple("Refusal", "index reason fault retry message")
Written = collections.namedtuple("Written", "kept refused")

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_HALVES_OF_PAIRS = re.compile("[\ud800-\udfff]")


class Error(Exception):
    """A call failed. `reason` and `fault` are those of the protocol ("network": there was no
    answer, or half of one; "interrupted": another call took the connection; "ended", "forked": the
    writer is gone); `retry`: send the same again, a write with resend=True."""

    def __init__(self, reason, fault, retry, message):
        super().__init__(message)
        self.reason, self.fault, self.retry = reason, fault, retry


def network(problem):
    return Error("network", "server", True, "no answer: %s" % (problem or type(problem).__name__))


def _strange(problem):
    return network("it is not what the service says (%r)" % problem)


def _failure(members):
    return Error(members["reason"], members["fault"], members["retry"], members["message"])


def refused(status, body):
    """The error of an answer that is not 200."""
    try:
        return _failure(json.loads(body)["failure"])
    except (ValueError, KeyError, TypeError):
        text = body.decode("utf-8", "replace").strip() or "HTTP status %d" % status
        caller = 400 <= status < 500 and status not in RETRY_STATUS
        return Error("http_%d" % status, "caller" if caller else "server", not caller, text)


def _whole(what, number, bits):
    """What the message cannot carry would cost all values of the batch."""
    number = operator.index(number)
    if not 0 <= number < 1 << bits:
        raise ValueError("%s is a number of %d bits, not %d" % (what, bits, number))
    return number


def _text(what, text):
    if not isinstance(text, str):
        raise TypeError("%s is a text, not %r" % (what, text))
    return text


def name(item):
    """An item: its id, or (host, key)."""
    if isinstance(item, tuple):
        host, key = item
        return {"host": _text("a host", host), "key": _text("a key", key)}
    return {"itemid": str(_whole("an itemid", int(item) if isinstance(item, str) else item, 64))}


def value(item, content, clock=0, ns=0):
    """A value for `write`. `item`: id or (host, key). `content`: text, number or Log. `clock`:
    seconds since 1970, also as a float with `ns` left out; 0 = when it arrives. TypeError and
    ValueError: no message can carry it."""
    if isinstance(clock, float):
        clock, ns = int(clock), int(clock % 1 * 1e9)
    one = dict(name(item), clock=_whole("a clock", clock, 32), ns=_whole("ns", ns, 32))
    if isinstance(content, Log):
        one["log"] = {
            "text": _text("a log's text", content.text),
            "source": _text("a log's source", content.source),
            **{n: _whole("a log's " + n, getattr(content, n), 32)
               for n in ("clock", "severity", "eventid")},
        }
    elif isinstance(content, bool):
        one["unsigned"] = str(int(content))
    elif isinstance(content, int) and 0 <= content < 1 << 64:
        one["unsigned"] = str(content)
    elif isinstance(content, float):
        finite = content == content and content not in (float("inf"), float("-inf"))
        names = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
        one["float"] = content if finite else names[repr(content)]
    elif isinstance(content, (bytes, bytearray)):
        raise TypeError("bytes are no text: decode them")
    else:
        one["text"] = str(content)
    return one


def encode(message):
    """JSON in UTF-8. Halves of surrogate pairs, which UTF-8 does not have, become U+FFFD."""
    text = _json.encode(message)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _HALVES_OF_PAIRS.sub("\ufffd", text).encode()


def _message(body):
    if len(body) > MESSAGE_MAX:
        # The server would end the connection in the middle of it.
        raise Error("invalid", "caller", False, "a message may have %d bytes, this one has %d"
                    % (MESSAGE_MAX, len(body)))
    return body


def read_body(members):
    """The message of a read."""
    return _message(encode(members))


def write_body(values, synced, resend):
    """The message of a write, of values that are encoded."""
    names = {True: b"true", False: b"false"}
    return _message(b'{"synced":%s,"resend":%s,"values":[%s]}' % (
        names[bool(synced)], names[bool(resend)], b",".join(values)))


def written(body):
    """What the reply to a write says."""
    try:
        reply = json.loads(body)
        return Written(int(reply["kept"]), [
            Refusal(one["index"], *(one["failure"][part] for part in Refusal._fields[1:]))
            for one in reply.get("refused", ())
        ])
    except (ValueError, KeyError, TypeError) as problem:
        raise _strange(problem) from problem


def _sample(itemid, one):
    if "log" in one:
        content = Log(**one["log"])
    elif "unsigned" in one:
        content = int(one["unsigned"])
    elif "float" in one:
        content = float(one["float"])
    else:
        content = one["text"]
    return Sample(itemid, one["clock"], one["ns"], content)


def _hour(itemid, one):
    whole = "unsigned" in one
    figures = one["unsigned" if whole else "float"]
    numbers = ((int if whole else float)(figures[part]) for part in ("min", "avg", "max"))
    return Hour(itemid, one["hour"], one["count"], *numbers)


def rows(line):
    """What is in a line of an answer."""
    try:
        page = json.loads(line)
        if "failure" in page:
            raise _failure(page["failure"])
        itemid = int(page["itemid"])
        return ([_sample(itemid, one) for one in page.get("samples", ())]
                + [_hour(itemid, one) for one in page.get("trends", ())])
    except (ValueError, KeyError, TypeError) as problem:
        raise _strange(problem) from problem
