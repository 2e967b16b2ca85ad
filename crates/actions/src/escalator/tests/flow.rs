//! From events to alerts.

use super::*;

const ALERTS: &str = "SELECT eventid, p_eventid, acknowledgeid, userid, mediatypeid, sendto, subject, \
                      message, status, retries, error, esc_step FROM alerts ORDER BY alertid";

#[test]
fn steps_recovery_and_rows() {
    let mut world = World::new();
    assert_eq!(world.sent(), Vec::<String>::new());
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    assert_eq!(world.work(), 60);
    assert_eq!(world.after(59), Vec::<String>::new());
    assert_eq!(world.after(1), ["alice PROBLEM", "bob SECOND"]);
    world.report_all();
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["alice OK", "bob OK"]);
    let end = event + 1;
    assert_eq!(
        world.rows(ALERTS),
        [
            format!("{event}|0|0|101|901|alice|PROBLEM|text {event} Asia/Tokyo|1|0||1"),
            format!("{event}|0|0|102|902|bob|SECOND|text {event} Asia/Tokyo|1|0||2"),
            format!("{event}|0|0|101|901|alice|PROBLEM|text {event} Asia/Tokyo|1|0||2"),
            format!("{end}|{event}|0|102|902|bob|OK|text {event} Asia/Tokyo|3|0||1"),
            format!("{end}|{event}|0|101|901|alice|OK|text {event} Asia/Tokyo|3|0||1"),
        ]
    );
    assert_eq!(world.rows("SELECT * FROM escalations"), Vec::<String>::new());
    assert_eq!(world.after(3_600), Vec::<String>::new());
}

#[test]
fn parameters_have_the_expanded_message() {
    let mut world = World::new();
    world.problem(TRIGGER);
    world.work();
    let taken = lock(&world.sink.taken);
    assert_eq!(taken[0].parameters, [("to".to_owned(), "alice: PROBLEM".to_owned())]);
}

#[test]
fn only_events_that_meet_the_conditions() {
    let mut world = World::new();
    condition(&world.config, 0, 0, "5000");
    world.run("UPDATE triggers SET priority = 2 WHERE triggerid = 1");
    world.problem(TRIGGER);
    assert_eq!(world.sent(), Vec::<String>::new());
    world.recovery(TRIGGER);
    world.run("UPDATE triggers SET priority = 3 WHERE triggerid = 1");
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
}

#[test]
fn a_first_start_and_enabled_actions_pick_up_no_old_problems() {
    let mut world = World::new();
    world.run("UPDATE actions SET status = 1");
    world.problem(TRIGGER);
    assert_eq!(world.sent(), Vec::<String>::new());
    world.run("UPDATE actions SET status = 0");
    assert_eq!(world.after(600), Vec::<String>::new());
    world.run_state("DELETE FROM state_settings");
    world.problem(CHILD);
    let mut world = world.restarted();
    assert_eq!(world.after(600), Vec::<String>::new());
}

#[test]
fn problem_and_recovery_in_one_transaction() {
    let mut world = World::new();
    world.problem(TRIGGER);
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM", "alice OK"]);
}

#[test]
fn updates_reach_all_but_their_author() {
    let mut world = World::new();
    let event = world.problem(TRIGGER);
    world.work();
    assert_eq!(world.after(60), ["alice PROBLEM", "alice PROBLEM", "bob SECOND"]);
    let comment = ProblemUpdate {
        user: UserId(ALICE),
        message: "looking".to_owned(),
        ..ProblemUpdate::default()
    };
    world.update(event, comment.clone());
    assert_eq!(world.sent(), ["bob UPDATE"]);
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["alice OK", "bob OK"]);
    world.update(event, ProblemUpdate { user: UserId(BOB), ..comment });
    assert_eq!(world.sent(), ["alice UPDATE"], "of a problem that has ended, too");
    let updates = "SELECT eventid, p_eventid, acknowledgeid > 0, esc_step FROM alerts \
                   WHERE subject = 'UPDATE' ORDER BY alertid";
    let end = event + 1;
    assert_eq!(world.rows(updates), [format!("{event}|0|1|1"), format!("{end}|{event}|1|1")]);
}

#[test]
fn updates_wait_for_the_message_about_their_problem() {
    let mut world = World::new();
    // As many as are looked at in one transaction.
    let others: Result<(), DbError> = world.config.write_state(|state| {
        let first = state.next_id(&table::EVENTS, 500)?;
        let row = |id: u64| vec![id.into(), 3_i64.into(), 1_i64.into()];
        let rows: Vec<Vec<Value>> = (first..first + 500).map(row).collect();
        state.insert_many(&table::EVENTS, &["eventid", "source", "value"], &rows)
    });
    others.unwrap();
    let event = world.problem(TRIGGER);
    let message = "looking".to_owned();
    let comment = ProblemUpdate { user: UserId(BOB), message, ..ProblemUpdate::default() };
    world.update(event, comment);
    assert_eq!(world.sent(), Vec::<String>::new());
    assert_eq!(world.sent(), ["alice PROBLEM", "alice UPDATE"]);
}

