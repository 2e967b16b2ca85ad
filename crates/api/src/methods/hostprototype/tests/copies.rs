//! Copies with their rules: what `discoveryrule.copy` lets whom make.

use super::*;

#[test]
fn a_copy_is_what_its_maker_could_create() {
    let s = scene();
    let other = s.server.create("hostgroup.create", &json!({ "name": "Others" }));
    let theirs = s.server.create("templategroup.create", &json!({ "name": "Theirs" }));
    let hidden = json!({ "host": "V", "groups": [{ "groupid": theirs }] });
    let hidden = s.server.create("template.create", &hidden);
    let prototype = s.server.create(
        "hostprototype.create",
        &s.prototype(json!({
            "groupLinks": [{ "groupid": other }],
            "templates": [{ "templateid": s.u }, { "templateid": hidden }],
            "macros": [{ "macro": "{$S}", "value": "sec", "type": 1 },
                       { "macro": "{$X}", "value": "plain" }],
        })),
    );
    let (_, session) = s.admin(&json!({
        "name": "G", "hostgroup_rights": [{ "id": s.group, "permission": 3 }],
        "templategroup_rights": [{ "id": s.templates, "permission": 2 }],
    }));
    let copy = || {
        let params = json!({ "discoveryids": [s.rule], "hostids": [s.host] });
        s.server.call_as(Some(&session), "discoveryrule.copy", &params)
    };
    let refused = copy().unwrap_err();
    assert_eq!(refused.0, -32500, "a group that he cannot write: {refused:?}");
    let change = json!({ "hostid": prototype, "groupLinks": s.links() });
    s.server.call("hostprototype.update", &change).unwrap();
    s.server.write_sql(&["UPDATE hosts SET flags = 4 WHERE host = 'H'"]);
    let text = "Cannot create a host prototype on a discovered host \"H\".";
    assert_eq!(copy(), Err((-32602, text.to_owned())));
    let new = s.prototype(json!({ "ruleid": s.own }));
    s.server.refuses(&[("hostprototype.create", new, -32602, text)]);
    s.server.write_sql(&["UPDATE hosts SET flags = 0 WHERE host = 'H'"]);
    copy().unwrap();
    let rule = json!({ "hostids": s.host, "filter": { "key_": "r" } });
    let rule = s.server.call("discoveryrule.get", &rule).unwrap()[0]["itemid"].clone();
    let found = s.get(json!({
        "discoveryids": rule, "output": ["host"], "selectTemplates": ["host"],
        "selectMacros": ["macro", "value", "type"],
    }));
    let id = found[0]["hostid"].clone();
    assert_eq!(
        found,
        json!([{ "hostid": id, "host": "x{#A}",
            "macros": [{ "macro": "{$S}", "value": "", "type": "0" },
                       { "macro": "{$X}", "value": "plain", "type": "0" }],
            "templates": [{ "templateid": s.u, "host": "U" }] }])
    );
}
