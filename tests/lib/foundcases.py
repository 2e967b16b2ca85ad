"""What discovery rules look for, what hosts were there before, and what actions do then: the cases in
which hosts that are made of it are compared between servers."""

#: The network of the cases; case N has the addresses `NET.N.*`.
NET = "127.91"
#: Numbers of operations.
ADD, REMOVE, TO_GROUP, FROM_GROUP, LINK, UNLINK, ENABLE, DISABLE = range(2, 10)
INVENTORY, TAG, UNTAG = 10, 13, 14
#: Kinds of checks.
TCP, AGENT, SNMP1, SNMP2, SNMP3 = 8, 9, 10, 11, 13
NAME = "1.3.6.1.2.1.1.5.0"

#: What hosts and operations name: groups, and templates with one item each (the last two have the same).
GROUPS = ("First", "Second", "Third")
TEMPLATES = {"T one": "one", "T two": "two", "T twin": "same", "T rival": "same"}


def tag(name, value=""):
    return {"tag": name, "value": value}


def tcp(n, ip, **more):
    return dict({"type": TCP, "listen": ("tcp", ip)}, **more)


def agent(ip, value, **more):
    """`ip` = last number of the address."""
    return dict({"type": AGENT, "key_": "agent.hostname", "listen": ("agent", ip, value)}, **more)


def snmp(kind, **more):
    members = {"key_": NAME, "type": kind, "listen": ("snmp",)}
    if kind != SNMP3:
        members["snmp_community"] = "public"
    return dict(members, **more)


USER = {"snmpv3_securityname": "noauth", "snmpv3_securitylevel": 0}


def case(checks, operations=((ADD, None),), before=(), last=1, maintenance=False, hosts=1, lost=None):
    """`before` = hosts that were made by hand, their interfaces at an address of the case; `last` = the
    last address of the range; `hosts` = how many there are in the end; `lost` = operations when the
    listeners are gone."""
    return {"checks": checks, "operations": operations, "before": before, "last": last,
            "maintenance": maintenance, "hosts": hosts, "lost": lost}


def at(n, kind=1, port="10050", **more):
    """An interface at the first address of case `n`."""
    return dict({"type": kind, "main": 1, "useip": 1, "ip": "%s.%d.1" % (NET, n), "dns": "", "port": port},
                **more)


def discovered():
    """Name of the case and the case; their order gives their numbers, from 1."""
    by_value = {"host_source": 3}
    everything = ((TO_GROUP, "First"), (LINK, "T one"), (TAG, ("from", "action")), (INVENTORY, 1))
    public = {"version": 2, "bulk": 1, "community": "secret", "max_repetitions": 10}
    return [
        ("agent and port", case([agent(1, "d-agent", **by_value), tcp(2, 1)])),
        ("a port alone", case([tcp(1, 1)])),
        ("agent and device", case([agent(1, "x"), snmp(SNMP2)])),
        # Version 3 comes first in any case: of the reference's the order is that of the answers.
        ("version 3 before 2", case([snmp(SNMP3, **USER), snmp(SNMP2)])),
        ("version 3 before 1", case([snmp(SNMP3, **USER), snmp(SNMP1)])),
        ("one value", case([agent(1, "d-same", uniq=1, **by_value)], last=2)),
        ("odd names", case([agent(1, " d: \u00e4\u00f6/x  (y) ", host_source=3, name_source=3)])),
        ("name of the address", case([agent(1, "d-source", host_source=2, name_source=3)])),
        ("visible name is the address", case([agent(1, "d-visible", host_source=3, name_source=2)])),
        ("name is taken", case([agent(1, "d-taken", host_source=3, name_source=3)], hosts=2,
                               before=[("d-taken", [dict(at(10), ip="127.92.0.1")])])),
        ("name of a template", case([agent(1, "T one", **by_value)])),
        ("visible name is taken", case([agent(1, "d-shown", **by_value)], hosts=2, before=[
            ("d-other", [dict(at(12), ip="127.92.0.2")], {"name": "d-shown"})])),
        ("there by hand", case([agent(1, "d-hand")], before=[("d-hand-made", [at(13)])])),
        ("there twice", case([agent(1, "x")], hosts=2, before=[
            ("d-second", [at(14)]), ("d-third", [at(14, port="10051")])])),
        ("there with DNS", case([tcp(1, 1)], before=[("d-dns", [
            at(15, useip=0, dns="agent.example")])])),
        ("there with a macro", case([tcp(1, 1)], before=[("d-macro", [at(16, port="{$PORT}")], {
            "macros": [{"macro": "{$PORT}", "value": "10050"}]})])),
        ("there with another community", case([snmp(SNMP2)], before=[("d-device", [
            at(17, 2, port="SNMP", details=public)])])),
        ("there as a device, found as agent", case([tcp(1, 1)], before=[("d-both", [
            at(18, 2, port="161", details=public)])])),
        ("everything", case([tcp(1, 1)], everything)),
        ("everything on a host by hand", case([tcp(1, 1)], everything + ((DISABLE, None),), before=[
            ("d-full", [at(20)], {"tags": [tag("from", "hand"), tag("from", "action")],
                                  "groups": ["First", "Second"], "templates": ["T two"]})])),
        ("take away", case([tcp(1, 1)], (
            (FROM_GROUP, "First"), (UNLINK, "T one"), (UNTAG, ("from", "hand"))), before=[
            ("d-less", [at(21)], {"tags": [tag("from", "hand"), tag("from", "action")],
                                  "groups": ["First", "Second"], "templates": ["T one", "T two"]})])),
        ("take all groups", case([tcp(1, 1)], ((FROM_GROUP, "First"), (FROM_GROUP, "Second")), before=[
            ("d-groups", [at(22)], {"groups": ["First", "Second"]})])),
        ("take and give", case([tcp(1, 1)], (
            (FROM_GROUP, "First"), (TO_GROUP, "First"), (UNLINK, "T one"), (LINK, "T one"),
            (UNTAG, ("a", "b")), (TAG, ("a", "b")), (DISABLE, None), (ENABLE, None)), before=[
            ("d-swap", [at(23)], {"groups": ["First", "Second"], "templates": ["T one"]})])),
        ("templates that clash", case([tcp(1, 1)], ((LINK, "T twin"), (LINK, "T rival")))),
        ("templates that clash later", case([tcp(1, 1)], ((LINK, "T rival"), (LINK, "T one")), before=[
            ("d-clash", [at(25)], {"templates": ["T twin"]})])),
        ("remove", case([tcp(1, 1)], ((REMOVE, None),), before=[("d-gone", [at(26)])], hosts=0)),
        ("remove from a maintenance", case([tcp(1, 1)], ((REMOVE, None),), before=[
            ("d-maintained", [at(27)])], maintenance=True, hosts=0)),
        ("take away where nothing is", case([tcp(1, 1)], (
            (FROM_GROUP, "First"), (UNLINK, "T one"), (UNTAG, ("a", "b"))), hosts=0)),
        ("switch off what is new", case([tcp(1, 1)], ((DISABLE, None),))),
        ("inventory of what is new", case([tcp(1, 1)], ((INVENTORY, 0),))),
        ("lost", case([tcp(1, 1)], ((TO_GROUP, "First"), (ENABLE, None)), lost=(
            (DISABLE, None), (FROM_GROUP, "First"), (TAG, ("lost", ""))))),
        ("groups of what is there", case([tcp(1, 1)], ((TO_GROUP, "Third"),), before=[
            ("d-old", [at(32)])])),
        ("there at a second interface", case([tcp(1, 1)], before=[("d-two", [
            dict(at(33), ip="127.92.0.3"), at(33, main=0)])])),
    ]


