#!/usr/bin/env python3
"""Calls of the methods of dashboards to a real server 7.0 and to Vedette have the same answers and errors."""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import reference  # noqa: E402

#: Ids that servers give by themselves: the same ones are compared, not their numbers.
OWN_IDS = {"dashboardid", "dashboardids", "dashboard_pageid", "widgetid", "uuid"}
PASSWORD = "zabbix-Dashboards-1"
#: Names of objects that the cases refer to, by the members with their ids.
BY_MEMBER = {
    "groupid": ("group", "folder"), "hostid": ("host", "template", "other"), "templateid": ("template", "other"),
    "itemid": ("item", "strange"), "graphid": ("graph",), "sysmapid": ("map",), "sysmapids": ("map",), "userid": ("user", "admin"),
    "usrgrpid": ("usergroup",), "dashboardid": ("full",)}
#: The same by words of errors.
BY_WORD = {"group": ("group", "folder", "usergroup"), "host": BY_MEMBER["hostid"], "item": BY_MEMBER["itemid"],
           "graph": ("graph",), "prototype": ("item", "graph"), "map": ("map",), "user": ("user", "admin")}
#: The same by types of fields.
BY_TYPE = {"2": "groupid", "3": "hostid", "4": "itemid", "6": "graphid", "8": "sysmapid", "11": "userid"}


class Side:
    """One of the two servers, with what the cases refer to."""

    def __init__(self, api):
        self.api = api
        self.users = {"Admin": api}
        self.ids = {}
        make = self.make
        make("group", "hostgroup.create", name="Dashboards")
        make("folder", "templategroup.create", name="Dashboards")
        make("template", "template.create", host="D template", groups=[{"groupid": "{folder}"}])
        make("other", "template.create", host="D other", groups=[{"groupid": "{folder}"}])
        make("item", "item.create", hostid="{template}", name="i", key_="i", type=2, value_type=3)
        make("graph", "graph.create", name="g", gitems=[{"itemid": "{item}", "color": "00AA00"}])
        make("strange", "item.create", hostid="{other}", name="s", key_="s", type=2, value_type=3)
        make("host", "host.create", host="D host", groups=[{"groupid": "{group}"}],
             templates=[{"templateid": "{template}"}])
        make("map", "map.create", name="D map", width=100, height=100)
        make("usergroup", "usergroup.create", name="D users",
             hostgroup_rights=[{"id": "{group}", "permission": 2}])
        make("user", "user.create", username="D user", passwd=PASSWORD, roleid="1",
             usrgrps=[{"usrgrpid": "{usergroup}"}])
        make("admin", "user.create", username="D admin", passwd=PASSWORD, roleid="2",
             usrgrps=[{"usrgrpid": "{usergroup}"}])
        for name in ("D user", "D admin"):
            self.users[name] = bed.Api(api.url).login(name, PASSWORD)
        found = api.call("item.get", hostids=self.ids["host"], output=["itemid"])
        self.ids["host item"] = found[0]["itemid"]
        found = api.call("graph.get", hostids=self.ids["host"], output=["graphid"])
        self.ids["host graph"] = found[0]["graphid"]

    def make(self, known, method, **params):
        self.ids[known] = next(iter(self.api.call(method, self.filled(params)).values()))[0]

    def filled(self, node):
        """Names in braces become ids."""
        if isinstance(node, dict):
            return {key: self.filled(value) for key, value in node.items()}
        if isinstance(node, list):
            return [self.filled(value) for value in node]
        if isinstance(node, str) and re.fullmatch(r"\{[^{}]+\}", node):
            return self.ids[node[1:-1]]
        return node

    def name(self, kinds, number):
        """The name of an object of one of these kinds in braces; the number if the cases made none."""
        found = [name for name, known in self.ids.items() if known == number and name.split()[-1] in kinds]
        return "{%s}" % found[0] if found else number

    def named(self, text):
        """Ids in an error become names."""
        text = re.sub(r'(\w+) with ID "(\d+)"', lambda m: '%s with ID "%s"' % (
            m[1], self.name(BY_WORD.get(m[1].lower(), ()), m[2])), text)
        return re.sub(r"\((\w+)([^)]*)\)=\((\d+)", lambda m: "(%s%s)=(%s" % (
            m[1], m[2], self.name(BY_MEMBER.get(m[1], ()), m[3])), text)

    def answer(self, user, method, params, keep):
        try:
            found = self.users[user].call(method, self.filled(params))
        except bed.ApiError as problem:
            return [problem.code, self.named(problem.data)]
        if keep:
            self.ids[keep] = found["dashboardids"][0]
        return self.plain(found)

    def plain(self, node, key=""):
        """Without numbers that are different on each server. To PHP an empty object is an empty list."""
        if isinstance(node, dict):
            kind = BY_TYPE.get(node.get("type"))
            plain = {name: self.plain(value, kind if kind and name == "value" else name)
                     for name, value in node.items()}
            return plain or []
        if isinstance(node, list):
            return [self.plain(value, key) for value in node]
        if key in OWN_IDS and node:
            return "id"
        return self.name(BY_MEMBER.get(key, ()), node) if isinstance(node, str) else node


