use serde_json::json;

use crate::testing::Server;

fn count(server: &Server, sql: &str) -> String {
    server.text(&format!("SELECT COUNT(*) FROM items WHERE type = 9 AND {sql}"))
}

#[test]
fn a_scenario_lives_with_its_items() {
    let server = Server::start();
    let call = |method: &str, params: &serde_json::Value| server.call(method, params).unwrap();
    let group = call("hostgroup.create", &json!({ "name": "G" }))["groupids"][0].clone();
    let groups = json!([{ "groupid": group }]);
    let folder = call("templategroup.create", &json!({ "name": "T" }))["groupids"][0].clone();
    let template = json!({ "host": "template", "groups": [{ "groupid": folder }] });
    let template = call("template.create", &template)["templateids"][0].clone();
    let made = json!({
        "hostid": template, "name": "shop, front", "delay": "30s", "retries": 2,
        "variables": [{ "name": "{who}", "value": "me" }], "tags": [{ "tag": "web", "value": "1" }],
        "steps": [{ "name": "two", "no": 2, "url": "http://a/2" },
                  { "name": "one", "no": 1, "url": "http://a/1", "posts": [{ "name": "a", "value": "b" }] }],
    });
    let id = call("httptest.create", &made)["httptestids"][0].clone();
    let host =
        json!({ "host": "host", "groups": groups, "templates": [{ "templateid": template }] });
    let host = call("host.create", &host)["hostids"][0].clone();
    assert_eq!(count(&server, "1 = 1"), "18");

    // What the template has, the host has too.
    let options = json!({
        "hostids": [host], "selectSteps": ["name", "no", "url"], "selectTags": "extend",
        "selectHosts": ["host"],
    });
    let found = call("httptest.get", &options);
    let one = &found[0];
    assert_eq!((&one["name"], &one["delay"]), (&json!("shop, front"), &json!("30s")), "{found}");
    assert_eq!((&one["retries"], &one["agent"]), (&json!("2"), &json!("Zabbix")));
    assert_eq!((&one["templateid"], &one["variables"][0]["name"]), (&id, &json!("{who}")));
    assert_eq!(one["steps"][0], json!({ "name": "one", "no": "1", "url": "http://a/1" }));
    assert_eq!(one["tags"], json!([{ "tag": "web", "value": "1" }]));
    assert_eq!(one["hosts"][0]["host"], "host");
    let of_host = json!({ "hostids": [host], "selectHttpTests": ["name"] });
    assert_eq!(call("host.get", &of_host)[0]["httpTests"], json!([{ "name": "shop, front" }]));

    // A new name and other steps: items of steps that stay keep their ids, the others go.
    let kept =
        server.text("SELECT itemid FROM items WHERE key_ LIKE '%rspcode%one]' AND templateid = 0");
    let change = json!({
        "httptestid": id, "name": "shop", "steps": [{ "name": "one", "url": "http://a/1" }],
    });
    call("httptest.update", &change);
    assert_eq!(count(&server, "1 = 1"), "12");
    assert_eq!(count(&server, "key_ = 'web.test.rspcode[shop,one]'"), "2");
    let now =
        "SELECT itemid FROM items WHERE key_ = 'web.test.rspcode[shop,one]' AND templateid = 0";
    assert_eq!(server.text(now), kept);
    let found = call("httptest.get", &json!({ "search": { "name": "SHOP" }, "countOutput": true }));
    assert_eq!(found, "2");

    // On the host it may be switched off, but not renamed or removed.
    let own = call("httptest.get", &json!({ "hostids": [host] }))[0]["httptestid"].clone();
    call("httptest.update", &json!({ "httptestid": own, "status": 1 }));
    assert_eq!(count(&server, "status = 1"), "6");
    for (method, params) in [
        ("httptest.update", json!({ "httptestid": own, "name": "x" })),
        ("httptest.delete", json!([own])),
        ("httptest.create", made.clone()),
        (
            "httptest.create",
            json!({ "hostid": template, "name": "shop", "steps": change["steps"] }),
        ),
    ] {
        let again = made["name"] == params["name"];
        assert_eq!(server.call(method, &params).is_err(), !again, "{method} {params}");
    }
    call("httptest.delete", &json!([id]));
    assert_eq!(count(&server, "key_ LIKE '%[shop,%' OR key_ LIKE '%[shop]'"), "0");
}

#[test]
fn scenarios_are_in_the_audit_log_without_passwords() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "G" }));
    let host = json!({ "host": "h", "groups": [{ "groupid": group }] });
    let host = server.create("host.create", &host);
    let made = json!({
        "hostid": host, "name": "shop", "authentication": 1, "http_user": "u",
        "http_password": "geheim", "tags": [{ "tag": "t", "value": "v" }],
        "steps": [{ "name": "one", "no": 1, "url": "http://a/1", "posts": "p=geheim" }],
    });
    let id = server.create("httptest.create", &made);
    let change = json!({ "httptestid": id, "name": "shop 2", "delay": "5m",
        "http_password": "geheim2", "steps": [{ "name": "one", "no": 1, "url": "http://b/1" }] });
    server.call("httptest.update", &change).unwrap();
    server.call("httptest.delete", &json!([id])).unwrap();
    let options = json!({ "output": ["action", "resourcetype", "resourceid", "resourcename", "details"],
                          "sortfield": "auditid", "filter": { "resourcetype": [15, 22] } });
    let entries = server.call("auditlog.get", &options).unwrap();
    let shown: Vec<String> = entries
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap();
            assert_eq!(text("resourceid"), id);
            format!("{} {} {}", text("action"), text("resourcetype"), text("resourcename"))
        })
        .collect();
    assert_eq!(shown, ["0 22 shop", "1 22 shop", "2 22 shop 2"], "{entries}");
    assert!(!entries.to_string().contains("geheim"), "{entries}");
    let new = entries[0]["details"].as_str().unwrap();
    for part in [
        r#""httptest.http_user":["add","u"]"#,
        r#""httptest.http_password":["add","******"]"#,
        r#""httptest.steps":["add"]"#,
        r#"tag":["add","t"]"#,
    ] {
        assert!(new.contains(part), "{part} in {new}");
    }
    let changed = entries[1]["details"].as_str().unwrap();
    for part in [
        r#""httptest.name":["update","shop 2","shop"]"#,
        r#""httptest.delay":["update","5m","1m"]"#,
        r#""httptest.http_password":["update","******","******"]"#,
        r#""httptest.steps":["update"]"#,
    ] {
        assert!(changed.contains(part), "{part} in {changed}");
    }
}
