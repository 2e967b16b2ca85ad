use serde_json::json;

use crate::Json;
use crate::testing::Server;

fn setup() -> (Server, String) {
    let server = Server::start();
    let group = server.create("templategroup.create", &json!({ "name": "t" }));
    (server, group)
}

#[test]
fn create_and_update_refuse() {
    let (server, tg) = setup();
    let hg = server.create("hostgroup.create", &json!({ "name": "g" }));
    let a = server.create(
        "template.create",
        &json!({ "host": "a", "name": "A", "groups": { "groupid": tg } }),
    );
    server.create("host.create", &json!({ "host": "h", "name": "H", "groups": { "groupid": hg } }));
    for (change, code, text) in [
        (json!({ "nosuch": 1 }), -32602, "unexpected parameter \"nosuch\""),
        (json!({ "groups": [] }), -32602, "\"/1/groups\": cannot be empty"),
        (
            json!({ "groups": [{}] }),
            -32602,
            "\"/1/groups/1\": the parameter \"groupid\" is missing",
        ),
        (
            json!({ "groups": [{ "groupid": hg }] }),
            -32500,
            "\"/1/groups/1\": object does not exist",
        ),
        (json!({ "host": "" }), -32602, "\"/1/host\": cannot be empty"),
        (json!({ "host": "a/b" }), -32602, "\"/1/host\": invalid host name"),
        (json!({ "host": "a" }), -32602, "Template with host name \"a\" already exists."),
        (json!({ "host": "h" }), -32602, "Host with host name \"h\" already exists."),
        (json!({ "name": "A" }), -32602, "Template with visible name \"A\" already exists."),
        (json!({ "name": "H" }), -32602, "Host with visible name \"H\" already exists."),
        (json!({ "host": "x".repeat(129) }), -32602, "value is too long"),
        (json!({ "uuid": "z" }), -32602, "32 characters"),
        (json!({ "vendor_name": "v" }), -32602, "both vendor_name and vendor_version"),
        (json!({ "templates": [{ "templateid": "999" }] }), -32500, "\"/1/templates/1\""),
    ] {
        let mut template = json!({ "host": "x", "groups": [{ "groupid": tg }] });
        for (name, value) in change.as_object().unwrap() {
            template[name] = value.clone();
        }
        server.refuses(&[("template.create", template, code, text)]);
    }
    server.refuses(&[
        ("template.create", json!({ "groups": [] }), -32602, "\"host\" is missing"),
        ("template.create", json!({ "host": "x" }), -32602, "\"groups\" is missing"),
        ("template.update", json!({ "host": "x" }), -32602, "\"templateid\" is missing"),
        (
            "template.update",
            json!({ "templateid": a, "vendor_name": "v" }),
            -32602,
            "both vendor_name",
        ),
        ("template.update", json!({ "templateid": a, "groups": [] }), -32602, "cannot be empty"),
        ("template.delete", json!(["999"]), -32500, "No permissions"),
    ]);
    server
        .call(
            "template.update",
            &json!({ "templateid": a, "vendor_name": "v", "vendor_version": "1" }),
        )
        .unwrap();
    server.call("template.update", &json!({ "templateid": a, "host": "a", "name": "A2" })).unwrap();
}

#[test]
fn links_make_no_circle_and_no_second_way() {
    let (server, tg) = setup();
    let template = |host: &str, links: &[&String]| {
        let links: Vec<Json> = links.iter().map(|id| json!({ "templateid": id })).collect();
        server.create(
            "template.create",
            &json!({ "host": host, "groups": { "groupid": tg }, "templates": links }),
        )
    };
    let base = template("base", &[]);
    let app = template("app", &[&base]);
    let top = template("top", &[&app]);
    let link =
        |to: &str, what: &str| json!({ "templateid": to, "templates": [{ "templateid": what }] });
    server.refuses(&[
        ("template.update", link(&base, &base), -32602, "(\"base\" -> \"base\")"),
        ("template.update", link(&base, &app), -32602, "(\"app\" -> \"base\" -> \"app\")"),
        (
            "template.update",
            link(&base, &top),
            -32602,
            "(\"top\" -> \"app\" -> \"base\" -> \"top\")",
        ),
        (
            "template.massadd",
            json!({ "templates": { "templateid": top }, "templates_link": { "templateid": base } }),
            -32602,
            "linked twice",
        ),
    ]);
    server.answers(&[
        ("template.get", json!({ "templateids": base, "output": [], "selectTemplates": ["host"], "selectParentTemplates": "count" }),
            json!([{ "templateid": base, "templates": [{ "host": "app", "templateid": app }], "parentTemplates": "0" }])),
        ("template.get", json!({ "parentTemplateids": app, "output": ["host"] }), json!([{ "templateid": top, "host": "top" }])),
        ("template.massremove", json!({ "templateids": [top], "templateids_link": [app] }), json!({ "templateids": [top] })),
        ("template.massadd", json!({ "templates": { "templateid": top }, "templates_link": { "templateid": base } }), json!({ "templateids": [top] })),
    ]);
    server.call("template.delete", &json!([base])).unwrap();
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM host_templates"), 0);
}

