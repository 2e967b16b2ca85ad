//! Functions over raw values.

use std::collections::HashSet;

use model::{SampleValue, Timestamp, ValueType};

use super::{
    Direction, FuncError, HistoryValue, HistoryView, Item, Kind, Matcher, Moment, Period,
    PeriodLength, forecast, operand,
};
use crate::expr::ExprValue;
use crate::num::{EPSILON, same_f64};
use crate::regex;
use crate::stats;

type Evaluated = Result<ExprValue, FuncError>;

struct Reader<'a, 'b> {
    period: Option<&'a Period>,
    item: &'a Item,
    view: &'a mut dyn HistoryView,
    moment: &'a Moment<'b>,
}

pub(super) fn eval(
    kind: &Kind,
    period: Option<&Period>,
    item: &Item,
    view: &mut dyn HistoryView,
    moment: &Moment<'_>,
) -> Evaluated {
    let mut r = Reader { period, item, view, moment };
    match kind {
        Kind::Last => r.nth().map(|v| operand(&v.value)),
        Kind::LastClock => r.nth().map(|v| ExprValue::Unsigned(u64::from(v.at.clock))),
        Kind::Change => change(&mut r),
        Kind::ItemCount => Ok(ExprValue::Unsigned(1)),
        Kind::First => {
            r.some_values()?.last().map(|v| operand(&v.value)).ok_or(FuncError::NotEnoughData)
        }
        Kind::Avg => r.statistic(stats::avg),
        Kind::Min => extreme(&mut r, false),
        Kind::Max => extreme(&mut r, true),
        Kind::Sum => sum(&mut r),
        Kind::Stat(name) => {
            r.statistic(stats::by_name(name).expect("BUG: only known statistics are compiled"))
        }
        Kind::Percentile(percent) => {
            let numbers = r.numbers()?;
            let found = stats::percentile(&numbers, *percent).ok_or(FuncError::NotEnoughData)?;
            Ok(like_item(item, found))
        }
        Kind::Count(matcher) => count(&mut r, matcher, false),
        Kind::CountUnique(matcher) => count(&mut r, matcher, true),
        Kind::ChangeCount(direction) => change_count(&mut r, *direction),
        Kind::Find(matcher) => find(&mut r, matcher),
        Kind::NoData { seconds } => no_data(&mut r, *seconds),
        Kind::FuzzyTime { seconds } => fuzzy_time(&mut r, *seconds),
        Kind::LogEventId(_) | Kind::LogSource(_) | Kind::LogSeverity => log(&mut r, kind),
        Kind::Mono { decreasing, strict } => monotonic(&mut r, *decreasing, *strict),
        Kind::Rate => rate(&mut r),
        Kind::Bitand(mask) => bitand(&mut r, *mask),
        Kind::Forecast { ahead_s, fit, mode } => {
            let (points, now) = points(&mut r)?;
            Ok(ExprValue::Float(forecast::forecast(&points, now, *ahead_s, *fit, *mode)))
        }
        Kind::TimeLeft { threshold, fit } => {
            let (points, now) = points(&mut r)?;
            let left = forecast::time_left(&points, now, *threshold, *fit);
            left.map(ExprValue::Float).ok_or(FuncError::AlwaysPositive)
        }
        Kind::Trend(..) | Kind::Baseline { .. } | Kind::Stl(..) => {
            unreachable!("BUG: trend functions are evaluated elsewhere")
        }
    }
}

/// Whether an item has no value in a period.
pub(super) fn is_empty(
    period: Option<&Period>,
    item: &Item,
    view: &mut dyn HistoryView,
    moment: &Moment<'_>,
) -> Result<bool, FuncError> {
    Ok(Reader { period, item, view, moment }.values()?.is_empty())
}

impl Reader<'_, '_> {
    fn end(&self) -> Result<Timestamp, FuncError> {
        match self.period {
            Some(p) => p.end(self.moment.now, self.moment.tz).ok_or(FuncError::Param(1)),
            None => Ok(self.moment.now),
        }
    }

    fn last_n(&mut self, count: usize, till: Timestamp) -> Result<Vec<HistoryValue>, FuncError> {
        self.view.last_n(self.item.id, count, till).map_err(FuncError::History)
    }

