//! Functions over an item's history and trends.
//!
//! [`Function::parse`] turns a name and parameters (all macros resolved) into a compiled form
//! once; [`Function::eval`] reads through a [`HistoryView`].

pub mod catalog;
mod forecast;
mod history;
mod matcher;
mod params;
mod period;
mod stl;
#[cfg(test)]
mod tests;
mod trend;
mod trend_time;

use jiff::tz::TimeZone;
use model::{ItemId, SampleValue, Timestamp, Trend, ValueType};

pub use forecast::{Fit, ForecastMode};
pub use matcher::Matcher;
pub(crate) use matcher::searched;
use params::Params;
pub use period::{Period, PeriodLength, TrendPeriod};

use crate::calendar::Unit;
use crate::expr::{ExprValue, HistoryParam};
use crate::regex::{GlobalRegexes, RegexError};

/// One value of an item's history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryValue {
    /// When it was measured.
    pub at: Timestamp,
    /// The value in the item's type.
    pub value: SampleValue,
}

/// Where history is read; implemented over value cache and store. All lists come newest
/// first. An `Err` says why history cannot be read.
pub trait HistoryView {
    /// Up to `count` newest values not later than `till`.
    fn last_n(
        &mut self,
        item: ItemId,
        count: usize,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String>;
    /// Values later than `after` and not later than `till`.
    fn range(
        &mut self,
        item: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String>;
    /// Trends whose hour starts at `first_hour` to `last_hour`, both included.
    fn trends(
        &mut self,
        item: ItemId,
        first_hour: u32,
        last_hour: u32,
    ) -> Result<Vec<Trend>, String>;
}

/// What a function needs to know of its item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// The item.
    pub id: ItemId,
    /// Type of its values.
    pub value_type: ValueType,
    /// From when on values can be expected, unix time: the item's creation or the server's
    /// start; `nodata` waits from there.
    pub expected_from: u32,
    /// The item is enabled (`exists_foreach`).
    pub enabled: bool,
}

/// The moment of an evaluation.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The moment.
    pub now: Timestamp,
    /// Time zone of time shifts.
    pub tz: &'a TimeZone,
    /// Global regular expressions, for `@name`.
    pub globals: &'a GlobalRegexes,
}

/// Why a function has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FuncError {
    /// No such function.
    #[error("unknown function \"{0}\"")]
    Unknown(String),
    /// A parameter is missing or wrong; the number counts from 1 behind the item.
    #[error("invalid parameter #{0}")]
    Param(usize),
    /// Too many parameters.
    #[error("invalid number of parameters")]
    ParamCount,
    /// The function does not go with the item's type of values.
    #[error("function does not support items of this type of information")]
    ValueType,
    /// There are not enough values in the period.
    #[error("exponential and power curves never reach the threshold")]
    AlwaysPositive,
    /// Fewer values than the function needs.
    #[error("not enough data")]
    NotEnoughData,
    /// The result is out of range.
    #[error("calculation resulted in NaN or Infinity")]
    NotFinite,
    /// `nodata`: too early to tell.
    #[error("item does not have enough data after server start or item creation")]
    TooEarly,
    /// A regular expression is wrong.
    #[error("{0}")]
    Regex(#[from] RegexError),
    /// History could not be read.
    #[error("cannot get values from history: {0}")]
    History(String),
}

/// When a trigger has to be evaluated beside the arrival of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// Never.
    None,
    /// Whenever a unit of this length ends: trend functions.
    Trend(Unit),
    /// Every 30 seconds: functions that change with time alone.
    HalfMinute,
}

/// How far back a function reads: what a value cache has to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lookback {
    /// Newest values needed.
    pub values: usize,
    /// Seconds needed before the moment of evaluation, time shift included as far as it is
    /// known beforehand.
    pub seconds: u32,
    /// A time shift moves the window into the past.
    pub shifted: bool,
}

