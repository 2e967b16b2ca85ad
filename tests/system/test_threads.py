#!/usr/bin/env python3
"""The process ends when a thread ends that it cannot work without."""

import contextlib
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

#: Lets the function of the thread that waits in `Quick::run` return, as if its loop had ended.
RETURN = """
for thread in gdb.selected_inferior().threads():
    if thread.ptid[1] == %d:
        thread.switch()
frame = gdb.newest_frame()
while not (frame.find_sal().symtab and frame.find_sal().symtab.filename.endswith("trapper/quick.rs")):
    frame = frame.older()
frame.select()
gdb.execute("return")
"""


@unittest.skipUnless(os.getuid() == 0, "a debugger needs root")
class Threads(bed.Case):
    @staticmethod
    def name(task):
        """The name of a thread; threads that wait for work come and go."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(os.path.join(task, "comm")) as file:
            return file.read().strip()
        return ""

    def test_end_of_the_trapper_ends_the_process(self):
        process = self.server.process
        tasks = "/proc/%d/task" % process.pid
        thread = next(thread for thread in os.listdir(tasks) if self.name(os.path.join(tasks, thread)) == "trapper")
        script = os.path.join(self.server.folder, "return.py")
        with open(script, "w") as file:
            file.write(RETURN % int(thread))
        done = subprocess.run(
            ["gdb", "--batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "set confirm off",
             "-p", str(process.pid), "-x", script], capture_output=True, text=True, timeout=300, check=False)
        try:
            code = process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.fail("the server goes on: " + done.stdout + done.stderr)
        self.assertEqual(code, 1, self.server.log())
        self.assertIn('the thread "trapper" ended unexpectedly', self.server.log())
        # The next start recovers.
        self.server.start()
        self.assertEqual(bed.Api(self.server.url).call("apiinfo.version", []), "7.0.22")


if __name__ == "__main__":
    bed.main()
