#!/usr/bin/env python3
"""The Debian package: built from the binaries that are there, checked, installed and removed."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


def run(*command, **environment):
    """Its output; fails with all that it said."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=bed.ROOT,
                          env=dict(os.environ, LC_ALL="C.UTF-8", **environment))
    if done.returncode:
        raise AssertionError("%s: %d\n%s%s" % (command, done.returncode, done.stdout, done.stderr))
    return done.stdout


class Package(bed.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="vedette-package-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        run("scripts/make-deb", os.path.dirname(bed.BINARY), cls.folder, DEB_COMPRESSION="gzip")
        [name] = [name for name in os.listdir(cls.folder) if name.endswith(".deb")]
        cls.package = os.path.join(cls.folder, name)

    def test_lintian_finds_nothing(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        said = run("lintian", "--fail-on=error,warning", "--allow-root", "--tag-display-limit", "0",
                   self.package)
        self.assertEqual(said, "")

    @unittest.skipUnless(os.getuid() == 0, "dpkg needs root")
    def test_it_is_installed_removed_and_purged(self):
        root = os.path.join(self.folder, "root")
        for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "etc", "var/log"):
            os.makedirs(os.path.join(root, folder))
        for name in ("status", "available"):
            open(os.path.join(root, "var/lib/dpkg", name), "w").close()

        def at(path):
            return os.path.join(root, path)

        def dpkg(*arguments):
            run("dpkg", "--root=" + root, "--force-depends", "--force-script-chrootless", *arguments)
        dpkg("--install", self.package)
        version = run(at("usr/lib/vedette/vedette"), "--version")
        self.assertIn(run("dpkg-deb", "-f", self.package, "Version").strip(), version)
        self.assertEqual(os.readlink(at("usr/bin/vedette")), "../lib/vedette/vedette")
        with open(at("etc/passwd")) as f:
            self.assertRegex(f.read(), "(?m)^vedette:.*:/var/lib/vedette:")
        with open(at("lib/systemd/system/vedette.service")) as f:
            unit = f.read()
        self.assertIn("ExecStart=/usr/bin/vedette server --data /var/lib/vedette", unit)
        self.assertNotIn("/usr/local", unit)
        enabled = at("etc/systemd/system/multi-user.target.wants/vedette.service")
        self.assertTrue(os.path.islink(enabled))
        with open(at("etc/vedette/environment"), "a") as f:
            f.write("VEDETTE_LOG=debug\n")
        os.makedirs(at("var/lib/vedette"))
        dpkg("--remove", "vedette")
        self.assertFalse(os.path.lexists(at("usr/bin/vedette")))
        # The operator's file and the data stay until the package is purged.
        self.assertTrue(os.path.exists(at("etc/vedette/environment")))
        self.assertTrue(os.path.exists(at("var/lib/vedette")))
        dpkg("--purge", "vedette")
        for path in ("etc/vedette", "var/lib/vedette", "usr/lib/vedette"):
            self.assertFalse(os.path.exists(at(path)), path)
        self.assertFalse(os.path.lexists(enabled))


if __name__ == "__main__":
    bed.main()
