//! What is deleted while no server names a store.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use model::ItemId;
use stdx::sync::lock;

use super::deletions::Deletions;
use super::{CURSORS, DELETIONS, files_of};
use crate::{Error, Store};

/// Stores that were fed, or copied to, and are not named now, by the files of their deletions. What is
/// deleted meanwhile is noted for each of them, so that it is not found there when the store is named.
#[derive(Debug)]
pub(crate) struct Left {
    dir: PathBuf,
    /// Files of stores that are fed.
    fed: Vec<PathBuf>,
    /// All shards tell a deletion.
    alone: Mutex<()>,
}

impl Left {
    /// Reads the files, as damage is to be told at the start.
    pub(crate) fn load(dir: &Path, fed: Vec<PathBuf>) -> Result<Self, Error> {
        let all = Self { dir: dir.to_owned(), fed, alone: Mutex::default() };
        all.files()?.iter().try_for_each(|path| Deletions::load(path, Vec::new()).map(drop))?;
        Ok(all)
    }

    fn files(&self) -> Result<Vec<PathBuf>, Error> {
        let mut files = files_of(&self.dir, CURSORS)?;
        files.iter_mut().for_each(|path| _ = path.set_extension(DELETIONS));
        files.append(&mut files_of(&self.dir, DELETIONS)?);
        files.sort_unstable();
        files.dedup();
        files.retain(|path| !self.fed.contains(path));
        Ok(files)
    }

    /// When it returns `Ok`, a power cut does not undo it. Every shard tells it.
    pub(crate) fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        let _alone = lock(&self.alone);
        // Checked again: a command may copy to another store meanwhile, or have told one of these.
        for path in self.files()? {
            Deletions::change(&path, |deletions| deletions.owe(items))?;
        }
        Ok(())
    }
}

/// See [`super::before_copy`]. A server that runs may note more meanwhile.
pub(super) fn before_copy(path: &Path, store: &dyn Store) -> Result<(), Error> {
    Deletions::change(path, Deletions::copy)?;
    let items = Deletions::load(path, Vec::new())?.owed();
    if items.is_empty() {
        return Ok(());
    }
    store.driver().clear(&items)?;
    Deletions::change(path, |deletions| deletions.paid(&items))
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::deletions::tests::{ITEMS, block, load};

    #[test]
    fn what_is_deleted_without_a_store_is_owed_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.deletions");
        let mut deletions = load(&path, &["shard-0"]);
        deletions.done(&ITEMS[..2]);
        deletions.saw(0, &block(1));
        deletions.save().unwrap();
        // Nothing was ever deleted in one, one is fed.
        std::fs::write(dir.path().join("t.cursors"), "").unwrap();
        let fed = dir.path().join("u.deletions");
        load(&fed, &[]).save().unwrap();
        for _ in 0..2 {
            let left = Left::load(dir.path(), vec![fed.clone()]).unwrap();
            // Two shards tell it, and it is written once.
            left.clear(&ITEMS[..1]).unwrap();
            let written = std::fs::metadata(&path).unwrap().modified().unwrap();
            left.clear(&ITEMS[..1]).unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written);
        }
        for name in ["s.deletions", "t.deletions"] {
            let mut deletions = load(&dir.path().join(name), &["shard-0"]);
            deletions.forget_former();
            assert_eq!(deletions.owed(), ITEMS[..1], "{name}");
            deletions.done(&ITEMS[..1]);
            deletions.save().unwrap();
            assert!(load(&dir.path().join(name), &["shard-0"]).owed().is_empty());
        }
        assert!(load(&fed, &[]).owed().is_empty());
        for damaged in [&b""[..], b"\xff"] {
            std::fs::write(dir.path().join("v.deletions"), damaged).unwrap();
            let error = Left::load(dir.path(), vec![fed.clone()]).unwrap_err();
            assert!(!error.retry && error.message.contains("is damaged"), "{error}");
        }
    }

    /// A store that hears of another deletion while it clears.
    struct Busy(Left);

    impl Store for Busy {
        fn name(&self) -> String {
            "s".to_owned()
        }
        fn driver(&self) -> Box<dyn crate::Driver> {
            self.0.clear(&ITEMS[2..]).unwrap();
            Box::new(crate::Null::default())
        }
    }

    #[test]
    fn what_is_noted_while_a_command_clears_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.deletions");
        // It was never fed: who runs meanwhile learns of it.
        let running = Left::load(dir.path(), Vec::new()).unwrap();
        let busy = Busy(Left::load(dir.path(), Vec::new()).unwrap());
        before_copy(&path, &busy).unwrap();
        running.clear(&ITEMS[..2]).unwrap();
        assert_eq!(load(&path, &[]).owed().len(), 2);
        before_copy(&path, &busy).unwrap();
        assert_eq!(load(&path, &[]).owed(), ITEMS[2..]);
    }
}
