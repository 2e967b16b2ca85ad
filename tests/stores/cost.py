#!/usr/bin/env python3
"""What a history store costs: CPU of Vedette's driver and of the server per million values, bytes on
disk per value.

  tests/stores/cost.py cassandra|hbase|mysql|opensearch|postgresql [BATCHES]

A batch has 45,000 values; the default of 40 takes about a minute. Servers run with the settings of
their package, but for the memory below, and with every commit on the disk where they can.
"""

import glob
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from cassandra import Cassandra  # noqa: E402
from databases import MariaDb, Postgres, processes  # noqa: E402
from hbase import HBase  # noqa: E402
from opensearch import OpenSearch  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
DATABASE = "cost"
# Java compiles what it runs often while it runs: its first million values cost several times more.
WARM_BATCHES = {"cassandra": 4, "hbase": 4, "opensearch": 4}


def start(kind):
    if kind == "postgresql":
        return Postgres(("shared_buffers=512MB", "max_wal_size=2GB"))
    if kind == "mysql":
        return MariaDb(("innodb-buffer-pool-size=512M", "innodb-log-file-size=512M"))
    return {"cassandra": Cassandra, "hbase": HBase, "opensearch": OpenSearch}[kind]()


def pids_of(server):
    if isinstance(server, Cassandra):
        return [server.nodes[0].process.pid]
    if isinstance(server, HBase):
        return [server.process.pid, server.gateway.pid]
    return [server.process.pid if isinstance(server, OpenSearch) else server.pid()]


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


def on_disk(server):
    """Bytes of the tables of values."""
    if isinstance(server, Postgres):
        server.query("CHECKPOINT")
        return int(server.query(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' "
            "AND relname LIKE 'history%'", DATABASE))
    if isinstance(server, HBase):
        return server.compact(DATABASE + "_history_31d")
    if isinstance(server, OpenSearch):
        server.call("POST", DATABASE + "-*/_forcemerge?max_num_segments=1&flush=true")
        return sum(int(index["store.size"]) for index in server.call(
            "GET", "_cat/indices/%s-*?h=store.size&bytes=b&format=json" % DATABASE))
    if isinstance(server, MariaDb):
        files = glob.glob(os.path.join(server.data, DATABASE, "history_*.ibd"))
    else:
        # Its end writes everything to files.
        server.nodes[0].terminate()
        server.nodes[0].end()
        files = glob.glob(os.path.join(server.nodes[0].folder, "data", DATABASE, "*", "*"))
    return sum(os.stat(file).st_blocks * 512 for file in files)


def bench(server, kind, database, what, batches):
    """Values and CPU seconds of the driver."""
    command = ["cargo", "bench", "--quiet", "--locked", "--package", "history", "--features",
               "stores", "--bench", "stores", "--", kind, server.url(database), what, str(batches)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=bed.ROOT).stdout
    values, own = answer.split()[-2:]
    return int(values), float(own)


def rest(pids):
    """What a server does later for what it was given counts too."""
    used = cpu(pids)
    while True:
        time.sleep(3)
        now = cpu(pids)
        if now - used < 0.2:
            return now
        used = now


def main():
    kind, batches = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    server = start(kind)
    pids = pids_of(server)
    try:
        # Built, and warm, before anything is measured.
        bench(server, kind, "warm", "write", WARM_BATCHES.get(kind, 1))
        for what in ("write", "again", "read"):
            before, begin = rest(pids), time.monotonic()
            values, own = bench(server, kind, DATABASE, what, batches)
            seconds, its = time.monotonic() - begin, rest(pids) - before
            millions = values / 1e6
            print("%-6s %9d values in %5.1f s; CPU seconds per million: Vedette %.2f, %s %.2f"
                  % (what, values, seconds, own / millions, kind, its / millions), flush=True)
            if what == "write":
                written = values
        print("bytes per value: %.1f" % (on_disk(server) / written), flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
