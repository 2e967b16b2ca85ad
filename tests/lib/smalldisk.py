"""A disk that tests fill: a tmpfs whose size is changed while it is in use.

It is seen by this process and those that it starts alone, and goes with them. Root makes it in a
namespace of mounts, anybody else in one of users and mounts too: where neither is allowed (a
container without rights), the test fails and says so.
"""

import ctypes
import os
import tempfile

NEW_MOUNTS, NEW_USERS = 0x00020000, 0x10000000
REMOUNT, RECURSIVE, PRIVATE, DETACH = 0x20, 0x4000, 0x40000, 2
PAGE = 4096
# As large as if there were no limit: only what is used takes memory.
ROOM = 4 << 30

libc = ctypes.CDLL(None, use_errno=True)


def call(what, function, *arguments):
    if function(*arguments):
        number = ctypes.get_errno()
        raise AssertionError("%s: %s; a small disk for tests wants root with CAP_SYS_ADMIN, or "
                             "namespaces of users (kernel.unprivileged_userns_clone, "
                             "user.max_user_namespaces)" % (what, os.strerror(number)))


def mount(kind, folder, flags, options=b""):
    call("mount", libc.mount, kind, folder.encode(), kind, flags, options)


class Namespace:
    """Entered once in a process, while it has one thread."""

    entered = False

    @classmethod
    def enter(cls):
        if cls.entered:
            return
        user, group = os.geteuid(), os.getegid()
        call("unshare", libc.unshare, NEW_MOUNTS | (NEW_USERS if user else 0))
        if user:
            # Everything is as it was, but that mounting is allowed.
            for name, text in (("setgroups", "deny"), ("uid_map", "%d %d 1" % (user, user)),
                               ("gid_map", "%d %d 1" % (group, group))):
                with open("/proc/self/" + name, "w") as file:
                    file.write(text)
        mount(None, "/", RECURSIVE | PRIVATE)
        cls.entered = True


class SmallDisk:
    """Empty, and with much room."""

    def __init__(self):
        Namespace.enter()
        self.folder = tempfile.mkdtemp(prefix="vedette-disk-")
        mount(b"tmpfs", self.folder, 0, b"mode=1777,size=%d" % ROOM)

    def resize(self, size):
        mount(b"tmpfs", self.folder, REMOUNT, b"size=%d" % size)

    def fill(self, left=0):
        """Leaves so many bytes."""
        disk = os.statvfs(self.folder)
        used = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        self.resize(max(used + left, PAGE))

    def make_room(self):
        self.resize(ROOM)

    def remove(self):
        call("umount", libc.umount2, self.folder.encode(), DETACH)
        os.rmdir(self.folder)
