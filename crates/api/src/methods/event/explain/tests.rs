//! Verdicts on recipients, and what other users do not see.

use model::alert::outlook::{
    Case, OfAction, OnCall, Operation, Pause, Running, Silence, Step, Verdict, Waits,
};
use objects::OperationMode;
use serde_json::{Value as Json, json};

use crate::testing::Server;

const ADMIN: u64 = 1;

fn action(id: &str, others: &[u64]) -> OfAction {
    let told = Case {
        user: ADMIN,
        address: Some((1, "admin@example.com".to_owned())),
        verdict: Verdict::Sent,
    };
    let silent = |user: &u64| Case {
        user: *user,
        address: None,
        verdict: Verdict::Silent(Silence::NoRight),
    };
    let cases = std::iter::once(told).chain(others.iter().map(silent)).collect();
    let mode = OperationMode::Problem;
    OfAction {
        action: id.parse().unwrap(),
        name: "Tell all".to_owned(),
        enabled: true,
        applies: true,
        conditions: vec![true],
        running: Some(Running {
            id: 4,
            step: 1,
            waits: Waits::PausedUntil(1_800_000_060),
            pauses: vec![Pause::Suppressed, Pause::Inhibited],
            inhibited_by: Some(4_712),
            stopped: String::new(),
        }),
        steps: vec![Step { number: 2, at: 1_800_000_060, operations: vec![7] }],
        operations: vec![Operation {
            id: 7,
            mode,
            to_involved: false,
            cases,
            on_call: vec![
                OnCall { schedule: 3, name: "Linux".to_owned(), users: vec![ADMIN] },
                OnCall { schedule: 4, name: "Night".to_owned(), users: Vec::new() },
            ],
        }],
    }
}

/// A problem, the id of an action with a condition, and a user who may see the problem, with the session.
fn world(server: &Server) -> (String, u64, String) {
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host =
        server.create("host.create", &json!({ "host": "h", "groups": { "groupid": group } }));
    let item = json!({ "hostid": host, "name": "t", "key_": "t", "type": 2, "value_type": 3 });
    server.create("item.create", &item);
    let trigger = json!({ "description": "t", "expression": "last(/h/t)>0" });
    let trigger = server.create("trigger.create", &trigger);
    server.write_state_sql(&[
        &format!(
            "INSERT INTO events (eventid, source, object, objectid, value, clock) VALUES (1, 0, 0, {trigger}, 1, 1)"
        ),
        "INSERT INTO alerts (alertid, actionid, eventid, userid, clock, status) VALUES (5, 9, 1, 1, 1, 1)",
    ]);
    let action = server.create(
        "action.create",
        &json!({
            "name": "Tell all", "eventsource": 0,
            "filter": { "evaltype": 0, "conditions": { "conditiontype": 4, "operator": 5, "value": "2" } },
            "operations": {
                "operationtype": 0, "opmessage": { "default_msg": 1, "mediatypeid": 0 }, "opmessage_usr": { "userid": "1" },
            },
        }),
    );
    let session = server.user("reader", "1", &[(&group, 2)]);
    let reader = server.count("SELECT userid AS n FROM users WHERE username = 'reader'");
    (action, u64::try_from(reader).unwrap(), session)
}

#[test]
fn every_user_who_is_named_gets_a_verdict() {
    let server = Server::start();
    let (id, reader, _) = world(&server);
    server.outlook.lock().unwrap().push(action(&id, &[reader]));
    let explained = server.call("event.explain", &json!({ "eventid": "1" })).unwrap();
    let one = &explained["actions"][0];
    assert_eq!(
        (&one["actionid"], &one["enabled"], &one["applies"]),
        (&json!(id), &json!("1"), &json!("1"))
    );
    assert_eq!(
        one["conditions"],
        json!([{
            "conditiontype": "4", "operator": "5", "value": "2", "value2": "", "formulaid": "A", "met": "1",
        }])
    );
    assert_eq!(
        one["escalation"],
        json!({
            "escalationid": "4", "step": "1", "waits_for": "pause", "until": "1800000060",
            "pauses": ["suppressed", "inhibited"],
            "inhibited_by": "4712", "stopped": "",
        })
    );
    assert_eq!(one["steps"], json!([{ "step": "2", "at": "1800000060", "operationids": ["7"] }]));
    let users = |one: &Json| -> Vec<String> {
        let users = one["operations"][0]["users"].as_array().unwrap().iter();
        users
            .map(|user| {
                format!("{} {} {}", user["username"], user["sendto"], user["verdict"])
                    .replace('"', "")
            })
            .collect()
    };
    assert_eq!(users(one), ["Admin admin@example.com sent", "reader  no_right"]);
    assert_eq!(
        one["operations"][0]["oncall"],
        json!([
            { "scheduleid": "3", "name": "Linux", "userids": ["1"], "gap": "0" },
            { "scheduleid": "4", "name": "Night", "userids": [], "gap": "1" },
        ])
    );
    let asked = json!({ "eventid": "1", "userids": [reader.to_string()] });
    let explained = server.call("event.explain", &asked).unwrap();
    assert_eq!(users(&explained["actions"][0]), ["reader  no_right"]);
}

