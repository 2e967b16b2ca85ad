//! JavaScript for preprocessing, on QuickJS: non-strict, bounded in memory and time.
//!
//! Scripts see `value`, `Zabbix.log`, `Zabbix.sleep`, `console`, `HttpRequest`, `XML`, `btoa`,
//! `atob`, `md5`, `sha256`, `hmac` and `sign`. Nothing here does input or output: what leaves the
//! engine goes through [`Outside`], which is given by those who may wait. Without it
//! `HttpRequest` refuses and `Zabbix.sleep` only uses up the script's time. With a WebDriver there
//! is `Browser` too.
//!
//! An engine holds 64 MiB at most, an eighth of what the field's server grants: the largest
//! scripts of its templates stay below 10 MiB, and as many engines exist as threads run scripts.

mod browser;
mod functions;
mod guards;
mod http;
mod outside;

pub(crate) use guards::may_use_big_numbers;
pub use http::ANSWER_BYTES_MAX;
pub use outside::{HttpAnswer, HttpAuth, HttpCall, Outside};

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use foldhash::fast::RandomState;
use rquickjs::context::EvalOptions;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Persistent, Value};
use sandbox::{Bounds, OUT_OF_MEMORY, Sandbox};
use stdx::clock::SharedClock;

/// Memory of one engine, bytes.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;

/// Time of one call.
pub const TIME_MAX: Duration = Duration::from_secs(10);

/// Stack of one engine, bytes; leaves room on the smallest thread of the product.
pub const STACK_BYTES_MAX: usize = 512 << 10;

/// Compiled scripts that an engine keeps.
pub const CACHE_SCRIPTS_MAX: usize = 1000;

/// Lines that one call may log.
pub const LOG_LINES_MAX: usize = 500;

/// Interrupt checks of one call: the bound where a simulated clock stands still.
const CHECKS_MAX: u64 = 200_000;

/// A line that a script logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Level as the script gave it: 0 to 5.
    pub level: i32,
    /// When it was logged, by the engine's clock.
    pub at: Duration,
    pub text: String,
}

/// Why a script gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// It is no JavaScript.
    #[error("{0}")]
    Compile(String),
    /// It threw, returned nothing, or used up what it may.
    #[error("{0}")]
    Run(String),
}

/// An engine made when the first script runs. Owned by one thread.
pub struct Scripts {
    clock: SharedClock,
    outside: Option<Arc<dyn Outside>>,
    time_max: Duration,
    ran_out: bool,
    engine: Option<Engine>,
}

impl std::fmt::Debug for Scripts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripts").field("started", &self.engine.is_some()).finish()
    }
}

impl Scripts {
    /// No engine yet; `clock` measures the scripts' time.
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, outside: None, time_max: TIME_MAX, ran_out: false, engine: None }
    }

    /// Scripts that reach the world.
    pub fn with_outside(clock: SharedClock, outside: Arc<dyn Outside>) -> Self {
        Self { outside: Some(outside), ..Self::new(clock) }
    }

    /// Scripts that get less time than [`TIME_MAX`]; see [`Self::ran_out`].
    pub fn with_time_max(clock: SharedClock, time_max: Duration) -> Self {
        Self { time_max, ..Self::new(clock) }
    }

    /// The clock that measures the scripts' time, monotonic.
    pub fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Whether a script used up its time since the last call of this.
    pub fn ran_out(&mut self) -> bool {
        std::mem::take(&mut self.ran_out)
    }

    /// The next script gets a new engine.
    pub fn renew(&mut self) {
        self.engine = None;
    }

    /// Runs a script's body with `value`; `None` = it returned null.
    pub fn call(&mut self, source: &str, value: &str) -> Result<Option<String>, String> {
        self.call_within(source, value, self.time_max).map_err(|e| e.to_string())
    }

    /// [`Self::call`] with a time of its own.
    pub fn call_within(
        &mut self,
        source: &str,
        value: &str,
        time_max: Duration,
    ) -> Result<Option<String>, CallError> {
        let engine = self.engine().map_err(CallError::Run)?;
        let result = engine.call_within(source, value, time_max);
        let ran_out = std::mem::take(&mut engine.ran_out);
        self.ran_out |= ran_out;
        result
    }

    /// Lines logged since the last call of this, also by a script that ran out of memory or time.
    pub fn take_log(&mut self) -> Vec<LogLine> {
        self.engine.as_mut().map(Engine::take_log).unwrap_or_default()
    }

    /// The engine; a spoiled one is replaced.
    pub fn engine(&mut self) -> Result<&mut Engine, String> {
        match &mut self.engine {
            Some(engine) if !engine.spoiled => {}
            slot => *slot = Some(Engine::start(Arc::clone(&self.clock), self.outside.as_ref())?),
        }
        self.engine.as_mut().ok_or_else(|| "the script engine did not start".to_owned())
    }
}

