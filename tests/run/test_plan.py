#!/usr/bin/env python3
"""Which jobs a set has: every file of tests is in one, and its classes are not lost."""

import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import plan  # noqa: E402
from scheduler import Finished, Job  # noqa: E402

FILE = '''"""Three classes."""
# separate: One, Two
import sys
sys.path.insert(0, %r)
import bed
class One(bed.unittest.TestCase):
    def test_a(self): pass
    def test_b(self): pass
class Two(bed.unittest.TestCase):
    def test_c(self): pass
class Three(bed.unittest.TestCase):
    def test_d(self): pass
bed.main()
'''


class Plan(bed.unittest.TestCase):
    def file(self, text):
        folder = tempfile.TemporaryDirectory(prefix="test_", dir=os.path.join(bed.ROOT, "target"))
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "test_made.py")
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_each_file_of_tests_is_in_a_set(self):
        planned = set()
        for name in plan.SETS:
            for job in plan.jobs_of(name):
                planned.update(word for word in job.command if word.endswith(".py"))
        files = {os.path.relpath(path, bed.ROOT)
                 for path in glob.glob(os.path.join(bed.ROOT, "tests", "**", "test_*.py"), recursive=True)}
        self.assertEqual(files - planned, set())
        self.assertGreater(len(files), 60)

    def test_names_are_unique_and_needs_are_planned(self):
        for name in plan.SETS:
            jobs = plan.jobs_of(name)
            names = [job.name for job in jobs]
            self.assertEqual(len(names), len(set(names)), name)
            for job in jobs:
                self.assertLessEqual(set(job.after), set(names), job.name)

    def test_words_select_jobs_and_what_they_need(self):
        names = {job.name for job in plan.jobs_of("clone", ["test_vmware"])}
        self.assertEqual(names, {"tests/system/test_vmware", "programs", "vcsim"})

    def test_a_file_declares_what_is_special(self):
        [job] = plan.of_file(self.file('"""Text."""\n# alone: it fills the disk\n# needs: vcsim yaml\n'))
        self.assertTrue(job.alone)
        self.assertEqual(job.after, ("programs", "vcsim", "yaml"))
        [usual] = plan.of_file(self.file('"""Text."""\nimport sys\n# alone: a comment on code\n'))
        self.assertFalse(usual.alone)
        self.assertEqual(usual.after, ("programs",))

    def test_the_parts_of_a_file_have_all_its_tests(self):
        jobs = plan.of_file(self.file(FILE % os.path.join(bed.ROOT, "tests", "lib")))
        self.assertEqual([job.name.rpartition(".")[2] for job in jobs], ["One", "Two", "rest"])
        ran = [subprocess.run(job.command, cwd=bed.ROOT, capture_output=True, text=True, check=False).stdout
               for job in jobs]
        self.assertEqual(ran, ["%d passed, 0 failed, 0 skipped\n" % n for n in (2, 1, 1)])

    def test_costs_are_written_and_read(self):
        path = self.file("a 1 2\nb 3 4\n")
        job = Job("b", ())
        plan.write_costs(path, [Finished(job, True, 9.6, 5.2, ""),
                                Finished(Job("c", ()), False, 1, 1, "")])
        self.assertEqual(plan.read_costs(path), {"a": (1, 2), "b": (10, 5)})
        known = plan.with_costs(job, plan.read_costs(path))
        self.assertEqual((known.seconds, known.cpu), (10, 5))


if __name__ == "__main__":
    bed.main()
