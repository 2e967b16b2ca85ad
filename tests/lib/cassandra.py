"""Apache Cassandra from its jars: one node or several, on 127.0.0.1, 127.0.0.2 and so on."""

import glob
import os
import shutil
import subprocess
import tempfile

import bed
import jars
from cql import Cql, ONE
from storeprocess import StoreProcess

VERSION = "5.0.4"
CONFIG = """cluster_name: vedette
num_tokens: 4
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: periodic
commitlog_sync_period: 1000ms
commitlog_segment_size: 8MiB
commitlog_total_space: 64MiB
data_file_directories: [{dir}/data]
commitlog_directory: {dir}/commitlog
cdc_raw_directory: {dir}/cdc
saved_caches_directory: {dir}/caches
hints_directory: {dir}/hints
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "127.0.0.1:{storage}"}}]
listen_address: {host}
rpc_address: {host}
storage_port: {storage}
native_transport_port: {port}
endpoint_snitch: GossipingPropertyFileSnitch
memtable_heap_space: 48MiB
memtable_offheap_space: 48MiB
memtable_allocation_type: heap_buffers
key_cache_size: 4MiB
file_cache_enabled: false
networking_cache_size: 16MiB
concurrent_reads: 8
concurrent_writes: 16
concurrent_compactors: 1
auto_snapshot: false
hinted_handoff_enabled: true
{more}
"""
LOGBACK = """<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%level %date{ISO8601} %logger{20} %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
"""
EXPORTS = {
    "java.base": "jdk.internal.misc jdk.internal.ref sun.nio.ch java.lang.ref",
    "java.management.rmi": "com.sun.jmx.remote.internal.rmi",
    "java.rmi": "sun.rmi.registry sun.rmi.server sun.rmi.transport.tcp",
    "java.sql": "java.sql",
    "jdk.unsupported": "sun.misc",
}
OPENS = {
    "java.base": "java.lang java.lang.module java.lang.reflect java.net java.io java.nio java.util "
                 "java.util.concurrent java.util.concurrent.atomic sun.nio.ch jdk.internal.loader "
                 "jdk.internal.ref jdk.internal.reflect jdk.internal.math jdk.internal.module "
                 "jdk.internal.misc jdk.internal.util.jar",
    "jdk.management": "com.sun.management.internal",
    "java.management": "sun.management",
}


class Node(StoreProcess):
    """One process."""

    def __init__(self, cluster, number):
        self.cluster, self.process = cluster, None
        self.host = "127.0.0.%d" % number
        self.folder = os.path.join(cluster.folder, "node%d" % number)
        self.log = os.path.join(self.folder, "out")
        os.makedirs(self.folder)
        config = CONFIG.format(dir=self.folder, host=self.host, port=cluster.port,
                               storage=cluster.storage, more="\n".join(cluster.settings))
        centre = "dc=%s\nrack=rack1\n" % cluster.centres[(number - 1) % len(cluster.centres)]
        for name, text in (("cassandra.yaml", config), ("logback.xml", LOGBACK),
                           ("rackdc.properties", centre)):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)

    def start(self, wait=True):
        lib, folder = self.cluster.lib, self.folder
        heap = "-Xmx%dm" % (256 if self.cluster.size == 1 else 192)
        command = [
            jars.java(), heap.replace("mx", "ms"), heap, "-XX:MaxDirectMemorySize=128m",
            "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k",
            "-XX:ReservedCodeCacheSize=64m",
            "-javaagent:" + glob.glob(os.path.join(lib, "jamm-*.jar"))[0],
            "-Djdk.attach.allowAttachSelf=true", "-Djava.io.tmpdir=" + folder,
            "-Dcassandra.config=file://%s/cassandra.yaml" % folder,
            "-Dlogback.configurationFile=file://%s/logback.xml" % folder,
            "-Dcassandra-rackdc.properties=file://%s/rackdc.properties" % folder,
            "-Dcassandra.logdir=%s/logs" % folder, "-Dcassandra.storagedir=" + folder,
            "-Dcassandra.jmx.local.port=%d" % bed.free_port(), "-Dcassandra-foreground=yes",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0", "-Dcassandra.ring_delay_ms=3000",
            "-Dcassandra.superuser_setup_delay_ms=0",
            "-Dcassandra.disk_usage.monitor_interval_ms=1000", "-Djava.net.preferIPv4Stack=true",
        ] + jars.flags(EXPORTS, OPENS) + [
            "-cp", os.path.join(lib, "*"), "org.apache.cassandra.service.CassandraDaemon"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        if wait:
            self.wait()

    def wait(self):
        def serves():
            if self.process.poll() is not None:
                with open(self.log, errors="replace") as log:
                    raise AssertionError("Cassandra ended: " + log.read()[-3000:])
            return self.ask("SELECT release_version FROM system.local")
        bed.wait_for("Cassandra on " + self.host, serves, 240, pause=0.5)

    def ask(self, cql, consistency=ONE):
        user, password = self.cluster.user
        with Cql(self.host, self.cluster.port, user, password, self.cluster.tls) as connection:
            return connection.ask(cql, consistency)

    def terminate(self):
        if self.process and self.process.poll() is None:
            self.go_on()
            self.process.terminate()

    def end(self):
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()


class Cassandra:
    """A cluster in a folder of its own. Settings are lines of `cassandra.yaml`, `tls` is how tests
    ask nodes that demand it; nodes are in one data centre after the other."""

    def __init__(self, size=1, settings=(), user=("", ""), tls=None, centres=("datacenter1",)):
        self.lib = jars.fetch("cassandra", [
            jars.dependency("org.apache.cassandra:cassandra-all:" + VERSION)])
        self.size, self.settings, self.user, self.tls = size, settings, user, tls
        self.centres = centres
        self.folder = tempfile.mkdtemp(prefix="vedette-cassandra-")
        self.port, self.storage = bed.free_port(), bed.free_port()
        self.nodes = []
        try:
            # One after the other: nodes that join together refuse each other.
            for number in range(1, size + 1):
                self.nodes.append(Node(self, number))
                self.nodes[-1].start()
        except BaseException:
            self.stop()
            raise

    def url(self, keyspace="", settings="", user=None):
        """The address of the first two nodes for Vedette."""
        name = "%s:%s@" % (user or self.user) if (user or self.user)[0] else ""
        hosts = ",".join("%s:%d" % (node.host, self.port) for node in self.nodes[:2])
        return "cassandra://%s%s/%s%s" % (name, hosts, keyspace, settings)

    def ask(self, cql, consistency=ONE):
        return self.nodes[0].ask(cql, consistency)

    def stop(self):
        for node in self.nodes:
            node.terminate()
        for node in self.nodes:
            if node.process:
                node.end()
        shutil.rmtree(self.folder, ignore_errors=True)


class Replicas(Cassandra):
    """Three nodes that have every row each; two confirm it."""

    def __init__(self):
        super().__init__(size=3)

    def url(self, keyspace="", settings="?consistency=quorum&replication=3", user=None):
        return super().url(keyspace, settings, user)
