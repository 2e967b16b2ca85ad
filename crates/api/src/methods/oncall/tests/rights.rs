//! Who sees and who changes schedules.

use super::*;

#[test]
fn members_of_groups_see_and_administrators_change() {
    let server = Server::start();
    let (user, admin) = (server.user("user", "1", &[]), server.user("admin", "2", &[]));
    let other = server.user("other", "2", &[]);
    let groups = json!([
        { "usrgrpid": group_of(&server, "user"), "permission": 3 },
        { "usrgrpid": group_of(&server, "admin"), "permission": 3 },
        { "usrgrpid": group_of(&server, "other"), "permission": 2 },
    ]);
    let id = rota(&server, "s", &[&"1".to_owned()], &json!({ "usergroups": groups }));
    let found =
        |session: &str, params: &Json| server.call_as(Some(session), "oncall.get", params).unwrap();
    let names = json!({ "output": ["name"] });
    let editable = json!({ "output": ["name"], "editable": true });
    for (session, sees, edits) in [(&user, 1, 0), (&admin, 1, 1), (&other, 1, 0)] {
        let count = |params: &Json| found(session, params).as_array().unwrap().len();
        assert_eq!((count(&names), count(&editable)), (sees, edits));
    }
    let update = json!({ "scheduleid": id, "description": "x" });
    for (session, method, params) in [
        (&user, "oncall.update", &update),
        (&other, "oncall.update", &update),
        (&other, "oncall.delete", &json!([id])),
        (&user, "oncall.delete", &json!([id])),
        (&user, "oncall.create", &json!({ "name": "y" })),
    ] {
        assert!(server.call_as(Some(session), method, params).is_err(), "{method} {params}");
    }
    server.call_as(Some(&admin), "oncall.update", &update).unwrap();
}

#[test]
fn administrators_keep_to_their_groups() {
    let server = Server::start();
    let admin = server.user("admin", "2", &[]);
    server.user("stranger", "1", &[]);
    let own = json!([{ "usrgrpid": group_of(&server, "admin"), "permission": 3 }]);
    let layer =
        |user: &str| json!([{ "users": [{ "userid": id_of(&server, user) }], "start": NOW }]);
    let create = |params: &Json| server.call_as(Some(&admin), "oncall.create", params);
    for (params, error) in [
        (
            json!({ "name": "a" }),
            "/1/usergroups\": must have one of your user groups with permission 3",
        ),
        (
            json!({ "name": "a", "usergroups": [{ "usrgrpid": group_of(&server, "admin"), "permission": 2 }] }),
            "/1/usergroups\": must have one of your user groups",
        ),
        (
            json!({ "name": "a", "usergroups": [own[0], { "usrgrpid": group_of(&server, "stranger") }] }),
            "/1/usergroups/2\": object does not exist",
        ),
        (
            json!({ "name": "a", "usergroups": own, "layers": layer("stranger") }),
            "/1/layers/1/users/1\": object does not exist",
        ),
    ] {
        let (_, found) = create(&params).unwrap_err();
        assert!(found.contains(error), "{found}");
    }
    let made =
        create(&json!({ "name": "a", "usergroups": own, "layers": layer("admin") })).unwrap();
    let id = &made["scheduleids"][0];
    let (_, error) = server
        .call_as(Some(&admin), "oncall.update", &json!({ "scheduleid": id, "usergroups": [] }))
        .unwrap_err();
    assert!(error.contains("must have one of your user groups"), "{error}");
    // Whom another put in can stay.
    server
        .call("oncall.update", &json!({ "scheduleid": id, "layers": layer("stranger") }))
        .unwrap();
    let same = json!({ "scheduleid": id, "layers": layer("stranger") });
    server.call_as(Some(&admin), "oncall.update", &same).unwrap();
}

#[test]
fn users_in_schedules_cannot_be_deleted() {
    let server = Server::start();
    server.user("ann", "1", &[]);
    let ann = id_of(&server, "ann");
    let id = rota(&server, "s", &[&ann], &json!({}));
    let text = "User \"ann\" is used in \"s\" on-call schedule.";
    server.refuses(&[("user.delete", json!([ann]), -32602, text)]);
    server.call("oncall.delete", &json!([id])).unwrap();
    server.call("user.delete", &json!([ann])).unwrap();
}

#[test]
fn only_those_who_change_a_schedule_see_its_calendars() {
    let server = Server::start();
    let ann = server.user("ann", "1", &[]);
    let calendar = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR";
    let groups = json!([{ "usrgrpid": group_of(&server, "ann") }]);
    let more = json!({ "layers": [{ "calendar": calendar }], "usergroups": groups });
    rota(&server, "s", &[], &more);
    let read = json!({ "output": ["name"], "selectLayers": ["calendar"] });
    let of = |found: Json| found[0]["layers"][0]["calendar"].clone();
    assert_eq!(of(server.call("oncall.get", &read).unwrap()), calendar);
    assert_eq!(of(server.call_as(Some(&ann), "oncall.get", &read).unwrap()), "");
}
