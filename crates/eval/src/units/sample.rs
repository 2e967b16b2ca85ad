//! Macros about one stored value.

use jiff::tz::TimeZone;
use model::SampleValue;

use super::{age, log_severity};
use crate::num::format_f64;

/// A value as text, without units.
pub fn value_text(value: &SampleValue) -> String {
    match value {
        SampleValue::Float(v) => format_f64(*v),
        SampleValue::Unsigned(v) => v.to_string(),
        SampleValue::Text(text) => text.to_string(),
        SampleValue::Log(log) => log.0.to_string(),
    }
}

/// What a log line carries beside its text, by the name of the macro (`ITEM.LOG.DATE`). Only event
/// logs have more than a time. `now`: seconds since 1970.
pub fn log_text(
    name: &str,
    key: &str,
    value: &SampleValue,
    now: u32,
    tz: &TimeZone,
) -> Option<String> {
    let SampleValue::Log(log) = value else { return None };
    let meta = &log.1;
    let local = || crate::calendar::local(meta.timestamp.into(), tz);
    let windows = key.starts_with("eventlog[");
    Some(match name {
        "ITEM.LOG.DATE" => local().strftime("%Y.%m.%d").to_string(),
        "ITEM.LOG.TIME" => local().strftime("%H:%M:%S").to_string(),
        "ITEM.LOG.AGE" => age(now.saturating_sub(meta.timestamp)),
        "ITEM.LOG.EVENTID" if windows => meta.eventid.to_string(),
        "ITEM.LOG.SEVERITY" if windows => {
            log_severity(meta.severity).unwrap_or("unknown").to_owned()
        }
        "ITEM.LOG.NSEVERITY" if windows => meta.severity.to_string(),
        "ITEM.LOG.SOURCE" if windows => meta.source.to_string(),
        _ => return None,
    })
}