    /// Values of the period, newest first; without a period the newest one.
    fn values(&mut self) -> Result<Vec<HistoryValue>, FuncError> {
        let end = self.end()?;
        match self.period.map(|p| p.length) {
            Some(PeriodLength::Seconds(seconds)) => {
                let after = Timestamp { clock: end.clock.saturating_sub(seconds), ns: end.ns };
                self.view.range(self.item.id, after, end).map_err(FuncError::History)
            }
            Some(PeriodLength::Count(count)) => self.last_n(count, end),
            None => self.last_n(1, end),
        }
    }

    fn some_values(&mut self) -> Result<Vec<HistoryValue>, FuncError> {
        let values = self.values()?;
        if values.is_empty() { Err(FuncError::NotEnoughData) } else { Ok(values) }
    }

    /// The n-th newest value (`#n`), or the newest one.
    fn nth(&mut self) -> Result<HistoryValue, FuncError> {
        let end = self.end()?;
        let n = match self.period.map(|p| p.length) {
            Some(PeriodLength::Count(n)) => n,
            _ => 1,
        };
        let mut values = self.last_n(n, end)?;
        if values.len() < n {
            return Err(FuncError::NotEnoughData);
        }
        values.pop().ok_or(FuncError::NotEnoughData)
    }

    fn numeric(&self) -> Result<(), FuncError> {
        if self.item.value_type.is_numeric() { Ok(()) } else { Err(FuncError::ValueType) }
    }

    /// Numbers of the period, newest first.
    fn numbers(&mut self) -> Result<Vec<f64>, FuncError> {
        self.numeric()?;
        Ok(self.values()?.iter().filter_map(|v| v.value.as_f64()).collect())
    }

    fn statistic(&mut self, f: fn(&[f64]) -> Option<f64>) -> Evaluated {
        let numbers = self.numbers()?;
        if numbers.is_empty() {
            return Err(FuncError::NotEnoughData);
        }
        f(&numbers).map(ExprValue::Float).ok_or(FuncError::NotFinite)
    }
}

/// One of the item's own values, as the item has it.
fn like_item(item: &Item, value: f64) -> ExprValue {
    match item.value_type {
        ValueType::Unsigned => {
            ExprValue::Float(value).as_u64().map_or(ExprValue::Float(value), ExprValue::Unsigned)
        }
        _ => ExprValue::Float(value),
    }
}

/// The newest value, unless it is older than the period (where the period has a length).
pub(super) fn recent(
    period: Option<&Period>,
    item: &Item,
    view: &mut dyn HistoryView,
    moment: &Moment<'_>,
) -> Evaluated {
    let newest = Reader { period: None, item, view, moment }.nth()?;
    let after = match period.map(|p| p.length) {
        Some(PeriodLength::Seconds(seconds @ 1..)) => moment.now.clock.saturating_sub(seconds),
        _ => return Ok(operand(&newest.value)),
    };
    if newest.at > (Timestamp { clock: after, ns: moment.now.ns }) {
        Ok(operand(&newest.value))
    } else {
        Err(FuncError::NotEnoughData)
    }
}

/// Exact for whole numbers, which floats could not hold.
fn extreme(r: &mut Reader<'_, '_>, largest: bool) -> Evaluated {
    r.numeric()?;
    let values = r.some_values()?;
    let better = |a: &SampleValue, b: &SampleValue| {
        let ordering = match (a, b) {
            (SampleValue::Unsigned(a), SampleValue::Unsigned(b)) => a.cmp(b),
            (a, b) => a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)),
        };
        if largest { ordering.is_gt() } else { ordering.is_lt() }
    };
    let best = values.iter().reduce(|a, b| if better(&b.value, &a.value) { b } else { a });
    best.map(|v| operand(&v.value)).ok_or(FuncError::NotEnoughData)
}

fn sum(r: &mut Reader<'_, '_>) -> Evaluated {
    r.numeric()?;
    let values = r.some_values()?;
    if r.item.value_type == ValueType::Unsigned {
        let whole = values.iter().try_fold(0u64, |total, v| match v.value {
            SampleValue::Unsigned(v) => total.checked_add(v),
            _ => None,
        });
        if let Some(total) = whole {
            return Ok(ExprValue::Unsigned(total));
        }
    }
    let numbers = values.iter().filter_map(|v| v.value.as_f64());
    Ok(ExprValue::Float(numbers.fold(0.0, |sum, v| sum + v)))
}

