//! One TCP connection with or without TLS, and what its events have told.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use mio::net::TcpStream;

use crate::buffer::{Buffer, Buffers};
use crate::pipes::Pipe;

/// Bytes after which a connection that is forwarded as it is may use a pipe.
const BULK: u64 = 256 * 1024;
/// Bytes of a read that are worth a pipe; for fewer, copying needs fewer calls.
const BULK_READ: usize = 16 * 1024;

/// A connection.
#[derive(Debug)]
pub(crate) struct Conn {
    stream: TcpStream,
    tls: Option<Box<rustls::Connection>>,
    /// A read may return something: edge-triggered, so it is cleared only by a read that does not.
    pub(crate) readable: bool,
    /// A write may accept something.
    pub(crate) writable: bool,
    /// The peer has sent its end; the bytes before it may not have been read.
    half_closed: bool,
    /// The peer sends urgent data (RFC 9293, 3.8.5): a read ends before it, a pipe never gets what is behind it.
    urgent: bool,
    /// All bytes before the peer's end have been read.
    pub(crate) eof: bool,
    shut: bool,
    /// Bytes read so far, after decryption.
    pub(crate) received: u64,
    /// Bytes written so far, before encryption.
    pub(crate) sent: u64,
    /// Bytes of the last read.
    last_read: usize,
    rtt: RoundTrip,
}

/// The kernel's estimate of the round trip, and when it was asked, in microseconds.
#[derive(Debug, Default)]
struct RoundTrip {
    us: u64,
    at_us: Option<u64>,
}

impl Conn {
    pub(crate) fn new(stream: TcpStream, tls: Option<rustls::Connection>) -> Self {
        Self {
            stream,
            tls: tls.map(Box::new),
            readable: false,
            writable: false,
            half_closed: false,
            urgent: false,
            eof: false,
            shut: false,
            received: 0,
            sent: 0,
            last_read: 0,
            rtt: RoundTrip::default(),
        }
    }

    pub(crate) fn stream_mut(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    pub(crate) fn tls(&self) -> Option<&rustls::Connection> {
        self.tls.as_deref()
    }

    /// Notes an event.
    pub(crate) fn note(&mut self, event: &mio::event::Event) {
        self.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        self.writable |= event.is_writable() || event.is_error();
        self.half_closed |= event.is_read_closed();
        self.urgent |= event.is_priority();
    }

    /// Error of a connection attempt.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.stream.take_error().unwrap_or_else(Some)
    }

