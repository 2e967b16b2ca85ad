"""Calls of `correlation.*`, good and bad, in the order in which they are made.

`<name>` stands for the id of the rule of that name, or of the host groups `group` and `other`.
"""

OPERATIONS = [{"type": 0}]
LONG = "x" * 256


def rule(name="x", conditions=None, evaltype=0, **changes):
    """A rule with some members other than usual; `None` leaves one out."""
    conditions = [{"type": 0, "tag": "a"}] if conditions is None else conditions
    whole = {"name": name, "filter": {"evaltype": evaltype, "conditions": conditions},
             "operations": OPERATIONS, **changes}
    return {key: value for key, value in whole.items() if value is not None}


def formula(text, *conditions, name="x"):
    members = {"evaltype": 3, "formula": text, "conditions": list(conditions)}
    return rule(name, filter=members)


def named(letter, tag="a", kind=0):
    return {"type": kind, "tag": tag, "formulaid": letter}


#: Refused by their form.
BAD_RULES = [
    [], {}, rule(name=None), rule(name=""), rule(name=LONG), rule(filter=None),
    rule(operations=None), rule(operations=[]), rule(operations=[{}]),
    rule(operations=[{"type": 2}]), rule(operations=[{"type": 0}, {"type": 0}]),
    rule(operations=[{"type": 0, "x": 1}]), rule(extra=1), rule(status=2), rule(description=[]),
    rule(filter={}), rule(filter=[]), rule(filter={"evaltype": 0}),
    rule(filter={"conditions": [{"type": 0, "tag": "a"}]}), rule(conditions=[]), rule(evaltype=4),
    rule(conditions=[{"type": 0}]), rule(conditions=[{"tag": "a"}]),
    rule(conditions=[{"type": 6, "tag": "a"}]), rule(conditions=[{"type": 0, "tag": ""}]),
    rule(conditions=[{"type": 0, "tag": LONG}]),
    rule(conditions=[{"type": 0, "tag": "a", "operator": 1}]),
    rule(conditions=[{"type": 0, "tag": "a", "value": 1}]),
    rule(conditions=[{"type": 0, "tag": "a", "formulaid": "A"}]),
    rule(conditions=[{"type": 2, "groupid": "<group>", "operator": 2}]),
    rule(conditions=[{"type": 2, "groupid": "a"}]), rule(conditions=[{"type": 2}]),
    rule(conditions=[{"type": 2, "groupid": "999999"}]),
    rule(conditions=[{"type": 2, "groupid": 0}]),
    rule(conditions=[{"type": 3, "oldtag": "a"}]), rule(conditions=[{"type": 3, "newtag": "a"}]),
    rule(conditions=[{"type": 3, "oldtag": "", "newtag": "b"}]),
    rule(conditions=[{"type": 4, "tag": "a"}]), rule(conditions=[{"type": 4, "value": "b"}]),
    rule(conditions=[{"type": 4, "tag": "", "value": "b"}]),
    rule(conditions=[{"type": 4, "tag": "a", "value": "b", "operator": 4}]),
    rule(conditions=[{"type": 5, "tag": "a", "value": LONG}]),
    rule(filter={"evaltype": 0, "conditions": [{"type": 0, "tag": "b"}], "formula": "A"}),
    rule(filter={"evaltype": 0, "conditions": [{"type": 0, "tag": "b"}], "eval_formula": "A"}),
    rule(evaltype=3), formula("A", {"type": 0, "tag": "b"}), formula("", named("A")),
    formula("A" + " " * 255, named("A")), formula("A and B", named("A")),
    formula("A", named("A"), named("A")), formula("A", named("A"), named("B")),
    formula("A and C", named("A"), named("B")), formula("A and B and C", named("A"), named("B")),
    formula("B", named("A")), formula("a", named("a")), formula("A", named("1")),
    formula("A", named("")), formula("A and", named("A")),
    [rule(name="twin"), rule(name="twin")],
]

#: Accepted.
RULES = [
    rule("both", operations=[{"type": 1}, {"type": 0}], description="text", status=1),
    rule("status", status="0"), rule("one", conditions=[{"type": 1, "tag": "a"}]),
    rule("in group", [{"type": 2, "groupid": "<group>"}]),
    rule("not in group", [{"type": 2, "groupid": "<group>", "operator": 1}]),
    rule("pair", [{"type": 3, "oldtag": "a", "newtag": "b", "operator": 0}]),
    rule("twice", [{"type": 0, "tag": "a"}, {"type": 0, "tag": "a"}]),
    rule("like", [{"type": 4, "tag": "a", "value": "", "operator": 2}]),
    rule("and", [{"type": 0, "tag": "b"}, {"type": 0, "tag": "a"}], evaltype="1"),
    rule("or", [{"type": 1, "tag": "c"}, {"type": 0, "tag": "b"}], evaltype=2),
    formula("not (AB or  B)  and B", named("AB", "b"), named("B", "c", 1), name="formula"),
    formula("B and not X", named("X", "b"), named("B", "c", 1), name="order"),
    rule("sorted", [
        {"type": 5, "tag": "b", "value": "2"}, {"type": 5, "tag": "a", "value": "9", "operator": 1},
        {"type": 5, "tag": "a", "value": "10"}, {"type": 5, "tag": "a", "value": "9"},
        {"type": 4, "tag": "a", "value": "9"}, {"type": 3, "oldtag": "b", "newtag": "a"},
        {"type": 3, "oldtag": "a", "newtag": "z"}, {"type": 3, "oldtag": "a", "newtag": "y"},
        {"type": 2, "groupid": "<other>"}, {"type": 2, "groupid": "<group>", "operator": 1},
        {"type": 2, "groupid": "<group>"}, {"type": 1, "tag": "q"}, {"type": 0, "tag": "Z"},
        {"type": 0, "tag": "b"}]),
]

