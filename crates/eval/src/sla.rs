//! Service levels: how much of a reporting period a service was up, counted in the service
//! level's own time zone and within its service times.
//!
//! Service times are wall-clock times: `02:00-03:00` lasts no time on the day when the clocks
//! skip that hour. Where the clocks show a time twice, its reading in daylight saving time counts,
//! and a window that holds both readings is longer by the change.

use jiff::civil::{Date, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use model::DAY_S;

use crate::calendar::{Unit, days_from, local};

/// Reporting periods in one answer, at most.
pub const PERIODS_MAX: usize = 100;

/// Reporting periods where nobody says how many.
pub const PERIODS_DEFAULT: usize = 20;

/// Status of a service without a problem; others are severities.
pub const STATUS_OK: i8 = -1;

const WEEK_S: u32 = 7 * DAY_S;

/// Unix times from `from` until before `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// First second.
    pub from: i64,
    /// First second after it.
    pub to: i64,
}

impl Window {
    /// What both have in common.
    pub fn overlap(self, other: Self) -> Option<Self> {
        let both = Self { from: self.from.max(other.from), to: self.to.min(other.to) };
        (both.from < both.to).then_some(both)
    }
}

/// How long a reporting period is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporting {
    /// From midnight.
    Daily,
    /// From Sunday.
    Weekly,
    /// From the first of the month.
    Monthly,
    /// From the first of January, April, July, October.
    Quarterly,
    /// From the first of January.
    Annually,
}

impl Reporting {
    /// From the API's number.
    pub const fn from_api(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Daily,
            1 => Self::Weekly,
            2 => Self::Monthly,
            3 => Self::Quarterly,
            4 => Self::Annually,
            _ => return None,
        })
    }

    fn first_day(self, date: Date) -> Option<Date> {
        let back = match self {
            Self::Daily => return Some(date),
            Self::Weekly => i32::from(date.weekday().since(Weekday::Sunday)),
            Self::Monthly => return Some(date.first_of_month()),
            Self::Quarterly => {
                let month = (date.month() - 1) / 3 * 3 + 1;
                return Date::new(date.year(), month, 1).ok();
            }
            Self::Annually => return Some(date.first_of_year()),
        };
        days_from(date, -back)
    }

    /// The first day of the period `count` later or earlier.
    fn step(self, first: Date, count: i64) -> Option<Date> {
        let span = match self {
            Self::Daily => Unit::Day.span(count),
            Self::Weekly => Unit::Week.span(count),
            Self::Monthly => Unit::Month.span(count),
            Self::Quarterly => Unit::Month.span(3 * count),
            Self::Annually => Unit::Year.span(count),
        };
        first.checked_add(span?).ok()
    }
}

/// Which reporting periods are asked for; what is absent the defaults decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// A moment of the first period.
    pub from: Option<i64>,
    /// A moment of the last period.
    pub to: Option<i64>,
    /// How many.
    pub count: Option<usize>,
}

/// The service level that a service has to reach, and when it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceLevel {
    /// Length of a reporting period.
    pub reporting: Reporting,
    /// Objective: per cent of the time.
    pub slo: f64,
    /// Service times: seconds of the week from Sunday 00:00, start and end. None = always.
    pub schedule: Vec<(u32, u32)>,
    /// Times that do not count.
    pub excluded: Vec<Window>,
    /// The date (midnight UTC) from which it is reported where nobody asks for earlier.
    pub effective: i64,
    /// Its time zone.
    pub tz: TimeZone,
}

/// The changes of a service's status.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    /// Unix time before which there was no service: that time does not count.
    pub created: i64,
    /// Unix times and the status from then on, in order. Before the first it was OK.
    pub changes: &'a [(i64, i8)],
}

/// How a service did in a reporting period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Indicator {
    /// Seconds of service time without a problem.
    pub uptime_s: i64,
    /// Seconds of service time with one.
    pub downtime_s: i64,
    /// Per cent of up time; absent if no service time has passed.
    pub sli: Option<f64>,
    /// Seconds that it may still be down without failing the objective; what is negative is
    /// lost. Never more than the service time that is left.
    pub error_budget_s: i64,
}

impl ServiceLevel {
    /// The reporting periods asked for, oldest first, at most [`PERIODS_MAX`].
    pub fn periods(&self, asked: Asked, now: i64) -> Vec<Window> {
        let found = match (asked.from, asked.to) {
            (Some(from), None) => self.periods_from(from, asked.count, now),
            (Some(from), Some(to)) if from > to => None,
            (from, to) => self.periods_to(from, to.unwrap_or(now), asked.count),
        };
        found.unwrap_or_default()
    }

    /// Those from the one that holds `from`; without a number none that begins after `now`.
    fn periods_from(&self, from: i64, count: Option<usize>, now: i64) -> Option<Vec<Window>> {
        let most = count.unwrap_or(PERIODS_DEFAULT).min(PERIODS_MAX);
        let mut first = self.first_day(from)?;
        let mut found = Vec::new();
        while found.len() < most {
            let period = self.period(first)?;
            if count.is_none() && period.from > now {
                break;
            }
            if period.from < period.to {
                found.push(period);
            }
            first = self.reporting.step(first, 1)?;
        }
        Some(found)
    }

