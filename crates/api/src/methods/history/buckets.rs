//! `history.buckets`, which is ours: the numbers of a long time as many points as a graph shows.

use std::num::NonZeroU32;

use history::{Bucket, BucketQuery, Sums};
use model::{ItemId, SampleValue, ValueType};

use super::{figures_json, known, output, readable_items, span, store_failed, value_text};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::params;

const OPTIONS: &[&str] =
    &["history", "itemids", "hostids", "time_from", "time_till", "width", "output"];

/// Buckets of one answer: more than any screen has columns, and fewer than OpenSearch refuses.
const BUCKETS_MAX: u64 = 50_000;

/// The numbers of items by item and bucket, oldest first: `clock` is its first second, a multiple of
/// `width` seconds, `num` how many numbers within the time it has. Buckets without are left out.
pub(super) fn get_buckets(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    known(input, OPTIONS)?;
    let (value_type, width, span) = (value_type(input)?, width(input)?, span(input)?);
    let output = output(input)?;
    let items = readable_items(call, input)?;
    let each = u64::from(span.till.saturating_sub(span.from)) / u64::from(width.get()) + 1;
    if each.saturating_mul(items.len() as u64) > BUCKETS_MAX {
        let why = format!("there would be more than {BUCKETS_MAX} buckets: take wider ones");
        return Err(ApiError::at("/width", why));
    }
    let mut rows = Vec::new();
    for item in items {
        let query = BucketQuery { item, value_type, span, width };
        let buckets = call.api.deps.history.buckets(&query).map_err(store_failed)?;
        rows.extend(buckets.iter().map(|bucket| bucket_json(item, bucket, &output)));
    }
    Ok(Json::Array(rows))
}

fn value_type(input: &Json) -> ApiResult<ValueType> {
    match input.get("history") {
        None | Some(Json::Null) => Ok(ValueType::Unsigned),
        Some(value) => match params::int(value, "/history")? {
            0 => Ok(ValueType::Float),
            3 => Ok(ValueType::Unsigned),
            _ => Err(ApiError::at("/history", "value must be one of 0, 3")),
        },
    }
}

fn width(input: &Json) -> ApiResult<NonZeroU32> {
    match input.get("width") {
        None | Some(Json::Null) => Err(ApiError::at("/", "the parameter \"width\" is missing")),
        Some(value) => u32::try_from(params::int(value, "/width")?)
            .ok()
            .and_then(NonZeroU32::new)
            .ok_or_else(|| ApiError::at("/width", "value must be one of 1-4294967295")),
    }
}

fn bucket_json(item: ItemId, bucket: &Bucket, output: &Output) -> Json {
    let float = |value: f64| value_text(&SampleValue::Float(value));
    let (min, max) = match bucket.sums {
        Sums::Float { min, max, .. } => (float(min), float(max)),
        Sums::Unsigned { min, max, .. } => (min.to_string(), max.to_string()),
    };
    let figures = [min, float(bucket.avg()), max];
    figures_json(item, bucket.clock, bucket.num.to_string(), figures, output)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use history::{BucketQuery, Error, RangeQuery, Reader, Span};
    use model::{ItemId, Sample, SampleValue, Timestamp, Trend, ValueType};
    use serde_json::json;

    use crate::testing::Server;

    const CLOCK: u32 = 1_700_000_000;

    /// Rows of every item, and what was asked.
    #[derive(Default)]
    struct Shelf(Mutex<Vec<BucketQuery>>);

    impl Reader for Shelf {
        fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
            let value = |n: u32| match query.value_type {
                ValueType::Float => SampleValue::Float(f64::from(n) / 2.0),
                _ => SampleValue::Unsigned(u64::MAX - u64::from(n)),
            };
            let row = |n: u32| {
                let at = Timestamp { clock: CLOCK + n * 30, ns: 0 };
                Sample { item: query.item, at, value: value(n) }
            };
            let rows = (0..4).map(row).filter(|row| query.span.has(row.at.clock));
            Ok(rows.collect())
        }
        fn buckets(&self, query: &BucketQuery) -> Result<Vec<history::Bucket>, Error> {
            self.0.lock().unwrap().push(*query);
            Ok(history::reduce(&self.range(&query.rows())?, query.width))
        }
        fn newest(&self, _: &[ItemId], _: usize) -> Result<Vec<Vec<Sample>>, Error> {
            Err(Error::storage_away("rows are not asked for"))
        }
        fn trends(&self, _: &[ItemId], _: Span) -> Result<Vec<Trend>, Error> {
            Err(Error::storage_away("trends are not asked for"))
        }
    }

    #[test]
    fn numbers_of_a_long_time_are_asked_for_in_few_buckets() {
        let shelf = Arc::new(Shelf::default());
        let server = Server::over(Arc::clone(&shelf) as Arc<dyn Reader>);
        let group = server.create("hostgroup.create", &json!({ "name": "g" }));
        let host = json!({ "host": "h", "groups": { "groupid": group } });
        let host = server.create("host.create", &host);
        let item = json!({ "name": "n", "key_": "n", "hostid": host, "type": 2, "value_type": 3 });
        let item = server.create("item.create", &item);
        let asks = |history: u8, till: u32, width: u32| {
            json!({ "itemids": item, "history": history, "time_from": CLOCK,
                "time_till": till, "width": width })
        };
        let row = |clock: u32, num: &str, min: &str, avg: &str, max: &str| {
            json!({ "itemid": item, "clock": clock.to_string(), "num": num, "value_min": min,
                "value_avg": avg, "value_max": max })
        };
        let start = CLOCK / 60 * 60;
        let top = "1.8446744073709552e+19";
        server.answers(&[
            (
                "history.buckets",
                asks(0, CLOCK + 89, 60),
                json!([row(start, "2", "0", "0.25", "0.5"), row(start + 60, "1", "1", "1", "1")]),
            ),
            (
                "history.buckets",
                asks(3, CLOCK + 31, 86_400),
                json!([row(
                    CLOCK / 86_400 * 86_400,
                    "2",
                    "18446744073709551614",
                    top,
                    "18446744073709551615"
                )]),
            ),
            ("history.buckets", asks(3, CLOCK - 1, 60), json!([])),
        ]);
        let asked = shelf.0.lock().unwrap().clone();
        let spans: Vec<Span> = asked.iter().map(|query| query.span).collect();
        let expected = [CLOCK + 89, CLOCK + 31, CLOCK - 1].map(|till| Span::new(CLOCK, till));
        assert_eq!(spans, expected);
        server.refuses(&[
            ("history.buckets", asks(1, CLOCK, 60), -32602, "0, 3"),
            ("history.buckets", asks(3, CLOCK, 0), -32602, "/width"),
            ("history.buckets", json!({ "itemids": item }), -32602, "\"width\" is missing"),
            ("history.buckets", json!({ "limit": 1 }), -32602, "unexpected parameter \"limit\""),
            ("history.buckets", asks(3, CLOCK + 100_000, 1), -32602, "take wider ones"),
        ]);
        let nobody = server.call_as(None, "history.buckets", &asks(3, CLOCK, 60));
        assert!(nobody.is_err(), "{nobody:?}");
        assert_eq!(shelf.0.lock().unwrap().len(), 3);
    }
}
