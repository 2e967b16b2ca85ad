#!/usr/bin/env python3
"""How long users wait while the configuration is changed at large.

Makes an estate of hosts that share a template, then runs long changes one after the other: an
import, a link of a template to many hosts, new items on the template of all hosts, and the removal
of that link. During each, every 100 ms: a sign-in, a host.create, an acknowledgement, and a value that
fires a trigger, until problem.get shows the problem. Prints the longest and the typical waits.

    cargo build --release
    tests/bench/waits.py                                  # 450,000 items
    tests/bench/waits.py --hosts 200 --link-hosts 100     # to try the program
"""

import argparse
import json
import os
import sys
import threading
import time
import uuid

from servers import ROOT, say

import bed

EVERY_S = 0.1
HOSTS_PER_CALL = 500
PROBLEM_S_MAX = 120.0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", 1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--hosts", type=int, default=4500, help="hosts of the estate")
    parser.add_argument("--items", type=int, default=100, help="items of its template")
    parser.add_argument("--link-hosts", type=int, default=4000, help="hosts that a template is linked to")
    parser.add_argument("--link-items", type=int, default=100, help="items of that template")
    parser.add_argument("--new-items", type=int, default=20, help="items created on the estate's template")
    parser.add_argument("--import-items", type=int, default=5000, help="items of the imported template")
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

    def create(self, kind, ids, /, **members):
        return self.api.call(kind + ".create", members)[ids][0]

    def make_template(self, name, items):
        template = self.create("template", "templateids", host=name,
                               groups=[{"groupid": self.templates}])
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


def users(estate, operation):
    """What users do meanwhile."""
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


def source(items):
    """An export with one template."""
    return json.dumps({"zabbix_export": {
        "version": "7.0",
        "template_groups": [{"uuid": uuid.uuid4().hex, "name": "Imported"}],
        "templates": [{
            "uuid": uuid.uuid4().hex, "template": "Imported", "name": "Imported",
            "groups": [{"name": "Imported"}],
            "items": [{"uuid": uuid.uuid4().hex, "name": "Item %d" % n,
                       "type": "TRAP", "key": "imported[%d]" % n, "delay": "0"}
                      for n in range(items)]}]}})


def operations(estate):
    """The long changes: a name and what does it."""
    api, options = estate.server.api(), estate.options
    both = {"createMissing": True, "updateExisting": True}
    rules = {"template_groups": both, "templates": both, "items": both}
    text = source(options.import_items)
    linked = estate.make_template("Linked", options.link_items)
    hosts = [{"hostid": host} for host in estate.hosts[:options.link_hosts]]
    ids = estate.hosts[:options.link_hosts]
    return [
        ("nothing", lambda: time.sleep(3)),
        ("configuration.import of %d items" % options.import_items,
         lambda: api.call("configuration.import", format="json", rules=rules, source=text)),
        ("host.massadd of %d items to %d hosts" % (options.link_items, options.link_hosts),
         lambda: api.call("host.massadd", hosts=hosts, templates=[{"templateid": linked}])),
        ("item.create of %d items on a template of %d hosts" % (options.new_items, options.hosts),
         lambda: api.call("item.create", [
             {"hostid": estate.template, "name": "New %d" % n, "key_": "new[%d]" % n, "type": 2,
              "value_type": 3} for n in range(options.new_items)])),
        ("host.massremove (unlink and clear) of %d hosts" % options.link_hosts,
         lambda: api.call("host.massremove", hostids=ids, templateids_clear=[linked])),
    ]


def measure(estate, name, work, number):
    threads = users(estate, "during-%d" % number)
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
    return {"operation": name, "took_s": took, "waits": rows}


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
    server = bed.Server()
    try:
        server.start()
        estate = Estate(server, options)
        estate.event = first_event(estate)
        results = []
        for number, (name, work) in enumerate(operations(estate)):
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
