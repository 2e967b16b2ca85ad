//! Trends after a start are folded again beside the values; see [`history::trends::Refold`].

use crate::core::Core;

/// Items per call: each is a read of at most three hours.
const ITEMS_PER_CALL: usize = 2_000;

impl Core {
    /// Folds some of what is left.
    pub(crate) fn refold_some(&mut self) {
        if self.refold.is_done() {
            return;
        }
        let given_up = self.refold.given_up();
        let now = self.clock.monotonic();
        let driver = self.driver.as_mut();
        if let Err(error) = self.refold.run(driver, &mut self.folder, ITEMS_PER_CALL, now) {
            let unread = self.refold.unread();
            tracing::error!(%error, unread, "cannot recompute trends; retrying");
        }
        let given_up = self.refold.given_up() - given_up;
        if given_up > 0 {
            tracing::error!(
                given_up,
                "cannot recompute trends; they lack values from before the start"
            );
        }
    }
}