/// A JavaScript engine with its compiled scripts.
pub struct Engine {
    // Dropped in this order: functions belong to the sandbox.
    functions: HashMap<Box<str>, Persistent<Function<'static>>, RandomState>,
    sandbox: Sandbox,
    clock: SharedClock,
    budget: Arc<Budget>,
    log: Rc<RefCell<Vec<LogLine>>>,
    outside: Option<Arc<dyn Outside>>,
    browsers: Rc<browser::Sessions>,
    /// It ran out of memory or time: its globals may hold what is left of that.
    spoiled: bool,
    ran_out: bool,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("functions", &self.functions.len()).finish()
    }
}

#[derive(Debug, Default)]
struct Budget {
    deadline_ns: AtomicU64,
    checks: AtomicU64,
    /// A guard has seen the end of the call's time: what it threw the script may have caught.
    over: AtomicBool,
    /// `HttpRequest` objects that the call has made.
    requests: AtomicU64,
    /// `Browser` objects that the call has made.
    browsers: AtomicU64,
}

impl Budget {
    fn is_spent(&self, now: Duration) -> bool {
        let checks = self.checks.fetch_add(1, Ordering::Relaxed);
        checks > CHECKS_MAX || self.is_over(now)
    }

    /// What guards ask.
    fn has_time(&self, now: Duration) -> bool {
        let over = self.is_over(now);
        if over {
            self.over.store(true, Ordering::Relaxed);
        }
        !over
    }

    fn is_over(&self, now: Duration) -> bool {
        ns(now) > self.deadline_ns.load(Ordering::Relaxed)
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Engine {
    /// Starts an engine that reaches nothing; `clock` measures the scripts' time.
    pub fn new(clock: SharedClock) -> Result<Self, String> {
        Self::start(clock, None)
    }

    fn start(clock: SharedClock, outside: Option<&Arc<dyn Outside>>) -> Result<Self, String> {
        let failed = |e: rquickjs::Error| format!("the script engine did not start: {e}");
        let budget = Arc::new(Budget::default());
        let (watched, watch) = (Arc::clone(&budget), Arc::clone(&clock));
        let bounds = Bounds { memory: MEMORY_BYTES_MAX, stack: STACK_BYTES_MAX };
        let sandbox = Sandbox::start(bounds, move || watched.is_spent(watch.monotonic()))?;
        let log = Rc::new(RefCell::new(Vec::new()));
        let start = ns(clock.monotonic() + TIME_MAX);
        budget.deadline_ns.store(start, Ordering::Relaxed);
        let browsers = Rc::new(browser::Sessions::default());
        sandbox.with(|ctx| functions::install(&ctx)).map_err(failed)?;
        let (watched, watch) = (Arc::clone(&budget), Arc::clone(&clock));
        sandbox.guard(&guards::WORK, Box::new(move || watched.has_time(watch.monotonic())))?;
        sandbox
            .with(|ctx| {
                install(&ctx, &budget, &clock, &log, outside)?;
                browser::install(&ctx, &budget, &clock, outside, &browsers)
            })
            .map_err(failed)?;
        Ok(Self {
            functions: HashMap::default(),
            sandbox,
            clock,
            budget,
            log,
            outside: outside.cloned(),
            browsers,
            spoiled: false,
            ran_out: false,
        })
    }

    /// Lines logged since the last call of this.
    pub fn take_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.log.borrow_mut())
    }

    /// Runs a script's body with `value`; `None` = it returned null.
    pub fn call(&mut self, source: &str, value: &str) -> Result<Option<String>, String> {
        self.call_within(source, value, TIME_MAX).map_err(|e| e.to_string())
    }

    fn call_within(
        &mut self,
        source: &str,
        value: &str,
        time_max: Duration,
    ) -> Result<Option<String>, CallError> {
        self.budget.checks.store(0, Ordering::Relaxed);
        self.budget.over.store(false, Ordering::Relaxed);
        self.budget.requests.store(0, Ordering::Relaxed);
        self.budget.browsers.store(0, Ordering::Relaxed);
        let deadline = ns(self.clock.monotonic() + time_max);
        self.budget.deadline_ns.store(deadline, Ordering::Relaxed);
        self.log.borrow_mut().truncate(LOG_LINES_MAX);
        let function = match self.functions.get(source) {
            Some(function) => function.clone(),
            None => {
                let compiled =
                    self.sandbox.with(|ctx| compile(&ctx, source)).map_err(CallError::Compile)?;
                if self.functions.len() >= CACHE_SCRIPTS_MAX {
                    self.functions.clear();
                }
                self.functions.insert(source.into(), compiled.clone());
                compiled
            }
        };
        let result = self.sandbox.with(|ctx| {
            let function = function.restore(&ctx).map_err(|e| e.to_string())?;
            let value = value.split('\0').next().unwrap_or_default();
            match function.call::<_, Value<'_>>((value,)) {
                Ok(result) if result.is_undefined() => Err("undefined return value".to_owned()),
                Ok(result) if result.is_null() => Ok(None),
                Ok(result) => match result.get::<Coerced<String>>() {
                    Ok(text) => Ok(Some(functions::up_to_nul(text.0))),
                    Err(_) => Err(exception(&ctx)),
                },
                Err(_) => Err(exception(&ctx)),
            }
        });
        if let Some(outside) = &self.outside {
            self.browsers.close(&**outside);
        }
        let over = self.budget.over.load(Ordering::Relaxed);
        self.spoiled |= !self.sandbox.is_ready();
        if let Err(error) = &result {
            // Where memory is short the error may have lost its text.
            let short = self.sandbox.memory_used() > MEMORY_BYTES_MAX / 2;
            self.spoiled |= short || error.contains(OUT_OF_MEMORY);
        }
        if over || result.is_err() && self.budget.is_spent(self.clock.monotonic()) {
            self.spoiled = true;
            self.ran_out = true;
            return Err(CallError::Run(sandbox::OVER.to_owned()));
        }
        result.map_err(CallError::Run)
    }
}

