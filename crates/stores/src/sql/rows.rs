//! Rows in the order of their keys, each key once.

use model::{Sample, Timestamp, Trend, TrendValues};

use super::tables::{NS_IN_S, Part, Set, Table};
use history::{Error, Kind, Retention, Span};

/// A row and where it belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<T> {
    pub(crate) part: Part,
    pub(crate) item: i64,
    /// Nanoseconds since 1970.
    pub(crate) moment: i64,
    pub(crate) of: T,
}

/// Rows of samples.
pub(crate) fn samples<'a>(
    samples: &'a [Sample],
    retention: &dyn Retention,
) -> Result<Vec<Row<&'a Sample>>, Error> {
    let row = |sample: &'a Sample| {
        let kind = Kind::of_value(&sample.value);
        let class = retention.class(sample.item, kind);
        let part = Table { set: Set::of(kind), class }.part(sample.at.clock);
        let (item, moment) = key(sample.item.0, sample.at)?;
        Ok(Row { part, item, moment, of: sample })
    };
    samples.iter().map(row).collect::<Result<_, _>>().map(in_order)
}

/// Rows of trends.
pub(crate) fn trends<'a>(
    trends: &'a [Trend],
    retention: &dyn Retention,
) -> Result<Vec<Row<&'a Trend>>, Error> {
    let row = |trend: &'a Trend| {
        let (set, kind) = match trend.values {
            TrendValues::Float { .. } => (Set::FloatTrends, Kind::FloatAvg),
            TrendValues::Unsigned { .. } => (Set::UnsignedTrends, Kind::UnsignedAvg),
        };
        let part = Table { set, class: retention.class(trend.item, kind) }.part(trend.hour);
        let (item, moment) = key(trend.item.0, Timestamp::from_s(trend.hour))?;
        Ok(Row { part, item, moment, of: trend })
    };
    trends.iter().map(row).collect::<Result<_, _>>().map(in_order)
}

fn key(item: u64, at: Timestamp) -> Result<(i64, i64), Error> {
    let item = i64::try_from(item)
        .map_err(|_| Error::row(format!("item id {item} is larger than 2^63")))?;
    if i64::from(at.ns) >= NS_IN_S {
        return Err(Error::row(format!("{} nanoseconds are more than a second", at.ns)));
    }
    Ok((item, i64::from(at.clock) * NS_IN_S + i64::from(at.ns)))
}

/// Sorted by partition and key, as indexes like it; of equal keys the last.
fn in_order<T>(mut rows: Vec<Row<T>>) -> Vec<Row<T>> {
    rows.sort_by_key(|row| (row.part, row.item, row.moment));
    rows.dedup_by(|later, earlier| {
        let same =
            (later.part, later.item, later.moment) == (earlier.part, earlier.item, earlier.moment);
        if same {
            std::mem::swap(later, earlier);
        }
        same
    });
    rows
}

/// First and last moment of a span.
pub(crate) fn moments(span: Span) -> (i64, i64) {
    (i64::from(span.from) * NS_IN_S, i64::from(span.till) * NS_IN_S + NS_IN_S - 1)
}

/// The moment that a row tells; a store that was altered by hand may tell any.
pub(crate) fn timestamp(moment: i64) -> Option<Timestamp> {
    let clock = u32::try_from(moment.div_euclid(NS_IN_S)).ok()?;
    let ns = u32::try_from(moment.rem_euclid(NS_IN_S)).ok()?;
    Some(Timestamp { clock, ns })
}

#[cfg(test)]
mod tests {
    use model::{ItemId, SampleValue};

    use super::*;
    use history::Class;

    #[test]
    fn rows_are_in_order_and_the_last_of_equals_stays() {
        let sample = |item, clock, value| Sample {
            item: ItemId(item),
            at: Timestamp { clock, ns: 5 },
            value: SampleValue::Unsigned(value),
        };
        let given = [
            sample(2, 100, 1),
            sample(1, 100, 2),
            sample(1, 100, 3),
            sample(9, 5, 4),
            sample(1, 90_000, 5),
            sample(1, 100, 6),
        ];
        let rows = samples(&given, &Class(31)).unwrap();
        let got: Vec<(u32, i64, f64)> =
            rows.iter().map(|r| (r.part.number, r.item, r.of.value.as_f64().unwrap())).collect();
        assert_eq!(got, [(0, 1, 6.0), (0, 2, 1.0), (0, 9, 4.0), (1, 1, 5.0)]);
        assert_eq!(rows[0].moment, 100_000_000_005);
        assert_eq!(timestamp(rows[0].moment), Some(given[0].at));
    }

    #[test]
    fn what_has_no_key_is_refused_for_itself() {
        for (item, ns) in [(u64::MAX, 0), (1, 1_000_000_000)] {
            let at = Timestamp { clock: 1, ns };
            let sample = Sample { item: ItemId(item), at, value: SampleValue::Float(0.0) };
            let error = samples(&[sample], &Class(31)).unwrap_err();
            assert!(!error.retry && error.fault == history::Fault::Us, "{error}");
        }
    }

    #[test]
    fn moments_span_whole_seconds() {
        assert_eq!(moments(Span::new(1, 1)), (NS_IN_S, 2 * NS_IN_S - 1));
        let (_, last) = moments(Span::ALL);
        assert_eq!(timestamp(last), Some(Timestamp { clock: u32::MAX, ns: 999_999_999 }));
        assert_eq!((timestamp(last + 1), timestamp(-1)), (None, None));
    }
}
