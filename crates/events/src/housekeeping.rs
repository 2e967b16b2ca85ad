//! What is removed in the end: problems of deleted triggers, old recovered problems, old events.

use config::table;
use std::collections::BTreeSet;

use config::Statements;
use config::db::{DbError, DbResult, query_by_ids};
use model::{EventId, EventOrigin, ItemId, ProblemChange, TriggerId, TriggerState};
use objects::{EventObject, EventSource};

use crate::effect::Effect;
use crate::open::Open;
use crate::problems::Problems;

/// How long a recovered problem stays in the list of problems, seconds; its events stay longer.
const RECOVERED_KEPT_S: u64 = 24 * 3600;

/// Rows per statement, so that a transaction stays short.
const PORTION: i64 = 5_000;

impl Problems {
    /// Removes the open problems of these triggers, which were deleted: nothing could ever recover them.
    pub fn remove_of(&self, triggers: &[TriggerId]) -> DbResult<()> {
        self.transaction(|edit, open| {
            let mut effects = Vec::new();
            for trigger in triggers {
                if open.of(*trigger).is_empty() {
                    continue;
                }
                remove_all(edit, open, *trigger, &mut effects)?;
            }
            let internal = triggers.iter().map(|trigger| EventOrigin::InternalTrigger(*trigger));
            remove_internal(edit, open, internal)?;
            Ok::<_, DbError>(effects)
        })
    }

    /// Removes the open internal problems of these items, which were deleted.
    pub fn remove_of_items(&self, items: &[ItemId]) -> DbResult<()> {
        self.transaction(|edit, open| {
            let rules = items.iter().map(|item| EventOrigin::InternalLldRule(*item));
            let items = items.iter().map(|item| EventOrigin::InternalItem(*item));
            remove_internal(edit, open, items.chain(rules))?;
            Ok::<_, DbError>(Vec::new())
        })
    }

    /// Removes the alerts and escalations of these actions, which were deleted, in short transactions.
    pub fn remove_alerts_of(&self, actions: &[u64]) -> DbResult<()> {
        let escalations =
            |state: &mut Statements<'_>| state.delete(&table::ESCALATIONS, "actionid", actions);
        self.config().write_state(escalations)?;
        self.remove_alerts("actionid", actions)
    }

    /// Removes the alerts to these users, who were deleted, in short transactions.
    pub fn remove_alerts_to(&self, users: &[u64]) -> DbResult<()> {
        self.remove_alerts("userid", users)
    }

    fn remove_alerts(&self, column: &str, ids: &[u64]) -> DbResult<()> {
        let sql = format!(
            "DELETE FROM alerts WHERE alertid IN (SELECT alertid FROM alerts WHERE {column} = ? LIMIT ?)"
        );
        for id in ids {
            let portion =
                |state: &mut Statements<'_>| state.execute(&sql, &[(*id).into(), PORTION.into()]);
            while self.config().write_state(portion)? > 0 {}
        }
        Ok(())
    }

    /// Removes open problems whose object no longer exists. To be called now and then: a crash may come
    /// between the deletion of a trigger and [`Problems::remove_of`].
    pub fn remove_orphans(&self) -> DbResult<()> {
        self.transaction(|edit, open| {
            let ids: Vec<u64> = open.triggers().map(|trigger| trigger.0).collect();
            let sql = "SELECT triggerid FROM triggers WHERE triggerid IN ({ids})";
            let rows = query_by_ids(edit, sql, &[], &ids)?;
            let known: BTreeSet<u64> = rows.iter().map(|row| row.id("triggerid")).collect();
            let mut effects = Vec::new();
            for id in ids.into_iter().filter(|id| !known.contains(id)) {
                remove_all(edit, open, TriggerId(id), &mut effects)?;
            }
            remove_internal_orphans(edit, open)?;
            Ok::<_, DbError>(effects)
        })
    }

