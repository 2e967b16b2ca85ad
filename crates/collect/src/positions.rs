//! How far logs and the trap file are read.

use std::collections::HashMap;
use std::sync::Mutex;

use config::snapshot::Host;
use model::ItemId;
use stdx::sync::lock;

/// How far an active agent has read a log file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogPosition {
    /// Bytes of the file that are read.
    pub lastlogsize: u64,
    /// Modification time of the file, seconds since 1970.
    pub mtime: u32,
}

/// How far the traps of the file are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrapPosition {
    /// Number of the file in its file system: another receiver may replace the file.
    pub inode: u64,
    /// Bytes of traps that are kept.
    pub offset: u64,
}

/// Positions of all logs and of the trap file.
#[derive(Debug, Default)]
pub struct Positions {
    logs: Mutex<HashMap<ItemId, LogPosition>>,
    trap_file: Mutex<Option<TrapPosition>>,
}

impl Positions {
    /// As they were before a restart.
    pub(crate) fn restored(
        logs: impl IntoIterator<Item = (ItemId, LogPosition)>,
        trap_file: Option<TrapPosition>,
    ) -> Self {
        Self { logs: Mutex::new(logs.into_iter().collect()), trap_file: Mutex::new(trap_file) }
    }

    /// The lines before this position are stored.
    pub fn set(&self, item: ItemId, position: LogPosition) {
        lock(&self.logs).insert(item, position);
    }

    /// Where an item goes on; `None` = at the beginning.
    pub fn of(&self, item: ItemId) -> Option<LogPosition> {
        lock(&self.logs).get(&item).copied()
    }

    /// Where each of these items goes on, in their order.
    pub fn of_all(&self, items: impl Iterator<Item = ItemId>) -> Vec<LogPosition> {
        let logs = lock(&self.logs);
        items.map(|item| logs.get(&item).copied().unwrap_or_default()).collect()
    }

    /// All of them; those of items that do not exist any more are forgotten.
    pub(crate) fn all(&self, exists: impl Fn(ItemId) -> bool) -> Vec<(ItemId, LogPosition)> {
        let mut positions = lock(&self.logs);
        positions.retain(|item, _| exists(*item));
        positions.iter().map(|(id, position)| (*id, *position)).collect()
    }

    /// The host is deleted.
    pub fn forget(&self, host: &Host) {
        let mut positions = lock(&self.logs);
        if !positions.is_empty() {
            for item in &host.items {
                positions.remove(&item.id);
            }
        }
    }

    /// How far the traps of the trap file are kept.
    pub fn trap_file(&self) -> Option<TrapPosition> {
        *lock(&self.trap_file)
    }

    /// The traps before this position are kept.
    pub fn set_trap_file(&self, position: TrapPosition) {
        *lock(&self.trap_file) = Some(position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_deleted_items_are_forgotten() {
        let positions = Positions::default();
        for item in 1..=3 {
            positions.set(ItemId(item), LogPosition { lastlogsize: item, mtime: 0 });
        }
        let mut left = positions.all(|item| item != ItemId(2));
        left.sort_unstable_by_key(|(item, _)| *item);
        let ids: Vec<u64> = left.iter().map(|(item, _)| item.0).collect();
        assert_eq!(ids, [1, 3]);
        assert_eq!(positions.of(ItemId(2)), None);
    }
}
