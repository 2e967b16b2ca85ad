//! Answers on their way to the client: a thread writes blocks, the connection sends them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use futures_util::stream::unfold;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::encoding::{self, Encoder, Encoding};
use crate::answer::{BLOCK_BYTES, Hold, Outlet};
use crate::error::{ApiError, ApiResult};

/// Blocks of one answer that may wait for its client.
const BLOCKS_AHEAD: usize = 8;
/// The same while half of the memory of all answers is free: rows that are written while the statement
/// runs need not be read again.
const BLOCKS_AHEAD_MAX: usize = 128;
/// How long a block waits for room.
const ROOM_PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may take for one block.
const CLIENT_PATIENCE: Duration = Duration::from_secs(30);
/// Answers that may wait at once, for their clients or for room: each is a thread.
const WAITING_MAX: usize = 128;

/// The memory of all answers together.
#[derive(Debug, Clone)]
pub(super) struct Room {
    /// One permit per KiB.
    permits: Arc<Semaphore>,
    kib: usize,
    /// One permit per answer that waits.
    waiting: Arc<Semaphore>,
    patience: Duration,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        // Blocks of one answer always fit.
        let kib = bytes.max(2 * BLOCK_BYTES).div_ceil(1024);
        let waiting = Arc::new(Semaphore::new(WAITING_MAX));
        Self { permits: Arc::new(Semaphore::new(kib)), kib, waiting, patience: ROOM_PATIENCE }
    }

    /// A body that is made already. It has its part of the memory until the connection has sent it; `None` = no
    /// part was free in time.
    pub(super) async fn whole(&self, bytes: Vec<u8>) -> Option<Bytes> {
        let kib = u32::try_from(bytes.len().div_ceil(1024).min(self.kib / 4)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.permits).acquire_many_owned(kib);
        let permit = timeout(self.patience, permit).await.ok()?.ok()?;
        Some(Bytes::from_owner(Held { bytes, _permit: permit }))
    }
}

/// What the thread gives to the connection.
enum Piece {
    /// The complete answer.
    Whole(Option<Encoding>, Vec<u8>),
    /// Blocks follow, in this encoding.
    Begin(Option<Encoding>),
    Block(Bytes),
    End,
}

/// A block, and its room until the connection has sent it.
struct Held {
    bytes: Vec<u8>,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The thread's side.
pub(super) struct Blocks {
    pieces: Sender<Piece>,
    room: Room,
    runtime: Handle,
    encoding: Option<Encoding>,
    /// `None` until the first block.
    encoder: Option<Encoder>,
    /// What allows the call to work. An answer that waits does not work: others do meanwhile.
    calls: Vec<OwnedSemaphorePermit>,
}

/// The connection's side.
pub(super) struct Pieces(Receiver<Piece>);

/// What the connection sends: an answer as a whole, or a body of blocks.
pub(super) enum Sent {
    Whole(Option<Encoding>, Vec<u8>),
    Stream(Option<Encoding>),
}

/// Both sides of one answer. Must be called within the runtime.
pub(super) fn outlet(
    room: &Room,
    headers: &HeaderMap,
    calls: Vec<OwnedSemaphorePermit>,
) -> (Blocks, Pieces) {
    let (pieces, received) = channel(BLOCKS_AHEAD_MAX);
    let blocks = Blocks {
        pieces,
        room: room.clone(),
        runtime: Handle::current(),
        encoding: encoding::of_answers(headers),
        encoder: None,
        calls,
    };
    (blocks, Pieces(received))
}

fn gone() -> ApiError {
    ApiError::application("The client has closed the connection.")
}

impl Blocks {
    /// Waits for `work` as long as the client is there.
    fn wait<T>(&self, patience: Duration, work: impl Future<Output = T>) -> ApiResult<Option<T>> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.pieces.closed() => Err(gone()),
                done = timeout(patience, work) => Ok(done.ok()),
            }
        })
    }

    /// The same, while another call may work in the place of this one.
    fn pause<T>(
        &mut self,
        patience: Duration,
        work: impl Future<Output = T>,
    ) -> ApiResult<Option<T>> {
        let Ok(_place) = Arc::clone(&self.room.waiting).try_acquire_owned() else {
            return Err(ApiError::application(
                "Too many clients read their answers slowly: try again later.",
            ));
        };
        let places: Vec<_> =
            self.calls.drain(..).map(|permit| Arc::clone(permit.semaphore())).collect();
        let done = self.wait(patience, work)?;
        for place in places {
            let permit = self.wait(self.room.patience, place.acquire_owned())?;
            let busy = || ApiError::application("The server is busy: try again later.");
            self.calls.push(permit.and_then(Result::ok).ok_or_else(busy)?);
        }
        Ok(done)
    }

    fn take(&mut self, bytes: usize) -> ApiResult<OwnedSemaphorePermit> {
        let kib = bytes.div_ceil(1024).min(self.room.kib / 4);
        let kib = u32::try_from(kib).unwrap_or(u32::MAX);
        let permits = Arc::clone(&self.room.permits);
        if let Ok(permit) = Arc::clone(&permits).try_acquire_many_owned(kib) {
            return Ok(permit);
        }
        let permit = self.pause(self.room.patience, permits.acquire_many_owned(kib))?;
        permit.and_then(Result::ok).ok_or_else(|| {
            ApiError::application(
                "There is no memory for this answer now: other large answers are being sent. Try \
                 again later, or ask for less.",
            )
        })
    }

    /// Pieces that may be written before the answer has to wait for its client.
    fn ahead(&self) -> usize {
        let is_scarce = self.room.permits.available_permits() < self.room.kib / 2;
        let reserved = if is_scarce { BLOCKS_AHEAD_MAX - BLOCKS_AHEAD } else { 0 };
        self.pieces.capacity().saturating_sub(reserved)
    }

    fn push(&mut self, piece: Piece) -> ApiResult<()> {
        while self.ahead() == 0 {
            // Until the client takes the next piece.
            let (pieces, free) = (self.pieces.clone(), self.pieces.capacity() + 1);
            let taken = async move { pieces.reserve_many(free).await.is_ok() };
            if self.pause(CLIENT_PATIENCE, taken)? != Some(true) {
                return Err(ApiError::application("The client reads too slowly."));
            }
        }
        self.pieces.try_send(piece).map_err(|_| gone())
    }

    fn push_block(&mut self, bytes: Vec<u8>, mut permit: OwnedSemaphorePermit) -> ApiResult<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        // Encoded bytes need less.
        let spare = permit.num_permits().saturating_sub(bytes.len().div_ceil(1024));
        drop(permit.split(spare));
        self.push(Piece::Block(Bytes::from_owner(Held { bytes, _permit: permit })))
    }

    fn end_blocks(&mut self, rest: &[u8], mut encoder: Encoder) -> ApiResult<()> {
        let permit = self.take(BLOCK_BYTES)?;
        let mut bytes = encoder.encode(rest).map_err(|_| gone())?;
        bytes.extend(encoder.finish().map_err(|_| gone())?);
        self.push_block(bytes, permit)?;
        self.push(Piece::End)
    }
}

