//! The history of one item in memory, for tests and recorded cases.

use model::{ItemId, Timestamp, Trend};

use super::{HistoryValue, HistoryView};

pub(crate) struct Recorded {
    /// Newest first.
    pub(crate) values: Vec<HistoryValue>,
    pub(crate) trends: Vec<Trend>,
}

impl HistoryView for Recorded {
    fn last_n(
        &mut self,
        _: ItemId,
        count: usize,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        Ok(self.values.iter().filter(|v| v.at <= till).take(count).cloned().collect())
    }
    fn range(
        &mut self,
        _: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        Ok(self.values.iter().filter(|v| v.at > after && v.at <= till).cloned().collect())
    }
    fn trends(&mut self, _: ItemId, first: u32, last: u32) -> Result<Vec<Trend>, String> {
        Ok(self.trends.iter().filter(|t| (first..=last).contains(&t.hour)).copied().collect())
    }
}
