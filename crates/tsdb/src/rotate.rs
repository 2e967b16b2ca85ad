//! From one WAL file to the next, and out of trouble: what a failing disk leaves is put right
//! while the engine runs.
//!
//! - A write that failed may have left anything behind the last whole block. The file is cut
//!   there before anything else is written; where that fails too, a new one is begun.
//! - After a sync that failed, nobody knows what the disk has of the files written since the last
//!   good one. Memory has all of it: the head is sealed, and a new file is begun.
//! - A head that cannot be sealed stays in memory, and its WAL on the disk; it is tried again
//!   after a pause. When there is no room for more heads, appends are refused meanwhile.

use std::sync::Arc;
use std::time::Duration;

use crate::disk::{DiskFile, Watched};
use crate::engine::{Engine, FROZEN_MAX, Frozen};
use crate::error::Error;
use crate::head::Head;
use crate::manifest::{Closed, WalFile};
use crate::spool::spool_path;
use crate::wal::{FILE_HEADER, file_header, wal_path};
use crate::worker::{Job, Seal};

/// After sealing failed, it is tried again so much later.
pub(crate) const SEAL_PAUSE: Duration = Duration::from_secs(5);

impl Engine {
    /// Makes the WAL fit for the next block.
    pub(crate) fn mend(&mut self) -> Result<(), Error> {
        if let Some(error) = self.syncer.failure() {
            self.stats.wal_failures += 1;
            self.rotate(true)?;
            self.failure = Some(error);
        }
        let Some(wal) = &self.wal else {
            let wal = self.create_wal(self.seq, None)?;
            // What a start found is not synced either.
            self.syncer.rotate(Arc::clone(&wal));
            self.wal = Some(wal);
            self.wal_len = FILE_HEADER as u64;
            if let Some(spool) = &self.options.spool {
                spool.created();
            }
            return Ok(());
        };
        if self.wal_torn {
            match wal.truncate(self.wal_len) {
                Ok(()) => self.wal_torn = false,
                Err(_) => self.rotate(false)?,
            }
        }
        Ok(())
    }

    /// Starts a new WAL file and hands the head over for sealing; `suspect`: what the old file
    /// has on the disk is not certain.
    pub(crate) fn rotate(&mut self, suspect: bool) -> Result<(), Error> {
        if self.frozen.len() >= FROZEN_MAX {
            self.stats.stalls += 1;
        }
        while self.frozen.len() >= FROZEN_MAX {
            self.wait_for_sealing()?;
        }
        let seq = self.seq + 1;
        let file = self.create_wal(seq, Some((self.seq, Closed::of(self.wal_len, &self.head))))?;
        if suspect {
            self.syncer.start_anew(Arc::clone(&file));
            self.frozen.iter_mut().for_each(|frozen| frozen.suspect = true);
        } else {
            self.syncer.rotate(Arc::clone(&file));
        }
        if let Some(spool) = &self.options.spool {
            spool.rotated(seq);
        }
        let file = self.wal.replace(file);
        let seq = std::mem::replace(&mut self.seq, seq);
        let head = std::mem::replace(&mut self.head, Head::with_capacity(self.options.head_rows));
        (self.wal_len, self.wal_torn, self.head_day) = (FILE_HEADER as u64, false, None);
        let head = Arc::new(head);
        self.freeze(Frozen { seq, head, file, keep_wal: false, suspect });
        Ok(())
    }

    pub(crate) fn freeze(&mut self, frozen: Frozen) {
        let is_next = self.frozen.last().is_none_or(|last| last.seq < frozen.seq);
        assert!(is_next, "BUG: heads are not sealed in the order of their numbers");
        self.frozen.push(frozen);
        self.seal_next();
    }

    /// Has the oldest head sealed, unless that is under way or failed a moment ago.
    pub(crate) fn seal_next(&mut self) {
        let due = match &self.seal_failure {
            Some((_, due)) => self.clock.monotonic() >= *due,
            None => true,
        };
        let Some(first) = self.frozen.first().filter(|_| due && !self.sealing) else { return };
        let seqs = self.segments.iter().map(|segment| segment.id.last_seq);
        let oldest = seqs.chain([first.seq]).min();
        let clears = if self.clears.is_empty() && !self.clears.is_changed() {
            None
        } else {
            let clears = Arc::make_mut(&mut self.clears);
            clears.prune(oldest);
            clears.to_write(first.seq)
        };
        let job = Seal {
            seq: first.seq,
            head: Arc::clone(&first.head),
            wal: wal_path(&self.dir, first.seq),
            spool: self.options.spool.is_some().then(|| spool_path(&self.dir, first.seq)),
            file: first.file.clone(),
            keep_wal: first.keep_wal,
            clears,
            late: self.late.to_write(first.seq),
        };
        self.sealing = true;
        self.worker.submit(Job::Seal(job));
    }

    /// Waits for something to be sealed; an error if that cannot be just now.
    pub(crate) fn wait_for_sealing(&mut self) -> Result<(), Error> {
        self.seal_next();
        match &self.seal_failure {
            Some((error, _)) if !self.sealing => {
                Err(Error::Refused { cause: error.to_string().into() })
            }
            _ => self.wait_for_worker(),
        }
    }

    pub(crate) fn wait_for_worker(&mut self) -> Result<(), Error> {
        match self.worker.wait() {
            Some(done) => {
                self.take(done);
                Ok(())
            }
            None => Err(Error::Poisoned { cause: "the sealing thread ended".into() }),
        }
    }
}

impl Engine {
    /// Creates the WAL file of a new head and lists it; the one before gets its final length.
    fn create_wal(
        &self,
        seq: u64,
        before: Option<(u64, Closed)>,
    ) -> Result<Arc<dyn DiskFile>, Error> {
        let path = wal_path(&self.dir, seq);
        let file = self.options.disk.create(&path).map_err(Error::io("create", &path))?;
        let file = Watched::over(file);
        file.append(&file_header(seq)).map_err(Error::io("write", &path))?;
        self.options.disk.sync_dir(&self.dir).map_err(Error::io("sync", &self.dir))?;
        let created = u32::try_from(self.clock.unix_s()).unwrap_or(u32::MAX);
        self.manifest.change(|files| {
            if let Some((seq, closed)) = before
                && let Some(wal) = files.wals.get_mut(&seq)
            {
                wal.closed = Some(closed);
            }
            files.wals.insert(seq, WalFile { created, closed: None });
        })?;
        Ok(file)
    }

    /// Writes damage that was found outside of the engine into the manifest.
    pub fn save_damage(&self) -> Result<(), Error> {
        self.manifest.change(|_| ())
    }

    /// The orderly end: everything is on the disk, and the manifest has the length of the WAL, so that
    /// the next start notices what is missing at its end.
    pub fn close(&mut self) -> Result<(), Error> {
        self.sync()?;
        let (seq, closed) = (self.seq, Closed::of(self.wal_len, &self.head));
        self.manifest.change(|files| {
            if let Some(wal) = files.wals.get_mut(&seq) {
                wal.closed = Some(closed);
            }
        })
    }
}
