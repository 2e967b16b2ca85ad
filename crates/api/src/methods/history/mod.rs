//! `history.get`, `history.buckets`, `history.gaps`, `history.push`, `history.clear`, `trend.get`: values, straight
//! from the store.

mod buckets;
mod gaps;
mod push;
#[cfg(test)]
mod tests;

use history::{Order, RangeQuery, Span};
use model::{ItemId, Sample, SampleValue, TrendValues, ValueType};
use objects::sql::{FLAGS_REAL, KIND_HOST};
use serde_json::Map;

use crate::answer::{push_text, separate};
use crate::call::{Call, Json, Method};
use crate::effect::Effect;
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::methods::item::ITEM;
use crate::params;
use crate::permission::{Need, and, on_hosts};

pub(crate) const METHODS: &[Method] = &[
    Method::user("history.get", get_history),
    Method::user("history.buckets", buckets::get_buckets),
    Method::user("history.gaps", gaps::get_gaps),
    Method::user("history.push", push::push),
    Method::admin("history.clear", clear),
    Method::user("trend.get", get_trends),
];

/// Items of one question to a store: what a filter leaves out is in memory of these alone.
const ITEMS_AT_ONCE: usize = 16;

const OPTIONS: &[&str] = &[
    "history",
    "hostids",
    "itemids",
    "time_from",
    "time_till",
    "output",
    "filter",
    "search",
    "searchByAny",
    "searchWildcardsEnabled",
    "startSearch",
    "excludeSearch",
    "sortfield",
    "sortorder",
    "limit",
    "countOutput",
    "editable",
    "nopermissions",
];

fn get_history(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    known(input, OPTIONS)?;
    let kind = match input.get("history") {
        None | Some(Json::Null) => ValueType::Unsigned,
        Some(value) => u8::try_from(params::int(value, "/history")?)
            .ok()
            .and_then(ValueType::from_api)
            .ok_or_else(|| ApiError::at("/history", "value must be one of 0, 1, 2, 3, 4, 5"))?,
    };
    if kind.is_numeric()
        && input.get("search").is_some_and(|s| s.as_object().is_some_and(|m| !m.is_empty()))
    {
        return Err(ApiError::at("/search", "should be empty"));
    }
    let span = span(input)?;
    let limit = limit(input)?;
    let sort = Sort::read(input)?;
    let filters = Filters::read(input);
    let items = readable_items(call, input)?;
    // Sorted by time within an item, the store itself can stop at the limit.
    let limit_of_each = limit.filter(|_| !filters.any() && sort.by_time_alone());
    let order = if sort.newest_first() { Order::NewestFirst } else { Order::OldestFirst };
    let query = |&item| RangeQuery { item, value_type: kind, span, limit: limit_of_each, order };
    let (mut samples, mut memory) = (Vec::new(), Vec::new());
    for some in items.chunks(ITEMS_AT_ONCE) {
        let queries: Vec<RangeQuery> = some.iter().map(query).collect();
        let found = call.api.deps.history.ranges(&queries).map_err(store_failed)?;
        let before = samples.len();
        samples.extend(found.into_iter().flatten().filter(|sample| filters.keep(sample)));
        memory.push(call.hold((samples.len() - before) * size_of::<Sample>())?);
    }
    sort.sort(&mut samples);
    if let Some(limit) = limit {
        samples.truncate(limit);
    }
    if params::flag(input.get("countOutput")) {
        return Ok(Json::String(samples.len().to_string()));
    }
    let output = output(input)?;
    let members = Members::new(sample_members(kind), &output);
    call.list(samples.iter(), |out, sample| write_sample(out, sample, &members))
}

/// Nothing but these options is there.
fn known(input: &Json, options: &[&str]) -> ApiResult<()> {
    let mut names = input.as_object().into_iter().flat_map(Map::keys);
    match names.find(|name| !options.contains(&name.as_str())) {
        Some(name) => Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\""))),
        None => Ok(()),
    }
}

fn store_failed(error: history::Error) -> ApiError {
    tracing::error!(%error, "cannot read history");
    ApiError::application(format!("History could not be read: {error}"))
}

