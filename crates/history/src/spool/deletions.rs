//! Deletions: the log of every shard tells them, while one shard alone owns an item.

use std::fs::File;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use model::ItemId;
use tsdb::Block;

use super::file_error;
use crate::Error;

/// Beyond so many items the oldest deletions are taken for told by everybody.
const ITEMS_MAX: usize = 100_000;
/// First line of the file.
const TITLE: &str = "vedette history deletions 1";
/// Stands for nobody.
const NOBODY: &str = "-";
/// Stands for what the store has to hear yet.
const OWED: &str = "!";
/// Begins the second line of the file, where a copy has brought rows.
const COPIED: &str = "copied ";
/// Last line of the file.
const END: &str = "end";

/// Who has brought rows of an item since it was cleared in the store.
///
/// A shard that tells a deletion late (its disk stood still, or it heard it again after a crash)
/// must not delete what the owner of the item has written since its own turn. What it tells may
/// wait in its log over a restart, so this is kept in a small file, which is written only when
/// something in it is new, and always before the positions that go beyond what it tells of. A
/// file that is ahead of the positions does no harm: it only says of more rows that they are new.
///
/// The same file has what was deleted while the store was not named, when nobody reads the logs for
/// it (see [`super::Left`]): all that it has of these items is older, and goes before anything new comes.
///
/// A copy may bring rows before any log does. It has heard of all that was deleted before, so what
/// logs tell of that is no news, unless they have brought rows themselves, which come again.
#[derive(Debug)]
pub(crate) struct Deletions {
    path: PathBuf,
    since: HashMap<ItemId, Since>,
    /// Names of the logs by their number; behind these, of logs that there are no more.
    logs: Vec<String>,
    /// A copy wrote to the store; deletions up to this moment, in Unix seconds, were before that.
    copied: Option<u32>,
    /// Deletions so far.
    turn: u64,
    /// Those up to this one are of a former process; `None` = there are no more of these.
    former: Option<u64>,
    /// The file says something else.
    changed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Since {
    /// Number of the log that had rows of the item.
    owner: Option<usize>,
    /// Which deletion it was: the file has them in this order.
    turn: u64,
    /// The store has not cleared it yet.
    owed: bool,
}

impl Deletions {
    /// Reads the file; a missing one tells of no deletion.
    pub(crate) fn load(path: &Path, logs: Vec<String>) -> Result<Self, Error> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                format!("{TITLE}\n{END}").into_bytes()
            }
            Err(error) => return Err(file_error("read", path, &error)),
        };
        let (path, since) = (path.to_owned(), HashMap::new());
        let (copied, former) = (None, None);
        let mut all = Self { path, since, logs, copied, turn: 0, former, changed: false };
        let parsed = std::str::from_utf8(&bytes).ok().and_then(|text| all.parse(text));
        parsed.ok_or_else(|| {
            Error::config(format!(
                "{:?} is damaged: move it away; values that came just after a deletion may then \
                 be missing in the store",
                all.path
            ))
        })?;
        Ok(all)
    }

    fn parse(&mut self, text: &str) -> Option<()> {
        let lines = text.strip_prefix(TITLE)?.strip_suffix(END)?;
        let mut lines = lines.strip_prefix('\n')?.lines().peekable();
        if let Some(until) = lines.next_if(|line| line.starts_with(COPIED)) {
            self.copied = Some(until[COPIED.len()..].parse().ok()?);
        }
        for line in lines {
            let (item, owner) = line.split_once(' ')?;
            let owed = owner == OWED;
            let owner = (owner != NOBODY && !owed).then(|| self.number_of(owner));
            self.turn += 1;
            self.since.insert(ItemId(item.parse().ok()?), Since { owner, turn: self.turn, owed });
        }
        self.former = Some(self.turn);
        Some(())
    }

    fn number_of(&mut self, log: &str) -> usize {
        self.logs.iter().position(|name| name == log).unwrap_or_else(|| {
            self.logs.push(log.to_owned());
            self.logs.len() - 1
        })
    }

    /// A log has rows.
    pub(crate) fn saw(&mut self, log: usize, block: &Block) {
        if self.since.is_empty() {
            return;
        }
        let samples = block.samples.iter().map(|sample| sample.item);
        for item in samples.chain(block.trends.iter().map(|trend| trend.item)) {
            if let Some(since) = self.since.get_mut(&item)
                && since.owner.replace(log) != Some(log)
            {
                self.changed = true;
            }
        }
    }

    /// Those of the items of a block that its log may clear.
    pub(crate) fn of(&self, log: usize, block: &Block) -> impl Iterator<Item = ItemId> {
        let is_news = self.copied.is_none_or(|until| block.cleared_at.clock > until);
        let may = move |item: &ItemId| {
            let owner = self.since.get(item).and_then(|since| since.owner);
            owner.map_or(is_news, |owner| owner == log)
        };
        block.clears.iter().copied().filter(may)
    }

    /// The store has cleared these.
    pub(crate) fn done(&mut self, items: &[ItemId]) {
        self.add(items, false);
    }

    /// What former processes deleted, and when the newest of it. A store that nothing was copied to
    /// has nothing of these items yet.
    pub(crate) fn found(&mut self, items: &[ItemId], until: u32) {
        self.done(items);
        if self.copied.is_some_and(|before| before < until) {
            self.copied = Some(until);
            self.changed = true;
        }
    }

    /// A copy is going to write to the store.
    pub(super) fn copy(&mut self) {
        if self.copied.is_none() {
            self.copied = Some(0);
            self.changed = true;
        }
    }

    /// The store does not hear of this deletion from the logs; each shard tells it.
    pub(super) fn owe(&mut self, items: &[ItemId]) {
        let is_new = |item: &ItemId| !self.since.get(item).is_some_and(|since| since.owed);
        let new: Vec<ItemId> = items.iter().copied().filter(is_new).collect();
        self.add(&new, true);
    }

    /// Items that the store has to clear before anything else.
    pub(crate) fn owed(&self) -> Vec<ItemId> {
        let owed = self.since.iter().filter(|(_, since)| since.owed);
        owed.map(|(&item, _)| item).collect()
    }

    /// The store has cleared these of those that it had to. What was noted meanwhile stays as it
    /// is.
    pub(super) fn paid(&mut self, items: &[ItemId]) {
        for item in items {
            if let Some(since) = self.since.get_mut(item).filter(|since| since.owed) {
                since.owed = false;
                self.changed = true;
            }
        }
    }

    fn add(&mut self, items: &[ItemId], owed: bool) {
        if items.is_empty() {
            return;
        }
        for &item in &items[items.len().saturating_sub(ITEMS_MAX)..] {
            self.turn += 1;
            self.since.insert(item, Since { owner: None, turn: self.turn, owed });
        }
        let beyond = self.since.len().saturating_sub(ITEMS_MAX);
        if beyond > 0 {
            let mut turns: Vec<u64> = self.since.values().map(|since| since.turn).collect();
            let (_, &mut first, _) = turns.select_nth_unstable(beyond);
            self.since.retain(|_, since| since.turn >= first);
        }
        self.changed = true;
    }

    /// All logs are read beyond what the former process wrote: of its deletions none is told any
    /// more.
    pub(crate) fn forget_former(&mut self) {
        let Some(former) = self.former.take() else { return };
        let before = self.since.len();
        self.since.retain(|_, since| since.turn > former || since.owed);
        self.changed |= self.since.len() != before;
    }

    /// May there be something to forget?
    pub(crate) fn has_former(&self) -> bool {
        self.former.is_some()
    }

    /// Writes the file, if it would say something else; then a power cut does not undo that.
    pub(crate) fn save(&mut self) -> Result<(), Error> {
        if !self.changed {
            return Ok(());
        }
        let _alone = lock_beside(&self.path)?;
        self.write()
    }

    /// Changes what the file says. Nobody else changes it between reading and writing: a command
    /// may do so while a server runs.
    pub(super) fn change(path: &Path, what: impl FnOnce(&mut Self)) -> Result<(), Error> {
        let _alone = lock_beside(path)?;
        let mut all = Self::load(path, Vec::new())?;
        what(&mut all);
        if all.changed { all.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        let mut all: Vec<(ItemId, Since)> =
            self.since.iter().map(|(&i, &since)| (i, since)).collect();
        all.sort_unstable_by_key(|(_, since)| since.turn);
        let mut text = format!("{TITLE}\n");
        if let Some(until) = self.copied {
            text += &format!("{COPIED}{until}\n");
        }
        for (item, since) in all {
            let owner = since.owner.and_then(|owner| self.logs.get(owner)).map(String::as_str);
            let word = if since.owed { OWED } else { owner.unwrap_or(NOBODY) };
            text += &format!("{} {word}\n", item.0);
        }
        text += END;
        stdx::file::replace(&self.path, text.as_bytes())
            .map_err(|error| file_error("write", &self.path, &error))?;
        self.changed = false;
        Ok(())
    }
}