#[test]
fn messages_of_updates_involve_nobody() {
    let mut world = World::new();
    operation(&world.config, 405, 2, (1, 1), Some(BOB), "NAMED");
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    let message = "looking".to_owned();
    let comment = ProblemUpdate { user: UserId(1), message, ..ProblemUpdate::default() };
    world.update(event, comment);
    assert_eq!(world.sent(), ["alice UPDATE", "bob NAMED"]);
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["alice OK"]);
}

#[test]
fn suppression_by_users_pauses_until_it_ends() {
    use model::Suppression;
    let mut world = World::new();
    let event = world.problem(TRIGGER);
    world.work();
    let suppression = |one| ProblemUpdate {
        user: UserId(ALICE),
        suppression: Some(one),
        ..ProblemUpdate::default()
    };
    world.update(event, suppression(Suppression::Indefinite));
    world.sent();
    assert_eq!(world.after(60), Vec::<String>::new());
    assert_eq!(world.after(600), Vec::<String>::new());
    world.update(event, suppression(Suppression::End));
    assert_eq!(world.sent(), ["alice PROBLEM", "bob SECOND", "bob UPDATE"]);
    let until = model::UnixSeconds(world.now().clock + 90);
    world.update(event, suppression(Suppression::Until(until)));
    assert_eq!(world.sent(), ["bob UPDATE"]);
    assert_eq!(world.after(60), Vec::<String>::new());
    assert_eq!(world.after(29), Vec::<String>::new());
    assert_eq!(world.after(3), ["alice PROBLEM"]);
}

#[test]
fn maintenance_pauses_new_problems_until_it_is_deleted() {
    let mut world = World::new();
    let now = i64::from(world.now().clock);
    world.put(
        &table::MAINTENANCES,
        &[
            ("maintenanceid", 1_u64.into()),
            ("active_since", (now - 60).into()),
            ("active_till", (now + 86_400).into()),
        ],
    );
    world.put(
        &table::MAINTENANCE_PERIODS,
        &[
            ("maintenanceid", 1_u64.into()),
            ("start_date", (now - 60).into()),
            ("period", 7_200_i64.into()),
        ],
    );
    world.put(
        &table::MAINTENANCE_HOSTS,
        &[("maintenanceid", 1_u64.into()), ("hostid", HOST.into())],
    );
    // The watch has not seen the problem yet.
    world.problem(TRIGGER);
    assert_eq!(world.sent(), Vec::<String>::new());
    let bell = world.bell.clone();
    let mut watch = MaintenanceWatch::new(Arc::clone(&world.config))
        .telling(Box::new(move |problems| bell.suppression_changed(problems)));
    watch.look(now).unwrap();
    assert_eq!(world.after(60), Vec::<String>::new());
    world.run("DELETE FROM maintenances");
    watch.look(now + 60).unwrap();
    assert_eq!(world.sent(), ["alice PROBLEM"]);
}

#[test]
fn dependent_problems_wait_for_the_other_one() {
    let mut world = World::new();
    world.problem(CHILD);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    assert_eq!(world.after(60), ["alice PROBLEM", "bob SECOND"], "only of the other one");
    world.recovery(TRIGGER);
    let sent = world.sent();
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert!(sent.contains(&"alice OK".to_owned()) && sent.contains(&"bob SECOND".to_owned()));
}

#[test]
fn cancelled_escalations_tell_those_who_were_told() {
    for (sql, reason) in [
        ("UPDATE triggers SET status = 1", "trigger \"Load on {HOST.NAME}\""),
        ("UPDATE items SET status = 1", "item \"k\""),
        ("UPDATE hosts SET status = 1", "host \"web\""),
    ] {
        let mut world = World::new();
        let event = world.problem(TRIGGER);
        world.work();
        world.run(sql);
        assert_eq!(world.after(59), ["alice PROBLEM"]);
        assert_eq!(world.after(1), ["alice PROBLEM"], "{reason}");
        let note = format!(
            "NOTE: Escalation canceled: {reason} disabled.\nLast message sent:\n\
             text {event} Asia/Tokyo"
        );
        let last = "SELECT message FROM alerts ORDER BY alertid DESC LIMIT 1";
        assert_eq!(world.rows(last), [note]);
        assert_eq!(world.rows("SELECT * FROM escalations"), Vec::<String>::new());
    }
}

#[test]
fn deleted_triggers_and_actions_end_it_silently() {
    for sql in ["DELETE FROM triggers", "DELETE FROM actions"] {
        let mut world = World::new();
        world.problem(TRIGGER);
        world.work();
        let done: Result<u64, DbError> =
            world.config.write(|edit| edit.unrecorded().execute(sql, &[]));
        done.unwrap();
        world.escalator.configured = Configured::default();
        assert_eq!(world.after(60), ["alice PROBLEM"], "{sql}");
        assert_eq!(world.rows("SELECT * FROM escalations"), Vec::<String>::new());
    }
}

