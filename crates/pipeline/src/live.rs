//! Notes for live pages: which items got values, at most a few times a second.

use std::sync::Arc;
use std::time::Duration;

use model::ItemId;
use tokio::sync::broadcast;

/// Shortest time between two notes.
const EVERY: Duration = Duration::from_millis(200);

/// Items per note; a fuller one goes out early.
const ITEMS_MAX: usize = 65_536;

/// A note: each item once, in order of ids.
pub type LiveNote = Arc<[ItemId]>;

/// Collects the items of a note. Does nothing while nobody listens.
#[derive(Debug)]
pub(crate) struct Live {
    to: Option<broadcast::Sender<LiveNote>>,
    items: Vec<ItemId>,
    next: Duration,
}

impl Live {
    pub(crate) fn new(to: Option<broadcast::Sender<LiveNote>>) -> Self {
        Self { to, items: Vec::new(), next: Duration::ZERO }
    }

    /// Whether anybody would read a note: asked once per round.
    pub(crate) fn listened(&self) -> bool {
        self.to.as_ref().is_some_and(|to| to.receiver_count() > 0)
    }

    pub(crate) fn got(&mut self, item: ItemId) {
        self.items.push(item);
        if self.items.len() >= ITEMS_MAX {
            self.items.sort_unstable();
            self.items.dedup();
            if self.items.len() >= ITEMS_MAX / 2 {
                self.send();
            }
        }
    }

    /// Sends the note if it is time; `now` is monotonic.
    pub(crate) fn tick(&mut self, now: Duration) {
        if now >= self.next && !self.items.is_empty() {
            self.next = now + EVERY;
            self.items.sort_unstable();
            self.items.dedup();
            self.send();
        }
    }

    fn send(&mut self) {
        let note: LiveNote = self.items.drain(..).collect();
        self.items.shrink_to(1024);
        if let Some(to) = &self.to {
            // An error only says that the last listener left meanwhile.
            drop(to.send(note));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_rare_and_name_each_item_once() {
        let (tx, mut rx) = broadcast::channel(8);
        let mut live = Live::new(Some(tx));
        assert!(live.listened());
        for id in [3, 1, 3] {
            live.got(ItemId(id));
        }
        live.tick(Duration::from_millis(1000));
        live.got(ItemId(2));
        live.tick(Duration::from_millis(1100));
        assert_eq!(&*rx.try_recv().unwrap(), [ItemId(1), ItemId(3)]);
        assert!(rx.try_recv().is_err());
        live.tick(Duration::from_millis(1200));
        assert_eq!(&*rx.try_recv().unwrap(), [ItemId(2)]);
    }

    #[test]
    fn values_are_not_published_without_a_subscriber() {
        assert!(!Live::new(None).listened());
    }
}
