//! Many problems at once, grouped: how long it takes until the one message is sent, and how much memory.
//!
//! `cargo run -p actions --example grouping -- 100000`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use actions::text::Script;
use actions::{Addressee, Bell, Escalator, Expand, Sent, Subject, Texts};
use config::db::{DbError, DbResult, Location, Reader, Value};
use config::retry::Stop;
use config::schema::Table;
use config::{Config, Edit, table};
use events::{Hooks, Problems};
use model::alert::{Media, Outgoing, Refused};
use model::command::{CommandKind, Commands, Place};
use model::{HostId, Timestamp, TriggerFinding, TriggerId};
use stdx::clock::RealClock;

const GROUPING: &str = r#"{"by":["{HOST.HOST}"],"wait":"10s","interval":"5m","repeat":"0"}"#;

struct Out(Mutex<SyncSender<String>>);

impl Media for Out {
    fn send(&self, attempt: Outgoing) -> Result<(), Refused> {
        self.0.lock().unwrap().send(attempt.subject).unwrap();
        Ok(())
    }
}

struct NoCommands;

impl Commands for NoCommands {
    fn place(&self, _: CommandKind, _: HostId) -> Option<Box<dyn Place>> {
        None
    }
}

struct Plain;

impl Texts for Plain {
    fn about(
        &self,
        _: &mut dyn Reader,
        _: Subject,
        _: &[&str],
    ) -> DbResult<Option<Box<dyn Expand>>> {
        Ok(Some(Box::new(Self)))
    }
}

impl Expand for Plain {
    fn subject(&self, template: &str, _: &Addressee) -> String {
        template.to_owned()
    }

    fn message(&self, template: &str, _: &Addressee) -> String {
        template.repeat(40)
    }

    fn parameter(&self, template: &str, _: &Addressee, _: Sent<'_>) -> String {
        template.to_owned()
    }

    fn command(&self, template: &str, _: &Script<'_>) -> String {
        template.to_owned()
    }
}

fn main() {
    let all = std::env::args().nth(1).map_or(100_000, |n| n.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let config = Arc::new(Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap());
    let written: Result<(), DbError> = config.write(|edit| fill(edit, all));
    written.unwrap();
    let clock = RealClock::shared();
    let (sender, subjects) = sync_channel(100);
    let bell = Bell::default();
    let escalator = Escalator::new(
        Arc::clone(&config),
        clock.clone(),
        bell.clone(),
        Arc::new(Out(Mutex::new(sender))),
        Arc::new(NoCommands),
        Box::new(Plain),
    );
    let escalator = escalator.unwrap();
    let problems = Problems::open(Arc::clone(&config), clock.clone(), Hooks::none()).unwrap();
    let at = Timestamp { clock: u32::try_from(clock.unix_s()).unwrap(), ns: 0 };
    println!("{all} triggers; {}", memory());
    let start = clock.monotonic();
    for first in (1..=all).step_by(10_000) {
        let found = (first..=all.min(first + 9_999)).map(|trigger| TriggerFinding::Problem {
            trigger: TriggerId(trigger),
            at,
            name: "Queue is too long".to_owned(),
            opdata: String::new(),
            tags: Vec::new(),
        });
        problems.write(&found.collect::<Vec<_>>()).unwrap();
    }
    println!("{all} problems after {:.1?}; {}", clock.monotonic() - start, memory());
    let start = clock.monotonic();
    let stop = Stop::new(clock.clone());
    let thread = std::thread::spawn(move || escalator.run(&stop));
    println!(
        "sent {:?} after {:.1?}; {}",
        subjects.recv().unwrap(),
        clock.monotonic() - start,
        memory()
    );
    bell.end();
    thread.join().unwrap();
    assert!(subjects.try_recv().is_err(), "there is more than one message");
    let sql = "SELECT COUNT(*) AS n FROM alerts WHERE status = 4 AND carrierid <> 0";
    let told: Result<_, DbError> = config.read(|connection| connection.query(sql, &[]));
    println!("{} messages are told by it", told.unwrap()[0].int("n"));
}

/// The largest memory so far.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned()
}

/// A user who gets all messages about the triggers of a host.
fn fill(edit: &mut Edit<'_>, triggers: u64) -> DbResult<()> {
    let number = |number: u64| Value::from(number);
    let mut put = |table: &'static Table, row: &[(&'static str, Value)]| edit.insert(table, row);
    put(&table::HOSTS, &[("hostid", number(1)), ("host", "web".into()), ("name", "web".into())])?;
    put(
        &table::ITEMS,
        &[("itemid", number(1)), ("hostid", number(1)), ("key_", "k".into()), ("type", number(2))],
    )?;
    for trigger in 1..=triggers {
        let (id, priority) = (number(trigger), number(trigger % 6));
        let row =
            [("triggerid", id.clone()), ("priority", priority), ("expression", "{1}>0".into())];
        put(&table::TRIGGERS, &row)?;
        let row = [
            ("functionid", id.clone()),
            ("triggerid", id),
            ("itemid", number(1)),
            ("name", "last".into()),
        ];
        put(&table::FUNCTIONS, &row)?;
    }
    put(&table::ROLES, &[("roleid", number(3)), ("name", "r".into()), ("type", number(3))])?;
    put(
        &table::USERS,
        &[("userid", number(1)), ("username", "bob".into()), ("roleid", number(3))],
    )?;
    put(
        &table::MEDIA_TYPES,
        &[("mediatypeid", number(1)), ("name", "m".into()), ("status", number(0))],
    )?;
    put(
        &table::MEDIA,
        &[
            ("mediaid", number(1)),
            ("userid", number(1)),
            ("mediatypeid", number(1)),
            ("sendto", "bob".into()),
        ],
    )?;
    put(
        &table::ACTIONS,
        &[("actionid", number(1)), ("name", "Ops".into()), ("grouping", GROUPING.into())],
    )?;
    put(&table::OPERATIONS, &[("operationid", number(1)), ("actionid", number(1))])?;
    put(
        &table::OPERATION_MESSAGES,
        &[
            ("operationid", number(1)),
            ("default_msg", number(0)),
            ("subject", "Problem".into()),
            ("message", "The queue is too long. ".into()),
        ],
    )?;
    put(&table::OPERATION_MESSAGE_USERS, &[("operationid", number(1)), ("userid", number(1))])
}
