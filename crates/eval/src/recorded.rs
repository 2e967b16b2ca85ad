//! Histories and macros in memory, for tests and recorded cases.

use model::{HostId, ItemId, Timestamp, Trend};

use crate::func::{HistoryValue, HistoryView};
use crate::macros::{MacroDef, MacroNodes};

/// The history of one item.
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

/// Hosts and templates with their macros and the templates linked to them; 0 = global.
pub(crate) struct Nodes(pub(crate) Vec<(u64, Vec<MacroDef>, Vec<HostId>)>);

impl MacroNodes for Nodes {
    fn macros(&self, node: HostId) -> &[MacroDef] {
        self.0.iter().find(|n| n.0 == node.0).map_or(&[], |n| &n.1)
    }
    fn templates(&self, node: HostId) -> &[HostId] {
        self.0.iter().find(|n| n.0 == node.0).map_or(&[], |n| &n.2)
    }
    fn global(&self) -> &[MacroDef] {
        self.macros(HostId(0))
    }
}
