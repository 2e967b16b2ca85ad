"""Shows when the machine itself stood still: what a test measures meanwhile says nothing about the server."""

import threading
import time

INTERVAL_S = 0.02


class Pulse:
    """Beats in a thread from its start to its end, as the `with` statement has them."""

    def __init__(self):
        self.seconds, self.longest_s = set(), 0.0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()

    def _beat(self):
        """Notes the seconds of the clock in which the thread ran, and the longest time in which it did not."""
        last = time.monotonic()
        while not self._ends.wait(INTERVAL_S):
            now = time.monotonic()
            self.longest_s, last = max(self.longest_s, now - last - INTERVAL_S), now
            self.seconds.add(int(time.time()))
