"""Discovery rules with prototypes and the rows that they get: what both servers are given."""

#: Blanks that rows put around values: a space, a tab, a carriage return and a line feed.
BLANK = " \t\r\n"
#: A no-break space is none of them.
NBSP = "\u00a0"

HOST_INTERFACES = [
    {"type": 1, "main": 1, "useip": 1, "ip": "192.0.2.1", "dns": "", "port": "10050"},
    {"type": 1, "main": 0, "useip": 0, "ip": "192.0.2.2", "dns": "a.example", "port": "10051"},
    {"type": 2, "main": 1, "useip": 1, "ip": "192.0.2.1", "dns": "", "port": "161",
     "details": {"version": 3, "bulk": 1, "securityname": "s", "securitylevel": 0,
                 "contextname": "{$C}"}},
]

#: Members of the rule's host: what a discovered host takes of it, and what not.
RULES_HOST = {
    "interfaces": HOST_INTERFACES, "ipmi_authtype": 2, "ipmi_privilege": 4, "ipmi_username": "u",
    "ipmi_password": "p", "description": "of the rule's host", "inventory_mode": 1,
    "inventory": {"location": "here"}, "tags": [{"tag": "own", "value": "1"}],
    "macros": [{"macro": "{$OWN}", "value": "1"}],
    "tls_connect": 2, "tls_accept": 3, "tls_psk_identity": "lld",
    "tls_psk": "0123456789abcdef0123456789abcdef",
}


def around(value):
    """With blanks on both sides."""
    return BLANK + value + BLANK


def row(**macros):
    return {"{#%s}" % name: value for name, value in macros.items()}


def prototype(**more):
    """A host prototype; groups and templates by name."""
    return dict({"host": "{#SCENE}-{#N}", "name": "{#N} of {#SCENE}", "groups": ["LLD"]}, **more)


#: Steps of preprocessing with a macro: type, parameters.
STEPS = [(1, "{#P}"), (4, "{#P}"), (5, "{#P}\n1"), (5, "x\n{#P}"), (11, "{#P}"), (12, "{#P}"),
         (13, "1\n{#P}"), (14, "{#P}"), (15, "{#P}"), (16, "{#P}"), (17, "{#P}"),
         (18, "{#P}\n1"), (20, "{#P}"), (21, "{#P}"), (22, "{#P}\nvalue\n"),
         (22, "m\nlabel\n{#P}"), (23, "{#P}"), (25, "{#P}\nx"), (26, "1\n{#P}"),
         (28, "{#P}\n0"), (29, "{#P}\n1.2\n0")]
#: What the macro is in turn.
STEP_VALUES = ["a", "", " ", "x[", "(", "1", "2.5", "9", "-1", "0", "1m", "26y", "$.a",
               "a-b:c!<d>=|^*+?]#&~'/\"", "$.a[", "//a", "//[", "m{a=\"b\"}", "m{", "{$P}", "1.3.6", "\\"]


def steps():
    """A prototype for each step."""
    for at, (kind, params) in enumerate(STEPS):
        handler = 0 if kind in (4, 20, 21, 25) else 1
        yield {"name": "%d of {#N}" % at, "key_": "k[{#N},%d]" % at, "type": 2, "value_type": 4,
               "trends": None, "preprocessing": [{
                   "type": kind, "params": params, "error_handler": handler,
                   "error_handler_params": ""}]}


