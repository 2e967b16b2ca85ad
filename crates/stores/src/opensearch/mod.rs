//! The driver over OpenSearch and Elasticsearch, by bulk requests.
//!
//! A row is a document whose id is made of kind, item, second and nanosecond, so that a batch which
//! is sent twice is there once, and the later written of two with one id replaces the other. An
//! index has the rows of one retention class and day, or span of days, and is deleted as a whole
//! ([`indices`]). What was written is found by a search after a refresh, which readers ask for
//! ([`unseen`]).

mod buckets;
mod client;
mod indices;
mod rows;
mod unseen;

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{ItemId, Sample, Trend};
use serde_json::{Value, json};
use ureq::http::Method;

use self::client::Client;
use self::indices::Index;
use self::rows::{Found, Hit, Row};
use self::unseen::Unseen;
use super::at_most;
use super::prepared::Prepared;
use super::remote::{Coarse, Connection, Remote, Wanted};
use history::Reduced;
use history::{
    Class, Day, Driver, DriverInfo, Durability, Error, Kind, Kinds, Retention, Span, Store,
};

/// Bytes of one request, about: nodes refuse 100 MB.
const BULK_BYTES: usize = 8 << 20;
/// Rows of a page: a search gives no more.
const PAGE: usize = 10_000;
/// Items of one search for what is to be deleted, and documents that it finds.
const ITEMS_MAX: usize = 1_000;
const DELETIONS: usize = 10_000;

/// Indices of an OpenSearch cluster. Makes drivers that share its connections.
pub struct OpenSearch {
    shared: Arc<Shared>,
}

/// Rows that are looked for.
struct Search<'a> {
    trends: bool,
    items: &'a [ItemId],
    kinds: Kinds,
    span: Span,
    newest_first: bool,
    limit: usize,
}

impl<'a> Search<'a> {
    /// All of some items.
    fn all(trends: bool, items: &'a [ItemId], kinds: Kinds, span: Span) -> Self {
        Self { trends, items, kinds, span, newest_first: false, limit: usize::MAX }
    }

    fn query(&self) -> Value {
        let way = if self.newest_first { "desc" } else { "asc" };
        let kinds = Kind::VALUES.into_iter().filter(|&kind| self.kinds.has(kind));
        let kinds: Vec<&str> = kinds.map(rows::name).collect();
        json!({
            "track_total_hits": false,
            "query": filter(self.items, &kinds, self.span),
            // No two documents are equal in all of these, so that no page begins among equals.
            "sort": [{ "clock": way }, { "ns": way }, { "kind": way }, { "itemid": way }],
        })
    }
}

struct Shared {
    client: Client,
    retention: Arc<dyn Retention>,
    /// The cluster knows what our indices are like.
    prepared: Prepared<Unseen>,
}

impl std::fmt::Debug for OpenSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenSearch").field(&self.shared.client.server.location()).finish()
    }
}

impl OpenSearch {
    /// The indices whose names begin with the path of a URL such as
    /// `http://user:password@host:9200/vedette`. Nothing is asked yet; indices are made by writing.
    pub fn new(url: &str, retention: Arc<dyn Retention>) -> Result<Self, Error> {
        let client = Client::new(url)?;
        Ok(Self { shared: Arc::new(Shared { client, retention, prepared: Prepared::not_yet() }) })
    }
}

impl Store for OpenSearch {
    fn name(&self) -> String {
        format!("opensearch-{}", self.shared.client.server.place())
    }

    fn driver(&self) -> Box<dyn Driver> {
        Connection::boxed(&self.shared)
    }
}

impl Shared {
    fn prepare<T>(&self, act: impl FnOnce(&mut Unseen) -> Result<T, Error>) -> Result<T, Error> {
        let prepare = || {
            indices::prepare(&self.client)?;
            Unseen::none(&self.client)
        };
        self.prepared.with(prepare, act)
    }

    /// Searches find all of this time that was written.
    fn see(&self, trends: bool, span: Span) -> Result<(), Error> {
        self.prepare(|unseen| unseen.see(&self.client, trends, span))
    }

