"""What official templates watch: real programs of Debian, each with the macros of its template."""

import os
import shutil
import signal
import subprocess
import tempfile

import bed
import databases
import dockerd
import peers
import snmpd

NGINX = """daemon off; master_process off; pid {folder}/pid; error_log stderr;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;
  fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port}; location = /basic_status {{ stub_status; }} }}
}}
"""
APACHE = """ServerRoot {folder}
ServerName 127.0.0.1
PidFile {folder}/pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/log
Listen 127.0.0.1:{port}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule status_module /usr/lib/apache2/modules/mod_status.so
StartServers 1
ServerLimit 1
ThreadsPerChild 8
MaxRequestWorkers 8
ExtendedStatus On
DocumentRoot {folder}
<Location /server-status>
  SetHandler server-status
</Location>
"""
HAPROXY = """defaults
  mode http
  timeout connect 2s
  timeout client 20s
  timeout server 20s
frontend stats
  bind 127.0.0.1:{port}
  stats enable
  stats uri /stats
frontend shop
  bind 127.0.0.1:{more}
  default_backend shelves
backend shelves
  server one 127.0.0.1:{port} check
  server two 127.0.0.1:{port}
"""


class Program:
    """A program with its configuration in a folder of its own, listening on `port`."""

    def __init__(self, config, command):
        self.folder = tempfile.mkdtemp(prefix="vedette-peer-")
        os.chmod(self.folder, 0o755)
        self.port, more = bed.free_port(), bed.free_port()
        file = os.path.join(self.folder, "config")
        with open(file, "w") as f:
            f.write(config.format(folder=self.folder, port=self.port, more=more))
        with open(os.path.join(self.folder, "output"), "ab") as log:
            self.process = subprocess.Popen(
                [part.format(file=file, folder=self.folder) for part in command],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            bed.wait_for(command[0], lambda: bed.listens(self.port), pause=0.05)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=20)
        shutil.rmtree(self.folder, ignore_errors=True)


def http(prefix, port, path, name):
    """The macros that say where a template asks."""
    macro = "{$%s.%%s}" % prefix
    return {macro % name: "127.0.0.1", macro % "PORT": str(port), macro % "PATH": path,
            macro % "SCHEME": "http"}


class Peers:
    """All of them: `watched` = template, macros and interface of a host for each. `agent2` = the program
    that watches Docker."""

    def __init__(self, agent2):
        self.agent2 = agent2
        self.started, self.watched = [], []
        self.folder = tempfile.mkdtemp(prefix="vedette-templates-")
        self.odbc_ini = os.path.join(self.folder, "odbc.ini")
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _own(self, peer):
        self.started.append(peer)
        return peer

    def _start(self):
        nginx = self._own(Program(NGINX, [
            "/usr/sbin/nginx", "-c", "{file}", "-p", "{folder}", "-e", "stderr"]))
        apache = APACHE + ("User www-data\nGroup www-data\n" if os.getuid() == 0 else "")
        apache = self._own(Program(apache, ["/usr/sbin/apache2", "-f", "{file}", "-DFOREGROUND"]))
        haproxy = self._own(Program(HAPROXY, ["/usr/sbin/haproxy", "-f", "{file}", "-db"]))
        postgres = self._own(databases.Postgres())
        mariadb = self._own(databases.MariaDb())
        agent = self._own(snmpd.Snmpd(self.folder).start())
        docker = self._own(dockerd.Dockerd(self.folder))
        agent2 = self._own(peers.Agent(self.folder, "docker", self.agent2, options=[
            "Plugins.Docker.Endpoint=unix://" + docker.path]).start())
        mariadb.run("create user monitor@'%' identified by 'secret';"
                    " grant usage, replication client, slave monitor, process, show databases, show view on *.*"
                    " to monitor@'%'; create database shop; create table shop.t (a int)")
        # Exports of templates have no passwords, so that this one stands with the source.
        with open(self.odbc_ini, "w") as f:
            f.write("[maria]\nDriver = MariaDB Unicode\nServer = 127.0.0.1\nPort = %d\n"
                    "User = monitor\nPassword = secret\n" % mariadb.port)
        connection = "Servername=127.0.0.1;Port=%d;Driver=PostgreSQL Unicode" % postgres.port
        snmp = {"{$SNMP_COMMUNITY}": "public"}
        everything = dict(snmp, **{"{$NET.IF.IFNAME.NOT_MATCHES}": "^nothing$"})
        self.watched = [
            ("Nginx by HTTP", http("NGINX.STUB_STATUS", nginx.port, "basic_status", "HOST"), None),
            ("Apache by HTTP", http("APACHE.STATUS", apache.port, "server-status?auto", "HOST"), None),
            ("HAProxy by HTTP", http("HAPROXY.STATS", haproxy.port, "stats", "HOST"), None),
            ("PostgreSQL by ODBC", {
                "{$PG.CONNSTRING.ODBC}": connection, "{$PG.USER}": "postgres",
                "{$PG.PASSWORD}": "none"}, None),
            ("MySQL by ODBC", {"{$MYSQL.DSN}": "maria", "{$MYSQL.USER}": "monitor",
                               "{$MYSQL.PASSWORD}": "secret"}, None),
            ("Network Generic Device by SNMP", everything, agent.interface()),
            ("Linux by SNMP", everything, agent.interface()),
            ("Docker by Zabbix agent 2", {}, agent2.interface()),
        ]

    def stop(self):
        for peer in reversed(self.started):
            peer.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
