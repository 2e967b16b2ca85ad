"""What is measured: each part is one load, given to each server on an empty installation.

A part is a function of a server and `quick` that returns `(commands, figures)`. Everything that a
figure says comes through public protocols (`vedette bench`) or from the operating system.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

import servers
from servers import bed, say

RELOAD_S = 3


def bench(server, words, trapper=False):
    """Runs `vedette bench`; the command as people would type it, and what it reports."""
    access, password = server.access()
    if trapper:
        access = access + ["--server", "%s:%d" % server.address]
    access += ["--pid", ",".join(map(str, server.pids()))]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        command = [bed.BINARY, "bench"] + words + access + ["--json", path]
        environment = dict(os.environ, VEDETTE_ADMIN_PASSWORD=password)
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        known = threading.Event()
        reloads = threading.Thread(target=reload_until, args=(server, known))
        reloads.start()
        lines = []
        for line in process.stderr:
            lines.append(line.rstrip())
            say("    " + line.rstrip())
            if re.search(r"knows the items|items are live|warming up: [1-9]|observing", line):
                known.set()
        known.set()
        reloads.join()
        if process.wait():
            raise RuntimeError("vedette bench %s: %s" % (words[0], "\n".join(lines[-5:])))
        with open(path) as file:
            return "vedette bench " + " ".join(words), json.load(file)


def reload_until(server, known):
    """Has the server read its configuration soon, so that nobody waits for its next round."""
    while not known.wait(RELOAD_S):
        server.reload()


def figures_of(found):
    """Results of `vedette bench`, its rows of several loads under `steps`."""
    return dict(found["results"], **({"steps": found["steps"]} if "steps" in found else {}))


def sent(server, quick, more):
    server.up("values")
    words = ["trapper", "--items", "45", "--seconds", "4" if quick else "15", "--verify",
             "--keep"] + list(more)
    command, found = bench(server, words, trapper=True)
    return [command], figures_of(found)


def mixed(server, quick):
    """45,000 items in random order, 250 values a request: what many senders make together."""
    return sent(server, quick, ["--hosts", "100" if quick else "1000", "--random",
                                "--batch", "250"])


def single(server, quick):
    """One value a request, each on a new connection: what senders in scripts and cron jobs make."""
    return sent(server, quick, ["--hosts", "100", "--batch", "1"])


def active(server, quick):
    """Active agents that ask for their items and send a value, each on a new connection."""
    server.up("values")
    command, found = bench(server, ["active", "--keep", "--agents", "500" if quick else "10000",
                                    "--rounds", "4" if quick else "20"], trapper=True)
    return [command], figures_of(found)


def values(server, quick, more=()):
    """4,500 items in order, 1,000 values a request: the cheapest load for any server."""
    return sent(server, quick, ["--hosts", "100", *more])


def stored(server, quick):
    """What values take on the disk: so many that what is not yet sealed, or cached, is little."""
    server.up("values")
    empty = server.stored_bytes()
    command, found = bench(server, ["trapper", "--hosts", "100", "--items", "45", "--seconds",
                                    "5" if quick else "40", "--verify", "--keep"], trapper=True)
    figures = figures_of(found)
    time.sleep(2 if quick else 10)
    taken = server.stored_bytes() - empty
    count = server.stored_values() or figures["acknowledged"]
    figures.update({"stored_values": count, "stored_bytes": taken, "bytes_per_value": taken / count})
    return [command], figures


def steps(server, quick):
    return values(server, quick, ["--change-per-second", "--trigger-every", "10"])


def checks(server, quick):
    hosts, seconds = (40, 4) if quick else (450, 15)
    return polled(server, quick, "checks", [
        "--hosts", str(hosts), "--items", "100", "--interval", "1", "--warm", "15s",
        "--seconds", str(seconds)])


# Checks a second that are asked of agents that answer late: somewhat more than each server is
# known to make, so that what it makes is its limit. One item each five seconds.
SLOW_PER_S = {"vedette": 20_000, "zabbix-7.0": 10_000, "zabbix-6.0": 400}


def slow(server, quick):
    per_s = SLOW_PER_S[server.key] // (10 if quick else 1)
    items, interval = (20, 5) if per_s < 2000 else (100, 5)
    words = ["--hosts", str(max(per_s * interval // items, 1)), "--items", str(items),
             "--interval", str(interval), "--delay", "3s", "--warm", "30s",
             "--seconds", "4" if quick else "15"]
    return polled(server, quick, "slow", words)


def polled(server, quick, load, words):
    server.up(load, quick)
    command, found = bench(server, ["agent", "--keep"] + words)
    return [command], figures_of(found)


# Checks a second that are asked of SNMP devices: more than each server is known to make.
SNMP_PER_S = {"vedette": 150_000, "zabbix-7.0": 60_000}


def snmp(server, quick):
    per_s = SNMP_PER_S[server.key] // (20 if quick else 1)
    server.up("snmp", quick)
    command, found = bench(server, ["snmp", "--keep", "--hosts", str(per_s // 100), "--items", "100",
                                    "--interval", "1", "--warm", "15s",
                                    "--seconds", "4" if quick else "15"])
    return [command], figures_of(found)


def web(server, quick):
    server.up("web", quick)
    command, found = bench(server, ["http", "--keep", "--hosts", "20" if quick else "250",
                                    "--items", "100", "--interval", "1", "--warm", "15s",
                                    "--seconds", "4" if quick else "15"])
    return [command], figures_of(found)


def ping(_, quick):
    """No server has a part in it: the engine alone, and fping beside it."""
    words = ["ping"] + (["--addresses", "200"] if quick else []) + (
        ["--fping", shutil.which("fping")] if shutil.which("fping") else [])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        servers.run([bed.BINARY, "bench"] + words + ["--json", path])
        with open(path) as file:
            return ["vedette bench " + " ".join(words)], figures_of(json.load(file))


def hosts_of_3_s(server, quick, hosts, interval, warm):
    hosts = hosts // 50 if quick else hosts
    return polled(server, quick, "slow", [
        "--hosts", str(hosts), "--items", "1", "--interval", str(interval), "--delay", "3s",
        "--warm", warm, "--seconds", "4" if quick else "30"])


def thousands(server, quick):
    """The test of a published report: 200,000 hosts at 2,270 values a second."""
    return hosts_of_3_s(server, quick, 200_000, 88, "10s")


def million(server, quick):
    return hosts_of_3_s(server, quick, 1_000_000, 50, "60s")


def walks(server, quick):
    """Devices of which each minute a whole table is asked."""
    server.up("snmp", quick)
    command, found = bench(server, ["snmp", "--keep", "--style", "walk", "--rows", "150", "--hosts",
                                    "400" if quick else "20000", "--items", "1", "--interval", "60",
                                    "--warm", "60s", "--seconds", "4" if quick else "60"])
    return [command], figures_of(found)


def blackout(server, quick):
    """A network goes dark, and comes back."""
    server.up("values", quick)
    words = ["--hosts", "1000", "--living", "100", "--interval", "10", "--before", "10s", "--dark",
             "20s", "--after", "20s"] if quick else []
    command, found = bench(server, ["blackout", "--keep"] + words)
    return [command], figures_of(found)


def overload(server, quick):
    server.up("values")
    calm, storm = (4, 6) if quick else (10, 20)
    words = ["overload", "--calm", str(calm), "--seconds", str(storm), "--keep"]
    command, found = bench(server, words, trapper=True)
    return [command], figures_of(found)


def alerts(server, quick):
    """From values to messages: latency, deliveries, groups."""
    server.up("alerts")
    words = ["alerts", "--keep"] + ([
        "--hosts", "20", "--items", "10", "--open", "2000", "--rate", "100", "--seconds", "5",
        "--messages", "2000", "--grouped", "2000", "--values", "2000"] if quick else [])
    command, found = bench(server, words, trapper=True)
    return [command], figures_of(found)


ITEMS_PER_HOST = 45


def estate(server, quick):
    """Many idle items: memory, starts, a change."""
    hosts = 500 if quick else 10_000
    items = hosts * ITEMS_PER_HOST
    server.up("values")
    time.sleep(3)
    figures = {"items": items, "empty_bytes": servers.pss_bytes(server.pids()),
               "empty_server_bytes": servers.pss_bytes(server.server_pids())}
    if server.key == "vedette":
        command, found = bench(server, ["config", "--hosts", str(hosts), "--items", str(items),
                                        "--changes", "20", "--keep"], trapper=True)
        last = server.api().call("host.get", output=["host"], sortfield="hostid",
                                 sortorder="DESC", limit=1)[0]["host"]
        probe = (last, "bench.counter[0]")
    else:
        probe = fill(server, hosts)
        wait_for_probe(server, probe)
        command, found = bench(server, ["config", "--hosts", "10", "--items", "100", "--changes",
                                        "1", "--keep"], trapper=True)
        figures["filled_by"] = "SQL"
    figures["change"] = figures_of(found)
    figures["idle_cores"] = idle_cores(server, 5 if quick else 25)
    starts = {"start_s": [], "restart_s": []}
    for name, kill in [("start_s", False), ("restart_s", True)] * (1 if quick else 3):
        server.stop(kill)
        server.start()
        starts[name].append(servers.wait("the last item after a start",
                                         lambda: servers.takes_value(server.address, *probe)))
        say("    %s: %.2f s" % (name, starts[name][-1]))
    figures.update(starts)
    time.sleep(3 if quick else 10)
    full = servers.pss_bytes(server.pids())
    server_full = servers.pss_bytes(server.server_pids())
    figures.update({
        "full_bytes": full, "full_server_bytes": server_full,
        "bytes_per_item": (full - figures["empty_bytes"]) / items,
        "server_bytes_per_item": (server_full - figures["empty_server_bytes"]) / items,
    })
    return [command], figures


def idle_cores(server, seconds):
    """Cores that a server with its items takes while nothing happens."""
    before = servers.cpu_s(server.pids())
    time.sleep(seconds)
    return (servers.cpu_s(server.pids()) - before) / seconds


def wait_for_probe(server, probe):
    server.reload()
    seconds = servers.wait("the items in the server's configuration",
                           lambda: servers.takes_value(server.address, *probe), 300, 0.5)
    say("    the server knows them after %.1f s" % seconds)


FILL = """
BEGIN;
INSERT INTO hstgrp (groupid, name, uuid) VALUES (900000, 'Idle', '00000000000000000000000000000900');
INSERT INTO hosts (hostid, host, name, status)
  SELECT 1000000 + n, 'idle-' || n, 'idle-' || n, 0 FROM generate_series(0, {hosts} - 1) n;
