"""Runs jobs on a few cores: the longest first, several at a time, each with a log and ports of its own.

Most tests wait for servers and intervals, so that many of them fit on one core: a job's load is its CPU
time divided by its duration, and jobs run at once while their loads fit on the cores. Jobs that occupy
all cores (compilers) run one at a time and at low priority, so that they use what the others leave.
Costs decide only the order, never a result.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass

import failures

#: At most this many jobs at once: they need memory too.
PLACES = 8
#: Ports of loopback for tests: agents take none above 32767, and the kernel gives connections none below.
FIRST_PORT, LAST_PORT = 11000, 32000
#: No job counts as less: servers that detach from their test are not in its CPU time.
LEAST_LOAD = 0.33


@dataclass(frozen=True)
class Job:
    """A command. `seconds` and `cpu` are what it cost before; `after` names jobs that have to pass first."""

    name: str
    command: tuple
    seconds: float = 60.0
    cpu: float = 30.0
    after: tuple = ()
    #: Uses all cores: a compiler.
    heavy: bool = False
    #: Runs while no other job does.
    alone: bool = False
    #: Its log contains totals of tests.
    counts: bool = True

    @property
    def load(self):
        """Cores that it occupies."""
        return max(self.cpu / max(self.seconds, 0.1), LEAST_LOAD)


@dataclass
class Finished:
    """A job that has ended, with what it cost."""

    job: Job
    passed: bool
    seconds: float
    cpu: float
    log: str


def urgency(job, jobs):
    """Seconds until the end of the last job that waits for this one."""
    return job.seconds + max((urgency(other, jobs) for other in jobs if job.name in other.after), default=0)


def next_job(waiting, running, cores):
    """The job that may start now, or None. `waiting` is sorted by urgency."""
    if any(job.alone for job in running):
        return None
    unfinished = {job.name for job in waiting} | {job.name for job in running}
    light = [job for job in running if not job.heavy]
    for job in waiting:
        if not unfinished.isdisjoint(job.after):
            continue
        if job.alone:
            # Others that may run come first, so that the cores are idle only once.
            fits = not running and all(other.alone for other in waiting if unfinished.isdisjoint(other.after))
        elif job.heavy:
            fits = len(light) == len(running)
        else:
            fits = not light or (len(light) < PLACES and sum(j.load for j in light) + job.load <= cores)
        if fits:
            return job
    return None


def blocked(waiting, failed):
    """The jobs that never start because one that they need has failed."""
    names = set(failed)
    while True:
        more = {job.name for job in waiting if not names.isdisjoint(job.after)} - names
        if not more:
            return [job for job in waiting if job.name in names]
        names |= more


class Runner:
    """Runs jobs until all have ended; reports each one in a line."""

    def __init__(self, jobs, logs, cores=None, out=sys.stdout):
        self.waiting = sorted(jobs, key=lambda job: -urgency(job, jobs))
        self.logs, self.out = logs, out
        self.cores = cores or len(os.sched_getaffinity(0))
        # The job, its process, its begin and its number of place by its process id.
        self.running = {}
        self.finished = []

    def run(self):
        """Runs all jobs; returns what they cost, in the order in which they ended."""
        while self.waiting or self.running:
            while job := next_job(self.waiting, [job for job, *_ in self.running.values()], self.cores):
                self.start(job)
            self.collect()
        return self.finished

    def log_of(self, job):
        return os.path.join(self.logs, job.name.replace("/", "-") + ".log")

    def start(self, job):
        self.waiting.remove(job)
        place = min(set(range(PLACES + 2)) - {place for *_, place in self.running.values()})
        width = (LAST_PORT - FIRST_PORT) // (PLACES + 2)
        first = FIRST_PORT + place * width
        os.makedirs(self.logs, exist_ok=True)
        with open(self.log_of(job), "wb") as log:
            process = subprocess.Popen(
                (("nice", "-n", "10") if job.heavy else ()) + job.command, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env={**os.environ, "TEST_PORTS": "%d-%d" % (first, first + width - 1)})
        self.running[process.pid] = job, process, time.monotonic(), place

    def collect(self):
        """Waits for the end of a job."""
        pid, status, usage = os.wait4(-1, 0)
        if pid not in self.running:
            return
        job, process, begin, _ = self.running.pop(pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.end(Finished(job, process.returncode == 0, time.monotonic() - begin,
                          usage.ru_utime + usage.ru_stime, self.log_of(job)))

    def end(self, done):
        self.finished.append(done)
        self.say("%s  %s  %d s (CPU %d s)" % ("passed" if done.passed else "FAILED", done.job.name,
                                              done.seconds, done.cpu))
        if done.passed:
            return
        self.say(failures.excerpt(done.log))
        self.say("the whole log: " + done.log)
        for job in blocked(self.waiting, [done.job.name]):
            self.waiting.remove(job)
            self.finished.append(Finished(job, False, 0, 0, ""))
            self.say("FAILED  %s  not run: %s failed" % (job.name, done.job.name))

    def say(self, text):
        print(text, file=self.out, flush=True)
