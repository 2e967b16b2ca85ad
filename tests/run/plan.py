"""The jobs of each set of tests: scripts in scripts/suites, and every file of tests in some folders.

A file of tests declares what is special about it, in comments above its first import:
  # needs: vcsim          scripts in scripts/suites that have to run before it, besides the programs
  # alone: REASON         it runs while no other test does
  # separate: One, Two    each of these classes is a job; so are the remaining ones together
"""

import glob
import os
import re
from dataclasses import dataclass, replace

from scheduler import Job

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COSTS = os.path.join(ROOT, "tests", "run", "costs.txt")
DECLARATION = re.compile(r"^# (needs|alone|separate): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Set:
    """`suites` have tests, `files` are patterns below tests/, `packages` is for scripts/install-packages."""

    suites: tuple = ()
    files: tuple = ()
    stores: tuple = ()
    packages: str = "test"


SETS = {
    "clone": Set(("units", "lints", "fuzz", "web"),
                 ("run/test_*.py", "system/test_*.py", "bench/test_*.py", "postgres/test_*.py",
                  "browser/test_*.py"),
                 ("postgresql", "mysql")),
    "deep": Set(("simulations",), ("browser/test_estate.py", "system/test_alert_crash.py", "lb/test_*.py")),
    "stores": Set((), ("stores/test_*.py",),
                  ("clickhouse-18", "clickhouse-26", "postgresql", "postgresql-timescaledb", "mysql",
                   "cassandra", "opensearch", "hbase", "riak"), "stores"),
    "compat": Set(("conformance", "balancer"), ("compat/test_*.py",)),
}
#: What each script in scripts/suites needs, for those that need anything.
NEEDS = {"unit-programs": ("programs",), "units": ("unit-programs",), "lints": ("programs",),
         "simulations": ("unit-programs",), "fuzz": ("programs",),
         "conformance": ("programs",), "balancer": ("programs",), "drivers": ("programs",), "web": ("ui",)}
#: Scripts that occupy all cores.
HEAVY = {"programs", "unit-programs", "lints", "drivers", "conformance"}
#: Scripts that only prepare others.
WITHOUT_TESTS = {"programs", "unit-programs", "drivers", "vcsim", "snmpsim", "yaml", "reference", "ui"}
#: What all files of a folder need, besides the programs.
FOLDER_NEEDS = {"browser": ["ui"], "compat": ["reference"]}


def jobs_of(name, only=()):
    """The jobs of a set; with `only`, those whose names contain one of these words, and what they need."""
    chosen = SETS[name]
    costs = read_costs(COSTS)
    jobs = [suite(one) for one in chosen.suites]
    jobs += [on_store(store) for store in chosen.stores]
    for pattern in chosen.files:
        for path in sorted(glob.glob(os.path.join(ROOT, "tests", pattern))):
            jobs += of_file(path)
    if only:
        jobs = [job for job in jobs if any(word in job.name for word in only)]
    needed = {need for job in jobs for need in job.after}
    while missing := needed - {job.name for job in jobs}:
        jobs += [suite(one) for one in sorted(missing)]
        needed |= {need for job in jobs for need in job.after}
    return [with_costs(job, costs) for job in jobs]


def suite(name):
    """A script."""
    return Job(name, (os.path.join("scripts", "suites", name),), after=NEEDS.get(name, ()),
               heavy=name in HEAVY, counts=name not in WITHOUT_TESTS)


def on_store(store):
    """The suite that all drivers of history pass, on this store of tests/stores/with_store.py."""
    command = ("tests/stores/with_store.py", store, os.path.join(ROOT, "target", "test-programs", "drivers"))
    return Job("drivers/" + store, command, after=("drivers",))


def of_file(path):
    """The jobs of a file of tests, which may be new: it declares what is special about it."""
    name = os.path.relpath(path, ROOT)
    with open(path) as file:
        head = re.split(r"^(?:import|from) ", file.read(), maxsplit=1, flags=re.MULTILINE)[0]
    declared = dict(DECLARATION.findall(head))
    folder = os.path.basename(os.path.dirname(path))
    after = ["programs", *FOLDER_NEEDS.get(folder, ()), *declared.get("needs", "").split()]
    whole = Job(name.removesuffix(".py"), ("python3", name), after=tuple(after), alone="alone" in declared)
    classes = [one.strip() for one in declared.get("separate", "").split(",") if one.strip()]
    if not classes:
        return [whole]
    parts = [replace(whole, name="%s.%s" % (whole.name, one), command=(*whole.command, one))
             for one in classes]
    rest = replace(whole, name=whole.name + ".rest", command=(*whole.command, "--without", ",".join(classes)))
    return [*parts, rest]


def read_costs(path):
    """Seconds and CPU seconds by the name of the job; lines are `NAME SECONDS CPU`."""
    with open(path) as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {name: (float(seconds), float(cpu)) for name, seconds, cpu in rows}


def with_costs(job, costs):
    """The job with its recorded costs; a new one keeps the assumed ones."""
    if job.name not in costs:
        return job
    seconds, cpu = costs[job.name]
    return replace(job, seconds=seconds, cpu=cpu)


def write_costs(path, finished):
    """Adds what these jobs cost to a file of costs."""
    costs = read_costs(path) if os.path.exists(path) else {}
    costs.update((one.job.name, (round(one.seconds), round(one.cpu))) for one in finished if one.passed)
    with open(path, "w") as file:
        file.write("# Seconds and CPU seconds of each job of scripts/test on two cores: they decide the order.\n"
                   "# `scripts/test --record SET` updates them.\n")
        file.writelines("%s %d %d\n" % (name, *costs[name]) for name in sorted(costs))
