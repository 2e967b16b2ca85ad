#!/usr/bin/env python3
"""CPU seconds of preprocessing: Vedette beside a real server 7.0, in turn on the same machine.

Each round gives both servers the same values with a step and without it (`vedette bench steps`);
counted is what all processes of a server use, its database included, until they have come to rest.
VEDETTE_BIN names the program; only a release build says something. Of the rounds the medians count.

    VEDETTE_SHARED=... VEDETTE_BIN=target/release/vedette tests/compat/bench_preprocessing.py
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402


def listener(port):
    """The oldest process that listens at a port of IPv4."""
    with open("/proc/net/tcp") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    inodes = {row[9] for row in rows if row[3] == "0A" and row[1].endswith(":%04X" % port)}
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            links = [os.readlink("/proc/%s/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%s/fd" % pid)]
        except OSError:
            continue
        if any("socket:[%s]" % inode in links for inode in inodes):
            found.append(int(pid))
    if not found:
        sys.exit("nobody listens at port %d, or its processes belong to somebody else" % port)
    return min(found)


class Side:
    def __init__(self, name, trapper, url, user, password, pids):
        self.name = name
        self.arguments = ["--server", "127.0.0.1:%d" % trapper, "--api", url, "--user", user,
                          "--pid", ",".join(map(str, pids))]
        self.password = password
        self.rounds = []

    def measure(self, options):
        """One round; figures by name."""
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [bed.BINARY, "bench", "steps", "--rounds", "1", "--json", file.name,
                       "--chains", options.chains, "--values", str(options.values)]
            environment = dict(os.environ, VEDETTE_ADMIN_PASSWORD=self.password)
            subprocess.run(command + self.arguments, check=True, env=environment,
                           stdout=subprocess.DEVNULL)
            self.rounds.append(json.load(file)["results"])

    def median(self, name):
        return statistics.median(figures[name] for figures in self.rounds)


def table(sides, chains):
    """Lines of a Markdown table."""
    ours, theirs = sides
    yield "| Step | what | %s | %s | ratio |" % (ours.name, theirs.name)
    yield "| --- | --- | ---: | ---: | ---: |"
    for chain in chains:
        for part, what in [("cpu", "all of it"), ("plain_cpu", "the values without the step"),
                           ("own_cpu", "the step alone")]:
            name = "%s_%s_s_per_million" % (chain, part)
            a, b = ours.median(name), theirs.median(name)
            ratio = "%.1f" % (b / a) if a > 0 else ""
            yield "| %s | %s | %.2f | %.2f | %s |" % (chain, what, a, b, ratio)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--values", type=int, default=300_000, help="for each step")
    parser.add_argument("--chains", default="jsonpath,regex,javascript")
    parser.add_argument("--json", metavar="FILE", help="write the figures of all rounds")
    parser.add_argument("--base-port", type=int, help="of a real server that runs already")
    options = parser.parse_args()
    vedette = bed.Server()
    real = reference.Reference(options.base_port)
    try:
        vedette.start()
        about = real.about
        sides = [
            Side("Vedette", vedette.trapper, vedette.url, "Admin", bed.PASSWORD,
                 [vedette.process.pid]),
            Side("real server", real.trapper, about["api_url"], about["user"], about["password"],
                 [listener(real.base), listener(real.base + 4)]),
        ]
        for _ in range(options.rounds):
            for side in sides:
                print("%s:" % side.name, file=sys.stderr)
                side.measure(options)
        print("CPU seconds per million values, medians of %d rounds of %d values"
              % (options.rounds, options.values))
        print("\n".join(table(sides, options.chains.split(","))))
        if options.json:
            with open(options.json, "w") as file:
                json.dump({side.name: side.rounds for side in sides}, file, indent=1)
    finally:
        real.stop()
        vedette.clean()


if __name__ == "__main__":
    main()
