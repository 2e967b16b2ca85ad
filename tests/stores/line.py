#!/usr/bin/env python3
"""Values written against the ideal line, for each history store: how many targets can be observed
before values are missing in history, or in the store.

  tests/stores/line.py [STORE...] [--targets 100,200,400,800] [--items 100] [--seconds 20] [--out FOLDER]

STORE is none (values stay embedded), memory or null (history is kept there instead, or nowhere: the
lines to compare with; of null what agents answered is counted), or one that with_store.py knows, or
clickhouse-cluster or cassandra-cluster; all of them by default, but riak, which is a double. Each target
is a host of fake agents, its items are checked once a second. Writes line.json, line.md and the plots
reference.svg, node.svg and cluster.svg; what FOLDER/line.json has of other stores is kept and drawn
too. Ask a release build, on a machine with nothing else to do:

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
from cassandra import Cassandra  # noqa: E402
from clickhouses import cluster_of_two  # noqa: E402
from opensearch import OpenSearch  # noqa: E402
from with_store import STORES  # noqa: E402

ALONE = {"none": (), "memory": ("--history", "memory"), "null": ("--history", "null")}
CLUSTERS = ("clickhouse-cluster", "cassandra-cluster")
NODES = tuple(name for name in STORES if name != "riak")
ALL = (*ALONE, *NODES, *CLUSTERS)
# Each line is drawn beside those that it is to be compared with.
PLOTS = {
    "reference": ("Without a store", tuple(ALONE)),
    "node": ("One node", ("none", *NODES)),
    "cluster": ("Clusters, beside one node of them", (
        "none", "clickhouse-18", "clickhouse-cluster", "cassandra", "cassandra-cluster")),
}


def start(name):
    """What has to be stopped, and the parameter of the store."""
    if name == "clickhouse-cluster":
        both = cluster_of_two()
        url = "http://%s%s/vedette?cluster=two" % (
            both[0].user(), ",".join(store.host() for store in both))
        return both, "clickhouse=" + url
    if name == "cassandra-cluster":
        store = Cassandra(size=3)
        return [store], "cassandra=" + store.url("vedette", "?consistency=quorum&replication=3")
    # The heap that is enough for tests refuses requests at this load.
    store = OpenSearch(heap_mb=1024) if name == "opensearch" else STORES[name]()
    return [store], "%s=%s" % (name.split("-")[0], store.url("vedette"))


def run(name, options):
    """The report of `vedette bench line` on a server with this store."""
    if name in ALONE:
        return measure(bed.Server(arguments=ALONE[name]), [], options)
    stores, parameter = start(name)
    try:
        server = bed.Server(environment={"VEDETTE_HISTORY_STORE": parameter})
        return measure(server, ["--history-store", parameter], options)
    finally:
        for store in stores:
            store.stop()


def measure(server, asked, options):
    result = os.path.join(server.folder, "line.json")
    try:
        server.start()
        subprocess.run(
            [bed.BINARY, "bench", "line", "--api", server.url, "--pid", str(server.process.pid),
             "--targets", options.targets, "--items", str(options.items),
             "--seconds", str(options.seconds), "--json", result] + asked,
            check=True, env=dict(os.environ, VEDETTE_ADMIN_PASSWORD=bed.PASSWORD))
        with open(result) as file:
            return json.load(file)
    finally:
        server.clean()


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
        results[name] = run(name, options)
        with open(kept, "w") as file:
            json.dump(results, file, indent=1)
    results = {name: results[name] for name in ALL if name in results}
    draw(results, options)
    with open(os.path.join(options.out, "line.md"), "w") as file:
        file.write(table(results, options.seconds))
    print(table(results, options.seconds))


if __name__ == "__main__":
    main()
