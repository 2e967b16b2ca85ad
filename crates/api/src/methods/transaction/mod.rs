//! Records of what the load balancer's engines carried. They have clients' addresses and query strings, which
//! belong to no host, so that rights on hosts cannot limit them: they are for super admins.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, json};
use transactions::columns::{COLUMNS, TIMINGS};
use transactions::{Answer, Cell, Column, Filter, Group, Percentiles, Query, Row, Summary};

use crate::answer::{push_json, push_text, separate};
use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::params;

pub(crate) const METHODS: &[Method] = &[Method::super_admin("transaction.get", get)];

const OPTIONS: &[&str] = &[
    "filter",
    "time_from",
    "time_till",
    "output",
    "limit",
    "countOutput",
    "histogram",
    "percentiles",
    "group",
    "groupLimit",
];
/// Records of one result; each takes up to 16 kB.
const LIMIT: i64 = 100;
const LIMIT_MAX: i64 = 1_000;
/// Records of one microsecond that a page is completed with.
const ROWS_OF_LAST: usize = 1_000;
const BARS_MAX: i64 = 1_000;
const GROUPS: i64 = 50;
const GROUPS_MAX: i64 = 1_000;
/// Searches at the same time; each takes a processor.
const SEARCHES_MAX: usize = 2;
/// Memory of a search: a decoded block, records, groups.
const SEARCH_BYTES: usize = 64 << 20;
/// Memory of all searches that run at the same time.
pub(crate) const BYTES_MAX: usize = SEARCHES_MAX * SEARCH_BYTES;
const US: u64 = 1_000_000;

/// Counts the searches that run.
#[derive(Debug, Default)]
pub(crate) struct Searches(AtomicUsize);

struct Seat<'s>(&'s Searches);

impl Searches {
    fn enter(&self) -> ApiResult<Seat<'_>> {
        let seat = Seat(self);
        if self.0.fetch_add(1, Ordering::Relaxed) >= SEARCHES_MAX {
            return Err(ApiError::application(
                "Other searches of transactions are running. Try again when they have ended.",
            ));
        }
        Ok(seat)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is wanted beside the records.
struct Wanted {
    output: Output,
    count: bool,
    histogram: bool,
    percentiles: bool,
    groups: usize,
}

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let (query, wanted) = read(input)?;
    let _seat = call.api.searches.enter()?;
    let _memory = call.hold(SEARCH_BYTES)?;
    let gone = call.gone.clone();
    let stop = || gone.is_gone();
    let search = |query: &Query| {
        let answer = call.api.deps.transactions.search(query, &stop);
        answer.map_err(|error| ApiError::application(error.to_string()))
    };
    let mut answer = search(&query)?;
    call.gone.check()?;
    complete(&mut answer, &query, search)?;
    call.gone.check()?;
    if wanted.count {
        return Ok(answer.matched.to_string().into());
    }
    let summary = answer.summary.as_ref().filter(|_| query.group.is_some() || wanted.has_parts());
    let Some(summary) = summary else {
        return call.list(answer.rows.iter(), |out, row| push_row(out, row, &wanted.output));
    };
    Ok(whole(&answer, summary, &query, &wanted))
}

/// Appends the records that a full page lacks of its last microsecond: who pages by `began` would never see them.
fn complete(
    answer: &mut Answer,
    query: &Query,
    search: impl Fn(&Query) -> ApiResult<Answer>,
) -> ApiResult<()> {
    let is_cut = answer.matched > answer.rows.len() as u64;
    let Some(last) = answer.rows.last().filter(|_| is_cut).map(Row::began_us) else {
        return Ok(());
    };
    let of_last = search(&Query {
        filter: query.filter.clone(),
        from_us: last,
        to_us: last,
        rows: ROWS_OF_LAST,
        bars: 0,
        group: None,
        threads: query.threads,
    })?;
    let before = answer.rows.partition_point(|row| row.began_us() > last);
    if of_last.rows.len() > answer.rows.len() - before {
        answer.rows.truncate(before);
        answer.rows.extend(of_last.rows);
    }
    Ok(())
}

impl Wanted {
    const fn has_parts(&self) -> bool {
        self.histogram || self.percentiles
    }
}

fn read(input: &Json) -> ApiResult<(Query, Wanted)> {
    let none = Map::new();
    let members = match input {
        Json::Object(members) => members,
        Json::Array(list) if list.is_empty() => &none,
        _ => return Err(ApiError::at("/", "an object is expected")),
    };
    if let Some(name) = members.keys().find(|name| !OPTIONS.contains(&name.as_str())) {
        return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
    }
    let bars = number(input, "histogram", 0, 0..=BARS_MAX)?;
    let wanted = Wanted {
        output: output(input)?,
        count: params::flag(input.get("countOutput")),
        histogram: bars > 0,
        percentiles: params::flag(input.get("percentiles")),
        groups: number(input, "groupLimit", GROUPS, 1..=GROUPS_MAX)?,
    };
    let group = given(input, "group").map(|name| column(name, "/group")).transpose()?;
    let limit = number(input, "limit", LIMIT, 0..=LIMIT_MAX)?;
    let summary = !wanted.count && (group.is_some() || wanted.has_parts());
    let query = Query {
        filter: filter(input)?,
        from_us: seconds(input, "time_from", 0)?.saturating_mul(US),
        to_us: seconds(input, "time_till", u64::MAX)?
            .saturating_add(1)
            .saturating_mul(US)
            .saturating_sub(1),
        rows: if wanted.count { 0 } else { limit },
        bars: if summary { bars.max(1) } else { 0 },
        group: group.filter(|_| summary),
        threads: 1,
    };
    Ok((query, wanted))
}