def announced():
    """Announcements of active agents: what they send, and hosts that were there before."""
    def one(name, before=None, hosts=1, metadata="plain", then=None, maintenance=False, **members):
        return {"name": name, "before": before, "hosts": hosts, "metadata": metadata, "then": then,
                "maintenance": maintenance, "members": members}

    def by_hand(*interfaces, **more):
        return dict({"interfaces": list(interfaces)}, **more)
    here = {"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "10050"}
    device = dict(here, type=2, port="161", details={"version": 2, "community": "public"})
    return [
        one("a-plain", ip="127.93.0.1", port=10061),
        one("a-bare"),
        one("a-port", port=10062),
        one("a-ip", interface="127.93.0.4"),
        one("a-dns", interface="agent.example", ip="127.93.0.5", port=10063),
        one("a-v6", ip="::1", port=10064),
        one("a-port-of-nobody", hosts=0, ip="127.93.0.6", port=70000),
        one("a-known", by_hand(here), ip="127.93.0.7", port=10065),
        one("a-known-chosen", by_hand(here), interface="127.93.0.8", port=10066),
        one("a-known-dns", by_hand(dict(here, useip=0, dns="agent.example")), interface="other.example"),
        one("a-known-same", by_hand(here), port=10050, ip="127.0.0.1"),
        one("a-known-macro", by_hand(dict(here, port="{$PORT}"), macros=[
            {"macro": "{$PORT}", "value": "10050"}]), port=10050, ip="127.0.0.1"),
        one("a-known-device", by_hand(device), ip="127.93.0.9", port=10067),
        one("a-known-none", by_hand(), ip="127.93.0.10", port=10068),
        one("a-known-off", by_hand(here, status=1), metadata="everything", ip="127.0.0.1", port=10050),
        one("a-shown", by_hand(here, host="a-hidden", name="a-shown"), hosts=2),
        one("T two", hosts=0),
        one("a-full", metadata="everything"),
        one("a-gone", by_hand(here), metadata="remove", hosts=0),
        one("a-maintained", by_hand(here), metadata="remove", hosts=0, maintenance=True),
        one("a-moves", metadata="everything", then={"host_metadata": "less"}),
        one("a-moves-away", ip="127.93.0.11", then={"ip": "127.93.0.12"}),
        one("a-chooses", ip="127.93.0.13", then={"interface": "127.93.0.14"}),
        one("a-unchooses", interface="127.93.0.15", then={"ip": "127.93.0.16"}),
        one("a bad name?", hosts=0),
        one("a with space"),
    ]


#: What the autoregistration actions do, by what the metadata say.
BY_METADATA = {
    "plain": ((ADD, None),),
    "everything": ((TO_GROUP, "First"), (LINK, "T one"), (TAG, ("from", "action")), (INVENTORY, 1)),
    "less": ((FROM_GROUP, "First"), (UNLINK, "T one"), (UNTAG, ("from", "action")), (DISABLE, None)),
    "remove": ((REMOVE, None),),
}
