//! Messages that go by another media type, because theirs failed.

use super::*;

const ALERTS: &str = "SELECT sendto, subject, message, status, error, carrierid, replaced_alertid \
                      FROM alerts ORDER BY alertid";
const NONE: Vec<String> = Vec::new();

impl World {
    /// The webhook falls back to mail, and Alice has a mail address, too.
    fn with_fallback() -> Self {
        let world = Self::new();
        world.run(&format!(
            "UPDATE media_types SET fallback_mediatypeid = {MAIL} WHERE mediatypeid = {HOOK}"
        ));
        world.media(110, MAIL, "alice@mail");
        // Operations name the webhook.
        world.run(&format!("UPDATE operation_messages SET mediatypeid = {HOOK}"));
        world
    }

    fn media(&self, id: u64, media_type: u64, sendto: &str) {
        let ids = [("mediaid", id), ("userid", ALICE), ("mediatypeid", media_type)];
        let ids = ids.map(|(name, id)| (name, Value::from(id)));
        self.put(&table::MEDIA, &[&ids[..], &[("sendto", sendto.into())]].concat());
    }

    /// Alerts that are handed over and not reported, the oldest first.
    fn handed(&self) -> Vec<u64> {
        self.escalator.sending.handed().map(|alert| alert.0).collect()
    }

    /// The attempts that are being made fail for good.
    fn fail(&mut self) -> Vec<String> {
        for alert in self.handed() {
            self.report(alert, Outcome::Failed { error: "no route".to_owned(), again: None });
        }
        self.sent()
    }
}

#[test]
fn a_failed_message_goes_by_the_fallback() {
    let mut world = World::with_fallback();
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    let failed = world.handed()[0];
    world.report(failed, Outcome::Failed { error: "busy".into(), again: Some(Duration::ZERO) });
    assert_eq!(world.sent(), ["alice PROBLEM"], "attempts are left");
    assert_eq!(world.fail(), ["alice@mail PROBLEM"]);
    let sent = world.handed()[0];
    let text = format!("text {event} Asia/Tokyo");
    let rows = [
        format!("alice|PROBLEM|{text}|2|no route\nSent by m{MAIL} instead.|{sent}|0"),
        format!("alice@mail|PROBLEM|{text}|3||0|{failed}"),
    ];
    assert_eq!(world.rows(ALERTS), rows);
    assert_eq!(world.fail(), NONE, "mail has no fallback");
    let last = world.rows(ALERTS).pop().unwrap();
    assert!(last.contains("|2|no route|0|"), "{last}");
}

#[test]
fn impossible_messages_fall_back_and_uncertain_ones_do_not() {
    for (outcome, sent) in [
        (Outcome::Impossible { error: "no script".into() }, &["alice@mail PROBLEM"][..]),
        (Outcome::Unknown { error: "cut".into() }, &[]),
        (Outcome::SENT, &[]),
    ] {
        let mut world = World::with_fallback();
        world.problem(TRIGGER);
        world.work();
        lock(&world.sink.taken).clear();
        world.report(world.handed()[0], outcome.clone());
        assert_eq!(world.sent(), sent, "{outcome:?}");
    }
}

#[test]
fn a_fallback_takes_only_what_the_media_accepts() {
    for change in [
        "UPDATE media SET severity = 1 WHERE mediaid = 110",
        "UPDATE media SET active = 1 WHERE mediaid = 110",
        "UPDATE media SET period = '1,00:00-00:01' WHERE mediaid = 110",
        "UPDATE media_types SET status = 1 WHERE mediatypeid = 902",
        "UPDATE group_rights SET permission = 0",
        "UPDATE usergroups SET users_status = 1",
        "DELETE FROM media WHERE mediaid = 110",
    ] {
        let mut world = World::with_fallback();
        world.problem(TRIGGER);
        world.work();
        lock(&world.sink.taken).clear();
        world.run(change);
        assert_eq!(world.fail(), NONE, "{change}");
        assert!(world.rows(ALERTS)[0].contains("|2|no route|0|0"), "{change}");
    }
}

#[test]
fn two_addresses_that_failed_have_one_fallback() {
    let mut world = World::with_fallback();
    world.media(111, HOOK, "alice2");
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM", "alice2 PROBLEM"]);
    assert_eq!(world.fail(), ["alice@mail PROBLEM"]);
    let mut world = World::with_fallback();
    world.media(111, HOOK, "alice2");
    world.problem(TRIGGER);
    world.work();
    let handed = world.handed();
    lock(&world.sink.taken).clear();
    for (alert, sent) in handed.into_iter().zip([&["alice@mail PROBLEM"][..], &[]]) {
        world.report(alert, Outcome::Impossible { error: "no script".to_owned() });
        assert_eq!(world.sent(), sent, "one after the other");
    }
}

