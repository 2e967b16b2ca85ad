//! Maintenances in the database, what they make of hosts and problems.

use config::db::Location;
use config::schema::Table;
use config::snapshot::HostMaintenance;
use config::table;
use model::HostId;

use super::tags::{Condition, Tag};
use super::*;

/// 2027-01-15 08:00:00 UTC, a Friday.
const NOW: i64 = 1_800_000_000;

struct World {
    config: Arc<Config>,
    watch: Watch,
    _dir: tempfile::TempDir,
}

impl World {
    /// Hosts 10 and 11 in group 1 "a" and 2 "a/b", 12 in 3 "ab"; triggers 20 of host 10, 21 of 10
    /// and 11, 22 of 12, each with an open problem of the same number.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
        let id = Value::from;
        let written: DbResult<()> = config.write(|edit| {
            for (group, name) in [(1_u64, "a"), (2, "a/b"), (3, "ab")] {
                edit.insert(&table::GROUPS, &[("groupid", id(group)), ("name", name.into())])?;
            }
            for (host, group) in [(10_u64, 1_u64), (11, 2), (12, 3)] {
                let name = format!("h{host}");
                let row = [
                    ("hostid", id(host)),
                    ("host", name.as_str().into()),
                    ("name", name.as_str().into()),
                ];
                edit.insert(&table::HOSTS, &row)?;
                edit.insert(&table::HOST_GROUPS, &[("hostid", id(host)), ("groupid", id(group))])?;
                let item = [("itemid", id(host)), ("hostid", id(host)), ("key_", "k".into())];
                edit.insert(&table::ITEMS, &item)?;
            }
            for (trigger, items) in [(20_u64, &[10_u64][..]), (21, &[10, 11]), (22, &[12])] {
                edit.insert(&table::TRIGGERS, &[("triggerid", id(trigger))])?;
                for item in items {
                    let row = [("triggerid", id(trigger)), ("itemid", id(*item))];
                    edit.insert_new(&table::FUNCTIONS, &row)?;
                }
            }
            Ok(())
        });
        written.unwrap();
        let config = Arc::new(config);
        let world = Self { watch: Watch::new(Arc::clone(&config)), config, _dir: dir };
        for trigger in 20..=22 {
            world.problem(trigger, trigger);
        }
        world
    }

    fn write(&self, table: &'static Table, row: &[(&str, Value)]) {
        self.config.write(|edit| edit.insert(table, row)).unwrap();
    }

    fn problem(&self, event: u64, trigger: u64) {
        let row = [("eventid", event.into()), ("objectid", trigger.into())];
        let tag = [("eventid", event.into()), ("tag", "n".into()), ("value", "disk sda".into())];
        let work = |state: &mut Statements<'_>| {
            state.insert(&table::EVENTS, &row)?;
            state.insert(&table::PROBLEMS, &row)?;
            state.insert_new(&table::EVENT_TAGS, &tag)
        };
        self.config.write_state(work).unwrap();
    }

    /// A maintenance of one hour from `start` on.
    fn maintenance(&self, id: u64, no_data: bool, start: i64) {
        let row = [
            ("maintenanceid", id.into()),
            ("maintenance_type", no_data.into()),
            ("active_since", (NOW - 86_400).into()),
            ("active_till", (NOW + 86_400).into()),
        ];
        self.write(&table::MAINTENANCES, &row);
        let row = [
            ("maintenanceid", id.into()),
            ("start_date", start.into()),
            ("period", 3_600_i64.into()),
        ];
        self.write(&table::MAINTENANCE_PERIODS, &row);
    }

    fn of_group(&self, id: u64, group: u64) {
        let row = [("maintenanceid", Value::from(id)), ("groupid", Value::from(group))];
        self.write(&table::MAINTENANCE_GROUPS, &row);
    }

    /// What hosts 10 to 12 are in, as the snapshot has it.
    fn hosts(&self) -> [HostMaintenance; 3] {
        let snapshot = self.config.snapshot();
        [10, 11, 12].map(|id| snapshot.hosts.get(&HostId(id)).unwrap().maintenance)
    }

    /// Event, maintenance, until when.
    fn suppressed(&self) -> Vec<(u64, u64, i64)> {
        let sql = "SELECT * FROM event_suppress ORDER BY eventid, maintenanceid";
        let rows = self.config.read(|connection| connection.query(sql, &[])).unwrap();
        let row =
            |row: &Row| (row.id("eventid"), row.id("maintenanceid"), row.int("suppress_until"));
        rows.iter().map(row).collect()
    }
}

