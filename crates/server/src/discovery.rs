//! The low-level discovery worker: rows of discovery rules become items, triggers and hosts.
//! A thread of its own, beside the value path.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use config::Config;
use model::DiscoveryValue;
use stdx::clock::SharedClock;
use stdx::queue::Receiver;

/// Time in work, for `zabbix[process,lld worker,avg,busy]`.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    ns: AtomicU64,
}

impl Busy {
    /// Nanoseconds in work since the start.
    pub(crate) fn ns(&self) -> u64 {
        self.ns.load(Ordering::Relaxed)
    }
}

/// Works until the queue is closed.
pub(crate) fn run(
    config: &Config,
    clock: &SharedClock,
    mut values: Receiver<DiscoveryValue>,
    busy: &Arc<Busy>,
) {
    while let Some(value) = values.blocking_recv() {
        let begin = clock.monotonic();
        if let Err(error) = config::lld::process(config, &value) {
            tracing::warn!(rule = %value.rule, %error, "low-level discovery failed");
        }
        let took = clock.monotonic().saturating_sub(begin);
        busy.ns.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(0), Ordering::Relaxed);
    }
}
