//! Messages on their way in: as bytes, within a bound of memory and time.
//!
//! A message that is longer than what has arrived of it needs room for its whole length before its
//! bytes are taken, as the length stands in front of it. Until then HTTP/2's window makes its
//! sender wait. The room goes with the message and is free when that has been worked on.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Buf, Bytes, Frame, Incoming, SizeHint};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;
use wire::history_service::{Failure, MESSAGE_BYTES_MAX, Reason, Request, from_protobuf};

use crate::status::status;

/// In front of each message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// The room of the message that arrives: put here by [`Arriving`], taken along by [`Raw`].
type Room = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

fn swap(room: &Room, with: Option<OwnedSemaphorePermit>) -> Option<OwnedSemaphorePermit> {
    std::mem::replace(&mut *room.lock().unwrap_or_else(PoisonError::into_inner), with)
}

/// A message that has arrived.
pub(crate) struct Raw {
    bytes: Bytes,
    /// `None`: it came in one piece.
    _room: Option<OwnedSemaphorePermit>,
}

impl Raw {
    pub(crate) fn read<M: Request>(&self) -> Result<M, Failure> {
        from_protobuf(&self.bytes)
    }
}

/// Takes messages as bytes, gives them as protobuf.
pub(crate) struct RawCodec<Out> {
    room: Room,
    out: std::marker::PhantomData<fn() -> Out>,
}

pub(crate) struct RawDecoder(Room);

impl<Out: prost::Message + 'static> Codec for RawCodec<Out> {
    type Encode = Out;
    type Decode = Raw;
    type Encoder = ProstEncoder<Out>;
    type Decoder = RawDecoder;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Self::Decoder {
        RawDecoder(Arc::clone(&self.room))
    }
}

impl Decoder for RawDecoder {
    type Item = Raw;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Raw>, Status> {
        let bytes = from.copy_to_bytes(from.remaining());
        Ok(Some(Raw { bytes, _room: swap(&self.0, None) }))
    }
}

/// Where a body is between messages.
#[derive(Debug, Default)]
struct Cut {
    /// What has come of the next message's prefix.
    prefix: [u8; PREFIX],
    filled: usize,
    /// Bytes to come of a message that has begun.
    open: usize,
}

/// What to do with bytes.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// So many can be passed on.
    Pass(usize),
    /// They begin a message of this length, whose end is not among them.
    Spans(usize),
}

impl Cut {
    fn look(&mut self, data: &[u8]) -> Look {
        if self.open > 0 {
            let many = self.open.min(data.len());
            self.open -= many;
            return Look::Pass(many);
        }
        let (mut at, mut done) = (0, 0);
        loop {
            let many = (PREFIX - self.filled).min(data.len() - at);
            self.prefix[self.filled..self.filled + many].copy_from_slice(&data[at..at + many]);
            self.filled += many;
            at += many;
            if self.filled < PREFIX {
                return Look::Pass(data.len());
            }
            self.filled = 0;
            let [_, length @ ..] = self.prefix;
            let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            let here = data.len() - at;
            if length <= here {
                at += length;
                done = at;
                if done == data.len() {
                    return Look::Pass(done);
                }
                continue;
            }
            if done > 0 {
                // The prefix is looked at again.
                return Look::Pass(done);
            }
            self.open = length - here;
            return Look::Spans(length);
        }
    }
}

type Waiting =
    Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send + 'static>>;

/// How many messages a call brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Messages {
    /// It has to arrive in time.
    One,
    /// Each has to arrive in time once it has begun; between them a client takes its time.
    Many,
}

/// The body of a call.
pub(crate) struct Arriving {
    body: Incoming,
    messages: Messages,
    /// Arrived, not passed on.
    data: Bytes,
    cut: Cut,
    /// Memory for messages of all calls, a permit a KiB.
    memory: Arc<Semaphore>,
    room: Room,
    waiting: Option<Waiting>,
    /// In which a message has to arrive.
    timeout: Duration,
    late: Option<Pin<Box<Sleep>>>,
}

