//! What travels between the collecting side and the shards.

use stdx::ack;

use crate::{HostId, Value};

/// Values of hosts of one shard, with the acknowledgement that somebody waits for.
#[derive(Debug)]
pub struct ValueBatch {
    /// In order of arrival.
    pub values: Vec<Value>,
    /// Reported after the values are in the WAL; `None` when nobody waits (own checks).
    pub ack: Option<ack::Part>,
}

/// The shard that owns a host: all its values, preprocessing state, value cache and triggers.
pub fn shard_of(host: HostId, shards: usize) -> usize {
    // Fibonacci hashing: host ids come in runs, and the upper bits of the product spread them.
    let hash = host.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    usize::try_from(hash).unwrap_or(0) % shards.max(1)
}
