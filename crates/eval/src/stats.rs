//! Statistics over numbers; `None` = not defined for this input or out of range.

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn count(values: &[f64]) -> f64 {
    values.len() as f64
}

/// Sum; `None` if it is not finite.
pub fn sum(values: &[f64]) -> Option<f64> {
    // Rust's sum of nothing is -0.
    finite(if values.is_empty() { 0.0 } else { values.iter().sum() })
}

/// Mean; also of numbers whose sum would overflow.
pub fn avg(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let n = count(values);
    let total: f64 = values.iter().sum();
    if total.is_finite() { Some(total / n) } else { finite(values.iter().map(|v| v / n).sum()) }
}

/// Smallest.
pub fn min(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::min)
}

/// Largest.
pub fn max(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}

fn moment(values: &[f64], power: i32) -> Option<f64> {
    let total: f64 = values.iter().sum();
    let mean = finite(total / count(values))?;
    finite(values.iter().map(|v| (v - mean).powi(power)).sum())
}

pub fn kurtosis(values: &[f64]) -> Option<f64> {
    let second = moment(values, 2)?;
    finite(moment(values, 4)? * count(values) / (second * second))
}

pub fn skewness(values: &[f64]) -> Option<f64> {
    let n = count(values);
    finite(moment(values, 3)? / n / (moment(values, 2)? / n).powf(1.5))
}

/// Median absolute deviation.
///
/// As in the reference, numbers closer than [`SAME`] are equal when they are sorted, and the
/// deviations are those of the sorted numbers. This shows where numbers are that small, as the
/// rounding errors that are left of a series of equal values.
pub fn mad(values: &[f64]) -> Option<f64> {
    let mut numbers = values.to_vec();
    let mut scratch = Vec::with_capacity(values.len() / 2);
    sort_coarsely(&mut numbers, &mut scratch);
    let centre = middle(&numbers)?;
    numbers.iter_mut().for_each(|v| *v = (*v - centre).abs());
    sort_coarsely(&mut numbers, &mut scratch);
    middle(&numbers)
}

/// Numbers closer than this count as the same when deviations are sorted. A little less than
/// `f64::EPSILON`: neighbours of 1 are different numbers.
const SAME: f64 = 2.22e-16;

/// A merge sort by halves for which numbers closer than [`SAME`] are equal. That is no order
/// (two numbers equal to a third need not be equal), so that no other sort gives the same, and
/// that of the standard library may panic.
fn sort_coarsely(values: &mut [f64], scratch: &mut Vec<f64>) {
    let half = values.len() / 2;
    if half == 0 {
        return;
    }
    sort_coarsely(&mut values[..half], scratch);
    sort_coarsely(&mut values[half..], scratch);
    scratch.clear();
    scratch.extend_from_slice(&values[..half]);
    let (mut left, mut right) = (0, half);
    for at in 0..values.len() {
        let Some(first) = scratch.get(left) else { break };
        if values.get(right).is_some_and(|second| first - second >= SAME) {
            values[at] = values[right];
            right += 1;
        } else {
            values[at] = *first;
            left += 1;
        }
    }
}

/// The middle one of sorted numbers, or the mean of the two in the middle.
fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => finite((sorted[half - 1] + sorted[half]) / 2.0),
    }
}

/// Standard deviation of a whole population.
pub fn stddevpop(values: &[f64]) -> Option<f64> {
    varpop(values).map(f64::sqrt)
}

/// Standard deviation of a sample.
pub fn stddevsamp(values: &[f64]) -> Option<f64> {
    varsamp(values).map(f64::sqrt)
}

/// Sum of squares.
pub fn sumofsquares(values: &[f64]) -> Option<f64> {
    finite(values.iter().map(|v| v * v).sum())
}

/// Variance of a whole population.
pub fn varpop(values: &[f64]) -> Option<f64> {
    finite(moment(values, 2)? / count(values))
}

/// Variance of a sample of at least two.
pub fn varsamp(values: &[f64]) -> Option<f64> {
    finite(moment(values, 2)? / (count(values) - 1.0))
}

/// A statistic over numbers.
pub type Statistic = fn(&[f64]) -> Option<f64>;

/// The statistic of a name.
pub fn by_name(name: &str) -> Option<Statistic> {
    Some(match name {
        "kurtosis" => kurtosis,
        "mad" => mad,
        "skewness" => skewness,
        "stddevpop" => stddevpop,
        "stddevsamp" => stddevsamp,
        "sumofsquares" => sumofsquares,
        "varpop" => varpop,
        "varsamp" => varsamp,
        _ => return None,
    })
}

/// Value below which `percent` (0 to 100) of the numbers lie, by the nearest rank.
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if percent == 0.0 {
        return sorted.first().copied();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the count")]
    let rank = (percent * count(values) / 100.0).ceil() as usize;
    sorted.get(rank.checked_sub(1)?).copied()
}

/// Quantile (0 to 1) of a histogram of cumulative buckets `(upper bound, rate)`; the last
/// bound must be infinite and there must be two buckets at least. Rates of one finite bound add up, and
/// none counts less than one below it. A histogram that has not moved has no quantile; the field's
/// value for that is -1. With several infinite bounds it may be infinite.
pub fn histogram_quantile(quantile: f64, buckets: &mut [(f64, f64)]) -> Option<f64> {
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    if buckets.last()?.0 != f64::INFINITY || buckets.len() < 2 {
        return None;
    }
    let mut merged: Vec<(f64, f64)> = Vec::with_capacity(buckets.len());
    for &mut (bound, rate) in buckets {
        match merged.last_mut() {
            Some(last) if last.0 == bound && bound.is_finite() => last.1 += rate,
            _ => merged.push((bound, rate)),
        }
    }
    let mut reached = f64::NEG_INFINITY;
    for bucket in &mut merged {
        reached = reached.max(bucket.1);
        bucket.1 = reached;
    }
    if reached <= 0.0 {
        return Some(-1.0);
    }
    if merged.len() < 2 {
        return None;
    }
    let rank = quantile * reached;
    let at = merged.iter().position(|b| b.1 >= rank)?;
    if at == merged.len() - 1 {
        return Some(merged[at - 1].0);
    }
    if at == 0 && merged[0].0 <= 0.0 {
        return Some(merged[0].0);
    }
    let (start, below) = if at == 0 { (0.0, 0.0) } else { merged[at - 1] };
    let (end, reached) = merged[at];
    if reached <= below {
        return Some(start);
    }
    finite(start + (end - start) * ((rank - below) / (reached - below)))
}
