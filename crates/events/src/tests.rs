//! Findings in, rows out, on an SQLite file.

use config::table;
use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{Hooks, Problems, Unsent, UpdateError, initial_triggers};
use config::Config;
use config::db::{DbError, Location, SharedDisk, Value};
use config::retry::Stop;
use model::{
    EventId, InitialTrigger, ProblemChange, ProblemRank, ProblemUpdate, Severity, Suppression,
    Timestamp, TriggerFinding, TriggerId, TriggerState, UnixSeconds, UserId,
};
use stdx::clock::SimClock;

mod correlation;
mod failures;
mod internal;
mod retention;

const NOW_S: u64 = 1_800_000_000;

struct World {
    config: Arc<Config>,
    clock: Arc<SimClock>,
    problems: Problems,
    changes: Arc<Mutex<Vec<(u64, TriggerState)>>>,
    states: Arc<Mutex<Vec<(u64, TriggerState)>>>,
    /// How often it was told of new events and updates.
    written: Arc<Mutex<usize>>,
    dir: tempfile::TempDir,
}

fn location(dir: &tempfile::TempDir) -> Location {
    Location::Sqlite(dir.path().join("config.db"))
}

fn open(dir: &tempfile::TempDir) -> Arc<Config> {
    Arc::new(Config::open(location(dir)).unwrap())
}

impl World {
    /// Triggers 1 (high), 2 (multiple), 3 (multiple, correlated by `svc`), 4 (closed by people).
    fn new() -> Self {
        Self::with_sync(Arc::new(File::sync_data))
    }

    /// The same with another way to bring the databases to the disk.
    fn with_sync(sync: SharedDisk) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = Arc::new(Config::open_with(location(&dir), sync).unwrap());
        let written: Result<(), DbError> = config.write(|edit| {
            edit.insert(
                &table::HOSTS,
                &[("hostid", 10_u64.into()), ("host", "h1".into()), ("name", "Host 1".into())],
            )?;
            edit.insert(
                &table::ITEMS,
                &[
                    ("itemid", 50_u64.into()),
                    ("hostid", 10_u64.into()),
                    ("key_", "k".into()),
                    ("name", "k".into()),
                ],
            )?;
            for (id, columns) in [
                (1_u64, vec![("priority", Value::from(4_i64))]),
                (2, vec![("type", 1_i64.into())]),
                (
                    3,
                    vec![
                        ("type", 1_i64.into()),
                        ("correlation_mode", 1_i64.into()),
                        ("correlation_tag", "svc".into()),
                    ],
                ),
                (4, vec![("manual_close", 1_i64.into()), ("type", 1_i64.into())]),
            ] {
                let mut row = vec![("triggerid", Value::from(id))];
                row.extend(columns);
                edit.insert(&table::TRIGGERS, &row)?;
                edit.insert_new(
                    &table::FUNCTIONS,
                    &[("triggerid", id.into()), ("itemid", 50_u64.into()), ("name", "last".into())],
                )?;
            }
            Ok(())
        });
        written.unwrap();
        let clock = SimClock::at(Duration::from_secs(NOW_S));
        Self::start(dir, config, clock)
    }

    fn start(dir: tempfile::TempDir, config: Arc<Config>, clock: Arc<SimClock>) -> Self {
        let changes = Arc::new(Mutex::new(Vec::new()));
        let states = Arc::new(Mutex::new(Vec::new()));
        let (note_change, note_state) = (Arc::clone(&changes), Arc::clone(&states));
        let written: Arc<Mutex<usize>> = Arc::default();
        let note_written = Arc::clone(&written);
        let hooks = Hooks {
            problem: Box::new(move |change: ProblemChange| {
                note_change.lock().unwrap().push((change.trigger.0, change.state));
            }),
            trigger: Box::new(move |trigger, state| {
                note_state.lock().unwrap().push((trigger.0, state));
            }),
            written: Box::new(move || *note_written.lock().unwrap() += 1),
        };
        let problems = Problems::open(Arc::clone(&config), clock.clone(), hooks).unwrap();
        Self { config, clock, problems, changes, states, written, dir }
    }

    /// The same database after a restart.
    fn restarted(self) -> Self {
        let Self { config, clock, problems, dir, .. } = self;
        drop((config, problems));
        let config = open(&dir);
        Self::start(dir, config, clock)
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        let rows: Result<_, DbError> = self.config.read(|c| c.query(sql, &[]));
        let text = |row: &config::db::Row| {
            row.iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>().join("|")
        };
        rows.unwrap().iter().map(text).collect()
    }

    /// Stores a setting.
    fn set(&self, name: &str, value: &str) {
        let done: Result<(), DbError> = self.config.write(|edit| {
            edit.delete_rows(&table::SETTINGS, &[("name", &[name.into()])])?;
            edit.insert(&table::SETTINGS, &[("name", name.into()), ("value", value.into())])
        });
        done.unwrap();
    }

    fn run(&self, sql: &str) {
        let done: Result<u64, DbError> = self.config.write_state(|edit| edit.execute(sql, &[]));
        done.unwrap();
    }

    fn changes(&self) -> Vec<(u64, TriggerState)> {
        std::mem::take(&mut *self.changes.lock().unwrap())
    }

    fn states(&self) -> Vec<(u64, TriggerState)> {
        std::mem::take(&mut *self.states.lock().unwrap())
    }

    fn open_events(&self, trigger: u64) -> Vec<EventId> {
        let sql = format!(
            "SELECT eventid FROM problems WHERE objectid = {trigger} AND r_eventid = 0 ORDER BY eventid"
        );
        self.rows(&sql).iter().map(|id| EventId(id.parse().unwrap())).collect()
    }

    fn update(&self, events: &[EventId], update: ProblemUpdate) -> Result<(), UpdateError> {
        let update = ProblemUpdate { events: events.to_vec(), user: UserId(1), ..update };
        self.problems.update(&update)
    }

    fn close(&self, events: &[EventId]) -> Result<(), UpdateError> {
        self.update(events, ProblemUpdate { close: true, ..ProblemUpdate::default() })
    }
}

