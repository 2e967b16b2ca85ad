//! Overrides, swaps, and who may make them; calendars for other programs.

use super::*;
use crate::methods::oncall::calendar_of;

/// Ann, Bob and Cid take turns daily; all are users.
struct Three {
    server: Server,
    ids: [String; 3],
    sessions: [String; 3],
    schedule: String,
}

fn three() -> Three {
    let server = Server::start();
    let sessions = ["ann", "bob", "cid"].map(|name| server.user(name, "1", &[]));
    let ids = ["ann", "bob", "cid"].map(|name| id_of(&server, name));
    let schedule = rota(&server, "three", &[&ids[0], &ids[1], &ids[2]], &json!({}));
    Three { server, ids, sessions, schedule }
}

impl Three {
    /// Days since now.
    fn ask(
        &self,
        who: usize,
        user: usize,
        days: (i64, i64),
        swap: Option<(i64, i64)>,
    ) -> Result<Json, (i64, String)> {
        let mut params = json!({
            "scheduleid": self.schedule, "userid": self.ids[user],
            "from": NOW + days.0 * DAY, "to": NOW + days.1 * DAY,
        });
        if let Some((from, to)) = swap {
            params["swap"] = json!({ "from": NOW + from * DAY, "to": NOW + to * DAY });
        }
        self.server.call_as(Some(&self.sessions[who]), "oncall.override", &params)
    }

    fn refused(
        &self,
        who: usize,
        user: usize,
        days: (i64, i64),
        swap: Option<(i64, i64)>,
        error: &str,
    ) {
        let (_, found) = self.ask(who, user, days, swap).unwrap_err();
        assert!(found.contains(error), "{found}");
    }

    /// Who is on call at noon of the first days.
    fn plan(&self, days: i64) -> Vec<String> {
        let on = |day: i64| {
            let at = NOW + day * DAY + 4 * 3_600;
            let found = json!({ "from": at, "to": at + 1, "scheduleids": self.schedule });
            let found = self.server.call("oncall.shifts", &found).unwrap();
            let user = found[0]["userid"].as_str().unwrap().to_owned();
            let known = self.ids.iter().position(|id| *id == user);
            known.map_or("?", |n| ["ann", "bob", "cid"][n]).to_owned()
        };
        (0..days).map(on).collect()
    }
}

#[test]
fn users_stand_in_for_one_another() {
    let three = three();
    let (ann, bob, cid) = (0, 1, 2);
    assert_eq!(three.plan(4), ["ann", "bob", "cid", "ann"]);
    // Bob takes over a day of Cid; Ann gives hers of the third day to Bob.
    three.ask(bob, bob, (2, 3), None).unwrap();
    three.ask(ann, bob, (3, 4), None).unwrap();
    assert_eq!(three.plan(4), ["ann", "bob", "bob", "bob"]);
    let over = "You can give away only time for which you are on call.";
    three.refused(ann, cid, (1, 2), None, over);
    three.refused(ann, cid, (0, 2), None, over);
    three.refused(ann, cid, (3, 4), None, over);
    three.refused(cid, cid, (-2, -1), None, "/to\": the time is over");
    // What is over stays as it was.
    let half = json!({ "scheduleid": three.schedule, "userid": three.ids[bob], "from": NOW - DAY, "to": NOW + 3_600 });
    three.server.call_as(Some(&three.sessions[ann]), "oncall.override", &half).unwrap();
    assert_eq!(three.server.count("SELECT MIN(time_from) AS n FROM oncall_overrides"), NOW);
}

#[test]
fn a_swap_is_two_overrides_that_go_together() {
    let three = three();
    let (ann, bob, cid) = (0, 1, 2);
    let made = three.ask(ann, bob, (0, 1), Some((1, 2))).unwrap();
    assert_eq!(three.plan(4), ["bob", "ann", "cid", "ann"]);
    let read =
        json!({ "output": [], "selectOverrides": ["userid", "overrideid", "swapid", "createdby"] });
    let ids = made["overrideids"].as_array().unwrap();
    let half = |user: usize, n: usize| json!({ "overrideid": ids[n], "userid": three.ids[user], "swapid": ids[1 - n], "createdby": three.ids[ann] });
    let found = three.server.call("oncall.get", &read).unwrap();
    assert_eq!(found[0]["overrides"], json!([half(bob, 0), half(ann, 1)]));

    let revoke = |who: usize, id: &Json| {
        three.server.call_as(Some(&three.sessions[who]), "oncall.revoke", &json!([id]))
    };
    assert!(revoke(cid, &ids[0]).is_err());
    assert_eq!(revoke(bob, &ids[0]).unwrap(), made);
    assert_eq!(three.plan(2), ["ann", "bob"]);
    assert!(revoke(bob, &ids[0]).is_err());

    three.refused(
        ann,
        bob,
        (0, 1),
        Some((2, 3)),
        "/swap\": the user is not on call for the whole time",
    );
    three.refused(ann, bob, (0, 2), Some((4, 5)), "You can give away only time");
    three.refused(ann, bob, (0, 1), Some((0, 1)), "/swap\": the times of a swap cannot overlap");
    three.refused(ann, ann, (0, 1), Some((3, 4)), "/userid\": users cannot swap with themselves");
    three.refused(bob, cid, (1, 2), Some((-1, 0)), "/swap/to\": the time is over");
}

