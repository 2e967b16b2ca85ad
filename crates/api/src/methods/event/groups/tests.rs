use serde_json::json;

use crate::Json;
use crate::testing::Server;

/// Hosts `a` and `b`, a trigger on two items of `a`, one on `b`, and one on both hosts.
fn world(server: &Server) -> ([String; 2], [String; 3]) {
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = |name: &str| {
        let host = json!({ "host": name, "groups": { "groupid": group } });
        let hostid = server.create("host.create", &host);
        for key in ["t", "u"] {
            let item =
                json!({ "hostid": hostid, "name": key, "key_": key, "type": 2, "value_type": 3 });
            server.create("item.create", &item);
        }
        hostid
    };
    let hosts = [host("a"), host("b")];
    let trigger = |name: &str, expression: &str| {
        server.create("trigger.create", &json!({ "description": name, "expression": expression }))
    };
    let triggers = [
        trigger("1", "last(/a/t)>0 or last(/a/u)>0"),
        trigger("2", "last(/b/t)>0"),
        trigger("3", "last(/a/t)>0 and last(/b/t)>0"),
    ];
    (hosts, triggers)
}

/// Opens a problem: its id, trigger, time, severity, name, whether it is acknowledged, and values of the tag
/// `site`.
fn open(server: &Server, id: i64, what: (&String, i64, i64, &str, bool), sites: &[&str]) {
    let (trigger, clock, severity, name, acknowledged) = what;
    let columns = "(eventid, objectid, clock, severity, name, acknowledged)";
    let row =
        format!("({id}, {trigger}, {clock}, {severity}, '{name}', {})", i64::from(acknowledged));
    for table in ["events", "problems"] {
        server.write_state_sql(&[&format!("INSERT INTO {table} {columns} VALUES {row}")]);
    }
    for (at, site) in sites.iter().enumerate() {
        server.write_state_sql(&[&format!(
            "INSERT INTO event_tags (eventtagid, eventid, tag, value) \
             VALUES ({}, {id}, 'site', '{site}')",
            id * 10 + i64::try_from(at).unwrap()
        )]);
    }
}

fn group(key: &str, name: &str, severities: [u8; 6], unacknowledged: u8, clocks: [u32; 2]) -> Json {
    json!({
        "key": key, "name": name,
        "severities": severities.map(|n| n.to_string()),
        "rowscount": severities.iter().sum::<u8>().to_string(),
        "unacknowledged": unacknowledged.to_string(),
        "first_clock": clocks[0].to_string(), "last_clock": clocks[1].to_string(),
    })
}

#[test]
fn the_group_with_the_gravest_problems_is_first() {
    let server = Server::start();
    let ([a, b], [on_a, on_b, on_both]) = world(&server);
    open(&server, 1, (&on_a, 100, 2, "slow", false), &["riga", "oslo"]);
    open(&server, 2, (&on_a, 200, 2, "slow", true), &["riga"]);
    open(&server, 3, (&on_b, 300, 4, "down", false), &["oslo", "oslo"]);
    open(&server, 4, (&on_both, 50, 2, "slow", false), &[]);
    open(&server, 5, (&on_b, 400, 5, "over", false), &[]);
    server.write_state_sql(&["UPDATE problems SET r_eventid = 6, r_clock = 500 WHERE eventid = 5"]);
    let ask = |input: Json, count: &str, groups: &[Json]| {
        let answer = server.call("problem.groups", &input).unwrap();
        assert_eq!(answer, json!({ "rowscount": count, "groups": groups }), "{input}");
    };
    let of_a = group(&a, "a", [0, 0, 3, 0, 0, 0], 2, [50, 200]);
    let of_b = group(&b, "b", [0, 0, 1, 0, 1, 0], 2, [50, 300]);
    ask(json!({ "groupBy": "host" }), "2", &[of_b.clone(), of_a]);
    ask(json!({ "groupBy": "host", "limit": 1 }), "2", &[of_b]);
    let of_a = group(&a, "a", [0, 0, 2, 0, 0, 0], 1, [100, 200]);
    ask(json!({ "groupBy": "host", "objectids": on_a }), "1", &[of_a]);
    let groups = server.text("SELECT groupid FROM groups_ WHERE name = 'g'");
    let all = group(&groups, "g", [0, 0, 3, 0, 1, 0], 3, [50, 300]);
    ask(json!({ "groupBy": "group" }), "1", &[all]);
    let names = [
        group("down", "down", [0, 0, 0, 0, 1, 0], 1, [300, 300]),
        group("slow", "slow", [0, 0, 3, 0, 0, 0], 2, [50, 200]),
    ];
    ask(json!({ "groupBy": "name" }), "2", &names);
    let sites = [
        group("oslo", "oslo", [0, 0, 1, 0, 1, 0], 2, [100, 300]),
        group("riga", "riga", [0, 0, 2, 0, 0, 0], 1, [100, 200]),
        group("", "", [0, 0, 1, 0, 0, 0], 1, [50, 50]),
    ];
    ask(json!({ "groupBy": "tag", "groupTag": "site" }), "3", &sites);
    ask(json!({ "groupBy": "name", "severities": [5] }), "0", &[]);
}

#[test]
fn unknown_groupings_are_refused() {
    Server::start().refuses(&[
        ("problem.groups", json!({}), -32602, "the parameter \"groupBy\" is missing"),
        ("problem.groups", json!({ "groupBy": "site" }), -32602, "value must be one of"),
        ("problem.groups", json!({ "groupBy": "tag" }), -32602, "\"groupTag\" is missing"),
        ("problem.groups", json!({ "groupBy": "host", "limit": -1 }), -32602, "positive number"),
        ("problem.groups", json!({ "groupBy": "host", "nope": 1 }), -32602, "unexpected parameter"),
    ]);
}
