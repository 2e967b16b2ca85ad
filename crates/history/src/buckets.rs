//! Down-sampling: the numbers of a long time as figures of equal parts of it.
//!
//! A bucket begins at a multiple of its width, counted from 1970, whatever the span. What a store
//! does not reduce itself [`reduce`] does from the rows. A store that does may say of a bucket that
//! its figures would not be exact: then [`complete`] reads the rows of that one.

use std::num::NonZeroU32;

use model::Sample;

use crate::sums::{Sums, Wide};
use crate::{Error, Span};

/// Beyond this a sum of floats may overflow on the way, and stores differ in what they do then.
pub const HUGE: f64 = 1e290;
/// Parts of a span that are asked for one by one; more of them are asked for as one.
const PARTS_MAX: usize = 16;
/// Rows of so many seconds are in memory at a time, or of a part of a span that is very long.
const AT_A_TIME_S: u32 = 8 * 86_400;
const AT_A_TIME_PART: u32 = 64;

/// The numbers of an item within one bucket of time and the span that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// Its first second, a multiple of the width: of the first bucket it may be before the span.
    pub clock: u32,
    /// How many numbers there are, at least one. NaN counts as none, as in trends.
    pub num: u64,
    /// Their figures. A zero has no sign here. A sum of floats is as exact as adding them in any
    /// order: it depends on who adds.
    pub sums: Sums,
}

impl Bucket {
    /// A bucket from figures in which zeros may have a sign.
    pub fn new(clock: u32, num: u64, sums: Sums) -> Self {
        let sums = match sums {
            // Adding a zero takes the sign from a zero, and nothing from other numbers.
            Sums::Float { min, max, sum } => {
                Sums::Float { min: min + 0.0, max: max + 0.0, sum: sum + 0.0 }
            }
            whole => whole,
        };
        Self { clock, num, sums }
    }

    /// The mean. Of numbers near the end of what floats can hold it may be infinite.
    pub fn avg(&self) -> f64 {
        match self.sums {
            Sums::Float { sum, .. } => sum / self.num as f64,
            Sums::Unsigned { sum, .. } => sum.0 as f64 / self.num as f64,
        }
    }

    /// Adds the numbers of another part of the same bucket.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.sums.add(other.sums) {
            self.num += other.num;
        }
    }

    /// The first second of the bucket of a second.
    fn start(clock: u32, width: NonZeroU32) -> u32 {
        clock - clock % width
    }
}

/// Reduces the rows of one kind of an item, oldest first. Buckets without numbers are left out.
pub fn reduce(samples: &[Sample], width: NonZeroU32) -> Vec<Bucket> {
    let mut buckets = Vec::new();
    for Sample { at, value, .. } in samples {
        if let Some(sums) = Sums::of(value) {
            append(&mut buckets, &Bucket::new(Bucket::start(at.clock, width), 1, sums));
        }
    }
    buckets
}

/// Adds to the last bucket, or behind it.
pub(crate) fn append(buckets: &mut Vec<Bucket>, next: &Bucket) {
    match buckets.last_mut() {
        Some(last) if last.clock == next.clock => last.add(next),
        _ => buckets.push(*next),
    }
}

/// The buckets of a span from those of its parts, which need not end where buckets do.
pub(crate) fn part_by_part(
    span: Span,
    read: impl Fn(Span) -> Result<Vec<Bucket>, Error>,
) -> Result<Vec<Bucket>, Error> {
    let length = (span.till.saturating_sub(span.from) / AT_A_TIME_PART).max(AT_A_TIME_S);
    let (mut buckets, mut next) = (Vec::new(), Some(span.from));
    while let Some(from) = next.filter(|&from| from <= span.till) {
        let till = from.saturating_add(length).min(span.till);
        read(Span::new(from, till))?.iter().for_each(|bucket| append(&mut buckets, bucket));
        next = till.checked_add(1);
    }
    Ok(buckets)
}

/// The buckets of a span from its rows, of which not all are in memory at once.
pub fn from_rows(
    span: Span,
    width: NonZeroU32,
    rows: impl Fn(Span) -> Result<Vec<Sample>, Error>,
) -> Result<Vec<Bucket>, Error> {
    part_by_part(span, |part| Ok(reduce(&rows(part)?, width)))
}

/// What a store tells of a bucket that has rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reduced {
    clock: u32,
    /// `None` = its rows have to be read.
    bucket: Option<Bucket>,
}

impl From<Bucket> for Reduced {
    fn from(bucket: Bucket) -> Self {
        Self { clock: bucket.clock, bucket: Some(bucket) }
    }
}

impl Reduced {
    /// A bucket that the store cannot reduce.
    pub fn rows(clock: u32) -> Self {
        Self { clock, bucket: None }
    }

