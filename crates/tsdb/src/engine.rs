//! The engine: one owner, one WAL, one head.

mod spool;
mod trends;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use model::{DAY_S, ItemId, Sample, Timestamp, Trend};
use stdx::clock::SharedClock;

use crate::clears::Clears;
use crate::damage::DamageLog;
use crate::disk::DiskFile;
use crate::error::Error;
use crate::head::Head;
use crate::kind::{Class, Day, Kind, Kinds, Span};
use crate::late::Late;
use crate::manifest::Manifest;
use crate::merge::{OnDamage, merged};
use crate::newest_cache::Cache;
use crate::options::Options;
use crate::rows::{Raw, Rows, Run, value_of};
use crate::segment::{Segment, sort};
use crate::view::View;
use crate::wal::{BLOCK_BYTES_MAX, BLOCK_ROWS_MAX, Encoder, wal_path};
use crate::worker::{Job, Syncer, Worker};

/// Heads on their way to segments; more make the writer wait.
pub(crate) const FROZEN_MAX: usize = 2;

/// What an append stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Committed {
    /// Rows stored: samples, or four for each trend.
    pub rows: usize,
    /// Bytes appended to the WAL.
    pub wal_bytes: usize,
}

/// Figures of an engine, for self-monitoring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Rows appended since the start.
    pub rows: u64,
    /// Batches appended since the start.
    pub batches: u64,
    /// Bytes appended to the WAL since the start.
    pub wal_bytes: u64,
    /// Rows in memory, not sealed.
    pub head_rows: usize,
    /// Bytes of memory that these take, about, with heads that are being sealed and newest rows
    /// of segments.
    pub memory_bytes: usize,
    /// Heads being sealed.
    pub sealing: usize,
    /// Times an append waited for sealing.
    pub stalls: u64,
    /// Heads sealed since the start.
    pub seals: u64,
    /// Merges done since the start.
    pub merges: u64,
    /// Items whose older rows are hidden until merging has removed them.
    pub cleared: usize,
    /// Writes to the WAL or syncs of it that failed since the start.
    pub wal_failures: u64,
    /// Tries to seal a head that failed since the start.
    pub seal_failures: u64,
    /// Merges that failed since the start.
    pub merge_failures: u64,
    /// Segments now.
    pub segments: usize,
    /// Bytes of segments now.
    pub segment_bytes: u64,
    /// Rows in segments now.
    pub segment_rows: u64,
}

/// A head whose WAL file is closed.
pub(crate) struct Frozen {
    pub(crate) seq: u64,
    pub(crate) head: Arc<Head>,
    pub(crate) file: Option<Arc<dyn DiskFile>>,
    /// The WAL has damage inside.
    pub(crate) keep_wal: bool,
    /// A sync of the WAL failed: only sealing makes it survive a power cut.
    pub(crate) suspect: bool,
}

