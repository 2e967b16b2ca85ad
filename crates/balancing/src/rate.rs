//! Limits of the rate of requests.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Time;
use super::syntax::is_token;

/// Whose requests are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RateKey {
    /// Those of an IPv4 address, or of an IPv6 network of 64 bits: a client has all addresses of its own.
    ClientIp,
    /// Those with the same value of a header; requests without it are not limited.
    Header,
}

/// So many requests at once; after them, the same number over the time, evenly.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// Whose requests are counted together.
    pub by: RateKey,
    /// The header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Requests in the time; at most 10 per millisecond.
    pub requests: NonZeroU32,
    /// The time, at most a day.
    pub per: Time,
    /// Status of the response to a request beyond the limit, 400 to 599.
    #[serde(default = "too_many_requests")]
    pub status: u16,
}

fn too_many_requests() -> u16 {
    429
}

impl RateLimit {
    /// Longest time.
    const DAY: Duration = Duration::from_secs(86_400);
    /// Requests per millisecond: times are microseconds, and one request takes many of them.
    const FASTEST: u128 = 10;

    /// Checks the limit by itself.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), String> {
        match (self.by, self.name.as_deref()) {
            (RateKey::Header, Some(name)) if is_token(name) => {}
            (RateKey::Header, _) => {
                return Err("'rate_limit' by header needs 'name', that of the header".to_owned());
            }
            (RateKey::ClientIp, None) => {}
            (RateKey::ClientIp, Some(_)) => {
                return Err("'rate_limit.name' is for limits by header; remove it".to_owned());
            }
        }
        if self.per.0 > Self::DAY {
            return Err("'rate_limit.per' is at most 1d".to_owned());
        }
        if u128::from(self.requests.get()) > self.per.0.as_millis() * Self::FASTEST {
            return Err(
                "'rate_limit' allows at most 10 requests per millisecond; reduce 'requests' \
                        or extend 'per'"
                    .to_owned(),
            );
        }
        if !(400..600).contains(&self.status) {
            return Err("'rate_limit.status' is between 400 and 599".to_owned());
        }
        Ok(())
    }
}
