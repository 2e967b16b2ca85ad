#!/usr/bin/env python3
"""What is shown of the log of a failed job."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import failures  # noqa: E402

CARGO = """running 2 tests
test keeps ... ok
test loses ... FAILED

failures:

---- loses stdout ----

thread 'loses' panicked at crates/x/src/lib.rs:7:5:
assertion failed: kept


failures:
    loses

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p x --lib`
""" + "test other ... ok\n" * 100 + "error: 1 target failed:\n    `-p x --lib`\n"

UNITTEST = """..F
======================================================================
FAIL: test_kept (__main__.Values)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "test_x.py", line 7, in test_kept
AssertionError: 6 != 7

----------------------------------------------------------------------
Ran 3 tests in 0.1s
2 passed, 1 failed
"""


class Failures(bed.unittest.TestCase):
    def excerpt(self, text):
        with tempfile.NamedTemporaryFile("w", prefix="vedette-log-", suffix=".log") as log:
            log.write(text)
            log.flush()
            return failures.excerpt(log.name)

    def test_a_failure_of_cargo_is_found_far_above_the_end(self):
        self.assertEqual(self.excerpt(CARGO).split("\n"), [
            "---- loses stdout ----",
            "thread 'loses' panicked at crates/x/src/lib.rs:7:5:",
            "assertion failed: kept"])

    def test_a_failure_of_unittest_is_found(self):
        shown = self.excerpt(UNITTEST)
        self.assertTrue(shown.startswith("FAIL: test_kept"), shown)
        self.assertIn("AssertionError: 6 != 7", shown)
        self.assertNotIn("2 passed", shown)

    def test_lints_are_found(self):
        self.assertEqual(self.excerpt("Checking x\nerror[E0308]: mismatched types\n --> src/lib.rs:1:1\n"),
                         "error[E0308]: mismatched types\n --> src/lib.rs:1:1")

    def test_a_log_without_known_failures_shows_its_end(self):
        shown = self.excerpt("".join("line %d\n" % n for n in range(500)))
        self.assertEqual(shown.split("\n")[-1], "line 499")
        self.assertEqual(len(shown.split("\n")), failures.LINES_MAX)

    def test_a_long_failure_keeps_its_first_and_last_lines(self):
        shown = self.excerpt("---- long stdout ----\n" + "".join("line %d\n" % n for n in range(500)))
        lines = shown.split("\n")
        self.assertEqual(len(lines), failures.LINES_OF_ONE_MAX)
        self.assertEqual((lines[0], lines[-1]), ("---- long stdout ----", "line 499"))
        self.assertIn("[487 lines left out]", lines)

    def test_many_failures_stay_few_lines(self):
        shown = self.excerpt("---- one stdout ----\nreason\n" * 500)
        self.assertEqual(len(shown.split("\n")), failures.LINES_MAX)


if __name__ == "__main__":
    bed.main()