/// The holder may change the file until the lock is dropped.
fn lock_beside(path: &Path) -> Result<File, Error> {
    let path = path.with_extension("lock");
    let lock = || File::create(&path).and_then(|file| file.lock().map(|()| file));
    lock().map_err(|error| file_error("lock", &path, &error))
}

#[cfg(test)]
pub(super) mod tests {
    use model::{Sample, SampleValue, Timestamp};

    use super::*;

    pub(in super::super) const ITEMS: [ItemId; 3] = [ItemId(1), ItemId(2), ItemId(3)];

    pub(in super::super) fn block(item: u64) -> Block {
        let value = SampleValue::Unsigned(1);
        let sample = Sample { item: ItemId(item), at: Timestamp::from_s(1), value };
        Block { samples: vec![sample], ..Block::default() }
    }

    pub(in super::super) fn load(path: &Path, logs: &[&str]) -> Deletions {
        Deletions::load(path, logs.iter().map(ToString::to_string).collect()).unwrap()
    }

    /// What a log may clear that tells at this second that all were deleted.
    fn may_at(deletions: &Deletions, log: usize, clock: u32) -> Vec<u64> {
        let cleared_at = Timestamp::from_s(clock);
        let block = Block { clears: ITEMS.to_vec(), cleared_at, ..Block::default() };
        deletions.of(log, &block).map(|item| item.0).collect()
    }

