//! Who a session speaks with, a client or a server: through a socket, or a stream of an HTTP/2
//! connection. A session reads and writes both alike; on a stream these are content, and heads and
//! trailers go their own way.

use std::io;

use proxying::http1::Field;
use proxying::http2::frame::Code;
use proxying::http2::hpack::List;

use crate::buffer::Buffer;
use crate::conn::Conn;
use crate::form::Form;
use crate::mirror::Source;
use crate::mux::{Cut, Hub};
use crate::origin::Facts;

/// One of the two sides of a session. A server is none of the third kind.
#[derive(Debug)]
pub(crate) enum Peer {
    Socket(Box<Conn>),
    Stream(Stream),
    /// The client of the copy of a request.
    Copy(Box<Source>),
}

/// A stream of an HTTP/2 connection, of a client or to a server, or of a client's HTTP/3 connection.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Place of the connection among those of the thread.
    pub(crate) mux: usize,
    pub(crate) number: u32,
    /// The peer has ended its side, and all of it has been read.
    eof: bool,
    /// This side has ended.
    pub(crate) shut: bool,
    /// Content waits until the peer or its socket accepts more.
    blocked: bool,
    /// Bytes of the header block and content so far.
    received: u64,
    sent: u64,
    /// What the stream ends with if the session ends before it.
    pub(crate) code: Code,
    pub(crate) of: Facts,
}

impl Stream {
    pub(crate) fn new(mux: usize, number: u32, received: u64, of: Facts) -> Self {
        Self {
            mux,
            number,
            eof: false,
            shut: false,
            blocked: false,
            received,
            sent: 0,
            code: Code::Cancel,
            of,
        }
    }

    /// Sends content while there is room, and the end with the last of it.
    pub(crate) fn send_all(&mut self, mut data: &[u8], end: bool, hub: &mut Hub) -> usize {
        let whole = data.len();
        while !data.is_empty() && self.room(hub) > 0 {
            let sent = self.send(data, end, hub);
            data = &data[sent..];
        }
        whole - data.len()
    }

    /// How its heads are written.
    fn form(&self) -> Form {
        if self.of.http3 { Form::Http3 } else { Form::Http2 }
    }

    /// How the peer has ended the stream early, if it has.
    pub(crate) fn cut(&self, hub: &Hub) -> Option<Cut> {
        hub.muxes.get(self.mux).and_then(|mux| mux.cut(self.number))
    }

    /// Ends a message, with the header block of its trailers, if there are any.
    pub(crate) fn end_message(&mut self, trailers: &[u8], hub: &mut Hub) {
        if self.shut {
            return;
        }
        if trailers.is_empty() {
            self.send(&[], true, hub);
        } else {
            self.send_block(trailers, true, hub);
        }
    }

    /// Ends a response, with its trailers, if there are any.
    pub(crate) fn end_with(&mut self, trailers: &[Field<'_>], hub: &mut Hub) {
        let form = self.form();
        let mut block = Vec::new();
        for field in trailers {
            form.field(&mut block, field.name, field.value);
        }
        self.end_message(&block, hub);
    }

    /// The session has ended.
    pub(crate) fn end(&self, hub: &mut Hub) {
        hub.end_stream(self.mux, self.number, self.code);
    }

    /// Sends the head of a response, or trailers.
    pub(crate) fn send_block(&mut self, block: &[u8], end: bool, hub: &mut Hub) {
        self.shut |= end;
        self.sent += block.len() as u64;
        if let Some(mux) = hub.muxes.get_mut(self.mux) {
            mux.connection.send_headers(self.number, block, end);
            hub.wake(self.mux);
        }
    }

    /// Bytes of content that can be sent now. If there are none, the session runs again when there are.
    pub(crate) fn room(&mut self, hub: &mut Hub) -> usize {
        let room = hub.muxes.get_mut(self.mux).map_or(0, |mux| mux.room(self.number));
        self.blocked = room == 0;
        room
    }

    /// Sends content; more than there is [room](Self::room) for is left. Returns the number of bytes.
    pub(crate) fn send(&mut self, data: &[u8], end: bool, hub: &mut Hub) -> usize {
        let Some(mux) = hub.muxes.get_mut(self.mux) else { return 0 };
        let sent = mux.connection.send_data(self.number, data, end);
        self.shut |= end && sent == data.len();
        self.sent += sent as u64;
        hub.wake(self.mux);
        sent
    }
}

impl Peer {
    /// How heads for it are written.
    pub(crate) fn form(&self) -> Form {
        match self {
            Self::Socket(_) => Form::Http1,
            Self::Stream(stream) => stream.form(),
            Self::Copy(_) => Form::Http2,
        }
    }

    pub(crate) fn socket(&self) -> Option<&Conn> {
        match self {
            Self::Socket(conn) => Some(conn),
            Self::Stream(_) | Self::Copy(_) => None,
        }
    }

    pub(crate) fn socket_mut(&mut self) -> Option<&mut Conn> {
        match self {
            Self::Socket(conn) => Some(conn),
            Self::Stream(_) | Self::Copy(_) => None,
        }
    }

    pub(crate) fn stream(&mut self) -> Option<&mut Stream> {
        match self {
            Self::Socket(_) | Self::Copy(_) => None,
            Self::Stream(stream) => Some(stream),
        }
    }

