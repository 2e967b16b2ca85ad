"""One node of OpenSearch from its jars."""

import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request

import bed
import jars
from storeprocess import StoreProcess

VERSION = "2.19.2"
CONFIG = """cluster.name: vedette
node.name: n1
network.host: 127.0.0.1
http.port: {port}
transport.port: {transport}
discovery.type: single-node
path.data: {dir}/data
path.logs: {dir}/logs
http.type: netty4
transport.type: netty4
node.store.allow_mmap: false
{disk}
bootstrap.system_call_filter: false
"""
LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "OpenSearchNode.java")


class OpenSearch(StoreProcess):
    """A node in a folder of its own; `disk` are its settings for one that gets full."""

    def __init__(self, disk="cluster.routing.allocation.disk.threshold_enabled: false", heap_mb=384):
        self.heap_mb = heap_mb
        self.lib = jars.fetch("opensearch", [
            jars.dependency("org.opensearch:opensearch:" + VERSION),
            jars.dependency("org.opensearch.plugin:transport-netty4-client:" + VERSION),
            jars.dependency("org.apache.logging.log4j:log4j-core:2.21.0"),
        ])
        self.folder = tempfile.mkdtemp(prefix="vedette-opensearch-")
        self.port, self.process = bed.free_port(), None
        with open(os.path.join(self.folder, "opensearch.yml"), "w") as file:
            file.write(CONFIG.format(dir=self.folder, port=self.port, transport=bed.free_port(),
                                     disk=disk))
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        command = [
            jars.java(), "-Xmx%dm" % self.heap_mb, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "--add-opens", "java.base/java.nio=ALL-UNNAMED", "-Dio.netty.noUnsafe=true",
            "-cp", os.path.join(self.lib, "*"), LAUNCHER, self.folder]
        log = os.path.join(self.folder, "out")
        with open(log, "ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, cwd=self.folder)

        def serves():
            if self.process.poll() is not None:
                with open(log, errors="replace") as text:
                    raise AssertionError("OpenSearch ended: " + text.read()[-3000:])
            return self.call("GET", "_cluster/health")["status"] != "red"
        bed.wait_for("OpenSearch", serves, 120, pause=0.5)

    def url(self, prefix="", user=""):
        return "http://%s127.0.0.1:%d/%s" % (user, self.port, prefix)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url(path), data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as problem:
            raise OSError(problem.read().decode()) from problem