#[test]
fn what_is_deleted_between_steps_gets_no_further_messages() {
    for (sql, sent) in [
        ("DELETE FROM users WHERE userid = 101", &["bob SECOND"][..]),
        ("DELETE FROM media WHERE userid = 101", &["bob SECOND"]),
        ("DELETE FROM operations WHERE operationid = 401", &["bob SECOND"]),
        ("DELETE FROM group_rights", &[]),
    ] {
        let mut world = World::new();
        world.problem(TRIGGER);
        assert_eq!(world.sent(), ["alice PROBLEM"]);
        world.report_all();
        world.run(sql);
        assert_eq!(world.after(60), sent, "{sql}");
        world.report_all();
        world.recovery(TRIGGER);
        let after = world.sent();
        assert!(!after.iter().any(|one| one.starts_with("alice")) || sql.contains("operations"));
    }
}

/// Otherwise its alerts would stay: what deletes them has come before.
#[test]
fn what_is_deleted_during_a_look_leaves_no_alerts() {
    let look = |world: &World, sql: &str| {
        let now = i64::try_from(T).unwrap();
        let (snapshot, woken) = (world.config.snapshot(), BTreeSet::new());
        let turn = Turn { snapshot: &snapshot, texts: &Echo, now, woken: &woken };
        let before = world.config.read(Position::read).unwrap();
        let mut configured = Configured::default();
        let looked = world.config.read(|connection| turn.look(connection, &mut configured, before));
        let mut changes = looked.unwrap().changes;
        assert_eq!((changes.alerts.len(), changes.kept.len()), (1, 1));
        let done: Result<u64, DbError> =
            world.config.write(|edit| edit.unrecorded().execute(sql, &[]));
        done.unwrap();
        world.config.write_state(|state| changes.write(state, now)).unwrap();
    };
    for (sql, kept) in
        [("DELETE FROM actions", "0|0"), ("DELETE FROM users WHERE userid = 101", "0|1")]
    {
        let world = World::new();
        world.problem(TRIGGER);
        look(&world, sql);
        let counts = "SELECT (SELECT COUNT(*) FROM alerts), (SELECT COUNT(*) FROM escalations)";
        assert_eq!(world.rows(counts), [kept], "{sql}");
    }
}

#[test]
fn escalations_that_wait_for_the_end_go_with_the_trigger() {
    let escalations = "SELECT eventid FROM escalations";
    let mut world = World::new();
    world.run("UPDATE operations SET esc_step_to = 1");
    let event = world.problem(TRIGGER);
    world.work();
    assert_eq!(world.rows(escalations), [event.to_string()]);
    world.problems.remove_of(&[TriggerId(TRIGGER)]).unwrap();
    assert_eq!(world.rows(escalations), Vec::<String>::new());
    // The problem is removed before the escalator writes what it decided.
    world.problem(TRIGGER);
    world.run_state("DELETE FROM problems");
    world.work();
    assert_eq!(world.rows(escalations), Vec::<String>::new());
    // One that an older version left.
    let event = world.problem(CHILD);
    world.work();
    world.run_state("DELETE FROM problems");
    assert_eq!(world.rows(escalations), [event.to_string()]);
    world.problems.housekeep().unwrap();
    assert_eq!(world.rows(escalations), Vec::<String>::new());
}

#[test]
fn new_devices_and_agents_are_told_to_super_admins() {
    let mut world = World::new();
    world.run("UPDATE actions SET eventsource = 2");
    world.run("DELETE FROM action_conditions");
    world.put(&table::AUTOREG_HOSTS, &[("autoreg_hostid", 7_u64.into()), ("host", "new".into())]);
    let event = model::NewEvent {
        origin: model::EventOrigin::AutoregisteredHost(7),
        at: world.now(),
        value: 1,
    };
    let record = |world: &World| {
        let written: Result<(), DbError> =
            world.config.write_state(|state| ::events::record(state, &[event]));
        written.unwrap();
    };
    record(&world);
    assert_eq!(world.sent(), Vec::<String>::new());
    world.run("UPDATE users SET roleid = 3 WHERE userid = 101");
    record(&world);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    assert_eq!(world.after(600), Vec::<String>::new(), "one step");
}

#[test]
fn users_lose_messages_with_their_rights() {
    let mut world = World::new();
    world.problem(TRIGGER);
    world.work();
    world.run("DELETE FROM group_rights");
    assert_eq!(world.after(60), ["alice PROBLEM"]);
    assert_eq!(world.rows("SELECT COUNT(*) FROM alerts"), ["1"]);
}

#[test]
fn a_named_user_of_the_recovery_is_not_involved_by_it() {
    let mut world = World::new();
    world.run("DELETE FROM operations WHERE recovery = 0");
    operation(&world.config, 402, 1, (1, 1), Some(BOB), "NAMED");
    world.problem(TRIGGER);
    assert_eq!(world.sent(), Vec::<String>::new());
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["bob NAMED"]);
}
