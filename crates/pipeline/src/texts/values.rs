//! Macros about the values of items.

use std::sync::Arc;

use config::snapshot::Item;
use eval::func::HistoryView;
use eval::units::{log_text, value_text};
use model::Timestamp;

use super::Resolver;

impl Resolver<'_, '_> {
    /// The item of the n-th function.
    pub(super) fn item(&self, index: usize) -> Option<Arc<Item>> {
        let function = *self.trigger.problem_functions().get(index)?;
        self.evaluator.snapshot.items.get(&function.item).cloned()
    }

    pub(super) fn value(&mut self, index: usize, at: Timestamp, bare: bool) -> Option<String> {
        let item = self.item(index)?;
        let values = self.evaluator.history.last_n(item.id, 1, at).ok()?;
        let text = value_text(&values.first()?.value);
        if bare {
            return Some(text);
        }
        Some(self.evaluator.snapshot.message_text(&item, &text, &self.evaluator.env.tz))
    }

    /// What a line carries. Only event logs have more than a time.
    pub(super) fn log(&mut self, name: &str, index: usize) -> Option<String> {
        let item = self.item(index)?;
        let values = self.evaluator.history.last_n(item.id, 1, self.at).ok()?;
        let env = &self.evaluator.env;
        log_text(name, &item.key, &values.first()?.value, self.now.clock, &env.tz)
    }
}
