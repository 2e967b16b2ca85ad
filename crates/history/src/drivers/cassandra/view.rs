//! Reading: the list of days tells which partitions to ask, answered as of when one asks.

use std::cmp::Reverse;
use std::mem::discriminant;
use std::sync::Arc;

use model::{ItemId, Sample, Trend};

use super::tables::{Part, Place, Tables};
use super::{Shared, odd_answer, rows};
use crate::{Day, Error, Kind, Kinds, Span};

/// What the store has within a span.
pub(crate) struct View {
    pub(crate) shared: Arc<Shared>,
    pub(crate) span: Span,
}

impl View {
    /// Samples of all kinds asked for, in this order of time; at most `limit`.
    fn read(
        &self,
        item: ItemId,
        kinds: Kinds,
        newest_first: bool,
        limit: usize,
    ) -> Result<Vec<Sample>, Error> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let tables = self.shared.tables()?;
        let part = Part { span: self.span, newest_first, limit };
        self.shared.wait(async {
            let mut places = tables.find(item, self.span).await?;
            places.retain(|place| !place.kind.is_trend() && kinds.has(place.kind));
            if limit == usize::MAX {
                return samples(&tables, &places, part).await;
            }
            // Day by day, until there are enough: each that is listed has some.
            let mut days: Vec<&[Place]> = places.chunk_by(|a, b| a.day == b.day).collect();
            if newest_first {
                days.reverse();
            }
            let mut all = Vec::new();
            for day in days {
                all.extend(samples(&tables, day, part).await?);
                if all.len() >= limit {
                    break;
                }
            }
            all.truncate(limit);
            Ok(all)
        })
    }
}

/// Everything of partitions, sorted. A moment that is in tables of two classes counts once: the
/// item's retention changed before the same row was sent again.
async fn samples(tables: &Tables, places: &[Place], part: Part) -> Result<Vec<Sample>, Error> {
    let mut samples = Vec::new();
    for (place, cells) in tables.read(places, part).await? {
        for row in cells {
            let sample = rows::sample(place.item, place.kind, row);
            samples.push(sample.ok_or_else(|| odd_answer("a row of values"))?);
        }
    }
    if part.newest_first {
        samples.sort_by_key(|sample| Reverse(sample.at));
    } else {
        samples.sort_by_key(|sample| sample.at);
    }
    samples.dedup_by_key(|sample| (sample.at, discriminant(&sample.value)));
    Ok(samples)
}

impl crate::View for View {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, false, usize::MAX)
    }

    fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, false, n)
    }

    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, true, n)
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        let tables = self.shared.tables()?;
        let part = Part { span: self.span, newest_first: false, limit: usize::MAX };
        self.shared.wait(async {
            let mut places = tables.find(item, self.span).await?;
            places.retain(|place| matches!(place.kind, Kind::FloatAvg | Kind::UnsignedAvg));
            let mut trends = Vec::new();
            for (place, cells) in tables.read(&places, part).await? {
                let first = tables.first_day(place.class);
                for row in cells {
                    let trend = rows::trend(item, place.kind, row);
                    let trend = trend.ok_or_else(|| odd_answer("a row of trends"))?;
                    if Day::of(trend.hour) >= first {
                        trends.push(trend);
                    }
                }
            }
            trends.sort_by_key(|trend| trend.hour);
            trends.dedup_by_key(|trend| (trend.hour, discriminant(&trend.values)));
            Ok(trends)
        })
    }
}
