//! An HTTP/3 connection of a client: streams of QUIC on the one side, frames on the other.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use proxying::http2::connection::Limits;
use proxying::http3::connection::{Connection, Order};
use proxying::http3::frame::Code;
use quinn_proto::crypto::rustls::HandshakeData;
use quinn_proto::{ConnectionHandle, Dir, Side, StreamId, VarInt, WriteError};
use rustls::pki_types::CertificateDer;

use crate::origin::{Facts, Origin};
use crate::snapshot::Service;
use crate::tls::common_name;

/// How often a client with streams must give a sign of life, in milliseconds.
const PING_MS: u64 = 10_000;
/// How often deadlines are looked at while there are streams, in milliseconds.
const CHECK_MS: u64 = 1000;

/// The time of a wake-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) us: u64,
    pub(crate) instant: Instant,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) quic: quinn_proto::Connection,
    pub(crate) frames: Connection,
    pub(crate) handle: ConnectionHandle,
    /// Number of its listener of datagrams.
    pub(crate) listener: usize,
    origin: Arc<Origin>,
    control: Control,
    /// Streams that are not read until sessions have read some of what there is.
    paused: Vec<u32>,
    /// Those of them that are read again.
    resumed: Vec<u32>,
    /// Complete responses that the client has not acknowledged: an end of the connection would cut them off.
    leaving: Vec<StreamId>,
    pub(crate) stage: Stage,
    times: Times,
    /// Its entry in the thread's timers.
    pub(crate) due_us: Option<u64>,
}

/// The control stream of this side.
#[derive(Debug, Default)]
struct Control {
    /// After the handshake, if the client accepts it.
    stream: Option<StreamId>,
    /// What it has not accepted.
    rest: Vec<u8>,
}

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Handshake,
    Open,
    /// It is closed: late packets are still answered for a while.
    Closing,
}

/// In monotonic milliseconds.
#[derive(Debug)]
struct Times {
    began: u64,
    /// When it last had a stream.
    busy: u64,
    /// When parts of responses last left that wait for nothing else.
    moved: u64,
    /// Frames with such parts until then.
    sent: u64,
    pinged: u64,
}