fn compile(ctx: &Ctx<'_>, source: &str) -> Result<Persistent<Function<'static>>, String> {
    if sandbox::has_async(source) {
        return Err(sandbox::NO_ASYNC.to_owned());
    }
    let mut options = EvalOptions::default();
    options.strict = false;
    let source = widen_constants(source);
    let code = format!("(function(value){{{source}\n}})");
    match ctx.eval_with_options::<Function<'_>, _>(code, options) {
        Ok(function) => Ok(Persistent::save(ctx, function)),
        Err(_) => Err(exception(ctx)),
    }
}

/// `const name = …` becomes a variable of the whole function, which it is in the field's engine:
/// scripts of its templates use one outside of the block that declares it.
fn widen_constants(source: &str) -> std::borrow::Cow<'_, str> {
    const WORD: &str = "const";
    if !source.contains(WORD) {
        return source.into();
    }
    let name_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(WORD) {
        let (before, after) = (&rest[..at], &rest[at + WORD.len()..]);
        out.push_str(before);
        let line = out.trim_end_matches([' ', '\t', '\r']);
        let begins = line.is_empty() || line.ends_with(['\n', ';', '{', '}']);
        let name = after.trim_start();
        let value = name.trim_start_matches(name_part).trim_start();
        let declares = name.len() < after.len() && value.len() < name.len();
        let declares = declares && value.starts_with('=') && !value.starts_with("==");
        out.push_str(if begins && declares { "var  " } else { WORD });
        rest = after;
    }
    out.push_str(rest);
    out.into()
}

/// The thrown value as text.
fn exception(ctx: &Ctx<'_>) -> String {
    functions::up_to_nul(sandbox::thrown(ctx).text)
}

fn install(
    ctx: &Ctx<'_>,
    budget: &Arc<Budget>,
    clock: &SharedClock,
    log: &Rc<RefCell<Vec<LogLine>>>,
    outside: Option<&Arc<dyn Outside>>,
) -> Result<(), rquickjs::Error> {
    http::install(ctx, budget, clock, outside)?;
    let globals = ctx.globals();
    let outside = outside.cloned();
    let zabbix = Object::new(ctx.clone())?;
    let (lines, now) = (Rc::clone(log), Arc::clone(clock));
    let write = move |level: Opt<Coerced<i32>>, text: Opt<Coerced<String>>| {
        let mut lines = lines.borrow_mut();
        if lines.len() < LOG_LINES_MAX {
            let level = level.0.map_or(3, |l| l.0);
            lines.push(LogLine {
                level,
                at: now.monotonic(),
                text: text.0.map_or_else(String::new, |t| functions::up_to_nul(t.0)),
            });
        }
    };
    let write = Function::new(ctx.clone(), write)?;
    zabbix.set("log", write.clone())?;
    zabbix.set("Log", write.clone())?;
    let console: Function<'_> = ctx.eval(
        "(function (log) { function at(level) { return function (text) { log(level, text); }; }
         return {log: at(4), warn: at(3), error: at(2)}; })",
    )?;
    globals.set("console", console.call::<_, Value<'_>>((write,))?)?;
    let (budget, clock) = (Arc::clone(budget), Arc::clone(clock));
    let sleep = move |ctx: Ctx<'_>, ms: Opt<Coerced<f64>>| -> Result<(), rquickjs::Error> {
        let ms = ms.0.map_or(f64::NAN, |ms| ms.0);
        if !(0.0..=1e9).contains(&ms) {
            return Err(Exception::throw_message(&ctx, "cannot convert parameter to a number"));
        }
        let time = Duration::from_secs_f64(ms / 1000.0);
        let mut deadline = budget.deadline_ns.load(Ordering::Relaxed);
        let left = Duration::from_nanos(deadline).saturating_sub(clock.monotonic());
        match &outside {
            Some(outside) => outside.sleep(time.min(left)),
            None => {
                deadline = deadline.saturating_sub(ns(time));
                budget.deadline_ns.store(deadline, Ordering::Relaxed);
            }
        }
        if ns(clock.monotonic()) >= deadline {
            return Err(Exception::throw_message(&ctx, "script execution timeout"));
        }
        Ok(())
    };
    zabbix.set("sleep", Function::new(ctx.clone(), sleep)?)?;
    globals.set("Zabbix", zabbix)?;
    Ok(())
}

#[cfg(test)]
mod tests;
