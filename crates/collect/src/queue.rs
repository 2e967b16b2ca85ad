//! The queue: items that are late, and why.

use std::collections::BTreeMap;

use config::snapshot::ItemType;
use model::{HostId, ItemId};

/// Why an item is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Its interface does not answer; the item waits for it. Not counted in the overview.
    Unavailable,
    /// Its interface has not answered lately; until that has lasted it counts as late.
    Unreachable,
    /// Its check is running and takes long.
    InFlight,
    /// Other checks of the same interface or server come first, or of others that do not answer.
    HostBusy,
    /// As many checks of its type run as may run at one time, and they take long.
    TypeBusy,
    /// The active agent has not sent it.
    NotSent,
    /// The pollers do not keep up: the thread is busy, or all connections are taken.
    PollerBusy,
    /// The shards do not take what has been collected, so that nothing new is begun.
    HistoryBusy,
}

impl Reason {
    /// The reason as the queue shows it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Unavailable => "the interface is not available",
            Self::Unreachable => "the interface does not respond",
            Self::InFlight => "the check is running",
            Self::HostBusy => "other checks of the interface run first",
            Self::TypeBusy => "the limit of concurrent checks of this type is reached",
            Self::NotSent => "the active agent has not sent a value",
            Self::PollerBusy => "the pollers do not keep up",
            Self::HistoryBusy => "collected values wait to be processed and stored",
        }
    }
}

/// One late item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    pub item: ItemId,
    /// The host that owns the item.
    pub host: HostId,
    /// How it gets its values.
    pub kind: ItemType,
    /// When it was due, seconds since 1970.
    pub due: u32,
    /// Seconds late.
    pub late_s: u32,
    /// Why.
    pub reason: Reason,
}

/// Late items of one type by how late they are, as `queue.get` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueRow {
    /// 5 to 10, 10 to 30, 30 to 60, 60 to 300, 300 to 600, and over 600 seconds late.
    pub delays: [u64; 6],
    /// Late because their interface is not available; not in `delays`, as the field counts.
    pub unavailable: u64,
}

/// Everything that is late.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueReport {
    /// By item type.
    pub rows: BTreeMap<ItemType, QueueRow>,
    /// The latest first; those of unavailable interfaces are in it too. Cut at the limit asked.
    pub details: Vec<Late>,
    /// Late items without those of unavailable interfaces.
    pub total: u64,
    /// Items that are scheduled.
    pub scheduled: u64,
    /// Items of `total` by seconds late.
    lateness: BTreeMap<u32, u64>,
}

/// How late items are that are counted: at least `from_s` and, if given, less than `to_s` seconds
/// (`zabbix[queue,from,to]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    from_s: u32,
    to_s: Option<u32>,
}

/// Which bound of an [`Interval`] is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalError {
    /// The lower one is no time.
    From,
    /// The upper one is no time.
    To,
    /// The upper one is less than the lower one.
    Order,
}

impl Interval {
    /// The lower bound is 6 s if there is none.
    const FROM_S: u32 = 6;

    /// From bounds such as `10m`.
    pub fn parse(from: Option<&str>, to: Option<&str>) -> Result<Self, IntervalError> {
        let seconds = eval::num::parse_seconds;
        let from_s = match from {
            Some(from) => seconds(from).ok_or(IntervalError::From)?,
            None => Self::FROM_S,
        };
        let to_s = to.map(|to| seconds(to).ok_or(IntervalError::To)).transpose()?;
        if to_s.is_some_and(|to_s| to_s < from_s) {
            return Err(IntervalError::Order);
        }
        Ok(Self { from_s, to_s })
    }
}

/// Items that are less than so many seconds late are in time.
pub const LATE_S: u32 = BOUNDS[0];
/// Bounds of the columns of [`QueueRow::delays`], seconds.
const BOUNDS: [u32; 6] = [5, 10, 30, 60, 300, 600];
/// Details that are sorted at once.
const CUT_AT: usize = 4096;

impl QueueReport {
    /// Items that are late by the interval, those of unavailable interfaces not counted. Nothing
    /// less than 5 seconds late is known here. Does not depend on the number of details.
    pub fn within(&self, interval: Interval) -> u64 {
        let to = interval.to_s.unwrap_or(u32::MAX);
        self.lateness.range(interval.from_s..to).map(|(_, count)| count).sum()
    }

    /// Late items, those of unavailable interfaces as well.
    pub fn late(&self) -> u64 {
        self.total + self.rows.values().map(|row| row.unavailable).sum::<u64>()
    }

    /// Adds an item unless it is in time, or nearly; about `limit` details are kept.
    pub fn add_if_late(&mut self, late: Late, limit: usize) {
        if late.late_s >= LATE_S {
            self.add(late, limit);
        }
    }

    /// Adds a late item; about `limit` details are kept.
    pub fn add(&mut self, late: Late, limit: usize) {
        let row = self.rows.entry(late.kind).or_default();
        if late.reason == Reason::Unavailable {
            row.unavailable += 1;
        } else {
            self.total += 1;
            *self.lateness.entry(late.late_s).or_default() += 1;
            let column = BOUNDS.iter().rposition(|bound| late.late_s >= *bound);
            if let Some(count) = column.and_then(|column| row.delays.get_mut(column)) {
                *count += 1;
            }
        }
        if limit > 0 {
            self.details.push(late);
            // When everything is down that may be a million: cut now and then, not at the end.
            if self.details.len() > limit.saturating_mul(2).max(CUT_AT) {
                self.limit(limit);
            }
        }
    }

    /// Joins the reports of several pollers.
    pub fn merge(&mut self, other: Self) {
        for (kind, row) in other.rows {
            let mine = self.rows.entry(kind).or_default();
            for (mine, other) in mine.delays.iter_mut().zip(row.delays) {
                *mine += other;
            }
            mine.unavailable += row.unavailable;
        }
        for (late_s, count) in other.lateness {
            *self.lateness.entry(late_s).or_default() += count;
        }
        self.details.extend(other.details);
        self.total += other.total;
        self.scheduled += other.scheduled;
    }

    /// Sorts the details and cuts them.
    pub fn limit(&mut self, limit: usize) {
        self.details.sort_unstable_by_key(|late| (late.due, late.item));
        self.details.truncate(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        let is = |from_s, to_s| Ok(Interval { from_s, to_s });
        for (from, to, interval) in [
            (None, None, is(6, None)),
            (Some("10m"), None, is(600, None)),
            (Some("0"), Some("0"), is(0, Some(0))),
            (None, Some("6"), is(6, Some(6))),
            (None, Some("5"), Err(IntervalError::Order)),
            (Some("20m"), Some("10m"), Err(IntervalError::Order)),
            (Some(""), None, Err(IntervalError::From)),
            (Some("-1"), Some("x"), Err(IntervalError::From)),
            (Some("1M"), None, Err(IntervalError::From)),
            (None, Some("x"), Err(IntervalError::To)),
        ] {
            assert_eq!(Interval::parse(from, to), interval, "{from:?} {to:?}");
        }
    }
}
