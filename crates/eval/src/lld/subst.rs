//! LLD macros in prototypes.

use super::Row;
use crate::key::{ItemKey, KeyError};
use crate::macros::{FunctionEnv, Token, TokenKind, UNKNOWN, apply, token_at, tokens};
use crate::num::parse_suffixed;

/// Value of an LLD macro token, its function applied; `None` = it stays as it is.
fn value_of(token: &Token<'_>, row: &Row, env: &FunctionEnv<'_>) -> Option<String> {
    match &token.kind {
        TokenKind::Lld(name) => row.get(name).map(str::to_owned),
        TokenKind::Function { inner, function, params } => {
            let value = value_of(inner, row, env).filter(|_| inner.is_lld_macro())?;
            Some(apply(function, params, &value, env).unwrap_or_else(|_| UNKNOWN.to_owned()))
        }
        _ => None,
    }
}

/// LLD macros in plain text: names, descriptions, tags, parameters. In the context of a user
/// macro quotes are added or escaped as needed; regular-expression contexts stay.
pub fn substitute_text(text: &str, row: &Row, env: &FunctionEnv<'_>) -> String {
    if !text.contains("{#") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    for token in tokens(text) {
        let written = &text[token.span.clone()];
        let value = if token.is_user_macro() {
            Some(in_context(written, row, env))
        } else if let TokenKind::Expression(expression) = &token.kind {
            Some(format!("{{?{}}}", substitute_expression(expression, row, env)))
        } else {
            value_of(&token, row, env)
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

/// A user macro (maybe in a function) whose context may hold LLD macros.
fn in_context(written: &str, row: &Row, env: &FunctionEnv<'_>) -> String {
    if !written.contains("{#") {
        return written.to_owned();
    }
    // `{$NAME:` has no braces inside, so the colon ends the name.
    let Some(colon) = written.find(':') else { return written.to_owned() };
    let context = written[colon + 1..].trim_start();
    if context.starts_with("regex:") {
        return written.to_owned();
    }
    // Unquoted contexts end at the first brace, so `{$M:{#A}}` is read as one here.
    let quoted = context.starts_with('"');
    let mut out = written[..=colon].to_owned();
    let rest = &written[colon + 1..];
    let mut last = 0;
    for token in tokens(rest) {
        if let Some(value) = value_of(&token, row, env) {
            out.push_str(&rest[last..token.span.start]);
            if quoted {
                out.push_str(&value.replace('"', "\\\""));
            } else {
                out.push_str(&value);
            }
            last = token.span.end;
        }
    }
    out.push_str(&rest[last..]);
    out
}

/// LLD macros in an item key: values get quotes where the key needs them, all else stays as it is
/// written.
pub fn substitute_key(key: &str, row: &Row, env: &FunctionEnv<'_>) -> Result<String, KeyError> {
    crate::key::map_params(key, &mut |param| substitute_text(param, row, env))
}

/// LLD macros in a trigger or calculated-item expression, of either form. Inside quoted texts
/// values are escaped; as operands numbers stay bare and other values get quotes; in item keys
/// they are quoted as keys need it.
pub fn substitute_expression(text: &str, row: &Row, env: &FunctionEnv<'_>) -> String {
    if !text.contains("{#") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let bytes = text.as_bytes();
    let mut quoted = false;
    // Behind an opening parenthesis a slash starts an item reference.
    let mut opened = false;
    while at < text.len() {
        if let Some(token) = token_at(text, at) {
            let written = &text[token.span.clone()];
            if token.is_user_macro() {
                out.push_str(&in_context(written, row, env));
            } else {
                match value_of(&token, row, env) {
                    Some(value) if quoted => escape(&mut out, &value),
                    Some(value) if parse_suffixed(&value).is_some() => out.push_str(&value),
                    Some(value) => {
                        out.push('"');
                        escape(&mut out, &value);
                        out.push('"');
                    }
                    None => out.push_str(written),
                }
            }
            at = token.span.end;
            opened = false;
            continue;
        }
        if opened
            && !quoted
            && bytes[at] == b'/'
            && let Some(len) = reference(&text[at..], row, env, &mut out)
        {
            at += len;
            opened = false;
            continue;
        }
        let c = text[at..].chars().next().unwrap_or(' ');
        match c {
            '\\' if quoted => {
                out.push('\\');
                at += 1;
                if let Some(next) = text[at..].chars().next() {
                    out.push(next);
                    at += next.len_utf8();
                }
                continue;
            }
            '"' => quoted = !quoted,
            _ => {}
        }
        opened = c == '(' || (opened && c == ' ');
        out.push(c);
        at += c.len_utf8();
    }
    out
}

/// Writes an item reference (`/host/key`) and gives its length.
fn reference(text: &str, row: &Row, env: &FunctionEnv<'_>, out: &mut String) -> Option<usize> {
    let host_len = text[1..].find('/')?;
    let key_at = host_len + 2;
    let (_, len) = ItemKey::parse_prefix(&text[key_at..]).ok()?;
    let key = substitute_key(&text[key_at..key_at + len], row, env).ok()?;
    out.push('/');
    out.push_str(&substitute_text(&text[1..=host_len], row, env));
    out.push('/');
    out.push_str(&key);
    Some(key_at + len)
}

fn escape(out: &mut String, value: &str) {
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
}
