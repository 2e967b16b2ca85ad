//! Checking a directory that no engine has open: every block, page, WAL file and list.

use std::path::Path;
use std::sync::Arc;

use stdx::clock::SharedClock;

use crate::clears;
use crate::damage::{Damage, DamageLog};
use crate::disk::Disk;
use crate::engine::today;
use crate::error::Error;
use crate::inventory;
use crate::late;
use crate::layout::SegmentId;
use crate::manifest::{Files, Manifest, SegmentFile};
use crate::newest_cache::Cache;
use crate::plan::{list, plan};
use crate::recovery::lock;
use crate::salvage;
use crate::segment::Segment;
use crate::wal::{replay, wal_path};

/// What a check of a directory found.
#[derive(Debug, Clone, Default)]
pub struct Verified {
    /// Segments and WAL files that were read.
    pub files: usize,
    /// Damage that no start and no check has recorded before.
    pub new: Vec<Damage>,
    /// Damage that is recorded in the manifest.
    pub known: Vec<Damage>,
}

/// Reads everything in a directory and compares it with the manifest. Changes nothing, but with
/// `repair`: then segments with damaged parts are rebuilt from their whole blocks (the damaged file stays
/// under another name) and the manifest records what is lost. WAL files are repaired by the next
/// [`Engine::open`](crate::Engine::open).
pub fn verify(
    dir: &Path,
    disk: &Arc<dyn Disk>,
    clock: &SharedClock,
    repair: bool,
) -> Result<Verified, Error> {
    let _lock = lock(dir)?;
    let (files, known) = inventory::read(dir, disk.as_ref())?.unwrap_or_default();
    let (known, new): (Vec<Damage>, Vec<Damage>) =
        known.into_iter().partition(|damage| damage.found_at > 0);
    let log = DamageLog::new(SharedClock::clone(clock), known.clone());
    new.into_iter().for_each(|damage| log.add(damage));
    let mut check = Check { dir, disk, files, log, read: 0, damaged: Vec::new() };
    check.all(clock)?;
    if repair {
        check.repair()?;
    }
    Ok(Verified { files: check.read, new: check.log.take_new(), known })
}

struct Check<'a> {
    dir: &'a Path,
    disk: &'a Arc<dyn Disk>,
    files: Files,
    log: Arc<DamageLog>,
    read: usize,
    /// Segments to be rebuilt.
    damaged: Vec<SegmentId>,
}

impl Check<'_> {
    fn all(&mut self, clock: &SharedClock) -> Result<(), Error> {
        let disk = self.disk.as_ref();
        let plan = plan(self.dir, list(self.dir, disk)?);
        let now = u32::try_from(clock.unix_s()).unwrap_or(u32::MAX);
        let missing = inventory::missing(&self.files, &plan, today(clock), now);
        missing.into_iter().for_each(|damage| self.log.add(damage));
        for id in &plan.keep {
            self.segment(id)?;
        }
        for &seq in &plan.replay {
            let found = replay(disk, &wal_path(self.dir, seq), &mut |_| ())?;
            let known = self.files.wals.get(&seq).copied();
            let damage = inventory::of_wal(seq, &found, known, now);
            damage.into_iter().for_each(|damage| self.log.add(damage));
            self.read += 1;
        }
        if matches!(clears::read(self.dir, self.disk), Err(Error::Damaged { .. })) {
            self.log.add(Damage::harmless("cleared", "the list of cleared items is damaged"));
        }
        if !late::read(self.dir, disk)?.1 {
            self.log.add(Damage::harmless("late", "the list of late hours is damaged"));
        }
        Ok(())
    }

    fn segment(&mut self, id: &SegmentId) -> Result<(), Error> {
        let (path, known) = (self.dir.join(id.file_name()), self.files.segments.get(id).copied());
        let cache = Arc::new(Cache::new(0));
        self.read += 1;
        let segment = match Segment::open(self.disk.as_ref(), &path, *id, (&cache, &self.log)) {
            Err(error) if error.is_damage() => {
                let found = salvage::inspect(self.disk.as_ref(), self.dir, id, known)?;
                self.log.add(found);
                self.damaged.push(*id);
                return Ok(());
            }
            opened => opened?,
        };
        let lost = known.and_then(|known| inventory::shorter(id, known, segment.footer.rows));
        lost.into_iter().for_each(|damage| self.log.add(damage));
        if !segment.read_everything()? {
            self.damaged.push(*id);
        }
        Ok(())
    }

    /// Rebuilds segments; that what they lose is lost is in the log already.
    fn repair(&mut self) -> Result<(), Error> {
        let disk = self.disk.as_ref();
        for id in &self.damaged {
            let known = self.files.segments.get(id).copied();
            let damage = salvage::rebuild(disk, self.dir, id, known)?;
            if damage.span.is_some() {
                self.log.add(damage);
            }
            let path = self.dir.join(id.file_name());
            let cache = Arc::new(Cache::new(0));
            match Segment::open(disk, &path, *id, (&cache, &self.log)) {
                Ok(segment) => drop(self.files.segments.insert(*id, SegmentFile::of(&segment))),
                Err(_) => drop(self.files.segments.remove(id)),
            }
        }
        if self.damaged.is_empty() {
            return Ok(());
        }
        let manifest = Manifest::new(self.dir, Arc::clone(self.disk), Arc::clone(&self.log));
        manifest.change(|files| files.clone_from(&self.files))
    }
}

impl Segment {
    /// Reads all blocks and pages and records what is damaged; false = something is.
    fn read_everything(&self) -> Result<bool, Error> {
        let mut whole = true;
        for block in 0..self.footer.blocks {
            if let Err(error) = self.block(block) {
                if !self.lose_block(block, &error) {
                    return Err(error);
                }
                whole = false;
            }
        }
        for page in 0..self.footer.pages as usize {
            whole &= self.page(page).is_ok();
            self.any_page(page)?;
        }
        for page in 0..self.newest.len() {
            if let Err(error) = self.newest_page(page) {
                if !self.lose_newest_page(page, &error) {
                    return Err(error);
                }
                whole = false;
            }
        }
        Ok(whole)
    }
}
