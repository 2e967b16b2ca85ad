//! Which problems are open, by trigger.

use config::db::{DbResult, Reader};
use const_format::formatcp;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use model::{EventId, TriggerId};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};

/// Open problems of each trigger that has any, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Open {
    by_trigger: HashMap<TriggerId, Vec<EventId>, FixedState>,
    len: usize,
}

impl Open {
    /// From the rows of the `problems` table.
    pub(crate) fn load(connection: &mut dyn Reader) -> DbResult<Self> {
        let rows = connection.query(
            formatcp!(
                "SELECT eventid, objectid FROM problems \
                 WHERE r_eventid = 0 AND source = {SOURCE_TRIGGER} AND object = {OBJECT_TRIGGER} \
                 ORDER BY eventid"
            ),
            &[],
        )?;
        let mut open = Self::default();
        for row in &rows {
            open.add(TriggerId(row.id("objectid")), EventId(row.id("eventid")));
        }
        Ok(open)
    }

    pub(crate) fn add(&mut self, trigger: TriggerId, event: EventId) {
        self.by_trigger.entry(trigger).or_default().push(event);
        self.len += 1;
    }

    /// Returns whether the problem was open.
    pub(crate) fn remove(&mut self, trigger: TriggerId, event: EventId) -> bool {
        let Some(events) = self.by_trigger.get_mut(&trigger) else { return false };
        let before = events.len();
        events.retain(|open| *open != event);
        let removed = events.len() < before;
        self.len -= usize::from(removed);
        if events.is_empty() {
            self.by_trigger.remove(&trigger);
        }
        removed
    }

    pub(crate) fn of(&self, trigger: TriggerId) -> &[EventId] {
        self.by_trigger.get(&trigger).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn triggers(&self) -> impl Iterator<Item = TriggerId> {
        self.by_trigger.keys().copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}