#[test]
fn with_hosts_leaves_out_templates_that_only_templates_use() {
    let (server, tg) = setup();
    let template = |host: &str, links: Json| {
        let groups = json!({ "groupid": tg });
        let new = json!({ "host": host, "groups": groups, "templates": links });
        server.create("template.create", &new)
    };
    let base = template("base", json!([]));
    let used = template("used", json!([{ "templateid": base }]));
    let group = server.create("hostgroup.create", &json!({ "name": "h" }));
    let new = json!({
        "host": "web", "groups": { "groupid": group }, "templates": { "templateid": used },
    });
    server.create("host.create", &new);
    server.answers(&[
        (
            "template.get",
            json!({ "with_hosts": true, "output": ["host"] }),
            json!([{ "templateid": used, "host": "used" }]),
        ),
        ("template.get", json!({ "with_hosts": true, "countOutput": true }), json!("1")),
        ("template.get", json!({ "countOutput": true }), json!("2")),
    ]);
}

#[test]
fn a_template_is_read_as_written() {
    let (server, tg) = setup();
    let t = server.create(
        "template.create",
        &json!({
            "host": "t", "groups": { "groupid": tg }, "tags": { "tag": "class", "value": "os" },
            "macros": { "macro": "{$A}", "value": "1" },
        }),
    );
    server.create("valuemap.create", &json!({
        "hostid": t, "name": "v", "mappings": [{ "value": "0", "newvalue": "Down" }, { "type": 5, "newvalue": "?" }],
    }));
    let get = json!({
        "templateids": t, "output": ["host", "status", "tls_psk"], "selectTemplateGroups": ["name"],
        "selectTags": "extend", "selectMacros": ["macro"], "selectValueMaps": ["name", "mappings"],
        "selectHosts": "count", "selectDashboards": "extend",
    });
    server.answers(&[("template.get", get, json!([{
        "templateid": t, "host": "t", "status": "3", "tls_psk": "",
        "templategroups": [{ "name": "t" }], "hosts": "0", "dashboards": [],
        "macros": [{ "macro": "{$A}" }], "tags": [{ "tag": "class", "value": "os" }],
        "valuemaps": [{ "name": "v", "mappings": [
            { "type": "0", "value": "0", "newvalue": "Down" }, { "type": "5", "value": "", "newvalue": "?" },
        ] }],
    }]))]);
    let uuids = server.count("SELECT COUNT(*) AS n FROM hosts WHERE LENGTH(uuid) = 32");
    assert_eq!(
        uuids + server.count("SELECT COUNT(*) AS n FROM valuemaps WHERE LENGTH(uuid) = 32"),
        2
    );
    server.refuses(&[
        (
            "template.get",
            json!({ "templateids": t, "selectTags": "count" }),
            -32602,
            "value must be \"extend\"",
        ),
        ("template.get", json!({ "sortfield": "templateid" }), -32500, "not allowed"),
        (
            "templategroup.delete",
            json!([tg]),
            -32602,
            "Template \"t\" cannot be without template group.",
        ),
        (
            "valuemap.create",
            json!({ "hostid": t, "name": "v", "mappings": [{ "value": "", "newvalue": "x" }] }),
            -32602,
            "already exists",
        ),
        (
            "valuemap.create",
            json!({ "hostid": t, "name": "w", "mappings": [] }),
            -32602,
            "\"/1/mappings\": cannot be empty",
        ),
        (
            "valuemap.create",
            json!({ "hostid": "999", "name": "w", "mappings": [{ "value": "", "newvalue": "x" }] }),
            -32500,
            "No permissions",
        ),
        ("valuemap.get", json!({ "nosuch": 1 }), -32602, "unexpected parameter"),
        ("valuemap.get", json!({ "output": ["mappings"] }), -32602, "value must be one of"),
    ]);
}

