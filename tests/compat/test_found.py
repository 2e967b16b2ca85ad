#!/usr/bin/env python3
"""The same listeners found by a real server 7.0 and by Vedette, the same agents announcing themselves
to both: the same hosts, interfaces, groups, templates, tags and events."""

import argparse
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import foundcases as cases  # noqa: E402
import listeners  # noqa: E402
import peers  # noqa: E402
import reference  # noqa: E402
import snmpd  # noqa: E402

#: Seconds until both sides have to be the same.
PATIENCE = 60
#: The reference takes over new actions and rules within this time.
SETTLE = 6
INTERFACE = ("type", "main", "useip", "ip", "dns", "port", "details")
KEY = "0123456789abcdef0123456789abcdef"


class Side:
    """One of the servers, with what hosts and operations refer to."""

    def __init__(self, api, trapper):
        self.api, self.trapper = api, ("127.0.0.1", trapper)
        self.groups = {group: self.make("hostgroup", name=group) for group in cases.GROUPS}
        own = self.make("templategroup", name="Cases")
        self.templates = {}
        for name, key in cases.TEMPLATES.items():
            made = self.make("template", host=name, groups=[{"groupid": own}])
            self.templates[name] = made
            self.make("item", hostid=made, name=key, key_=key, type=2, value_type=3)
        self.rules = {}

    def make(self, what, **members):
        ids = self.api.call(what + ".create", **members)
        return next(iter(ids.values()))[0]

    def operations(self, wanted):
        """Operations as `action.create` takes them."""
        rows = []
        for kind, what in wanted:
            row = {"operationtype": kind}
            if kind in (cases.TO_GROUP, cases.FROM_GROUP):
                row["opgroup"] = [{"groupid": self.groups[what]}]
            elif kind in (cases.LINK, cases.UNLINK):
                row["optemplate"] = [{"templateid": self.templates[what]}]
            elif kind in (cases.TAG, cases.UNTAG):
                row["optag"] = [cases.tag(*what)]
            elif kind == cases.INVENTORY:
                row["opinventory"] = {"inventory_mode": what}
            rows.append(row)
        return rows

    def action(self, name, source, conditions, operations):
        conditions = [dict(zip(("conditiontype", "operator", "value"), c)) for c in conditions]
        self.make("action", name=name, eventsource=source, operations=self.operations(operations),
                  filter={"evaltype": 1, "conditions": conditions})

    def host(self, name, interfaces, more, maintenance):
        """A host by hand."""
        more = dict(more)
        groups = [{"groupid": self.groups[g]} for g in more.pop("groups", ["Third"])]
        templates = [{"templateid": self.templates[t]} for t in more.pop("templates", ())]
        hostid = self.make("host", **dict({"host": name}, groups=groups, templates=templates,
                                          interfaces=interfaces, **more))
        if maintenance:
            now = int(time.time())
            self.make("maintenance", name="for " + name, active_since=now - 3600,
                      active_till=now + 86400, hosts=[{"hostid": hostid}],
                      timeperiods=[{"timeperiod_type": 0, "period": 3600, "start_date": now}])

    def hosts(self, wanted):
        """All hosts, as far as they should be the same, whose view `wanted` accepts."""
        rows = self.api.call(
            "host.get", output=["host", "name", "status", "inventory_mode", "tls_connect", "tls_accept"],
            selectInterfaces=INTERFACE, selectHostGroups=["name"], selectParentTemplates=["host"],
            selectTags=["tag", "value"], selectItems=["key_"])
        views = []
        for row in rows:
            view = {name: row[name] for name in (
                "host", "name", "status", "inventory_mode", "tls_connect", "tls_accept")}
            view["interfaces"] = sorted(
                [str(one[n]) if n != "details" else sorted(one[n].items() if one[n] else ())
                 for n in INTERFACE] for one in row["interfaces"])
            view["groups"] = sorted(g["name"] for g in row["hostgroups"])
            view["templates"] = sorted(t["host"] for t in row["parentTemplates"])
            view["tags"] = sorted((t["tag"], t["value"]) for t in row["tags"])
            view["items"] = sorted(i["key_"] for i in row["items"])
            if wanted(view):
                views.append(view)
        return sorted(views, key=lambda view: view["host"])

    def network(self, case, number):
        """What one rule has found, and the events of that."""
        rule = self.rules[case]
        services = self.api.call("dservice.get", druleids=rule, output="extend")
        hosts = self.api.call("dhost.get", druleids=rule, output=["dhostid", "status"])
        ids = {("1", row["dhostid"]) for row in hosts} | {("2", row["dserviceid"]) for row in services}
        # The reference does not look at `objectids` here.
        events = {}
        for row in self.api.call("event.get", source=1, output=["object", "objectid", "value"],
                                 sortfield="eventid"):
            if (row["object"], row["objectid"]) in ids:
                events.setdefault((row["object"], row["objectid"]), []).append(row["value"])
        events = [(thing, [v for v in values if v in "23"], sorted(set(values)))
                  for (thing, _), values in events.items()]
        prefix = "%s.%d." % (cases.NET, number)
        return {
            "hosts": self.hosts(lambda view: any(i[3].startswith(prefix) for i in view["interfaces"])
                                or self.is_before(case, view["host"])),
            "dhosts": sorted(row["status"] for row in hosts),
            # The reference's rows of services say "up" or "down" at times where its events say otherwise.
            "services": sorted((s["ip"], s["dns"], s["port"], s["value"]) for s in services),
            "events": sorted(events),
        }

    @staticmethod
    def is_before(case, host):
        return any(host == made[0] for made in dict(cases.discovered())[case]["before"])

    def agent(self, one):
        """What an agent's announcement has led to."""
        made = (one["before"] or {}).get("host", one["name"])
        return {"hosts": self.hosts(lambda view: view["host"] in (one["name"], made))}

    def announcements(self):
        rows = self.api.call("event.get", source=2, object=3, output=["value"])
        return {"events": sorted({row["value"] for row in rows})}

    def announce(self, one, **more):
        request = {"request": "active checks", "host": one["name"], "version": "7.0.0",
                   "host_metadata": one["metadata"], "session": "0123456789abcdef0123456789abcdef"}
        return bed.send(self.trapper, {**request, **one["members"], **more})

    def maintenances(self):
        rows = self.api.call("maintenance.get", output=["name"], selectHosts=["host"])
        return {row["name"]: sorted(h["host"] for h in row["hosts"]) for row in rows}


