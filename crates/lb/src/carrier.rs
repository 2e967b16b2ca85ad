//! A connection that carries streams, of HTTP/2 or HTTP/3, as the sessions of its streams use it.

use proxying::http2::connection::Connection;
use proxying::http2::frame::Code;

use crate::quic_link::Link;

#[derive(Debug)]
pub(crate) enum Carrier {
    Http2(Box<Connection>),
    Http3(Box<Link>),
}

impl Carrier {
    pub(crate) fn http2(&self) -> Option<&Connection> {
        match self {
            Self::Http2(connection) => Some(connection),
            Self::Http3(_) => None,
        }
    }

    pub(crate) fn http2_mut(&mut self) -> Option<&mut Connection> {
        match self {
            Self::Http2(connection) => Some(connection),
            Self::Http3(_) => None,
        }
    }

    pub(crate) fn link(&mut self) -> Option<&mut Link> {
        match self {
            Self::Http2(_) => None,
            Self::Http3(link) => Some(link),
        }
    }

    /// Content was consumed: the peer may send as much again.
    pub(crate) fn consumed(&mut self, stream: u32, counted: u32) {
        match self {
            Self::Http2(connection) => connection.consumed(stream, counted),
            Self::Http3(link) => link.consumed(counted),
        }
    }

    /// Bytes of content that may be sent on a stream now.
    pub(crate) fn room(&self, stream: u32) -> usize {
        match self {
            Self::Http2(connection) => connection.room(stream),
            Self::Http3(link) => link.frames.room(stream),
        }
    }

    /// Sends a header block on an open stream.
    pub(crate) fn send_headers(&mut self, stream: u32, block: &[u8], end: bool) {
        match self {
            Self::Http2(connection) => connection.send_headers(stream, block, end),
            Self::Http3(link) => link.frames.send_headers(stream, block, end),
        }
    }

    /// Sends as much content as there is [room](Self::room) for, and the end with the last of it; returns the
    /// number of bytes.
    pub(crate) fn send_data(&mut self, stream: u32, data: &[u8], end: bool) -> usize {
        match self {
            Self::Http2(connection) => connection.send_data(stream, data, end),
            Self::Http3(link) => link.frames.send_data(stream, data, end),
        }
    }

    /// Ends a stream early, if it is in progress.
    pub(crate) fn reset(&mut self, stream: u32, code: Code) {
        match self {
            Self::Http2(connection) => {
                if connection.is_open(stream) {
                    connection.reset(stream, code);
                }
            }
            Self::Http3(link) => {
                if link.frames.is_open(stream) {
                    link.frames.reset(stream, code.into());
                }
            }
        }
    }

    /// Ends the connection and all of its streams.
    pub(crate) fn close(&mut self, code: Code) {
        match self {
            Self::Http2(connection) => drop(connection.close(code)),
            Self::Http3(link) => drop(link.frames.close(code.into())),
        }
    }

    /// Whether its owner has something to do.
    pub(crate) fn has_output(&self) -> bool {
        match self {
            Self::Http2(connection) => !connection.output.is_empty(),
            Self::Http3(link) => link.has_work(),
        }
    }
}
