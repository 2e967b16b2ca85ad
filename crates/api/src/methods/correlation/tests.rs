use serde_json::{Value as Json, json};

use crate::testing::Server;

fn rule(name: &str, conditions: &Json) -> Json {
    json!({
        "name": name, "operations": [{ "type": 0 }],
        "filter": { "evaltype": 0, "conditions": conditions },
    })
}

fn refused(server: &Server, method: &str, params: &Json) -> String {
    server.call(method, params).unwrap_err().1
}

#[test]
fn a_rule_lives() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let conditions = json!([
        { "type": 5, "tag": "a", "value": "10" },
        { "type": 5, "tag": "a", "value": "9" },
        { "type": 2, "groupid": group, "operator": 1 },
        { "type": 3, "oldtag": "x", "newtag": "y" },
        { "type": 0, "tag": "t" },
    ]);
    let id = server.create("correlation.create", &rule("r", &conditions));
    let get = |options: Json| server.call("correlation.get", &options).unwrap();
    let head = json!({ "correlationid": id, "name": "r", "description": "", "status": "0" });
    assert_eq!(get(json!({})), json!([head]));
    let shown = get(json!({ "selectFilter": "extend", "selectOperations": "extend" }));
    assert_eq!(shown[0]["operations"], json!([{ "type": "0" }]));
    let expected = json!({
        "evaltype": "0", "formula": "", "eval_formula": "A and B and C and (D or E)",
        "conditions": [
            { "type": "0", "formulaid": "A", "tag": "t" },
            { "type": "2", "formulaid": "B", "groupid": group, "operator": "1" },
            { "type": "3", "formulaid": "C", "oldtag": "x", "newtag": "y" },
            { "type": "5", "formulaid": "D", "tag": "a", "value": "9", "operator": "0" },
            { "type": "5", "formulaid": "E", "tag": "a", "value": "10", "operator": "0" },
        ],
    });
    assert_eq!(shown[0]["filter"], expected);
    assert_eq!(
        refused(&server, "hostgroup.delete", &json!([group])),
        "Group \"g\" cannot be deleted, because it is used in a correlation condition."
    );
    let change = json!({
        "correlationid": id, "name": "new", "status": 1, "operations": [{ "type": 1 }],
        "filter": {
            "evaltype": 3, "formula": "B and not X",
            "conditions": [
                { "type": 0, "tag": "b", "formulaid": "X" },
                { "type": 1, "tag": "c", "formulaid": "B" },
            ],
        },
    });
    server.call("correlation.update", &change).unwrap();
    let shown =
        get(json!({ "selectFilter": ["formula", "conditions"], "selectOperations": ["x"] }));
    assert_eq!(shown[0]["filter"]["formula"], "A and not B");
    assert_eq!(shown[0]["filter"]["conditions"][0]["tag"], "c");
    assert_eq!(
        (&shown[0]["name"], &shown[0]["operations"][0]["type"]),
        (&"new".into(), &"1".into())
    );
    server.call("hostgroup.delete", &json!([group])).unwrap();
    assert_eq!(server.call("correlation.delete", &json!([id])).unwrap()["correlationids"][0], id);
    assert_eq!(get(json!({})), json!([]));
}

#[test]
fn wrong_rules_are_refused() {
    let server = Server::start();
    let tag = json!([{ "type": 0, "tag": "a" }]);
    server.create("correlation.create", &rule("taken", &tag));
    let named = |letter: &str| json!({ "type": 0, "tag": "a", "formulaid": letter });
    let by_formula = |formula: &str, conditions: Json| {
        let mut rule = rule("x", &conditions);
        rule["filter"]["evaltype"] = 3.into();
        rule["filter"]["formula"] = formula.into();
        rule
    };
    let at = |path: &str, what: &str| format!("Invalid parameter \"/1{path}\": {what}.");
    let of_filter = |path: &str, what: &str| at(&format!("/filter{path}"), what);
    for (params, expected) in [
        (rule("taken", &tag), "Event correlation \"taken\" already exists.".to_owned()),
        (rule("x", &json!([])), of_filter("/conditions", "cannot be empty")),
        (
            rule("x", &json!([{ "type": 1, "tag": "a", "operator": 1 }])),
            of_filter("/conditions/1/operator", "value must be 0"),
        ),
        (
            rule("x", &json!([{ "type": 2, "groupid": "77777" }])),
            "No permissions to referred object or it does not exist!".to_owned(),
        ),
        (
            by_formula("A and B", json!([named("A")])),
            of_filter("/conditions", "incorrect number of conditions"),
        ),
        (
            by_formula("A", json!([named("a")])),
            of_filter("/conditions/1/formulaid", "uppercase identifier expected"),
        ),
        (
            by_formula("A or", json!([named("A")])),
            of_filter("/formula", "incorrect syntax near \"r\""),
        ),
    ] {
        assert_eq!(refused(&server, "correlation.create", &params), expected, "{params}");
    }
    assert_eq!(server.call("correlation.get", &json!({ "countOutput": true })).unwrap(), "1");
}