/// The body with what takes its messages, for which there are memory and time.
pub(crate) fn arriving<Out>(
    body: Incoming,
    messages: Messages,
    (memory, timeout): (&Arc<Semaphore>, Duration),
) -> (Arriving, RawCodec<Out>) {
    let room = Room::default();
    let arriving = Arriving {
        body,
        messages,
        data: Bytes::new(),
        cut: Cut::default(),
        memory: Arc::clone(memory),
        room: Arc::clone(&room),
        waiting: None,
        timeout,
        late: None,
    };
    (arriving, RawCodec { room, out: std::marker::PhantomData })
}

impl Arriving {
    /// Between messages, where nothing has to come.
    fn is_between(&self) -> bool {
        self.cut.open == 0 && self.messages == Messages::Many
    }

    /// Looks for an end of what is passed on.
    fn pass(&mut self, many: usize) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.is_between() {
            self.late = None;
        }
        Poll::Ready(Some(Ok(Frame::data(self.data.split_to(many)))))
    }

    /// Nothing comes: for how long yet?
    fn idle(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.is_between() {
            return Poll::Pending;
        }
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        ready!(late.as_mut().poll(context));
        let text = format!("A message did not arrive within {} s.", self.timeout.as_secs());
        Poll::Ready(Some(Err(status(&Reason::Invalid.with(text)))))
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        loop {
            if let Some(waiting) = &mut this.waiting {
                let permit = ready!(waiting.as_mut().poll(context));
                this.waiting = None;
                drop(swap(&this.room, permit.ok()));
                return this.pass(this.data.len());
            }
            if !this.data.is_empty() {
                match this.cut.look(&this.data) {
                    Look::Pass(many) => return this.pass(many),
                    // Refused by its prefix.
                    Look::Spans(length) if length > MESSAGE_BYTES_MAX => {
                        return this.pass(this.data.len());
                    }
                    Look::Spans(length) => {
                        let share = u32::try_from(length / 1024 + 1).unwrap_or(u32::MAX);
                        let memory = Arc::clone(&this.memory);
                        this.waiting = Some(Box::pin(memory.acquire_many_owned(share)));
                        continue;
                    }
                }
            }
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Pending => return this.idle(context),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Some(Err(Status::from_error(Box::new(error)))));
                }
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => this.data = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces that bytes are passed on in, when they arrive in chunks of a size; a message that
    /// spans chunks by its length, negative.
    fn pieces(bytes: &[u8], size: usize) -> Vec<isize> {
        let mut cut = Cut::default();
        let mut pieces = Vec::new();
        let signed = |n: usize| isize::try_from(n).unwrap();
        for chunk in bytes.chunks(size) {
            let mut left = chunk;
            while !left.is_empty() {
                match cut.look(left) {
                    Look::Pass(many) => {
                        assert!(many > 0);
                        pieces.push(signed(many));
                        left = &left[many..];
                    }
                    Look::Spans(length) => {
                        pieces.push(-signed(length));
                        left = &[];
                    }
                }
            }
        }
        pieces
    }

    #[test]
    fn a_piece_ends_before_a_message_that_needs_room() {
        let mut bytes = Vec::new();
        for length in [0_u8, 3, 10, 1] {
            bytes.extend([0, 0, 0, 0, length]);
            bytes.extend(vec![b'x'; usize::from(length)]);
        }
        assert_eq!(bytes.len(), 34);
        for (size, expected) in [
            // Whole messages need no room.
            (34, vec![34]),
            // The third begins in the first chunk: what is before it is passed on alone.
            (20, vec![13, -10, 8, 6]),
            // The start of a prefix is passed on, and remembered.
            (15, vec![15, 15, 4]),
            (18, vec![13, -10, 10, 6]),
            (7, vec![7, 7, -10, 7, 6]),
        ] {
            assert_eq!(pieces(&bytes, size), expected, "{size}");
        }
        for size in 1..=34 {
            let spanning = pieces(&bytes, size).into_iter().filter(|piece| *piece < 0).count();
            assert!(spanning <= 3, "{size}: {spanning}");
        }
    }
}