fn tags(tags: &[(&str, &str)]) -> Vec<(String, String)> {
    tags.iter().map(|(tag, value)| ((*tag).to_owned(), (*value).to_owned())).collect()
}

fn problem(trigger: u64, clock: u32, with: &[(&str, &str)]) -> TriggerFinding {
    TriggerFinding::Problem {
        trigger: TriggerId(trigger),
        at: Timestamp { clock, ns: 5 },
        name: format!("bad {clock}"),
        opdata: "op".to_owned(),
        tags: tags(with),
    }
}

fn recovery(trigger: u64, clock: u32, with: &[(&str, &str)]) -> TriggerFinding {
    TriggerFinding::Recovery {
        trigger: TriggerId(trigger),
        at: Timestamp { clock, ns: 6 },
        name: format!("good {clock}"),
        tags: tags(with),
    }
}

fn state(trigger: u64, error: &str) -> TriggerFinding {
    let at = Timestamp { clock: 7, ns: 8 };
    let tags = tags(&[("t", "v")]);
    TriggerFinding::State { trigger: TriggerId(trigger), at, error: error.to_owned(), tags }
}

use TriggerState::{Ok as Fine, Problem as Bad};

#[test]
fn a_problem_opens_and_recovers() {
    let world = World::new();
    let found = [problem(1, 100, &[("a", "b"), ("itag", "Host 1")]), recovery(1, 200, &[])];
    world.problems.write(&found[..1]).unwrap();
    assert_eq!(
        world.rows("SELECT objectid, clock, ns, value, name, severity, opdata FROM events"),
        ["1|100|5|1|bad 100|4|op"]
    );
    assert_eq!(
        world.rows("SELECT objectid, clock, ns, name, severity, r_eventid FROM problems"),
        ["1|100|5|bad 100|4|0"]
    );
    assert_eq!(
        world.rows("SELECT tag, value FROM event_tags ORDER BY eventtagid"),
        ["a|b", "itag|Host 1"]
    );
    assert_eq!(
        world.rows("SELECT value, lastchange FROM trigger_states WHERE triggerid = 1"),
        ["1|100"]
    );
    assert_eq!(world.changes(), [(1, Bad)]);
    world.problems.write(&found[1..]).unwrap();
    assert_eq!(
        world.rows("SELECT e.value, e.name, e.severity FROM events e ORDER BY eventid"),
        ["1|bad 100|4", "0|good 200|0"]
    );
    let closed = "SELECT p.r_clock, p.r_ns, p.userid, r.name FROM problems p \
                  JOIN events e ON e.eventid = p.eventid JOIN events r ON r.eventid = e.r_eventid \
                  WHERE p.r_eventid = r.eventid";
    assert_eq!(world.rows(closed), ["200|6|0|good 200"]);
    assert_eq!(
        world.rows("SELECT value, lastchange FROM trigger_states WHERE triggerid = 1"),
        ["0|200"]
    );
    assert_eq!((world.changes(), world.states()), (vec![(1, Fine)], vec![]));
}

