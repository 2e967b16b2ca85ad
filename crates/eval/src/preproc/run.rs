//! The executor.

use model::{CompactString, Payload, Timestamp, ValueType};

use super::convert::{Number, kind_name, to_number, to_text};
use super::step::{Action, ErrorHandler, Matching, Step, StepKind};
use super::{csv, json, prometheus, snmp, text, xml};
use crate::script::Scripts;
use crate::{regex, xpath};

/// Longest text that a step may give, bytes.
const RESULT_BYTES_MAX: usize = 64 << 20;

/// What a step remembers of the last value.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// Index of the step.
    pub step: u8,
    pub value: Payload,
    /// When it was measured.
    pub at: Timestamp,
}

/// What the steps of one item remember; empty until the first value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State(Vec<Remembered>);

impl State {
    /// A state as it was saved, or as a test gives it.
    pub fn from_remembered(remembered: Vec<Remembered>) -> Self {
        Self(remembered)
    }

    /// What is remembered, for saving.
    pub fn remembered(&self) -> &[Remembered] {
        &self.0
    }

    fn get(&self, step: u8) -> Option<&Remembered> {
        self.0.iter().find(|r| r.step == step)
    }

    fn set(&mut self, step: u8, value: Payload, at: Timestamp) {
        match self.0.iter_mut().find(|r| r.step == step) {
            Some(slot) => *slot = Remembered { step, value, at },
            None => self.0.push(Remembered { step, value, at }),
        }
    }
}

/// What became of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The value after all steps; see [`super::convert`].
    Value(Payload),
    /// Nothing to store.
    Discarded,
    /// The item is not supported, and why.
    NotSupported(Box<str>),
}

/// What one step did, for tests of items.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTrace {
    /// After the error handler.
    pub outcome: Outcome,
    /// Why the step itself failed, or the error that passed it by.
    pub error: Option<Box<str>>,
    /// The step failed, and `outcome` is what its error handler made of that.
    pub handled: bool,
}

/// Runs the steps over a value. A [`Payload::NotSupported`] input passes only steps that look
/// for it; [`Payload::Meta`] passes untouched.
pub fn run(
    steps: &[Step],
    state: &mut State,
    input: Payload,
    at: Timestamp,
    value_type: ValueType,
    scripts: &mut Scripts,
) -> Outcome {
    run_traced(steps, state, input, at, value_type, scripts, None)
}

/// Like [`run`]; `trace` receives what each step did.
pub fn run_traced(
    steps: &[Step],
    state: &mut State,
    input: Payload,
    at: Timestamp,
    value_type: ValueType,
    scripts: &mut Scripts,
    mut trace: Option<&mut Vec<StepTrace>>,
) -> Outcome {
    let (mut value, meta) = match input {
        // Steps change the line; where it came from stays.
        Payload::Log(log) if !steps.is_empty() => (Payload::Text(log.0), Some(log.1)),
        Payload::Meta => return Outcome::Value(Payload::Meta),
        other => (other, None),
    };
    for (index, step) in steps.iter().enumerate() {
        if matches!(value, Payload::NotSupported(_)) && step.kind != StepKind::CheckNotSupported {
            break;
        }
        let index = u8::try_from(index).unwrap_or(u8::MAX);
        let mut run = Run { step, index, state, at, value_type, scripts };
        let (outcome, error) = match run.step(value) {
            Ok(outcome) => (outcome, None),
            Err(error) => (handle(step, &error), Some(error)),
        };
        let handled = error.is_some();
        let error = error.or_else(|| match &outcome {
            // An error that only passes through shows as the step's own.
            Outcome::NotSupported(reason) => Some(reason.to_string()),
            _ => None,
        });
        if let Some(trace) = trace.as_deref_mut() {
            let error = error.map(Into::into);
            trace.push(StepTrace { outcome: outcome.clone(), error, handled });
        }
        value = match outcome {
            Outcome::Value(value) => value,
            Outcome::Discarded => return Outcome::Discarded,
            Outcome::NotSupported(reason) => Payload::NotSupported(reason),
        };
    }
    match (value, meta) {
        (Payload::NotSupported(reason), _) => Outcome::NotSupported(reason),
        (Payload::Text(text), Some(meta)) if value_type == ValueType::Log => {
            Outcome::Value(Payload::Log(Box::new((text, meta))))
        }
        (value, _) => Outcome::Value(value),
    }
}

