#!/usr/bin/env python3
"""Third-party crates that are kept between clones."""

import importlib.machinery
import importlib.util
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("units", os.path.join(bed.ROOT, "scripts", "units"))
units = importlib.util.module_from_spec(importlib.util.spec_from_loader("units", LOADER))
LOADER.exec_module(units)

OWN, THEIRS = "0" * 15 + "1", "0" * 15 + "2"
FILES = {
    ".fingerprint/model-%s/lib-model" % OWN: b"ours",
    ".fingerprint/md-5-%s/lib-md5" % THEIRS: b"theirs",
    "build/md-5-%s/out/lib.a" % THEIRS: b"x" * units.LINKED_BYTES_MIN,
    "deps/libmodel-%s.rlib" % OWN: b"ours",
    "deps/libmd5-%s.rlib" % THEIRS: b"x" * units.LINKED_BYTES_MIN,
    "deps/md5-%s.d" % THEIRS: b"small",
    "deps/md5-%s.md5.1-cgu.0.rcgu.o" % THEIRS: b"of a running compiler",
}


class Units(bed.unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="vedette-units-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.target, self.kept = self.path("target"), self.path("units-1")
        for name, content in FILES.items():
            self.write(self.path("target", name), content)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, path, content):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def files(self, folder):
        return sorted(os.path.relpath(os.path.join(parent, name), folder)
                      for parent, _, names in os.walk(folder) for name in names)

    def test_only_crates_of_others_are_kept_and_restored(self):
        lock = ('[[package]]\nname = "model"\nversion = "1"\n\n'
                '[[package]]\nname = "md-5"\nversion = "1"\nsource = "registry"\n')
        self.assertEqual(units.own_packages(lock), {"model"})
        self.assertTrue(units.keep(self.target, self.kept, {"model"}))
        self.assertFalse(units.keep(self.target, self.kept, {"model"}), "nothing is new")
        fresh = self.path("fresh")
        self.assertEqual(units.restore(self.kept, fresh), 1)
        self.assertEqual(self.files(fresh), sorted(
            name for name in FILES if THEIRS in name and not name.endswith(".o")))
        large, small = ("deps/libmd5-%s.rlib" % THEIRS, "deps/md5-%s.d" % THEIRS)
        self.assertTrue(os.path.samefile(os.path.join(fresh, large), os.path.join(self.target, large)))
        self.assertFalse(os.path.samefile(os.path.join(fresh, small), os.path.join(self.kept, small)))
        for name in (large, small):
            times = [os.stat(os.path.join(at, name)).st_mtime_ns for at in (fresh, self.target)]
            self.assertEqual(times[0], times[1], name)

    def test_existing_units_are_left_alone(self):
        units.keep(self.target, self.kept, {"model"})
        name = self.path("target", "deps/md5-%s.d" % THEIRS)
        self.write(name, b"newer")
        units.restore(self.kept, self.target)
        with open(name, "rb") as file:
            self.assertEqual(file.read(), b"newer")

    def test_new_units_are_added(self):
        units.keep(self.target, self.kept, {"model"})
        new = ".fingerprint/bytes-%s/lib-bytes" % ("0" * 15 + "3")
        self.write(self.path("target", new), b"new")
        self.assertTrue(units.keep(self.target, self.kept, {"model"}))
        self.assertIn(new, self.files(self.kept))
        self.assertEqual(sorted(os.listdir(self.folder)), ["target", "units-1"])

    def test_old_units_are_not_kept(self):
        month_ago = time.time() - units.UNIT_AGE_S_MAX - 5
        os.utime(self.path("target", ".fingerprint", "md-5-" + THEIRS), (month_ago, month_ago))
        os.utime(self.path("target", "build", "md-5-" + THEIRS), (month_ago, month_ago))
        self.assertEqual(units.third_party(self.target, {"model"}), [])

    def test_the_newest_is_first(self):
        for name, age in (("units-a", 30), ("units-b", 10), ("units-c.7", 0)):
            os.mkdir(self.path(name))
            os.utime(self.path(name), (time.time() - age,) * 2)
        self.assertEqual(units.whole(self.folder), [self.path("units-b"), self.path("units-a")])
        self.assertEqual(units.whole(self.path("missing")), [])

    def test_the_two_newest_stay_and_rests_of_interrupted_runs_go(self):
        hour_ago = time.time() - units.ABANDONED_S - 5
        for name, age in (("units-a", 30), ("units-b", 20), ("units-c", 10), ("units-c.7", 0), ("other", 50)):
            os.mkdir(self.path(name))
            os.utime(self.path(name), (time.time() - age,) * 2)
        os.mkdir(self.path("units-c.8"))
        os.utime(self.path("units-c.8"), (hour_ago, hour_ago))
        units.clean(self.folder)
        self.assertEqual(sorted(os.listdir(self.folder)), ["other", "target", "units-b", "units-c", "units-c.7"])


if __name__ == "__main__":
    bed.main()
