//! Down-sampling: whatever reduces, a store or the process, the result is the same.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::Ordering;

use history::{Bucket, BucketQuery, Kind, Kinds, Span, Sums, Wide, buckets_of};
use model::{ItemId, Sample, SampleValue, Timestamp, ValueType};

use super::random::Random;
use super::{CHANGED, Case, DAY, IS_CHANGED, ITEM, NOW, keepers};

/// The first second that has values; a store with partitions gets one for each day since then.
const FIRST: u32 = NOW - 4 * DAY;
/// Beside it, and never asked for.
const OTHER: ItemId = ItemId(8);
const KINDS: [(Kind, ValueType); 2] =
    [(Kind::Float, ValueType::Float), (Kind::Unsigned, ValueType::Unsigned)];

/// One of the values of each type that are not like others.
fn odd(random: &mut Random, kind: Kind) -> SampleValue {
    let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -1e300, 5e-324, -0.0, 0.0];
    let whole = [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, (1 << 53) + 1, 1 << 53, 1, 0];
    let which = random.below(8) as usize;
    match kind {
        Kind::Float => SampleValue::Float(floats[which]),
        _ => SampleValue::Unsigned(whole[which]),
    }
}

/// An ordinary value. Few of them, so that zeros of both signs and equals meet.
fn plain(random: &mut Random, kind: Kind) -> SampleValue {
    let value = random.below(7);
    match kind {
        Kind::Float => {
            let sign = if random.one_in(2) { 0.1 } else { -0.1 };
            SampleValue::Float((value as f64 - 3.0) * sign)
        }
        _ => SampleValue::Unsigned(value << random.below(41)),
    }
}

/// Batches of values in no order of time; a third of them take the place of earlier ones. Odd
/// values are in the second of four days alone: of the others stores need not read a row.
fn batches(random: &mut Random) -> Vec<Vec<Sample>> {
    let mut written: Vec<(ItemId, Timestamp)> = Vec::new();
    let mut batch = |random: &mut Random| {
        let one = |_: u32| {
            let (item, at) = if !written.is_empty() && random.one_in(3) {
                written[random.below(written.len() as u64) as usize]
            } else {
                // Many of one minute, and of one second.
                let minute = FIRST + random.below(u64::from(4 * DAY / 60)) as u32 * 60;
                let early = if random.one_in(2) { FIRST + 3000 } else { minute };
                let seconds = if random.one_in(4) { 3 } else { 60 };
                let clock = early + random.below(seconds) as u32;
                let item = if random.one_in(5) { OTHER } else { ITEM };
                (item, Timestamp { clock, ns: random.below(3) as u32 * 499_999_999 })
            };
            written.push((item, at));
            let kind = KINDS[random.below(2) as usize].0;
            let is_odd = at.clock / DAY == FIRST / DAY + 1 && random.one_in(3);
            let value = match random.below(20) {
                0 => SampleValue::Text("7".into()),
                _ if is_odd => odd(random, kind),
                _ => plain(random, kind),
            };
            Sample { item, at, value }
        };
        (0..70).map(one).collect()
    };
    (0..10).map(|_| batch(random)).collect()
}

/// What the rows come to, told in another way than the product's, with the sum of magnitudes.
fn expected(rows: &[Sample], width: u32) -> Vec<(u32, Vec<SampleValue>)> {
    let mut buckets: BTreeMap<u32, Vec<SampleValue>> = BTreeMap::new();
    for row in rows {
        if !matches!(row.value, SampleValue::Float(v) if v.is_nan()) {
            let bucket = buckets.entry(row.at.clock / width * width).or_default();
            bucket.push(row.value.clone());
        }
    }
    buckets.into_iter().collect()
}

fn check(bucket: &Bucket, (clock, values): &(u32, Vec<SampleValue>), what: &str) {
    let what = format!("{what}: {bucket:?} of {clock}: {values:?}");
    assert_eq!((bucket.clock, bucket.num), (*clock, values.len() as u64), "{what}");
    match bucket.sums {
        Sums::Unsigned { min, max, sum } => {
            let whole = |value: &SampleValue| match value {
                SampleValue::Unsigned(value) => *value,
                other => panic!("{other:?} in {what}"),
            };
            let all: Vec<u64> = values.iter().map(whole).collect();
            let ends = (all.iter().copied().min(), all.iter().copied().max());
            assert_eq!((Some(min), Some(max)), ends, "{what}");
            assert_eq!(sum, Wide(all.iter().map(|&value| u128::from(value)).sum()), "{what}");
            assert_eq!(bucket.avg(), sum.0 as f64 / all.len() as f64, "{what}");
        }
        Sums::Float { min, max, sum } => {
            // No zero has a sign.
            let all: Vec<f64> = values.iter().map(|value| value.as_f64().unwrap() + 0.0).collect();
            let low = all.iter().copied().min_by(f64::total_cmp).unwrap();
            let high = all.iter().copied().max_by(f64::total_cmp).unwrap();
            let bits = |[low, high]: [f64; 2]| [low.to_bits(), high.to_bits()];
            assert_eq!(bits([min, max]), bits([low, high]), "{what}");
            let exact: f64 = all.iter().sum();
            let magnitude: f64 = all.iter().map(|value| value.abs()).sum();
            let off = (sum - exact).abs() <= magnitude * f64::EPSILON * all.len() as f64;
            let same = sum == exact || sum.is_nan() && exact.is_nan();
            assert!(same || exact.is_finite() && off, "{what}: {exact}");
        }
    }
}

