//! Updates, causes, symptoms, and what escalations did.

use super::*;
use crate::text::EventTexts;
use crate::{Addressee, Sent, Subject, Texts};
use About::{LateUpdate, Problem, Recovery, Update};

#[test]
fn macros_of_an_update() {
    let world = updated(with_trigger());
    world.check(
        Update(1),
        &[
            (
                "{EVENT.UPDATE.ACTION}",
                "acknowledged, commented and changed severity from High to Disaster",
            ),
            ("{EVENT.UPDATE.DATE} {EVENT.UPDATE.TIME}", "2026.11.23 19:09:44"),
            ("{EVENT.UPDATE.MESSAGE}|{EVENT.UPDATE.STATUS}", "seen \"it\"|1"),
            ("{USER.FULLNAME}", "Inaccessible user"),
            ("{EVENT.SEVERITY} {TRIGGER.SEVERITY} {EVENT.ACK.STATUS}", "Disaster High Yes"),
            ("{EVENT.STATUS} {EVENT.VALUE} {ITEM.VALUE}", "PROBLEM 1 2.93 KB"),
            (
                "{EVENT.ACK.HISTORY}",
                "2026.11.23 19:09:44 \"Inaccessible user\"\n\
                 Actions: acknowledged and changed severity from High to Disaster.\nseen \"it\"",
            ),
        ],
    );
    world.stay(
        Update(1),
        "EVENT.RECOVERY.ID EVENT.UPDATE.NSEVERITY EVENT.UPDATE.SEVERITY EVENT.UPDATE.ACTIONJSON \
         EVENT.UPDATE.TIMESTAMP USER.USERNAME USER.NAME USER.SURNAME USER.ALIAS",
    );
}

#[test]
fn what_users_did() {
    let world = updated(with_trigger());
    let until = START + 6636;
    for (n, (action, severity, until, words)) in [
        (6, (0, 0), 0, "acknowledged and commented"),
        (4, (0, 0), 0, "commented"),
        (16, (0, 0), 0, "unacknowledged"),
        (8, (5, 1), 0, "changed severity from Disaster to Information"),
        (5, (0, 0), 0, "commented and closed"),
        (32, (0, 0), until, "suppressed until 2026.11.23 21:00:00"),
        (32, (0, 0), 0, "suppressed indefinitely"),
        (64, (0, 0), 0, "unsuppressed"),
        (
            15,
            (4, 2),
            0,
            "acknowledged, commented, changed severity from High to Warning and closed",
        ),
        (256, (0, 0), 0, ""),
    ]
    .into_iter()
    .enumerate()
    {
        let id = 10 + n as u64;
        update(&world, id, START + 30, action, "text", severity, until);
        assert_eq!(world.text(Update(id), "{EVENT.UPDATE.ACTION}"), words);
    }
    let text = "{EVENT.UPDATE.HISTORY}";
    let history = world.text(Problem, text);
    assert_eq!(history.matches("Actions: ").count(), 9, "{history}");
    assert!(
        history.contains("seen \"it\"\n\n2026.11.23 19:09:54 \"Inaccessible user\"\nActions: ")
    );
}

#[test]
fn the_author_is_shown_to_those_who_may_see_him() {
    let world = updated(with_trigger());
    let text = "{USER.FULLNAME}";
    let name = |recipient: &Recipient| world.expander(Update(1), &[text]).expand(text, recipient);
    let of_group =
        |user, group| Recipient { sees: Sees::Groups { user, groups: vec![group] }, ..anybody() };
    let full = "Zabbix Administrator (Admin)";
    assert_eq!(name(&admin()), full);
    assert_eq!(name(&of_group(ALICE, USERS)), "Inaccessible user");
    assert_eq!(name(&of_group(ADMIN, 9)), full);
    world.put(&table::USERGROUPS, &[("usrgrpid", 88_u64.into()), ("name", "Own".into())]);
    world.run("INSERT INTO user_groups (userid, usrgrpid) VALUES (1, 88)");
    assert_eq!(name(&of_group(ALICE, 88)), full);
    world.run("UPDATE users SET name = '', surname = '' WHERE userid = 1");
    assert_eq!(name(&admin()), "Admin");
    world.run_state("UPDATE acknowledges SET userid = 77");
    assert_eq!(name(&admin()), "unknown");
}

