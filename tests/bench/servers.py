"""The servers that are measured: Vedette, and Zabbix 6.0 and 7.0 with PostgreSQL, tuned.

Each `up` starts from an empty installation, each `down` throws it away. All listen on loopback.
"""

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault("VEDETTE_BIN", os.path.join(ROOT, "target", "release", "vedette"))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
import bed  # noqa: E402

CACHE = os.environ.get("BENCH_CACHE", os.path.expanduser("~/.cache/vedette-bench"))

# What the field's servers are given: everything that made them faster when it was tried.
POSTGRESQL = [
    "synchronous_commit=off", "shared_buffers=2GB", "max_wal_size=8GB", "wal_buffers=64MB",
    "checkpoint_timeout=15min", "effective_cache_size=8GB", "max_wal_senders=0",
    "wal_level=minimal",
]
ZABBIX = [
    "StartTrappers=5", "StartDBSyncers=4", "StartPreprocessors=3", "CacheSize=2G",
    "HistoryCacheSize=1G", "HistoryIndexCacheSize=256M", "TrendCacheSize=256M",
    "ValueCacheSize=1G", "HousekeepingFrequency=0", "StartDiscoverers=1", "StartHTTPPollers=1",
    "StartPollersUnreachable=1", "StartPingers=1", "StartReportWriters=0",
]
# Processes for checks, by kind of load: "values" polls nothing.
POLLERS = {
    "6.0": {
        "values": ["StartPollers=5"],
        "checks": ["StartPollers=20"],
        "slow": ["StartPollers=1000", "Timeout=10"],
        "slow-quick": ["StartPollers=60", "Timeout=10"],
    },
    "7.0": {
        "values": ["StartPollers=2", "StartAgentPollers=1"],
        "checks": ["StartPollers=2", "StartAgentPollers=4", "MaxConcurrentChecksPerPoller=1000"],
        "slow": ["StartPollers=2", "StartAgentPollers=30", "MaxConcurrentChecksPerPoller=1000"],
        "snmp": ["StartPollers=2", "StartSNMPPollers=4", "MaxConcurrentChecksPerPoller=1000"],
        "web": ["StartPollers=2", "StartHTTPAgentPollers=4", "MaxConcurrentChecksPerPoller=1000"],
        "alerts": ["StartPollers=2", "StartAgentPollers=1", "StartEscalators=4", "StartAlerters=20"],
    },
}
SERVING_MAX_S = 120.0


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(argv, **options):
    """Runs a program to its end; its output. Says what it said when it fails."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode:
        raise RuntimeError("%s: %s" % (" ".join(argv[:8]), done.stdout.strip()[-2000:]))
    return done.stdout


def tree(roots):
    """The processes `roots` and all that descend from them."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError), open("/proc/%s/stat" % pid) as f:
            parents[int(pid)] = int(f.read().rsplit(")", 1)[1].split()[1])
    members = set(roots)
    while True:
        more = {pid for pid, parent in parents.items() if parent in members} - members
        if not more:
            return members
        members |= more


def pss_bytes(roots):
    """Resident memory of process trees; what processes share counts once."""
    total = 0
    for pid in tree(roots):
        with contextlib.suppress(OSError), open("/proc/%d/smaps_rollup" % pid) as f:
            found = re.search(r"^Pss:\s+(\d+) kB", f.read(), re.M)
            total += int(found.group(1)) * 1024 if found else 0
    return total


