//! Imports and exports through the methods, with the templates that come with Vedette.

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
