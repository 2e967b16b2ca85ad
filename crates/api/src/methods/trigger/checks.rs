//! Checks of a trigger's own fields.

use std::collections::BTreeSet;

use config::objects::column;
use eval::expr::{Expression, NodeKind};
use eval::macros::{Token, TokenKind, token_at};
use objects::{CorrelationMode, Origin, RecoveryMode};

use super::Kind;
use crate::error::{ApiError, ApiResult};
use crate::methods::user::as_browsers_read;
use crate::object::Columns;

/// Links that browsers would run as code, or that lead to another server without saying so, are
/// refused. They are read as browsers read them: without control characters around them, without
/// line ends and tabs anywhere, and with `\\` as `/`.
pub(crate) fn check_url(url: &str, path: &str) -> ApiResult<()> {
    const ALLOWED: &[&str] = &["http", "https", "ftp", "file", "mailto", "tel", "ssh"];
    let read = as_browsers_read(url);
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let elsewhere = read.starts_with(is_slash) && read[1..].starts_with(is_slash);
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let scheme = read.split_once(':').map(|(scheme, _)| scheme.trim_end().to_ascii_lowercase());
    let scheme = scheme.filter(|scheme| !scheme.is_empty() && scheme.chars().all(in_scheme));
    if elsewhere || scheme.is_some_and(|scheme| !ALLOWED.contains(&scheme.as_str())) {
        return Err(ApiError::at(path, "unacceptable URL"));
    }
    Ok(())
}

/// Expression macros of an event name must be closed, and of the form that names of events
/// know: no query over several items, no macro but those of users and `{HOST.HOST}`.
pub(super) fn check_event_name(text: &str, path: &str) -> ApiResult<()> {
    let mut rest = text;
    while let Some(at) = rest.find("{?") {
        let inner = &rest[at + 2..];
        let incorrect =
            || ApiError::at(path, format_args!("incorrect expression starting from \"{inner}\""));
        match token_at(rest, at) {
            Some(Token { span, kind: TokenKind::Expression(formula) }) => {
                if !is_event_formula(formula) {
                    return Err(incorrect());
                }
                rest = &rest[span.end..];
            }
            _ if inner.is_empty() || inner.starts_with('}') => return Err(incorrect()),
            _ => return Err(ApiError::at(path, "unexpected end of expression macro")),
        }
    }
    Ok(())
}

fn is_event_formula(formula: &str) -> bool {
    let Ok(expression) = Expression::parse(formula) else { return false };
    let calls = expression.item_calls();
    let mut known = calls
        .iter()
        .all(|call| !call.query.is_wildcard() && !call.query.key.starts_with("{ITEM.KEY"));
    expression.root.walk(&mut |node| {
        if let NodeKind::Macro = node.kind
            && let Some(token) = token_at(&expression.text, node.span.start)
            && let TokenKind::Builtin { name, .. } = token.kind
        {
            known &= name == "TRIGGER.VALUE";
        }
    });
    known
}

/// Checks that recovery and correlation fit each other; `value` gives the field as it will be.
pub(super) fn check_modes(value: &dyn Fn(&str) -> String) -> ApiResult<()> {
    let wrong = |name: &str, what: &str| {
        Err(ApiError::params(format!("Incorrect value for field \"{name}\": {what}.")))
    };
    let recovery = !value("recovery_expression").is_empty();
    let mode = RecoveryMode::from_text(&value("recovery_mode"));
    match mode {
        Some(RecoveryMode::RecoveryExpression) if !recovery => {
            return wrong("recovery_expression", "cannot be empty");
        }
        Some(RecoveryMode::RecoveryExpression) => {}
        _ if recovery => return wrong("recovery_expression", "should be empty"),
        _ => {}
    }
    let tag = !value("correlation_tag").is_empty();
    let correlates = value("correlation_mode") == CorrelationMode::ByTag.text();
    if mode == Some(RecoveryMode::None) && correlates {
        return wrong("correlation_mode", "unexpected value \"1\"");
    }
    match (correlates, tag) {
        (true, false) => wrong("correlation_tag", "cannot be empty"),
        (false, true) => wrong("correlation_tag", "should be empty"),
        _ => Ok(()),
    }
}

pub(super) fn check_prototypes(
    items: &[config::objects::ItemRef],
    description: &str,
    kind: Kind,
) -> ApiResult<()> {
    let rules: BTreeSet<u64> =
        items.iter().filter(|i| Origin::Prototype.is(i.flags)).map(|i| i.ruleid).collect();
    match (kind, rules.len()) {
        (Kind::Prototype, 0) => Err(ApiError::params(format!(
            "Trigger prototype \"{description}\" must contain at least one item prototype."
        ))),
        (Kind::Prototype, 2..) => Err(ApiError::params(format!(
            "Trigger prototype \"{description}\" contains item prototypes from multiple \
             discovery rules."
        ))),
        _ => Ok(()),
    }
}

pub(super) fn check_uuid(columns: &Columns, on_template: bool, path: &str) -> ApiResult<()> {
    let uuid = column(columns, "uuid").map(ToString::to_string).unwrap_or_default();
    let path = format!("{path}/uuid");
    match (uuid.is_empty(), on_template) {
        (true, _) => Ok(()),
        (false, false) => Err(ApiError::at(&path, "value must be empty")),
        (false, true) => crate::write::check_uuid(&uuid, &path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_as_browsers_read_them() {
        for url in [
            "",
            "/x",
            "zabbix.php?a=b:c",
            "http://a",
            "https:a",
            " http://a",
            "ftp://a",
            "file:///x",
            "mailto:a@b",
            "ssh:x",
            "{$M}",
            "{$M}://x",
            "chart.php",
            "a/b:c",
            "#a:b",
            "http://[::1]/",
        ] {
            assert!(check_url(url, "/url").is_ok(), "{url:?}");
        }
        for url in [
            "javascript:x",
            "JaVaScRiPt:x",
            "java\tscript:x",
            "java\nscript:x",
            "\tjavascript:x",
            " \u{1}javascript:x",
            "vbscript:x",
            "data:text/html,x",
            "x:y",
            "view-source:x",
            "//evil.example/x",
            "/\t/evil.example",
            "/\\evil.example",
            "\\\\evil.example",
        ] {
            assert!(check_url(url, "/url").is_err(), "{url:?}");
        }
    }

    #[test]
    fn event_names() {
        for (text, error) in [
            ("", None),
            ("{HOST.HOST} {?last(/{HOST.HOST}/k)} {?last(//k[{$M}])>{$M}}", None),
            ("{?{TRIGGER.VALUE}} {?\"a\"} {?1/0} {{?1}.btoa()}", None),
            ("{?last(/{HOST.HOST}/k[{#LLD}])}", None),
            ("{?last(/{HOST.HOST}/{ITEM.KEY})}", Some("from \"last(/{HOST.HOST}/{ITEM.KEY})}\"")),
            ("{?{ITEM.VALUE}+1}", Some("from \"{ITEM.VALUE}+1}\"")),
            ("{?max(/*/u)}", Some("from \"max(/*/u)}\"")),
            ("{?last(//u)", Some("unexpected end of expression macro")),
            ("{?", Some("from \"\"")),
            ("a {?} b", Some("from \"} b\"")),
        ] {
            let refused = check_event_name(text, "/1/event_name").err();
            match (refused, error) {
                (None, None) => {}
                (Some(refused), Some(error)) => {
                    let shown = format!("{refused:?}");
                    assert!(shown.replace("\\\"", "\"").contains(error), "{text}: {shown}");
                }
                (refused, _) => panic!("{text}: {refused:?}"),
            }
        }
    }
}
