//! Scripts of rules: JavaScript that decides about requests and changes heads of responses.
//!
//! Each thread has an [engine](engine) for all scripts. A script gets [what is known](facts) of a request through
//! [functions](natives), and what it changes is applied after it has ended: one that fails has changed nothing.

mod engine;
mod facts;
mod fields;
mod natives;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use proxying::http1::Response;
use stdx::clock::SharedClock;

use crate::config::{self, OnError};
use crate::edits::Edits;
use crate::pool::group::Target;
use engine::{Engine, Failed};
use facts::Head;
pub(crate) use facts::{Caller, Choice, Facts};
use natives::Run;

/// How often the failures of a script are logged, in milliseconds.
const LOG_MS: u64 = 60_000;
/// CPU time beyond its limit after which a script is not run for a while.
const BEYOND_MAX: Duration = Duration::from_millis(50);
/// How long, in milliseconds.
const SUSPENDED_MS: u64 = 60_000;

/// One of the two texts of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Request,
    Response,
}

/// A script of a rule.
#[derive(Debug)]
pub(crate) struct Script {
    /// Unique in this process: threads keep compiled scripts by it.
    id: u64,
    /// Service and rule, for the log.
    name: String,
    request: Option<String>,
    response: Option<String>,
    pools: Vec<String>,
    targets: Vec<Target>,
    timeout: Duration,
    on_error: OnError,
    /// Milliseconds before which nothing is logged.
    silent_until_ms: AtomicU64,
    /// Failures that were not logged.
    unlogged: AtomicU64,
    suspended_until_ms: AtomicU64,
}

/// What scripts have made of a request, and what they need to know of it for the response.
#[derive(Debug)]
pub(crate) struct Scripted {
    facts: Facts,
    pub(crate) request: Edits,
    /// Path and query for the server, instead of those of the client.
    pub(crate) target: Option<Vec<u8>>,
    /// Whose response part runs.
    responders: Vec<Arc<Script>>,
    pub(crate) response: Edits,
}

/// The client gets 500 because of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

impl Script {
    /// Of a script that has been checked.
    pub(crate) fn compile(
        config: &config::Script,
        name: String,
        target: &dyn Fn(&String) -> Result<Target, String>,
    ) -> Result<Self, String> {
        static IDS: AtomicU64 = AtomicU64::new(0);
        Ok(Self {
            id: IDS.fetch_add(1, Relaxed),
            name,
            request: config.request.clone(),
            response: config.response.clone(),
            pools: config.pools.clone(),
            targets: config.pools.iter().map(target).collect::<Result<_, _>>()?,
            timeout: config.timeout.0,
            on_error: config.on_error,
            silent_until_ms: AtomicU64::new(0),
            unlogged: AtomicU64::new(0),
            suspended_until_ms: AtomicU64::new(0),
        })
    }

    fn text(&self, part: Part) -> &str {
        let text = match part {
            Part::Request => &self.request,
            Part::Response => &self.response,
        };
        text.as_deref().unwrap_or_default()
    }

    /// The pool or pool group at a place of those that it may choose.
    pub(crate) fn target(&self, at: usize) -> Option<&Target> {
        self.targets.get(at)
    }

    /// Logs a failure, at most once in a while.
    fn complain(&self, part: Part, failed: &Failed, now_ms: u64) {
        if failed.beyond > BEYOND_MAX {
            self.suspended_until_ms.store(now_ms + SUSPENDED_MS, Relaxed);
        }
        let silent_until = self.silent_until_ms.load(Relaxed);
        let logs = now_ms >= silent_until
            && self
                .silent_until_ms
                .compare_exchange(silent_until, now_ms + LOG_MS, Relaxed, Relaxed)
                .is_ok();
        if !logs {
            self.unlogged.fetch_add(1, Relaxed);
            return;
        }
        let more = self.unlogged.swap(0, Relaxed);
        let (name, part) = (&self.name, if part == Part::Request { "request" } else { "response" });
        let Failed { reason, beyond } = failed;
        let reason = line(reason);
        let suspended = match *beyond > BEYOND_MAX {
            true => format!(
                "; it took {} ms too long and does not run for a minute",
                beyond.as_millis()
            ),
            false => String::new(),
        };
        tracing::warn!(
            "{name}: the {part} script failed: {reason}{suspended} ({more} failures before were not logged)"
        );
    }
}

/// The start of what a script threw: it may have the texts of a client.
fn line(reason: &str) -> String {
    const CHARACTERS_MAX: usize = 300;
    let shown = reason.chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.take(CHARACTERS_MAX).collect()
}

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// The scripts of a thread.
#[derive(Clone)]
pub(crate) struct Scripts {
    clock: SharedClock,
}

