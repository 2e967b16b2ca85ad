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
    return output(command, done.returncode, done.stdout, done.stderr)


def run_until(ready, command):
    """The same; the program gets a line when `ready` is true."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=bed.ROOT) as program:
        try:
            bed.wait_for("the moment to go on", lambda: ready() or program.poll() is not None, pause=0.02)
            said = program.communicate("\n", timeout=300)
        finally:
            program.kill()
    return output(command, program.returncode, *said)


def output(command, code, said, complained):
    """What a program said; fails with all of it if the program has failed."""
    if code:
        raise AssertionError("%s: %d\n%s%s" % (command, code, said, complained))
    return said


def compile_c(name, program, *options):
    """Makes a program of tests/lib with the C library's sources in it, under sanitizers."""
    sources = [os.path.join(CLIENTS, source) for source in
               ("vedette_history.c", "batch.c", "writer.c", "http.c", "json.c")]
    run(["cc", "-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
         "-pthread", "-I", CLIENTS, os.path.join("tests", "lib", name), *sources, *options,
         "-o", program])