use HostMaintenance::{Data, NoData, None as Out};

#[test]
fn hosts_enter_and_leave_with_their_groups() {
    let mut world = World::new();
    world.watch.look(NOW).unwrap();
    assert_eq!((world.hosts(), world.suppressed()), ([Out; 3], vec![]));
    // The group with its subgroup, but not the one whose name only begins alike.
    world.maintenance(1, false, NOW + 60);
    world.of_group(1, 1);
    world.watch.look(NOW + 59).unwrap();
    assert_eq!(world.hosts(), [Out; 3]);
    world.watch.look(NOW + 60).unwrap();
    assert_eq!(world.hosts(), [Data, Data, Out]);
    let until = NOW + 60 + 3_600;
    assert_eq!(world.suppressed(), [(20, 1, until), (21, 1, until)]);
    // A problem that opens meanwhile is suppressed with the next look.
    world.problem(30, 20);
    world.problem(31, 22);
    world.watch.look(NOW + 61).unwrap();
    assert_eq!(world.suppressed(), [(20, 1, until), (21, 1, until), (30, 1, until)]);
    // Another that stops the collection of one of the hosts.
    world.maintenance(2, true, NOW + 100);
    world.write(
        &table::MAINTENANCE_HOSTS,
        &[("maintenanceid", 2_u64.into()), ("hostid", 11_u64.into())],
    );
    world.watch.look(NOW + 100).unwrap();
    assert_eq!(world.hosts(), [Data, NoData, Out]);
    world.watch.look(until).unwrap();
    assert_eq!((world.hosts(), world.suppressed()), ([Out, NoData, Out], vec![]));
    // A server that was away finds everything as it should be.
    let mut after = Watch::new(Arc::clone(&world.config));
    after.look(NOW + 100 + 3_600).unwrap();
    assert_eq!((world.hosts(), world.suppressed()), ([Out; 3], vec![]));
}

#[test]
fn a_problem_of_several_hosts_needs_all_of_them() {
    let mut world = World::new();
    world.maintenance(1, false, NOW);
    world.write(
        &table::MAINTENANCE_HOSTS,
        &[("maintenanceid", 1_u64.into()), ("hostid", 10_u64.into())],
    );
    world.watch.look(NOW).unwrap();
    assert_eq!(world.suppressed(), [(20, 1, NOW + 3_600)]);
    // A host that comes is seen within a minute.
    world.write(
        &table::MAINTENANCE_HOSTS,
        &[("maintenanceid", 1_u64.into()), ("hostid", 11_u64.into())],
    );
    world.watch.look(NOW + 59).unwrap();
    assert_eq!(world.hosts(), [Data, Out, Out]);
    world.watch.look(NOW + 60).unwrap();
    assert_eq!(world.hosts(), [Data, Data, Out]);
    assert_eq!(world.suppressed().len(), 2);
    // A deleted maintenance ends at once.
    world.config.write(|edit| edit.delete(&table::MAINTENANCES, "maintenanceid", &[1])).unwrap();
    world.watch.look(NOW + 61).unwrap();
    assert_eq!((world.hosts(), world.suppressed()), ([Out; 3], vec![]));
}

