//! A request stream (RFC 9114, 4.1).

use super::frame::{Code, Error, Part, Reader, kind};
use crate::http2::connection::Event;
use crate::http2::hpack::List;

/// How far the client's message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its head is missing.
    Head,
    /// Content may follow.
    Content,
    /// The trailers are there.
    Trailers,
}

/// A stream in progress.
#[derive(Debug)]
pub(super) struct Request {
    /// Counted from 1.
    pub(super) number: u32,
    /// When it began, or its head came.
    pub(super) begun_ms: u64,
    pub(super) phase: Phase,
    pub(super) reader: Reader,
    /// A header block that is not complete.
    pub(super) block: Vec<u8>,
    /// Content that is announced and has not arrived.
    pub(super) expected: Option<u64>,
    /// Head of a request without content, if it has any, with its size: its end is about to come.
    pub(super) held: Option<(List, usize)>,
    /// Until the stream ends.
    pub(super) trailers: Option<List>,
    /// Nothing more of the client is read.
    pub(super) ended: bool,
    /// This side has written all of its message.
    pub(super) sent: bool,
    /// What the transport has not taken.
    pub(super) output: Vec<u8>,
    /// When it last took any, or was offered the first of it; `None`: it was not offered yet.
    pub(super) moved_ms: Option<u64>,
}

impl Request {
    pub(super) fn new(number: u32, begun_ms: u64) -> Self {
        Self {
            number,
            begun_ms,
            phase: Phase::Head,
            reader: Reader::default(),
            block: Vec::new(),
            expected: None,
            held: None,
            trailers: None,
            ended: false,
            sent: false,
            output: Vec::new(),
            moved_ms: None,
        }
    }

    /// Whether the transport has taken nothing of a complete response since then.
    pub(super) fn is_stuck(&self, before_ms: u64) -> bool {
        self.sent && !self.output.is_empty() && self.moved_ms.is_some_and(|at| at < before_ms)
    }

    /// Checks that a frame may come now.
    pub(super) fn expects(&self, part: &Part<'_>) -> Result<(), Error> {
        let expected = match part.kind {
            kind::DATA => self.phase == Phase::Content,
            kind::HEADERS => self.phase != Phase::Trailers,
            kind::CANCEL_PUSH
            | kind::SETTINGS
            | kind::PUSH_PROMISE
            | kind::GOAWAY
            | kind::MAX_PUSH_ID => false,
            other => !kind::RESERVED.contains(&other),
        };
        if expected { Ok(()) } else { Err(Error::Connection(Code::FrameUnexpected)) }
    }

    /// The head that was held, as an event.
    pub(super) fn release<'a>(&mut self, end: bool) -> Option<Event<'a>> {
        let (list, bytes) = self.held.take()?;
        Some(Event::Head { stream: self.number, list, end, bytes })
    }

    /// Counts content: Content-Length is the sum of it (RFC 9114, 4.1.2).
    pub(super) fn count(&mut self, length: usize) -> Result<(), Error> {
        let Some(expected) = &mut self.expected else { return Ok(()) };
        *expected = expected.checked_sub(length as u64).ok_or(Error::Stream(Code::Message))?;
        Ok(())
    }

    /// Checks that the message may end here.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        if !self.reader.is_between() {
            return Err(Error::Connection(Code::Frame));
        }
        if self.phase == Phase::Head {
            return Err(Error::Stream(Code::RequestIncomplete));
        }
        if self.expected.is_some_and(|expected| expected > 0) {
            return Err(Error::Stream(Code::Message));
        }
        self.ended = true;
        Ok(())
    }
}