    fn may(deletions: &Deletions, log: usize) -> Vec<u64> {
        may_at(deletions, log, 5)
    }

    #[test]
    fn a_log_clears_no_item_of_another_one_twice() {
        let dir = tempfile::tempdir().unwrap();
        let mut deletions = load(&dir.path().join("s.deletions"), &["shard-0", "shard-1"]);
        deletions.saw(7, &block(1));
        assert_eq!(may(&deletions, 0), [1, 2, 3]);
        deletions.done(&ITEMS[..2]);
        deletions.saw(0, &block(1));
        deletions.saw(1, &block(2));
        deletions.saw(1, &block(3));
        assert_eq!((may(&deletions, 0), may(&deletions, 1)), (vec![1, 3], vec![2, 3]));
        deletions.done(&ITEMS);
        assert_eq!((may(&deletions, 0), may(&deletions, 1)), (vec![1, 2, 3], vec![1, 2, 3]));
    }

    #[test]
    fn owners_are_known_after_a_restart_by_log_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.deletions");
        let mut deletions = load(&path, &["shard-0", "shard-1"]);
        deletions.save().unwrap();
        assert!(!path.exists(), "nothing was deleted");
        deletions.done(&ITEMS);
        deletions.saw(0, &block(1));
        deletions.saw(1, &block(2));
        deletions.save().unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        // Another number of shards: "shard-0" is gone, and came back elsewhere.
        let mut deletions = load(&path, &["shard-1", "shard-2"]);
        assert_eq!((may(&deletions, 0), may(&deletions, 1)), (vec![2, 3], vec![3]));
        let all = load(&path, &["shard-2", "shard-0"]);
        assert_eq!((may(&all, 0), may(&all, 1)), (vec![3], vec![1, 3]));
        // Seen again by the same log is nothing new.
        deletions.saw(0, &block(2));
        assert!(deletions.has_former() && !deletions.changed);
        deletions.done(&ITEMS[1..2]);
        deletions.forget_former();
        deletions.save().unwrap();
        assert!(!deletions.has_former());
        let mut deletions = load(&path, &["shard-1"]);
        assert_eq!(deletions.since.keys().collect::<Vec<_>>(), [&ITEMS[1]]);
        deletions.forget_former();
        deletions.save().unwrap();
        assert!(load(&path, &[]).since.is_empty());
        for len in 0..whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let error = Deletions::load(&path, Vec::new()).unwrap_err();
            assert!(error.message.contains("move it away"), "{len}: {error}");
        }
    }

    #[test]
    fn deletion_before_a_copy_clears_only_logged_rows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.deletions");
        for copied in [false, true] {
            if copied {
                Deletions::change(&path, Deletions::copy).unwrap();
                let text = std::fs::read_to_string(&path).unwrap();
                Deletions::change(&path, Deletions::copy).unwrap();
                assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            }
            let mut deletions = load(&path, &["shard-0", "shard-1"]);
            deletions.found(&ITEMS[..2], 4);
            deletions.found(&ITEMS[..2], 5);
            deletions.saw(0, &block(1));
            let all: &[u64] = if copied { &[1] } else { &[1, 2, 3] };
            assert_eq!(may(&deletions, 0), all);
            assert_eq!(may_at(&deletions, 1, 4), &all[1..]);
            assert_eq!(may_at(&deletions, 1, 6), [2, 3], "it is news");
            // As when the server starts before all logs have been read so far, or behind that.
            deletions.save().unwrap();
            let mut deletions = load(&path, &["shard-0", "shard-1"]);
            assert_eq!(may(&deletions, 0), all);
            deletions.forget_former();
            let all: &[u64] = if copied { &[] } else { &[1, 2, 3] };
            assert_eq!(may(&deletions, 0), all);
            assert_eq!(may_at(&deletions, 1, 6), [1, 2, 3]);
            deletions.save().unwrap();
        }
    }

    #[test]
    fn the_oldest_deletions_make_room_for_new_ones() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.deletions");
        let ids = |range: std::ops::Range<u64>| range.map(ItemId).collect::<Vec<_>>();
        let most = ITEMS_MAX as u64;
        let mut deletions = load(&path, &["shard-0"]);
        for range in [0..10, 10..20, 20..most] {
            deletions.done(&ids(range));
        }
        assert_eq!(deletions.since.len(), ITEMS_MAX);
        deletions.done(&ids(most..most + 1));
        let oldest = |deletions: &Deletions| {
            let of = |item| deletions.since.contains_key(&ItemId(item));
            (deletions.since.len(), (0..most).find(|&item| of(item)))
        };
        assert_eq!(oldest(&deletions), (ITEMS_MAX, Some(1)));
        // Also after a restart, and when deletions are noted one by one.
        deletions.save().unwrap();
        for range in [0..1, most + 1..most + 3] {
            Deletions::change(&path, |deletions| deletions.owe(&ids(range))).unwrap();
        }
        let mut deletions = load(&path, &["shard-0"]);
        assert_eq!(oldest(&deletions), (ITEMS_MAX, Some(0)));
        assert!(!deletions.since.contains_key(&ItemId(3)));
        assert!(deletions.since.contains_key(&ItemId(4)));
        // More at once than fit.
        deletions.done(&ids(0..2 * most));
        assert_eq!(deletions.since.len(), ITEMS_MAX);
        deletions.saw(0, &block(2 * most - 1));
        deletions.save().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() < 20 * most);
        assert_eq!(load(&path, &["shard-0"]).since.len(), ITEMS_MAX);
    }
}
