"""A realm of its own: MIT's key distribution center, and Apache that asks for tickets, on loopback."""

import os
import shutil
import subprocess
import tempfile

import bed
import webcases

REALM = "VEDETTE.TEST"
# Names of web servers are taken as they are: no DNS says what they are really called.
KRB5 = """[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{kdc}
 }}
"""
KDC = """[realms]
 {realm} = {{
  database_name = {folder}/principals
  key_stash_file = {folder}/stash
  acl_file = {folder}/acl
  kdc_listen = 127.0.0.1:{kdc}
  kdc_tcp_listen = 127.0.0.1:{kdc}
 }}
[logging]
 kdc = FILE:{folder}/kdc.log
"""
APACHE = """ServerRoot {folder}
ServerName localhost
PidFile {folder}/apache.pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/apache.log
Listen 127.0.0.1:{web}
Listen 127.0.0.2:{web}
Listen 127.0.0.1:{other}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule auth_gssapi_module {modules}/mod_auth_gssapi.so
LoadModule alias_module {modules}/mod_alias.so
LoadModule headers_module {modules}/mod_headers.so
StartServers 1
ServerLimit 1
ThreadsPerChild 16
MaxRequestWorkers 16
LogFormat "%{{begin:usec}}t|%{{local}}p|%u|%>s|%r|%{{Authorization}}i|%{{remote}}p" seen
CustomLog {folder}/seen seen
DocumentRoot {folder}/pages
Header always set X-User "expr=%{{REMOTE_USER}}"
Redirect 302 /near http://localhost:{web}/secret
Redirect 302 /away http://localhost:{other}/open
Redirect 302 /abroad http://localhost:{other}/secret
<Location /secret>
  AuthType GSSAPI
  AuthName realm
  GssapiCredStore keytab:{folder}/web.keytab
  GssapiAllowedMech krb5
  Require valid-user
</Location>
<Location /bound>
  AuthType GSSAPI
  AuthName realm
  GssapiConnectionBound On
  GssapiCredStore keytab:{folder}/web.keytab
  Require valid-user
</Location>
"""


