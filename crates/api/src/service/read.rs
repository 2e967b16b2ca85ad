//! Reading: an answer is read from history page by page, as its reader takes them.

use std::collections::VecDeque;
use std::sync::Arc;

use history::service::{Asker, Pages};
use history::{Order, RangeQuery, Reader, Span};
use model::{ItemId, SampleValue, Timestamp, TrendValues, ValueType};
use wire::history_service::{
    Failure, FloatTrend, ItemName, Log, NEWEST_MAX, PAGE_BYTES, PAGE_ROWS, Page, READ_ITEMS_MAX,
    ReadRequest, Reason, Sample, Samples, Trend, TrendRows, UnsignedTrend,
};

use super::{Allowed, find, no_item, sign_in};
use crate::Api;
use crate::permission::Need;

/// Values of a text item that are in memory for a page: each may be 64 KiB long.
const TEXT_ROWS: usize = 200;
/// Newest values that are asked for together.
const NEWEST_ROWS: usize = 500;
/// Items whose trends are asked for together.
const TREND_ITEMS: usize = 10;

pub(super) fn read(
    api: &Api,
    asker: &Asker,
    request: ReadRequest,
) -> Result<Box<dyn Pages>, Failure> {
    let history = Arc::clone(&api.deps.history);
    match request {
        ReadRequest::Range(request) => {
            let items = items(api, asker, "history.get", &request.items)?;
            let order = if request.descending { Order::NewestFirst } else { Order::OldestFirst };
            Ok(Box::new(RangePages {
                history,
                items: items.into(),
                span: span(request.from, request.till),
                order,
                limit: match usize::try_from(request.limit) {
                    Ok(0) | Err(_) => usize::MAX,
                    Ok(limit) => limit,
                },
                at: None,
            }))
        }
        ReadRequest::Newest(request) => {
            if request.count > NEWEST_MAX {
                let text = format!("\"count\" may be at most {NEWEST_MAX}.");
                return Err(Reason::Invalid.with(text));
            }
            let items = items(api, asker, "history.get", &request.items)?;
            Ok(Box::new(NewestPages {
                history,
                items: items.into_iter().map(|(item, _)| item).collect(),
                count: usize::try_from(request.count.max(1)).unwrap_or(1),
                ready: VecDeque::new(),
            }))
        }
        ReadRequest::Trends(request) => {
            let items = items(api, asker, "trend.get", &request.items)?;
            Ok(Box::new(TrendPages {
                history,
                items: items.into_iter().map(|(item, _)| item).collect(),
                span: span(request.from, request.till),
                ready: VecDeque::new(),
            }))
        }
    }
}

fn span(from: u32, till: u32) -> Span {
    Span::new(from, if till == 0 { u32::MAX } else { till })
}

/// The items that a request names, if the user may read them all.
fn items(
    api: &Api,
    asker: &Asker,
    method: &str,
    names: &[ItemName],
) -> Result<Vec<(ItemId, ValueType)>, Failure> {
    let user = sign_in(api, asker, method)?;
    if names.len() > READ_ITEMS_MAX {
        let text = format!("One read may name {READ_ITEMS_MAX} items: ask for the others next.");
        return Err(Reason::Invalid.with(text));
    }
    let snapshot = api.deps.config.snapshot();
    let at = |n: usize, failure: Failure| Failure {
        message: format!("items[{n}]: {}", failure.message),
        ..failure
    };
    let mut found = Vec::with_capacity(names.len());
    for (n, name) in names.iter().enumerate() {
        match find(&snapshot, name.itemid, &name.host, &name.key) {
            // Values of discovery rules are not kept.
            Ok(item) if item.discovery_rule => return Err(at(n, no_item())),
            Ok(item) => found.push(item),
            Err(failure) => return Err(at(n, failure)),
        }
    }
    let allowed = Allowed::load(api, &user, Need::Read, found.iter().map(|item| item.host))?;
    match found.iter().position(|item| !allowed.has(item.host)) {
        Some(n) => Err(at(n, no_item())),
        None => Ok(found.into_iter().map(|item| (item.id, item.value_type)).collect()),
    }
}

fn not_read(error: history::Error) -> Failure {
    tracing::error!(%error, "history could not be read");
    Failure {
        retry: error.retry,
        ..Reason::NotRead.with(format!("History could not be read: {error}"))
    }
}

/// Values of a span, item after item.
struct RangePages {
    history: Arc<dyn Reader>,
    items: VecDeque<(ItemId, ValueType)>,
    span: Span,
    order: Order,
    /// Values of each item.
    limit: usize,
    at: Option<Place>,
}

/// How far an item has been read.
struct Place {
    item: ItemId,
    value_type: ValueType,
    /// Values that the limit still allows.
    left: usize,
    last: Option<Timestamp>,
    /// Values of the last one's second that history gives again.
    again: usize,
}

