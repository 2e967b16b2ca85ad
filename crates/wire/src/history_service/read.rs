//! Messages that read.

use serde::{Deserialize, Serialize};

use super::{ItemName, Log, READ_ITEMS_MAX, json};

/// Values of items within a span, item after item in the order asked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct RangeRequest {
    /// At most [`super::READ_ITEMS_MAX`].
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "json::at_most::<_, _, READ_ITEMS_MAX>")]
    pub items: Vec<ItemName>,
    /// First second.
    #[prost(uint32, tag = "2")]
    pub from: u32,
    /// Last second; 0 = without end.
    #[prost(uint32, tag = "3")]
    pub till: u32,
    /// Most values of each item; 0 = all.
    #[prost(uint64, tag = "4")]
    #[serde(with = "json::decimal")]
    pub limit: u64,
    /// Newest values first; a limit then keeps the newest.
    #[prost(bool, tag = "5")]
    pub descending: bool,
}

/// The newest values of items, newest first.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct NewestRequest {
    /// At most [`super::READ_ITEMS_MAX`].
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "json::at_most::<_, _, READ_ITEMS_MAX>")]
    pub items: Vec<ItemName>,
    /// Values of each item, at most [`super::NEWEST_MAX`]; 0 = one.
    #[prost(uint32, tag = "2")]
    pub count: u32,
}

/// Hourly trends of items whose hour starts within a span.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct TrendsRequest {
    /// At most [`super::READ_ITEMS_MAX`].
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "json::at_most::<_, _, READ_ITEMS_MAX>")]
    pub items: Vec<ItemName>,
    /// First second.
    #[prost(uint32, tag = "2")]
    pub from: u32,
    /// Last second; 0 = without end.
    #[prost(uint32, tag = "3")]
    pub till: u32,
}

/// A value that is kept. Exactly one of `text`, `float`, `unsigned` and `log` is set.
#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct Sample {
    /// When it was measured, seconds since 1970.
    #[prost(uint32, tag = "1")]
    pub clock: u32,
    /// Nanoseconds of that.
    #[prost(uint32, tag = "2")]
    pub ns: u32,
    /// Of items of the types character, text and binary.
    #[prost(string, optional, tag = "6")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of items of the type float.
    #[prost(double, optional, tag = "7")]
    #[serde(with = "json::float_option", skip_serializing_if = "Option::is_none")]
    pub float: Option<f64>,
    /// Of items of the type unsigned.
    #[prost(uint64, optional, tag = "8")]
    #[serde(with = "json::decimal_option", skip_serializing_if = "Option::is_none")]
    pub unsigned: Option<u64>,
    /// Of items of the type log.
    #[prost(message, optional, tag = "9")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
}

/// Values of one item; an item with many has several of these in a row.
#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct Samples {
    /// The item.
    #[prost(uint64, tag = "1")]
    #[serde(with = "json::decimal")]
    pub itemid: u64,
    /// At most [`super::PAGE_ROWS`].
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<Sample>,
}

/// Figures of an hour of a float item.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct FloatTrend {
    /// Smallest.
    #[prost(double, tag = "1")]
    pub min: f64,
    /// Mean.
    #[prost(double, tag = "2")]
    pub avg: f64,
    /// Largest.
    #[prost(double, tag = "3")]
    pub max: f64,
}

/// Figures of an hour of an unsigned item.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct UnsignedTrend {
    /// Smallest.
    #[prost(uint64, tag = "1")]
    #[serde(with = "json::decimal")]
    pub min: u64,
    /// Mean, cut to a whole number.
    #[prost(uint64, tag = "2")]
    #[serde(with = "json::decimal")]
    pub avg: u64,
    /// Largest.
    #[prost(uint64, tag = "3")]
    #[serde(with = "json::decimal")]
    pub max: u64,
}

/// One hour of an item. Exactly one of `float` and `unsigned` is set.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct Trend {
    /// Start of the hour, seconds since 1970.
    #[prost(uint32, tag = "1")]
    pub hour: u32,
    /// Number of values.
    #[prost(uint32, tag = "2")]
    pub count: u32,
    /// Of a float item.
    #[prost(message, optional, tag = "3")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub float: Option<FloatTrend>,
    /// Of an unsigned item.
    #[prost(message, optional, tag = "4")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsigned: Option<UnsignedTrend>,
}

/// Trends of one item; an item with many has several of these in a row.
#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct TrendRows {
    /// The item.
    #[prost(uint64, tag = "1")]
    #[serde(with = "json::decimal")]
    pub itemid: u64,
    /// At most [`super::PAGE_ROWS`].
    #[prost(message, repeated, tag = "2")]
    pub trends: Vec<Trend>,
}
