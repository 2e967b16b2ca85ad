//! Host prototypes; texts and results as the reference gives them.

mod copies;
mod groups;
mod links;

use serde_json::{Value as Json, json};

use crate::testing::Server;

/// A server with template T (rule r), template U, host H (rule own), host group HG.
struct Scene {
    server: Server,
    group: String,
    templates: String,
    t: String,
    u: String,
    host: String,
    rule: String,
    own: String,
}

fn scene() -> Scene {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "HG" }));
    let templates = server.create("templategroup.create", &json!({ "name": "TG" }));
    let template = |name: &str| {
        let params = json!({ "host": name, "groups": [{ "groupid": templates }] });
        server.create("template.create", &params)
    };
    let (t, u) = (template("T"), template("U"));
    let host = json!({ "host": "H", "groups": [{ "groupid": group }], "interfaces": [] });
    let host = server.create("host.create", &host);
    let rule = |host: &str, key: &str| {
        let params = json!({ "name": key, "key_": key, "hostid": host, "type": 2 });
        server.create("discoveryrule.create", &params)
    };
    let (rule, own) = (rule(&t, "r"), rule(&host, "own"));
    Scene { group, templates, t, u, host, rule, own, server }
}

impl Scene {
    fn links(&self) -> Json {
        json!([{ "groupid": self.group }])
    }

    /// Parameters for a prototype `x{#A}` of the template's rule with other members.
    fn prototype(&self, more: Json) -> Json {
        let mut all = json!({ "ruleid": self.rule, "host": "x{#A}", "groupLinks": self.links() });
        for (name, value) in more.as_object().unwrap() {
            all[name] = value.clone();
        }
        all
    }

    fn link(&self, templates: &[&str]) -> Result<Json, (i64, String)> {
        let list: Json = templates.iter().map(|id| json!({ "templateid": id })).collect();
        self.server.call("host.update", &json!({ "hostid": self.host, "templates": list }))
    }

    /// An administrator with these rights: his user group, and a session.
    fn admin(&self, rights: &Json) -> (String, String) {
        let id = self.server.create("usergroup.create", rights);
        let user = json!({ "username": "adm", "passwd": "Long-enough-1", "roleid": "2",
                           "usrgrps": [{ "usrgrpid": id }] });
        self.server.create("user.create", &user);
        (id, self.server.login("adm", "Long-enough-1"))
    }

    fn get(&self, params: Json) -> Json {
        self.server.call("hostprototype.get", &params).unwrap()
    }

    fn full(&self) -> Json {
        self.prototype(json!({
            "name": "X {#A}", "status": 1, "discover": 1, "inventory_mode": 1,
            "groupPrototypes": [{ "name": "a/{#A}" }], "templates": [{ "templateid": self.u }],
            "tags": [{ "tag": "t", "value": "v" }, { "tag": "{#A}" }],
            "macros": [{ "macro": "{$X}", "value": "a" },
                       { "macro": "{$S}", "value": "sec", "type": 1 }],
            "custom_interfaces": 1,
            "interfaces": [
                { "type": 2, "main": 1, "useip": 1, "ip": "{#IP}", "port": "161",
                  "details": { "version": 2, "community": "c" } },
                { "type": 1, "main": 1, "useip": 0, "dns": "{#A}.example", "port": "{$P}" },
            ],
        }))
    }
}

const SHOWN: &[&str] = &[
    "selectGroupLinks",
    "selectGroupPrototypes",
    "selectTags",
    "selectMacros",
    "selectInterfaces",
];

fn shown(mut params: Json) -> Json {
    for option in SHOWN {
        let fields = match *option {
            "selectGroupPrototypes" => json!(["name"]),
            "selectMacros" => json!(["macro", "value", "type"]),
            "selectInterfaces" => json!(["type", "main", "ip", "dns", "port", "details"]),
            _ => json!("extend"),
        };
        params[option] = fields;
    }
    params["selectTemplates"] = json!(["host"]);
    params
}

