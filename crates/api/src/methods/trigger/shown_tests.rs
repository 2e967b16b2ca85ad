//! What lists show of triggers: macros resolved, secrets not.

use serde_json::json;

use crate::Json;
use crate::testing::Server;

/// Host `web` with macros of each kind, items `n` and `log`, an inventory.
fn server() -> (Server, String) {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "Hosts" }));
    let host = server.create(
        "host.create",
        &json!({
            "host": "web", "name": "Web server", "groups": [{ "groupid": group }],
            "inventory_mode": 0, "inventory": { "os": "Plan 9" },
            "interfaces": [{ "type": 1, "main": 1, "useip": 0, "ip": "", "dns": "web.example",
                             "port": "10050" }],
            "macros": [{ "macro": "{$MAX}", "value": "5" },
                       { "macro": "{$TEXT}", "value": "a text" },
                       { "macro": "{$KEY}", "value": "hidden-value", "type": 1 },
                       { "macro": "{$VAULT}", "value": "hidden/path:key", "type": 2 }],
        }),
    );
    for (key, value_type) in [("n", 3), ("log", 2), ("k[{$KEY}]", 3)] {
        let item = json!({ "hostid": host, "name": format!("{key} {{$KEY}}"), "key_": key,
                           "type": 2, "value_type": value_type });
        server.create("item.create", &item);
    }
    (server, host)
}

#[test]
fn names_and_descriptions() {
    let (server, _) = server();
    for (n, (text, comment, name)) in [
        (
            "{HOST.HOST}|{HOST.NAME1}|{HOST.NAME2}|{HOST.NAME3}",
            "web|Web server|Web server|*UNKNOWN*",
            None,
        ),
        (
            "{HOST.CONN}|{HOST.DNS}|{HOST.PORT}|{HOSTNAME}",
            "web.example|web.example|10050|web",
            None,
        ),
        (
            "{HOST.ID}|{INVENTORY.OS}|{TRIGGER.ID}|{TIME}",
            "{HOST.ID}|{INVENTORY.OS}|{TRIGGER.ID}|{TIME}",
            None,
        ),
        (
            "{ITEM.VALUE}|{ITEM.LASTVALUE2}|{ITEM.LOG.SOURCE2}",
            "*UNKNOWN*|*UNKNOWN*|*UNKNOWN*",
            None,
        ),
        ("{$MAX}|{$KEY}|{$VAULT}|{$NONE}", "5|******|******|{$NONE}", None),
        ("{{$KEY}.regsub(\"^(.)\",\"<\\1>\")}|{{HOST.HOST}.uppercase()}", "<*>|WEB", None),
        ("{?last(/{HOST.HOST}/n)}", "{?last(/web/n)}", None),
        ("$1 $2 $3 {$1}", "$1 $2 $3 {$1}", Some("7 word  {$1}")),
    ]
    .into_iter()
    .enumerate()
    {
        let trigger = server.create(
            "trigger.create",
            &json!({ "description": text, "comments": text,
                     "expression": format!("last(/web/n)>7 or last(/web/log)=\"word\" or {n}=9") }),
        );
        let shown = server
            .call(
                "trigger.get",
                &json!({ "triggerids": trigger, "output": ["description", "comments"],
                         "expandDescription": true, "expandComment": true }),
            )
            .unwrap();
        // The number of the case is a constant too.
        let name = name.unwrap_or(comment).replace("word  ", &format!("word {n} "));
        assert_eq!(shown[0]["comments"], comment, "{text}");
        assert_eq!(shown[0]["description"], name, "{text}");
    }
}

#[test]
fn links() {
    let (server, host) = server();
    let written =
        "https://wiki/{HOST.HOST}/{HOST.ID}?t={TRIGGER.ID}&e={EVENT.ID}&k={$KEY}&m={$MAX}";
    let trigger = server.create(
        "trigger.create",
        &json!({ "description": "t", "expression": "last(/web/n)>7", "url": written,
                 "url_name": "Wiki of {HOST.HOST}" }),
    );
    let url = |options: serde_json::Value| {
        let mut params = json!({ "triggerids": trigger, "output": ["url", "url_name"] });
        params.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let found = server.call("trigger.get", &params).unwrap();
        (found[0]["url"].clone(), found[0]["url_name"].clone())
    };
    assert_eq!(url(json!({})), (json!(written), json!("Wiki of {HOST.HOST}")));
    let shown = format!("https://wiki/web/{host}?t={trigger}&e={{EVENT.ID}}&k=******&m=5");
    assert_eq!(url(json!({ "expandUrl": true })), (json!(shown), json!("Wiki of web")));
}

#[test]
fn expressions() {
    let (server, _) = server();
    for (written, shown) in [
        ("last(/web/n)>{$MAX}", "last(/web/n)>5"),
        ("last(/web/log)={$TEXT}", "last(/web/log)=\"a text\""),
        ("last(/web/log)=\"{$TEXT}\"", "last(/web/log)=\"a text\""),
        ("last(/web/n)>{$KEY}", "last(/web/n)>\"******\""),
        ("last(/web/n)>{$NONE}", "last(/web/n)>{$NONE}"),
        ("find(/web/log,,\"like\",\"{$KEY}\")=1", "find(/web/log,,\"like\",\"******\")=1"),
    ] {
        let trigger = server
            .create("trigger.create", &json!({ "description": written, "expression": written }));
        let found = server
            .call(
                "trigger.get",
                &json!({ "triggerids": trigger, "output": ["expression"],
                         "expandExpression": true }),
            )
            .unwrap();
        assert_eq!(found[0]["expression"], shown, "{written}");
    }
}

#[test]
fn no_answer_has_the_value_of_a_secret() {
    let (server, host) = server();
    let texts = json!({ "description": "{$KEY}", "event_name": "{$KEY}", "opdata": "{$KEY}",
                        "comments": "{$KEY}", "expression": "last(/web/k[{$KEY}])>{$KEY}",
                        "tags": [{ "tag": "{$KEY}", "value": "{$KEY}" }] });
    server.create("trigger.create", &texts);
    let export = json!({ "format": "json", "options": { "hosts": [host] } });
    let expanded = json!({ "output": "extend", "expandDescription": 1, "expandComment": 1,
                           "expandExpression": 1, "selectTags": "extend", "selectItems": ["key_"] });
    for (method, params) in [
        ("trigger.get", expanded),
        (
            "host.get",
            json!({ "output": "extend", "selectMacros": "extend", "selectItems": "extend" }),
        ),
        ("item.get", json!({ "output": "extend", "selectHosts": "extend" })),
        ("usermacro.get", json!({ "output": "extend" })),
        ("configuration.export", export),
    ] {
        let answer = server.call(method, &params).unwrap();
        let text = match &answer {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        assert!(!text.contains("hidden-value"), "{method}: {text}");
    }
    for (condition, found) in [
        (json!({ "search": { "value": "hidden" } }), json!([{ "macro": "{$VAULT}" }])),
        (json!({ "filter": { "value": "hidden-value" } }), json!([])),
        (json!({ "filter": { "value": ["hidden-value", "5"] } }), json!([{ "macro": "{$MAX}" }])),
    ] {
        let mut params = condition.clone();
        params["output"] = json!(["macro"]);
        let answer = server.call("usermacro.get", &params).unwrap();
        let names = answer.as_array().unwrap().iter().map(|row| json!({ "macro": row["macro"] }));
        assert_eq!(names.collect::<Json>(), found, "{condition}");
    }
}