def field(kind, value, name="f"):
    return {"type": kind, "name": name, "value": value}


def page(*widgets, **more):
    return {"widgets": list(widgets), **more}


def widget(kind="clock", *fields, **more):
    return {"type": kind, "fields": list(fields), **more}


def dashboard(*pages, name="D new", **more):
    return {"name": name, "pages": list(pages) or [{}], **more}


def refused():
    """Dashboards that are refused, or taken in spite of something."""
    yield {}
    yield []
    yield {"name": "D new"}
    yield {"name": "", "pages": [{}]}
    yield {"name": "n" * 256, "pages": [{}]}
    yield {"name": "D new", "pages": "x"}
    yield {"name": "D new", "pages": [5]}
    yield dashboard(*[{}] * 51)
    yield dashboard(colour=1)
    yield dashboard(dashboardid="1")
    yield dashboard(private=2)
    yield dashboard(auto_start=2)
    yield dashboard(display_period=5)
    yield dashboard(display_period="x")
    yield dashboard(userid="99999")
    yield dashboard(userid="x")
    yield dashboard(uuid="0123456789ab4def8123000000000001")
    yield dashboard(users=[{"userid": "{user}"}])
    yield dashboard(users=[{"userid": "{user}", "permission": 1}])
    yield dashboard(users=[{"userid": "99999", "permission": 2}])
    yield dashboard(users=[{"userid": "{user}", "permission": 2}] * 2)
    yield dashboard(users=[{"userid": "{user}", "permission": 2, "x": 1}])
    yield dashboard(userGroups=[{"usrgrpid": "99999", "permission": 2}])
    yield dashboard(userGroups=[{"usrgrpid": "{usergroup}", "permission": 3}] * 2)
    yield dashboard(userGroups=[{"permission": 3}])
    yield dashboard({"name": "n" * 256})
    yield dashboard({"display_period": 5})
    yield dashboard({"dashboard_pageid": "1"})
    yield dashboard({"x": "1"})
    yield dashboard({"widgets": "x"})
    yield dashboard(page({}))
    yield dashboard(page({"type": ""}))
    yield dashboard(page({"type": "w" * 256}))
    yield dashboard(page(widget(widgetid="1")))
    yield dashboard(page(widget(x=-1)))
    yield dashboard(page(widget(x=72)))
    yield dashboard(page(widget(y=64)))
    yield dashboard(page(widget(width=0)))
    yield dashboard(page(widget(width=73)))
    yield dashboard(page(widget(height=0)))
    yield dashboard(page(widget(height=65)))
    yield dashboard(page(widget(view_mode=2)))
    yield dashboard(page(widget(name="n" * 256)))
    yield dashboard(page(widget(x=71, width=2)))
    yield dashboard(page(widget(y=63)))
    yield dashboard(page(widget(width=3), widget(x=2)))
    yield dashboard({}, page(widget(y=1), widget()))
    yield dashboard(page(widget(x=70, width=10), widget(x=75 - 4, width=2)))
    yield dashboard(page(widget("clock", {})))
    yield dashboard(page(widget("clock", {"type": 0})))
    yield dashboard(page(widget("clock", {"value": 0})))
    yield dashboard(page(widget("clock", field(14, 1))))
    yield dashboard(page(widget("clock", field(0, "x"))))
    yield dashboard(page(widget("clock", field(0, 2147483648))))
    yield dashboard(page(widget("clock", field(0, 1.5))))
    yield dashboard(page(widget("clock", field(1, "v" * 2049))))
    yield dashboard(page(widget("clock", field(1, ["x"]))))
    yield dashboard(page(widget("clock", field(1, "x", "n" * 256))))
    yield dashboard(page(widget("clock", {"type": 1, "name": "n", "value": "v", "x": 1})))
    for kind in range(2, 14):
        yield dashboard(page(widget("clock", field(kind, "99999"))))
        yield dashboard(page(widget("clock", field(kind, "x"))))
    yield dashboard(page(widget("clock", field(2, "{folder}"))))
    yield dashboard(page(widget("clock", field(3, "{template}"))))
    yield dashboard(page(widget("clock", field(5, "{item}"))))
    yield dashboard(page(widget("clock", field(7, "{graph}"))))
    yield [dashboard(name="D twin"), dashboard(name="D twin")]


