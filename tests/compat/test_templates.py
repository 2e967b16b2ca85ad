"""Official and community templates: import, export without loss, comparison, linkage.

VEDETTE_SHARED names a folder with `templates/zabbix-7.0` (exports of a real 7.0 server, with an
index) and `conformance/community-templates`; without it only this clone's own templates are
tried. Every file is a test of its own:

* the import succeeds, into one server, in the order that the index gives;
* an export of its templates gives the same tree back, order of unordered lists aside;
* `configuration.importcompare` of the file finds no change, also with every `deleteMissing`.

Needs PyYAML; scripts/suites/yaml makes a venv with it. Arguments: names of files, to try
only these (and what they require).
"""
# needs: yaml

import difflib
import json
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
VENV = os.path.join(ROOT, ".cache", "venv", "bin", "python")
try:
    import yaml
except ImportError:
    if os.path.exists(VENV) and os.path.realpath(sys.prefix) != os.path.dirname(
            os.path.dirname(VENV)):
        os.execv(VENV, [VENV] + sys.argv)
    sys.exit("PyYAML is missing: run scripts/suites/yaml")

import bed  # noqa: E402

# Every scalar is a text.
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
SHARED = os.environ.get("VEDETTE_SHARED")

# Lists whose order means something.
ORDERED = {"preprocessing", "parameters", "mappings", "overrides", "operations", "steps",
           "graph_items", "pages", "variables"}

# Members of items that an export never has.
SECRETS = {"password", "ssl_key_password"}

ALL = {"createMissing": True, "updateExisting": True}
DELETE = dict(ALL, deleteMissing=True)
RULES = {
    "template_groups": ALL, "host_groups": ALL, "templates": ALL, "items": DELETE,
    "discoveryRules": DELETE, "triggers": DELETE, "valueMaps": DELETE, "graphs": DELETE,
    "templateDashboards": DELETE, "httptests": DELETE,
    "templateLinkage": {"createMissing": True, "deleteMissing": True},
}


def read(text):
    """The tree of a YAML text."""
    return yaml.load(text, Loader=LOADER)


def plain(node, name=""):
    """A tree without the order of what has none, and with one form of emptiness."""
    if isinstance(node, dict):
        members = {key: plain(value, key) for key, value in node.items() if key != "date"}
        return members or []
    if isinstance(node, list):
        values = [plain(value) for value in node]
        if name not in ORDERED:
            values.sort(key=lambda value: json.dumps(value, sort_keys=True))
        return values
    return node


def lines(tree):
    return json.dumps(plain(tree), indent=1, sort_keys=True, ensure_ascii=False).splitlines()


def difference(want, got, limit=40):
    """The first differing lines of two trees; empty when they are the same."""
    if plain(want) == plain(got):
        return ""
    found = [line for line in difflib.unified_diff(lines(want), lines(got), "file", "export",
                                                   n=2, lineterm="")]
    return "\n".join(found[:limit])


def identity(node):
    """What tells an element of a list of objects from its neighbours."""
    if not isinstance(node, dict):
        return node
    return tuple(str(node.get(name, "")) for name in
                 ["key", "template", "macro", "tag", "lld_macro", "name", "expression", "value"]
                 if not (name == "name" and "key" in node))


def lost(want, got, path=""):
    """Where `want`, written by hand perhaps, says something that `got` does not. What is a
    default may be missing there; ids of groups are those of the file that came first."""
    if isinstance(want, dict) and isinstance(got, dict):
        for name, value in want.items():
            if name == "formulaid" or (name == "uuid" and "template_groups" in path):
                continue
            if name in SECRETS and "httptests" not in path:
                continue
            if name in got:
                yield from lost(value, got[name], path + "/" + name)
            elif isinstance(value, (dict, list)) and plain(value):
                yield "%s/%s" % (path, name)
    elif isinstance(want, list) and isinstance(got, list):
        if "template_groups" not in path and len(want) != len(got):
            yield "%s: %d of %d" % (path, len(got), len(want))
        found = {identity(one): one for one in got}
        for one in want:
            if isinstance(one, dict) and one.keys() & {"key", "macro", "uuid", "tag"}:
                other = found.get(identity(one))
                if other is None:
                    yield "%s/%s" % (path, identity(one))
                else:
                    yield from lost(one, other, "%s/%s" % (path, identity(one)[0]))
    elif path.endswith("/trends") and want in ("0", "0d") and got == "0":
        pass
    elif plain(want) != plain(got):
        yield "%s: %r, not %r" % (path, got, want)


def names(tree):
    """Technical names of the templates in a tree."""
    return [t["template"] for t in tree["zabbix_export"].get("templates") or []]


class Bench:
    """The server, and what an import does on it."""

    def __init__(self):
        # Exports that are the same text, byte for byte.
        self.same_text = 0
        self.server = bed.Server()
        self.server.start()
        self.api = self.server.api()

    def load(self, source):
        self.api.call("configuration.import", format="yaml", source=source, rules=RULES)

    def export(self, templates):
        found = self.api.call("template.get", output=["templateid", "host"],
                              filter={"host": templates})
        ids = [row["templateid"] for row in found]
        assert len(ids) == len(templates), "templates %s, found %s" % (templates, found)
        return self.api.call("configuration.export", format="yaml", options={"templates": ids})

    def compare(self, source):
        return self.api.call("configuration.importcompare", format="yaml", source=source,
                             rules=RULES)


