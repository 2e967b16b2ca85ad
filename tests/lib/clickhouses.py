"""ClickHouse, old and new, each in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import bed
from storeprocess import StoreProcess

CLICKHOUSE_CONFIG = """<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><console>true</console></logger>
  <http_port>{port}</http_port><tcp_port>{tcp}</tcp_port>
  <interserver_http_port>{inter}</interserver_http_port>
  <listen_host>127.0.0.1</listen_host>
  <max_concurrent_queries>50</max_concurrent_queries>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <mark_cache_size>67108864</mark_cache_size>
  <path>{dir}/data/</path><tmp_path>{dir}/tmp/</tmp_path>
  <user_files_path>{dir}/files/</user_files_path>
  <users_config>{dir}/users.xml</users_config>
  {cluster}
  <default_profile>default</default_profile><default_database>default</default_database>
  <timezone>UTC</timezone><mlock_executable>false</mlock_executable>
</yandex>
"""

CLICKHOUSE_USERS = """<?xml version="1.0"?>
<yandex>
  <profiles><default><max_memory_usage>1000000000</max_memory_usage>
    <max_threads>2</max_threads></default></profiles>
  <users><default><password>{password}</password><networks><ip>127.0.0.0/8</ip></networks>
    <profile>default</profile><quota>default</quota></default>{users}</users>
  <quotas><default/></quotas>
</yandex>
"""

# Before users could be made by statements, this was how one had a database of its own.
RESTRICTED = """<vedette><password>{password}</password><networks><ip>127.0.0.0/8</ip></networks>
    <profile>default</profile><quota>default</quota>
    <allow_databases><database>vedette</database></allow_databases></vedette>"""

CLUSTER = """<remote_servers><two>%s</two></remote_servers>"""
SHARD = """<shard><replica><host>127.0.0.1</host><port>%d</port>
    <user>default</user><password>%s</password></replica></shard>"""


class Http(StoreProcess):
    """A process that speaks ClickHouse's HTTP interface on loopback."""

    def __init__(self, password=""):
        self.folder = tempfile.mkdtemp(prefix="vedette-clickhouse-")
        self.port, self.password, self.process = bed.free_port(), password, None

    def command(self):
        raise NotImplementedError

    def host(self):
        return "127.0.0.1:%d" % self.port

    def user(self):
        return "default:%s@" % urllib.parse.quote(self.password) if self.password else ""

    def url(self, database=""):
        return "http://%s%s/%s" % (self.user(), self.host(), database)

    def start(self):
        with open(os.path.join(self.folder, "output"), "ab") as output:
            self.process = subprocess.Popen(
                self.command(), stdout=output, stderr=output, cwd=self.folder)
        bed.wait_for("ClickHouse", lambda: self.query("SELECT 1") == "1", pause=0.1)

    def query(self, sql, timeout=30, user="default"):
        """What a statement answers, without the last line's end."""
        request = urllib.request.Request(
            "http://%s/" % self.host(), sql.encode(),
            {"X-ClickHouse-User": user, "X-ClickHouse-Key": self.password})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.read().decode().rstrip("\n")
        except urllib.error.HTTPError as problem:
            raise OSError(problem.read().decode()) from problem


class ClickHouse(Http):
    """Debian's ClickHouse server, release 18."""

    def __init__(self, password="", tcp=None, cluster="", users=""):
        if not shutil.which("clickhouse-server"):
            raise AssertionError("ClickHouse is missing: scripts/install-packages stores")
        super().__init__(password)
        fields = {"dir": self.folder, "port": self.port, "tcp": tcp or bed.free_port(),
                  "inter": bed.free_port(), "cluster": cluster}
        with open(os.path.join(self.folder, "config.xml"), "w") as file:
            file.write(CLICKHOUSE_CONFIG.format(**fields))
        self.set_users(users.format(password=password))
        self.start()

    def set_users(self, users):
        """Those beside the default one."""
        with open(os.path.join(self.folder, "users.xml"), "w") as file:
            file.write(CLICKHOUSE_USERS.format(password=self.password, users=users))

    def command(self):
        return ["clickhouse-server", "--config-file=" + os.path.join(self.folder, "config.xml")]


class ClickHouses:
    """Two servers that know each other as the cluster `two`; each has a part of the items."""

    def __init__(self, password=""):
        ports = [bed.free_port(), bed.free_port()]
        cluster = CLUSTER % "".join(SHARD % (port, password) for port in ports)
        self.nodes = [ClickHouse(password, port, cluster) for port in ports]

    def url(self, database=""):
        hosts = ",".join(node.host() for node in self.nodes)
        return "http://%s%s/%s?cluster=two" % (self.nodes[0].user(), hosts, database)

    def stop(self):
        for node in self.nodes:
            node.stop()


class NewEngine(Http):
    """The engine of release 26 in a Python process; it knows no users."""

    def __init__(self):
        super().__init__()
        script = os.path.join(bed.ROOT, "scripts", "new-clickhouse")
        made = subprocess.run([script], check=True, stdout=subprocess.PIPE, text=True)
        self.python = made.stdout.strip()
        self.start()

    def command(self):
        here = os.path.dirname(os.path.abspath(__file__))
        return [self.python, os.path.join(here, "chdbserver.py"), str(self.port),
                os.path.join(self.folder, "data")]
