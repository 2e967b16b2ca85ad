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
