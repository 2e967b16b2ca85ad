//! What fuzzers feed: stores whose servers say anything.

use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use crate::http::Answer;
use crate::script::Script;

/// An answer of a server.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// As in HTTP.
    pub status: u16,
    /// Names and values; what cannot be sent is left out.
    pub headers: Vec<(String, String)>,
    /// Its content.
    pub body: Vec<u8>,
}

impl From<Said> for Answer {
    fn from(said: Said) -> Self {
        let header = |(name, value): (String, String)| {
            Some((name.parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?))
        };
        let headers: HeaderMap = said.headers.into_iter().filter_map(header).collect();
        Self { status: said.status, headers, body: said.body }
    }
}

/// Makes a store that gets these answers, one a request, and no more after the last. Nothing is
/// sent anywhere.
pub fn scripted<S>(said: Vec<Said>, make: impl FnOnce() -> S) -> S {
    Script::play(said.into_iter().map(Answer::from), make)
}