/// A compiled function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    kind: Kind,
    period: Option<Period>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Last,
    LastClock,
    Change,
    ItemCount,
    First,
    Avg,
    Min,
    Max,
    Sum,
    Stat(&'static str),
    Percentile(f64),
    Count(Matcher),
    CountUnique(Matcher),
    ChangeCount(Direction),
    Find(Matcher),
    NoData { seconds: u32 },
    FuzzyTime { seconds: u32 },
    LogEventId(String),
    LogSource(String),
    LogSeverity,
    Mono { decreasing: bool, strict: bool },
    Rate,
    Bitand(u64),
    Forecast { ahead_s: f64, fit: Fit, mode: ForecastMode },
    TimeLeft { threshold: f64, fit: Fit },
    Trend(trend::TrendKind, TrendPeriod),
    Baseline { deviations: bool, period: TrendPeriod, season: Unit, seasons: u32 },
    Stl(TrendPeriod, stl::Params),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    All,
    Up,
    Down,
}

/// Gives an item's bucket bound (a number or `Inf`), if it has one.
pub type BucketBound<'a> = dyn Fn(&Item) -> Option<String> + 'a;

/// Name of the function to [`Function::parse`] for a `*_foreach` one, and for `item_count`:
/// both look at all items that a query finds.
pub fn foreach_base(name: &str) -> Option<&'static str> {
    Some(match name {
        "avg_foreach" => "avg",
        "bucket_percentile" | "bucket_rate_foreach" => "rate",
        "count_foreach" => "count",
        "last_foreach" => "last",
        "max_foreach" => "max",
        "min_foreach" => "min",
        "sum_foreach" => "sum",
        "exists_foreach" => "exists",
        "item_count" => "item_count",
        _ => return None,
    })
}

/// Whether these are parameters of a function over all items of a query: periods of such end now
/// and have a length in time. Only `last_foreach` and `item_count` do without one.
pub fn check_foreach(name: &str, params: &[HistoryParam]) -> Result<(), FuncError> {
    let period = params.first().map(|p| p.value.as_str()).filter(|text| !text.is_empty());
    match period.map(Period::parse) {
        Some(Some(Period { length: PeriodLength::Seconds(_), shift: None })) => Ok(()),
        None if matches!(name, "last_foreach" | "item_count") => Ok(()),
        _ => Err(FuncError::Param(1)),
    }
}

/// Compiles a call for each of the items that it names; see [`foreach_base`]. What stands behind
/// the period of bucket functions is not for single items.
pub fn parse_call(name: &str, params: &[HistoryParam]) -> Result<Function, FuncError> {
    match foreach_base(name) {
        Some(base @ "rate") => Function::parse(base, params.get(..1).unwrap_or(params)),
        base => Function::parse(base.unwrap_or(name), params),
    }
}

/// Whether a text is a period of a trend function, though maybe one that is too long or ends at no
/// border.
pub fn is_trend_period(name: &str, text: &str) -> bool {
    is_trend_function(name) && TrendPeriod::read(text).is_some()
}

/// The functions over an item's trends.
pub fn is_trend_function(name: &str) -> bool {
    name.starts_with("trend") || name.starts_with("baseline")
}

/// The functions over expressions that change with time alone.
pub fn is_date_function(name: &str) -> bool {
    matches!(name, "date" | "dayofmonth" | "dayofweek" | "now" | "time")
}

/// Parameters as stored: with or without the `$` that stands for the item.
fn stored_params(parameter: &str) -> Result<Vec<HistoryParam>, FuncError> {
    let text = match parameter.strip_prefix('$') {
        Some(rest) => rest.strip_prefix(',').unwrap_or(rest),
        None => parameter,
    };
    if text.is_empty() {
        return Ok(Vec::new());
    }
    crate::expr::parse_history_params(text).map_err(|_| FuncError::Param(1))
}

impl Function {
    /// Compiles a trigger's call; `parameter` as it is stored.
    pub fn parse_stored(name: &str, parameter: &str) -> Result<Self, FuncError> {
        Self::parse(name, &stored_params(parameter)?)
    }

    /// Compiles a call; macros in the parameters are already resolved. For `*_foreach` give
    /// the name from [`foreach_base`].
    pub fn parse(name: &str, params: &[HistoryParam]) -> Result<Self, FuncError> {
        let p = Params(params);
        let (kind, period, most) = if let Some(kind) = trend::parse(name, params)? {
            (kind, None, usize::MAX)
        } else if let Some(stat) = STATS.iter().find(|s| **s == name) {
            (Kind::Stat(stat), p.required_period(0)?, 1)
        } else {
            Self::parse_history(name, &p)?
        };
        p.at_most(most)?;
        Ok(Self { kind, period })
    }

