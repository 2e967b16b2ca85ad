"""Calls about sign-in, connectors and reports, and what of their results is compared between two servers.

A call is a method with parameters. `$name` stands for the first id that an earlier call of that name made."""

import json

LDAP = {"idp_type": 1, "name": "cmp ldap", "host": "127.0.0.1", "port": 1, "base_dn": "dc=x",
        "search_attribute": "uid"}
GROUPS = [{"name": "a*", "roleid": "1", "user_groups": [{"usrgrpid": "8"}]}]
MEDIA = [{"name": "m", "mediatypeid": "1", "attribute": "mail"}]
TOTP = {"type": 1, "name": "cmp totp", "hash_function": 1, "code_length": 6}
DUO = {"type": 2, "name": "cmp duo", "api_hostname": "h", "clientid": "c", "client_secret": "s"}
CONNECTOR = {"name": "cmp", "url": "http://127.0.0.1/x"}


def altered(base, *changes):
    """The object with each of the changes; a member that becomes `None` is left out."""
    for change in changes:
        changed = {**base, **change}
        yield {name: value for name, value in changed.items() if value is not None}


def mfa():
    for params in altered(TOTP, {"type": 3}, {"type": None}, {"name": ""}, {"name": None}, {"hash_function": 4},
                          {"hash_function": None}, {"code_length": 7}, {"code_length": None}, {"clientid": "x"},
                          {"nosuch": 1}, {"name": "x" * 129}):
        yield "", "mfa.create", params
    for params in altered(DUO, {"clientid": None}, {"clientid": ""}, {"hash_function": 2},
                          {"code_length": 8}, {"name": ""}):
        yield "", "mfa.create", params
    yield "totp", "mfa.create", TOTP
    yield "", "mfa.create", TOTP
    yield "", "authentication.get", {"output": ["mfa_status"]}
    yield "duo", "mfa.create", {**DUO, "name": "cmp other"}
    for change in [{"type": 2}, {"code_length": 8}, {"code_length": 7}, {"api_hostname": "x"}, {"name": "cmp other"},
                   {"name": ""}, {"type": 2, "api_hostname": "h", "clientid": "c"}]:
        yield "", "mfa.update", {"mfaid": "$totp", **change}
    yield "", "mfa.update", {"mfaid": "999"}
    yield "", "mfa.update", {"name": "x"}
    yield "", "mfa.get", {"mfaids": ["$totp", "$duo"], "output": ["type", "name", "code_length"], "sortfield": "name",
                          "selectUsrgrps": ["name"]}
    for options in [{"output": ["client_secret"]}, {"output": "x"}, {"sortfield": "type"}, {"nosuch": 1},
                    {"selectUsrgrps": ["mfaid"]}, {"selectUsrgrps": "x"}, {"countOutput": True}, {"limit": 0},
                    {"filter": {"type": 2}, "output": ["name"]}, {"search": {"name": "cmp"}, "output": ["name"], "sortfield": "name"}]:
        yield "", "mfa.get", options
    for change in [{"mfa_status": 1, "mfaid": "999"}, {"mfaid": "999"}, {"mfa_status": 2}, {"passwd_min_length": 0},
                   {"passwd_check_rules": 16}, {"jit_provision_interval": ""}, {"jit_provision_interval": "1m"},
                   {"disabled_usrgrpid": "7"}, {"disabled_usrgrpid": "999"}, {"ldap_auth_enabled": 2},
                   {"authentication_type": 1}, {"ldap_userdirectoryid": "999"}, {"saml_jit_status": 2},
                   {"nosuch": 1}]:
        yield "", "authentication.update", change
    group = {"name": "cmp group", "mfa_status": 1, "mfaid": "$duo"}
    for params in altered(group, {"mfa_status": 0}, {"mfaid": "999"}, {"mfa_status": 2},
                          {"userdirectoryid": "999", "mfaid": "0"},
                          {"gui_access": 1, "userdirectoryid": "1", "mfaid": "0"}):
        yield "", "usergroup.create", params
    yield "group", "usergroup.create", group
    yield "", "mfa.delete", ["$duo"]
    yield "", "mfa.delete", ["999"]
    yield "", "usergroup.update", {"usrgrpid": "$group", "mfa_status": 0}
    yield "", "usergroup.get", {"usrgrpids": "$group", "output": ["mfa_status", "mfaid", "userdirectoryid"]}
    yield "", "usergroup.delete", ["$group"]
    yield "", "mfa.delete", ["$totp"]
    yield "", "mfa.delete", ["$duo"]
    yield "", "user.resettotp", ["1"]
    yield "", "user.resettotp", []
    yield "", "user.resettotp", ["1", "1"]
    yield "", "user.provision", ["1"]
    yield "", "user.provision", ["999"]
    yield "", "user.provision", []