#: name, members of the rule, prototypes by kind, the rows of each value; `changes`: before a value
#: a host prototype by its place gets other groups or, with None, goes.
def scenes():
    yield "plain", {"hosts": [prototype()], "rows": [
        [row(N="a"), row(N="b")], [row(N="a")], [row(N="a"), row(N="b")]]}
    yield "blanks", {
        "hosts": [prototype(
            host="{#H}", name=" {#N} ", group_prototypes=["{#G}", "In {#G}/{#N}"],
            tags=[{"tag": " {#N} ", "value": " {#G} "}, {"tag": "{#EMPTY}", "value": "e"}],
            macros=[{"macro": "{$M}", "value": " {#N} ", "description": " {#N} "}])],
        "rows": [[row(H=around("blank-a"), N=around("a"), G=around("g"), EMPTY="x"),
                  row(H="blank-b", N=NBSP + "b", G=NBSP + "g", EMPTY="x")],
                 [row(H="blank-a", N=around("a"), G=around("h"), EMPTY="x")]]}
    yield "names", {
        "hosts": [prototype(host="{#N}", name="{#V}")],
        "rows": [[row(N="names-1", V=""), row(N="names-2", V="  "), row(N="", V="names 3"),
                  row(N="  ", V="names 4"), row(N="names/5", V="names 5"),
                  row(N="names-6", V="v" * 200), row(N="n" * 128, V="names 7"),
                  row(N="n" * 129, V="names 8"), row(N="names-9", V="same"),
                  row(N="names-10", V="same"), row(N="names-11 ", V="names 11"),
                  row(N="names-11", V="names 12"), row(N="LLD names", V="the rule's host"),
                  row(N="names-14", V="LLD names"),
                  row(N="names-15", V="names-1"), row(N="names-16", V="a\nb"),
                  row(N="names-17", V="a" * 128), row(N="names-18", V="a" * 129)]]}
    for n, name in enumerate(("bad/1", "", " ", "bad.{#N}")):
        yield "bad name %d" % n, {"hosts": [prototype(host="{#N}")], "rows": [[row(N=name)]]}
    for n, name in enumerate(("", " ", "v" * 129)):
        yield "bad visible name %d" % n, {
            "hosts": [prototype(name="{#N}", host="bad-v-{#H}")], "rows": [[row(N=name, H="1")]]}
    for n, name in enumerate(("", " ", "/x", "x/", "x" * 256)):
        yield "bad group %d" % n, {
            "hosts": [prototype(group_prototypes=["{#G}"])], "rows": [[row(N="a", G=name)]]}
    yield "crossed names", {
        "hosts": [prototype(host="{#N}", name="{#V}")],
        "rows": [[row(N="cross-1", V="cross-2"), row(N="cross-2", V="cross-1")]]}
    yield "periods", {
        "items": [{"name": "{#N}", "key_": "k[{#N}]", "type": 2, "value_type": 3,
                   "history": "{#H}", "trends": "{#T}"}],
        "rows": [[row(N="a", H="0", T="0"), row(N="b", H="59m", T="1d"), row(N="c", H="1h", T="23h"),
                  row(N="d", H="9125d", T="9125d"), row(N="e", H="9126d", T="1d"),
                  row(N="f", H="1h", T="9126d"), row(N="g", H="{$H}", T="1d"),
                  row(N="h", H="x", T="1d"), row(N="i", H="", T="1d"), row(N="j", H="3600", T="")]]}
    yield "group names", {
        "hosts": [prototype(group_prototypes=["{#G}"])],
        "rows": [[row(N="a", G="lld g"), row(N="b", G=""), row(N="c", G=" "), row(N="d", G="/x"),
                  row(N="e", G="x//y"), row(N="f", G="x/"), row(N="g", G="lld p / q "),
                  row(N="h", G="g" * 255), row(N="i", G="h" * 256), row(N="j", G="LLD"),
                  row(N="k", G="lld g"), row(N="l", G="lld g/below"), row(N="m", G="LLD G")],
                 [row(N="a", G="lld z"), row(N="k", G="lld g")]]}
    yield "two of one group", {
        "hosts": [prototype(group_prototypes=["{#G}", "{#H}"])],
        "rows": [[row(N="a", G="lld one", H="lld one"), row(N="b", G="lld one", H="lld one ")]]}
    yield "all of it", {
        "more": RULES_HOST,
        "hosts": [prototype(
            templates=["LLD T", "LLD U"], inventory_mode=1, status=1,
            group_prototypes=["lld {#N}"], tags=[{"tag": "t", "value": "{#N}"}],
            macros=[{"macro": "{$A}", "value": "{#N}", "description": "d"},
                    {"macro": "{$S}", "value": "secret {#N}", "type": 1}])],
        "rows": [[row(N="a"), row(N="b")], [row(N="a"), row(N="b")]]}
    yield "inventory by hand", {
        "hosts": [prototype(inventory_mode=0)], "rows": [[row(N="a")]]}
    yield "no inventory", {
        "hosts": [prototype(inventory_mode=-1)], "rows": [[row(N="a")]]}
    yield "not discovered", {
        "hosts": [prototype(discover=1)], "rows": [[row(N="a")]]}
    yield "own interfaces", {
        "more": RULES_HOST,
        "hosts": [prototype(custom_interfaces=1, interfaces=[
            {"type": 1, "main": 1, "useip": 0, "ip": "", "dns": "{#D}", "port": "{#P}"},
            {"type": 2, "main": 1, "useip": 1, "ip": "{#IP}", "dns": "", "port": "161",
             "details": {"version": 2, "community": "{#C}", "bulk": 0, "max_repetitions": 7}}])],
        "rows": [[row(N="a", D="a.example", P="1", IP="192.0.2.7", C="c"),
                  row(N="b", D="-", P="x", IP="y", C="c"),
                  row(N="c", D=" c ", P=" 1 ", IP=" 192.0.2.8 ", C=" c "),
                  row(N="d", D="", P="99999", IP="", C="")],
                 [row(N="a", D="b.example", P="2", IP="192.0.2.9", C="d")]]}
    yield "no interfaces", {
        "hosts": [prototype(custom_interfaces=1, interfaces=[])], "rows": [[row(N="a")]]}
    yield "tags", {
        "hosts": [prototype(tags=[
            {"tag": "{#T}", "value": "{#V}"}, {"tag": "t", "value": "v"},
            {"tag": "u", "value": "{#V}"}])],
        "rows": [[row(N="a", T="t", V="v"), row(N="b", T="t ", V=" v"), row(N="c", T="x" * 256, V=""),
                  row(N="d", T="x", V="y" * 256), row(N="e", T="", V="z")],
                 [row(N="a", T="t", V="w"), row(N="b", T="n", V="")]]}
    yield "macros", {
        "hosts": [prototype(macros=[
            {"macro": "{$A}", "value": "{#V}"}, {"macro": "{$B}", "value": " {#V}"},
            {"macro": "{$A:\"{#V}\"}", "value": "c"}, {"macro": "{$E}", "value": ""}])],
        "rows": [[row(N="a", V="v"), row(N="b", V=" \"q\" "), row(N="c", V="}")],
                 [row(N="a", V="w")]]}
    yield "items", {
        "items": [
            {"name": "{#N}", "key_": "trap[{#N}]", "type": 2, "value_type": 0, "units": "{#N}",
             "description": "{#N}", "history": "{#Y}", "trends": "{#Y}",
             "tags": [{"tag": "{#N}", "value": "{#N}"}]},
            {"name": "http {#N}", "key_": "http[{#N}]", "type": 19, "value_type": 4,
             "delay": "{#D}", "url": "{#N}", "timeout": "{#D}", "posts": "{#N}",
             "status_codes": "{#S}", "http_proxy": "{#N}", "ssl_cert_file": "{#N}",
             "ssl_key_file": "{#N}", "ssl_key_password": "{#N}", "username": "{#N}",
             "password": "{#N}", "authtype": 1, "headers": [{"name": "h", "value": "{#S2}"}],
             "query_fields": [{"name": "{#N}", "value": "{#N}"}], "trends": None},
            {"name": "script {#N}", "key_": "script[{#N}]", "type": 21, "value_type": 4,
             "delay": "{#D}", "timeout": "{#D}", "params": "{#N}", "trends": None,
             "parameters": [{"name": "{#N}", "value": "{#N}"}]},
            {"name": "ssh {#N}", "key_": "ssh.run[{#N}]", "type": 13, "value_type": 4,
             "delay": "{#D}", "username": "{#N}", "password": "{#N}", "publickey": "{#N}",
             "privatekey": "{#N}", "authtype": 1, "params": "{#N}", "trends": None},
            {"name": "calc {#N}", "key_": "calc[{#N}]", "type": 15, "value_type": 0,
             "delay": "{#D};5s/{#W}", "params": "{#V}"},
            {"name": "jmx {#N}", "key_": "jmx[{#N}]", "type": 16, "value_type": 4, "delay": "{#D}",
             "jmx_endpoint": "{#N}", "username": "{#N}", "password": "{#N}", "trends": None},
            {"name": "snmp {#N}", "key_": "snmp[{#N}]", "type": 20, "value_type": 4,
             "delay": "{#D}", "snmp_oid": "{#N}", "trends": None},
            {"name": "ipmi {#N}", "key_": "ipmi[{#N}]", "type": 12, "value_type": 4,
             "delay": "{#D}", "ipmi_sensor": "{#N}", "trends": None},
            {"name": "steps {#N}", "key_": "steps[{#N}]", "type": 2, "value_type": 4,
             "trends": None, "preprocessing": [
                 {"type": 12, "params": "$['{#N}']", "error_handler": 3,
                  "error_handler_params": "{#N}"},
                 {"type": 5, "params": "{#N}\n{#N}", "error_handler": 2,
                  "error_handler_params": "{#N}"},
                 {"type": 21, "params": "{#N}", "error_handler": 0, "error_handler_params": ""}]}],
        "interfaces": HOST_INTERFACES[:1] + HOST_INTERFACES[2:],
        "rows": [[row(N="a", D="1m", Y="2d", S2="w", S="200", V="1", W="1-7,00:00-24:00")],
                 [row(N=around("a"), D=around("1m"), Y=around("3d"), S2="w", S=around("200"),
                      V=around("1"), W="1-7,00:00-24:00")]]}
    yield "items of names", {
        "items": [{"name": "{#V}", "key_": "k[{#N}]", "type": 2, "value_type": 3},
                  {"name": "o {#V}", "key_": "o[{#N},]", "type": 2, "value_type": 3}],
        "rows": [[row(N="1", V=""), row(N="2", V=" "), row(N="3", V="x" * 255),
                  row(N="4", V="x" * 256), row(N=" 5", V="x"), row(N="6 ", V=" x"),
                  row(N="6", V="x "), row(N="]", V="y"), row(N="", V="z")]]}
    yield "triggers", {
        "items": [{"name": "{#N}", "key_": "k[{#N}]", "type": 2, "value_type": 3}],
        "triggers": [
            {"description": " {#N} ", "expression": "last(/{HOST}/k[{#N}])>1", "comments": "{#N}",
             "url": "{#N}", "url_name": "{#N}", "event_name": "{#N}", "opdata": "{#N}",
             "correlation_mode": 1, "correlation_tag": "{#N}",
             "tags": [{"tag": "{#N}", "value": "{#N}"}]},
            {"description": "second {#N}", "expression": "last(/{HOST}/k[{#N}])=2 and 1=1",
             "recovery_mode": 1, "recovery_expression": "last(/{HOST}/k[{#N}])=3"}],
        "rows": [[row(N="a"), row(N=around("b"))], [row(N="a")]]}
    yield "the same triggers", {
        "items": [{"name": "{#N}", "key_": "k[{#N}]", "type": 2, "value_type": 3}],
        "triggers": [{"description": "{#T}", "expression": "last(/{HOST}/k[{#N}])>1"}],
        "rows": [[row(N="a", T=""), row(N="b", T=" "), row(N="c", T="x" * 255),
                  row(N="d", T="x" * 256), row(N="e", T="y "), row(N="f", T="y")]]}
    yield "overrides", {
        "hosts": [prototype(tags=[{"tag": "p", "value": "1"}])],
        "rule": {"overrides": [{
            "name": "o", "step": 1, "stop": 0, "filter": {"evaltype": 0, "conditions": [
                {"macro": "{#N}", "operator": 8, "value": "a"}]},
            "operations": [{"operationobject": 3, "operator": 2, "value": "a",
                            "opstatus": {"status": 1}, "opinventory": {"inventory_mode": 1},
                            "optag": [{"tag": " {#N} ", "value": " o "}], "optemplate": ["LLD T"]}]}]},
        "rows": [[row(N="a"), row(N="b")], [row(N="b")]]}
    yield "overrides by technical name", {
        "hosts": [prototype(host="{#H}", name="{#N}")],
        "rule": {"overrides": [{
            "name": "o", "step": 1, "stop": 0, "filter": {"evaltype": 0, "conditions": []},
            "operations": [
                {"operationobject": 3, "operator": 2, "value": "off", "opstatus": {"status": 1}},
                {"operationobject": 3, "operator": 2, "value": "hidden",
                 "opdiscover": {"discover": 1}}]}]},
        "rows": [[row(H="ovr-1", N="off"), row(H="ovr-off", N="ovr 2"), row(H="ovr-3", N="hidden"),
                  row(H="ovr-hidden", N="ovr 4"), row(H="ovr-hidden-5", N="v" * 200),
                  row(H="hidden/6", N="ovr 6")],
                 [row(H="ovr-1", N="ovr 1"), row(H="ovr-off", N="ovr 2 hidden")]]}
    yield "manual groups", {
        "hosts": [prototype(group_prototypes=["{#G}", "lld beside {#N}"])],
        "rows": [[row(N="a", G="lld free", NO=""), row(N="b", G="LLD people", NO=""),
                  row(N="c", G="LLD", NO="")]] * 2 + [
                 [row(N="a", G="LLD people", NO=""), row(N="b", G="lld free", NO="")]] * 2,
        "changes": {1: [(0, [(0, "{#G}"), (1, "LLD people{#NO}")])],
                    3: [(0, [(0, "lld at {#G}"), (1, "lld beside {#N}")])]}}
    yield "rights of groups", {
        "hosts": [prototype(group_prototypes=[
                      "LLD people/{#N}", "LLD people/{#N}/below", "LLD people/both {#N}"]),
                  prototype(host="second-{#SCENE}-{#N}", name="second {#SCENE} {#N}",
                            group_prototypes=["LLD people/both {#N}", "lld alone/{#N}"])],
        "rows": [[row(N="a")], [row(N="a"), row(N="b")], [row(N="a"), row(N="b")]],
        "changes": {1: [(0, [(0, "LLD people/{#N}"), (1, "LLD people/{#N}/below"),
                             (2, "lld apart {#N}")])],
                    2: [(0, [(0, "LLD people/{#N}"), (1, "LLD people/{#N}/lower"),
                             (2, "lld apart {#N}"), (None, "LLD people/{#N}/deep")])]}}
    yield "lost at once", {
        "hosts": [prototype(group_prototypes=["lld of {#N}"])],
        "rule": {"lifetime_type": 2},
        "rows": [[row(N="a"), row(N="b")], [row(N="b")]]}
    yield "lost and disabled", {
        "hosts": [prototype(group_prototypes=["lld dis {#N}"])],
        "items": [{"name": "{#N}", "key_": "k[{#N}]", "type": 2, "value_type": 3}],
        "rule": {"lifetime_type": 1, "enabled_lifetime_type": 2},
        "rows": [[row(N="a"), row(N="b")], [row(N="b")], [row(N="a"), row(N="b")]]}
    yield "other patterns of groups", {
        "hosts": [prototype(group_prototypes=["lld pat {#N}", "lld second {#N}", "lld third {#N}"])],
        "rows": [[row(N="a", BAD="x//y"), row(N="b", BAD="lld bad")]] * 3,
        "changes": {1: [(0, [(0, "lld new {#N}"), (None, "lld fresh {#N}")])],
                    2: [(0, [(0, "lld new {#N}/below"), (1, "{#BAD}")])]}}
    yield "patterns of two prototypes", {
        "hosts": [prototype(group_prototypes=["lld both {#N}", "lld one {#N}"]),
                  prototype(host="second-{#SCENE}-{#N}", name="second {#SCENE} {#N}",
                            group_prototypes=["lld both {#N}", "lld two {#N}"])],
        "rows": [[row(N="a"), row(N="b")]] * 4,
        "changes": {1: [(0, [(0, "lld apart {#N}"), (1, "lld one {#N}")])],
                    2: [(1, [(0, "lld one {#N}"), (1, "lld two {#N}")])], 3: [(1, None)]}}
    yield "swapped patterns", {
        "hosts": [prototype(group_prototypes=["lld s {#N}", "lld t {#N}"])],
        "rows": [[row(N="a")]] * 2,
        "changes": {1: [(0, [(0, "lld t {#N}"), (1, "lld s {#N}")])]}}
    yield "steps", {
        "items": list(steps()),
        "rows": [[row(N=str(at), P=value) for at, value in enumerate(STEP_VALUES)],
                 [row(N=str(at), P=value) for at, value in enumerate(
                     STEP_VALUES[1:] + STEP_VALUES[:1])]]}
