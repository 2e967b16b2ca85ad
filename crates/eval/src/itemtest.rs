//! Test of preprocessing: each step with its result, like a debugger.

use jiff::tz::TimeZone;
use model::{CompactString, Payload, SampleValue, Timestamp, ValueType};

use crate::expr::{self, ExprValue, Expression, ItemCall, Mode, Operands};
use crate::preproc::{self, ErrorHandler, Outcome, State, Step, StepKind, StepTrace};
use crate::script::Scripts;

/// What stands for the value of a failed item that no step took care of.
pub const NOT_SUPPORTED: &str =
    "The item is not supported. A step \"Check for not supported value\" could process that.";

/// Longest text of a result that is shown, bytes.
pub const SHOWN_BYTES_MAX: usize = 512 << 10;

/// What is to be tested.
#[derive(Debug, Clone)]
pub struct StepsTest<'a> {
    pub steps: &'a [Step],
    /// The value, or [`Payload::NotSupported`].
    pub value: Payload,
    /// When it was measured.
    pub at: Timestamp,
    /// The value before it, and when, for steps that remember.
    pub before: Option<(CompactString, Timestamp)>,
    /// How values are kept.
    pub value_type: ValueType,
    /// A single step of a chain: what comes out is not converted for keeping.
    pub single: bool,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Tested {
    /// The value before failed: steps and result are of that one.
    pub previous: bool,
    /// What each step did that was run.
    pub steps: Vec<StepReport>,
    /// The value as it would be stored; `None` = discarded.
    pub result: Result<Option<String>, String>,
}

/// What one step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReport {
    /// Why the step itself failed.
    pub error: Option<String>,
    /// What the step's error handler did about that: its API number.
    pub handler: Option<u8>,
    /// The value after the step and its error handler; `Ok(None)` = discarded. The error is the
    /// one that the handler set, or the step's own.
    pub result: Result<Option<String>, String>,
}

/// Runs a test.
pub fn run(test: &StepsTest<'_>, scripts: &mut Scripts) -> Tested {
    let mut state = State::default();
    if let Some((value, at)) = &test.before {
        let value = Payload::Text(value.clone());
        let before = pass(test, &mut state, value, *at, scripts);
        if before.result.is_err() {
            return Tested { previous: true, ..before };
        }
    }
    pass(test, &mut state, test.value.clone(), test.at, scripts)
}

fn pass(
    test: &StepsTest<'_>,
    state: &mut State,
    value: Payload,
    at: Timestamp,
    scripts: &mut Scripts,
) -> Tested {
    let failed = matches!(value, Payload::NotSupported(_));
    let kept = if test.single { ValueType::Text } else { test.value_type };
    let mut trace = Vec::with_capacity(test.steps.len());
    let outcome = preproc::run_traced(
        test.steps,
        state,
        value,
        at,
        test.value_type,
        scripts,
        Some(&mut trace),
    );
    let checked = test.steps.first().is_some_and(|step| step.kind == StepKind::CheckNotSupported);
    // A text is shown whole, also where storing would cut it.
    let shown = if kept.is_numeric() { kept } else { ValueType::Text };
    let result = match outcome {
        Outcome::Value(value) => preproc::convert(value, shown).map(|v| Some(text(&v))),
        Outcome::Discarded => Ok(None),
        Outcome::NotSupported(_) if failed && !checked => Err(NOT_SUPPORTED.to_owned()),
        Outcome::NotSupported(error) => Err(error.into()),
    };
    let mut steps: Vec<StepReport> =
        test.steps.iter().zip(trace).map(|(step, trace)| report(step, trace)).collect();
    // The last step is shown with the number that is stored.
    if let (Some(last), Ok(stored @ Some(_))) = (steps.last_mut(), &result)
        && last.result.is_ok()
        && kept.is_numeric()
    {
        last.result.clone_from(&Ok(stored.clone()));
    }
    Tested { previous: false, steps, result }
}

fn report(step: &Step, trace: StepTrace) -> StepReport {
    let handler = match step.on_error {
        // An error that is not the one looked for passes the step by.
        _ if !trace.handled => None,
        ErrorHandler::Original => None,
        ErrorHandler::Discard => Some(1),
        ErrorHandler::SetValue(_) => Some(2),
        ErrorHandler::SetError(_) => Some(3),
    };
    let result = match trace.outcome {
        Outcome::Value(value) => Ok(Some(shown(value))),
        Outcome::Discarded => Ok(None),
        Outcome::NotSupported(error) => Err(error.into()),
    };
    StepReport { error: trace.error.map(Into::into), handler, result }
}

/// The text of a value between two steps.
fn shown(value: Payload) -> String {
    match value {
        Payload::Unsigned(v) => v.to_string(),
        Payload::Float(v) => crate::num::format_f64(v),
        Payload::Text(text) => text.into(),
        Payload::Log(log) => log.0.into(),
        Payload::NotSupported(text) => text.into(),
        Payload::Meta => String::new(),
    }
}

fn text(value: &SampleValue) -> String {
    crate::func::operand(value).as_text().unwrap_or_default()
}

/// A value before a time such as `now-5m`, in seconds before now; `None` = not such a time.
pub fn seconds_ago(text: &str) -> Option<u32> {
    match text.strip_prefix("now")? {
        "" => Some(0),
        rest => crate::num::parse_seconds(rest.strip_prefix('-')?),
    }
}

