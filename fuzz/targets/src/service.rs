//! Messages of programs that write and read history.

use api::SentValue;
use model::Timestamp;
use wire::history_service::{
    NewestRequest, RangeRequest, Request, TrendsRequest, WriteRequest, from_json, from_protobuf,
};

/// Each message from either form, which have to say the same of it; values as collection gets them.
pub(crate) fn history_service(data: &[u8]) {
    let now = Timestamp { clock: 1_700_000_000, ns: 0 };
    for request in both::<WriteRequest>(data) {
        for value in request.values {
            if let Ok(value) = SentValue::read(value, now) {
                assert!(value.at.clock > 0 && value.at.ns < 1_000_000_000, "{value:?}");
            }
        }
    }
    both::<RangeRequest>(data);
    both::<NewestRequest>(data);
    both::<TrendsRequest>(data);
}

/// What the bytes are as JSON, and what as protobuf.
fn both<M: Request + serde::Serialize>(data: &[u8]) -> Vec<M> {
    let read = [from_json::<M>(data), from_protobuf::<M>(data)];
    let read: Vec<M> = read.into_iter().flatten().collect();
    for message in &read {
        // As bytes: what is no number equals nothing.
        let bytes = message.encode_to_vec();
        let json = serde_json::to_vec(message).unwrap_or_default();
        let again = [from_protobuf::<M>(&bytes), from_json::<M>(&json)];
        for other in again {
            assert_eq!(other.map(|other| serde_json::to_vec(&other).ok()), Ok(Some(json.clone())));
        }
    }
    read
}
