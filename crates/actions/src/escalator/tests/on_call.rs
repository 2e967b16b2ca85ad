//! Schedules as recipients.

use model::alert::outlook::{OnCall, Verdict};
use model::alert::rehearsal::Span;

use super::*;

const SCHEDULE: u64 = 701;
const NOW: i64 = T as i64;
const HOUR: i64 = 3_600;
const ALERTS: &str = "SELECT userid, sendto, status, retries, error FROM alerts ORDER BY alertid";

/// The first operation tells those of a schedule in which Alice and Bob take turns daily from now on.
fn world(who: i64) -> World {
    let world = World::new();
    let schedule: (&'static str, Value) = ("scheduleid", SCHEDULE.into());
    let own = |more: Columns<'_>| [&[schedule.clone()][..], more].concat();
    world.put(
        &table::ONCALL_SCHEDULES,
        &own(&[("name", "Linux".into()), ("timezone", "UTC".into())]),
    );
    world.put(&table::ONCALL_LAYERS, &own(&[("time_from", NOW.into()), ("period", "1d".into())]));
    for (position, user) in [ALICE, BOB].into_iter().enumerate() {
        let position = i64::try_from(position).unwrap();
        let row = [("position", position.into()), ("userid", user.into())];
        world.put(&table::ONCALL_LAYER_USERS, &own(&row));
    }
    let to = [("operationid", 401.into()), ("who", who.into())];
    world.put(&table::OPERATION_MESSAGE_SCHEDULES, &own(&to));
    world.run("DELETE FROM operation_message_users WHERE operationid = 401");
    world.run("DELETE FROM operations WHERE operationid = 402");
    world
}

impl World {
    fn instead(&self, user: u64, from: i64, till: i64) {
        self.put(
            &table::ONCALL_OVERRIDES,
            &[
                ("overrideid", (from - NOW + 1_000).into()),
                ("scheduleid", SCHEDULE.into()),
                ("userid", user.into()),
                ("time_from", from.into()),
                ("time_till", till.into()),
            ],
        );
    }

    fn explained(&self, event: u64) -> (Vec<u64>, Vec<OnCall>) {
        let (config, clock) = (Arc::clone(&self.config), self.clock.clone());
        let explainer = Explainer::new(config, clock, Box::new(Echo));
        let operation = explainer.outlook(event).unwrap().unwrap().actions[0].operations[0].clone();
        let sent = operation.cases.iter().filter(|case| case.verdict == Verdict::Sent);
        (sent.map(|case| case.user).collect(), operation.on_call)
    }
}

fn linux(users: &[u64]) -> Vec<OnCall> {
    vec![OnCall { schedule: SCHEDULE, name: "Linux".to_owned(), users: users.to_vec() }]
}

#[test]
fn who_is_on_call_at_the_time_of_a_step_gets_it() {
    let mut world = world(0);
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    assert_eq!(world.explained(event), (vec![ALICE], linux(&[ALICE])));
    // Bob stands in from the second step on, until the third.
    world.instead(BOB, NOW + 30, NOW + 100);
    assert_eq!(world.after(60), ["bob PROBLEM"]);
    assert_eq!(world.explained(event), (vec![BOB], linux(&[BOB])));
    assert_eq!(world.after(60), ["alice PROBLEM"]);
    world.report_all();
    // Users who got a message hear of the end, also when somebody else is on call.
    world.instead(BOB, NOW + 110, NOW + HOUR);
    world.recovery(TRIGGER);
    let mut told = world.sent();
    told.sort();
    assert_eq!(told, ["alice OK", "bob OK"]);
}

#[test]
fn each_step_reaches_the_next_one_in_turn() {
    let mut world = world(1);
    world.run("UPDATE operations SET esc_step_from = 2, esc_step_to = 4 WHERE operationid = 401");
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), [""; 0], "the first step has no operation");
    assert_eq!(world.explained(event).1, linux(&[BOB]), "the second one comes next");
    assert_eq!(world.after(60), ["bob PROBLEM"]);
    assert_eq!(world.after(60), ["alice PROBLEM"]);
    assert_eq!(world.after(60), ["bob PROBLEM"]);
    assert_eq!(world.after(60), [""; 0]);
}

#[test]
fn everyone_is_told_until_somebody_acknowledges() {
    let mut world = world(2);
    world.put(
        &table::OPERATION_CONDITIONS,
        &[("operationid", 401.into()), ("conditiontype", 14.into()), ("value", "0".into())],
    );
    world.run("UPDATE operations SET esc_step_to = 0 WHERE operationid = 401");
    let event = world.problem(TRIGGER);
    let mut both = world.sent();
    both.sort();
    assert_eq!(both, ["alice PROBLEM", "bob PROBLEM"]);
    assert_eq!(world.after(60).len(), 2);
    world.report_all();
    let update =
        ProblemUpdate { user: UserId(ALICE), acknowledge: Some(true), ..ProblemUpdate::default() };
    world.update(event, update);
    assert_eq!(world.sent(), ["bob UPDATE"]);
    assert_eq!(world.after(60), [""; 0]);
}

#[test]
fn a_gap_is_a_message_to_nobody_that_says_so() {
    let mut world = world(0);
    world.run(&format!("UPDATE oncall_layers SET time_till = {}", NOW + 30));
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    assert_eq!(world.after(60), [""; 0]);
    assert_eq!(world.rows(ALERTS)[1..], ["0||2|0|Nobody is on call in Linux."]);
    assert_eq!(world.explained(event), (vec![], linux(&[])));
    // Others of the operation get it all the same.
    world.put(
        &table::OPERATION_MESSAGE_USERS,
        &[("operationid", 401.into()), ("userid", BOB.into())],
    );
    assert_eq!(world.after(60), ["bob PROBLEM"]);
    assert_eq!(world.rows("SELECT COUNT(*) FROM alerts WHERE userid = 0"), ["2"]);
}

#[test]
fn users_who_do_not_see_the_host_get_nothing() {
    let mut world = world(0);
    world.run("UPDATE group_rights SET permission = 0");
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), [""; 0]);
    assert_eq!(world.explained(event), (vec![], linux(&[ALICE])));
    assert_eq!(world.rows(ALERTS), [""; 0], "as for users who are named");
}

#[test]
fn a_rehearsal_asks_who_was_on_call() {
    let mut world = world(0);
    world.run(&format!("UPDATE oncall_layers SET time_till = {}", NOW + 100));
    world.instead(BOB, NOW + 30, NOW + 70);
    world.problem(TRIGGER);
    for _ in 0..3 {
        world.after(60);
        world.report_all();
    }
    let found = world.rehearse(Span { from: NOW, till: NOW + HOUR });
    let listed = found.listed.iter().map(|one| (one.at - NOW, one.user, one.on_call.join(",")));
    assert_eq!(
        Vec::from_iter(listed),
        [(0, ALICE, "Linux".to_owned()), (60, BOB, "Linux".to_owned())]
    );
    assert_eq!(found.gaps, [("Linux".to_owned(), 1)].into());
    assert_eq!(world.rows(ALERTS).len(), 3, "as it was in fact");
}