    /// Reads once into the free space; returns the number of bytes. None may mean that the peer has
    /// sent its end ([`Self::eof`]) or that nothing has arrived ([`Self::readable`] is false).
    pub(crate) fn fill(&mut self, buffer: &mut Buffer, buffers: &mut Buffers) -> io::Result<usize> {
        if !self.readable || self.eof || buffer.room() == 0 {
            return Ok(0);
        }
        let space = buffer.space(buffers);
        let wanted = space.len();
        let result = match &mut self.tls {
            None => self.stream.read(space),
            Some(tls) => read_tls(tls, &mut self.stream, space),
        };
        match result {
            Ok(0) => {
                self.eof = true;
                self.readable = false;
                Ok(0)
            }
            Ok(length) => {
                // A short read has emptied the socket; what arrives afterwards is a new event.
                if length < wanted && self.tls.is_none() && !self.half_closed && !self.urgent {
                    self.readable = false;
                }
                buffer.filled(length);
                self.has_read(length);
                Ok(length)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(0)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn has_read(&mut self, length: usize) {
        self.received += length as u64;
        self.last_read = length;
    }

    /// Whether the bytes that arrive are so many that a pipe saves CPU time.
    pub(crate) fn is_bulk(&self) -> bool {
        let many = self.received > BULK && self.last_read >= BULK_READ;
        many && self.tls.is_none() && self.readable && !self.eof && !self.urgent
    }

    /// Reads once into an empty pipe; the result is that of [`Self::fill`].
    pub(crate) fn fill_pipe(&mut self, pipe: &mut Pipe, limit: usize) -> io::Result<usize> {
        match pipe.fill(&self.stream, limit) {
            // A short read does not tell that the socket is empty: a pipe has few places.
            Ok(length) if length > 0 => {
                self.has_read(length);
                Ok(length)
            }
            Ok(_) => {
                self.eof = true;
                self.readable = false;
                Ok(0)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes as much of a pipe as the socket accepts; returns the number of bytes.
    pub(crate) fn drain_pipe(&mut self, pipe: &mut Pipe) -> io::Result<usize> {
        let whole = pipe.held();
        while self.writable && pipe.held() > 0 {
            match pipe.drain(&self.stream) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let written = whole - pipe.held();
        self.sent += written as u64;
        Ok(written)
    }

    /// Writes as much as the socket accepts; returns the number of bytes.
    pub(crate) fn write(&mut self, mut data: &[u8]) -> io::Result<usize> {
        let whole = data.len();
        while self.writable && !data.is_empty() {
            let result = match &mut self.tls {
                None => self.stream.write(data),
                Some(tls) => write_tls(tls, &mut self.stream, data),
            };
            match result {
                Ok(length) => data = &data[length..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let written = whole - data.len();
        self.sent += written as u64;
        Ok(written)
    }

    /// Round trip to the peer in microseconds, asked for at most once a second; 0 = unknown.
    pub(crate) fn rtt_us(&mut self, now_us: u64) -> u64 {
        if self.rtt.at_us.is_none_or(|at_us| now_us > at_us + 1_000_000) {
            let us = stdx::sys::tcp_round_trip_us(&self.stream).map_or(0, u64::from);
            self.rtt = RoundTrip { us, at_us: Some(now_us) };
        }
        self.rtt.us
    }

    /// Name that the client asked for.
    pub(crate) fn server_name(&self) -> Option<&str> {
        match self.tls()? {
            rustls::Connection::Server(server) => server.server_name(),
            rustls::Connection::Client(_) => None,
        }
    }

    /// Version of TLS; empty without TLS.
    pub(crate) fn tls_version(&self) -> &'static str {
        match self.tls().and_then(|tls| tls.protocol_version()) {
            Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3",
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "",
        }
    }

    /// Begins TLS on a connection whose first bytes, `early`, have been read.
    pub(crate) fn start_tls(
        &mut self,
        mut tls: rustls::Connection,
        mut early: &[u8],
    ) -> io::Result<()> {
        while !early.is_empty() {
            tls.read_tls(&mut early)?;
            if let Err(error) = tls.process_new_packets() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
        self.tls = Some(Box::new(tls));
        // The bytes of the handshake may all have been read already.
        self.readable = true;
        Ok(())
    }

    /// Continues a TLS handshake; true: it is complete, or there is none.
    pub(crate) fn handshake(&mut self) -> io::Result<bool> {
        loop {
            let flushed = self.flush()?;
            let Some(tls) = &mut self.tls else { return Ok(true) };
            if !tls.is_handshaking() {
                return Ok(flushed);
            }
            if !self.readable {
                return Ok(false);
            }
            match tls.read_tls(&mut self.stream) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
                Err(error) => return Err(error),
            }
            if let Err(error) = tls.process_new_packets() {
                let _alert = flush_tls(tls, &mut self.stream);
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
    }

    /// Writes before TLS begins.
    pub(crate) fn write_plain(&mut self, data: &[u8]) -> io::Result<usize> {
        match self.stream.write(data) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.writable = false;
                Ok(0)
            }
            other => other,
        }
    }

    /// Sends what TLS has encrypted and the socket did not accept; true: nothing is left.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        if !self.writable {
            return Ok(!tls.wants_write());
        }
        match flush_tls(tls, &mut self.stream) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.writable = false;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Sends the end of this direction, once.
    pub(crate) fn shut(&mut self) {
        if !self.shut {
            self.shut = true;
            if let Some(tls) = &mut self.tls {
                tls.send_close_notify();
                let _gone = flush_tls(tls, &mut self.stream);
            }
            let _gone = self.stream.shutdown(Shutdown::Write);
        }
    }

    /// Whether an idle connection has nothing to say and is not about to end.
    pub(crate) fn is_quiet(&mut self) -> bool {
        // The event may be about bytes that were read before it was looked at.
        if self.readable && self.tls.is_none() && !self.half_closed {
            let nothing = self.stream.peek(&mut [0]);
            self.readable = !nothing.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        }
        !self.readable && !self.eof && !self.half_closed
    }
}

fn read_tls(
    tls: &mut rustls::Connection,
    stream: &mut TcpStream,
    space: &mut [u8],
) -> io::Result<usize> {
    loop {
        match tls.reader().read(space) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // A connection that ends without close_notify: HTTP has its own ends.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
            other => return other,
        }
        if tls.read_tls(stream)? == 0 {
            return Ok(0);
        }
        if let Err(error) = tls.process_new_packets() {
            let _alert = flush_tls(tls, stream);
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        match flush_tls(tls, stream) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
}

fn write_tls(
    tls: &mut rustls::Connection,
    stream: &mut TcpStream,
    data: &[u8],
) -> io::Result<usize> {
    if tls.wants_write() {
        flush_tls(tls, stream)?;
    }
    let length = tls.writer().write(data)?;
    match flush_tls(tls, stream) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ if length == 0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(length),
    }
}

fn flush_tls(tls: &mut rustls::Connection, stream: &mut TcpStream) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(stream)?;
    }
    Ok(())
}