#[test]
fn what_templates_gave_stays_or_goes() {
    let (server, tg) = setup();
    let hg = server.create("hostgroup.create", &json!({ "name": "g" }));
    let t = server.create("template.create", &json!({ "host": "t", "groups": { "groupid": tg } }));
    let item = json!({ "hostid": t, "name": "i", "key_": "k", "type": 2, "value_type": 3 });
    server.create("item.create", &item);
    let links = json!([{ "templateid": t }]);
    let host = |name: &str| {
        let params = json!({ "host": name, "groups": { "groupid": hg }, "templates": links });
        server.create("host.create", &params)
    };
    let items = |host: &str| {
        let params = json!({ "hostids": host, "countOutput": true });
        server.call("item.get", &params).unwrap().as_str().unwrap().to_owned()
    };
    let (a, b, c, d) = (host("a"), host("b"), host("c"), host("d"));
    for (method, params, on, left) in [
        ("host.update", json!({ "hostid": a, "templates": [] }), &a, "1"),
        ("host.update", json!({ "hostid": b, "templates_clear": links }), &b, "0"),
        ("host.massremove", json!({ "hostids": [c], "templateids_clear": [t] }), &c, "0"),
        ("host.massadd", json!({ "hosts": [{ "hostid": c }], "templates": links }), &c, "1"),
        ("template.delete", json!([t]), &d, "0"),
    ] {
        assert_eq!(items(on), if method == "host.massadd" { "0" } else { "1" }, "{method}");
        server.call(method, &params).unwrap();
        assert_eq!(items(on), left, "{method} {params}");
    }
    assert_eq!(items(&a), "1", "what stayed is the host's own");
    assert_eq!(items(&c), "0", "deleting a template clears all hosts");
    let told = server.asked.lock().unwrap().iter().filter(|t| t.starts_with("clear")).count();
    assert_eq!(told, 3, "history of the items goes");
}

#[test]
fn templates_of_one_trigger_are_unlinked_together() {
    let (server, group) = setup();
    let groups = json!({ "groupid": group });
    let template =
        |name: &str| server.create("template.create", &json!({ "host": name, "groups": groups }));
    let (a, b, c) = (template("A"), template("B"), template("C"));
    for (id, key) in [(&a, "a"), (&b, "b")] {
        let item = json!({ "hostid": id, "name": key, "key_": key, "type": 2, "value_type": 3 });
        server.create("item.create", &item);
    }
    let expression = "last(/A/a)>0 and last(/B/b)>0";
    server.create("trigger.create", &json!({ "description": "ab", "expression": expression }));
    let hosts = server.create("hostgroup.create", &json!({ "name": "hosts" }));
    let host =
        server.create("host.create", &json!({ "host": "h", "groups": { "groupid": hosts } }));
    let ids = |ids: &[&String]| -> serde_json::Value {
        ids.iter().map(|id| json!({ "templateid": id })).collect()
    };
    for (object, key, id, what) in
        [("template", "templateid", &c, "template \"C\""), ("host", "hostid", &host, "host \"h\"")]
    {
        let link = |more: serde_json::Value| {
            let mut params = more;
            params[key] = json!(id);
            server.call(&format!("{object}.update"), &params).map(drop).map_err(|(_, text)| text)
        };
        link(json!({ "templates": ids(&[&a, &b]) })).unwrap();
        let refused = format!(
            "Cannot unlink template \"A\" without template \"B\" from {what} due to expression of \
             trigger \"ab\"."
        );
        let (unlink, clear) = match object {
            "host" => ("templateids", "templateids_clear"),
            _ => ("templateids_link", "templateids_clear"),
        };
        let remove = |name: &str| {
            let params = json!({ format!("{object}ids"): [id], name: [a] });
            let method = format!("{object}.massremove");
            server.call(&method, &params).map(drop).map_err(|(_, text)| text)
        };
        for result in [
            link(json!({ "templates": ids(&[&b]) })),
            link(json!({ "templates_clear": ids(&[&a]) })),
            remove(unlink),
            remove(clear),
        ] {
            assert_eq!(result, Err(refused.clone()));
        }
        let below = "SELECT COUNT(*) AS n FROM triggers WHERE templateid > 0";
        assert_eq!(server.count(below), 1);
        link(json!({ "templates": [], "templates_clear": ids(&[&a]) })).unwrap();
        assert_eq!(server.count(below), 0);
        link(json!({ "templates": ids(&[&a, &b]) })).unwrap();
        server.refuses(&[("template.delete", json!([a]), -32602, &refused)]);
        link(json!({ "templates": [] })).unwrap();
        // Without both, the trigger is the own one of what had linked them.
        assert_eq!(server.count(below), 0);
    }
    server.call("template.delete", &json!([a, b])).unwrap();
}
