"""Certificates for tests: an authority, and who it signs."""

import base64
import hashlib
import os
import subprocess


class Authority:
    """Its files lie in a folder; `pem` is what those trust who believe it."""

    def __init__(self, folder, name="ca", called="Test authority"):
        self.folder, self.name, self.pem = folder, name, os.path.join(folder, name + ".pem")
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key",
                     "-out", name + ".pem", "-days", "2", "-subj", "/O=Test/CN=" + called)

    def openssl(self, *arguments):
        """Its output."""
        return subprocess.run(("openssl",) + arguments, cwd=self.folder, check=True, capture_output=True).stdout

    def key_hash(self, name):
        """SHA-256 of the public key, in base64: what Chromium takes to trust a certificate."""
        key = self.openssl("pkey", "-in", name + ".key", "-pubout", "-outform", "DER")
        return base64.b64encode(hashlib.sha256(key).digest()).decode()

    def sign(self, name, for_whom=None):
        """Makes `name.key` and `name.pem`, for what an extension names, as "IP:127.0.0.1"."""
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key",
                     "-out", name + ".csr", "-subj", "/O=Test/CN=" + name)
        extensions = []
        if for_whom:
            with open(os.path.join(self.folder, name + ".ext"), "w") as file:
                file.write("subjectAltName=" + for_whom)
            extensions = ["-extfile", name + ".ext"]
        self.openssl("x509", "-req", "-in", name + ".csr", "-CA", self.name + ".pem",
                     "-CAkey", self.name + ".key", "-CAcreateserial", "-out", name + ".pem",
                     "-days", "2", *extensions)

    def keystore(self, name, password):
        """Key and certificate as Java reads them; the file's name."""
        self.openssl("pkcs12", "-export", "-in", name + ".pem", "-inkey", name + ".key",
                     "-out", name + ".p12", "-passout", "pass:" + password)
        return os.path.join(self.folder, name + ".p12")
