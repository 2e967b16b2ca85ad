//! A file that another receiver appends traps to: each begins with a line that has the word
//! `ZBXTRAP` and the address of the sender.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use collect::positions::TrapPosition;

/// The word before the address.
const WORD: &str = "ZBXTRAP ";
/// What is read at one look.
const READ_BYTES_MAX: u64 = 4 << 20;
/// A trap that does not end is cut here.
const TRAP_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileTrap {
    pub(super) address: String,
    pub(super) text: String,
    /// Where the file is to be read from once this trap is kept.
    pub(super) end: TrapPosition,
}

/// Where the file has been read to.
#[derive(Debug)]
pub(super) struct TrapFile {
    path: PathBuf,
    open: Option<(File, u64)>,
    read: u64,
    /// The begin of a trap that may go on.
    rest: Vec<u8>,
    /// Where an earlier run of the server stopped.
    start: Option<TrapPosition>,
    /// The file has been there from the first look on.
    begun: bool,
    told: bool,
}

impl TrapFile {
    /// `start` is where an earlier run stopped; without it, what is in the file already is old.
    pub(super) const fn new(path: PathBuf, start: Option<TrapPosition>) -> Self {
        Self { path, open: None, read: 0, rest: Vec::new(), start, begun: false, told: false }
    }

    /// Where a trap begins that is not whole yet, or the end of what was read.
    pub(super) fn position(&self) -> Option<TrapPosition> {
        let (_, inode) = self.open.as_ref()?;
        Some(TrapPosition {
            inode: *inode,
            offset: self.read.saturating_sub(self.rest.len() as u64),
        })
    }

    /// What has come since the last look.
    pub(super) fn read(&mut self) -> Vec<FileTrap> {
        let mut traps = Vec::new();
        match self.look(&mut traps) {
            Ok(()) => self.told = false,
            Err(error) if !self.told => {
                self.told = true;
                tracing::warn!("cannot read the trap file {}: {error}", self.path.display());
            }
            Err(_) => {}
        }
        self.begun = true;
        traps
    }

    fn look(&mut self, traps: &mut Vec<FileTrap>) -> std::io::Result<()> {
        if self.open.is_none() {
            let file = File::open(&self.path)?;
            let about = file.metadata()?;
            self.read = match self.start.take() {
                // The same file, and it was not emptied.
                Some(start) if start.inode == about.ino() && start.offset <= about.len() => {
                    start.offset
                }
                None if !self.begun => about.len(),
                _ => 0,
            };
            self.open = Some((file, about.ino()));
        }
        let came = self.take()?;
        self.cut(came, traps);
        let Some((file, inode)) = &self.open else { return Ok(()) };
        // The old file is read to its end before the new one is opened.
        let replaced = std::fs::metadata(&self.path).map_or(true, |now| now.ino() != *inode);
        if replaced || file.metadata()?.len() < self.read {
            self.open = None;
        }
        Ok(())
    }

    /// Reads on; `true` = something came.
    fn take(&mut self) -> std::io::Result<bool> {
        let Some((file, _)) = &mut self.open else { return Ok(false) };
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        let count = file.take(READ_BYTES_MAX).read_to_end(&mut bytes)? as u64;
        self.read += count;
        self.rest.append(&mut bytes);
        Ok(count > 0)
    }

    /// Takes whole traps out of what was read. The last is whole when nothing more has come.
    fn cut(&mut self, came: bool, traps: &mut Vec<FileTrap>) {
        let starts = starts(&self.rest);
        // What stands before the first belongs to no trap that we know.
        let mut from = starts.first().copied().unwrap_or(0);
        let mut ends: Vec<usize> = starts.iter().skip(1).copied().collect();
        if !came || self.rest.len() > TRAP_BYTES_MAX {
            ends.push(self.rest.len());
        }
        let inode = self.open.as_ref().map_or(0, |(_, inode)| *inode);
        // What is left of a file that was replaced stands in front of the new one.
        let (read, len) = (self.read, self.rest.len() as u64);
        for end in ends {
            let text = String::from_utf8_lossy(self.rest.get(from..end).unwrap_or_default());
            let offset = (read + end as u64).saturating_sub(len);
            let end_at = TrapPosition { inode, offset };
            traps.extend(trap(&text, end_at));
            from = end;
        }
        self.rest.drain(..from);
    }
}

