"""HBase from its jars: one process with ZooKeeper, master and region server, and the REST gateway."""

import glob
import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request

import bed
import jars
from storeprocess import StoreProcess

VERSION = "2.6.1"
# The gateway is built for another Hadoop: it takes the server's.
OTHERS = ("org.apache.hbase:*", "org.apache.hadoop:*")
THIRD = "org.apache.hbase.thirdparty:hbase-shaded-%s:4.1.9"
SITE = """<configuration>
%s
</configuration>
"""
EXPORTS = {
    "java.base": "jdk.internal.misc sun.net.dns sun.net.util",
    "java.security.jgss": "sun.security.krb5",
}
OPENS = {
    "java.base": "java.lang java.nio sun.nio.ch java.lang.reflect jdk.internal.ref java.util "
                 "java.util.concurrent java.net jdk.internal.misc",
    "java.security.jgss": "sun.security.krb5",
}
LOG4J = """log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c{1} %m%n
"""
# A row of a table that tells whether rows can be written: "k", "v:", nothing.
READY = {"Row": [{"key": "aw==", "Cell": [{"column": "djo=", "$": ""}]}]}
COMPACT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "HBaseCompact.java")


def fetch():
    """The folder with the jars."""
    return jars.fetch("hbase", [
        jars.dependency("org.apache.hbase:hbase-server:%s-hadoop3" % VERSION),
        jars.dependency("org.apache.hbase:hbase-rest:" + VERSION, OTHERS),
        jars.dependency(THIRD % "jersey"),
        jars.dependency(THIRD % "jackson-jaxrs-json-provider"),
    ])


class HBase(StoreProcess):
    """A standalone HBase in a folder of its own, and its gateway. Faults are those of HBase unless
    the gateway is named. Settings are those of `hbase-site.xml`."""

    # The master may take long.
    leaves_within = 20

    def __init__(self, settings=()):
        self.lib = fetch()
        self.folder = tempfile.mkdtemp(prefix="vedette-hbase-")
        self.port, self.process, self.gateway = bed.free_port(), None, None
        self.configure(dict(settings))
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def configure(self, more):
        settings = {
            "hbase.cluster.distributed": "false",
            "hbase.rootdir": "file://%s/root" % self.folder,
            "hbase.tmp.dir": self.folder + "/tmp",
            "hbase.wal.provider": "filesystem",
            # Without checksums beside the files a log that was synced survives the process.
            "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
            "hbase.zookeeper.property.clientPort": bed.free_port(),
            "hbase.zookeeper.property.dataDir": self.folder + "/zookeeper",
            "hbase.zookeeper.property.admin.enableServer": "false",
            "hbase.zookeeper.quorum": "127.0.0.1",
            "hbase.master.hostname": "localhost",
            "hbase.regionserver.hostname": "localhost",
            "hbase.master.ipc.address": "127.0.0.1",
            "hbase.regionserver.ipc.address": "127.0.0.1",
            "hbase.master.port": bed.free_port(),
            "hbase.regionserver.port": bed.free_port(),
            "hbase.master.info.port": -1,
            "hbase.regionserver.info.port": -1,
            "hbase.rest.info.port": -1,
            "hbase.rest.host": "127.0.0.1",
            "hbase.localcluster.assign.random.ports": "false",
            "hbase.regionserver.handler.count": 4,
            "hbase.master.wait.on.regionservers.timeout": 2000,
            "hfile.block.cache.size": 0.2,
            # Files that were merged into another one go soon afterwards.
            "hbase.hfile.compaction.discharger.interval": 3000,
            # Requests fail soon while HBase is unavailable.
            "hbase.client.operation.timeout": 10000,
            "hbase.client.meta.operation.timeout": 10000,
            "hbase.client.scanner.timeout.period": 10000,
            "hbase.rpc.timeout": 8000,
            "hbase.client.retries.number": 4,
        }
        settings.update(more)
        conf = os.path.join(self.folder, "conf")
        os.makedirs(conf)
        lines = ["<property><name>%s</name><value>%s</value></property>" % pair
                 for pair in settings.items()]
        for name, text in (("hbase-site.xml", SITE % "\n".join(lines)),
                           ("log4j.properties", LOG4J)):
            with open(os.path.join(conf, name), "w") as file:
                file.write(text)

    def command(self, heap, arguments):
        return [
            jars.java(), "-Xmx%dm" % heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-XX:MaxDirectMemorySize=128m", "-Djava.net.preferIPv4Stack=true",
        ] + jars.flags(EXPORTS, OPENS) + [
            "-cp", "%s/conf:%s/*" % (self.folder, self.lib)] + arguments

    def java(self, name, heap, arguments):
        with open(os.path.join(self.folder, name), "ab") as out:
            return subprocess.Popen(self.command(heap, arguments), stdout=out, stderr=out,
                                    cwd=self.folder)

    def start(self):
        """Starts what does not run."""
        if self.process is None:
            self.process = self.java("master", 320,
                                     ["org.apache.hadoop.hbase.master.HMaster", "start"])
        if self.gateway is None:
            self.gateway = self.java("rest", 192, [
                "org.apache.hadoop.hbase.rest.RESTServer", "start", "-p", str(self.port),
                "--infoport", "-1"])

        def serves():
            for process, name in ((self.process, "master"), (self.gateway, "rest")):
                if process.poll() is not None:
                    with open(os.path.join(self.folder, name), errors="replace") as text:
                        raise AssertionError("HBase ended: " + text.read()[-3000:])
            # The master answers long before it makes tables.
            if self.call("GET", "ready/exists") is None:
                self.call("PUT", "ready/schema", {"name": "ready", "ColumnSchema": [{"name": "v"}]})
            return self.call("PUT", "ready/rows", READY) is not None
        bed.wait_for("HBase", serves, 180, pause=0.5)

    def url(self, table="", user=""):
        return "http://%s127.0.0.1:%d/%s" % (user, self.port, table)

    def call(self, method, path, body=None):
        """What the gateway answers; nothing where it says that there is nothing."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url(path), data, method=method, headers={
            "Content-Type": "application/json", "Accept": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as problem:
            if problem.code == 404:
                return None
            raise OSError(problem.read().decode(errors="replace")[:500]) from problem
        return json.loads(text) if text.startswith(b"{") else text

    def compact(self, table):
        """Writes a table to its files and merges them; returns their bytes."""
        subprocess.run(self.command(128, [COMPACT, table]), check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stores = glob.glob(os.path.join(self.folder, "root/data/default", table, "*/v"))
        bed.wait_for("what was merged to go",
                     lambda: all(len(os.listdir(store)) == 1 for store in stores))
        files = [os.path.join(store, file) for store in stores for file in os.listdir(store)]
        return sum(os.stat(file).st_blocks * 512 for file in files)

    def kill(self):
        super().kill()
        self.process = None

    def kill_gateway(self):
        self.gateway.kill()
        self.gateway.wait()
        self.gateway = None

    def stop(self):
        if self.gateway:
            self.kill_gateway()
        super().stop()
