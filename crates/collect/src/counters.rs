//! What collection counts about itself, for `zabbix[process,…,busy]` and the self-monitoring
//! graphs. All counters only grow; readers build rates.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use stdx::clock::Clock;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Counters of collection since its start.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($(#[$doc])* pub $name: AtomicU64,)+
            /// Time in work of the pollers' threads, whatever they check.
            pub pollers: Busy,
            /// What of that is not for agents, by [`Process`].
            pub processes: [Busy; Process::ALL.len()],
            /// Time in work of the trapper (`trapper`).
            pub trapper: Busy,
            /// Connections of the trapper open now.
            pub connections: AtomicUsize,
            /// Maximum number of connections that the trapper serves at the same time.
            pub connections_max: AtomicUsize,
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

/// Work within pollers, under the names of the processes that do it at the field's servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// Simple, external and script checks, SSH, Telnet.
    Poller,
    Snmp,
    HttpAgent,
    /// Web scenarios.
    Http,
    Java,
    Odbc,
    Internal,
}

impl Process {
    const ALL: [Self; 7] = [
        Self::Poller,
        Self::Snmp,
        Self::HttpAgent,
        Self::Http,
        Self::Java,
        Self::Odbc,
        Self::Internal,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Poller => "poller",
            Self::Snmp => "snmp poller",
            Self::HttpAgent => "http agent poller",
            Self::Http => "http poller",
            Self::Java => "java poller",
            Self::Odbc => "odbc poller",
            Self::Internal => "internal poller",
        }
    }
}

/// Runs `work` and counts the time that it takes of its thread; waiting is none.
pub async fn timed<T>(clock: &dyn Clock, busy: &Busy, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let begin = clock.monotonic();
        let polled = work.as_mut().poll(context);
        busy.add(clock.monotonic().saturating_sub(begin));
        polled
    })
    .await
}

impl Counters {
    /// The meter of a part of the pollers' work.
    pub fn process(&self, process: Process) -> &Busy {
        &self.processes[process as usize]
    }

    /// Sets how many pollers there are.
    pub fn pollers(&self, count: usize) {
        self.pollers.workers(count);
        self.processes.iter().for_each(|process| process.workers(count));
    }

    /// Share of the last minute that a process of this name (`trapper`, `snmp poller` …) worked,
    /// 0 to 100, the average of all of its kind; `None` = there is no such work.
    pub fn busy_percent(&self, name: &str) -> Option<f64> {
        if name == "agent poller" {
            let others: f64 = self.processes.iter().map(Busy::busy_percent).sum();
            return Some((self.pollers.busy_percent() - others).max(0.0));
        }
        if name == "trapper" {
            return Some(self.trapper.busy_percent());
        }
        let process = Process::ALL.into_iter().find(|process| process.name() == name)?;
        Some(self.process(process).busy_percent())
    }

    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }

    pub fn one(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a sample of the pollers' busy meters; called once a second.
    pub fn sample(&self, now: Duration) {
        self.pollers.sample(now);
        self.processes.iter().for_each(|process| process.sample(now));
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
    pub fn workers(&self, n: usize) {
        self.workers.store(n, Ordering::Relaxed);
    }

    /// Adds time in work.
    pub fn add(&self, time: Duration) {
        self.busy_ns.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(0), Ordering::Relaxed);
    }

    pub fn sample(&self, now: Duration) {
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
    fn processes_have_their_share_of_the_pollers() {
        let counters = Counters::default();
        counters.pollers(2);
        for (at, name) in Process::ALL.into_iter().enumerate() {
            assert_eq!((name as usize, counters.busy_percent(name.name())), (at, Some(0.0)));
        }
        counters.sample(Duration::from_secs(10));
        counters.pollers.add(Duration::from_millis(1500));
        counters.process(Process::Snmp).add(Duration::from_millis(1000));
        counters.sample(Duration::from_secs(11));
        assert_eq!(counters.busy_percent("snmp poller"), Some(50.0));
        assert_eq!(counters.busy_percent("agent poller"), Some(25.0));
        assert_eq!(counters.busy_percent("http poller"), Some(0.0));
        assert_eq!(counters.busy_percent("history poller"), None);
    }

    #[tokio::test]
    async fn waiting_is_no_work() {
        let clock = stdx::clock::SimClock::at(Duration::from_secs(100));
        let busy = Busy::default();
        let told = timed(&*clock, &busy, async {
            clock.advance(Duration::from_secs(2));
            tokio::task::yield_now().await;
            clock.advance(Duration::from_secs(1));
            7
        });
        let others = async {
            clock.advance(Duration::from_secs(50));
        };
        assert_eq!((tokio::join!(told, others).0, busy.busy()), (7, Duration::from_secs(3)));
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
