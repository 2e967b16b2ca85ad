use serde_json::json;

use crate::testing::Server;

#[test]
fn a_maintenance_lives() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host =
        server.create("host.create", &json!({ "host": "h", "groups": [{ "groupid": group }] }));
    let period = json!({ "timeperiod_type": 3, "dayofweek": 64, "start_time": 64_830 });
    let made = json!({
        "name": "weekly", "active_since": 1_700_000_030, "active_till": 1_800_000_000,
        "groups": [{ "groupid": group }], "hosts": [{ "hostid": host }],
        "timeperiods": [period], "tags": [{ "tag": "scope", "value": "x" }],
    });
    let id = server.create("maintenance.create", &made);
    let get = |options: serde_json::Value| server.call("maintenance.get", &options).unwrap();
    // Times are whole minutes.
    assert_eq!(
        get(json!({ "selectTimeperiods": "extend", "selectTags": "extend", "hostids": host }))[0],
        json!({
            "maintenanceid": id, "name": "weekly", "maintenance_type": "0", "description": "",
            "active_since": "1699999980", "active_till": "1800000000", "tags_evaltype": "0",
            "timeperiods": [{
                "timeperiod_type": "3", "every": "1", "month": "0", "dayofweek": "64", "day": "0",
                "start_time": "64800", "period": "3600", "start_date": "0",
            }],
            "tags": [{ "tag": "scope", "operator": "2", "value": "x" }],
        })
    );
    server.call("maintenance.update", &json!({
        "maintenanceid": id, "maintenance_type": 1, "tags": [], "hosts": [],
        "timeperiods": [{ "timeperiod_type": 0, "start_date": 1_750_000_000, "period": 600 }],
    })).unwrap();
    let shown = get(json!({
        "output": ["maintenance_type"], "selectHosts": ["host"], "selectHostGroups": ["name"],
        "selectTags": "extend", "selectTimeperiods": ["period"],
    }));
    assert_eq!(
        shown,
        json!([{
            "maintenanceid": id, "maintenance_type": "1", "hosts": [],
            "hostgroups": [{ "name": "g" }], "tags": [], "timeperiods": [{ "period": "600" }],
        }])
    );
    let with = |change: serde_json::Value| {
        let mut one = made.clone();
        let members = change.as_object().unwrap().clone();
        one.as_object_mut().unwrap().extend(members);
        one
    };
    let periods = |one: serde_json::Value| with(json!({ "name": "n", "timeperiods": [one] }));
    server.refuses(&[
        ("maintenance.create", made.clone(), -32602, "Maintenance \"weekly\" already exists."),
        (
            "maintenance.create",
            with(json!({ "name": "n", "active_till": 1_700_000_000 })),
            -32602,
            "/1/active_till\": cannot be less than or equal to",
        ),
        (
            "maintenance.create",
            with(json!({ "name": "n", "groups": [], "hosts": [] })),
            -32602,
            "At least one host group or host",
        ),
        (
            "maintenance.create",
            with(json!({ "name": "n", "maintenance_type": 1 })),
            -32602,
            "/1/tags",
        ),
        ("maintenance.create", periods(json!({ "timeperiod_type": 1 })), -32602, "0, 2, 3, 4"),
        ("maintenance.create", periods(json!({ "period": 60 })), -32602, "/1/timeperiods/1/period"),
        ("maintenance.create", periods(json!({ "timeperiod_type": 3 })), -32602, "\"dayofweek\""),
        ("maintenance.create", periods(json!({ "timeperiod_type": 4 })), -32602, "\"month\""),
        (
            "maintenance.create",
            periods(json!({ "timeperiod_type": 4, "month": 1 })),
            -32602,
            "\"day\"",
        ),
        ("maintenance.update", json!({ "maintenanceid": "999" }), -32500, "No permissions"),
        ("maintenance.delete", json!(["999"]), -32500, "No permissions"),
    ]);
    server.call("maintenance.delete", &json!([id])).unwrap();
    assert_eq!(get(json!({ "countOutput": true })), json!("0"));
}

#[test]
fn its_last_hosts_and_groups_stay() {
    let server = Server::start();
    let group = |name: &str| server.create("hostgroup.create", &json!({ "name": name }));
    let (home, alone, shared) = (group("home"), group("alone"), group("shared"));
    let host = |name: &str| {
        let new = json!({ "host": name, "groups": [{ "groupid": home }] });
        server.create("host.create", &new)
    };
    let (a, b, c) = (host("a"), host("b"), host("c"));
    let plan = |name: &str, hosts: &[&String], groups: &[&String]| {
        let hosts: Vec<_> = hosts.iter().map(|id| json!({ "hostid": id })).collect();
        let groups: Vec<_> = groups.iter().map(|id| json!({ "groupid": id })).collect();
        let new = json!({
            "name": name, "active_since": 1_700_000_000, "active_till": 1_800_000_000,
            "hosts": hosts, "groups": groups, "timeperiods": [{ "period": 600 }],
        });
        server.create("maintenance.create", &new)
    };
    plan("two hosts", &[&a, &b], &[]);
    plan("one group", &[], &[&alone]);
    plan("both", &[&c], &[&shared]);
    let last = "because maintenance \"two hosts\" must contain at least one host or host group.";
    server.refuses(&[
        (
            "host.delete",
            json!([a, b, c]),
            -32602,
            &format!("Cannot delete hosts \"a\", \"b\" {last}"),
        ),
        (
            "hostgroup.delete",
            json!([alone]),
            -32602,
            "Cannot delete host group \"alone\" because maintenance \"one group\" must contain",
        ),
    ]);
    server.call("host.delete", &json!([a])).unwrap();
    server.refuses(&[(
        "host.delete",
        json!([b]),
        -32602,
        &format!("Cannot delete host \"b\" {last}"),
    )]);
    server.call("hostgroup.delete", &json!([shared])).unwrap();
    server.refuses(&[("host.delete", json!([c]), -32602, "maintenance \"both\"")]);
}

