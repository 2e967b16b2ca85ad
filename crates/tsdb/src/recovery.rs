//! Opening a directory: what a crash left is put right before anything is served.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stdx::clock::SharedClock;

use crate::clears::{self, Clears};
use crate::damage::{Damage, DamageLog};
use crate::disk::{Watched, aside};
use crate::engine::{Engine, Frozen, Stats, today};
use crate::error::Error;
use crate::head::Head;
use crate::inventory;
use crate::kind::Day;
use crate::late::{self, Late};
use crate::layout::SegmentId;
use crate::manifest::{Closed, Contents, Files, Manifest, WalFile};
use crate::newest_cache::Cache;
use crate::options::Options;
use crate::plan::{Plan, list, plan};
use crate::rows::Rows;
use crate::salvage::rebuild;
use crate::seal::Place;
use crate::segment::{Segment, sort};
use crate::spool::spool_path;
use crate::wal::{Encoder, replay, wal_path};
use crate::worker::{Syncer, Worker};

/// What opening found and did, for the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Segments opened.
    pub segments: usize,
    /// Rows in them.
    pub segment_rows: u64,
    /// WAL files read back.
    pub wal_files: usize,
    /// Rows read back from them.
    pub wal_rows: u64,
    /// Items whose older rows are hidden until merging has removed them.
    pub cleared: usize,
    /// Bytes at the end of a WAL file that a crash had left unfinished; never acknowledged.
    pub torn_bytes: u64,
    /// Blocks inside a WAL file that do not decode: acknowledged values that the disk lost. The
    /// file is kept under another name.
    pub damaged_blocks: u64,
    /// Unfinished and superseded files that were removed.
    pub removed: usize,
    /// Files that are damaged as a whole; they were renamed and their values are missing.
    pub set_aside: Vec<PathBuf>,
    /// Everything damaged or missing that this start found.
    pub damage: Vec<Damage>,
    /// Closed after an orderly stop, as far as one can tell: nothing had to be put right.
    pub clean: bool,
}

impl Engine {
    /// Opens or creates a store in `dir`. Reads the WAL back into memory, but no sealed block.
    pub fn open(
        dir: &Path,
        options: Options,
        clock: SharedClock,
    ) -> Result<(Self, Recovery), Error> {
        open(dir, options, clock)
    }
}

