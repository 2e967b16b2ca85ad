//! How far a store is in the log of each shard: one small file, replaced whole.
//!
//! All positions are in one file, so that they move together: a deletion that all logs tell is
//! behind all of them or before all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tsdb::Position;

use super::{CURSORS, file_error, files_of};
use crate::Error;

/// First line of the file.
const TITLE: &str = "vedette history cursors 1";
/// Second line of the file, where the logs have gone on without the store.
const LEFT: &str = "left";
/// Last line of the file.
const END: &str = "end";

/// Positions by the name of the log.
#[derive(Debug)]
pub(crate) struct Cursors {
    path: PathBuf,
    positions: BTreeMap<String, Position>,
    left: bool,
}

impl Cursors {
    /// Reads the file; a missing one says nothing of any log.
    pub(crate) fn load(path: &Path) -> Result<Self, Error> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(file_error("read", path, &error)),
        };
        let found = match std::str::from_utf8(&bytes) {
            Ok("") => Some((BTreeMap::new(), false)),
            text => text.ok().and_then(parse),
        };
        let damaged = || {
            Error::config(format!(
                "{path:?} is damaged: move it away, and the store is fed from the oldest value \
                 that the log still has"
            ))
        };
        let (positions, left) = found.ok_or_else(damaged)?;
        Ok(Self { path: path.to_owned(), positions, left })
    }

    /// Of all stores that were ever fed from a data folder, named now or not.
    pub(crate) fn load_all(dir: &Path) -> Result<Vec<Self>, Error> {
        files_of(dir, CURSORS)?.iter().map(|path| Self::load(path)).collect()
    }

    /// Whether they are those of this file.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }

    /// A server starts without the store, and with others or none: what it has not read the logs below
    /// `root` forget. Beyond the embedded days that would be nowhere else.
    pub(crate) fn check_read(&self, root: &Path, others: bool) -> Result<(), Error> {
        if self.left {
            return Ok(());
        }
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let remove = if others { format!("{:?}", self.path) } else { all_spools(root) };
        not_given_up(unread(root, &self.positions)?, &name, &remove)
    }

    /// From now on logs go on without the store. Only this tells it: a file that is gone may as well
    /// be one that a power cut took before it had any rows.
    pub(crate) fn leave(&mut self) -> Result<(), Error> {
        if !self.left && !self.positions.is_empty() {
            self.left = true;
            self.write(&self.positions)?;
        }
        Ok(())
    }

    /// The store is fed again; whether logs went on without it.
    pub(crate) fn come_back(&mut self) -> Result<bool, Error> {
        let left = std::mem::replace(&mut self.left, false);
        if left {
            self.write(&self.positions)?;
        }
        Ok(left)
    }

    /// The store has read nothing of any log.
    pub(crate) fn is_new(&self) -> bool {
        self.positions.is_empty()
    }

    /// Where the store goes on in a log; `None` = it has read nothing of it.
    pub(crate) fn position(&self, log: &str) -> Option<Position> {
        self.positions.get(log).copied()
    }

    /// Remembers positions; when it returns `Ok`, a power cut does not undo that.
    pub(crate) fn save<'a>(
        &mut self,
        positions: impl Iterator<Item = (&'a str, Position)>,
    ) -> Result<(), Error> {
        let mut all = self.positions.clone();
        all.extend(positions.map(|(log, position)| (log.to_owned(), position)));
        if all != self.positions {
            self.write(&all)?;
            self.positions = all;
        }
        Ok(())
    }

    fn write(&self, positions: &BTreeMap<String, Position>) -> Result<(), Error> {
        let mut text = format!("{TITLE}\n");
        if self.left {
            text += LEFT;
            text += "\n";
        }
        for (log, Position { file, offset }) in positions {
            text += &format!("{log} {file} {offset}\n");
        }
        text += END;
        stdx::file::replace(&self.path, text.as_bytes())
            .map_err(|error| file_error("write", &self.path, &error))
    }
}

/// The same where no store has a file, as one that has confirmed nothing.
pub(crate) fn check_all_read(root: &Path) -> Result<(), Error> {
    not_given_up(unread(root, &BTreeMap::new())?, "it has got nothing yet", &all_spools(root))
}

/// Bytes of the logs below `root` behind these positions.
fn unread(root: &Path, positions: &BTreeMap<String, Position>) -> Result<u64, Error> {
    let logs = std::fs::read_dir(root).map_err(|error| file_error("list", root, &error))?;
    let mut unread = 0;
    for log in logs {
        let log = log.map_err(|error| file_error("list", root, &error))?;
        let path = log.path();
        if path.is_dir() {
            let position = log.file_name().to_str().and_then(|name| positions.get(name).copied());
            unread += tsdb::unread(&tsdb::OsDisk, &path, position)?;
        }
    }
    Ok(unread)
}

fn all_spools(root: &Path) -> String {
    format!("the files *.spool in the folders of {root:?}")
}

fn not_given_up(unread: u64, store: &str, remove: &str) -> Result<(), Error> {
    if unread == 0 {
        return Ok(());
    }
    Err(Error::config(format!(
        "{unread} bytes of the log wait for a history store that is not named any more ({store}): name \
         it in --history-store until its lag is 0; or, to give up what nobody else will have when the \
         embedded days are over, remove {remove}"
    )))
}

fn parse(text: &str) -> Option<(BTreeMap<String, Position>, bool)> {
    let lines = text.strip_prefix(TITLE)?.strip_suffix(END)?.trim_start_matches('\n');
    let without = lines.strip_prefix(LEFT).and_then(|rest| rest.strip_prefix('\n'));
    let (lines, left) = without.map_or((lines, false), |lines| (lines, true));
    let position = |line: &str| {
        let mut words = line.split(' ');
        let (log, file, offset) = (words.next()?, words.next()?, words.next()?);
        let position = Position { file: file.parse().ok()?, offset: offset.parse().ok()? };
        Some((log.to_owned(), position))
    };
    let positions: Option<_> = lines.lines().map(position).collect();
    Some((positions?, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_restored_and_damage_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store-1.cursors");
        let mut cursors = Cursors::load(&path).unwrap();
        assert_eq!(cursors.position("shard-0"), None);
        let (a, b) = (Position { file: 7, offset: 20 }, Position { file: u64::MAX, offset: 0 });
        cursors.save([("shard-0", a), ("shard-11", b)].into_iter()).unwrap();
        cursors.save([("shard-0", b)].into_iter()).unwrap();
        let cursors = Cursors::load(&path).unwrap();
        assert_eq!(cursors.position("shard-0"), Some(b));
        assert_eq!(cursors.position("shard-11"), Some(b));
        let load = || Cursors::load(&path).unwrap();
        for _ in 0..2 {
            load().leave().unwrap();
            assert_eq!(load().position("shard-11"), Some(b));
            assert!(load().come_back().unwrap());
            assert!(!load().come_back().unwrap());
        }
        load().leave().unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        for len in 1..whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let error = Cursors::load(&path).unwrap_err();
            assert!(error.message.contains("move it away"), "{len}: {error}");
        }
        std::fs::write(&path, b"\xff").unwrap();
        let error = Cursors::load(&path).unwrap_err();
        assert!(!error.retry && error.message.contains("is damaged"), "{error}");
    }
}
