//! Methods of triggers and trigger prototypes, on a server in a box.

use serde_json::json;
use stdx::clock::Clock;

use crate::Json;
use crate::testing::Server;

/// Host `web` linked to template `base`; both have items `n` (number) and `t` (text) of their own
/// making: those of `base` are inherited.
struct Fixture {
    server: Server,
    host: String,
    template: String,
}

impl Fixture {
    fn new() -> Self {
        let server = Server::start();
        let group = server.create("hostgroup.create", &json!({ "name": "Hosts" }));
        let templates = server.create("templategroup.create", &json!({ "name": "Templates" }));
        let template = server.create(
            "template.create",
            &json!({ "host": "base", "groups": [{ "groupid": templates }] }),
        );
        for (key, value_type) in [("n", 3), ("t", 4)] {
            let item = json!({ "hostid": template, "name": key, "key_": key, "type": 2,
                               "value_type": value_type });
            server.create("item.create", &item);
        }
        let host = server.create(
            "host.create",
            &json!({
                "host": "web", "name": "Web server", "groups": [{ "groupid": group }],
                "templates": [{ "templateid": template }],
                "macros": [{ "macro": "{$MAX}", "value": "5" },
                           { "macro": "{$KEY}", "value": "secret", "type": 1 }],
            }),
        );
        Self { server, host, template }
    }

    fn create(&self, params: &Json) -> Result<String, (i64, String)> {
        let result = self.server.call("trigger.create", params)?;
        Ok(result["triggerids"][0].as_str().unwrap().to_owned())
    }

    fn make(&self, description: &str, expression: &str) -> String {
        self.create(&json!({ "description": description, "expression": expression })).unwrap()
    }

    fn get(&self, more: &Json) -> Json {
        let mut params = json!({ "output": ["description"], "sortfield": "triggerid" });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        self.server.call("trigger.get", &params).unwrap()
    }
}

#[test]
fn what_create_refuses() {
    let f = Fixture::new();
    let first = f.make("one", "last(/web/n)=1");
    let fine = "last(/web/n)=9";
    let cases = [
        (json!({ "expression": fine }), "\"/1\": the parameter \"description\" is missing"),
        (json!({ "description": "", "expression": fine }), "\"/1/description\": cannot be empty"),
        (json!({ "description": "x" }), "\"/1\": the parameter \"expression\" is missing"),
        (
            json!({ "description": "one", "expression": "last(/web/n)=1" }),
            "Trigger \"one\" already exists on \"Web server\".",
        ),
        (
            json!({ "description": "x", "expression": "1=1" }),
            "\"/1/expression\": trigger expression must contain at least one /host/key reference",
        ),
        (
            json!({ "description": "x", "expression": "last(/web/n" }),
            "\"/1/expression\": incorrect expression starting from \"last(/web/n\"",
        ),
        (
            json!({ "description": "x", "expression": "1+(" }),
            "\"/1/expression\": incorrect expression starting from \"\"",
        ),
        (
            json!({ "description": "x", "expression": "last(/web/n)={#X}" }),
            "\"/1/expression\": incorrect expression starting from \"{#X}\"",
        ),
        (
            json!({ "description": "x", "expression": "nosuch(/web/n)=0" }),
            "\"/1/expression\": unknown function \"nosuch\"",
        ),
        (
            json!({ "description": "x", "expression": "last(/none/n)=0" }),
            "Host \"none\" does not exist or you have no access to this host.",
        ),
        (
            json!({ "description": "x", "expression": "last(/web/none)=0" }),
            "Incorrect item key \"none\" provided for trigger expression on \"web\".",
        ),
        (
            json!({ "description": "x", "expression": "avg(/web/t,5m)=0" }),
            "Incorrect item value type \"Text\" provided for trigger function \"avg\".",
        ),
        (
            json!({ "description": "x", "expression": "last(/web/n)=last(/base/n)" }),
            "should not belong to a template and a host simultaneously.",
        ),
        (
            json!({ "description": "x", "expression": fine, "recovery_mode": 1 }),
            "Incorrect value for field \"recovery_expression\": cannot be empty.",
        ),
        (
            json!({ "description": "x", "expression": fine, "recovery_expression": fine }),
            "Incorrect value for field \"recovery_expression\": should be empty.",
        ),
        (
            json!({ "description": "x", "expression": fine, "correlation_tag": "t" }),
            "Incorrect value for field \"correlation_tag\": should be empty.",
        ),
        (
            json!({ "description": "x", "expression": fine, "correlation_mode": 1 }),
            "Incorrect value for field \"correlation_tag\": cannot be empty.",
        ),
        (
            json!({ "description": "x", "expression": fine, "recovery_mode": 2,
                 "correlation_mode": 1, "correlation_tag": "t" }),
            "Incorrect value for field \"correlation_mode\": unexpected value \"1\".",
        ),
        (
            json!({ "description": "x", "expression": fine, "priority": 9 }),
            "\"/1/priority\": value must be one of 0, 1, 2, 3, 4, 5",
        ),
        (
            json!({ "description": "x", "expression": fine, "tags": [{}] }),
            "\"/1/tags/1\": the parameter \"tag\" is missing",
        ),
        (
            json!({ "description": "x", "expression": fine, "tags": [{ "tag": "a" }, { "tag": "a" }] }),
            "\"/1/tags/2\": value (tag, value)=(a, ) already exists",
        ),
        (
            json!({ "description": "x", "expression": fine, "dependencies": null }),
            "\"/1/dependencies\": an array is expected",
        ),
        (
            json!({ "description": "x", "expression": fine, "flags": 4 }),
            "\"/1\": unexpected parameter \"flags\"",
        ),
        (
            json!({ "description": "x", "expression": fine, "url": "javascript:x" }),
            "\"/1/url\": unacceptable URL",
        ),
        (
            json!([{ "description": "x", "expression": fine }, { "description": "x", "expression": fine }]),
            "\"/2\": value (description, expression)=(x, last(/web/n)=9) already exists",
        ),
    ];
    for (params, refused) in cases {
        let (code, data) = f.create(&params).unwrap_err();
        assert!(code == -32602 && data.contains(refused), "{params}: {data}");
    }
    let unknown = json!({ "description": "x", "expression": fine,
                          "dependencies": [{ "triggerid": "1" }] });
    assert_eq!(f.create(&unknown).unwrap_err().0, -32500);
    assert_eq!(f.get(&json!({})), json!([{ "triggerid": first, "description": "one" }]));
}

