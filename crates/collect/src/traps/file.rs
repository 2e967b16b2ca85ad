//! A file that another receiver appends traps to: each begins with a line that has the word
//! `ZBXTRAP` and the address of the sender.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// The word before the address.
const WORD: &str = "ZBXTRAP ";
/// What is read at one look.
const READ_BYTES_MAX: u64 = 4 << 20;
/// A trap that does not end is cut here.
const TRAP_BYTES_MAX: usize = 1 << 20;

/// A trap of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileTrap {
    pub(super) address: String,
    pub(super) text: String,
}

/// Where the file has been read to.
#[derive(Debug)]
pub(super) struct TrapFile {
    path: PathBuf,
    open: Option<(File, u64)>,
    read: u64,
    /// The begin of a trap that may go on.
    rest: String,
    /// The file has been there from the first look on.
    begun: bool,
    told: bool,
}

impl TrapFile {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, open: None, read: 0, rest: String::new(), begun: false, told: false }
    }

    /// What has come since the last look. What was there before the first is old.
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
            self.read = if self.begun { 0 } else { about.len() };
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
        self.rest.push_str(&String::from_utf8_lossy(&bytes));
        Ok(count > 0)
    }

    /// Takes whole traps out of what was read. The last is whole when nothing more has come.
    fn cut(&mut self, came: bool, traps: &mut Vec<FileTrap>) {
        let mut starts = starts(&self.rest);
        if let Some(first) = starts.first()
            && *first > 0
        {
            // What stands before the first belongs to no trap that we know.
            self.rest.drain(..*first);
            starts = self::starts(&self.rest);
        }
        let mut ends: Vec<usize> = starts.iter().skip(1).copied().collect();
        if !came || self.rest.len() > TRAP_BYTES_MAX {
            ends.push(self.rest.len());
        }
        let mut from = 0;
        for end in ends {
            traps.extend(self.rest.get(from..end).and_then(trap));
            from = end;
        }
        self.rest.drain(..from);
    }
}

/// Where lines begin that begin a trap.
fn starts(text: &str) -> Vec<usize> {
    let words = text.match_indices(WORD).map(|(at, _)| at);
    let mut starts: Vec<usize> = words
        .map(|at| text.get(..at).and_then(|b| b.rfind('\n')).map_or(0, |line| line + 1))
        .collect();
    starts.dedup();
    starts
}

/// The text of a trap is everything but the word and the address.
fn trap(text: &str) -> Option<FileTrap> {
    let (before, after) = text.split_once(WORD)?;
    let after = after.trim_start_matches(' ');
    let len = after.find(char::is_whitespace).unwrap_or(after.len());
    let (address, rest) = after.split_at(len);
    let text = format!(
        "{before}{}",
        rest.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n').unwrap_or(rest.trim_start())
    );
    Some(FileTrap { address: address.to_owned(), text: text.trim_end().to_owned() })
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
        let mut traps = TrapFile::new(path.clone());
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
}
