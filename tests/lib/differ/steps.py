"""Preprocessing: each step type alone, with error handlers and values before, and chains."""

from .corpora import (
    BOOLEANS, CSVS, DOCUMENTS, HEXES, METRIC_OUTPUTS, METRIC_PATTERNS, METRIC_SETS, NUMBERS, OCTALS, OIDS,
    OUTPUTS, PATHS, PATTERNS, SCRIPTS, SNMP_VALUES, TABLES, TEXTS, WALKS, XMLS, XPATHS)

TRIMMED = [" ", "abc", "\\t", "\\s", "\\n\\r", "ż", "\\\\", "a-z", "0", "-=", "\"", "ab", "\\x", "日語"]
FACTORS = ["2", "0.5", "-1", "1e3", "0", "1000000000000", "abc", "", " 3 ", "0x10", "1K", "1e308", ".1",
           "18446744073709551615", "1e-9", "8", "0.125"]
RANGES = ["1\n10", "\n5", "-5\n", "\n", "10\n1", "a\nb", "1.5\n1e3", "0\n0", "1\n1", "-1e3\n-1", "5"]
SEARCHES = ["a\nb", "aaa\n", "\nx", "\\n\n ", "\\t\n\\n", "abc\nabcabc", "\\s\n_", "日\nx", "\"\n'", "\\\\\n/",
            "x=1\ny", "a", "b\n\\r\\n"]
HEARTBEATS = ["10s", "1m", "1h", "0", "abc", "1d", "90", "", "60s", "-5", "1w"]
AGES = ["now", "now-1s", "now-5s", "now-1m", "now-90s", "now-1h", "now-1d", "now-61"]
FAILURES = ["-1", "", "0\ntimeout", "1\ntimeout", "0\n[", "1\n^Cannot", "0\n(\\w+) out", "-1\nx", "2\nx"]
ERRORS = ["timeout while connecting", "Cannot open file", "out of memory", "", "日本 timeout"]


def _one(rng, kind):
    """Parameters and a value for a step of this type."""
    pick = rng.choice
    number_or_text = pick(NUMBERS + TEXTS)
    if kind == 1:
        return pick(FACTORS), pick(NUMBERS)
    if kind in (2, 3, 4):
        return pick(TRIMMED), pick(TEXTS + NUMBERS)
    if kind in (5, 18):
        return pick(PATTERNS) + "\n" + pick(OUTPUTS), pick(TEXTS)
    if kind == 6:
        return "", pick(BOOLEANS)
    if kind == 7:
        return "", pick(OCTALS)
    if kind == 8:
        return "", pick(HEXES)
    if kind in (9, 10, 19):
        return "", pick(NUMBERS if kind != 19 else NUMBERS[:6] + TEXTS[:6])
    if kind in (11, 17):
        return pick(XPATHS), pick(XMLS)
    if kind in (12, 16):
        return pick(PATHS), pick(DOCUMENTS)
    if kind == 13:
        return pick(RANGES), number_or_text
    if kind in (14, 15):
        return pick(PATTERNS), pick(TEXTS)
    if kind == 20:
        return pick(HEARTBEATS), pick(NUMBERS[:6] + TEXTS[:6])
    if kind == 21:
        return pick(SCRIPTS), pick(TEXTS + NUMBERS + DOCUMENTS[:3] + XMLS[:4])
    if kind == 22:
        output = pick(METRIC_OUTPUTS if rng.random() < 0.7 else METRIC_OUTPUTS[:1])
        return pick(METRIC_PATTERNS) + "\n" + output, pick(METRIC_SETS[:1] * 8 + METRIC_SETS)
    if kind == 23:
        return pick(METRIC_PATTERNS), pick(METRIC_SETS[:1] * 6 + METRIC_SETS)
    if kind == 24:
        return pick([",", ";", "", "\\t", "\t", "ab", "|"]) + "\n" + pick(["\"", "'", "", "xy"]) + "\n" + \
            pick(["0", "1"]), pick(CSVS)
    if kind == 25:
        return pick(SEARCHES), pick(TEXTS)
    if kind == 26:
        return pick(FAILURES), pick(TEXTS)
    if kind == 27:
        return "", pick(XMLS)
    if kind == 28:
        return pick(OIDS) + "\n" + pick("0123"), pick(WALKS)
    if kind == 29:
        return pick(TABLES), pick(WALKS)
    return pick("1230"), pick(SNMP_VALUES)


#: How many cases of each type; those with a language of their own get more.
COUNTS = {1: 130, 2: 60, 3: 60, 4: 60, 5: 190, 6: 70, 7: 50, 8: 60, 9: 130, 10: 130, 11: 190, 12: 420,
          13: 110, 14: 80, 15: 80, 16: 110, 17: 90, 18: 90, 19: 60, 20: 110, 21: 190, 22: 200, 23: 110,
          24: 150, 25: 90, 26: 90, 27: 60, 28: 120, 29: 90, 30: 70}
CHAINS = 420
#: What chains are made of: steps whose results often suit the next one.
LINKS = [1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 14, 15, 16, 21, 25, 26]
#: Steps that only end chains: the reference crashes when others follow one that discards.
ENDS = LINKS + [19, 20]


def _step(rng, kind, params):
    handler = rng.choice([0, 0, 0, 0, 1, 2, 3])
    text = "" if handler < 2 else rng.choice(["7", "set by handler", "", "\\0", "\\1"])
    return {"type": kind, "params": params, "error_handler": handler, "error_handler_params": text}


def _test(rng, steps, value):
    item = {"value_type": rng.choice([0, 3, 4, 4, 1, 2]), "steps": steps, "value": value}
    options = {"single": rng.random() < 0.1, "state": 0}
    kinds = {step["type"] for step in steps}
    if kinds & {9, 10, 19, 20} and rng.random() < 0.9:
        before = value if rng.random() < 0.4 else rng.choice(NUMBERS + ["5", "10", "99.5"])
        options["history"] = {"value": before, "timestamp": rng.choice(AGES)}
    if 26 in kinds and rng.random() < 0.8:
        options["state"] = 1
        item["value"] = rng.choice(ERRORS)
    return {"item": item, "options": options}


def cases(rng):
    """Members `data` of requests `item.test`."""
    for kind, count in COUNTS.items():
        for _ in range(count):
            params, value = _one(rng, kind)
            yield _test(rng, [_step(rng, kind, params)], value)
    for _ in range(CHAINS):
        kinds = [rng.choice(LINKS) for _ in range(rng.randint(1, 3))] + [rng.choice(ENDS)]
        parts = [_one(rng, kind) for kind in kinds]
        steps = [_step(rng, kind, params) for kind, (params, _) in zip(kinds, parts)]
        yield _test(rng, steps, parts[0][1])
