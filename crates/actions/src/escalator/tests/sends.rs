//! From alerts to attempts, and crashes at the worst moments.

use super::*;
use crate::recipients::Fate;

const STATES: &str = "SELECT status, retries, error, nextcheck > 0 FROM alerts ORDER BY alertid";

fn failed(error: &str, again: Option<u64>) -> Outcome {
    let again = again.map(Duration::from_secs);
    Outcome::Failed { error: error.to_owned(), again }
}

fn first_alert(world: &World) -> u64 {
    world.rows("SELECT MIN(alertid) FROM alerts")[0].parse().unwrap()
}

#[test]
fn failed_attempts_are_repeated_when_they_are_due() {
    let mut world = World::new();
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    let alert = first_alert(&world);
    assert_eq!(world.rows(STATES), ["3|0||0"]);
    world.report(alert, failed("sink said 500", Some(10)));
    assert_eq!(world.work(), 10);
    assert_eq!(world.rows(STATES), ["0|1|sink said 500|1"]);
    assert_eq!(world.after(10), ["alice PROBLEM"]);
    world.report(alert, Outcome::SENT);
    world.work();
    assert_eq!(world.rows(STATES), ["1|1||0"]);
}

#[test]
fn outcomes_that_are_final() {
    for (outcome, row) in [
        (failed("no", None), "2|1|no|0"),
        (Outcome::Impossible { error: "never".to_owned() }, "2|0|never|0"),
        (Outcome::Unknown { error: "cut".to_owned() }, "2|0|cut|0"),
        (failed(&"ä".repeat(3_000), None), &format!("2|1|{}|0", "ä".repeat(2_048))),
    ] {
        let mut world = World::new();
        world.problem(TRIGGER);
        world.work();
        world.report(first_alert(&world), outcome);
        assert_eq!(world.sent(), ["alice PROBLEM"]);
        assert_eq!(world.rows(STATES), [row]);
    }
}

#[test]
fn attempts_that_were_not_started_wait_for_the_next_start() {
    let mut world = World::new();
    world.problem(TRIGGER);
    world.work();
    world.report(first_alert(&world), Outcome::NotStarted);
    assert_eq!(world.sent(), ["alice PROBLEM", "alice PROBLEM"]);
    *lock(&world.sink.room) = Some(0);
    world.report(first_alert(&world), Outcome::NotStarted);
    world.work();
    assert_eq!(world.rows(STATES), ["3|0||1"]);
    let mut world = world.restarted();
    assert_eq!(world.after(1), ["alice PROBLEM"]);
}

#[test]
fn full_queues_lose_nothing() {
    let mut world = World::new();
    *lock(&world.sink.room) = Some(1);
    world.problem(TRIGGER);
    world.problem(CHILD);
    world.recovery(TRIGGER);
    assert_eq!(world.sent().len(), 1);
    let mut total = 1;
    for _ in 0..10 {
        *lock(&world.sink.room) = Some(1);
        total += world.after(1).len();
    }
    assert_eq!(world.rows("SELECT COUNT(*) FROM alerts"), [total.to_string()]);
    assert_eq!(total, 3);
}

#[test]
fn a_crash_between_event_and_look_skips_no_event() {
    let world = World::new();
    world.problem(TRIGGER);
    let mut world = world.restarted();
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    let mut world = world.restarted();
    assert_eq!(world.sent(), Vec::<String>::new(), "and repeats none");
    assert_eq!(world.after(60), ["alice PROBLEM", "bob SECOND"]);
}

#[test]
fn a_crash_before_the_hand_over_loses_no_alert() {
    let mut world = World::new();
    world.problem(TRIGGER);
    let now = T as i64;
    assert!(!world.escalator.look(now).unwrap());
    assert_eq!(world.rows(STATES), ["3|0||1"]);
    let mut world = world.restarted();
    assert_eq!(world.sent(), ["alice PROBLEM"]);
}

#[test]
fn a_crash_during_an_attempt_leaves_an_error_that_says_so() {
    let mut world = World::new();
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    let mut world = world.restarted();
    assert_eq!(world.sent(), Vec::<String>::new());
    let rows = world.rows(STATES);
    assert!(rows[0].starts_with("2|0|The server stopped during the attempt."), "{rows:?}");
    // A user who may have the message gets the one of the end.
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["alice OK"]);
}