/// Whether an expression without items is true; the error says why it is neither.
pub fn truth(source: &str, now: Timestamp, tz: &TimeZone) -> Result<bool, String> {
    let parsed = Expression::parse(source).map_err(|error| error.to_string())?;
    let value = expr::eval(&parsed, &mut Bare { now, tz }, Mode::Strict)
        .map_err(|error| format!("Cannot evaluate expression: {error}"))?;
    value.is_true().ok_or_else(|| {
        let text = value.as_text().unwrap_or_else(|| "a list of values".to_owned());
        format!("The result \"{text}\" is not a number.")
    })
}

/// No items, and macros are texts like any other.
struct Bare<'a> {
    now: Timestamp,
    tz: &'a TimeZone,
}

impl Operands for Bare<'_> {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        Err(format!("Cannot evaluate expression: unknown function {{{id}}}."))
    }

    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        Err(format!("Function \"{}\" needs items, and there are none here.", call.function))
    }

    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        Ok(ExprValue::Text(token.to_owned()))
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn tz(&self) -> &TimeZone {
        self.tz
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::clock::RealClock;

    fn step(kind: u8, params: &str, handler: u8, text: &str) -> Step {
        Step::from_api(kind, params, handler, text).unwrap()
    }

    fn tested(steps: &[Step], value: &str, before: Option<&str>, whole: bool) -> Tested {
        let at = Timestamp::from_s(1000);
        let before = before.map(|text| (text.into(), Timestamp::from_s(940)));
        let value_type = if whole { ValueType::Unsigned } else { ValueType::Text };
        let value = match value.strip_prefix('!') {
            Some(error) => Payload::NotSupported(error.into()),
            None => Payload::Text(value.into()),
        };
        let test = StepsTest { steps, value, at, before, value_type, single: !whole };
        run(&test, &mut Scripts::new(RealClock::shared()))
    }

    #[test]
    fn each_step_is_shown() {
        let steps = [step(4, "$", 0, ""), step(1, "2", 0, ""), step(10, "", 0, "")];
        let got = tested(&steps, "70$", Some("40$"), true);
        let ok = |text: &str| Ok(Some(text.to_owned()));
        let results: Vec<_> = got.steps.iter().map(|step| step.result.clone()).collect();
        assert_eq!(results, [ok("70"), ok("140"), ok("1")]);
        assert_eq!((got.result, got.previous), (ok("1"), false));
    }

    #[test]
    fn error_handlers_are_named() {
        for (handler, text, result) in [
            (0, "", None),
            (1, "", Some(Ok(None))),
            (2, "9", Some(Ok(Some("9".to_owned())))),
            (3, "bad", Some(Err("bad".to_owned()))),
        ] {
            let got = tested(&[step(1, "2", handler, text)], "x", None, true);
            let report = &got.steps[0];
            assert!(report.error.is_some());
            assert_eq!(report.handler, (handler > 0).then_some(handler));
            match result {
                Some(result) => assert_eq!(got.result, result),
                None => assert_eq!(got.result.err(), report.error),
            }
        }
    }

    #[test]
    fn the_value_before_may_fail() {
        let steps = [step(1, "2", 0, "")];
        assert!(tested(&steps, "5", Some("x"), true).previous);
        assert!(tested(&steps, "5", Some("x"), false).previous);
        let single = tested(&[step(4, "$", 0, "")], "5$", Some("x"), false);
        assert_eq!((single.previous, single.result), (false, Ok(Some("5".to_owned()))));
        let whole = tested(&[step(4, "$", 0, "")], "5.7$", None, true);
        assert_eq!(whole.steps[0].result, Ok(Some("5".to_owned())));
    }

    #[test]
    fn unsupported_values_need_their_step() {
        let got = tested(&[step(1, "2", 0, "")], "!broken", None, true);
        assert_eq!((got.steps.len(), got.result), (0, Err(NOT_SUPPORTED.to_owned())));
        let got = tested(&[step(26, "-1", 2, "7")], "!broken", None, true);
        assert_eq!(got.steps[0].error.as_deref(), Some("broken"));
        assert_eq!((got.steps[0].handler, got.result), (Some(2), Ok(Some("7".to_owned()))));
        let got = tested(&[step(26, "0\nother", 2, "7")], "!broken", None, true);
        assert_eq!((got.steps[0].handler, got.result), (None, Err("broken".to_owned())));
    }

    #[test]
    fn times_before() {
        for (text, seconds) in [
            ("now", Some(0)),
            ("now-5m", Some(300)),
            ("now-1d", Some(86_400)),
            ("now+10s", None),
            ("now-", None),
            ("5m", None),
            ("", None),
        ] {
            assert_eq!(seconds_ago(text), seconds, "{text}");
        }
    }

    #[test]
    fn expressions_are_true_or_not() {
        let now = Timestamp::from_s(1_700_000_000);
        for (source, value) in [
            ("1<2", Some(true)),
            ("0", Some(false)),
            ("\"1\"", Some(true)),
            ("1K", Some(true)),
            ("\"1K\"", None),
            ("\"a\"", None),
            ("{$A}", None),
            ("{$A} and 0", None),
            ("1/0", None),
            ("1=", None),
            ("last(/h/k)", None),
            ("date()=20231114", Some(true)),
        ] {
            assert_eq!(truth(source, now, &TimeZone::UTC).ok(), value, "{source}");
        }
    }
}
