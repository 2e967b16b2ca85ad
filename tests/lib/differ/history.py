"""Functions over history: items with values at fixed times before the start, formulas over them.

Values lie half-way between the steps that periods are multiples of (10 minutes, half an hour), so
that a test may take a few minutes without a value leaving or entering a period.
"""

import math
import random

STEP_S = 600
POINTS = 72
TREND_STEP_S = 1800
TREND_POINTS = 24 * 2 * 9

FLOAT, CHAR, LOG, UNSIGNED, TEXT = 0, 1, 2, 3, 4
WORDS = ["ok", "OK", "error 17", "warning: disk", "", "17", "0x1F", "Zażółć", "ok", "error 17"]


def items():
    """Key, value type and tags of each item of the first host."""
    return [
        ("f", FLOAT, []), ("u", UNSIGNED, []), ("c", CHAR, []), ("t", TEXT, []), ("l", LOG, []),
        ("up", UNSIGNED, []), ("flat", FLOAT, []), ("empty", FLOAT, []), ("emptytext", TEXT, []),
        ("one", FLOAT, []), ("tf", FLOAT, []), ("tu", UNSIGNED, []), ("tgaps", FLOAT, []),
        ("tsame", UNSIGNED, []),
    ]


def aggregate_items(host):
    """Items that aggregate functions look for; the hosts differ a little."""
    found = [
        ("load[cpu,%d]" % n, FLOAT, [("kind", "load"), ("n", str(n))]) for n in range(1, 3 + host)
    ] + [("net[eth0,in]", UNSIGNED, [("kind", "net"), ("dir", "in")]),
         ("net[eth0,out]", UNSIGNED, [("kind", "net"), ("dir", "out")]),
         ("name", TEXT, [("kind", "text")])]
    if host == 1:
        found += [("bucket[%s]" % le, UNSIGNED, [("kind", "bucket")]) for le in ("0.1", "0.5", "1", "Inf")]
    return found