/// An embedded history store, owned by one thread; see the crate's documentation.
pub struct Engine {
    pub(crate) dir: PathBuf,
    pub(crate) options: Options,
    pub(crate) clock: SharedClock,
    // Dropped before `_lock`: a job under way ends while the directory is still ours.
    pub(crate) worker: Worker,
    pub(crate) syncer: Syncer,
    /// `None` = it could not be created yet.
    pub(crate) wal: Option<Arc<dyn DiskFile>>,
    /// Bytes of it that are whole blocks.
    pub(crate) wal_len: u64,
    /// A write failed: behind these there may be anything.
    pub(crate) wal_torn: bool,
    pub(crate) seq: u64,
    pub(crate) head: Head,
    /// Day of the clock when the head got its first row.
    pub(crate) head_day: Option<Day>,
    /// Sealed one after the other, oldest first.
    pub(crate) frozen: Vec<Frozen>,
    pub(crate) sealing: bool,
    /// Why the last try to seal failed, and when the next is due.
    pub(crate) seal_failure: Option<(Error, Duration)>,
    /// For the log; told by [`Engine::maintain`].
    pub(crate) failure: Option<Error>,
    pub(crate) clears: Arc<Clears>,
    pub(crate) late: Late,
    /// In the order in which they were written.
    pub(crate) segments: Arc<Vec<Arc<Segment>>>,
    /// Segments of other engines that hold older values of our items.
    pub(crate) attached: Vec<Arc<Segment>>,
    pub(crate) newest_rows: Arc<Cache>,
    pub(crate) manifest: Arc<Manifest>,
    /// Whose segments are being merged.
    pub(crate) merging: Option<(Class, Day)>,
    pub(crate) merge_not_before_s: u64,
    pub(crate) rows: Rows,
    pub(crate) encoder: Encoder,
    pub(crate) block: Vec<u8>,
    pub(crate) stats: Stats,
    pub(crate) _lock: std::fs::File,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Engine {
    /// Stores samples. When it returns `Ok`, they survive the end of the process; a power cut
    /// costs at most what came since the last sync, nothing with [`Options::durable`]. After an
    /// error none of the batch is promised; the next call retries, and succeeds when the disk
    /// works again.
    pub fn append(&mut self, samples: &[Sample]) -> Result<Committed, Error> {
        self.check_room()?;
        let mut committed = Committed::default();
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        self.late.push_announced(&mut rows);
        let result = samples.iter().try_for_each(|sample| {
            rows.push_sample(sample)?;
            self.commit_if(&mut rows, BLOCK_ROWS_MAX, &mut committed)
        });
        let result = result.and_then(|()| self.commit_if(&mut rows, 1, &mut committed));
        self.rows = rows;
        result?;
        self.end_of_batch(committed)
    }

    /// Stores hours; an existing trend (same item, type and hour) is replaced.
    pub fn append_trends(&mut self, trends: &[Trend]) -> Result<Committed, Error> {
        let mut committed = Committed::default();
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let result = trends.iter().try_for_each(|trend| {
            rows.push_trend(trend);
            self.commit_if(&mut rows, BLOCK_ROWS_MAX, &mut committed)
        });
        let result = result.and_then(|()| self.commit_if(&mut rows, 1, &mut committed));
        self.rows = rows;
        result?;
        self.end_of_batch(committed)
    }

    fn end_of_batch(&mut self, committed: Committed) -> Result<Committed, Error> {
        self.stats.batches += 1;
        if self.options.durable && committed.wal_bytes > 0 {
            self.sync()?;
        }
        Ok(committed)
    }

    /// Deletes everything that is stored of these items, trends as well: no later view shows
    /// it, and the next merge of its files leaves it out. What is appended from now on is new,
    /// whatever its time. As safe as an append when it returns.
    pub fn clear(&mut self, items: &[ItemId]) -> Result<Committed, Error> {
        let mut committed = Committed::default();
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        let now = Timestamp::from_unix(self.clock.unix());
        let result = items.iter().try_for_each(|item| {
            rows.push_clear(item.0, now);
            self.commit_if(&mut rows, BLOCK_ROWS_MAX, &mut committed)
        });
        let result = result.and_then(|()| self.commit_if(&mut rows, 1, &mut committed));
        self.rows = rows;
        result?;
        self.end_of_batch(committed)
    }

    /// Writes the gathered rows as one block once there are enough of them.
    fn commit_if(
        &mut self,
        rows: &mut Rows,
        enough: usize,
        committed: &mut Committed,
    ) -> Result<(), Error> {
        if rows.len() < enough && rows.bytes.len() < BLOCK_BYTES_MAX {
            return Ok(());
        }
        self.take_results();
        self.mend()?;
        let full = self.head.len() + rows.len() > self.options.head_rows
            || self.head.text_bytes() + rows.bytes.len() > self.options.head_bytes;
        if full && self.head.len() > 0 {
            self.rotate(false)?;
        }
        self.block.clear();
        self.encoder.encode(rows, &mut self.block);
        self.write_block()?;
        self.head.append(rows);
        if self.head_day.is_none() {
            self.head_day = Some(self.today());
        }
        self.late.take_in(rows, self.seq);
        let values = rows.stored();
        for item in rows.cleared() {
            Arc::make_mut(&mut self.clears).insert(item, self.seq);
        }
        committed.rows += values;
        committed.wal_bytes += self.block.len();
        self.stats.rows += values as u64;
        self.stats.wal_bytes += self.block.len() as u64;
        rows.clear();
        Ok(())
    }

    fn write_block(&mut self) -> Result<(), Error> {
        let wal = self.wal.as_ref().expect("BUG: a mended engine has a WAL");
        if let Err(cause) = wal.append(&self.block) {
            self.wal_torn = true;
            self.stats.wal_failures += 1;
            return Err(Error::io("write", &wal_path(&self.dir, self.seq))(cause));
        }
        self.wal_len += self.block.len() as u64;
        if let Some(spool) = &self.options.spool {
            spool.appended(self.block.len() as u64);
        }
        self.syncer.touch();
        Ok(())
    }

    /// Waits until everything appended so far is on the disk.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.take_results();
        self.secure()?;
        if self.syncer.sync().is_ok() {
            return Ok(());
        }
        // Memory has everything that the files may lack.
        self.secure()?;
        self.syncer.sync()
    }