def directories():
    for params in altered(LDAP, {"idp_type": 3}, {"idp_type": None}, {"name": ""}, {"name": None}, {"host": ""},
                          {"host": None}, {"port": 65536}, {"port": "x"}, {"port": None}, {"base_dn": ""},
                          {"search_attribute": None}, {"start_tls": 2}, {"sso_url": "x"}, {"provision_status": 1},
                          {"provision_status": 2}, {"provision_groups": GROUPS}, {"provision_media": MEDIA},
                          {"provision_status": 1, "provision_groups": []}, {"nosuch": 1}):
        yield "", "userdirectory.create", params
    on = {**LDAP, "provision_status": 1, "provision_groups": GROUPS, "provision_media": MEDIA}
    for groups in [[{}], [{"name": "a"}], [{"name": "a", "roleid": "1"}],
                   [{"name": "", "roleid": "1", "user_groups": []}],
                   [{"name": "a", "roleid": "1", "user_groups": []}],
                   [{"name": "a", "roleid": "99", "user_groups": [{"usrgrpid": "7"}]}],
                   [{"name": "a", "roleid": "1", "user_groups": [{"usrgrpid": "99"}]}], GROUPS * 2]:
        yield "", "userdirectory.create", {**on, "provision_groups": groups}
    for media in [[{}], [{"name": "m", "mediatypeid": "99", "attribute": "mail"}], MEDIA * 2,
                  [{**MEDIA[0], "period": "x"}], [{**MEDIA[0], "severity": 64}], [{**MEDIA[0], "active": 2}],
                  [{**MEDIA[0], "name": ""}]]:
        yield "", "userdirectory.create", {**on, "provision_media": media}
    yield "", "userdirectory.create", {"idp_type": 2, "name": "s", "host": "x"}
    yield "saml", "userdirectory.create", {"idp_type": 2, "name": "cmp saml", "sso_url": "u", "sign_messages": 1}
    yield "", "userdirectory.create", {"idp_type": 2, "name": "cmp saml 2"}
    yield "ldap", "userdirectory.create", {**on, "bind_dn": "cn=x", "bind_password": "p"}
    yield "", "userdirectory.create", LDAP
    both = {"userdirectoryids": ["$ldap", "$saml"], "sortfield": "name", "selectProvisionGroups": "extend",
            "selectProvisionMedia": ["name", "attribute", "active", "severity", "period"], "selectUsrgrps": "count"}
    yield "", "userdirectory.get", {**both, "output": ["name", "port", "host", "sso_url", "sign_messages"]}
    for options in [{"output": ["bind_password"]}, {"sortfield": "host"}, {"nosuch": 1},
                    {"selectProvisionGroups": "count"}, {"selectProvisionGroups": ["x"]}, {"countOutput": True},
                    {"filter": {"idp_type": 2}, "output": ["name"]}, {"selectUsrgrps": ["x"]}]:
        yield "", "userdirectory.get", options
    for change in [{"idp_type": 2}, {"host": "other"}, {"host": ""}, {"name": "cmp saml"}, {"sso_url": "x"},
                   {"provision_groups": []}, {"provision_media": [{"userdirectory_mediaid": "999"}]},
                   {"provision_status": 0, "provision_groups": GROUPS}, {"description": "d"}]:
        yield "", "userdirectory.update", {"userdirectoryid": "$ldap", **change}
    yield "", "userdirectory.update", {"userdirectoryid": "999"}
    yield "", "usergroup.delete", ["8"]
    yield "", "authentication.update", {"ldap_auth_enabled": 1, "ldap_jit_status": 1}
    test = {"test_username": "u", "test_password": "p"}
    for params in [{}, test, {"userdirectoryid": "$ldap", "test_username": "u"},
                   {"userdirectoryid": "999", **test}, {"userdirectoryid": "$saml", **test},
                   {"userdirectoryid": "$ldap", **test, "test_password": ""}]:
        yield "", "userdirectory.test", {name: value for name, value in params.items() if value is not None}
    yield "", "userdirectory.update", {"userdirectoryid": "$ldap", "provision_status": 0}
    yield "", "userdirectory.get", {**both, "output": ["name", "group_name"]}
    yield "", "userdirectory.delete", ["999"]
    yield "", "userdirectory.delete", ["$ldap", "$saml"]