impl Scripts {
    pub(crate) fn new(clock: &SharedClock) -> Self {
        Self { clock: SharedClock::clone(clock) }
    }

    /// Starts the engine of this thread before the first request needs it.
    pub(crate) fn prepare(&self) {
        ENGINE.with_borrow_mut(|engine| {
            if engine.is_none() {
                match Engine::start(&self.clock) {
                    Ok(started) => *engine = Some(started),
                    Err(problem) => tracing::error!("{problem}"),
                }
            }
        });
    }

    fn run(
        &self,
        script: &Script,
        part: Part,
        about: Run,
        now_ms: u64,
    ) -> (Run, Result<(), Failed>) {
        let failed = |reason: &str| Failed { reason: reason.to_owned(), beyond: Duration::ZERO };
        if now_ms < script.suspended_until_ms.load(Relaxed) {
            return (about, Err(failed("it is suspended")));
        }
        self.prepare();
        ENGINE.with_borrow_mut(|kept| {
            let Some(engine) = kept else {
                return (about, Err(failed("the script engine did not start")));
            };
            let (about, result) = engine.run(script, part, about);
            if !engine.is_clean_after(&result) {
                *kept = None;
            }
            (about, result)
        })
    }

    /// Runs the request part of a script; what it changes is added to `scripted`. `facts` tells what is known of the
    /// request if no script has run before. `failed` counts.
    pub(crate) fn on_request(
        &self,
        script: &Arc<Script>,
        scripted: &mut Option<Box<Scripted>>,
        facts: impl FnOnce() -> Facts,
        now_ms: u64,
    ) -> (Option<Choice>, Outcome) {
        let mut own = scripted.take().unwrap_or_else(|| Box::new(Scripted::of(facts())));
        let mut outcome = Outcome::Done;
        let mut choice = None;
        if script.request.is_some() {
            let request = Some(Box::new(own.facts.clone()));
            let about = Run { request, pools: script.pools.clone(), ..Run::default() };
            let (about, result) = self.run(script, Part::Request, about, now_ms);
            match (result, about.request) {
                (Ok(()), Some(request)) => {
                    (own.target, own.request) = (request.target(), request.fields.edits());
                    own.facts = *request;
                    choice = about.choice;
                }
                (Err(failed), _) => outcome = script.failed(Part::Request, &failed, now_ms),
                (Ok(()), None) => {}
            }
        }
        if script.response.is_some() {
            own.responders.push(Arc::clone(script));
        }
        *scripted = Some(own);
        (choice, outcome)
    }

    /// Runs the response parts of scripts for the head of a response. The number is that of failures.
    pub(crate) fn on_response(
        &self,
        scripted: &mut Scripted,
        response: &Response<'_>,
        now_ms: u64,
    ) -> (u64, Result<(), Refused>) {
        scripted.response = Edits::default();
        let mut failures = 0;
        if scripted.responders.is_empty() {
            return (failures, Ok(()));
        }
        let mut head = Head::of(response);
        for script in &scripted.responders {
            let before = head.fields.clone();
            let request = Some(Box::new(scripted.facts.clone()));
            let about = Run { request, response: Some(head), ..Run::default() };
            let (about, result) = self.run(script, Part::Response, about, now_ms);
            head = about.response.unwrap_or_else(|| Head::of(response));
            if let Err(failed) = result {
                failures += 1;
                head.fields = before;
                if script.failed(Part::Response, &failed, now_ms) == Outcome::Refuse {
                    return (failures, Err(Refused));
                }
            }
        }
        scripted.response = head.fields.edits();
        (failures, Ok(()))
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// It failed, and the request goes on.
    Continue,
    /// It failed, and the client gets 500.
    Refuse,
}

impl Script {
    fn failed(&self, part: Part, failed: &Failed, now_ms: u64) -> Outcome {
        self.complain(part, failed, now_ms);
        match self.on_error {
            OnError::Refuse => Outcome::Refuse,
            OnError::Continue => Outcome::Continue,
        }
    }
}

impl Scripted {
    /// The same for a request whose response no client gets.
    pub(crate) fn without_response(&self) -> Self {
        let (request, target) = (self.request.clone(), self.target.clone());
        Self { request, target, ..Self::of(self.facts.clone()) }
    }

    fn of(facts: Facts) -> Self {
        Self {
            facts,
            request: Edits::default(),
            target: None,
            responders: Vec::new(),
            response: Edits::default(),
        }
    }
}
