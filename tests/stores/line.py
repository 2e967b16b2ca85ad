#!/usr/bin/env python3
"""Values written against the ideal line, for each history store: how many targets can be observed
before values are missing in history, or in the store. Then the read side: how many questions of the
API for values that the store alone gives are answered, and how soon.

  tests/stores/line.py [STORE...] [--part writes|reads] [--targets 100,200,400,800] [--items 100]
                       [--seconds 20] [--out FOLDER]

STORE is none (values stay embedded), memory or null (history is kept there instead, or nowhere: the
lines to compare with; of null what agents answered is counted), or one that with_store.py knows, or
clickhouse-cluster or cassandra-cluster; all of them by default, but riak, which is a double. Each target
is a host of fake agents, its items are checked once a second. What is read is ten days old, older
than the embedded days, and 5,000 values/s come in beside. Writes line.json, line.md and the plots
reference.svg, node.svg and cluster.svg; what FOLDER/line.json has of other stores, or of the other
part, is kept and shown too. Ask a release build, on a machine with nothing else to do:

  VEDETTE_BIN=target/release/vedette tests/stores/line.py
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "bench"), HERE]
import bed  # noqa: E402
import plots  # noqa: E402
from opensearch import OpenSearch  # noqa: E402
from with_store import CLUSTERS, STORES  # noqa: E402

ALONE = {"none": (), "memory": ("--history", "memory"), "null": ("--history", "null")}
NODES = tuple(name for name in STORES if name != "riak")
ALL = (*ALONE, *NODES, *CLUSTERS)
# Each line is drawn beside those that it is to be compared with.
PLOTS = {
    "reference": ("Without a store", tuple(ALONE)),
    "node": ("One node", ("none", *NODES)),
    "cluster": ("Clusters, beside one node of them", (
        "none", "clickhouse-18", "clickhouse-cluster", "cassandra", "cassandra-cluster")),
}
PARTS = ("writes", "reads")
QUESTIONS = {"hour": "An hour of an item", "graph": "An hour of six items",
             "newest": "Newest values of 1,000 items"}
# Clients that ask at a time.
READERS = ("1", "8")
READ = ("--age", "864000s", "--hosts", "100", "--items", "10", "--batch", "100", "--connections", "2",
        "--rate", "5000", "--warm", "10", "--seconds", "5")


def start(name):
    """What has to be stopped, and the parameter of the store."""
    # The heap that is enough for tests refuses requests at this load.
    store = OpenSearch(heap_mb=1024) if name == "opensearch" else {**STORES, **CLUSTERS}[name]()
    return store, "%s=%s" % (name.split("-")[0], store.url("vedette"))


def run(name, options):
    """The report of `vedette bench line` on a server with this store, and those of `bench read`."""
    store, parameter = (None, None) if name in ALONE else start(name)
    environment = {"VEDETTE_HISTORY_STORE": parameter} if parameter else {}
    server = bed.Server(arguments=ALONE.get(name, ()), environment=environment)
    try:
        server.start()
        report = {}
        if "writes" in (options.part or PARTS):
            asked = ("--history-store", parameter) if parameter else ()
            report = bench(server, "line", "--targets", options.targets, "--items", options.items,
                           "--seconds", options.seconds, *asked)
        if "reads" in (options.part or PARTS) and name != "null":
            trapper = "%s:%d" % server.address
            report["reads"] = {
                readers: bench(server, "read", *READ, "--server", trapper, "--readers", readers)
                for readers in READERS}
        return report
    finally:
        server.clean()
        if store:
            store.stop()


def bench(server, *arguments):
    """The report of a measurement."""
    result = os.path.join(server.folder, "report.json")
    subprocess.run(
        [bed.BINARY, "bench", *map(str, arguments), "--api", server.url,
         "--pid", str(server.process.pid), "--json", result],
        check=True, env=dict(os.environ, VEDETTE_ADMIN_PASSWORD=bed.PASSWORD))
    with open(result) as file:
        return json.load(file)


def reached(name, step):
    """What counts: the values that reached the last place."""
    if name == "null":
        return step["collected"]
    return step["written"] if step["stored"] is None else step["stored"]


def table(results, seconds):
    """Markdown: a row for each store, with what part of the ideal reached it."""
    steps = next(iter(results.values()))["steps"]
    head = ["%d targets, %s/s" % (step["targets"], "{:,.0f}".format(step["ideal"] / seconds))
            for step in steps]
    lines = [["Store", *head, "CPU s of Vedette per million, median"],
             ["---"] + ["---:"] * (len(steps) + 1)]
    for name, report in results.items():
        parts = ["%.1f %%" % min(100, 100 * reached(name, step) / step["ideal"])
                 for step in report["steps"]]
        cpu = statistics.median(step["cpu_s_per_million"] for step in report["steps"])
        lines.append([name, *parts, "%.0f" % cpu])
    return markdown(lines)


def table_of_reads(results):
    """Markdown: a row for each store that was read from."""
    asked = [(readers, name) for readers in READERS for name in QUESTIONS]
    clients = {"1": "1 client", "8": "8 clients"}
    lines = [["Store", *("%s, %s" % (QUESTIONS[name], clients[readers]) for readers, name in asked)],
             ["---"] + ["---:"] * len(asked)]
    for store, report in results.items():
        found = {readers: reads["results"] for readers, reads in report.get("reads", {}).items()}
        if found:
            lines.append([store, *(
                "{:,.0f}/s; {:.1f}, {:.1f}".format(
                    *(found[readers]["%s_%s" % (name, what)] for what in ("per_s", "p50_ms", "p95_ms")))
                for readers, name in asked)])
    return markdown(lines)


def markdown(lines):
    return "".join("| %s |\n" % " | ".join(line) for line in lines)


def draw(results, options):
    """The plots, of what was measured."""
    ideal = [(step["targets"], step["ideal"]) for step in next(iter(results.values()))["steps"]]
    lines = {name: [(step["targets"], reached(name, step)) for step in report["steps"]]
             for name, report in results.items()}
    remark = "values in the store after %d s; %d items a target, each once a second" % (
        options.seconds, options.items)
    for file_name, (title, names) in PLOTS.items():
        shown = {name: lines[name] for name in names if name in lines}
        if shown:
            with open(os.path.join(options.out, file_name + ".svg"), "w") as file:
                file.write(plots.lines(title, remark, ("targets", "values"), ideal, shown))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", metavar="STORE", default=[],
                        choices=[[], *ALONE, *STORES, *CLUSTERS])
    parser.add_argument("--part", action="append", choices=PARTS, default=[])
    parser.add_argument("--targets", default="100,200,400,800")
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--out", default=os.path.join(bed.ROOT, "target", "line"))
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    kept = os.path.join(options.out, "line.json")
    results = {}
    if os.path.exists(kept):
        with open(kept) as file:
            results = json.load(file)
    for name in options.stores or ALL:
        print("-- %s" % name, flush=True)
        results[name] = results.get(name, {}) | run(name, options)
        with open(kept, "w") as file:
            json.dump(results, file, indent=1)
    results = {name: results[name] for name in ALL if name in results}
    written = {name: report for name, report in results.items() if "steps" in report}
    tables = table_of_reads(results)
    if written:
        draw(written, options)
        tables = table(written, options.seconds) + "\n" + tables
    with open(os.path.join(options.out, "line.md"), "w") as file:
        file.write(tables)
    print(tables)


if __name__ == "__main__":
    main()
