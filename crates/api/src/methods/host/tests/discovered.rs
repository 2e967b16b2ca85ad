//! Hosts made by discovery, which follow their prototypes; texts as the reference gives them.

use super::*;

/// A server with the host `h` that discovery made, its id, its interface's and its group's.
fn scene() -> (Server, String, String, String) {
    let server = Server::start();
    let g = group(&server, "g");
    let new = json!({ "host": "h", "groups": { "groupid": g }, "interfaces": [interface(1, "1")] });
    let h = server.create("host.create", &new);
    server.write_sql(&["UPDATE hosts SET flags = 4 WHERE host = 'h'"]);
    let found = server.call("hostinterface.get", &json!({ "hostids": h })).unwrap();
    let i = found[0]["interfaceid"].as_str().unwrap().to_owned();
    (server, h, i, g)
}

#[test]
fn what_follows_the_prototype_is_refused() {
    let (server, h, i, g) = scene();
    let all = json!({ "hostid": h, "status": 1, "description": "d", "tags": [{ "tag": "t" }],
                      "macros": [{ "macro": "{$A}", "value": "1" }], "templates": [] });
    server.call("host.update", &all).unwrap();
    for (field, value) in [
        ("host", json!("new")),
        ("name", json!("h")),
        ("groups", json!([{ "groupid": g }])),
        ("interfaces", json!([{ "interfaceid": i }])),
        ("tls_connect", json!(1)),
        ("ipmi_username", json!("u")),
        ("monitored_by", json!(0)),
        ("inventory_mode", json!(1)),
    ] {
        let host = if field == "host" { "new" } else { "h" };
        let text = format!("Cannot update \"{field}\" for a discovered host \"{host}\".");
        let change = json!({ "hostid": h, "status": 0, field: value });
        assert_eq!(server.call("host.update", &change), Err((-32602, text)));
        let text = format!(
            "Invalid parameter \"/hosts/1\": cannot update readonly parameter \"{field}\" of \
             discovered object."
        );
        let change = json!({ "hosts": [{ "hostid": h }], "status": 0, field: value });
        assert_eq!(server.call("host.massupdate", &change), Err((-32602, text)));
    }
    let mass = json!({ "hosts": [{ "hostid": h }], "status": 0 });
    server.call("host.massupdate", &mass).unwrap();
}

#[test]
fn groups_and_interfaces_stay() {
    let (server, h, i, g) = scene();
    let own = json!({ "host": "own", "groups": { "groupid": g } });
    let own = server.create("host.create", &own);
    let other = group(&server, "other");
    let both = json!([{ "hostid": own }, { "hostid": h }]);
    let (groups, list) = (json!([{ "groupid": other }]), json!([interface(1, "2")]));
    let readonly = |path: &str, field: &str| {
        format!("\"{path}\": cannot update readonly parameter \"{field}\" of discovered object")
    };
    let (in_hosts, in_ids) = (readonly("/hosts/2", "groups"), readonly("/hostids/2", "groups"));
    let (add, remove) = (readonly("/hosts/2", "interfaces"), readonly("/hostids/2", "interfaces"));
    let update = "Cannot update interface for discovered host \"h\".";
    let delete = "Cannot delete interface for discovered host \"h\".";
    let ids = json!([own, h]);
    let mut new = interface(1, "2");
    new["hostid"] = json!(h);
    let of = |hosts: Json, more: Json| {
        let mut all = hosts;
        for (name, value) in more.as_object().unwrap() {
            all[name] = value.clone();
        }
        all
    };
    let (hosts, hostids) = (json!({ "hosts": both }), json!({ "hostids": ids }));
    for (method, params, text) in [
        ("host.massadd", of(hosts.clone(), json!({ "groups": groups })), in_hosts.clone()),
        ("host.massadd", of(hosts.clone(), json!({ "interfaces": list })), add),
        ("host.massremove", of(hostids.clone(), json!({ "groupids": [g] })), in_ids.clone()),
        ("host.massremove", of(hostids.clone(), json!({ "interfaces": list })), remove),
        ("hostgroup.massadd", of(hosts.clone(), json!({ "groups": groups })), in_hosts.clone()),
        ("hostgroup.massupdate", of(hosts.clone(), json!({ "groups": groups })), in_hosts),
        ("hostgroup.massremove", of(hostids.clone(), json!({ "groupids": [g] })), in_ids),
        ("hostinterface.create", new, update.to_owned()),
        ("hostinterface.update", json!({ "interfaceid": i, "port": "2" }), update.to_owned()),
        ("hostinterface.delete", json!([i]), delete.to_owned()),
        ("hostinterface.massadd", of(hosts, json!({ "interfaces": list })), update.to_owned()),
        ("hostinterface.massremove", of(hostids, json!({ "interfaces": list })), delete.to_owned()),
        (
            "hostinterface.replacehostinterfaces",
            json!({ "hostid": h, "interfaces": list }),
            update.to_owned(),
        ),
    ] {
        server.refuses(&[(method, params, -32602, &text)]);
    }
    let empty = json!({ "hosts": both, "groups": [], "interfaces": [],
                        "macros": [{ "macro": "{$A}", "value": "1" }] });
    server.call("host.massadd", &empty).unwrap();
}
