//! Problems in, statuses, history and events out, on SQLite files.

use std::sync::Mutex;

use config::db::{DbError, Location, Value};
use stdx::clock::SimClock;

use super::*;

const NOW_S: u64 = 1_800_000_000;

type Ends = Arc<Mutex<BTreeMap<u64, i64>>>;

struct World {
    config: Arc<Config>,
    clock: Arc<SimClock>,
    keeper: Keeper,
    /// Suppressed problems.
    suppressed: Ends,
    told: Arc<Mutex<usize>>,
    _dir: tempfile::TempDir,
}

impl World {
    /// Service 1 above 2 and 3; problems with `svc=2` belong to 2, with `svc` that contains 3 to 3.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(dir.path().join("config.db"));
        let config = Arc::new(Config::open(location).unwrap());
        let made: Result<(), DbError> = config.write(|edit| {
            for (id, name) in [(1_u64, "Shop"), (2, "Web"), (3, "Base")] {
                edit.insert(
                    &table::SERVICES,
                    &[("serviceid", id.into()), ("name", name.into()), ("algorithm", 2_i64.into())],
                )?;
            }
            for child in [2_u64, 3] {
                edit.insert(
                    &table::SERVICE_LINKS,
                    &[("serviceid", child.into()), ("parentid", 1_u64.into())],
                )?;
            }
            for (service, operator, value) in [(2_u64, 0_i64, "2"), (3, 2, "3")] {
                edit.insert_new(
                    &table::SERVICE_PROBLEM_TAGS,
                    &[
                        ("serviceid", service.into()),
                        ("tag", "svc".into()),
                        ("operator", operator.into()),
                        ("value", value.into()),
                    ],
                )?;
            }
            let tag =
                [("serviceid", 2_u64.into()), ("tag", "team".into()), ("value", "web".into())];
            edit.insert_new(&table::SERVICE_TAGS, &tag).map(drop)
        });
        made.unwrap();
        let clock = SimClock::at(Duration::from_secs(NOW_S));
        let (suppressed, told) = (Ends::default(), Arc::<Mutex<usize>>::default());
        let keeper = keeper(&config, &clock, &suppressed, &told);
        Self { config, clock, keeper, suppressed, told, _dir: dir }
    }

    /// A start of the server.
    fn restart(&mut self) {
        self.keeper = keeper(&self.config, &self.clock, &self.suppressed, &self.told);
    }

    fn problem(&self, event: u64, severity: i64, svc: &str) {
        self.state(|state| {
            let mut row: Vec<(&str, Value)> = vec![
                ("eventid", event.into()),
                ("objectid", 7_u64.into()),
                ("clock", NOW_S.into()),
                ("severity", severity.into()),
            ];
            row.push(("value", 1_i64.into()));
            state.insert(&table::EVENTS, &row)?;
            state.insert(&table::PROBLEMS, &row[..4])?;
            state.insert_new(
                &table::EVENT_TAGS,
                &[("eventid", event.into()), ("tag", "svc".into()), ("value", svc.into())],
            )?;
            // Ids of later events follow.
            state.execute("DELETE FROM state_ids WHERE name = 'events'", &[])?;
            state.execute(
                "INSERT INTO state_ids (name, next) VALUES ('events', ?)",
                &[(event + 1).into()],
            )
        });
    }

    /// The problem ends.
    fn end(&self, event: u64) {
        self.state(|state| {
            let id = state.next_id(&table::EVENTS, 1)?;
            state.insert(&table::EVENTS, &[("eventid", id.into()), ("objectid", 7_u64.into())])?;
            state.execute(
                "UPDATE problems SET r_eventid = ?, r_clock = ? WHERE eventid = ?",
                &[id.into(), NOW_S.into(), event.into()],
            )
        });
    }

    fn severity(&self, event: u64, severity: i64) {
        self.state(|state| {
            let row = [("eventid", event.into()), ("action", 8_i64.into())];
            state.insert_new(&table::ACKNOWLEDGES, &row)?;
            state.execute(
                "UPDATE problems SET severity = ? WHERE eventid = ?",
                &[severity.into(), event.into()],
            )
        });
    }

    fn state<T>(&self, work: impl FnOnce(&mut config::Statements<'_>) -> DbResult<T>) -> T {
        self.config.write_state(work).unwrap()
    }

    fn change<T>(&self, work: impl FnOnce(&mut config::Edit<'_>) -> DbResult<T>) -> T {
        self.config.write(work).unwrap()
    }

    fn look(&mut self) -> Duration {
        self.look_with(Mail::default())
    }

    fn look_with(&mut self, mail: Mail) -> Duration {
        self.keeper.work(&mail).unwrap()
    }

    fn configured(&mut self) {
        self.look_with(Mail { configured: true, ..Mail::default() });
    }

    fn problems_changed(&mut self, problems: &[u64]) {
        let mut mail = Mail::default();
        mail.problems.add(problems.iter().copied());
        self.look_with(mail);
    }

    /// Rows of a statement with the values separated by blanks.
    fn rows(&self, sql: &str) -> Vec<String> {
        let rows = self.config.read(|connection| connection.query(sql, &[])).unwrap();
        let text = |row: &config::db::Row| {
            row.iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" ")
        };
        rows.iter().map(text).collect()
    }

    fn statuses(&self) -> Vec<String> {
        self.rows("SELECT serviceid, status FROM service_states ORDER BY serviceid")
    }

    fn links(&self) -> Vec<String> {
        self.rows("SELECT serviceid, eventid FROM service_problems ORDER BY serviceid, eventid")
    }

    /// Service, new status, and whether it is an update of a problem.
    fn alarms(&self) -> Vec<String> {
        self.rows(
            "SELECT serviceid, value, eventid > 0 FROM service_alarms ORDER BY servicealarmid",
        )
    }
}