#[test]
fn what_create_refuses() {
    let s = scene();
    let interface = |more: Json| {
        let mut one = json!({ "type": 1, "main": 1, "useip": 1, "ip": "1.1.1.1", "port": "1" });
        for (name, value) in more.as_object().unwrap() {
            match value {
                Json::Null => drop(one.as_object_mut().unwrap().shift_remove(name)),
                value => one[name] = value.clone(),
            }
        }
        json!({ "custom_interfaces": 1, "interfaces": [one] })
    };
    let plain = json!({ "type": 1, "main": 1, "useip": 1, "ip": "1.1.1.1", "port": "1" });
    let snmp = |details: Json| interface(json!({ "type": 2, "details": details }));
    let many = "{#A}".repeat(33);
    for (more, code, text) in [
        (json!({ "foo": 1 }), -32602, "\"/1\": unexpected parameter \"foo\"."),
        (json!({ "host": "" }), -32602, "\"/1/host\": cannot be empty."),
        (json!({ "host": "x" }), -32602, "must contain at least one low-level discovery macro."),
        (json!({ "host": "x{#A}?" }), -32602, "\"/1/host\": invalid host name."),
        (json!({ "host": many }), -32602, "\"/1/host\": value is too long."),
        (json!({ "name": "" }), -32602, "\"/1/name\": cannot be empty."),
        (json!({ "ruleid": "9" }), -32500, "No permissions to referred object"),
        (json!({ "groupLinks": [] }), -32602, "\"/1/groupLinks\": cannot be empty."),
        (json!({ "groupLinks": [{}] }), -32602, "\"/1/groupLinks/1\": the parameter \"groupid\""),
        (json!({ "groupLinks": [{ "groupid": "9" }] }), -32500, "No permissions to referred"),
        (json!({ "groupPrototypes": [{ "name": "a" }] }), -32602, "at least one low-level"),
        (json!({ "groupPrototypes": [{ "name": "" }] }), -32602, "/1/name\": cannot be empty."),
        (json!({ "groupPrototypes": [{ "name": "/{#A}" }] }), -32602, "invalid host group name."),
        (
            json!({ "groupPrototypes": [{ "name": "{#A}" }, { "name": "{#A}" }] }),
            -32602,
            "\"/1/groupPrototypes/2\": value (name)=({#A}) already exists.",
        ),
        (json!({ "status": 5 }), -32602, "\"/1/status\": value must be one of 0, 1."),
        (json!({ "inventory_mode": 2 }), -32602, "value must be one of -1, 0, 1."),
        (
            json!({ "templates": [{ "templateid": "9" }] }),
            -32500,
            "\"/1/templates/1\": object does not exist, or you have no permissions to it.",
        ),
        (json!({ "tags": [{ "tag": "" }] }), -32602, "\"/1/tags/1/tag\": cannot be empty."),
        (json!({ "tags": [{ "tag": "a", "automatic": 0 }] }), -32602, "unexpected parameter"),
        (json!({ "macros": [{ "macro": "X" }] }), -32602, "incorrect syntax near \"X\"."),
        (json!({ "macros": [{ "macro": "{$X}" }] }), -32602, "the parameter \"value\" is missing."),
        (json!({ "uuid": "abc" }), -32602, "\"/1/uuid\": must be 32 characters long."),
        (json!({ "interfaces": [plain] }), -32602, "\"/1/interfaces\": should be empty."),
        (interface(json!({ "main": 0 })), -32602, "no default interface for \"agent\" type."),
        (
            json!({ "custom_interfaces": 1, "interfaces": [plain, plain] }),
            -32602,
            "\"/1/interfaces\": cannot have more than one default interface of the same type.",
        ),
        (interface(json!({ "type": 9 })), -32602, "/1/type\": value must be one of 1, 2, 3, 4."),
        (interface(json!({ "type": null })), -32602, "the parameter \"type\" is missing."),
        (interface(json!({ "ip": "1.1" })), -32602, "/1/ip\": an IP address is expected."),
        (interface(json!({ "ip": null })), -32602, "the parameter \"ip\" is missing."),
        (interface(json!({ "useip": 0 })), -32602, "the parameter \"dns\" is missing."),
        (interface(json!({ "dns": "a b" })), -32602, "/1/dns\": a DNS name is expected."),
        (interface(json!({ "port": "99999" })), -32602, "value must be one of 0-65535."),
        (interface(json!({ "port": "" })), -32602, "/1/port\": cannot be empty."),
        (interface(json!({ "port": null })), -32602, "the parameter \"port\" is missing."),
        (interface(json!({ "details": { "version": 2 } })), -32602, "should be empty."),
        (interface(json!({ "type": 2 })), -32602, "the parameter \"details\" is missing."),
        (snmp(json!({ "version": 4 })), -32602, "version\": value must be one of 1, 2, 3."),
        (snmp(json!({ "version": 2 })), -32602, "the parameter \"community\" is missing."),
        (
            snmp(json!({ "version": 2, "community": "c", "securityname": "x" })),
            -32602,
            "/details/securityname\": value must be empty.",
        ),
    ] {
        s.server.refuses(&[("hostprototype.create", s.prototype(more), code, text)]);
    }
    let uuid = json!({ "ruleid": s.own, "uuid": "0123456789ab4def8123456789abcdef" });
    s.server.refuses(&[
        ("hostprototype.create", json!({}), -32602, "\"/\": cannot be empty."),
        ("hostprototype.create", json!({ "host": "{#A}" }), -32602, "\"groupLinks\" is missing."),
        ("hostprototype.create", s.prototype(uuid), -32602, "\"/1/uuid\": value must be empty."),
    ]);
    assert_eq!(s.get(json!({ "countOutput": true })), "0");
}

