//! Loops of the engine itself cannot be interrupted: `Array(1e9).join("x")` would keep its thread
//! for a minute, whatever the script's time. Methods with such loops therefore refuse arrays that
//! are longer than any that scripts use, and texts for which they would take a time that grows with the square of the
//! length. Between their calls the script's time is looked at each time: the engine itself looks at one call in
//! thousands.

use rquickjs::{Ctx, Exception, Function, Object, Value};

/// Wraps the methods.
const WRAP: &str = include_str!("guards.js");

/// Removes what guards cannot bound.
const REMOVE: &str = include_str!("removals.js");

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
    wrap.call::<_, ()>((limits, spend, is_proxy))?;
    let scans = |ctx: Ctx<'_>, text: String| -> Result<(), rquickjs::Error> {
        match has_async(&text) {
            true => Err(Exception::throw_message(&ctx, NO_ASYNC)),
            false => Ok(()),
        }
    };
    let remove: Function<'_> = ctx.eval(REMOVE)?;
    remove.call((Function::new(ctx.clone(), scans)?,))
}

/// Why a script with an async function is refused.
pub const NO_ASYNC: &str = "SyntaxError: async functions and import() are not available";

/// Whether a script has async functions or `import()`: they would keep an interrupt as the reason of a rejected
/// promise. Texts that only look like one count, too. Neither word may have escapes.
pub fn has_async(source: &str) -> bool {
    words(source, "import").any(|after| after.starts_with(['(', '/', '.']))
        || words(source, "async").any(|after| {
            let name = after.trim_start_matches(is_part);
            let word = after.strip_suffix(name).unwrap_or_default();
            match word {
                "" => after.starts_with(['(', '*', '[', '#', '/', '\\', '"', '\'']),
                "function" => true,
                // An arrow, or a method.
                _ => name.trim_start().starts_with(['(', '=', '/', '\\']),
            }
        })
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// What follows a word, where it is neither a member's name nor the whole of a literal.
fn words<'s>(source: &'s str, word: &'s str) -> impl Iterator<Item = &'s str> {
    source.match_indices(word).filter_map(move |(at, _)| {
        let (before, after) = (source.get(..at)?, source.get(at + word.len()..)?);
        let member = before.ends_with('.') && !before.ends_with("..");
        let quote = before.chars().next_back().filter(|c| matches!(c, '"' | '\'' | '`'));
        let literal = quote.is_some_and(|quote| after.starts_with(quote));
        let other = before.ends_with(is_part) || after.starts_with(is_part);
        (!member && !literal && !other)
            .then(|| after.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).trim_start())
    })
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
