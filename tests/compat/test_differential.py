#!/usr/bin/env python3
"""The same generated inputs to a real server 7.0 and to Vedette: no answer may differ.

Steps of preprocessing and calculated formulas go through the trapper request `item.test`, plain
expressions through `expressions.evaluate` as well. Inputs are made from a seed; what differs and
may is listed in `tests/lib/differ/explained.py`. Exchanges recorded before are replayed too.
"""

import argparse
import collections
import concurrent.futures
import glob
import itertools
import json
import os
import random
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
from differ import compare, explained, expressions, history, probes, steps, templates  # noqa: E402

WORKERS = 4
NUMBERS = itertools.count()
HOUR_S = 3600
#: Preparation and the parts with history take less, also on a slow machine.
HISTORY_S = 300
#: Functions whose results change with the moment of evaluation.
BY_THE_MOMENT = ("forecast", "timeleft", "rate", "now(", "time(")
#: Relative: least squares and roots have another rounding, the more the steeper a curve is.
TOLERANCES = {"forecast": 1e-6, "timeleft": 1e-6, "rand(": 9e99}
#: Recorded exchanges have the time of their recording in them.
RECORDED = {"forecast": 1e-4, "timeleft": 1e-3, "rate": 1e-5, "now(": 1e-6, "time(": 1e-2, "rand(": 9e99}


class Side:
    """One of the two servers."""

    def __init__(self, api, port):
        self.api = api
        self.address = ("127.0.0.1", port)
        self.ids = {}
        # The reference's frontend trips over itself when it makes two objects at once.
        self.changing = threading.Lock()

    def ask(self, name, data):
        request = {"request": name, "sid": self.api.token, "data": data}
        try:
            with socket.create_connection(self.address, timeout=60) as connection:
                connection.sendall(bed.frame(json.dumps(request)))
                reply = bed.read_frame(connection)
        except OSError as problem:
            return {"unreachable": str(problem)}
        # The reference cuts texts in the middle of characters.
        return json.loads(reply.decode(errors="replace")) if reply else None

    def prepare(self, rows):
        """Hosts, items and their values."""
        groups = {name: self.api.call("hostgroup.create", name=name)["groupids"][0]
                  for name in ("G one", "G two")}
        layout = [("first", history.items(), ["G one"])] + [
            ("agg%d" % n, history.aggregate_items(n), ["G one", "G two"][:n] if n < 3 else ["G two"])
            for n in (1, 2, 3)]
        for host, items, names in layout:
            hostid = self.api.call("host.create", host=host,
                                   groups=[{"groupid": groups[name]} for name in names])["hostids"][0]
            made = self.api.call("item.create", [
                {"hostid": hostid, "name": key, "key_": key, "type": 2, "value_type": kind,
                 "history": "365d", "tags": [{"tag": tag, "value": value} for tag, value in tags]}
                for key, kind, tags in items])["itemids"]
            self.ids[host] = hostid
            self.ids.update({(host, item[0]): (itemid, item[1]) for item, itemid in zip(items, made)})
        for target, values in rows.items():
            bed.wait_for("%s/%s to be known" % target, lambda: self._push(target, values[:1]))
            assert self._push(target, values[1:]), "values of %s/%s were not taken" % target
        for (host, key), values in rows.items():
            itemid, kind = self.ids[(host, key)]
            bed.wait_for("history of " + key, lambda: int(self.api.call(
                "history.get", itemids=itemid, history=kind, countOutput=True)) >= len(values))

    def _push(self, target, values):
        host, key = target
        if not values:
            return True
        rows = []
        for clock, value in values:
            row = {"host": host, "key": key, "clock": clock, "ns": 0, "value": value}
            if isinstance(value, tuple):
                row.update(zip(("value", "source", "severity", "eventid"), value), timestamp=clock)
            rows.append(row)
        answer = bed.send(self.address, {"request": "sender data", "data": rows})
        return "failed: 0" in answer["info"]


class Tally:
    """What agreed, what differed with a reason, what differed."""

    def __init__(self, report):
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.failures = []
        self.report = report

    def take(self, part, case, one, other, tolerance=0.0):
        if compare.same(one, other, tolerance):
            self.counts[part, True] += 1
            return
        reason = explained.explain(case, one, other)
        if reason:
            self.counts[part, True] += 1
            self.reasons[reason] += 1
            return
        self.counts[part, False] += 1
        self.failures.append({"part": part, "case": case, "reference": one, "vedette": other})

    def print(self, shown):
        for failure in self.failures[:shown]:
            print("DIFFERS " + json.dumps(failure, ensure_ascii=False)[:1500])
        for part in sorted({part for part, _ in self.counts}):
            print("%-22s %5d agree, %d differ" % (part, self.counts[part, True], self.counts[part, False]))
        for name, why, _ in explained.EXPLAINED:
            if self.reasons[name]:
                print("explained %5d: %s. %s" % (self.reasons[name], name, why))
        if self.report:
            with open(self.report, "w") as f:
                f.writelines(json.dumps(failure, ensure_ascii=False) + "\n" for failure in self.failures)


def both(sides, name, data):
    """The answers of both servers to one request."""
    return [side.ask(name, data(side)) for side in sides]


def both_at_once(sides, name, data):
    """The same for what changes with time: the reference answers before and after Vedette. Where it
    says two things, Vedette may say one between them."""
    for _ in range(20):
        before, (ours, after) = sides[0].ask(name, data(sides[0])), both(sides[::-1], name, data)
        if before == after:
            break
        if compare.between(before, ours, after):
            return [ours, ours]
    return [after, ours]


