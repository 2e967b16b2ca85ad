//! Macros: a scanner for texts, user macros with context, macro functions.
//!
//! A text is walked with [`tokens`]; [`substitute`] does that and applies macro functions to
//! what a resolver gives.

mod func;
mod token;
mod user;

pub use func::{
    FunctionEnv, MacroFunctionError, REGREPL_PAIRS_MAX, RESULT_BYTES_MAX, apply, split_params,
    url_encode,
};
pub use token::{Token, TokenKind, token_at, tokens};
pub use user::{
    Context, MacroDef, MacroKind, MacroNodes, MacroScope, TEMPLATE_DEPTH_MAX, UserMacro,
    UserMacroError,
};

/// What stands in a text where a macro function could not be applied.
pub const UNKNOWN: &str = "*UNKNOWN*";

/// Replaces the macros for which `resolve` gives a value; others stay. For
/// `{{MACRO}.function(params)}` the resolver is asked for the inner macro.
pub fn substitute(
    text: &str,
    env: &FunctionEnv<'_>,
    resolve: &mut dyn FnMut(&Token<'_>) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    for token in tokens(text) {
        let value = match &token.kind {
            TokenKind::Function { inner, function, params } => {
                resolve(inner).map(|value| match apply(function, params, &value, env) {
                    Ok(value) => value,
                    Err(_) => UNKNOWN.to_owned(),
                })
            }
            _ => resolve(&token),
        };
        if let Some(value) = value {
            out.push_str(&text[last..token.span.start]);
            out.push_str(&value);
            last = token.span.end;
        }
    }
    out.push_str(&text[last..]);
    out
}

/// Replaces user macros, with their functions; unknown ones stay.
pub fn substitute_user(text: &str, scope: &MacroScope<'_>, env: &FunctionEnv<'_>) -> String {
    if !text.contains("{$") {
        return text.to_owned();
    }
    substitute(text, env, &mut |token| match &token.kind {
        TokenKind::User(m) => scope.resolve(m).map(|d| d.value.clone()),
        _ => None,
    })
}
