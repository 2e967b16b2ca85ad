"""docs/benchmarks.md and its plots, from the raw figures."""

import datetime
import os
import statistics
import subprocess

import parts
import plots
from plots import number

SHOWN = ["zabbix-6.0", "zabbix-7.0", "vedette"]
# Loads that are compared by CPU time.
LOADS = ["mixed", "values", "steps", "single", "active", "checks", "slow", "snmp", "web"]
# What is sent counts when it can be read, what is asked when it was answered.
SENT = ["mixed", "values", "steps", "single"]
WORK = {
    "mixed": "values from senders to durable history: 45,000 items in random order, 250 a request",
    "values": "4,500 items in order, 1,000 values a request",
    "steps": "the same with change per second and a trigger on every tenth item",
    "single": "one value a request, each on a new connection",
    "active": "10,000 active agents ask for their items and send a value",
    "checks": "passive agent checks, agents respond immediately",
    "slow": "passive agent checks, agents respond after 3 s",
    "snmp": "SNMP checks, version 2c, one OID each",
    "web": "HTTP checks, one request each",
}


def cpu(part):
    """The member of a part's figures with CPU seconds per million."""
    if part == "active":
        return "server_us_per_request"
    return "kept_cpu_s_per_million" if part in SENT else "server_cpu_s_per_million"


def rate(part):
    """The member of a part's figures with values, requests or checks a second."""
    if part == "active":
        return "requests_per_s"
    return "kept_per_s" if part in SENT else "checks_per_s"


class Figures:
    """Medians over the rounds."""

    def __init__(self, data):
        self.data = data
        self.servers = [key for key in SHOWN if key in data["servers"]]

    def name(self, server):
        return self.data["servers"][server]["name"]

    def runs(self, part, server):
        return [run for run in self.data["runs"]
                if (run["part"], run["server"]) == (part, server) and "error" not in run]

    def all(self, part, server, *path):
        found = []
        for run in self.runs(part, server):
            value = run["figures"]
            for member in path:
                value = value.get(member) if isinstance(value, dict) else None
            if isinstance(value, list):
                found += [x for x in value if isinstance(x, (int, float))]
            elif isinstance(value, (int, float)):
                found.append(value)
        return found

    def get(self, part, server, *path):
        found = self.all(part, server, *path)
        return statistics.median(found) if found else None


def join(*cells):
    return ", ".join(cell for cell in cells if cell)


def shown(value, words, scale=1):
    return "" if value is None else words % number(value * scale)


def time_cell(ms, words):
    """Milliseconds as people read them."""
    if ms is None or ms < 1000:
        return shown(ms, words % "%s ms")
    return shown(ms, words % "%s s", 1e-3)


def rate_cell(figures, part, server, unit):
    return join(shown(figures.get(part, server, rate(part)), "%s" + unit),
                shown(figures.get(part, server, cpu(part)), "%s CPU s"))


def active_cell(figures, server):
    return join(rate_cell(figures, "active", server, " requests/s"),
                shown(figures.get("active", server, "bytes_per_agent"), "%s B for an agent"))


def slow_cell(figures, server, part="slow"):
    return join(rate_cell(figures, part, server, "/s"),
                shown(figures.get(part, server, "in_flight_max"), "%s in flight"),
                shown(figures.get(part, server, "server_cpu_percent"), "%s %% of the machine"),
                "" if part == "slow" else shown(figures.get(part, server, "rss_max_mib"), "%s MiB"))


def walks_cell(figures, server):
    get = figures.get
    return join(shown(get("walks", server, "checks_per_s"), "%s walks/s"),
                shown(get("walks", server, "server_cpu_percent"), "%s %% of the machine"))


def blackout_cell(figures, server):
    """Before, while most hosts are dark, and after."""
    def phases(name, words, scale=1):
        found = [figures.get("blackout", server, "%s_%s" % (phase, name))
                 for phase in ("before", "dark", "after")]
        if None in found:
            return ""
        return words % ", ".join(number(value * scale) for value in found)
    return join(phases("living_per_s", "reachable hosts: %s checks/s"),
                phases("cores", "cores: %s"), phases("late", "late: %s"), phases("rss_mib", "%s MiB"))


