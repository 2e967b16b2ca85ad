"""What failed in a job, from its log: the blocks that cargo's tests, unittest, Vitest and compilers print."""

import re

#: The first line of a failure.
BEGIN = re.compile(r"---- \S.* ----$|(?:FAIL|ERROR): \S|\s*FAIL\s+\S|error(?:\[E\d+\])?: ")
#: The line after the last one of a failure.
END = re.compile(r"failures:$|test result: |=+$|Ran \d+ tests? in |error: (?:test failed|\d+ targets? failed)")
#: Lines shown of one failure, and of all failures of a job.
LINES_OF_ONE_MAX = 15
LINES_MAX = 60


def blocks(lines):
    """Each failure in the lines of a log, as its lines; empty ones are left out."""
    found, block = [], None
    for line in lines:
        line = line.rstrip("\n")
        if END.match(line):
            block = None
        elif BEGIN.match(line):
            block = [line]
            found.append(block)
        elif block is not None and line.strip():
            block.append(line)
    return found


def shortened(lines, most):
    """The lines, at most so many: of more than that, the middle is left out."""
    if len(lines) <= most:
        return lines
    head = most * 2 // 3
    return [*lines[:head], "[%d lines left out]" % (len(lines) - most + 1), *lines[head - most + 1:]]


def excerpt(path):
    """What a reader needs first of the log of a failed job: its failures, or its last lines if it names none."""
    with open(path, errors="replace") as log:
        lines = log.readlines()
    found = blocks(lines)
    if not found:
        return "".join(lines[-LINES_MAX:]).rstrip("\n")
    shown = [line for block in found for line in shortened(block, LINES_OF_ONE_MAX)]
    return "\n".join(shortened(shown, LINES_MAX))