#[test]
fn a_templates_triggers_live_on_its_hosts() {
    let f = Fixture::new();
    let parent = f.make(
        "Too much on {HOST.NAME}",
        "last(/base/n)>{$MAX} and find(/base/t,,\"like\",\"{$KEY}\")=1",
    );
    let ask = json!({
        "hostids": f.host, "output": ["description", "expression", "templateid"],
        "expandExpression": true, "expandDescription": true, "selectFunctions": ["name", "parameter"],
    });
    let found = f.get(&ask);
    let child = found[0]["triggerid"].as_str().unwrap().to_owned();
    assert_eq!(
        found,
        json!([{
            "triggerid": child, "description": "Too much on Web server",
            "expression": "last(/web/n)>5 and find(/web/t,,\"like\",\"******\")=1",
            "templateid": parent,
            "functions": [{ "parameter": "$", "function": "last" },
                          { "parameter": "$,,\"like\",\"{$KEY}\"", "function": "find" }],
        }])
    );
    let change = json!({ "triggerid": parent, "expression": "max(/base/n,#3)>1", "priority": 4 });
    f.server.call("trigger.update", &change).unwrap();
    let ask =
        json!({ "triggerids": child, "output": ["priority", "expression"], "expandExpression": 1 });
    let expect = json!([{ "triggerid": child, "priority": "4", "expression": "max(/web/n,#3)>1" }]);
    assert_eq!(f.get(&ask), expect);
    for (params, refused) in [
        (json!({ "triggerid": child, "expression": "last(/web/n)=1" }), "expression"),
        (json!({ "triggerid": child, "description": "x" }), "description"),
        (json!({ "triggerid": child, "manual_close": 1 }), "manual_close"),
    ] {
        let (_, data) = f.server.call("trigger.update", &params).unwrap_err();
        assert!(data.starts_with(&format!("Cannot update \"{refused}\" for templated")), "{data}");
    }
    f.server.call("trigger.update", &json!({ "triggerid": child, "status": 1 })).unwrap();
    let (_, data) = f.server.call("trigger.delete", &json!([child])).unwrap_err();
    assert_eq!(
        data,
        "Cannot delete templated trigger \"Too much on {HOST.NAME}:max(/web/n,#3)>1\"."
    );
    f.server.call("trigger.delete", &json!([parent])).unwrap();
    assert_eq!(f.get(&json!({})), json!([]));
    let asked = f.server.asked.lock().unwrap();
    assert!(asked.iter().any(|what| what.starts_with("gone ") && what.contains(&child)));
}