#[test]
fn names_are_unique_within_a_rule() {
    let s = scene();
    let twice = |name: &str| {
        let mut other = s.prototype(json!({ "host": "y{#A}" }));
        other[name] = "x{#A}".into();
        json!([s.prototype(json!({})), other])
    };
    s.server.refuses(&[
        ("hostprototype.create", twice("host"), -32602, "\"/2\": value (ruleid, host)=("),
        ("hostprototype.create", twice("name"), -32602, "\"/2\": value (ruleid, name)=("),
    ]);
    let id = s.server.create("hostprototype.create", &s.prototype(json!({})));
    s.server.create("hostprototype.create", &s.prototype(json!({ "ruleid": s.own })));
    let other = s.server.create("hostprototype.create", &s.prototype(json!({ "host": "y{#A}" })));
    let host = "Host prototype with host name \"x{#A}\" already exists in discovery rule \"r\".";
    let name = "Host prototype with visible name \"x{#A}\" already exists in discovery rule \"r\".";
    s.server.refuses(&[
        ("hostprototype.create", s.prototype(json!({ "name": "z{#A}" })), -32602, host),
        (
            "hostprototype.create",
            s.prototype(json!({ "host": "z{#A}", "name": "x{#A}" })),
            -32602,
            name,
        ),
        ("hostprototype.update", json!({ "hostid": other, "host": "x{#A}" }), -32602, host),
        ("hostprototype.update", json!({ "hostid": other, "name": "x{#A}" }), -32602, name),
    ]);
    s.server.call("hostprototype.update", &json!({ "hostid": id, "host": "x{#A}" })).unwrap();
}

