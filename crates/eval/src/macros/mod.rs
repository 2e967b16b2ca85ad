//! Macros: a scanner for texts, user macros with context, macro functions.
//!
//! A text is walked with [`tokens`]; [`substitute`] does that and applies macro functions to
//! what a resolver gives.

mod func;
mod inventory;
mod places;
mod token;
mod user;

pub use func::{
    FunctionEnv, MacroFunctionError, REGREPL_PAIRS_MAX, RESULT_BYTES_MAX, apply, split_params,
    url_encode,
};
pub use inventory::inventory_field;
pub use places::{Group, MACROS, Place, Rules, TABLE, UserMacros, group_of};
use token::next_token;
pub use token::{Token, TokenKind, tag_value, token_at, tokens};
pub use user::{
    Context, MASK, MacroDef, MacroKind, MacroNodes, MacroScope, TEMPLATE_DEPTH_MAX, UserMacro,
    UserMacroError,
};

/// What stands in a text where a macro function could not be applied.
pub const UNKNOWN: &str = "*UNKNOWN*";

/// Replaces the macros for which `resolve` gives a value; others stay. For
/// `{{MACRO}.function(params)}` the resolver is asked for the inner macro. Inside of an
/// expression macro that is not resolved, others still are.
pub fn substitute(
    text: &str,
    env: &FunctionEnv<'_>,
    resolve: &mut dyn FnMut(&Token<'_>) -> Option<String>,
) -> String {
    substitute_within(text, usize::MAX, env, resolve)
}

/// The same, for a result that is cut after `bytes`: what lies behind is not resolved, and may be
/// missing.
pub fn substitute_within(
    text: &str,
    bytes: usize,
    env: &FunctionEnv<'_>,
    resolve: &mut dyn FnMut(&Token<'_>) -> Option<String>,
) -> String {
    substitute_in_form(text, bytes, env, resolve, &mut |_, value| value)
}

/// The same; `form` gives each value, behind its function, the form in which it stands in the text.
pub fn substitute_in_form(
    text: &str,
    bytes: usize,
    env: &FunctionEnv<'_>,
    resolve: &mut dyn FnMut(&Token<'_>) -> Option<String>,
    form: &mut dyn FnMut(&Token<'_>, String) -> String,
) -> String {
    let mut out = String::with_capacity(text.len().min(bytes));
    let mut last = 0;
    let mut at = 0;
    while out.len() < bytes
        && let Some(token) = next_token(text, at)
    {
        at = token.span.end;
        let value = match &token.kind {
            TokenKind::Function { inner, function, params } => {
                resolve(inner).map(|value| match apply(function, params, &value, env) {
                    // No function makes a value of none.
                    Ok(changed) if value != UNKNOWN => changed,
                    _ => UNKNOWN.to_owned(),
                })
            }
            _ => resolve(&token),
        };
        if let Some(value) = value {
            out.push_str(&text[last..token.span.start]);
            out.push_str(&form(&token, value));
            last = token.span.end;
        } else if matches!(token.kind, TokenKind::Expression(_)) {
            at = token.span.start + 1;
        }
    }
    out.push_str(&text[last..]);
    if out.len() > bytes {
        out.truncate(out.floor_char_boundary(bytes));
    }
    out
}

/// Replaces user macros, with their functions, where the text may be seen: of secret ones stand
/// asterisks. Unknown ones stay.
pub fn substitute_user(text: &str, scope: &MacroScope<'_>, env: &FunctionEnv<'_>) -> String {
    if !text.contains("{$") {
        return text.to_owned();
    }
    substitute(text, env, &mut |token| match &token.kind {
        TokenKind::User(m) => scope.resolve(m).map(|found| found.masked().to_owned()),
        _ => None,
    })
}

/// The macro of this text stands inside of a macro function.
pub fn is_inner(text: &str, token: &Token<'_>) -> bool {
    let outer = token.span.start.checked_sub(1).and_then(|at| token_at(text, at));
    outer.is_some_and(|outer| matches!(outer.kind, TokenKind::Function { .. }))
}

/// Replaces `$1` to `$9`, which in names of triggers stand for the constants of the expression;
/// what `constant` (given the number) does not know stays. `{$1}` is none.
pub fn replace_constants(text: &str, constant: &mut dyn FnMut(usize) -> Option<String>) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    for (at, _) in text.match_indices('$') {
        let Some(digit @ b'1'..=b'9') = bytes.get(at + 1) else { continue };
        if at > 0 && bytes[at - 1] == b'{' {
            continue;
        }
        if let Some(value) = constant(usize::from(digit - b'0')) {
            out.push_str(&text[last..at]);
            out.push_str(&value);
            last = at + 2;
        }
    }
    out.push_str(&text[last..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_of_an_expression_macro_that_stays() {
        let tz = jiff::tz::TimeZone::UTC;
        let host = &mut |token: &Token<'_>| match token.kind {
            TokenKind::Builtin { name: "HOST.HOST", .. } => Some("web".to_owned()),
            TokenKind::Builtin { name: "HOST.IP", .. } => Some(UNKNOWN.to_owned()),
            _ => None,
        };
        for (text, out) in [
            ("{?last(/{HOST.HOST}/k)}", "{?last(/web/k)}"),
            ("{{?last(/{HOST.HOST}/k)}.btoa()}", "{{?last(/{HOST.HOST}/k)}.btoa()}"),
            ("{{HOST.HOST}}", "{web}"),
            ("{{HOST.HOST}.}", "{web.}"),
            ("{{HOST.HOST}.nosuch()}", "*UNKNOWN*"),
            ("{{HOST.IP}.regsub(\"(.)\",\\1)}", "*UNKNOWN*"),
            ("{{NOTHING}.btoa()}", "{{NOTHING}.btoa()}"),
            ("\\{HOST.HOST}", "\\web"),
            ("{ HOST.HOST}{HOST.HOST }", "{ HOST.HOST}{HOST.HOST }"),
        ] {
            assert_eq!(substitute(text, &FunctionEnv { tz: &tz }, host), out, "{text}");
        }
    }

    #[test]
    fn a_bounded_result_resolves_no_more_than_fits() {
        let tz = jiff::tz::TimeZone::UTC;
        let mut resolved = 0;
        let out = substitute_within(
            &"{HOST.HOST}".repeat(10_000),
            11,
            &FunctionEnv { tz: &tz },
            &mut |_| {
                resolved += 1;
                Some("äö".to_owned())
            },
        );
        assert_eq!((out.as_str(), resolved), ("äöäöä", 3));
    }

    #[test]
    fn constants_by_number() {
        let known = ["5", "text"];
        for (text, out) in [
            ("over $1, $2, $3", "over 5, text, $3"),
            ("$1$2", "5text"),
            ("{$1} $ $0 $a $", "{$1} $ $0 $a $"),
            ("$12", "52"),
        ] {
            let mut constant = |n: usize| known.get(n - 1).map(|s| (*s).to_owned());
            assert_eq!(replace_constants(text, &mut constant), out, "{text}");
        }
    }
}
