"""Database servers of Debian 12 and 13, each in a folder of its own."""

import glob
import os
import shutil
import signal
import subprocess
import tempfile

import bed


def processes(pid):
    """A process and those that it started, by their ids."""
    found = [pid]
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            for child in file.read().split():
                found += processes(int(child))
    except FileNotFoundError:
        pass
    return found


def signal_all(pid, number):
    """Sends a signal to a process and those that it started."""
    for each in processes(pid):
        try:
            os.kill(each, number)
        except ProcessLookupError:
            pass


def answer_of(command, folder="/"):
    """What a program writes; an OSError with what it complains of when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
                          check=False)
    if done.returncode:
        raise OSError("%s: %s" % (command[0], done.stderr.decode(errors="replace")))
    return done.stdout


class Postgres:
    """A cluster of its own, run by the user postgres when this is root."""

    def __init__(self, settings=("fsync=off",)):
        self.folder = tempfile.mkdtemp(prefix="vedette-postgres-")
        os.chmod(self.folder, 0o755)
        self.bin = self.programs()
        self.data = os.path.join(self.folder, "data")
        self.port, self.settings = bed.free_port(), settings
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.make_data()
        self.start()

    def make_data(self):
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync",
                 "-E", "UTF8", "--locale=C")

    def programs(self):
        """The folder with PostgreSQL's programs."""
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not found:
            raise AssertionError("PostgreSQL is missing: scripts/install-packages test")
        return os.path.dirname(found[-1])

    def run(self, program, *arguments):
        """What a program of PostgreSQL answers."""
        return answer_of(self.command(program, *arguments), self.folder)

    def command(self, program, *arguments):
        command = [os.path.join(self.bin, program)] + list(arguments)
        return ["runuser", "-u", "postgres", "--"] + command if os.getuid() == 0 else command

    def start(self):
        options = "-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=%s" % (
            self.port, self.folder)
        for setting in self.settings:
            options += " -c " + setting
        self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(self.folder, "log"),
                 "-o", options, "start")

    def create(self, name):
        self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", name)
        return self.url(name)

    def url(self, name="", user="postgres"):
        return "postgresql://%s@127.0.0.1:%d/%s" % (user, self.port, name)

    def query(self, sql, database="postgres"):
        """What a statement answers, without the last line's end."""
        return self.run("psql", *self.psql(database), "-c", sql).decode().rstrip("\n")

    def psql(self, database):
        return ("-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-d", database,
                "-X", "-A", "-t", "-q")

    def session(self, database):
        """A psql that runs what is written to its stdin, and ends with that."""
        return subprocess.Popen(self.command("psql", *self.psql(database)), stdin=subprocess.PIPE, cwd=self.folder)

    def pid(self):
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            return int(file.readline())

    def kill(self):
        pids = processes(self.pid())
        signal_all(pids[0], signal.SIGKILL)
        bed.wait_for("the end of PostgreSQL",
                     lambda: not any(os.path.exists("/proc/%d" % pid) for pid in pids), pause=0.05)

    def pause(self):
        for pid in processes(self.pid()):
            bed.pause(pid)

    def go_on(self):
        signal_all(self.pid(), signal.SIGCONT)

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "fast", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


class Standby(Postgres):
    """A streaming standby. The primary confirms a commit when the standby has it as well."""

    def __init__(self, primary):
        self.primary = primary
        super().__init__()
        primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.query("SELECT pg_reload_conf()")
        bed.wait_for("the standby", lambda: primary.query(
            "SELECT sync_state FROM pg_stat_replication") == "sync", pause=0.05)

    def make_data(self):
        self.run("pg_basebackup", "-h", "127.0.0.1", "-p", str(self.primary.port), "-U", "postgres",
                 "-D", self.data, "--checkpoint=fast", "--write-recovery-conf", "--no-sync")

    def promote(self):
        self.run("pg_ctl", "-D", self.data, "-w", "promote")


class TimescaleDb(Postgres):
    """PostgreSQL 17 of Debian 13, with TimescaleDB in every database that is made."""

    def __init__(self, settings=("fsync=off",)):
        super().__init__((*settings, "shared_preload_libraries=timescaledb",
                          "timescaledb.telemetry_level=off"))
        self.query("CREATE EXTENSION timescaledb", "template1")

    def programs(self):
        script = os.path.join(bed.ROOT, "scripts", "new-timescaledb")
        tree = answer_of([script]).decode().strip()
        # The user postgres sees no folder of root's home.
        if os.getuid() == 0:
            tree = shutil.copytree(tree, os.path.join(self.folder, "programs"), symlinks=True)
        return os.path.join(tree, "usr/lib/postgresql/17/bin")


class MariaDb:
    """A server of its own, run by the user mysql when this is root."""

    def __init__(self, settings=("innodb-buffer-pool-size=32M",
                                 "innodb-flush-log-at-trx-commit=0")):
        self.folder = tempfile.mkdtemp(prefix="vedette-mariadb-")
        os.chmod(self.folder, 0o755)
        self.data, self.socket = os.path.join(self.folder, "data"), os.path.join(self.folder, "s")
        self.log = os.path.join(self.folder, "log")
        self.port, self.settings, self.user = bed.free_port(), settings, []
        if os.getuid() == 0:
            shutil.chown(self.folder, "mysql")
            self.user = ["--user=mysql"]
        subprocess.run(["mariadb-install-db", "--no-defaults", "--datadir=" + self.data,
                        "--auth-root-authentication-method=normal", "--skip-test-db"] + self.user,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.start()

    def start(self):
        """Started again while it ends by itself, as a supervisor would: who was killed may leave
        its port or its locks a moment later."""
        self.launch()
        try:
            bed.wait_for("MariaDB", self.answers, 120, pause=0.1)
        except AssertionError as late:
            raise AssertionError("%s; its log:\n%s" % (late, self.told())) from late

    def told(self):
        """The end of its log."""
        with open(self.log, errors="replace") as log:
            return log.read()[-3000:]

    def launch(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["/usr/sbin/mariadbd", "--no-defaults", "--datadir=" + self.data,
                 "--port=%d" % self.port, "--bind-address=127.0.0.1", "--socket=" + self.socket,
                 "--pid-file=%s/pid" % self.folder, "--skip-log-bin", "--performance-schema=OFF"]
                + ["--" + setting for setting in self.settings] + self.user,
                stdout=log, stderr=log)

    def answers(self):
        if self.process.poll() is not None:
            self.launch()
            raise OSError("mariadbd ended while it started")
        return self.query("SELECT 1")

    def run(self, sql):
        subprocess.run(["mariadb", "--no-defaults", "-S", self.socket, "-u", "root", "-e", sql],
                       check=True)

    def query(self, sql, database="", user="root"):
        """Rows of a statement, as lists of texts."""
        answer = answer_of(["mariadb", "--no-defaults", "-S", self.socket, "-u", user, "-N", "-B",
                            "-r", "-e", sql] + ([database] if database else []))
        return [line.split("\t") for line in answer.decode().splitlines()]

    def url(self, name="", user="root"):
        return "mysql://%s@127.0.0.1:%d/%s" % (user, self.port, name)

    def pid(self):
        return self.process.pid

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        bed.pause(self.process.pid)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)
