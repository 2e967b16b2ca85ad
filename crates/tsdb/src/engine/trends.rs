//! Trends that are expected: those of hours that got late values.

use super::Engine;
use crate::kind::TrendHour;

impl Engine {
    /// The trends of these hours will change with the samples of the next [`Engine::append`],
    /// and will be written later. Until then, also after a crash, [`Engine::expected_trends`]
    /// tells them.
    pub fn expect_trends(&mut self, hours: &[TrendHour]) {
        self.late.announce(hours);
    }

    /// Hours whose trends were expected and not written.
    pub fn expected_trends(&self) -> Vec<TrendHour> {
        self.late.expected()
    }

    /// Expects these trends no more. After a crash they may be expected again.
    pub fn forget_trends(&mut self, hours: &[TrendHour]) {
        self.late.forget(hours);
    }
}