#[test]
fn dependencies_close_no_circle() {
    let f = Fixture::new();
    let (a, b) = (f.make("a", "last(/web/n)=1"), f.make("b", "last(/web/n)=2"));
    let on_base = f.make("c", "last(/base/n)=3");
    let depend = |id: &str, on: &[&str]| {
        let on: Json = on.iter().map(|on| json!({ "triggerid": on })).collect();
        let params = json!({ "triggerid": id, "dependencies": on });
        f.server.call("trigger.update", &params).map_err(|(_, data)| data)
    };
    depend(&a, &[&b]).unwrap();
    for (id, on, refused) in [
        (&a, &a, "cannot depend on the trigger \"a\", because a circular linkage (\"a\" -> \"a\")"),
        (
            &b,
            &a,
            "cannot depend on the trigger \"a\", because a circular linkage (\"a\" -> \"b\" -> \"a\")",
        ),
        (&on_base, &a, "because dependencies on triggers from a child template or host"),
    ] {
        let data = depend(id, &[on]).unwrap_err();
        assert!(data.contains(refused), "{data}");
    }
    let shown = f.get(&json!({ "triggerids": a, "selectDependencies": ["description"] }));
    assert_eq!(shown[0]["dependencies"], json!([{ "triggerid": b, "description": "b" }]));
    assert_eq!(f.get(&json!({ "triggerids": [a, b], "dependent": true }))[0]["triggerid"], *a);
    depend(&a, &[]).unwrap();
    assert_eq!(f.get(&json!({ "triggerids": [a, b], "dependent": true })), json!([]));
}

#[test]
fn recovery_and_correlation_change_together() {
    let f = Fixture::new();
    let id = f
        .create(&json!({
            "description": "x", "expression": "last(/web/n)=1", "recovery_mode": 1,
            "recovery_expression": "last(/web/n)=2", "correlation_mode": 1, "correlation_tag": "t",
        }))
        .unwrap();
    let fields = ["recovery_mode", "recovery_expression", "correlation_mode", "correlation_tag"];
    f.server.call("trigger.update", &json!({ "triggerid": id, "recovery_mode": 2 })).unwrap();
    let expect = json!([{
        "triggerid": id, "recovery_mode": "2", "recovery_expression": "", "correlation_mode": "0",
        "correlation_tag": "",
    }]);
    assert_eq!(f.get(&json!({ "triggerids": id, "output": fields })), expect);
    let (_, data) = f
        .server
        .call("trigger.update", &json!({ "triggerid": id, "recovery_mode": 1 }))
        .unwrap_err();
    assert!(data.contains("\"recovery_expression\": cannot be empty"), "{data}");
}

#[test]
fn prototypes_need_one_rule() {
    let f = Fixture::new();
    let rule = |key: &str| {
        let rule = json!({ "hostid": f.template, "name": key, "key_": key, "type": 2 });
        let rule = f.server.create("discoveryrule.create", &rule);
        let item = json!({ "hostid": f.template, "ruleid": rule, "name": key, "type": 2,
                           "key_": format!("{key}[{{#A}}]"), "value_type": 3 });
        f.server.create("itemprototype.create", &item)
    };
    let item = rule("p");
    rule("q");
    let make = |expression: &str| {
        let params = json!({ "description": "x", "expression": expression });
        f.server.call("triggerprototype.create", &params).map_err(|(_, data)| data)
    };
    for (expression, refused) in [
        ("last(/base/n)=1", "Trigger prototype \"x\" must contain at least one item prototype."),
        (
            "last(/base/p[{#A}])=last(/base/q[{#A}])",
            "Trigger prototype \"x\" contains item prototypes from multiple discovery rules.",
        ),
    ] {
        assert_eq!(make(expression).unwrap_err(), refused);
    }
    make("last(/base/p[{#A}])={#MAX} and last(/base/n)=1").unwrap();
    let ask = json!({
        "hostids": f.host, "output": ["expression"], "expandExpression": true,
        "selectItems": ["key_"], "selectDiscoveryRule": ["key_"],
    });
    let found = f.server.call("triggerprototype.get", &ask).unwrap();
    assert_eq!(found[0]["expression"], "last(/web/p[{#A}])={#MAX} and last(/web/n)=1");
    assert_eq!(found[0]["discoveryRule"]["key_"], "p");
    assert_eq!(found[0]["items"].as_array().unwrap().len(), 2);
    assert_eq!(f.get(&json!({})), json!([]), "prototypes are no triggers");
    f.server.call("itemprototype.delete", &json!([item])).unwrap();
    assert_eq!(f.server.call("triggerprototype.get", &ask).unwrap(), json!([]));
}

