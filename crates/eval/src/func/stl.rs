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
    /// LOESS window of the season, in cycles; `None` = the mean over all cycles.
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
                Some((window >= 7).then_some(window).ok_or(FuncError::Param(6))?)
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
/// are `NaN`: they take the value before, those at the start the first one.
pub(super) fn anomaly_share(series: &[f64], params: &Params) -> Result<f64, FuncError> {
    let first = series.iter().copied().find(|v| !v.is_nan()).ok_or(FuncError::NotEnoughData)?;
    if series.len() <= 2 * params.season || params.detection > series.len() {
        return Err(FuncError::NotEnoughData);
    }
    let mut last = first;
    let filled: Vec<f64> = (series.iter())
        .map(|v| {
            last = if v.is_nan() { last } else { *v };
            last
        })
        .collect();
    let remainder = remainder(&filled, params)?;
    let measure = stats::by_name(params.measure).expect("BUG: only known measures are compiled");
    let deviation = measure(&remainder).ok_or(FuncError::NotFinite)?;
    let limit = deviation * params.deviations;
    let from = remainder.len() - params.detection;
    let anomalies = remainder[from..].iter().filter(|r| r.abs() > limit).count();
    #[expect(clippy::cast_precision_loss, reason = "counts of hours")]
    Ok(anomalies as f64 / params.detection as f64)
}

/// A smoother: local fits over a window, at every `jump`-th point, straight lines between.
#[derive(Debug, Clone, Copy)]
struct Loess {
    /// Points that a fit looks at.
    window: usize,
    /// Points from one fit to the next.
    jump: usize,
    /// Local lines instead of local means.
    linear: bool,
}

/// What is left when season and trend are taken away, by STL: R. B. Cleveland, W. S. Cleveland,
/// J. E. McRae, I. Terpenning, "STL: A Seasonal-Trend Decomposition Procedure Based on Loess",
/// Journal of Official Statistics 6 (1990), without its robust outer loop.
///
/// Operations are in the order of the reference, and every bit of the result agrees with it: where
/// all values are equal, only rounding errors are left to be judged.
fn remainder(series: &[f64], params: &Params) -> Result<Vec<f64>, FuncError> {
    const INNER_LOOPS: usize = 2;
    let (n, season) = (series.len(), params.season);
    let seasonal_window = params.window.unwrap_or(10 * n + 1);
    let wanted = 1.5 * float(season) / (1.0 - 1.5 / float(seasonal_window));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    let trend_window = wanted.ceil() as usize | 1;
    let cycles = Loess::new(seasonal_window, false);
    let low = Loess::new(season | 1, true);
    let slow = Loess::new(trend_window, true);
    let mut trend = vec![0.0; n];
    let mut seasonal = vec![0.0; n];
    let mut scratch = vec![0.0; n / season + 3];
    for _ in 0..INNER_LOOPS {
        let detrended: Vec<f64> = series.iter().zip(&trend).map(|(y, t)| y - t).collect();
        let cycle = smooth_cycles(&detrended, season, cycles, &mut scratch);
        let twice = moving_average(&moving_average(&cycle, season), season);
        let passed = moving_average(&twice, 3);
        let mut level = twice;
        low.smooth(&passed, &mut level);
        for i in 0..n {
            seasonal[i] = cycle[i + season] - level[i];
        }
        let rest: Vec<f64> = series.iter().zip(&seasonal).map(|(y, s)| y - s).collect();
        slow.smooth(&rest, &mut trend);
    }
    let left: Vec<f64> = (0..n).map(|i| series[i] - trend[i] - seasonal[i]).collect();
    if left.iter().all(|v| v.is_finite()) { Ok(left) } else { Err(FuncError::NotFinite) }
}

#[expect(clippy::cast_precision_loss, reason = "counts of hours")]
fn float(n: usize) -> f64 {
    n as f64
}

/// Smooths each position of the season over the cycles, and adds one cycle at both ends.
/// `scratch` holds one position, and what the one before left in it.
fn smooth_cycles(series: &[f64], season: usize, loess: Loess, scratch: &mut [f64]) -> Vec<f64> {
    let mut out = vec![0.0; series.len() + 2 * season];
    for position in 0..season {
        let line: Vec<f64> = series.iter().copied().skip(position).step_by(season).collect();
        let count = line.len();
        loess.smooth(&line, &mut scratch[1..=count]);
        let near = loess.window.min(count);
        scratch[0] = loess.fit(&line, 0.0, (1, near)).unwrap_or(scratch[1]);
        let end = float(count + 1);
        let behind = loess.fit(&line, end, (count - near + 1, count));
        scratch[count + 1] = behind.unwrap_or(scratch[count]);
        for (index, value) in scratch[..count + 2].iter().enumerate() {
            out[index * season + position] = *value;
        }
    }
    out
}