def ping_cell(figures, server):
    """fping is what the others run for each round."""
    get = figures.get
    ours = server == "vedette"
    words = "%s s" if ours else "fping: %s s"
    return join(shown(get("ping", "vedette", "seconds" if ours else "fping_seconds"), words),
                shown(get("ping", "vedette", "cpu_s" if ours else "fping_cpu_s"), "%s CPU s"))


def memory_cell(figures, server):
    return join(shown(figures.get("estate", server, "bytes_per_item"), "%s B"),
                shown(figures.get("estate", server, "server_bytes_per_item"),
                      "%s B without the database") if server != "vedette" else "")


def start_cell(figures, server):
    return join(shown(figures.get("estate", server, "start_s"), "%s s"),
                shown(figures.get("estate", server, "restart_s"), "%s s after kill -9"))


def change_cell(figures, server):
    get = figures.get
    return join(time_cell(get("estate", server, "change", "enable_p50_ms"), "live after %s"),
                shown(get("estate", server, "change", "change_cpu_s"), "%s CPU s"),
                shown(get("estate", server, "idle_cores"), "%s %% of a core at rest", 100))


def overload_cell(figures, server):
    get = figures.get
    lost = get("overload", server, "missing")
    return join(shown(get("overload", server, "kept_share"), "%s %% of the rate kept", 100),
                shown(get("overload", server, "rss_max_mib"), "memory at most %s MiB"),
                time_cell(get("overload", server, "storm_p99_ms"), "p99 %s"),
                shown(get("overload", server, "lag_s"), "complete after %s s"),
                "" if lost is None else "%d of the sample missing" % lost)


def latency_cell(figures, server):
    get = figures.get
    return join(time_cell(get("alerts", server, "latency_p50_ms"), "p50 %s"),
                time_cell(get("alerts", server, "latency_p99_ms"), "p99 %s"),
                shown(get("alerts", server, "latency_missing") or None, "%s messages missing"))


def delivery_cell(figures, server):
    return join(shown(figures.get("alerts", server, "delivered_per_s"), "%s messages/s"),
                shown(figures.get("alerts", server, "delivered_cpu_s_per_million"), "%s CPU s"))


def groups_cell(figures, server):
    get = figures.get
    return join(shown(get("alerts", server, "grouped_messages"), "%s messages"),
                shown(get("alerts", server, "last_message_s"), "the last one after %s s"),
                shown(get("alerts", server, "memory_peak_mib"), "memory at most %s MiB"),
                shown(get("alerts", server, "values_ratio"), "%s %% of the rate of other values", 100))


def bytes_cell(figures, server):
    return shown(figures.get("stored", server, "bytes_per_value"), "%s")


def at_least(*wanted):
    """A goal: (part, path, comparison, bound) each; words for those that are missed."""
    def check(figures):
        for words, part, path, sense, bound in wanted:
            value = figures.get(part, "vedette", *path)
            if value is not None and not (value >= bound if sense == ">" else value <= bound):
                yield "%s: %s instead of %s %s" % (
                    words, number(value), "at least" if sense == ">" else "at most", number(bound))
    return check


def living_notice(figures):
    before, dark = (figures.get("blackout", "vedette", phase + "_living_per_s")
                    for phase in ("before", "dark"))
    if before and dark and dark < 0.98 * before:
        yield "checks of living hosts a second in a blackout: %s instead of %s" % (
            number(dark), number(before))


