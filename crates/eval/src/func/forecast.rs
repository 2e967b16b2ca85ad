//! `forecast` and `timeleft`: least-squares fits.

/// Result where nothing can be computed.
const FAILED: f64 = -1.0;

/// Result where the threshold is never reached, or values grow beyond all bounds.
const NEVER: f64 = f64::MAX;

/// Kind of curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    Linear,
    /// `polynomial1` … `polynomial6`
    Polynomial(usize),
    Exponential,
    Logarithmic,
    Power,
}

impl Fit {
    /// From its word.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "linear" => Self::Linear,
            "exponential" => Self::Exponential,
            "logarithmic" => Self::Logarithmic,
            "power" => Self::Power,
            _ => match text.strip_prefix("polynomial")?.as_bytes() {
                [d @ b'1'..=b'6'] => Self::Polynomial(usize::from(d - b'0')),
                _ => return None,
            },
        })
    }
}

/// What `forecast` tells of the time ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForecastMode {
    /// The value then.
    Value,
    /// The largest value until then.
    Max,
    /// The smallest value until then.
    Min,
    /// Largest minus smallest.
    Delta,
    /// The mean.
    Avg,
}

impl ForecastMode {
    /// From its word.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "value" => Self::Value,
            "max" => Self::Max,
            "min" => Self::Min,
            "delta" => Self::Delta,
            "avg" => Self::Avg,
            _ => return None,
        })
    }
}

/// A fitted curve: coefficients from the constant on, over the (transformed) time.
struct Curve {
    fit: Fit,
    k: Vec<f64>,
}

impl Curve {
    fn of(points: &[(f64, f64)], fit: Fit) -> Option<Self> {
        // One value is a level, whatever the curve and its sign.
        if let [(_, level)] = points {
            return Some(Self { fit: Fit::Linear, k: vec![*level] });
        }
        let degree = match fit {
            Fit::Polynomial(degree) => degree.min(points.len().checked_sub(1)?),
            _ => 1.min(points.len().checked_sub(1)?),
        };
        let transformed: Option<Vec<(f64, f64)>> = points
            .iter()
            .map(|(t, v)| {
                let t = if matches!(fit, Fit::Logarithmic | Fit::Power) { t.ln() } else { *t };
                let log = matches!(fit, Fit::Exponential | Fit::Power);
                let v = match log {
                    true if *v > 0.0 => v.ln(),
                    true => return None,
                    false => *v,
                };
                Some((t, v))
            })
            .collect();
        Some(Self { fit, k: least_squares(&transformed?, degree)? })
    }

    fn value(&self, t: f64) -> f64 {
        match self.fit {
            Fit::Linear | Fit::Polynomial(_) => polynomial(&self.k, t),
            Fit::Exponential => polynomial(&self.k, t).exp(),
            Fit::Logarithmic => polynomial(&self.k, t.ln()),
            Fit::Power => polynomial(&self.k, t.ln()).exp(),
        }
    }

    /// Integral over time.
    fn integral(&self, from: f64, to: f64) -> f64 {
        let slope = self.k.get(1).copied().unwrap_or(0.0);
        match self.fit {
            Fit::Linear | Fit::Polynomial(_) => {
                let mut integral = vec![0.0];
                let mut power = 0.0;
                for k in &self.k {
                    power += 1.0;
                    integral.push(k / power);
                }
                polynomial(&integral, to) - polynomial(&integral, from)
            }
            Fit::Exponential if slope == 0.0 => self.k[0].exp() * (to - from),
            Fit::Exponential => (self.value(to) - self.value(from)) / slope,
            Fit::Logarithmic => {
                let part = |t: f64| t * (self.k[0] + slope * (t.ln() - 1.0));
                part(to) - part(from)
            }
            Fit::Power if slope == -1.0 => self.k[0].exp() * (to.ln() - from.ln()),
            Fit::Power => (to * self.value(to) - from * self.value(from)) / (slope + 1.0),
        }
    }