fn output(input: &Json) -> ApiResult<Output> {
    match input.get("output") {
        Some(value) => Ok(Output::parse(value, "/output")?.unwrap_or(Output::Extend)),
        None => Ok(Output::Extend),
    }
}

fn limit(input: &Json) -> ApiResult<Option<usize>> {
    match input.get("limit") {
        None | Some(Json::Null) => Ok(None),
        Some(value) => Ok(usize::try_from(params::int(value, "/limit")?).ok().filter(|n| *n > 0)),
    }
}

fn span(input: &Json) -> ApiResult<Span> {
    let bound = |name: &str, default: u32| -> ApiResult<u32> {
        match input.get(name) {
            None | Some(Json::Null) => Ok(default),
            Some(value) => {
                let clock = params::int(value, &format!("/{name}"))?;
                Ok(u32::try_from(clock.max(0)).unwrap_or(u32::MAX))
            }
        }
    };
    Ok(Span { from: bound("time_from", 0)?, till: bound("time_till", u32::MAX)? })
}

/// Items of the options `itemids` and `hostids` that the user may read, in the order of ids.
fn readable_items(call: &Call<'_>, input: &Json) -> ApiResult<Vec<ItemId>> {
    let itemids = params::ids(input, "itemids")?;
    let hostids = params::ids(input, "hostids")?;
    let mut sql = format!("SELECT i.itemid FROM items i WHERE i.flags IN {FLAGS_REAL}");
    if let Some(condition) = on_hosts(call.user(), Need::Read, "i.hostid") {
        sql += &format!(" AND {condition}");
    }
    if let Some(ids) = &hostids {
        let list: Vec<String> = ids.iter().map(ToString::to_string).collect();
        sql += &format!(
            " AND i.hostid IN ({})",
            if list.is_empty() { "0".into() } else { list.join(",") }
        );
    }
    let rows = match &itemids {
        Some(ids) => call.read(|c| {
            let sql = format!("{sql} AND i.itemid IN ({{ids}})");
            Ok(config::db::query_by_ids(c, &sql, &[], ids)?)
        })?,
        None => call.rows(&sql, &[])?,
    };
    let mut items: Vec<ItemId> = rows.iter().map(|row| ItemId(row.id("itemid"))).collect();
    items.sort_unstable();
    Ok(items)
}