    fn parse_history(
        name: &str,
        p: &Params<'_>,
    ) -> Result<(Kind, Option<Period>, usize), FuncError> {
        let period = |kind, most| Ok((kind, p.required_period(0)?, most));
        match name {
            "last" => Ok((Kind::Last, p.period(0)?, 1)),
            "lastclock" => Ok((Kind::LastClock, p.period(0)?, 1)),
            "change" => Ok((Kind::Change, None, 0)),
            "item_count" => Ok((Kind::ItemCount, None, 0)),
            "first" => match p.required_period(0)? {
                Some(Period {
                    length: PeriodLength::Count(_) | PeriodLength::Seconds(0), ..
                }) => Err(FuncError::Param(1)),
                period => Ok((Kind::First, period, 1)),
            },
            "avg" => period(Kind::Avg, 1),
            "min" => period(Kind::Min, 1),
            "max" => period(Kind::Max, 1),
            "sum" => period(Kind::Sum, 1),
            "percentile" => {
                let percent = p.number(1)?;
                if !(0.0..=100.0).contains(&percent) {
                    return Err(FuncError::Param(2));
                }
                period(Kind::Percentile(percent), 2)
            }
            // Without a period they look at the newest value.
            "count" => Ok((Kind::Count(p.matcher(1)?), p.period(0)?, 3)),
            "countunique" => Ok((Kind::CountUnique(p.matcher(1)?), p.period(0)?, 3)),
            "changecount" => {
                let direction = match p.text(1).unwrap_or("all") {
                    "all" => Direction::All,
                    "inc" => Direction::Up,
                    "dec" => Direction::Down,
                    _ => return Err(FuncError::Param(2)),
                };
                period(Kind::ChangeCount(direction), 2)
            }
            "find" => Ok((Kind::Find(p.matcher(1)?), p.period(0)?, 3)),
            "nodata" => match p.text(1) {
                None | Some("strict") => Ok((Kind::NoData { seconds: p.seconds(0)? }, None, 2)),
                Some(_) => Err(FuncError::Param(2)),
            },
            "fuzzytime" => Ok((Kind::FuzzyTime { seconds: p.seconds(0)? }, None, 1)),
            "logeventid" | "logsource" => {
                let pattern = p.text(1).unwrap_or_default().to_owned();
                let kind = if name == "logsource" { Kind::LogSource } else { Kind::LogEventId };
                Ok((kind(pattern), p.period(0)?, 2))
            }
            "logseverity" => Ok((Kind::LogSeverity, p.period(0)?, 1)),
            "monoinc" | "monodec" => {
                let strict = match p.text(1).unwrap_or("weak") {
                    "weak" => false,
                    "strict" => true,
                    _ => return Err(FuncError::Param(2)),
                };
                period(Kind::Mono { decreasing: name == "monodec", strict }, 2)
            }
            "rate" => period(Kind::Rate, 1),
            "forecast" => {
                let (fit, mode) = (p.text(2).unwrap_or("linear"), p.text(3).unwrap_or("value"));
                let fit = Fit::parse(fit).ok_or(FuncError::Param(3))?;
                let mode = ForecastMode::parse(mode).ok_or(FuncError::Param(4))?;
                period(Kind::Forecast { ahead_s: p.number(1)?, fit, mode }, 4)
            }
            "timeleft" => {
                let fit = Fit::parse(p.text(2).unwrap_or("linear")).ok_or(FuncError::Param(3))?;
                period(Kind::TimeLeft { threshold: p.number(1)?, fit }, 3)
            }
            "bitand" => {
                let mask = p.whole(1)?;
                Ok((Kind::Bitand(mask), p.period(0)?, 2))
            }
            _ => Err(FuncError::Unknown(name.to_owned())),
        }
    }

    /// Whether triggers with this function need a timer.
    pub fn timer(&self) -> Timer {
        match &self.kind {
            Kind::NoData { .. } => Timer::HalfMinute,
            Kind::Trend(_, period) | Kind::Stl(period, _) => Timer::Trend(period.base_unit()),
            Kind::Baseline { period, .. } => Timer::Trend(period.base_unit()),
            _ => Timer::None,
        }
    }