def cpu_s(roots):
    """CPU time of process trees; children that ended included."""
    ticks = 0
    for pid in tree(roots):
        with contextlib.suppress(OSError, IndexError), open("/proc/%d/stat" % pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def folder_bytes(folder):
    """Bytes that files take on the disk."""
    sizes = [os.stat(os.path.join(at, name)).st_blocks * 512
             for at, _, names in os.walk(folder) for name in names]
    return sum(sizes)


def takes_value(address, host, key):
    """A sender's value for an item is taken: the server knows its configuration and serves."""
    request = {"request": "sender data", "data": [{"host": host, "key": key, "value": "1"}]}
    try:
        reply = bed.send(address, request, timeout=5)
    except (OSError, ValueError):
        return False
    return bool(reply) and "processed: 1;" in reply.get("info", "")


def wait(what, check, seconds=SERVING_MAX_S, pause=0.005):
    """Seconds until `check` holds."""
    begin = time.monotonic()
    while not check():
        if time.monotonic() - begin > seconds:
            raise RuntimeError("waited %g s for %s" % (seconds, what))
        time.sleep(pause)
    return time.monotonic() - begin


class Vedette:
    """This clone's server."""

    key = "vedette"

    def __init__(self):
        self.name = "Vedette"
        self.version = run([bed.BINARY, "--version"]).split()[-1]
        self.settings = ["as it is installed"]
        self.server = None

    def up(self, load, quick=False):
        self.server = bed.Server()
        self.server.start()

    def down(self):
        if self.server:
            self.server.clean()
            self.server = None

    @property
    def address(self):
        return self.server.address

    def access(self):
        """Arguments of `vedette bench`, and its password."""
        return ["--api", self.server.url, "--user", "Admin"], bed.PASSWORD

    def api(self):
        return self.server.api()

    def pids(self):
        return [self.server.process.pid]

    def server_pids(self):
        return self.pids()

    def reload(self):
        """A change is live at once."""

    def stop(self, kill=False):
        self.server.kill() if kill else self.server.stop()

    def start(self):
        """Starts it again without waiting."""
        self.server.launch()

    def stored_bytes(self):
        """What history takes on the disk, its write-ahead log included."""
        return folder_bytes(os.path.join(self.server.folder, "data", "history"))

    def stored_values(self):
        """Not told: what was acknowledged is on the disk."""


class Zabbix:
    """One of the field's servers with its own PostgreSQL and front end."""

    def __init__(self, series):
        self.series = series
        self.key = "zabbix-" + series
        self.folder = None
        self.program, self.environment, share = PROGRAMS[series]()
        text = run(self.program + ["--version"], env=self.environment)
        self.version = re.search(r"\(Zabbix\) (\S+)", text).group(1)
        self.name = "Zabbix " + self.version
        self.settings = ["PostgreSQL 15: " + ", ".join(POSTGRESQL), ", ".join(ZABBIX)] + [
            "%s: %s" % (load, ", ".join(lines)) for load, lines in POLLERS[series].items()
            if not load.endswith("quick")]
        self.share = share
        self.database = os.path.join(CACHE, self.version + ".tar")
        self.front_end = os.path.join(CACHE, "front-end-" + self.version)
        self.processes = {}
        self.prepare()

    def prepare(self):
        """The front end, and a database with schema and initial data, both kept in the cache."""
        os.makedirs(CACHE, exist_ok=True)
        if not os.path.exists(self.front_end):
            part = self.front_end + ".part"
            shutil.rmtree(part, ignore_errors=True)
            shutil.copytree(os.path.join(self.share, "zabbix"), part,
                            ignore_dangling_symlinks=True)
            source = os.path.join(part, "include/classes/core/CConfigFile.php")
            with open(source) as f:
                text = f.read()
            text, count = re.subn(r"const CONFIG_FILE_PATH = '[^']*';",
                                  "const CONFIG_FILE_PATH = BENCH_CONFIGURATION;", text)
            if count != 1:
                raise RuntimeError("%s names its configuration file in a new way" % source)
            with open(source, "w") as f:
                f.write(text)
            with open(os.path.join(part, "bench.php"), "w") as f:
                f.write("<?php define('BENCH_CONFIGURATION', getenv('BENCH_CONFIGURATION'));\n")
            os.rename(part, self.front_end)
        if os.path.exists(self.database):
            return
        say("%s: making its database" % self.name)
        self.make_folder()
        try:
            data = os.path.join(self.folder, "data")
            run(as_database([pg("initdb"), "-D", data, "-A", "trust", "-U", "postgres", "--no-sync",
                             "-E", "UTF8", "--locale=C"]), cwd="/")
            self.start_database(100)
            self.sql("CREATE ROLE zabbix LOGIN SUPERUSER", "postgres", "postgres")
            self.sql("CREATE DATABASE zabbix OWNER zabbix", "postgres", "postgres")
            for name in ("schema", "images", "data"):
                script = os.path.join(self.share, "zabbix-server-pgsql", name + ".sql.gz")
                text = subprocess.run(["gzip", "-dc", script], check=True, capture_output=True)
                self.sql(text.stdout.decode())
            self.sql("VACUUM ANALYZE")
            self.stop_database()
            run(["tar", "-C", self.folder, "-cf", self.database + ".part", "data"])
            os.rename(self.database + ".part", self.database)
        finally:
            self.down()

    def make_folder(self):
        self.folder = tempfile.mkdtemp(prefix="vedette-bench-", dir="/tmp")
        os.chmod(self.folder, 0o711)
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)

    def start_database(self, connections):
        self.database_port = bed.free_port()
        options = POSTGRESQL + ["listen_addresses=127.0.0.1", "max_connections=%d" % connections,
                                "unix_socket_directories=" + self.folder]
        words = "-p %d %s" % (self.database_port, " ".join("-c " + line for line in options))
        # Its output goes to its log: a pipe would stay open as long as it runs.
        run(as_database([pg("pg_ctl"), "-D", os.path.join(self.folder, "data"), "-w", "-t", "60",
                         "-l", os.path.join(self.folder, "postgresql.log"), "-o", words, "start"]),
            cwd="/")

    def stop_database(self):
        data = os.path.join(self.folder, "data")
        if os.path.exists(os.path.join(data, "postmaster.pid")):
            run(as_database([pg("pg_ctl"), "-D", data, "-w", "-m", "fast", "stop"]), cwd="/")

    def sql(self, text, user="zabbix", database="zabbix"):
        """What psql prints, rows without decoration."""
        return run([pg("psql"), "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
                    str(self.database_port), "-U", user, "-f", "-", database], input=text).strip()

    def up(self, load, quick=False):
        lines = POLLERS[self.series]
        lines = lines.get(load + "-quick", lines[load]) if quick else lines[load]
        self.make_folder()
        run(["tar", "-C", self.folder, "-xf", self.database])
        # Each process of this server has a connection of its own.
        processes = sum(int(n) for n in re.findall(r"Start\w+=(\d+)", " ".join(lines)))
        self.start_database(processes + 150)
        self.trapper, self.http = bed.free_port(), bed.free_port()
        self.configuration = os.path.join(self.folder, "server.conf")
        with open(self.configuration, "w") as f:
            f.write("\n".join([
                "ListenIP=127.0.0.1", "ListenPort=%d" % self.trapper, "LogType=console",
                "AllowRoot=1", "PidFile=%s/server.pid" % self.folder, "SocketDir=" + self.folder,
                "DBHost=127.0.0.1", "DBPort=%d" % self.database_port, "DBName=zabbix",
                "DBUser=zabbix", "FpingLocation=" + (shutil.which("fping") or "/usr/bin/fping"),
                "Fping6Location=", "StatsAllowedIP=127.0.0.1"] + ZABBIX + lines) + "\n")
        self.start()
        self.start_front_end()
        wait("the server's port", self.serves)

    def start_front_end(self):
        settings = {"TYPE": "POSTGRESQL", "SERVER": "127.0.0.1", "PORT": self.database_port,
                    "DATABASE": "zabbix", "USER": "zabbix", "PASSWORD": "", "SCHEMA": "",
                    "ENCRYPTION": "", "VAULT": "", "DOUBLE_IEEE754": "1"}
        path = os.path.join(self.folder, "front-end.php")
        with open(path, "w") as f:
            f.write("<?php\n" + "".join("$DB['%s'] = '%s';\n" % pair for pair in settings.items()))
            f.write("$ZBX_SERVER = '127.0.0.1';\n$ZBX_SERVER_PORT = '%d';\n" % self.trapper)
        options = ["auto_prepend_file=" + os.path.join(self.front_end, "bench.php"),
                   "memory_limit=4G", "post_max_size=256M", "max_execution_time=900",
                   "date.timezone=UTC", "display_errors=0", "session.save_path=" + self.folder,
                   "opcache.enable_cli=1"]
        words = [word for option in options for word in ("-d", option)]
        self.launch("front-end", [shutil.which("php") or "php"] + words + [
            "-S", "127.0.0.1:%d" % self.http, "-t", self.front_end],
            dict(os.environ, BENCH_CONFIGURATION=path, PHP_CLI_SERVER_WORKERS="2"))
        wait("the front end", lambda: self.answers(), 60, 0.1)

    def answers(self):
        with contextlib.suppress(OSError, ValueError):
            return bool(bed.Api(self.url).call("apiinfo.version", []))
        return False

    def serves(self):
        if self.processes["server"].poll() is not None:
            with open(os.path.join(self.folder, "server.log"), errors="replace") as f:
                raise RuntimeError("the server ended: " + f.read()[-500:])
        with contextlib.suppress(OSError, ValueError):
            # Any JSON answer: it takes requests.
            return bed.send(self.address, {"request": "active checks", "host": "nobody"},
                            timeout=5) is not None
        return False

    def launch(self, what, argv, environment):
        log = open(os.path.join(self.folder, what + ".log"), "ab")
        with log:
            self.processes[what] = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                start_new_session=True, cwd=self.folder)

    def start(self):
        self.launch("server", self.program + ["-f", "-c", self.configuration], self.environment)

    def stop(self, kill=False):
        self.end("server", signal.SIGKILL if kill else signal.SIGTERM)

    def end(self, what, number):
        process = self.processes.pop(what, None)
        if not process:
            return
        with contextlib.suppress(ProcessLookupError):
            # A killed server leaves its children: they are of its own session.
            if number == signal.SIGKILL or what == "front-end":
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
        try:
            process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        wait("its children to end", lambda: not session_lives(process.pid), 30, 0.02)

    def down(self):
        if not self.folder:
            return
        for what in list(self.processes):
            self.end(what, signal.SIGKILL)
        with contextlib.suppress(RuntimeError):
            self.stop_database()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None

    @property
    def url(self):
        return "http://127.0.0.1:%d/api_jsonrpc.php" % self.http

    @property
    def address(self):
        return ("127.0.0.1", self.trapper)

    def access(self):
        return ["--api", self.url, "--user", "Admin"], "zabbix"

    def api(self):
        return bed.Api(self.url).login("Admin", "zabbix")

    def server_pids(self):
        return [self.processes["server"].pid]

    def pids(self):
        with open(os.path.join(self.folder, "data", "postmaster.pid")) as f:
            return self.server_pids() + [int(f.readline())]

    def reload(self):
        """Reads the configuration now instead of in a minute (6.0) or ten seconds (7.0)."""
        subprocess.run(self.program + ["-c", self.configuration, "-R", "config_cache_reload"],
                       env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stored_values(self):
        return sum(int(self.sql("SELECT count(*) FROM " + table))
                   for table in ("history", "history_uint", "history_str"))

    def stored_bytes(self):
        return int(self.sql("SELECT sum(pg_total_relation_size(c::regclass)) FROM (VALUES "
                            "('history'), ('history_uint'), ('history_str')) t(c)"))


def session_lives(leader):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError), open("/proc/%s/stat" % pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
            if int(fields[3]) == leader and fields[0] != "Z":
                return True
    return False


def pg(name):
    """A program of PostgreSQL, which Debian keeps out of the path."""
    places = []
    base = "/usr/lib/postgresql"
    if os.path.isdir(base):
        versions = sorted(filter(str.isdigit, os.listdir(base)), key=int, reverse=True)
        places = [os.path.join(base, version, "bin", name) for version in versions]
    found = next(filter(os.path.exists, places), None) or shutil.which(name)
    if not found:
        raise RuntimeError("%s is missing: install the package postgresql" % name)
    return found


def as_database(argv):
    return ["runuser", "-u", "postgres", "--"] + argv if os.geteuid() == 0 else argv


def zabbix_70():
    """Argument prefix, environment and share folder of the 7.0 of VEDETTE_SHARED."""
    import reference
    run([reference.TOOL, "setup"])
    program = reference.program("server")
    root = program[-1].rsplit("/usr/sbin/", 1)[0]
    return program, None, os.path.join(root, "usr", "share")


def zabbix_60():
    """The same of Debian 12's packages, unpacked into the cache, not installed."""
    root = os.path.join(CACHE, "debian-6.0")
    if not os.path.exists(root):
        say("Zabbix 6.0: downloading Debian's packages")
        archives, part = os.path.join(CACHE, "archives"), root + ".part"
        shutil.rmtree(part, ignore_errors=True)
        os.makedirs(os.path.join(archives, "partial"), exist_ok=True)
        run(["apt-get", "-o", "Debug::NoLocking=1", "-o", "Dir::Cache::archives=" + archives,
             "install", "-y", "--download-only", "--no-install-recommends",
             "zabbix-server-pgsql", "zabbix-frontend-php"])
        for name in os.listdir(archives):
            if re.match(r"(zabbix|lib)\S+\.deb$", name):
                run(["dpkg", "-x", os.path.join(archives, name), part])
        shutil.rmtree(archives)
        os.rename(part, root)
    libraries = [os.path.join(root, "usr", "lib", name)
                 for name in os.listdir(os.path.join(root, "usr", "lib")) if "linux" in name]
    environment = dict(os.environ, LD_LIBRARY_PATH=":".join(libraries))
    program = os.path.join(root, "usr", "sbin", "zabbix_server")
    return [program], environment, os.path.join(root, "usr", "share")


PROGRAMS = {"6.0": zabbix_60, "7.0": zabbix_70}