def connectors():
    for params in altered(CONNECTOR, {"name": ""}, {"name": None}, {"url": ""}, {"url": None}, {"url": "javascript:x"},
                          {"protocol": 1}, {"data_type": 2}, {"data_type": 1, "item_value_type": 1},
                          {"item_value_type": 0}, {"item_value_type": 64}, {"authtype": 6}, {"username": "u"},
                          {"authtype": 5}, {"authtype": 5, "token": ""}, {"authtype": 1, "token": "x"},
                          {"max_records": -1}, {"max_senders": 0}, {"max_attempts": 6}, {"attempt_interval": "7s"},
                          {"attempt_interval": ""}, {"max_attempts": 2, "attempt_interval": "11s"},
                          {"max_attempts": 2, "attempt_interval": ""}, {"timeout": "2m"}, {"timeout": ""},
                          {"timeout": "x"}, {"verify_peer": 2}, {"status": 2}, {"tags_evaltype": 1}, {"tags": [{}]},
                          {"tags": [{"tag": ""}]}, {"tags": [{"tag": "t", "operator": 4}]},
                          {"tags": [{"tag": "t", "operator": 12, "value": "x"}]},
                          {"tags": [{"tag": "t"}, {"tag": "t"}]}, {"nosuch": 1}):
        yield "", "connector.create", params
    yield "connector", "connector.create", {**CONNECTOR, "authtype": 5, "token": "s", "max_attempts": 3,
                                            "attempt_interval": "{$X}", "tags": [{"tag": "t", "value": "v"}]}
    yield "connector", "connector.create", {**CONNECTOR, "authtype": 5, "token": "s", "max_attempts": 3,
                                            "attempt_interval": "7s", "tags": [{"tag": "t", "value": "v"}]}
    yield "", "connector.create", CONNECTOR
    yield "", "connector.get", {"connectorids": "$connector", "selectTags": "extend"}
    for change in [{"authtype": 1, "username": "u"}, {"max_attempts": 1}, {"token": "x"}, {"name": ""},
                   {"tags": []}, {"data_type": 1}]:
        yield "", "connector.update", {"connectorid": "$connector", **change}
    yield "", "connector.get", {"connectorids": "$connector", "selectTags": "count"}
    for options in [{"output": ["x"]}, {"sortfield": "url"}, {"nosuch": 1}, {"countOutput": True},
                    {"selectTags": ["x"]}]:
        yield "", "connector.get", options
    yield "", "connector.update", {"connectorid": "999"}
    yield "", "connector.delete", ["999"]
    yield "", "connector.delete", ["$connector"]


def others():
    report = {"name": "cmp", "dashboardid": "999999", "users": [{"userid": "1"}]}
    for params in altered(report, {}, {"name": None}, {"dashboardid": None}, {"cycle": 1}, {"weekdays": 1},
                          {"active_since": "x"}, {"active_till": "2040-01-01"}, {"start_time": 86341},
                          {"active_since": "2030-01-02", "active_till": "2030-01-01"}, {"period": 4},
                          {"users": [{}]}, {"users": [{"userid": "1"}, {"userid": "1"}]}, {"nosuch": 1}):
        yield "", "report.create", params
    for options in [{}, {"countOutput": True}, {"output": ["x"]}, {"sortfield": "userid"}, {"selectUsers": "count"},
                    {"expired": True}, {"nosuch": 1}]:
        yield "", "report.get", options
    yield "", "report.update", {"reportid": "999"}
    yield "", "report.delete", ["999"]
    for options in [{"output": ["x"]}, {"nosuch": 1}, {"search": {"id": "x"}}, {"sortfield": "id"}, {"limit": 0}]:
        yield "", "module.get", options
    for options in [{"countOutput": True}, {"output": ["name", "status"]}, {"output": ["x"]}, {"nosuch": 1},
                    {"ha_nodeids": ["x"]}, {"search": {"name": "x"}}, {"sortfield": "port"}]:
        yield "", "hanode.get", options