    /// Waits until what no sync can save any more is sealed.
    fn secure(&mut self) -> Result<(), Error> {
        self.mend()?;
        while self.frozen.iter().any(|frozen| frozen.suspect) {
            self.wait_for_sealing()?;
        }
        Ok(())
    }

    /// Seals the head and waits until every sealing and merge has ended. Fails only if sealing
    /// fails now: a sealing that was under way before the call is repeated if it fails.
    pub fn flush(&mut self) -> Result<(), Error> {
        while self.sealing {
            self.wait_for_worker()?;
        }
        if let Some((_, due)) = &mut self.seal_failure {
            *due = Duration::ZERO;
        }
        self.mend()?;
        if self.head.len() > 0 {
            self.rotate(false)?;
        }
        while !self.frozen.is_empty() {
            self.wait_for_sealing()?;
        }
        while self.merging.is_some() {
            self.wait_for_worker()?;
        }
        Ok(())
    }

    pub(crate) fn today(&self) -> Day {
        today(&self.clock)
    }

    /// What is stored of these items within the span. The view may be sent to another thread,
    /// where its methods do the work.
    pub fn view(&self, items: &[ItemId], span: Span) -> View {
        self.view_of(items, span, Kinds::ALL, usize::MAX)
    }

    /// Like [`Engine::view`] for all time, good for [`View::newest`] with at most `n` samples.
    pub fn view_newest(&self, items: &[ItemId], n: usize) -> View {
        // Trends are not asked for by number.
        self.view_of(items, Span::ALL, Kinds::VALUES, n)
    }