fn change(r: &mut Reader<'_, '_>) -> Evaluated {
    let values = r.last_n(2, r.moment.now)?;
    let [new, old] = &values[..] else { return Err(FuncError::NotEnoughData) };
    Ok(match (&new.value, &old.value) {
        (SampleValue::Unsigned(new), SampleValue::Unsigned(old)) => match new.checked_sub(*old) {
            #[expect(clippy::cast_precision_loss, reason = "differences are floats")]
            Some(up) => ExprValue::Float(up as f64),
            #[expect(clippy::cast_precision_loss, reason = "a float is what there is below 0")]
            None => ExprValue::Float(-((old - new) as f64)),
        },
        (new, old) => match (new.as_f64(), old.as_f64()) {
            (Some(new), Some(old)) => ExprValue::Float(new - old),
            _ => ExprValue::truth(new.as_text() != old.as_text()),
        },
    })
}

/// What tells values of an item apart where unique ones are counted: of logs also where they come
/// from.
fn identity(value: &SampleValue) -> (String, String) {
    match value {
        SampleValue::Log(log) => (log.0.to_string(), log.1.source.to_string()),
        other => (operand(other).as_text().unwrap_or_default(), String::new()),
    }
}

fn count(r: &mut Reader<'_, '_>, matcher: &Matcher, unique: bool) -> Evaluated {
    matcher.check(r.item.value_type, r.moment.globals)?;
    let mut seen = HashSet::new();
    let mut found = 0;
    for v in r.values()? {
        if matcher.matches(&operand(&v.value), r.moment.globals)?
            && (!unique || seen.insert(identity(&v.value)))
        {
            found += 1;
        }
    }
    Ok(ExprValue::count(found))
}

fn change_count(r: &mut Reader<'_, '_>, direction: Direction) -> Evaluated {
    // Texts have no direction: every change of them counts.
    let values = r.values()?;
    if values.len() < 2 {
        return Err(FuncError::NotEnoughData);
    }
    let changed = |pair: &&[HistoryValue]| {
        let (new, old) = (&pair[0].value, &pair[1].value);
        match (new.as_f64(), old.as_f64()) {
            (Some(new), Some(old)) => match direction {
                Direction::All => !same_f64(new, old),
                Direction::Up => new > old && !same_f64(new, old),
                Direction::Down => new < old && !same_f64(new, old),
            },
            _ => new.as_text() != old.as_text(),
        }
    };
    Ok(ExprValue::Unsigned(values.windows(2).filter(changed).count() as u64))
}

fn find(r: &mut Reader<'_, '_>, matcher: &Matcher) -> Evaluated {
    matcher.check(r.item.value_type, r.moment.globals)?;
    for v in r.values()? {
        if matcher.matches(&operand(&v.value), r.moment.globals)? {
            return Ok(ExprValue::truth(true));
        }
    }
    Ok(ExprValue::truth(false))
}

fn no_data(r: &mut Reader<'_, '_>, seconds: u32) -> Evaluated {
    let now = r.moment.now;
    let after = Timestamp { clock: now.clock.saturating_sub(seconds), ns: now.ns };
    let newest = r.last_n(1, now)?;
    if newest.first().is_some_and(|v| v.at > after) {
        return Ok(ExprValue::truth(false));
    }
    if r.item.expected_from.saturating_add(seconds) > now.clock {
        return Err(FuncError::TooEarly);
    }
    Ok(ExprValue::truth(true))
}

fn fuzzy_time(r: &mut Reader<'_, '_>, seconds: u32) -> Evaluated {
    r.numeric()?;
    let remote = r.nth()?.value.as_f64().ok_or(FuncError::ValueType)?;
    let distance = (remote - f64::from(r.moment.now.clock)).abs();
    Ok(ExprValue::truth(distance <= f64::from(seconds)))
}

fn log(r: &mut Reader<'_, '_>, kind: &Kind) -> Evaluated {
    if r.item.value_type != ValueType::Log {
        return Err(FuncError::ValueType);
    }
    let newest = r.nth()?;
    let SampleValue::Log(log) = &newest.value else { return Err(FuncError::ValueType) };
    let (text, pattern) = match kind {
        Kind::LogEventId(pattern) => (log.1.eventid.to_string(), pattern),
        Kind::LogSource(pattern) => (log.1.source.to_string(), pattern),
        _ => return Ok(ExprValue::Float(f64::from(log.1.severity))),
    };
    let fits =
        pattern.is_empty() || regex::is_match_or_global(pattern, &text, false, r.moment.globals)?;
    Ok(ExprValue::truth(fits))
}