def goals():
    """Rows of the table: work, cell of a server, what is to be reached, its check."""
    def load(part, per_s, cpu_s):
        return at_least((WORK[part] + ", a second", part, [rate(part)], ">", per_s),
                        (WORK[part] + ", CPU s per million", part, [cpu(part)], "<", cpu_s))
    change = ["change", "enable_max_ms"]
    return [
        (WORK["mixed"], lambda f, s: rate_cell(f, "mixed", s, "/s"), "≤ 0.7 CPU s",
         at_least((WORK["mixed"] + ", CPU s per million", "mixed", [cpu("mixed")], "<", 0.7))),
        (WORK["values"], lambda f, s: rate_cell(f, "values", s, "/s"), "1,000,000/s, ≤ 1 CPU s",
         load("values", 1e6, 1)),
        (WORK["steps"], lambda f, s: rate_cell(f, "steps", s, "/s"), "500,000/s, ≤ 2 CPU s",
         load("steps", 5e5, 2)),
        (WORK["single"], lambda f, s: rate_cell(f, "single", s, "/s"), "≤ 18 CPU s",
         at_least((WORK["single"] + ", CPU s per million", "single", [cpu("single")], "<", 18))),
        (WORK["active"], active_cell, "≤ 30 CPU s",
         at_least((WORK["active"] + ", CPU s per million requests", "active", [cpu("active")], "<", 30))),
        (WORK["checks"], lambda f, s: rate_cell(f, "checks", s, "/s"), "≥ 45,000/s, ≤ 25 CPU s",
         load("checks", 44_500, 25)),
        (WORK["slow"], slow_cell, "20,000/s, 60,000 in flight, ≤ 50 % of the machine",
         at_least((WORK["slow"] + ", a second", "slow", ["checks_per_s"], ">", 19_800),
                  (WORK["slow"] + ", in flight", "slow", ["in_flight_max"], ">", 59_000),
                  (WORK["slow"] + ", % of the machine", "slow", ["server_cpu_percent"], "<", 50))),
        ("200,000 hosts, one item each, agents respond after 3 s",
         lambda f, s: slow_cell(f, s, "thousands"), "2,270/s",
         at_least(("checks of 200,000 hosts a second", "thousands", ["checks_per_s"], ">", 2_250))),
        ("1,000,000 hosts, one item each, agents respond after 3 s",
         lambda f, s: slow_cell(f, s, "million"),
         "20,000/s, 60,000 in flight, ≤ 50 % of the machine, ≤ 4 GiB",
         at_least(("checks of a million hosts a second", "million", ["checks_per_s"], ">", 19_800),
                  ("% of the machine for a million hosts", "million", ["server_cpu_percent"], "<",
                   50),
                  ("memory for a million hosts, MiB", "million", ["rss_max_mib"], "<", 4096))),
        (WORK["snmp"], lambda f, s: rate_cell(f, "snmp", s, "/s"), "≥ 120,000/s, ≤ 7 CPU s",
         load("snmp", 118_000, 7)),
        (WORK["web"], lambda f, s: rate_cell(f, "web", s, "/s"), "≥ 20,000/s",
         at_least((WORK["web"] + ", a second", "web", ["checks_per_s"], ">", 19_800))),
        ("20,000 SNMP devices, a walk of 150 values per minute", walks_cell, "333 walks/s",
         at_least(("walks a second", "walks", ["checks_per_s"], ">", 330))),
        ("100,000 hosts stop answering for three minutes (before, meanwhile, after)", blackout_cell,
         "reachable hosts are not affected", living_notice),
        ("4,000 addresses pinged once", ping_cell, "every second, ≤ 0.1 CPU s",
         at_least(("seconds for 4,000 pings", "ping", ["seconds"], "<", 1),
                  ("CPU s for 4,000 pings", "ping", ["cpu_s"], "<", 0.1))),
        ("memory for each of 450,000 idle items", memory_cell, "≤ 300 B",
         at_least(("memory for an idle item, bytes", "estate", ["bytes_per_item"], "<", 300))),
        ("start with these items until values are accepted", start_cell, "< 0.5 s",
         at_least(("start, s", "estate", ["start_s"], "<", 0.5),
                  ("start after kill -9, s", "estate", ["restart_s"], "<", 0.5))),
        ("one of them changed", change_cell, "live in < 0.2 s, ≤ 0.01 CPU s",
         at_least(("a change live after, ms", "estate", change, "<", 200),
                  ("CPU s for a change", "estate", ["change", "change_cpu_s"], "<", 0.01))),
        ("twice the sustainable rate over eight times the connections", overload_cell,
         "bounded memory, full rate kept",
         at_least(("rate kept under overload, share", "overload", ["kept_share"], ">", 0.95),
                  ("acknowledged values missing", "overload", ["missing"], "<", 0))),
        ("value to message: 100,000 open problems, 1,000 new ones a second", latency_cell, "p99 ≤ 1 s",
         at_least(("value to message p99, ms", "alerts", ["latency_p99_ms"], "<", 1_000),
                  ("messages missing", "alerts", ["latency_missing"], "<", 0))),
        ("webhook messages to a local HTTP server", delivery_cell, "≥ 5,000/s",
         at_least(("messages delivered a second", "alerts", ["delivered_per_s"], ">", 5_000))),
        ("100,000 problems at once, grouped by 200 hosts", groups_cell, "one message for a host, bounded "
         "memory, other values not slowed",
         at_least(("messages of 200 groups", "alerts", ["grouped_messages"], "<", 200),
                  ("rate of other values, share", "alerts", ["values_ratio"], ">", 0.95))),
        ("bytes for a value on the disk, 5 % texts, nanoseconds", bytes_cell,
         "≤ 5 (≤ 2.5 in whole milliseconds)",
         at_least(("bytes for a value", "stored", ["bytes_per_value"], "<", 5))),
    ]


