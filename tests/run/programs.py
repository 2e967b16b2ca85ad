"""Runs the test programs that scripts/suites/unit-programs has built, some at once.

  programs.py MESSAGES [CRATE WORD]

With the folder of a crate, only its programs run, with those of their tests whose names contain the word.

`cargo test` would run one after the other, and would wait while lints are compiled in the same folder.
"""

import concurrent.futures
import json
import os
import subprocess
import sys

#: Programs at once: many tests wait for sockets and times.
PLACES = 3


def programs(messages):
    """The test programs among the messages of cargo (JSON, one a line): executable and folder of its crate."""
    found = []
    for line in messages:
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            found.append((message["executable"], os.path.dirname(message["manifest_path"])))
    return found


def run(program, words=()):
    """Whether all tests of a program (with words: those whose names contain one) passed, and what it printed."""
    executable, folder = program
    done = subprocess.run([executable, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    text = "Running %s\n%s" % (executable, done.stdout)
    if done.returncode and "test result: FAILED" not in done.stdout:
        # An abort or a signal: the program itself says nothing of the kind.
        last = "\n".join(done.stdout.splitlines()[-10:])
        text += "error: %s ended with status %d, behind\n%s\n" % (executable, done.returncode, last)
    return done.returncode == 0, text


def run_all(found, words=()):
    """Runs them, prints what each printed when it has ended, and returns whether all passed."""
    passed = True
    with concurrent.futures.ThreadPoolExecutor(PLACES) as places:
        for done in concurrent.futures.as_completed([places.submit(run, program, words) for program in found]):
            one, text = done.result()
            passed = passed and one
            print(text, end="", flush=True)
    return passed


def main():
    path, *only = sys.argv[1:]
    with open(path) as messages:
        found = programs(messages)
    if only:
        folder = os.path.realpath(only.pop(0))
        found = [program for program in found if os.path.realpath(program[1]) == folder]
    if not found:
        sys.exit("%s names no test program" % path)
    sys.exit(0 if run_all(found, only) else 1)


if __name__ == "__main__":
    main()