/// Order of the answer: fields with "descending".
struct Sort(Vec<(SortField, bool)>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum SortField {
    Item,
    Clock,
    Ns,
}

impl Sort {
    fn read(input: &Json) -> ApiResult<Self> {
        let Some(fields) = input.get("sortfield").filter(|v| !v.is_null()) else {
            return Ok(Self(Vec::new()));
        };
        let orders = input.get("sortorder").map(params::list).unwrap_or_default();
        let many = input.get("sortorder").is_some_and(Json::is_array);
        let fields = params::list(fields).into_iter().enumerate().map(|(n, field)| {
            let path = format!("/sortfield/{}", n + 1);
            let field = match params::text(field, &path)?.as_str() {
                "itemid" => SortField::Item,
                "clock" => SortField::Clock,
                "ns" => SortField::Ns,
                _ => {
                    let text = "value must be one of \"itemid\", \"clock\", \"ns\"";
                    return Err(ApiError::at(&path, text));
                }
            };
            let order = orders.get(if many { n } else { 0 }).and_then(|o| o.as_str());
            Ok((field, order == Some("DESC")))
        });
        Ok(Self(fields.collect::<ApiResult<_>>()?))
    }

    fn newest_first(&self) -> bool {
        self.0.iter().any(|(field, down)| *field == SortField::Clock && *down)
    }

    fn by_time_alone(&self) -> bool {
        let mut fields = self.0.iter().filter(|(field, _)| *field != SortField::Item);
        // The nanoseconds of a moment tell its place only behind its second.
        let Some((first, down)) = fields.next() else { return true };
        *first == SortField::Clock && fields.all(|(_, d)| d == down)
    }

    fn sort(&self, samples: &mut [Sample]) {
        samples.sort_by(|a, b| {
            self.0.iter().fold(std::cmp::Ordering::Equal, |order, (field, down)| {
                order.then_with(|| {
                    let order = match field {
                        SortField::Item => a.item.cmp(&b.item),
                        SortField::Clock => a.at.clock.cmp(&b.at.clock),
                        SortField::Ns => a.at.ns.cmp(&b.at.ns),
                    };
                    if *down { order.reverse() } else { order }
                })
            })
        });
    }
}

/// `filter` and `search` on values, which no store indexes.
struct Filters {
    equal: Vec<(String, Vec<String>)>,
    search: Vec<String>,
    start: bool,
    exclude: bool,
}

impl Filters {
    fn read(input: &Json) -> Self {
        let texts = |value: &Json| -> Vec<String> {
            params::list(value).into_iter().filter_map(|v| params::text(v, "").ok()).collect()
        };
        let equal =
            input.get("filter").and_then(Json::as_object).map_or_else(Vec::new, |members| {
                members.iter().map(|(name, value)| (name.clone(), texts(value))).collect()
            });
        let search = input.get("search").and_then(|s| s.get("value")).map_or_else(Vec::new, texts);
        Self {
            equal,
            search: search.iter().map(|text| text.to_lowercase()).collect(),
            start: params::flag(input.get("startSearch")),
            exclude: params::flag(input.get("excludeSearch")),
        }
    }

    fn any(&self) -> bool {
        !self.equal.is_empty() || !self.search.is_empty()
    }

    fn keep(&self, sample: &Sample) -> bool {
        let text = value_text(&sample.value);
        let equal = self.equal.iter().all(|(name, wanted)| match name.as_str() {
            "value" => wanted.contains(&text),
            "itemid" => wanted.contains(&sample.item.to_string()),
            "clock" => wanted.contains(&sample.at.clock.to_string()),
            "ns" => wanted.contains(&sample.at.ns.to_string()),
            _ => true,
        });
        let lower = text.to_lowercase();
        let hit = |part: &String| {
            if self.start { lower.starts_with(part) } else { lower.contains(part) }
        };
        let found = self.search.is_empty() || (self.search.iter().any(hit) != self.exclude);
        equal && found
    }
}

/// A value as the API writes it. Floats have the shortest text that reads back as the same value.
pub(crate) fn value_text(value: &SampleValue) -> String {
    match value {
        SampleValue::Float(v) => float_text(*v),
        SampleValue::Unsigned(v) => v.to_string(),
        SampleValue::Text(text) => text.to_string(),
        SampleValue::Log(log) => log.0.to_string(),
    }
}

/// As a 7.0 server over PostgreSQL writes floats: an exponent of two digits and a sign beyond
/// fifteen digits before, or four zeros after the point.
fn float_text(v: f64) -> String {
    if v == 0.0 {
        return String::from("0");
    }
    if !v.is_finite() || (1e-4..1e15).contains(&v.abs()) {
        return v.to_string();
    }
    let text = format!("{v:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

fn sample_members(kind: ValueType) -> &'static [&'static str] {
    match kind {
        ValueType::Log => {
            &["itemid", "clock", "timestamp", "source", "severity", "value", "logeventid", "ns"]
        }
        _ => &["itemid", "clock", "value", "ns"],
    }
}

fn write_sample(out: &mut Vec<u8>, sample: &Sample, members: &Members) {
    let log = match &sample.value {
        SampleValue::Log(log) => Some(&log.1),
        _ => None,
    };
    members.write(out, |out, name| match name {
        "itemid" => push_figure(out, sample.item),
        "clock" => push_figure(out, sample.at.clock),
        "ns" => push_figure(out, sample.at.ns),
        "timestamp" => push_figure(out, log.map_or(0, |meta| meta.timestamp)),
        "severity" => push_figure(out, log.map_or(0, |meta| meta.severity)),
        "logeventid" => push_figure(out, log.map_or(0, |meta| meta.eventid)),
        "source" => push_text(out, log.map_or("", |meta| &meta.source)),
        _ => push_value(out, &sample.value),
    });
}

fn push_value(out: &mut Vec<u8>, value: &SampleValue) {
    match value {
        SampleValue::Float(v) => push_text(out, &float_text(*v)),
        SampleValue::Unsigned(v) => push_figure(out, v),
        SampleValue::Text(text) => push_text(out, text),
        SampleValue::Log(log) => push_text(out, &log.0),
    }
}

fn get_trends(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    // The reference passes a bad time on to its database, which refuses; so clients know this code.
    let span = span(input).map_err(|error| {
        ApiError::application(format!("The time range cannot be read. {error}"))
    })?;
    let items = readable_items(call, input)?;
    let mut trends = call.api.deps.history.trends(&items, span).map_err(store_failed)?;
    let _memory = call.hold(trends.len() * size_of::<model::Trend>())?;
    if let Some(limit) = limit(input)? {
        trends.truncate(limit);
    }
    if params::flag(input.get("countOutput")) {
        return Ok(Json::String(trends.len().to_string()));
    }
    let output = output(input)?;
    let members = Members::new(FIGURES, &output);
    call.list(trends.iter(), |out, trend| {
        members.write(out, |out, name| match name {
            "itemid" => push_figure(out, trend.item),
            "clock" => push_figure(out, trend.hour),
            "num" => push_figure(out, trend.num),
            _ => match trend.values {
                TrendValues::Float { min, avg, max } => {
                    push_text(out, &float_text(one_of(name, [min, avg, max])));
                }
                TrendValues::Unsigned { min, avg, max } => {
                    push_figure(out, one_of(name, [min, avg, max]));
                }
            },
        });
    })
}

/// Members of an object about a span of an item.
const FIGURES: &[&str] = &["itemid", "clock", "num", "value_min", "value_avg", "value_max"];

fn one_of<T>(name: &str, [min, avg, max]: [T; 3]) -> T {
    match name {
        "value_min" => min,
        "value_max" => max,
        _ => avg,
    }
}

/// Members of the rows of a list, with what stands before their values.
struct Members(Vec<(&'static str, Vec<u8>)>);

impl Members {
    fn new(names: &[&'static str], output: &Output) -> Self {
        let wanted = names.iter().filter(|name| output.has(name)).enumerate();
        let member = |(n, name): (usize, &&'static str)| {
            let mut before = Vec::new();
            separate(&mut before, n);
            push_text(&mut before, name);
            before.push(b':');
            (*name, before)
        };
        Self(wanted.map(member).collect())
    }

    fn write(&self, out: &mut Vec<u8>, value: impl Fn(&mut Vec<u8>, &str)) {
        out.push(b'{');
        for (name, before) in &self.0 {
            out.extend_from_slice(before);
            value(out, name);
        }
        out.push(b'}');
    }
}

/// Appends a number, which JSON has as a string.
fn push_figure(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    use std::io::Write;
    write!(out, "\"{number}\"").expect("BUG: writing to memory does not fail");
}

/// What the numbers of an item from a second on come to.
fn figures_json(
    item: ItemId,
    clock: u32,
    num: String,
    [min, avg, max]: [String; 3],
    output: &Output,
) -> Json {
    let values = [item.to_string(), clock.to_string(), num, min, avg, max];
    let wanted = FIGURES.iter().zip(values).filter(|(name, _)| output.has(name));
    Json::Object(wanted.map(|(name, value)| ((*name).to_owned(), value.into())).collect())
}

/// Deletes history and trends of items.
fn clear(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    // Items of hosts alone have history: no prototypes, rules, or items of templates.
    let right = and(on_hosts(call.user(), Need::Write, "i.hostid"));
    let sql = format!(
        "SELECT i.itemid FROM items i JOIN hosts h ON h.hostid = i.hostid \
         WHERE h.kind = {KIND_HOST} AND i.flags IN {FLAGS_REAL}{right} AND i.itemid IN ({{ids}})"
    );
    let rows = call.read(|c| Ok(config::db::query_by_ids(c, &sql, &[], &ids)?))?;
    if rows.len() != ids.len() {
        return Err(ApiError::no_object());
    }
    let items: Vec<ItemId> = ids.iter().map(|id| ItemId(*id)).collect();
    call.after_commit(Effect::ClearHistory(items)).map_err(ApiError::application)?;
    Ok(ITEM.result(&ids))
}