class Bench:
    """Both servers and everything that they can find."""

    def __init__(self, base):
        self.folder = tempfile.mkdtemp(prefix="vedette-found-")
        self.server = bed.Server(folder=self.folder)
        self.real = reference.Reference(base)
        self.peers, self.problems, self.count = {}, [], 0
        try:
            self.server.start()
            self.sides = [Side(self.real.api(), self.real.trapper),
                          Side(self.server.api(), self.server.trapper)]
            devices = ["%s.%d.1" % (cases.NET, n) for n, (_, case) in enumerate(cases.discovered(), 1)
                       if any(check["listen"][0] == "snmp" for check in case["checks"])]
            self.snmp = snmpd.Snmpd(self.folder, more=devices)
            self.peers[""] = [self.snmp]
            self.snmp.start()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        for name in list(self.peers):
            self.still(name)
        self.server.clean()
        self.real.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def still(self, case):
        """Ends what was found."""
        for peer in self.peers.pop(case, ()):
            peer.stop()

    def listen(self, case, number, check):
        """Starts what a check finds; the check as `drule.create` takes it."""
        check = dict(check)
        kind, *more = check.pop("listen")
        port = self.snmp.port
        if kind != "snmp":
            ip = "%s.%d.%d" % (cases.NET, number, more[0])
            peer = listeners.PassiveAgent(ip, more[1]) if kind == "agent" else listeners.Service(ip)
            port = peer.port
            self.peers.setdefault(case, []).append(peer)
        return dict(check, ports=str(port))

    def prepare(self):
        """Hosts by hand and actions on both sides, and what is to be found."""
        checks = {}
        for number, (name, case) in enumerate(cases.discovered(), 1):
            there = "%s.%d.1%s" % (cases.NET, number, "-%d" % case["last"] if case["last"] > 1 else "")
            checks[name] = there, [self.listen(name, number, check) for check in case["checks"]]
            for side in self.sides:
                for host, interfaces, *more in case["before"]:
                    interfaces = [dict(i, port=i["port"].replace("SNMP", str(self.snmp.port)))
                                  for i in interfaces]
                    side.host(host, interfaces, (more or [{}])[0], case["maintenance"])
                side.action("found " + name, 1, [(7, 0, there), (10, 0, "0")], case["operations"])
                if case["lost"]:
                    side.action("lost " + name, 1, [(7, 0, there), (10, 0, "1")], case["lost"])
        for side in self.sides:
            for text, operations in cases.BY_METADATA.items():
                side.action("announced " + text, 2, [(24, 2, text)], operations)
            for one in cases.announced():
                if one["before"] is not None:
                    more = dict(one["before"])
                    side.host(more.pop("host", one["name"]), more.pop("interfaces"), more,
                              one["maintenance"])
            side.api.call("autoregistration.update", tls_accept=3, tls_psk_identity="found", tls_psk=KEY)
        time.sleep(SETTLE)
        for name, (there, what) in checks.items():
            for side in self.sides:
                side.rules[name] = side.make(
                    "drule", name=name, iprange=there, delay="3s", dchecks=what)

    def same(self, what, views):
        """Waits until all views are the same on both sides and have what they need. `views` = name, a
        function of a side, and one that says whether its result is enough."""
        self.count += len(views)
        left, end = views, time.monotonic() + PATIENCE
        while left:
            late = time.monotonic() > end
            still = []
            for name, look, enough in left:
                real, own = (look(side) for side in self.sides)
                if real != own or not enough(real):
                    still.append((name, look, enough))
                    if late:
                        self.differs(what + ": " + name, real, own)
            if late:
                return
            left = still
            if left:
                time.sleep(1)

    def differs(self, name, real, own):
        if real == own:
            self.problems.append("%s: too little happened: %s" % (name, real))
            return
        lines = [name]
        for part in sorted(set(real) | set(own)):
            if real.get(part) != own.get(part):
                lines.append("    %s\n      7.0:     %s\n      Vedette: %s"
                             % (part, real.get(part), own.get(part)))
        self.problems.append("\n".join(lines))

    def networks(self):
        def views(found):
            return [(name, lambda side, n=name, i=number: side.network(n, i),
                     lambda view, case=case: found(view, case))
                    for number, (name, case) in enumerate(cases.discovered(), 1)]
        self.same("discovery", views(lambda view, case: view["services"]
                                     and len(view["hosts"]) == case["hosts"]))
        gone = {name for name, case in cases.discovered() if case["lost"]}
        for name in gone:
            self.still(name)
        self.same("discovery, lost", [view for view in views(
            lambda view, _: view["dhosts"] == ["1"]) if view[0] in gone])
        self.same("discovery", [("maintenances", Side.maintenances, lambda view: True)])

    def agents(self):
        answers = [[side.announce(one).get("info", "") for one in cases.announced()] for side in self.sides]
        self.count += len(answers[0])
        self.problems += ["the answer to %s\n      7.0:     %s\n      Vedette: %s" % (one["name"], *both)
                          for one, *both in zip(cases.announced(), *answers) if both[0] != both[1]]

        def views(of):
            return [(one["name"], lambda side, one=one: side.agent(one),
                     lambda view, one=one: len(view["hosts"]) == one["hosts"]) for one in of]
        self.same("autoregistration", views(cases.announced()))
        self.same("autoregistration", [("events", Side.announcements, lambda view: view["events"])])
        moving = [one for one in cases.announced() if one["then"]]
        for side in self.sides:
            for one in moving:
                side.announce(one, **one["then"])
        self.same("autoregistration again", views(moving))
        self.same("autoregistration again", [("events", Side.announcements, lambda view: view["events"])])

    def real_agents(self):
        with open(os.path.join(self.folder, "key"), "w") as f:
            f.write(KEY + "\n")
        psk = ["TLSConnect=psk", "TLSAccept=psk", "TLSPSKIdentity=found",
               "TLSPSKFile=" + os.path.join(self.folder, "key")]
        servers = "ServerActive=127.0.0.1:%d,127.0.0.1:%d" % tuple(side.trapper[1] for side in self.sides)
        names = []
        for name, program, options in [
            ("r-agentd", "agentd", []), ("r-agent2", "agent2", []), ("r-psk", "agentd", psk),
            ("r-dns", "agent2", ["HostInterface=agent.example"]),
        ]:
            agent = peers.Agent(self.folder, name, reference.program(program),
                                options=[servers, "HostMetadata=everything", *options])
            self.peers[name] = [agent]
            agent.start()
            names.append(name)
        self.same("agents", [(name, lambda side, name=name: {"hosts": side.hosts(
            lambda view: view["host"] == name)}, lambda view: len(view["hosts"]) == 1) for name in names])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-port", type=int, help="use a reference that runs already")
    parser.add_argument("--only", choices=("networks", "agents", "real_agents"), help="one part")
    options = parser.parse_args()
    bench = Bench(options.base_port)
    try:
        bench.prepare()
        for part in [options.only] if options.only else ["networks", "agents", "real_agents"]:
            getattr(bench, part)()
    finally:
        bench.stop()
    for problem in bench.problems:
        print(problem)
    print("%d passed, %d failed, 0 skipped" % (bench.count - len(bench.problems), len(bench.problems)))
    sys.exit(1 if bench.problems or not bench.count else 0)


if __name__ == "__main__":
    main()
