//! Functions over trends.

use model::{Trend, TrendValues};

use super::{FuncError, HistoryView, Item, Kind, Moment, Params, TrendPeriod, stl};
use crate::calendar::Unit;
use crate::expr::{ExprValue, HistoryParam};
use crate::stats;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrendKind {
    Avg,
    Count,
    Max,
    Min,
    Sum,
}

/// Seasons of a baseline at most.
const SEASONS_MAX: f64 = 1000.0;

/// A trend function of this name; `None` = it is none.
pub(super) fn parse(name: &str, params: &[HistoryParam]) -> Result<Option<Kind>, FuncError> {
    let p = Params(params);
    let period = || TrendPeriod::parse(p.required(0)?).ok_or(FuncError::Param(1));
    let kind = match name {
        "trendavg" => TrendKind::Avg,
        "trendcount" => TrendKind::Count,
        "trendmax" => TrendKind::Max,
        "trendmin" => TrendKind::Min,
        "trendsum" => TrendKind::Sum,
        "baselinedev" | "baselinewma" => {
            p.at_most(3)?;
            let season = match p.required(1)?.as_bytes() {
                [letter] => Unit::from_letter(*letter).filter(|u| *u >= Unit::Hour),
                _ => None,
            };
            let seasons = p.number(2)?;
            if seasons.fract() != 0.0 || !(1.0..=SEASONS_MAX).contains(&seasons) {
                return Err(FuncError::Param(3));
            }
            let period = period()?;
            let season = season.filter(|season| *season >= period.base_unit());
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            let seasons = seasons as u32;
            return Ok(Some(Kind::Baseline {
                deviations: name == "baselinedev",
                period,
                season: season.ok_or(FuncError::Param(2))?,
                seasons,
            }));
        }
        "trendstl" => {
            p.at_most(6)?;
            return Ok(Some(Kind::Stl(period()?, stl::Params::parse(params)?)));
        }
        _ => return Ok(None),
    };
    p.at_most(1)?;
    Ok(Some(Kind::Trend(kind, period()?)))
}

fn read(
    period: &TrendPeriod,
    item: &Item,
    view: &mut dyn HistoryView,
    moment: &Moment<'_>,
    season: (Unit, u32),
) -> Result<Vec<Trend>, FuncError> {
    if !item.value_type.is_numeric() {
        return Err(FuncError::ValueType);
    }
    let (first, last) =
        period.range(moment.now.clock, moment.tz, season.0, season.1).ok_or(FuncError::Param(1))?;
    view.trends(item.id, first, last).map_err(FuncError::History)
}

#[expect(clippy::cast_precision_loss, reason = "statistics")]
fn figures(trend: &Trend) -> (f64, f64, f64) {
    match trend.values {
        TrendValues::Float { min, avg, max } => (min, avg, max),
        TrendValues::Unsigned { min, avg, max } => (min as f64, avg as f64, max as f64),
    }
}

fn mean(trends: &[Trend]) -> Option<f64> {
    let total: f64 = trends.iter().map(|t| f64::from(t.num)).sum();
    // Weights first: the sum of values times counts may overflow.
    (total > 0.0).then(|| trends.iter().map(|t| figures(t).1 * (f64::from(t.num) / total)).sum())
}

pub(super) fn eval(
    kind: TrendKind,
    period: &TrendPeriod,
    item: &Item,
    view: &mut dyn HistoryView,
    moment: &Moment<'_>,
) -> Result<ExprValue, FuncError> {
    let trends = read(period, item, view, moment, (Unit::Hour, 0))?;
    if kind == TrendKind::Count {
        let count = trends.iter().map(|t| u64::from(t.num)).sum();
        return Ok(ExprValue::count(count));
    }
    if trends.is_empty() && kind != TrendKind::Sum {
        return Err(FuncError::NotEnoughData);
    }
    let all = || trends.iter().map(figures);
    let value = match kind {
        TrendKind::Min => all().map(|f| f.0).fold(f64::INFINITY, f64::min),
        TrendKind::Max => all().map(|f| f.2).fold(f64::NEG_INFINITY, f64::max),
        TrendKind::Sum => {
            let sums = trends.iter().map(|t| figures(t).1 * f64::from(t.num));
            sums.fold(0.0, |total, sum| total + sum)
        }
        _ => mean(&trends).ok_or(FuncError::NotEnoughData)?,
    };
    Ok(ExprValue::Float(value))
}

/// Mean of the period in each season, newest first; seasons without data are left out.
fn season_means(
    period: &TrendPeriod,
    (season, seasons): (Unit, u32),
    skip: u32,
    item: &Item,
    view: &mut dyn HistoryView,
    moment: &Moment<'_>,
) -> Result<Vec<(u32, f64)>, FuncError> {
    let mut means = Vec::new();
    for back in skip..=seasons {
        let trends = read(period, item, view, moment, (season, back))?;
        if let Some(mean) = mean(&trends) {
            means.push((back, mean));
        }
    }
    Ok(means)
}

pub(super) fn baseline(
    deviations: bool,
    period: &TrendPeriod,
    season: (Unit, u32),
    item: &Item,
    view: &mut dyn HistoryView,
    moment: &Moment<'_>,
) -> Result<ExprValue, FuncError> {
    let skip = u32::from(!deviations);
    let means = season_means(period, season, skip, item, view, moment)?;
    if deviations {
        let Some(&(0, current)) = means.first() else { return Err(FuncError::NotEnoughData) };
        let values: Vec<f64> = means.iter().map(|m| m.1).collect();
        if values.len() < 2 {
            return Err(FuncError::NotEnoughData);
        }
        let mean = stats::avg(&values).ok_or(FuncError::NotFinite)?;
        let deviation = stats::stddevpop(&values).ok_or(FuncError::NotFinite)?;
        let result = if deviation == 0.0 { 0.0 } else { (current - mean).abs() / deviation };
        return Ok(ExprValue::Float(result));
    }
    if means.is_empty() {
        return Err(FuncError::NotEnoughData);
    }
    // The nearest season weighs most.
    let (mut total, mut weights) = (0.0, 0.0);
    for (back, value) in means {
        let weight = f64::from(season.1 + 1 - back);
        total += value * weight;
        weights += weight;
    }
    Ok(ExprValue::Float(total / weights))
}

/// Share of anomalies in the detection period.
pub(super) fn stl(
    period: &TrendPeriod,
    params: &stl::Params,
    item: &Item,
    view: &mut dyn HistoryView,
    moment: &Moment<'_>,
) -> Result<ExprValue, FuncError> {
    let (first, last) =
        period.range(moment.now.clock, moment.tz, Unit::Hour, 0).ok_or(FuncError::Param(1))?;
    let trends = read(period, item, view, moment, (Unit::Hour, 0))?;
    let hours = ((last - first) / 3600 + 1) as usize;
    let mut series = vec![f64::NAN; hours];
    for trend in &trends {
        let index = trend.hour.checked_sub(first).map(|s| (s / 3600) as usize);
        if let Some(slot) = index.and_then(|i| series.get_mut(i)) {
            *slot = figures(trend).1;
        }
    }
    stl::anomaly_share(&series, params).map(ExprValue::Float)
}
