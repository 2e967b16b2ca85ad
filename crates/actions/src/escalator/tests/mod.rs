//! Events in, alerts and attempts out, on an SQLite file.

mod calm;
mod fallback;
mod flow;
mod gathered;
mod internal;
mod living;
mod on_call;
mod outlook;
mod rehearsal;
mod rehearsal_of_calm;
mod runs;
mod sends;
mod services;

use std::sync::Mutex;

use ::events::{Hooks, MaintenanceWatch, Problems};
use config::db::{DbError, Location, Reader, Value};
use config::schema::Table;
use config::table;
use model::alert::{Outcome, Outgoing, Refused, Report, Reports};
use model::command::{CommandKind, Place, Task, Work};
use model::{
    AlertId, EventId, HostId, ProblemUpdate, Timestamp, TriggerFinding, TriggerId, UserId,
};
use stdx::clock::SimClock;
use stdx::sync::lock;

use super::*;
use crate::text::Script;

const T: u64 = 1_800_000_000;
const HOST: u64 = 50;
const ITEM: u64 = 500;
const TRIGGER: u64 = 1;
/// Depends on the other one.
const CHILD: u64 = 2;
/// More severe than the others.
const DISASTER: u64 = 3;
const ALICE: u64 = 101;
const BOB: u64 = 102;
const OPS: u64 = 201;
const HOOK: u64 = 901;
const MAIL: u64 = 902;
const ACTION: u64 = 301;

/// Takes attempts up to a number.
#[derive(Default)]
struct Sink {
    taken: Mutex<Vec<Outgoing>>,
    room: Mutex<Option<usize>>,
}

impl Media for Sink {
    fn send(&self, attempt: Outgoing) -> Result<(), Refused> {
        let mut room = lock(&self.room);
        if *room == Some(0) {
            return Err(Refused::Full(Box::new(attempt)));
        }
        *room = room.map(|room| room - 1);
        lock(&self.taken).push(attempt);
        Ok(())
    }
}

/// Shows what it was asked for: the event, the user and the template.
pub(super) struct Echo;

struct EchoOf(Subject);

impl Texts for Echo {
    fn about(
        &self,
        _: &mut dyn Reader,
        subject: Subject,
        templates: &[&str],
    ) -> DbResult<Option<Box<dyn Expand>>> {
        assert!(!templates.contains(&"cannot be read"), "a fault of the reader");
        Ok(Some(Box::new(EchoOf(subject))))
    }
}

impl Expand for EchoOf {
    fn subject(&self, template: &str, _: &Addressee) -> String {
        template.to_owned()
    }

    fn message(&self, template: &str, to: &Addressee) -> String {
        assert!(!template.contains("cannot be made"), "a fault of the expander");
        let zone = to.zone.iana_name().unwrap_or_default();
        format!("{template} {} {zone}", self.0.event)
    }

    fn parameter(&self, template: &str, _: &Addressee, sent: Sent<'_>) -> String {
        template.replace("{ALERT.SENDTO}", sent.sendto).replace("{ALERT.SUBJECT}", sent.subject)
    }

    fn command(&self, template: &str, script: &Script<'_>) -> String {
        let secret = if script.shown { "******" } else { "secret" };
        template.replace("{EVENT.ID}", &self.0.event.to_string()).replace("{$SECRET}", secret)
    }
}

/// Starts commands up to one for each host, and none of hosts that are full.
#[derive(Default)]
pub(super) struct Shell {
    started: Mutex<Vec<(AlertId, Task)>>,
    full: Mutex<BTreeSet<HostId>>,
}

struct Seat(Arc<Shell>);

pub(super) struct Seats(pub(super) Arc<Shell>);

impl Commands for Seats {
    fn place(&self, _: CommandKind, host: HostId) -> Option<Box<dyn Place>> {
        let is_free = lock(&self.0.full).insert(host);
        is_free.then(|| Box::new(Seat(Arc::clone(&self.0))) as Box<dyn Place>)
    }
}

impl Place for Seat {
    fn start(self: Box<Self>, alert: AlertId, task: Task) {
        lock(&self.0.started).push((alert, task));
    }
}

struct World {
    config: Arc<Config>,
    clock: Arc<SimClock>,
    problems: Problems,
    escalator: Escalator,
    bell: Bell,
    sink: Arc<Sink>,
    shell: Arc<Shell>,
    dir: tempfile::TempDir,
}

