//! Alerts that the server has stored.

use serde_json::{Value as Json, json};

use crate::testing::Server;

/// A host `h` with an item, a trigger, and events of all sources with an alert each; ids are in the answer:
/// group, host, trigger.
fn world(server: &Server) -> (String, String, String) {
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host =
        server.create("host.create", &json!({ "host": "h", "groups": { "groupid": group } }));
    let item = json!({ "hostid": host, "name": "t", "key_": "t", "type": 2, "value_type": 3 });
    let item = server.create("item.create", &item);
    let trigger = json!({ "description": "t", "expression": "last(/h/t)>0" });
    let trigger = server.create("trigger.create", &trigger);
    for (event, source, object, objectid) in [
        (1, 0, 0, trigger.as_str()),
        (2, 3, 4, &item),
        (3, 1, 1, "7"),
        (4, 4, 6, "7"),
        (5, 0, 0, &trigger),
    ] {
        server.write_state_sql(&[&format!(
            "INSERT INTO events (eventid, source, object, objectid, value, clock) \
             VALUES ({event}, {source}, {object}, {objectid}, 1, 1)"
        )]);
    }
    for (alert, event, user, kind) in
        [(1, 1, 1, 1), (2, 2, 1, 1), (3, 3, 1, 1), (4, 4, 1, 1), (5, 1, 0, 0), (6, 5, 2, 4)]
    {
        server.write_state_sql(&[&format!(
            "INSERT INTO alerts (alertid, actionid, eventid, userid, mediatypeid, clock, sendto, subject, status) \
             VALUES ({alert}, 9, {event}, {user}, {kind}, {}, 'a', 'Problem {event}', 1)", 100 + alert
        )]);
    }
    (group, host, trigger)
}

fn ids(found: &Json) -> Vec<&str> {
    found.as_array().unwrap().iter().map(|one| one["alertid"].as_str().unwrap()).collect()
}

#[test]
fn alerts_are_counted_by_event() {
    let server = Server::start();
    world(&server);
    let count = |more: Json| {
        let mut params = json!({ "countOutput": true, "groupCount": true });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("alert.get", params)
    };
    let by_event =
        json!([{ "rowscount": "2", "eventid": "1" }, { "rowscount": "1", "eventid": "5" }]);
    for ((method, params), result) in [
        (count(json!({})), json!([{ "rowscount": "3" }])),
        (count(json!({ "mediatypeids": "4" })), json!([{ "rowscount": "1" }])),
        (count(json!({ "eventids": ["1", "5", "9"] })), by_event),
        (count(json!({ "eventids": ["9"] })), json!([])),
        (("alert.get", json!({ "countOutput": true })), json!("3")),
    ] {
        server.answers(&[(method, params, result)]);
    }
}

#[test]
fn alerts_are_found_by_what_they_are_about() {
    let server = Server::start();
    let (group, host, trigger) = world(&server);
    for (options, found) in [
        (json!({}), &["1", "5", "6"][..]),
        (json!({ "eventsource": 3, "eventobject": 4 }), &["2"]),
        (json!({ "eventsource": 3 }), &[]),
        (json!({ "eventsource": 1, "eventobject": 1 }), &["3"]),
        (json!({ "eventsource": 4, "eventobject": 6 }), &["4"]),
        (json!({ "eventids": "1" }), &["1", "5"]),
        (json!({ "actionids": "9", "userids": "1" }), &["1"]),
        (json!({ "mediatypeids": "4" }), &["6"]),
        (json!({ "objectids": trigger, "hostids": host, "groupids": group }), &["1", "5", "6"]),
        (json!({ "hostids": "999" }), &[]),
        (json!({ "groupids": group, "eventsource": 3, "eventobject": 4 }), &["2"]),
        (json!({ "hostids": host, "eventsource": 1, "eventobject": 1 }), &[]),
        (json!({ "time_from": 102, "time_till": 105 }), &["5"]),
        (json!({ "search": { "subject": "problem 5" } }), &["6"]),
        (json!({ "filter": { "acknowledgeid": null }, "alertids": ["1", "2"] }), &["1"]),
        (json!({ "sortfield": "clock", "sortorder": "DESC" }), &["6", "5", "1"]),
    ] {
        let mut params = options.clone();
        params["output"] = json!(["alertid"]);
        assert_eq!(ids(&server.call("alert.get", &params).unwrap()), found, "{options}");
    }
    let selects = json!({
        "alertids": ["1", "5"], "output": ["subject"], "selectHosts": ["host"], "selectUsers": ["userid", "username"],
        "selectMediatypes": ["name"],
    });
    assert_eq!(
        server.call("alert.get", &selects).unwrap(),
        json!([
            {
                "subject": "Problem 1", "hosts": [{ "hostid": host, "host": "h" }],
                "users": [{ "userid": "1", "username": "Admin" }], "mediatypes": [{ "mediatypeid": "1", "name": "Email" }],
            },
            { "subject": "Problem 1", "hosts": [{ "hostid": host, "host": "h" }], "users": [], "mediatypes": [] },
        ])
    );
    let events = json!({ "eventids": ["1", "5"], "output": ["eventid"], "selectAlerts": ["alertid", "sendto"] });
    assert_eq!(
        server.call("event.get", &events).unwrap(),
        json!([
            { "eventid": "1", "alerts": [{ "alertid": "5", "sendto": "a" }, { "alertid": "1", "sendto": "a" }] },
            { "eventid": "5", "alerts": [{ "alertid": "6", "sendto": "a" }] },
        ])
    );
    server.refuses(&[
        ("alert.get", json!({ "nosuch": 1 }), -32602, "unexpected parameter \"nosuch\"."),
        (
            "alert.get",
            json!({ "eventsource": 9 }),
            -32602,
            "\"/eventsource\": value must be one of 0, 1, 2, 3, 4.",
        ),
        (
            "alert.get",
            json!({ "eventobject": 9 }),
            -32602,
            "value must be one of 0, 1, 2, 3, 4, 5, 6.",
        ),
        (
            "alert.get",
            json!({ "time_from": "x" }),
            -32602,
            "\"/time_from\": an unsigned integer is expected.",
        ),
        (
            "alert.get",
            json!({ "sortfield": "subject" }),
            -32602,
            "value must be one of \"alertid\", \"clock\"",
        ),
        (
            "alert.get",
            json!({ "output": ["parameters"] }),
            -32602,
            "\"/output/1\": value must be one of",
        ),
    ]);
}