#[test]
fn options_choose_triggers() {
    let f = Fixture::new();
    let a = f
        .create(&json!({ "description": "a", "expression": "last(/web/n)=1", "priority": 4,
                         "tags": [{ "tag": "scope", "value": "load" }] }))
        .unwrap();
    let b = f
        .create(&json!({ "description": "b", "expression": "find(/web/t,,\"like\",\"x\")=1",
                         "status": 1 }))
        .unwrap();
    let c = f.make("c", "last(/base/n)=1");
    for (options, expect) in [
        (json!({ "min_severity": 3 }), vec![&a]),
        (json!({ "monitored": true, "inherited": false }), vec![&a]),
        (json!({ "active": true, "hostids": f.host, "inherited": false }), vec![&a]),
        (json!({ "functions": ["find"] }), vec![&b]),
        (json!({ "templated": true }), vec![&c]),
        (json!({ "templateids": f.template }), vec![&c]),
        (json!({ "tags": [{ "tag": "scope", "value": "lo" }] }), vec![&a]),
        (json!({ "filter": { "host": "web" }, "inherited": false }), vec![&a, &b]),
        (json!({ "group": "Hosts", "inherited": false }), vec![&a, &b]),
        (json!({ "only_true": true }), vec![]),
        (json!({ "withUnacknowledgedEvents": true }), vec![]),
        (
            json!({ "skipDependent": true, "hostids": f.host, "search": { "description": "B" } }),
            vec![&b],
        ),
    ] {
        let found = f.get(&options);
        let ids: Vec<&str> =
            found.as_array().unwrap().iter().filter_map(|t| t["triggerid"].as_str()).collect();
        assert_eq!(ids, expect, "{options}");
    }
}

#[test]
fn dependencies_of_one_call_close_no_circle() {
    let f = Fixture::new();
    let (a, b) = (f.make("a", "last(/web/n)=1"), f.make("b", "last(/web/n)=2"));
    let depend = |pairs: &[(&str, &str)]| {
        let one = |(id, on): &(&str, &str)| json!({ "triggerid": id, "dependencies": [{ "triggerid": on }] });
        let params: Json = pairs.iter().map(one).collect();
        f.server.call("trigger.update", &params).map(drop).map_err(|(_, data)| data)
    };
    let refused = depend(&[(&a, &b), (&b, &a)]).unwrap_err();
    let text = "Trigger \"a\" cannot depend on the trigger \"b\", because a circular linkage \
                (\"b\" -> \"a\" -> \"b\") would occur.";
    assert_eq!(refused, text);
    assert_eq!(f.server.count("SELECT COUNT(*) AS n FROM trigger_depends"), 0);
    // A dependency of a host's own trigger and one that its template brings later.
    let (c, d) = (f.make("c", "last(/base/n)=3"), f.make("d", "last(/base/n)=4"));
    let below = |parent: &str| {
        f.server.text(&format!("SELECT triggerid FROM triggers WHERE templateid = {parent}"))
    };
    let (c_web, d_web) = (below(&c), below(&d));
    depend(&[(&c_web, &d_web)]).unwrap();
    assert!(depend(&[(&d, &c)]).unwrap_err().contains("circular linkage"));
    // To turn a dependency round in one call is no circle.
    depend(&[(&a, &b)]).unwrap();
    let turn = json!([
        { "triggerid": a, "dependencies": [] },
        { "triggerid": b, "dependencies": [{ "triggerid": a }] },
    ]);
    f.server.call("trigger.update", &turn).unwrap();
}

#[test]
fn a_trigger_without_items_is_only_of_super_admins() {
    let f = Fixture::new();
    let id = f.make("a", "last(/web/n)=1");
    let group = f.server.text("SELECT groupid FROM groups_ WHERE name = 'Hosts'");
    let session = f.server.user("admin", "2", &[(&group, 3)]);
    let delete = || f.server.call_as(Some(&session), "trigger.delete", &json!([id]));
    let seen = || f.server.call_as(Some(&session), "trigger.get", &json!({ "triggerids": id }));
    assert_eq!(seen().unwrap()[0]["triggerid"], *id);
    f.server.write_sql(&["DELETE FROM functions"]);
    assert_eq!(seen().unwrap(), json!([]));
    assert!(delete().is_err());
    f.server.call("trigger.delete", &json!([id])).unwrap();
}