fn open(dir: &Path, options: Options, clock: SharedClock) -> Result<(Engine, Recovery), Error> {
    std::fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
    let lock = lock(dir)?;
    let known = inventory::read(dir, options.disk.as_ref())?;
    let plan = plan(dir, list(dir, options.disk.as_ref())?);
    let mut recovery = Recovery::default();
    let mut found = Found::compare(known, &plan, &clock);
    for path in &plan.remove {
        options.disk.remove(path).map_err(Error::io("remove", path))?;
    }
    recovery.removed = plan.remove.len() + plan.stale.len();
    let spools = tidy_log(dir, &options, &plan)?;
    let newest_rows = Arc::new(Cache::new(options.newest_bytes));
    let segments =
        open_segments((dir, &newest_rows), &options, &plan.keep, (&mut recovery, &found))?;

    let mut clears = open_clears(dir, &options, (&mut recovery, &found))?;

    let retention = Arc::clone(&options.retention);
    let (disk, newest_cache) = (Arc::clone(&options.disk), Arc::clone(&newest_rows));
    let manifest = Manifest::new(dir, Arc::clone(&disk), Arc::clone(&found.log));
    let (newest, manifest_too) = (newest_cache, Arc::clone(&manifest));
    let place = Place { dir: dir.to_owned(), disk, retention, newest, manifest: manifest_too };
    let worker = Worker::start(place, options.background)?;
    let syncer = Syncer::start(options.sync_interval)?;

    let newest = segments.iter().map(|segment| segment.id.last_seq).max().unwrap_or(0);
    let newest = newest.max(clears.seq_max());
    let mut late = open_late(dir, &options, (&mut recovery, &found))?;
    let mut heads = read_wals(dir, &options, &plan.replay, (&mut recovery, &mut late, &mut found))?;
    for read in &heads {
        read.head.cleared.iter().for_each(|&item| clears.insert(item, read.seq));
    }
    recovery.cleared = clears.len();
    let newest = heads.last().map_or(newest, |last| newest.max(last.seq));
    let read_on = options.spool.as_ref().map(|spool| spool.floor());
    let newest = newest.max(read_on.unwrap_or(0)).max(spools.last().map_or(0, |last| last.0));
    // The last WAL file goes on; the older ones only wait for sealing.
    let last = heads.pop_if(|last| {
        let goes_on = last.seq == newest && !last.damaged && last.valid_len > 0;
        goes_on && read_on.is_none()
    });
    let (seq, head, wal, wal_len) = match last {
        Some(last) => {
            let path = wal_path(dir, last.seq);
            let file = options.disk.reopen(&path, last.valid_len);
            let file = file.map_err(Error::io("open", &path))?;
            (last.seq, last.head, Some(Watched::over(file)), last.valid_len)
        }
        // A full disk does not prevent reading; the first append retries.
        None => (newest + 1, Head::with_capacity(options.head_rows), None, 0),
    };
    let wals = heads.iter().map(|read| (read.seq, Some(Closed::of(read.valid_len, &read.head))));
    let wals: Vec<_> = wals.chain(wal.is_some().then_some((seq, None))).collect();
    // A full disk is no reason not to serve what there is: the next change writes it.
    let listed = found.write(&manifest, &segments, &wals);
    for path in found.empty.iter().filter(|_| listed.is_ok()) {
        options.disk.remove(path).map_err(Error::io("remove", path))?;
    }
    // What a crash left may be in the system's memory alone: names here, contents at the next sync.
    options.disk.sync_dir(dir).map_err(Error::io("sync", dir))?;
    let mut files = Vec::new();
    for read in &heads {
        let path = wal_path(dir, read.seq);
        let file = options.disk.reopen(&path, read.len);
        files.push(Watched::over(file.map_err(Error::io("open", &path))?));
    }
    syncer.touch();
    for file in files.iter().chain(&wal) {
        syncer.rotate(Arc::clone(file));
    }
    if let Some(spool) = &options.spool {
        let unsealed = heads.iter().map(|read| (read.seq, read.valid_len, false));
        // A reader may stand in a file of which a power cut left nothing.
        let read = |seq: &&u64| heads.iter().any(|head| head.seq == **seq);
        let empty = plan.replay.iter().filter(|seq| !read(seq)).map(|&seq| (seq, 0, true));
        let mut closed: Vec<_> = spools.into_iter().chain(unsealed).chain(empty).collect();
        closed.sort_unstable();
        spool.opened(&closed, seq);
    }
    let head_day = head.span().map(|(_, last)| Day::of(last).min(today(&clock)));
    let mut engine = Engine {
        dir: dir.to_owned(),
        options,
        clock,
        worker,
        syncer,
        wal,
        wal_len,
        wal_torn: false,
        seq,
        head,
        head_day,
        frozen: Vec::new(),
        sealing: false,
        seal_failure: None,
        failure: listed.err(),
        clears: Arc::new(clears),
        late,
        segments: Arc::new(segments),
        attached: Vec::new(),
        newest_rows,
        manifest,
        merging: None,
        merge_not_before_s: 0,
        rows: Rows::default(),
        encoder: Encoder::default(),
        block: Vec::new(),
        stats: Stats::default(),
        _lock: lock,
    };
    for (Read { seq, head, damaged, .. }, file) in heads.into_iter().zip(files) {
        let (head, file) = (Arc::new(head), Some(file));
        engine.freeze(Frozen { seq, head, file, keep_wal: damaged, suspect: false });
    }
    if let Err(error) = engine.mend() {
        engine.failure = Some(error);
    }
    engine.load_newest();
    recovery.damage = engine.damage().take_new();
    recovery.clean = recovery.torn_bytes == 0
        && recovery.damage.is_empty()
        && recovery.damaged_blocks == 0
        && recovery.removed == 0
        && recovery.set_aside.is_empty();
    Ok((engine, recovery))
}

/// Of files whose heads are sealed keeps those that readers of the log may want: number, bytes.
fn tidy_log(dir: &Path, options: &Options, plan: &Plan) -> Result<Vec<(u64, u64, bool)>, Error> {
    let disk = options.disk.as_ref();
    let remove = |path: PathBuf| disk.remove(&path).map_err(Error::io("remove", &path));
    if options.spool.is_none() {
        plan.stale.iter().try_for_each(|&seq| remove(wal_path(dir, seq)))?;
        plan.spools.iter().try_for_each(|&seq| remove(spool_path(dir, seq)))?;
        return Ok(Vec::new());
    }
    let mut kept = plan.spools.clone();
    for &seq in &plan.stale {
        let wal = wal_path(dir, seq);
        let renamed = disk.rename(&wal, &spool_path(dir, seq));
        renamed.map_err(Error::io("rename", &wal))?;
        kept.push(seq);
    }
    kept.sort_unstable();
    kept.dedup();
    let size = |seq: u64| {
        let path = spool_path(dir, seq);
        let size = disk.open(&path).and_then(|file| file.size());
        size.map(|size| (seq, size, true)).map_err(Error::io("look at", &path))
    };
    kept.into_iter().map(size).collect()
}

pub(crate) fn lock(dir: &Path) -> Result<std::fs::File, Error> {
    let path = dir.join("lock");
    let file = std::fs::File::create(&path).map_err(Error::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::Locked { path: dir.to_owned() }),
        Err(std::fs::TryLockError::Error(cause)) => Err(Error::io("lock", &path)(cause)),
    }
}

/// What a start finds in comparison with the manifest.
struct Found {
    files: Files,
    log: Arc<DamageLog>,
    now: u32,
    /// WAL files without a block, to be removed once the manifest does not list them.
    empty: Vec<PathBuf>,
}