/// Where lines begin that begin a trap.
fn starts(text: &[u8]) -> Vec<usize> {
    let windows = text.windows(WORD.len()).enumerate();
    let words = windows.filter(|(_, window)| *window == WORD.as_bytes()).map(|(at, _)| at);
    let line = |at: usize| text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |n| n + 1);
    let mut starts: Vec<usize> = words.map(line).collect();
    starts.dedup();
    starts
}

/// The text of a trap is everything but the word and the address.
fn trap(text: &str, end: TrapPosition) -> Option<FileTrap> {
    let (before, after) = text.split_once(WORD)?;
    let after = after.trim_start_matches(' ');
    let len = after.find(char::is_whitespace).unwrap_or(after.len());
    let (address, rest) = after.split_at(len);
    let text = format!(
        "{before}{}",
        rest.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n').unwrap_or(rest.trim_start())
    );
    Some(FileTrap { address: address.to_owned(), text: text.trim_end().to_owned(), end })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn texts(traps: &[FileTrap]) -> Vec<(&str, &str)> {
        traps.iter().map(|trap| (&*trap.address, &*trap.text)).collect()
    }

    #[test]
    fn a_file_that_grows_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("traps");
        std::fs::write(&path, "old ZBXTRAP 10.0.0.9\nPDU INFO:\n").unwrap();
        let mut traps = TrapFile::new(path.clone(), None);
        assert_eq!(traps.read(), []);
        let add = |text: &str| {
            let mut file = File::options().append(true).create(true).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        add("12:00:01 ZBXTRAP 10.0.0.1\nPDU INFO:\n  a\n12:00:02 ZBXTRAP 10.0.0.2\nPDU IN");
        assert_eq!(texts(&traps.read()), [("10.0.0.1", "12:00:01 PDU INFO:\n  a")]);
        add("FO:\n  b\n");
        assert_eq!(traps.read(), []);
        assert_eq!(texts(&traps.read()), [("10.0.0.2", "12:00:02 PDU INFO:\n  b")]);
        add("ZBXTRAP host.name some text\n");
        std::fs::rename(&path, folder.path().join("traps.1")).unwrap();
        add("12:00:03 ZBXTRAP ::1\nnew\n");
        let mut all = Vec::new();
        for _ in 0..4 {
            all.extend(traps.read());
        }
        assert_eq!(texts(&all), [("host.name", "some text"), ("::1", "12:00:03 new")]);
        // Emptied in place.
        std::fs::write(&path, "").unwrap();
        assert_eq!(traps.read(), []);
        add("x ZBXTRAP 1.2.3.4\ny\n");
        let mut all = Vec::new();
        for _ in 0..3 {
            all.extend(traps.read());
        }
        assert_eq!(texts(&all), [("1.2.3.4", "x y")]);
    }

    #[test]
    fn traps_that_came_while_the_server_was_stopped_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("traps");
        let add = |text: &str| {
            let mut file = File::options().append(true).create(true).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        let all =
            |traps: &mut TrapFile| -> Vec<FileTrap> { (0..4).flat_map(|_| traps.read()).collect() };
        add("ZBXTRAP 10.0.0.1\nbefore\n");
        let mut traps = TrapFile::new(path.clone(), None);
        assert_eq!(traps.read(), []);
        let at_the_end = traps.position();
        add("ZBXTRAP 10.0.0.1\none \u{e4}\nZBXTRAP 10.0.0.1\nrefused\n");
        let read = all(&mut traps);
        assert_eq!(texts(&read), [("10.0.0.1", "one \u{e4}"), ("10.0.0.1", "refused")]);
        assert_eq!(all(&mut TrapFile::new(path.clone(), at_the_end)), read);
        // Only the first is kept when the server stops.
        let position = Some(read[0].end);
        add("ZBXTRAP 10.0.0.1\ntwo\n");
        let read = all(&mut TrapFile::new(path.clone(), position));
        assert_eq!(texts(&read), [("10.0.0.1", "refused"), ("10.0.0.1", "two")]);
        // A file that was replaced is read from its start.
        std::fs::rename(&path, folder.path().join("traps.1")).unwrap();
        add("ZBXTRAP 10.0.0.1\nthree\n");
        let read = all(&mut TrapFile::new(path.clone(), Some(read[1].end)));
        assert_eq!(texts(&read), [("10.0.0.1", "three")]);
    }
}
