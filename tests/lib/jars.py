"""Servers written in Java: their jars by Maven, with the machine's own settings, into a cache."""

import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import tempfile

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),
                     "vedette-stores")
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>vedette</groupId><artifactId>test-peer</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>%s</dependencies>
</project>
"""


def java():
    """The JDK 17 of Debian: these servers run on no younger one."""
    found = sorted(glob.glob("/usr/lib/jvm/java-17-openjdk-*/bin/java"))
    if not found or not shutil.which("mvn"):
        raise AssertionError("Java 17 or Maven is missing: scripts/install-packages stores")
    return found[-1]


def dependency(name, exclusions=()):
    """`group:artifact:version` as Maven wants it; exclusions are `group:artifact`."""
    group, artifact, version = name.split(":")
    without = "".join("<exclusion><groupId>%s</groupId><artifactId>%s</artifactId></exclusion>"
                      % tuple(other.split(":")) for other in exclusions)
    return ("<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>"
            "<exclusions>%s</exclusions></dependency>" % (group, artifact, version, without))


def fetch(name, dependencies):
    """The folder with the jars of these dependencies; fetched once a machine."""
    java()
    pom = POM % "".join(dependencies)
    folder = os.path.join(CACHE, "%s-%s" % (name, hashlib.sha256(pom.encode()).hexdigest()[:12]))
    if os.path.isdir(folder):
        return folder
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, name + ".lock"), "w") as lock:
        # Another test may fetch them now.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return folder if os.path.isdir(folder) else _fetch(name, pom, folder)


def _fetch(name, pom, folder):
    work = tempfile.mkdtemp(prefix=name + "-", dir=CACHE)
    try:
        with open(os.path.join(work, "pom.xml"), "w") as file:
            file.write(pom)
        subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(work, "pom.xml"),
                        "dependency:copy-dependencies",
                        "-DoutputDirectory=" + os.path.join(work, "lib")], check=True)
        # Whole or not at all: a run that was broken off leaves nothing that looks complete.
        os.rename(os.path.join(work, "lib"), folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def flags(exports, opens):
    """What a server of the time before modules wants opened: packages by module."""
    found = []
    for option, modules in (("--add-exports", exports), ("--add-opens", opens)):
        for module, packages in modules.items():
            found += ["%s=%s/%s=ALL-UNNAMED" % (option, module, package)
                      for package in packages.split()]
    return found
