use serde_json::json;

use crate::testing::Server;

#[test]
fn rights_filters_and_members() {
    let server = Server::start();
    let hg = server.create("hostgroup.create", &json!({ "name": "hg" }));
    let tg = server.create("templategroup.create", &json!({ "name": "tg" }));
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    for (change, text) in [
        (json!({ "name": "" }), "\"/1/name\": cannot be empty"),
        (json!({ "name": "ug" }), "User group \"ug\" already exists."),
        (json!({ "gui_access": 9 }), "0, 1, 2, 3"),
        (json!({ "nosuch": 1 }), "unexpected parameter"),
        (json!({ "hostgroup_rights": [{ "id": hg, "permission": 9 }] }), "0, 2, 3"),
        (json!({ "hostgroup_rights": [{ "id": hg }] }), "\"permission\" is missing"),
        (
            json!({ "hostgroup_rights": [{ "id": hg, "permission": 2 }, { "id": hg, "permission": 3 }] }),
            "value (id)=",
        ),
        (json!({ "hostgroup_rights": [{ "id": tg, "permission": 2 }] }), "Host group with ID"),
        (
            json!({ "templategroup_rights": [{ "id": hg, "permission": 2 }] }),
            "Template group with ID",
        ),
        (json!({ "tag_filters": [{ "groupid": hg, "value": "x" }] }), "\"tag\": cannot be empty"),
        (json!({ "users": [{ "userid": "999" }] }), "\"/1/users/1/userid\": object does not exist"),
        (json!({ "users": [{ "userid": "1" }], "users_status": 1 }), "cannot add oneself"),
        (json!({ "mfaid": 7 }), "\"/1/mfaid\": value must be 0"),
        (json!({ "mfa_status": 1, "mfaid": 7 }), "\"/1/mfaid\": object does not exist"),
        (json!({ "userdirectoryid": 7 }), "\"/1/userdirectoryid\": referred object does not exist"),
        (json!({ "gui_access": 1, "userdirectoryid": 7 }), "unexpected parameter"),
    ] {
        let mut params = json!({ "name": "x" });
        for (name, value) in change.as_object().unwrap() {
            params[name] = value.clone();
        }
        server.refuses(&[("usergroup.create", params, -32602, text)]);
    }
    server.answers(&[
        ("usergroup.update", json!({
            "usrgrpid": ug, "users": [{ "userid": 2 }], "tag_filters": [{ "groupid": hg, "tag": "t" }],
            "hostgroup_rights": [{ "id": hg, "permission": 2 }], "templategroup_rights": [{ "id": tg, "permission": 3 }],
        }), json!({ "usrgrpids": [ug] })),
        ("usergroup.update", json!({ "usrgrpid": ug, "name": "ug2", "hostgroup_rights": [] }), json!({ "usrgrpids": [ug] })),
        ("usergroup.get", json!({
            "usrgrpids": ug, "output": ["name"], "selectUsers": ["username"], "selectTagFilters": "extend",
            "selectHostGroupRights": "extend", "selectTemplateGroupRights": "extend", "selectRights": "count",
        }), json!([{
            "usrgrpid": ug, "name": "ug2", "users": [{ "userid": "2", "username": "guest" }],
            "hostgroup_rights": [], "templategroup_rights": [{ "id": tg, "permission": "3" }],
            "tag_filters": [{ "groupid": hg, "tag": "t", "value": "" }],
        }])),
        ("usergroup.get", json!({ "userids": 2, "status": 0, "output": ["name"], "sortfield": "name" }), json!([
            { "usrgrpid": "8", "name": "Guests" }, { "usrgrpid": ug, "name": "ug2" },
        ])),
    ]);
    let whole = json!({ "usrgrpids": ug, "selectUsers": "extend" });
    let user = server.call("usergroup.get", &whole).unwrap()[0]["users"][0].take();
    let access = ["gui_access", "debug_mode", "users_status"].map(|name| user[name].clone());
    assert_eq!(access, ["1", "0", "1"], "all fields: how users may sign in, too");
    server.answers(&[("usergroup.delete", json!([ug]), json!({ "usrgrpids": [ug] }))]);
    server.refuses(&[
        ("usergroup.delete", json!([ug]), -32500, "No permissions"),
        (
            "usergroup.update",
            json!({ "usrgrpid": 7, "users_status": 1 }),
            -32602,
            "cannot add oneself",
        ),
    ]);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM group_rights"), 0);
}

#[test]
fn the_group_of_deprovisioned_users_stays_disabled() {
    let server = Server::start();
    let group = json!({ "name": "gone", "users_status": 1 });
    let group = server.create("usergroup.create", &group);
    let setting = json!({ "disabled_usrgrpid": group });
    server.call("authentication.update", &setting).unwrap();
    let enable = json!({ "usrgrpid": group, "users_status": 0 });
    let enabled = "Deprovisioned users group cannot be enabled.";
    let deleted = "Deprovisioned users group cannot be deleted.";
    server.refuses(&[
        ("usergroup.update", enable.clone(), -32602, enabled),
        ("usergroup.delete", json!([group]), -32602, deleted),
    ]);
    let rename = json!({ "usrgrpid": group, "name": "other" });
    server.call("usergroup.update", &rename).unwrap();
    server.call("authentication.update", &json!({ "disabled_usrgrpid": 0 })).unwrap();
    server.call("usergroup.update", &enable).unwrap();
    server.call("usergroup.delete", &json!([group])).unwrap();
}

#[test]
fn used_groups_are_not_deleted() {
    let server = Server::start();
    let group = |name: &str| server.create("usergroup.create", &json!({ "name": name }));
    let [sends, runs, reads, maps, free] = ["sends", "runs", "reads", "maps", "free"].map(group);
    let operation =
        json!({ "operationtype": 0, "opmessage_grp": [{ "usrgrpid": sends }], "opmessage": {} });
    let action = json!({ "name": "act", "eventsource": 0, "operations": [operation] });
    server.create("action.create", &action);
    let script =
        json!({ "name": "run", "type": 0, "scope": 2, "command": "true", "usrgrpid": runs });
    server.create("script.create", &script);
    server.call("settings.update", &json!({ "alert_usrgrpid": reads })).unwrap();
    server.write_sql(&[
        "INSERT INTO userdirectories (userdirectoryid, idp_type, name) VALUES (1, 1, 'ldap')",
        "UPDATE users SET userdirectoryid = 1 WHERE username = 'guest'",
    ]);
    let member = json!({ "usrgrpid": maps, "users": [{ "userid": 2 }] });
    server.call("usergroup.update", &member).unwrap();
    for (id, error) in [
        (&sends, "User group \"sends\" is used in \"act\" action."),
        (&runs, "User group \"runs\" is used in script \"run\"."),
        (&reads, "User group \"reads\" is used in configuration for database down messages."),
        (
            &maps,
            "Cannot delete user group \"maps\", because it is used by provisioned user \"guest\".",
        ),
    ] {
        server.refuses(&[("usergroup.delete", json!([free, id]), -32602, error)]);
    }
    server.call("usergroup.delete", &json!([free])).unwrap();
}