#[test]
fn a_swap_does_not_change_the_past() {
    let three = three();
    three.server.clock.advance(std::time::Duration::from_secs(600));
    three.ask(1, 0, (1, 2), Some((0, 1))).unwrap();
    let first = "SELECT MIN(time_from) AS n FROM oncall_overrides";
    assert_eq!(three.server.count(first), NOW + 600);
    // Those who may change the schedule can.
    let swap = json!({ "from": NOW, "to": NOW + 600 });
    let time = json!({ "scheduleid": three.schedule, "userid": three.ids[0],
                       "from": NOW + 2 * DAY, "to": NOW + 3 * DAY, "swap": swap });
    three.server.call("oncall.override", &time).unwrap();
    assert_eq!(three.server.count(first), NOW);
}

#[test]
fn half_a_swap_cannot_be_taken_back() {
    let three = three();
    let made = three.ask(0, 1, (0, 1), Some((1, 2))).unwrap();
    // Bob has done his part: Ann cannot drop hers.
    three.server.clock.advance(std::time::Duration::from_secs(90_000));
    let ids = &made["overrideids"];
    for (session, id) in [(0, &ids[1]), (0, &ids[0]), (1, &ids[1])] {
        let revoked =
            three.server.call_as(Some(&three.sessions[session]), "oncall.revoke", &json!([id]));
        assert!(revoked.is_err());
    }
    // Who may change the schedule can.
    assert_eq!(three.server.call("oncall.revoke", &json!([ids[1]])).unwrap(), made);
}

#[test]
fn strangers_neither_see_nor_change() {
    let three = three();
    let server = &three.server;
    let dan = server.user("dan", "1", &[]);
    let dan_id = id_of(server, "dan");
    let time =
        json!({ "scheduleid": three.schedule, "userid": dan_id, "from": NOW, "to": NOW + DAY });
    let (_, error) = server.call_as(Some(&dan), "oncall.override", &time).unwrap_err();
    assert!(error.contains("No permissions to referred object"), "{error}");
    assert_eq!(server.call_as(Some(&dan), "oncall.get", &json!({})).unwrap(), json!([]));
    // A member cannot name somebody who is none, the administrator can.
    let (_, error) =
        server.call_as(Some(&three.sessions[0]), "oncall.override", &time).unwrap_err();
    assert_eq!(error, "The user is no member of on-call schedule \"three\".");
    server.call("oncall.override", &time).unwrap();
    assert_eq!(three.plan(2), ["?", "bob"]);
    // Who stands in sees the schedule.
    let found = server.call_as(Some(&dan), "oncall.get", &json!({ "output": ["name"] })).unwrap();
    assert_eq!(found, json!([{ "name": "three" }]));
}

#[test]
fn a_token_gives_a_calendar_until_it_is_revoked() {
    let three = three();
    let server = &three.server;
    let token = |session: usize, params: &Json| {
        server.call_as(Some(&three.sessions[session]), "oncall.ical", params).unwrap()
    };
    let whole = json!({ "scheduleid": three.schedule });
    let made = token(0, &whole);
    let secret = made["token"].as_str().unwrap().to_owned();
    assert_eq!(made["path"], format!("/oncall/{secret}.ics"));
    assert_eq!(
        server.count(&format!("SELECT COUNT(*) AS n FROM oncall_tokens WHERE digest = '{secret}'")),
        0
    );
    let calendar = |secret: &str| calendar_of(&server.api, secret).unwrap();
    let text = calendar(&secret).unwrap();
    for part in
        ["DTSTART:20270115T080000Z", "DTEND:20270116T080000Z", "SUMMARY:bob: on call\\, three"]
    {
        assert!(text.contains(part), "{text}");
    }
    let mine = token(1, &json!({ "scheduleid": 0, "mine": 1 }));
    let mine = calendar(mine["token"].as_str().unwrap()).unwrap();
    assert!(
        mine.contains("SUMMARY:On call: three") && !mine.contains("DTSTART:20270115T"),
        "{mine}"
    );

    // A new token replaces the one before, and a revoked one is gone.
    let second = token(0, &whole)["token"].as_str().unwrap().to_owned();
    assert_eq!(calendar(&secret), None);
    assert!(calendar(&second).is_some());
    token(0, &json!({ "scheduleid": three.schedule, "revoke": 1 }));
    for secret in [second.as_str(), "", "x", &"0".repeat(64), &"'".repeat(64)] {
        assert_eq!(calendar(secret), None);
    }
    let other =
        server.call_as(Some(&three.sessions[0]), "oncall.ical", &json!({ "scheduleid": 99 }));
    assert!(other.is_err());
}

#[test]
fn calendars_end_with_the_users_rights() {
    let three = three();
    let server = &three.server;
    let made = server.call_as(
        Some(&three.sessions[0]),
        "oncall.ical",
        &json!({ "scheduleid": three.schedule }),
    );
    let secret = made.unwrap()["token"].as_str().unwrap().to_owned();
    let is_valid = || calendar_of(&server.api, &secret).unwrap().is_some();
    let group = group_of(server, "ann");
    server.call("usergroup.update", &json!({ "usrgrpid": group, "users_status": 1 })).unwrap();
    assert!(!is_valid());
    server.call("usergroup.update", &json!({ "usrgrpid": group, "users_status": 0 })).unwrap();
    assert!(is_valid());
    let others = json!([{ "users": [{ "userid": three.ids[1] }], "start": NOW }]);
    server
        .call("oncall.update", &json!({ "scheduleid": three.schedule, "layers": others }))
        .unwrap();
    assert!(!is_valid());
}
