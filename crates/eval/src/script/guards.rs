//! Loops of the engine itself cannot be interrupted: `Array(1e9).join("x")` would keep its thread
//! for a minute, whatever the script's time. Methods with such loops therefore refuse arrays that
//! are longer than any that fits into an engine's memory in a form that scripts use, and texts for
//! which they would take a time that grows with the square of the length. Between their calls the
//! script's time is looked at each time: the engine itself looks at one call in thousands.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rquickjs::{Ctx, Exception, Function, Value};
use stdx::clock::SharedClock;

use super::Budget;

/// Elements that one call may go over: tens of milliseconds.
pub(super) const ELEMENTS_MAX: u32 = 1_000_000;

/// Wraps the methods.
const WRAP: &str = include_str!("guards.js");

/// Whether a script may work with numbers of any length: operators on them are loops of the engine
/// that nothing guards. They are bounded to 1,048,576 bits, for which a division takes a second.
pub(crate) fn may_use_big_numbers(source: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // Words that make a script of a text, which may hold such numbers.
    ["BigInt", "eval", "Function", "constructor"].iter().any(|word| source.contains(word))
        || source
            .split(|c| !part(c))
            .any(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with('n'))
}

/// Guards the methods of a new context.
pub(super) fn install(
    ctx: &Ctx<'_>,
    budget: &Arc<Budget>,
    clock: &SharedClock,
) -> Result<(), rquickjs::Error> {
    let (budget, clock) = (Arc::clone(budget), Arc::clone(clock));
    let spend = move |ctx: Ctx<'_>| -> Result<(), rquickjs::Error> {
        if budget.is_over(clock.monotonic()) {
            budget.over.store(true, Ordering::Relaxed);
            return Err(Exception::throw_message(&ctx, "script execution timeout"));
        }
        Ok(())
    };
    let wrap: Function<'_> = ctx.eval(WRAP)?;
    let is_proxy = |value: Value<'_>| value.is_proxy();
    let (spend, is_proxy) =
        (Function::new(ctx.clone(), spend)?, Function::new(ctx.clone(), is_proxy)?);
    wrap.call((ELEMENTS_MAX, spend, is_proxy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_with_big_numbers_are_recognized() {
        for (source, may) in [
            ("return value * 2", false),
            ("var n = 1; return n", false),
            ("return x1n", false),
            ("return 1n", true),
            ("return 0xFFn+a", true),
            ("return BigInt(value)", true),
            ("return eval(value)", true),
        ] {
            assert_eq!(may_use_big_numbers(source), may, "{source}");
        }
    }
}
