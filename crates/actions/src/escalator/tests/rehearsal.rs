//! What an action would have sent: the same as what it did send.

use model::alert::outlook::Silence;
use model::alert::rehearsal::{OfUser, Reason, Rehearsed, Span};

use super::*;

impl World {
    pub(super) fn rehearse(&self, span: Span) -> Rehearsed {
        self.rehearse_for(ALICE, span)
    }

    fn rehearse_for(&self, reader: u64, span: Span) -> Rehearsed {
        let (config, clock) = (Arc::clone(&self.config), self.clock.clone());
        let explainer = Explainer::new(config, clock, Box::new(Echo));
        let prepared = self.config.read(|connection| explainer.prepare(connection, ACTION));
        let prepared = prepared.unwrap().unwrap();
        explainer.rehearse(&prepared, span, reader, &|| false).unwrap().unwrap()
    }

    /// Messages as `second problem mode step address`, with times since the start.
    fn rehearsed(&self, till: i64) -> Vec<String> {
        let found = self.rehearse(Span { from: NOW, till: NOW + till });
        let line = |one: &model::alert::rehearsal::Planned| {
            let address = one.address.clone().unwrap_or_default().1;
            format!("{} {} {:?} {} {address}", one.at - NOW, one.event, one.mode, one.step)
        };
        let mut lines: Vec<String> = found.listed.iter().map(line).collect();
        lines.sort();
        lines
    }
}

const NOW: i64 = T as i64;

/// Every message that was made, in the same form.
const SENT: &str = "SELECT a.clock - 1800000000 AS at, CASE WHEN a.p_eventid = 0 THEN a.eventid ELSE a.p_eventid END AS event, \
                    CASE WHEN a.acknowledgeid <> 0 THEN 'Update' WHEN a.p_eventid <> 0 THEN 'Recovery' ELSE 'Problem' END AS mode, \
                    a.esc_step, a.sendto FROM alerts a";

#[test]
fn a_rehearsal_repeats_what_was_sent() {
    let mut world = World::new();
    let first = world.problem(TRIGGER);
    world.report_all();
    world.after(60);
    world.report_all();
    let update =
        ProblemUpdate { user: UserId(ALICE), acknowledge: Some(true), ..ProblemUpdate::default() };
    world.update(first, update);
    world.report_all();
    world.after(30);
    world.recovery(TRIGGER);
    world.report_all();
    world.after(500);
    world.problem(TRIGGER);
    world.report_all();
    let mut sent: Vec<String> = world.rows(SENT).iter().map(|row| row.replace('|', " ")).collect();
    sent.sort();
    assert!(sent.len() >= 5, "{sent:?}");
    assert_eq!(world.rehearsed(500 + 90), sent);
}

#[test]
fn counts_tell_the_night_the_busiest_hour_and_the_reasons() {
    let mut world = World::new();
    world.run("UPDATE media SET severity = 1 WHERE userid = 102");
    world.problem(TRIGGER);
    world.report_all();
    world.after(60);
    world.after(60);
    world.report_all();
    let found = world.rehearse(Span { from: NOW, till: NOW + 3_600 });
    assert_eq!((found.problems, found.fitting, found.stopped_at), (1, 1, None));
    let alice = &found.users[&ALICE];
    // T is 17:00 in Tokyo.
    assert_eq!((alice.messages, alice.at_night, alice.busiest_hour), (3, 0, (NOW, 3)));
    assert_eq!((alice.sent, alice.failed), (3, 0));
    let bob =
        OfUser { withheld: [(Reason::Silent(Silence::Severity), 1)].into(), ..OfUser::default() };
    assert_eq!(found.users[&BOB], bob);
    world.run_state(
        "UPDATE alerts SET status = 2 WHERE alertid = (SELECT MIN(alertid) FROM alerts)",
    );
    let found = world.rehearse(Span { from: NOW, till: NOW + 3_600 });
    assert_eq!(found.users[&ALICE].sent, 2, "nobody got the one that failed");
    let before = world.rehearse(Span { from: NOW - 100, till: NOW - 1 });
    assert_eq!((before.problems, before.users.len()), (0, 0));
}

/// Otherwise conditions on names and tags would tell what hidden problems say.
#[test]
fn problems_that_the_caller_does_not_see_do_not_count() {
    let mut world = World::new();
    world.problem(TRIGGER);
    world.work();
    world.run("DELETE FROM user_groups WHERE userid = 102");
    let span = Span { from: NOW, till: NOW + 600 };
    for (reader, problems) in [(ALICE, 1), (BOB, 0)] {
        let found = world.rehearse_for(reader, span);
        assert_eq!((found.problems, found.fitting), (problems, problems), "{reader}");
        assert_eq!(found.listed.is_empty(), problems == 0);
    }
    world.run("UPDATE users SET roleid = 3 WHERE userid = 102");
    assert_eq!(world.rehearse_for(BOB, span).problems, 1, "super admins see all");
}

#[test]
fn an_action_is_rehearsed_before_it_is_stored() {
    let world = World::new();
    world.problem(TRIGGER);
    let (config, clock) = (Arc::clone(&world.config), world.clock.clone());
    let explainer = Explainer::new(config, clock, Box::new(Echo));
    let mut prepared = None;
    let undone: Result<(), DbError> = world.config.write(|edit| {
        edit.unrecorded()
            .execute("UPDATE operations SET esc_step_to = 1, esc_step_from = 1", &[])?;
        prepared = explainer.prepare(edit, ACTION)?;
        Err(DbError::Constraint("undone".to_owned()))
    });
    undone.unwrap_err();
    let span = Span { from: NOW, till: NOW + 600 };
    let found = explainer.rehearse(&prepared.unwrap(), span, ALICE, &|| false).unwrap().unwrap();
    assert_eq!(found.users[&ALICE].messages, 1, "it has one step in the transaction");
    assert_eq!(world.rehearse(span).users[&ALICE].messages, 3);
}
