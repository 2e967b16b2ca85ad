//! A request, as far as the cache looks at it.

use proxying::caching::Asker;
use proxying::http1::{Field, Request};

use crate::policy::Forward;

/// A request for the cache of a service.
#[derive(Debug)]
pub(crate) struct Question<'q> {
    pub(crate) request: &'q Request<'q>,
    pub(crate) forward: &'q Forward,
    /// Header fields as servers get those that tell who the client is.
    pub(crate) seen: &'q [Field<'q>],
    /// Port by which the server may tell resources apart.
    pub(crate) port: u16,
    /// What the server learns of the client.
    pub(crate) asker: Asker,
    /// The server gets Forwarded as the client sent it.
    pub(crate) passes_forwarded: bool,
    /// A mirror has copied it.
    pub(crate) is_copy: bool,
    /// Monotonic microseconds.
    pub(crate) now_us: u64,
}
