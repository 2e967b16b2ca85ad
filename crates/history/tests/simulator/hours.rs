//! The trends that samples give, folded in the plainest way.

use history::trends;
use model::{Sample, SampleValue, Trend, TrendValues};

pub fn add(trends: &mut Vec<Trend>, sample: &Sample) {
    let hour = trends::hour_of(sample.at.clock);
    if let Some(trend) = trends.iter_mut().find(|trend| trend.hour == hour) {
        trend.num += 1;
        return;
    }
    let values = match sample.value {
        SampleValue::Unsigned(_) => TrendValues::Unsigned { min: 0, avg: 0, max: 0 },
        _ => TrendValues::Float { min: 0.0, avg: 0.0, max: 0.0 },
    };
    trends.push(Trend { item: sample.item, hour, num: 1, values });
}

pub fn finish(trend: &mut Trend, samples: &[Sample]) {
    let of_hour = samples.iter().filter(|s| trends::hour_of(s.at.clock) == trend.hour);
    match &mut trend.values {
        TrendValues::Unsigned { min, avg, max } => {
            let values: Vec<u64> = of_hour.filter_map(|s| unsigned(&s.value)).collect();
            let sum: u128 = values.iter().copied().map(u128::from).sum();
            *min = values.iter().copied().min().unwrap_or(0);
            *max = values.iter().copied().max().unwrap_or(0);
            *avg = u64::try_from(sum / values.len() as u128).unwrap();
        }
        TrendValues::Float { min, avg, max } => {
            let values: Vec<f64> = of_hour.filter_map(|s| s.value.as_f64()).collect();
            *min = values.iter().copied().fold(f64::INFINITY, f64::min);
            *max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            *avg = values.iter().sum::<f64>() / values.len() as f64;
        }
    }
}

fn unsigned(value: &SampleValue) -> Option<u64> {
    if let SampleValue::Unsigned(value) = value { Some(*value) } else { None }
}

/// Equal but for what merging of stored parts may round.
pub fn alike(a: &Trend, b: &Trend) -> bool {
    let parts = u64::from(a.num);
    a.num == b.num
        && match (a.values, b.values) {
            (
                TrendValues::Unsigned { min, avg, max },
                TrendValues::Unsigned { min: min2, avg: avg2, max: max2 },
            ) => min == min2 && max == max2 && avg.abs_diff(avg2) <= parts,
            (
                TrendValues::Float { min, avg, max },
                TrendValues::Float { min: min2, avg: avg2, max: max2 },
            ) => {
                let near = (avg - avg2).abs() <= avg2.abs() * 1e-9;
                min.to_bits() == min2.to_bits() && max.to_bits() == max2.to_bits() && near
            }
            _ => false,
        }
}
