#!/usr/bin/env python3
"""Runs a command while a double of Riak is up; VEDETTE_RIAK tells it where."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from riakdouble import RiakDouble  # noqa: E402

if __name__ == "__main__":
    store = RiakDouble()
    try:
        environment = dict(os.environ, VEDETTE_RIAK=store.url().rstrip("/"))
        status = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
    finally:
        store.stop()
    sys.exit(status)