#[test]
fn users_see_their_own_verdicts_only() {
    let server = Server::start();
    let (id, reader, session) = world(&server);
    let mut disabled = action(&id, &[reader]);
    if let Some(running) = &mut disabled.running {
        running.stopped = "NOTE: Escalation canceled: action 'Tell all' disabled.".to_owned();
    }
    server.outlook.lock().unwrap().push(disabled);
    let asked = json!({ "eventid": "1" });
    let explained = server.call_as(Some(&session), "event.explain", &asked).unwrap();
    assert!(!explained.to_string().contains("Tell all"), "{explained}");
    let of_event = json!({ "eventids": ["1"] });
    let running = server.call_as(Some(&session), "escalation.get", &of_event).unwrap();
    assert_eq!((&running[0]["actionid"], &running[0]["name"]), (&json!(id), &json!("")));
    assert!(!running.to_string().contains("Tell all"), "{running}");
    let one = &explained["actions"][0];
    assert_eq!(one["conditions"], json!([]), "a user may not see actions");
    assert_eq!(one["alertids"], json!([]), "nor messages to others");
    assert_eq!(one["operations"][0]["users"].as_array().unwrap().len(), 1);
    let stranger = server.user("stranger", "1", &[]);
    for method in ["event.explain", "escalation.get"] {
        let asked =
            if method == "event.explain" { asked.clone() } else { json!({ "eventids": ["1"] }) };
        let answer = server.call_as(Some(&stranger), method, &asked);
        match answer {
            Err((code, _)) => assert_eq!((method, code), ("event.explain", -32_500)),
            Ok(answer) => assert_eq!((method, answer), ("escalation.get", json!([]))),
        }
    }
}

#[test]
fn names_and_conditions_of_hidden_actions_are_hidden() {
    let server = Server::start();
    let (others, ..) = world(&server);
    let hidden = server.create("hostgroup.create", &json!({ "name": "hidden" }));
    let group = server.count("SELECT groupid AS n FROM groups_ WHERE name = 'g'").to_string();
    let session = server.user("admin-of-g", "2", &[(&group, 3)]);
    let own = server.count("SELECT usrgrpid AS n FROM usergroups WHERE name = 'admin-of-g'");
    let create = |name: &str, group: &str| {
        let condition = json!({ "conditiontype": 0, "value": group });
        server.create(
            "action.create",
            &json!({
                "name": name, "eventsource": 0, "filter": { "evaltype": 0, "conditions": condition },
                "operations": {
                    "operationtype": 0, "opmessage": { "default_msg": 1, "mediatypeid": 0 },
                    "opmessage_grp": { "usrgrpid": own.to_string() },
                },
            }),
        )
    };
    let (seen, of_hidden) = (create("seen", &group), create("of a hidden group", &hidden));
    server.outlook.lock().unwrap().extend([&others, &seen, &of_hidden].map(|id| action(id, &[])));
    let shown = |session: &str| -> Vec<(usize, bool)> {
        let asked = json!({ "eventid": "1" });
        let explained = server.call_as(Some(session), "event.explain", &asked).unwrap();
        let actions = explained["actions"].as_array().unwrap().iter();
        let conditions = |one: &Json| one["conditions"].as_array().unwrap().len();
        actions.map(|one| (conditions(one), one["name"] == "Tell all")).collect()
    };
    assert_eq!(shown(&server.login("Admin", "zabbix")), [(1, true); 3]);
    let expected = [(0, false), (1, true), (0, false)];
    assert_eq!(shown(&session), expected, "only of the action that action.get shows");
}

#[test]
fn escalations_of_several_events_are_listed() {
    let server = Server::start();
    let (id, ..) = world(&server);
    server.outlook.lock().unwrap().push(OfAction { running: None, ..action("900", &[]) });
    server.outlook.lock().unwrap().push(action(&id, &[]));
    let found = server.call("escalation.get", &json!({ "eventids": ["1", "77"] })).unwrap();
    assert_eq!(
        found,
        json!([{
            "escalationid": "4", "eventid": "1", "actionid": id, "name": "Tell all", "step": "1",
            "waits_for": "pause", "until": "1800000060", "pauses": ["suppressed", "inhibited"],
            "inhibited_by": "4712", "stopped": "",
            "steps": [{ "step": "2", "at": "1800000060", "operationids": ["7"] }],
        }])
    );
}

#[test]
fn bad_questions_are_refused() {
    let server = Server::start();
    let many: Vec<u64> = (1..=101).collect();
    server.refuses(&[
        ("event.explain", json!({}), -32_602, "the parameter \"eventid\" is missing"),
        ("event.explain", json!({ "eventid": "7" }), -32_500, "No permissions"),
        ("event.explain", json!({ "eventid": "1", "x": 1 }), -32_602, "unexpected parameter \"x\""),
        ("escalation.get", json!({}), -32_602, "the parameter \"eventids\" is missing"),
        ("escalation.get", json!({ "eventids": many }), -32_602, "at most 100 events"),
    ]);
}

#[test]
fn withheld_messages_have_a_reason() {
    let server = Server::start();
    let (id, ..) = world(&server);
    server.outlook.lock().unwrap().push(action(&id, &[]));
    for (alert, status, carrier) in [(6, 4, 0), (7, 4, 9), (8, 1, 0)] {
        server.write_state_sql(&[&format!(
            "INSERT INTO alerts (alertid, actionid, eventid, userid, status, withheld, carrierid, bundleid) \
             VALUES ({alert}, {id}, 1, 1, {status}, 1, {carrier}, 3)"
        )]);
    }
    server.write_state_sql(&[
        "INSERT INTO bundles (bundleid, waiting, nextcheck) VALUES (3, 1, 1800000030)",
    ]);
    let explained = server.call("event.explain", &json!({ "eventid": "1" })).unwrap();
    let one = |alert: &str, carrier: &str, until: &str| json!({ "alertid": alert, "userid": "1", "reason": "grouped", "carrierid": carrier, "until": until });
    assert_eq!(
        explained["actions"][0]["withheld"],
        json!([one("6", "0", "1800000030"), one("7", "9", "0"), one("8", "0", "0")])
    );
}