class Realm:
    """The center and the web server; `monitor` is the client, its keytab is `monitor.keytab`."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="vedette-realm-")
        os.chmod(self.folder, 0o755)
        self.kdc, self.web, self.other, self.nobody = (bed.free_port() for _ in range(4))
        self.center = self.apache = None
        self.marks = 0
        try:
            self._prepare()
            self.start_center()
            self.apache = self._start(["/usr/sbin/apache2", "-f", self.path("apache.conf"), "-DFOREGROUND"],
                                      self.web)
        except BaseException:
            self.stop()
            raise

    def path(self, name):
        return os.path.join(self.folder, name)

    def _write(self, name, text, **more):
        with open(self.path(name), "w") as f:
            f.write(text.format(realm=REALM, folder=self.folder, kdc=self.kdc, web=self.web, other=self.other,
                                modules="/usr/lib/apache2/modules", **more))

    def _prepare(self):
        self._write("krb5.conf", KRB5)
        self._write("kdc.conf", KDC)
        with open(self.path("dead.conf"), "w") as f:
            f.write(KRB5.format(realm=REALM, kdc=self.nobody))
        self._write("apache.conf", APACHE + ("User www-data\nGroup www-data\n" if os.getuid() == 0 else ""))
        os.makedirs(self.path("pages"))
        for page in ("secret", "bound", "open"):
            with open(self.path("pages/" + page), "w") as f:
                f.write(page)
        self.run("/usr/sbin/kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        for name, keytab in (("HTTP/localhost", "web"), ("monitor", "monitor"), ("stranger", "stranger"),
                             ("HTTP/127.0.0.1", "elsewhere")):
            self.admin("addprinc", "-randkey", name)
            self.admin("ktadd", "-k", self.path(keytab + ".keytab"), name)
            os.chmod(self.path(keytab + ".keytab"), 0o644)
        # New keys: those in the keytab are old ones.
        self.admin("change_password", "-randkey", "stranger")

    def environment(self, **more):
        """What a client in the realm has set."""
        return dict({"KRB5_CONFIG": self.path("krb5.conf")}, **more)

    def run(self, *command, **more):
        environment = dict(os.environ, KRB5_KDC_PROFILE=self.path("kdc.conf"), **self.environment(**more))
        subprocess.run(command, check=True, env=environment, capture_output=True)

    def admin(self, *query):
        self.run("/usr/sbin/kadmin.local", "-r", REALM, *query)

    def ticket(self, cache, who="monitor"):
        """A ticket as a person gets it, in a cache."""
        self.run("kinit", "-k", "-t", self.path(who + ".keytab"), "-c", cache, who)

    def _start(self, command, port):
        environment = dict(os.environ, KRB5_KDC_PROFILE=self.path("kdc.conf"), KRB5RCACHENAME="none:",
                           **self.environment())
        with open(self.path("output"), "ab") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log,
                                       stdin=subprocess.DEVNULL)
        try:
            bed.wait_for(command[0], lambda: bed.listens(port), pause=0.05)
        except BaseException:
            self._end(process)
            raise
        return process

    @staticmethod
    def _end(process):
        if process and process.poll() is None:
            process.terminate()
            process.wait(timeout=60)

    def start_center(self):
        self.center = self._start(["/usr/sbin/krb5kdc", "-n", "-r", REALM], self.kdc)

    def stop_center(self):
        self._end(self.center)

    def mark(self):
        """A word for URLs that no other request has."""
        self.marks += 1
        return "mark%d." % self.marks

    def url(self, path="/secret", host="localhost", mark=""):
        return "http://%s:%d%s%s" % (host, self.web, path, "?" + mark if mark else "")

    def seen(self, mark, count):
        """At least so many requests with that mark: port, user, status, first line without the mark, whether
        it had a ticket, the client's port. Apache writes them down after it has answered, perhaps in another order
        than they came."""
        def lines():
            with open(self.path("seen")) as f:
                found = sorted(line.rstrip("\n").split("|") for line in f if mark in line)
            return found if len(found) >= count else None
        return [(int(port), user, int(status), line.split("?")[0], proof.startswith("Negotiate YI"), peer)
                for _, port, user, status, line, proof, peer in bed.wait_for("requests with " + mark, lines)]

    def stop(self):
        self._end(self.apache)
        self.stop_center()
        shutil.rmtree(self.folder, ignore_errors=True)


SCRIPT = """var r = new HttpRequest();
r.setHttpAuth(HTTPAUTH_NEGOTIATE, 'somebody', 'wrong');
var text = r.%s;
if (r.getStatus() !== 200) throw 'status ' + r.getStatus();
return text;"""


def web_item(url, **more):
    """An HTTP agent item with a name and a password that nobody knows."""
    return dict(webcases.DEFAULTS, **dict(
        {"timeout": "30s", "url": url, "authtype": 3, "username": "somebody", "password": "wrong"}, **more))


def script_item(call):
    """A script item that returns the text of one request."""
    return {"key": "s", "type": "21", "value_type": 4, "steps": [], "parameters": [], "params": SCRIPT % call,
            "timeout": "30s"}


def opened(realm, mark):
    """Items that get a page, and how many requests that takes."""
    for path, count in (("/secret", 1), ("/bound", 1), ("/open", 1), ("/near", 2), ("/away", 2)):
        url = realm.url(path, mark=mark)
        yield web_item(url), count
        yield script_item("get('%s')" % url), count
    url = realm.url(mark=mark)
    yield web_item(url, posts="text", request_method=1), 1
    yield script_item("post('%s', 'text')" % url), 1
    yield web_item(realm.url("/open", mark=mark), authtype=0), 1


def closed(realm):
    """Items that get none: sent to another server, a host of another name, one that the realm does not know."""
    for url in (realm.url("/abroad"), realm.url(host="127.0.0.1"), realm.url(host="127.0.0.2")):
        yield web_item(url)
        yield script_item("get('%s')" % url)
    yield web_item(realm.url(), authtype=0)