#[test]
fn get_shows_all() {
    let s = scene();
    let id = s.server.create("hostprototype.create", &s.full());
    let extend = json!({ "discoveryids": s.rule, "output": "extend",
        "selectDiscoveryRule": ["key_"], "selectParentHost": ["host", "status"] });
    let mut found = s.get(shown(extend));
    let uuid = found[0].as_object_mut().unwrap().shift_remove("uuid").unwrap();
    assert_eq!(uuid.as_str().unwrap().len(), 32);
    assert_eq!(
        found,
        json!([{
            "hostid": id, "host": "x{#A}", "name": "X {#A}", "status": "1", "templateid": "0",
            "discover": "1", "custom_interfaces": "1", "inventory_mode": "1",
            "groupLinks": [{ "groupid": s.group }], "groupPrototypes": [{ "name": "a/{#A}" }],
            "macros": [{ "macro": "{$X}", "value": "a", "type": "0" },
                       { "macro": "{$S}", "type": "1" }],
            "tags": [{ "tag": "t", "value": "v" }, { "tag": "{#A}", "value": "" }],
            "interfaces": [
                { "main": "1", "type": "2", "ip": "{#IP}", "dns": "", "port": "161",
                  "details": { "version": "2", "bulk": "1", "community": "c",
                               "max_repetitions": "10" } },
                { "main": "1", "type": "1", "ip": "", "dns": "{#A}.example", "port": "{$P}",
                  "details": [] },
            ],
            "templates": [{ "host": "U", "templateid": s.u }],
            "discoveryRule": { "key_": "r" }, "parentHost": { "host": "T", "status": "3" },
        }])
    );
    s.server.answers(&[
        (
            "hostprototype.get",
            json!({ "search": { "host": "X{" }, "output": ["host"] }),
            json!([{ "host": "x{#A}", "hostid": id }]),
        ),
        ("hostprototype.get", json!({ "filter": { "status": 0 } }), json!([])),
        ("hostprototype.get", json!({ "inherited": true, "output": ["host"] }), json!([])),
        (
            "hostprototype.get",
            json!({ "output": [], "selectTemplates": "count" }),
            json!([{ "hostid": id, "templates": "1" }]),
        ),
        (
            "discoveryrule.get",
            json!({ "itemids": s.rule, "output": ["key_"], "selectHostPrototypes": ["host"] }),
            json!([{ "itemid": s.rule, "key_": "r",
                  "hostPrototypes": [{ "hostid": id, "host": "x{#A}" }] }]),
        ),
        ("host.get", json!({ "hostids": id }), json!([])),
        (
            "template.get",
            json!({ "templateids": s.u, "output": [], "selectHosts": ["host"] }),
            json!([{ "templateid": s.u, "hosts": [] }]),
        ),
    ]);
    let get = |params: Json, text: &'static str| ("hostprototype.get", params, -32602, text);
    s.server.refuses(&[
        get(json!({ "nosuch": 1 }), "\"/\": unexpected parameter \"nosuch\"."),
        get(json!({ "groupids": 1 }), "\"/\": unexpected parameter \"groupids\"."),
        get(
            json!({ "output": ["ruleid"] }),
            "\"/output/1\": value must be one of \"hostid\", \"host\", \"name\", \"status\", \
             \"templateid\", \"inventory_mode\", \"discover\", \"custom_interfaces\", \"uuid\".",
        ),
        get(
            json!({ "selectGroupLinks": ["a"] }),
            "selectGroupLinks/1\": value must be \"groupid\".",
        ),
        get(json!({ "selectTags": "count" }), "\"/selectTags\": value must be \"extend\"."),
        get(json!({ "selectInterfaces": ["interfaceid"] }), "value must be one of \"type\", "),
        get(json!({ "selectTemplates": ["x"] }), "value must be one of \"hostid\", \"proxyid\", "),
        get(json!({ "selectParentHost": ["x"] }), "value must be one of \"hostid\", \"proxyid\""),
        get(json!({ "selectDiscoveryRule": ["x"] }), "value must be one of \"itemid\", "),
    ]);
}

