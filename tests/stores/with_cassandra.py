#!/usr/bin/env python3
"""Runs a command while a Cassandra node is up; VEDETTE_CASSANDRA tells it where."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cassandra import Cassandra  # noqa: E402

if __name__ == "__main__":
    store = Cassandra()
    try:
        environment = dict(os.environ, VEDETTE_CASSANDRA=store.url().rstrip("/"))
        status = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
    finally:
        store.stop()
    sys.exit(status)