    /// Removes problems that recovered a day ago, escalations of problems that no longer exist, states of deleted triggers,
    /// and events that are older than the settings say, unless their problem is still in the list. Returns the number of
    /// events removed.
    pub fn housekeep(&self) -> DbResult<u64> {
        let now = self.clock().unix_s();
        let recovered_before = now.saturating_sub(RECOVERED_KEPT_S);
        self.transaction(|edit, _| {
            edit.execute(
                "DELETE FROM problems WHERE r_clock > 0 AND r_clock < ?",
                &[recovered_before.into()],
            )?;
            // Those whose problem was removed without them.
            edit.execute(
                "DELETE FROM escalations WHERE NOT EXISTS \
                 (SELECT 1 FROM problems p WHERE p.eventid = escalations.eventid) AND EXISTS \
                 (SELECT 1 FROM events e WHERE e.eventid = escalations.eventid AND e.r_eventid = 0)",
                &[],
            )?;
            edit.execute(
                "DELETE FROM trigger_states WHERE NOT EXISTS \
                 (SELECT 1 FROM triggers t WHERE t.triggerid = trigger_states.triggerid)",
                &[],
            )?;
            Ok::<_, DbError>(Vec::new())
        })?;
        let retention = self.config().snapshot().settings.retention;
        let mut removed = 0;
        for source in EventSource::ALL {
            let Some(kept_s) = retention.of_events(*source) else { continue };
            for object in source.objects() {
                removed += self.remove_events(*source, *object, now.saturating_sub(kept_s))?;
            }
        }
        Ok(removed)
    }

    /// Removes the events of a source about one kind of object that are older than `before`, seconds since 1970.
    fn remove_events(
        &self,
        source: EventSource,
        object: EventObject,
        before: u64,
    ) -> DbResult<u64> {
        let newest =
            "SELECT eventid FROM events WHERE clock < ? ORDER BY clock DESC, eventid DESC LIMIT 1";
        let rows = self.config().read(|state| state.query(newest, &[before.into()]))?;
        // Ids grow with time: younger events are not read. One with a greater id and an earlier time goes later.
        let Some(newest) = rows.first().map(|row| row.id("eventid")) else { return Ok(0) };
        let sql = "DELETE FROM events WHERE eventid IN (SELECT e.eventid FROM events e \
                   LEFT JOIN problems p ON p.eventid = e.eventid \
                   WHERE e.source = ? AND e.object = ? AND e.eventid <= ? AND e.clock < ? \
                   AND p.eventid IS NULL LIMIT ?)";
        let which = [
            (source as u8).into(),
            (object as u8).into(),
            newest.into(),
            before.into(),
            PORTION.into(),
        ];
        let mut removed = 0;
        loop {
            let mut portion = 0;
            self.transaction(|edit, _| {
                portion = edit.execute(sql, &which)?;
                Ok::<_, DbError>(Vec::new())
            })?;
            removed += portion;
            if portion == 0 {
                return Ok(removed);
            }
        }
    }
}

fn remove_all(
    edit: &mut Statements<'_>,
    open: &mut Open,
    trigger: TriggerId,
    effects: &mut Vec<Effect>,
) -> DbResult<()> {
    let events: Vec<EventId> = open.of(trigger).to_vec();
    let ids: Vec<u64> = events.iter().map(|event| event.0).collect();
    remove_problems(edit, &ids)?;
    for event in events {
        open.remove(trigger, event);
        let change = ProblemChange { event, trigger, state: TriggerState::Ok };
        effects.push(Effect::Problem(change));
    }
    Ok(())
}

fn remove_internal(
    edit: &mut Statements<'_>,
    open: &mut Open,
    origins: impl Iterator<Item = EventOrigin>,
) -> DbResult<()> {
    let gone: Vec<u64> =
        origins.filter_map(|origin| open.end_internal(origin)).map(|id| id.0).collect();
    remove_problems(edit, &gone)
}

/// With their escalations: no event will end them.
fn remove_problems(edit: &mut Statements<'_>, ids: &[u64]) -> DbResult<()> {
    edit.delete(&table::PROBLEMS, "eventid", ids)?;
    edit.delete(&table::ESCALATIONS, "eventid", ids)
}

fn remove_internal_orphans(edit: &mut Statements<'_>, open: &mut Open) -> DbResult<()> {
    let origins: Vec<EventOrigin> = open.internal_origins().collect();
    let mut known = BTreeSet::new();
    for (is_trigger, sql) in [
        (true, "SELECT triggerid AS id FROM triggers WHERE triggerid IN ({ids})"),
        (false, "SELECT itemid AS id FROM items WHERE itemid IN ({ids})"),
    ] {
        let own = origins.iter().filter(|one| is_of_trigger(**one) == is_trigger);
        let ids: Vec<u64> = own.map(|origin| origin.object_id()).collect();
        let rows = query_by_ids(edit, sql, &[], &ids)?;
        known.extend(rows.iter().map(|row| (is_trigger, row.id("id"))));
    }
    let gone = origins.iter().copied();
    let gone = gone.filter(|origin| !known.contains(&(is_of_trigger(*origin), origin.object_id())));
    remove_internal(edit, open, gone)
}

const fn is_of_trigger(origin: EventOrigin) -> bool {
    matches!(origin, EventOrigin::InternalTrigger(_))
}