#[test]
fn children_follow_their_parent() {
    let s = scene();
    let id = s.server.create("hostprototype.create", &s.full());
    s.link(&[&s.t]).unwrap();
    let child =
        s.get(shown(json!({ "inherited": true, "output": ["host", "templateid", "uuid"] })));
    let parent = s.get(shown(json!({ "hostids": id, "output": [] })));
    for member in ["groupLinks", "groupPrototypes", "tags", "macros", "interfaces", "templates"] {
        assert_eq!(child[0][member], parent[0][member], "{member}");
    }
    assert_eq!((&child[0]["templateid"], &child[0]["uuid"]), (&json!(id), &json!("")));
    let child = child[0]["hostid"].as_str().unwrap().to_owned();
    for (member, value) in [
        ("host", json!("b{#A}")),
        ("name", json!("b{#A}")),
        ("custom_interfaces", json!(0)),
        ("interfaces", json!([])),
        ("groupLinks", s.links()),
        ("groupPrototypes", json!([])),
        ("templates", json!([])),
        ("tags", json!([])),
        ("macros", json!([])),
        ("inventory_mode", json!(0)),
        ("uuid", json!("x")),
    ] {
        let text = format!("cannot update readonly parameter \"{member}\" of inherited object.");
        let params = json!({ "hostid": child, member: value });
        s.server.refuses(&[("hostprototype.update", params, -32602, &text)]);
    }
    let own = json!({ "hostid": child, "status": 0, "discover": 0 });
    s.server.call("hostprototype.update", &own).unwrap();
    let change = json!({
        "hostid": id, "host": "x2{#A}", "tags": [{ "tag": "n" }], "templates": [],
        "groupPrototypes": [], "custom_interfaces": 0,
        "macros": [{ "macro": "{$S}" }, { "macro": "{$N}", "value": "n" }],
    });
    s.server.call("hostprototype.update", &change).unwrap();
    let output =
        json!({ "hostids": child, "output": ["host", "name", "status", "custom_interfaces"] });
    assert_eq!(
        s.get(shown(output)),
        json!([{
            "hostid": child, "host": "x2{#A}", "name": "X {#A}", "status": "0",
            "custom_interfaces": "0", "groupLinks": [{ "groupid": s.group }],
            "groupPrototypes": [], "tags": [{ "tag": "n", "value": "" }], "interfaces": [],
            "macros": [{ "macro": "{$S}", "type": "1" },
                       { "macro": "{$N}", "value": "n", "type": "0" }],
            "templates": [],
        }])
    );
    let secret =
        format!("SELECT value FROM hostmacros WHERE macro = '{{$S}}' AND hostid = {child}");
    assert_eq!(s.server.text(&secret), "sec");
    s.server.refuses(&[
        ("hostprototype.delete", json!([child]), -32602, "cannot delete templated host prototype."),
        ("hostprototype.delete", json!([]), -32602, "\"/\": cannot be empty."),
        ("hostprototype.delete", json!(["9"]), -32500, "No permissions to referred object"),
        ("hostprototype.delete", json!([id, id]), -32602, "already exists."),
        ("hostprototype.update", json!({ "host": "z{#A}" }), -32602, "\"hostid\" is missing."),
        ("hostprototype.update", json!({ "hostid": id, "ruleid": s.own }), -32602, "\"ruleid\""),
        ("hostprototype.update", json!({ "hostid": id, "groupLinks": [] }), -32602, "empty."),
        (
            "hostprototype.update",
            json!({ "hostid": id, "interfaces": [{ "type": 1, "main": 1, "useip": 1, "ip": "::1",
                 "port": "1" }] }),
            -32602,
            "\"/1/interfaces\": should be empty.",
        ),
        (
            "hostgroup.delete",
            json!([s.group]),
            -32602,
            "Group \"HG\" cannot be deleted, because it is used by a host prototype.",
        ),
    ]);
    s.server.call("hostprototype.delete", &json!([id])).unwrap();
    assert_eq!(s.get(json!({ "countOutput": true })), "0");
}

#[test]
fn unlinking_and_adopting() {
    let s = scene();
    s.server.create("hostprototype.create", &s.prototype(json!({})));
    let state = || {
        s.get(json!({ "hostids": null, "discoveryids": null, "output": ["host"],
        "filter": { "host": ["x{#A}"] }, "inherited": false }))
    };
    let rows = |found: &Json| found.as_array().unwrap().len();
    s.link(&[&s.t]).unwrap();
    assert_eq!(rows(&state()), 1);
    // What was inherited stays as the host's own.
    s.link(&[]).unwrap();
    assert_eq!(rows(&state()), 2);
    // And is taken over again: the same id, the template's tags.
    let mine = s.get(json!({ "hostids": null, "output": ["uuid"], "selectParentHost": ["host"] }));
    let mine = mine.as_array().unwrap().iter().find(|p| p["parentHost"]["host"] == "H").unwrap();
    let change = json!({ "hostid": mine["hostid"], "tags": [{ "tag": "own" }] });
    s.server.call("hostprototype.update", &change).unwrap();
    s.link(&[&s.t]).unwrap();
    let found = s.get(json!({ "inherited": true, "output": [], "selectTags": "extend" }));
    assert_eq!(found, json!([{ "hostid": mine["hostid"], "tags": [] }]));
    let clear = json!({ "hostid": s.host, "templates_clear": [{ "templateid": s.t }] });
    s.server.call("host.update", &clear).unwrap();
    assert_eq!(s.get(json!({ "countOutput": true })), "1");
    // Another prototype of the host's own rule has the visible name.
    let of_host = json!({ "ruleid": s.own, "name": "n{#A}" });
    s.server.create("hostprototype.create", &s.prototype(of_host));
    let template = json!({ "host": "V", "groups": [{ "groupid": s.templates }] });
    let template = s.server.create("template.create", &template);
    let rule = json!({ "name": "own", "key_": "own", "hostid": template, "type": 2 });
    let rule = s.server.create("discoveryrule.create", &rule);
    let clash = json!({ "ruleid": rule, "host": "y{#A}", "name": "n{#A}" });
    s.server.create("hostprototype.create", &s.prototype(clash));
    let refused = s.link(&[&template]).unwrap_err();
    assert!(refused.1.contains("visible name \"n{#A}\" already exists"), "{refused:?}");
    s.server.call("host.delete", &json!([s.host])).unwrap();
    s.server.call("template.delete", &json!([template, s.t])).unwrap();
    assert_eq!(s.server.count("SELECT COUNT(*) AS n FROM hosts WHERE kind = 2"), 0);
    assert_eq!(s.server.count("SELECT COUNT(*) AS n FROM group_prototypes"), 0);
}

