"""Commits of the configuration in SQLite that wait until a test lets them go on."""

import glob
import os
import subprocess

import bed

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "commitgate.c")


class CommitGates:
    """Gates with the numbers 1, 2 and so on: one commit waits at each that is closed. See the source."""

    def __init__(self, folder):
        library = os.path.join(folder, "commitgate.so")
        subprocess.run(["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                        SOURCE, "-o", library, "-ldl"], check=True)
        self.prefix = os.path.join(folder, "gate")
        #: For the server.
        self.environment = {"LD_PRELOAD": library, "COMMIT_GATE": self.prefix}

    def close(self, number):
        with open("%s.%d" % (self.prefix, number), "x"):
            pass

    def wait(self, number):
        """Until a commit waits at the gate."""
        reached = "%s.%d.reached" % (self.prefix, number)
        bed.wait_for("a commit at gate %d" % number, lambda: os.path.exists(reached), pause=0.005)

    def open(self, number):
        os.unlink("%s.%d" % (self.prefix, number))

    def open_all(self):
        """For the end of a test that failed before."""
        for path in glob.glob(self.prefix + ".*"):
            os.unlink(path)
