//! What is asked, what is refused, and that nothing stays.

use model::alert::outlook::{Silence, Verdict};
use model::alert::rehearsal::{OfUser, Planned, Reason, Rehearsed};
use objects::{OperationMode, Withholding};
use serde_json::{Value as Json, json};

use crate::testing::Server;

fn action(name: &str, source: i64) -> Json {
    json!({
        "name": name, "eventsource": source,
        "operations": {
            "operationtype": 0, "opmessage": { "default_msg": 1 }, "opmessage_usr": { "userid": "1" },
        },
    })
}

fn found(users: &[u64]) -> Rehearsed {
    let planned = |user: &u64| Planned {
        at: 1_800_000_000,
        event: 7,
        mode: OperationMode::Recovery,
        step: 1,
        user: *user,
        address: Some((3, "a@example.com".to_owned())),
        verdict: Verdict::Sent,
        withheld: None,
        tells: 3,
        on_call: vec!["Linux".to_owned()],
    };
    let withheld = users.first().map(planned);
    let withheld = withheld.map(|one| Planned {
        withheld: Some(Withholding::Storm),
        tells: 0,
        on_call: Vec::new(),
        ..one
    });
    let user = OfUser {
        messages: 9,
        at_night: 4,
        busiest_hour: (1_799_999_200, 5),
        failed: 1,
        withheld: [
            (Reason::Silent(Silence::Period), 2),
            (Reason::Withheld(Withholding::Grouped), 7),
        ]
        .into(),
        sent: 12,
    };
    Rehearsed {
        problems: 20,
        fitting: 6,
        stopped_at: None,
        gaps: [("Linux".to_owned(), 2)].into(),
        users: users.iter().map(|id| (*id, user.clone())).collect(),
        listed: users.iter().map(planned).chain(withheld).collect(),
    }
}

#[test]
fn an_action_that_is_not_stored_leaves_nothing_behind() {
    let server = Server::start();
    *server.rehearsed.lock().unwrap() = found(&[1]);
    let actions = server.count("SELECT COUNT(*) AS n FROM actions");
    let audited = server.count("SELECT COUNT(*) AS n FROM auditlog");
    let input = json!({ "action": action("new", 0), "time_from": 100, "time_till": 200 });
    let rehearsed = server.call("action.rehearse", &input).unwrap();
    assert_eq!(
        rehearsed,
        json!({
            "time_from": "100", "time_till": "200", "problems": "20", "fitting": "6", "stopped_at": "0",
            "users": [{
                "userid": "1", "username": "Admin", "messages": "9", "at_night": "4",
                "busiest_hour": { "clock": "1799999200", "messages": "5" }, "failed": "1",
                "withheld": [
                    { "reason": "period", "messages": "2" }, { "reason": "grouped", "messages": "7" },
                ],
                "sent": "12",
            }],
            "gaps": [{ "name": "Linux", "messages": "2" }],
            "messages": [
                {
                    "clock": "1800000000", "eventid": "7", "mode": "recovery", "step": "1",
                    "userid": "1", "mediatypeid": "3", "sendto": "a@example.com", "verdict": "sent",
                    "tells": "3", "oncall": ["Linux"],
                },
                {
                    "clock": "1800000000", "eventid": "7", "mode": "recovery", "step": "1",
                    "userid": "1", "mediatypeid": "3", "sendto": "a@example.com", "verdict": "storm",
                    "tells": "0", "oncall": [],
                },
            ],
        })
    );
    assert!(server.asked.lock().unwrap().contains(&"prepare new".to_owned()));
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM actions"), actions);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM auditlog"), audited);
}

#[test]
fn stored_actions_are_rehearsed_for_those_who_see_them() {
    let server = Server::start();
    *server.rehearsed.lock().unwrap() = found(&[1, 2]);
    let id = server.create("action.create", &action("stored", 0));
    let rehearsed = server.call("action.rehearse", &json!({ "actionid": id })).unwrap();
    assert_eq!(rehearsed["users"].as_array().unwrap().len(), 2);
    let admin = server.user("admin", "2", &[]);
    let rehearsed =
        server.call_as(Some(&admin), "action.rehearse", &json!({ "action": action("own", 0) }));
    assert!(rehearsed.is_err(), "the action names a user whom the admin does not see");
    let user = server.user("plain", "1", &[]);
    server.call_as(Some(&user), "action.rehearse", &json!({ "actionid": id })).unwrap_err();
}

#[test]
fn bad_rehearsals_are_refused() {
    let server = Server::start();
    let other = server.create("action.create", &action("other", 2));
    let mut wrong = action("wrong", 0);
    wrong["operations"]["opmessage_usr"]["userid"] = json!("99");
    server.refuses(&[
        ("action.rehearse", json!({}), -32_602, "either \"actionid\" or \"action\""),
        (
            "action.rehearse",
            json!({ "actionid": "1", "action": action("a", 0) }),
            -32_602,
            "either",
        ),
        ("action.rehearse", json!({ "actionid": "999" }), -32_500, "No permissions"),
        ("action.rehearse", json!({ "actionid": other }), -32_602, "only actions on problems"),
        ("action.rehearse", json!({ "action": wrong }), -32_500, "Incorrect action operation user"),
        ("action.rehearse", json!({ "action": action("other", 0) }), -32_602, "already exists"),
        (
            "action.rehearse",
            json!({ "action": action("a", 0), "time_from": 9, "time_till": 5 }),
            -32_602,
            "it must not be after",
        ),
    ]);
}
