//! The records of one connection on their way into the store.

use std::sync::Arc;

use anyhow::Context;
use proxying::engine_link::Position;
use transactions::{StoreError, Stream};

use super::{Shared, blocking};

/// How far the records of an engine are.
pub(super) struct Records {
    stream: Stream,
    /// The position that the engine knows.
    acknowledged: Position,
    /// Blocks arrived that are not acknowledged.
    unsynced: bool,
    /// The store did not take a block: those that follow are of no use until the engine connects again.
    behind: bool,
}

impl Records {
    /// What an unavailable store has is unknown: the engine begins with its oldest records, none of which is
    /// taken, and connects again once the store is available.
    pub(super) fn new(stream: Stream, shared: &Shared) -> Self {
        let end = shared.records.end(stream);
        let behind = end.is_err();
        let acknowledged = position(end.unwrap_or_default());
        Self { stream, acknowledged, unsynced: false, behind }
    }

    pub(super) const fn acknowledged(&self) -> Position {
        self.acknowledged
    }

    pub(super) const fn is_unsynced(&self) -> bool {
        self.unsynced
    }

    /// Gives a block to the store. While it is unavailable, the connection stays for everything else: the engine
    /// stops sending when too much is not acknowledged. The inner error is the reason to end the connection.
    pub(super) async fn keep(
        &mut self,
        shared: &Arc<Shared>,
        engine: &str,
        at: Position,
        bytes: Vec<u8>,
    ) -> anyhow::Result<Result<(), String>> {
        if self.behind {
            return Ok(Ok(()));
        }
        let stream = self.stream;
        let kept = blocking(shared, move |shared| {
            let now_us = u64::try_from(shared.clock.unix().as_micros()).unwrap_or(u64::MAX);
            let at = transactions::Position { file: at.file, offset: at.offset };
            shared.records.keep(stream, at, &bytes, now_us)
        });
        Ok(match kept.await? {
            Ok(_) => {
                self.unsynced = true;
                Ok(())
            }
            Err(StoreError::Unavailable(why)) => {
                tracing::warn!(engine, "records of an engine wait on its disk: {why}");
                self.behind = true;
                Ok(())
            }
            Err(error @ StoreError::Io(_)) => {
                tracing::error!(engine, %error, "cannot keep records of an engine; it sends them again later");
                Err(format!("the server cannot keep records: {error}"))
            }
        })
    }

    /// Why the engine has to connect again: the store takes records again.
    pub(super) fn restart(&self, shared: &Shared) -> Option<&'static str> {
        let restarts = self.behind && shared.records.is_ready();
        restarts.then_some("the server stores records again: the engine sends what is missing")
    }

    /// Makes blocks safe. The new position behind them; `None`: it is the one that the engine knows.
    pub(super) async fn sync(&mut self, shared: &Arc<Shared>) -> anyhow::Result<Option<Position>> {
        let stream = self.stream;
        let synced = blocking(shared, move |shared| {
            let synced = shared.records.sync(stream)?;
            Ok((synced, shared.records.end(stream)?))
        });
        let (safe, end) = match synced.await? {
            Ok((synced, end)) => (position(synced), position(end)),
            Err(StoreError::Unavailable(_)) => return Ok(None),
            Err(error @ StoreError::Io(_)) => {
                return Err(error).context("the disk does not confirm records");
            }
        };
        self.unsynced = safe < end;
        if safe <= self.acknowledged {
            return Ok(None);
        }
        self.acknowledged = safe;
        Ok(Some(safe))
    }
}

fn position(at: transactions::Position) -> Position {
    Position { file: at.file, offset: at.offset }
}
