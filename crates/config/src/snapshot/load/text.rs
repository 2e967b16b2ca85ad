//! Texts: shared when equal.

use std::collections::HashMap;
use std::sync::Arc;

use eval::interval::UpdateInterval;
use eval::preproc::Step;

/// A preprocessing step: type, parameters, error handler, its parameters.
pub(super) type StepRow = (u8, String, u8, String);

/// Equal texts, intervals and lists of steps are kept once: 10,000 hosts with one template share
/// the keys, intervals and steps of its items.
#[derive(Default)]
pub(super) struct Texts {
    texts: HashMap<Arc<str>, Arc<str>>,
    intervals: HashMap<String, Result<Arc<UpdateInterval>, String>>,
    steps: HashMap<String, Result<Arc<[Step]>, String>>,
}

impl Texts {
    /// The one copy of this text.
    pub(super) fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(shared) = self.texts.get(text) {
            return Arc::clone(shared);
        }
        let shared: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&shared), Arc::clone(&shared));
        shared
    }

    /// The one copy of this interval, or why it is none.
    pub(super) fn interval(&mut self, text: &str) -> Result<Arc<UpdateInterval>, String> {
        if let Some(shared) = self.intervals.get(text) {
            return shared.clone();
        }
        let parsed = UpdateInterval::parse(text).map(Arc::new).map_err(|error| error.to_string());
        self.intervals.insert(text.to_owned(), parsed.clone());
        parsed
    }

    /// The one copy of these steps.
    pub(super) fn steps(&mut self, steps: &[StepRow]) -> Result<Arc<[Step]>, String> {
        let key = format!("{steps:?}");
        if let Some(shared) = self.steps.get(&key) {
            return shared.clone();
        }
        let parsed: Result<Vec<Step>, String> = steps
            .iter()
            .enumerate()
            .map(|(n, (kind, params, handler, handler_params))| {
                Step::from_api(*kind, params, *handler, handler_params)
                    .map_err(|error| format!("Preprocessing step {}: {error}", n + 1))
            })
            .collect();
        let parsed = parsed.map(Arc::from);
        self.steps.insert(key, parsed.clone());
        parsed
    }
}

/// Days of a storage period: `31d`, `1w`, `3600`; part days count as whole ones. 0 = keep nothing.
pub(super) fn days(text: &str) -> Option<u16> {
    let seconds = eval::num::parse_seconds(text)?;
    let days = u64::from(seconds).div_ceil(86_400);
    u16::try_from(days).ok()
}

#[cfg(test)]
mod tests {
    use super::days;

    #[test]
    fn storage_periods() {
        for (text, expected) in
            [("0", Some(0)), ("31d", Some(31)), ("1w", Some(7)), ("3600", Some(1)), ("x", None)]
        {
            assert_eq!(days(text), expected, "{text}");
        }
    }
}
