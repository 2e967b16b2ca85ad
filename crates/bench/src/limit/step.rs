//! A number of hosts, observed, and the rules by which it is too many.

use serde::{Deserialize, Serialize};

use crate::readers::Reads;
use crate::report::grouped;

/// Share of time from which pollers count as busy all the time; the last percent is rounding.
pub(super) const BUSY_MAX: f64 = 0.99;
/// Share of the processor.
pub(super) const CPU_MAX: f64 = 0.5;
/// Share of the machine's memory.
pub(super) const MEMORY_MAX: f64 = 0.9;
/// Of the checks that are due within a second, the part by which the queue may differ between
/// the first and the last third of an observation, and how many at least.
const QUEUE_GROWTH: f64 = 0.1;
const QUEUE_GROWTH_MIN: f64 = 10.0;
/// Of the due checks, the part that a server makes which is not behind.
const CHECKS_MIN: f64 = 0.9;

/// Why no more hosts fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Busy,
    Cpu,
    Memory,
    Queue,
}

impl Rule {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Busy => "the pollers are busy all the time",
            Self::Cpu => "half of the processor is used",
            Self::Memory => "nine tenths of the memory are used",
            Self::Queue => "the queue grows",
        }
    }
}

/// One step, observed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) hosts: usize,
    pub(super) ideal_per_s: f64,
    pub(super) checks_per_s: f64,
    pub(super) in_flight: usize,
    /// Mean share of time, 0 to 1.
    pub(super) busy: Option<f64>,
    /// Mean share of all cores, 0 to 1.
    pub(super) cpu: Option<f64>,
    /// Share of the machine's memory, 0 to 1.
    pub(super) memory: Option<f64>,
    pub(super) rss_bytes: Option<u64>,
    /// Late checks, second by second.
    pub(super) queue: Vec<f64>,
    /// What readers of the UI waited for; `None` without readers.
    pub(super) reads: Option<Reads>,
}

impl Step {
    /// The rules that trip, in the order of the published test.
    pub(super) fn tripped(&self) -> Vec<Rule> {
        let over = |value: Option<f64>, max: f64| value.is_some_and(|value| value >= max);
        let rules = [
            (over(self.busy, BUSY_MAX), Rule::Busy),
            (over(self.cpu, CPU_MAX), Rule::Cpu),
            (over(self.memory, MEMORY_MAX), Rule::Memory),
            (self.queue_grows(), Rule::Queue),
        ];
        rules.into_iter().filter(|(trips, _)| *trips).map(|(_, rule)| rule).collect()
    }

    /// Whether no rule trips.
    pub(super) fn holds(&self) -> bool {
        self.tripped().is_empty()
    }

    /// An item is in the queue once, however many of its checks are due: when most items are late, the queue stays as it
    /// is while the server falls behind.
    fn queue_grows(&self) -> bool {
        let late = self.queue.last().copied().unwrap_or(0.0);
        let behind = self.checks_per_s < self.ideal_per_s * CHECKS_MIN;
        let max = self.queue_growth_max();
        self.queue_growth() > max || behind && late > max
    }

    /// Late checks of the last third of the observation beyond those of the first, on average.
    pub(super) fn queue_growth(&self) -> f64 {
        let third = self.queue.len() / 3;
        if third == 0 {
            return 0.0;
        }
        mean(&self.queue[self.queue.len() - third..]) - mean(&self.queue[..third])
    }

    /// From which growth on the queue counts as growing.
    pub(super) fn queue_growth_max(&self) -> f64 {
        (self.ideal_per_s * QUEUE_GROWTH).max(QUEUE_GROWTH_MIN)
    }

    /// The cells of [`COLUMNS`].
    pub(super) fn row(&self) -> Vec<Option<f64>> {
        let percent = |share: Option<f64>| share.map(|share| share * 100.0);
        vec![
            Some(self.hosts as f64),
            Some(self.ideal_per_s),
            Some(self.checks_per_s),
            Some(self.in_flight as f64),
            percent(self.busy),
            percent(self.cpu),
            percent(self.memory),
            self.rss_bytes.map(|bytes| bytes as f64 / f64::from(1 << 20)),
            self.queue.last().copied(),
            Some(self.queue_growth()),
            self.reads.as_ref().map(|reads| reads.pages.p50_ms),
            self.reads.as_ref().map(|reads| reads.pages.p99_ms),
            self.reads.as_ref().map(|reads| reads.failed as f64),
        ]
    }

