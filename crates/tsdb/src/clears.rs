//! Items whose older rows are deleted one by one: what is not to be seen, until merging has
//! removed it.
//!
//! An item is cleared by a row of its own kind in the WAL. It hides what the item has in the same
//! head before it, and everything with a smaller sequence number; what comes later is new,
//! whatever its clock. When the head is sealed and its WAL goes, the file `cleared` keeps
//! item and number. A merge leaves out what is hidden, and when no file older than its number
//! is left, the entry goes as well.
//!
//! File: magic, format, number of entries, items (differences), numbers, checksum; replaced whole.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::column::{Cursor, len_u32, pack, put_u32, unpack};
use crate::disk::{Disk, replace};
use crate::error::{Damaged, Error};
use crate::segment::Segment;

const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"VEDCLEAR";
/// The file's name in the engine's directory.
const NAME: &str = "cleared";

/// Item and the number of the head in which it was cleared.
type Seqs = HashMap<u64, u64>;

/// What is hidden at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clears {
    own: Seqs,
    /// Of items cleared again before the file had the later number: earlier ones, which the file
    /// must have until then.
    earlier: HashMap<u64, Vec<u64>>,
    /// By directory of segments that belong to other engines.
    attached: Vec<(PathBuf, Seqs)>,
    /// The file has other entries.
    changed: bool,
}

impl Clears {
    /// The item was cleared in the head with this number.
    pub(crate) fn insert(&mut self, item: u64, seq: u64) {
        if let Some(before) = self.own.insert(item, seq).filter(|&before| before != seq) {
            self.earlier.entry(item).or_default().push(before);
        }
        for (_, seqs) in &mut self.attached {
            // Other engines do not write items of this one.
            seqs.insert(item, u64::MAX);
        }
        self.changed = true;
    }

    /// Segments of another engine come with what hides their rows.
    pub(crate) fn attach(&mut self, dir: &Path, other: &Self) {
        self.attached.push((dir.to_owned(), other.own.clone()));
    }

    /// Nothing is hidden anywhere.
    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.attached.iter().all(|(_, seqs)| seqs.is_empty())
    }

    /// Does the file hold something else?
    pub(crate) fn is_changed(&self) -> bool {
        self.changed
    }

    /// Items with entries.
    pub(crate) fn len(&self) -> usize {
        self.own.len()
    }

    /// The largest number of an entry.
    pub(crate) fn seq_max(&self) -> u64 {
        self.own.values().copied().max().unwrap_or(0)
    }

    /// Is what the item has in this head not to be seen?
    pub(crate) fn hides_head(&self, seq: u64, item: u64) -> bool {
        self.own.get(&item).is_some_and(|&cleared| seq < cleared)
    }

    /// Is what the item has in this segment not to be seen?
    pub(crate) fn hides(&self, segment: &Segment, item: u64) -> bool {
        if self.attached.is_empty() {
            return self.hides_head(segment.id.last_seq, item);
        }
        let is_of = |dir: &Path| segment.path.parent() == Some(dir);
        let attached = self.attached.iter().find(|(dir, _)| is_of(dir));
        let seqs = attached.map_or(&self.own, |(_, seqs)| seqs);
        seqs.get(&item).is_some_and(|&cleared| segment.id.last_seq < cleared)
    }

    /// Forgets entries with nothing left to hide: no file's number is below theirs.
    pub(crate) fn prune(&mut self, oldest: Option<u64>) {
        let before = self.own.len();
        self.own.retain(|_, cleared| oldest.is_some_and(|oldest| oldest < *cleared));
        self.earlier.retain(|item, _| self.own.contains_key(item));
        self.changed |= before != self.own.len();
    }

    /// What the file must hold before the WAL with this number goes; `None` = what it holds.
    pub(crate) fn to_write(&self, seq: u64) -> Option<Vec<(u64, u64)>> {
        self.changed.then(|| {
            let entries = self.own.iter().filter_map(|(&item, &cleared)| {
                let earlier = self.earlier.get(&item).into_iter().flatten().copied();
                let cleared = earlier.chain([cleared]).filter(|&cleared| cleared <= seq).max()?;
                Some((item, cleared))
            });
            let mut entries: Vec<_> = entries.collect();
            entries.sort_unstable();
            entries
        })
    }

    /// The file was written for the WAL with this number.
    pub(crate) fn written(&mut self, seq: u64) {
        self.earlier.retain(|item, earlier| {
            let newest = earlier.iter().copied().filter(|&cleared| cleared <= seq).max();
            earlier.retain(|&cleared| cleared > seq || Some(cleared) == newest);
            self.own.get(item).is_some_and(|&cleared| cleared > seq)
        });
        // Entries that came meanwhile are in younger WALs.
        self.changed = self.own.values().any(|&cleared| cleared > seq);
    }
}

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

