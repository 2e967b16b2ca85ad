"""What all tests of the history service's clients need: the clients, and how theirs are built."""

import os
import subprocess
import sys

import bed

sys.path.insert(0, os.path.join(bed.ROOT, "clients", "python"))
import vedette_history as vh

CLIENTS = os.path.join(bed.ROOT, "clients", "c")
CLOCK = 1_700_000_000


def run(command, **environment):
    """Its output; fails with all that it said."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=bed.ROOT,
                          env=dict(os.environ, **environment))
    if done.returncode:
        raise AssertionError("%s: %d\n%s%s" % (command, done.returncode, done.stdout, done.stderr))
    return done.stdout


def compile_c(name, program, *options):
    """Makes a program of tests/lib with the C library's sources in it, under sanitizers."""
    sources = [os.path.join(CLIENTS, source) for source in
               ("vedette_history.c", "batch.c", "writer.c", "http.c", "json.c")]
    run(["cc", "-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
         "-pthread", "-I", CLIENTS, os.path.join("tests", "lib", name), *sources, *options,
         "-o", program])
