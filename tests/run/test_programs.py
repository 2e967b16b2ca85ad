#!/usr/bin/env python3
"""How the test programs of crates are found and run."""

import contextlib
import io
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import failures  # noqa: E402
import programs  # noqa: E402


def artifact(executable, test, manifest="/crate/Cargo.toml"):
    return json.dumps({"reason": "compiler-artifact", "profile": {"test": test}, "executable": executable,
                       "manifest_path": manifest})


class Programs(bed.unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vedette-programs-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def shell(self, name, script):
        """A program, with the folder that it runs in."""
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, 0o755)
        return path, self.folder

    def run_all(self, *found, words=()):
        """Whether all passed, and what was printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            return programs.run_all(found, words), out.getvalue()

    def test_only_tests_are_taken_from_the_messages(self):
        lines = [artifact("/t/a", True), artifact("/t/server", False), artifact(None, True),
                 json.dumps({"reason": "build-finished", "success": True})]
        self.assertEqual(programs.programs(lines), [("/t/a", "/crate")])

    def test_each_runs_in_the_folder_of_its_crate(self):
        passed, printed = self.run_all(*[self.shell("one%d" % n, "echo in $PWD") for n in range(7)])
        self.assertTrue(passed)
        self.assertEqual(printed.count("in " + os.path.realpath(self.folder)), 7)

    def test_all_run_although_one_fails(self):
        passed, printed = self.run_all(self.shell("bad", "echo 'test result: FAILED. 0 passed; 1 failed'; exit 101"),
                                       self.shell("good", "echo 'test result: ok. 1 passed; 0 failed'"))
        self.assertFalse(passed)
        self.assertIn("1 passed", printed)
        self.assertNotIn("error:", printed)

    def test_words_choose_tests(self):
        passed, printed = self.run_all(self.shell("one", "echo words: $*"), words=["simulation"])
        self.assertTrue(passed)
        self.assertIn("words: simulation\n", printed)

    def test_what_a_killed_one_printed_last_is_an_error(self):
        killed = self.shell("killed", "echo the last words; kill -9 $$")
        passed, printed = self.run_all(killed, self.shell("good", "echo ok"))
        self.assertFalse(passed)
        [block] = failures.blocks(printed.splitlines())
        self.assertIn("ended with status -9", block[0])
        self.assertIn("the last words", block)


if __name__ == "__main__":
    bed.main()
