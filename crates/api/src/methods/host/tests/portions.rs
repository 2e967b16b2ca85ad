//! Templates that many hosts are linked to, some hosts in each change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, Once};

use config::db::DbError;
use serde_json::json;

use super::*;
use crate::call::User;
use crate::error::{ApiError, ApiResult};
use crate::owned::extent::deletions;
use crate::owned::inherited::{ITEMS, delete_from_hosts};

/// A template with two items, and hosts.
fn estate(server: &Server, hosts: usize) -> (u64, Vec<u64>) {
    let groups = json!({ "groupid": group(server, "g") });
    let of = server.create("templategroup.create", &json!({ "name": "t" }));
    let template = json!({ "host": "t", "groups": { "groupid": of } });
    let template = server.create("template.create", &template);
    for key in ["a", "b"] {
        let item =
            json!({ "hostid": template, "name": key, "key_": key, "type": 2, "value_type": 3 });
        server.create("item.create", &item);
    }
    let list: Vec<Json> =
        (0..hosts).map(|n| json!({ "host": format!("h{n}"), "groups": groups })).collect();
    let made = server.call("host.create", &json!(list)).unwrap();
    let id = |id: &Json| id.as_str().unwrap().parse().unwrap();
    let hosts = made["hostids"].as_array().unwrap().iter().map(id).collect();
    (template.parse().unwrap(), hosts)
}

/// Links the template with `portion` items in each change.
fn link(server: &Server, hosts: &[u64], template: u64, portion: usize) -> Result<(), String> {
    server.api.deps.config.set_portion(portion);
    let ids: Vec<Json> = hosts.iter().map(|id| json!({ "hostid": id })).collect();
    let input = json!({ "hosts": ids, "templates": { "templateid": template } });
    server.call("host.massadd", &input).map(drop).map_err(|error| error.1)
}

/// Unlinks it, and clears the hosts.
fn unlink(server: &Server, hosts: &[u64], template: u64, portion: usize) -> Result<(), String> {
    server.api.deps.config.set_portion(portion);
    let input = json!({ "hostids": hosts, "templateids_clear": template });
    server.call("host.massremove", &input).map(drop).map_err(|error| error.1)
}

/// An item in the order of changes.
const ITEM: u64 = 0;

/// Creates a host during `work`, which changes the items of these hosts one by one: it comes between them.
fn check_between(server: &Server, hosts: &[u64], name: &str, work: impl FnOnce()) {
    // The work goes on when the other thread runs.
    let ((portion, changed), once) = (sync_channel(0), Once::new());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let order = Arc::clone(&seen);
    server.api.deps.config.subscribe(Box::new(move |_, touched| {
        if !touched.is_monitored() {
            return; // The group.
        }
        let hosts = touched.hosts.iter().map(|host| host.0);
        order.lock().unwrap().extend(hosts.chain(touched.items.iter().map(|_| ITEM)));
        once.call_once(|| portion.send(()).unwrap());
    }));
    let groups = json!({ "groupid": group(server, name) });
    let other = std::thread::scope(|scope| {
        let other = scope.spawn(move || {
            changed.recv().unwrap();
            let host = json!({ "host": name, "groups": groups });
            server.create("host.create", &host).parse::<u64>().unwrap()
        });
        work();
        other.join().unwrap()
    });
    let seen = seen.lock().unwrap();
    let at = |host: u64| seen.iter().position(|seen| *seen == host).unwrap();
    assert!(at(other) > at(hosts[0]), "{name}: the work had begun");
    assert!(seen[at(other)..].contains(&ITEM), "{name}: the new host waited for the whole work");
}

#[test]
fn others_change_the_configuration_between_two_portions() {
    let server = Server::start();
    let (template, hosts) = estate(&server, 200);
    let items = || server.count("SELECT COUNT(*) AS n FROM items WHERE templateid > 0");
    check_between(&server, &hosts, "linked", || link(&server, &hosts, template, 1).unwrap());
    assert_eq!(items(), 400);
    check_between(&server, &hosts, "unlinked", || unlink(&server, &hosts, template, 1).unwrap());
    assert_eq!(items(), 0);
}

