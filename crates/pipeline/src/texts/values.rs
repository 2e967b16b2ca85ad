//! Macros about the values of items.

use std::sync::Arc;

use config::Snapshot;
use config::snapshot::Item;
use eval::func::HistoryView;
use eval::num::format_f64;
use eval::units::{age, format_value, log_severity};
use model::{SampleValue, Timestamp};

use super::Resolver;
use crate::evaluator::problem_functions;

impl Resolver<'_, '_> {
    /// The item of the n-th function.
    pub(super) fn item(&self, index: usize) -> Option<Arc<Item>> {
        let function = *problem_functions(self.trigger).get(index)?;
        self.evaluator.snapshot.items.get(&function.item).cloned()
    }

    pub(super) fn value(&mut self, index: usize, at: Timestamp, bare: bool) -> Option<String> {
        let item = self.item(index)?;
        let values = self.evaluator.history.last_n(item.id, 1, at).ok()?;
        let text = value_text(&values.first()?.value);
        if bare {
            return Some(text);
        }
        Some(format_of(self.evaluator.snapshot, &item, &text, &self.evaluator.env.tz))
    }

    /// What a line carries. Only event logs have more than a time.
    pub(super) fn log(&mut self, name: &str, index: usize) -> Option<String> {
        let item = self.item(index)?;
        let values = self.evaluator.history.last_n(item.id, 1, self.at).ok()?;
        let SampleValue::Log(log) = &values.first()?.value else { return None };
        let meta = &log.1;
        let local = || eval::calendar::local(meta.timestamp.into(), &self.evaluator.env.tz);
        let windows = item.key.starts_with("eventlog[");
        Some(match name {
            "ITEM.LOG.DATE" => local().strftime("%Y.%m.%d").to_string(),
            "ITEM.LOG.TIME" => local().strftime("%H:%M:%S").to_string(),
            "ITEM.LOG.AGE" => age(self.now.clock.saturating_sub(meta.timestamp)),
            "ITEM.LOG.EVENTID" if windows => meta.eventid.to_string(),
            "ITEM.LOG.SEVERITY" if windows => {
                log_severity(meta.severity).unwrap_or("unknown").to_owned()
            }
            "ITEM.LOG.NSEVERITY" if windows => meta.severity.to_string(),
            "ITEM.LOG.SOURCE" if windows => meta.source.to_string(),
            _ => return None,
        })
    }
}

fn value_text(value: &SampleValue) -> String {
    match value {
        SampleValue::Float(v) => format_f64(*v),
        SampleValue::Unsigned(v) => v.to_string(),
        SampleValue::Text(text) => text.to_string(),
        SampleValue::Log(log) => log.0.to_string(),
    }
}

/// A value with units and value map, as messages show it.
fn format_of(snapshot: &Snapshot, item: &Item, text: &str, tz: &jiff::tz::TimeZone) -> String {
    let Some(extra) = &item.extra else {
        return format_value(text, item.value_type, "", &[], tz);
    };
    let map = snapshot.valuemaps.get(&extra.valuemap).map_or(&[][..], |map| map);
    format_value(text, item.value_type, &extra.units, map, tz)
}
