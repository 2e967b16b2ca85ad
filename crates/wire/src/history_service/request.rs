//! Requests out of bytes that anybody may have sent.

use prost::encoding::{DecodeContext, decode_key, skip_field};
use serde::de::DeserializeOwned;

use super::{
    Failure, NewestRequest, READ_ITEMS_MAX, RangeRequest, Reason, TrendsRequest, WRITE_VALUES_MAX,
    WriteRequest,
};

/// A message of a client.
pub trait Request: prost::Message + Default + DeserializeOwned {
    /// Tag of its list, and how long that may be.
    const LIST: (u32, usize);
}

impl Request for WriteRequest {
    const LIST: (u32, usize) = (2, WRITE_VALUES_MAX);
}

impl Request for RangeRequest {
    const LIST: (u32, usize) = (1, READ_ITEMS_MAX);
}

impl Request for NewestRequest {
    const LIST: (u32, usize) = (1, READ_ITEMS_MAX);
}

impl Request for TrendsRequest {
    const LIST: (u32, usize) = (1, READ_ITEMS_MAX);
}

/// Reads JSON.
pub fn from_json<M: Request>(bytes: &[u8]) -> Result<M, Failure> {
    serde_json::from_slice(bytes).map_err(|error| wrong(&error))
}

/// Reads protobuf. The list is counted before anything is kept of it: two bytes that say "a value
/// with nothing in it" become 200 in memory.
pub fn from_protobuf<M: Request>(bytes: &[u8]) -> Result<M, Failure> {
    let (list, most) = M::LIST;
    let (mut left, mut many) = (bytes, 0);
    while !left.is_empty() {
        let (tag, kind) = decode_key(&mut left).map_err(|error| wrong(&error))?;
        skip_field(kind, tag, &mut left, DecodeContext::default())
            .map_err(|error| wrong(&error))?;
        many += usize::from(tag == list);
        if many > most {
            return Err(Reason::Invalid.with(super::too_many(most)));
        }
    }
    M::decode(bytes).map_err(|error| wrong(&error))
}

fn wrong(error: &dyn std::error::Error) -> Failure {
    Reason::Invalid.with(format!("The message is wrong: {error}"))
}
