//! Loops of the engine itself cannot be interrupted: `Array(1e9).join("x")` would keep its thread
//! for a minute, whatever the script's time. Methods with such loops therefore refuse arrays that
//! are longer than any that scripts use, and texts for which they would take a time that grows with the square of the
//! length. Between their calls the script's time is looked at each time: the engine itself looks at one call in
//! thousands.

use rquickjs::{Ctx, Exception, Function, Object, Value};

/// Wraps the methods.
const WRAP: &str = include_str!("guards.js");

/// What one call of a method may do.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// Elements that it may go over.
    pub elements: u32,
    /// Characters that a search may compare.
    pub compared: u32,
    /// Characters of a regular expression.
    pub pattern: u32,
    /// Characters of a text that is normalized.
    pub normalized: u32,
    /// Characters of a text in which `` $` `` and `$'` are replaced.
    pub prefixed: u32,
    /// Comparisons of elements count: for scripts with very little time.
    pub compares: bool,
}

/// Throws when the script's time is over, so that nothing else is called: returns false then.
pub type Spend = Box<dyn Fn() -> bool>;

/// Guards the methods of a new context. `spend` says whether the script has time left.
pub(crate) fn install(ctx: &Ctx<'_>, work: &Work, spend: Spend) -> Result<(), rquickjs::Error> {
    let spend = move |ctx: Ctx<'_>| -> Result<(), rquickjs::Error> {
        if spend() { Ok(()) } else { Err(Exception::throw_message(&ctx, crate::OVER)) }
    };
    let limits = Object::new(ctx.clone())?;
    limits.set("elements", work.elements)?;
    limits.set("compared", work.compared)?;
    limits.set("pattern", work.pattern)?;
    limits.set("normalized", work.normalized)?;
    limits.set("prefixed", work.prefixed)?;
    limits.set("compares", work.compares)?;
    let wrap: Function<'_> = ctx.eval(WRAP)?;
    let is_proxy = |value: Value<'_>| value.is_proxy();
    let (spend, is_proxy) =
        (Function::new(ctx.clone(), spend)?, Function::new(ctx.clone(), is_proxy)?);
    wrap.call((limits, spend, is_proxy))
}

/// Whether a script has literals of numbers of any length: operators on them are loops that nothing guards. Words
/// that only look like one count, too.
pub fn has_big_numbers(source: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    source.split(|c| !part(c)).any(|word| {
        let Some(digits) = word.strip_suffix('n') else { return false };
        let based = ["0x", "0X", "0o", "0O", "0b", "0B"];
        let based = based.iter().find_map(|base| digits.strip_prefix(base));
        let digit =
            |c: char| c == '_' || (based.is_some() && c.is_ascii_hexdigit()) || c.is_ascii_digit();
        digits.starts_with(|c: char| c.is_ascii_digit())
            && based.unwrap_or(digits).chars().all(digit)
    })
}