    pub(crate) fn eof(&self) -> bool {
        match self {
            Self::Socket(conn) => conn.eof,
            Self::Stream(stream) => stream.eof,
            Self::Copy(copy) => copy.eof(),
        }
    }

    /// Whether a read may return something.
    pub(crate) fn readable(&self) -> bool {
        match self {
            Self::Socket(conn) => conn.readable,
            Self::Stream(stream) => !stream.eof,
            Self::Copy(copy) => !copy.eof(),
        }
    }

    /// A write has failed: what the peer sent before may still be read.
    pub(crate) fn expect_end(&mut self) {
        if let Self::Socket(conn) = self {
            conn.readable = true;
        }
    }

    /// A read has failed: nothing follows.
    pub(crate) fn set_eof(&mut self) {
        match self {
            Self::Socket(conn) => conn.eof = true,
            Self::Stream(stream) => stream.eof = true,
            Self::Copy(_) => {}
        }
    }

    /// The trailers of a message whose content has been read from a stream; they stay there.
    pub(crate) fn trailers<'h>(&self, hub: &'h Hub) -> Option<&'h List> {
        match self {
            Self::Socket(_) | Self::Copy(_) => None,
            Self::Stream(stream) => hub.muxes.get(stream.mux)?.trailers(stream.number),
        }
    }

    /// The trailers of a message whose content has been read from a stream.
    pub(crate) fn take_trailers(&self, hub: &mut Hub) -> Option<List> {
        match self {
            Self::Socket(_) | Self::Copy(_) => None,
            Self::Stream(stream) => hub.muxes.get_mut(stream.mux)?.take_trailers(stream.number),
        }
    }

    /// Whether the stream has ended early, so that no response can be sent.
    pub(crate) fn is_cut(&self, hub: &Hub) -> bool {
        match self {
            Self::Socket(_) | Self::Copy(_) => false,
            Self::Stream(stream) => stream.cut(hub).is_some(),
        }
    }

    /// Whether content of a stream waits for the client.
    pub(crate) fn is_blocked(&self) -> bool {
        matches!(self, Self::Stream(stream) if stream.blocked)
    }

    /// Reads once into the free space; returns the number of bytes.
    pub(crate) fn fill(&mut self, buffer: &mut Buffer, hub: &mut Hub) -> io::Result<usize> {
        let stream = match self {
            Self::Socket(conn) => return conn.fill(buffer, &mut hub.buffers),
            Self::Copy(copy) => return Ok(copy.fill(buffer, &mut hub.buffers)),
            Self::Stream(stream) => stream,
        };
        if stream.eof || buffer.room() == 0 {
            return Ok(0);
        }
        let Some(mux) = hub.muxes.get_mut(stream.mux) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if mux.cut(stream.number).is_some() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let (length, eof) = mux.read(stream.number, |content| {
            if content.is_empty() {
                return 0;
            }
            let space = buffer.space(&mut hub.buffers);
            let length = space.len().min(content.len());
            space[..length].copy_from_slice(&content[..length]);
            buffer.filled(length);
            length
        });
        stream.eof = eof;
        stream.received += length as u64;
        if mux.has_output() {
            hub.wake(stream.mux);
        }
        Ok(length)
    }

    /// Writes as much as is accepted; returns the number of bytes.
    pub(crate) fn write(&mut self, data: &[u8], hub: &mut Hub) -> io::Result<usize> {
        let stream = match self {
            Self::Socket(conn) => return conn.write(data),
            Self::Copy(copy) => return copy.drop_response(data.len()),
            Self::Stream(stream) => stream,
        };
        Ok(stream.send_all(data, false, hub))
    }

    /// Sends what is encrypted; true: nothing is left.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        match self {
            Self::Socket(conn) => conn.flush(),
            Self::Stream(_) | Self::Copy(_) => Ok(true),
        }
    }

    /// Sends the end of this direction, once.
    pub(crate) fn shut(&mut self, hub: &mut Hub) {
        match self {
            Self::Socket(conn) => conn.shut(),
            Self::Copy(_) => {}
            Self::Stream(stream) => {
                if !stream.shut {
                    stream.send(&[], true, hub);
                }
            }
        }
    }

    /// Bytes read and written so far, before encryption.
    pub(crate) fn counts(&self) -> (u64, u64) {
        match self {
            Self::Socket(conn) => (conn.received, conn.sent),
            Self::Stream(stream) => (stream.received, stream.sent),
            Self::Copy(_) => (0, 0),
        }
    }

    /// Version of TLS; empty without TLS.
    pub(crate) fn tls_version(&self) -> &'static str {
        match self {
            Self::Socket(conn) => conn.tls_version(),
            Self::Stream(stream) => stream.of.tls,
            Self::Copy(_) => "",
        }
    }

    /// What records tell of the connection.
    pub(crate) fn facts(&mut self, now_us: u64) -> Facts {
        match self {
            Self::Socket(conn) => {
                Facts { rtt_us: conn.rtt_us(now_us), tls: conn.tls_version(), http3: false }
            }
            Self::Stream(stream) => stream.of,
            Self::Copy(_) => Facts::default(),
        }
    }
}
