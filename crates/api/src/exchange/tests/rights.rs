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

/// The same for imports that delete. `graphPrototypes` stands for graph prototypes of a rule in the
/// file, with everything allowed for discovery rules. Links and value maps go only if their owners
/// are updated.
const DELETIONS: &[Case] = &[
    ("discoveryRules", "discovery rules", "hosts", [Type, Nothing, Right, Done, Done]),
    ("graphPrototypes", "discovery rules", "hosts", [Type, Nothing, Right, Done, Done]),
    ("graphs", "graphs", "hosts", [Type, Nothing, Right, Done, Done]),
    ("httptests", "web scenarios", "hosts", [Type, Nothing, Right, Done, Done]),
    ("items", "items", "hosts", [Type, Nothing, Right, Done, Done]),
    ("templateLinkage", "template links", "hosts", [Type, Right, Right, Done, Done]),
    ("triggers", "triggers", "hosts", [Type, Nothing, Right, Done, Done]),
    ("valueMaps", "value maps", "hosts", [Type, Right, Right, Done, Done]),
    ("discoveryRules", "discovery rules", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("graphPrototypes", "discovery rules", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("graphs", "graphs", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("httptests", "web scenarios", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("items", "items", "templates", [Type, Nothing, Nothing, Done, Done]),
    (
        "templateDashboards",
        "template dashboards",
        "templates",
        [Type, Nothing, Nothing, Done, Done],
    ),
    ("templateLinkage", "template links", "templates", [Type, Right, Nothing, Done, Done]),
    ("triggers", "triggers", "templates", [Type, Nothing, Nothing, Done, Done]),
    ("valueMaps", "value maps", "templates", [Type, Right, Nothing, Done, Done]),
];

/// Right of a user on the host and the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grant {
    None,
    Read,
    Write,
    /// Write by one group, denied by the other.
    Denied,
}

impl Grant {
    const ALL: [Self; 4] = [Self::None, Self::Read, Self::Write, Self::Denied];

    /// Verdicts of the three types of users. A denied owner is as good as one without right.
    fn of(self, verdicts: [Verdict; 5]) -> [Verdict; 3] {
        let admin = match self {
            Self::None | Self::Denied => verdicts[1],
            Self::Read => verdicts[2],
            Self::Write => verdicts[3],
        };
        [verdicts[0], admin, verdicts[4]]
    }

    /// Groups of hosts or of templates, with the user's right on them.
    fn groups(self, owners: &str) -> Vec<(&'static str, u8)> {
        let [group, other] = if owners == "hosts" { ["HG", "HD"] } else { ["TG", "TD"] };
        match self {
            Self::None => vec![(group, 1)],
            Self::Read => vec![(group, 2)],
            Self::Write => vec![(group, 3)],
            Self::Denied => vec![(group, 3), (other, 0)],
        }
    }
}

/// A host and a template, each with an item, and a template to link.
fn prepare(server: &Server, grant: Grant) {
    let make = |method: &str, owners: &str| -> Json {
        let groups = grant.groups(owners);
        let ids = groups.iter().map(|(name, _)| server.create(method, &json!({ "name": name })));
        ids.map(|id| json!({ "groupid": id })).collect()
    };
    let groups = make("hostgroup.create", "hosts");
    let folders = make("templategroup.create", "templates");
    let host = server.create("host.create", &json!({ "host": "h", "groups": groups }));
    let template = server.create("template.create", &json!({ "host": "t", "groups": folders }));
    server.create("template.create", &json!({ "host": "l", "groups": folders }));
    for owner in [host, template] {
        let item = json!({ "hostid": owner, "name": "base", "key_": "base", "type": 2,
                           "value_type": 3 });
        server.create("item.create", &item);
    }
}

/// Sessions of a user of each type with this right.
fn users(server: &Server, grant: Grant) -> [String; 3] {
    let rights = |owners: &str| -> Json {
        let mut rights = Vec::new();
        // 1 = nothing is said of the group.
        for (name, right) in grant.groups(owners).into_iter().filter(|(_, right)| *right != 1) {
            let id = server.text(&format!("SELECT groupid FROM groups_ WHERE name = '{name}'"));
            rights.push(json!({ "id": id, "permission": right }));
        }
        rights.into()
    };
    let of_users = json!({ "name": format!("group {grant:?}"), "hostgroup_rights": rights("hosts"),
                           "templategroup_rights": rights("templates") });
    let of_users = server.create("usergroup.create", &of_users);
    [1, 2, 3].map(|role| {
        let name = format!("user {role} {grant:?}");
        let user = json!({ "username": name, "passwd": "Xy9!longpass", "roleid": role,
                           "usrgrps": [{ "usrgrpid": of_users }] });
        server.create("user.create", &user);
        server.login(&name, "Xy9!longpass")
    })
}

/// An export of the owner with an object of this kind, or without the kind.
fn source(kind: &str, owners: &str, grant: Grant, object: Option<&str>) -> String {
    let (one, name) = if owners == "hosts" { ("host", "h") } else { ("template", "t") };
    let groups = grant.groups(owners).into_iter();
    let groups: Json = groups.map(|(name, _)| json!({ "name": name })).collect();
    let mut owner = json!({ one: name, "name": name, "groups": groups });
    let item = |key: &str| json!({ "name": key, "key": key, "type": "TRAP", "delay": "0" });
    let step = json!([{ "name": "a", "url": "http://127.0.0.1/" }]);
    let drawn = |key: &str| json!([{ "color": "1A7C11", "item": { "host": name, "key": key } }]);
    let mut root = json!({ "version": "7.0" });
    match (kind, object) {
        ("items", None) => owner["items"] = json!([item("base")]),
        ("graphPrototypes", object) => {
            let mut rule = item("rule");
            rule["item_prototypes"] = json!([item("p[{#A}]")]);
            if let Some(object) = object {
                let items = drawn("p[{#A}]");
                rule["graph_prototypes"] = json!([{ "name": object, "graph_items": items }]);
            }
            owner["discovery_rules"] = json!([rule]);
        }
        (_, None) => {}
        ("discoveryRules", Some(new)) => owner["discovery_rules"] = json!([item(new)]),
        ("items", Some(new)) => owner["items"] = json!([item(new)]),
        ("httptests", Some(new)) => owner["httptests"] = json!([{ "name": new, "steps": step }]),
        ("valueMaps", Some(new)) => {
            let mappings = json!([{ "value": "1", "newvalue": "a" }]);
            owner["valuemaps"] = json!([{ "name": new, "mappings": mappings }]);
        }
        ("templateLinkage", Some(_)) => owner["templates"] = json!([{ "name": "l" }]),
        ("templateDashboards", Some(new)) => {
            owner["dashboards"] = json!([{ "name": new, "pages": [{}] }]);
        }
        ("triggers", Some(new)) => {
            let expression = format!("last(/{name}/base)=1");
            root["triggers"] = json!([{ "name": new, "expression": expression }]);
        }
        ("graphs", Some(new)) => {
            root["graphs"] = json!([{ "name": new, "graph_items": drawn("base") }]);
        }
        ("host_groups" | "template_groups", Some(new)) => root[kind] = json!([{ "name": new }]),
        ("hosts" | "templates", Some(new)) => owner["description"] = new.into(),
        _ => {}
    }
    root[owners] = json!([owner]);
    json!({ "zabbix_export": root }).to_string()
}

/// Everything that an import of these kinds could have changed.
fn state(server: &Server) -> Vec<String> {
    let counts =
        ["items", "triggers", "graphs", "dashboards", "groups_", "valuemaps", "host_templates"]
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
    for grant in Grant::ALL {
        let server = Server::start();
        prepare(&server, grant);
        let sessions = users(&server, grant);
        for (kind, words, owners, verdicts) in CASES {
            for (n, (session, expected)) in sessions.iter().zip(grant.of(*verdicts)).enumerate() {
                let case = format!("{kind} of {owners}, user {}, {grant:?}", n + 1);
                let linkage = *kind == "templateLinkage";
                let rule = json!({ "createMissing": true, "updateExisting": !linkage });
                let new = format!("new{n}{kind}{owners}");
                let source = source(kind, owners, grant, Some(&new));
                let params =
                    json!({ "format": "json", "rules": { *kind: rule }, "source": source });
                let call = |method: &str| server.call_as(Some(session), method, &params);
                let compared = call("configuration.importcompare");
                let before = state(&server);
                let result = call("configuration.import");
                let changed = before != state(&server);
                // Of two that link the template the second finds nothing to do.
                let linked = linkage && n == 2 && grant == Grant::Write;
                let expected = if linked { Nothing } else { expected };
                assert_eq!(verdict(&result, changed, words), expected, "{case}: {result:?}");
                assert!(result.is_ok() || !changed, "{case}: a refusal changes nothing");
                assert_eq!(compared.is_err(), result.is_err(), "{case}: {compared:?}");
            }
        }
    }
}

/// Rules under which an import deletes objects of this kind that its file does not have.
fn deleting(kind: &str, owners: &str) -> Json {
    match kind {
        "graphPrototypes" => json!({ "discoveryRules":
            { "createMissing": true, "updateExisting": true, "deleteMissing": true } }),
        "templateLinkage" | "valueMaps" => {
            json!({ kind: { "deleteMissing": true }, owners: { "updateExisting": true } })
        }
        _ => json!({ kind: { "deleteMissing": true } }),
    }
}

/// Number of objects with this name, or of links.
fn existing(server: &Server, kind: &str, name: &str) -> String {
    let named = |table: &str, column: &str| {
        format!("(SELECT COUNT(*) FROM {table} WHERE {column} LIKE '%{name}%')")
    };
    server.text(&match kind {
        "templateLinkage" => "SELECT COUNT(*) FROM host_templates".to_owned(),
        "triggers" => format!("SELECT {}", named("triggers", "description")),
        "valueMaps" => format!("SELECT {}", named("valuemaps", "name")),
        "items" | "discoveryRules" | "httptests" => format!("SELECT {}", named("items", "name")),
        "graphs" | "graphPrototypes" => format!("SELECT {}", named("graphs", "name")),
        _ => format!("SELECT {}", named("dashboards", "name")),
    })
}

#[test]
fn import_deletions_follow_user_type_and_rights() {
    for grant in Grant::ALL {
        let server = Server::start();
        prepare(&server, grant);
        let sessions = users(&server, grant);
        for (kind, words, owners, verdicts) in DELETIONS {
            let rule = if *kind == "graphPrototypes" { "discoveryRules" } else { *kind };
            let old = format!("old{kind}{owners}");
            for (n, (session, expected)) in sessions.iter().zip(grant.of(*verdicts)).enumerate() {
                let case = format!("{kind} of {owners}, user {}, {grant:?}", n + 1);
                let source = |object| source(kind, owners, grant, object);
                let params = json!({ "format": "json", "source": source(Some(&old)),
                                     "rules": { rule: { "createMissing": true } } });
                server.call("configuration.import", &params).unwrap();
                let before = existing(&server, kind, &old);
                assert_ne!(before, "0", "{case}");
                let params = json!({ "format": "json", "rules": deleting(kind, owners),
                                     "source": source(None) });
                let all = state(&server);
                let result = server.call_as(Some(session), "configuration.import", &params);
                let after = existing(&server, kind, &old);
                let changed = before != after || all != state(&server);
                assert_eq!(verdict(&result, changed, words), expected, "{case}: {result:?}");
                let left = if expected == Done { "0" } else { before.as_str() };
                assert_eq!(after, left, "{case}");
            }
        }
    }
}

#[test]
fn permissions_are_checked_before_the_source_is_read() {
    let server = Server::start();
    prepare(&server, Grant::Write);
    let [user, admin, _] = users(&server, Grant::Write);
    let import = |session: &str, rules: Json| {
        let params = json!({ "format": "yaml", "rules": rules, "source": "not: [valid" });
        server.call_as(Some(session), "configuration.import", &params).unwrap_err().1
    };
    let items = json!({ "items": { "deleteMissing": true } });
    assert_eq!(import(&user, items.clone()), "No permissions to import items.");
    assert!(import(&admin, items).starts_with("Cannot read YAML"));
    for kinds in [["items", "hosts"], ["hosts", "items"]] {
        let both = kinds.map(|kind| (kind.to_owned(), json!({ "updateExisting": true })));
        let text = format!("No permissions to import {}.", kinds[0]);
        assert_eq!(import(&user, both.into_iter().collect()), text, "the first one in the request");
    }
    let unset = json!({ "items": { "createMissing": false } });
    assert!(import(&user, unset).starts_with("Cannot read YAML"));
}

#[test]
fn role_that_denies_a_method_denies_its_imports() {
    let server = Server::start();
    prepare(&server, Grant::Write);
    drop(users(&server, Grant::Write));
    let of_users = server.text("SELECT usrgrpid FROM usergroups WHERE name = 'group Write'");
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
                             "source": source(kind, "hosts", Grant::Write, Some(new)) });
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
    prepare(&server, Grant::Write);
    let [user, ..] = users(&server, Grant::Write);
    let user = crate::session::authenticate(&server.api, Some(&user)).unwrap();
    server.with_call(user, |call| {
        let refused = crate::rpc::run_inner(call, "hostgroup.create", &json!({ "name": "x" }));
        let text = "No permissions to call \"hostgroup.create\".";
        assert_eq!(refused.unwrap_err().data, text);
        assert!(crate::rpc::run_inner(call, "hostgroup.get", &json!({})).is_ok());
    });
}