fn keeper(
    config: &Arc<Config>,
    clock: &Arc<SimClock>,
    suppressed: &Ends,
    told: &Arc<Mutex<usize>>,
) -> Keeper {
    let (suppressed, told) = (Arc::clone(suppressed), Arc::clone(told));
    let hooks = Hooks {
        suppressions: Box::new(move |_, events, _, now| {
            let all = suppressed.lock().unwrap();
            let of = events.iter().filter_map(|event| Some((*event, *all.get(event)?)));
            Ok(of.filter(|(_, until)| *until > now).collect())
        }),
        written: Box::new(move || *told.lock().unwrap() += 1),
    };
    Keeper::new(Arc::clone(config), Arc::clone(clock) as SharedClock, Bell::default(), hooks)
}

#[test]
fn a_problem_reaches_its_service_and_those_above() {
    let mut world = World::new();
    world.look();
    assert!(world.statuses().is_empty());
    world.problem(100, 3, "2");
    world.look();
    assert_eq!(world.statuses(), ["1 3", "2 3"]);
    assert_eq!(world.links(), ["2 100"]);
    assert_eq!(world.alarms(), ["1 3 0", "2 3 0"]);
    assert_eq!(
        world.rows(
            "SELECT objectid, value, severity, name FROM events WHERE source = 4 ORDER BY eventid"
        ),
        [
            "1 1 3 Status of service \"Shop\" changed to Average",
            "2 1 3 Status of service \"Web\" changed to Average"
        ]
    );
    assert_eq!(world.rows("SELECT tag, value FROM event_tags WHERE tag <> 'svc'"), ["team web"]);
    assert_eq!(
        world.rows("SELECT objectid, object, r_eventid FROM problems WHERE source = 4"),
        ["1 6 0", "2 6 0"]
    );
    let told = *world.told.lock().unwrap();
    // Nothing new: nothing is written, and nobody is told.
    world.look();
    assert_eq!((world.alarms().len(), *world.told.lock().unwrap()), (2, told));
    world.end(100);
    world.look();
    assert!(world.statuses().is_empty() && world.links().is_empty());
    assert_eq!(world.alarms()[2..], ["1 -1 0", "2 -1 0"]);
    let open = "SELECT eventid FROM problems WHERE source = 4 AND r_eventid = 0";
    assert!(world.rows(open).is_empty());
    let ends = "SELECT r.severity, r.name FROM events e JOIN events r ON r.eventid = e.r_eventid \
                WHERE e.objectid = 2 AND e.source = 4";
    assert_eq!(world.rows(ends), ["-1 Status of service \"Web\" changed to OK"]);
}

#[test]
fn another_severity_updates_the_same_problem() {
    let mut world = World::new();
    world.problem(100, 2, "2");
    world.look();
    world.problem(200, 4, "x3x");
    world.look();
    world.severity(200, 5);
    world.look();
    assert_eq!(world.statuses(), ["1 5", "2 2", "3 5"]);
    world.end(200);
    world.look();
    assert_eq!(world.statuses(), ["1 2", "2 2"]);
    // Of service 1: a problem, three updates.
    let of_first: Vec<String> =
        world.alarms().into_iter().filter(|alarm| alarm.starts_with("1 ")).collect();
    assert_eq!(of_first, ["1 2 0", "1 4 1", "1 5 1", "1 2 1"]);
    let events = "SELECT severity FROM events WHERE source = 4 AND objectid = 1";
    assert_eq!(world.rows(events), ["2"], "the first severity stays");
}

#[test]
fn a_start_continues_with_what_is_stored() {
    let mut world = World::new();
    world.problem(100, 3, "2");
    world.problem(101, 1, "3");
    world.look();
    let (alarms, statuses) = (world.alarms(), world.statuses());
    world.restart();
    world.look();
    assert_eq!((world.alarms(), world.statuses()), (alarms, statuses));
    // What happened while nobody looked.
    world.end(100);
    world.problem(300, 5, "3");
    world.restart();
    world.look();
    assert_eq!(world.statuses(), ["1 5", "3 5"]);
    assert_eq!(world.links(), ["3 101", "3 300"]);
    assert_eq!(world.alarms()[3..], ["1 5 1", "2 -1 0", "3 5 1"]);
}

