//! Service level indicators: how long a service was in order in the periods of an agreement.
//!
//! Observed on Zabbix 7.0.22: a service counts from its creation on; only what is in the schedule and in no
//! excluded downtime counts; every severity is downtime.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use objects::SlaPeriod;

/// Unix time from, and until without.
pub type Interval = (i64, i64);

/// Seconds of a day.
const DAY_S: i64 = 86_400;
/// Periods that are shown without a number.
const PERIODS: usize = 20;
/// Periods at most.
pub const PERIODS_MAX: usize = 100;
/// Times fit 32 bits with a sign.
pub const TIME_MAX: i64 = i32::MAX as i64;

/// What an agreement says about time.
#[derive(Debug, Clone)]
pub struct Agreement {
    pub period: SlaPeriod,
    pub zone: TimeZone,
    /// Percentage of the time in which services shall be in order.
    pub slo: f64,
    /// Unix time of the day from which periods are shown.
    pub effective: i64,
    /// Seconds of a week, from Sunday on; none = always.
    pub schedule: Vec<Interval>,
    /// What does not count.
    pub excluded: Vec<Downtime>,
}

/// A time that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downtime {
    pub name: String,
    pub from: i64,
    pub to: i64,
}

/// Which periods are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asked {
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub periods: Option<usize>,
}

/// A service in a period.
#[derive(Debug, Clone, PartialEq)]
pub struct Indicator {
    /// Seconds in order.
    pub uptime: i64,
    /// Seconds not in order.
    pub downtime: i64,
    /// Percentage; `None` = no time counts.
    pub sli: Option<f64>,
    /// Seconds of downtime that the agreement still allows in this period; below 0 = it is broken.
    pub error_budget: i64,
    /// Downtimes that took time out of it, oldest first.
    pub excluded: Vec<Downtime>,
}

/// A service's changes of status.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    /// Since when the service exists.
    pub created: i64,
    /// Whether it was down before the first change.
    pub starts_down: bool,
    /// When it was up or down (`true`) from, oldest first.
    pub changes: Vec<(i64, bool)>,
}

impl Agreement {
    /// The periods that are asked for, oldest first.
    pub fn periods(&self, asked: Asked, now: i64) -> Vec<Interval> {
        let Asked { from, to, periods } = asked;
        match (from, to) {
            (Some(from), Some(to)) => {
                let earliest = self.date(from);
                self.backward(to, periods.unwrap_or(PERIODS_MAX), Some(earliest))
            }
            (Some(from), None) => {
                let (most, last) = match periods {
                    Some(periods) => (periods, TIME_MAX),
                    None => (PERIODS, now),
                };
                let mut found = Vec::new();
                let mut start = self.date(from);
                while found.len() < most && self.unix(start) <= last {
                    let end = self.step(start, 1);
                    found.extend(self.shown(start, end));
                    if self.unix(end) > TIME_MAX {
                        break;
                    }
                    start = end;
                }
                found
            }
            (None, to) => {
                let earliest = periods.is_none().then(|| self.date(self.effective));
                self.backward(to.unwrap_or(now), periods.unwrap_or(PERIODS), earliest)
            }
        }
    }

    /// The last periods up to the one with this time.
    fn backward(&self, to: i64, most: usize, earliest: Option<Date>) -> Vec<Interval> {
        let mut found = Vec::new();
        let mut start = self.date(to);
        while found.len() < most && earliest.is_none_or(|earliest| start >= earliest) {
            found.extend(self.shown(start, self.step(start, 1)));
            if self.unix(start) <= 0 {
                break;
            }
            start = self.step(start, -1);
        }
        found.reverse();
        found
    }

    fn shown(&self, start: Date, end: Date) -> Option<Interval> {
        let interval = (self.unix(start).max(0), self.unix(end));
        (interval.1 <= TIME_MAX).then_some(interval)
    }

    /// The first day of the period with this time.
    fn date(&self, unix: i64) -> Date {
        let date = zoned(unix, &self.zone).date();
        let month = match self.period {
            SlaPeriod::Daily => return date,
            SlaPeriod::Weekly => {
                let days = i64::from(date.weekday().to_sunday_zero_offset());
                return date.saturating_sub(Span::new().days(days));
            }
            SlaPeriod::Monthly => date.month(),
            SlaPeriod::Quarterly => (date.month() - 1) / 3 * 3 + 1,
            SlaPeriod::Annually => 1,
        };
        Date::new(date.year(), month, 1).unwrap_or(date)
    }

    fn step(&self, date: Date, periods: i64) -> Date {
        let span = Span::new();
        date.saturating_add(match self.period {
            SlaPeriod::Daily => span.days(periods),
            SlaPeriod::Weekly => span.weeks(periods),
            SlaPeriod::Monthly => span.months(periods),
            SlaPeriod::Quarterly => span.months(3 * periods),
            SlaPeriod::Annually => span.years(periods),
        })
    }

    fn unix(&self, date: Date) -> i64 {
        unix(date, Time::midnight(), &self.zone)
    }

