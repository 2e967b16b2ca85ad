//! The manifest: which WAL files and segments a directory has, and which damage was found in it.
//!
//! It is replaced as a whole, and durable, at each change of the set of files: a WAL file is listed
//! before its first block is written, segments before the WAL with the same rows is removed, a merged
//! segment before its inputs are, and deleted days leave the list before their files are unlinked.
//! So a listed file that is not there is lost, and so is one that has fewer rows than the manifest says.
//!
//! Form: lines of text, which an operator can read, the last one with a checksum of all before.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use model::ItemId;
use stdx::sync::lock;

use crate::damage::{Damage, DamageLog};
use crate::disk::{Disk, replace};
use crate::error::{Damaged, Error};
use crate::head::Head;
use crate::kind::Span;
use crate::layout::SegmentId;
use crate::segment::Segment;

const FORMAT: u16 = 1;
const TITLE: &str = "vedette-history-manifest";
/// The file's name in the engine's directory.
pub(crate) const NAME: &str = "manifest";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalFile {
    /// When it was created, in seconds since 1970.
    pub(crate) created: u32,
    /// `None` = it is being written.
    pub(crate) closed: Option<Closed>,
}

/// A WAL file that is not written any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed {
    pub(crate) len: u64,
    /// First and last second of its rows.
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Closed {
    pub(crate) fn of(len: u64, head: &Head) -> Self {
        let (first, last) = head.span().unwrap_or_default();
        Self { len, first, last }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) rows: u64,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl SegmentFile {
    pub(crate) fn of(segment: &Segment) -> Self {
        let footer = &segment.footer;
        Self { rows: footer.rows, first: footer.first, last: footer.last }
    }
}

/// The files of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) wals: BTreeMap<u64, WalFile>,
    pub(crate) segments: BTreeMap<SegmentId, SegmentFile>,
}

impl Files {
    pub(crate) fn add_segments<'a>(
        &mut self,
        segments: impl IntoIterator<Item = &'a Arc<Segment>>,
    ) {
        let files = segments.into_iter().map(|segment| (segment.id, SegmentFile::of(segment)));
        self.segments.extend(files);
    }

    fn encode(&self, damage: &[Damage]) -> String {
        let mut out = format!("{TITLE} {FORMAT}\n");
        let mut put = |line: std::fmt::Arguments<'_>| {
            writeln!(out, "{line}").expect("BUG: writing to a string cannot fail");
        };
        for (seq, WalFile { created, closed }) in &self.wals {
            match closed {
                None => put(format_args!("wal {seq} {created}")),
                Some(Closed { len, first, last }) => {
                    put(format_args!("wal {seq} {created} {len} {first} {last}"));
                }
            }
        }
        for (id, SegmentFile { rows, first, last }) in &self.segments {
            put(format_args!("segment {} {rows} {first} {last}", id.file_name()));
        }
        for Damage { file, what, found_at, span, rows, items } in damage {
            let span = span.map_or("-".to_owned(), |span| format!("{}-{}", span.from, span.till));
            let rows = rows.map_or("-".to_owned(), |rows| rows.to_string());
            let items = items.as_ref().map_or("any".to_owned(), |items| {
                let each = items.iter().map(|(first, last)| match first == last {
                    true => first.0.to_string(),
                    false => format!("{}-{}", first.0, last.0),
                });
                format!("[{}]", each.collect::<Vec<_>>().join(","))
            });
            put(format_args!("damage {found_at} {file} {span} {rows} {items} {what}"));
        }
        let crc = crc32fast::hash(out.as_bytes());
        out.push_str(&format!("crc {crc:08x}\n"));
        out
    }
}

fn span_of(word: &str) -> Option<Option<Span>> {
    if word == "-" {
        return Some(None);
    }
    let (from, till) = word.split_once('-')?;
    Some(Some(Span::new(from.parse().ok()?, till.parse().ok()?)))
}

type Ranges = Vec<(ItemId, ItemId)>;

fn items_of(word: &str) -> Option<Option<Ranges>> {
    if word == "any" {
        return Some(None);
    }
    let list = word.strip_prefix('[')?.strip_suffix(']')?;
    let each = list.split(',').filter(|part| !part.is_empty()).map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some((ItemId(first.parse().ok()?), ItemId(last.parse().ok()?)))
    });
    each.collect::<Option<Ranges>>().map(Some)
}

fn damage_of(line: &str) -> Option<Damage> {
    let mut words = line.splitn(6, ' ');
    let found_at = words.next()?.parse().ok()?;
    let file = words.next()?.to_owned();
    let span = span_of(words.next()?)?;
    let rows = match words.next()? {
        "-" => None,
        rows => Some(rows.parse().ok()?),
    };
    let items = items_of(words.next()?)?;
    let what = words.next()?.to_owned();
    Some(Damage { file, what, found_at, span, rows, items })
}