/// The reference's cube. `powf` rounds once, `powi` twice: seen where all values are equal.
fn cube(x: f64) -> f64 {
    x.powf(3.0)
}

fn moving_average(series: &[f64], window: usize) -> Vec<f64> {
    let mut sum: f64 = series[..window].iter().sum();
    let mut out = vec![sum / float(window)];
    for (oldest, newest) in series.iter().zip(&series[window..]) {
        sum = sum - oldest + newest;
        out.push(sum / float(window));
    }
    out
}

impl Loess {
    /// The window is the next odd number; the jump is that of the number itself.
    fn new(window: usize, linear: bool) -> Self {
        Self { window: window | 1, jump: window.div_ceil(10), linear }
    }

    /// Smooths `series` into `out`. As in the reference, of a last piece that is shorter only the
    /// first point is set, to what the one before the end should get; at the others `out` keeps
    /// what it held.
    fn smooth(self, series: &[f64], out: &mut [f64]) {
        let n = series.len();
        if n < 2 {
            out[..n].copy_from_slice(series);
            return;
        }
        let jump = self.jump.min(n - 1);
        let mut near = (1, self.window.min(n));
        for point in (1..=n).step_by(jump) {
            near = self.near(point, n, jump, near);
            let fitted = self.fit(series, float(point), near);
            out[point - 1] = fitted.unwrap_or(series[point - 1]);
        }
        for from in (0..n - jump).step_by(jump) {
            let slope = (out[from + jump] - out[from]) / float(jump);
            for at in 1..jump {
                out[from + at] = out[from] + slope * float(at);
            }
        }
        let from = (n - 1) / jump * jump;
        if from != n - 1 {
            // The neighbours are still those of the point before.
            out[n - 1] = self.fit(series, float(n), near).unwrap_or(series[n - 1]);
            if from + 2 < n {
                let slope = (out[n - 1] - out[from]) / float(n - 1 - from);
                out[from + 1] = out[from] + slope * float(n - 2 - from);
            }
        }
    }

    /// First and last of the points that a fit at `point` looks at, counted from 1; `before` are
    /// those of the point before.
    fn near(self, point: usize, n: usize, jump: usize, before: (usize, usize)) -> (usize, usize) {
        let (window, half) = (self.window, self.window.div_ceil(2));
        if window >= n {
            (1, n)
        } else if jump == 1 {
            let moves = usize::from(point > half && before.1 != n);
            (before.0 + moves, before.1 + moves)
        } else if point < half {
            (1, window)
        } else if point > n - half {
            (n - window + 1, n)
        } else {
            (point - half + 1, window + point - half)
        }
    }

    /// The fit at `at` over the points `from` to `to`, all counted from 1, with tricube weights;
    /// `None` where no point weighs anything.
    fn fit(self, series: &[f64], at: f64, (from, to): (usize, usize)) -> Option<f64> {
        let n = series.len();
        let mut reach = (at - float(from)).max(float(to) - at);
        if self.window > n {
            // The reference's distance: the authors' program adds half of it.
            reach += float(self.window - n);
        }
        let points = || (from..=to).map(float);
        let weight = |point: f64| {
            let distance = (point - at).abs();
            if distance <= 0.001 * reach {
                1.0
            } else if distance <= 0.999 * reach {
                cube(1.0 - cube(distance / reach))
            } else {
                0.0
            }
        };
        let mut weights: Vec<f64> = points().map(weight).collect();
        let sum: f64 = weights.iter().sum();
        if sum <= 0.0 {
            return None;
        }
        weights.iter_mut().for_each(|weight| *weight /= sum);
        if self.linear && reach > 0.0 {
            let centre: f64 = points().zip(&weights).map(|(point, weight)| weight * point).sum();
            let squares = points().zip(&weights).map(|(point, w)| w * (point - centre).powi(2));
            let spread: f64 = squares.sum();
            if spread.sqrt() > 0.001 * float(n - 1) {
                let slope = (at - centre) / spread;
                for (point, weight) in points().zip(&mut weights) {
                    *weight *= slope * (point - centre) + 1.0;
                }
            }
        }
        Some(weights.iter().zip(&series[from - 1..to]).map(|(weight, y)| weight * y).sum())
    }
}
