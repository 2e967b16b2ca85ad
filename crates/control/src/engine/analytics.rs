//! What the engine reports of what it counts.

use std::time::Duration;

use proxying::engine_link::Gauges;
use proxying::engine_link::analytics::{Usage, portions};

use super::Running;

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Running {
    /// The portions of a report; `records` are the gauges of the heartbeat.
    pub(super) fn report(&self, records: &Gauges) -> Vec<Vec<u8>> {
        let now = self.clock.monotonic();
        let (unix, monotonic) = self.began;
        let usage = Usage {
            epoch: micros(unix),
            at_us: micros(now.saturating_sub(monotonic)),
            cpu_us: micros(stdx::sys::cpu_time()),
            memory_bytes: stdx::machine::own_memory().unwrap_or(0),
            records: records.records,
            dropped: records.dropped,
            unsent_bytes: records.unsent_bytes,
        };
        portions(&usage, &self.engine.measured(now))
    }
}
