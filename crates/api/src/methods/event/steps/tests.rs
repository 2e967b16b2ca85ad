use serde_json::json;

use super::*;
use crate::Json;
use crate::testing::Server;

/// A host group with a host and another one, with a trigger each; the group and the triggers.
fn world(server: &Server) -> (String, [String; 2]) {
    let group = |name: &str| server.create("hostgroup.create", &json!({ "name": name }));
    let (seen, hidden) = (group("seen"), group("hidden"));
    let trigger = |name: &str, group: &String| {
        let host = json!({ "host": name, "groups": { "groupid": group } });
        let hostid = server.create("host.create", &host);
        let item =
            json!({ "hostid": hostid, "name": "t", "key_": "t", "type": 2, "value_type": 3 });
        server.create("item.create", &item);
        let expression = format!("last(/{name}/t)>0");
        let trigger = json!({ "description": "t", "expression": expression });
        server.create("trigger.create", &trigger)
    };
    let triggers = [trigger("a", &seen), trigger("b", &hidden)];
    (seen, triggers)
}

/// Inserts an event for each trigger, clock, value and severity.
fn insert(server: &Server, events: &[(&String, i64, i64, i64)]) {
    for (id, (trigger, clock, value, severity)) in events.iter().enumerate() {
        server.write_state_sql(&[&format!(
            "INSERT INTO events (eventid, objectid, clock, value, severity) \
             VALUES ({}, {trigger}, {clock}, {value}, {severity})",
            id + 1
        )]);
    }
}

fn wanted(change: Json) -> Json {
    let mut all = json!({
        "source": 0, "object": 0, "value": 1, "groupBy": ["clock", "severity"],
        "time_from": 1_000, "time_till": 1_299, "step": 100,
    });
    all.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    all
}

#[test]
fn counts_problems_by_step_and_severity() {
    let server = Server::start();
    let (group, [a, b]) = world(&server);
    insert(
        &server,
        &[
            (&a, 999, 1, 3),
            (&a, 1_000, 1, 3),
            (&b, 1_099, 1, 3),
            (&a, 1_050, 1, 5),
            (&a, 1_060, 0, 5),
            (&a, 1_299, 1, 0),
            (&a, 1_300, 1, 0),
        ],
    );
    let row = |clock: i64, severity: i64, n: i64| {
        json!({ "clock": clock.to_string(), "severity": severity.to_string(),
            "rowscount": n.to_string() })
    };
    let all = json!([row(1_000, 3, 2), row(1_000, 5, 1), row(1_200, 0, 1)]);
    let seen = json!([row(1_000, 3, 1), row(1_000, 5, 1), row(1_200, 0, 1)]);
    server.answers(&[
        ("event.get", wanted(json!({})), all),
        ("event.get", wanted(json!({ "objectids": [a] })), seen.clone()),
        ("event.get", wanted(json!({ "severities": [5] })), json!([row(1_000, 5, 1)])),
        ("event.get", wanted(json!({ "time_from": 5_000, "time_till": 5_999 })), json!([])),
    ]);
    let count =
        |session: &str| server.call_as(Some(session), "event.get", &wanted(json!({}))).unwrap();
    assert_eq!(count(&server.user("reader", "1", &[(&group, 2)])), seen);
    assert_eq!(count(&server.user("stranger", "1", &[])), json!([]));
}

#[test]
fn steps_need_a_bounded_time_range() {
    let server = Server::start();
    let refused = |change: Json, text: &'static str| ("event.get", wanted(change), -32602, text);
    server.refuses(&[
        refused(json!({ "time_from": null }), "\"time_from\" is missing"),
        refused(json!({ "time_till": null }), "\"time_till\" is missing"),
        refused(json!({ "step": 0 }), "/step"),
        refused(json!({ "time_till": 101_000 }), "more than 1000 steps"),
        refused(json!({ "groupBy": "objectid" }), "/groupBy"),
        refused(json!({ "groupBy": null }), "/groupBy"),
        // Without steps, as in Zabbix.
        refused(json!({ "step": null }), "value must be \"objectid\""),
    ]);
    server.answers(&[("event.get", wanted(json!({ "time_till": 100_999 })), json!([]))]);
}

#[test]
fn reads_the_index_of_the_time_alone() {
    let server = Server::start();
    let steps = Steps { from: 1_000, step_s: 100 };
    // The conditions of source and object as they are for all events of a time range.
    let condition = "+t.source = 0 AND +t.object = 0 AND t.clock >= 1000 AND t.clock <= 1299 \
                     AND t.value IN (1)";
    let sql = format!("EXPLAIN QUERY PLAN {}", steps.statement(condition));
    let plan = server.api.deps.config.read(|c| c.query(&sql, &[])).unwrap();
    assert!(plan[0].text("detail").contains("COVERING INDEX events_clock_eventid_"), "{plan:?}");
}

/// `cargo test --release -p api -- --ignored --nocapture steps_of_a_day` prints the CPU time.
#[test]
#[ignore = "prints a measurement"]
fn steps_of_a_day_with_100_000_problems() {
    let server = Server::start();
    let (group, [a, _]) = world(&server);
    server.write_state_sql(&[&format!(
        "INSERT INTO events (eventid, objectid, clock, value, severity, name) \
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) \
         SELECT i, {a}, 1000000 + i * 86400 / 200001, i % 2, i % 6, 'a problem' FROM n"
    )]);
    let of_day = wanted(json!({ "time_from": 1_000_000, "time_till": 1_086_399, "step": 1_800 }));
    let reader = server.user("reader", "1", &[(&group, 2)]);
    let admin = server.login("Admin", "zabbix");
    for (who, session) in [("super admin", &admin), ("user", &reader)] {
        let before = stdx::sys::thread_cpu_time();
        let groups = server.call_as(Some(session), "event.get", &of_day).unwrap();
        let took = stdx::sys::thread_cpu_time().saturating_sub(before);
        let total: i64 = groups
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["rowscount"].as_str().unwrap().parse::<i64>().unwrap())
            .sum();
        assert_eq!(total, 100_000);
        println!("{who}: {} groups, {took:?} CPU", groups.as_array().unwrap().len());
    }
}
