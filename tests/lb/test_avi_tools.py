#!/usr/bin/env python3
"""Ansible and Terraform manage the load balancer through the Avi API.

Their modules are in no package, so each test is skipped unless a variable tells where they are:

  VEDETTE_AVI_COLLECTIONS  a folder with https://github.com/vmware/ansible-collection-alb as
                           `ansible_collections/vmware/alb`
  VEDETTE_AVI_PROVIDER     the program `terraform-provider-avi`, built from
                           https://github.com/vmware/terraform-provider-avi; `terraform` is on the PATH
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
from certificates import Authority  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "avi")
COLLECTIONS = os.environ.get("VEDETTE_AVI_COLLECTIONS")
PROVIDER = os.environ.get("VEDETTE_AVI_PROVIDER")
VENV = os.path.join(bed.ROOT, ".cache", "ansible")


class Tools(bed.Case):
    """A server over HTTPS, which Terraform insists on."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="vedette-avi-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.authority = Authority(cls.folder)
        cls.server = bed.Server()
        cls.server.secure(cls.authority)
        cls.addClassCleanup(cls.server.clean)
        cls.server.start()
        cls.api = cls.server.api()
        cls.authority.sign("service", "DNS:web.example")
        cls.certificate = os.path.join(cls.folder, "service.pem")
        cls.key = os.path.join(cls.folder, "service.key")
        cls.port = bed.free_port()

    def run_tool(self, command, **how):
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, **how)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def expect_service(self):
        [service] = self.api.call("virtualservice.get", output=["name", "type"])
        self.assertEqual(service["name"], "web")
        self.assertEqual(sorted(pool["name"] for pool in self.api.call("pool.get", output=["name"])),
                         ["canary", "stable"])


@unittest.skipUnless(COLLECTIONS, "VEDETTE_AVI_COLLECTIONS is not set")
class Ansible(Tools):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.exists(os.path.join(VENV, "bin", "ansible-playbook")):
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
            subprocess.run([os.path.join(VENV, "bin", "python"), "-m", "pip", "install", "--quiet",
                            "ansible-core==2.19.*", "requests"], check=True)

    def play(self, name):
        """Applies a playbook; returns how many of its tasks changed something."""
        variables = {"controller": "https://127.0.0.1:%d" % self.server.http, "password": bed.PASSWORD,
                     "service_port": self.port, "key": self.key, "certificate": self.certificate}
        command = [os.path.join(VENV, "bin", "ansible-playbook"), os.path.join(FOLDER, name)]
        for variable, value in variables.items():
            command += ["-e", "%s=%s" % (variable, value)]
        shown = self.run_tool(command, env=dict(os.environ, ANSIBLE_COLLECTIONS_PATH=COLLECTIONS,
                                                ANSIBLE_HOME=os.path.join(self.folder, "ansible"),
                                                REQUESTS_CA_BUNDLE=self.authority.pem))
        return int(re.search(r"changed=(\d+)", shown).group(1))

    def test_a_second_run_changes_only_keys(self):
        self.assertEqual(self.play("playbook.yml"), 10)
        self.expect_service()
        # The certificate's module cannot compare keys, and says by itself that one has changed.
        self.assertEqual(self.play("playbook.yml"), 1)
        self.assertEqual(self.play("removal.yml"), 7)
        self.assertEqual(self.api.call("virtualservice.get", countOutput=True), "0")
        self.assertEqual(self.api.call("pool.get", countOutput=True), "0")


@unittest.skipUnless(PROVIDER, "VEDETTE_AVI_PROVIDER is not set")
class Terraform(Tools):
    def terraform(self, *arguments):
        work = os.path.join(self.folder, "terraform")
        settings = os.path.join(self.folder, "terraformrc")
        if not os.path.exists(work):
            os.mkdir(work)
            shutil.copy(os.path.join(FOLDER, "main.tf"), work)
            with open(settings, "w") as f:
                f.write('provider_installation {\n  dev_overrides { "vmware/avi" = "%s" }\n  direct {}\n}\n'
                        % os.path.dirname(os.path.abspath(PROVIDER)))
        variables = {"controller": "127.0.0.1:%d" % self.server.http, "password": bed.PASSWORD, "port": self.port,
                     "key": self.key, "certificate": self.certificate}
        environment = dict(os.environ, TF_CLI_CONFIG_FILE=settings, TF_IN_AUTOMATION="1",
                           **{"TF_VAR_" + name: str(value) for name, value in variables.items()})
        return self.run_tool(["terraform", *arguments, "-no-color"], cwd=work, env=environment)

    def test_a_plan_after_apply_is_empty(self):
        self.assertIn("10 added, 0 changed, 0 destroyed", self.terraform("apply", "-auto-approve"))
        self.expect_service()
        self.assertIn("No changes.", self.terraform("plan"))
        self.assertIn("0 added, 1 changed, 0 destroyed", self.terraform("apply", "-auto-approve", "-var", "ratio=3"))
        self.assertIn("No changes.", self.terraform("plan", "-var", "ratio=3"))
        self.expect_certificates_hide_keys()
        self.assertIn("10 destroyed", self.terraform("destroy", "-auto-approve"))
        self.assertEqual(self.api.call("virtualservice.get", countOutput=True), "0")

    def expect_certificates_hide_keys(self):
        """A state file of Terraform holds what its author wrote, and nothing that the server added."""
        rows = self.api.call("certificate.get", output="extend")
        self.assertEqual(len(rows), 1)
        self.assertNotIn("PRIVATE KEY", str(rows))


if __name__ == "__main__":
    bed.main()
