mod calm;
mod messages;
mod on_call;

use serde_json::{Value as Json, json};

use crate::testing::Server;

fn action(source: i64, conditions: Json, operations: Json) -> Json {
    json!({
        "name": "a", "eventsource": source, "operations": operations,
        "filter": { "evaltype": 0, "conditions": conditions },
    })
}

const ADD: i64 = 2;

fn add() -> Json {
    json!([{ "operationtype": ADD }])
}

#[test]
fn an_action_lives() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let operations = json!([
        { "operationtype": 4, "opgroup": [{ "groupid": group }] },
        { "operationtype": 13, "optag": [{ "tag": "a", "value": "b" }, { "tag": "c" }] },
        { "operationtype": 10, "opinventory": { "inventory_mode": 1 } },
        { "operationtype": 2 },
    ]);
    let conditions = json!([
        { "conditiontype": 8, "value": "9" },
        { "conditiontype": 10, "operator": 0, "value": "2" },
        { "conditiontype": 21, "value": "1" },
        { "conditiontype": 10, "value": "0" },
        { "conditiontype": 7, "operator": 1, "value": "10.0.0.0/8" },
        { "conditiontype": 8, "value": "10" },
    ]);
    let id = server.create("action.create", &action(1, conditions, operations));
    let get = |options: Json| server.call("action.get", &options).unwrap();
    let head = json!({
        "actionid": id, "name": "a", "eventsource": "1", "status": "0", "esc_period": "1h",
        "pause_suppressed": "1", "notify_if_canceled": "1", "pause_symptoms": "1",
    });
    assert_eq!(get(json!({}))[0], head);
    let shown = get(json!({ "output": ["name"], "selectFilter": "extend" }));
    let filter = &shown[0]["filter"];
    assert_eq!(filter["eval_formula"], "A and B and (C or D) and (E or F)");
    let order: Vec<String> = filter["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| {
            format!("{} {} {}", c["formulaid"], c["conditiontype"], c["value"]).replace('"', "")
        })
        .collect();
    let expected = ["A 7 10.0.0.0/8", "B 21 1", "C 10 0", "D 10 2", "E 8 9", "F 8 10"];
    assert_eq!(order, expected);
    let shown = get(json!({
        "output": [], "selectOperations": ["operationtype", "opgroup", "optag", "opinventory"],
        "selectRecoveryOperations": "extend",
    }));
    assert_eq!(shown[0]["recovery_operations"], json!([]));
    assert_eq!(
        shown[0]["operations"],
        json!([
            { "operationtype": "4", "opgroup": [{ "groupid": group }] },
            { "operationtype": "13",
              "optag": [{ "tag": "a", "value": "b" }, { "tag": "c", "value": "" }] },
            { "operationtype": "10", "opinventory": { "inventory_mode": "1" } },
            { "operationtype": "2" },
        ])
    );
    // Operations of a kind that was there keep their ids.
    let ids = |shown: &Json| -> Vec<Json> {
        let list = shown[0]["operations"].as_array().unwrap().iter();
        list.map(|one| one["operationid"].clone()).collect()
    };
    let before = ids(&get(json!({ "selectOperations": "extend" })));
    let update = json!({
        "actionid": id, "status": 1, "name": "b",
        "operations": [{ "operationtype": 2 }, { "operationtype": 8 }],
        "filter": { "evaltype": 3, "formula": "B  and (not A)", "conditions": [
            { "conditiontype": 10, "value": "0", "formulaid": "A" },
            { "conditiontype": 21, "value": "1", "formulaid": "B" },
        ] },
    });
    server.call("action.update", &update).unwrap();
    let shown = get(json!({ "selectOperations": "extend", "selectFilter": "extend" }));
    assert_eq!(ids(&shown)[0], before[3]);
    let filter = &shown[0]["filter"];
    assert_eq!(filter["formula"], "A  and (not B)");
    assert_eq!(filter["eval_formula"], "A  and (not B)");
    assert_eq!(filter["conditions"][0]["conditiontype"], "21");
    assert_eq!(
        shown[0]["operations"][1],
        json!({
            "operationid": ids(&shown)[1], "actionid": id, "operationtype": "8", "esc_period": "0",
            "esc_step_from": "1", "esc_step_to": "1", "evaltype": "0", "opconditions": [],
        })
    );
    let none = json!({ "groupids": group, "countOutput": true });
    assert_eq!(get(none), json!("0"), "no condition is on a group");
    server.call("action.delete", &json!([id])).unwrap();
    assert_eq!(get(json!({ "countOutput": true })), json!("0"));
}

