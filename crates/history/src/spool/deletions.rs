//! Deletions: the log of every shard tells them, while one shard alone owns an item.

use hashbrown::HashMap;
use model::ItemId;
use tsdb::Block;

/// Beyond so many items the oldest deletions are taken for told by everybody.
const ITEMS_MAX: usize = 100_000;

/// Who has brought rows of an item since it was cleared in the store.
///
/// A shard that tells a deletion late (its disk stood still, or it heard it again after a crash)
/// must not delete what the owner of the item has written since its own turn.
#[derive(Debug, Default)]
pub(crate) struct Deletions {
    /// By item, the number of the log.
    since: HashMap<ItemId, Option<usize>>,
}

impl Deletions {
    /// A log has rows.
    pub(crate) fn saw(&mut self, log: usize, block: &Block) {
        if self.since.is_empty() {
            return;
        }
        let samples = block.samples.iter().map(|sample| sample.item);
        for item in samples.chain(block.trends.iter().map(|trend| trend.item)) {
            if let Some(owner) = self.since.get_mut(&item) {
                *owner = Some(log);
            }
        }
    }

    /// Those of the items that a log may clear.
    pub(crate) fn of(&self, log: usize, items: &[ItemId]) -> impl Iterator<Item = ItemId> {
        let is_owner = move |item: &ItemId| {
            self.since.get(item).copied().flatten().is_none_or(|owner| owner == log)
        };
        items.iter().copied().filter(is_owner)
    }

    /// The store has cleared these.
    pub(crate) fn done(&mut self, items: &[ItemId]) {
        if self.since.len() + items.len() > ITEMS_MAX {
            self.since.clear();
        }
        self.since.extend(items.iter().map(|&item| (item, None)));
    }
}

#[cfg(test)]
mod tests {
    use model::{Sample, SampleValue, Timestamp};

    use super::*;

    #[test]
    fn a_log_clears_no_item_of_another_one_twice() {
        let block = |item| {
            let value = SampleValue::Unsigned(1);
            let sample = Sample { item: ItemId(item), at: Timestamp::from_s(1), value };
            Block { samples: vec![sample], ..Block::default() }
        };
        let items = [ItemId(1), ItemId(2), ItemId(3)];
        let mut deletions = Deletions::default();
        let may = |d: &Deletions, log| d.of(log, &items).map(|item| item.0).collect::<Vec<_>>();
        deletions.saw(7, &block(1));
        assert_eq!(may(&deletions, 0), [1, 2, 3]);
        deletions.done(&items[..2]);
        deletions.saw(0, &block(1));
        deletions.saw(1, &block(2));
        deletions.saw(1, &block(3));
        assert_eq!((may(&deletions, 0), may(&deletions, 1)), (vec![1, 3], vec![2, 3]));
        deletions.done(&items);
        assert_eq!((may(&deletions, 0), may(&deletions, 1)), (vec![1, 2, 3], vec![1, 2, 3]));
        let many: Vec<ItemId> = (10..10 + ITEMS_MAX as u64).map(ItemId).collect();
        deletions.done(&many);
        assert_eq!(deletions.since.len(), ITEMS_MAX);
    }
}
