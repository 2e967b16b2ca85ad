//! What collection counts about itself, for `zabbix[process,…,busy]` and the self-monitoring
//! graphs. All counters only grow; readers build rates.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use stdx::clock::Clock;
use stdx::sync::lock;
use stdx::worktime::{Shares, WorkTime};

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
            /// Time in work on SNMP traps (`snmp trapper`).
            pub traps: Busy,
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
    Ipmi,
    /// Scripts that control a browser.
    Browser,
}

impl Process {
    const ALL: [Self; 9] = [
        Self::Poller,
        Self::Snmp,
        Self::HttpAgent,
        Self::Http,
        Self::Java,
        Self::Odbc,
        Self::Internal,
        Self::Ipmi,
        Self::Browser,
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
            Self::Ipmi => "ipmi poller",
            Self::Browser => "browser poller",
        }
    }
}

/// Runs `work` and counts the time that it takes of its thread; waiting is none.
pub async fn timed<T>(
    clock: &dyn Clock,
    busy: &Busy,
    worker: usize,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let begin = clock.monotonic();
        let polled = work.as_mut().poll(context);
        busy.add(worker, clock.monotonic().saturating_sub(begin));
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

    /// Shares of the last minute that the processes of this name (`trapper`, `snmp poller` …)
    /// worked; `None` = there is no such work.
    pub fn shares(&self, name: &str) -> Option<Shares> {
        Some(match name {
            "agent poller" => {
                let all = self.pollers.shares();
                self.processes.iter().fold(all, |rest, process| rest.without(&process.shares()))
            }
            "trapper" => self.trapper.shares(),
            "snmp trapper" => self.traps.shares(),
            _ => {
                let process = Process::ALL.into_iter().find(|process| process.name() == name)?;
                self.process(process).shares()
            }
        })
    }

    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }

    pub fn one(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a sample of the busy meters; called once a second.
    pub fn sample(&self, now: Duration) {
        let meters = self.processes.iter().chain([&self.pollers, &self.trapper, &self.traps]);
        meters.for_each(|meter| meter.sample(now));
    }
}

/// Seconds over which [`Busy::shares`] averages.
const WINDOW: usize = 60;

/// How much of their time the workers of one kind work.
#[derive(Debug, Default)]
pub struct Busy {
    workers: OnceLock<Box<[WorkTime]>>,
    /// Time in work of each worker; read and written once a second.
    samples: Mutex<VecDeque<(Duration, Vec<u64>)>>,
}

impl Busy {
    /// Sets how many workers share the work, once; there is one if this is not called.
    pub fn workers(&self, n: usize) {
        let _ = self.workers.set((0..n.max(1)).map(|_| WorkTime::default()).collect());
    }

    fn times(&self) -> &[WorkTime] {
        self.workers.get_or_init(|| [WorkTime::default()].into())
    }

    /// Adds time in work of a worker; the first has the number 0.
    pub fn add(&self, worker: usize, time: Duration) {
        if let Some(worker) = self.times().get(worker) {
            worker.add(time);
        }
    }

    pub fn sample(&self, now: Duration) {
        let mut samples = lock(&self.samples);
        samples.push_back((now, self.times().iter().map(WorkTime::ns).collect()));
        while samples.len() > WINDOW + 1 {
            samples.pop_front();
        }
    }

    /// Shares of the last minute that the workers worked.
    pub fn shares(&self) -> Shares {
        let samples = lock(&self.samples);
        match (samples.front(), samples.back()) {
            (Some((from, before)), Some((to, after))) => {
                Shares::between(before, after, to.saturating_sub(*from))
            }
            _ => Shares::default(),
        }
    }

    /// Time in work since the start, of all workers together.
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(self.times().iter().map(WorkTime::ns).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_time_in_work_over_wall_time_of_all_workers() {
        let busy = Busy::default();
        busy.workers(2);
        assert_eq!(busy.shares().count(), 0);
        busy.sample(Duration::from_secs(10));
        busy.add(1, Duration::from_millis(500));
        // There is no such worker.
        busy.add(2, Duration::from_millis(500));
        busy.sample(Duration::from_secs(11));
        let shares = busy.shares();
        assert_eq!((shares.average(), shares.of(1), shares.of(2)), (25.0, Some(0.0), Some(50.0)));
    }

    #[test]
    fn busy_forgets_what_is_older_than_a_minute() {
        let busy = Busy::default();
        busy.add(0, Duration::from_secs(5));
        busy.sample(Duration::from_secs(5));
        for s in 6..200 {
            busy.sample(Duration::from_secs(s));
        }
        assert_eq!(busy.shares().of(1), Some(0.0));
        assert_eq!(busy.samples.lock().unwrap().len(), WINDOW + 1);
    }

    #[test]
    fn processes_have_their_share_of_the_pollers() {
        let counters = Counters::default();
        counters.pollers(2);
        for (at, name) in Process::ALL.into_iter().enumerate() {
            let share = counters.shares(name.name()).map(|shares| shares.average());
            assert_eq!((name as usize, share), (at, Some(0.0)));
        }
        counters.sample(Duration::from_secs(10));
        counters.pollers.add(0, Duration::from_millis(900));
        counters.pollers.add(1, Duration::from_millis(600));
        counters.process(Process::Snmp).add(0, Duration::from_millis(800));
        counters.process(Process::Snmp).add(1, Duration::from_millis(200));
        counters.trapper.add(0, Duration::from_millis(250));
        counters.sample(Duration::from_secs(11));
        let share = |name: &str| counters.shares(name).map(|shares| shares.average().round());
        assert_eq!(share("snmp poller"), Some(50.0));
        assert_eq!(share("agent poller"), Some(25.0));
        assert_eq!(share("http poller"), Some(0.0));
        assert_eq!(share("trapper"), Some(25.0));
        assert_eq!(share("history poller"), None);
    }

    #[tokio::test]
    async fn waiting_is_no_work() {
        let clock = stdx::clock::SimClock::at(Duration::from_secs(100));
        let busy = Busy::default();
        let told = timed(&*clock, &busy, 0, async {
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