#[test]
fn rights_are_those_on_the_rules_host() {
    let s = scene();
    s.server.create("hostprototype.create", &s.prototype(json!({ "ruleid": s.own })));
    let group = |permission: u8| json!({ "name": "G", "hostgroup_rights": [{ "id": s.group, "permission": permission }] });
    let (id, session) = s.admin(&group(2));
    let call = |method: &str, params: Json| s.server.call_as(Some(&session), method, &params);
    let found = call("hostprototype.get", json!({ "output": ["host"] })).unwrap();
    let one = found[0]["hostid"].clone();
    assert_eq!(found, json!([{ "hostid": one, "host": "x{#A}" }]));
    assert_eq!(call("hostprototype.get", json!({ "editable": true })).unwrap(), json!([]));
    let change = json!({ "hostid": one, "status": 1 });
    assert_eq!(call("hostprototype.update", change.clone()).unwrap_err().0, -32500);
    let new = s.prototype(json!({ "ruleid": s.own, "host": "z{#A}" }));
    assert_eq!(call("hostprototype.create", new.clone()).unwrap_err().0, -32500);
    let mut rights = group(3);
    rights["usrgrpid"] = id.into();
    s.server.call("usergroup.update", &rights).unwrap();
    call("hostprototype.update", change).unwrap();
    call("hostprototype.create", new).unwrap();
    call("hostprototype.delete", json!([one])).unwrap();
}

#[test]
fn export_and_import_keep_everything() {
    let s = scene();
    s.server.create("hostprototype.create", &s.full());
    s.server.create(
        "hostprototype.create",
        &s.prototype(json!({ "host": "m{#A}", "inventory_mode": 0 })),
    );
    for format in ["yaml", "xml", "json"] {
        let options = json!({ "format": format, "options": { "templates": [s.t] } });
        let source = s.server.call("configuration.export", &options).unwrap();
        let all = json!({ "createMissing": true, "updateExisting": true, "deleteMissing": true });
        let rules = json!({ "discoveryRules": all,
            "templates": { "createMissing": true, "updateExisting": true } });
        let import = json!({ "format": format, "source": source, "rules": rules });
        let before = s.get(shown(json!({ "output": "extend" })));
        let same = s.server.call("configuration.importcompare", &import).unwrap();
        assert_eq!(same, json!([]), "{format}");
        // Everything else, then back.
        let change = json!({ "hostid": before[0]["hostid"], "status": 0, "macros": [{ "macro": "{$S}" }],
            "tags": [], "templates": [], "custom_interfaces": 0, "inventory_mode": 0 });
        s.server.call("hostprototype.update", &change).unwrap();
        s.server.call("hostprototype.delete", &json!([before[1]["hostid"]])).unwrap();
        s.server.create("hostprototype.create", &s.prototype(json!({ "host": "away{#A}" })));
        s.server.call("configuration.import", &import).unwrap();
        let mut after = s.get(shown(json!({ "output": "extend" })));
        after[1]["hostid"] = before[1]["hostid"].clone();
        let (before, after) = (sorted(before), sorted(after));
        assert_eq!(after, before, "{format}");
        let wrong = source.as_str().unwrap().replace("HG", "No such");
        let wrong = wrong.replacen("No such", "HG", 1);
        let import = json!({ "format": format, "source": wrong, "rules": rules });
        let text = "Cannot find host group \"No such\" for host prototype";
        s.server.refuses(&[("configuration.import", import, -32500, text)]);
    }
}

/// Lists of the objects in one order: an import may keep another.
fn sorted(mut objects: Json) -> Json {
    for object in objects.as_array_mut().unwrap() {
        let lists = object.as_object_mut().unwrap().values_mut();
        lists.filter_map(Json::as_array_mut).for_each(|list| list.sort_by_key(Json::to_string));
    }
    objects
}
