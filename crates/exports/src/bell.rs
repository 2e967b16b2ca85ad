//! Wakes the exporter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Says that there are new events, another configuration, or that the server stops. Clones ring the same bell;
/// nothing of it blocks.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    rung: Notify,
    ended: AtomicBool,
}

impl Bell {
    /// There is something new to read.
    pub fn ring(&self) {
        self.0.rung.notify_one();
    }

    /// Nothing comes any more: the exporter sends what is queued and ends.
    pub fn end(&self) {
        self.0.ended.store(true, Ordering::Release);
        self.ring();
    }

    pub(crate) async fn rung(&self) {
        self.0.rung.notified().await;
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.0.ended.load(Ordering::Acquire)
    }
}
