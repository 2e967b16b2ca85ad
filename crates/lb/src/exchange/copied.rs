//! The exchange of a request's copy with a mirror.

use proxying::http1::{Body, Framing, Version};

use super::cached::Caching;
use super::{Exchange, Plan};
use crate::mirror::{Copy, Shape};
use crate::policy::Applied;

impl Exchange {
    /// That of a copy: it ends with its response, which is not compressed.
    pub(crate) fn of_copy(shape: &Shape, http2: bool) -> Self {
        let plan = Plan {
            version: Version::Http11,
            to_head: shape.to_head,
            keep_alive: false,
            websocket: false,
            trailers: false,
            idempotent: shape.idempotent,
            chunked: shape.framing == Framing::Chunked && !http2,
            grpc: false,
            applied: Applied::default(),
            nominated: Vec::new(),
            accepted: None,
            caching: Caching::default(),
        };
        // Its content is there without chunks. Trailers follow a length in HTTP/2 only.
        let body = match shape.framing {
            Framing::Chunked => Body::UntilClose,
            Framing::Length(1..) if http2 => Body::UntilClose,
            framing => Body::new(framing),
        };
        Self::new(plan, body)
    }

    /// The copy of the request, if all of the request has arrived.
    pub(crate) fn complete_copy(&mut self) -> Option<Box<Copy>> {
        self.copy.take_if(|_| self.complete)
    }
}
