#!/usr/bin/env python3
"""Runs a command while a PostgreSQL and a MariaDB server are up; VEDETTE_POSTGRESQL and
VEDETTE_MYSQL tell it where."""

import contextlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from databases import MariaDb, Postgres  # noqa: E402

if __name__ == "__main__":
    with contextlib.ExitStack() as stack:
        postgres = Postgres()
        stack.callback(postgres.stop)
        mariadb = MariaDb()
        stack.callback(mariadb.stop)
        environment = dict(os.environ, VEDETTE_POSTGRESQL=postgres.url().rstrip("/"),
                           VEDETTE_MYSQL=mariadb.url().rstrip("/"))
        status = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
    sys.exit(status)
