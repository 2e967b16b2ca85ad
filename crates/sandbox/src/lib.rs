//! JavaScript on QuickJS for scripts of users: bounded in memory, stack and time, without any way out.
//!
//! The time is the host's matter: it says whether it is over. The engine looks at that once in thousands of calls and
//! backward jumps, and the [guards] before each method that may take long. A [hardened](Sandbox::harden) sandbox is
//! for scripts of different origins in turn: nothing that one of them does is seen by the next.
#![forbid(unsafe_code)]

mod guards;
mod reserve;

use rquickjs::context::EvalOptions;
use rquickjs::function::This;
use rquickjs::{Coerced, Context, Ctx, Function, Object, Persistent, Runtime, Value};

pub use guards::{NO_ASYNC, Spend, Work, has_async, has_big_numbers};
use reserve::Reserve;
use std::rc::Rc;

/// What the engine says when its memory is used up.
pub const OUT_OF_MEMORY: &str = "out of memory";

/// What a script gets at the end of its time.
pub const OVER: &str = "script execution timeout";

/// Makes a context safe to be used by different scripts.
const HARDEN: &str = include_str!("harden.js");

/// What a sandbox may use.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Memory in bytes.
    pub memory: usize,
    /// Stack in bytes.
    pub stack: usize,
}

/// An engine with one context. Owned by one thread.
pub struct Sandbox {
    // Dropped before the runtime.
    context: Context,
    runtime: Runtime,
    reserve: Rc<Reserve>,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // It belongs to the context, and the runtime holds it with the interrupt handler.
        self.reserve.free_all();
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").finish_non_exhaustive()
    }
}

/// What a script threw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thrown {
    /// Name and message of an error, or the thrown value as text.
    pub text: String,
    /// Line and column in the body of the [function](Sandbox::function), from 1, if they are known.
    pub at: Option<(u32, u32)>,
}

impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at {
            Some((line, column)) => write!(f, "line {line}, column {column}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl Sandbox {
    /// Starts an engine. `interrupts` is called now and then while a script runs: true ends the script.
    ///
    /// # Errors
    /// There is no memory.
    pub fn start(
        bounds: Bounds,
        mut interrupts: impl FnMut() -> bool + 'static,
    ) -> Result<Self, String> {
        let failed = |e: rquickjs::Error| format!("the script engine did not start: {e}");
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(bounds.memory);
        runtime.set_max_stack_size(bounds.stack);
        let reserve = Rc::new(Reserve::default());
        let own = Rc::clone(&reserve);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            let over = interrupts();
            if over {
                own.free_one();
            }
            over
        })));
        let context = Context::full(&runtime).map_err(failed)?;
        let sandbox = Self { context, runtime, reserve };
        match sandbox.is_ready() {
            true => Ok(sandbox),
            false => Err(format!("the script engine did not start: {OUT_OF_MEMORY}")),
        }
    }

    /// Whether a script may run: there is memory to interrupt it. A sandbox that is not ready has to be replaced.
    pub fn is_ready(&self) -> bool {
        self.with(|ctx| self.reserve.fill(&ctx))
    }

    /// Gives access to the context.
    pub fn with<R>(&self, body: impl FnOnce(Ctx<'_>) -> R) -> R {
        self.context.with(body)
    }

    /// Guards the methods whose loops the engine does not interrupt.
    ///
    /// # Errors
    /// There is no memory.
    pub fn guard(&self, work: &Work, spend: Spend) -> Result<(), String> {
        let guarded = self.with(|ctx| guards::install(&ctx, work, spend));
        guarded.map_err(|error| format!("the script engine did not start: {error}"))
    }

    /// Prepares the context for scripts of different origins: removes what makes code of texts and what runs later,
    /// and freezes all other objects that scripts can reach, also those that `install` makes. Returns the latter.
    ///
    /// # Errors
    /// There is no memory.
    pub fn harden(
        &self,
        install: impl for<'js> FnOnce(&Ctx<'js>) -> Result<Vec<Object<'js>>, rquickjs::Error>,
    ) -> Result<Vec<Persistent<Object<'static>>>, String> {
        self.with(|ctx| {
            let hardened = install(&ctx).and_then(|made| {
                let harden: Function<'_> = ctx.eval(HARDEN)?;
                harden.call::<_, ()>((made.clone(),))?;
                Ok(made.into_iter().map(|one| Persistent::save(&ctx, one)).collect())
            });
            hardened.map_err(|_| format!("the script engine did not start: {}", thrown(&ctx).text))
        })
    }

    /// Makes a function of its body in a hardened sandbox, in strict mode. Each call has its own variables.
    ///
    /// # Errors
    /// What is wrong with the body, and where.
    pub fn function(
        &self,
        parameters: &str,
        body: &str,
    ) -> Result<Persistent<Function<'static>>, Thrown> {
        let plain = |text: &str| Thrown { text: text.to_owned(), at: None };
        if has_big_numbers(body) {
            return Err(plain("numbers of any length, such as 1n, are not available"));
        }
        if has_async(body) {
            return Err(plain(NO_ASYNC));
        }
        let written = format!("function({parameters}){{\"use strict\";\n{body}\n}}");
        self.with(|ctx| {
            let code = format!("({written})");
            let mut options = EvalOptions::default();
            options.filename = Some(BODY.to_owned());
            let made = ctx.eval_with_options::<Value<'_>, _>(code, options);
            let made = made.map_err(|_| thrown(&ctx))?;
            // A body that ends the function and goes on makes another value, which may claim any text.
            let function = made.as_function().filter(|own| is_all_of(&ctx, own, &written));
            let function = function.ok_or_else(|| plain("SyntaxError: unexpected '}'"))?;
            Ok(Persistent::save(&ctx, function.clone()))
        })
    }

    /// Memory in use, in bytes. It looks at every object.
    pub fn memory_used(&self) -> usize {
        usize::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(usize::MAX)
    }

    /// Sets the limit of the memory.
    pub fn set_memory_max(&self, bytes: usize) {
        self.runtime.set_memory_limit(bytes);
    }

    /// Sets the memory in use from which on garbage is looked for. The engine raises it after it has done so.
    pub fn collect_garbage_from(&self, bytes: usize) {
        self.runtime.set_gc_threshold(bytes);
    }

    /// Whether a script has left something that would run later.
    pub fn has_jobs(&self) -> bool {
        self.runtime.is_job_pending()
    }

    /// Frees what only refers to itself.
    pub fn collect_garbage(&self) {
        self.runtime.run_gc();
    }
}

/// Whether a text has nothing but the function.
fn is_all_of<'js>(ctx: &Ctx<'js>, function: &Function<'js>, text: &str) -> bool {
    let to_text = ctx.eval::<Function<'js>, _>("(function () {}).toString");
    let own = to_text.and_then(|to_text| to_text.call::<_, String>((This(function.clone()),)));
    own.is_ok_and(|own| own == text)
}

/// Takes what was thrown.
pub fn thrown(ctx: &Ctx<'_>) -> Thrown {
    let thrown = ctx.catch();
    if thrown.is_null() {
        // Not even an exception could be made.
        return Thrown { text: OUT_OF_MEMORY.to_owned(), at: None };
    }
    if let Some(e) = thrown.as_exception() {
        let message = e.message().unwrap_or_default();
        let name = e.as_object().get::<_, String>("name").unwrap_or_else(|_| "Error".to_owned());
        let at = e.stack().and_then(|stack| place(&stack));
        return Thrown { text: format!("{name}: {message}"), at };
    }
    let text = thrown.get::<Coerced<String>>();
    Thrown { text: text.map_or_else(|_| "script failed".to_owned(), |text| text.0), at: None }
}

/// Line and column of the innermost frame of a stack that is in the body of a function.
fn place(stack: &str) -> Option<(u32, u32)> {
    stack.lines().find_map(|line| {
        let (_, inner) = line.rsplit_once(&format!("{BODY}:"))?;
        let (number, column) = inner.trim_end_matches(')').split_once(':')?;
        let number: u32 = number.parse().ok()?;
        // The body begins in the second line.
        Some((number.saturating_sub(1).max(1), column.parse().ok()?))
    })
}

/// The name of the code of functions in stacks.
const BODY: &str = "body_of_function";

#[cfg(test)]
mod tests;
