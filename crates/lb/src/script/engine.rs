//! The engine that runs scripts: one for each thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::{Ctx, Function, Object, Persistent, Value};
use sandbox::{Bounds, OUT_OF_MEMORY, OVER, Sandbox, thrown};
use stdx::clock::SharedClock;
use stdx::sys::thread_cpu_time;

use super::natives::{self, Run};
use super::{Part, Script};
use crate::config::{self, OF_REQUEST, OF_RESPONSE};

/// Memory of a run, bytes. It also bounds what an operator on texts or arrays takes, which nothing interrupts.
const RUN_BYTES_MAX: usize = 512 << 10;
/// Memory of all compiled scripts of a thread, bytes: more are compiled again.
const CODE_BYTES_MAX: usize = 64 << 20;
/// Runs without a look at what they have left: it takes longer than most scripts.
const RUNS_UNCHECKED: u32 = 4_096;
/// Stack, bytes: the threads have 2 MiB.
const STACK_BYTES_MAX: usize = 256 << 10;

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) reason: String,
    /// CPU time that the run took beyond its limit.
    pub(super) beyond: Duration,
}

/// The time of the run: CPU time of the thread, because a busy machine is not the fault of a script.
struct Watch {
    clock: SharedClock,
    /// Monotonic time before which the CPU time cannot be over.
    not_before: Cell<Duration>,
    end: Cell<Duration>,
    /// It was over when the script or its guards looked.
    over: Cell<bool>,
}

impl Watch {
    fn begin(&self, time: Duration) {
        self.not_before.set(self.clock.monotonic() + time);
        self.end.set(thread_cpu_time() + time);
        self.over.set(false);
    }

    /// CPU time beyond the limit.
    fn beyond(&self) -> Duration {
        if self.clock.monotonic() < self.not_before.get() {
            return Duration::ZERO;
        }
        thread_cpu_time().saturating_sub(self.end.get())
    }

    fn is_over(&self) -> bool {
        let over = self.over.get() || self.beyond() > Duration::ZERO;
        self.over.set(over);
        over
    }
}

/// An engine with the scripts that it has run.
pub(super) struct Engine {
    // Dropped in this order: functions and objects belong to the sandbox.
    functions: HashMap<(u64, Part), Persistent<Function<'static>>>,
    request: Persistent<Object<'static>>,
    response: Persistent<Object<'static>>,
    sandbox: Sandbox,
    watch: Rc<Watch>,
    run: Rc<RefCell<Run>>,
    /// Memory without what a run has left.
    used: usize,
    runs: u32,
}

impl Engine {
    pub(super) fn start(clock: &SharedClock) -> Result<Self, String> {
        let watch = Rc::new(Watch {
            clock: clock.clone(),
            not_before: Cell::new(Duration::MAX),
            end: Cell::new(Duration::MAX),
            over: Cell::new(false),
        });
        let run = Rc::new(RefCell::new(Run::default()));
        let (interrupt, spend) = (Rc::clone(&watch), Rc::clone(&watch));
        let bounds = Bounds { memory: CODE_BYTES_MAX, stack: STACK_BYTES_MAX };
        let sandbox = Sandbox::start(bounds, move || interrupt.is_over())?;
        sandbox.guard(&config::Script::WORK, Box::new(move || !spend.is_over()))?;
        let made = sandbox.harden(|ctx| {
            let (request, response) = natives::install(ctx, &run)?;
            Ok(vec![request, response])
        })?;
        let Ok([request, response]) = <[_; 2]>::try_from(made) else {
            return Err("the script engine did not start".to_owned());
        };
        let used = sandbox.memory_used();
        let functions = HashMap::new();
        Ok(Self { functions, request, response, sandbox, watch, run, used, runs: 0 })
    }

    /// Runs a part of a script about something, which is returned changed.
    pub(super) fn run(
        &mut self,
        script: &Script,
        part: Part,
        about: Run,
    ) -> (Run, Result<(), Failed>) {
        let function = match self.function(script, part) {
            Ok(function) => function,
            Err(reason) => return (about, Err(Failed { reason, beyond: Duration::ZERO })),
        };
        // Garbage of other runs is not counted against this one.
        self.sandbox.collect_garbage_from(self.used + RUN_BYTES_MAX / 2);
        self.run.replace(about);
        self.watch.begin(script.timeout);
        let result = self.sandbox.with(|ctx| {
            let called = self.call(&ctx, function, part);
            called.map_err(|_| thrown(&ctx).to_string())
        });
        // What the script caught does not give it more time.
        let over = self.watch.is_over();
        let beyond = self.watch.beyond();
        let result = match result {
            _ if over => Err(OVER.to_owned()),
            Ok(()) if self.sandbox.has_jobs() => Err("promises are not available".to_owned()),
            result => result,
        };
        let result = result.map_err(|reason| Failed { reason, beyond });
        (self.run.take(), result)
    }

    fn call<'js>(
        &self,
        ctx: &Ctx<'js>,
        function: Persistent<Function<'static>>,
        part: Part,
    ) -> Result<(), rquickjs::Error> {
        let function = function.restore(ctx)?;
        let request = self.request.clone().restore(ctx)?;
        match part {
            Part::Request => function.call::<_, Value<'js>>((request,)).map(drop),
            Part::Response => {
                let response = self.response.clone().restore(ctx)?;
                function.call::<_, Value<'js>>((response, request)).map(drop)
            }
        }
    }

    /// The compiled script.
    fn function(
        &mut self,
        script: &Script,
        part: Part,
    ) -> Result<Persistent<Function<'static>>, String> {
        if let Some(function) = self.functions.get(&(script.id, part)) {
            return Ok(function.clone());
        }
        if self.used > CODE_BYTES_MAX / 2 {
            // Scripts of former configurations.
            self.functions.clear();
            self.sandbox.collect_garbage();
        }
        let parameters = match part {
            Part::Request => OF_REQUEST,
            Part::Response => OF_RESPONSE,
        };
        self.sandbox.set_memory_max(CODE_BYTES_MAX);
        // The configuration was checked: compiling takes a time that its length bounds.
        self.watch.begin(Duration::from_secs(1));
        let function = self.sandbox.function(parameters, script.text(part));
        let function = function.map_err(|thrown| thrown.to_string())?;
        self.functions.insert((script.id, part), function.clone());
        self.sandbox.collect_garbage();
        self.used = self.sandbox.memory_used();
        self.sandbox.set_memory_max(self.used + RUN_BYTES_MAX);
        Ok(function)
    }

    /// Whether the next script may run in it: no memory is held by what the last one has left, and it can be interrupted.
    pub(super) fn is_clean_after(&mut self, result: &Result<(), Failed>) -> bool {
        self.runs = self.runs.wrapping_add(1);
        let short = result
            .as_ref()
            .is_err_and(|Failed { reason, .. }| reason == OVER || reason.contains(OUT_OF_MEMORY));
        if self.sandbox.has_jobs() {
            return false;
        }
        if short || self.runs.is_multiple_of(RUNS_UNCHECKED) {
            self.sandbox.collect_garbage();
            if self.sandbox.memory_used() >= self.used + RUN_BYTES_MAX / 4 {
                return false;
            }
        }
        self.sandbox.is_ready()
    }
}
