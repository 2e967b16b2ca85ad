//! Messages of the history service, which other programs write and read history with.
//!
//! Each message is defined once and has two forms: protobuf, for gRPC, and JSON, as protobuf maps
//! it (64-bit whole numbers are written as text). `docs/history-service.proto` describes both; a
//! test holds it to this file. What the file calls a `oneof` are optional members here, which is
//! the same on the wire.

mod failure;
mod json;
mod read;
mod request;

use serde::{Deserialize, Serialize};

pub use failure::{Failure, Fault, Reason};
pub use read::{
    FloatTrend, NewestRequest, RangeRequest, Sample, Samples, Trend, TrendRows, TrendsRequest,
    UnsignedTrend,
};
pub use request::{Request, from_json, from_protobuf};

/// Largest message in either direction, bytes; also of a JSON body.
pub const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// Values that one write may carry.
pub const WRITE_VALUES_MAX: usize = 10_000;
/// Items that one read may name.
pub const READ_ITEMS_MAX: usize = 10_000;
/// Values of one item that the newest ones may be asked for.
pub const NEWEST_MAX: u32 = 1_000;
/// Samples or trends in one message of an answer.
pub const PAGE_ROWS: usize = 5_000;
/// Texts in one message of an answer, about; one text alone may be longer. Clients of gRPC take
/// messages of 4 MiB unless told otherwise.
pub const PAGE_BYTES: usize = 1 << 20;

fn too_many(most: usize) -> String {
    format!("A message may carry {most} of these: send several.")
}

/// A log line with what Windows' event log tells of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// The line.
    #[prost(string, tag = "1")]
    pub text: String,
    /// Time written in the line, seconds since 1970; 0 = unknown.
    #[prost(uint32, tag = "2")]
    pub clock: u32,
    #[prost(string, tag = "3")]
    pub source: String,
    #[prost(uint32, tag = "4")]
    pub severity: u32,
    /// Event id.
    #[prost(uint32, tag = "5")]
    pub eventid: u32,
}

/// An item, by id or by host and key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct ItemName {
    /// The item's id; 0 = it is named by host and key.
    #[prost(uint64, tag = "1")]
    #[serde(with = "json::decimal", skip_serializing_if = "json::is_zero")]
    pub itemid: u64,
    /// Technical name of the host.
    #[prost(string, tag = "2")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Key of the item.
    #[prost(string, tag = "3")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
}

/// A value to be written. Exactly one of `text`, `float`, `unsigned` and `log` is set.
#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct Value {
    /// The item's id; 0 = it is named by host and key.
    #[prost(uint64, tag = "1")]
    #[serde(with = "json::decimal", skip_serializing_if = "json::is_zero")]
    pub itemid: u64,
    /// Technical name of the host.
    #[prost(string, tag = "2")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Key of the item.
    #[prost(string, tag = "3")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// When it was measured, seconds since 1970; 0 = when it arrives.
    #[prost(uint32, tag = "4")]
    pub clock: u32,
    /// Nanoseconds of that.
    #[prost(uint32, tag = "5")]
    pub ns: u32,
    /// As a sender would write it.
    #[prost(string, optional, tag = "6")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A number.
    #[prost(double, optional, tag = "7")]
    #[serde(with = "json::float_option", skip_serializing_if = "Option::is_none")]
    pub float: Option<f64>,
    /// A whole number, not negative.
    #[prost(uint64, optional, tag = "8")]
    #[serde(with = "json::decimal_option", skip_serializing_if = "Option::is_none")]
    pub unsigned: Option<u64>,
    /// A log line.
    #[prost(message, optional, tag = "9")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
}

/// Values to be kept together: all are acknowledged by one [`WriteReply`].
#[derive(Clone, PartialEq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct WriteRequest {
    /// Any number; the reply repeats it.
    #[prost(uint64, tag = "1")]
    #[serde(with = "json::decimal")]
    pub sequence: u64,
    /// At most [`WRITE_VALUES_MAX`].
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "json::at_most::<_, _, WRITE_VALUES_MAX>")]
    pub values: Vec<Value>,
    /// Acknowledge only what also survives a power cut.
    #[prost(bool, tag = "3")]
    pub synced: bool,
    /// This may have been written before without the caller hearing of it: what is kept already is
    /// not kept, preprocessed or evaluated again.
    #[prost(bool, tag = "4")]
    pub resend: bool,
}

/// A value of a write that was not taken.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct Refusal {
    /// Which one, counted from 0.
    #[prost(uint32, tag = "1")]
    pub index: u32,
    /// Why.
    #[prost(message, optional, tag = "2")]
    pub failure: Option<Failure>,
}

/// What became of a [`WriteRequest`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct WriteReply {
    /// Of the request.
    #[prost(uint64, tag = "1")]
    #[serde(with = "json::decimal")]
    pub sequence: u64,
    /// Values that are kept, were kept before, or were discarded by their item's preprocessing.
    #[prost(uint64, tag = "2")]
    #[serde(with = "json::decimal")]
    pub kept: u64,
    /// Values that were not taken; the others are kept.
    #[prost(message, repeated, tag = "3")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refusal>,
    /// Nothing of the request is acknowledged.
    #[prost(message, optional, tag = "4")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// What a read asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadRequest {
    /// Values of a span.
    Range(RangeRequest),
    /// The newest values.
    Newest(NewestRequest),
    /// Hourly trends of a span.
    Trends(TrendsRequest),
}

/// A message of the answer to a read.
#[derive(Debug, Clone, PartialEq)]
pub enum Page {
    /// Values of one item.
    Samples(Samples),
    /// Trends of one item.
    Trends(TrendRows),
}

#[cfg(test)]
mod tests;
