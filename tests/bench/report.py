#!/usr/bin/env python3
"""Vedette beside Zabbix 6.0 and 7.0 on one machine: measures in turn, writes docs/benchmarks.md.

Each measurement starts its server on an empty installation and ends it, so that nobody else works
meanwhile; the servers take turns, round by round. Results are kept after each measurement: a run
that was broken off goes on where it was, `--fresh` starts over. Needs a release build of this clone
and, for the other servers, root or the user of PostgreSQL, PHP and VEDETTE_SHARED:

    cargo build --release
    VEDETTE_SHARED=... tests/bench/report.py            # an hour on a machine with nothing else to do
    VEDETTE_SHARED=... tests/bench/report.py --quick    # some minutes; figures mean nothing
    tests/bench/report.py --render-only
"""

import argparse
import json
import os
import platform
import signal
import sys
import time

import parts
import render
import servers
from servers import ROOT, say


def machine():
    """What the figures were measured on."""
    with open("/proc/cpuinfo") as f:
        lines = f.read().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
                 platform.processor())
    with open("/proc/meminfo") as f:
        memory = int(f.readline().split()[1])
    with open("/etc/os-release") as f:
        release = dict(line.rstrip().split("=", 1) for line in f if "=" in line)
    return {"model": model, "cores": os.cpu_count(), "memory_gib": round(memory / (1 << 20), 1),
            "kernel": platform.release(), "system": release.get("PRETTY_NAME", "").strip('"'),
            "disk": disk("/tmp")}


def disk(path):
    """File system and device that data lies on."""
    best = ("", "", "")
    with open("/proc/mounts") as f:
        for line in f:
            device, point, kind = line.split()[:3]
            if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best[1]):
                best = (device, point, kind)
    return "%s on %s" % (best[2], os.path.basename(os.path.realpath(best[0])))


class Results:
    """The raw figures in a file."""

    def __init__(self, path, quick, fresh):
        self.path = path
        self.data = {"quick": quick, "runs": []}
        if os.path.exists(path) and not fresh:
            with open(path) as f:
                found = json.load(f)
            if found.get("quick") == quick:
                self.data = found
        self.data.update({"machine": machine()})
        self.data.setdefault("servers", {})

    def has(self, part, server, number):
        return any((run["part"], run["server"], run["round"]) == (part, server, number)
                   for run in self.data["runs"] if "error" not in run)

    def add(self, entry):
        key = ("part", "server", "round")
        same = [run for run in self.data["runs"] if all(run[k] == entry[k] for k in key)]
        for run in same:
            self.data["runs"].remove(run)
        self.data["runs"].append(entry)
        self.save()

    def save(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".part", "w") as f:
            json.dump(self.data, f, indent=1)
            f.write("\n")
        os.replace(self.path + ".part", self.path)


def available(wanted, results):
    """The servers that can be had here, by key."""
    makers = {"vedette": servers.Vedette, "zabbix-6.0": lambda: servers.Zabbix("6.0"),
              "zabbix-7.0": lambda: servers.Zabbix("7.0")}
    found = {}
    for key in wanted:
        # The tool for 7.0 ends the program where VEDETTE_SHARED is not set.
        try:
            found[key] = makers[key]()
        except (RuntimeError, OSError, SystemExit) as problem:
            say("%s is left out: %s" % (key, problem))
            continue
        server = found[key]
        results.data["servers"][key] = {"name": server.name, "version": server.version,
                                        "settings": server.settings}
    return found


def plan(options, found):
    """(part, round, server) in the order in which they are measured: servers take turns."""
    for name in options.parts:
        _, rounds, names = parts.PARTS[name]
        for number in range(1 if options.quick else options.rounds or rounds):
            for key in names:
                if key in found:
                    yield name, number, found[key]


def measure(options, results):
    found = available(options.servers, results)
    todo = [step for step in plan(options, found)
            if not results.has(step[0], step[2].key, step[1])]
    begin = time.monotonic()
    for done, (name, number, server) in enumerate(todo):
        spent = time.monotonic() - begin
        say("[%d of %d, %d:%02d] %s, round %d: %s" % (
            done + 1, len(todo), spent // 60, spent % 60, name, number + 1, server.name))
        start = time.monotonic()
        entry = {"part": name, "server": server.key, "round": number,
                 "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                 "model": results.data["machine"]["model"], "load_before": os.getloadavg()[0]}
        try:
            commands, figures = parts.PARTS[name][0](server, options.quick)
            entry.update(commands=commands, figures=figures)
        except (RuntimeError, OSError, AssertionError, KeyError, IndexError, ValueError,
                servers.bed.ApiError) as problem:
            say("    failed: %s" % problem)
            entry["error"] = str(problem)
        finally:
            server.down()
        entry["seconds"] = round(time.monotonic() - start, 1)
        results.add(entry)
    results.save()
    failed = [run for run in results.data["runs"] if "error" in run]
    say("%d measurements in %.1f minutes, %d failed" % (
        len(todo), (time.monotonic() - begin) / 60, len(failed)))


def main():
    summary = __doc__.split("\n", maxsplit=1)[0]
    parser = argparse.ArgumentParser(description=summary)
    usual = list(parts.PARTS)
    parser.add_argument("--quick", action="store_true",
                        help="short and small, into target/bench-quick, to try the program itself")
    parser.add_argument("--rounds", type=int, help="instead of each part's own number")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=usual,
                        help="of %s (default: %s)" % (",".join(parts.PARTS), ",".join(usual)))
    parser.add_argument("--servers", type=lambda text: text.split(","), default=parts.ALL)
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--render-only", action="store_true", help="measure nothing")
    parser.add_argument("--out", metavar="FOLDER", help="instead of docs")
    options = parser.parse_args()
    for name in set(options.parts) - set(parts.PARTS):
        parser.error("there is no part %s" % name)
    for name in set(options.servers) - set(parts.ALL):
        parser.error("there is no server %s" % name)
    # Ended from outside, servers are stopped all the same.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    docs = options.out or os.path.join(ROOT, "target/bench-quick" if options.quick else "docs")
    path = os.path.join(docs, "benchmarks", "results.json")
    if options.render_only:
        with open(path) as f:
            data = json.load(f)
    else:
        results = Results(path, options.quick, options.fresh)
        measure(options, results)
        data = results.data
    render.write(data, docs)
    say("written: " + os.path.join(docs, "benchmarks.md"))


if __name__ == "__main__":
    main()
