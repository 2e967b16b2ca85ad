#!/usr/bin/env python3
"""How long users wait while the configuration is changed at large.

Makes an estate of hosts that share a template, then runs long changes one after the other: imports,
links and unlinks of many hosts, changes of the template of all hosts, a low-level discovery, deletions.
During each, every 100 ms: a sign-in, a host.create, an acknowledgement, and a value that
fires a trigger, until problem.get shows the problem. Prints the longest and the typical waits, and the
longest time for which one change has held the writer of the configuration.

    cargo build --release
    tests/bench/waits.py                                  # 450,000 items
    tests/bench/waits.py --hosts 200 --link-hosts 100     # to try the program
    tests/bench/waits.py --only nothing,massremove        # operations whose names contain a word

Only how fast problems open, each 100 ms after the one before, while 100 items are linked to 10,000 hosts:

    tests/bench/waits.py --problems --hosts 10000 --items 0 --link-hosts 10000 --idle 15 \\
        --only nothing,host.massadd
"""

import argparse
import json
import os
import re
import sys
import threading
import time
import uuid

from servers import ROOT, say

import bed

EVERY_S = 0.1
HOSTS_PER_CALL = 500
PROBLEM_S_MAX = 120.0
CHANGE_S_MAX = 1800.0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", 1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--hosts", type=int, default=4500, help="hosts of the estate")
    parser.add_argument("--items", type=int, default=100, help="items of its template")
    parser.add_argument("--link-hosts", type=int, default=4000, help="hosts that a template is linked to")
    parser.add_argument("--link-items", type=int, default=100, help="items of that template")
    parser.add_argument("--new-items", type=int, default=20, help="items created on the estate's template")
    parser.add_argument("--import-items", type=int, default=5000, help="items of the imported template")
    parser.add_argument("--rows", type=int, default=20000, help="rows of the discovery")
    parser.add_argument("--idle", type=float, default=3, metavar="SECONDS", help="how long nothing is changed")
    parser.add_argument("--problems", action="store_true", help="nothing meanwhile but values that open problems")
    parser.add_argument("--only", metavar="WORDS", help="operations whose names contain one of them")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    return parser.parse_args()


class Estate:
    """Hosts, their template, and a host whose trigger is fired."""

    def __init__(self, server, options):
        self.server, self.options, self.api = server, options, server.api()
        self.group = self.create("hostgroup", "groupids", name="Estate")
        self.templates = self.create("templategroup", "groupids", name="Estate")
        self.template = self.make_template("Estate", options.items)
        self.hosts = []
        for first in range(0, options.hosts, HOSTS_PER_CALL):
            last = min(first + HOSTS_PER_CALL, options.hosts)
            made = self.api.call("host.create", [
                {"host": "estate-%05d" % n, "groups": [{"groupid": self.group}],
                 "templates": [{"templateid": self.template}]} for n in range(first, last)])
            self.hosts += made["hostids"]
            say("%d of %d hosts" % (last, options.hosts))
        probe = self.create("host", "hostids", host="probe", groups=[{"groupid": self.group}])
        self.create("item", "itemids", hostid=probe, name="v", key_="v", type=2, value_type=3)
        self.trigger = self.create("trigger", "triggerids", description="fired", manual_close=1,
                                   expression="last(/probe/v)>0")
        self.create("item", "itemids", hostid=probe, name="each", key_="each", type=2, value_type=3)
        # Each value opens a problem.
        self.each = self.create("trigger", "triggerids", description="each", type=1,
                                expression="last(/probe/each)>0")

    def create(self, kind, ids, /, **members):
        return self.api.call(kind + ".create", members)[ids][0]

    def make_template(self, name, items):
        template = self.create("template", "templateids", host=name,
                               groups=[{"groupid": self.templates}])
        if items:
            self.api.call("item.create", [
                {"hostid": template, "name": "Item %d" % n, "key_": "%s[%d]" % (name, n), "type": 2,
                 "value_type": 3} for n in range(items)])
        return template


