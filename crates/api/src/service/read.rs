//! Reading: an answer is read from history page by page, as its reader takes them.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::sync::Arc;

use config::snapshot::Item;
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
/// Newest values are of any type that the item had. One for each form in which values are kept.
const ALL_TYPES: &[ValueType] =
    &[ValueType::Float, ValueType::Unsigned, ValueType::Text, ValueType::Log];
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
                items: items.into_iter().map(|(item, kept_as)| (item, Some(kept_as))).collect(),
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
                items: items.into(),
                count: usize::try_from(request.count.max(1)).unwrap_or(1),
                ready: VecDeque::new(),
                long: None,
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
        found.push(match find(&snapshot, name.itemid, &name.host, &name.key) {
            // Values of discovery rules are not kept.
            Ok(item) => Some(item).filter(|item| !item.discovery_rule),
            // Told together with those that are there and hidden.
            Err(failure) if failure.reason() == Reason::NoItem => None,
            Err(failure) => return Err(at(n, failure)),
        });
    }
    let hosts = found.iter().flatten().map(|item| item.host);
    let allowed = Allowed::load(api, &user, Need::Read, hosts)?;
    let item = |(n, item): (usize, Option<&Arc<Item>>)| match item {
        Some(item) if allowed.has(item.host) => Ok((item.id, item.value_type)),
        _ => Err(at(n, no_item())),
    };
    found.into_iter().enumerate().map(item).collect()
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
    /// `None` = values of any type.
    items: VecDeque<(ItemId, Option<ValueType>)>,
    span: Span,
    order: Order,
    /// Values of each item.
    limit: usize,
    at: Option<Place>,
}

/// How far an item has been read.
struct Place {
    item: ItemId,
    value_type: Option<ValueType>,
    /// Values that the limit still allows.
    left: usize,
    last: Option<Timestamp>,
    /// Values of the last one's second that history gives again.
    again: usize,
}

impl RangePages {
    fn find(
        &self,
        place: &Place,
        span: Span,
        limit: usize,
    ) -> Result<Vec<model::Sample>, history::Error> {
        let types = place.value_type.as_ref().map_or(ALL_TYPES, std::slice::from_ref);
        let mut found = Vec::new();
        for &value_type in types {
            let (item, order) = (place.item, self.order);
            let query = RangeQuery { item, value_type, span, limit: Some(limit), order };
            found.append(&mut self.history.range(&query)?);
        }
        if types.len() > 1 {
            found.sort_by_key(|sample| sample.at);
            if self.order == Order::NewestFirst {
                found.reverse();
            }
            found.truncate(limit);
        }
        Ok(found)
    }

    /// The next values of the item, at most a page; and whether there may be more.
    fn more(&self, place: &mut Place) -> Result<(Vec<Sample>, bool), history::Error> {
        let numeric = place.value_type.is_some_and(ValueType::is_numeric);
        let page = if numeric { PAGE_ROWS } else { TEXT_ROWS };
        let room = page.min(place.left);
        let limit = room + place.again;
        let mut span = self.span;
        match (place.last, self.order) {
            (Some(last), Order::OldestFirst) => span.from = last.clock,
            (Some(last), Order::NewestFirst) => span.till = last.clock,
            (None, _) => {}
        }
        let found = self.find(place, span, limit)?;
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

/// Newest values that were read, newest first.
type Newest = Peekable<std::vec::IntoIter<model::Sample>>;

/// The newest values of each item.
struct NewestPages {
    history: Arc<dyn Reader>,
    items: VecDeque<(ItemId, ValueType)>,
    count: usize,
    ready: VecDeque<(ItemId, Newest)>,
    /// An item with many texts, which are read in parts.
    long: Option<RangePages>,
}

impl NewestPages {
    fn is_long(&self, value_type: ValueType) -> bool {
        !value_type.is_numeric() && self.count > TEXT_ROWS
    }

    /// What is read next; false = that was all.
    fn read(&mut self) -> Result<bool, Failure> {
        let Some(&(item, value_type)) = self.items.front() else { return Ok(false) };
        if self.is_long(value_type) {
            self.items.pop_front();
            self.long = Some(RangePages {
                history: Arc::clone(&self.history),
                items: [(item, None)].into(),
                span: Span::ALL,
                order: Order::NewestFirst,
                limit: self.count,
                at: None,
            });
            return Ok(true);
        }
        let short = self.items.iter().take((NEWEST_ROWS / self.count).max(1));
        let short = short.take_while(|(_, value_type)| !self.is_long(*value_type));
        let items: Vec<ItemId> = short.map(|(item, _)| *item).collect();
        self.items.drain(..items.len());
        let newest = self.history.newest(&items, self.count).map_err(not_read)?;
        let newest = newest.into_iter().map(|samples| samples.into_iter().peekable());
        self.ready = items.into_iter().zip(newest).collect();
        Ok(true)
    }

    fn page(&mut self) -> Result<Option<Page>, Failure> {
        loop {
            if let Some(long) = &mut self.long {
                if let Some(page) = long.next()? {
                    return Ok(Some(page));
                }
                self.long = None;
            }
            while let Some((item, newest)) = self.ready.front_mut() {
                let samples = by_bytes(newest);
                if !samples.is_empty() {
                    return Ok(Some(Page::Samples(Samples { itemid: item.0, samples })));
                }
                self.ready.pop_front();
            }
            if !self.read()? {
                return Ok(None);
            }
        }
    }
}

impl Pages for NewestPages {
    fn next(&mut self) -> Result<Option<Page>, Failure> {
        self.page().inspect_err(|_| self.items.clear())
    }
}

/// The next message, of at most [`PAGE_BYTES`], about.
fn by_bytes(newest: &mut Newest) -> Vec<Sample> {
    let (mut message, mut room) = (Vec::new(), PAGE_BYTES);
    let bytes = |one: &model::Sample| 1 + one.value.as_text().map_or(0, str::len);
    while let Some(one) = newest.next_if(|one| message.is_empty() || bytes(one) <= room) {
        room = room.saturating_sub(bytes(&one));
        message.push(sample(&one));
    }
    message
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
