//! Who may import what: the verdicts of the field's server for each kind, right and type of user.

use serde_json::{Value as Json, json};

use crate::testing::Server;

/// Outcome of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Refused because of the user's type: "No permissions to import …".
    Type,
    /// Refused for want of a right on an object.
    Right,
    /// Accepted, but the owner is as good as absent: nothing changes.
    Nothing,
    /// Done.
    Done,
}
use Verdict::{Done, Nothing, Right, Type};

/// Kind, words of the refusal, list of the owner, verdicts of users of type User (with every
/// right alike), of type Admin without right, with read and with write, and of super admins.
type Case = (&'static str, &'static str, &'static str, [Verdict; 5]);

const CASES: &[Case] = &[
    ("discoveryRules", "discovery rules", "hosts", [Type, Nothing, Right, Done, Done]),
    ("graphs", "graphs", "hosts", [Type, Nothing, Right, Done, Done]),
    ("host_groups", "host groups", "hosts", [Type, Type, Type, Type, Done]),
    ("hosts", "hosts", "hosts", [Type, Right, Right, Done, Done]),
    ("httptests", "web scenarios", "hosts", [Type, Nothing, Right, Done, Done]),
    ("images", "images", "hosts", [Type, Type, Type, Type, Nothing]),
    ("items", "items", "hosts", [Type, Nothing, Right, Done, Done]),
    ("maps", "maps", "hosts", [Nothing, Nothing, Nothing, Nothing, Nothing]),
    ("mediaTypes", "media types", "hosts", [Type, Type, Type, Type, Nothing]),
    ("template_groups", "template groups", "hosts", [Type, Type, Type, Type, Done]),
    ("templateLinkage", "template links", "hosts", [Type, Nothing, Right, Done, Done]),
    ("triggers", "triggers", "hosts", [Type, Nothing, Right, Done, Done]),
    ("valueMaps", "value maps", "hosts", [Type, Nothing, Right, Done, Done]),
    ("discoveryRules", "discovery rules", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("graphs", "graphs", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("httptests", "web scenarios", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("items", "items", "templates", [Type, Nothing, Nothing, Done, Done]),
    (
        "templateDashboards",
        "template dashboards",
        "templates",
        [Type, Nothing, Nothing, Done, Done],
    ),
    ("templateLinkage", "template links", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("templates", "templates", "templates", [Type, Right, Right, Done, Done]),
    ("triggers", "triggers", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("valueMaps", "value maps", "templates", [Type, Nothing, Nothing, Done, Done]),
];

/// A host and a template, each with an item, and a template to link.
fn prepare(server: &Server) -> [String; 2] {
    let group = server.create("hostgroup.create", &json!({ "name": "HG" }));
    let folder = server.create("templategroup.create", &json!({ "name": "TG" }));
    let inside = |id: &str| json!([{ "groupid": id }]);
    let host = json!({ "host": "h", "groups": inside(&group) });
    let host = server.create("host.create", &host);
    let template = json!({ "host": "t", "groups": inside(&folder) });
    let template = server.create("template.create", &template);
    server.create("template.create", &json!({ "host": "l", "groups": inside(&folder) }));
    for owner in [host, template] {
        let item = json!({ "hostid": owner, "name": "base", "key_": "base", "type": 2,
                           "value_type": 3 });
        server.create("item.create", &item);
    }
    [group, folder]
}

/// Sessions of a user of each type with this right; 0 = none.
fn users(server: &Server, [group, folder]: &[String; 2], right: u8) -> [String; 3] {
    let mut of_users = json!({ "name": format!("group {right}") });
    if right > 0 {
        of_users["hostgroup_rights"] = json!([{ "id": group, "permission": right }]);
        of_users["templategroup_rights"] = json!([{ "id": folder, "permission": right }]);
    }
    let of_users = server.create("usergroup.create", &of_users);
    [1, 2, 3].map(|role| {
        let name = format!("user {role} {right}");
        let user = json!({ "username": name, "passwd": "Xy9!longpass", "roleid": role,
                           "usrgrps": [{ "usrgrpid": of_users }] });
        server.create("user.create", &user);
        server.login(&name, "Xy9!longpass")
    })
}

/// An import that adds `new` of this kind to the owner.
fn source(kind: &str, owners: &str, new: &str) -> String {
    let (one, name, group) =
        if owners == "hosts" { ("host", "h", "HG") } else { ("template", "t", "TG") };
    let mut owner = json!({ one: name, "name": name, "groups": [{ "name": group }] });
    let item = json!([{ "name": new, "key": new, "type": "TRAP", "delay": "0" }]);
    let step = json!([{ "name": "a", "url": "http://127.0.0.1/" }]);
    let mut root = json!({ "version": "7.0" });
    match kind {
        "discoveryRules" => owner["discovery_rules"] = item,
        "items" => owner["items"] = item,
        "httptests" => owner["httptests"] = json!([{ "name": new, "steps": step }]),
        "valueMaps" => {
            let mappings = json!([{ "value": "1", "newvalue": "a" }]);
            owner["valuemaps"] = json!([{ "name": new, "mappings": mappings }]);
        }
        "templateLinkage" => owner["templates"] = json!([{ "name": "l" }]),
        "templateDashboards" => owner["dashboards"] = json!([{ "name": new, "pages": [{}] }]),
        "triggers" => {
            let expression = format!("last(/{name}/base)=1");
            root["triggers"] = json!([{ "name": new, "expression": expression }]);
        }
        "graphs" => {
            let item = json!({ "host": name, "key": "base" });
            let items = json!([{ "color": "1A7C11", "item": item }]);
            root["graphs"] = json!([{ "name": new, "graph_items": items }]);
        }
        "host_groups" | "template_groups" => root[kind] = json!([{ "name": new }]),
        "hosts" | "templates" => owner["description"] = new.into(),
        _ => {}
    }
    root[owners] = json!([owner]);
    json!({ "zabbix_export": root }).to_string()
}

/// Everything that an import of these kinds could have changed.
fn state(server: &Server) -> Vec<String> {
    let counts = ["items", "triggers", "parts", "groups_", "valuemaps", "host_templates"]
        .map(|table| server.text(&format!("SELECT COUNT(*) FROM {table}")));
    let described = ["h", "t"]
        .map(|name| server.text(&format!("SELECT description FROM hosts WHERE host = '{name}'")));
    [counts.as_slice(), &described].concat()
}

fn verdict(found: &Result<Json, (i64, String)>, changed: bool, words: &str) -> Verdict {
    match found {
        Ok(_) if changed => Done,
        Ok(_) => Nothing,
        Err((_, text)) if *text == format!("No permissions to import {words}.") => Type,
        Err(_) => Right,
    }
}

#[test]
fn import_verdicts_follow_user_type_and_rights() {
    for (number, right) in [0, 2, 3].into_iter().enumerate() {
        let server = Server::start();
        let groups = prepare(&server);
        let sessions = users(&server, &groups, right);
        for (kind, words, owners, verdicts) in CASES {
            let expected = [verdicts[0], verdicts[1 + number], verdicts[4]];
            for (n, (session, expected)) in sessions.iter().zip(expected).enumerate() {
                let case = format!("{kind} of {owners}, user {}, right {right}", n + 1);
                let linkage = *kind == "templateLinkage";
                let rule = json!({ "createMissing": true, "updateExisting": !linkage });
                let source = source(kind, owners, &format!("new{n}{kind}{owners}"));
                let params =
                    json!({ "format": "json", "rules": { *kind: rule }, "source": source });
                let call = |method: &str| server.call_as(Some(session), method, &params);
                let compared = call("configuration.importcompare");
                let before = state(&server);
                let result = call("configuration.import");
                let changed = before != state(&server);
                // Of two that link the template the second finds nothing to do.
                let linked = linkage && n == 2 && verdicts[1 + number] == Done;
                let expected = if linked { Nothing } else { expected };
                assert_eq!(verdict(&result, changed, words), expected, "{case}: {result:?}");
                assert!(result.is_ok() || !changed, "{case}: a refusal changes nothing");
                assert_eq!(compared.is_err(), result.is_err(), "{case}: {compared:?}");
            }
        }
    }
}

#[test]
fn permissions_are_checked_before_the_source_is_read() {
    let server = Server::start();
    let groups = prepare(&server);
    let [user, admin, _] = users(&server, &groups, 3);
    let import = |session: &str, rules: Json| {
        let params = json!({ "format": "yaml", "rules": rules, "source": "not: [valid" });
        server.call_as(Some(session), "configuration.import", &params).unwrap_err().1
    };
    let items = json!({ "items": { "deleteMissing": true } });
    assert_eq!(import(&user, items.clone()), "No permissions to import items.");
    assert!(import(&admin, items).starts_with("Cannot read YAML"));
    let unset = json!({ "items": { "createMissing": false } });
    assert!(import(&user, unset).starts_with("Cannot read YAML"));
}

#[test]
fn role_that_denies_a_method_denies_its_imports() {
    let server = Server::start();
    let groups = prepare(&server);
    drop(users(&server, &groups, 3));
    let of_users = server.text("SELECT usrgrpid FROM usergroups WHERE name = 'group 3'");
    let session = |name: &str, rules: Json| {
        let role = json!({ "name": name, "type": 2, "rules": rules });
        let role = server.create("role.create", &role);
        let user = json!({ "username": name, "passwd": "Xy9!longpass", "roleid": role,
                           "usrgrps": [{ "usrgrpid": of_users }] });
        server.create("user.create", &user);
        server.login(name, "Xy9!longpass")
    };
    let import = |session: &str, kind: &str, new: &str| {
        let rule = json!({ "createMissing": true, "updateExisting": true });
        let params = json!({ "format": "json", "rules": { kind: rule },
                             "source": source(kind, "hosts", new) });
        server.call_as(Some(session), "configuration.import", &params).map_err(|e| e.1)
    };
    let methods = ["item.create", "httptest.create"];
    let denied = session("denies", json!({ "api.mode": "0", "api": methods }));
    for (kind, method) in ["items", "httptests"].into_iter().zip(methods) {
        let text = format!("No permissions to call \"{method}\".");
        assert_eq!(import(&denied, kind, "a"), Err(text), "{kind}");
    }
    assert_eq!(import(&denied, "triggers", "a"), Ok(true.into()));
    // A list of allowed methods with the import allows all that an import does.
    let importer = json!({ "api.mode": "1", "api": ["configuration.import"] });
    assert_eq!(import(&session("allows", importer), "items", "b"), Ok(true.into()));
}

#[test]
fn inner_method_calls_refuse_lower_user_types() {
    let server = Server::start();
    let groups = prepare(&server);
    let [user, ..] = users(&server, &groups, 3);
    let user = crate::session::authenticate(&server.api, Some(&user)).unwrap();
    server.with_call(user, |call| {
        let refused = crate::rpc::run_inner(call, "hostgroup.create", &json!({ "name": "x" }));
        let text = "No permissions to call \"hostgroup.create\".";
        assert_eq!(refused.unwrap_err().data, text);
        assert!(crate::rpc::run_inner(call, "hostgroup.get", &json!({})).is_ok());
    });
}