#[test]
fn what_is_open_already_and_what_is_gone() {
    let world = World::new();
    // Found again by a shard that restarted; of a trigger that was deleted meanwhile.
    let twice = [problem(1, 1, &[]), problem(1, 2, &[]), problem(99, 3, &[]), recovery(99, 4, &[])];
    world.problems.write(&twice).unwrap();
    assert_eq!(world.rows("SELECT name FROM events"), ["bad 1"]);
    // Each finding of a trigger with multiple problems opens one; one recovery closes all.
    let many = [problem(2, 1, &[]), problem(2, 2, &[]), recovery(2, 3, &[]), recovery(2, 4, &[])];
    world.problems.write(&many).unwrap();
    assert_eq!(world.open_events(2), []);
    assert_eq!(
        world.rows("SELECT name FROM events WHERE objectid = 2 ORDER BY eventid"),
        ["bad 1", "bad 2", "good 3"]
    );
}

#[test]
fn correlation_closes_what_matches() {
    let world = World::new();
    let svc = |value: &'static str| [("svc", value)];
    let open = [problem(3, 1, &svc("11")), problem(3, 2, &svc("22"))];
    world.problems.write(&open).unwrap();
    for (step, (tag, left, told)) in
        [("33", 2, vec![(3, Bad)]), ("11", 1, vec![(3, Bad)]), ("22", 0, vec![])]
            .into_iter()
            .enumerate()
    {
        let clock = 10 + u32::try_from(step).unwrap();
        world.problems.write(&[recovery(3, clock, &svc(tag))]).unwrap();
        assert_eq!((world.open_events(3).len(), world.states()), (left, told), "{tag}");
    }
    assert_eq!(
        world.rows("SELECT value, lastchange FROM trigger_states WHERE triggerid = 3"),
        ["0|12"]
    );
    assert_eq!(
        world.rows("SELECT name FROM events WHERE value = 0 ORDER BY eventid"),
        ["good 11", "good 12"]
    );
}

#[test]
fn evaluation_errors_are_kept() {
    let world = World::new();
    let state = |error: &str| [state(1, error)];
    for (error, row) in [("no data", "1|no data"), ("other", "1|other"), ("", "0|")] {
        world.problems.write(&state(error)).unwrap();
        assert_eq!(
            world.rows("SELECT state, error FROM trigger_states WHERE triggerid = 1"),
            [row]
        );
    }
    world.problems.write(&state(&"é".repeat(3_000))).unwrap();
    let kept = initial_triggers(&world.config).unwrap();
    assert_eq!(kept[0].error.chars().count(), 2_048);
}

