//! When values of active agents are expected, so that missing ones show in the queue.
//!
//! The agent has its own schedule: a value is expected a delay after the one before, or after the
//! server first knew of the item. Items that give values only when something happens (log files)
//! are never late.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use config::Snapshot;
use config::snapshot::{Item, ItemType};
use model::{HostId, ItemId};

use crate::queue::{Late, QueueReport, Reason};

/// Items whose values come when something happens; the field leaves them out of its queue.
const SELDOM: [&str; 4] = ["log[", "logrt[", "eventlog[", "mqtt.get["];

#[derive(Debug)]
struct Expected {
    host: HostId,
    delay_s: u32,
    /// Time of the newest value, else when the item came; seconds since 1970.
    since: AtomicU32,
}

#[derive(Debug, Default)]
struct Table {
    revision: Option<u64>,
    items: HashMap<ItemId, Arc<Expected>>,
}

/// All items of active agents that are expected to give values regularly.
#[derive(Debug, Default)]
pub struct ExpectedValues(RwLock<Table>);

impl ExpectedValues {
    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Values of these items came, measured at these seconds.
    pub fn hear_all(&self, values: Vec<(ItemId, u32)>) {
        let table = self.read();
        for (item, at_s) in values {
            if let Some(expected) = table.items.get(&item) {
                expected.since.store(at_s, Ordering::Relaxed);
            }
        }
    }

    /// Takes in a changed configuration; items that stay keep their time.
    fn follow(&self, snapshot: &Snapshot, now_s: u32) {
        let items = {
            let old = self.read();
            if old.revision == Some(snapshot.revision) {
                return;
            }
            let entry = |item: &Arc<Item>| {
                let delay_s = delay_s(item)?;
                let known = old.items.get(&item.id).filter(|known| known.delay_s == delay_s);
                let expected = known.map_or_else(
                    || Arc::new(Expected { host: item.host, delay_s, since: now_s.into() }),
                    Arc::clone,
                );
                Some((item.id, expected))
            };
            let hosts = &snapshot.hosts;
            let collected =
                |item: &&Arc<Item>| hosts.get(&item.host).is_some_and(|h| h.collects_itself(item));
            snapshot.items.values().filter(collected).filter_map(entry).collect()
        };
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let old =
            std::mem::replace(&mut *table, Table { revision: Some(snapshot.revision), items });
        // Freeing a large one takes its time: not while others wait.
        drop(table);
        drop(old);
    }

    /// Adds to a report what is late at `now_s`, with about `limit` details.
    pub fn report(&self, snapshot: &Snapshot, now_s: u32, limit: usize, report: &mut QueueReport) {
        self.follow(snapshot, now_s);
        let table = self.read();
        for (item, expected) in &table.items {
            let due = expected.since.load(Ordering::Relaxed).saturating_add(expected.delay_s);
            let late = Late {
                item: *item,
                host: expected.host,
                kind: ItemType::AgentActive,
                due,
                late_s: now_s.saturating_sub(due),
                reason: Reason::NotSent,
            };
            report.add_if_late(late, limit);
        }
    }
}

/// `None` = no values are expected of the item.
fn delay_s(item: &Item) -> Option<u32> {
    let regular = item.kind == ItemType::AgentActive
        && item.enabled
        && item.invalid.is_none()
        && !SELDOM.iter().any(|start| item.key.starts_with(start));
    // Seen from zero the next check is one delay away; none where only scheduling intervals are.
    let next = |interval: &Arc<eval::interval::UpdateInterval>| {
        interval.next_check(0, true, 0, &jiff::tz::TimeZone::UTC)
    };
    if regular { item.interval.as_ref().and_then(next) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host, item, snapshot};

    fn active(id: u64, key: &str, delay: &str) -> Item {
        let interval = Arc::new(eval::interval::UpdateInterval::parse(delay).unwrap());
        let mut item = item(id);
        item.kind = ItemType::AgentActive;
        item.key = key.into();
        item.interval = Some(interval);
        item
    }

    /// Late items and when they were due.
    fn late(expected: &ExpectedValues, snapshot: &Snapshot, now_s: u32) -> Vec<(u64, u32)> {
        let mut report = QueueReport::default();
        expected.report(snapshot, now_s, 10, &mut report);
        report.limit(99);
        assert_eq!(report.total, report.details.len() as u64);
        report.details.iter().map(|late| (late.item.0, late.due)).collect()
    }

    #[test]
    fn silence_is_noticed() {
        let mut off = active(6, "off", "10s");
        off.enabled = false;
        let items = vec![
            active(1, "a", "10s"),
            active(2, "b", "20s"),
            active(3, "log[/x]", "10s"),
            active(4, "log.count[/x]", "10s"),
            active(5, "flexible", "0;10s/1-7,00:00-24:00"),
            off,
            item(7),
        ];
        let before = snapshot(1, vec![host(1, items).into()]);
        let expected = ExpectedValues::default();
        assert_eq!(late(&expected, &before, 1000), []);
        assert_eq!(late(&expected, &before, 1014), []);
        assert_eq!(late(&expected, &before, 1015), [(1, 1010), (4, 1010)]);
        expected.hear_all(vec![(ItemId(1), 1016), (ItemId(99), 1016)]);
        assert_eq!(late(&expected, &before, 1025), [(4, 1010), (2, 1020)]);
        assert_eq!(late(&expected, &before, 1031), [(4, 1010), (2, 1020), (1, 1026)]);
        // A changed delay starts over, the others stay as they are.
        let items = vec![active(1, "a", "10s"), active(2, "b", "30s")];
        let after = snapshot(2, vec![host(1, items).into()]);
        assert_eq!(late(&expected, &after, 1031), [(1, 1026)]);
        assert_eq!(late(&expected, &after, 1066), [(1, 1026), (2, 1061)]);
    }
}