#[test]
fn maintenances_are_found_by_state() {
    let server = Server::start();
    let now = 1_800_000_000;
    let groups =
        ["seen", "hidden"].map(|name| server.create("hostgroup.create", &json!({ "name": name })));
    let plan = |name: &str, group: &String, since: i64, till: i64, period: serde_json::Value| {
        server.create(
            "maintenance.create",
            &json!({
                "name": name, "active_since": since, "active_till": till,
                "groups": [{ "groupid": group }], "timeperiods": [period],
            }),
        );
    };
    let once = |start: i64| json!({ "start_date": start, "period": 3_600 });
    let [seen, hidden] = &groups;
    plan("z ends soon", seen, now - 9_000, now + 600, once(now - 1_800));
    plan("a ends late", seen, now - 9_000, now + 90_000, once(now - 600));
    plan("z starts soon", seen, now - 9_000, now + 90_000, once(now + 600));
    plan("a starts late", hidden, now + 6_000, now + 90_000, once(now + 6_000));
    // Its period is over, though it is active.
    plan("a past period", seen, now - 90_000, now + 60_000, once(now - 80_000));
    plan("z over", seen, now - 90_000, now - 60_000, once(now - 80_000));
    // 30 February never comes.
    let never = json!({ "timeperiod_type": 4, "month": 2, "day": 30 });
    plan("b never", seen, now - 90_000, now + 70_000, never);
    let names = |options: serde_json::Value| {
        let mut all = json!({ "output": ["name"] });
        all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let found = server.call("maintenance.get", &all).unwrap();
        let name = |row: &serde_json::Value| row["name"].as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    let ended = ["b never", "a past period", "z over"];
    assert_eq!(names(json!({ "states": ["active"] })), ["z ends soon", "a ends late"]);
    assert_eq!(names(json!({ "states": "upcoming" })), ["z starts soon", "a starts late"]);
    assert_eq!(names(json!({ "states": ["ended"] })), ended);
    assert_eq!(
        names(json!({ "states": ["ended", "active", "upcoming"], "offset": 1, "limit": 3 })),
        ["a ends late", "z starts soon", "a starts late"]
    );
    let by_name = json!({ "states": ["ended"], "sortfield": "name", "limit": 2 });
    assert_eq!(names(by_name), ["a past period", "b never"]);
    assert_eq!(names(json!({ "states": ["ended"], "search": { "name": "z" } })), ["z over"]);
    assert_eq!(names(json!({ "states": [] })), [""; 0]);
    let count = |states: serde_json::Value| json!({ "states": states, "countOutput": true });
    server.answers(&[
        ("maintenance.get", count(json!(["active"])), json!("2")),
        ("maintenance.get", count(json!(["upcoming"])), json!("2")),
        ("maintenance.get", count(json!(["ended"])), json!("3")),
        ("maintenance.get", count(json!(null)), json!("7")),
    ]);
    server.refuses(&[("maintenance.get", count(json!(["active", "over"])), -32602, "/states/2")]);
    let reader = server.user("reader", "2", &[(seen, 2)]);
    let upcoming = count(json!(["upcoming"]));
    assert_eq!(server.call_as(Some(&reader), "maintenance.get", &upcoming).unwrap(), "1");
}

#[test]
fn hosts_and_groups_are_found_by_their_maintenance() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = json!({ "host": "h", "groups": { "groupid": group } });
    let host = server.create("host.create", &host);
    let maintenance = |name: &str, member: &str, of: serde_json::Value| {
        let params = json!({
            "name": name, "active_since": 1_800_000_000, "active_till": 1_800_100_000,
            "timeperiods": [{ "period": 3600 }], member: of,
        });
        server.create("maintenance.create", &params)
    };
    let of_host = maintenance("host", "hosts", json!([{ "hostid": host }]));
    let of_group = maintenance("group", "groups", json!([{ "groupid": group }]));
    let (found, none) = (json!([{ "hostid": host }]), json!([]));
    let groups = json!([{ "groupid": group }]);
    for (method, key, id, expected) in [
        ("host.get", "hostid", &of_host, &found),
        ("host.get", "hostid", &of_group, &none),
        ("hostgroup.get", "groupid", &of_host, &none),
        ("hostgroup.get", "groupid", &of_group, &groups),
    ] {
        let params = json!({ "maintenanceids": id, "output": [key] });
        assert_eq!(server.call(method, &params).unwrap(), *expected, "{method} {id}");
    }
}
