#!/usr/bin/env python3
"""Alerting as recorded from a real server: what arrives at mail servers, web servers, programs and agents, and what the
API then shows.

    VEDETTE_SHARED=FOLDER tests/compat/test_alerts.py [--only REGEX] [--report FILE]

All scenarios run at once against one server, each with hosts, users and receivers of its own. Prints
`N passed, M failed`; a scenario passes if everything is as recorded.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

import bed  # noqa: E402

#: Scenarios of what does not exist yet: shown, not counted.
LATER = re.compile("^(cmd-|service-)")
#: What Vedette answers otherwise on purpose, by scenario: a part of each line that may differ.
OTHERWISE = {
    # A media type that does not exist is named, instead of the statement that failed.
    "cond-errors": ["recorded {\"code\": -32500, \"message\": \"Application error.\", \"data\": \"SQL statement"],
    # A suppression without an end suppresses, instead of leaving only an entry.
    "upd-errors": ["event.get differs at $.result[0].suppression_data"],
}
#: Seconds that a busy machine may be late.
SLACK_S = 30


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", help="scenarios whose id matches")
    parser.add_argument("--report", help="write every difference here as JSON lines")
    parser.add_argument("--slack", type=float, default=SLACK_S, help="seconds that a busy machine may be late")
    options = parser.parse_args()
    replay = os.path.join(os.environ.get("VEDETTE_SHARED", ""), "golden", "alerts", "replay.py")
    if not os.path.isfile(replay):
        sys.exit("VEDETTE_SHARED must name the compatibility data: there is no " + replay)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scripts:
        bed.PASSWORD = "zabbix"
        server = bed.Server(arguments=["--alert-scripts", scripts])
        try:
            server.start()
            command = [sys.executable, replay, "--api", server.url, "--trapper", "%s:%d" % server.address,
                       "--alertscripts", scripts, "--slack", str(options.slack)]
            command += ["--only", options.only] if options.only else []
            command += ["--report", options.report] if options.report else []
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
                verdicts, scenario = {}, None
                for line in run.stdout:
                    print(line, end="", flush=True)
                    found = re.match(r"(same|DIFFERS) (\S+)", line)
                    if found:
                        scenario = found.group(2)
                        verdicts[scenario] = []
                    elif line.startswith("    ") and scenario:
                        verdicts[scenario].append(line)
            for scenario, differences in sorted(verdicts.items()):
                known = OTHERWISE.get(scenario, [])
                wrong = [line for line in differences if not any(part in line for part in known)]
                if LATER.match(scenario):
                    print("%s is not counted: it does not exist yet" % scenario)
                else:
                    passed, failed = passed + (not wrong), failed + bool(wrong)
            if failed:
                print(server.log(60))
        finally:
            server.clean()
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