#[test]
fn kinds_of_conditions_and_their_operators() {
    let server = Server::start();
    let rule = json!({ "name": "n", "iprange": "10.0.0.1", "dchecks": [{ "type": 12 }] });
    let rule = server.create("drule.create", &rule);
    let check = server.call("dcheck.get", &json!({})).unwrap()[0]["dcheckid"].clone();
    let (rule, check) = (rule.as_str(), check.as_str().unwrap());
    let all: &[(i64, i64, &str, &[i64])] = &[
        (1, 7, "10.0.0.1-20,10.1.0.0/24", &[0, 1]),
        (1, 8, "9", &[0, 1]),
        (1, 9, "80,100-200", &[0, 1]),
        (1, 10, "3", &[0]),
        (1, 11, "600", &[5, 6]),
        (1, 12, "", &[0, 1, 2, 3, 5, 6]),
        (1, 18, rule, &[0, 1]),
        (1, 19, check, &[0, 1]),
        (1, 20, "1", &[]),
        (1, 21, "2", &[0]),
        (1, 22, "x", &[]),
        (1, 0, "2", &[]),
        (2, 22, "x", &[2, 3, 8, 9]),
        (2, 24, "x", &[2, 3, 8, 9]),
        (2, 20, "1", &[]),
        (2, 7, "10.0.0.1", &[]),
    ];
    for (source, kind, value, operators) in all {
        let fits = |operator: &i64| {
            let condition = json!({ "conditiontype": kind, "operator": operator, "value": value });
            let made = server.call("action.create", &action(*source, json!([condition]), add()));
            if let Ok(made) = &made {
                server.call("action.delete", &made["actionids"]).unwrap();
            }
            made.is_ok()
        };
        let taken: Vec<i64> = (0..14).filter(fits).collect();
        assert_eq!(taken, *operators, "source {source}, kind {kind}");
    }
}