    /// Smallest and largest value between two moments.
    fn extremes(&self, from: f64, to: f64) -> (f64, f64) {
        let mut seen = vec![self.value(from), self.value(to)];
        if matches!(self.fit, Fit::Polynomial(_)) {
            let turns = roots(&derivative(&self.k), from, to);
            seen.extend(turns.into_iter().map(|t| self.value(t)));
        }
        let low = seen.iter().copied().fold(f64::INFINITY, f64::min);
        (low, seen.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }
}

fn finite_or_never(value: f64) -> f64 {
    if value.is_nan() { FAILED } else { value.clamp(-NEVER, NEVER) }
}

/// Value `ahead_s` seconds after `now`; `points` oldest first, all on one scale of seconds.
pub(super) fn forecast(
    points: &[(f64, f64)],
    now: f64,
    ahead_s: f64,
    fit: Fit,
    mode: ForecastMode,
) -> f64 {
    // With fewer values than a polynomial has coefficients there is no forecast, though the time
    // left follows from the highest degree that there are values for.
    if matches!(fit, Fit::Polynomial(degree) if points.len() > 1 && points.len() <= degree) {
        return FAILED;
    }
    let Some(curve) = Curve::of(points, fit) else { return FAILED };
    let then = now + ahead_s;
    let (from, to) = if then < now { (then, now) } else { (now, then) };
    finite_or_never(match mode {
        ForecastMode::Value => curve.value(then),
        ForecastMode::Max => curve.extremes(from, to).1,
        ForecastMode::Min => curve.extremes(from, to).0,
        ForecastMode::Delta => {
            let (low, high) = curve.extremes(from, to);
            high - low
        }
        ForecastMode::Avg if ahead_s == 0.0 => curve.value(now),
        ForecastMode::Avg => curve.integral(now, then) / ahead_s,
    })
}

/// Seconds from `now` until the threshold is reached; `None` = the curve is above it everywhere
/// by its kind.
pub(super) fn time_left(points: &[(f64, f64)], now: f64, threshold: f64, fit: Fit) -> Option<f64> {
    if matches!(fit, Fit::Exponential | Fit::Power) && threshold <= 0.0 {
        return None;
    }
    let Some(curve) = Curve::of(points, fit) else { return Some(FAILED) };
    // One value goes nowhere, but may be there.
    if points.len() == 1 && is_near(curve.value(now), threshold) {
        return Some(0.0);
    }
    Some(curve.time_left(now, threshold))
}

/// A fit is not exact: a threshold this near is reached.
fn is_near(current: f64, threshold: f64) -> bool {
    (current - threshold).abs() <= 1e-9 * threshold.abs().max(1.0)
}

impl Curve {
    fn time_left(&self, now: f64, threshold: f64) -> f64 {
        if self.k.iter().skip(1).all(|k| *k == 0.0) {
            return NEVER;
        }
        if is_near(self.value(now), threshold) {
            return 0.0;
        }
        let slope = self.k.get(1).copied().unwrap_or(0.0);
        let solve = |level: f64| (level - self.k[0]) / slope;
        let at = match self.fit {
            Fit::Polynomial(_) => {
                let mut shifted = self.k.clone();
                shifted[0] -= threshold;
                // A century ahead is never.
                let limit = now + 3.2e9;
                return match roots(&shifted, now, limit).into_iter().next() {
                    Some(t) => t - now,
                    None => NEVER,
                };
            }
            Fit::Linear => solve(threshold),
            Fit::Exponential => solve(threshold.ln()),
            Fit::Logarithmic => solve(threshold).exp(),
            Fit::Power => solve(threshold.ln()).exp(),
        };
        if slope == 0.0 || at.is_nan() || at < now { NEVER } else { finite_or_never(at - now) }
    }
}

fn polynomial(k: &[f64], t: f64) -> f64 {
    k.iter().rev().fold(0.0, |sum, k| sum * t + k)
}

fn derivative(k: &[f64]) -> Vec<f64> {
    let mut power = 0.0;
    k.iter()
        .skip(1)
        .map(|k| {
            power += 1.0;
            k * power
        })
        .collect()
}

/// Real roots within an interval, ascending: between two neighbouring roots of the derivative
/// there is at most one, found by bisection. The depth is the degree, at most 6.
fn roots(k: &[f64], from: f64, to: f64) -> Vec<f64> {
    const STEPS: usize = 200;
    let degree = k.iter().rposition(|k| *k != 0.0).unwrap_or(0);
    if degree == 0 {
        return Vec::new();
    }
    let mut borders = vec![from];
    borders.extend(roots(&derivative(&k[..=degree]), from, to));
    borders.push(to);
    let mut found: Vec<f64> = Vec::new();
    for pair in borders.windows(2) {
        let (mut low, mut high) = (pair[0], pair[1]);
        let (at_low, at_high) = (polynomial(k, low), polynomial(k, high));
        if at_low == 0.0 {
            found.push(low);
        }
        if at_low * at_high >= 0.0 {
            continue;
        }
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if polynomial(k, middle) * at_low > 0.0 { low = middle } else { high = middle }
        }
        found.push(f64::midpoint(low, high));
    }
    found.dedup();
    found
}

/// Coefficients of the polynomial of a degree that fits best. Time is scaled to about 1 while
/// solving, which keeps high powers in range.
fn least_squares(points: &[(f64, f64)], degree: usize) -> Option<Vec<f64>> {
    let n = degree + 1;
    let scale = points.iter().map(|(t, _)| t.abs()).fold(0.0, f64::max).max(1e-9);
    // From the first value on, so that what does not move gives a curve that does not either.
    let base = points.first()?.1;
    // Householder would be stabler, normal equations do for degrees up to 6 on this scale.
    let mut rows = vec![vec![0.0; n + 1]; n];
    for (t, v) in points {
        let t = t / scale;
        let mut powers = vec![1.0; 2 * n];
        for i in 1..2 * n {
            powers[i] = powers[i - 1] * t;
        }
        for (i, row) in rows.iter_mut().enumerate() {
            for (j, cell) in row[..n].iter_mut().enumerate() {
                *cell += powers[i + j];
            }
            row[n] += (v - base) * powers[i];
        }
    }
    let mut k = solve(rows)?;
    if let Some(constant) = k.first_mut() {
        *constant += base;
    }
    let mut power = 1.0;
    for k in &mut k {
        *k /= power;
        power *= scale;
    }
    Some(k)
}

/// Gauss with pivots.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column].clone();
        if head[column].abs() < 1e-300 {
            return None;
        }
        for (index, row) in rows.iter_mut().enumerate() {
            if index != column {
                let factor = row[column] / head[column];
                for (cell, h) in row.iter_mut().zip(&head) {
                    *cell -= factor * h;
                }
            }
        }
    }
    let solution: Vec<f64> = (0..n).map(|i| rows[i][n] / rows[i][i]).collect();
    solution.iter().all(|v| v.is_finite()).then_some(solution)
}
