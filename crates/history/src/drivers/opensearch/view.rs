//! Reading: pages of a search over all indices, answered as of when one asks.

use std::cmp::Reverse;
use std::mem::discriminant;
use std::sync::Arc;

use model::{ItemId, Sample, Trend};
use serde_json::json;
use serde_json::value::RawValue;

use super::super::at_most;
use super::rows::{Found, Row, name};
use super::{Shared, indices, odd_answer};
use crate::{Error, Kind, Kinds, Span};

/// Rows of a page: a search gives no more.
const PAGE: usize = 10_000;

/// What the store has within a span.
pub(crate) struct View {
    pub(crate) shared: Arc<Shared>,
    pub(crate) span: Span,
}

impl View {
    /// Hands over rows page by page, at most `limit`.
    fn search<T>(
        &self,
        trends: bool,
        (item, kinds): (ItemId, &[&str]),
        (newest_first, limit): (bool, usize),
        read: impl Fn(Row<'_>) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        self.shared.prepare()?;
        let client = &self.shared.client;
        let pattern = indices::pattern(&client.prefix, trends);
        client.refresh(&pattern)?;
        let way = if newest_first { "desc" } else { "asc" };
        let (mut rows, mut after) = (Vec::new(), None::<Box<RawValue>>);
        while rows.len() < limit {
            let size = (limit - rows.len()).min(PAGE);
            let mut query = json!({
                "size": size,
                "track_total_hits": false,
                "query": { "bool": { "filter": [
                    { "term": { "itemid": item.0.cast_signed() } },
                    { "terms": { "kind": kinds } },
                    { "range": { "clock": { "gte": self.span.from, "lte": self.span.till } } },
                ] } },
                "sort": [{ "clock": way }, { "ns": way }, { "kind": way }],
            });
            if let Some(after) = &after {
                query["search_after"] = client.json(after.get().as_bytes())?;
            }
            let answer = client.search(&pattern, query.to_string().as_bytes())?;
            let found: Found<'_> = client.json(&answer)?;
            let hits = found.hits.hits;
            after = hits.last().map(|hit| hit.sort.to_owned());
            let full = hits.len() == size;
            for hit in hits {
                rows.push(read(hit.row).ok_or_else(|| odd_answer("a document"))?);
            }
            if !full {
                break;
            }
            at_most(rows.len())?;
        }
        Ok(rows)
    }

    fn read(
        &self,
        item: ItemId,
        kinds: Kinds,
        newest_first: bool,
        limit: usize,
    ) -> Result<Vec<Sample>, Error> {
        if self.span.from > self.span.till {
            return Ok(Vec::new());
        }
        let asked = Kind::VALUES.into_iter().filter(|&kind| kinds.has(kind));
        let asked: Vec<&str> = asked.map(name).collect();
        let order = (newest_first, limit);
        let mut samples =
            self.search(false, (item, &asked), order, |row: Row<'_>| row.sample(item))?;
        // Sorted already; a moment that is in indices of two classes counts once: the item's
        // retention changed before the same row was sent again.
        if newest_first {
            samples.sort_by_key(|sample| Reverse(sample.at));
        } else {
            samples.sort_by_key(|sample| sample.at);
        }
        samples.dedup_by_key(|sample| (sample.at, discriminant(&sample.value)));
        Ok(samples)
    }
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
        let both = ["float", "uint"];
        let mut trends =
            self.search(true, (item, &both), (false, usize::MAX), |row| row.trend(item))?;
        trends.dedup_by_key(|trend| (trend.hour, discriminant(&trend.values)));
        Ok(trends)
    }
}
