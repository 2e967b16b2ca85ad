//! Global regular expressions; texts and results as the reference gives them.

use serde_json::{Value as Json, json};

use crate::testing::Server;

#[test]
fn what_is_refused() {
    let server = Server::start();
    let one = |more: Json| {
        let mut expression = json!({ "expression": "a", "expression_type": 0 });
        for (name, value) in more.as_object().unwrap() {
            match value {
                Json::Null => drop(expression.as_object_mut().unwrap().shift_remove(name)),
                value => expression[name] = value.clone(),
            }
        }
        json!({ "name": "n", "expressions": [expression] })
    };
    let create = |params: Json, text: &'static str| ("regexp.create", params, -32602, text);
    server.refuses(&[
        create(json!({}), "\"/\": cannot be empty."),
        create(json!({ "name": "n" }), "\"/1\": the parameter \"expressions\" is missing."),
        create(json!({ "name": "n", "expressions": [] }), "\"/1/expressions\": cannot be empty."),
        create(json!({ "name": "n", "expressions": "x" }), "an array is expected."),
        create(json!({ "name": "", "expressions": [] }), "\"/1/name\": cannot be empty."),
        create(one(json!({ "expression": null })), "the parameter \"expression\" is missing."),
        create(one(json!({ "expression_type": null })), "\"expression_type\" is missing."),
        create(one(json!({ "expression": "" })), "/1/expression\": cannot be empty."),
        create(
            one(json!({ "expression": "(", "expression_type": 3 })),
            "\"/1/expressions/1/expression\": invalid regular expression.",
        ),
        create(one(json!({ "expression_type": 9 })), "value must be one of 0, 1, 2, 3, 4."),
        create(
            one(json!({ "expression_type": 1, "exp_delimiter": "x" })),
            "/exp_delimiter\": value must be one of \",\", \".\", \"/\".",
        ),
        create(one(json!({ "exp_delimiter": "," })), "/exp_delimiter\": value must be empty."),
        create(one(json!({ "case_sensitive": 2 })), "value must be one of 0, 1."),
        create(one(json!({ "zz": 2 })), "\"/1/expressions/1\": unexpected parameter \"zz\"."),
        create(
            json!({ "name": "n", "expressions": [
                { "expression": "a", "expression_type": 0 },
                { "expression": "a", "expression_type": 0 },
            ]}),
            "\"/1/expressions/2\": value (expression_type, expression)=(0, a) already exists.",
        ),
        create(json!([one(json!({})), one(json!({}))]), "\"/2\": value (name)=(n) already exists."),
        (
            "regexp.get",
            json!({ "output": ["zz"] }),
            -32602,
            "\"regexpid\", \"name\", \"test_string\".",
        ),
        (
            "regexp.get",
            json!({ "editable": true, "zz": 1 }),
            -32602,
            "unexpected parameter \"zz\".",
        ),
        ("regexp.get", json!({ "sortfield": "test_string" }), -32602, "\"regexpid\", \"name\"."),
        ("regexp.update", json!({ "regexpid": "9" }), -32500, "No permissions to referred object"),
        ("regexp.delete", json!(["9"]), -32500, "No permissions to referred object"),
    ]);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM regexps"), 0);
}

#[test]
fn they_live_and_are_live() {
    let server = Server::start();
    let params = json!({ "name": "n", "test_string": "t", "expressions": [
        { "expression": "a.b", "expression_type": 1, "exp_delimiter": "." },
        { "expression": "^x", "expression_type": 3, "case_sensitive": 1 },
    ]});
    let id = server.create("regexp.create", &params);
    let other =
        json!({ "name": "o", "expressions": [{ "expression": "(", "expression_type": 0 }] });
    let other = server.create("regexp.create", &other);
    let snapshot = || server.api.deps.config.snapshot();
    assert_eq!(snapshot().regexps["n"][0].delimiter, '.');
    let shown = json!({ "regexpids": id, "output": ["name", "test_string"],
                        "selectExpressions": "extend" });
    let first = json!({ "expression": "a.b", "expression_type": "1", "exp_delimiter": ".",
                        "case_sensitive": "0" });
    let second = json!({ "expression": "^x", "expression_type": "3", "exp_delimiter": ",",
                         "case_sensitive": "1" });
    server.answers(&[
        (
            "regexp.get",
            shown,
            json!([{ "name": "n", "test_string": "t", "expressions": [first, second] }]),
        ),
        (
            "regexp.get",
            json!({ "search": { "test_string": "T" }, "countOutput": true }),
            json!("1"),
        ),
        (
            "regexp.get",
            json!({ "filter": { "name": "o" }, "output": ["regexpid"] }),
            json!([{ "regexpid": other }]),
        ),
    ]);
    let taken = json!({ "regexpid": id, "name": "o" });
    server.refuses(&[
        ("regexp.update", taken, -32602, "Regular expression \"o\" already exists."),
        (
            "regexp.get",
            json!({ "regexpids": id, "selectExpressions": ["zz"] }),
            -32602,
            "\"/selectExpressions/1\": value must be one of \"expression\", \"expression_type\", ",
        ),
    ]);
    let change = json!({ "regexpid": id, "name": "m", "expressions": [
        { "expression": "n", "expression_type": 4 }] });
    server.call("regexp.update", &change).unwrap();
    assert!(!snapshot().regexps.contains_key("n"));
    assert_eq!((snapshot().regexps["m"].len(), snapshot().regexps["m"][0].kind), (1, 4));
    server.call("regexp.delete", &json!([id, other])).unwrap();
    assert!(snapshot().regexps.is_empty());
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM regexp_expressions"), 0);
}