GETS = [
    {}, {"output": ["name"]}, {"output": "count"}, {"countOutput": True}, {"nosuch": 1},
    {"output": ["nosuch"]}, {"output": ["name"], "correlationids": "<sorted>"},
    {"correlationids": []}, {"correlationids": None, "countOutput": True},
    {"output": "extend", "selectFilter": "extend", "selectOperations": "extend"},
    {"correlationids": "<sorted>", "selectFilter": ["evaltype"]},
    {"correlationids": "<sorted>", "selectFilter": ["conditions"], "output": ["name"]},
    {"correlationids": "<sorted>", "selectFilter": ["eval_formula", "nosuch"]},
    {"correlationids": "<sorted>", "selectFilter": "count"},
    {"correlationids": "<both>", "selectOperations": "count"},
    {"correlationids": "<both>", "selectOperations": ["type"]},
    {"correlationids": "<both>", "selectOperations": ["x"]},
    {"correlationids": "<both>", "selectOperations": None, "selectFilter": None},
    {"correlationids": ["<formula>", "<order>"], "selectFilter": "extend", "output": ["formula"]},
    {"sortfield": "x"}, {"sortfield": "name", "sortorder": "DESC", "output": ["name"]},
    {"sortfield": ["status", "name"], "output": ["name"]},
    {"filter": {"name": "both"}, "output": ["name"]}, {"search": {"name": "OR"}, "output": ["name"]},
    {"search": {"description": "TEX"}, "output": ["name"]},
    {"limit": 1, "output": ["name"], "sortfield": "name"}, {"editable": True, "output": ["name"]},
    {"preservekeys": True, "output": ["name"], "filter": {"name": "both"}},
]


def update(**members):
    return {"correlationid": "<one>", **members}


UPDATES = [
    [], {}, {"correlationid": "99999"}, {"correlationid": "99999", "name": "q"},
    {"correlationid": "a"}, {"name": "q"}, update(), update(name="both"), update(name="one"),
    update(name=""), update(status=5), update(x=1), update(operations=[]), update(filter={}),
    update(filter={"evaltype": 1}), update(filter={"evaltype": 3}),
    update(filter={"evaltype": 3, "formula": "A"}),
    update(filter={"conditions": [{"type": 0, "tag": "n"}]}),
    update(filter={"evaltype": 0, "conditions": [{"type": 2, "groupid": "999999"}]}),
    update(status=1, description="zz"), update(operations=[{"type": 1}]),
    update(filter={"evaltype": 2, "conditions": [{"type": 0, "tag": "n"}, {"type": 1, "tag": "n"}]}),
    [{"correlationid": "<one>", "name": "same"}, {"correlationid": "<both>", "name": "same"}],
    [{"correlationid": "<one>"}, {"correlationid": "<one>"}],
    [{"correlationid": "<one>", "name": "both"}, {"correlationid": "<both>", "name": "one"}],
]

DELETIONS = [
    [], {}, ["99999"], ["a"], ["<like>", "<like>"], ["<like>", "99999"], ["<like>"],
    {"x": "<pair>"},
]


def calls():
    """Who calls, the method, and its parameters."""
    for params in BAD_RULES + RULES:
        yield "Admin", "correlation.create", params
    yield "Admin", "correlation.create", rule("both")
    for params in GETS:
        yield "Admin", "correlation.get", params
    for params in UPDATES:
        yield "Admin", "correlation.update", params
    yield "Admin", "correlation.get", {"output": "extend", "selectFilter": "extend",
                                       "selectOperations": "extend"}
    for user in ("user", "admin", "super"):
        yield user, "correlation.get", {"output": ["name"]}
        yield user, "correlation.get", {"output": ["name"], "editable": True}
        yield user, "correlation.create", rule("by " + user)
        yield user, "correlation.update", {"correlationid": "99999"}
        yield user, "correlation.delete", ["99999"]
    yield "nobody", "correlation.get", {}
    yield "Admin", "hostgroup.delete", ["<group>"]
    for params in DELETIONS:
        yield "Admin", "correlation.delete", params
    yield "Admin", "correlation.get", {"output": ["name"]}
