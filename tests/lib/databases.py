"""Database servers of Debian, each in a folder of its own."""

import glob
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

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


CLICKHOUSE_CONFIG = """<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>{dir}/log</log><errorlog>{dir}/errors</errorlog></logger>
  <http_port>{port}</http_port><tcp_port>{tcp}</tcp_port>
  <interserver_http_port>{inter}</interserver_http_port>
  <listen_host>127.0.0.1</listen_host>
  <max_concurrent_queries>50</max_concurrent_queries>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <mark_cache_size>67108864</mark_cache_size>
  <path>{dir}/data/</path><tmp_path>{dir}/tmp/</tmp_path>
  <user_files_path>{dir}/files/</user_files_path>
  <users_config>{dir}/users.xml</users_config>
  <default_profile>default</default_profile><default_database>default</default_database>
  <timezone>UTC</timezone><mlock_executable>false</mlock_executable>
</yandex>
"""

CLICKHOUSE_USERS = """<?xml version="1.0"?>
<yandex>
  <profiles><default><max_memory_usage>1000000000</max_memory_usage>
    <max_threads>2</max_threads></default></profiles>
  <users><default><password>{password}</password><networks><ip>127.0.0.0/8</ip></networks>
    <profile>default</profile><quota>default</quota></default></users>
  <quotas><default/></quotas>
</yandex>
"""


class ClickHouse:
    """Debian's ClickHouse server in a folder of its own."""

    def __init__(self, password=""):
        if not shutil.which("clickhouse-server"):
            raise AssertionError("ClickHouse is missing: scripts/install-packages stores")
        self.folder = tempfile.mkdtemp(prefix="vedette-clickhouse-")
        self.port, self.password, self.process = bed.free_port(), password, None
        fields = {"dir": self.folder, "port": self.port, "tcp": bed.free_port(),
                  "inter": bed.free_port(), "password": password}
        for name, text in (("config.xml", CLICKHOUSE_CONFIG), ("users.xml", CLICKHOUSE_USERS)):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text.format(**fields))
        self.start()

    def url(self, database=""):
        user = "default:%s@" % urllib.parse.quote(self.password) if self.password else ""
        return "http://%s127.0.0.1:%d/%s" % (user, self.port, database)

    def start(self):
        self.process = subprocess.Popen(
            ["clickhouse-server", "--config-file=" + os.path.join(self.folder, "config.xml")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        bed.wait_for("ClickHouse", lambda: self.query("SELECT 1") == "1", 30, pause=0.1)

    def query(self, sql, timeout=30):
        """What a statement answers, without the last line's end."""
        request = urllib.request.Request(
            "http://127.0.0.1:%d/" % self.port, sql.encode(),
            {"X-ClickHouse-User": "default", "X-ClickHouse-Key": self.password})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.read().decode().rstrip("\n")
        except urllib.error.HTTPError as problem:
            raise OSError(problem.read().decode()) from problem

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        if self.process.poll() is None:
            self.go_on()
            self.process.terminate()
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