class Waits(threading.Thread):
    """Does things in turn, one every 100 ms, and measures how long each took."""

    def __init__(self, **acts):
        super().__init__(daemon=True)
        self.acts = [(name.replace("_", " "), act) for name, act in acts.items()]
        self.taken = {name: [] for name, _ in self.acts}
        self.failure, self.ended = None, threading.Event()

    def run(self):
        number = 0
        while not self.ended.is_set():
            name, act = self.acts[number % len(self.acts)]
            begin = time.monotonic()
            try:
                act(number)
            except Exception as failure:  # shown by the thread's starter
                self.failure = RuntimeError("%s: %r" % (name, failure))
                return
            spent = time.monotonic() - begin
            self.taken[name].append(spent)
            self.ended.wait(max(0.0, EVERY_S - spent))
            number += 1

    def end(self):
        """Waits in seconds by name, the shortest first."""
        self.ended.set()
        self.join()
        if self.failure:
            raise self.failure
        return {name: sorted(taken) for name, taken in self.taken.items() if taken}


def problems_alone(estate):
    """Values that open a problem each, and nothing else."""
    api = estate.server.api()
    newest = {"objectids": estate.each, "output": ["clock", "ns"], "sortfield": "eventid",
              "sortorder": "DESC", "limit": 1}

    def is_newest(at):
        return [(int(row["clock"]), int(row["ns"])) for row in api.call("problem.get", newest)] == [at]

    def open_problem(_):
        at = divmod(time.time_ns(), 1_000_000_000)
        end = time.monotonic() + PROBLEM_S_MAX
        bed.send(estate.server.address, {"request": "sender data", "data": [
            {"host": "probe", "key": "each", "value": "1", "clock": at[0], "ns": at[1]}]})
        while not is_newest(at):
            if time.monotonic() > end:
                raise RuntimeError("no problem within %g s" % PROBLEM_S_MAX)
            time.sleep(0.001)

    return [Waits(problem_opens=open_problem)]


def users(estate, operation):
    """What users do meanwhile."""
    if estate.options.problems:
        return problems_alone(estate)
    server, trigger = estate.server, estate.trigger
    sessions = [server.api() for _ in range(3)]
    problems = {"objectids": trigger, "output": ["eventid"], "recent": False}

    def sign_in(_):
        server.api().call("user.logout", [])

    def create_host(number):
        sessions[0].call("host.create", host="%s-%d" % (operation, number),
                         groups=[{"groupid": estate.group}])

    def change_problem(value, is_open):
        bed.send(server.address, {"request": "sender data", "data": [
            {"host": "probe", "key": "v", "value": value}]})
        end = time.monotonic() + PROBLEM_S_MAX
        while bool(sessions[1].call("problem.get", problems)) != is_open:
            if time.monotonic() > end:
                raise RuntimeError("no change of the problem within %g s" % PROBLEM_S_MAX)
            time.sleep(0.002)


    # An event of its own: acknowledgements do not depend on what the trigger does meanwhile.
    event = estate.event

    def acknowledge(number):
        sessions[2].call("event.acknowledge", eventids=event, action=4, message="m%d" % number)

    return [Waits(sign_in=sign_in), Waits(new_host=create_host), Waits(acknowledgement=acknowledge),
            Waits(problem_opens=lambda _: change_problem("1", True),
                  problem_closes=lambda _: change_problem("0", False))]


def first_event(estate):
    """An event of the trigger, to be acknowledged."""
    def events(value):
        return estate.api.call("event.get", objectids=estate.trigger, output=["eventid"], value=value)

    for value in (1, 0):
        bed.send(estate.server.address, {"request": "sender data", "data": [
            {"host": "probe", "key": "v", "value": str(value)}]})
        bed.wait_for("an event", lambda value=value: events(value))
    return events(1)[0]["eventid"]


def source(name, items, delay="0"):
    """An export with one template."""
    def identity(of):
        return uuid.uuid5(uuid.NAMESPACE_URL, of).hex[:12] + "4" + uuid.uuid5(
            uuid.NAMESPACE_URL, of).hex[13:16] + "8" + uuid.uuid5(uuid.NAMESPACE_URL, of).hex[17:]

    return json.dumps({"zabbix_export": {
        "version": "7.0",
        "template_groups": [{"uuid": identity("group"), "name": "Imported"}],
        "templates": [{
            "uuid": identity(name), "template": name, "name": name,
            "groups": [{"name": "Imported"}],
            "items": [{"uuid": identity("%s %d" % (name, n)), "name": "Item %d" % n,
                       "type": "ZABBIX_ACTIVE" if delay != "0" else "TRAP",
                       "key": "%s[%d]" % (name.lower(), n), "delay": delay}
                      for n in range(items)]}]}})