/// Asks for buckets, and compares them with the rows.
fn compare(case: &Case, item: ItemId, span: Span, width: u32) -> usize {
    let view = case.driver.view(&[item], span);
    let width = NonZeroU32::new(width).unwrap();
    let mut buckets = 0;
    for (kind, value_type) in KINDS {
        let what = format!("{} {kind:?} {span:?} {width}", case.name);
        let query = BucketQuery { item, value_type, span, width };
        let got = buckets_of(view.as_ref(), &query).unwrap();
        let rows = view.samples(item, kind.into()).unwrap();
        let expected = expected(&rows, width.get());
        let clocks = |clock: &mut dyn Iterator<Item = u32>| clock.collect::<Vec<_>>();
        assert_eq!(
            clocks(&mut got.iter().map(|bucket| bucket.clock)),
            clocks(&mut expected.iter().map(|(clock, _)| *clock)),
            "{what}"
        );
        got.iter().zip(&expected).for_each(|(got, expected)| check(got, expected, &what));
        buckets += got.len();
    }
    buckets
}

#[test]
fn buckets_are_what_their_rows_come_to() {
    for mut case in keepers() {
        let random = &mut Random::new(7);
        for batch in batches(random) {
            case.driver.write(&batch).unwrap();
            case.driver.maintain().unwrap();
        }
        let (day, mut seen) = (FIRST / DAY * DAY, 0);
        for (span, width) in [
            (Span::ALL, 3600),
            (Span::ALL, u32::MAX),
            (Span::new(FIRST + 3001, FIRST + 3055), 1),
            (Span::new(FIRST + 3007, FIRST + 3052), 7),
            (Span::new(FIRST + 1, NOW), 86_400),
            (Span::new(FIRST + 5000, NOW - 5000), 100_000),
            // Whole days without anything odd, and one with.
            (Span::new(day + 2 * DAY, day + 4 * DAY - 1), 3600),
            (Span::new(day + DAY, day + 2 * DAY - 1), 600),
            (Span::new(NOW + DAY, NOW + 2 * DAY), 60),
            (Span::new(NOW, FIRST), 60),
        ] {
            seen += compare(&case, ITEM, span, width);
        }
        for _ in 0..6 {
            let from = FIRST + random.below(u64::from(4 * DAY)) as u32;
            let span = Span::new(from, from + random.below(u64::from(2 * DAY)) as u32);
            seen += compare(&case, ITEM, span, 1 + random.below(20_000) as u32);
        }
        assert!(seen > 300, "{} {seen}", case.name);
        let view = case.driver.view(&[ITEM], Span::ALL);
        let (value_type, width) = (ValueType::Text, NonZeroU32::MIN);
        let texts = BucketQuery { item: ITEM, value_type, span: Span::ALL, width };
        assert_eq!(buckets_of(view.as_ref(), &texts).unwrap(), [], "{}", case.name);
        let none = view.buckets(ItemId(99), Kind::Float, width).unwrap();
        assert_eq!(none, [], "{}", case.name);
    }
}

/// Its rows are in two places then: those that are sent again as well as those of before and after.
#[test]
fn an_item_whose_retention_was_changed_has_each_row_once() {
    let rows = |hours: std::ops::Range<u32>| -> Vec<Sample> {
        let row = |n: u32| {
            let at = Timestamp { clock: NOW - DAY + n * 600, ns: 0 };
            Sample { item: CHANGED, at, value: SampleValue::Unsigned(n.into()) }
        };
        (hours.start * 6..hours.end * 6).map(row).collect()
    };
    for mut case in keepers() {
        IS_CHANGED.store(false, Ordering::Relaxed);
        case.driver.write(&rows(0..12)).unwrap();
        IS_CHANGED.store(true, Ordering::Relaxed);
        case.driver.write(&rows(9..24)).unwrap();
        let mut all = 0;
        for width in [600, 3600, 7200, 50_000, u32::MAX] {
            all += compare(&case, CHANGED, Span::ALL, width);
            compare(&case, CHANGED, Span::new(NOW - DAY + 30_000, NOW - 40_001), width);
        }
        assert!(all > 144 + 24, "{} {all}", case.name);
        let view = case.driver.view(&[CHANGED], Span::ALL);
        let buckets = view.buckets(CHANGED, Kind::Unsigned, NonZeroU32::MAX).unwrap();
        let sums = Sums::Unsigned { min: 0, max: 143, sum: Wide(143 * 72) };
        assert_eq!(buckets, [Bucket { clock: 0, num: 144, sums }], "{}", case.name);
        let mut all = view.samples(CHANGED, Kind::Unsigned.into()).unwrap();
        assert_eq!(all.len(), 144, "{}", case.name);
        let first = |n| view.oldest(CHANGED, Kinds::VALUES, n).unwrap();
        let limits = [1, 54, 60, 73, 100, 143, 144, 145, 162, 1000];
        limits.iter().for_each(|&n| assert_eq!(first(n), all[..n.min(144)], "{} {n}", case.name));
        all.reverse();
        let newest = |n| view.newest(CHANGED, Kinds::VALUES, n).unwrap();
        limits.iter().for_each(|&n| assert_eq!(newest(n), all[..n.min(144)], "{} {n}", case.name));
    }
}
