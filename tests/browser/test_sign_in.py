#!/usr/bin/env python3
"""Signing in with a password and a code of an authenticator, and the pages that decide how users sign in."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import flowcase  # noqa: E402
import slapd  # noqa: E402


class SignIn(flowcase.FlowCase):
    def test_code(self):
        self.api.call("mfa.create", {"type": 1, "name": "Authenticator", "hash_function": 1, "code_length": 6})
        self.api.call("authentication.update", {"mfa_status": 1})
        group = self.api.call("usergroup.create", {"name": "Coded", "mfa_status": 1})["usrgrpids"][0]
        user = {"username": "coded", "passwd": "Xy9!longpass", "roleid": 1, "usrgrps": [{"usrgrpid": group}]}
        self.api.call("user.create", user)
        self.walk("sign-in-code", steps=5, CODED_USER="coded", CODED_PASSWORD="Xy9!longpass")


class Authentication(flowcase.FlowCase):
    def test_authentication(self):
        directory = slapd.Slapd()
        self.addCleanup(directory.stop)
        self.walk("authentication", steps=10, LDAP_PORT=str(directory.port))


if __name__ == "__main__":
    bed.main()