#[test]
fn tags_choose_problems() {
    let tag = |tag: &str, value: &str| -> Tag { (tag.to_owned(), value.to_owned()) };
    let own = [tag("scope", "performance"), tag("disk", "sda1")];
    let condition = |tag: &str, contains, value: &str| Condition {
        tag: tag.to_owned(),
        contains,
        value: value.to_owned(),
    };
    let equal = |name: &str, value: &str| condition(name, false, value);
    let has = |name: &str, value: &str| condition(name, true, value);
    let cases = [
        (false, vec![], true),
        (false, vec![equal("scope", "performance")], true),
        (false, vec![equal("scope", "perf")], false),
        (false, vec![has("scope", "perf")], true),
        (false, vec![has("disk", "")], true),
        (false, vec![has("other", "")], false),
        (false, vec![equal("scope", "x"), equal("scope", "performance")], true),
        (false, vec![equal("scope", "performance"), equal("disk", "x")], false),
        (true, vec![equal("scope", "performance"), equal("disk", "x")], true),
        (true, vec![equal("scope", "x"), equal("disk", "x")], false),
    ];
    for (any, conditions, expected) in cases {
        let tags = Tags { any, conditions };
        assert_eq!(tags.fit(&own), expected, "{tags:?}");
    }
    // Through the database.
    let mut world = World::new();
    world.maintenance(1, false, NOW);
    world.of_group(1, 1);
    for (id, value, expected) in [(1_u64, "disk sdb", 0), (2, "disk", 2)] {
        let row = [
            ("maintenancetagid", id.into()),
            ("maintenanceid", 1_u64.into()),
            ("tag", "n".into()),
            ("value", value.into()),
        ];
        world.write(&table::MAINTENANCE_TAGS, &row);
        world.watch.look(NOW + i64::try_from(id).unwrap()).unwrap();
        assert_eq!(world.suppressed().len(), expected, "{value}");
        assert_eq!(world.hosts(), [Data, Data, Out]);
    }
}

#[test]
fn suppression_of_new_problems_is_known_before_the_look() {
    let mut world = World::new();
    let tz = jiff::tz::TimeZone::UTC;
    let ends = |world: &World, fresh: Option<u64>, now: i64| {
        let read = world
            .config
            .read(|connection| suppressed(connection, &[20, 21, 22, 30], fresh, now, &tz));
        let ends: Vec<_> = read.unwrap().into_iter().collect();
        ends
    };
    world.maintenance(1, false, NOW);
    world.of_group(1, 1);
    let until = SuppressionEnd::At(NOW + 3_600);
    assert_eq!(ends(&world, None, NOW), []);
    assert_eq!(ends(&world, Some(20), NOW), [(20, until), (21, until)]);
    assert_eq!(ends(&world, Some(21), NOW), [(21, until)]);
    let told: Arc<std::sync::Mutex<Vec<u64>>> = Arc::default();
    let note = Arc::clone(&told);
    let hook = Box::new(move |events: &[u64]| note.lock().unwrap().extend_from_slice(events));
    world.watch = Watch::new(Arc::clone(&world.config)).telling(hook);
    world.watch.look(NOW).unwrap();
    assert_eq!(std::mem::take(&mut *told.lock().unwrap()), [20, 21]);
    assert_eq!(ends(&world, None, NOW), [(20, until), (21, until)]);
    // Rows whose time is over count no more, though the next look deletes them.
    assert_eq!(ends(&world, None, NOW + 3_600), []);
    world.watch.look(NOW + 3_600).unwrap();
    assert_eq!(std::mem::take(&mut *told.lock().unwrap()), [20, 21]);
    // Users decide by the newest update.
    for (action, until, expected) in [
        (32_i64, 0, Some(SuppressionEnd::User)),
        (64, 0, None),
        (32, NOW + 9_000, Some(SuppressionEnd::At(NOW + 9_000))),
        (4, 0, Some(SuppressionEnd::At(NOW + 9_000))),
    ] {
        let row = [
            ("eventid", Value::from(22_u64)),
            ("action", action.into()),
            ("suppress_until", until.into()),
        ];
        let work = |state: &mut Statements<'_>| state.insert_new(&table::ACKNOWLEDGES, &row);
        world.config.write_state(work).unwrap();
        let expected: Vec<_> = expected.map(|end| (22, end)).into_iter().collect();
        assert_eq!(ends(&world, None, NOW + 3_600), expected, "{action}");
    }
    assert_eq!(ends(&world, None, NOW + 9_000), []);
}
