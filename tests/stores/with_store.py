#!/usr/bin/env python3
"""Runs a command while a history store is up.

  with_store.py STORE COMMAND...

STORE is clickhouse-18, clickhouse-26, postgresql, postgresql-timescaledb, mysql, cassandra,
opensearch, hbase or riak (a double). VEDETTE_CLICKHOUSE and its like tell the command where it is.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cassandra import Cassandra, Replicas  # noqa: E402
from clickhouses import ClickHouse, ClickHouses, NewEngine  # noqa: E402
from databases import MariaDb, Postgres, TimescaleDb  # noqa: E402
from hbase import HBase  # noqa: E402
from opensearch import OpenSearch  # noqa: E402
from riakdouble import RiakDouble  # noqa: E402

STORES = {
    "clickhouse-18": ClickHouse, "clickhouse-26": NewEngine, "postgresql": Postgres,
    "postgresql-timescaledb": TimescaleDb, "mysql": MariaDb, "cassandra": Cassandra,
    "opensearch": OpenSearch, "hbase": HBase, "riak": RiakDouble,
}
CLUSTERS = {"clickhouse-cluster": ClickHouses, "cassandra-cluster": Replicas}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in STORES:
        sys.exit(__doc__)
    name, command = sys.argv[1], sys.argv[2:]
    store = STORES[name]()
    try:
        variable = "VEDETTE_" + name.split("-")[0].upper()
        environment = {**os.environ, variable: store.url().rstrip("/")}
        return subprocess.run(command, env=environment, check=False).returncode
    finally:
        store.stop()


if __name__ == "__main__":
    sys.exit(main())
