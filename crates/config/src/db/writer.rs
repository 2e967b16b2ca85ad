//! The one connection that changes a part of the database.

use std::path::Path;
use std::time::Duration;

use parking_lot::FairMutex;

use super::durable::{Durable, SharedDisk};
use super::{Connection, DbError, DbResult};
use crate::holds::Holds;

pub(super) struct Writer {
    /// Fair: in a storm of problems one transaction follows the other, and the thread that writes them would
    /// take the lock again before a sign-in that waits for it has woken up.
    connection: FairMutex<Box<dyn Connection>>,
    /// `None`: the database syncs each commit itself.
    durable: Option<Durable>,
    /// `None`: the caller measures its changes.
    holds: Option<Holds>,
}

impl Writer {
    /// `file`: that of SQLite, which the connection has opened.
    pub(super) fn new(
        connection: Box<dyn Connection>,
        file: Option<&Path>,
        disk: SharedDisk,
        holds: Option<Holds>,
    ) -> DbResult<Self> {
        let durable = |path: &Path| {
            Durable::of_sqlite(path, disk).map_err(|error| DbError::Connect {
                url: path.display().to_string(),
                reason: error.to_string(),
            })
        };
        let durable = file.map(durable).transpose()?;
        // What opening it has written.
        if let Some(durable) = &durable {
            durable.committed();
        }
        Ok(Self { connection: FairMutex::new(connection), durable, holds })
    }

    /// Runs `work` in a transaction: all of it is kept, or, when it fails, nothing.
    pub(super) fn write<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.connection.lock();
        let connection = &mut **connection;
        let _held = self.holds.as_ref().map(Holds::begin);
        connection.begin()?;
        let result = work(connection);
        match &result {
            Ok(_) => {
                connection.commit()?;
                // Counted while the writer is held: a sync that sees it sees the commit.
                if let Some(durable) = &self.durable {
                    durable.committed();
                }
            }
            Err(_) => connection.rollback(),
        }
        result
    }

    /// The longest time for which a transaction has held the writer, see [`Holds::longest`].
    pub(super) fn longest_hold(&self) -> Duration {
        self.holds.as_ref().map(Holds::longest).unwrap_or_default()
    }

    /// Returns when all transactions that ended before the call survive a power cut. After an error
    /// ([`DbError::Unsynced`]) they are visible and kept as long as the machine runs.
    pub(super) fn sync(&self) -> DbResult<()> {
        let Some(durable) = &self.durable else { return Ok(()) };
        durable.wait(|| self.checkpoint().map_err(|error| error.to_string()))
    }

    /// Writes everything into SQLite's main file, synced, and empties its write-ahead log.
    pub(super) fn checkpoint(&self) -> DbResult<()> {
        // Of this file alone: the other part belongs to its own writer.
        const SQL: &str = "PRAGMA main.wal_checkpoint(TRUNCATE)";
        if self.durable.is_none() {
            return Ok(());
        }
        let rows = self.connection.lock().query(SQL, &[])?;
        match rows.first().map(|row| row.int("busy")) {
            Some(0) => Ok(()),
            _ => Err(DbError::unavailable(SQL, "a reader still uses the write-ahead log")),
        }
    }
}
