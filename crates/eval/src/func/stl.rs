//! `trendstl`: seasonal-trend decomposition by LOESS and the share of anomalies.

use super::FuncError;
use crate::expr::HistoryParam;
use crate::num::parse_f64;
use crate::stats;

/// Parameters behind the evaluation period.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Params {
    /// Hours at the end in which anomalies are counted.
    detection: usize,
    /// Hours of a season.
    season: usize,
    /// Deviations beyond which a value is an anomaly.
    deviations: f64,
    /// How deviation is measured.
    measure: &'static str,
    /// LOESS window of the season, odd, in cycles; `None` = the mean over all cycles.
    window: Option<usize>,
}

impl Params {
    pub(super) fn parse(params: &[HistoryParam]) -> Result<Self, FuncError> {
        let p = super::Params(params);
        let hours = |index: usize| {
            let seconds = p.seconds(index)?;
            match (seconds / 3600, seconds % 3600) {
                (1.., 0) => Ok((seconds / 3600) as usize),
                _ => Err(FuncError::Param(index + 1)),
            }
        };
        let deviations = match p.text(3) {
            Some(text) => parse_f64(text).filter(|d| *d >= 1.0).ok_or(FuncError::Param(4))?,
            None => 3.0,
        };
        let measure = match p.text(4).unwrap_or("mad") {
            "mad" => "mad",
            "stddevpop" => "stddevpop",
            "stddevsamp" => "stddevsamp",
            _ => return Err(FuncError::Param(5)),
        };
        let window = match p.text(5) {
            Some(text) => {
                let window: usize = text.parse().map_err(|_| FuncError::Param(6))?;
                Some((window >= 7).then_some(window | 1).ok_or(FuncError::Param(6))?)
            }
            None => None,
        };
        let (detection, season) = (hours(1)?, hours(2)?);
        if season < 2 {
            return Err(FuncError::Param(3));
        }
        Ok(Self { detection, season, deviations, measure, window })
    }
}

/// Share (0 to 1) of the detection hours whose remainder deviates too much. Hours without data
/// are `NaN` and filled with the mean.
pub(super) fn anomaly_share(series: &[f64], params: &Params) -> Result<f64, FuncError> {
    let known: Vec<f64> = series.iter().copied().filter(|v| !v.is_nan()).collect();
    if known.is_empty() || series.len() <= 2 * params.season || params.detection > series.len() {
        return Err(FuncError::NotEnoughData);
    }
    let mean = stats::avg(&known).ok_or(FuncError::NotFinite)?;
    let filled: Vec<f64> = series.iter().map(|v| if v.is_nan() { mean } else { *v }).collect();
    let remainder = remainder(&filled, params)?;
    let measure = stats::by_name(params.measure).expect("BUG: only known measures are compiled");
    let deviation = measure(&remainder).ok_or(FuncError::NotFinite)?;
    let limit = deviation * params.deviations;
    let from = remainder.len() - params.detection;
    let anomalies = remainder[from..].iter().filter(|r| r.abs() > limit).count();
    #[expect(clippy::cast_precision_loss, reason = "counts of hours")]
    Ok(anomalies as f64 / params.detection as f64)
}

