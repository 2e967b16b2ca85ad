//! Texts about events in an SQLite file and values in memory, in the words that the field's server
//! uses for the same events.

mod found;
mod hostile;
mod internal;
mod trigger;
mod updates;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use config::db::{DbError, Location, Value};
use config::schema::Table;
use config::{Config, table};
use history::{Error, Order, RangeQuery, Reader, Span};
use jiff::tz::TimeZone;
use model::{EventId, ItemId, Sample, SampleValue, Timestamp, Trend};

use super::{Expander, Needs, Recipient, Request, Sees, read};

/// 2026-11-23 19:09:24 UTC.
const START: u32 = 1_795_460_964;
const NOW: u32 = START + 65;
const ACTION: u64 = 3;
const HOST: u64 = 10;
const ITEM_K: u64 = 20;
const ITEM_F: u64 = 21;
const TRIGGER: u64 = 30;
const PROBLEM: u64 = 100;
const RECOVERY: u64 = 101;
const ADMIN: u64 = 1;
const ALICE: u64 = 2;
/// The user group of recipients.
const USERS: u64 = 77;

type Columns<'a> = &'a [(&'static str, Value)];

/// Values by item, and how often they were read.
#[derive(Default)]
struct Shelf {
    samples: BTreeMap<ItemId, Vec<Sample>>,
    reads: AtomicUsize,
}

impl Shelf {
    fn put(&mut self, item: u64, clock: u32, value: SampleValue) {
        let sample = Sample { item: ItemId(item), at: Timestamp::from_s(clock), value };
        self.samples.entry(sample.item).or_default().push(sample);
    }
}

impl Reader for Shelf {
    fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
        self.reads.fetch_add(1, SeqCst);
        let all = self.samples.get(&query.item).into_iter().flatten();
        let inside = |s: &&Sample| query.span.from <= s.at.clock && s.at.clock <= query.span.till;
        let mut found: Vec<Sample> = all.filter(inside).cloned().collect();
        if query.order == Order::NewestFirst {
            found.reverse();
        }
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    fn newest(&self, items: &[ItemId], _: usize) -> Result<Vec<Vec<Sample>>, Error> {
        Ok(items.iter().map(|_| Vec::new()).collect())
    }

    fn trends(&self, _: &[ItemId], _: Span) -> Result<Vec<Trend>, Error> {
        Ok(Vec::new())
    }
}

struct World {
    config: Config,
    shelf: Arc<Shelf>,
    _dir: tempfile::TempDir,
}

/// Problem message, recovery message, message about an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Problem,
    Recovery,
    Update(u64),
    /// An update of a problem that has ended.
    LateUpdate(u64),
}

impl World {
    fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
        let world = Self { config, shelf: Arc::default(), _dir: dir };
        world.put(&table::ACTIONS, &[("actionid", ACTION.into()), ("name", "Main".into())]);
        world
    }

    fn put(&self, table: &'static Table, row: Columns<'_>) {
        let written: Result<(), DbError> = self.config.write(|edit| edit.insert(table, row));
        written.unwrap();
    }

    fn put_state(&self, table: &'static Table, row: Columns<'_>) {
        let written: Result<(), DbError> =
            self.config.write_state(|state| state.insert(table, row));
        written.unwrap();
    }

    fn run(&self, sql: &str) {
        let done: Result<u64, DbError> =
            self.config.write(|edit| edit.unrecorded().execute(sql, &[]));
        done.unwrap();
    }

    fn run_state(&self, sql: &str) {
        let done: Result<u64, DbError> = self.config.write_state(|state| state.execute(sql, &[]));
        done.unwrap();
    }

    fn shelf(&mut self) -> &mut Shelf {
        Arc::get_mut(&mut self.shelf).unwrap()
    }

    /// The expander of texts about the event with id [`PROBLEM`].
    fn expander(&self, about: About, texts: &[&str]) -> Expander {
        self.expander_at(about, texts, NOW)
    }

    fn expander_at(&self, about: About, texts: &[&str], now: u32) -> Expander {
        let ended = matches!(about, About::Recovery | About::LateUpdate(_));
        let request = Request {
            action: ACTION,
            event: EventId(PROBLEM),
            recovery: ended.then_some(EventId(RECOVERY)),
            update: match about {
                About::Update(id) | About::LateUpdate(id) => Some(id),
                About::Problem | About::Recovery => None,
            },
            status_changed: false,
        };
        let needs = Needs::of(texts.iter().copied());
        let snapshot = self.config.snapshot();
        let facts: Result<_, DbError> =
            self.config.read(|c| read(c, &snapshot, &request, &needs, Timestamp::from_s(now)));
        Expander::new(facts.unwrap().unwrap(), Arc::clone(&self.shelf) as Arc<dyn Reader>)
    }

    fn text(&self, about: About, text: &str) -> String {
        self.expander(about, &[text]).expand(text, &anybody())
    }

    /// Each text with the text that it becomes.
    fn check(&self, about: About, cases: &[(&str, &str)]) {
        let texts: Vec<&str> = cases.iter().map(|(text, _)| *text).collect();
        let expander = self.expander(about, &texts);
        for (text, expected) in cases {
            assert_eq!(expander.expand(text, &anybody()), *expected, "{about:?} {text}");
        }
    }

    /// These macros stay as text.
    fn stay(&self, about: About, names: &str) {
        for name in names.split_whitespace() {
            let text = format!("{{{name}}}");
            assert_eq!(self.text(about, &text), text, "{about:?}");
        }
    }
}

