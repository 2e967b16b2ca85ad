//! Expressions, macros, keys, intervals.

use eval::expr::{ExprValue, Expression, ItemCall, Mode, Operands};
use eval::macros::FunctionEnv;
use jiff::tz::TimeZone;
use model::Timestamp;

use crate::documents::parts;

/// Answers every question with something.
struct Something;

impl Operands for Something {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        Ok(ExprValue::Unsigned(id))
    }
    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        if call.function.ends_with("foreach") {
            return Ok(ExprValue::Vector(vec![ExprValue::Float(1.0), ExprValue::Float(-2.5)]));
        }
        Ok(ExprValue::Float(1.0))
    }
    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        Ok(ExprValue::Text(token.to_owned()))
    }
    fn now(&self) -> Timestamp {
        Timestamp::from_s(1_700_000_000)
    }
    fn tz(&self) -> &TimeZone {
        const { &TimeZone::UTC }
    }
}

/// Parsed, printed, evaluated in both modes.
pub(crate) fn expression(data: &[u8]) {
    let [text] = parts(data);
    let Ok(expression) = Expression::parse(&text) else { return };
    for call in expression.item_calls() {
        let stored = call.stored_params(&text);
        if let Ok(params) = eval::expr::parse_history_params(&stored) {
            drop(eval::func::Function::parse(&call.function, &params));
        }
    }
    let same = expression.replace_calls(&mut |c| text[c.span.clone()].to_owned());
    assert_eq!(same, text, "an expression is not printed as it is read");
    for mode in [Mode::Strict, Mode::UnknownOperands] {
        drop(eval::expr::eval(&expression, &mut Something, mode));
    }
}

pub(crate) fn macros(data: &[u8]) {
    let [text, value] = parts(data);
    let env = FunctionEnv { tz: &TimeZone::UTC };
    drop(eval::macros::UserMacro::parse(&text));
    eval::macros::tokens(&text).count();
    let whole = eval::macros::substitute(&text, &env, &mut |_| Some(value.clone()));
    let bytes = whole.len() / 2;
    let half = eval::macros::substitute_within(&text, bytes, &env, &mut |_| Some(value.clone()));
    assert!(half.len() <= bytes && whole.starts_with(&half), "a cut text is not the beginning");
    for name in ["regsub", "iregsub", "fmtnum", "fmttime", "regrepl", "tr", "urldecode", "btoa"] {
        drop(eval::macros::apply(name, &text, &value, &env));
    }
}

/// What a key is printed as means the same.
pub(crate) fn key(data: &[u8]) {
    let [text] = parts(data);
    if let Ok((key, len)) = eval::key::ItemKey::parse_prefix(&text) {
        assert!(text.is_char_boundary(len), "a key ends within a character");
        drop(eval::key::ItemKey::parse(&key.to_string()));
    }
}

/// The next check is later than now.
pub(crate) fn interval(data: &[u8]) {
    let [text] = parts(data);
    drop(eval::interval::UpdateInterval::validate(&text, true));
    drop(eval::time::parse_periods(&text));
    if let Ok(interval) = eval::interval::UpdateInterval::parse(&text) {
        for now in [0, 1_700_000_000] {
            let next = interval.next_check(7, false, now, &TimeZone::UTC);
            assert!(next.is_none_or(|next| next > now), "a check in the past");
        }
    }
}
