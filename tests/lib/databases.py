"""Database servers of Debian, each in a folder of its own."""

import glob
import os
import shutil
import subprocess
import tempfile

import bed


class Postgres:
    """A cluster of its own, run by the user postgres when this is root."""

    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not found:
            raise AssertionError("PostgreSQL is missing: scripts/install-packages test")
        self.bin = os.path.dirname(found[-1])
        self.folder = tempfile.mkdtemp(prefix="vedette-postgres-")
        os.chmod(self.folder, 0o755)
        self.data = os.path.join(self.folder, "data")
        self.port = bed.free_port()
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync",
                 "-E", "UTF8", "--locale=C")
        options = "-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=%s -c fsync=off" % (
            self.port, self.folder)
        self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(self.folder, "log"),
                 "-o", options, "start")

    def run(self, program, *arguments):
        command = [os.path.join(self.bin, program)] + list(arguments)
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--"] + command
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def create(self, name):
        self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", name)
        return "postgresql://postgres@127.0.0.1:%d/%s" % (self.port, name)

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "fast", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


class MariaDb:
    """A server of its own, run by the user mysql when this is root."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="vedette-mariadb-")
        os.chmod(self.folder, 0o755)
        self.data, self.socket = os.path.join(self.folder, "data"), os.path.join(self.folder, "s")
        self.port = bed.free_port()
        user = []
        if os.getuid() == 0:
            shutil.chown(self.folder, "mysql")
            user = ["--user=mysql"]
        subprocess.run(["mariadb-install-db", "--no-defaults", "--datadir=" + self.data,
                        "--auth-root-authentication-method=normal", "--skip-test-db"] + user,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen(
            ["/usr/sbin/mariadbd", "--no-defaults", "--datadir=" + self.data,
             "--port=%d" % self.port, "--bind-address=127.0.0.1", "--socket=" + self.socket,
             "--pid-file=%s/pid" % self.folder, "--innodb-buffer-pool-size=32M",
             "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin", "--performance-schema=OFF"]
            + user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        bed.wait_for("MariaDB", lambda: os.path.exists(self.socket), 30, pause=0.1)

    def run(self, sql):
        subprocess.run(["mariadb", "--no-defaults", "-S", self.socket, "-u", "root", "-e", sql],
                       check=True)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)