def evaluated(sides, text, name, data):
    moving = any(word in text for word in BY_THE_MOMENT)
    return (both_at_once if moving else both)(sides, name, data)


def tested(sides, text):
    """The value of a formula."""
    return evaluated(sides, text, "item.test", lambda side: formula(side, text))


def tolerance_of(text, tolerances):
    return max((t for word, t in tolerances.items() if word in text), default=0.0)


def formula(side, text, kind=4):
    return {"item": {"type": 15, "key": "test", "params": text, "value_type": kind, "steps": []},
            "host": {"hostid": side.ids["first"]}, "options": {"single": False, "state": 0}}


def validated(functions, texts):
    """Expressions of triggers: every sixth formula, and plain expressions beside an item."""
    yield from functions[::6]
    for text in texts[::6]:
        yield "(%s) or last(/first/f)=0" % text


def create(sides, text):
    """Whether both let a trigger of this expression be made."""
    answers, name = [], "t%d" % next(NUMBERS)
    for side in sides:
        try:
            with side.changing:
                made = side.api.call("trigger.create", description=name, expression=text)
                side.api.call("trigger.delete", made["triggerids"])
            answers.append({"made": "yes"})
        except bed.ApiError as problem:
            answers.append({"error": problem.data})
    return answers


def run_parts(sides, seed, further, tally, only):
    """All parts, those with history first: their periods count from the start. That is also done
    with formulas of further seeds, over the values of this one."""
    rng = random.Random(seed)
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        def each(part, cases, work):
            if only and part not in only:
                return
            begin = time.monotonic()
            for case, (one, other) in pool.map(lambda case: (case, work(case)), cases):
                tolerance = tolerance_of(case, TOLERANCES) if isinstance(case, str) else 0.0
                tally.take(part, case, one, other, tolerance)
            print("   %s: %.0f s" % (part, time.monotonic() - begin), flush=True)

        functions = list(history.cases(rng))
        texts = list(expressions.cases(rng, 1000))
        more = [list(history.cases(random.Random(other))) for other in further]
        each("history functions", itertools.chain(functions, *more), lambda text: tested(sides, text))
        each("decompositions", history.decompositions(random.Random(seed + 2)),
             lambda text: tested(sides, text))
        each("templates", templates.cases(random.Random(seed + 1), reference.SHARED, 400),
             lambda text: tested(sides, text))
        each("calculated", texts, lambda text: tested(sides, text))
        each("steps", steps.cases(rng), lambda data: both(sides, "item.test", lambda side: data))
        each("edges of expressions", dict.fromkeys(probes.formulas(random.Random(seed))),
             lambda text: tested(sides, text))
        each("edges of steps", probes.steps(random.Random(seed)),
             lambda data: both(sides, "item.test", lambda side: data))
        each("configuration", validated(functions, texts), lambda text: create(sides, text))
        # One at a time: a wrong expression spoils those behind it in the reference.
        each("evaluated", texts, lambda text: evaluated(
            sides, text, "expressions.evaluate", lambda side: {"expressions": [text]}))


def wait_for_the_hour():
    """Periods such as 1h:now/h move with each hour, and the reference writes the trends of an hour that is over only
    minutes later. No hour may end while such formulas are compared."""
    left = HOUR_S - time.time() % HOUR_S
    if left < HISTORY_S:
        print("   waiting for the next hour: %.0f s" % left, flush=True)
        time.sleep(left + 1)


def replay(side, tally):
    """Exchanges recorded from a reference."""
    folder = os.path.join(reference.SHARED, "golden", "server")
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        with open(path) as lines:
            for line in lines:
                case = json.loads(line)
                for name in ("", "evaluate_", "scaled_"):
                    if name + "request" not in case:
                        continue
                    request = json.dumps(case[name + "request"]).replace("$SID", side.api.token)
                    answer = bed.send(side.address, json.loads(request))
                    tally.take("recorded", case[name + "request"].get("data"), case[name + "response"],
                               answer, tolerance_of(request, RECORDED))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--further", type=int, nargs="*", default=[8, 9],
                        help="more seeds for formulas over history")
    parser.add_argument("--shown", type=int, default=40, help="differences to print")
    parser.add_argument("--report", help="write every difference here as JSON lines")
    parser.add_argument("--only", action="append", help="a part: history functions, calculated, …")
    parser.add_argument("--base-port", type=int, help="use a reference that runs already")
    options = parser.parse_args()
    tally = Tally(options.report)
    server = bed.Server()
    real = reference.Reference(options.base_port)
    try:
        server.start()
        sides = [Side(real.api(), real.trapper), Side(server.api(), server.trapper)]
        rng = random.Random(options.seed)
        wait_for_the_hour()
        start = int(time.time())
        rows = {("first", key): history.values(rng, key, kind, start)
                for key, kind, _ in history.items()}
        for host in (1, 2, 3):
            for key, kind, _ in history.aggregate_items(host):
                rows["agg%d" % host, key] = history.values(rng, key, kind, start)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda side: side.prepare(rows), sides))
        print("   prepared: %.0f s" % (time.time() - start), flush=True)
        run_parts(sides, options.seed, options.further, tally, options.only)
        if not options.only or "recorded" in options.only:
            replay(sides[1], tally)
    finally:
        server.clean()
        real.stop()
    tally.print(options.shown)
    passed = sum(n for (_, agreed), n in tally.counts.items() if agreed)
    print("%d passed, %d failed" % (passed, len(tally.failures)))
    sys.exit(1 if tally.failures or not passed else 0)


if __name__ == "__main__":
    main()