#[test]
fn a_failed_transaction_leaves_no_alert_behind() {
    let mut world = World::new();
    world.problem(TRIGGER);
    world.escalator.look(T as i64).unwrap();
    // As after a hand-over whose transaction ended without a result.
    world.run_state("UPDATE alerts SET nextcheck = 0");
    assert_eq!(world.sent(), Vec::<String>::new());
    world.escalator.sending.doubt();
    assert_eq!(world.sent(), ["alice PROBLEM"]);
}

#[test]
fn a_clock_that_is_set_back_delays_no_step() {
    let mut world = World::new();
    world.problem(TRIGGER);
    world.work();
    world.clock.set_back(Duration::from_secs(3_600));
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    assert_eq!(world.work(), 60);
    assert_eq!(world.after(60), ["alice PROBLEM", "bob SECOND"]);
}

#[test]
fn a_clock_that_was_years_ahead_at_the_last_run_delays_nothing() {
    const YEARS: u64 = 20 * 365 * 86_400;
    let mut world = World::new();
    world.clock.advance(Duration::from_secs(YEARS));
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    world.report_all();
    world.clock.advance(Duration::from_secs(20));
    world.work();
    // It is corrected while the server is down.
    world.clock.set_back(Duration::from_secs(YEARS));
    let mut world = world.restarted();
    assert_eq!(world.rows("SELECT nextcheck FROM escalations"), [(T + 80).to_string()]);
    assert_eq!(world.work(), 60, "the time since the last change does not count");
    // A second start moves nothing again.
    let mut world = world.restarted();
    assert_eq!(world.after(59), [""; 0]);
    assert_eq!(world.after(1), ["alice PROBLEM", "bob SECOND"]);
}

#[test]
fn tags_of_webhooks_are_added_to_the_problem() {
    let mut world = World::new();
    let told = Arc::<Mutex<Vec<u64>>>::default();
    let tell = Arc::clone(&told);
    world.escalator.tagged = Box::new(move |problems| lock(&tell).extend(problems));
    let event = world.problem(TRIGGER);
    world.work();
    let tags = [("ticket", "7"), ("ticket", "8"), ("ticket", "7")];
    let tags = tags.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    world.report(first_alert(&world), Outcome::Sent { tags, message_id: String::new() });
    world.work();
    assert_eq!(world.rows("SELECT tag, value FROM event_tags"), ["ticket|7", "ticket|8"]);
    assert_eq!(*lock(&told), [event], "services may have it now");
}

#[test]
fn the_thread_ends_after_the_last_report() {
    let world = World::new();
    world.problem(TRIGGER);
    let World { config, escalator, bell, sink, clock, .. } = world;
    let stop = Stop::new(clock);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| escalator.run(&stop));
        let alert = loop {
            if let Some(attempt) = lock(&sink.taken).first() {
                break attempt.alert;
            }
            assert!(!thread.is_finished());
            std::thread::yield_now();
        };
        bell.report(Report { alert, outcome: Outcome::SENT });
        bell.end();
        thread.join().unwrap();
    });
    let status = |c: &mut dyn Reader| c.query("SELECT status FROM alerts", &[]);
    assert_eq!(config.read(status).unwrap()[0].int("status"), 1);
}

/// Errors of alerts that have one, with their users.
const ERRORS: &str =
    "SELECT userid, status, retries, error FROM alerts WHERE error <> '' ORDER BY alertid";

#[test]
fn a_text_that_cannot_be_made_stops_nothing_else() {
    let failed = format!("{ALICE}|2|0|{}", Fate::Faulty.error().0);
    for fault in ["cannot be made", "cannot be read"] {
        let mut world = World::new();
        let sql = "UPDATE operation_messages SET message = ";
        world.run(&format!("{sql}'{fault}' WHERE operationid = 401"));
        world.problem(TRIGGER);
        assert_eq!(world.sent(), Vec::<String>::new());
        assert_eq!(world.rows(ERRORS), [failed.as_str()]);
        assert_eq!(world.after(60), ["bob SECOND"]);
        assert_eq!(world.rows(ERRORS), [failed.as_str(), &failed]);
        world.recovery(TRIGGER);
        assert_eq!(world.sent(), ["bob OK"]);
    }
}