    /// A bucket of floats: `num` of its `rows` are numbers that the figures count. These need not be
    /// right where a number is beyond [`HUGE`]; `sum` may leave such numbers out.
    pub fn floats(clock: u32, rows: u64, num: u64, [min, max, sum]: [f64; 3]) -> Self {
        let exact = num > 0 && num == rows && min > -HUGE && max < HUGE;
        let sums = Sums::Float { min, max, sum };
        if exact { Bucket::new(clock, num, sums).into() } else { Self::rows(clock) }
    }

    /// A bucket of whole numbers, at least one.
    pub fn whole(clock: u32, num: u64, [min, max]: [u64; 2], sum: u128) -> Self {
        Bucket::new(clock, num, Sums::Unsigned { min, max, sum: Wide(sum) }).into()
    }
}

/// The buckets of a span, oldest first, from what a store told in any order. Of those that it
/// cannot reduce the rows are read, and of those that it tells more than once: the same row may be
/// in several places, since the item's retention was changed.
pub fn complete(
    mut told: Vec<Reduced>,
    width: NonZeroU32,
    span: Span,
    rows: impl Fn(Span) -> Result<Vec<Sample>, Error>,
) -> Result<Vec<Bucket>, Error> {
    told.sort_by_key(|told| told.clock);
    let (mut buckets, mut open) = (Vec::new(), Vec::new());
    for same in told.chunk_by(|a, b| a.clock == b.clock) {
        match *same {
            [Reduced { bucket: Some(bucket), .. }] => buckets.push(bucket),
            _ => open.push(same[0].clock),
        }
    }
    if open.is_empty() {
        return Ok(buckets);
    }
    for part in parts(&open, width) {
        // Within a wide part there are buckets that were told.
        buckets.retain(|bucket| bucket.clock < part.from || bucket.clock > part.till);
        let part = Span::new(part.from.max(span.from), part.till.min(span.till));
        buckets.append(&mut from_rows(part, width, &rows)?);
    }
    buckets.sort_by_key(|bucket| bucket.clock);
    Ok(buckets)
}

