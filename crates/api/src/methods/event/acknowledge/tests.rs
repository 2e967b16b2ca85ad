use serde_json::json;

use crate::Json;
use crate::testing::Server;

/// A server with a host group, a problem (event 1) on a host in it and one (event 2) elsewhere.
fn world() -> (Server, String) {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let other = server.create("hostgroup.create", &json!({ "name": "other" }));
    for (id, host, group) in [(1, "h", &group), (2, "x", &other)] {
        let hostid =
            server.create("host.create", &json!({ "host": host, "groups": { "groupid": group } }));
        server.create(
            "item.create",
            &json!({ "hostid": hostid, "name": "t", "key_": "t", "type": 2, "value_type": 3 }),
        );
        let expression = format!("last(/{host}/t)>0");
        let trigger = server
            .create("trigger.create", &json!({ "description": "t", "expression": expression }));
        for (event, tag) in [(id, "seen"), (id + 10, "hidden")] {
            server.write_state_sql(&[
                &format!(
                    "INSERT INTO events (eventid, objectid, value, clock) \
                     VALUES ({event}, {trigger}, 1, 1)"
                ),
                &format!(
                    "INSERT INTO event_tags (eventtagid, eventid, tag) VALUES ({event}, {event}, '{tag}')"
                ),
            ]);
        }
        server.write_state_sql(&[&format!(
            "INSERT INTO events (eventid, objectid, value, clock) VALUES ({}, {trigger}, 0, 1)",
            id + 20
        )]);
    }
    (server, group)
}

/// A call's verdict: `Ok`, or what the error's text contains.
fn verdict(server: &Server, session: &str, params: &Json) -> Result<(), String> {
    server.call_as(Some(session), "event.acknowledge", params).map(drop).map_err(|(_, text)| text)
}

const NO_OBJECT: &str = "No permissions to referred object or it does not exist!";

/// Each action with what else it needs.
const ACTIONS: &[(&str, u32)] = &[
    ("close_problems", 1),
    ("acknowledge_problems", 2),
    ("add_problem_comments", 4),
    ("change_severity", 8),
    ("acknowledge_problems", 16),
    ("suppress_problems", 32),
    ("suppress_problems", 64),
    ("change_problem_ranking", 128),
    ("change_problem_ranking", 256),
];

fn params(action: u32) -> Json {
    let mut params = json!({ "eventids": 1, "action": action });
    match action {
        4 => params["message"] = "m".into(),
        8 => params["severity"] = 3.into(),
        256 => params["cause_eventid"] = 11.into(),
        _ => {}
    }
    params
}

#[test]
fn every_role_obeys_its_own_actions() {
    let (server, group) = world();
    server.write_sql(&["UPDATE triggers SET manual_close = 1"]);
    for kind in [1, 2, 3] {
        for (denied, _) in ACTIONS {
            let name = format!("{denied} {kind}");
            if server.count(&format!("SELECT COUNT(*) AS n FROM roles WHERE name = '{name}'")) > 0 {
                continue;
            }
            // Other actions are allowed, whatever the default for later ones is.
            let rules = json!({
                "actions": [{ "name": denied, "status": 0 }], "actions.default_access": 0,
            });
            let role = json!({ "name": name, "type": kind, "rules": rules });
            let role = server.create("role.create", &role);
            let session = server.user(&name, &role, &[(&group, 3)]);
            for (rule, action) in ACTIONS {
                let found = verdict(&server, &session, &params(*action));
                match found {
                    Ok(()) => assert_ne!(rule, denied, "{name}: {action}"),
                    Err(text) => assert!(
                        rule == denied && text.contains("\"action\": no permissions to"),
                        "{name}: {action}: {text}"
                    ),
                }
            }
            let shown = server.call(
                "role.get",
                &json!({ "roleids": role, "selectRules": ["actions"], "output": [] }),
            );
            for one in shown.unwrap()[0]["rules"]["actions"].as_array().unwrap() {
                assert_eq!(one["status"] == "0", one["name"] == *denied, "{name}: {one}");
            }
        }
    }
}

#[test]
fn closing_needs_write_permission_and_suppression_does_not() {
    let (server, group) = world();
    server.write_sql(&["UPDATE triggers SET manual_close = 1"]);
    let reader = server.user("reader", "1", &[(&group, 2)]);
    let writer = server.user("writer", "1", &[(&group, 3)]);
    for (_, action) in ACTIONS {
        assert_eq!(verdict(&server, &writer, &params(*action)), Ok(()), "writer: {action}");
        let expected = if [1, 8].contains(action) { Err(NO_OBJECT.to_owned()) } else { Ok(()) };
        assert_eq!(verdict(&server, &reader, &params(*action)), expected, "reader: {action}");
    }
}