FULL = dashboard(
    page(widget("problems", field(0, 5, "show"), field(1, "text", "tags.0"), field(2, "{group}"),
                field(3, "{host}"), field(4, "{host item}"), field(6, "{host graph}"), field(8, "{map}"),
                field(11, "{user}"), name="w", width=36, height=5, view_mode=1),
         widget(x=36, y=7), name="p", display_period=60),
    {}, name="D full", display_period=120, auto_start=0,
    users=[{"userid": "{user}", "permission": 2}], userGroups=[{"usrgrpid": "{usergroup}", "permission": 3}])
SELECT_ALL = {"selectPages": "extend", "selectUsers": "extend", "selectUserGroups": "extend"}


def of_users():
    """Calls as (user, method, parameters, name of the dashboard that is made)."""
    for params in refused():
        yield "Admin", "dashboard.create", params, None
    yield "Admin", "dashboard.create", FULL, "full"
    yield "Admin", "dashboard.create", FULL, None
    only = {"dashboardids": "{full}"}
    yield "Admin", "dashboard.get", {**only, **SELECT_ALL}, None
    for options in (
            {"output": ["name"]}, {"output": []}, {"output": ["x"]}, {"output": ["uuid"]},
            {"output": "count"}, {"countOutput": True}, {"selectPages": ["name"]}, {"selectPages": ["x"]},
            {"selectPages": "count"}, {"selectPages": []}, {"selectPages": ["widgets"]},
            {"selectUsers": ["permission"]}, {"selectUsers": ["x"]}, {"selectUsers": "count"},
            {"selectUserGroups": ["usrgrpid"]}, {"filter": {"name": "D full"}}, {"filter": {"uuid": ""}},
            {"filter": {"display_period": 120}}, {"search": {"name": "full"}}, {"search": {"userid": 1}},
            {"sortfield": "userid"}, {"sortfield": "name", "sortorder": "x"}, {"limit": 0}, {"x": 1},
            {"preservekeys": False}, {"templateids": ["1"]}, {"dashboardids": ["x"]}):
        yield "Admin", "dashboard.get", {**only, **options}, None
    for user in ("D user", "D admin"):
        yield user, "dashboard.get", {**only, **SELECT_ALL}, None
        yield user, "dashboard.get", {**only, "editable": True, "output": ["name"]}, None
        yield user, "dashboard.update", {"dashboardid": "{full}", "userid": "{user}"}, None
        yield user, "dashboard.update", {"dashboardid": "{full}", "auto_start": 1}, None
        yield user, "dashboard.create", dashboard(name=user, userid="1"), None
        yield user, "dashboard.create", dashboard(page(widget("clock", field(4, "{strange}"))), name=user + " 1"), None
        yield user, "dashboard.create", dashboard(name=user + " 2", users=[{"userid": "1", "permission": 2}]), None
        yield user, "dashboard.create", dashboard(page(widget("clock", field(13, "1"))), name=user + " 3"), None
        yield user, "dashboard.create", dashboard(name=user), user + "'s"
        yield "D user" if user == "D admin" else "D admin", "dashboard.delete", ["{%s's}" % user], None
    update = {"dashboardid": "{full}"}
    for change in (
            {}, {"name": ""}, {"pages": []}, {"name": "D user"}, {"pages": [{"dashboard_pageid": "99999"}]},
            {"pages": [page(widget(widgetid="99999"))]}, {"pages": [page({})]}, {"x": 1},
            {"pages": [page(widget(), widget())]}, {"pages": [page({"x": 5})]}, {"users": []},
            {"pages": [{"dashboard_pageid": "1"}, {"dashboard_pageid": "1"}]}):
        yield "Admin", "dashboard.update", {**update, **change}, None
    yield "Admin", "dashboard.get", {**only, **SELECT_ALL}, None
    yield "Admin", "dashboard.update", {"name": "x"}, None
    yield "Admin", "dashboard.update", {"dashboardid": "99999"}, None
    yield "Admin", "dashboard.update", [update, update], None
    yield "Admin", "dashboard.update", {**update, "pages": FULL["pages"]}, None
    yield "Admin", "map.delete", ["{map}"], None
    yield "Admin", "dashboard.get", {**only, **SELECT_ALL}, None
    yield "Admin", "user.delete", ["{admin}"], None
    for ids in ([], ["99999"], ["x"], {}):
        yield "Admin", "dashboard.delete", ids, None
    yield "Admin", "templatedashboard.delete", ["{full}"], None


OF_TEMPLATE = dashboard(
    page(widget("item", field(4, "{item}", "itemid.0"), width=9),
         widget("graph", field(6, "{graph}", "graphid.0"), field(1, "t", "reference"), x=9), name="p"),
    name="D td", templateid="{template}")


