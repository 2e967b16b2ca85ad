#!/usr/bin/env python3
"""Correlation rules: the API gives the answers of a real server 7.0, and refuses what it refuses, in its words."""

import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402
from differ import correlation  # noqa: E402

#: User types of the roles of a new server.
ROLES = {"user": "1", "admin": "2", "super": "3"}
USER_PASSWORD = "Zq7-vKt3-mWx8"


class Side:
    """One of the two servers, with two host groups and users of all types."""

    def __init__(self, api):
        self.apis = {"Admin": api, "nobody": bed.Api(api.url)}
        self.ids = {}
        for name in ("group", "other"):
            made = api.call("hostgroup.create", name="Correlated " + name)
            self.ids["<%s>" % name] = made["groupids"][0]
        group = api.call("usergroup.create", name="Correlators")["usrgrpids"][0]
        for name, role in ROLES.items():
            api.call("user.create", username="correlator-" + name, passwd=USER_PASSWORD, roleid=role,
                     usrgrps=[{"usrgrpid": group}])
            self.apis[name] = bed.Api(api.url).login("correlator-" + name, USER_PASSWORD)

    def filled(self, value):
        """The value with ids for names."""
        if isinstance(value, dict):
            return {key: self.filled(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.filled(one) for one in value]
        return self.ids.get(value, value) if isinstance(value, str) else value

    def answer(self, who, method, params):
        """What the API says, with names for ids."""
        try:
            result = self.apis[who].call(method, self.filled(params))
        except bed.ApiError as problem:
            return {"code": problem.code, "data": re.sub(r"\(\d+\)", "(ID)", problem.data)}
        if method == "correlation.create":
            rules = params if isinstance(params, list) else [params]
            for given, made in zip(rules, result["correlationids"]):
                self.ids["<%s rule>" % given["name"]] = made
                self.ids.setdefault("<%s>" % given["name"], made)
        shown = self.shown(result)
        if method == "correlation.get" and isinstance(shown, list) and "sortfield" not in params:
            # In no order, which the reference changes with updates.
            shown.sort(key=lambda one: json.dumps(one, sort_keys=True))
        return shown

    def shown(self, value, key=""):
        if isinstance(value, dict):
            is_map = all(re.fullmatch(r"\d+", name) for name in value) and value
            name_of = (lambda name: self.name(name, "rule>")) if is_map else (lambda name: name)
            return {name_of(name): self.shown(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [self.shown(one, key) for one in value]
        if key in ("correlationid", "correlationids"):
            return self.name(value, "rule>")
        return self.name(value, ">") if key in ("groupid", "groupids") else value

    def name(self, value, end):
        """Rules and groups have ids of their own."""
        names = [name for name, known in self.ids.items() if known == value and name.endswith(end)]
        return names[0] if names else value


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--base-port", type=int, help="use a reference that runs already and has no such objects")
    options = parser.parse_args()
    server = bed.Server()
    real = reference.Reference(options.base_port)
    passed = failed = 0
    try:
        server.start()
        sides = [Side(real.api()), Side(server.api())]
        for who, method, params in correlation.calls():
            recorded, own = (side.answer(who, method, params) for side in sides)
            if recorded == own:
                passed += 1
                continue
            failed += 1
            print("DIFFERS %s %s %s\n    reference %s\n    vedette   %s" % (
                who, method, json.dumps(params)[:400], json.dumps(recorded), json.dumps(own)))
    finally:
        server.clean()
        real.stop()
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or passed < 100 else 0)


if __name__ == "__main__":
    main()