#[test]
fn events_that_the_user_does_not_see_are_refused() {
    let (server, group) = world();
    let rights = json!([{ "id": group, "permission": 3 }]);
    let filters = json!([{ "groupid": group, "tag": "seen", "value": "" }]);
    let user_group = json!({ "name": "f", "rights": rights, "tag_filters": filters });
    let user_group = server.create("usergroup.create", &user_group);
    let user = json!({
        "username": "f", "passwd": "Pa55word-x", "roleid": "1",
        "usrgrps": { "usrgrpid": user_group },
    });
    server.create("user.create", &user);
    let filtered = server.login("f", "Pa55word-x");
    let reader = server.user("reader", "1", &[(&group, 2)]);
    let admin = server.login("Admin", "zabbix");
    let message = |event: u64| json!({ "eventids": event, "action": 4, "message": "m" });
    let symptom = |cause: u64| json!({ "eventids": 1, "action": 256, "cause_eventid": cause });
    for (name, session, params, allowed) in [
        ("seen by the filter", &filtered, message(1), true),
        ("hidden by the filter", &filtered, message(11), false),
        ("another host", &reader, message(2), false),
        ("a recovery", &admin, message(21), false),
        ("no such event", &admin, message(999), false),
        ("cause", &reader, symptom(11), true),
        ("cause hidden by the filter", &filtered, symptom(11), false),
        ("cause on another host", &reader, symptom(2), false),
        ("cause that is a recovery", &admin, symptom(21), false),
        ("no such cause", &admin, symptom(999), false),
        ("itself", &admin, symptom(1), true),
    ] {
        let expected = if allowed { Ok(()) } else { Err(NO_OBJECT.to_owned()) };
        assert_eq!(verdict(&server, session, &params), expected, "{name}");
    }
}

#[test]
fn what_is_refused() {
    let (server, _) = world();
    let now = 1_800_000_000_u64;
    for (members, text) in [
        (json!({ "action": 32 }), ""),
        (json!({ "action": 32, "suppress_until": 0 }), ""),
        (json!({ "action": 32, "suppress_until": now + 5 }), ""),
        (json!({ "action": 32, "suppress_until": 1000 }), "unexpected value \"1000\""),
        (json!({ "action": 32, "suppress_until": now - 1 }), "unexpected value"),
        (json!({ "action": 32, "suppress_until": -1 }), "an unsigned integer is expected"),
        (json!({ "action": 512 }), "\"action\": unexpected value \"512\""),
        (json!({ "action": 18 }), "\"action\": value must be one of 2, 16."),
        (json!({ "action": 96 }), "\"action\": value must be one of 32, 64."),
        (
            json!({ "action": 384, "cause_eventid": 2 }),
            "\"action\": value must be one of 128, 256.",
        ),
        (json!({ "action": 2, "cause_eventid": 2 }), "unexpected parameter \"cause_eventid\""),
        (json!({ "action": 256 }), "\"cause_eventid\" is missing"),
        (json!({ "action": -1 }), "\"cause_eventid\" is missing"),
        (json!({ "action": 8 }), ""),
        (json!({ "action": 8, "severity": 6 }), "\"severity\": unexpected value \"6\"."),
        (json!({ "action": 1 }), "trigger does not allow manual closing"),
    ] {
        let mut params = members.clone();
        params["eventids"] = 1.into();
        match server.call("event.acknowledge", &params) {
            Ok(_) => assert_eq!(text, "", "{members}"),
            Err((_, found)) => {
                assert!(!text.is_empty() && found.contains(text), "{members}: {found}")
            }
        }
    }
}

#[test]
fn flags_of_events_and_problems_are_booleans() {
    let (server, _) = world();
    for name in ["acknowledged", "suppressed", "symptom", "recent"] {
        for (value, good) in [
            (json!(true), true),
            (json!(false), true),
            (json!(null), true),
            (json!("true"), false),
            (json!("1"), false),
            (json!(1), false),
        ] {
            let mut methods = vec!["problem.get"];
            if name != "recent" {
                methods.push("event.get");
            }
            for method in methods {
                let result = server.call(method, &json!({ name: value }));
                let text = format!("Invalid parameter \"/{name}\": a boolean is expected.");
                match result {
                    Ok(_) => assert!(good, "{method} {name} {value}"),
                    Err((_, found)) => assert!(!good && found == text, "{method} {name}: {found}"),
                }
            }
        }
    }
}