#[test]
fn updated_hosts_inherit_one_by_one() {
    for method in ["host.update", "host.massupdate"] {
        let server = Server::start();
        let (template, hosts) = estate(&server, 3);
        let config = &server.api.deps.config;
        config.set_portion(1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&order);
        config.subscribe(Box::new(move |_, touched| {
            seen.lock().unwrap().push(touched.items.len());
        }));
        let templates = json!({ "templateid": template });
        let ids: Vec<Json> = hosts.iter().map(|id| json!({ "hostid": id })).collect();
        let input = match method {
            "host.update" => {
                hosts.iter().map(|id| json!({ "hostid": id, "templates": templates })).collect()
            }
            _ => json!({ "hosts": ids, "templates": templates }),
        };
        server.call(method, &input).unwrap();
        assert_eq!(*order.lock().unwrap(), [0, 0, 0, 2, 2, 2], "{method}: links, then items");
        server.call(method, &input).unwrap();
        assert_eq!(server.count("SELECT COUNT(*) AS n FROM items WHERE templateid > 0"), 6);
    }
}

#[test]
fn shared_trigger_refuses_all_portions_of_unlinking() {
    let server = Server::start();
    let (template, hosts) = estate(&server, 4);
    let of = server.create("templategroup.create", &json!({ "name": "second" }));
    let second = json!({ "host": "second", "groups": { "groupid": of } });
    let second: u64 = server.create("template.create", &second).parse().unwrap();
    let item = json!({ "hostid": second, "name": "c", "key_": "c", "type": 2, "value_type": 3 });
    server.create("item.create", &item);
    let trigger = json!({ "description": "both", "expression": "last(/t/a)>last(/second/c)" });
    server.create("trigger.create", &trigger);
    for host in &hosts {
        let templates = json!([{ "templateid": template }, { "templateid": second }]);
        server.call("host.update", &json!({ "hostid": host, "templates": templates })).unwrap();
    }
    let refused = unlink(&server, &hosts, template, 2).unwrap_err();
    assert!(refused.contains("Cannot unlink template \"t\" without"), "{refused}");
    assert_eq!(
        server.count(
            "SELECT COUNT(*) AS n FROM host_templates WHERE hostid IN \
                            (SELECT hostid FROM hosts WHERE kind = 0)"
        ),
        8
    );
}

#[test]
fn inherited_objects_are_deleted_before_the_template_item() {
    let server = Server::start();
    let (template, hosts) = estate(&server, 5);
    link(&server, &hosts, template, 5).unwrap();
    let item = server.count("SELECT itemid AS n FROM items WHERE templateid = 0 AND key_ = 'a'");
    let item = u64::try_from(item).unwrap();
    let left = || server.count("SELECT COUNT(*) AS n FROM items WHERE key_ = 'a'");
    let delete = |check: fn(&mut config::Edit<'_>) -> ApiResult<()>| {
        server.with_call(User::system(), |call| delete_from_hosts(call, &ITEMS, &[item], 2, check))
    };
    delete(|_| Err(ApiError::params("refused"))).unwrap_err();
    assert_eq!(left(), 6);
    delete(|_| Ok(())).unwrap();
    assert_eq!(left(), 1, "the template's");
    let asked = server.asked.lock().unwrap();
    assert_eq!(asked.iter().filter(|what| what.starts_with("clear")).count(), 3, "{asked:?}");
}

#[test]
fn a_host_that_cannot_be_linked_refuses_all_portions() {
    let server = Server::start();
    let (template, hosts) = estate(&server, 5);
    let rule = json!({ "hostid": hosts[4].to_string(), "name": "b", "key_": "b", "type": 2 });
    server.create("discoveryrule.create", &rule);
    let refused = link(&server, &hosts, template, 2).unwrap_err();
    assert!(refused.contains("Cannot inherit item with key \"b\""), "{refused}");
    let links = "SELECT COUNT(*) AS n FROM host_templates";
    assert_eq!(server.count(links), 0);
    link(&server, &hosts[..4], template, 3).unwrap();
    assert_eq!(server.count(links), 4);
}

#[test]
fn deletions_take_hosts_together_up_to_a_number_of_items() {
    let server = Server::start();
    let (template, hosts) = estate(&server, 5);
    link(&server, &hosts[..4], template, 4).unwrap();
    let sizes = |items_max| {
        server.with_call(User::system(), |call| {
            let portions = deletions(call, &hosts, items_max).unwrap();
            assert_eq!(portions.concat(), hosts);
            portions.iter().map(|portion| portion.len()).collect::<Vec<_>>()
        })
    };
    assert_eq!(sizes(8), [5]);
    assert_eq!(sizes(5), [2, 3]);
    assert_eq!(sizes(1), [1; 5]);
}