    /// Sends documents in requests of moderate size.
    fn send<T>(&self, rows: &[T], put: impl Fn(&mut Vec<u8>, &T) -> Index) -> Result<(), Error> {
        self.prepare(|_| Ok(()))?;
        let (mut lines, mut written) = (Vec::new(), BTreeSet::new());
        for row in rows {
            written.insert(put(&mut lines, row));
            if lines.len() >= BULK_BYTES {
                self.client.bulk(&lines)?;
                lines.clear();
            }
        }
        if !lines.is_empty() {
            self.client.bulk(&lines)?;
        }
        self.prepare(|unseen| {
            unseen.written(written);
            Ok(())
        })
    }

    /// Finds rows page by page.
    fn search<T>(
        &self,
        wanted: &Search<'_>,
        read: impl Fn(Row<'_>) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        self.see(wanted.trends, wanted.span)?;
        let client = &self.client;
        let pattern = indices::pattern(&client.prefix, wanted.trends);
        let mut query = wanted.query();
        let mut rows = Vec::new();
        while rows.len() < wanted.limit {
            let size = (wanted.limit - rows.len()).min(PAGE);
            query["size"] = size.into();
            let answer = client.search(&pattern, query.to_string().as_bytes())?;
            let found: Found<'_> = client.json(&answer)?;
            let hits = found.hits.hits;
            let Some(last) = hits.last().filter(|_| hits.len() == size).map(|hit| hit.sort) else {
                read_all(hits, &mut rows, &read)?;
                break;
            };
            query["search_after"] = client.json(last.get().as_bytes())?;
            read_all(hits, &mut rows, &read)?;
            at_most(rows.len())?;
        }
        Ok(rows)
    }

    /// Buckets of all classes: of each class that has rows in one.
    fn buckets(&self, wanted: &Coarse) -> Result<Vec<Reduced>, Error> {
        self.see(false, wanted.span)?;
        let client = &self.client;
        let of_values = indices::list(client)?.into_iter().filter(|(index, _)| !index.trends);
        let mut classes: Vec<Class> = of_values.map(|(index, _)| index.class).collect();
        classes.sort_unstable();
        classes.dedup();
        let query = json!({
            "size": 0,
            "track_total_hits": false,
            "query": filter(&[wanted.item], &[rows::name(wanted.kind)], wanted.span),
            "aggs": buckets::question(wanted.width),
        });
        let query = query.to_string();
        let mut found = Vec::new();
        for class in classes {
            let pattern = indices::pattern_of_class(&client.prefix, class);
            let answer = client.search(&pattern, query.as_bytes())?;
            let answer: buckets::Answer<'_> = client.json(&answer)?;
            let read = answer.read(wanted.kind).ok_or_else(|| odd_answer("a bucket"))?;
            found.extend(read);
        }
        Ok(found)
    }

    /// Deletes what a search finds, page by page: a deletion by query goes on by itself when
    /// nobody waits for it any more, and meets what is written meanwhile.
    fn delete(&self, trends: bool, items: &[i64]) -> Result<(), Error> {
        let client = &self.client;
        let pattern = indices::pattern(&client.prefix, trends);
        let query = json!({
            "size": DELETIONS, "_source": false, "query": { "terms": { "itemid": items } },
        });
        let query = query.to_string();
        loop {
            client.refresh(&pattern)?;
            let answer = client.search(&pattern, query.as_bytes())?;
            let answer: Value = client.json(&answer)?;
            let hits = answer["hits"]["hits"].as_array();
            let hits = hits.ok_or_else(|| odd_answer("to a search"))?;
            if hits.is_empty() {
                return Ok(());
            }
            let line = |hit: &Value| {
                format!("{}\n", json!({ "delete": { "_index": hit["_index"], "_id": hit["_id"] } }))
            };
            let lines: String = hits.iter().map(line).collect();
            client.bulk(lines.as_bytes())?;
        }
    }
}

impl Remote for Shared {
    fn describe(&self) -> DriverInfo {
        DriverInfo::readable("opensearch", self.client.server.location(), Durability::Each)
    }