#[test]
fn acknowledge_in_all_ways() {
    let world = World::new();
    world.problems.write(&[problem(1, 1, &[])]).unwrap();
    let events = world.open_events(1);
    let all = "SELECT action, message, old_severity, new_severity, suppress_until, userid, clock \
               FROM acknowledges ORDER BY acknowledgeid";
    let event = "SELECT e.acknowledged, e.severity, p.acknowledged, p.severity FROM events e \
                 JOIN problems p ON p.eventid = e.eventid";
    // Action, the row that it leaves (none if there is nothing to do), the event afterwards.
    let nothing = ProblemUpdate::default;
    let acknowledge = |yes| ProblemUpdate { acknowledge: Some(yes), ..nothing() };
    let severity = || ProblemUpdate { severity: Some(Severity::Disaster), ..nothing() };
    let suppression = |one| ProblemUpdate { suppression: Some(one), ..nothing() };
    let commented = ProblemUpdate { message: "looking".to_owned(), ..acknowledge(true) };
    for (update, row, after) in [
        (commented, Some("6|looking|0|0|0"), "1|4|1|4"),
        (acknowledge(true), None, "1|4|1|4"),
        (severity(), Some("8||4|5|0"), "1|5|1|5"),
        (severity(), None, "1|5|1|5"),
        (acknowledge(false), Some("16||0|0|0"), "0|5|0|5"),
        (suppression(Suppression::End), None, "0|5|0|5"),
        (suppression(Suppression::Until(UnixSeconds(77))), Some("32||0|0|77"), "0|5|0|5"),
        (suppression(Suppression::End), Some("64||0|0|0"), "0|5|0|5"),
        (suppression(Suppression::Indefinite), Some("32||0|0|0"), "0|5|0|5"),
        (nothing(), None, "0|5|0|5"),
    ] {
        let before = world.rows(all).len();
        world.update(&events, update.clone()).unwrap();
        let rows = world.rows(all);
        let expected = row.map(|row| format!("{row}|1|{NOW_S}"));
        assert_eq!(rows.get(before), expected.as_ref(), "{update:?}");
        assert_eq!(world.rows(event), [after], "{update:?}");
    }
    assert!(matches!(
        world.close(&events),
        Err(UpdateError::NotClosable(id)) if id == events[0]
    ));
    assert!(matches!(
        world.update(&[EventId(5)], acknowledge(true)),
        Err(UpdateError::NotFound(EventId(5)))
    ));
}

#[test]
fn new_events_and_updates_are_told() {
    let world = World::new();
    let told = || std::mem::take(&mut *world.written.lock().unwrap());
    world.problems.write(&[problem(1, 100, &[])]).unwrap();
    assert_eq!(told(), 1);
    let update = ProblemUpdate { acknowledge: Some(true), ..ProblemUpdate::default() };
    world.update(&world.open_events(1), update).unwrap();
    assert_eq!(told(), 1);
    world.problems.write(&[]).unwrap();
    assert_eq!(told(), 0);
}

#[test]
fn ranks_of_problems_have_one_level_and_no_circle() {
    let world = World::new();
    world.problems.write(&[1, 2, 3, 4].map(|trigger| problem(trigger, 1, &[]))).unwrap();
    let events = [1, 2, 3, 4].map(|trigger| world.open_events(trigger)[0]);
    let place = |id: &str| events.iter().position(|event| event.to_string() == id);
    // Which event becomes a symptom of which, and the causes of all afterwards (0 = none).
    for (symptom, cause, expected) in [
        (1, 2, [2, 0, 0, 0]),
        (1, 1, [2, 0, 0, 0]),
        // The other way round: they change places.
        (2, 1, [0, 1, 0, 0]),
        // A symptom is no cause: its own cause is taken.
        (3, 2, [0, 1, 1, 0]),
        (3, 2, [0, 1, 1, 0]),
        // Symptoms go with their cause.
        (1, 4, [4, 4, 4, 0]),
        // A symptom takes the place of its cause, before all other symptoms.
        (4, 2, [2, 0, 2, 2]),
    ] {
        let rank = Some(ProblemRank::SymptomOf(events[cause - 1]));
        let update = ProblemUpdate { rank, ..ProblemUpdate::default() };
        world.update(&[events[symptom - 1]], update).unwrap();
        for table in ["events", "problems"] {
            let sql = format!("SELECT cause_eventid FROM {table} ORDER BY eventid");
            let causes: Vec<usize> =
                world.rows(&sql).iter().map(|id| place(id).map_or(0, |n| n + 1)).collect();
            assert_eq!(causes, expected, "{table}: {symptom} symptom of {cause}");
        }
    }
    let rank = Some(ProblemRank::SymptomOf(EventId(999)));
    let missing = ProblemUpdate { rank, ..ProblemUpdate::default() };
    assert!(matches!(
        world.update(&events[..1], missing),
        Err(UpdateError::NotFound(EventId(999)))
    ));
}

