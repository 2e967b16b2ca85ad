#!/usr/bin/env python3
"""What a real server 7.0 takes as configuration, Vedette takes, and refuses what it refuses.

Expressions of triggers, trigger prototypes and calculated items (and their prototypes), right and
wrong ones, are put to both APIs. Whether an object is made must agree; the words need not.
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
from differ import configuration  # noqa: E402


class Side:
    """One of the two servers, with a host that cases refer to."""

    def __init__(self, api):
        self.api = api
        group = api.call("hostgroup.create", name="Configuration")["groupids"][0]
        self.host = api.call("host.create", host="C", groups=[{"groupid": group}])["hostids"][0]
        for key, kind in configuration.ITEMS:
            api.call("item.create", hostid=self.host, name=key, key_=key, type=2, value_type=kind)
        self.rule = api.call("discoveryrule.create", hostid=self.host, name="rule", key_="rule",
                             type=2)["itemids"][0]
        for key, kind in configuration.PROTOTYPES:
            api.call("itemprototype.create", hostid=self.host, ruleid=self.rule, name=key, key_=key,
                     type=2, value_type=kind)
        self.made = 0

    def outcome(self, kind, text):
        """Empty when the object was made, else what the API said."""
        self.made += 1
        name = "%s%d" % (kind.replace(" ", ""), self.made)
        try:
            if kind == "trigger":
                made = self.api.call("trigger.create", description=name, expression=text)
                self.api.call("trigger.delete", made["triggerids"])
            elif kind == "prototype":
                made = self.api.call("triggerprototype.create", description=name, expression=text)
                self.api.call("triggerprototype.delete", made["triggerids"])
            elif kind == "recovery":
                made = self.api.call(
                    "trigger.create", description=name, expression="last(/C/f)>1", recovery_mode=1,
                    recovery_expression=text)
                self.api.call("trigger.delete", made["triggerids"])
            elif kind == "formula":
                made = self.api.call("item.create", {
                    "hostid": self.host, "name": name, "key_": name, "type": 15, "value_type": 0,
                    "delay": "1m", "params": text})
                self.api.call("item.delete", made["itemids"])
            else:
                made = self.api.call("itemprototype.create", {
                    "hostid": self.host, "ruleid": self.rule, "name": name, "key_": name + "[{#A}]",
                    "type": 15, "value_type": 0, "delay": "1m", "params": text})
                self.api.call("itemprototype.delete", made["itemids"])
        except bed.ApiError as problem:
            return problem.data or "refused"
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--base-port", type=int, help="use a reference that runs already")
    parser.add_argument("--report", help="write both answers to every case here as JSON lines")
    options = parser.parse_args()
    server = bed.Server()
    real = reference.Reference(options.base_port)
    passed, failed, rows = 0, 0, []
    try:
        server.start()
        sides = [Side(real.api()), Side(server.api())]
        for kind, text in configuration.cases():
            one, other = (side.outcome(kind, text) for side in sides)
            rows.append({"kind": kind, "text": text, "reference": one, "vedette": other})
            if bool(one) == bool(other):
                passed += 1
                continue
            failed += 1
            print("DIFFERS " + json.dumps(rows[-1], ensure_ascii=False))
        if not real.own:
            sides[0].api.call("host.delete", [sides[0].host])
            group = sides[0].api.call("hostgroup.get", filter={"name": "Configuration"})
            sides[0].api.call("hostgroup.delete", [group[0]["groupid"]])
    finally:
        server.clean()
        real.stop()
    if options.report:
        with open(options.report, "w") as f:
            f.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    taken = sum(not row["reference"] for row in rows)
    print("the reference takes %d of %d" % (taken, len(rows)))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or passed < 250 else 0)


if __name__ == "__main__":
    main()