#[test]
fn emptied_maintenance_refuses_all_portions_of_a_deletion() {
    let server = Server::start();
    let (template, hosts) = estate(&server, 60);
    let items = (0..100).map(|n| {
        json!({ "hostid": template, "name": n.to_string(), "key_": format!("k[{n}]"), "type": 2,
                "value_type": 3 })
    });
    server.call("item.create", &json!(items.collect::<Vec<_>>())).unwrap();
    link(&server, &hosts, template, 5_000).unwrap();
    let ids: Vec<String> = hosts.iter().map(u64::to_string).collect();
    let members: Vec<Json> = ids.iter().map(|id| json!({ "hostid": id })).collect();
    let maintenance = json!({
        "name": "night", "active_since": 1_700_000_000, "active_till": 1_800_000_000,
        "hosts": members, "timeperiods": [{ "period": 3600 }],
    });
    let maintenance = server.create("maintenance.create", &maintenance);
    let refused = server.call("host.delete", &json!(ids)).unwrap_err();
    assert!(refused.1.contains("because maintenance \"night\" must contain"), "{}", refused.1);
    let left = || server.count("SELECT COUNT(*) AS n FROM hosts WHERE host LIKE 'h%'");
    assert_eq!(left(), 60);
    server.call("maintenance.delete", &json!([maintenance])).unwrap();
    server.call("host.delete", &json!(ids)).unwrap();
    assert_eq!(left(), 0);
}

#[test]
fn refused_sync_stops_no_portion() {
    let full = Arc::new(AtomicBool::new(false));
    let server = Server::with_failing_disk(&full);
    let (template, hosts) = estate(&server, 3);
    full.store(true, Ordering::SeqCst);
    let inherited = || server.count("SELECT COUNT(*) AS n FROM items WHERE templateid > 0");
    // Whether the disk confirms them is another question.
    let _ = link(&server, &hosts, template, 1);
    assert_eq!(inherited(), 6);
    let _ = unlink(&server, &hosts, template, 1);
    assert_eq!(inherited(), 0);
    let cleared = || {
        let asked = server.asked.lock().unwrap();
        asked.iter().filter(|what| what.starts_with("clear")).count()
    };
    assert_eq!(cleared(), 3, "the history of what was unlinked");
}

#[test]
fn unconfirmed_change_is_made_and_reported() {
    let full = Arc::new(AtomicBool::new(false));
    let server = Server::with_failing_disk(&full);
    let (_, hosts) = estate(&server, 1);
    let item = json!({ "hostid": hosts[0].to_string(), "name": "a", "key_": "a", "type": 2,
        "value_type": 3 });
    let item = server.create("item.create", &item);
    let other = server.user("u", "1", &[]);
    let userid = server.count("SELECT userid AS n FROM users WHERE username = 'u'").to_string();
    let promotion = json!({ "userid": userid, "roleid": "3" });
    let config = &server.api.deps.config;
    let left = format!("SELECT COUNT(*) AS n FROM items WHERE itemid = {item}");
    full.store(true, Ordering::SeqCst);
    // A reader of an old state keeps the log from being written again, as a broken disk does.
    let hurry: ApiResult<()> =
        config.write(|edit| Ok(edit.unrecorded().batch("PRAGMA busy_timeout = 0")?));
    hurry.unwrap();
    let refused = config.read(|connection| {
        connection.query("BEGIN", &[]).unwrap();
        connection.query(&left, &[]).unwrap();
        let refused = [
            server.call("item.delete", &json!([item])).unwrap_err(),
            server.call("user.update", &promotion).unwrap_err(),
        ];
        connection.query("ROLLBACK", &[]).unwrap();
        Ok::<_, DbError>(refused)
    });
    for (code, text) in refused.unwrap() {
        assert_eq!(code, -32500);
        assert!(text.contains("The change was made, but the disk did not confirm it"), "{text}");
    }
    assert_eq!(server.count(&left), 0);
    assert!(server.asked.lock().unwrap().contains(&format!("clear [ItemId({item})]")));
    let groups = json!({ "name": "made with the new rights" });
    assert!(server.call_as(Some(&other), "hostgroup.create", &groups).is_ok());
    full.store(false, Ordering::SeqCst);
    server.create("hostgroup.create", &json!({ "name": "the disk works again" }));
}
