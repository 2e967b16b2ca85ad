//! Commands: what actions and users tell hosts to do. Each runs on a thread of its own, beside the pollers and beside the
//! escalations, so that a host that does not respond delays nothing else.

mod limits;
mod run;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use model::alert::{Outcome, Report, Reports};
use model::command::{CommandKind, Commands, Place, Task};
use model::{AlertId, HostId};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::status::Status;
use limits::{Limits, Seat};
use run::Runner;

/// Time for commands that were cancelled at a stop.
const CANCEL_MAX: Duration = Duration::from_secs(5);

/// What the commander needs of the server.
#[derive(Debug, Clone)]
pub struct CommanderSetup {
    /// Commands may run on this machine (`EnableGlobalScripts`).
    pub on_server: bool,
    /// Runs what waits for the network. It outlives the commander.
    pub runtime: Handle,
}

/// What a command brought.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Its output.
    pub value: String,
    /// What a webhook logged: level, milliseconds since its start, text.
    pub log: Vec<(i32, u64, String)>,
    /// How long a webhook took, milliseconds; `None` = it was another command.
    pub took_ms: Option<u64>,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The text as users see it.
    Failed(String),
    /// The server stopped while it ran.
    Cancelled,
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

impl Failure {
    fn text(self) -> String {
        match self {
            Self::Failed(why) => why,
            Self::Cancelled => "the server was stopped while the command ran".to_owned(),
        }
    }
}

/// Runs commands. Clones share their limits; [`Commander::stop`] ends them.
#[derive(Clone)]
pub struct Commander(Arc<Shared>);

struct Shared {
    runner: Runner,
    limits: Limits,
    reports: Arc<dyn Reports>,
    cancel: watch::Sender<bool>,
}

impl std::fmt::Debug for Commander {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commander").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

impl Commander {
    /// Runs nothing yet. `pollers` have the clients of agents, SSH, Telnet and IPMI.
    pub fn new(pollers: &Status, setup: CommanderSetup, reports: Arc<dyn Reports>) -> Self {
        let (cancel, cancelled) = watch::channel(false);
        let runner = Runner::new(pollers, setup, cancelled);
        Self(Arc::new(Shared { runner, limits: Limits::default(), reports, cancel }))
    }

    /// Runs a command for a user, and waits for its end. Blocks.
    ///
    /// # Errors
    /// What went wrong, for the user.
    pub fn run(&self, task: &Task) -> Result<Answer, String> {
        let Some(_seat) = self.0.limits.take_for_user() else {
            return Err("Too many scripts are running. Try again.".to_owned());
        };
        self.0.run(task).map_err(Failure::text)
    }

    /// Starts nothing more, and waits for commands that run. After `grace` they are cancelled; what then still runs is
    /// reported as unknown. Blocks.
    pub fn stop(&self, grace: Duration) {
        let limits = &self.0.limits;
        limits.close();
        if !limits.wait(grace) {
            self.0.cancel.send_replace(true);
            limits.wait(CANCEL_MAX);
        }
        for alert in limits.abandon() {
            let error = Failure::Cancelled.text();
            self.0.reports.report(Report { alert, outcome: Outcome::Unknown { error } });
        }
    }
}

impl Commands for Commander {
    fn place(&self, kind: CommandKind, host: HostId) -> Option<Box<dyn Place>> {
        let shared = Arc::clone(&self.0);
        let seat = shared.limits.take(kind, host)?;
        Some(Box::new(Given { shared, seat }))
    }
}

/// A place that was given.
struct Given {
    shared: Arc<Shared>,
    seat: Seat,
}

impl Place for Given {
    fn start(self: Box<Self>, alert: AlertId, task: Task) {
        let Self { shared, seat } = *self;
        shared.limits.begin(alert);
        let work = Arc::clone(&shared);
        // The seat moves to the thread; if there is none, it is dropped here.
        let body = move || {
            let outcome = match work.run(&task) {
                Ok(_) => Outcome::SENT,
                Err(Failure::Failed(error)) => Outcome::Impossible { error },
                Err(why @ Failure::Cancelled) => Outcome::Unknown { error: why.text() },
            };
            drop(seat);
            work.report(alert, outcome);
        };
        if let Err(error) = stdx::thread::critical("command", body) {
            let error = format!("cannot start a thread for the command: {error}");
            shared.report(alert, Outcome::Impossible { error });
        }
    }
}

impl Shared {
    fn run(&self, task: &Task) -> Result<Answer, Failure> {
        let result = stdx::thread::contain(|| self.runner.run(task));
        result.unwrap_or_else(|fault| {
            if fault.is_new {
                tracing::error!(fault = fault.text, "a command panicked");
            }
            Err(Failure::Failed(fault.text))
        })
    }

    /// Once; not if it was reported at the stop.
    fn report(&self, alert: AlertId, outcome: Outcome) {
        if self.limits.end(alert) {
            self.reports.report(Report { alert, outcome });
            self.limits.reported();
        }
    }
}