/// Replaces the file and waits for the disk.
pub(crate) fn write(dir: &Path, disk: &dyn Disk, entries: &[(u64, u64)]) -> Result<(), Error> {
    let mut last = 0;
    let steps = entries.iter().map(|&(item, _)| item - std::mem::replace(&mut last, item));
    let steps: Vec<u64> = steps.collect();
    let seqs: Vec<u64> = entries.iter().map(|&(_, seq)| seq).collect();
    let mut bytes = MAGIC.to_vec();
    put_u32(&mut bytes, FORMAT);
    put_u32(&mut bytes, len_u32(entries.len()));
    pack(&mut bytes, &steps);
    pack(&mut bytes, &seqs);
    let crc = crc32fast::hash(&bytes);
    put_u32(&mut bytes, crc);

    replace(dir, disk, &path(dir), &bytes)
}

/// Reads the file; none is none.
pub(crate) fn read(dir: &Path, disk: &Arc<dyn Disk>) -> Result<Clears, Error> {
    let path = path(dir);
    let bytes = match disk.read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Clears::default()),
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    let fail = |damaged: Damaged| damaged.of(&path);
    let (checked, crc) =
        bytes.split_last_chunk::<4>().ok_or_else(|| fail(Damaged("it is too short")))?;
    if crc32fast::hash(checked).to_le_bytes() != *crc {
        return Err(fail(Damaged("the checksum does not fit")));
    }
    let mut cursor = Cursor::new(checked);
    if cursor.take(MAGIC.len()).map_err(fail)? != MAGIC {
        return Err(fail(Damaged("it is not a list of cleared items")));
    }
    let format = cursor.u32().map_err(fail)?;
    if format > FORMAT {
        let (found, known) = (u16::try_from(format).unwrap_or(u16::MAX), 1);
        return Err(Error::Newer { path, found, known });
    }
    let own = entries(&mut cursor).map_err(fail)?;
    Ok(Clears { own, ..Clears::default() })
}

fn entries(cursor: &mut Cursor<'_>) -> Result<Seqs, Damaged> {
    let len = cursor.u32()? as usize;
    let steps: Vec<u64> = unpack(cursor, len)?;
    let seqs: Vec<u64> = unpack(cursor, len)?;
    let mut item = 0u64;
    let items = steps.into_iter().map(|step| {
        item = item.wrapping_add(step);
        item
    });
    Ok(items.zip(seqs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::OsDisk;

    fn disk() -> Arc<dyn Disk> {
        Arc::new(OsDisk)
    }

    #[test]
    fn entries_come_back_and_damage_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path(), &disk()).unwrap().is_empty());
        let entries = [(3, 9), (77, 1), (u64::MAX, 12)];
        write(dir.path(), &OsDisk, &entries).unwrap();
        let clears = read(dir.path(), &disk()).unwrap();
        assert_eq!((clears.own, clears.changed), (Seqs::from(entries), false));
        let bytes = std::fs::read(path(dir.path())).unwrap();
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 4;
            std::fs::write(path(dir.path()), &bytes).unwrap();
            assert!(matches!(read(dir.path(), &disk()), Err(Error::Damaged { .. })), "byte {at}");
            std::fs::write(path(dir.path()), &bytes[..at]).unwrap();
            assert!(read(dir.path(), &disk()).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn an_item_cleared_again_is_not_lost_with_a_younger_wal() {
        let mut clears = Clears::default();
        for seq in [3, 5, 5, 8] {
            clears.insert(1, seq);
        }
        for (seq, written) in [(2, vec![]), (3, vec![(1, 3)]), (4, vec![(1, 3)]), (6, vec![(1, 5)])]
        {
            assert_eq!(clears.to_write(seq), Some(written), "{seq}");
            clears.written(seq);
        }
        assert_eq!(clears.to_write(8), Some(vec![(1, 8)]));
        clears.written(8);
        assert!(clears.earlier.is_empty() && !clears.is_changed());
    }

    #[test]
    fn entries_stay_as_long_as_something_older_is_there() {
        let mut clears = Clears::default();
        assert_eq!(clears.to_write(9), None);
        clears.insert(1, 5);
        clears.insert(2, 7);
        assert_eq!(clears.to_write(5), Some(vec![(1, 5)]));
        clears.written(5);
        assert_eq!(clears.to_write(7), Some(vec![(1, 5), (2, 7)]));
        clears.written(7);
        assert_eq!(clears.to_write(7), None);
        for (oldest, left) in [(Some(4), 2), (Some(5), 1), (Some(6), 1), (Some(7), 0)] {
            clears.prune(oldest);
            assert_eq!(clears.len(), left, "{oldest:?}");
        }
        assert_eq!(clears.to_write(7), Some(vec![]));
        clears.insert(1, 5);
        clears.prune(None);
        assert!(clears.is_empty());
    }
}