#[test]
fn users_see_alerts_on_hosts_and_to_users_they_see() {
    let server = Server::start();
    let (group, ..) = world(&server);
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let user = |name: &str, role: &str| {
        let user = json!({ "username": name, "passwd": "Pa55word-x", "roleid": role, "usrgrps": { "usrgrpid": ug } });
        let id = server.create("user.create", &user);
        (id, server.login(name, "Pa55word-x"))
    };
    let ((me, session), (other, _), (_, admin)) =
        (user("u1", "1"), user("u2", "1"), user("u3", "2"));
    for (alert, to) in [(11, &me), (12, &other)] {
        server.write_state_sql(&[&format!(
            "INSERT INTO alerts (alertid, eventid, userid) VALUES ({alert}, 1, {to})"
        )]);
    }
    let seen = |session: &str, options: Json| {
        let mut options = options;
        options["output"] = json!(["alertid"]);
        let found = server.call_as(Some(session), "alert.get", &options).unwrap();
        ids(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(seen(&session, json!({})).is_empty(), "no right on the host");
    let rights = json!({ "usrgrpid": ug, "hostgroup_rights": [{ "id": group, "permission": 2 }] });
    server.call("usergroup.update", &rights).unwrap();
    // Commands, and messages to members of own groups.
    assert_eq!(seen(&session, json!({})), ["5", "11", "12"]);
    let of_events = json!({ "eventids": "1", "output": ["eventid"], "selectAlerts": ["alertid"] });
    let shown = server.call_as(Some(&session), "event.get", &of_events).unwrap();
    assert_eq!(ids(&shown[0]["alerts"]), ["12", "11", "5"]);
    for (options, by_user, by_admin) in [
        (json!({ "eventsource": 1, "eventobject": 1 }), 0, 1),
        (json!({ "eventsource": 4, "eventobject": 6 }), 1, 1),
    ] {
        let source = options["eventsource"].as_i64().unwrap();
        let event = if source == 1 { 3 } else { 4 };
        server.write_state_sql(&[&format!(
            "INSERT INTO alerts (alertid, eventid, userid) VALUES ({}, {event}, {me})",
            20 + source
        )]);
        assert_eq!(seen(&session, options.clone()).len(), by_user, "{options}");
        assert_eq!(seen(&admin, options.clone()).len(), by_admin, "{options}");
    }
}

#[test]
fn withheld_alerts_are_found_and_summaries_are_for_recipients() {
    let server = Server::start();
    let (group, ..) = world(&server);
    let own = ["withheld", "carrierid", "bundleid", "summary"];
    server.write_state_sql(&[
        "UPDATE alerts SET status = 4, withheld = 1, carrierid = 6, bundleid = 9 WHERE alertid = 1",
        "UPDATE alerts SET summary = 1 WHERE alertid = 6",
    ]);
    let get = |params: Json| server.call("alert.get", &params).unwrap();
    let plain = get(json!({ "alertids": "1" }));
    assert!(own.iter().all(|name| plain[0].get(name).is_none()), "{plain}");
    assert_eq!(plain[0]["status"], "4");
    assert_eq!(
        get(json!({ "output": own, "filter": { "withheld": [1, 3] } })),
        json!([{ "withheld": "1", "carrierid": "6", "bundleid": "9", "summary": "0" }])
    );
    assert_eq!(ids(&get(json!({ "output": ["alertid"], "filter": { "carrierid": "6" } }))), ["1"]);
    let of_event = |wanted: Json| {
        let params = json!({ "eventids": "1", "output": ["eventid"], "selectAlerts": wanted });
        server.call("event.get", &params).unwrap()[0]["alerts"][1].clone()
    };
    assert!(of_event(json!("extend")).get("withheld").is_none());
    assert_eq!(of_event(json!(["withheld"])), json!({ "withheld": "1" }));
    // A member of the recipient's group, who sees this problem and perhaps not the others.
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let user = |name: &str| {
        let user = json!({ "username": name, "passwd": "Pa55word-x", "roleid": "2", "usrgrps": { "usrgrpid": ug } });
        (server.create("user.create", &user), server.login(name, "Pa55word-x"))
    };
    let rights = json!({ "usrgrpid": ug, "hostgroup_rights": [{ "id": group, "permission": 2 }] });
    server.call("usergroup.update", &rights).unwrap();
    let ((to, session), (_, other)) = (user("u1"), user("u2"));
    server.write_state_sql(&[&format!("UPDATE alerts SET userid = {to} WHERE alertid = 6")]);
    let seen = |session: &str| {
        let params = json!({ "output": ["alertid"], "userids": to });
        let found = server.call_as(Some(session), "alert.get", &params).unwrap();
        let params = json!({ "eventids": "5", "output": ["eventid"], "selectAlerts": ["alertid"] });
        let of_event = server.call_as(Some(session), "event.get", &params).unwrap();
        (found.as_array().unwrap().len(), of_event[0]["alerts"].as_array().unwrap().len())
    };
    assert_eq!((seen(&session), seen(&other)), ((1, 1), (0, 0)));
}
