"""What is done to any store that is one process."""

import shutil
import signal
import subprocess

import bed


class StoreProcess:
    """`process` and `folder` are set by subclasses."""

    process = None
    # Seconds for the process to leave by itself.
    leaves_within = 30

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        bed.pause(self.process.pid)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Ends it; its folder goes."""
        if self.process and self.process.poll() is None:
            self.go_on()
            self.process.terminate()
            try:
                self.process.wait(timeout=self.leaves_within)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
