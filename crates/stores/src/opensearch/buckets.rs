//! Buckets as aggregations, and back.
//!
//! An aggregation counts in floats of 64 bits: whole numbers are exact below 2^53, and so is their
//! sum. Where it is not, the bucket is one whose rows have to be read.

use std::num::NonZeroU32;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use history::Kind;
use history::Reduced;

/// The first whole number of which a float cannot be told from its neighbour.
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

/// The aggregation, called `buckets`.
pub(crate) fn question(width: NonZeroU32) -> Value {
    json!({ "buckets": {
        "date_histogram": {
            "field": "clock", "fixed_interval": format!("{width}s"), "min_doc_count": 1,
        },
        "aggs": { "figures": { "stats": { "field": "value" } } },
    } })
}

/// What is answered.
#[derive(Deserialize)]
pub(crate) struct Answer<'a> {
    /// `None` = there is no index.
    #[serde(borrow)]
    aggregations: Option<Aggregations<'a>>,
}

#[derive(Deserialize)]
struct Aggregations<'a> {
    #[serde(borrow)]
    buckets: Buckets<'a>,
}

#[derive(Deserialize)]
struct Buckets<'a> {
    #[serde(borrow)]
    buckets: Vec<Bucket<'a>>,
}

#[derive(Deserialize)]
struct Bucket<'a> {
    /// Milliseconds.
    key: u64,
    doc_count: u64,
    #[serde(borrow)]
    figures: Stats<'a>,
}

/// Numbers stay text: the standard library reads them exactly.
#[derive(Deserialize)]
struct Stats<'a> {
    /// Of documents whose value is a number in JSON.
    count: u64,
    #[serde(borrow)]
    min: Option<&'a RawValue>,
    #[serde(borrow)]
    max: Option<&'a RawValue>,
    #[serde(borrow)]
    sum: Option<&'a RawValue>,
}

impl Answer<'_> {
    /// The buckets; `None` when it cannot be read.
    pub(crate) fn read(&self, kind: Kind) -> Option<Vec<Reduced>> {
        let buckets = self.aggregations.iter().flat_map(|all| &all.buckets.buckets);
        buckets.map(|bucket| bucket.read(kind)).collect()
    }
}

impl Bucket<'_> {
    fn read(&self, kind: Kind) -> Option<Reduced> {
        let clock = u32::try_from(self.key / 1000).ok()?;
        // No number, or "Infinity" as text.
        let figure = |figure: Option<&RawValue>| figure?.get().parse::<f64>().ok();
        let Stats { count, min, max, sum } = self.figures;
        let figures = (figure(min), figure(max), figure(sum));
        let (Some(min), Some(max), Some(sum)) = figures else { return Some(Reduced::rows(clock)) };
        if kind == Kind::Float {
            return Some(Reduced::floats(clock, self.doc_count, count, [min, max, sum]));
        }
        let exact = |figure: f64| (0.0..EXACT_BELOW).contains(&figure);
        if count == self.doc_count && count > 0 && [min, max, sum].into_iter().all(exact) {
            return Some(Reduced::whole(clock, count, [min as u64, max as u64], sum as u128));
        }
        Some(Reduced::rows(clock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(buckets: &str, kind: Kind) -> Option<Vec<Reduced>> {
        let answer =
            format!(r#"{{"took":1,"aggregations":{{"buckets":{{"buckets":[{buckets}]}}}}}}"#);
        let answer: Answer<'_> = serde_json::from_str(&answer).unwrap();
        answer.read(kind)
    }

    #[test]
    fn figures_are_taken_only_where_they_are_exact() {
        let floats = |figures| Reduced::floats(60, 2, 2, figures);
        let whole = |min, max, sum| Reduced::whole(60, 2, [min, max], sum);
        let rows = Reduced::rows(60);
        for (kind, count, min, max, sum, expected) in [
            (Kind::Float, 2, "0.1", "1.0E21", "1.0E21", floats([0.1, 1e21, 1e21])),
            (Kind::Float, 1, "0.1", "0.1", "0.1", rows),
            (Kind::Float, 0, "null", "null", "0.0", rows),
            (Kind::Float, 2, "1.0E308", "1.0E308", "\"Infinity\"", rows),
            (Kind::Unsigned, 2, "0.0", "5.0", "5.0", whole(0, 5, 5)),
            (Kind::Unsigned, 2, "1.0", "9.007199254740991E15", "9.007199254740992E15", rows),
            (Kind::Unsigned, 2, "1.8446744073709552E19", "1.8446744073709552E19", "3E19", rows),
        ] {
            let bucket = format!(
                r#"{{"key_as_string":"60","key":60000,"doc_count":2,"figures":
                {{"count":{count},"min":{min},"max":{max},"avg":null,"sum":{sum}}}}}"#
            );
            assert_eq!(read(&bucket, kind), Some(vec![expected]), "{bucket}");
        }
    }

    #[test]
    fn no_index_has_no_buckets_and_odd_times_are_refused() {
        let answer: Answer<'_> = serde_json::from_str(r#"{"hits":{"hits":[]}}"#).unwrap();
        assert!(answer.read(Kind::Float).unwrap().is_empty());
        let figures = r#"{"count":1,"min":1,"max":1,"avg":1,"sum":1}"#;
        let odd = format!(r#"{{"key":9000000000000,"doc_count":1,"figures":{figures}}}"#);
        assert_eq!(read(&odd, Kind::Float), None);
    }
}