def of_templates():
    create = "templatedashboard.create"
    for more in (
            {"templateid": "99999"}, {"templateid": "{host}"}, {"uuid": "x"}, {"uuid": "0" * 32}, {"userid": "1"},
            {"private": 0}, {"users": []}, {"pages": []}, {"x": 1}, {"display_period": 1},
            {"pages": [page(widget("item", field(4, "{strange}")))]},
            {"pages": [page(widget("item", field(4, "{host item}")))]},
            {"pages": [page(widget("item", field(6, "{host graph}")))]},
            {"pages": [page(widget("item", field(6, "99999")))]},
            {"pages": [page(widget("item", field(8, "99999")))]}):
        yield "Admin", create, {**OF_TEMPLATE, **more}, None
    yield "Admin", create, dashboard(), None
    uuid = "0123456789ab4def8123000000000001"
    yield "Admin", create, {**OF_TEMPLATE, "uuid": uuid}, "td"
    yield "Admin", create, OF_TEMPLATE, None
    yield "Admin", create, {**OF_TEMPLATE, "name": "D 2", "uuid": uuid}, None
    yield "Admin", create, [{**OF_TEMPLATE, "name": "D 2"}] * 2, None
    yield "Admin", create, [{**OF_TEMPLATE, "name": name, "uuid": uuid[:-1] + "2"} for name in "ab"], None
    yield "Admin", create, {**OF_TEMPLATE, "name": "D 2"}, "td2"
    only = {"templateids": "{template}"}
    for options in (
            {}, {"selectPages": "extend"}, {"countOutput": True}, {"countOutput": True, "groupCount": True},
            {"groupCount": True}, {"output": ["name", "templateid"]}, {"output": ["userid"]}, {"hostids": "1"},
            {"dashboardids": "{td}", "output": ["uuid"]}, {"filter": {"name": "D 2"}, "output": ["name"]}):
        for user in ("Admin", "D user"):
            yield user, "templatedashboard.get", {**only, **options}, None
    for change in ({"name": "D 2"}, {"templateid": "{template}"}, {"uuid": "x"}, {"auto_start": 0}, {"pages": []}):
        yield "Admin", "templatedashboard.update", {"dashboardid": "{td}", **change}, None
    for user in ("D user", "D admin"):
        yield user, "templatedashboard.update", {"dashboardid": "{td}", "auto_start": 0}, None
        yield user, "templatedashboard.delete", ["{td}"], None
    only = {"hostids": "{host}"}
    for options in (
            {}, {"selectPages": "extend"}, {"selectPages": ["name"]}, {"selectPages": ["x"]}, {"countOutput": True},
            {"countOutput": True, "groupCount": True}, {"output": ["name"]}, {"output": ["x"]}, {"output": []},
            {"sortfield": "name", "sortorder": "DESC"}, {"sortfield": "x"}, {"limit": 1}, {"limit": 0},
            {"filter": {"name": "D 2"}}, {"filter": {"hostid": "{host}"}}, {"search": {"name": "td"}},
            {"dashboardids": "{td}"}, {"preservekeys": True}, {"templateids": "1"}, {"hostids": "{template}"},
            {"hostids": "{template}", "countOutput": True}, {"editable": True}):
        for user in ("Admin", "D user"):
            yield user, "hostdashboard.get", {**only, **options}, None
    # Without `hostid` the host has none of them there.
    for select in ("extend", "count", ["name", "hostid"], ["hostid", "dashboardid"]):
        yield "Admin", "host.get", {**only, "output": ["host"], "selectDashboards": select}, None
    for select in ("extend", "count", ["name"], ["templateid", "dashboardid"]):
        yield "Admin", "template.get", {
            "templateids": "{template}", "output": ["host"], "selectDashboards": select}, None
    yield "Admin", "dashboard.delete", ["{td}"], None
    yield "Admin", "dashboard.get", {"dashboardids": "{td}"}, None
    yield "Admin", "templatedashboard.delete", ["{td}"], None


class Dashboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = bed.Server()
        cls.addClassCleanup(cls.server.clean)
        cls.real = reference.Reference(int(os.environ["BASE_PORT"]) if "BASE_PORT" in os.environ else None)
        cls.addClassCleanup(cls.real.stop)
        cls.server.start()
        cls.sides = [Side(cls.real.api()), Side(cls.server.api())]

    def compare(self, cases):
        for user, method, params, keep in cases:
            one, other = (side.answer(user, method, params, keep) for side in self.sides)
            with self.subTest(user=user, method=method, params=params):
                self.assertEqual(other, one)

    def test_1_of_users(self):
        self.compare(of_users())

    def test_2_of_templates_and_hosts(self):
        self.compare(of_templates())


if __name__ == "__main__":
    bed.main()
