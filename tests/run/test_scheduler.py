#!/usr/bin/env python3
"""The order in which jobs start, and what a failed job means for others."""

import io
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import scheduler  # noqa: E402
from scheduler import Job, blocked, next_job, urgency  # noqa: E402

WAITER = Job("waiter", (), seconds=100, cpu=10)
BUSY = Job("busy", (), seconds=50, cpu=50)
COMPILER = Job("compiler", (), seconds=10, cpu=20, heavy=True)
OTHER_COMPILER = Job("other compiler", (), seconds=9, cpu=20, heavy=True)
ALONE = Job("alone", (), seconds=200, cpu=1, alone=True)


def shell(name, script, **more):
    return Job(name, ("sh", "-c", script), seconds=1, cpu=0, **more)


class Order(bed.unittest.TestCase):
    def check(self, waiting, running, expected, cores=2):
        self.assertEqual(next_job(waiting, running, cores), expected)

    def test_jobs_start_while_their_loads_fit(self):
        self.check([WAITER, BUSY], [], WAITER)
        self.check([BUSY], [WAITER], BUSY)
        self.check([BUSY], [BUSY, WAITER], None)
        # A shorter one that fits does not wait for a longer one that does not.
        self.check([BUSY, WAITER], [BUSY, Job("half", (), 10, 5)], WAITER)
        # One that is too large for the machine runs when no other does.
        self.check([Job("large", (), 10, 50)], [], Job("large", (), 10, 50))

    def test_places_are_limited(self):
        self.check([WAITER], [WAITER] * (scheduler.PLACES - 1), WAITER, cores=100)
        self.check([WAITER], [WAITER] * scheduler.PLACES, None, cores=100)

    def test_one_compiler_runs_beside_others(self):
        self.check([COMPILER], [BUSY, BUSY], COMPILER)
        self.check([OTHER_COMPILER], [COMPILER], None)
        self.check([BUSY], [COMPILER], BUSY)

    def test_alone_means_alone(self):
        self.check([ALONE, WAITER], [], WAITER)
        self.check([ALONE], [WAITER], None)
        self.check([ALONE], [], ALONE)
        self.check([WAITER, COMPILER], [ALONE], None)

    def test_a_job_waits_for_what_it_needs(self):
        test = Job("test", (), after=("compiler",))
        self.check([test], [COMPILER], None)
        self.check([test, COMPILER], [], COMPILER)
        self.check([test], [], test)
        # A test that runs alone does not wait for others that cannot start.
        self.check([test, ALONE, COMPILER], [COMPILER], None)

    def test_what_others_wait_for_is_urgent(self):
        test = Job("test", (), seconds=300, after=("compiler",))
        last = Job("last", (), seconds=7, after=("test",))
        self.assertEqual(urgency(COMPILER, [COMPILER, test, last]), 317)

    def test_what_a_failed_job_blocks(self):
        test, last = Job("test", (), after=("compiler",)), Job("last", (), after=("test",))
        self.assertEqual(blocked([test, last, WAITER], ["compiler"]), [test, last])


class Runs(bed.unittest.TestCase):
    def run_all(self, *jobs):
        """What each job printed, and the lines of the run."""
        folder = tempfile.TemporaryDirectory(prefix="vedette-scheduler-")
        self.addCleanup(folder.cleanup)
        out = io.StringIO()
        self.finished = scheduler.Runner(list(jobs), folder.name, cores=2, out=out).run()
        logs = {}
        for one in self.finished:
            if one.log:
                with open(one.log) as log:
                    logs[one.job.name] = log.read()
        return logs, out.getvalue()

    def test_each_job_has_a_log_and_ports(self):
        logs, lines = self.run_all(shell("a/one", "sleep 0.3; echo $TEST_PORTS"),
                                   shell("two", "sleep 0.3; echo $TEST_PORTS >&2"))
        ranges = [tuple(int(port) for port in text.split("-")) for text in logs.values()]
        self.assertEqual(sorted(ranges), [(11000, 13099), (13100, 15199)])
        self.assertIn("passed  a/one", lines)
        self.assertTrue(all(one.passed for one in self.finished))

    def test_a_failure_shows_its_log_and_blocks_only_what_needs_it(self):
        logs, lines = self.run_all(shell("broken", "echo the reason; exit 3"),
                                   shell("needs it", "echo never", after=("broken",)),
                                   shell("fine", "echo fine"))
        self.assertEqual({one.job.name: one.passed for one in self.finished},
                         {"broken": False, "needs it": False, "fine": True})
        self.assertIn("the reason", lines)
        self.assertIn("FAILED  needs it  not run: broken failed", lines)
        self.assertNotIn("needs it", logs)

    def test_a_killed_job_failed(self):
        self.run_all(shell("killed", "kill -9 $$"))
        self.assertFalse(self.finished[0].passed)

    def test_cpu_time_is_measured(self):
        self.run_all(shell("busy", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"), shell("idle", "sleep 0.5"))
        costs = {one.job.name: one for one in self.finished}
        self.assertGreater(costs["busy"].cpu, costs["idle"].cpu)
        self.assertGreater(costs["idle"].seconds, costs["idle"].cpu)


if __name__ == "__main__":
    bed.main()