impl Found {
    fn compare(known: Option<Contents>, plan: &Plan, clock: &SharedClock) -> Self {
        let (files, damage) = known.unwrap_or_default();
        // A damaged manifest is a record of now.
        let (earlier, new) = damage.into_iter().partition(|damage| damage.found_at > 0);
        let log = DamageLog::new(SharedClock::clone(clock), earlier);
        let now = u32::try_from(clock.unix_s()).unwrap_or(u32::MAX);
        let new: Vec<Damage> = new;
        let missing = inventory::missing(&files, plan, today(clock), now);
        new.into_iter().chain(missing).for_each(|damage| log.add(damage));
        Self { files, log, now, empty: Vec::new() }
    }

    /// Writes the list of the files as they are now.
    fn write(
        &self,
        manifest: &Manifest,
        segments: &[Arc<Segment>],
        wals: &[(u64, Option<Closed>)],
    ) -> Result<(), Error> {
        manifest.change(|files| {
            files.add_segments(segments);
            for &(seq, closed) in wals {
                let created = self.files.wals.get(&seq).map_or(self.now, |wal| wal.created);
                files.wals.insert(seq, WalFile { created, closed });
            }
        })
    }
}

fn open_segments(
    (dir, newest): (&Path, &Arc<Cache>),
    options: &Options,
    ids: &[SegmentId],
    (recovery, found): (&mut Recovery, &Found),
) -> Result<Vec<Arc<Segment>>, Error> {
    let (disk, mut segments) = (options.disk.as_ref(), Vec::new());
    for id in ids {
        let path = dir.join(id.file_name());
        let open = || Segment::open(disk, &path, *id, (newest, &found.log));
        let known = found.files.segments.get(id).copied();
        match open() {
            Ok(segment) => {
                let lost = known.and_then(|k| inventory::shorter(id, k, segment.footer.rows));
                lost.into_iter().for_each(|damage| found.log.add(damage));
                segments.push(Arc::new(segment));
            }
            Err(error) if error.is_damage() => {
                found.log.add(rebuild(disk, dir, id, known)?);
                recovery.set_aside.push(aside(&path));
                match open() {
                    Ok(segment) => segments.push(Arc::new(segment)),
                    // Not one block of it was whole.
                    Err(Error::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    }
    sort(&mut segments);
    recovery.segments = segments.len();
    recovery.segment_rows = segments.iter().map(|segment| segment.footer.rows).sum();
    Ok(segments)
}

/// Renames a damaged file, so that the rest can be served and an operator can look at it.
fn set_aside(options: &Options, path: &Path, recovery: &mut Recovery) -> Result<(), Error> {
    let aside = aside(path);
    options.disk.rename(path, &aside).map_err(Error::io("rename", path))?;
    recovery.set_aside.push(aside);
    Ok(())
}

fn open_clears(
    dir: &Path,
    options: &Options,
    (recovery, found): (&mut Recovery, &Found),
) -> Result<Clears, Error> {
    match clears::read(dir, &options.disk) {
        Err(Error::Damaged { path, .. }) => {
            let what = "the list of cleared items is damaged; deleted values may come back";
            found.log.add(Damage::harmless("cleared", what));
            set_aside(options, &path, recovery)?;
            Ok(Clears::default())
        }
        read => read,
    }
}

fn open_late(
    dir: &Path,
    options: &Options,
    (recovery, found): (&mut Recovery, &Found),
) -> Result<Late, Error> {
    let (late, whole) = late::read(dir, options.disk.as_ref())?;
    if !whole {
        let what = "the list of late hours is damaged; some trends may lack late values";
        found.log.add(Damage::harmless("late", what));
        set_aside(options, &late::path(dir), recovery)?;
    }
    Ok(late)
}

/// A WAL file in memory.
struct Read {
    seq: u64,
    head: Head,
    valid_len: u64,
    /// With what follows the last whole block.
    len: u64,
    damaged: bool,
}

fn read_wals(
    dir: &Path,
    options: &Options,
    seqs: &[u64],
    (recovery, late, known): (&mut Recovery, &mut Late, &mut Found),
) -> Result<Vec<Read>, Error> {
    let mut heads = Vec::new();
    for &seq in seqs {
        let path = wal_path(dir, seq);
        let mut head = Head::with_capacity(options.head_rows);
        let mut take_in = |rows: &Rows| {
            head.append(rows);
            late.take_in(rows, seq);
        };
        let found = replay(options.disk.as_ref(), &path, &mut take_in)?;
        recovery.wal_files += 1;
        recovery.wal_rows += found.rows;
        recovery.torn_bytes += found.torn;
        recovery.damaged_blocks += found.damaged_blocks;
        let file = known.files.wals.get(&seq).copied();
        let damage = inventory::of_wal(seq, &found, file, known.now);
        let damaged = !damage.is_empty();
        damage.into_iter().for_each(|damage| known.log.add(damage));
        if found.rows == 0 && found.header_damaged && found.torn > 0 {
            set_aside(options, &path, recovery)?;
            continue;
        }
        if found.valid_len == 0 {
            // Not even its header is whole: nothing was ever acknowledged from it.
            known.empty.push(path);
            continue;
        }
        let valid_len = found.valid_len;
        heads.push(Read { seq, head, valid_len, len: valid_len + found.torn, damaged });
    }
    Ok(heads)
}
