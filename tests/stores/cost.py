#!/usr/bin/env python3
"""What a history store on a SQL database costs: CPU of Vedette's driver and of the server per
million values, bytes on disk per value.

  tests/stores/cost.py postgresql|mysql [BATCHES]

A batch has 45,000 values; the default of 40 takes about a minute. Servers run with the settings of
their package, but for the memory below, and with every commit on the disk.
"""

import glob
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from databases import MariaDb, Postgres, processes  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def cpu(pid):
    """CPU seconds of a server and of all that it started."""
    ticks = 0
    for each in processes(pid):
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
            "AND relname LIKE 'history%'", "cost"))
    files = glob.glob(os.path.join(server.data, "cost", "history_*.ibd"))
    return sum(os.stat(file).st_blocks * 512 for file in files)


def run(server, what, batches):
    """Values and CPU seconds of the driver, CPU seconds of the server, seconds."""
    command = ["cargo", "bench", "--quiet", "--package", "history", "--features", "stores",
               "--bench", "stores", "--", server.url("cost"), what, str(batches)]
    before, begin = cpu(server.pid()), time.monotonic()
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=bed.ROOT).stdout
    values, own = answer.split()[-2:]
    return int(values), float(own), cpu(server.pid()) - before, time.monotonic() - begin


def main():
    kind, batches = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    if kind == "postgresql":
        server = Postgres(("shared_buffers=512MB", "max_wal_size=2GB"))
    else:
        server = MariaDb(("innodb-buffer-pool-size=512M", "innodb-log-file-size=512M"))
    try:
        # Built before anything is measured.
        subprocess.run(["cargo", "bench", "--quiet", "--package", "history", "--features",
                        "stores", "--bench", "stores", "--no-run"], check=True, cwd=bed.ROOT)
        for what in ("write", "again", "read"):
            values, own, its, seconds = run(server, what, batches)
            millions = values / 1e6
            print("%-6s %9d values in %5.1f s; CPU seconds per million: Vedette %.2f, %s %.2f"
                  % (what, values, seconds, own / millions, kind, its / millions), flush=True)
            if what == "write":
                # What is written behind the commits belongs to them.
                time.sleep(5)
                print("bytes per value: %.1f" % (on_disk(server) / values), flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