#[test]
fn suppressed_problems_do_not_count() {
    let mut world = World::new();
    let now = i64::try_from(NOW_S).unwrap();
    world.suppressed.lock().unwrap().insert(100, now + 30);
    world.problem(100, 3, "2");
    let wait = world.look();
    assert!(world.statuses().is_empty() && world.links().is_empty());
    assert!(wait <= Duration::from_secs(32), "{wait:?}");
    world.clock.advance(Duration::from_secs(33));
    world.look();
    assert_eq!(world.statuses(), ["1 3", "2 3"]);
    world.suppressed.lock().unwrap().insert(100, i64::MAX - 5);
    world.problems_changed(&[100, 999]);
    assert!(world.statuses().is_empty());
    // A deleted problem leaves nothing.
    world.suppressed.lock().unwrap().clear();
    world.problems_changed(&[100]);
    assert_eq!(world.statuses().len(), 2);
    world.state(|state| state.delete(&table::PROBLEMS, "eventid", &[100]));
    world.problems_changed(&[100]);
    assert!(world.statuses().is_empty() && world.links().is_empty());
}

#[test]
fn problems_with_more_tags_belong_to_more_services() {
    let mut world = World::new();
    world.problem(100, 3, "other");
    world.look();
    assert!(world.statuses().is_empty());
    world.state(|state| {
        let tag = [("eventid", 100_u64.into()), ("tag", "svc".into()), ("value", "2".into())];
        state.insert_new(&table::EVENT_TAGS, &tag)
    });
    let mut mail = Mail::default();
    mail.tagged.add([100]);
    world.look_with(mail);
    assert_eq!(
        (world.statuses(), world.links()),
        (vec!["1 3".into(), "2 3".into()], vec!["2 100".into()])
    );
}

#[test]
fn changes_of_the_configuration_are_followed() {
    let mut world = World::new();
    world.problem(100, 3, "2");
    world.problem(101, 4, "other");
    world.look();
    // Other problem tags, another algorithm, a new parent.
    world.change(|edit| {
        edit.delete(&table::SERVICE_PROBLEM_TAGS, "serviceid", &[2])?;
        edit.insert_new(
            &table::SERVICE_PROBLEM_TAGS,
            &[("serviceid", 2_u64.into()), ("tag", "svc".into()), ("value", "other".into())],
        )
    });
    world.configured();
    assert_eq!(world.statuses(), ["1 4", "2 4"]);
    assert_eq!(world.links(), ["2 101"]);
    world.change(|edit| edit.update(&table::SERVICES, 1, &[("algorithm", 1_i64.into())]));
    world.configured();
    assert_eq!(world.statuses(), ["2 4"]);
    world.change(|edit| {
        edit.insert(&table::SERVICES, &[("serviceid", 9_u64.into()), ("algorithm", 2_i64.into())])?;
        edit.insert(
            &table::SERVICE_LINKS,
            &[("serviceid", 2_u64.into()), ("parentid", 9_u64.into())],
        )
    });
    world.configured();
    assert_eq!(world.statuses(), ["2 4", "9 4"]);
    let inserted = world.state(|state| {
        let sql = "INSERT INTO escalations (escalationid, actionid, eventid) \
                   SELECT eventid, 7, eventid FROM problems WHERE source = 4 AND objectid = 2 AND r_eventid = 0";
        state.execute(sql, &[])
    });
    assert_eq!(inserted, 1);
    world.change(|edit| {
        edit.delete(&table::SERVICE_LINKS, "parentid", &[9])?;
        edit.delete(&table::SERVICES, "serviceid", &[2])
    });
    world.configured();
    assert_eq!(world.statuses(), [] as [&str; 0]);
    assert!(world.links().is_empty());
    assert!(world.rows("SELECT servicealarmid FROM service_alarms WHERE serviceid = 2").is_empty());
    let open = "SELECT objectid FROM problems WHERE source = 4 AND r_eventid = 0";
    assert!(world.rows(open).is_empty());
    assert!(world.rows("SELECT escalationid FROM escalations").is_empty());
}

#[test]
fn old_history_goes_but_for_the_last_change() {
    let world = World::new();
    world.state(|state| {
        for (service, clock, value) in
            [(1_u64, 10_i64, 3_i64), (1, 20, -1), (1, 30, 4), (1, 90, -1), (2, 10, 2)]
        {
            let row: [(&str, Value); 3] =
                [("serviceid", service.into()), ("clock", clock.into()), ("value", value.into())];
            state.insert_new(&table::SERVICE_ALARMS, &row)?;
        }
        Ok(())
    });
    expire(&world.config, 50).unwrap();
    let left = "SELECT serviceid, clock FROM service_alarms ORDER BY serviceid, clock";
    assert_eq!(world.rows(left), ["1 30", "1 90", "2 10"]);
}
