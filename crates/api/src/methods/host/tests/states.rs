use std::time::Duration;

use model::ItemId;
use serde_json::json;

use crate::Json;
use crate::testing::Server;

/// Hosts a (two problems, one suppressed), b (problem on a trigger shared with a), c (a value, no
/// problem), d (never a value), e (disabled). Ids of hosts and of the item of each.
fn fleet(server: &Server) -> (Vec<String>, Vec<String>) {
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let mut hosts = Vec::new();
    let mut items = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        let host = json!({ "host": name, "groups": { "groupid": group },
            "status": u8::from(name == "e") });
        hosts.push(server.create("host.create", &host));
        let item = json!({ "name": "n", "key_": "n", "hostid": hosts.last(), "type": 2,
            "value_type": 3 });
        items.push(server.create("item.create", &item));
    }
    let trigger = |name: &str, expression: &str, priority: u8| {
        let members =
            json!({ "description": name, "expression": expression, "priority": priority });
        server.create("trigger.create", &members)
    };
    let average = trigger("average", "last(/a/n)>0 and last(/a/n)>1", 3);
    let warning = trigger("warning", "last(/a/n)>0 and last(/b/n)>0", 2);
    let silenced = trigger("silenced", "last(/a/n)>5", 5);
    for (event, trigger, severity) in [(11, &average, 3), (12, &warning, 2), (13, &silenced, 5)] {
        server.write_state_sql(&[
            &format!(
                "INSERT INTO events (eventid, source, object, objectid, clock, value, severity, \
                 name) VALUES ({event}, 0, 0, {trigger}, 1799999000, 1, {severity}, 'p')"
            ),
            &format!(
                "INSERT INTO problems (eventid, source, object, objectid, clock, severity, name) \
                 VALUES ({event}, 0, 0, {trigger}, 1799999000, {severity}, 'p')"
            ),
        ]);
    }
    server.write_sql(&["INSERT INTO maintenances (maintenanceid, name) VALUES (1, 'm')"]);
    server.write_state_sql(&["INSERT INTO event_suppress (eventid, maintenanceid) VALUES (13, 1)"]);
    (hosts, items)
}

fn counts(numbers: [u8; 6]) -> Json {
    numbers.iter().map(ToString::to_string).collect()
}

#[test]
fn problems_are_counted_by_severity_and_unknown_hosts_named() {
    let server = Server::start();
    let (hosts, items) = fleet(&server);
    *server.valued.lock().unwrap() = vec![ItemId(items[2].parse().unwrap())];
    let state = |n: usize, data: &str, problems: [u8; 6]| json!({ "hostid": hosts[n], "data": data, "problems": counts(problems) });
    let worst = |n: usize, name: &str, problems: [u8; 6]| json!({ "hostid": hosts[n], "name": name, "problems": counts(problems) });
    let (two, one) = ([0, 0, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0]);
    server.answers(&[
        (
            "host.states",
            json!({ "hostids": hosts }),
            json!([
                state(0, "0", two),
                state(1, "0", one),
                state(2, "1", [0; 6]),
                state(3, "0", [0; 6]),
                state(4, "0", [0; 6])
            ]),
        ),
        (
            "host.summary",
            json!({ "limit": 1 }),
            json!({ "hosts": "5", "disabled": "1", "problems": "2", "ok": "1", "unknown": "1",
                "worst": [worst(0, "a", two)] }),
        ),
        ("problem.counts", json!({ "suppressed": false }), counts(two)),
        ("problem.counts", json!({}), counts([0, 0, 1, 1, 0, 1])),
        ("problem.counts", json!({ "hostids": hosts[1] }), counts(one)),
    ]);
    // The first value of a host is seen within seconds.
    server.valued.lock().unwrap().push(ItemId(items[3].parse().unwrap()));
    server.clock.advance(Duration::from_secs(10));
    let summary = server.call("host.summary", &json!({})).unwrap();
    assert_eq!((&summary["ok"], &summary["unknown"]), (&json!("2"), &json!("0")));
    server.valued.lock().unwrap().clear();
    server.clock.advance(Duration::from_secs(300));
    let summary = server.call("host.summary", &json!({})).unwrap();
    assert_eq!((&summary["ok"], &summary["unknown"]), (&json!("0"), &json!("2")));
    server.refuses(&[
        ("host.states", json!({}), -32602, "\"hostids\" is missing"),
        ("host.states", json!({ "hostids": vec!["1"; 1_001] }), -32602, "array size is 1000"),
        ("host.summary", json!({ "hostids": [] }), -32602, "unexpected parameter"),
    ]);
}