/// Reads in UTC, and may see nobody but the members of [`USERS`].
fn anybody() -> Recipient {
    let sees = Sees::Groups { user: ALICE, groups: vec![USERS] };
    Recipient { time_zone: TimeZone::UTC, sees }
}

fn admin() -> Recipient {
    Recipient { time_zone: TimeZone::UTC, sees: Sees::Everybody }
}

fn event(world: &World, id: u64, (source, object, objectid): (i64, i64, u64), rest: Columns<'_>) {
    let mut row: Vec<(&'static str, Value)> = vec![
        ("eventid", id.into()),
        ("source", source.into()),
        ("object", object.into()),
        ("objectid", objectid.into()),
    ];
    row.extend_from_slice(rest);
    world.put_state(&table::EVENTS, &row);
}

fn tag(world: &World, id: u64, event: u64, tag: &str, value: &str) {
    world.put_state(
        &table::EVENT_TAGS,
        &[
            ("eventtagid", id.into()),
            ("eventid", event.into()),
            ("tag", tag.into()),
            ("value", value.into()),
        ],
    );
}

/// Gives users a right on a group.
fn right(world: &World, group: u64, permission: i64) {
    world.put(
        &table::GROUP_RIGHTS,
        &[("usrgrpid", USERS.into()), ("groupid", group.into()), ("permission", permission.into())],
    );
}

/// A host with an inventory, user macros and two items.
fn with_host() -> World {
    let world = World::empty();
    world.put(&table::GROUPS, &[("groupid", 5_u64.into()), ("name", "Group".into())]);
    world.put(
        &table::HOSTS,
        &[
            ("hostid", HOST.into()),
            ("host", "web-1".into()),
            ("name", "Web 1".into()),
            ("description", "First host\nof two".into()),
            ("inventory_mode", Value::from(0)),
        ],
    );
    world.put(&table::HOST_GROUPS, &[("hostid", HOST.into()), ("groupid", 5_u64.into())]);
    world.put(&table::USERGROUPS, &[("usrgrpid", USERS.into()), ("name", "Users".into())]);
    right(&world, 5, 2);
    world.put(
        &table::INTERFACES,
        &[
            ("interfaceid", 1_u64.into()),
            ("hostid", HOST.into()),
            ("main", Value::from(1)),
            ("dns", "web.test".into()),
        ],
    );
    for (name, value) in [
        ("location", "Row 7 \"b\""),
        ("notes", "n1\nn2"),
        ("serialno_a", "S1"),
        ("type", "server"),
        ("url_a", "http://x.test/?a=b&c"),
    ] {
        world.put(
            &table::HOST_INVENTORY,
            &[("hostid", HOST.into()), ("name", name.into()), ("value", value.into())],
        );
    }
    for (id, name, value, kind) in [
        (1_u64, "{$PLAIN}", "plain value", 0),
        (2, "{$CTX:\"disk\"}", "context value", 0),
        (3, "{$CTX}", "base value", 0),
        (4, "{$HIDDEN}", "topsecret", 1),
        (5, "{$NEST}", "{HOST.NAME} {$PLAIN}", 0),
    ] {
        world.put(
            &table::HOSTMACROS,
            &[
                ("hostmacroid", id.into()),
                ("hostid", HOST.into()),
                ("macro", name.into()),
                ("value", value.into()),
                ("type", Value::from(kind)),
            ],
        );
    }
    for (id, key, name, value_type, units) in
        [(ITEM_K, "k", "Key {$PLAIN} item", 3, "B"), (ITEM_F, "f", "Float item", 0, "%")]
    {
        world.put(
            &table::ITEMS,
            &[
                ("itemid", id.into()),
                ("hostid", HOST.into()),
                ("key_", key.into()),
                ("name", name.into()),
                ("type", Value::from(2)),
                ("value_type", Value::from(value_type)),
                ("units", units.into()),
                ("description", "Counts {$PLAIN}".into()),
            ],
        );
    }
    world
}