    fn write(&self, samples: &[Sample]) -> Result<(), Error> {
        self.send(samples, |lines, sample| {
            let class = self.retention.class(sample.item, Kind::of_value(&sample.value));
            rows::put_sample(lines, &self.client.prefix, sample, class)
        })
    }

    fn write_trends(&self, trends: &[Trend]) -> Result<(), Error> {
        self.send(trends, |lines, trend| {
            let class = self.retention.class(trend.item, Kind::of_trend(trend));
            rows::put_trend(lines, &self.client.prefix, trend, class)
        })
    }

    fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        self.prepare(|_| Ok(()))?;
        let items: Vec<i64> = items.iter().map(|item| item.0.cast_signed()).collect();
        for some in items.chunks(ITEMS_MAX) {
            self.delete(false, some)?;
            self.delete(true, some)?;
        }
        Ok(())
    }

    fn drop_before(&self, class: Class, day: Day) -> Result<u64, Error> {
        let mut dropped = 0;
        for (index, bytes) in indices::list(&self.client)? {
            if index.class == class && index.ends() <= day {
                self.client.find(Method::DELETE, &index.name(&self.client.prefix), b"")?;
                dropped = bytes.saturating_add(dropped);
            }
        }
        Ok(dropped)
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        let found = indices::list(&self.client)?;
        Ok(found.into_iter().map(|(index, _)| index.class).collect())
    }

    fn read(&self, wanted: &Wanted) -> Result<Vec<Sample>, Error> {
        let Wanted { kinds, span, newest_first, limit, .. } = *wanted;
        let items = &[wanted.item];
        let wanted = Search { trends: false, items, kinds, span, newest_first, limit };
        self.search(&wanted, |row| row.sample())
    }

    fn read_of(&self, items: &[ItemId], kinds: Kinds, span: Span) -> Result<Vec<Sample>, Error> {
        self.search(&Search::all(false, items, kinds, span), |row| row.sample())
    }

    fn read_buckets(&self, wanted: &Coarse) -> Result<Option<Vec<Reduced>>, Error> {
        self.buckets(wanted).map(Some)
    }

    fn read_trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        self.read_trends_of(&[item], span)
    }

    fn read_trends_of(&self, items: &[ItemId], span: Span) -> Result<Vec<Trend>, Error> {
        self.search(&Search::all(true, items, Kinds::NUMBERS, span), |row| row.trend())
    }
}

/// The query for rows of items.
fn filter(items: &[ItemId], kinds: &[&str], span: Span) -> Value {
    let items: Vec<i64> = items.iter().map(|item| item.0.cast_signed()).collect();
    json!({ "bool": { "filter": [
        { "terms": { "itemid": items } },
        { "terms": { "kind": kinds } },
        { "range": { "clock": { "gte": span.from, "lte": span.till } } },
    ] } })
}

fn read_all<T>(
    hits: Vec<Hit<'_>>,
    rows: &mut Vec<T>,
    read: impl Fn(Row<'_>) -> Option<T>,
) -> Result<(), Error> {
    for hit in hits {
        rows.push(read(hit.row).ok_or_else(|| odd_answer("a document"))?);
    }
    Ok(())
}

/// What the cluster sent cannot be what was asked for.
fn odd_answer(what: &str) -> Error {
    super::odd_answer("OpenSearch", what, "is it an OpenSearch")
}

#[cfg(test)]
mod tests {
    use super::super::script::Script;
    use super::*;

    #[test]
    fn indices_of_any_day_and_size_are_dropped() {
        let of_values = r#"[{"index":"vedette-history-31d-1","store.size":"18446744073709551615"},
            {"index":"vedette-history-31d-2","store.size":"9"},
            {"index":"vedette-history-31d-4294967295","store.size":"1"}]"#;
        let answers = [of_values, "[]", "", ""];
        let make = || OpenSearch::new("http://h", Arc::new(Class(31)));
        let store = Script::bodies(&answers, make).unwrap();
        assert_eq!(store.driver().drop_before(Class(31), Day(50)).unwrap(), u64::MAX);
    }
}