/// What is left when season and trend are taken away.
fn remainder(series: &[f64], params: &Params) -> Result<Vec<f64>, FuncError> {
    const INNER_LOOPS: usize = 2;
    let (n, season) = (series.len(), params.season);
    let seasonal_window = params.window.unwrap_or(10 * n + 1);
    #[expect(clippy::cast_precision_loss, reason = "counts of hours")]
    let wanted = 1.5 * season as f64 / (1.0 - 1.5 / seasonal_window as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    let trend_window = (wanted.ceil() as usize) | 1;
    let low_window = season | 1;
    let mut trend = vec![0.0; n];
    let mut seasonal = vec![0.0; n];
    for _ in 0..INNER_LOOPS {
        let detrended: Vec<f64> = series.iter().zip(&trend).map(|(y, t)| y - t).collect();
        let cycle = smooth_cycles(&detrended, season, seasonal_window);
        let twice = moving_average(&moving_average(&cycle, season), season);
        let low = loess(&moving_average(&twice, 3), low_window, &twice);
        for i in 0..n {
            seasonal[i] = cycle[i + season] - low[i];
        }
        let rest: Vec<f64> = series.iter().zip(&seasonal).map(|(y, s)| y - s).collect();
        trend = loess(&rest, trend_window, &trend);
    }
    let left: Vec<f64> = (0..n).map(|i| series[i] - seasonal[i] - trend[i]).collect();
    if left.iter().all(|v| v.is_finite()) { Ok(left) } else { Err(FuncError::NotFinite) }
}

/// Smooths each position of the season over the cycles by local means and adds one cycle at both
/// ends.
fn smooth_cycles(series: &[f64], season: usize, window: usize) -> Vec<f64> {
    let mut out = vec![0.0; series.len() + 2 * season];
    for position in 0..season {
        let line: Vec<f64> = series.iter().copied().skip(position).step_by(season).collect();
        let count = line.len();
        for index in 0..count + 2 {
            #[expect(clippy::cast_precision_loss, reason = "counts of cycles")]
            let value = local_fit(&line, window, index as f64 - 1.0, false);
            if let Some(slot) = out.get_mut(index * season + position) {
                *slot = value;
            }
        }
    }
    out
}

fn moving_average(series: &[f64], window: usize) -> Vec<f64> {
    series.windows(window).map(|w| stats::avg(w).unwrap_or(f64::NAN)).collect()
}

/// Smooths a series. `before` is what the place of the result held: the reference leaves the last
/// but one value as it was there where the last piece is shorter than the others.
#[expect(clippy::cast_precision_loss, reason = "counts of hours")]
fn loess(series: &[f64], window: usize, before: &[f64]) -> Vec<f64> {
    let last = series.len().saturating_sub(1);
    // Fitted at every tenth part of the window and at the end, straight lines between.
    let step = window.div_ceil(10);
    let mut out = vec![0.0; series.len()];
    let mut from = 0;
    let mut at_from = local_fit(series, window, 0.0, true);
    while let Some(slot) = out.get_mut(from) {
        *slot = at_from;
        if from == last {
            break;
        }
        let to = (from + step).min(last);
        let at_to = local_fit(series, window, to as f64, true);
        let slope = (at_to - at_from) / (to - from) as f64;
        for (offset, slot) in out[from..to].iter_mut().enumerate() {
            *slot = slope.mul_add(offset as f64, at_from);
        }
        let between = to - from;
        (from, at_from) = (to, at_to);
        if (2..step).contains(&between)
            && let (Some(slot), Some(left)) = (out.get_mut(to - 1), before.get(to - 1))
        {
            *slot = *left;
        }
    }
    out
}

/// Locally weighted fit at `at` over the `window` nearest points (tricube weights): linear, or a
/// mean.
#[expect(clippy::cast_precision_loss, reason = "counts of hours")]
fn local_fit(series: &[f64], window: usize, at: f64, linear: bool) -> f64 {
    let n = series.len();
    let width = window.min(n);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let from = (at - (width as f64 - 1.0) / 2.0).round().clamp(0.0, (n - width) as f64) as usize;
    let mut reach = (at - from as f64).abs().max(((from + width - 1) as f64 - at).abs());
    if window > n {
        reach += ((window - n) / 2) as f64;
    }
    let (mut w_sum, mut x_sum, mut y_sum) = (0.0, 0.0, 0.0);
    let mut weights = Vec::with_capacity(width);
    for (offset, y) in series[from..from + width].iter().enumerate() {
        let x = (from + offset) as f64;
        let distance = (x - at).abs();
        let weight = if distance <= 0.001 * reach {
            1.0
        } else if distance <= 0.999 * reach {
            (1.0 - (distance / reach).powi(3)).powi(3)
        } else {
            0.0
        };
        weights.push((x, *y, weight));
        w_sum += weight;
        x_sum += weight * x;
        y_sum += weight * y;
    }
    if w_sum <= 0.0 {
        return f64::NAN;
    }
    let (x_mean, y_mean) = (x_sum / w_sum, y_sum / w_sum);
    if !linear {
        return y_mean;
    }
    let (mut xx, mut xy) = (0.0, 0.0);
    for (x, y, weight) in weights {
        xx += weight * (x - x_mean).powi(2);
        xy += weight * (x - x_mean) * (y - y_mean);
    }
    let range = n as f64 - 1.0;
    if (xx / w_sum).sqrt() > 0.001 * range { y_mean + xy / xx * (at - x_mean) } else { y_mean }
}