    /// What the schedule has of an interval, in order.
    fn scheduled(&self, (from, to): Interval) -> Vec<Interval> {
        if from >= to {
            return Vec::new();
        }
        if self.schedule.is_empty() {
            return vec![(from, to)];
        }
        let weekly = Self { period: SlaPeriod::Weekly, ..self.clone() };
        let mut found = Vec::new();
        // A week before: in zones that skip an hour or a day, weeks are longer than their schedule.
        let mut sunday = weekly.step(weekly.date(from), -1);
        while self.unix(sunday) < to {
            for (first, last) in &self.schedule {
                let part = (self.at(sunday, *first).max(from), self.at(sunday, *last).min(to));
                found.extend(Some(part).filter(|(from, to)| from < to));
            }
            sunday = weekly.step(sunday, 1);
        }
        found.sort_unstable();
        found
    }

    /// So many seconds after the beginning of a Sunday, as clocks show it.
    fn at(&self, sunday: Date, seconds: i64) -> i64 {
        let day = sunday.saturating_add(Span::new().days(seconds / DAY_S));
        let time = Time::midnight().saturating_add(Span::new().seconds(seconds % DAY_S));
        unix(day, time, &self.zone)
    }

    /// The same, without excluded downtimes.
    fn counted(&self, scheduled: &[Interval]) -> Vec<Interval> {
        let mut left = scheduled.to_vec();
        for downtime in &self.excluded {
            let cut = |(from, to): &Interval| {
                [(*from, (*to).min(downtime.from)), ((*from).max(downtime.to), *to)]
            };
            let parts = left.iter().flat_map(cut);
            left = parts.filter(|(from, to)| from < to).collect();
        }
        left
    }

    /// A period with what counts in it: found once for all services.
    pub fn within(&self, interval: Interval) -> Period<'_> {
        let scheduled = self.scheduled(interval);
        let counted = self.counted(&scheduled);
        Period { agreement: self, interval, scheduled, counted }
    }

    fn budget(&self, uptime: i64, all: i64, left: i64) -> i64 {
        if self.slo <= 0.0 {
            return left;
        }
        #[expect(clippy::cast_precision_loss, reason = "seconds of some years")]
        #[expect(
            clippy::cast_possible_truncation,
            reason = "as large as seconds divided by the objective"
        )]
        let allowed = (uptime as f64 / self.slo * 100.0).floor() as i64;
        (allowed - all).min(left)
    }
}

/// A period of an agreement.
#[derive(Debug)]
pub struct Period<'a> {
    agreement: &'a Agreement,
    interval: Interval,
    /// What the schedule has of it, in order.
    scheduled: Vec<Interval>,
    /// The same, without excluded downtimes.
    counted: Vec<Interval>,
}

impl Period<'_> {
    /// How a service was in the period.
    pub fn indicator(&self, service: &Timeline, now: i64) -> Indicator {
        let (start, end) = self.interval;
        // The second that has begun counts.
        let until = now.saturating_add(1);
        let past = (start.max(service.created), end.min(until));
        let (mut uptime, mut downtime) = (0, 0);
        for interval in parts(&self.counted, past) {
            let down = service.down(interval);
            downtime += down;
            uptime += interval.1 - interval.0 - down;
        }
        let future = parts(&self.counted, (start.max(until), end));
        let left: i64 = future.map(|(from, to)| to - from).sum();
        let all = uptime + downtime;
        Indicator {
            uptime,
            downtime,
            sli: (all > 0).then(|| percentage(uptime, all)),
            error_budget: if all == 0 { 0 } else { self.agreement.budget(uptime, all, left) },
            excluded: self.excluded_in(past),
        }
    }

    fn excluded_in(&self, interval: Interval) -> Vec<Downtime> {
        let within = |downtime: &Downtime| {
            let out = (downtime.from.max(interval.0), downtime.to.min(interval.1));
            let mut parts = parts(&self.scheduled, out);
            let first = parts.next()?;
            let (from, to) = parts.fold(first, |(from, _), (_, to)| (from, to));
            Some(Downtime { name: downtime.name.clone(), from, to })
        };
        let mut found: Vec<Downtime> = self.agreement.excluded.iter().filter_map(within).collect();
        found.sort_by_key(|downtime| downtime.from);
        found
    }
}

/// What intervals have in common with one.
fn parts(intervals: &[Interval], (from, to): Interval) -> impl Iterator<Item = Interval> {
    let part = move |one: &Interval| (one.0.max(from), one.1.min(to));
    intervals.iter().map(part).filter(|(from, to)| from < to)
}

impl Timeline {
    /// Seconds of an interval in which the service was down.
    fn down(&self, (from, to): Interval) -> i64 {
        let first = self.changes.partition_point(|(at, _)| *at <= from);
        let mut is_down = match first.checked_sub(1).and_then(|n| self.changes.get(n)) {
            Some((_, down)) => *down,
            None => self.starts_down,
        };
        let (mut since, mut down) = (from, 0);
        for (at, next) in self.changes.iter().skip(first).take_while(|(at, _)| *at < to) {
            down += if is_down { at - since } else { 0 };
            (since, is_down) = (*at, *next);
        }
        down + if is_down { to - since } else { 0 }
    }
}

fn zoned(unix: i64, zone: &TimeZone) -> jiff::Zoned {
    Timestamp::from_second(unix).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone())
}

fn unix(date: Date, time: Time, zone: &TimeZone) -> i64 {
    let at = date.to_datetime(time).to_zoned(zone.clone());
    at.map_or(TIME_MAX + 1, |at| at.timestamp().as_second())
}

#[expect(clippy::cast_precision_loss, reason = "seconds of some years")]
fn percentage(part: i64, all: i64) -> f64 {
    part as f64 / all as f64 * 100.0
}

#[cfg(test)]
mod tests;