#[test]
fn items_of_prototypes_have_the_state_of_new_items() {
    let f = Fixture::new();
    let rule = json!({ "hostid": f.host, "name": "r", "key_": "r", "type": 2 });
    let rule = f.server.create("discoveryrule.create", &rule);
    let item = json!({ "hostid": f.host, "ruleid": rule, "name": "p", "key_": "p[{#A}]", "type": 2,
                       "value_type": 3 });
    f.server.create("itemprototype.create", &item);
    let trigger = json!({ "description": "t", "expression": "last(/web/p[{#A}])>0" });
    f.server.create("triggerprototype.create", &trigger);
    let items = |wanted: Json| {
        let found = f.server.call("triggerprototype.get", &json!({ "selectItems": wanted }));
        found.unwrap()[0]["items"][0].clone()
    };
    assert_eq!(items(json!(["key_", "state"]))["state"], "0");
    assert_eq!(items(json!("extend"))["error"], "");
    assert_eq!(items(json!(["key_"])).get("state"), None);
}

#[test]
fn worst_triggers_in_problem_state() {
    let f = Fixture::new();
    let ids: Vec<String> = [1, 5, 3, 5, 0, 4]
        .iter()
        .enumerate()
        .map(|(n, priority)| {
            let expression = format!("last(/web/n)={n}");
            f.create(&json!({ "description": n.to_string(), "expression": expression, "priority": priority }))
                .unwrap()
        })
        .collect();
    let off = json!({ "triggerid": ids[3], "status": 1 });
    f.server.call("trigger.update", &off).unwrap();
    let config = &f.server.api.deps.config;
    let state = |id: &str, value: i64, lastchange: u64| {
        let row = [id.parse::<i64>().unwrap().into(), value.into(), lastchange.into()];
        let sql = "INSERT INTO trigger_states (triggerid, value, lastchange) VALUES (?, ?, ?)";
        let added: config::db::DbResult<_> =
            config.write_state(|connection| connection.execute(sql, &row));
        added.unwrap();
    };
    let worst = |more: Json| {
        let mut options = json!({
            "only_true": true, "sortfield": "priority", "sortorder": "DESC", "limit": 2,
        });
        for (name, value) in more.as_object().unwrap() {
            options[name] = value.clone();
        }
        let found = f.get(&options);
        let names = found.as_array().unwrap().iter().map(|t| t["description"].as_str().unwrap());
        names.collect::<Vec<_>>().join(" ")
    };
    // Few: they are named in the statement.
    state(&ids[2], 1, 10);
    // It was in problem state a short time ago.
    state(&ids[5], 0, f.server.clock.unix_s() - 10);
    assert_eq!(worst(json!({})), "5 2");
    // Many: the order of the index until there are enough.
    state(&ids[0], 1, 10);
    state(&ids[1], 0, 10);
    state(&ids[3], 1, 10);
    assert_eq!(worst(json!({})), "3 5");
    assert_eq!(worst(json!({ "monitored": true })), "5 2");
    assert_eq!(worst(json!({ "limit": 9 })), "3 5 2 0");
    assert_eq!(worst(json!({ "sortorder": "ASC" })), "0 2");
    assert_eq!(worst(json!({ "limit": 9, "countOutput": null, "min_severity": 4 })), "3 5");
}

#[test]
fn the_worst_triggers_come_in_the_order_of_an_index() {
    let f = Fixture::new();
    let table = super::TRIGGER.table;
    let sql = format!(
        "EXPLAIN QUERY PLAN SELECT t.triggerid FROM {table} t WHERE t.flags IN (0, 4) AND t.status = 0 \
         AND (t.value = 1 OR t.lastchange > 5) ORDER BY t.priority DESC, t.triggerid"
    );
    let rows = f.server.api.deps.config.read(|c| c.query(&sql, &[]));
    let rows: Result<_, config::db::DbError> = rows;
    let plan: Vec<String> = rows.unwrap().iter().map(|row| row.text("detail").to_owned()).collect();
    let index = "USING COVERING INDEX triggers_priority_triggerid_status_flags";
    assert!(plan.iter().any(|step| step.contains(index)), "{plan:?}");
    assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
}
