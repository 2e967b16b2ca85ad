//! What replaced macros can make wrong in an item.

use eval::interval::UpdateInterval;
use model::{DAY_S, HOUR_S};
use objects::{ItemType, StepKind};

use crate::db::Value;
use crate::objects::{Columns, Step, column};

/// Longest name, characters.
pub(super) const NAME_CHARS_MAX: usize = 255;

/// Longest key, characters.
const KEY_CHARS_MAX: usize = 2_048;

/// Longest time that history and trends are kept, seconds: 25 years.
const KEPT_S_MAX: u32 = 9_125 * DAY_S;

/// Says what is wrong with the columns of an item of this type.
pub(super) fn check(columns: &Columns, kind: i64) -> Result<(), String> {
    let text = |name: &str| match column(columns, name) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let (name, key, delay) = (text("name"), text("key_"), text("delay"));
    if name.is_empty() {
        return Err("its name is empty".into());
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(format!("its name is longer than {NAME_CHARS_MAX} characters"));
    }
    if key.chars().count() > KEY_CHARS_MAX {
        return Err(format!("the key is longer than {KEY_CHARS_MAX} characters"));
    }
    if ItemType::from_number(kind).is_none_or(|kind| kind.has_interval(key)) {
        UpdateInterval::validate(delay, false).map_err(|error| error.to_string())?;
    }
    for (what, shortest_s) in [("history", HOUR_S), ("trends", DAY_S)] {
        let period = text(what);
        let fits = |seconds| seconds == 0 || (shortest_s..=KEPT_S_MAX).contains(&seconds);
        if !period.starts_with("{$") && !eval::num::parse_seconds(period).is_some_and(fits) {
            return Err(format!("its {what} cannot be kept for \"{period}\""));
        }
    }
    Ok(())
}

/// Steps whose parameters are looked at: numbers, paths, ranges, heartbeats, patterns of metrics,
/// replacements.
const CHECKED_STEPS: &[StepKind] = &[
    StepKind::Multiplier,
    StepKind::XmlXPath,
    StepKind::JsonPath,
    StepKind::InRange,
    StepKind::CheckJsonError,
    StepKind::CheckXmlError,
    StepKind::DiscardUnchangedHeartbeat,
    StepKind::PrometheusPattern,
    StepKind::PrometheusToJson,
    StepKind::Replace,
];

/// Says what is wrong with preprocessing. What user macros stand in shows with its first value.
pub(super) fn check_steps(steps: &[Step]) -> Result<(), String> {
    let fixed = |step: &Step| CHECKED_STEPS.contains(&step.kind) && !step.params.contains("{$");
    for (n, step) in steps.iter().enumerate().filter(|(_, step)| fixed(step)) {
        let (kind, handler) = (step.kind as u8, step.error_handler as u8);
        let defect = eval::preproc::Step::from_api(kind, &step.params, handler, "")
            .map_or_else(|error| Some(error.to_string()), |step| step.defect());
        if let Some(why) = defect {
            return Err(format!("its preprocessing step {} cannot work: {why}", n + 1));
        }
    }
    Ok(())
}