    /// A line for people: the figures, and the rules that trip.
    pub(super) fn describe(&self) -> String {
        let percent = |share: Option<f64>| match share {
            Some(share) => format!("{:.1} %", share * 100.0),
            None => "unknown".to_owned(),
        };
        let reads = self.reads.as_ref().map(|reads| {
            format!(", pages p50 {:.0} ms, p99 {:.0} ms", reads.pages.p50_ms, reads.pages.p99_ms)
        });
        format!(
            "{} hosts: {} of {} checks/s, pollers busy {}, CPU {}, memory {}, queue {:.0}{}: {}",
            grouped(self.hosts as u64),
            grouped(self.checks_per_s as u64),
            grouped(self.ideal_per_s as u64),
            percent(self.busy),
            percent(self.cpu),
            percent(self.memory),
            self.queue.last().copied().unwrap_or(0.0),
            reads.unwrap_or_default(),
            self.verdict().unwrap_or_else(|| "holds".to_owned())
        )
    }

    /// The rules that trip in words; `None`: the number of hosts is held.
    pub(super) fn verdict(&self) -> Option<String> {
        let texts: Vec<&str> = self.tripped().into_iter().map(Rule::text).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }
}

/// Names in JSON and headings of [`Step::row`]; the last [`COLUMNS_OF_READERS`] need readers.
pub(super) const COLUMNS: &[(&str, &str)] = &[
    ("hosts", "hosts"),
    ("ideal_per_s", "ideal/s"),
    ("checks_per_s", "checks/s"),
    ("in_flight", "in flight"),
    ("busy_percent", "busy %"),
    ("cpu_percent", "CPU %"),
    ("memory_percent", "memory %"),
    ("rss_mib", "server MiB"),
    ("queue", "queue"),
    ("queue_growth", "queue growth"),
    ("page_p50_ms", "page p50, ms"),
    ("page_p99_ms", "page p99, ms"),
    ("page_failed", "failed pages"),
];
pub(super) const COLUMNS_OF_READERS: usize = 3;

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_trips_by_itself() {
        let good = Step {
            hosts: 100,
            ideal_per_s: 1000.0,
            busy: Some(0.98),
            cpu: Some(0.49),
            memory: Some(0.89),
            queue: vec![0.0, 90.0, 0.0, 90.0, 0.0, 90.0],
            ..Step::default()
        };
        assert_eq!(good.tripped(), []);
        assert!(Step::default().holds());
        let cases = [
            (Step { busy: Some(1.0), ..good.clone() }, Rule::Busy),
            (Step { cpu: Some(0.5), ..good.clone() }, Rule::Cpu),
            (Step { memory: Some(0.95), ..good.clone() }, Rule::Memory),
            (Step { queue: vec![0.0, 0.0, 50.0, 80.0, 120.0, 160.0], ..good }, Rule::Queue),
            // All items are late.
            (Step { queue: vec![900.0; 6], checks_per_s: 800.0, ..good }, Rule::Queue),
        ];
        for (step, rule) in cases {
            assert_eq!(step.tripped(), [rule]);
            assert_eq!(step.verdict().as_deref(), Some(rule.text()));
        }
        // Some are, but all checks are made.
        assert!(Step { queue: vec![900.0; 6], checks_per_s: 950.0, ..good }.holds());
    }

    #[test]
    fn the_queue_grows_from_third_to_third() {
        for (queue, expected) in [
            (vec![], 0.0),
            (vec![5.0, 9.0], 0.0),
            (vec![1.0, 50.0, 3.0], 2.0),
            (vec![2.0, 4.0, 0.0, 0.0, 5.0, 7.0], 3.0),
        ] {
            let step = Step { queue, ..Step::default() };
            assert!((step.queue_growth() - expected).abs() < 1e-9, "{step:?}");
        }
    }

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let step =
            Step { hosts: 7, cpu: Some(0.25), reads: Some(Reads::default()), ..Step::default() };
        let row = step.row();
        assert_eq!(row.len(), COLUMNS.len());
        assert_eq!((row[0], row[5], row[4]), (Some(7.0), Some(25.0), None));
        assert!(row[COLUMNS.len() - COLUMNS_OF_READERS..].iter().all(Option::is_some));
        assert_eq!(Step::default().row().iter().flatten().count(), 5);
    }
}
