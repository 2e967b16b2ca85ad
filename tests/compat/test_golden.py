#!/usr/bin/env python3
"""The golden API scenario, recorded from a real server, replayed against a fresh one of ours.

    VEDETTE_SHARED=FOLDER tests/compat/test_golden.py [--report FILE] [--raise-floor]

`golden_floor.json` beside this file holds, per object, how many steps must agree. It may only
rise. Prints
`N passed, M failed`; an object below its floor fails by as many steps as it lacks.
"""

import argparse
import collections
import importlib.util
import io
import json
import os
import re
import sys
import tempfile
from contextlib import redirect_stdout

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

import bed  # noqa: E402

FLOOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden_floor.json")
METHOD_UNKNOWN = -32601


def scenario(shared):
    """The module that performs and compares: the definition of the rules."""
    path = os.path.join(shared, "golden", "replay.py")
    if not os.path.isfile(path):
        sys.exit("VEDETTE_SHARED must name the compatibility data: there is no " + path)
    spec = importlib.util.spec_from_file_location("replay", path)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def empty_where_unknown(target):
    """Objects that the server does not have count as empty while the scene is set."""
    call = target.call

    def tolerant(method, params, token=None):
        answer = call(method, params, token)
        unknown = answer.get("error", {}).get("code") == METHOD_UNKNOWN
        return {"result": []} if unknown and method.endswith(".get") else answer

    target.call = tolerant
    return lambda: target.__dict__.pop("call")


#: Steps whose recorded answer neither server gives each time: events of several hosts by their ids, which follow the
#: order in which the hosts' values happened to be evaluated (in the recording, too, it is not that of their clocks).
UNDETERMINED = {"event.get-0018"}

#: Steps that Vedette answers otherwise on purpose, with the reason; they are not counted.
OTHERWISE = {
    "trapper-0012": "a proxy is told that proxies are not supported, instead of getting no answer",
}


def hasten(module, patience):
    """Steps are repeated for at most `patience` seconds."""
    load = module.load

    def hastened(folders):
        steps = load(folders)
        for step in steps:
            step["retry_s"] = min(step.get("retry_s", 0), patience)
        return steps

    module.load = hastened


def replay(module, server, report):
    """Performs all steps. Agreed and differing steps per object, and the summary line."""
    prepare = module.prepare

    def prepared(target):
        restore = empty_where_unknown(target)
        prepare(target)
        restore()

    module.prepare = prepared
    arguments = ["--api", server.url, "--trapper", "%s:%d" % server.address, "--prepare",
                 "--verbose", "--report", report]
    sys.argv = ["replay.py"] + arguments
    text = io.StringIO()
    with redirect_stdout(text):
        try:
            module.main()
        except SystemExit:
            pass
    totals = collections.defaultdict(lambda: [0, 0])
    summary = "the replay gave no totals"
    for line in text.getvalue().splitlines():
        if any(step in line.split() for step in (*UNDETERMINED, *OTHERWISE)):
            continue
        if found := re.match(r"(same|DIFFERS) ([A-Za-z.]+)-\S+", line):
            totals[found.group(2).split(".")[0]][found.group(1) == "DIFFERS"] += 1
        elif " steps as recorded" in line:
            summary = line
    return totals, summary


def judge(totals, floor):
    """Prints a line per object; steps that pass and fail."""
    passed = failed = 0
    for name in sorted(set(totals) | set(floor)):
        agreed, differ = totals.get(name, (0, 0))
        line = "%-18s %4d of %4d as recorded" % (name, agreed, agreed + differ)
        lacking = max(0, floor.get(name, 0) - agreed)
        passed, failed = passed + agreed, failed + lacking
        print(line + ", floor %d%s" % (floor.get(name, 0), "  TOO FEW" if lacking else ""))
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--report", help="write every difference here as JSON lines")
    parser.add_argument("--raise-floor", action="store_true", help="write what agrees now")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for effects")
    options = parser.parse_args()
    shared = os.environ.get("VEDETTE_SHARED", "")
    module = scenario(shared)
    hasten(module, options.patience)
    server = bed.Server()
    try:
        bed.PASSWORD = "zabbix"
        server.start()
        with tempfile.TemporaryDirectory() as folder:
            report = options.report or os.path.join(folder, "report.jsonl")
            totals, summary = replay(module, server, report)
    finally:
        server.clean()
    with open(FLOOR) as f:
        floor = json.load(f)
    passed, failed = judge(totals, floor)
    print(summary)
    if options.raise_floor:
        best = {n: max(t[0], floor.get(n, 0)) for n, t in totals.items()}
        with open(FLOOR, "w") as f:
            f.write(json.dumps(best, indent=2, sort_keys=True) + "\n")
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
