//! What the files of a directory lack in comparison with its manifest.

use std::path::Path;

use crate::damage::Damage;
use crate::disk::Disk;
use crate::error::Error;
use crate::kind::{Day, Span};
use crate::layout::SegmentId;
use crate::manifest::{self, Contents, Files, SegmentFile, WalFile};
use crate::plan::Plan;
use crate::wal::{FILE_HEADER, Replayed};

/// Values of an open WAL file may be older than the file by this much.
const LATE_S: u32 = 3_600;

/// Reads the manifest. One that is damaged says nothing, which is the first record.
pub(crate) fn read(dir: &Path, disk: &dyn Disk) -> Result<Option<Contents>, Error> {
    match manifest::read(dir, disk) {
        Err(Error::Damaged { .. }) => {
            let what = "the list of files is damaged; files that are missing are not noticed";
            Ok(Some((Files::default(), vec![Damage::harmless(manifest::NAME, what)])))
        }
        read => read,
    }
}

/// Are the days for which this segment was kept over? Its file may be gone before the list says so.
fn is_over(id: &SegmentId, today: Day) -> bool {
    id.day.0.saturating_add(id.class.0.into()) < today.0
}

/// Listed files that are not there.
pub(crate) fn missing(files: &Files, plan: &Plan, today: Day, now: u32) -> Vec<Damage> {
    let mut missing = Vec::new();
    for (id, file) in &files.segments {
        // A WAL with the same rows is read back; a merged segment has the rows of its inputs.
        let has_wal = id.first_seq == id.last_seq && plan.replay.contains(&id.last_seq);
        let is_there = plan.keep.iter().any(|kept| kept == id || kept.replaces(id));
        if !has_wal && !is_there && !is_over(id, today) {
            let span = Span::new(file.first, file.last);
            let what = "the file is missing";
            missing.push(Damage::of_any_item(&id.file_name(), what, span, Some(file.rows)));
        }
    }
    for (seq, wal) in &files.wals {
        // Sealed by a release that keeps no manifest.
        let is_sealed = plan.keep.iter().any(|id| id.first_seq <= *seq && *seq <= id.last_seq);
        let is_there = is_sealed || plan.replay.contains(seq) || plan.stale.contains(seq);
        let is_empty = wal.closed.is_some_and(|closed| closed.len <= FILE_HEADER as u64);
        if !is_there && !is_empty {
            let span = span_of(Some(*wal), now);
            missing.push(Damage::of_any_item(&wal_name(*seq), "the file is missing", span, None));
        }
    }
    missing
}

pub(crate) fn wal_name(seq: u64) -> String {
    format!("{seq}.wal")
}

/// A segment that opens but has fewer rows than it had.
pub(crate) fn shorter(id: &SegmentId, known: SegmentFile, rows: u64) -> Option<Damage> {
    let lost = known.rows.checked_sub(rows).filter(|&lost| lost > 0)?;
    let span = Span::new(known.first, known.last);
    Some(Damage::of_any_item(&id.file_name(), "the file has lost rows", span, Some(lost)))
}

/// The time of the rows of a WAL file. Of one that was not closed only its age is known; senders deliver
/// values that are a little late.
fn span_of(wal: Option<WalFile>, now: u32) -> Span {
    match wal.and_then(|wal| wal.closed) {
        Some(closed) => Span::new(closed.first, closed.last),
        None => Span::new(wal.map_or(0, |wal| wal.created.saturating_sub(LATE_S)), now),
    }
}

/// What a WAL file lost.
pub(crate) fn of_wal(seq: u64, found: &Replayed, known: Option<WalFile>, now: u32) -> Vec<Damage> {
    let name = wal_name(seq);
    let all = span_of(known, now);
    let span = |from: Option<u32>, till: Option<u32>| {
        let from = from.unwrap_or(all.from);
        Span::new(from, till.unwrap_or(all.till).max(from))
    };
    let mut damage: Vec<Damage> = Vec::new();
    for lost in &found.lost {
        let what = format!("{} bytes at {} are damaged", lost.len, lost.offset);
        damage.push(Damage::of_any_item(&name, &what, span(lost.from, lost.till), None));
    }
    if found.header_damaged && found.rows == 0 && found.torn > 0 {
        let what = "the header and all blocks are damaged";
        damage.push(Damage::of_any_item(&name, what, span(None, None), None));
        return damage;
    }
    if found.header_damaged {
        damage.push(Damage::harmless(&name, "the header is damaged; blocks were found without it"));
    }
    let closed = known.and_then(|wal| wal.closed).map_or(0, |closed| closed.len);
    let end = found.lost.last().map_or(found.valid_len, |lost| lost.offset + lost.len);
    if end.max(found.valid_len) < closed {
        let bytes = closed - end.max(found.valid_len);
        let what = format!("the last {bytes} bytes of {closed} are missing or damaged");
        let from = found.last_block.map(|(first, _)| first);
        damage.push(Damage::of_any_item(&name, &what, span(from, None), None));
    }
    damage
}