/// The parts of time that buckets cover: as few as may be, or one if these are many.
fn parts(clocks: &[u32], width: NonZeroU32) -> Vec<Span> {
    let end = |clock: u32| clock.saturating_add(width.get() - 1);
    let adjacent = |a: &u32, b: &u32| end(*a).checked_add(1) == Some(*b);
    let covered = |clocks: &[u32]| Some(Span::new(*clocks.first()?, end(*clocks.last()?)));
    let parts: Vec<Span> = clocks.chunk_by(adjacent).filter_map(covered).collect();
    if parts.len() > PARTS_MAX { covered(clocks).into_iter().collect() } else { parts }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use model::{ItemId, SampleValue, Timestamp};

    use super::*;

    const TEN: NonZeroU32 = NonZeroU32::new(10).unwrap();

    fn float(clock: u32, value: f64) -> Sample {
        let at = Timestamp { clock, ns: 0 };
        Sample { item: ItemId(7), at, value: SampleValue::Float(value) }
    }

    fn bucket(clock: u32, num: u64, [min, max, sum]: [f64; 3]) -> Bucket {
        Bucket { clock, num, sums: Sums::Float { min, max, sum } }
    }

    #[test]
    fn rows_become_figures_and_what_is_no_number_nothing() {
        let rows =
            [float(9, -0.0), float(10, 2.0), float(19, -1.5), float(20, f64::NAN), float(35, 4.0)];
        let got = reduce(&rows, TEN);
        let expected =
            [bucket(0, 1, [0.0; 3]), bucket(10, 2, [-1.5, 2.0, 0.5]), bucket(30, 1, [4.0; 3])];
        assert_eq!(got, expected);
        let Sums::Float { min, max, sum } = got[0].sums else { panic!("{got:?}") };
        assert!([min, max, sum].iter().all(|zero| zero.is_sign_positive()));
        assert_eq!(got[1].avg(), 0.25);
        let whole = |value| Sample { value: SampleValue::Unsigned(value), ..float(5, 0.0) };
        let got = reduce(&[whole(u64::MAX), whole(u64::MAX), whole(1)], NonZeroU32::MAX);
        let sum = Wide(2 * u128::from(u64::MAX) + 1);
        let sums = Sums::Unsigned { min: 1, max: u64::MAX, sum };
        assert_eq!(got, [Bucket { clock: 0, num: 3, sums }]);
        let text = Sample { value: SampleValue::Text("5".into()), ..float(5, 0.0) };
        assert_eq!(reduce(&[text], TEN), []);
    }

    /// Rows of value 1 each second, and which of them were read.
    fn completed(told: Vec<Reduced>, span: Span) -> (Vec<Bucket>, Vec<(u32, u32)>) {
        let read = RefCell::new(Vec::new());
        let rows = |part: Span| {
            read.borrow_mut().push((part.from, part.till));
            Ok((part.from..=part.till).map(|clock| float(clock, 1.0)).collect())
        };
        let buckets = complete(told, TEN, span, rows).unwrap();
        (buckets, read.into_inner())
    }

    #[test]
    fn only_rows_of_what_is_not_exact_are_read() {
        let ones = |clock, num: u32| bucket(clock, num.into(), [1.0, 1.0, num.into()]);
        let told = |clock| Reduced::from(ones(clock, 10));
        let span = Span::new(3, 95);
        let whole = Vec::from_iter((0..10).map(|n| match n {
            0 => ones(0, 7),
            9 => ones(90, 6),
            n => ones(n * 10, 10),
        }));
        let ends = [Reduced::from(whole[0]), Reduced::from(whole[9])];
        for (open, parts) in [
            (vec![], vec![]),
            (vec![20], vec![(20, 29)]),
            (vec![30, 20], vec![(20, 39)]),
            (vec![20, 40], vec![(20, 29), (40, 49)]),
            (vec![0, 90], vec![(3, 9), (90, 95)]),
        ] {
            let inner = (1..9).map(|n| told(n * 10)).chain(ends);
            let mut told: Vec<Reduced> = inner.filter(|f| !open.contains(&f.clock)).collect();
            told.extend(open.iter().map(|&clock| Reduced::rows(clock)));
            told.reverse();
            assert_eq!(completed(told, span), (whole.clone(), parts), "{open:?}");
        }
        // The same bucket from two places.
        let twice = vec![told(20), told(10), told(20)];
        assert_eq!(completed(twice, span), (whole[1..3].to_vec(), vec![(20, 29)]));
    }

    #[test]
    fn many_parts_are_read_as_one() {
        let of = |clock| {
            if clock % 20 == 0 { Reduced::rows(clock) } else { bucket(clock, 1, [5.0; 3]).into() }
        };
        let told = (0..40).map(|n| of(n * 10)).collect();
        let (buckets, parts) = completed(told, Span::ALL);
        assert_eq!(parts, [(0, 389)]);
        assert_eq!(buckets.len(), 40);
        assert_eq!((buckets[1].num, buckets[39].num), (10, 1));
    }

    #[test]
    fn a_long_span_is_read_in_parts_that_meet() {
        for (span, count) in [
            (Span::new(5, 5), 1),
            (Span::new(6, 5), 0),
            (Span::new(3, 30 * 86_400), 4),
            (Span::new(u32::MAX - 1, u32::MAX), 1),
            (Span::ALL, 64),
        ] {
            let read = RefCell::new(Vec::new());
            let width = NonZeroU32::MAX;
            let got = part_by_part(span, |part| {
                read.borrow_mut().push(part);
                Ok(reduce(&[float(part.from, 1.0), float(part.till, 2.0)], width))
            });
            let parts = read.into_inner();
            assert_eq!(parts.len(), count, "{span:?}");
            let num: u64 = got.unwrap().iter().map(|bucket| bucket.num).sum();
            assert_eq!(num, 2 * count as u64, "{span:?}");
            assert!(parts.windows(2).all(|two| two[0].till + 1 == two[1].from), "{parts:?}");
            let ends = parts.first().zip(parts.last()).map(|(a, b)| Span::new(a.from, b.till));
            assert_eq!(ends, (count > 0).then_some(span));
        }
    }

    #[test]
    fn buckets_at_the_end_of_time_do_not_overflow() {
        let last = u32::MAX - u32::MAX % TEN;
        let (buckets, parts) = completed(vec![Reduced::rows(last)], Span::ALL);
        assert_eq!(parts, [(last, u32::MAX)]);
        assert_eq!(buckets[0].num, u64::from(u32::MAX - last) + 1);
    }

    #[test]
    fn figures_that_stores_differ_in_are_not_taken() {
        let taken = |num, figures| Reduced::floats(0, 3, num, figures).bucket.is_some();
        assert!(taken(3, [-1e289, 1e289, 0.0]));
        for (num, figures) in [
            (2, [1.0, 2.0, 3.0]),
            (3, [1.0, 1e290, 3.0]),
            (3, [-1e300, 1.0, 3.0]),
            (3, [1.0, f64::INFINITY, 3.0]),
            (3, [f64::NAN, f64::NAN, 3.0]),
        ] {
            assert!(!taken(num, figures), "{num} {figures:?}");
        }
        assert!(Reduced::floats(0, 0, 0, [0.0; 3]).bucket.is_none());
    }
}