/// Takes one line in.
fn take(line: &str, files: &mut Files, damage: &mut Vec<Damage>) -> Option<()> {
    let (keyword, rest) = line.split_once(' ')?;
    let mut words = rest.split(' ');
    match keyword {
        "wal" => {
            let (seq, created) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let closed = match words.next() {
                None => None,
                Some(len) => {
                    let (first, last) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                    Some(Closed { len: len.parse().ok()?, first, last })
                }
            };
            files.wals.insert(seq, WalFile { created, closed });
        }
        "segment" => {
            let id = SegmentId::parse(words.next()?)?;
            let rows = words.next()?.parse().ok()?;
            let (first, last) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            files.segments.insert(id, SegmentFile { rows, first, last });
        }
        "damage" => damage.push(damage_of(rest)?),
        _ => return None,
    }
    Some(())
}

/// What a manifest says.
pub(crate) type Contents = (Files, Vec<Damage>);

fn decode(bytes: &[u8], path: &Path) -> Result<Contents, Error> {
    let fail = || Damaged("the manifest's checksum does not match").of(path);
    let text = std::str::from_utf8(bytes).map_err(|_| fail())?;
    let end = text.trim_end_matches('\n').rfind('\n').ok_or_else(fail)? + 1;
    let (checked, crc) = text.split_at(end);
    if crc != format!("crc {:08x}\n", crc32fast::hash(checked.as_bytes())) {
        return Err(fail());
    }
    let mut lines = checked.lines();
    let title = lines.next().and_then(|line| line.strip_prefix(TITLE));
    let format: u16 = title.and_then(|n| n.trim().parse().ok()).ok_or_else(fail)?;
    if format > FORMAT {
        return Err(Error::Newer { path: path.to_owned(), found: format, known: FORMAT });
    }
    let (mut files, mut damage) = (Files::default(), Vec::new());
    for line in lines {
        take(line, &mut files, &mut damage)
            .ok_or_else(|| Damaged("a line of the manifest cannot be read").of(path))?;
    }
    Ok((files, damage))
}

/// Reads the manifest; `None` = there is none, as in directories of older releases.
pub(crate) fn read(dir: &Path, disk: &dyn Disk) -> Result<Option<Contents>, Error> {
    let path = dir.join(NAME);
    match disk.read(&path) {
        Ok(bytes) => decode(&bytes, &path).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// The manifest of an open engine.
pub(crate) struct Manifest {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    files: Mutex<Files>,
    pub(crate) damage: Arc<DamageLog>,
    /// A job that writes new damage is queued.
    noting: AtomicBool,
}

impl Manifest {
    pub(crate) fn new(dir: &Path, disk: Arc<dyn Disk>, damage: Arc<DamageLog>) -> Arc<Self> {
        Arc::new(Self {
            dir: dir.to_owned(),
            disk,
            files: Mutex::default(),
            damage,
            noting: AtomicBool::new(false),
        })
    }

    /// New damage has to be written, and no job is queued that does it. The caller queues one.
    pub(crate) fn takes_note(&self) -> bool {
        self.damage.is_changed() && !self.noting.swap(true, Ordering::AcqRel)
    }

    /// Writes new damage. After a failure the next change of the list writes it.
    pub(crate) fn note_damage(&self) {
        self.noting.store(false, Ordering::Release);
        drop(self.change(|_| ()));
    }

    /// Changes the list and writes it. After an error the change waits in memory for the next one.
    pub(crate) fn change(&self, edit: impl FnOnce(&mut Files)) -> Result<(), Error> {
        let mut files = lock(&self.files);
        edit(&mut files);
        let text = files.encode(&self.damage.to_write());
        let path = self.dir.join(NAME);
        let written = replace(&self.dir, self.disk.as_ref(), &path, text.as_bytes());
        written.inspect_err(|_| self.damage.not_written())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Class, Day};

    fn sample() -> Contents {
        let id = SegmentId { class: Class(31), day: Day(7), first_seq: 1, last_seq: 4 };
        let mut files = Files::default();
        files.wals.insert(5, WalFile { created: 9, closed: None });
        files
            .wals
            .insert(4, WalFile { created: 8, closed: Some(Closed { len: 77, first: 2, last: 9 }) });
        files.segments.insert(id, SegmentFile { rows: 3, first: 1, last: 2 });
        let any = Damage::of_any_item("5.wal", "two words", Span::new(3, 4), Some(9));
        let some = Damage {
            items: Some(vec![(ItemId(1), ItemId(1)), (ItemId(4), ItemId(9))]),
            rows: None,
            ..any.clone()
        };
        (files, vec![any, some, Damage::harmless("a", "b")])
    }

    #[test]
    fn contents_come_back_and_any_damage_is_noticed() {
        let (files, damage) = sample();
        let bytes = files.encode(&damage).into_bytes();
        let path = Path::new("manifest");
        assert_eq!(decode(&bytes, path).unwrap(), (files, damage));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 7);
            assert!(matches!(decode(&flipped, path), Err(Error::Damaged { .. })), "byte {at}");
            assert!(
                matches!(decode(&bytes[..at], path), Err(Error::Damaged { .. })),
                "cut at {at}"
            );
        }
    }

    #[test]
    fn newer_format_is_refused() {
        let text = format!("{TITLE} 2\nsomething new\n");
        let text = format!("{text}crc {:08x}\n", crc32fast::hash(text.as_bytes()));
        let error = decode(text.as_bytes(), Path::new("manifest")).unwrap_err();
        assert!(matches!(error, Error::Newer { found: 2, known: 1, .. }), "{error}");
    }
}
