//! The driver over OpenSearch and Elasticsearch, by bulk requests.
//!
//! A row is a document whose id is made of kind, item, second and nanosecond, so that a batch which
//! is sent twice is there once, and the later written of two with one id replaces the other. An
//! index has the rows of one retention class and day, or span of days, and is deleted as a whole
//! ([`indices`]). What was written is found by a search after a refresh: readers ask for one, who
//! are few, and not writers, who are many.

mod client;
mod indices;
mod rows;
mod view;

use std::sync::{Arc, Mutex, PoisonError};

use model::{ItemId, Sample, Trend};
use serde_json::{Value, json};
use ureq::http::Method;

use self::client::Client;
use self::view::View as StoreView;
use super::{kind_of, kind_of_trend};
use crate::{
    Class, Counters, Day, Driver, DriverInfo, Durability, Error, Fault, Retention, Span, Store,
    View,
};

/// Bytes of one request, about: nodes refuse 100 MB.
const BULK_BYTES: usize = 8 << 20;
/// Items of one search for what is to be deleted, and documents that it finds.
const ITEMS_MAX: usize = 1_000;
const DELETIONS: usize = 10_000;

/// Indices of an OpenSearch cluster. Makes drivers that share its connections.
pub struct OpenSearch {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    retention: Arc<dyn Retention>,
    /// The cluster knows what our indices are like.
    prepared: Mutex<bool>,
}

impl std::fmt::Debug for OpenSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OpenSearch").field(&self.shared.client.location()).finish()
    }
}

impl OpenSearch {
    /// The indices whose names begin with the path of a URL such as
    /// `http://user:password@host:9200/vedette`. Nothing is asked yet; indices are made by writing.
    pub fn new(url: &str, retention: Arc<dyn Retention>) -> Result<Self, Error> {
        let client = Client::new(url)?;
        Ok(Self { shared: Arc::new(Shared { client, retention, prepared: Mutex::new(false) }) })
    }
}

impl Store for OpenSearch {
    fn name(&self) -> String {
        format!("opensearch-{}", self.shared.client.place())
    }

    fn driver(&self) -> Box<dyn Driver> {
        Box::new(Connection { shared: Arc::clone(&self.shared), counters: Counters::default() })
    }
}

/// A driver; requests wait for their answer.
struct Connection {
    shared: Arc<Shared>,
    counters: Counters,
}

impl Shared {
    fn prepare(&self) -> Result<(), Error> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if !*prepared {
            indices::prepare(&self.client)?;
            *prepared = true;
        }
        Ok(())
    }

    /// Sends documents in requests of moderate size.
    fn write<T>(&self, rows: &[T], put: impl Fn(&mut Vec<u8>, &T)) -> Result<(), Error> {
        self.prepare()?;
        let mut lines = Vec::new();
        for row in rows {
            put(&mut lines, row);
            if lines.len() >= BULK_BYTES {
                self.client.bulk(&lines)?;
                lines.clear();
            }
        }
        if lines.is_empty() { Ok(()) } else { self.client.bulk(&lines) }
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

impl Driver for Connection {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        if samples.is_empty() {
            return Ok(());
        }
        let shared = &self.shared;
        let written = shared.write(samples, |lines, sample| {
            let class = shared.retention.class(sample.item, kind_of(&sample.value));
            rows::put_sample(lines, &shared.client.prefix, sample, class);
        });
        self.counters.failures += u64::from(written.is_err());
        written?;
        self.counters.samples += samples.len() as u64;
        self.counters.batches += 1;
        Ok(())
    }

    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        if trends.is_empty() {
            return Ok(());
        }
        let shared = &self.shared;
        let written = shared.write(trends, |lines, trend| {
            let class = shared.retention.class(trend.item, kind_of_trend(trend));
            rows::put_trend(lines, &shared.client.prefix, trend, class);
        });
        self.counters.failures += u64::from(written.is_err());
        written?;
        self.counters.trends += trends.len() as u64;
        Ok(())
    }

    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        self.shared.prepare()?;
        let items: Vec<i64> = items.iter().map(|item| item.0.cast_signed()).collect();
        for some in items.chunks(ITEMS_MAX) {
            self.shared.delete(false, some)?;
            self.shared.delete(true, some)?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn maintain(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn view(&self, _: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(StoreView { shared: Arc::clone(&self.shared), span })
    }

    fn view_newest(&self, items: &[ItemId], _: usize) -> Box<dyn View> {
        self.view(items, Span::ALL)
    }

    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        let client = &self.shared.client;
        let mut dropped = 0;
        for (index, bytes) in indices::list(client)? {
            if index.class == class && index.ends() <= day {
                client.find(Method::DELETE, &index.name(&client.prefix), b"")?;
                dropped += bytes;
            }
        }
        Ok(dropped)
    }

    fn classes(&self) -> Vec<Class> {
        // Who asks drops what is old; a store that is away is asked again in an hour.
        let found = indices::list(&self.shared.client).unwrap_or_default();
        let mut classes: Vec<Class> = found.into_iter().map(|(index, _)| index.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    fn describe(&self) -> DriverInfo {
        DriverInfo {
            name: "opensearch",
            location: self.shared.client.location().to_owned(),
            durability: Durability::Each,
            readable: true,
        }
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

/// What the cluster sent cannot be what was asked for.
fn odd_answer(what: &str) -> Error {
    let message = format!("OpenSearch answered what cannot be read ({what}); is it an OpenSearch?");
    Error { fault: Fault::Storage, retry: true, message }
}
