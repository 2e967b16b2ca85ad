#!/usr/bin/env python3
"""What a store costs: fills it and prints CPU seconds per million rows and bytes per row.

    tests/stores/cost.py cassandra|opensearch [ROWS [ITEMS]]
"""

import os
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from cassandra import Cassandra  # noqa: E402
from opensearch import OpenSearch  # noqa: E402

STORES = {"cassandra": Cassandra, "opensearch": OpenSearch}


def cpu_s(pid):
    """User and system time of a process."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def size(folder):
    return sum(os.path.getsize(os.path.join(path, name))
               for path, _, names in os.walk(folder) for name in names)


def main(kind, rows="1000000", items="5000"):
    fill = [os.path.join(bed.ROOT, "target/release/examples/fill"), kind]
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--package", "history",
                    "--features", "stores", "--example", "fill"], check=True, cwd=bed.ROOT)
    store = STORES[kind]()
    try:
        process = store.nodes[0].process if kind == "cassandra" else store.process
        # A Java program's first requests cost many times what the later do.
        subprocess.run(fill + [store.url("warm"), "100000", "2000"], check=True)
        begin = cpu_s(process.pid)
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(fill + [store.url("vedette"), rows, items], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # What it does later for these rows counts too: wait until it rests.
        used = cpu_s(process.pid)
        while True:
            time.sleep(3)
            now = cpu_s(process.pid)
            if now - used < 0.2:
                break
            used = now
        million = int(rows) / 1e6
        ours = after.ru_utime + after.ru_stime - own.ru_utime - own.ru_stime
        print("CPU s per million rows: %.1f of the store, %.2f of Vedette"
              % ((now - begin) / million, ours / million))
        if kind == "cassandra":
            # Ending writes everything to its files.
            store.nodes[0].terminate()
            store.nodes[0].end()
            data = size(os.path.join(store.nodes[0].folder, "data", "vedette"))
        else:
            store.call("POST", "vedette-*/_forcemerge?max_num_segments=1&flush=true")
            data = sum(int(index["store.size"]) for index in store.call(
                "GET", "_cat/indices/vedette-*?h=store.size&bytes=b&format=json"))
        print("bytes per row: %.1f" % (data / int(rows)))
    finally:
        store.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