class Operations:
    """The long changes. Those that come first leave the objects that later ones need."""

    def __init__(self, estate):
        self.estate, self.api, self.options = estate, estate.server.api(), estate.options
        self.api.timeout_s = CHANGE_S_MAX
        self.ids = estate.hosts[:self.options.link_hosts]
        self.linked = estate.make_template("Linked", self.options.link_items)
        self.again = estate.make_template("Again", self.options.link_items)
        host = estate.create("host", "hostids", host="rows", groups=[{"groupid": estate.group}])
        self.rule = estate.create("discoveryrule", "itemids", hostid=host, name="rows", key_="rows",
                                  type=2)
        estate.create("itemprototype", "itemids", hostid=host, ruleid=self.rule, name="{#N}",
                      key_="row[{#N}]", type=2, value_type=3)

    def objects(self):
        return [{"hostid": host} for host in self.ids]

    def new_items(self):
        result = self.api.call("item.get", hostids=self.estate.template, output=["itemid"],
                               search={"name": "New "})
        return [item["itemid"] for item in result]

    def import_template(self, name, items, **more):
        both = {"createMissing": True, "updateExisting": True}
        self.api.call("configuration.import", format="json", source=source(name, items, **more),
                      rules={"template_groups": both, "templates": both, "items": both})

    def link_imported(self):
        self.import_template("Shared", 50)
        template = self.api.call("template.get", filter={"host": ["Shared"]}, output=["templateid"])
        self.api.call("host.massadd", hosts=self.objects(), templates=template)

    def discover(self):
        rows = json.dumps([{"{#N}": str(n)} for n in range(self.options.rows)])
        bed.send(self.estate.server.address, {"request": "sender data", "data": [
            {"host": "rows", "key": "rows", "value": rows}]})
        count = {"countOutput": True, "host": "rows", "search": {"key_": "row["}}
        bed.wait_for("the discovered items",
                     lambda: int(self.api.call("item.get", count)) >= self.options.rows, 600)

    def unlink_in_update(self):
        self.api.call("host.update", [
            {"hostid": host, "templates_clear": [{"templateid": self.again}]} for host in self.ids])

    def all(self):
        api, estate, options = self.api, self.estate, self.options
        many, few = options.link_hosts, options.new_items
        return [
            ("nothing", lambda: time.sleep(options.idle)),
            ("configuration.import of %d items" % options.import_items,
             lambda: self.import_template("Imported", options.import_items)),
            ("host.massadd of %d items to %d hosts" % (options.link_items, many),
             lambda: api.call("host.massadd", hosts=self.objects(),
                              templates=[{"templateid": self.linked}])),
            ("item.create of %d items on a template of %d hosts" % (few, options.hosts),
             lambda: api.call("item.create", [
                 {"hostid": estate.template, "name": "New %d" % n, "key_": "new[%d]" % n, "type": 2,
                  "value_type": 3} for n in range(few)])),
            ("item.update (keys) of %d items on a template of %d hosts" % (few, options.hosts),
             lambda: api.call("item.update", [
                 {"itemid": item, "key_": "newer[%d]" % n}
                 for n, item in enumerate(self.new_items())])),
            ("item.update (types) of %d items on a template of %d hosts" % (few, options.hosts),
             lambda: api.call("item.update", [
                 {"itemid": item, "type": 7, "delay": "1m"} for item in self.new_items()])),
            ("trigger.create of %d triggers on a template of %d hosts" % (few, options.hosts),
             lambda: api.call("trigger.create", [
                 {"description": "new %d" % n, "expression": "last(/Estate/newer[%d])>5" % n}
                 for n in range(few)])),
            ("item.delete of %d items on a template of %d hosts" % (few, options.hosts),
             lambda: api.call("item.delete", self.new_items())),
            ("import of a template, and its link to %d hosts" % many, self.link_imported),
            ("configuration.import of a template of %d hosts: 50 items change" % many,
             lambda: self.import_template("Shared", 50, delay="1m")),
            ("template.delete of %d items on %d hosts" % (50, many),
             lambda: api.call("template.delete", [row["templateid"] for row in api.call(
                 "template.get", filter={"host": ["Shared"]}, output=["templateid"])])),
            ("host.massremove (unlink and clear) of %d hosts" % many,
             lambda: api.call("host.massremove", hostids=self.ids, templateids_clear=[self.linked])),
            ("host.update (link) of %d hosts" % many,
             lambda: api.call("host.massupdate", hosts=self.objects(), templates=[
                 {"templateid": self.again}, {"templateid": estate.template}])),
            ("host.update (unlink and clear) of %d hosts" % many, self.unlink_in_update),
            ("host.massupdate (tags) of %d hosts" % many,
             lambda: api.call("host.massupdate", hosts=self.objects(),
                              tags=[{"tag": "mass", "value": "update"}])),
            ("host.massupdate (status) of %d hosts" % many,
             lambda: api.call("host.massupdate", hosts=self.objects(), status=1)),
            ("discovery of %d items" % options.rows, self.discover),
            ("host.delete of %d hosts" % options.hosts,
             lambda: api.call("host.delete", estate.hosts)),
        ]

    def wanted(self):
        words = (self.options.only or "").split(",")
        return [one for one in self.all() if any(word in one[0] for word in words)]


