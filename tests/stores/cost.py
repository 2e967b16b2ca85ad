#!/usr/bin/env python3
"""What a history store costs: CPU of Vedette's driver and of the server per million values, bytes on
disk per value, and how long reading takes.

  tests/stores/cost.py [STORE...] [--batches 40] [--out FOLDER]

STORE is memory (no server: the row to compare with), one of those that with_store.py knows but
riak, which is a double, or clickhouse-cluster or cassandra-cluster; all of them by default. A batch has 45,000 values: 4,500 items, one value a
minute each. All is written over one connection; then again, as after a crash; then the last hour of
200 items is read, one item at a time, and then all of these items. A long graph is that of 90 days
of an item, a value a minute, once by buckets as Vedette asks for them and once by rows. Servers run with the settings of
their package, but for the memory below, and with every commit on the disk where they can. Writes
cost.json and cost.md. Ask a machine with nothing else to do.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from databases import MariaDb, Postgres, TimescaleDb, processes  # noqa: E402
from with_store import CLUSTERS, STORES  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
DATABASE = "cost"
KINDS = ["memory"] + [name for name in STORES if name != "riak"] + list(CLUSTERS)
POSTGRESQL = ("shared_buffers=512MB", "max_wal_size=2GB")
STARTS = {
    **STORES,
    **CLUSTERS,
    "postgresql": lambda: Postgres(POSTGRESQL),
    "postgresql-timescaledb": lambda: TimescaleDb(POSTGRESQL),
    "mysql": lambda: MariaDb(("innodb-buffer-pool-size=512M", "innodb-log-file-size=512M")),
}
# Java compiles what it runs often while it runs: its first million values cost several times more.
WARM_BATCHES = {"cassandra": 4, "hbase": 4, "opensearch": 4}
COLUMNS = (
    "Store", "Values/s written", "CPU s of Vedette per million", "CPU s of the store per million",
    "Second write: CPU s of Vedette", "Second write: CPU s of the store", "Bytes per value",
    "An hour of an item: p50, p95 ms", "All of an item: p50, p95 ms", "Values/s read",
    "A long graph by buckets, by rows: ms")
GRAPH_DAYS = 90


def nodes_of(server):
    return getattr(server, "nodes", [server])


def pids_of(server):
    """The processes of a store, of which others may be children."""
    if isinstance(server, Postgres):
        return [server.pid()]
    parts = nodes_of(server)
    gateway = getattr(server, "gateway", None)
    return [part.process.pid for part in parts] + ([gateway.pid] if gateway else [])


def cpu(pids):
    """CPU seconds of a server and of all that it started."""
    ticks = 0
    for each in [each for pid in pids for each in processes(pid)]:
        try:
            with open("/proc/%d/stat" % each) as file:
                fields = file.read().rsplit(") ", 1)[1].split()
        except FileNotFoundError:
            continue
        # Of processes that ended their parent knows.
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS


def rest(pids):
    """What a server does later for what it was given counts too."""
    # A node of Cassandra uses 0.08 s meanwhile for telling others that it is there.
    least, used = 0.2 * max(len(pids), 1), cpu(pids)
    while True:
        time.sleep(3)
        now = cpu(pids)
        if now - used < least:
            return now
        used = now


def bytes_of(files):
    return sum(os.stat(file).st_blocks * 512 for file in files)


def size_of_clickhouse(server):
    def size(node):
        floats = node.query("SELECT name FROM system.tables WHERE database = '%s' AND name LIKE "
                            "'history_float%%' AND engine LIKE '%%MergeTree'" % DATABASE)
        node.query("OPTIMIZE TABLE %s.%s" % (DATABASE, floats))
        return int(node.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND "
                              "database = '%s' AND table LIKE 'history%%'" % DATABASE))
    return sum(map(size, nodes_of(server)))


def size_of_postgresql(server):
    server.query("CHECKPOINT")
    return int(server.query("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE "
                            "relkind = 'r' AND relname ~ '^(history|_hyper)_'", DATABASE))


def size_of_opensearch(server):
    server.call("POST", DATABASE + "-*/_forcemerge?max_num_segments=1&flush=true")
    return sum(int(index["store.size"]) for index in server.call(
        "GET", "_cat/indices/%s-*?h=store.size&bytes=b&format=json" % DATABASE))


def size_of_cassandra(server):
    # Its end writes everything to files.
    for node in server.nodes:
        node.terminate()
    for node in server.nodes:
        node.end()
    return bytes_of(glob.glob(os.path.join(server.folder, "*", "data", DATABASE, "*", "*")))


SIZES = {
    "cassandra": size_of_cassandra,
    "clickhouse": size_of_clickhouse,
    "hbase": lambda server: server.compact(DATABASE + "_history_31d"),
    "mysql": lambda server: bytes_of(
        glob.glob(os.path.join(server.data, DATABASE, "history_*.ibd"))),
    "opensearch": size_of_opensearch,
    "postgresql": size_of_postgresql,
}


def build():
    """The benchmark's program."""
    command = ["cargo", "bench", "--locked", "--package", "stores", "--features", "servers",
               "--bench", "cost", "--no-run", "--message-format=json"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=bed.ROOT).stdout
    made = [json.loads(line).get("executable") for line in lines.splitlines()]
    return [program for program in made if program][-1]


