#!/usr/bin/env python3
"""Runs a command while HBase and its gateway are up; VEDETTE_HBASE tells it where."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from hbase import HBase  # noqa: E402

if __name__ == "__main__":
    store = HBase()
    try:
        environment = dict(os.environ, VEDETTE_HBASE=store.url().rstrip("/"))
        status = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
    finally:
        store.stop()
    sys.exit(status)
