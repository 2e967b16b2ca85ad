//! How far a store is in the log of each shard: one small file, replaced whole.
//!
//! All positions are in one file, so that they move together: a deletion that all logs tell is
//! behind all of them or before all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tsdb::Position;

use super::file_error;
use crate::{Error, Fault};

/// First line of the file.
const TITLE: &str = "vedette history cursors 1";
/// Last line of the file.
const END: &str = "end";

/// Positions by the name of the log.
#[derive(Debug)]
pub(crate) struct Cursors {
    path: PathBuf,
    positions: BTreeMap<String, Position>,
}

impl Cursors {
    /// Reads the file; a missing one says nothing of any log.
    pub(crate) fn load(path: &Path) -> Result<Self, Error> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(file_error("read", path, &error)),
        };
        let positions = if text.is_empty() { Some(BTreeMap::new()) } else { parse(&text) };
        let damaged = || Error {
            fault: Fault::Config,
            retry: false,
            message: format!(
                "{path:?} is damaged: move it away, and the store is fed from the oldest value \
                 that the log still has"
            ),
        };
        Ok(Self { path: path.to_owned(), positions: positions.ok_or_else(damaged)? })
    }

    /// Of all stores that were ever fed from a data folder, named now or not.
    pub(crate) fn load_all(dir: &Path) -> Result<Vec<Self>, Error> {
        let entries = match std::fs::read_dir(dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| file_error("list", dir, &error))?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| file_error("list", dir, &error))?.path();
            if path.extension().is_some_and(|extension| extension == "cursors") {
                all.push(Self::load(&path)?);
            }
        }
        Ok(all)
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
        for (log, Position { file, offset }) in positions {
            text += &format!("{log} {file} {offset}\n");
        }
        text += END;
        stdx::file::replace(&self.path, text.as_bytes())
            .map_err(|error| file_error("write", &self.path, &error))
    }
}

fn parse(text: &str) -> Option<BTreeMap<String, Position>> {
    let lines = text.strip_prefix(TITLE)?.strip_suffix(END)?;
    let position = |line: &str| {
        let mut words = line.split(' ');
        let (log, file, offset) = (words.next()?, words.next()?, words.next()?);
        let position = Position { file: file.parse().ok()?, offset: offset.parse().ok()? };
        Some((log.to_owned(), position))
    };
    lines.lines().filter(|line| !line.is_empty()).map(position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back_and_damage_is_told() {
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
        let whole = std::fs::read_to_string(&path).unwrap();
        for len in 1..whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let error = Cursors::load(&path).unwrap_err();
            assert!(error.message.contains("move it away"), "{len}: {error}");
        }
    }
}