/// Applies a step's error handler.
fn handle(step: &Step, error: &str) -> Outcome {
    let expanded = |template: &str| match &step.action {
        // A check for errors may quote the error that it found.
        Action::NotSupported { matching: Matching::Matches, pattern } => {
            regex::substitute(pattern, template, error, false)
                .ok()
                .flatten()
                .unwrap_or_else(|| template.to_owned())
        }
        _ => template.to_owned(),
    };
    match &step.on_error {
        ErrorHandler::Original => Outcome::NotSupported(error.into()),
        ErrorHandler::Discard => Outcome::Discarded,
        ErrorHandler::SetValue(text) => Outcome::Value(Payload::Text(expanded(text).into())),
        ErrorHandler::SetError(text) => Outcome::NotSupported(expanded(text).into()),
    }
}

struct Run<'a> {
    step: &'a Step,
    index: u8,
    state: &'a mut State,
    at: Timestamp,
    value_type: ValueType,
    scripts: &'a mut Scripts,
}

type Stepped = Result<Outcome, String>;

fn text_outcome(text: impl Into<CompactString>) -> Stepped {
    let text = text.into();
    if text.len() > RESULT_BYTES_MAX {
        return Err("the result of the step is too long".to_owned());
    }
    Ok(Outcome::Value(Payload::Text(text)))
}

fn number_outcome(value: u64) -> Stepped {
    Ok(Outcome::Value(Payload::Unsigned(value)))
}

