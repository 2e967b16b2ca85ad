#!/usr/bin/env python3
"""The Debian package: built from the binaries that are there, checked, installed and removed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

#: Adds the libraries of this machine to a root, and becomes a program in it: root, user and group, command.
INSIDE = """
for folder in lib/$(uname -m)-linux-gnu usr/lib/$(uname -m)-linux-gnu lib64 proc dev tmp; do
    mkdir -p "$0/$folder"
    if test -d "/$folder"; then mount --rbind "/$folder" "$0/$folder"; fi
done
exec chroot --userspec="$1" --groups= "$0" "${@:2}"
"""


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
        self.check_unit(root)
        self.check_service(root)
        dpkg("--remove", "vedette")
        self.assertFalse(os.path.lexists(at("usr/bin/vedette")))
        # The operator's file and the data stay until the package is purged.
        self.assertTrue(os.path.exists(at("etc/vedette/environment")))
        self.assertTrue(os.path.exists(at("var/lib/vedette")))
        dpkg("--purge", "vedette")
        for path in ("etc/vedette", "var/lib/vedette", "usr/lib/vedette"):
            self.assertFalse(os.path.exists(at(path)), path)
        self.assertFalse(os.path.lexists(enabled))

    def check_unit(self, root):
        """systemd understands all of it, and its program can be executed."""
        if not shutil.which("systemd-analyze"):
            print("systemd-analyze is not installed: the unit is not verified")
            return
        # What every unit depends on, and this one by itself.
        for target in ("sysinit", "basic", "shutdown", "multi-user", "network-online"):
            with open(os.path.join(root, "lib/systemd/system", target + ".target"), "w") as f:
                f.write("[Unit]\nDescription=%s\n" % target)
        done = subprocess.run(["systemd-analyze", "--root=" + root, "--man=no", "verify", "vedette.service"],
                              capture_output=True, text=True, timeout=60, check=False)
        # Unknown settings are warnings only.
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def check_service(self, root):
        """Starts what the unit starts, with its user, environment, folder and umask, inside of the root."""
        with open(os.path.join(root, "lib/systemd/system/vedette.service")) as f:
            unit = dict(line.split("=", 1) for line in f.read().splitlines() if re.match(r"\w+=", line))
        # The first password is in the log of a service, as the unit's comment says.
        port, settings = bed.free_port(), os.path.join(root, unit["EnvironmentFile"].lstrip("-/"))
        with open(settings, "a") as f:
            f.write("VEDETTE_LOG=debug\nVEDETTE_AGENT=off\nVEDETTE_HTTP=127.0.0.1:%d\n"
                    "VEDETTE_TRAPPER=127.0.0.1:%d\n" % (port, bed.free_port()))
        with open(settings) as f:
            environment = dict(line.split("=", 1) for line in f.read().splitlines() if re.match(r"\w+=", line))
        with open(os.path.join(root, "etc/passwd")) as f:
            _, _, uid, gid, *_ = next(line for line in f if line.startswith("vedette:")).split(":")
        state = os.path.join(root, "var/lib", unit["StateDirectory"])
        os.makedirs(state)
        os.chmod(state, int(unit["StateDirectoryMode"], 8))
        os.chown(state, int(uid), int(gid))
        log_path = os.path.join(self.folder, "service.log")
        with open(log_path, "wb") as log:
            service = subprocess.Popen(
                ["unshare", "--mount", "bash", "-ec", INSIDE, root, uid + ":" + gid, *shlex.split(unit["ExecStart"])],
                env=environment, umask=int(unit["UMask"], 8), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(service.wait)
        self.addCleanup(service.kill)

        def log_of_service():
            with open(log_path, errors="replace") as file:
                return file.read()

        def password():
            self.assertIsNone(service.poll(), log_of_service())
            return re.search(r"Password:? +(\S+)", log_of_service())
        first = bed.wait_for("the first password", password)[1]
        api = bed.Api("http://127.0.0.1:%d/api_jsonrpc.php" % port)
        bed.wait_for("the API", lambda: api.call("apiinfo.version", []))
        self.assertTrue(api.login(password=first).call("host.get", output=["host"]))
        with open("/proc/%d/status" % service.pid) as f:
            self.assertRegex(f.read(), r"(?m)^Uid:\s%s\s%s\s" % (uid, uid))
        service.terminate()
        self.assertEqual(service.wait(timeout=int(unit["TimeoutStopSec"])), 0, log_of_service())
        database = os.stat(os.path.join(state, "config.db"))
        self.assertEqual((database.st_uid, database.st_mode & 0o077), (int(uid), 0))


if __name__ == "__main__":
    bed.main()