def groups():
    yield "group", "usergroup.create", {"name": "cmp used"}
    message = {"operationtype": 0, "opmessage": {}, "opmessage_grp": [{"usrgrpid": "$group"}]}
    yield "action", "action.create", {"name": "cmp action", "eventsource": 0, "operations": [message]}
    yield "", "usergroup.delete", ["$group"]
    yield "", "action.delete", ["$action"]
    yield "script", "script.create", {"name": "cmp script", "type": 0, "scope": 2, "command": "true",
                                      "usrgrpid": "$group"}
    yield "", "usergroup.delete", ["$group"]
    yield "", "script.delete", ["$script"]
    yield "", "settings.update", {"alert_usrgrpid": "$group"}
    yield "", "usergroup.delete", ["$group"]
    yield "", "settings.update", {"alert_usrgrpid": "7"}
    yield "", "usergroup.delete", ["$group"]


def provisioning():
    """Calls about a user who is to be provisioned by the directory before `provisioned` is called."""
    yield "ldap", "userdirectory.create", {**LDAP, "provision_status": 1, "provision_groups": GROUPS}
    yield "group", "usergroup.create", {"name": "cmp group"}
    yield "user", "user.create", {"username": "cmp", "passwd": "Xy9!longpass", "roleid": "1",
                                  "usrgrps": [{"usrgrpid": "$group"}],
                                  "medias": [{"mediatypeid": "1", "sendto": ["a@b.c"]}]}


def provisioned():
    mail = {"mediatypeid": "1", "sendto": ["a@b.c"]}
    for change in [{"username": "other"}, {"username": "cmp"}, {"passwd": "Xy9!otherpass"}, {"roleid": "2"},
                   {"roleid": "1"}, {"usrgrps": [{"usrgrpid": "8"}]}, {"usrgrps": [{"usrgrpid": "$group"}]},
                   {"usrgrps": []}, {"name": "n", "surname": "s", "theme": "dark-theme"},
                   {"medias": [mail]}, {"medias": []}]:
        yield "", "user.update", {"userid": "$user", **change}
        yield "", "user.get", {"userids": "$user", "output": ["username", "name", "surname", "roleid", "provisioned"],
                               "selectUsrgrps": ["name"],
                               "selectMedias": ["mediatypeid", "sendto", "provisioned"]}
    yield "", "usergroup.delete", ["$group"]
    yield "", "userdirectory.delete", ["$ldap"]
    yield "", "user.delete", ["$user"]
    yield "", "usergroup.delete", ["$group"]
    yield "", "userdirectory.delete", ["$ldap"]


# Members with ids, and the names of the calls that make them.
IDS = {"mfaid": ("totp", "duo"), "userdirectoryid": ("ldap", "saml"), "connectorid": ("connector",),
       "usrgrpid": ("group",), "actionid": ("action",), "scriptid": ("script",), "userid": ("user",)}

PARTS = {"mfa": mfa, "directories": directories, "connectors": connectors, "others": others, "groups": groups,
         "provisioning": provisioning, "provisioned": provisioned}


def run(api, part, error, made=None):
    """Results of the calls of a part, each with the call; ids that differ are replaced. `made`: ids by the names
    of earlier calls, to which those of this part are added."""
    made, found = {} if made is None else made, []

    def named(value):
        if isinstance(value, dict):
            return {name: named(one) for name, one in value.items()}
        if isinstance(value, list):
            return [named(one) for one in value]
        return made.get(value[1:], value) if isinstance(value, str) and value.startswith("$") else value

    def shown(value, member=""):
        if isinstance(value, dict):
            return {name: shown(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [shown(one, member) for one in value]
        known = [name for name in IDS.get(member.rstrip("s"), ()) if made.get(name) == str(value)]
        return "$" + known[0] if known else value

    for name, method, params in PARTS[part]():
        call = "%s %s" % (method, json.dumps(params, sort_keys=True))
        try:
            result = api.call(method, named(params))
            if name:
                made[name] = next(iter(result.values()))[0]
            found.append((call, json.dumps(shown(result), sort_keys=True)))
        except error as refused:
            found.append((call, "%s %s" % (refused.code, refused.data)))
    return found
