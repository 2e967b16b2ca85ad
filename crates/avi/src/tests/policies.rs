use serde_json::{Value as Json, json};

use super::{members, targets};
use crate::policies::rules;

fn request_rules(rule: &Json) -> crate::Result<Option<Vec<Json>>> {
    let set = json!({ "name": "s", "http_request_policy": { "rules": [rule] } });
    rules(&members(set.clone()), &targets(&set, &[]))
}

fn refused(set: &Json, text: &str) {
    match rules(&members(set.clone()), &targets(set, &[])) {
        Err(refused) => assert!(refused.text.contains(text), "{} lacks {text}", refused.text),
        Ok(rules) => panic!("{set} is not refused: {rules:?}"),
    }
}

#[test]
fn each_combination_of_values_is_a_rule() {
    let rule = json!({
        "index": 1, "name": "r", "enable": true,
        "match": {
            "path": { "match_criteria": "BEGINS_WITH", "match_str": ["/a/", "/b/"] },
            "method": { "match_criteria": "IS_IN", "methods": ["HTTP_METHOD_GET", "HTTP_METHOD_HEAD"] },
            "host_hdr": { "match_criteria": "HDR_EQUALS", "value": ["example.com"] },
        },
        "switching_action": { "action": "HTTP_SWITCHING_SELECT_POOL", "pool_ref": "/api/pool/p7" },
    });
    let made = request_rules(&rule).unwrap().unwrap();
    assert_eq!(made.len(), 4);
    let first = json!({ "path_prefix": "/a/", "method": "GET", "host": "example.com" });
    assert_eq!(made[0], json!({ "if": first, "then": { "poolid": "7" } }));
    assert_eq!(made[3]["if"]["method"], "HEAD");
    let missing = json!({ "switching_action": { "action": "HTTP_SWITCHING_SELECT_POOL", "pool_ref": "/api/pool/none" } });
    assert_eq!(request_rules(&missing), Ok(None), "the pool has no servers");
}

#[test]
fn actions_become_actions() {
    let header = |action: &str| json!({ "action": action, "hdr": { "name": "X-A", "value": { "val": "1" } } });
    let local = json!({
        "action": "HTTP_SWITCHING_SELECT_LOCAL", "status_code": "HTTP_LOCAL_RESPONSE_STATUS_CODE_404",
        "file": { "content_type": "text/html", "file_content": "gone" },
    });
    let host = json!({ "type": "URI_PARAM_TYPE_TOKENIZED", "tokens": [{ "type": "URI_TOKEN_TYPE_STRING", "str_value": "new.example.com" }] });
    for (action, expected) in [
        (
            json!({ "hdr_action": [header("HTTP_REPLACE_HDR")] }),
            json!({ "set_header": { "X-A": "1" } }),
        ),
        (json!({ "hdr_action": [header("HTTP_REMOVE_HDR")] }), json!({ "del_header": ["X-A"] })),
        (
            json!({ "switching_action": local }),
            json!({ "respond": { "status": 404, "type": "text/html", "body": "gone" } }),
        ),
        (
            json!({ "redirect_action": { "protocol": "HTTPS", "port": 443, "host": host } }),
            json!({ "redirect": { "status": 302, "location": "https://new.example.com{uri}" } }),
        ),
        (
            json!({ "redirect_action": {
                "protocol": "HTTP", "port": 8080, "keep_query": false,
                "status_code": "HTTP_REDIRECT_STATUS_CODE_307",
            } }),
            json!({ "redirect": { "status": 307, "location": "http://{host}:8080{path}" } }),
        ),
    ] {
        assert_eq!(
            request_rules(&action).unwrap().unwrap(),
            [json!({ "if": {}, "then": expected })]
        );
    }
}

#[test]
fn security_rules_come_first_and_must_match_exactly() {
    let path = |case: &str| json!({ "path": { "match_criteria": "BEGINS_WITH", "match_case": case, "match_str": ["/admin"] } });
    let deny = json!({ "action": "HTTP_SECURITY_ACTION_SEND_RESPONSE", "status_code": "HTTP_LOCAL_RESPONSE_STATUS_CODE_403" });
    let security =
        |case: &str| json!({ "rules": [{ "index": 1, "match": path(case), "action": deny }] });
    let headers =
        json!([{ "action": "HTTP_ADD_HDR", "hdr": { "name": "X-B", "value": { "val": "2" } } }]);
    let set = json!({
        "name": "s",
        "http_response_policy": { "rules": [{ "index": 1, "hdr_action": headers }] },
        "http_security_policy": security("SENSITIVE"),
    });
    let made = rules(&members(set.clone()), &targets(&set, &[])).unwrap().unwrap();
    assert_eq!(made[0]["then"], json!({ "deny": 403 }));
    assert_eq!(made[1]["then"], json!({ "set_response_header": { "X-B": "2" } }));
    refused(&json!({ "http_security_policy": security("INSENSITIVE") }), "match_case");
}

#[test]
fn what_rules_cannot_do_is_named() {
    let rule = |rule: Json| json!({ "http_request_policy": { "rules": [rule] } });
    let paths: Vec<String> = (0..65).map(|n| format!("/{n}")).collect();
    for (set, text) in [
        (
            rule(json!({ "rewrite_url_action": { "path": { "type": "x" } } })),
            "rules[0].rewrite_url_action: ",
        ),
        (
            rule(json!({ "match": { "client_ip": { "match_criteria": "IS_IN" } } })),
            "match.client_ip: ",
        ),
        (
            rule(
                json!({ "match": { "path": { "match_criteria": "REGEX_MATCH", "match_str": ["a"] } } }),
            ),
            "match.path.match_criteria: Vedette does not have \"REGEX_MATCH\"",
        ),
        (
            rule(
                json!({ "match": { "path": { "match_criteria": "EQUALS", "match_str": paths } } }),
            ),
            "more than 64",
        ),
        (
            rule(json!({ "redirect_action": { "protocol": "HTTPS", "status_code": "x" } })),
            "is not a status",
        ),
        (json!({ "http_security_policy": { "rules": [{}] } }), "rules[0].action: "),
        (
            json!({ "http_security_policy": { "rules": [{ "action": { "action": "HTTP_SECURITY_ACTION_RATE_LIMIT" } }] } }),
            "it has HTTP_SECURITY_ACTION_SEND_RESPONSE",
        ),
    ] {
        refused(&set, text);
    }
}