#[test]
fn symptoms_and_causes() {
    let world = World::new();
    world.problems.write(&[problem(1, 1, &[]), problem(4, 2, &[])]).unwrap();
    let (cause, symptom) = (world.open_events(1)[0], world.open_events(4)[0]);
    let causes = format!("SELECT cause_eventid FROM problems WHERE eventid = {symptom}");
    for (rank, expected) in
        [(ProblemRank::SymptomOf(cause), cause.to_string()), (ProblemRank::Cause, "0".to_owned())]
    {
        let update = ProblemUpdate { rank: Some(rank), ..ProblemUpdate::default() };
        world.update(&[symptom], update).unwrap();
        assert_eq!(world.rows(&causes), [expected]);
    }
}

#[test]
fn closed_by_people() {
    let world = World::new();
    world.problems.write(&[problem(4, 1, &[("a", "b")]), problem(4, 2, &[])]).unwrap();
    let events = world.open_events(4);
    world.changes();
    world.close(&events[..1]).unwrap();
    assert_eq!((world.changes(), world.states()), (vec![(4, Fine)], vec![]));
    assert_eq!(world.rows("SELECT value FROM trigger_states WHERE triggerid = 4"), ["1"]);
    // The second time it is closed already: no error, nothing done.
    world.close(&[events[0], events[1], events[1]]).unwrap();
    assert_eq!((world.changes(), world.states()), (vec![(4, Fine)], vec![(4, Fine)]));
    let recovery = "SELECT value, name, clock, userid FROM events WHERE value = 0";
    let expected = |name: &str| format!("0|{name}|{NOW_S}|1");
    assert_eq!(world.rows(recovery), [expected("bad 1"), expected("bad 2")]);
    assert_eq!(world.rows("SELECT value FROM trigger_states WHERE triggerid = 4"), ["0"]);
    assert_eq!(world.rows("SELECT userid FROM problems"), ["1", "1"]);
    assert_eq!(world.problems.stats().open, 0);
}

#[test]
fn a_restart_knows_what_is_open() {
    let world = World::new();
    let error = state(2, "why");
    world.problems.write(&[problem(1, 1, &[]), error]).unwrap();
    let world = world.restarted();
    let expected = [(1, Bad, ""), (2, Fine, "why")].map(|(id, state, error)| InitialTrigger {
        trigger: TriggerId(id),
        state,
        error: error.to_owned(),
    });
    assert_eq!(initial_triggers(&world.config).unwrap(), expected);
    world.problems.write(&[problem(1, 2, &[]), recovery(1, 3, &[])]).unwrap();
    assert_eq!(world.rows("SELECT name FROM events ORDER BY eventid"), ["bad 1", "good 3"]);
}

#[test]
fn alerts_and_escalations_go_with_their_action() {
    let world = World::new();
    world.problems.write(&[problem(1, 1, &[])]).unwrap();
    let state = |state: &mut config::Statements<'_>| {
        let events = state.query("SELECT eventid FROM events", &[])?;
        let event = events[0].id("eventid");
        for action in [5_u64, 6] {
            let of = [("actionid", action.into()), ("eventid", event.into())];
            for user in [8_u64, 9] {
                let to = [of[0].clone(), of[1].clone(), ("userid", user.into())];
                state.insert_new(&table::ALERTS, &to)?;
            }
            state.insert_new(&table::ESCALATIONS, &of)?;
        }
        Ok::<_, DbError>(())
    };
    world.config.write_state(state).unwrap();
    world.problems.remove_alerts_of(&[5, 7]).unwrap();
    assert_eq!(world.rows("SELECT actionid FROM alerts"), ["6", "6"]);
    assert_eq!(world.rows("SELECT actionid FROM escalations"), ["6"]);
    world.problems.remove_alerts_to(&[9]).unwrap();
    assert_eq!(world.rows("SELECT userid FROM alerts"), ["8"]);
}
