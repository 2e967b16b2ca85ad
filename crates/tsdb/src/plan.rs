//! What a directory holds, and which of its files count after a crash.

use std::path::{Path, PathBuf};

use crate::disk::Disk;
use crate::error::Error;
use crate::layout::SegmentId;

/// What a directory holds.
#[derive(Default)]
pub(crate) struct Listing {
    wals: Vec<u64>,
    /// Files of the log whose heads are sealed.
    spools: Vec<u64>,
    segments: Vec<SegmentId>,
    temporary: Vec<PathBuf>,
}

pub(crate) fn list(dir: &Path, disk: &dyn Disk) -> Result<Listing, Error> {
    let mut listing = Listing::default();
    for name in disk.list(dir).map_err(Error::io("list", dir))? {
        if let Some(id) = SegmentId::parse(&name) {
            listing.segments.push(id);
        } else if let Some(seq) = name.strip_suffix(".wal").and_then(|seq| seq.parse().ok()) {
            listing.wals.push(seq);
        } else if let Some(seq) = name.strip_suffix(".spool").and_then(|seq| seq.parse().ok()) {
            listing.spools.push(seq);
        } else if name.ends_with(".seg.tmp") || is_temporary(&name) {
            listing.temporary.push(dir.join(name));
        }
    }
    listing.wals.sort_unstable();
    listing.spools.sort_unstable();
    Ok(listing)
}

fn is_temporary(name: &str) -> bool {
    ["cleared.tmp", "late.tmp", "manifest.tmp"].contains(&name)
}

/// The files that count, and those that do not.
pub(crate) struct Plan {
    pub(crate) keep: Vec<SegmentId>,
    pub(crate) replay: Vec<u64>,
    /// WAL files that came back.
    pub(crate) stale: Vec<u64>,
    /// Files of the log whose heads are sealed.
    pub(crate) spools: Vec<u64>,
    pub(crate) remove: Vec<PathBuf>,
}

/// Decides without touching anything.
///
/// Heads are sealed in the order of their numbers and merged only afterwards. So a WAL file
/// with a younger or merged segment beside it came back from the dead (its removal had not
/// reached the disk), while segments with the number of an existing WAL file are not finished.
pub(crate) fn plan(dir: &Path, listing: Listing) -> Plan {
    let Listing { wals, spools, segments, temporary: mut remove } = listing;
    let is_stale = |seq: u64| {
        segments.iter().any(|id| id.last_seq > seq || id.last_seq == seq && id.first_seq < seq)
    };
    let (stale, replay): (Vec<u64>, Vec<u64>) = wals.into_iter().partition(|&seq| is_stale(seq));
    let mut keep = Vec::new();
    for id in &segments {
        let unfinished = replay.contains(&id.last_seq);
        if unfinished || segments.iter().any(|other| other.replaces(id)) {
            remove.push(dir.join(id.file_name()));
        } else {
            keep.push(*id);
        }
    }
    Plan { keep, replay, stale, spools, remove }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Class, Day};

    fn id(first_seq: u64, last_seq: u64) -> SegmentId {
        SegmentId { class: Class(31), day: Day(1), first_seq, last_seq }
    }

    #[test]
    fn what_counts_after_a_crash() {
        // (WAL files, segments) -> (replayed, kept)
        for (wals, segments, replayed, kept) in [
            (vec![], vec![], vec![], vec![]),
            (vec![3], vec![id(1, 1), id(2, 2)], vec![3], vec![id(1, 1), id(2, 2)]),
            (vec![2, 3], vec![id(1, 1), id(2, 2)], vec![2, 3], vec![id(1, 1)]),
            (vec![1, 3], vec![id(1, 1), id(2, 2)], vec![3], vec![id(1, 1), id(2, 2)]),
            (vec![3], vec![id(1, 1), id(2, 2), id(1, 2)], vec![3], vec![id(1, 2)]),
            (vec![2, 3], vec![id(2, 2), id(1, 2)], vec![3], vec![id(1, 2)]),
            (vec![2], vec![id(1, 2), id(1, 4), id(3, 3)], vec![], vec![id(1, 4)]),
        ] {
            let (wals_now, segments_now) = (wals.clone(), segments.clone());
            let listing = Listing { wals: wals_now, segments: segments_now, ..Listing::default() };
            let plan = plan(Path::new(""), listing);
            assert_eq!(plan.replay, replayed, "{wals:?} {segments:?}");
            assert_eq!(plan.keep, kept, "{wals:?} {segments:?}");
            let all = wals.len() + segments.len();
            let gone = plan.remove.len() + plan.stale.len();
            assert_eq!(gone, all - plan.replay.len() - plan.keep.len());
        }
    }
}
