"""A real Zabbix 7.0 to compare with: the tool in VEDETTE_SHARED that starts one."""

import json
import os
import random
import socket
import subprocess
import sys

import bed

SHARED = os.environ.get("VEDETTE_SHARED")
if not SHARED:
    sys.exit("VEDETTE_SHARED is not set: it names the folder with the compatibility data")
TOOL = os.path.join(SHARED, "tools", "reference", "reference")


def program(name):
    """The argv prefix of agentd, agent2, sender, …"""
    run = subprocess.run([TOOL, "path", name], check=True, capture_output=True, text=True)
    return run.stdout.split()


def _base_port():
    """Five free ports in a row that agents accept."""
    first, last = bed.PORTS
    for base in random.sample(range(first, last - 10, 10), (last - first) // 10 - 1):
        sockets = [socket.socket() for _ in range(5)]
        try:
            for n, s in enumerate(sockets):
                s.bind(("127.0.0.1", base + n))
            return base
        except OSError:
            continue
        finally:
            for s in sockets:
                s.close()
    raise AssertionError("no five free ports in a row")


class Reference:
    """A running reference server: one of its own, or the one that runs at `base`."""

    def __init__(self, base=None, more=()):
        """`more` = lines of the server's configuration file."""
        self.own = base is None
        if not self.own:
            self.base = self.trapper = base
            self.about = {"api_url": "http://127.0.0.1:%d/api_jsonrpc.php" % (base + 3),
                          "user": "Admin", "password": "zabbix"}
            return
        subprocess.run([TOOL, "setup"], check=True, stdout=subprocess.DEVNULL)
        self.base = _base_port()
        # The tool writes this variable into the file as it is, so that lines may follow.
        environment = dict(os.environ)
        if more:
            environment["REFERENCE_CACHE_UPDATE"] = "\n".join(["5", *more])
        run = subprocess.run([TOOL, "up", "--base-port", str(self.base)], check=True,
                             stdout=subprocess.PIPE, text=True, env=environment)
        self.about = json.loads(run.stdout)
        self.trapper = self.base

    def api(self):
        return bed.Api(self.about["api_url"]).login(self.about["user"], self.about["password"])

    def stop(self):
        if not self.own:
            return
        subprocess.run([TOOL, "down", "--base-port", str(self.base)], check=True,
                       stdout=subprocess.DEVNULL)
