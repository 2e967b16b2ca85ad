"""Real agents and senders: started on ports of their own, stopped by their own pid."""

import os
import re
import signal
import socket
import subprocess
import time

import bed

AGENTD = ["/usr/sbin/zabbix_agentd"]
AGENT2 = ["/usr/sbin/zabbix_agent2"]
SENDER = ["/usr/bin/zabbix_sender"]


class Agent:
    """A real agent with a configuration file of its own."""

    def __init__(self, folder, name, program=None, active=None, options=()):
        """`active` = address of the server for active checks; `options` = more lines of its file."""
        self.program = program or AGENTD
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        self.name = name
        self.port = bed.free_port()
        self.process = None
        lines = [
            "Hostname=" + name, "ListenIP=127.0.0.1", "ListenPort=%d" % self.port,
            "Server=127.0.0.1", "LogType=console", "BufferSend=1",
            "PidFile=%s/pid" % self.folder,
        ]
        if active:
            lines.append("ServerActive=127.0.0.1:%d" % active)
        if "agent2" in " ".join(self.program):
            lines.append("ControlSocket=%s/socket" % self.folder)
        else:
            lines += ["AllowRoot=1", "StartAgents=2"]
        self.conf = os.path.join(self.folder, "agent.conf")
        with open(self.conf, "w") as f:
            f.write("\n".join(lines + list(options)) + "\n")

    def start(self):
        """Starts it and waits until it listens."""
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.program + ["-f", "-c", self.conf], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True)

        def listens():
            if self.process.poll() is not None:
                raise AssertionError("the agent ended: " + self.log())
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        bed.wait_for("the agent to listen", listens, pause=0.05)
        return self

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.process = None

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as f:
            return "".join(f.readlines()[-25:])

    def interface(self):
        """The agent's interface as `host.create` takes it."""
        return {"type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "",
                "port": str(self.port)}


def sender_file(path, rows):
    """Input of the sender with times: rows = (host, key, clock, ns, value)."""
    def word(text):
        return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    with open(path, "w") as f:
        for host, key, clock, ns, value in rows:
            f.write("%s %s %d %d %s\n" % (word(host), word(key), clock, ns, word(value)))


def send(port, path, program=None, options=()):
    """Runs the sender over a file; its totals (processed, failed, total) over all packets."""
    command = (program or SENDER) + ["-z", "127.0.0.1", "-p", str(port), "-vv", "-T", "-N", "-i", path]
    run = subprocess.run(command + list(options), capture_output=True, text=True, timeout=120)
    text = run.stdout + run.stderr
    rows = re.findall(r"Response from [^\n]*processed: (\d+); failed: (\d+); total: (\d+); seconds spent", text)
    if not rows:
        raise AssertionError("the sender got no answer: " + text)
    return tuple(sum(int(row[n]) for row in rows) for n in range(3))


def monotonic_rows(host, key, values, begin=None):
    """Rows for `sender_file`: one value a millisecond, all in the past."""
    begin = begin or int(time.time()) - 1 - len(values) // 1000
    return [(host, key, begin + n // 1000, n % 1000 * 1_000_000, value)
            for n, value in enumerate(values)]
