//! Commands on agents, on this machine and in the sandbox, and what ends them.
#![allow(clippy::unwrap_used, reason = "this is test code")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Behaviour, FakeAgent, Rig, host, item, snapshot};
use config::snapshot::ItemType;
use model::alert::{Outcome, Report, Reports};
use model::command::{CommandKind, Commands, Task, Work};
use model::{AlertId, HostId};
use poll::{Commander, CommanderSetup};

#[derive(Default)]
struct Written(Mutex<Vec<Report>>);

impl Reports for Written {
    fn report(&self, report: Report) {
        self.0.lock().unwrap().push(report);
    }
}

struct Bench {
    rig: Rig,
    commander: Commander,
    written: Arc<Written>,
}

impl Bench {
    async fn start(port: u16, on_server: bool) -> Self {
        let rig = Rig::start(snapshot(
            1,
            vec![host(1, "web", port, vec![item(1, "k", ItemType::Trapper, "")])],
        ))
        .await;
        let written = Arc::<Written>::default();
        let runtime = tokio::runtime::Handle::current();
        let setup = CommanderSetup { on_server, runtime };
        let commander = Commander::new(&rig.handle.status(), setup, written.clone());
        Self { rig, commander, written }
    }

    /// As a user runs it.
    async fn run(&self, work: Work) -> Result<String, String> {
        let commander = self.commander.clone();
        let task = Task { host: HostId(1), work };
        let run = move || commander.run(&task).map(|answer| answer.value);
        tokio::task::spawn_blocking(run).await.unwrap()
    }

    /// As an action runs it.
    fn start_one(&self, alert: u64, work: Work) {
        let place = self.commander.place(work.kind(), HostId(1)).unwrap();
        place.start(AlertId(alert), Task { host: HostId(1), work });
    }

    async fn report(&self) -> Report {
        for _ in 0..6_000 {
            if let Some(report) = self.written.0.lock().unwrap().pop() {
                return report;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no report");
    }
}

fn agent(command: &str, wait: bool) -> Work {
    Work::Agent { command: command.to_owned(), wait }
}

fn server(command: &str) -> Work {
    Work::Server { command: command.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_get_the_key_of_7_0() {
    let key = "system.run[\"echo \\\"a\\\", [b]\",nowait]";
    let values =
        [(key, Some("")), ("system.run[id,wait]", Some("root")), ("system.run[x,wait]", None)];
    let values =
        values.map(|(key, value)| (key.to_owned(), value.map(str::to_owned))).into_iter().collect();
    let fake = FakeAgent::start(Behaviour { values, ..Behaviour::default() }).await;
    let bench = Bench::start(fake.port, false).await;
    assert_eq!(bench.run(agent("id", true)).await, Ok("root".to_owned()));
    assert_eq!(bench.run(agent("x", true)).await, Err("no system.run[x,wait] here".to_owned()));
    bench.start_one(7, agent("echo \"a\", [b]", false));
    let outcome = Outcome::SENT;
    assert_eq!(bench.report().await, Report { alert: AlertId(7), outcome });
    let why = bench.run(agent("x, \\", true)).await.unwrap_err();
    assert!(why.contains("ends with a backslash"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_active_agent_fetches_commands() {
    let bench = Bench::start(1, false).await;
    let mut without = host(1, "web", 1, vec![]);
    without.interfaces = Box::default();
    bench.rig.configure(snapshot(2, vec![without]));
    let commands = Arc::clone(&bench.rig.context.commands);
    let fetch = tokio::spawn(async move {
        loop {
            if let Some(command) = commands.take(HostId(1)).pop() {
                commands.answer(HostId(1), command.id, Ok(format!("{} done", command.command)));
                return command.wait;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert_eq!(bench.run(agent("id", true)).await, Ok("id done".to_owned()));
    assert!(fetch.await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn this_machine_runs_what_the_operator_allows() {
    let bench = Bench::start(1, false).await;
    let why = bench.run(server("true")).await.unwrap_err();
    assert!(why.contains("disabled by server configuration"), "{why}");
    let bench = Bench::start(1, true).await;
    for (command, expected) in [
        ("echo out; echo err >&2", Ok("out\nerr\n")),
        ("echo to stdout; echo to stderr >&2; exit 7", Err("to stdout\nto stderr\n")),
        ("/no/such/program", Err("sh: 1: /no/such/program: not found\n")),
        ("kill -9 $$", Err("Process killed by signal: 9.")),
        ("exit 5", Err("Process exited with code: 5.")),
        ("test -z \"$HOME$CARGO\"", Ok("")),
    ] {
        let result = bench.run(server(command)).await;
        assert_eq!(result.as_deref().map_err(String::as_str), expected, "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_what_runs_and_reports_it() {
    let bench = Bench::start(1, true).await;
    bench.start_one(1, server("sleep 1000"));
    let kind = CommandKind::Server;
    assert!(bench.commander.place(kind, HostId(1)).is_none(), "the host is busy");
    let commander = bench.commander.clone();
    tokio::task::spawn_blocking(move || commander.stop(Duration::ZERO)).await.unwrap();
    let report = bench.report().await;
    assert_eq!(report.alert, AlertId(1));
    assert!(matches!(report.outcome, Outcome::Unknown { .. }), "{report:?}");
    assert!(bench.commander.place(kind, HostId(2)).is_none(), "nothing starts after a stop");
    assert!(bench.run(server("true")).await.is_err());
}