#[test]
fn an_update_after_the_recovery() {
    let world = ended(updated(with_trigger()));
    world.check(
        LateUpdate(1),
        &[
            ("{EVENT.STATUS} {EVENT.RECOVERY.ID} {EVENT.UPDATE.STATUS}", "RESOLVED 101 1"),
            ("{ITEM.VALUE} {EVENT.UPDATE.MESSAGE}", "0 B seen \"it\""),
        ],
    );
}

#[test]
fn causes_and_symptoms() {
    let world = updated(with_trigger());
    let columns = |name: &str, severity: i64| -> Vec<(&'static str, Value)> {
        vec![
            ("clock", (START - 60).into()),
            ("value", Value::from(1)),
            ("name", name.into()),
            ("severity", severity.into()),
            ("opdata", "down".into()),
        ]
    };
    event(&world, 90, (0, 0, TRIGGER), &columns("Cause is here", 5));
    tag(&world, 60, 90, "net", "core");
    world.run_state(&format!("UPDATE events SET cause_eventid = 90 WHERE eventid = {PROBLEM}"));
    world.check(
        Problem,
        &[
            ("[{EVENT.CAUSE.NAME}] {EVENT.CAUSE.ID}", "[Cause is here] 90"),
            (
                "{EVENT.CAUSE.SEVERITY} {EVENT.CAUSE.NSEVERITY} {EVENT.CAUSE.STATUS}",
                "Disaster 5 PROBLEM",
            ),
            (
                "{EVENT.CAUSE.TAGS} {EVENT.CAUSE.TAGS.net} {EVENT.CAUSE.OPDATA}",
                "net:core core down",
            ),
            ("{EVENT.CAUSE.TIME} {EVENT.CAUSE.AGE}", "19:08:24 2m 5s"),
            ("[{EVENT.CAUSE.UPDATE.HISTORY}]{EVENT.CAUSE.ACK.STATUS}", "[]No"),
        ],
    );
    world.stay(Problem, "EVENT.CAUSE.NOSUCH EVENT.CAUSE.ID1");
    for (id, name, severity) in [(110_u64, "First", 2), (111, "Second", 4)] {
        event(&world, id, (0, 0, TRIGGER), &columns(name, severity));
        world.put_state(
            &table::PROBLEMS,
            &[
                ("eventid", id.into()),
                ("objectid", TRIGGER.into()),
                ("clock", START.into()),
                ("name", name.into()),
                ("severity", severity.into()),
                ("cause_eventid", PROBLEM.into()),
            ],
        );
    }
    tag(&world, 61, 111, "svc", "x");
    world.check(
        Problem,
        &[(
            "{EVENT.SYMPTOMS}",
            "Host: \"web-1\" Problem name: \"First\" Severity: \"Warning\" Age: 1m 5s \
             Problem tags: \"\"\n\
             Host: \"web-1\" Problem name: \"Second\" Severity: \"High\" Age: 1m 5s \
             Problem tags: \"svc:x\"",
        )],
    );
}

