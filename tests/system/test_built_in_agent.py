#!/usr/bin/env python3
"""The built-in agent: a process of its own that does not show the server's secrets."""

import os
import pwd
import re
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402

SECRET = "TOP-SECRET-42"
OTHER_USER = 23456


def ask(port, key):
    """The answer to a key in the old dialect; errors begin with ZBX_NOTSUPPORTED."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(bed.frame(key))
        return bed.read_frame(connection).decode(errors="replace")


def processes(parent):
    """Process ids of the children of a process."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as f:
                    fields = f.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(name))
    return found


class BuiltIn(bed.Case):
    def start(self, **more):
        port = bed.free_port()
        server = bed.Server(agent="127.0.0.1:%d" % port, **more)
        self.addCleanup(server.clean)
        self.addCleanup(server.stop)
        return server, port

    def agent_of(self, server):
        return bed.wait_for("the agent's process", lambda: processes(server.process.pid))[0]

    def secrets(self, server, port):
        """Asks for the server's secrets on all ways that lead to them."""
        data = os.path.join(server.folder, "data")
        server.api().call("usermacro.createglobal", macro="{$SECRET}", value=SECRET, type=1)
        os.symlink(data, server.folder + "/link")
        pid = server.process.pid
        places = [
            data + "/config.db", data + "/config.db-wal", server.folder + "/link/config.db",
            data + "/../data/config.db", "/proc/self/environ",
        ] + ["/proc/%d/%s" % (pid, name) for name in (
            "environ", "cmdline", "root" + data + "/config.db", "cwd/" + os.path.relpath(
                data + "/config.db", os.getcwd()))]
        places += ["/proc/%d/fd/%s" % (pid, fd) for fd in os.listdir("/proc/%d/fd" % pid)]
        places += ["/dev/fd/%d" % fd for fd in range(20)]
        for place in places:
            for key in ("vfs.file.contents[%s]", "vfs.file.regexp[%s,\"" + SECRET + "|VEDETTE\"]",
                        "vfs.file.md5sum[%s]"):
                answer = ask(port, key % place)
                with self.subTest(key % place):
                    self.assertNotIn(SECRET, answer)
                    self.assertNotIn("VEDETTE", answer)
                    self.assertTrue(answer.startswith("ZBX_NOTSUPPORTED") or (
                        place == "/proc/self/environ"), answer)
        self.assertTrue(ask(port, "vfs.dir.count[%s]" % data).startswith("ZBX_NOTSUPPORTED"))
        # What everybody may read is shown.
        self.assertIn("root:", ask(port, "vfs.file.contents[/etc/passwd]"))
        self.assertEqual(ask(port, "agent.ping"), "1")

    def test_a_root_server_starts_the_agent_as_an_unprivileged_user(self):
        if os.getuid() != 0:
            self.skipTest("needs root")
        server, port = self.start()
        server.start()
        agent = self.agent_of(server)
        bed.wait_for("an answer", lambda: ask(port, "agent.ping") == "1")
        with open("/proc/%d/status" % agent) as f:
            status = f.read()
        nobody = str(pwd.getpwnam("nobody").pw_uid)
        self.assertEqual(re.search("^Uid:(.*)", status, re.M).group(1).split(), [nobody] * 4)
        self.assertEqual(re.search("^CapPrm:(.*)", status, re.M).group(1).strip(), "0" * 16)
        with open("/proc/%d/environ" % agent) as f:
            self.assertNotIn("VEDETTE", f.read())
        self.secrets(server, port)

    def test_an_agent_of_the_servers_user_reads_nothing_private(self):
        if os.getuid() != 0:
            self.skipTest("needs root to become another user")
        server, port = self.start(through=[
            "setpriv", "--reuid=%d" % OTHER_USER, "--regid=%d" % OTHER_USER, "--clear-groups"])
        os.chown(server.folder, OTHER_USER, OTHER_USER)
        private = server.folder + "/private"
        with open(private, "w") as f:
            f.write(SECRET)
        os.chmod(private, 0o600)
        os.chown(private, OTHER_USER, OTHER_USER)
        os.chmod(server.folder, 0o755)
        server.start()
        bed.wait_for("an answer", lambda: ask(port, "agent.ping") == "1")
        self.assertIn("Permission denied", ask(port, "vfs.file.contents[%s]" % private))
        self.secrets(server, port)

    def test_the_agent_restarts_and_ends_with_the_server(self):
        server, port = self.start()
        server.start()
        bed.wait_for("an answer", lambda: ask(port, "agent.ping") == "1")
        agent = self.agent_of(server)
        os.kill(agent, signal.SIGKILL)
        bed.wait_for("another process", lambda: processes(server.process.pid) not in ([], [agent]))
        bed.wait_for("an answer", lambda: ask(port, "agent.ping") == "1")
        self.assertIn("the built-in agent ended; restarting", server.log())
        # However the server ends.
        agent = self.agent_of(server)
        server.kill()
        bed.wait_for("the agent to end", lambda: not os.path.exists("/proc/%d" % agent))

    def test_endless_checks_cost_no_core_and_do_not_keep_the_server(self):
        server, port = self.start(arguments=["--agent-keys", "DenyKey=vfs.file.owner[*]"])
        server.start()
        bed.wait_for("an answer", lambda: ask(port, "agent.ping") == "1")
        self.assertIn("Unsupported item key", ask(port, "vfs.file.owner[/etc/passwd]"))
        pipe, endless = server.folder + "/pipe", server.folder + "/endless"
        os.chmod(server.folder, 0o755)
        os.mkfifo(pipe, 0o644)
        with open(endless, "wb") as f:
            f.truncate(1 << 40)
        os.chmod(endless, 0o644)
        for key in ["vfs.file.contents[%s]" % pipe] * 150 + ["vfs.file.md5sum[/dev/zero]"]:
            self.assertIn("No such device or address", ask(port, key))
        self.assertIn("Timeout while evaluating", ask(port, "vfs.file.md5sum[%s]" % endless))
        agent = self.agent_of(server)

        def spent():
            with open("/proc/%d/stat" % agent) as f:
                fields = f.read().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])

        def idle():
            before = spent()
            time.sleep(1)
            return spent() - before < os.sysconf("SC_CLK_TCK") / 2
        bed.wait_for("the check's thread to end", idle)
        self.assertEqual(ask(port, "agent.ping"), "1")
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(bed.frame("vfs.file.md5sum[%s]" % endless))
            server.stop()
        self.assertIn("stopped", server.log())


if __name__ == "__main__":
    bed.main()