def table(figures):
    yield "| Work | %s | To reach |" % " | ".join(figures.name(s) for s in figures.servers)
    yield "| --- |%s --- |" % (" --- |" * len(figures.servers))
    for work, cell, goal, _ in goals():
        cells = [cell(figures, server) or "not measured" for server in figures.servers]
        yield "| %s | %s | %s |" % (work, " | ".join(cells), goal)


def ratios(figures):
    others = [key for key in figures.servers if key != "vedette"]
    yield "| CPU seconds per million | %s | Vedette | %s |" % (
        " | ".join(figures.name(s) for s in others),
        " | ".join("%s / Vedette" % figures.name(s) for s in others))
    yield "| --- |%s" % (" ---: |" * (2 * len(others) + 1))
    for part in LOADS:
        ours = figures.get(part, "vedette", cpu(part))
        theirs = [figures.get(part, server, cpu(part)) for server in others]
        if ours is None and not any(theirs):
            continue
        times = ["**%s**" % number(x / ours) if x and ours else "" for x in theirs]
        cells = [shown(x, "%s") for x in theirs + [ours]] + times
        yield "| %s | %s |" % (WORK[part], " | ".join(cells))


def spread(figures):
    """All rounds, so that nobody has to believe in medians."""
    yield "| Work | Server | CPU s per million, each round | a second, each round |"
    yield "| --- | --- | --- | --- |"
    for part in LOADS:
        for server in figures.servers:
            cpu_s = figures.all(part, server, cpu(part))
            per_s = figures.all(part, server, rate(part))
            if cpu_s:
                yield "| %s | %s | %s | %s |" % (WORK[part], figures.name(server),
                                                 "; ".join(map(number, cpu_s)),
                                                 "; ".join(map(number, per_s)))


def charts(figures):
    """File name, SVG and what it shows."""
    def panel(title, unit, *path, scale=1):
        part, *members = path
        values = [figures.get(part, server, *members) for server in reversed(figures.servers)]
        names = [(s, figures.name(s)) for s in reversed(figures.servers)]
        rows = [(server, name, None if value is None else value * scale)
                for (server, name), value in zip(names, values)]
        return title, unit, rows
    titles = {"mixed": "Values from senders, random order", "values": "The same, items in order",
              "steps": "With change per second and triggers",
              "single": "One value a request", "active": "Requests of active agents",
              "checks": "Agent checks, answered at once", "slow": "Agent checks, answered after 3 s",
              "snmp": "SNMP checks", "web": "HTTP checks"}
    where = "%(cores)d cores, load generator on the same ones" % figures.data["machine"]
    yield "cpu", plots.bars(
        "CPU seconds per million values or checks", "server and database, until all is on disk; "
        + where + "; less is better",
        [panel(titles[part], "s", part, cpu(part)) for part in LOADS])
    yield "rate", plots.bars(
        "Values or checks per second", "kept and readable, or answered; %s; more is better" % where,
        [panel(titles[part], "/s", part, rate(part)) for part in LOADS])
    yield "estate", plots.bars(
        "450,000 items" if not figures.data["quick"] else "Many items",
        "less is better", [
            panel("Memory for an idle item", "B", "estate", "bytes_per_item"),
            panel("Start until values are taken", "s", "estate", "start_s"),
            panel("Start after kill -9", "s", "estate", "restart_s"),
            panel("One item changed: live after", "ms", "estate", "change", "enable_p50_ms"),
            panel("Cores used at rest", "", "estate", "idle_cores"),
            panel("Bytes on disk for a value", "B", "stored", "bytes_per_value"),
        ])