    /// Those until the one that holds `to`, the last of them if there are too many. Without a
    /// start and a number none before the service level is in effect.
    fn periods_to(&self, from: Option<i64>, to: i64, count: Option<usize>) -> Option<Vec<Window>> {
        let default = if from.is_some() { PERIODS_MAX } else { PERIODS_DEFAULT };
        let most = count.unwrap_or(default).min(PERIODS_MAX);
        let earliest = match (from, count) {
            (Some(from), _) => self.first_day(from)?,
            (None, Some(_)) => Date::MIN,
            (None, None) => {
                self.reporting.first_day(local(self.effective, &TimeZone::UTC).date())?
            }
        };
        let mut first = self.first_day(to)?;
        let mut found = Vec::new();
        while found.len() < most && first >= earliest {
            // Samoa left out a day.
            found.extend(Some(self.period(first)?).filter(|period| period.from < period.to));
            first = self.reporting.step(first, -1)?;
        }
        found.reverse();
        Some(found)
    }

    /// First day of the period that holds `at`.
    fn first_day(&self, at: i64) -> Option<Date> {
        self.reporting.first_day(local(at, &self.tz).date())
    }

    fn period(&self, first: Date) -> Option<Window> {
        let next = self.reporting.step(first, 1)?;
        Some(Window { from: self.wall(first, 0)?, to: self.wall(next, 0)? })
    }

    /// Unix time at which the wall clock shows `second` of a day or of the days after it.
    fn wall(&self, date: Date, second: u32) -> Option<i64> {
        let date = days_from(date, i32::try_from(second / DAY_S).ok()?)?;
        let second = second % DAY_S;
        let part = |v: u32| i8::try_from(v).ok();
        let wall = date.at(part(second / 3600)?, part(second / 60 % 60)?, part(second % 60)?, 0);
        let ambiguous = self.tz.to_ambiguous_timestamp(wall);
        if let AmbiguousOffset::Fold { after, .. } = ambiguous.offset()
            && let Ok(later) = after.to_timestamp(wall)
            && self.tz.to_offset_info(later).dst().is_dst()
        {
            return Some(later.as_second());
        }
        Some(ambiguous.compatible().ok()?.as_second())
    }

    /// The service times within `within` that are not excluded, in order, none overlapping.
    pub fn windows(&self, within: Window) -> Vec<Window> {
        let mut windows = if self.schedule.is_empty() {
            vec![within]
        } else {
            self.scheduled(within).unwrap_or_default()
        };
        for excluded in &self.excluded {
            windows = windows.iter().flat_map(|window| without(*window, *excluded)).collect();
        }
        windows
    }

    fn scheduled(&self, within: Window) -> Option<Vec<Window>> {
        let mut windows: Vec<Window> = Vec::new();
        let mut schedule = self.schedule.clone();
        schedule.sort_unstable();
        let mut week = Reporting::Weekly.first_day(local(within.from, &self.tz).date())?;
        while self.wall(week, 0)? < within.to {
            for (from, to) in &schedule {
                let to = (*to).min(WEEK_S);
                let window = Window { from: self.wall(week, *from)?, to: self.wall(week, to)? };
                let Some(window) = window.overlap(within) else { continue };
                match windows.last_mut() {
                    Some(last) if window.from <= last.to => last.to = last.to.max(window.to),
                    _ => windows.push(window),
                }
            }
            week = days_from(week, 7)?;
        }
        Some(windows)
    }

    /// The excluded times within a period, as answers list them: by their place in
    /// [`Self::excluded`].
    pub fn excluded_in(&self, period: Window) -> Vec<(usize, Window)> {
        let all = self.excluded.iter().enumerate();
        all.filter_map(|(at, excluded)| Some((at, excluded.overlap(period)?))).collect()
    }

    /// How a service did in a reporting period, as known at `now` (this second is included).
    pub fn indicator(&self, period: Window, history: &History<'_>, now: i64) -> Indicator {
        let lived = Window { from: history.created, to: i64::MAX };
        let all: Vec<Window> =
            self.windows(period).into_iter().filter_map(|window| window.overlap(lived)).collect();
        let past = Window { from: i64::MIN, to: now.saturating_add(1) };
        let (uptime_s, downtime_s) =
            split(all.iter().filter_map(|window| window.overlap(past)), history.changes);
        let known_s = uptime_s + downtime_s;
        let left_s = all.iter().map(|window| window.to - window.from).sum::<i64>() - known_s;
        #[expect(clippy::cast_precision_loss, reason = "seconds of a year")]
        let (up, known) = (uptime_s as f64, known_s as f64);
        let error_budget_s = if self.slo > 0.0 {
            #[expect(clippy::cast_possible_truncation, reason = "whole seconds are counted")]
            let allowed = (up / self.slo * 100.0) as i64;
            (allowed - known_s).min(left_s)
        } else {
            left_s
        };
        let sli = (known_s > 0).then(|| 100.0 * up / known);
        Indicator { uptime_s, downtime_s, sli, error_budget_s }
    }
}

/// What is left of a window beside `hole`.
fn without(window: Window, hole: Window) -> impl Iterator<Item = Window> {
    let before = window.overlap(Window { from: i64::MIN, to: hole.from });
    let after = window.overlap(Window { from: hole.to, to: i64::MAX });
    let untouched = hole.from >= hole.to;
    let parts = if untouched { [Some(window), None] } else { [before, after] };
    parts.into_iter().flatten()
}

/// Seconds of the windows without and with a problem.
fn split(windows: impl Iterator<Item = Window>, changes: &[(i64, i8)]) -> (i64, i64) {
    let (mut up, mut down) = (0, 0);
    let (mut next, mut status) = (0, STATUS_OK);
    for window in windows {
        let mut at = window.from;
        while at < window.to {
            while let Some((_, changed)) = changes.get(next).filter(|change| change.0 <= at) {
                status = *changed;
                next += 1;
            }
            let until = changes.get(next).map_or(window.to, |change| change.0.min(window.to));
            let seconds = if status == STATUS_OK { &mut up } else { &mut down };
            *seconds += until - at;
            at = until;
        }
    }
    (up, down)
}