/// A member that is neither missing nor null.
fn given<'i>(input: &'i Json, name: &str) -> Option<&'i Json> {
    input.get(name).filter(|value| !value.is_null())
}

fn filter(input: &Json) -> ApiResult<Filter> {
    let Some(text) = given(input, "filter") else { return Ok(Filter::default()) };
    params::text(text, "/filter")?.parse().map_err(|error| ApiError::at("/filter", error))
}

/// Unix time.
fn seconds(input: &Json, name: &str, default: u64) -> ApiResult<u64> {
    let Some(value) = given(input, name) else { return Ok(default) };
    let path = format!("/{name}");
    u64::try_from(params::int(value, &path)?)
        .map_err(|_| ApiError::at(&path, "a number of seconds since 1970 is expected"))
}

fn number(
    input: &Json,
    name: &str,
    default: i64,
    allowed: std::ops::RangeInclusive<i64>,
) -> ApiResult<usize> {
    let path = format!("/{name}");
    let value = given(input, name).map_or(Ok(default), |value| params::int(value, &path))?;
    let number = usize::try_from(value).ok().filter(|_| allowed.contains(&value));
    number.ok_or_else(|| {
        let (least, most) = allowed.into_inner();
        ApiError::at(&path, format_args!("value must be from {least} to {most}"))
    })
}

fn column(name: &Json, path: &str) -> ApiResult<&'static Column> {
    let name = params::text(name, path)?;
    Column::named(&name).ok_or_else(|| {
        let names: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        ApiError::at(path, format_args!("value must be one of {}", names.join(", ")))
    })
}

fn output(input: &Json) -> ApiResult<Output> {
    let Some(value) = given(input, "output") else { return Ok(Output::Extend) };
    if let Json::Array(names) = value {
        for (n, name) in names.iter().enumerate() {
            column(name, &format!("/output/{}", n + 1))?;
        }
    }
    match Output::parse(value, "/output")? {
        None | Some(Output::Count) => {
            Err(ApiError::at("/output", "an array or \"extend\" is expected"))
        }
        Some(output) => Ok(output),
    }
}

/// As everywhere in the API, numbers are strings.
fn push_row(out: &mut Vec<u8>, row: &Row, output: &Output) {
    out.push(b'{');
    let wanted = COLUMNS.iter().zip(&row.0).filter(|(column, _)| output.has(column.name));
    for (n, (column, cell)) in wanted.enumerate() {
        separate(out, n);
        push_text(out, column.name);
        out.push(b':');
        push_json(out, &shown(cell));
    }
    out.push(b'}');
}

fn shown(cell: &Cell) -> Json {
    cell.to_string().into()
}

fn row_json(row: &Row, output: &Output) -> Json {
    let wanted = COLUMNS.iter().zip(&row.0).filter(|(column, _)| output.has(column.name));
    Json::Object(wanted.map(|(column, cell)| (column.name.to_owned(), shown(cell))).collect())
}

/// The result with more than records.
fn whole(answer: &Answer, summary: &Summary, query: &Query, wanted: &Wanted) -> Json {
    let rows = answer.rows.iter().map(|row| row_json(row, &wanted.output));
    let mut whole = json!({
        "count": answer.matched.to_string(),
        "scanned": answer.scanned.to_string(),
        "damaged": answer.damaged.to_string(),
        "transactions": rows.collect::<Vec<_>>(),
    });
    if wanted.histogram {
        let bars = summary.histogram.bars.iter().map(|bar| {
            json!({
                "count": bar.count.to_string(),
                "faults": bar.faults.to_string(),
                "total": bar.total_us.to_string(),
            })
        });
        whole["histogram"] = json!({
            "from": summary.histogram.from_us.to_string(),
            "width": summary.histogram.width_us.to_string(),
            "bars": bars.collect::<Vec<_>>(),
        });
    }
    if wanted.percentiles {
        let timings = TIMINGS.iter().zip(summary.timings());
        let timings = timings.map(|(name, timing)| ((*name).to_owned(), percentiles(&timing)));
        whole["percentiles"] = Json::Object(timings.collect());
    }
    if let Some(column) = query.group {
        let (groups, other) = summary.groups(wanted.groups);
        let groups = groups.into_iter().map(|(value, group)| {
            let mut shown_group = figures(group);
            shown_group[column.name] = shown(value);
            shown_group
        });
        whole["groups"] = groups.collect();
        whole["other"] = figures(&other);
    }
    whole
}

fn figures(group: &Group) -> Json {
    json!({
        "count": group.count.to_string(),
        "faults": group.faults.to_string(),
        "response_bytes": group.response_bytes.to_string(),
        "total": group.total_us.to_string(),
        "total_max": group.total_max_us.to_string(),
    })
}

fn percentiles(timing: &Percentiles) -> Json {
    let Percentiles { mean, p50, p90, p99, p999, max } = timing;
    json!({
        "mean": format!("{mean:.0}"),
        "p50": p50.to_string(),
        "p90": p90.to_string(),
        "p99": p99.to_string(),
        "p999": p999.to_string(),
        "max": max.to_string(),
    })
}

#[cfg(test)]
mod tests;
