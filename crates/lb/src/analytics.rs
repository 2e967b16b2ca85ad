//! What the objects of a snapshot count, and where transactions are counted.

use std::sync::atomic::Ordering::Relaxed;

use proxying::engine_link::analytics::{Counter, Kind, Measured};
use transactions::Transaction;

use crate::pool::Pool;
use crate::snapshot::{Service, Snapshot};

/// Counts a transaction of this thread for its service and, if there was one, for its server.
pub(crate) fn count(
    thread: usize,
    transaction: &Transaction<'_>,
    service: &Service,
    served: Option<(&Pool, u16)>,
) {
    service.tally.count(thread, transaction);
    if let Some((pool, server)) = served {
        pool.server(server).shared.tally.count(thread, transaction);
    }
}

impl Snapshot {
    /// What was counted of everything in it. `now_ms`: monotonic milliseconds.
    pub(crate) fn measured(&self, now_ms: u64) -> Vec<Measured> {
        let mut all = Vec::new();
        let mut last = None;
        for service in &self.services {
            // A service has an entry for each of its addresses.
            if last.replace(service.tally.born) != Some(service.tally.born) {
                let open = u64::from(service.connections.load(Relaxed));
                let mut measured = service.tally.measured(Kind::Service, &service.name);
                measured.open = open;
                measured.counts.counters[Counter::CachePurged] = service.caches.purged();
                all.push(measured);
            }
        }
        for pool in &self.pools {
            for server in &pool.servers {
                let mut measured = server.shared.tally.measured(Kind::Server, &pool.name);
                measured.server = server.name.as_str().into();
                measured.open = u64::from(server.active());
                measured.state = server.state(!pool.monitors.is_empty(), now_ms);
                measured.monitors = server.shared.checks.all();
                measured.counts.counters[Counter::Failures] = server.shared.failures_total();
                all.push(measured);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests;
