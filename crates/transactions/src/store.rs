//! What a place for the records of many engines promises, whichever it is.

use std::io;

use crate::archive::{Archive, Position, SearchError, Stream, Taken};
use crate::search::{Answer, Query, Stop};

/// Why a store does not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It may do so later: the caller keeps what it has.
    #[error("{0}")]
    Unavailable(String),
    /// `InvalidData`: it is no block, or its position leaves a gap. Others: the disk fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A store of records: takes blocks of streams in order, each once, and answers queries over all of them.
pub trait Store: std::fmt::Debug + Send + Sync {
    /// The position behind the last block that was taken of a stream: the next one is expected there.
    ///
    /// # Errors
    /// It is not known now.
    fn end(&self, stream: Stream) -> Result<Position, StoreError>;

    /// Takes a block. It is safe once [`sync`](Self::sync) returns a position behind it. A block before the
    /// [`end`](Self::end) has been taken before and changes nothing.
    ///
    /// # Errors
    /// The block was not taken. After `Unavailable`, the caller sends it and all that follow it again,
    /// from the end.
    fn keep(
        &self,
        stream: Stream,
        at: Position,
        block: &[u8],
        now_us: u64,
    ) -> Result<Taken, StoreError>;

    /// Makes blocks safe, as far as it is possible without waiting for another machine. All blocks of the
    /// stream before the position that it returns are safe.
    ///
    /// # Errors
    /// Blocks since the last success may be lost.
    fn sync(&self, stream: Stream) -> Result<Position, StoreError>;

    /// Whether blocks are taken now.
    fn is_ready(&self) -> bool;

    /// Deletes what is beyond the limits. `now_us`: Unix time in microseconds.
    ///
    /// # Errors
    /// It cannot be deleted now.
    fn delete_old(&self, now_us: u64) -> Result<(), StoreError>;

    /// Answers a query over all streams.
    ///
    /// # Errors
    /// See [`SearchError`].
    fn search(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, SearchError>;
}

impl Store for Archive {
    fn end(&self, stream: Stream) -> Result<Position, StoreError> {
        Ok(self.end(stream))
    }

    fn keep(
        &self,
        stream: Stream,
        at: Position,
        block: &[u8],
        now_us: u64,
    ) -> Result<Taken, StoreError> {
        Ok(self.keep(stream, at, block, now_us)?)
    }

    fn sync(&self, stream: Stream) -> Result<Position, StoreError> {
        let end = self.end(stream);
        self.sync(stream)?;
        Ok(end)
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn delete_old(&self, now_us: u64) -> Result<(), StoreError> {
        Ok(self.delete_old(now_us)?)
    }

    fn search(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, SearchError> {
        self.search(query, stop)
    }
}