def check(bench, path):
    """Imports a file and checks what came of it."""
    with open(path, encoding="utf-8") as f:
        source = f.read()
    tree = read(source)
    bench.load(source)
    text = bench.export(names(tree))
    back = read(text)
    if "community-templates" not in path:
        found = difference(tree, back)
        assert not found, "the export differs:\n" + found
        bench.same_text += source == text
        if os.environ.get("KEEP_EXPORTS"):
            # For a look at differences in style.
            kept = os.path.join(os.environ["KEEP_EXPORTS"], os.path.basename(path))
            with open(kept, "w", encoding="utf-8") as f:
                f.write(text)
    if tree["zabbix_export"]["version"] == "7.0":
        found = list(lost(tree, back))
        assert not found, "not in the export: " + "; ".join(found[:10])
        changes = bench.compare(source)
        assert not changes, "importcompare of the file: " + json.dumps(changes)[:2000]
    else:
        # Older forms leave out and name other things: what counts is that nothing moves on.
        changes = bench.compare(text)
        assert not changes, "importcompare of the export: " + json.dumps(changes)[:2000]
    bench.load(text)
    assert bench.export(names(tree)) == text, "a second import changes the export"


def link(bench, template, expected):
    """Links a template to a host and counts what the host has then."""
    api = bench.api
    found = api.call("template.get", output=["templateid"], filter={"host": [template]})
    group = api.call("hostgroup.get", output=["groupid"], filter={"name": ["Linked"]})
    group = group or [{"groupid": api.call("hostgroup.create", name="Linked")["groupids"][0]}]
    host = api.call(
        "host.create", host="Host of " + template, groups=[{"groupid": group[0]["groupid"]}],
        interfaces=[{"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                     "port": "10050"}],
        templates=found)["hostids"][0]
    counts = {
        kind: int(api.call(method, hostids=[host], countOutput=True))
        for kind, method in [
            ("items", "item.get"), ("triggers", "trigger.get"),
            ("discovery_rules", "discoveryrule.get"), ("item_prototypes", "itemprototype.get"),
            ("trigger_prototypes", "triggerprototype.get")]
    }
    assert counts == expected, "the host has %s, the templates %s" % (counts, expected)


def official():
    """Lines of the index in an order in which all that a file requires comes before it."""
    folder = os.path.join(SHARED, "templates", "zabbix-7.0")
    with open(os.path.join(folder, "index.jsonl"), encoding="utf-8") as f:
        waiting = [json.loads(line) for line in f]
    done = set()
    while waiting:
        ready = [row for row in waiting if done.issuperset(row["requires"])]
        if not ready:
            raise SystemExit("the index requires a missing template: %s" % waiting[0])
        for row in ready:
            done.add(row["file"])
            yield os.path.join(folder, row["file"]), row
        waiting = [row for row in waiting if row["file"] not in done]


def linked(rows, template):
    """What a host gets from a template and from those that it links: sums over the index."""
    by_file = {row["file"]: row for row in rows}
    wanted = [row for row in rows if row["template"] == template]
    counts = dict.fromkeys(
        ["items", "triggers", "discovery_rules", "item_prototypes", "trigger_prototypes"], 0)
    while wanted:
        row = wanted.pop()
        wanted += [by_file[name] for name in row["requires"]]
        for kind in counts:
            counts[kind] += row[kind]
    return counts


def run(label, action, results):
    """One test; says how long it took when that is much."""
    begin = time.monotonic()
    try:
        action()
    except (AssertionError, bed.ApiError, OSError, KeyError) as problem:
        results.append(label)
        print("FAIL %s: %s: %s" % (label, type(problem).__name__, problem), flush=True)
        passed = False
    else:
        passed = True
    seconds = time.monotonic() - begin
    if seconds > 5:
        print("%s took %.1f s" % (label, seconds), flush=True)
    return passed


def main(only):
    own = os.path.join(ROOT, "templates")
    files = [os.path.join(own, name) for name in sorted(os.listdir(own)) if
             name.endswith(".yaml")]
    rows = []
    if SHARED:
        index = list(official())
        rows = [row for _, row in index]
        files += [path for path, _ in index]
        folder = os.path.join(SHARED, "conformance", "community-templates")
        files += [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if
                  name.endswith(".yaml")]
    if only:
        names = set(only)
        for row in reversed(rows):
            if row["file"] in names:
                names.update(row["requires"])
        files = [path for path in files if os.path.basename(path) in names]
    begin = time.monotonic()
    failed, passed = [], 0
    bench = Bench()
    try:
        for path in files:
            passed += run(os.path.basename(path), lambda: check(bench, path), failed)
        for template in ["Linux by Zabbix agent", "Linux by Zabbix agent active"]:
            if rows and not only:
                passed += run("linkage of " + template,
                              lambda: link(bench, template, linked(rows, template)), failed)
        if failed:
            print(bench.server.log(20))
    finally:
        bench.server.clean()
    print("%d exports are the same text byte for byte" % bench.same_text)
    print("%.0f s" % (time.monotonic() - begin))
    if not SHARED:
        print("VEDETTE_SHARED is not set: only the templates of this clone were tried")
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