#[test]
fn who_has_the_message_already_gets_no_other() {
    let mut world = World::with_fallback();
    world.run("UPDATE operation_messages SET mediatypeid = 0");
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM", "alice@mail PROBLEM"]);
    let hook = world.rows("SELECT alertid FROM alerts WHERE sendto = 'alice'");
    world.report(hook[0].parse().unwrap(), Outcome::Impossible { error: "no".to_owned() });
    assert_eq!(world.sent(), NONE);
}

#[test]
fn fallbacks_follow_each_other_and_hear_of_the_end() {
    const SMS: u64 = 903;
    let mut world = World::with_fallback();
    let sms = [("mediatypeid", SMS), ("type", 2), ("status", 0), ("maxsessions", 0)];
    let sms = sms.map(|(name, number)| (name, Value::from(number)));
    world.put(&table::MEDIA_TYPES, &[&sms[..], &[("name", "SMS".into())]].concat());
    world.media(112, SMS, "+49");
    world.run(&format!(
        "UPDATE media_types SET fallback_mediatypeid = {SMS} WHERE mediatypeid = {MAIL}"
    ));
    world.problem(TRIGGER);
    world.sent();
    assert_eq!(world.fail(), ["alice@mail PROBLEM"]);
    assert_eq!(world.fail(), ["+49 PROBLEM"]);
    world.report_all();
    world.recovery(TRIGGER);
    let mut sent = world.sent();
    sent.sort();
    assert_eq!(sent, ["+49 OK", "alice OK", "alice@mail OK"]);
    let end = world.rows("SELECT alertid FROM alerts WHERE sendto = 'alice' AND subject = 'OK'");
    world.report(end[0].parse().unwrap(), Outcome::Impossible { error: "no".to_owned() });
    assert_eq!(world.sent(), NONE, "its end was sent by mail");
}

#[test]
fn a_crash_makes_both_or_nothing() {
    let mut world = World::with_fallback();
    world.problem(TRIGGER);
    world.work();
    let alert = world.handed()[0];
    world.report(alert, Outcome::Impossible { error: "no script".to_owned() });
    // The report is lost with the process.
    let mut world = world.restarted();
    assert_eq!(world.sent(), NONE);
    assert!(world.rows(ALERTS)[0].contains("|2|The server stopped during the attempt."));
    let mut world = World::with_fallback();
    world.problem(TRIGGER);
    world.work();
    let alert = world.handed()[0];
    world.report(alert, Outcome::Impossible { error: "x".repeat(3_000) });
    world.escalator.take(Duration::ZERO);
    let (now, reports) = (T as i64, std::mem::take(&mut world.escalator.reports));
    world.escalator.reports.clone_from(&reports);
    let fallbacks = world.escalator.fallbacks(now).unwrap();
    let config = Arc::clone(&world.config);
    world.escalator.sending.settle(&config, &reports, &fallbacks, now).unwrap();
    let mut world = world.restarted();
    assert_eq!(world.sent(), ["alice@mail PROBLEM"]);
    let error = &world.rows("SELECT LENGTH(error), error FROM alerts")[0];
    assert!(error.starts_with("2048|xxx") && error.ends_with("Sent by m902 instead."), "{error}");
}

#[test]
fn messages_that_fail_together_have_a_fallback_each() {
    let mut world = World::with_fallback();
    world.run("UPDATE triggers SET type = 1");
    let events = [TRIGGER, DISASTER, TRIGGER].map(|trigger| world.problem(trigger));
    assert_eq!(world.sent().len(), events.len());
    for alert in world.handed() {
        world.report(alert, Outcome::Failed { error: "no route".to_owned(), again: None });
    }
    world.escalator.take(Duration::ZERO);
    let now = T as i64;
    let reports = std::mem::take(&mut world.escalator.reports);
    world.escalator.reports.clone_from(&reports);
    let fallbacks = world.escalator.fallbacks(now).unwrap();
    world.escalator.reports.clear();
    // The second one is deleted meanwhile, with its alerts.
    world.run_state(&format!("DELETE FROM events WHERE eventid = {}", events[1]));
    let config = Arc::clone(&world.config);
    world.escalator.sending.settle(&config, &reports, &fallbacks, now).unwrap();
    let pairs = world.rows(
        "SELECT f.eventid, c.eventid, f.error, c.sendto FROM alerts f \
         JOIN alerts c ON c.alertid = f.carrierid AND c.replaced_alertid = f.alertid \
         ORDER BY f.alertid",
    );
    let pair =
        |event: u64| format!("{event}|{event}|no route\nSent by m{MAIL} instead.|alice@mail");
    assert_eq!(pairs, [pair(events[0]), pair(events[2])]);
}