fn monotonic(r: &mut Reader<'_, '_>, decreasing: bool, strict: bool) -> Evaluated {
    let numbers = r.numbers()?;
    if numbers.is_empty() {
        return Err(FuncError::NotEnoughData);
    }
    // The reference gives floats this much room also where they have to move, so that floats that
    // stay where they are move in its eyes, as long as the room is not lost in their size.
    let room = if r.item.value_type == ValueType::Float { EPSILON } else { 0.0 };
    let moves = numbers.windows(2).all(|pair| {
        let (newer, older) = (pair[0], pair[1]);
        let ordering = if decreasing {
            newer.total_cmp(&(older + room))
        } else {
            (older - room).total_cmp(&newer)
        };
        if strict { ordering.is_lt() } else { ordering.is_le() }
    });
    Ok(ExprValue::Unsigned(u64::from(moves)))
}

/// Per-second rate of a counter: resets are added up, and the ends are extrapolated as
/// Prometheus does, but not below zero.
fn rate(r: &mut Reader<'_, '_>) -> Evaluated {
    r.numeric()?;
    let end = r.end()?;
    let length = r.period.map(|p| p.length).ok_or(FuncError::Param(1))?;
    let values = r.values()?;
    let (Some(last), Some(first)) = (values.first(), values.last()) else {
        return Err(FuncError::NotEnoughData);
    };
    if values.len() < 2 {
        return Err(FuncError::NotEnoughData);
    }
    let number = |v: &HistoryValue| v.value.as_f64().unwrap_or(0.0);
    let mut delta = number(last) - number(first);
    for pair in values.windows(2) {
        if number(&pair[0]) < number(&pair[1]) {
            delta += number(&pair[1]);
        }
    }
    // As floats since 1970, which tell a quarter of a microsecond apart: so does the reference.
    let seconds = |at: Timestamp| f64::from(at.clock) + f64::from(at.ns) / 1e9;
    let between = |a: Timestamp, b: Timestamp| seconds(b) - seconds(a);
    let sampled = between(first.at, last.at);
    // A number of values is as long as they reach, but ends where a period of time would: what is
    // added behind them is taken away before them, unless the newest is long past.
    let range = match length {
        PeriodLength::Seconds(seconds) => f64::from(seconds),
        PeriodLength::Count(_) => sampled,
    };
    let mut before = range - between(first.at, end);
    let after = between(last.at, end);
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let average = sampled / (values.len() - 1) as f64;
    if delta > 0.0 && number(first) >= 0.0 {
        before = before.min(sampled * (number(first) / delta));
    }
    let threshold = average * 1.1;
    let reach = |gap: f64| if gap < threshold { gap } else { average / 2.0 };
    let extended = sampled + reach(before) + reach(after);
    Ok(ExprValue::Float(delta * (extended / sampled) / range))
}

fn bitand(r: &mut Reader<'_, '_>, mask: u64) -> Evaluated {
    match r.nth()?.value {
        SampleValue::Unsigned(value) => Ok(ExprValue::count(value & mask)),
        _ => Err(FuncError::ValueType),
    }
}

/// `(seconds, value)` from the oldest on, and the end of the period on the same scale. The
/// scale starts a nanosecond before the oldest value, so that logarithms are defined.
fn points(r: &mut Reader<'_, '_>) -> Result<(Vec<(f64, f64)>, f64), FuncError> {
    r.numeric()?;
    // Forecasts start with the second, wherever in it they are made.
    let end = Timestamp::from_s(r.moment.now.clock);
    let values = r.values()?;
    let start = values.last().map_or(end, |v| v.at);
    let since = |at: Timestamp| {
        f64::from(at.clock) - f64::from(start.clock)
            + (f64::from(at.ns) - f64::from(start.ns) + 1.0) / 1e9
    };
    let points = values.iter().rev().filter_map(|v| Some((since(v.at), v.value.as_f64()?)));
    Ok((points.collect(), since(end)))
}
