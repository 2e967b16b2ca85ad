#!/usr/bin/env python3
"""Runs a command once with each ClickHouse; VEDETTE_CLICKHOUSE tells it where. `with_clickhouse.py old`
or `new` takes one of them."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from clickhouses import ClickHouse, NewEngine  # noqa: E402

KINDS = {"old": ClickHouse, "new": NewEngine}


def main():
    command = sys.argv[1:]
    kinds = list(KINDS)
    if command[:1] and command[0] in KINDS:
        kinds, command = command[:1], command[1:]
    failed = 0
    for kind in kinds:
        print("-- ClickHouse, %s" % kind, flush=True)
        store = KINDS[kind]()
        try:
            environment = dict(os.environ, VEDETTE_CLICKHOUSE=store.url().rstrip("/"))
            failed |= subprocess.run(command, env=environment, check=False).returncode
        finally:
            store.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