    /// Trends of an item within the span, on the calling thread. Its values, of which a head may have
    /// many behind that hour, are not looked at.
    pub fn trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        self.view_of(&[item], span, Kinds::TRENDS, usize::MAX).trends(item)
    }

    fn view_of(&self, items: &[ItemId], span: Span, kinds: Kinds, newest: usize) -> View {
        let frozen = self.frozen.iter().map(|frozen| (frozen.seq, Arc::clone(&frozen.head)));
        let clears = Arc::clone(&self.clears);
        let mut view = View::new(span, self.all_segments(), frozen.collect(), clears);
        view.copy(&self.head, items, kinds, newest);
        view
    }

    fn all_segments(&self) -> Arc<Vec<Arc<Segment>>> {
        if self.attached.is_empty() {
            return Arc::clone(&self.segments);
        }
        Arc::new(self.attached.iter().chain(self.segments.iter()).cloned().collect())
    }

    /// The newest `n` samples of an item, newest first, on the calling thread.
    pub fn newest(&self, item: ItemId, n: usize) -> Result<Vec<Sample>, Error> {
        self.view_newest(&[item], n).newest(item, Kinds::VALUES, n)
    }

    /// Hands over every sample within the span, item by item, each item's oldest first, on the
    /// calling thread. For recomputing: it reads whole segments.
    pub fn scan(
        &self,
        span: Span,
        kinds: Kinds,
        each: &mut dyn FnMut(&Sample),
    ) -> Result<(), Error> {
        let segments: Vec<Arc<Segment>> =
            self.all_segments().iter().filter(|s| s.overlaps(span)).cloned().collect();
        let frozen = self.frozen.iter().map(|frozen| (frozen.seq, frozen.head.as_ref()));
        let heads: Vec<(u64, &Head)> = frozen.chain([(self.seq, &self.head)]).collect();
        merged(&segments, &heads, (&self.clears, OnDamage::LeaveOut), &mut |item, kind, run| {
            if kinds.has(kind) {
                scan_run(ItemId(item), kind, run, span, each)?;
            }
            Ok(())
        })
    }

    /// Drops all segments of a class whose days are before `day`; returns their bytes. They are
    /// gone from all later views at once and unlinked in the background, the oldest first: what a
    /// power cut leaves of them has no versions of values that others had replaced. What is not
    /// sealed yet, and a day whose segments are being merged, stay until the next call.
    pub fn drop_before(&mut self, class: Class, day: Day) -> u64 {
        self.take_results();
        let merging = self.merging;
        let is_old = |segment: &Arc<Segment>| {
            let id = segment.id;
            id.class == class && id.day < day && merging != Some((id.class, id.day))
        };
        self.attached.retain(|segment| !is_old(segment));
        let mut bytes = 0;
        let mut gone = Vec::new();
        Arc::make_mut(&mut self.segments).retain(|segment| {
            let old = is_old(segment);
            if old {
                bytes += segment.bytes();
                gone.push(Arc::clone(segment));
            }
            !old
        });
        if !gone.is_empty() {
            // Unlinking gigabytes takes the file system its time, which is not the owner's.
            self.worker.submit(Job::Drop(gone));
        }
        bytes
    }

    /// The classes of all segments.
    pub fn classes(&self) -> Vec<Class> {
        let all = self.attached.iter().chain(self.segments.iter());
        let mut classes: Vec<Class> = all.map(|segment| segment.id.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// The youngest second not after `till` of what is stored, about: of segments whose last row
    /// is younger nothing counts.
    pub fn newest_clock(&self, till: u32) -> Option<u32> {
        let sealed = self.segments.iter().map(|segment| segment.footer.last);
        let sealed = sealed.filter(|&last| last <= till);
        let frozen = self.frozen.iter().filter_map(|frozen| frozen.head.newest_clock(till));
        sealed.chain(frozen).chain(self.head.newest_clock(till)).max()
    }

    /// The sealed segments, to be attached to another engine of this process.
    pub fn sealed(&self) -> Sealed {
        let segments = Arc::clone(&self.segments);
        Sealed { dir: self.dir.clone(), segments, clears: Arc::clone(&self.clears) }
    }

    /// Reads also what another engine had sealed: after the number of shards changed, an item's
    /// older values lie in another shard's directory.
    pub fn attach(&mut self, sealed: &Sealed) {
        Arc::make_mut(&mut self.clears).attach(&sealed.dir, &sealed.clears);
        self.attached.extend(sealed.segments.iter().cloned());
        sort(&mut self.attached);
    }

    /// The damage found in the directory, shared with the threads that read from it.
    pub fn damage(&self) -> &Arc<DamageLog> {
        &self.manifest.damage
    }

    /// Figures for self-monitoring.
    pub fn stats(&self) -> Stats {
        let frozen: usize = self.frozen.iter().map(|frozen| frozen.head.memory()).sum();
        Stats {
            head_rows: self.head.len(),
            memory_bytes: self.head.memory() + frozen + self.newest_rows.bytes(),
            sealing: self.frozen.len(),
            cleared: self.clears.len(),
            segments: self.segments.len(),
            segment_bytes: self.segments.iter().map(|segment| segment.bytes()).sum(),
            segment_rows: self.segments.iter().map(|segment| segment.footer.rows).sum(),
            ..self.stats
        }
    }
}

/// Sealed segments of an engine, shared.
#[derive(Debug, Clone)]
pub struct Sealed {
    dir: PathBuf,
    segments: Arc<Vec<Arc<Segment>>>,
    clears: Arc<Clears>,
}

fn scan_run(
    item: ItemId,
    kind: Kind,
    run: &Run,
    span: Span,
    each: &mut dyn FnMut(&Sample),
) -> Result<(), Error> {
    let mut bytes = run.bytes.as_slice();
    for row in 0..run.len() {
        let raw = if kind.is_bytes() {
            let len = usize::try_from(run.bits[row]).unwrap_or(usize::MAX);
            let (text, rest) = bytes.split_at_checked(len).unwrap_or_default();
            bytes = rest;
            Raw::Bytes(text)
        } else {
            Raw::Bits(run.bits[row])
        };
        if span.has(run.clock[row]) {
            let value = value_of(kind, raw).map_err(|d| d.of("a segment".as_ref()))?;
            each(&Sample { item, at: crate::kind::at(run.clock[row], run.ns[row]), value });
        }
    }
    Ok(())
}

/// The clock's day in UTC.
pub(crate) fn today(clock: &SharedClock) -> Day {
    Day(u32::try_from(clock.unix_s() / u64::from(DAY_S)).unwrap_or(u32::MAX))
}
