//! What an item's error says when preprocessing fails: the value, and what each step made of it.
//! The form is the field's (measured on its server), since people and scripts read it.

use config::snapshot::Item;
use eval::preproc::{
    self, ErrorHandler, Outcome, State, StepKind, StepTrace, into_text, run_traced,
};
use eval::script::Scripts;
use model::{Payload, Timestamp};

/// Longest value that an error shows, in characters; a longer one ends with three dots.
const SHOWN_CHARS_MAX: usize = 100;

/// The error text for a value whose steps ended with `reason`. The steps are run again to learn
/// what each did, which only failing values pay for.
pub(crate) fn explain(
    item: &Item,
    input: Payload,
    at: Timestamp,
    reason: &str,
    scripts: &mut Scripts,
) -> String {
    if matches!(input, Payload::NotSupported(_)) {
        return reason.to_owned();
    }
    let head = format!("Preprocessing failed for: {}", shown(&into_text(input.clone())));
    if let [only] = &*item.steps {
        return match only.on_error {
            ErrorHandler::SetError(_) => reason.to_owned(),
            _ => format!("{head}\n1. Failed: {reason}"),
        };
    }
    // A script may have run into its time limit: not once more.
    if item.steps.iter().any(|step| step.kind == StepKind::JavaScript) {
        return format!("{head}\nFailed: {reason}");
    }
    let mut trace = Vec::new();
    let mut fresh = State::default();
    let (steps, kind) = (&item.steps, item.value_type);
    drop(run_traced(steps, &mut fresh, input, at, kind, scripts, Some(&mut trace)));
    told(&head, steps, &trace, reason)
}

fn told(head: &str, steps: &[preproc::Step], trace: &[StepTrace], reason: &str) -> String {
    let mut text = head.to_owned();
    for (number, (step, traced)) in (1..).zip(steps.iter().zip(trace)) {
        let line = match (&traced.outcome, &traced.error) {
            (Outcome::Value(value), None) => {
                format!("Result: {}", shown(&into_text(value.clone())))
            }
            (Outcome::Value(value), Some(_)) => {
                format!("Result (set value): {}", shown(&into_text(value.clone())))
            }
            (Outcome::NotSupported(_), _) if matches!(step.on_error, ErrorHandler::SetError(_)) => {
                return reason.to_owned();
            }
            (Outcome::NotSupported(_), error) => {
                return format!("{text}\n{number}. Failed: {}", error.as_deref().unwrap_or(reason));
            }
            // A step that remembers the value before has nothing to compare with this time.
            (Outcome::Discarded, _) => break,
        };
        text = format!("{text}\n{number}. {line}");
    }
    format!("{text}\nFailed: {reason}")
}

fn shown(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '.' } else { c };
    if text.chars().nth(SHOWN_CHARS_MAX).is_none() {
        return text.chars().map(plain).collect();
    }
    let mut out: String = text.chars().take(SHOWN_CHARS_MAX - 3).map(plain).collect();
    out.push_str("...");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use model::ValueType;
    use preproc::Step;

    #[test]
    fn errors_tell_what_each_step_did() {
        let long = format!(" {}", "x".repeat(300));
        let cut = format!("{}...", "x".repeat(97));
        // Steps (type, parameters, handler, its parameter), value, start and end of the text.
        for (steps, value, start, end) in [
            (vec![(1, "2", 0, "")], "q\nr", "Preprocessing failed for: q.r\n1. Failed: ", ""),
            (vec![(1, "2", 3, "own")], "q", "own", "own"),
            (vec![(4, " ", 0, ""), (12, "$.b", 3, "own")], "q", "own", "own"),
            (
                vec![(4, " ", 0, ""), (12, "$.b", 2, "set"), (1, "2", 0, "")],
                "nojson",
                "Preprocessing failed for: nojson\n1. Result: nojson\n\
                 2. Result (set value): set\n3. Failed: ",
                "",
            ),
            (
                vec![(4, " ", 0, ""), (12, "$.b", 0, "")],
                &long,
                &format!(
                    "Preprocessing failed for: {}...\n1. Result: {cut}\n2. Failed: ",
                    &long[..97]
                ),
                "",
            ),
            (
                vec![(10, "", 0, ""), (12, "$.b", 0, "")],
                "5",
                "Preprocessing failed for: 5\nFailed: ",
                "why",
            ),
        ] {
            let mut item = testing::item(1, 1, "k", ValueType::Text);
            let steps = steps.iter().map(|(kind, params, handler, more)| {
                Step::from_api(*kind, params, *handler, more).unwrap()
            });
            item.steps = steps.collect();
            let clock = stdx::clock::SimClock::at(std::time::Duration::from_secs(9));
            let mut scripts = Scripts::new(clock);
            let (input, at) = (Payload::Text(value.into()), Timestamp::from_s(9));
            let reason = match preproc::run(
                &item.steps,
                &mut State::default(),
                input.clone(),
                at,
                item.value_type,
                &mut scripts,
            ) {
                Outcome::NotSupported(reason) => reason,
                _ => "why".into(),
            };
            let text = explain(&item, input, at, &reason, &mut scripts);
            assert!(text.starts_with(start) && text.ends_with(end), "{text:?} for {value:?}");
        }
    }
}
