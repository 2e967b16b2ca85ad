//! Reading: an answer is read from history page by page, as its reader takes them.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::sync::Arc;

use config::snapshot::Item;
use history::service::{Asker, Pages};
use history::{Order, RangeQuery, Reader, Span};
use model::{ItemId, SampleValue, TrendValues, ValueType};
use wire::history_service::{
    Failure, FloatTrend, ItemName, Log, NEWEST_MAX, NewestRequest, PAGE_BYTES, PAGE_ROWS, Page,
    READ_ITEMS_MAX, RangeRequest, ReadRequest, Reason, Sample, Samples, Trend, TrendRows,
    TrendsRequest, UnsignedTrend,
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
    Ok(match request {
        ReadRequest::Range(request) => Box::new(range(api, asker, &request)?),
        ReadRequest::Newest(request) => Box::new(newest(api, asker, &request)?),
        ReadRequest::Trends(request) => Box::new(trends(api, asker, &request)?),
    })
}

fn range(api: &Api, asker: &Asker, request: &RangeRequest) -> Result<RangePages, Failure> {
    let items = items(api, asker, "history.get", &request.items)?;
    let order = if request.descending { Order::NewestFirst } else { Order::OldestFirst };
    Ok(RangePages {
        history: Arc::clone(&api.deps.history),
        items: items.into_iter().map(|(item, kept_as)| (item, Some(kept_as))).collect(),
        span: span(request.from, request.till),
        order,
        limit: match usize::try_from(request.limit) {
            Ok(0) | Err(_) => usize::MAX,
            Ok(limit) => limit,
        },
        at: None,
    })
}

fn newest(api: &Api, asker: &Asker, request: &NewestRequest) -> Result<NewestPages, Failure> {
    if request.count > NEWEST_MAX {
        let text = format!("\"count\" may be at most {NEWEST_MAX}; Range gives more.");
        return Err(Reason::Invalid.with(text));
    }
    let items = items(api, asker, "history.get", &request.items)?;
    Ok(NewestPages {
        history: Arc::clone(&api.deps.history),
        items: items.into(),
        count: usize::try_from(request.count.max(1)).unwrap_or(1),
        ready: VecDeque::new(),
        long: None,
    })
}

fn trends(api: &Api, asker: &Asker, request: &TrendsRequest) -> Result<TrendPages, Failure> {
    let items = items(api, asker, "trend.get", &request.items)?;
    Ok(TrendPages {
        history: Arc::clone(&api.deps.history),
        items: items.into_iter().map(|(item, _)| item).collect(),
        span: span(request.from, request.till),
        ready: VecDeque::new(),
    })
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
    tracing::error!(%error, "cannot read history");
    Failure {
        retry: error.retry,
        ..Reason::NotRead.with(format!("History could not be read: {error}"))
    }
}

/// Samples that were read and not sent yet.
type Ready = Peekable<std::vec::IntoIter<model::Sample>>;

/// The next message of an item, if there is something for one: at most [`PAGE_ROWS`], and of
/// [`PAGE_BYTES`], about.
fn message(item: ItemId, ready: &mut Ready) -> Option<Page> {
    let (mut samples, mut room) = (Vec::new(), PAGE_BYTES);
    let bytes = |one: &model::Sample| 1 + one.value.as_text().map_or(0, str::len);
    while samples.len() < PAGE_ROWS
        && let Some(one) = ready.next_if(|one| samples.is_empty() || bytes(one) <= room)
    {
        room = room.saturating_sub(bytes(&one));
        samples.push(sample(&one));
    }
    (!samples.is_empty()).then_some(Page::Samples(Samples { itemid: item.0, samples }))
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
    /// The item that is being read.
    at: Option<Place>,
}

/// What is left of an item.
struct Place {
    item: ItemId,
    value_type: Option<ValueType>,
    ready: Ready,
    /// What has not been read; `None` = nothing.
    rest: Option<Span>,
    /// Values that the limit still allows to read.
    left: usize,
}

impl RangePages {
    fn next_item(&mut self) -> Option<Place> {
        let (item, value_type) = self.items.pop_front()?;
        let ready = Vec::new().into_iter().peekable();
        Some(Place { item, value_type, ready, rest: Some(self.span), left: self.limit })
    }

    fn find(
        &self,
        place: &Place,
        span: Span,
        limit: usize,
    ) -> Result<Vec<model::Sample>, history::Error> {
        let types = place.value_type.as_ref().map_or(ALL_TYPES, std::slice::from_ref);
        let limit = Some(limit).filter(|&limit| limit < usize::MAX);
        let mut found = Vec::new();
        for &value_type in types {
            let query = RangeQuery { item: place.item, value_type, span, limit, order: self.order };
            found.append(&mut self.history.range(&query)?);
        }
        if types.len() > 1 {
            found.sort_by_key(|sample| sample.at);
            if self.order == Order::NewestFirst {
                found.reverse();
            }
            found.truncate(limit.unwrap_or(usize::MAX));
        }
        Ok(found)
    }

    /// Reads on: whole seconds, because history is asked for seconds.
    fn more(&self, place: &mut Place, rest: Span) -> Result<(), history::Error> {
        let numeric = place.value_type.is_some_and(ValueType::is_numeric);
        let page = if numeric { PAGE_ROWS } else { TEXT_ROWS };
        // The one behind the page tells whether its second is whole.
        let limit = place.left.min(page + 1);
        let mut found = self.find(place, rest, limit)?;
        place.rest = match found.last() {
            Some(last) if found.len() == limit && limit < place.left => {
                let second = last.at.clock;
                found.truncate(found.partition_point(|sample| sample.at.clock != second));
                if found.is_empty() {
                    // It has more than a page.
                    found = self.find(place, Span::new(second, second), place.left)?;
                    self.behind(second, rest)
                } else {
                    Some(self.from(second, rest))
                }
            }
            _ => None,
        };
        place.left -= found.len();
        place.ready = found.into_iter().peekable();
        Ok(())
    }

    /// What of the span has not been read, when this second is the next.
    fn from(&self, second: u32, span: Span) -> Span {
        match self.order {
            Order::OldestFirst => Span::new(second, span.till),
            Order::NewestFirst => Span::new(span.from, second),
        }
    }

    /// The same when this second was the last one.
    fn behind(&self, second: u32, span: Span) -> Option<Span> {
        let next = match self.order {
            Order::OldestFirst => second.checked_add(1)?,
            Order::NewestFirst => second.checked_sub(1)?,
        };
        span.has(next).then(|| self.from(next, span))
    }
}

impl Pages for RangePages {
    fn next(&mut self) -> Result<Option<Page>, Failure> {
        loop {
            let Some(mut place) = self.at.take().or_else(|| self.next_item()) else {
                return Ok(None);
            };
            let page = message(place.item, &mut place.ready);
            if page.is_none() {
                let Some(rest) = place.rest.filter(|_| place.left > 0) else { continue };
                self.more(&mut place, rest).map_err(|error| {
                    self.items.clear();
                    not_read(error)
                })?;
            }
            self.at = Some(place);
            if page.is_some() {
                return Ok(page);
            }
        }
    }
}

/// The newest values of each item.
struct NewestPages {
    history: Arc<dyn Reader>,
    items: VecDeque<(ItemId, ValueType)>,
    count: usize,
    ready: VecDeque<(ItemId, Ready)>,
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
            while let Some((item, ready)) = self.ready.front_mut() {
                let page = message(*item, ready);
                if page.is_some() {
                    return Ok(page);
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