    /// How far back it reads raw values; trend functions read none.
    pub fn lookback(&self) -> Lookback {
        let mut need = match &self.period {
            Some(period) => period.lookback(),
            None => Lookback { values: 1, ..Lookback::default() },
        };
        match &self.kind {
            Kind::Change => need.values = 2,
            Kind::NoData { seconds } => need = Lookback { seconds: *seconds, ..need },
            Kind::ItemCount | Kind::Trend(..) | Kind::Baseline { .. } | Kind::Stl(..) => {
                need = Lookback::default();
            }
            _ => {}
        }
        need
    }

    /// Evaluates the function for one item.
    pub fn eval(
        &self,
        item: &Item,
        view: &mut dyn HistoryView,
        moment: &Moment<'_>,
    ) -> Result<ExprValue, FuncError> {
        match self.eval_known(item, view, moment) {
            // Nothing sums up to 0; in lists it leaves no trace.
            Err(FuncError::NotEnoughData) if self.kind == Kind::Sum => Ok(match item.value_type {
                ValueType::Unsigned => ExprValue::Unsigned(0),
                _ => ExprValue::Float(0.0),
            }),
            other => other,
        }
    }

    /// Like [`Self::eval`], but nothing has no sum.
    fn eval_known(
        &self,
        item: &Item,
        view: &mut dyn HistoryView,
        moment: &Moment<'_>,
    ) -> Result<ExprValue, FuncError> {
        let value = match &self.kind {
            Kind::Trend(kind, period) => trend::eval(*kind, period, item, view, moment),
            Kind::Baseline { deviations, period, season, seasons } => {
                trend::baseline(*deviations, period, (*season, *seasons), item, view, moment)
            }
            Kind::Stl(period, params) => trend::stl(period, params, item, view, moment),
            kind => history::eval(kind, self.period.as_ref(), item, view, moment),
        }?;
        match value {
            ExprValue::Float(v) if !v.is_finite() => Err(FuncError::NotFinite),
            value => Ok(value),
        }
    }

    fn is_statistic(&self) -> bool {
        matches!(self.kind, Kind::Avg | Kind::Min | Kind::Max | Kind::Sum)
    }

    /// Evaluates a `*_foreach` function: one element per item that has data. `bucket` gives
    /// an item's bucket bound for `bucket_rate_foreach`; its elements are pairs of bound and
    /// rate.
    pub fn eval_foreach(
        &self,
        items: &[Item],
        bucket: Option<&BucketBound<'_>>,
        view: &mut dyn HistoryView,
        moment: &Moment<'_>,
    ) -> Result<ExprValue, FuncError> {
        if self.kind == Kind::ItemCount {
            return Ok(ExprValue::Unsigned(items.len() as u64));
        }
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            let value = if self.kind == Kind::Last {
                history::recent(self.period.as_ref(), item, view, moment)
            } else {
                // What is computed is a float, of whole numbers too.
                let float = |v: ExprValue| v.as_f64().map_or(v, ExprValue::Float);
                self.eval_known(item, view, moment).map(float)
            };
            let value = match value {
                Ok(value) => value,
                Err(FuncError::ValueType) if self.is_statistic() => {
                    // Texts count as 0 where they are there at all.
                    if history::is_empty(self.period.as_ref(), item, view, moment)? {
                        continue;
                    }
                    ExprValue::Float(0.0)
                }
                Err(FuncError::NotEnoughData | FuncError::ValueType) => continue,
                Err(error) => return Err(error),
            };
            if let Some(bucket) = bucket {
                let Some(bound) = bucket(item) else { continue };
                out.push(ExprValue::Text(bound));
            }
            out.push(value);
        }
        Ok(ExprValue::Vector(out))
    }
}

/// `exists_foreach`: 1 per enabled item.
pub fn exists_foreach(items: &[Item]) -> ExprValue {
    let enabled = items.iter().filter(|i| i.enabled);
    ExprValue::Vector(enabled.map(|_| ExprValue::Unsigned(1)).collect())
}

const STATS: [&str; 8] =
    ["kurtosis", "mad", "skewness", "stddevpop", "stddevsamp", "sumofsquares", "varpop", "varsamp"];

/// A sample as an operand.
pub fn operand(value: &SampleValue) -> ExprValue {
    match value {
        SampleValue::Float(v) => ExprValue::Float(*v),
        SampleValue::Unsigned(v) => ExprValue::Unsigned(*v),
        SampleValue::Text(text) => ExprValue::Text(text.to_string()),
        SampleValue::Log(log) => ExprValue::Text(log.0.to_string()),
    }
}
