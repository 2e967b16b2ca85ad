"""Expressions of the official templates as formulas over the items of the differential test."""

import glob
import os
import re

LINE = re.compile(r"^ *(?:- )?(key|value_type|expression|recovery_expression|macro|value): (.*)$")
CALL = re.compile(r'(?<=\()/[^/"\n]+/([A-Za-z0-9_.-]+(?:\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\])?)')
KEYS = {"FLOAT": ["f", "up", "flat"], "CHAR": ["c"], "LOG": ["l"], "TEXT": ["t"], "UNSIGNED": ["u", "up"]}


def _scalar(text, rest):
    """A scalar of an export: quoted, plain, or a block of the lines that follow."""
    if text == "|":
        depth = len(rest[0]) - len(rest[0].lstrip()) if rest else 0
        block = []
        for line in rest:
            if line.strip() and len(line) - len(line.lstrip()) < depth:
                break
            block.append(line[depth:])
        return "\n".join(block).strip()
    return text[1:-1].replace("''", "'") if text[:1] == "'" else text


def _read(path):
    """Expressions, types of values by key, and macros of a file."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    expressions, types, macros, key, macro = [], {}, {}, "", ""
    for at, line in enumerate(lines):
        found = LINE.match(line)
        if not found:
            continue
        name, value = found.group(1), _scalar(found.group(2), lines[at + 1:at + 30])
        if name == "key":
            key = value
            types.setdefault(key, "UNSIGNED")
        elif name == "value_type" and value in KEYS:
            types[key] = value
        elif name == "macro":
            macro = value
        elif name == "value" and macro:
            macros[macro] = value
            macro = ""
        elif name.endswith("expression"):
            expressions.append(value)
    return expressions, types, macros


def _formula(rng, text, types, macros):
    """The expression with values for macros and items that both servers have."""
    def of_macro(match):
        name = match.group(0)
        plain = name.split(":")[0].rstrip("}") + "}"
        return macros.get(name) or macros.get(plain) or "1"

    def of_item(match):
        kind = types.get(match.group(1), "FLOAT")
        return "/first/" + rng.choice(KEYS[kind])

    text = CALL.sub(of_item, text)
    text = re.sub(r"\{\{#[^}]*\}\.[a-z]+\([^)]*\)\}", "1", text)
    text = re.sub(r"\{#[^}]*\}", "1", text)
    text = re.sub(r"\{\$[^}]*\}", of_macro, text)
    return text.replace("{TRIGGER.VALUE}", "0")


def cases(rng, shared, count):
    """So many expressions, each once."""
    found = []
    for path in sorted(glob.glob(os.path.join(shared, "templates", "zabbix-7.0", "*.yaml"))):
        expressions, types, macros = _read(path)
        found += [_formula(rng, text, types, macros) for text in expressions]
    known = sorted(set(found))
    assert len(known) > 1000, "only %d expressions" % len(known)
    return rng.sample(known, count)