type Columns<'a> = &'a [(&'static str, Value)];

fn open(dir: &tempfile::TempDir) -> Arc<Config> {
    Arc::new(Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap())
}

impl World {
    /// Two triggers on a host, two users who read it, an action that tells Alice in steps 1 to 3 and Bob in step 2, and
    /// all involved of the end and of updates.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = open(&dir);
        fill(&config);
        Self::start(dir, config, SimClock::at(Duration::from_secs(T)))
    }

    fn start(dir: tempfile::TempDir, config: Arc<Config>, clock: Arc<SimClock>) -> Self {
        let bell = Bell::default();
        let sink = Arc::new(Sink::default());
        let shell = Arc::new(Shell::default());
        let problems = Problems::open(Arc::clone(&config), clock.clone(), Hooks::none()).unwrap();
        let escalator = Escalator::new(
            Arc::clone(&config),
            clock.clone(),
            bell.clone(),
            sink.clone(),
            Arc::new(Seats(Arc::clone(&shell))),
            Box::new(Echo),
        );
        Self { config, clock, problems, escalator: escalator.unwrap(), bell, sink, shell, dir }
    }

    /// The process is killed and starts again.
    fn restarted(self) -> Self {
        let Self { config, clock, problems, escalator, dir, .. } = self;
        drop((config, problems, escalator));
        let config = open(&dir);
        Self::start(dir, config, clock)
    }

    fn put(&self, table: &'static Table, row: Columns<'_>) {
        put(&self.config, table, row);
    }

    fn run(&self, sql: &str) {
        let done: Result<u64, DbError> =
            self.config.write(|edit| edit.unrecorded().execute(sql, &[]));
        done.unwrap();
        self.renamed();
    }

    fn run_state(&self, sql: &str) {
        let done: Result<u64, DbError> = self.config.write_state(|state| state.execute(sql, &[]));
        done.unwrap();
    }

    /// A change of the action, so that it is read again.
    fn renamed(&self) {
        let name = format!("Main {}", self.config.snapshot().revision);
        let written: Result<(), DbError> = self
            .config
            .write(|edit| edit.update(&table::ACTIONS, ACTION, &[("name", name.into())]).map(drop));
        written.unwrap();
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        let rows: Result<_, DbError> = self.config.read(|c| c.query(sql, &[]));
        let text = |row: &config::db::Row| {
            row.iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>().join("|")
        };
        rows.unwrap().iter().map(text).collect()
    }

    fn problem(&self, trigger: u64) -> u64 {
        self.tagged_problem(trigger, &[])
    }

    fn tagged_problem(&self, trigger: u64, tags: &[(&str, &str)]) -> u64 {
        let tags = tags.iter().map(|(tag, value)| ((*tag).to_owned(), (*value).to_owned()));
        let found = TriggerFinding::Problem {
            trigger: TriggerId(trigger),
            at: self.now(),
            name: format!("bad {trigger}"),
            opdata: String::new(),
            tags: tags.collect(),
        };
        self.problems.write(&[found]).unwrap();
        self.rows("SELECT MAX(eventid) FROM problems")[0].parse().unwrap()
    }

    fn recovery(&self, trigger: u64) {
        let found = TriggerFinding::Recovery {
            trigger: TriggerId(trigger),
            at: self.now(),
            name: format!("good {trigger}"),
            tags: Vec::new(),
        };
        self.problems.write(&[found]).unwrap();
    }

    fn update(&self, event: u64, update: ProblemUpdate) {
        let events = vec![EventId(event)];
        self.problems.update(&ProblemUpdate { events, ..update }).unwrap();
    }

    fn now(&self) -> Timestamp {
        use stdx::clock::Clock;
        Timestamp { clock: u32::try_from(self.clock.unix_s()).unwrap(), ns: 0 }
    }

    /// Seconds until there is something to do.
    fn work(&mut self) -> u64 {
        self.escalator.take(Duration::ZERO);
        self.escalator.work().unwrap().as_secs()
    }

    /// Lets time pass and looks.
    fn after(&mut self, seconds: u64) -> Vec<String> {
        self.clock.advance(Duration::from_secs(seconds));
        self.sent()
    }

    /// What leaves now, as `address subject`.
    fn sent(&mut self) -> Vec<String> {
        self.work();
        let taken = std::mem::take(&mut *lock(&self.sink.taken));
        taken.iter().map(|one| format!("{} {}", one.sendto, one.subject)).collect()
    }

    fn report(&self, alert: u64, outcome: Outcome) {
        self.bell.report(Report { alert: AlertId(alert), outcome });
    }

    /// Reports all that is handed over as sent.
    fn report_all(&mut self) {
        let ids: Vec<AlertId> = self.escalator.sending.handed().collect();
        for id in ids {
            self.report(id.0, Outcome::SENT);
        }
        self.work();
    }
}

fn put(config: &Config, table: &'static Table, row: Columns<'_>) {
    let written: Result<(), DbError> = config.write(|edit| edit.insert(table, row));
    written.unwrap();
}

fn fill(config: &Config) {
    let id = |id: u64| Value::from(id);
    let text = |text: &str| Value::from(text);
    let number = |number: i64| Value::from(number);
    let name = |name: &str| [("host", text(name)), ("name", text(name))];
    put(config, &table::GROUPS, &[("groupid", id(5000)), ("name", text("Web"))]);
    put(config, &table::HOSTS, &[&[("hostid", id(HOST))][..], &name("web")].concat());
    put(config, &table::HOST_GROUPS, &[("hostid", id(HOST)), ("groupid", id(5000))]);
    put(
        config,
        &table::ITEMS,
        &[("itemid", id(ITEM)), ("hostid", id(HOST)), ("key_", text("k")), ("type", number(2))],
    );
    for (trigger, severity) in [(TRIGGER, 4), (CHILD, 4), (DISASTER, 5)] {
        put(
            config,
            &table::TRIGGERS,
            &[
                ("triggerid", id(trigger)),
                ("priority", number(severity)),
                ("description", text("Load on {HOST.NAME}")),
                ("expression", text("{1}>0")),
                ("manual_close", number(1)),
            ],
        );
        put(
            config,
            &table::FUNCTIONS,
            &[
                ("functionid", id(trigger)),
                ("triggerid", id(trigger)),
                ("itemid", id(ITEM)),
                ("name", text("last")),
            ],
        );
    }
    put(config, &table::TRIGGER_DEPENDS, &[("triggerid", id(CHILD)), ("depends_on", id(TRIGGER))]);
    for role in [1_u64, 3] {
        let row = [("roleid", id(role)), ("name", format!("r{role}").into()), ("type", id(role))];
        put(config, &table::ROLES, &row);
    }
    put(config, &table::USERGROUPS, &[("usrgrpid", id(OPS)), ("name", text("Ops"))]);
    put(
        config,
        &table::GROUP_RIGHTS,
        &[("usrgrpid", id(OPS)), ("groupid", id(5000)), ("permission", number(2))],
    );
    for (media_type, kind) in [(HOOK, 4), (MAIL, 0)] {
        put(
            config,
            &table::MEDIA_TYPES,
            &[
                ("mediatypeid", id(media_type)),
                ("name", format!("m{media_type}").into()),
                ("type", number(kind)),
                ("status", number(0)),
                // No limit.
                ("maxsessions", number(0)),
            ],
        );
    }
    put(
        config,
        &table::MEDIA_TYPE_PARAMS,
        &[
            ("mediatypeid", id(HOOK)),
            ("position", number(0)),
            ("name", text("to")),
            ("value", text("{ALERT.SENDTO}: {ALERT.SUBJECT}")),
        ],
    );
    for (user, name, media_type) in [(ALICE, "alice", HOOK), (BOB, "bob", MAIL)] {
        put(
            config,
            &table::USERS,
            &[
                ("userid", id(user)),
                ("username", text(name)),
                ("roleid", id(1)),
                ("timezone", text("Asia/Tokyo")),
            ],
        );
        put(config, &table::USER_GROUPS, &[("userid", id(user)), ("usrgrpid", id(OPS))]);
        put(
            config,
            &table::MEDIA,
            &[
                ("mediaid", id(user)),
                ("userid", id(user)),
                ("mediatypeid", id(media_type)),
                ("sendto", text(name)),
            ],
        );
    }
    put(
        config,
        &table::ACTIONS,
        &[
            ("actionid", id(ACTION)),
            ("name", text("Main")),
            ("eventsource", number(0)),
            ("esc_period", text("60s")),
        ],
    );
    condition(config, 4, 5, "3");
    operation(config, 401, 0, (1, 3), Some(ALICE), "PROBLEM");
    operation(config, 402, 0, (2, 2), Some(BOB), "SECOND");
    operation(config, 403, 1, (1, 1), None, "OK");
    operation(config, 404, 2, (1, 1), None, "UPDATE");
}

/// A condition on events.
fn condition(config: &Config, kind: i64, operator: i64, value: &str) {
    put(
        config,
        &table::ACTION_CONDITIONS,
        &[
            ("actionid", ACTION.into()),
            ("sortorder", kind.into()),
            ("conditiontype", kind.into()),
            ("operator", operator.into()),
            ("value", value.into()),
        ],
    );
}

/// A message to a user, or to all involved.
fn operation(
    config: &Config,
    id: u64,
    mode: i64,
    (from, to): (i64, i64),
    user: Option<u64>,
    subject: &str,
) {
    let kind = if user.is_some() { 0 } else { 10 + mode };
    put(
        config,
        &table::OPERATIONS,
        &[
            ("operationid", id.into()),
            ("actionid", ACTION.into()),
            ("operationtype", kind.into()),
            ("esc_step_from", from.into()),
            ("esc_step_to", to.into()),
            ("recovery", mode.into()),
        ],
    );
    put(
        config,
        &table::OPERATION_MESSAGES,
        &[
            ("operationid", id.into()),
            ("default_msg", 0_i64.into()),
            ("subject", subject.into()),
            ("message", "text".into()),
        ],
    );
    if let Some(user) = user {
        let row = [("operationid", Value::from(id)), ("userid", user.into())];
        put(config, &table::OPERATION_MESSAGE_USERS, &row);
    }
}