def bills(command, pids):
    """Of each part what the driver used, and the server."""
    with subprocess.Popen(command, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        found, before = {}, 0
        for line in process.stdout:
            bill, used = json.loads(line), rest(pids)
            found[bill.pop("part")] = {**bill, "its_s": used - before}
            before = used
            process.stdin.write("\n")
            process.stdin.flush()
    if process.returncode:
        raise SystemExit("%s failed" % " ".join(command))
    return found


def measure(name, batches):
    """The parts, and bytes per value."""
    program, kind = build(), name.split("-")[0]
    server = STARTS[name]() if name in STARTS else None
    try:
        pids = pids_of(server) if server else []

        def run(database, *what):
            url = server.url(database) if server else "-"
            return bills([program, kind, url, *map(str, what)], pids)

        run("warm", "load", WARM_BATCHES.get(kind, 1))
        parts = run(DATABASE, "load", batches) | run("graph", "graph", GRAPH_DAYS)
        return parts, server and SIZES[kind](server) / parts["write"]["values"]
    finally:
        if server:
            server.stop()


def row(name, parts, size):
    """A line of the table."""
    def per_million(part, of):
        return "%.2f" % (parts[part][of] / parts[part]["values"] * 1e6)

    def times(part):
        cuts = statistics.quantiles(parts[part]["ms"], n=20)
        return "%.1f, %.1f" % (cuts[9], cuts[18])

    def per_second(part):
        return "{:,.0f}".format(parts[part]["values"] / sum(parts[part]["ms"]) * 1e3)

    return [name, per_second("write"),
            per_million("write", "cpu_s"), per_million("write", "its_s"),
            per_million("again", "cpu_s"), per_million("again", "its_s"),
            "%.1f" % size if size else "", times("hour"), times("all"), per_second("all"),
            "%.0f, %.0f" % tuple(statistics.median(parts[p]["ms"]) for p in ("buckets", "rows"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", metavar="STORE", default=[], choices=[[], *KINDS])
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--out", default=os.path.join(bed.ROOT, "target", "cost"))
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    results, lines = {}, [COLUMNS, ["---"] + ["---:"] * (len(COLUMNS) - 1)]
    for name in options.stores or KINDS:
        print("-- %s" % name, flush=True)
        parts, size = measure(name, options.batches)
        results[name] = {"parts": parts, "bytes_per_value": size}
        lines.append(row(name, parts, size))
        with open(os.path.join(options.out, "cost.json"), "w") as file:
            json.dump(results, file, indent=1)
        with open(os.path.join(options.out, "cost.md"), "w") as file:
            file.writelines("| %s |\n" % " | ".join(line) for line in lines)
        print(" | ".join(lines[-1]), flush=True)


if __name__ == "__main__":
    main()