impl Outlet for Blocks {
    fn send(&mut self, block: &[u8]) -> ApiResult<()> {
        let permit = self.take(block.len())?;
        let first = self.encoder.is_none();
        let encoder = self.encoder.get_or_insert_with(|| Encoder::new(self.encoding));
        let failed =
            |error| ApiError::application(format!("The answer cannot be encoded: {error}"));
        let bytes = encoder.encode(block).map_err(failed)?;
        if first {
            self.push(Piece::Begin(self.encoding))?;
        }
        self.push_block(bytes, permit)
    }

    fn is_full(&self) -> bool {
        self.ahead() < 2 || self.room.permits.available_permits() < 2 * BLOCK_BYTES / 1024
    }

    fn hold(&mut self, bytes: usize) -> ApiResult<Hold> {
        self.take(bytes).map(Hold::from)
    }

    fn end(mut self: Box<Self>, rest: Vec<u8>) {
        let result = match self.encoder.take() {
            Some(encoder) => self.end_blocks(&rest, encoder),
            None => {
                let (encoding, bytes) = encoding::encode(rest, self.encoding);
                self.push(Piece::Whole(encoding, bytes))
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, "the end of an answer was not sent");
        }
    }
}

impl Pieces {
    /// Waits for the first piece; `None` = the thread ended without an answer.
    pub(super) async fn first(&mut self) -> Option<Sent> {
        match self.0.recv().await? {
            Piece::Whole(encoding, bytes) => Some(Sent::Whole(encoding, bytes)),
            Piece::Begin(encoding) => Some(Sent::Stream(encoding)),
            Piece::Block(_) | Piece::End => None,
        }
    }

    /// The blocks as a body, which breaks off if the answer does. `guards` live as long as it does.
    pub(super) fn into_body(self, guards: impl Send + 'static) -> Body {
        let blocks = unfold(Some((self, guards)), async |state| {
            let (mut pieces, guards) = state?;
            match pieces.0.recv().await {
                Some(Piece::Block(bytes)) => Some((Ok(bytes), Some((pieces, guards)))),
                Some(Piece::End) => None,
                _ => Some((Err(std::io::Error::other("the answer broke off")), None)),
            }
        });
        Body::from_stream(blocks)
    }
}

#[cfg(test)]
#[path = "outlet_tests.rs"]
mod tests;