#[test]
fn actions_that_are_refused() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let with = |member: &str, value: Json| {
        let mut one = action(1, json!([]), add());
        one[member] = value;
        one
    };
    let condition = |one: Json| with("filter", json!({ "evaltype": 0, "conditions": [one] }));
    let value = |kind: i64, value: &str| {
        condition(json!({ "conditiontype": kind, "operator": 0, "value": value }))
    };
    let formula = |formula: &str, ids: &[&str]| {
        let one = |id: &&str| json!({ "conditiontype": 10, "value": "0", "formulaid": id });
        let conditions: Vec<Json> = ids.iter().map(one).collect();
        with("filter", json!({ "evaltype": 3, "formula": formula, "conditions": conditions }))
    };
    let operation = |one: Json| with("operations", json!([one]));
    let at = "Invalid parameter \"/1";
    for (params, text) in [
        (json!({ "name": "q" }), "\"eventsource\" is missing".to_owned()),
        (with("name", json!("")), format!("{at}/name\": cannot be empty.")),
        (with("eventsource", json!(9)), format!("{at}/eventsource\": value must be one of")),
        (with("eventsource", json!(0)), "operationtype\": value must be one of 0, 1.".to_owned()),
        (with("esc_period", json!("1h")), format!("{at}\": unexpected parameter \"esc_period\".")),
        (with("status", json!(3)), format!("{at}/status\": value must be one of 0, 1.")),
        (with("operations", json!([])), "No operations defined for action \"a\".".to_owned()),
        (
            with("operations", json!([{ "operationtype": 2 }, { "operationtype": 2 }])),
            "Operation \"Add host\" already exists for action \"a\".".to_owned(),
        ),
        (operation(json!({})), "\"operationtype\" is missing".to_owned()),
        (operation(json!({ "operationtype": 0 })), "\"opmessage\" is missing".to_owned()),
        (
            operation(json!({ "operationtype": 11 })),
            "value must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14.".to_owned(),
        ),
        (operation(json!({ "operationtype": 4 })), "\"opgroup\" is missing".to_owned()),
        (
            operation(json!({ "operationtype": 4, "opgroup": [] })),
            format!("{at}/operations/1/opgroup\": cannot be empty."),
        ),
        (
            operation(json!({ "operationtype": 4, "opgroup": [{ "groupid": group },
                              { "groupid": group }] })),
            "already exists".to_owned(),
        ),
        (
            operation(json!({ "operationtype": 10, "opinventory": { "inventory_mode": -1 } })),
            "value must be one of 0, 1.".to_owned(),
        ),
        (
            operation(json!({ "operationtype": 13, "optag": [{ "tag": "" }] })),
            format!("{at}/operations/1/optag/1/tag\": cannot be empty."),
        ),
        (
            operation(json!({ "operationtype": 2, "opgroup": [{ "groupid": group }] })),
            "unexpected parameter \"opgroup\"".to_owned(),
        ),
        (with("filter", json!({ "conditions": [] })), "\"evaltype\" is missing".to_owned()),
        (
            with("filter", json!({ "evaltype": 0, "formula": "A" })),
            "unexpected parameter \"formula\"".to_owned(),
        ),
        (formula("A", &[]), "incorrect number of conditions".to_owned()),
        (formula("A and B", &["A"]), "incorrect number of conditions".to_owned()),
        (formula("A", &["B"]), "not defined in the formula".to_owned()),
        (formula("A xx", &["A"]), "incorrect syntax near \" xx\"".to_owned()),
        (formula("A and", &["A"]), "incorrect syntax near \"d\"".to_owned()),
        (condition(json!({ "operator": 0 })), "\"conditiontype\" is missing".to_owned()),
        (condition(json!({ "conditiontype": 10 })), "\"value\" is missing".to_owned()),
        (value(7, ""), "cannot be empty".to_owned()),
        (value(7, "x"), "incorrect address starting from \"x\"".to_owned()),
        (value(8, "99"), "value must be one of 0, 1, 2".to_owned()),
        (value(8, "a"), "an integer is expected".to_owned()),
        (value(9, "x"), "invalid range expression".to_owned()),
        (value(9, "70000"), "value must be one of 0-65535".to_owned()),
        (value(10, "4"), "value must be one of 0, 1, 2, 3.".to_owned()),
        (value(21, "3"), "value must be one of 1, 2.".to_owned()),
        (
            condition(json!({ "conditiontype": 10, "value": "0", "formulaid": "A" })),
            "unexpected parameter \"formulaid\"".to_owned(),
        ),
    ] {
        server.refuses(&[("action.create", params, -32602, &text)]);
    }
    let id = server.create("action.create", &action(1, json!([]), add()));
    server.refuses(&[
        ("action.create", action(1, json!([]), add()), -32602, "Action \"a\" already exists."),
        ("action.update", json!({ "actionid": id, "eventsource": 2 }), -32602, "Cannot update"),
        ("action.update", json!({ "actionid": "999" }), -32602, "No permissions"),
        ("action.delete", json!(["999"]), -32500, "No permissions"),
        (
            "action.create",
            operation(json!({ "operationtype": 4, "opgroup": [{ "groupid": "999" }] }))
                .as_object()
                .map(|one| {
                    let mut one = one.clone();
                    one.insert("name".into(), json!("other"));
                    Json::Object(one)
                })
                .unwrap(),
            -32500,
            "Incorrect action condition or operation host group.",
        ),
        (
            "action.create",
            json!({
                "name": "other", "eventsource": 1, "operations": add(),
                "filter": { "evaltype": 0, "conditions": [{ "conditiontype": 18, "value": "99" }] },
            }),
            -32500,
            "Incorrect action condition discovery rule.",
        ),
    ]);
}
