"""OpenLDAP's server with two users and a group."""

import os
import shutil
import subprocess
import tempfile

import bed

# Where the packages of OpenLDAP are unpacked, if they are not installed.
ROOT = os.environ.get("LDAP_ROOT", "/")

CONFIGURATION = """\
include {root}/etc/ldap/schema/core.schema
include {root}/etc/ldap/schema/cosine.schema
include {root}/etc/ldap/schema/inetorgperson.schema
modulepath {root}/usr/lib/ldap
moduleload back_mdb
database mdb
suffix "dc=example"
directory {folder}/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn="cn=reader,dc=example" read by * none
"""

ENTRIES = """\
dn: dc=example
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: cn=reader,dc=example
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: reads

dn: uid=ann,dc=example
objectClass: inetOrgPerson
uid: ann
cn: Ann Berg
givenName: Ann
sn: Berg
mail: ann@example.com
userPassword: Ann's secret

dn: uid=bob,dc=example
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn: Bob
userPassword: Bob's secret

dn: cn=operators,dc=example
objectClass: groupOfNames
cn: operators
member: uid=ann,dc=example
"""


class Slapd:
    """A running server, at `port` of this machine."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="vedette-ldap-")
        self.port = bed.free_port()
        os.mkdir(os.path.join(self.folder, "data"))
        for name, text in [("slapd.conf", CONFIGURATION.format(root=ROOT.rstrip("/"), folder=self.folder)),
                           ("entries.ldif", ENTRIES)]:
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.environment = dict(os.environ)
        if ROOT != "/":
            self.environment["LD_LIBRARY_PATH"] = os.path.join(ROOT, "usr/lib/x86_64-linux-gnu")
        configuration = os.path.join(self.folder, "slapd.conf")
        entries = os.path.join(self.folder, "entries.ldif")
        subprocess.run([self.program("slapadd"), "-f", configuration, "-l", entries],
                       check=True, capture_output=True, env=self.environment)
        self.process = subprocess.Popen(
            [self.program("slapd"), "-f", configuration, "-h", "ldap://127.0.0.1:%d" % self.port, "-d", "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)
        bed.wait_for("slapd", lambda: bed.listens(self.port))

    def program(self, name):
        return os.path.join(ROOT, "usr/sbin", name)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)