#[test]
fn states_of_groups_count_all_of_their_hosts() {
    let server = Server::start();
    let (hosts, items) = fleet(&server);
    *server.valued.lock().unwrap() = vec![ItemId(items[2].parse().unwrap())];
    let group = server.text("SELECT groupid FROM groups_ WHERE name = 'g'");
    let empty = server.create("hostgroup.create", &json!({ "name": "empty" }));
    let state = |group: &str, numbers: [&str; 3], problems: [u8; 6]| {
        let [hosts, monitored, with_data] = numbers;
        json!({ "groupid": group, "hosts": hosts, "monitored": monitored,
                "with_data": with_data, "problems": counts(problems) })
    };
    let some = state(&group, ["5", "4", "1"], [0, 0, 1, 1, 0, 0]);
    server.answers(&[(
        "hostgroup.states",
        json!({ "groupids": [empty, group] }),
        json!([some, state(&empty, ["0", "0", "0"], [0; 6])]),
    )]);
    // Problems of hosts that are not monitored do not count.
    server.call("host.update", &json!({ "hostid": hosts[0], "status": 1 })).unwrap();
    let some = state(&group, ["5", "3", "1"], [0, 0, 1, 0, 0, 0]);
    server.answers(&[("hostgroup.states", json!({ "groupids": group }), json!([some]))]);
    let stranger = server.user("stranger", "1", &[]);
    let hidden = json!({ "groupids": [group] });
    assert_eq!(server.call_as(Some(&stranger), "hostgroup.states", &hidden).unwrap(), json!([]));
    server.refuses(&[
        ("hostgroup.states", json!({}), -32602, "\"groupids\" is missing"),
        ("hostgroup.states", json!({ "groupids": vec!["1"; 1_001] }), -32602, "array size is 1000"),
    ]);
}

#[test]
fn states_of_hosts_without_permission_are_hidden() {
    let server = Server::start();
    let (hosts, _) = fleet(&server);
    let group = server.create("usergroup.create", &json!({ "name": "strangers" }));
    let user = json!({ "username": "stranger", "passwd": "Long-enough-1", "roleid": "1",
        "usrgrps": [{ "usrgrpid": group }] });
    server.create("user.create", &user);
    let session = server.login("stranger", "Long-enough-1");
    let ask = |method: &str, params: Json| server.call_as(Some(&session), method, &params).unwrap();
    assert_eq!(ask("host.states", json!({ "hostids": hosts })), json!([]));
    let none = json!({ "hosts": "0", "disabled": "0", "problems": "0", "ok": "0", "unknown": "0",
        "worst": [] });
    assert_eq!(ask("host.summary", json!({})), none);
    assert_eq!(ask("problem.counts", json!({})), counts([0; 6]));
}

#[test]
fn windows_of_lists_begin_at_an_offset() {
    let server = Server::start();
    let (hosts, _) = fleet(&server);
    let ids = |method: &str, key: &str, params: Json| -> Vec<String> {
        let rows = server.call(method, &params).unwrap();
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row[key].as_str().unwrap().to_owned()).collect()
    };
    let window = |offset: u8, limit: Json| {
        json!({ "output": ["hostid"], "hostids": hosts, "sortfield": "name",
            "offset": offset, "limit": limit })
    };
    assert_eq!(ids("host.get", "hostid", window(1, json!(2))), hosts[1..3]);
    assert_eq!(ids("host.get", "hostid", window(3, Json::Null)), hosts[3..]);
    assert_eq!(ids("host.get", "hostid", window(9, json!(2))), Vec::<String>::new());
    let by_severity = |offset: u8| {
        json!({ "output": ["eventid"], "sortfield": ["severity", "eventid"],
            "sortorder": "DESC", "limit": 2, "offset": offset })
    };
    assert_eq!(ids("problem.get", "eventid", by_severity(0)), ["13", "11"]);
    assert_eq!(ids("problem.get", "eventid", by_severity(1)), ["11", "12"]);
    assert_eq!(ids("event.get", "eventid", by_severity(0)), ["13", "11"]);
    server.refuses(&[
        ("problem.get", json!({ "offset": -1 }), -32602, "/offset"),
        ("problem.get", json!({ "sortfield": "name" }), -32602, "must be \"eventid\"."),
    ]);
}
