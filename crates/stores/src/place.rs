//! Rows of one item and day, for stores that keep these together.

use model::{ItemId, Sample, Trend};

use history::{Class, Day, Kind, Retention};

/// Days of trends that lie together.
pub(crate) const TREND_DAYS: u32 = 31;

/// A value, or a trend.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row<'a> {
    Value(&'a Sample),
    Trend(&'a Trend),
}

impl Row<'_> {
    /// Its kind; of trends the mean stands for all.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Value(sample) => Kind::of_value(&sample.value),
            Self::Trend(trend) => Kind::of_trend(trend),
        }
    }

    pub(crate) fn item(self) -> ItemId {
        match self {
            Self::Value(sample) => sample.item,
            Self::Trend(trend) => trend.item,
        }
    }

    /// The first day of its place.
    pub(crate) fn day(self) -> Day {
        first_day(self.kind().is_trend(), self.moment().0)
    }

    /// What is one within a place: second and nanosecond.
    pub(crate) fn moment(self) -> (u32, u32) {
        match self {
            Self::Value(sample) => (sample.at.clock, sample.at.ns),
            Self::Trend(trend) => (trend.hour, 0),
        }
    }
}

/// Where rows lie together: those of one kind, class, item and day; of trends 31 days, named by
/// the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) kind: Kind,
    pub(crate) class: Class,
    pub(crate) item: ItemId,
    pub(crate) day: Day,
}

impl Place {
    pub(crate) fn of(row: Row<'_>, retention: &dyn Retention) -> Self {
        let (kind, item) = (row.kind(), row.item());
        Self { kind, class: retention.class(item, kind), item, day: row.day() }
    }
}

/// Days of a place.
pub(crate) fn days(trends: bool) -> u32 {
    if trends { TREND_DAYS } else { 1 }
}

/// The first day of the place in which a second is.
pub(crate) fn first_day(trends: bool, clock: u32) -> Day {
    let days = days(trends);
    Day(Day::of(clock).0 / days * days)
}

/// Rows in the order of their places and moments, each moment of a place once: of equals the one
/// that came last.
pub(crate) fn in_order<'a>(
    rows: impl Iterator<Item = Row<'a>>,
    retention: &dyn Retention,
) -> Vec<(Place, Row<'a>)> {
    let mut rows: Vec<_> = rows.map(|row| (Place::of(row, retention), row)).collect();
    // Stable, so that of equals the last stays.
    rows.sort_by_key(|(place, row)| (*place, row.moment()));
    rows.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0 && later.1.moment() == earlier.1.moment();
        if same {
            *earlier = *later;
        }
        same
    });
    rows
}

#[cfg(test)]
mod tests {
    use model::{SampleValue, Timestamp};

    use super::*;

    #[test]
    fn places_know_their_days() {
        for (trends, day, first) in [(false, 61, 61), (true, 61, 31), (true, 62, 62)] {
            assert_eq!(first_day(trends, day * 86_400 + 5), Day(first), "{trends} {day}");
        }
    }

    #[test]
    fn of_equals_the_last_stays() {
        let sample = |clock, value| Sample {
            item: ItemId(1),
            at: Timestamp { clock, ns: 0 },
            value: SampleValue::Unsigned(value),
        };
        let samples = [sample(86_400, 1), sample(5, 2), sample(86_400, 3), sample(6, 4)];
        let rows = in_order(samples.iter().map(Row::Value), &Class(31));
        let got: Vec<(u32, (u32, u32), f64)> = rows
            .iter()
            .map(|(place, row)| match row {
                Row::Value(sample) => (place.day.0, row.moment(), sample.value.as_f64().unwrap()),
                Row::Trend(_) => panic!("no trend"),
            })
            .collect();
        assert_eq!(got, [(0, (5, 0), 2.0), (0, (6, 0), 4.0), (1, (86_400, 0), 3.0)]);
    }
}
