//! What an update leaves of links that its user cannot see or change.

use super::*;

/// A template that the administrator of these tests cannot read.
fn hidden(s: &Scene) -> String {
    let theirs = s.server.create("templategroup.create", &json!({ "name": "Theirs" }));
    let params = json!({ "host": "V", "groups": [{ "groupid": theirs }] });
    s.server.create("template.create", &params)
}

fn rights(s: &Scene) -> Json {
    json!({ "name": "G", "hostgroup_rights": [{ "id": s.group, "permission": 3 }],
            "templategroup_rights": [{ "id": s.templates, "permission": 3 }] })
}

#[test]
fn templates_that_the_user_does_not_see_stay() {
    let s = scene();
    let hidden = hidden(&s);
    let both = json!([{ "templateid": s.u }, { "templateid": hidden }]);
    let new = s.prototype(json!({ "templates": both }));
    let id = s.server.create("hostprototype.create", &new);
    s.link(&[&s.u, &hidden]).unwrap();
    let change = json!({ "templateid": s.t, "templates": both });
    s.server.call("template.update", &change).unwrap();
    let (_, session) = s.admin(&rights(&s));
    for (method, key, id) in [
        ("hostprototype.update", "hostid", &id),
        ("host.update", "hostid", &s.host),
        ("template.update", "templateid", &s.t),
    ] {
        let update = |templates: Json| {
            let change = json!({ key: id, "templates": templates });
            s.server.call_as(Some(&session), method, &change)
        };
        let linked = || {
            let sql = "SELECT COUNT(*) AS n FROM host_templates WHERE hostid =";
            s.server.count(&format!("{sql} {id}"))
        };
        update(json!([{ "templateid": s.u }])).unwrap();
        assert_eq!(linked(), 2, "{method}");
        update(json!([])).unwrap();
        assert_eq!(linked(), 1, "{method}");
        s.server.call(method, &json!({ key: id, "templates": [] })).unwrap();
        assert_eq!(linked(), 0, "{method}: who sees all, removes all");
    }
}

#[test]
fn groups_need_the_right_where_they_come_or_go() {
    let s = scene();
    let other = s.server.create("hostgroup.create", &json!({ "name": "Others" }));
    let both = json!([{ "groupid": s.group }, { "groupid": other }]);
    let new = s.prototype(json!({ "groupLinks": both }));
    let id = s.server.create("hostprototype.create", &new);
    let (_, session) = s.admin(&rights(&s));
    let update = |groups: Json| {
        let change = json!({ "hostid": id, "groupLinks": groups });
        s.server.call_as(Some(&session), "hostprototype.update", &change)
    };
    update(both.clone()).unwrap();
    update(json!([{ "groupid": other }])).unwrap();
    assert_eq!(update(s.links()).unwrap_err().0, -32500, "one that he cannot write would go");
    update(both.clone()).unwrap();
    let change = json!({ "hostid": id, "groupLinks": s.links() });
    s.server.call("hostprototype.update", &change).unwrap();
    assert_eq!(update(both).unwrap_err().0, -32500, "one that he cannot write would come");
}