impl RangePages {
    /// The next values of the item, at most a page; and whether there may be more.
    fn more(&self, place: &mut Place) -> Result<(Vec<Sample>, bool), history::Error> {
        let page = if place.value_type.is_numeric() { PAGE_ROWS } else { TEXT_ROWS };
        let room = page.min(place.left);
        let limit = room + place.again;
        let mut span = self.span;
        match (place.last, self.order) {
            (Some(last), Order::OldestFirst) => span.from = last.clock,
            (Some(last), Order::NewestFirst) => span.till = last.clock,
            (None, _) => {}
        }
        let query = RangeQuery {
            item: place.item,
            value_type: place.value_type,
            span,
            limit: Some(limit),
            order: self.order,
        };
        let found = self.history.range(&query)?;
        let mut more = found.len() >= limit;
        let seen = |at: Timestamp| match (place.last, self.order) {
            (None, _) => false,
            (Some(last), Order::OldestFirst) => at <= last,
            (Some(last), Order::NewestFirst) => at >= last,
        };
        let again = found.iter().take_while(|sample| seen(sample.at)).count();
        let mut bytes = 0;
        let fits = |sample: &&model::Sample| {
            let first = bytes == 0;
            bytes += 1 + sample.value.as_text().map_or(0, str::len);
            first || bytes <= PAGE_BYTES
        };
        let fresh: Vec<_> = found.iter().skip(again).take(room).take_while(fits).collect();
        more |= again + fresh.len() < found.len();
        place.left -= fresh.len();
        match fresh.last() {
            Some(last) => {
                let second = |sample: &&model::Sample| sample.at.clock == last.at.clock;
                let read = &found[..again + fresh.len()];
                place.again = read.iter().rev().take_while(|sample| second(sample)).count();
                place.last = Some(last.at);
            }
            // Late values came in before the place: past them with the next query.
            None => place.again = again,
        }
        Ok((fresh.into_iter().map(sample).collect(), more && place.left > 0))
    }
}

impl Pages for RangePages {
    fn next(&mut self) -> Result<Option<Page>, Failure> {
        loop {
            let mut place = match self.at.take() {
                Some(place) => place,
                None => {
                    let Some((item, value_type)) = self.items.pop_front() else { return Ok(None) };
                    Place { item, value_type, left: self.limit, last: None, again: 0 }
                }
            };
            let (samples, more) = self.more(&mut place).map_err(|error| {
                self.items.clear();
                not_read(error)
            })?;
            let itemid = place.item.0;
            self.at = more.then_some(place);
            if !samples.is_empty() {
                return Ok(Some(Page::Samples(Samples { itemid, samples })));
            }
        }
    }
}

/// The newest values of each item.
struct NewestPages {
    history: Arc<dyn Reader>,
    items: VecDeque<ItemId>,
    count: usize,
    ready: VecDeque<Samples>,
}

impl Pages for NewestPages {
    fn next(&mut self) -> Result<Option<Page>, Failure> {
        loop {
            if let Some(samples) = self.ready.pop_front() {
                return Ok(Some(Page::Samples(samples)));
            }
            if self.items.is_empty() {
                return Ok(None);
            }
            let many = (NEWEST_ROWS / self.count).clamp(1, self.items.len());
            let items: Vec<ItemId> = self.items.drain(..many).collect();
            let newest = self.history.newest(&items, self.count).map_err(|error| {
                self.items.clear();
                not_read(error)
            })?;
            for (item, samples) in items.into_iter().zip(newest) {
                self.ready.extend(by_bytes(item, samples));
            }
        }
    }
}

/// Messages of at most [`PAGE_BYTES`], about.
fn by_bytes(item: ItemId, samples: Vec<model::Sample>) -> Vec<Samples> {
    let mut messages: Vec<Samples> = Vec::new();
    let mut room = 0;
    for one in &samples {
        let bytes = 1 + one.value.as_text().map_or(0, str::len);
        match messages.last_mut() {
            Some(message) if bytes <= room => {
                room -= bytes;
                message.samples.push(sample(one));
            }
            _ => {
                room = PAGE_BYTES.saturating_sub(bytes);
                messages.push(Samples { itemid: item.0, samples: vec![sample(one)] });
            }
        }
    }
    messages
}

/// Trends of a span, item after item.
struct TrendPages {
    history: Arc<dyn Reader>,
    items: VecDeque<ItemId>,
    span: Span,
    ready: VecDeque<TrendRows>,
}

impl Pages for TrendPages {
    fn next(&mut self) -> Result<Option<Page>, Failure> {
        loop {
            if let Some(rows) = self.ready.pop_front() {
                return Ok(Some(Page::Trends(rows)));
            }
            if self.items.is_empty() {
                return Ok(None);
            }
            let many = TREND_ITEMS.min(self.items.len());
            let items: Vec<ItemId> = self.items.drain(..many).collect();
            let trends = self.history.trends(&items, self.span).map_err(|error| {
                self.items.clear();
                not_read(error)
            })?;
            for of_item in trends.chunk_by(|a, b| a.item == b.item) {
                let message = |trends: &[model::Trend]| TrendRows {
                    itemid: trends[0].item.0,
                    trends: trends.iter().map(trend).collect(),
                };
                self.ready.extend(of_item.chunks(PAGE_ROWS).map(message));
            }
        }
    }
}

fn sample(sample: &model::Sample) -> Sample {
    let mut message = Sample { clock: sample.at.clock, ns: sample.at.ns, ..Sample::default() };
    match &sample.value {
        SampleValue::Float(value) => message.float = Some(*value),
        SampleValue::Unsigned(value) => message.unsigned = Some(*value),
        SampleValue::Text(text) => message.text = Some(text.to_string()),
        SampleValue::Log(log) => {
            let (text, meta) = &**log;
            message.log = Some(Log {
                text: text.to_string(),
                clock: meta.timestamp,
                source: meta.source.to_string(),
                severity: meta.severity,
                eventid: meta.eventid,
            });
        }
    }
    message
}

fn trend(trend: &model::Trend) -> Trend {
    let mut message = Trend { hour: trend.hour, count: trend.num, ..Trend::default() };
    match trend.values {
        TrendValues::Float { min, avg, max } => {
            message.float = Some(FloatTrend { min, avg, max });
        }
        TrendValues::Unsigned { min, avg, max } => {
            message.unsigned = Some(UnsignedTrend { min, avg, max });
        }
    }
    message
}
