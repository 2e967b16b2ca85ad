//! Repetition of requests on another server.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a request is repeated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryOn {
    /// No connection: the server has seen nothing.
    Connect,
    /// The connection ended before a response; only idempotent methods.
    Closed,
    /// No response in time; only idempotent methods.
    Timeout,
    /// A response with this status, 400 to 599; only idempotent methods, and only if another server may
    /// be asked.
    Status(u16),
}

impl RetryOn {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "connect" => Some(Self::Connect),
            "closed" => Some(Self::Closed),
            "timeout" => Some(Self::Timeout),
            status => {
                status.parse().ok().filter(|status| (400..600).contains(status)).map(Self::Status)
            }
        }
    }
}

impl<'de> Deserialize<'de> for RetryOn {
    /// In YAML a status may have no quotes.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reason;

        impl Visitor<'_> for Reason {
            type Value = RetryOn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("connect, closed, timeout, or a status between 400 and 599")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RetryOn, E> {
                let unknown = || E::invalid_value(de::Unexpected::Str(text), &self);
                RetryOn::parse(text).ok_or_else(unknown)
            }

            fn visit_u64<E: de::Error>(self, status: u64) -> Result<RetryOn, E> {
                self.visit_str(&status.to_string())
            }
        }

        deserializer.deserialize_any(Reason)
    }
}

impl Serialize for RetryOn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Connect => serializer.serialize_str("connect"),
            Self::Closed => serializer.serialize_str("closed"),
            Self::Timeout => serializer.serialize_str("timeout"),
            Self::Status(status) => serializer.collect_str(status),
        }
    }
}

/// Repetition on another server.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retries {
    /// Repetitions of one request.
    pub count: u8,
    /// Failures after which a request is repeated.
    pub on: Vec<RetryOn>,
    /// Repetitions per 100 requests of the pool, beyond the first ten in ten seconds.
    pub budget_percent: u8,
}

impl Default for Retries {
    fn default() -> Self {
        Self { count: 1, on: vec![RetryOn::Connect], budget_percent: 20 }
    }
}