def missed(figures):
    for _, _, _, check in goals():
        for words in check(figures):
            yield "- " + words
    for run in figures.data["runs"]:
        if "error" in run:
            yield "- %s of %s, round %d, failed: %s" % (
                run["part"], figures.name(run["server"]), run["round"] + 1,
                run["error"].strip().split("\n")[-1][:200])
    for part in parts.PARTS:
        if not figures.runs(part, "vedette"):
            yield "- part of the measurement that was not run: " + part


def commands(figures):
    for part in parts.PARTS:
        seen = {}
        for server in figures.servers:
            for run in figures.runs(part, server)[:1]:
                for command in run["commands"]:
                    seen.setdefault(command, []).append(figures.name(server))
        for command, names in seen.items():
            whom = "" if len(names) == len(figures.servers) else "    # " + ", ".join(names)
            yield command + whom


# Servers that took turns were measured within this time.
ONE_RUN_S = 2 * 3600


def when(figures):
    """What is older than a change of the program says nothing about that change."""
    times = sorted(run["at"] for run in figures.data["runs"] if "at" in run)
    if not times:
        return ""
    words = ["Measured from %s to %s; `results.json` has the time of each round. The speed of the machine "
             "varies over time: compare servers, not rows." % (times[0], times[-1])]
    for model, names in elsewhere(figures).items():
        words.append("On another machine (%s): %s." % (model, ", ".join(names)))
    later = [part for part in parts.PARTS if not one_run(figures, part)]
    if later:
        words.append("From different runs, so small differences mean nothing: %s." % ", ".join(later))
    return " ".join(words)


def one_run(figures, part):
    """Whether the servers that were measured on this machine took turns in a part."""
    here = figures.data["machine"]["model"]
    at = [datetime.datetime.fromisoformat(run["at"]) for server in figures.servers
          for run in figures.runs(part, server) if "at" in run and run.get("model", here) == here]
    return not at or (max(at) - min(at)).total_seconds() <= ONE_RUN_S


def elsewhere(figures):
    """Parts and servers that were measured on other machines, by the model of the processor."""
    found = {}
    for part in parts.PARTS:
        for server in figures.servers:
            models = {run.get("model") for run in figures.runs(part, server)}
            for model in models - {None, figures.data["machine"]["model"]}:
                found.setdefault(model, []).append("%s of %s" % (part, figures.name(server)))
    return found