impl Link {
    pub(crate) fn new(
        quic: quinn_proto::Connection,
        handle: ConnectionHandle,
        listener: usize,
        origin: Origin,
        now_ms: u64,
    ) -> Self {
        let limits = Limits {
            streams: origin.service.h2_streams,
            list: u32::try_from(origin.service.limits.head).unwrap_or(u32::MAX),
        };
        Self {
            quic,
            frames: Connection::new(limits, now_ms),
            handle,
            listener,
            origin: Arc::new(origin),
            control: Control::default(),
            paused: Vec::new(),
            resumed: Vec::new(),
            leaving: Vec::new(),
            stage: Stage::Handshake,
            times: Times { began: now_ms, busy: now_ms, moved: now_ms, sent: 0, pinged: now_ms },
            due_us: None,
        }
    }

    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.origin.service
    }

    /// Number of the listener of connections at the same address.
    pub(crate) fn number(&self) -> usize {
        self.origin.listener
    }

    /// What sessions of its streams begin with. A client that has moved keeps the address that the handshake has
    /// proved: the transport follows before it knows that the new one is the client's.
    pub(crate) fn origin(&self) -> Origin {
        Origin::clone(&self.origin)
    }

    /// The client's address at the beginning.
    pub(crate) fn client(&self) -> IpAddr {
        self.origin.source.ip()
    }

    /// Requests whose responses are not complete, or not acknowledged.
    pub(crate) fn requests(&self) -> usize {
        self.frames.requests() + self.leaving.len()
    }

    /// The client has all of a response.
    pub(crate) fn acknowledged(&mut self, stream: StreamId) {
        self.leaving.retain(|other| *other != stream);
    }

    /// The client does not want the rest of a response.
    pub(crate) fn stopped(&mut self, stream: StreamId) {
        if self.leaving.contains(&stream) {
            self.acknowledged(stream);
            self.abandon(stream);
        }
    }

    /// Frees what is held of a response.
    fn abandon(&mut self, stream: StreamId) {
        let code = VarInt::from_u32(Code::RequestCancelled as u32);
        let _ended = self.quic.send_stream(stream).reset(code);
    }

    pub(crate) fn facts(&self) -> Facts {
        let rtt_us = u64::try_from(self.quic.rtt().as_micros()).unwrap_or(u64::MAX);
        Facts { rtt_us, tls: "TLSv1.3", http3: true }
    }

    /// A session has read from its inbox: there is room again, for it and for others.
    pub(crate) fn consumed(&mut self, counted: u32) {
        if counted > 0 {
            self.resumed.append(&mut self.paused);
        }
    }

    /// A stream is not read until [`Self::consumed`].
    pub(crate) fn pause(&mut self, stream: u32) {
        if !self.paused.contains(&stream) {
            self.paused.push(stream);
        }
    }

    pub(crate) fn take_resumed(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.resumed)
    }

    /// Whether something waits for the transport, or can be read.
    pub(crate) fn has_work(&self) -> bool {
        self.frames.waiting() > 0 || !self.resumed.is_empty()
    }

    /// The handshake is complete.
    pub(crate) fn establish(&mut self) {
        self.stage = Stage::Open;
        let session = self.quic.crypto_session();
        let data = session.handshake_data().and_then(|data| data.downcast::<HandshakeData>().ok());
        let peer = session.peer_identity();
        let certificates =
            peer.and_then(|peer| peer.downcast::<Vec<CertificateDer<'static>>>().ok());
        let first = certificates.as_ref().and_then(|certificates| certificates.first());
        let mut origin = Origin::clone(&self.origin);
        origin.client_name = first.and_then(common_name).map(Arc::from);
        origin.sni = data.and_then(|data| data.server_name).map(Arc::from);
        self.origin = Arc::new(origin);
        self.control.stream = self.quic.streams().open(Dir::Uni);
    }

    /// Gives the transport what is ready; whether it has taken any content.
    pub(crate) fn flush(&mut self, now_ms: u64) -> bool {
        self.control.rest.extend(self.frames.take_control());
        if let Some(stream) = self.control.stream {
            let taken = write(&mut self.quic, stream, &self.control.rest);
            self.control.rest.drain(..taken);
        }
        let (quic, leaving) = (&mut self.quic, &mut self.leaving);
        if leaving.is_empty() {
            self.times.moved = now_ms;
        }
        let moved = self.frames.flush(now_ms, |stream, bytes, end| {
            let stream = StreamId::from(VarInt::from_u64(stream).unwrap_or(VarInt::MAX));
            let taken = write(quic, stream, bytes);
            // It fails if the client has stopped the stream.
            if end && taken == bytes.len() && quic.send_stream(stream).finish().is_ok() {
                leaving.push(stream);
            }
            taken
        });
        for order in self.frames.take_orders() {
            // Streams that have ended meanwhile need nothing.
            let (Order::Reset(stream, code) | Order::Stop(stream, code)) = order;
            let stream = StreamId::from(VarInt::from_u64(stream).unwrap_or(VarInt::MAX));
            let code = VarInt::from_u32(code as u32);
            let _ended = match order {
                Order::Reset(..) => self.quic.send_stream(stream).reset(code),
                Order::Stop(..) => self.quic.recv_stream(stream).stop(code),
            };
        }
        moved
    }

    /// The client has closed the connection, or is gone.
    pub(crate) fn lose(&mut self) {
        self.stage = Stage::Closing;
        self.leaving.clear();
        self.frames.close(Code::NoError);
    }

    /// Sends what the connection ends with; once.
    pub(crate) fn close(&mut self, code: Code, now: Moment) {
        if self.stage != Stage::Closing {
            self.stage = Stage::Closing;
            self.leaving.clear();
            self.frames.close(code);
            self.quic.close(now.instant, VarInt::from_u32(code as u32), Bytes::new());
        }
    }

    /// Ends what has taken too long. `removed`: the service no longer has HTTP/3.
    pub(crate) fn check(&mut self, removed: bool, now_ms: u64) {
        let times = self.origin.service.timeouts;
        if self.requests() > 0 {
            self.times.busy = now_ms;
            if now_ms >= self.times.pinged + PING_MS {
                self.times.pinged = now_ms;
                self.quic.ping();
            }
        }
        let late = match self.stage {
            Stage::Handshake => now_ms >= self.times.began.saturating_add(times.client_header),
            Stage::Open => {
                now_ms >= self.times.busy.saturating_add(times.keepalive)
                    || (self.frames.is_drained() && self.leaving.is_empty())
            }
            Stage::Closing => false,
        };
        if late {
            self.frames.close(Code::NoError);
        } else if self.stage == Stage::Open {
            let before_ms = now_ms.saturating_sub(times.client_body);
            self.frames.expire_output(before_ms);
            self.expire_leaving(before_ms, now_ms);
            let before_ms = now_ms.saturating_sub(times.client_header);
            // An error is noted in the connection.
            let _closed = self.frames.expire_heads(before_ms, now_ms);
            if removed {
                self.frames.drain(now_ms);
            }
        }
    }

    /// Abandons responses of which nothing has left for so long.
    fn expire_leaving(&mut self, before_ms: u64, now_ms: u64) {
        if self.leaving.is_empty() || now_ms < self.times.moved + CHECK_MS {
            return;
        }
        let sent = self.quic.stats().frame_tx.stream;
        if sent != self.times.sent {
            (self.times.sent, self.times.moved) = (sent, now_ms);
        } else if self.times.moved < before_ms {
            for stream in std::mem::take(&mut self.leaving) {
                self.abandon(stream);
            }
        }
    }

    /// When deadlines must be looked at again, in monotonic milliseconds.
    fn check_ms(&self, now_ms: u64) -> u64 {
        let times = &self.origin.service.timeouts;
        match self.stage {
            Stage::Handshake => self.times.began.saturating_add(times.client_header),
            Stage::Open if self.requests() > 0 || self.frames.is_draining() => now_ms + CHECK_MS,
            Stage::Open => self.times.busy.saturating_add(times.keepalive),
            Stage::Closing => u64::MAX,
        }
    }

    /// When it must run again without an event, in monotonic microseconds.
    pub(crate) fn next_us(&mut self, now: Moment) -> u64 {
        let release_ms = self.frames.next_release_ms().unwrap_or(u64::MAX);
        let check_us = self.check_ms(now.us / 1000).min(release_ms).saturating_mul(1000);
        let timeout = self.quic.poll_timeout();
        let timeout_us = timeout.map_or(u64::MAX, |timeout| {
            let wait = timeout.saturating_duration_since(now.instant).as_micros();
            now.us.saturating_add(u64::try_from(wait).unwrap_or(u64::MAX))
        });
        check_us.min(timeout_us)
    }

    /// The number of the request whose stream this is; `None`: it is of another kind.
    pub(crate) fn request_of(stream: StreamId) -> Option<u32> {
        let request = stream.dir() == Dir::Bi && stream.initiator() == Side::Client;
        u32::try_from(stream.index() + 1).ok().filter(|_| request)
    }

    /// The stream of a request.
    pub(crate) fn stream_of(request: u32) -> StreamId {
        StreamId::new(Side::Client, Dir::Bi, u64::from(request) - 1)
    }
}

/// Writes as much as the stream accepts; a stream that accepts nothing more takes everything.
fn write(quic: &mut quinn_proto::Connection, stream: StreamId, bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while !rest.is_empty() {
        match quic.send_stream(stream).write(rest) {
            Ok(length) => rest = &rest[length..],
            Err(WriteError::Blocked) => break,
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return bytes.len(),
        }
    }
    bytes.len() - rest.len()
}