def _decomposed(rng, key, end):
    """Two values an hour: `tgaps` has none in some hours, those of `tsame` are nearly all 70."""
    for hour in range(TREND_POINTS // 2, 0, -1):
        silent = rng.random() < 0.15
        for part in (0, 1):
            clock = end - hour * 3600 + part * TREND_STEP_S + TREND_STEP_S // 2
            if key == "tsame":
                yield clock, str(rng.randrange(100) if rng.random() < 0.01 else 70)
            elif not silent:
                yield clock, "%.4f" % (100 + clock % 86400 / 900 + rng.random() * 10)


def values(rng, key, kind, start):
    """(clock, value) of an item, oldest first; for logs the value is a tuple."""
    if key.startswith("empty"):
        return []
    if key in ("tgaps", "tsame"):
        # Numbers of their own: the other items and formulas stay what they are for a seed.
        return list(_decomposed(random.Random(key), key, start - start % 3600))
    if key in ("tf", "tu"):
        end = start - start % 3600
        rows = []
        for n in range(TREND_POINTS, 0, -1):
            clock = end - n * TREND_STEP_S + TREND_STEP_S // 2
            level = 100 + 40 * math.sin(clock % 86400 / 86400 * 2 * math.pi) + rng.random() * 10
            rows.append((clock, "%d" % (level * 10) if kind == UNSIGNED else "%.4f" % level))
        # The reference writes the trends of an hour with the next hour's first value, or minutes later.
        return rows + [(end, "1000" if kind == UNSIGNED else "100.0000")]
    count = 1 if key == "one" else POINTS
    rows = []
    for n in range(count, 0, -1):
        clock = start - n * STEP_S + STEP_S // 2
        if key == "flat":
            value = "5.5"
        elif key == "up" or key.startswith("bucket"):
            # A counter that starts over once.
            value = str((POINTS - n) * 37 % 2000 + (0 if n < 9 else 5))
        elif kind == FLOAT:
            value = "%.5f" % rng.uniform(-50, 150)
        elif kind == UNSIGNED:
            value = str(rng.choice([rng.randrange(10), rng.randrange(1000), 2 ** 40 + rng.randrange(9)]))
        else:
            value = rng.choice(WORDS)
        if kind == LOG:
            value = (value, rng.choice(["sshd", "kernel", ""]), rng.choice([1, 2, 4]), rng.choice([10, 1001, 0]))
        rows.append((clock, value))
    return rows


PERIODS = ["#1", "#2", "#3", "#10", "#500", "10m", "30m", "1h", "2h", "6h", "1d", "#3:now-1h", "#1:now-2h",
           "1h:now-1h", "30m:now-3h", "1h:now/h", "2h:now/h-1h", "1d:now/d", "10m:now-1w", "600", "3600:now-600s"]
WRONG_PERIODS = ["", "#0", "0", "abc", "-1h", "#-1", "1h:", "1h:abc", "1h:now+", "#1:2"]
NUMERIC = ["f", "u", "up", "flat", "one", "empty"]
TEXTUAL = ["c", "t", "l", "emptytext"]
PLAIN = ["avg", "min", "max", "sum", "kurtosis", "mad", "skewness", "stddevpop", "stddevsamp", "sumofsquares",
         "varpop", "varsamp", "count", "countunique", "changecount", "last", "first", "rate", "monoinc", "monodec"]
OPERATORS = ["eq", "ne", "gt", "ge", "lt", "le", "like", "bitand", "regexp", "iregexp", "nosuch"]
PATTERNS = ["5", "0", "100", "50.5", "1K", "ok", "error", "^error", "17", "6/7", "", "(", "o.", "Zażółć"]
FITS = ["linear", "polynomial1", "polynomial2", "polynomial3", "exponential", "logarithmic", "power", "nosuch",
        "polynomial7", ""]
MODES = ["value", "max", "min", "delta", "avg", "nosuch", ""]
#: Whole hours, up to the one that is just over; and what is none.
TREND_PERIODS = ["1h:now/h", "1h:now/h-1h", "1d:now/d", "1d:now/d-1d", "2h:now/h-3h", "1d:now/h", "1h:now/h-25h", "1w:now/w",
                 "1h", "30m:now/h-1h", "1d", "1h:now/M", "24h:now/d", "6h:now/h-1h", "3h:now/d+6h-1d"]
FILTERS = ['group="G one"', 'group="G two"', 'group="nosuch"', 'tag="kind:load"', 'tag="kind"', 'tag="n:1"',
           'group="G one" and tag="kind:load"', 'group="G one" or group="G two"', 'not tag="kind:load"',
           'tag="kind:load" and not tag="n:1"', '(group="G one" or tag="n:2") and tag="kind:load"',
           'group<>"G one"', 'tag=kind', 'group="G one" and', '']
FOREACH = ["avg", "count", "last", "max", "min", "sum"]
OVER = ["avg", "sum", "min", "max", "count", "stddevpop", "kurtosis", "varsamp", "mad", "sumofsquares"]


def _quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def _history(rng):
    pick = rng.choice
    period = pick(PERIODS if rng.random() < 0.9 else WRONG_PERIODS)
    key = pick(NUMERIC * 3 + TEXTUAL)
    name = pick(PLAIN)
    rest = ""
    if name in ("count", "countunique") and rng.random() < 0.7:
        rest = "," + pick([_quoted(pick(OPERATORS)), ""]) + "," + _quoted(pick(PATTERNS))
        key = pick(NUMERIC + TEXTUAL * 2)
    elif name == "changecount":
        rest = "," + _quoted(pick(["all", "inc", "dec", "nosuch"]))
    elif name in ("monoinc", "monodec") and rng.random() < 0.7:
        rest = "," + _quoted(pick(["weak", "strict", "x"]))
    return "%s(/first/%s,%s%s)" % (name, key, period, rest)


def _special(rng):
    pick = rng.choice
    period = pick(PERIODS)
    return pick([
        lambda: "find(/first/%s,%s,%s,%s)" % (pick(TEXTUAL * 2 + NUMERIC), period, _quoted(pick(OPERATORS)),
                                             _quoted(pick(PATTERNS))),
        lambda: "percentile(/first/%s,%s,%s)" % (pick(NUMERIC), period, pick(["0", "50", "95", "99.9", "100", "101", "x"])),
        lambda: "forecast(/first/%s,%s,%s,%s,%s)" % (pick(["f", "up", "u", "flat"]), pick(["1h", "6h", "#10", "#2", "2h:now-1h"]),
                                                   pick(["1h", "0", "1d", "10m"]), _quoted(pick(FITS)), _quoted(pick(MODES))),
        lambda: "timeleft(/first/%s,%s,%s,%s)" % (pick(["f", "up", "flat"]), pick(["1h", "6h", "#10", "2h:now-1h"]),
                                                pick(["0", "100", "5000", "5.5"]), _quoted(pick(FITS))),
        lambda: "bitand(/first/%s,%s,%s)" % (pick(["u", "up", "f"]), pick(["#1", "#2", "", "1h"]), pick(["1", "255", "x", "1K"])),
        lambda: "change(/first/%s)" % pick(NUMERIC + TEXTUAL),
        lambda: "last(/first/%s)" % pick(NUMERIC + TEXTUAL),
        lambda: "lastclock(/first/%s,%s)-now()+now()" % (pick(NUMERIC), pick(["#1", "#3", "#1:now-1h"])),
        lambda: "logseverity(/first/l%s)" % pick(["", ",#1", ",#3", ",#1:now-1h"]),
        lambda: "logsource(/first/l,%s,%s)" % (pick(["#1", "#2", ""]), _quoted(pick(["sshd", "^k", "", "x"]))),
        lambda: "logeventid(/first/l,%s,%s)" % (pick(["#1", "#2", ""]), _quoted(pick(["10", "^1", "", "x"]))),
        lambda: "nodata(/first/%s,%s)" % (pick(["f", "c", "l"]), pick(["1d", "3h", "12h"])),
        lambda: "rate(/first/%s,%s)" % (pick(["up", "u", "f", "c"]), pick(["1h", "2h", "6h", "1h:now-1h", "#5", "10m"])),
        lambda: "nosuch(/first/f,1h)",
        lambda: "avg(/first/nosuch,1h)",
        lambda: "avg(/nosuch/f,1h)",
        lambda: "avg(/first/f,1h)%smin(/first/u,#3)" % pick([" + ", " * ", " > ", " and ", " or ", " / "]),
        lambda: "%s(last(/first/f),last(/first/u,#2))" % pick(["max", "min", "sum", "avg", "power", "between", "in"]),
        lambda: "last(/first/%s,#%d)%s%s" % (pick(TEXTUAL), rng.randint(1, 6), pick(["=", "<>", "+"]),
                                            pick(['"ok"', "17", '"error 17"'])),
        lambda: "length(last(/first/%s,#%d))" % (pick(TEXTUAL), rng.randint(1, 9)),
    ])()


def _trend(rng):
    pick = rng.choice
    key, period = pick(["tf", "tu"]), pick(TREND_PERIODS)
    return pick([
        lambda: "trend%s(/first/%s,%s)" % (pick(["avg", "count", "max", "min", "sum"]), key, period),
        lambda: "trend%s(/first/%s,%s)" % (pick(["avg", "count", "max", "min", "sum"]), key, period),
        lambda: "baseline%s(/first/%s,%s,%s,%s)" % (
            pick(["wma", "dev"]), key, pick(["1h:now/h-1h", "2h:now/h-1h", "1d:now/d", "1h"]),
            _quoted(pick(["h", "d", "w", "x", "M"])), pick(["2", "3", "6", "0", "x"])),
        lambda: "trendstl(/first/%s,%s,%s,%s%s)" % (
            key, pick(["49h:now/h-1h", "48h:now/h-1h", "96h:now/h-24h", "100h:now/h-1h", "150h:now/h-2h"]), pick(["4h", "24h", "1h"]),
            pick(["24h", "12h"]), pick(["", ",2", ",3,\"stddevpop\"", ",1.5,\"mad\"", ",,,7",
                                              ",2,,11", ",1.5,,15", ",x"])),
    ])()


def _aggregate(rng):
    pick = rng.choice
    key = pick(["load[cpu,1]", "load[cpu,*]", "load[*,*]", "net[eth0,*]", "net[*,in]", "*", "name", "nosuch"])
    host = pick(["*", "*", "*", "first", "agg1", "nosuch"])
    where = "?[%s]" % pick(FILTERS) if rng.random() < 0.85 else ""
    query = "/%s/%s%s" % (host, key, where)
    if rng.random() < 0.2:
        return pick(["item_count(%s)", "count(exists_foreach(%s))", "sum(exists_foreach(%s))"]) % query
    inner = pick(FOREACH)
    period = pick(["1h", "30m", "#3", "2h:now-1h"]) if inner != "last" else pick(["", "#2", "1h"])
    call = "%s_foreach(%s%s)" % (inner, query, "," + period if period else "")
    if inner == "count" and rng.random() < 0.4:
        call = call[:-1] + ',"gt","20")'
    outer = pick(OVER)
    if outer == "count" and rng.random() < 0.5:
        return 'count(%s,%s,%s)' % (call, _quoted(pick(["gt", "le", "eq", "ne", "like", "x"])), pick(["10", "0", '"5"']))
    return "%s(%s)" % (outer, call)


def _buckets(rng):
    pick = rng.choice
    rate = "bucket_rate_foreach(/agg1/bucket[*],%s%s)" % (pick(["1h", "2h", "6h"]), pick(["", ",1", ",2"]))
    return pick(["histogram_quantile(%s,%s)" % (pick(["0.5", "0.9", "1", "2"]), rate),
                 "bucket_percentile(/agg1/bucket[*],%s,%s)" % (pick(["1h", "2h"]), pick(["50", "90", "101"]))])


def cases(rng):
    """Formulas."""
    for count, make in ((420, _history), (330, _special), (140, _trend), (200, _aggregate), (20, _buckets)):
        for _ in range(count):
            yield make(rng)


def decompositions(rng):
    """Formulas with `trendstl` whose periods end at every hour of the day: whatever the time is,
    hours fall on all places of a season."""
    pick = rng.choice
    for number in range(600):
        season = pick([24, 12, rng.randint(2, 30)])
        hours = pick([2 * season + 1, 2 * season + rng.randint(0, 4), rng.randint(2 * season + 1, 150)])
        rest = "%s,%s,%s" % (pick(["", "1", "1.1", "1.5", "2", "3", "4"]),
                             pick(["", '"mad"', '"stddevpop"', '"stddevsamp"']),
                             pick(["", "7", "7", "8", "10", "11", "15", "20", "21", "35", "101"]))
        detected = pick([1, 4, 24, hours, rng.randint(1, hours)])
        yield ("trendstl(/first/%s,%dh:now/h-%dh,%dh,%dh,%s" % (
            pick(["tf", "tu", "tgaps", "tsame"]), hours, 1 + number % 24, detected, season, rest)).rstrip(",") + ")"