def holds(server, after):
    """Changes that held a writer for longest since a position in the log: method, and milliseconds."""
    with open(server.log_path, errors="replace") as file:
        file.seek(after)
        text = re.sub(r"\x1b\[[0-9;]*m", "", file.read())
    found = re.findall(
        r"(?m)^.*?(?:method=\"([\w.]+)\".*?)?config::holds: (?:a change of the (\w+) took (\d+) ms"
        r"|other changes waited (\d+) ms for one of the (\w+)) \(transaction: (\d+) ms\)", text)
    found = [(method, of or of_slow, ms or slow_ms, part) for method, of, ms, slow_ms, of_slow, part in found]
    longest = sorted(((int(ms), int(part), of, method) for method, of, ms, part in found), reverse=True)
    return longest[:5], sum(row[0] for row in longest if row[2] == "configuration")


def measure(estate, name, work, number):
    threads = users(estate, "during-%d" % number)
    position = os.path.getsize(estate.server.log_path)
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    begin = time.monotonic()
    work()
    took = time.monotonic() - begin
    time.sleep(0.5)
    rows = {}
    for thread in threads:
        for what, taken in thread.end().items():
            rows[what] = {"times": len(taken), "p50_ms": 1000 * taken[len(taken) // 2],
                          "p95_ms": 1000 * taken[int(len(taken) * 0.95)], "max_ms": 1000 * taken[-1]}
    longest, all_ms = holds(estate.server, position)
    say("%s: %.1f s, the writer was held for %.1f s; longest: %s" % (
        name, took, all_ms / 1000, ", ".join(
            "%s %d ms (transaction %d ms) %s" % (of, ms, part, method)
            for ms, part, of, method in longest)))
    return {"operation": name, "took_s": took, "waits": rows, "longest_holds": longest}


def show(results):
    print("| During | it took | what | times | p50 ms | p95 ms | max ms |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for result in results:
        for what, row in result["waits"].items():
            print("| %s | %.2f s | %s | %d | %.0f | %.0f | %.0f |" % (
                result["operation"], result["took_s"], what, row["times"], row["p50_ms"],
                row["p95_ms"], row["max_ms"]))


def main():
    options = arguments()
    if not os.path.exists(bed.BINARY):
        sys.exit("%s is missing: run cargo build --release in %s" % (bed.BINARY, ROOT))
    # Each change logs how long it has held its writer.
    server = bed.Server(arguments=["--log", "debug"])
    try:
        server.start()
        estate = Estate(server, options)
        estate.event = first_event(estate)
        results = []
        for number, (name, work) in enumerate(Operations(estate).wanted()):
            say(name)
            results.append(measure(estate, name, work, number))
    finally:
        server.clean()
    show(results)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
