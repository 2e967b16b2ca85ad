//! Which problems are open: of triggers, and internal ones.

use config::db::{DbResult, Reader};
use config::{Snapshot, Statements};
use const_format::formatcp;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use model::{EventId, EventOrigin, ItemId, TriggerId};
use objects::EventObject;
use objects::sql::{OBJECT_TRIGGER, SOURCE_INTERNAL, SOURCE_TRIGGER};

use crate::rules::index::ByTrigger;
use crate::rules::known::Correlation;

/// The open problems.
#[derive(Debug, Default)]
pub(crate) struct Open {
    by_trigger: ByTrigger,
    /// Of items and discovery rules that are not supported, and triggers that are unknown.
    internal: HashMap<EventOrigin, EventId, FixedState>,
    /// What correlation rules need to know of the problems of triggers.
    pub(crate) correlation: Correlation,
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
        let rows = connection.query(
            formatcp!(
                "SELECT eventid, object, objectid FROM problems \
                 WHERE r_eventid = 0 AND source = {SOURCE_INTERNAL}"
            ),
            &[],
        )?;
        for row in &rows {
            let id = row.id("objectid");
            let origin = match EventObject::from_number(row.int("object")) {
                Some(EventObject::Trigger) => EventOrigin::InternalTrigger(TriggerId(id)),
                Some(EventObject::Item) => EventOrigin::InternalItem(ItemId(id)),
                Some(EventObject::LldRule) => EventOrigin::InternalLldRule(ItemId(id)),
                _ => continue,
            };
            open.internal.insert(origin, EventId(row.id("eventid")));
        }
        Ok(open)
    }

    /// Reads what correlation rules need, before the events of a transaction are written.
    pub(crate) fn prepare_correlation(
        &mut self,
        edit: &mut Statements<'_>,
        snapshot: &Snapshot,
    ) -> DbResult<()> {
        self.correlation.prepare(edit, snapshot, &self.by_trigger)
    }

    pub(crate) fn add(&mut self, trigger: TriggerId, event: EventId) {
        self.by_trigger.entry(trigger).or_default().push(event);
        self.len += 1;
    }

    /// Returns whether the problem was open.
    pub(crate) fn remove(&mut self, trigger: TriggerId, event: EventId) -> bool {
        self.correlation.forget(event);
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

    /// The internal problem of an object.
    pub(crate) fn internal(&self, origin: EventOrigin) -> Option<EventId> {
        self.internal.get(&origin).copied()
    }

    pub(crate) fn set_internal(&mut self, origin: EventOrigin, event: EventId) {
        self.internal.insert(origin, event);
    }

    pub(crate) fn end_internal(&mut self, origin: EventOrigin) -> Option<EventId> {
        self.internal.remove(&origin)
    }

    /// Objects with an internal problem.
    pub(crate) fn internal_origins(&self) -> impl Iterator<Item = EventOrigin> {
        self.internal.keys().copied()
    }

    /// Open problems of triggers.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}