INSERT INTO hosts_groups (hostgroupid, hostid, groupid)
  SELECT 1000000 + n, 1000000 + n, 900000 FROM generate_series(0, {hosts} - 1) n;
INSERT INTO items (itemid, type, hostid, name, key_, delay, value_type)
  SELECT 10000000 + n * {items} + i, 2, 1000000 + n, 'idle ' || i, 'idle.metric[' || i || ']', '0',
    CASE WHEN i % 2 = 0 THEN 3 ELSE 0 END
  FROM generate_series(0, {hosts} - 1) n, generate_series(0, {items} - 1) i;
INSERT INTO item_rtdata (itemid) SELECT itemid FROM items WHERE itemid >= 10000000;
DELETE FROM ids;
COMMIT;
ANALYZE;
"""


def fill(server, hosts):
    """Idle trapper items straight into the database: the front end takes some hundred a second.

    Returns host and key of the last."""
    begin = time.monotonic()
    server.sql(FILL.format(hosts=hosts, items=ITEMS_PER_HOST))
    say("    %d items written into the database in %.0f s" % (
        hosts * ITEMS_PER_HOST, time.monotonic() - begin))
    return "idle-%d" % (hosts - 1), "idle.metric[0]"


ALL = ["zabbix-6.0", "zabbix-7.0", "vedette"]
# Name, function, rounds, servers.
PARTS = {
    "mixed": (mixed, 3, ALL),
    "values": (values, 3, ALL),
    "steps": (steps, 3, ALL),
    "single": (single, 3, ALL),
    "active": (active, 3, ALL),
    "checks": (checks, 3, ALL),
    "slow": (slow, 3, ALL),
    "estate": (estate, 1, ALL),
    "overload": (overload, 1, ALL),
    "stored": (stored, 1, ALL),
    "snmp": (snmp, 3, ["zabbix-7.0", "vedette"]),
    "web": (web, 3, ["zabbix-7.0", "vedette"]),
    "ping": (ping, 1, ["vedette"]),
    "thousands": (thousands, 1, ["vedette"]),
    "million": (million, 1, ["vedette"]),
    "walks": (walks, 1, ["vedette"]),
    "blackout": (blackout, 1, ["vedette"]),
    "alerts": (alerts, 1, ["zabbix-7.0", "vedette"]),
}