impl Run<'_> {
    fn step(&mut self, value: Payload) -> Stepped {
        if let Action::Broken { why: defect, .. } = &self.step.action {
            // Nothing makes an empty list, whatever the fields are.
            let nothing = matches!(&value, Payload::Text(text) if text.is_empty());
            let list = self.step.kind == StepKind::SnmpWalkToJson && nothing;
            return if list { text_outcome("[]") } else { Err(defect.to_string()) };
        }
        match self.step.kind {
            StepKind::Multiplier => self.multiply(&value),
            StepKind::SimpleChange | StepKind::ChangePerSecond => self.change(&value),
            StepKind::DiscardUnchanged | StepKind::DiscardUnchangedHeartbeat => {
                Ok(self.discard_unchanged(value))
            }
            StepKind::InRange => self.in_range(value),
            StepKind::CheckNotSupported => self.check_not_supported(value),
            StepKind::BoolToDecimal | StepKind::OctalToDecimal | StepKind::HexToDecimal => {
                self.to_decimal(&to_text(&value))
            }
            StepKind::MatchesRegex
            | StepKind::NotMatchesRegex
            | StepKind::CheckJsonError
            | StepKind::CheckXmlError
            | StepKind::CheckRegexError => {
                self.check(&to_text(&value))?;
                Ok(Outcome::Value(value))
            }
            _ => self.transform(&to_text(&value), &value),
        }
    }

    fn multiply(&self, value: &Payload) -> Stepped {
        let Action::Multiply(factor, whole) = self.step.action else { return self.mixed_up() };
        let Some(number) = to_number(value, self.value_type) else {
            return Err(format!(
                "cannot apply multiplier \"{}\" to value of type \"{}\": value is not a number",
                crate::num::format_f64(factor),
                kind_name(value)
            ));
        };
        // Whole numbers stay whole and wrap around, as at the field's server.
        let product = match (number, whole) {
            (Number::Unsigned(v), Some(whole)) => Number::Unsigned(v.wrapping_mul(whole)),
            (Number::Unsigned(_), None) => {
                Number::Unsigned(super::convert::wrap(number.as_f64() * factor))
            }
            (Number::Float(v), _) => Number::Float(v * factor),
        };
        Ok(Outcome::Value(product.into_payload()))
    }

    /// Difference to the value before; nothing for the first one and when it went down.
    fn change(&mut self, value: &Payload) -> Stepped {
        let Some(new) = to_number(value, self.value_type) else {
            return Err(format!(
                "cannot calculate the change of value of type \"{}\": value is not a number",
                kind_name(value)
            ));
        };
        let before = self
            .state
            .get(self.index)
            .and_then(|r| Some((to_number(&r.value, self.value_type)?, r.at)));
        self.state.set(self.index, new.into_payload(), self.at);
        let Some((old, then)) = before else { return Ok(Outcome::Discarded) };
        let per_second = self.step.kind == StepKind::ChangePerSecond;
        let seconds = (f64::from(self.at.clock) - f64::from(then.clock))
            + (f64::from(self.at.ns) - f64::from(then.ns)) / 1e9;
        if per_second && seconds <= 0.0 {
            return Ok(Outcome::Discarded);
        }
        Ok(match (new, old) {
            (Number::Unsigned(new), Number::Unsigned(old)) => match new.checked_sub(old) {
                None => Outcome::Discarded,
                Some(change) if per_second => {
                    let rate = Number::Unsigned(change).as_f64() / seconds;
                    let whole = super::convert::float_to_unsigned(rate).unwrap_or(u64::MAX);
                    Outcome::Value(Payload::Unsigned(whole))
                }
                Some(change) => Outcome::Value(Payload::Unsigned(change)),
            },
            (new, old) => {
                let change = new.as_f64() - old.as_f64();
                if change < 0.0 {
                    Outcome::Discarded
                } else if per_second {
                    let rate = change / seconds;
                    let whole = super::convert::float_to_unsigned(rate)
                        .filter(|_| self.value_type == ValueType::Unsigned);
                    Outcome::Value(whole.map_or(Payload::Float(rate), Payload::Unsigned))
                } else {
                    Outcome::Value(Payload::Float(change))
                }
            }
        })
    }

    fn discard_unchanged(&mut self, value: Payload) -> Outcome {
        if let Some(last) = self.state.get(self.index)
            && same(&last.value, &value)
        {
            let due = match self.step.action {
                Action::Heartbeat(seconds) => {
                    let next = u64::from(last.at.clock) + u64::from(seconds);
                    Timestamp::as_ns(self.at) >= next * 1_000_000_000 + u64::from(last.at.ns)
                }
                _ => false,
            };
            if !due {
                return Outcome::Discarded;
            }
        }
        self.state.set(self.index, value.clone(), self.at);
        Outcome::Value(value)
    }

    fn in_range(&self, value: Payload) -> Stepped {
        let Action::Range(low, high) = self.step.action else { return self.mixed_up() };
        let Some(number) = to_number(&value, self.value_type) else {
            return Err(format!("value of type \"{}\" is not a number", kind_name(&value)));
        };
        let number = number.as_f64();
        let show = crate::num::format_f64;
        // Limits count as reached within the distance in which numbers are equal.
        let same = crate::num::same_f64;
        if (low <= number || same(low, number)) && (number <= high || same(number, high)) {
            return Ok(Outcome::Value(value));
        }
        Err(match (low.is_finite(), high.is_finite()) {
            (true, true) => {
                format!("value is less than {} or greater than {}", show(low), show(high))
            }
            (true, false) => format!("value is less than {}", show(low)),
            _ => format!("value is greater than {}", show(high)),
        })
    }

    /// Fails for the errors looked for; other errors and all values pass.
    fn check_not_supported(&self, value: Payload) -> Stepped {
        let Action::NotSupported { matching, pattern } = &self.step.action else {
            return self.mixed_up();
        };
        let Payload::NotSupported(error) = &value else { return Ok(Outcome::Value(value)) };
        let found = match matching {
            Matching::Any => true,
            Matching::Matches => {
                regex::is_match(pattern, error, false).map_err(|e| e.to_string())?
            }
            // A pattern that is none lets every error pass.
            Matching::NotMatches => {
                regex::is_match(pattern, error, false).is_ok_and(|matched| !matched)
            }
        };
        if found { Err(error.to_string()) } else { Ok(Outcome::NotSupported(error.clone())) }
    }

    fn to_decimal(&self, value: &str) -> Stepped {
        let (number, base) = match self.step.kind {
            StepKind::BoolToDecimal => (text::bool_to_decimal(value), "boolean"),
            StepKind::OctalToDecimal => (text::to_decimal(value, 8), "octal"),
            _ => (text::to_decimal(value, 16), "hexadecimal"),
        };
        match number {
            Some(number) => number_outcome(number),
            None => Err(format!(
                "cannot convert value \"{}\" from {base} to decimal format",
                shorten(value)
            )),
        }
    }

    /// Steps that let a value pass or fail.
    fn check(&self, value: &str) -> Result<(), String> {
        match (&self.step.action, self.step.kind) {
            (Action::Text(pattern), StepKind::MatchesRegex | StepKind::NotMatchesRegex) => {
                let wanted = self.step.kind == StepKind::MatchesRegex;
                let matched = regex::is_match(pattern, value, false).map_err(|e| {
                    format!("cannot validate value with regular expression \"{pattern}\": {e}")
                })?;
                if matched == wanted {
                    return Ok(());
                }
                let verb = if wanted { "does not match" } else { "matches" };
                Err(format!("value \"{}\" {verb} regular expression \"{pattern}\"", shorten(value)))
            }
            (Action::Path(_, path), _) => json::check_error(value, path),
            (Action::Text(path), _) => match xpath::query(value, path) {
                Err(xpath::XpathError::Document(_)) => Ok(()),
                Err(error) => Err(error.to_string()),
                Ok(error) => text::found_error(error),
            },
            (Action::Pair(pattern, output), _) => {
                match regex::extract(pattern, output, value) {
                    Ok(Some(error)) => text::found_error(error),
                    // Matching was given up: no error was found.
                    Ok(_) | Err(regex::RegexError::Match(_)) => Ok(()),
                    Err(error) => Err(error.to_string()),
                }
            }
            _ => self.mixed_up().map(|_| ()),
        }
    }

    /// Steps that make a text out of a text.
    fn transform(&mut self, value: &str, payload: &Payload) -> Stepped {
        match (&self.step.action, self.step.kind) {
            (Action::Text(chars), StepKind::RightTrim) => {
                text_outcome(value.trim_end_matches(|c| chars.contains(c)))
            }
            (Action::Text(chars), StepKind::LeftTrim) => {
                text_outcome(value.trim_start_matches(|c| chars.contains(c)))
            }
            (Action::Text(chars), StepKind::Trim) => {
                text_outcome(value.trim_matches(|c| chars.contains(c)))
            }
            (Action::Pair(pattern, output), StepKind::Regex) => {
                let failed = |reason: &str| {
                    format!("cannot perform regular expression \"{pattern}\" match: {reason}")
                };
                match regex::extract(pattern, output, value) {
                    Ok(Some(found)) => text_outcome(found),
                    Ok(None) => Err(failed("pattern does not match")),
                    Err(error) => Err(failed(&error.to_string())),
                }
            }
            (Action::Pair(search, new), _) => text_outcome(value.replace(&**search, new)),
            (Action::Path(text, path), _) => {
                json::extract(value, text, path).and_then(text_outcome)
            }
            (Action::Text(path), StepKind::XmlXPath) => match xpath::query(value, path) {
                Ok(found) => text_outcome(found),
                Err(error) => {
                    Err(format!("cannot extract XML value with xpath \"{path}\": {error}"))
                }
            },
            (Action::Text(source), StepKind::JavaScript) => {
                match self.scripts.call(source, value)? {
                    Some(result) => text_outcome(result),
                    None => Ok(Outcome::Discarded),
                }
            }
            (Action::Prometheus { pattern, request, output }, _) => {
                prometheus::prometheus_pattern(value, pattern, request, output)
                    .map_err(|e| format!("cannot apply Prometheus pattern: {e}"))
                    .and_then(text_outcome)
            }
            (Action::Text(pattern), StepKind::PrometheusToJson) => {
                prometheus::prometheus_to_json(value, pattern)
                    .map_err(|e| format!("cannot convert Prometheus data to JSON: {e}"))
                    .and_then(text_outcome)
            }
            (Action::Csv { delimiter, quote, header }, _) => {
                csv::csv_to_json(value, delimiter, quote, *header)
                    .map_err(|e| format!("cannot convert CSV to JSON: {e}"))
                    .and_then(text_outcome)
            }
            (Action::None, StepKind::XmlToJson) => xml::xml_to_json(value)
                .map_err(|e| format!("cannot convert XML to JSON: {e}"))
                .and_then(text_outcome),
            (Action::SnmpWalk(oid, format), _) => snmp::walk_value(value, oid, *format)
                .map_err(|e| format!("unable to extract value for given OID: {e}"))
                .and_then(text_outcome),
            (Action::SnmpJson(rows), _) => snmp::walk_to_json(value, rows).and_then(text_outcome),
            (Action::Snmp(format), _) => snmp::get_value(value, *format)
                .map_err(|e| format!("cannot extract value: {e}"))
                .and_then(text_outcome),
            _ => {
                let _ = payload;
                self.mixed_up()
            }
        }
    }

    /// Kind and parameters come from one place; if they ever differ the item says so.
    fn mixed_up(&self) -> Stepped {
        Err(format!("the parameters of a step of kind {:?} are not its own", self.step.kind))
    }
}

fn shorten(value: &str) -> String {
    value.chars().take(128).collect()
}

fn same(a: &Payload, b: &Payload) -> bool {
    match (a, b) {
        (Payload::Float(a), Payload::Float(b)) => crate::num::same_f64(*a, *b),
        (Payload::Unsigned(a), Payload::Unsigned(b)) => a == b,
        (Payload::Text(a), Payload::Text(b)) => a == b || same_number(a, b),
        (a, b) => {
            let (a, b) = (to_text(a), to_text(b));
            a == b || same_number(&a, &b)
        }
    }
}

/// Texts of numbers are compared as numbers: `1.0` is `1`.
fn same_number(a: &str, b: &str) -> bool {
    use crate::num::{parse_f64, parse_u64, same_f64};
    match (parse_u64(a), parse_u64(b)) {
        (Some(a), Some(b)) => a == b,
        _ => parse_f64(a).zip(parse_f64(b)).is_some_and(|(a, b)| same_f64(a, b)),
    }
}
