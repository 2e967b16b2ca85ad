//! Internal events: items and discovery rules that become unsupported, triggers that become unknown, and both again
//! in order. They are made while an internal action is enabled; the end of an internal problem is always written.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, query_by_ids};
use config::{Config, Snapshot, Statements};
use const_format::formatcp;
use model::{EventOrigin, ItemId, Timestamp, TriggerFinding, TriggerId};
use objects::sql::{SOURCE_INTERNAL, STATE_NOT_SUPPORTED};
use objects::{EventObject, EventSource};

use crate::effect::Effect;
use crate::open::Open;
use crate::rows::{self, ERROR_CHARS_MAX, NewRow, Why};

type Tags = Vec<(String, String)>;

/// The origin of internal events of an item or a discovery rule.
pub(crate) fn origin_of(item: ItemId, is_rule: bool) -> EventOrigin {
    if is_rule { EventOrigin::InternalLldRule(item) } else { EventOrigin::InternalItem(item) }
}

/// An object that may have changed its state.
pub(crate) struct Transition<'a> {
    origin: EventOrigin,
    at: Timestamp,
    /// Empty = it is in order.
    error: &'a str,
    tags: Tags,
}

impl<'a> Transition<'a> {
    /// Events of items have the tags of the item and its host, those of discovery rules have none.
    pub(crate) fn of_item(
        snapshot: &Snapshot,
        item: ItemId,
        is_rule: bool,
        at: Timestamp,
        error: &'a str,
    ) -> Self {
        let known = snapshot.items.get(&item).filter(|_| !is_rule);
        let own = known.iter().flat_map(|item| item.extra.iter()).flat_map(|extra| &extra.tags);
        let host = known.and_then(|item| snapshot.hosts.get(&item.host));
        let of_host = host.iter().flat_map(|host| &host.tags);
        let mut seen = BTreeSet::new();
        let new = own.chain(of_host).filter(|tag| seen.insert((*tag).clone()));
        let tags = new.map(|(tag, value)| (tag.to_string(), value.to_string())).collect();
        Self { origin: origin_of(item, is_rule), at, error, tags }
    }

    /// A trigger's tags come with the finding, with their macros resolved.
    pub(crate) fn of_trigger(
        trigger: TriggerId,
        at: Timestamp,
        error: &'a str,
        tags: &[(String, String)],
    ) -> Self {
        Self { origin: EventOrigin::InternalTrigger(trigger), at, error, tags: tags.to_vec() }
    }
}

/// What a batch needs to know to write internal events.
pub(crate) struct Internal {
    is_wanted: bool,
    /// Which triggers are unknown before the finding at hand.
    unknown: BTreeMap<TriggerId, bool>,
}

impl Internal {
    pub(crate) fn read(
        edit: &mut Statements<'_>,
        snapshot: &Snapshot,
        findings: &[TriggerFinding],
    ) -> DbResult<Self> {
        let mut unknown = BTreeMap::new();
        if snapshot.internal_actions {
            let of_state = |finding: &TriggerFinding| match finding {
                TriggerFinding::State { trigger, .. } => Some(trigger.0),
                _ => None,
            };
            let ids = BTreeSet::from_iter(findings.iter().filter_map(of_state));
            let sql = formatcp!(
                "SELECT triggerid FROM trigger_states \
                 WHERE state = {STATE_NOT_SUPPORTED} AND triggerid IN ({{ids}})"
            );
            let rows = query_by_ids(edit, sql, &[], &Vec::from_iter(ids))?;
            unknown.extend(rows.iter().map(|row| (TriggerId(row.id("triggerid")), true)));
        }
        Ok(Self { is_wanted: snapshot.internal_actions, unknown })
    }

    /// Writes the event of a change; another error of the same state is no change.
    pub(crate) fn write(
        &mut self,
        edit: &mut Statements<'_>,
        open: &mut Open,
        transition: &Transition<'_>,
        effects: &mut Vec<Effect>,
    ) -> DbResult<()> {
        let Transition { origin, at, error, tags } = transition;
        let is_problem = !error.is_empty();
        if let EventOrigin::InternalTrigger(trigger) = *origin {
            let before = self.unknown.insert(trigger, is_problem).unwrap_or(false);
            if before == is_problem && self.is_wanted {
                return Ok(());
            }
        }
        let problem = open.internal(*origin);
        let is_known = is_problem && problem.is_some();
        if is_known || (!self.is_wanted && (is_problem || problem.is_none())) {
            return Ok(());
        }
        let mut tags = tags.clone();
        if let Some(problem) = problem.filter(|_| tags.is_empty()) {
            tags = rows::tags_of(edit, problem)?;
        }
        let name: String = error.chars().take(ERROR_CHARS_MAX).collect();
        let (origin, at, why) = (*origin, *at, Why::default());
        let row = NewRow { origin, at, is_problem, name: &name, severity: 0, opdata: "", why };
        let id = rows::insert_event(edit, &row, &tags)?;
        if is_problem {
            rows::insert_problem(edit, id, &row)?;
            open.set_internal(origin, id);
        } else if let Some(problem) = open.end_internal(origin) {
            rows::end_problem(edit, problem, id, at, why)?;
        }
        effects.push(Effect::Event);
        Ok(())
    }
}

/// Items (`is_rule`: discovery rules) with an open internal problem, with their errors: after a crash, what was known of
/// their states may be older.
pub fn not_supported(config: &Config, is_rule: bool) -> DbResult<Vec<(ItemId, Box<str>)>> {
    let sql = formatcp!(
        "SELECT objectid, name FROM problems \
         WHERE r_eventid = 0 AND source = {SOURCE_INTERNAL} AND object = ? ORDER BY eventid"
    );
    let object = if is_rule { EventObject::LldRule } else { EventObject::Item };
    debug_assert!(EventSource::Internal.objects().contains(&object));
    let rows = config.read(|connection| connection.query(sql, &[object.number().into()]))?;
    Ok(rows.iter().map(|row| (ItemId(row.id("objectid")), row.text("name").into())).collect())
}
