#!/usr/bin/env python3
"""Sign-in by LDAP with OpenLDAP's server: passwords, groups, provisioning, and a server that does not respond."""

import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import bed  # noqa: E402
import slapd  # noqa: E402

REFUSED = "Incorrect user name or password or account is temporarily blocked."


class Ldap(bed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slapd = slapd.Slapd()
        cls.addClassCleanup(cls.slapd.stop)

    def setUp(self):
        self.api = self.server.api()

    def directory(self, **more):
        fields = {"idp_type": 1, "name": "ldap", "host": "127.0.0.1", "port": self.slapd.port,
                  "base_dn": "dc=example", "search_attribute": "uid",
                  "bind_dn": "cn=reader,dc=example", "bind_password": "reads", **more}
        made = self.api.call("userdirectory.create", fields)["userdirectoryids"][0]

        def remove():
            self.api.call("authentication.update", {"authentication_type": 0, "ldap_auth_enabled": 0, "ldap_jit_status": 0})
            self.api.call("userdirectory.delete", [made])

        self.addCleanup(remove)
        return made

    def sign_in(self, name, password):
        """The user as the session of the sign-in shows it, or the error."""
        try:
            params = {"username": name, "password": password, "userData": True}
            return bed.Api(self.api.url).call("user.login", params)
        except bed.ApiError as error:
            return error.data

    def test_provisioning(self):
        group = self.api.call("usergroup.create", {"name": "operators"})["usrgrpids"][0]
        mapping = {"provision_status": 1, "group_basedn": "dc=example", "group_name": "cn", "group_member": "member",
                   "user_ref_attr": "uid", "group_filter": "(member=uid=%{ref},dc=example)",
                   "user_username": "givenName", "user_lastname": "sn",
                   "provision_media": [{"name": "mail", "mediatypeid": 1, "attribute": "mail"}],
                   "provision_groups": [{"name": "oper*", "roleid": 2, "user_groups": [{"usrgrpid": group}]}]}
        directory = self.directory(**mapping)
        test = {"userdirectoryid": directory, "test_username": "ann", "test_password": "Ann's secret"}
        found = self.api.call("userdirectory.test", test)
        self.assertEqual((found["name"], found["surname"], found["roleid"]), ("Ann", "Berg", "2"))
        with self.assertRaisesRegex(bed.ApiError, REFUSED):
            self.api.call("userdirectory.test", {**test, "test_password": "wrong"})
        self.api.call("authentication.update", {
            "authentication_type": 1, "ldap_auth_enabled": 1, "ldap_jit_status": 1, "disabled_usrgrpid": 9})
        self.assertIn(REFUSED, self.sign_in("ann", "wrong"))
        self.assertIn(REFUSED, self.sign_in("ann", ""))
        for name in ["*", "an*", "ann)(uid=*", "reader"]:
            self.assertIn(REFUSED, self.sign_in(name, "Ann's secret"))
        self.assertIn(REFUSED, self.sign_in("bob", "Bob's secret"), "no group")
        ann = self.sign_in("ann", "Ann's secret")
        self.assertEqual((ann["username"], ann["type"], ann["auth_type"]), ("ann", 2, 1))
        user = self.api.call("user.get", {"filter": {"username": "ann"}, "selectUsrgrps": ["name"],
                                          "selectMedias": ["sendto", "provisioned"]})[0]
        self.assertEqual((user["name"], user["surname"], user["provisioned"]), ("Ann", "Berg", "1"))
        self.assertEqual([one["name"] for one in user["usrgrps"]], ["operators"])
        self.assertEqual(user["medias"], [{"sendto": ["ann@example.com"], "provisioned": "1"}])
        # The group is mapped no longer: the next provisioning takes role and groups away.
        self.api.call("userdirectory.update", {"userdirectoryid": directory, "provision_groups": [
            {"name": "others", "roleid": 2, "user_groups": [{"usrgrpid": group}]}]})
        self.assertEqual(self.api.call("user.provision", [user["userid"]])["userids"], [user["userid"]])
        gone = self.api.call("user.get", {"userids": user["userid"], "selectUsrgrps": ["usrgrpid"]})[0]
        self.assertEqual((gone["roleid"], gone["usrgrps"]), ("0", [{"usrgrpid": "9"}]))
        self.assertIn("No permissions for system access.", self.sign_in("ann", "Ann's secret"))
        self.api.call("user.delete", [user["userid"]])
        self.assertNotIn("secret", self.server.log(lines=10_000))

    def test_a_server_that_does_not_respond_delays_nobody_else(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        directory = self.directory(port=silent.getsockname()[1])
        self.api.call("authentication.update", {"ldap_auth_enabled": 1})
        group = self.api.call("usergroup.create", {"name": "of LDAP", "gui_access": 2, "userdirectoryid": directory})
        self.addCleanup(self.api.call, "usergroup.delete", group["usrgrpids"])
        user = self.api.call("user.create", {"username": "carl", "passwd": "Xy9!longpass", "roleid": 1,
                                             "usrgrps": [{"usrgrpid": group["usrgrpids"][0]}]})
        self.addCleanup(self.api.call, "user.delete", user["userids"])
        found = []
        waiting = [threading.Thread(target=lambda: found.append(self.sign_in("carl", "x"))) for _ in range(6)]
        for thread in waiting:
            thread.start()
        held, _ = silent.accept()
        self.server.api()
        self.assertTrue(any(thread.is_alive() for thread in waiting), "the others still wait")
        held.close()
        silent.close()
        for thread in waiting:
            thread.join()
        self.assertEqual(len([one for one in found if REFUSED in one]), 6)


if __name__ == "__main__":
    bed.main()
