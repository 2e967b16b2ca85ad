"""Checks the results of the conformance runner: as many cases pass as floor.txt says, which may only rise, and no
case fails but those in lacking.txt, each with what it needs that the engine does not have yet."""
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def lines(name):
    with open(os.path.join(FOLDER, name)) as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def main():
    floor = int(lines("floor.txt")[0])
    lacking = {line.split(None, 1)[0] for line in lines("lacking.txt")}
    with open(sys.argv[1]) as file:
        results = [json.loads(line) for line in file]
    passed = {one["id"] for one in results if one["result"] == "pass"}
    failed = {one["id"] for one in results if one["result"] in ("fail", "error")}
    wrong = ["fails: " + case for case in sorted(failed - lacking)]
    wrong += ["passes, take it off lacking.txt: " + case for case in sorted(lacking & passed)]
    if len(passed) < floor:
        wrong.append("%d cases pass, before there were %d" % (len(passed), floor))
    if len(passed) > floor:
        wrong.append("%d cases pass: write that into tests/lb/floor.txt" % len(passed))
    print("\n".join(wrong))
    print("%d passed, %d failed, %d skipped" % (len(passed), len(wrong), len(results) - len(passed | failed)
                                               + len(failed & lacking)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
