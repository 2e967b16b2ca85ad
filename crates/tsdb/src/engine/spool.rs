//! The log of an engine for its readers.

use super::Engine;
use crate::error::Error;
use crate::spool::spool_path;
use crate::worker::Job;

impl Engine {
    /// Has files removed that every reader has confirmed.
    pub(crate) fn remove_read(&mut self) {
        // Files are unlinked by the thread that seals and merges; nobody waits for it here.
        let Some(spool) =
            self.options.spool.as_ref().filter(|_| !self.sealing && self.merging.is_none())
        else {
            return;
        };
        let gone = spool.removable();
        if !gone.is_empty() {
            let paths = gone.into_iter().map(|seq| spool_path(&self.dir, seq)).collect();
            self.worker.submit(Job::Unspool(paths));
        }
    }

    /// An error when the slowest reader is too far behind to take more samples.
    pub(crate) fn check_room(&self) -> Result<(), Error> {
        match &self.options.spool {
            Some(spool) if spool.is_full() => {
                Err(Error::SpoolFull { bytes: spool.behind(), limit: spool.bytes_max() })
            }
            _ => Ok(()),
        }
    }
}
