"""Networks for tests: a process enters one of its own, with its own ports, routes and settings of the kernel."""

import contextlib
import ctypes
import os
import subprocess

NEW_NETWORK, NEW_USERS = 0x40000000, 0x10000000

libc = ctypes.CDLL(None, use_errno=True)


def enter():
    """Moves this process, which has one thread, and those that it starts to an empty network with loopback."""
    # Clients that do not run for half a second look like clients that hang: builds beside the test wait.
    with contextlib.suppress(PermissionError):
        os.nice(-10)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(NEW_NETWORK | (NEW_USERS if user else 0)):
        raise AssertionError("a network for tests wants root with CAP_SYS_ADMIN, or namespaces of users: %s"
                             % os.strerror(ctypes.get_errno()))
    if user:
        # Everything is as it was, but that interfaces can be changed.
        for name, text in (("setgroups", "deny"), ("uid_map", "0 %d 1" % user), ("gid_map", "0 %d 1" % group)):
            with open("/proc/self/" + name, "w", encoding="utf-8") as file:
                file.write(text)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def setting(name, value):
    """Changes a setting of this network, such as net.ipv4.tcp_migrate_req."""
    with open("/proc/sys/" + name.replace(".", "/"), "w", encoding="utf-8") as file:
        file.write(str(value))


def join(namespace):
    """Moves the calling thread to the network of an open file of /proc/PID/ns/net."""
    if libc.setns(namespace.fileno(), NEW_NETWORK):
        raise AssertionError("setns: %s" % os.strerror(ctypes.get_errno()))