/// The problem of a trigger over both items, and its end 573 seconds later.
fn with_trigger() -> World {
    let mut world = with_host();
    world.put(
        &table::TRIGGERS,
        &[
            ("triggerid", TRIGGER.into()),
            ("description", "Load {ITEM.VALUE1} on {HOST.NAME} above {$PLAIN}".into()),
            ("expression", "{1}>0 and {2}>1.5".into()),
            ("recovery_mode", Value::from(1)),
            ("recovery_expression", "{3}=0".into()),
            ("priority", Value::from(4)),
            ("comments", "Look at {HOST.HOST}: {ITEM.LASTVALUE2}".into()),
            ("url", "https://wiki.test/t?h={HOST.HOST}&e={EVENT.ID}".into()),
            ("url_name", "Runbook {HOST.NAME}".into()),
            ("opdata", "k={ITEM.LASTVALUE1} f={ITEM.LASTVALUE2}".into()),
        ],
    );
    for (id, item) in [(1_u64, ITEM_K), (2, ITEM_F), (3, ITEM_K)] {
        world.put(
            &table::FUNCTIONS,
            &[
                ("functionid", id.into()),
                ("triggerid", TRIGGER.into()),
                ("itemid", item.into()),
                ("name", "last".into()),
                ("parameter", "$".into()),
            ],
        );
    }
    for (clock, item, value) in [
        (START - 290, ITEM_K, SampleValue::Unsigned(0)),
        (START - 290, ITEM_F, SampleValue::Float(0.5)),
        (START - 10, ITEM_F, SampleValue::Float("2.71828".parse().unwrap())),
        (START, ITEM_K, SampleValue::Unsigned(3000)),
    ] {
        world.shelf().put(item, clock, value);
    }
    let name = "Load 2.93 KB on Web 1 above plain value";
    event(
        &world,
        PROBLEM,
        (0, 0, TRIGGER),
        &[
            ("clock", START.into()),
            ("value", Value::from(1)),
            ("name", name.into()),
            ("severity", Value::from(4)),
        ],
    );
    for (id, (name, value)) in [
        ("scope", "load"),
        ("two words", "a, \"b\""),
        ("host", "web-1"),
        ("empty", ""),
        ("scope", "cpu"),
    ]
    .into_iter()
    .enumerate()
    {
        tag(&world, id as u64 + 1, PROBLEM, name, value);
    }
    world
}

/// The same problem after its end.
fn ended(mut world: World) -> World {
    world.shelf().put(ITEM_K, START + 60, SampleValue::Unsigned(0));
    event(
        &world,
        RECOVERY,
        (0, 0, TRIGGER),
        &[("clock", (START + 60).into()), ("name", "Load 0 B on Web 1 above plain value".into())],
    );
    tag(&world, 50, RECOVERY, "scope", "load");
    world.run_state(&format!("UPDATE events SET r_eventid = {RECOVERY} WHERE eventid = {PROBLEM}"));
    world
}

/// Two users: the first acknowledged, commented and changed the severity to disaster.
fn updated(world: World) -> World {
    for (id, username, name, surname) in
        [(ADMIN, "Admin", "Zabbix", "Administrator"), (ALICE, "alice", "Alice", "Sink")]
    {
        world.run(&format!(
            "INSERT INTO users (userid, username, name, surname) \
             VALUES ({id}, '{username}', '{name}', '{surname}') ON CONFLICT (userid) DO UPDATE \
             SET username = '{username}', name = '{name}', surname = '{surname}'"
        ));
    }
    update(&world, 1, START + 20, 14, "seen \"it\"", (4, 5), 0);
    world.run_state(&format!(
        "UPDATE events SET acknowledged = 1, severity = 5 WHERE eventid = {PROBLEM}"
    ));
    world
}

fn update(
    world: &World,
    id: u64,
    clock: u32,
    action: i64,
    message: &str,
    (old, new): (i64, i64),
    until: u32,
) {
    world.put_state(
        &table::ACKNOWLEDGES,
        &[
            ("acknowledgeid", id.into()),
            ("userid", ADMIN.into()),
            ("eventid", PROBLEM.into()),
            ("clock", clock.into()),
            ("message", message.into()),
            ("action", action.into()),
            ("old_severity", old.into()),
            ("new_severity", new.into()),
            ("suppress_until", until.into()),
        ],
    );
}
