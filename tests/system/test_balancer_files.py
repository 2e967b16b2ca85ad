#!/usr/bin/env python3
"""Objects of the load balancer as a file: exported, deleted, imported, and checked by a lone engine."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402


class Files(bed.Case):
    """Objects as a file that a lone engine reads, too."""

    KINDS = ("engine_groups", "vips", "certificates", "health_monitors", "pools", "pool_groups", "virtual_services")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.cert, self.key = (os.path.join(self.folder, name) for name in ("www.pem", "www.key"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=www.example.com", "-addext", "subjectAltName=DNS:www.example.com", "-days", "30",
             "-keyout", self.key, "-out", self.cert], check=True, capture_output=True)

    def create(self, kind, **members):
        found = self.api.call(kind + ".create", **members)
        return next(iter(found.values()))[0]

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def services(self):
        """Two services on one VIP, without and with TLS; returns their group."""
        group = self.create("enginegroup", name="edge")
        vip = self.create("vip", name="loopback", ipv4="127.0.0.1")
        monitor = self.create("healthmonitor", name="path", type="http", path="/health")
        servers = [{"name": "app-1", "address": "127.0.0.1", "port": 9}]
        app, api = (self.create("pool", name=name, servers=servers, healthmonitorid=monitor) for name in ("app", "api"))
        certificate = self.create(
            "certificate", name="www", certificate=self.read(self.cert), private_key=self.read(self.key))
        rules = [{"if": {"path_prefix": "/api/"}, "then": {"poolid": api}}]
        common = {"enginegroupid": group, "vipid": vip, "poolid": app, "rules": rules}
        self.create("virtualservice", name="plain", port=8080, tags=[{"tag": "team", "value": "web"}], **common)
        self.create("virtualservice", name="tls", port=8443, certificates=[{"certificateid": certificate}], **common)
        return group

    def configuration(self, group):
        """What engines get, by kind and name."""
        found, = self.api.call("enginegroup.configuration", enginegroupids=[group])
        return {kind: {one["name"]: one for one in objects} for kind, objects in found["configuration"].items()}

    def load(self, method, source, **more):
        rule = {"createMissing": True, "updateExisting": True, "deleteMissing": more.pop("delete", False)}
        rules = {kind: rule for kind in self.KINDS}
        return self.api.call("loadbalancer." + method, source=source, rules=rules, **more)["objects"]

    def check(self, source):
        """What an engine says of a file."""
        path = os.path.join(self.folder, "file.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        check = subprocess.run(
            [bed.BINARY, "engine", "check", "--config", path], capture_output=True, text=True, check=False)
        self.assertEqual(check.returncode == 0, check.stderr == "", check.stderr)
        return check.stderr

    def test_an_export_restores_what_was_deleted(self):
        group = self.services()
        exported = self.api.call("loadbalancer.export", {})
        source = exported["source"]
        self.assertEqual(exported["left_out"], [{"object": "certificate", "name": "www", "what": "private key"}])
        self.assertIn("www", self.check(source))
        whole = source.replace('"******"', json.dumps(self.read(self.key)))
        self.assertEqual(self.check(whole), "")
        before = self.configuration(group)
        empty = "virtual_services: []\npools: []\n"
        self.assertEqual(set(self.load("importcompare", empty, delete=True)), set(self.KINDS) - {"pool_groups"})
        self.load("import", empty, delete=True)
        self.assertEqual(self.api.call("virtualservice.get", countOutput=True), "0")
        for kind, changes in self.load("importcompare", whole).items():
            self.assertEqual(list(changes), ["added"], kind)
        self.load("import", whole)
        self.assertEqual(self.api.call("loadbalancer.export", {})["source"], source)
        found, = self.api.call("enginegroup.get", filter={"name": "edge"})
        self.assertEqual(self.configuration(found["enginegroupid"]), before, "engines get the same configuration")
        for kind, changes in self.load("importcompare", source).items():
            self.assertEqual(list(changes), ["unchanged"], kind)
        # From a lone engine, and back to one.
        lone = json.dumps({
            "threads": 1,
            "virtual_services": [{"name": "lone", "type": "tcp", "listen": "127.0.0.3:%d" % 8081, "pool": "far"}],
            "pools": [{"name": "far", "servers": [{"name": "far1", "address": "127.0.0.1:9"}], "health": {"type": "icmp"}}]})
        changes = self.load("import", lone, enginegroupid=found["enginegroupid"])
        self.assertEqual(changes["health_monitors"]["added"][0]["after"]["name"], "far icmp")
        service, = self.api.call("virtualservice.get", filter={"name": "lone"})
        back = self.api.call("loadbalancer.export", virtualserviceids=[service["virtualserviceid"]])
        self.assertEqual(back["left_out"], [])
        self.assertNotIn("www", back["source"])
        self.check(back["source"])


if __name__ == "__main__":
    bed.main()
