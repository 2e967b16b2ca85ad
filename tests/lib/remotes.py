"""What checks over sessions and programs ask: real peers, and cases that say what must come back.

The same cases go to a real server 7.0, which shows that they are right.
"""

import getpass
import json
import os
import secrets
import shutil
import subprocess
import tempfile

import bed
import databases
import telnetd

SCRIPT, DATABASE, SSH, TELNET, JMX = 21, 11, 13, 14, 16
PASSWORD = "pass-of-a-test"
#: Of checks that end by themselves, and of those whose result is that they do not.
ENOUGH, SHORT = "30s", "3s"
PSQL = "Driver=PostgreSQL Unicode;Servername=127.0.0.1;Port=%d;Database=monitored"


class Sshd:
    """Two OpenSSH servers of one user: keys and passwords; passwords in a dialogue."""

    def __init__(self, keys):
        self.folder = tempfile.mkdtemp(prefix="vedette-sshd-")
        os.makedirs(keys, exist_ok=True)
        for name, phrase in (("plain", ""), ("locked", "phrase")):
            self._keygen(os.path.join(keys, name), phrase)
        shutil.copy(os.path.join(keys, "plain.pub"), self.folder + "/authorized")
        with open(self.folder + "/authorized", "a") as f, open(keys + "/locked.pub") as key:
            f.write(key.read())
        self._keygen(self.folder + "/host", "")
        self._keygen(os.path.join(keys, "stranger"), "")
        self.processes = []
        self.user, self.own_user = getpass.getuser(), os.getuid() == 0
        if self.own_user:
            os.makedirs("/run/sshd", exist_ok=True)
            self._add_user()
        self.port = self._start("UsePAM no", "PasswordAuthentication yes", "Subsystem echo /bin/cat")
        self.dialogue = self._start(
            "UsePAM yes", "PasswordAuthentication no", "KbdInteractiveAuthentication yes",
            "AuthenticationMethods keyboard-interactive")

    def _add_user(self):
        """A user whose password is known; only root can make one."""
        self.user = "vedette" + secrets.token_hex(4)
        digest = subprocess.run(["openssl", "passwd", "-6", PASSWORD], check=True,
                                capture_output=True, text=True).stdout.strip()
        subprocess.run(["useradd", "--home-dir", self.folder, "-p", digest, self.user], check=True)
        os.chmod(self.folder, 0o755)

    @staticmethod
    def _keygen(path, phrase):
        subprocess.run(["ssh-keygen", "-q", "-t", "rsa" if phrase else "ed25519", "-N", phrase,
                        "-f", path], check=True)

    def _start(self, *lines):
        port = bed.free_port()
        config = "%s/config-%d" % (self.folder, port)
        with open(config, "w") as f:
            f.write("\n".join((
                "Port %d" % port, "ListenAddress 127.0.0.1", "HostKey %s/host" % self.folder,
                "PidFile none", "AuthorizedKeysFile %s/authorized" % self.folder,
                "StrictModes no", "MaxStartups 100", "UseDNS no") + lines) + "\n")
        with open(self.folder + "/log", "ab") as log:
            self.processes.append(subprocess.Popen(
                ["/usr/sbin/sshd", "-D", "-e", "-f", config], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL))
        bed.wait_for("sshd", lambda: bed.listens(port), pause=0.05)
        return port

    def stop(self):
        for process in self.processes:
            process.terminate()
            process.wait(timeout=60)
        if self.own_user:
            subprocess.run(["userdel", "-f", self.user], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


class Gateway:
    """Debian's Java gateway, which is a Java program with JMX itself."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="vedette-java-")
        for name, line in (("passwords", "monitor secret"), ("rights", "monitor readonly")):
            path = os.path.join(self.folder, name)
            with open(path, "w") as f:
                f.write(line + "\n")
            os.chmod(path, 0o600)
        # The gateway takes no port above 32767 either.
        self.port, self.jmx = bed.free_port(), bed.free_port()
        remote = "-Dcom.sun.management.jmxremote."
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen([
                "java", "-Xmx64m", "-XX:+UseSerialGC",
                "-cp", ":".join(["/usr/sbin/zabbix-java-gateway.jar"] + [
                    "/usr/share/java/%s.jar" % name for name in (
                        "com.android.json", "logback-core", "logback-classic", "slf4j-api")]),
                # Its longest; the default is 3 s, in which a busy machine starts no connection to JMX.
                "-Dzabbix.timeout=30", "-Dzabbix.listenPort=%d" % self.port, "-Dzabbix.listenIP=127.0.0.1",
                "-Djava.rmi.server.hostname=127.0.0.1", remote + "host=127.0.0.1",
                remote + "port=%d" % self.jmx, remote + "rmi.port=%d" % self.jmx,
                remote + "ssl=false", remote + "authenticate=true",
                remote + "password.file=%s/passwords" % self.folder,
                remote + "access.file=%s/rights" % self.folder,
                "com.zabbix.gateway.JavaGateway"], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL)
        bed.wait_for("the Java gateway", lambda: bed.listens(self.port) and bed.listens(self.jmx), pause=0.1)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)


class Peers:
    """All of them, and what the server has to be told."""

    def __init__(self):
        self.started = []
        self.folder = tempfile.mkdtemp(prefix="vedette-remote-")
        os.chmod(self.folder, 0o755)
        self.keys = self.folder + "/keys"
        self.odbc_ini = self.folder + "/odbc.ini"
        try:
            self.ssh = self._own(Sshd(self.keys))
            self.telnet = self._own(telnetd.Server())
            self.silent = self._own(telnetd.Server(silent=True))
            self.gateway = self._own(Gateway())
            self.postgres = self._own(databases.Postgres())
            self.postgres.create("monitored")
            self.mariadb = self._own(databases.MariaDb())
        except BaseException:
            self.stop()
            raise
        self.mariadb.run("create user monitor@'%%' identified by '%s'" % PASSWORD)
        with open(self.odbc_ini, "w") as f:
            f.write("[pg]\nDriver = PostgreSQL Unicode\nServername = 127.0.0.1\nPort = %d\n"
                    "Database = monitored\n[maria]\nDriver = MariaDB Unicode\n"
                    "Server = 127.0.0.1\nPort = %d\n" % (self.postgres.port, self.mariadb.port))

    def _own(self, peer):
        self.started.append(peer)
        return peer

    def stop(self):
        for peer in reversed(self.started):
            peer.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def scripts():
    """Type, name, members of the item, and what comes: a text, or the start of an error."""
    both = {"a": "b \" c", "x": "\u00e4"}
    for script, parameters, expected in (
            ("return value", both, json.dumps(both, ensure_ascii=False, separators=(",", ":"))),
            ("return value", {}, "{}"),
            ("return JSON.parse(value).a", both, both["a"]),
            ("return null", {}, ""),
            ("return '  x \\n\\n'", {}, "  x \n\n"),
            ("return 1.5", {}, "1.5"),
            ("return {a: 1}", {}, "[object Object]"),
            ("const a = 1; return a", {}, "1"),
            ("Zabbix.sleep(100); return 1", {}, "1"),
            ("", {}, Exception("Cannot execute script: undefined return value")),
            ("return (", {}, Exception("Cannot compile script: SyntaxError: ")),
            ("throw 'why'", {}, Exception("Cannot execute script: why")),
            ("throw new Error('why')", {}, Exception("Cannot execute script: Error: why")),
            ("return nosuch()", {}, Exception("Cannot execute script: ReferenceError: ")),
            ("return new HttpRequest().get('http://127.0.0.1:1/')", {}, Exception(
                "Cannot execute script: Error: cannot get URL: Could not connect to server.")),
            ("while (true) {}", {}, Exception("Cannot execute script: "))):
        yield {"type": SCRIPT, "key": "s", "params": script, "parameters": parameters,
               "timeout": SHORT if "while" in script else ENOUGH}, expected


def ssh(peers):
    own = "ssh.run[a,127.0.0.1,%d%s]"
    port = peers.ssh.port
    plain = {"authtype": "1", "publickey": "plain.pub", "privatekey": "plain", "password": ""}
    locked = {"authtype": "1", "publickey": "locked.pub", "privatekey": "locked"}
    word = {"authtype": "0", "password": PASSWORD}
    key = own % (port, "")
    for key, how, command, expected in (
            (key, plain, "echo out; echo err >&2; exit 3", "out"),
            (key, plain, "printf ' a\\n\\n b \\n\\n'", " a\n\n b"),
            (key, plain, "echo one\r\necho two\r\n", "one\ntwo"),
            (key, plain, "true", ""),
            (key, plain, "printf '\\344'", "?"),
            (own % (port, ",iso-8859-1"), plain, "printf '\\344'", "\u00e4"),
            (own % (port, ",nosuch"), plain, "printf '\\344'",
             Exception("Cannot convert data from SSH server to utf8: ")),
            (key, dict(locked, password="phrase"), "echo hi", "hi"),
            (key, dict(locked, password="wrong"), "echo hi",
             Exception("Public key authentication failed: ")),
            (key, dict(plain, privatekey="stranger", publickey="stranger.pub"), "echo hi",
             Exception("Public key authentication failed: ")),
            (key, dict(plain, publickey="none"), "echo hi",
             Exception("Cannot access public key file ")),
            (key, dict(plain, privatekey="none"), "echo hi",
             Exception("Cannot access private key file ")),
            (key, word, "echo hi", "hi"),
            (key, dict(word, password="wrong"), "echo hi",
             Exception("Password authentication failed: ")),
            (own % (peers.ssh.dialogue, ""), word, "echo hi", "hi"),
            (own % (peers.ssh.dialogue, ""), dict(word, password="wrong"), "echo hi",
             Exception("Keyboard-interactive authentication failed: ")),
            (key, plain, "sleep 60", Exception("Cannot read data from SSH server: timeout")),
            (key, plain, "head -c 20000000 /dev/zero",
             Exception("Command output exceeded limit of 16384 KB")),
            (own % (port, ",,KexAlgorithms=diffie-hellman-group14-sha256"), plain, "echo hi", "hi"),
            (own % (port, ",,\"Ciphers=aes256-ctr;MACs=hmac-sha2-256\""), plain, "echo hi", "hi"),
            (own % (port, ",,KexAlgorithms=diffie-hellman-group1-sha1"), plain, "echo hi",
             Exception("Cannot establish SSH session: ")),
            (own % (port, ",,KexAlgorithms=nosuch"), plain, "echo hi",
             Exception("Cannot establish SSH session: ")),
            (own % (port, ",,Nosuch=x"), plain, "echo hi",
             Exception("SSH option \"Nosuch\" is not supported.")),
            (own % (peers.telnet.port, ""), plain, "echo hi", Exception("Cannot ")),
            (own % (1, ""), plain, "echo hi", Exception(
                "Cannot connect to SSH server: cannot connect to [[127.0.0.1]:1]: ")),
            ("ssh.run[a,nohost.invalid]", plain, "echo hi",
             Exception("Cannot connect to SSH server: ")),
            (own % (99999, ""), plain, "echo hi", Exception("Invalid third parameter.")),
            (own % (port, ",,,,,"), plain, "echo hi", Exception("Too many parameters.")),
            ("ssh.foo[a]", plain, "echo hi", Exception("Unsupported item key for this item type.")),
            ("ssh.run[a", plain, "echo hi", Exception("Invalid item key format."))):
        if how["authtype"] == "0" and not peers.ssh.own_user:
            continue
        yield dict({"type": SSH, "key": key, "params": command, "username": peers.ssh.user,
                    "timeout": SHORT if "sleep" in command else ENOUGH}, **how), expected


def telnet(peers):
    own = "telnet.run[a,127.0.0.1,%d%s]"
    key = own % (peers.telnet.port, "")
    right = {"username": telnetd.USER, "password": telnetd.PASSWORD}
    for key, how, command, expected in (
            (key, {}, "show", "one\ntwo\n"),
            (key, {}, "prompt", "a > b"),
            (key, {}, "crnul", "ab"),
            (key, {}, "empty", ""),
            (key, {}, "nonl", ""),
            (key, {}, "x", "unknown: x"),
            (key, {}, "show\nprompt", "show\none\ntwo\n\nhost> prompt\na > b"),
            (own % (peers.telnet.port, ",iso-8859-1"), {}, "latin", "\u00e4"),
            (key, {}, "close", Exception("Cannot find prompt after command execution: ")),
            (key, {}, "hang", Exception("Cannot find prompt after command execution: timeout")),
            (key, {"password": "wrong"}, "show", Exception("Login failed.")),
            (own % (peers.silent.port, ""), {}, "show", Exception("No login prompt.")),
            (own % (1, ""), {}, "show", Exception(
                "Cannot connect to TELNET server: cannot connect to [[127.0.0.1]:1]: ")),
            (own % (1, ",,x"), {}, "show", Exception("Too many parameters.")),
            ("telnet.foo[a]", {}, "show", Exception("Unsupported item key for this item type."))):
        endless = command == "hang" or key == own % (peers.silent.port, "")
        yield dict({"type": TELNET, "key": key, "params": command, "timeout": SHORT if endless else ENOUGH},
                   **dict(right, **how)), expected


def jmx(peers):
    own = {"type": JMX, "username": "monitor", "password": "secret", "timeout": ENOUGH,
           "jmx_endpoint": "service:jmx:rmi:///jndi/rmi://127.0.0.1:%d/jmxrmi" % peers.gateway.jmx}
    closed = own["jmx_endpoint"].replace(str(peers.gateway.jmx), "1")
    memory = "jmx[\"java.lang:type=Memory\",%s]"
    for key, how, expected in (
            (memory % "Verbose", {}, "false"),
            ("jmx.discovery[beans,\"java.lang:type=Mem*\"]", {},
             "{\"data\":[{\"{#JMXOBJ}\":\"java.lang:type=Memory\",\"{#JMXDOMAIN}\":\"java.lang\","
             "\"{#JMXTYPE}\":\"Memory\"}]}"),
            (memory % "Nosuch", {}, Exception("Attribute not found: No such attribute: Nosuch")),
            ("nosuch[a]", {}, Exception("key ID 'nosuch' is not supported")),
            (memory % "Verbose", {"password": "wrong"}, Exception("Invalid username or password")),
            (memory % "Verbose", {"jmx_endpoint": closed}, Exception("Connection refused")),
            (memory % "Verbose", {"jmx_endpoint": "nonsense"}, Exception(
                "java.net.MalformedURLException"))):
        yield dict(own, key=key, **how), expected


def odbc(peers):
    pg = {"username": "postgres"}
    maria = {"username": "monitor", "password": PASSWORD}
    text = PSQL % peers.postgres.port
    select, get, find = ("db.odbc.%s[a,%%s]" % name for name in ("select", "get", "discovery"))
    rows = "select 1 as a, 'x' as \"B\", null as d union all select 2, 'y', '' order by 1"
    doubled = "select 1 as a, 2 as a"
    failed, no_dsn = "Cannot execute ODBC query: [SQL_ERROR]:", "Cannot connect to ODBC DSN: "
    for key, how, query, expected in (
            (select % "pg", pg, "select 1", "1"),
            (select % (",\"%s\"" % text), pg, "select 1;", "1"),
            (select % "pg", pg, "select 'x  '", "x"),
            (select % "pg", pg, "select 1.50::numeric(10,2)", "1.50"),
            (select % "pg", pg, "select 0.1::float8", "0.1"),
            (select % "pg", pg, "select true", "1"),
            (select % "pg", pg, "select date '2020-01-02'", "2020-01-02"),
            (select % "pg", pg, "select '\u00e4\u20ac\U0001f600'", "\u00e4\u20ac\U0001f600"),
            (select % "pg", pg, "select repeat('x', 5000)", "x" * 5000),
            (select % "pg", pg, "select generate_series(1, 3)", "1"),
            (select % "pg", pg, "select null", Exception("SQL query returned NULL value.")),
            (select % "pg", pg, "select 1 where false",
             Exception("SQL query returned empty result.")),
            (select % "pg", pg, "", Exception("SQL query cannot be empty.")),
            (select % "pg", pg, "nonsense", Exception(failed + "[42601][1][ERROR: ")),
            (select % "pg", pg, "select pg_sleep(60)", Exception(failed + "[57014][1][ERROR: ")),
            (get % "pg", pg, rows, "[{\"a\":\"1\",\"B\":\"x\",\"d\":null},"
             "{\"a\":\"2\",\"B\":\"y\",\"d\":\"\"}]"),
            (find % "pg", pg, rows, "[{\"{#A}\":\"1\",\"{#B}\":\"x\",\"{#D}\":null},"
             "{\"{#A}\":\"2\",\"{#B}\":\"y\",\"{#D}\":\"\"}]"),
            (get % "pg", pg, "select 1 as a where false", "[]"),
            (get % "pg", pg, doubled, "[{\"a\":\"1\",\"a\":\"2\"}]"),
            (find % "pg", pg, doubled, Exception("Duplicate macro name: {#A}.")),
            (find % "pg", pg, "select 1 as \"b c\"",
             Exception("Cannot convert column #1 name to macro.")),
            (select % "maria", maria, "select 1.50", "1.50"),
            (select % "maria", maria, "select '\u00e4\u20ac'", "\u00e4\u20ac"),
            (select % "maria", maria, "select 1.5e0", "1.5"),
            (select % "maria", maria, "select 12345678901234567890", "12345678901234567890"),
            (select % "maria", maria, "nonsense", Exception(failed + "[42000][1064][")),
            (get % "maria", maria, "select 1 as A, null as b", "[{\"A\":\"1\",\"b\":null}]"),
            (select % "maria", dict(maria, password="wrong"), "select 1",
             Exception(no_dsn + "[SQL_ERROR]:[28000][1045][")),
            (select % "nosuch", pg, "select 1", Exception(no_dsn + "[SQL_ERROR]:[IM002][0][")),
            (select % ",Driver=nosuch", pg, "select 1",
             Exception(no_dsn + "[SQL_ERROR]:[01000][0][")),
            (select % ",", pg, "select 1", Exception("Invalid database connection settings.")),
            ("db.odbc.select[a]", pg, "select 1", Exception("Invalid number of parameters.")),
            ("db.odbc.foo[a,b]", pg, "select 1",
             Exception("Unsupported item key for this item type."))):
        yield dict({"type": DATABASE, "key": key, "params": query, "password": "",
                    "timeout": SHORT if "sleep" in query else ENOUGH}, **how), expected


def cases(peers):
    """All of them by kind."""
    return {"scripts": list(scripts()), "ssh": list(ssh(peers)), "telnet": list(telnet(peers)),
            "jmx": list(jmx(peers)), "odbc": list(odbc(peers))}


def interface(peers, item):
    """The interface that a request for a test names; none for types that need none."""
    if item["type"] != JMX:
        return {"address": "127.0.0.1", "port": "1", "useip": "1", "interfaceid": "0", "type": 1}
    return {"address": "127.0.0.1", "port": str(peers.gateway.jmx), "useip": "1",
            "interfaceid": "0", "type": 4}


def ask(api, trapper, hostid, peers, item):
    """The value that the server fetches, or its error as an exception."""
    host = {"hostid": hostid, "interface": interface(peers, item)}
    data = {"item": dict({"value_type": 4, "steps": []}, **item), "host": host,
            "options": {"single": False, "state": 0}}
    reply = bed.send(("127.0.0.1", trapper),
                     {"request": "item.test", "sid": api.token, "data": data}, timeout=90)
    found = reply.get("data", {}).get("item", reply)
    return found["result"] if "result" in found else Exception(found.get("error", str(found)))


def differs(found, expected):
    """What is wrong with an answer; empty = nothing."""
    if isinstance(found, Exception) != isinstance(expected, Exception):
        return "%.300r instead of %.300r" % (found, expected)
    if isinstance(expected, Exception):
        right = str(found).startswith(str(expected))
    else:
        right = found == expected
    return "" if right else "%.300r instead of %.300r" % (found, expected)