#[test]
fn a_refused_alert_is_marked_and_stops_nothing_else() {
    let mut world = World::new();
    world.run_state(
        "CREATE TRIGGER refuses BEFORE INSERT ON alerts WHEN NEW.subject = 'PROBLEM' \
         BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    world.problem(TRIGGER);
    assert_eq!(world.sent(), Vec::<String>::new());
    let failed = format!("{ALICE}|2|0|{}", Fate::Refused.error().0);
    assert_eq!(world.rows(ERRORS), [failed.as_str()]);
    assert_eq!(world.after(60), ["bob SECOND"]);
    world.run_state(
        "CREATE TRIGGER refuses_more BEFORE INSERT ON alerts WHEN NEW.userid = 101 \
         BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    assert_eq!(world.after(60), Vec::<String>::new());
    assert_eq!(world.rows(ERRORS), [failed.as_str(), &failed], "nothing of it is accepted");
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["bob OK"]);
}

#[test]
fn a_refused_escalation_stops_nothing_else() {
    let mut world = World::new();
    world.run_state(
        "CREATE TRIGGER refuses BEFORE INSERT ON escalations WHEN NEW.triggerid = 1 \
         BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    assert_eq!(world.after(60), Vec::<String>::new());
}

#[test]
fn a_refused_outcome_loses_only_its_text() {
    let mut world = World::new();
    world.run_state(
        "CREATE TRIGGER refuses BEFORE INSERT ON event_tags WHEN NEW.value = 'bad' \
         BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    world.run_state(
        "CREATE TRIGGER refuses_too BEFORE UPDATE ON alerts WHEN NEW.error = 'bad' \
         BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    world.problem(TRIGGER);
    world.work();
    let alert = first_alert(&world);
    world.report(alert, failed("bad", Some(10)));
    assert_eq!(world.work(), 10);
    let text = "The database refused the text of the error. See the server's log.";
    assert_eq!(world.rows(STATES), [format!("0|1|{text}|1")]);
    world.after(10);
    world.report(
        alert,
        Outcome::Sent {
            tags: vec![("t".to_owned(), "bad".to_owned())],
            message_id: "bad".to_owned(),
        },
    );
    world.work();
    assert_eq!(world.rows(STATES), ["1|1||0"]);
}

#[test]
fn a_media_type_gets_twice_as_many_messages_as_sessions() {
    let mut world = World::new();
    world.run("UPDATE media_types SET maxsessions = 1");
    world.run("UPDATE triggers SET type = 1");
    for _ in 0..4 {
        world.problem(DISASTER);
    }
    let mut sent = Vec::new();
    for waiting in ["2", "1", "0"] {
        sent.push(world.sent().len());
        let left = "SELECT COUNT(*) FROM alerts WHERE status = 3 AND nextcheck > 0";
        assert_eq!(world.rows(left), [waiting]);
        // A message for each that was reported.
        let first = world.escalator.sending.handed().next().unwrap();
        world.report(first.0, Outcome::SENT);
    }
    assert_eq!(sent, [2, 1, 1]);
}

#[test]
fn reports_are_gathered_while_most_attempts_are_under_way() {
    let mut world = World::new();
    world.run("UPDATE triggers SET type = 1");
    for _ in 0..3 {
        world.problem(DISASTER);
    }
    world.work();
    let handed: Vec<AlertId> = world.escalator.sending.handed().collect();
    let report = |alert: &AlertId| Report { alert: *alert, outcome: Outcome::SENT };
    let reports: Vec<Report> = handed.iter().map(report).collect();
    let busy = |n: usize| world.escalator.sending.is_busy(&reports[..n]);
    assert_eq!([0, 1, 2, 3].map(busy), [false, true, false, false]);
    let unknown = [Report { alert: AlertId(u64::MAX), outcome: Outcome::SENT }];
    assert!(!world.escalator.sending.is_busy(&unknown), "of a command");
}

#[test]
fn alerts_that_a_deletion_has_left_are_not_sent() {
    for (table, column, id) in
        [(&table::USERS, "userid", ALICE), (&table::ACTIONS, "actionid", ACTION)]
    {
        let mut world = World::new();
        world.problem(TRIGGER);
        world.escalator.look(T as i64).unwrap();
        // The server stops before it deletes the alerts, too.
        let deleted: Result<(), DbError> =
            world.config.write(|edit| edit.delete(table, column, &[id]));
        deleted.unwrap();
        let mut world = world.restarted();
        assert_eq!(world.sent(), Vec::<String>::new());
        let error = "The action or the user was deleted. The message is not sent.";
        assert_eq!(world.rows(STATES), [format!("2|0|{error}|0")]);
        assert_eq!(world.work(), 60, "nothing is due");
    }
}
