//! What collection counts about itself, for `zabbix[process,…,busy]` and the self-monitoring
//! graphs. All counters only grow; readers build rates.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Counters of collection since its start.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($(#[$doc])* pub $name: AtomicU64,)+
            /// Time in work of the threads that run passive checks (`agent poller`).
            pub agent_poller: Busy,
            /// Time in work of the trapper (`trapper`).
            pub trapper: Busy,
            /// Connections of the trapper open now.
            pub connections: AtomicUsize,
            /// Passive checks in flight now.
            pub checks_in_flight: AtomicUsize,
        }

        impl Counters {
            /// All counters by name, for graphs and `zabbix.stats`.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.load(Ordering::Relaxed)),)+]
            }
        }
    };
}

counters! {
    /// Values taken from `sender data`, `history.push` and the old text forms.
    values_trapper,
    /// Values taken from `agent data`.
    values_agent_active,
    /// Values of passive checks, "not supported" included.
    values_agent,
    /// Values of internal items.
    values_internal,
    /// Values that named no item, a wrong item or came from a wrong place.
    values_refused,
    /// Values of `agent data` that were there already.
    values_repeated,
    /// Requests answered by the trapper.
    requests,
    /// Requests refused: unknown, malformed, not allowed, beyond a limit.
    requests_refused,
    /// Connections accepted by the trapper.
    accepted,
    /// Connections closed for being too slow.
    slow,
    /// Bytes received by the trapper, before decompression.
    bytes_in,
    /// Bytes sent by the trapper.
    bytes_out,
    /// Passive checks begun.
    checks,
    /// Passive checks that ended with a network error or a timeout.
    checks_failed,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn one(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a sample of the busy meters; called once a second.
    pub(crate) fn sample(&self, now: Duration) {
        self.agent_poller.sample(now);
        self.trapper.sample(now);
    }
}

/// Seconds over which [`Busy::busy_percent`] averages.
const WINDOW: usize = 60;

/// How much of its time a kind of worker works: time in work over wall time, the average over
/// all workers of the last minute.
#[derive(Debug, Default)]
pub struct Busy {
    workers: AtomicUsize,
    busy_ns: AtomicU64,
    // Read and written once a second.
    samples: Mutex<VecDeque<(Duration, u64)>>,
}

impl Busy {
    /// Sets how many workers share the work.
    pub(crate) fn workers(&self, n: usize) {
        self.workers.store(n, Ordering::Relaxed);
    }

    /// Adds time in work.
    pub(crate) fn add(&self, time: Duration) {
        self.busy_ns.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(0), Ordering::Relaxed);
    }

    fn sample(&self, now: Duration) {
        let Ok(mut samples) = self.samples.lock() else { return };
        samples.push_back((now, self.busy_ns.load(Ordering::Relaxed)));
        while samples.len() > WINDOW + 1 {
            samples.pop_front();
        }
    }

    /// Share of the last minute spent in work, 0 to 100.
    #[expect(clippy::cast_precision_loss, reason = "a percentage for a graph")]
    pub fn busy_percent(&self) -> f64 {
        let Ok(samples) = self.samples.lock() else { return 0.0 };
        let (Some(first), Some(last)) = (samples.front(), samples.back()) else { return 0.0 };
        let wall = last.0.saturating_sub(first.0).as_nanos() as f64;
        let wall = wall * self.workers.load(Ordering::Relaxed).max(1) as f64;
        if wall <= 0.0 {
            return 0.0;
        }
        ((last.1 - first.1) as f64 / wall * 100.0).min(100.0)
    }

    /// Time in work since the start, of all workers together.
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy_ns.load(Ordering::Relaxed))
    }

    /// Workers of this kind.
    pub fn count(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_time_in_work_over_wall_time_of_all_workers() {
        let busy = Busy::default();
        busy.workers(2);
        assert!(busy.busy_percent().abs() < f64::EPSILON);
        busy.sample(Duration::from_secs(10));
        busy.add(Duration::from_millis(500));
        busy.sample(Duration::from_secs(11));
        assert!((busy.busy_percent() - 25.0).abs() < 1e-9, "{}", busy.busy_percent());
    }

    #[test]
    fn busy_forgets_what_is_older_than_a_minute() {
        let busy = Busy::default();
        busy.workers(1);
        busy.add(Duration::from_secs(5));
        busy.sample(Duration::from_secs(5));
        for s in 6..200 {
            busy.sample(Duration::from_secs(s));
        }
        assert!(busy.busy_percent().abs() < f64::EPSILON);
        assert_eq!(busy.samples.lock().unwrap().len(), WINDOW + 1);
    }

    #[test]
    fn all_counters_have_a_name() {
        let counters = Counters::default();
        Counters::one(&counters.checks);
        Counters::add(&counters.values_agent, 3);
        let all = counters.all();
        assert!(all.contains(&("checks", 1)) && all.contains(&("values_agent", 3)));
    }
}