#[test]
fn what_the_escalation_did() {
    let world = ended(updated(with_trigger()));
    world.put(&table::MEDIA_TYPES, &[("mediatypeid", 70_u64.into()), ("name", "Hook".into())]);
    world.put(&table::USERGROUPS, &[("usrgrpid", 88_u64.into()), ("name", "Ops".into())]);
    world.run(&format!("INSERT INTO user_groups (userid, usrgrpid) VALUES ({ALICE}, 88)"));
    let none = "No media defined for user.";
    for (id, (event, problem, step, status, error, kind, media, message)) in [
        (PROBLEM, 0, 1, 1, "", 0, 70, "text"),
        (PROBLEM, 0, 2, 3, "", 0, 70, "text"),
        (PROBLEM, 0, 2, 0, "refused", 0, 70, "text"),
        (PROBLEM, 0, 3, 2, none, 0, 0, ""),
        (PROBLEM, 0, 4, 1, "", 1, 0, "web-1:touch x:y"),
        (PROBLEM, 0, 5, 2, "Process exited with code: 5.", 1, 0, "web-1:false"),
        (RECOVERY, PROBLEM, 1, 1, "", 0, 70, "text"),
    ]
    .into_iter()
    .enumerate()
    {
        world.put_state(
            &table::ALERTS,
            &[
                ("alertid", Value::from(id as u64 + 1)),
                ("actionid", ACTION.into()),
                ("eventid", event.into()),
                ("p_eventid", problem.into()),
                ("userid", ALICE.into()),
                ("clock", (START + 1 + id as u32).into()),
                ("mediatypeid", Value::from(media)),
                ("sendto", if media == 0 { "" } else { "alice" }.into()),
                ("message", message.into()),
                ("status", Value::from(status)),
                ("error", error.into()),
                ("esc_step", Value::from(step)),
                ("alerttype", Value::from(kind)),
            ],
        );
    }
    // Another action's.
    world.put_state(
        &table::ALERTS,
        &[("alertid", 50_u64.into()), ("actionid", 9_u64.into()), ("eventid", PROBLEM.into())],
    );
    let text = "{ESC.HISTORY}";
    let expander = world.expander(Recovery, &[text]);
    assert_eq!(
        expander.expand(text, &anybody()),
        "Problem started: 2026.11.23 19:09:24 Age: 1m 5s\n\
         1. 2026.11.23 19:09:25 message sent        Hook alice \"Alice Sink (alice)\"\n\
         2. 2026.11.23 19:09:26 message in progress Hook alice \"Alice Sink (alice)\"\n\
         2. 2026.11.23 19:09:27 message in progress Hook alice \"Alice Sink (alice)\" refused\n\
         3. 2026.11.23 19:09:28 message failed        \"Alice Sink (alice)\" No media defined for user.\n\
         4. 2026.11.23 19:09:29 script  executed    \"web-1\"\n\
         5. 2026.11.23 19:09:30 script  failed      \"web-1\" Process exited with code: 5.\n\
         1. 2026.11.23 19:09:31 message sent        Hook alice \"Alice Sink (alice)\"\n\
         Problem ended: 2026.11.23 19:10:24"
    );
    let of_group =
        |group| Recipient { sees: Sees::Groups { user: 3, groups: vec![group] }, ..anybody() };
    assert!(expander.expand(text, &of_group(9)).contains("Hook alice \"Inaccessible user\""));
    assert!(expander.expand(text, &of_group(88)).contains("Hook alice \"Alice Sink (alice)\""));
}

#[test]
fn texts_for_the_escalator() {
    let World { config, shelf, _dir } = updated(with_trigger());
    let config = Arc::new(config);
    let clock = stdx::clock::SimClock::at(std::time::Duration::from_secs(NOW.into()));
    let texts = EventTexts::new(Arc::clone(&config), shelf, clock);
    let subject = Subject {
        action: ACTION,
        event: PROBLEM,
        recovery: None,
        update: Some(1),
        status_changed: false,
    };
    let templates =
        ["{USER.FULLNAME}: {EVENT.UPDATE.MESSAGE}", "{EVENT.TAGS} {TIME}", "{ALERT.MESSAGE}!"];
    let made = |event: u64, super_admin: bool| {
        let to = Addressee { user: ALICE, zone: TimeZone::UTC, super_admin, groups: Vec::new() };
        let subject = Subject { event, ..subject };
        let expand: Result<_, DbError> = config.read(|c| texts.about(c, subject, &templates));
        let expand = expand.unwrap()?;
        let message = expand.message(templates[1], &to);
        let sent = Sent { sendto: "", subject: "", message: &message };
        Some((expand.subject(templates[0], &to), expand.parameter(templates[2], &to, sent)))
    };
    let message = "empty, host:web-1, scope:cpu, scope:load, two words:a, \"b\" 19:10:29!";
    let stranger = ("Inaccessible user: seen \"it\"".to_owned(), message.to_owned());
    assert_eq!(made(PROBLEM, false), Some(stranger));
    let subject_of_admin = "Zabbix Administrator (Admin): seen \"it\"";
    assert_eq!(made(PROBLEM, true), Some((subject_of_admin.to_owned(), message.to_owned())));
    assert_eq!(made(999, true), None);
}
