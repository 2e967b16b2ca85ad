//! Imports and exports through the methods, with the templates that come with Vedette.

mod deletions;
mod graphs;
mod parity;
mod rights;

use serde_json::{Value as Json, json};

use crate::testing::Server;

const TEMPLATES: [&str; 3] = [
    include_str!("../../../../templates/bare-host.yaml"),
    include_str!("../../../../templates/linux-machine.yaml"),
    include_str!("../../../../templates/vedette-health.yaml"),
];

fn rules() -> Json {
    let all = json!({ "createMissing": true, "updateExisting": true });
    json!({
        "template_groups": all, "templates": all, "items": all, "discoveryRules": all,
        "triggers": all, "valueMaps": all, "graphs": all, "hosts": all, "host_groups": all,
        "templateLinkage": { "createMissing": true }, "templateDashboards": all, "httptests": all,
    })
}

fn import(server: &Server, source: &str) -> Result<Json, (i64, String)> {
    server.call(
        "configuration.import",
        &json!({ "format": "yaml", "rules": rules(), "source": source }),
    )
}

/// Lists as sets: an export orders by name, an author may not.
fn sorted(node: Json) -> Json {
    match node {
        Json::Object(members) => {
            let mut members: Vec<_> = members.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            members.into_iter().collect()
        }
        Json::Array(values) => {
            let mut values: Vec<Json> = values.into_iter().map(sorted).collect();
            values.sort_by_key(ToString::to_string);
            values.into()
        }
        text => text,
    }
}

#[test]
fn our_templates_come_back_as_they_went_in() {
    let server = Server::start();
    for source in TEMPLATES {
        assert_eq!(import(&server, source).unwrap(), true);
        // Twice changes nothing.
        assert_eq!(import(&server, source).unwrap(), true);
        let name = source.split("template: ").nth(1).unwrap().lines().next().unwrap();
        let found = server
            .call("template.get", &json!({ "output": ["templateid"], "filter": { "host": name } }))
            .unwrap();
        let ids = [found[0]["templateid"].clone()];
        for format in ["yaml", "xml", "json"] {
            let options = json!({ "format": format, "options": { "templates": ids } });
            let text = server.call("configuration.export", &options).unwrap();
            let form = super::format::Format::read(&json!({ "format": format }), false).unwrap();
            let got = form.parse(text.as_str().unwrap()).unwrap();
            let want = super::format::Format::Yaml.parse(source).unwrap();
            let (got, want) = (sorted(got), sorted(want));
            if got != want {
                let lines = |tree: &Json| serde_json::to_string_pretty(tree).unwrap();
                let (got, want) = (lines(&got), lines(&want));
                let first = got.lines().zip(want.lines()).enumerate().find(|(_, (a, b))| a != b);
                panic!("{name} as {format}: {first:?}");
            }
        }
        let compared = server.call(
            "configuration.importcompare",
            &json!({ "format": "yaml", "rules": rules(), "source": source }),
        );
        assert_eq!(compared.unwrap(), json!([]), "{name}");
    }
}

#[test]
fn a_bad_import_changes_nothing() {
    let server = Server::start();
    let source = TEMPLATES[0].replace("agent.version", "agent.ver[sion");
    assert!(import(&server, &source).is_err());
    let groups = server.call("templategroup.get", &json!({ "output": ["name"] })).unwrap();
    assert_eq!(groups, json!([]));
    for (from, to, what) in [
        ("CHAR", "CHARS", "unexpected constant"),
        ("units:", "unitz:", "unexpected tag"),
        ("'7.0'", "'5.0'", "unsupported version"),
    ] {
        let error = import(&server, &TEMPLATES[0].replace(from, to)).unwrap_err();
        assert!(error.0 == -32500 && error.1.contains(what), "{error:?}");
    }
}

/// A template with one item, a secret and a web scenario; `item` and `more` are put in.
fn small(item: &str, more: &str) -> String {
    format!(
        "zabbix_export:\n  version: '7.0'\n  template_groups:\n    - name: T\n  templates:\n    \
         - template: small\n      name: small\n      groups:\n        - name: T\n      items:\n        \
         - name: one\n          type: TRAP\n          key: one\n          delay: '0'\n{item}      \
         httptests:\n        - name: 'site, all'\n          steps:\n            - name: first\n              \
         url: http://127.0.0.1/\n      macros:\n        - macro: '{{$S}}'\n          \
         type: SECRET_TEXT\n{more}"
    )
}

#[test]
fn imports_keep_secrets_and_reset_the_rest() {
    let server = Server::start();
    let with = small("          units: B\n", "          value: hidden\n");
    let without = small("", "");
    import(&server, &with).unwrap();
    let stored = || server.text("SELECT value FROM hostmacros WHERE macro = '{$S}'");
    assert_eq!(stored(), "hidden");
    let compare = |source: &str| {
        let params = json!({ "format": "yaml", "rules": rules(), "source": source });
        server.call("configuration.importcompare", &params).unwrap()
    };
    assert_eq!(compare(&with), json!([]), "a value of a secret is no difference");
    let found = compare(&without);
    let item = &found["templates"]["updated"][0]["items"]["updated"][0];
    assert_eq!(item["before"]["units"], "B", "{found}");
    assert_eq!(item["after"].get("units"), None);
    assert_eq!(server.text("SELECT units FROM items WHERE key_ = 'one'"), "B", "only compared");
    import(&server, &without).unwrap();
    assert_eq!(stored(), "hidden");
    assert_eq!(server.text("SELECT units FROM items WHERE key_ = 'one'"), "");
    assert_eq!(compare(&without), json!([]));
}

#[test]
fn web_scenarios_have_items_that_triggers_can_read() {
    let server = Server::start();
    let triggers = "  triggers:\n    - expression: 'last(/small/web.test.fail[\"site, all\"])<>0'\n      \
                    name: down\n    - expression: 'last(/small/web.test.rspcode[\"site, all\",first])=500'\n      \
                    name: failing\n";
    let source = small("", triggers);
    import(&server, &source).unwrap();
    import(&server, &source).unwrap();
    let found = server.call("template.get", &json!({ "output": ["templateid"] })).unwrap();
    let ids = [found[0]["templateid"].clone()];
    let options = json!({ "format": "raw", "options": { "templates": ids } });
    let tree = server.call("configuration.export", &options).unwrap();
    let tree = &tree["zabbix_export"];
    assert_eq!(tree["triggers"].as_array().unwrap().len(), 2, "{tree}");
    assert_eq!(tree["templates"][0]["items"].as_array().unwrap().len(), 1);
    let mut scenario = tree["templates"][0]["httptests"][0].clone();
    assert_eq!(
        scenario.as_object_mut().unwrap().remove("uuid").map(|id| id.is_string()),
        Some(true)
    );
    let step = json!({ "name": "first", "url": "http://127.0.0.1/" });
    assert_eq!(scenario, json!({ "name": "site, all", "steps": [step] }));
}

#[test]
fn exports_of_6_0_get_what_they_meant() {
    let server = Server::start();
    let source = small("", "")
        .replace("'7.0'", "'6.0'")
        .replace("template_groups:", "groups:")
        .replace("type: TRAP", "type: HTTP_AGENT\n          url: http://127.0.0.1/")
        .replace("          delay: '0'\n", "");
    import(&server, &source).unwrap();
    assert_eq!(server.text("SELECT history FROM items WHERE key_ = 'one'"), "90d");
    assert_eq!(server.text("SELECT timeout FROM items WHERE key_ = 'one'"), "3s");
    assert_eq!(server.text("SELECT name FROM groups_ WHERE type = 1"), "T");
}