PAGE = """# Benchmarks: Vedette compared with {others}

{warning}Measured by [tests/bench/report.py](../tests/bench/report.py); the raw figures of each round are in
[results.json](benchmarks/results.json). Each measurement starts its server on an empty installation and stops it. The
servers are measured in turn, round by round, and the tables show medians. The load generator runs on the same cores. CPU
seconds include all processes of the server and its database, from the first value until all values can be read from history.

{when}

## CPU seconds per million

{ratios}

![CPU seconds per million values or checks](benchmarks/cpu.svg)

## All figures

{table}

![Values or checks per second](benchmarks/rate.svg)

![Memory, starts, changes, bytes](benchmarks/estate.svg)

The same plots as pictures: [cpu.png](benchmarks/cpu.png), [rate.png](benchmarks/rate.png),
[estate.png](benchmarks/estate.png).

## Missed goals and missing measurements

{missed}

## Machine

| | |
| --- | --- |
| processor | {model}, {cores} cores |
| memory | {memory_gib} GiB |
| system | {system}, Linux {kernel} |
| disk | {disk} |
| load average before the measurements | {load} |

## Method

```sh
cargo build --release
VEDETTE_SHARED=... tests/bench/report.py
```

runs these commands, with `--server`, `--api`, `--user`, `--pid` and `--json` for each server:

```sh
{commands}
```

- **Values** count when they can be read from history: `kept` is the number of acknowledged values, divided by the time until a
  sample of 200 items was complete.
- **Checks**: 45,000 per second are configured on each server. With agents that respond after 3 s, the number is what the server
  is known to handle (7.0: 10,000/s; Vedette: 20,000/s), with a timeout of 10 s. SNMP checks: 150,000/s (Vedette) and 60,000/s
  (7.0); HTTP checks: 25,000/s. A million hosts, walks and the blackout were measured only with Vedette.
- **Slow agents**: Vedette first polls a few items of an interface concurrently, and more while the response time does not grow.
- **Idle items**: Vedette's items are created through the API with a template. Those of Zabbix are written to its database with
  SQL, because its front end creates only a few hundred per second. Memory is the proportional set size (PSS) after a restart
  with the items, minus that of the empty server. It includes the cache of the database.
- **Start**: from the start of the program (the database keeps running) until a sender's value for the last item is accepted;
  medians of three, after a clean stop and after `kill -9`.
- **Change**: from the API's response until values of the item are accepted. Zabbix reads its configuration every 10 s,
  the default; CPU seconds are all those used in this time. For load measurements it reloads immediately.
- **Vedette serves the API itself**; the PHP front end of Zabbix is not counted.
- **Bytes**: growth of the files (Vedette: the folder `history` with its write-ahead log) or of the tables with their indexes
  (PostgreSQL), divided by the number of values. A tenth of Vedette's newest values is not sealed at that time.

### Problems during long changes

```sh
tests/bench/waits.py --problems --hosts 10000 --items 0 --link-hosts 10000 --idle 15 --only nothing,host.massadd
```

links a template of 100 items to 10,000 hosts of an empty installation and sends a value that opens a problem every 100 ms
meanwhile. It prints the median, the 95th percentile and the maximum of the time from before the value is sent until
`problem.get` shows the problem, with and without the change. Without `--problems`, it also measures sign-ins, changes and
acknowledgements during imports, links, discoveries and deletions. That problems do not wait for such a change is asserted by
a [test](../tests/system/test_problem_order.py), without times.

### Alerting

```sh
vedette bench alerts --pid $(pgrep -x vedette)
vedette bench alerts --hosts 50 --items 20 --open 5000 --seconds 10 --messages 5000 --grouped 5000    # a minute
```

makes 200 hosts with 50 triggers each, and an action that reports their problems through a webhook to an HTTP server of the
command. Three parts follow, each of which `--rate 0`, `--messages 0` or `--grouped 0` leaves out:

- **Latency**: 100,000 problems are open and 1,000 more open each second for 30 s. It is measured from before the value is sent until
  its message has come. `latency_missing` counts messages that have not come.
- **Deliveries**: the HTTP server lets the first messages wait until 30,000 are stored, then it responds. The rate is that of the
  messages from then on, with the webhook's JavaScript and 100 sessions (`--sessions`).
- **Groups**: 100,000 problems open as fast as the server accepts their values, with one message for each host 10 s after its first
  problem. `told` is the number of problems that the messages report. Values of 1,000 other items are sent at 20,000 per second before
  and meanwhile. Zabbix has no grouping: it sends a message for each problem.

The command needs a server without other load and the password of `Admin` (`--password` or `VEDETTE_ADMIN_PASSWORD`). It removes what it has made, unless `--keep` is given; `vedette bench clean`
removes what an interrupted one has left. `report.py --parts alerts` runs it for both servers.

### Server settings

{settings}

### Each round

{spread}
"""


def write(data, docs):
    """The page, and its plots beside it."""
    figures = Figures(data)
    folder = os.path.join(docs, "benchmarks")
    os.makedirs(folder, exist_ok=True)
    for name, svg in charts(figures):
        path = os.path.join(folder, name)
        with open(path + ".svg", "w") as f:
            f.write(svg)
        picture(path)
    loads = [run["load_before"] for run in data["runs"]]
    settings = "\n".join("- **%s**: %s" % (about["name"], "; ".join(about["settings"]))
                         for about in (data["servers"][key] for key in figures.servers))
    warning = "**A quick run: these figures mean nothing.**\n\n" if data["quick"] else ""
    others = [figures.name(server) for server in figures.servers if server != "vedette"]
    page = PAGE.format(
        others=" and ".join(others) or "its goals",
        warning=warning, ratios="\n".join(ratios(figures)), table="\n".join(table(figures)),
        when=when(figures), missed="\n".join(missed(figures)), commands="\n".join(commands(figures)),
        settings=settings, spread="\n".join(spread(figures)),
        load="%.1f (median; at most %.1f)" % (statistics.median(loads), max(loads)) if loads else "",
        **data["machine"])
    with open(os.path.join(docs, "benchmarks.md"), "w") as f:
        f.write(page)


def picture(path):
    """PNG beside SVG, by the program that was measured."""
    from servers import bed
    done = subprocess.run([bed.BINARY, "bench", "picture", path + ".svg", path + ".png"],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("no picture of %s.svg: %s" % (path, done.stderr.strip()))
