//! Triggers of discovered rows.

use crate::table;
use objects::Origin;
use std::collections::{BTreeMap, HashMap};

use eval::expr::Expression;

use super::errors::{Deed, Step};
use super::item_check::NAME_CHARS_MAX;
use super::items::Found;
use super::lost::{self, Known, Mark};
use super::overrides::TRIGGER;
use super::rule::{self, TriggerPrototype};
use super::slot::Slot;
use super::substitute::Substitution;
use super::window::Window;
use super::{Stage, Stop, Work};
use crate::Edit;
use crate::db::{DbResult, Reader, Value, query_by_ids};
use crate::link::LinkError;
use crate::objects::{
    Columns, NewTrigger, Tag, TriggerChange, TriggerFunction, create_triggers, replace_ids,
    update_triggers,
};

/// What a trigger should be.
struct Wanted {
    columns: Columns,
    description: String,
    status: i64,
    expression: String,
    recovery: String,
    functions: Vec<TriggerFunction>,
    tags: Vec<Tag>,
}

/// A change of an existing trigger, dependencies aside.
type Change = TriggerChange;

/// Makes and changes triggers.
pub(super) fn discover(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    window: &Window<'_>,
    items: &Found,
) -> Result<(), Stop> {
    let rule = work.rule;
    let parents: HashMap<u64, usize> =
        rule.triggers.iter().map(|prototype| prototype.row.id("triggerid")).zip(0..).collect();
    let existing = load(stage.connection(), window)?;
    // Which existing trigger stands for which prototype in which row.
    let mut by_slot: HashMap<Slot, usize> = HashMap::new();
    for (index, one) in existing.iter().enumerate() {
        let row = one.functions.iter().find_map(|(_, f)| items.place(f.itemid));
        let prototype = parents.get(&one.row.id("d_parent")).copied();
        if let (Some(row), Some(prototype)) = (row, prototype) {
            by_slot.insert(Slot { prototype, row }, index);
        }
    }
    let (mut found, mut creates, mut updates) = (vec![], vec![], vec![]);
    let mut ids: HashMap<Slot, u64> = HashMap::new();
    work.errors.begin(Step::Triggers(Deed::Compare));
    for (at, prototype) in rule.triggers.iter().enumerate() {
        for row in window.rows.clone() {
            let slot = Slot { prototype: at, row };
            let wanted = match wanted(work, prototype, row, items) {
                Ok(Some(wanted)) => wanted,
                Ok(None) => continue,
                Err(error) => {
                    work.errors.add_of(slot, error);
                    continue;
                }
            };
            if let Some(index) = by_slot.get(&slot) {
                let one = &existing[*index];
                found.push(Known::new(&one.row, "triggerid", true));
                ids.insert(slot, one.row.id("triggerid"));
                updates.extend(difference(one, wanted).map(|change| (slot, change)));
            } else {
                creates.push((slot, wanted));
            }
        }
    }
    if !creates.is_empty() || !updates.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        work.errors.begin(Step::Triggers(Deed::Create));
        create(edit, work, creates, &mut ids)?;
        work.errors.begin(Step::Triggers(Deed::Change));
        update(edit, work, &updates)?;
    }
    depend(stage, work, &parents, &ids, &existing)?;
    lost::TRIGGERS.settle(stage, work, &found)?;
    work.found.triggers.extend(found.iter().map(|one| one.id));
    Ok(())
}

/// Triggers that may be those of the window's rows, as far as they still exist.
fn load(connection: &mut dyn Reader, window: &Window<'_>) -> DbResult<Vec<TriggerPrototype>> {
    let ids = window.index.triggers_of(&window.rows);
    let ids: Vec<u64> = ids.into_iter().filter(|id| !window.found.triggers.contains(id)).collect();
    let sql = format!(
        "SELECT t.*, d.parent_triggerid AS d_parent, {} FROM trigger_discovery d \
         JOIN triggers t ON t.triggerid = d.triggerid WHERE d.triggerid IN ({{ids}})",
        Mark::COLUMNS
    );
    let mut rows = query_by_ids(connection, &sql, &[], &ids)?;
    rows.sort_by_key(|row| row.id("triggerid"));
    rule::complete(connection, rows)
}

/// Columns that a discovered trigger does not take from its prototype.
const OWN: &[&str] = &[
    "triggerid",
    "flags",
    "templateid",
    "uuid",
    "expression",
    "recovery_expression",
    "priority",
    "status",
    "discover",
];

fn wanted(
    work: &Work<'_>,
    prototype: &TriggerPrototype,
    place_at: usize,
    items: &Found,
) -> Result<Option<Wanted>, String> {
    let place = &work.rows[place_at];
    let proto = &prototype.row;
    let row = Substitution::new(&place.row, &work.rule.tz);
    let mut functions = Vec::with_capacity(prototype.functions.len());
    for (_, function) in &prototype.functions {
        let Some(itemid) = items.item(function.itemid, place_at) else { return Ok(None) };
        let parameter = row.expression(&function.parameter);
        functions.push(TriggerFunction { itemid, name: function.name.clone(), parameter });
    }
    let description = row.name(proto.text("description"));
    let (mut discover, mut status) = (proto.int("discover"), proto.int("status"));
    let mut priority = proto.int("priority");
    let mut tags = prototype.tags.clone();
    for operation in work.rule.operations(place, TRIGGER, &description)? {
        discover = operation.discover.unwrap_or(discover);
        status = operation.status.unwrap_or(status);
        priority = operation.severity.unwrap_or(priority);
        tags.extend(operation.tags.iter().cloned());
    }
    if discover == 1 {
        return Ok(None);
    }
    if description.is_empty() || description.chars().count() > NAME_CHARS_MAX {
        return Err(cannot(&description, "a name has 1 to 255 characters"));
    }
    let placed = |column: &str| -> Result<String, String> {
        let text = replace_ids(proto.text(column), &mut |id| {
            let at = prototype.functions.iter().position(|(known, _)| *known == id);
            at.map_or_else(|| format!("{{{id}}}"), |at| format!("{{{at}}}"))
        });
        let text = row.expression(&text);
        if !text.is_empty() {
            Expression::parse(&text).map_err(|error| {
                let from = text.get(error.at..).unwrap_or_default();
                cannot(&description, format_args!("invalid expression starting from \"{from}\""))
            })?;
        }
        Ok(text)
    };
    let (expression, recovery) = (placed("expression")?, placed("recovery_expression")?);
    let mut columns: Columns = vec![("priority", Value::from(priority))];
    for table_column in table::TRIGGERS.columns {
        let name = table_column.name;
        if OWN.contains(&name) {
            continue;
        }
        let value = match proto.get(name) {
            Some(Value::Text(text)) => row.name(text).into(),
            Some(value) => value.clone(),
            None => table_column.default_value(),
        };
        columns.push((name, value));
    }
    let tags = row.tags(&tags);
    Ok(Some(Wanted { columns, description, status, expression, recovery, functions, tags }))
}

fn cannot(description: &str, why: impl std::fmt::Display) -> String {
    format!("Cannot make trigger \"{description}\": {why}.")
}

fn difference(one: &TriggerPrototype, wanted: Wanted) -> Option<Change> {
    let columns: Columns = wanted
        .columns
        .into_iter()
        .filter(|(name, value)| one.row.get(name) != Some(value))
        .collect();
    let now = |column: &str| {
        replace_ids(one.row.text(column), &mut |id| {
            let function = one.functions.iter().find(|(known, _)| *known == id);
            function.map_or_else(String::new, |(_, function)| function.written())
        })
    };
    let then = |text: &str| {
        replace_ids(text, &mut |at| {
            let function = usize::try_from(at).ok().and_then(|at| wanted.functions.get(at));
            function.map_or_else(String::new, TriggerFunction::written)
        })
    };
    let same = now("expression") == then(&wanted.expression)
        && now("recovery_expression") == then(&wanted.recovery);
    let expressions = (!same).then_some((wanted.expression, wanted.recovery, wanted.functions));
    let tags = (one.tags != wanted.tags).then_some(wanted.tags);
    if columns.is_empty() && expressions.is_none() && tags.is_none() {
        return None;
    }
    let id = one.row.id("triggerid");
    Some(TriggerChange { id, columns, expressions, tags, depends_on: None })
}

/// Creates triggers; `ids` gets their ids.
fn create(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    creates: Vec<(Slot, Wanted)>,
    ids: &mut HashMap<Slot, u64>,
) -> DbResult<()> {
    let mut slots = Vec::with_capacity(creates.len());
    let mut news = Vec::with_capacity(creates.len());
    for (slot, wanted) in creates {
        let mut columns = wanted.columns;
        columns.push(("flags", Value::from(Origin::Discovered.number())));
        columns.push(("status", Value::from(wanted.status)));
        slots.push((slot, wanted.description));
        news.push(NewTrigger {
            columns,
            expression: wanted.expression,
            recovery: wanted.recovery,
            functions: wanted.functions,
            tags: wanted.tags,
            depends_on: Vec::new(),
        });
    }
    let mut made: Vec<(Slot, u64)> = Vec::with_capacity(news.len());
    match create_triggers(edit, &news) {
        Ok(new) => made.extend(slots.iter().map(|(slot, _)| *slot).zip(new)),
        Err(LinkError::Db(error)) => return Err(error),
        // Refused before anything was written: the others are made one by one.
        Err(LinkError::Conflict(_)) => {
            for ((slot, description), new) in slots.iter().zip(&news) {
                match create_triggers(edit, std::slice::from_ref(new)) {
                    Ok(new) => made.extend(new.first().map(|id| (*slot, *id))),
                    Err(LinkError::Db(error)) => return Err(error),
                    Err(LinkError::Conflict(_)) => {
                        let error = cannot(description, "the host has the same trigger");
                        work.errors.add_of(*slot, error);
                    }
                }
            }
        }
    }
    work.summary.created.triggers += made.len();
    let rows: Vec<Vec<Value>> = made
        .iter()
        .map(|(slot, id)| {
            let parent = work.rule.triggers[slot.prototype].row.id("triggerid");
            vec![Value::from(*id), parent.into(), work.clock_s.into()]
        })
        .collect();
    ids.extend(made);
    edit.insert_many(
        &table::TRIGGER_DISCOVERY,
        &["triggerid", "parent_triggerid", "lastcheck"],
        &rows,
    )
}

fn update(edit: &mut Edit<'_>, work: &mut Work<'_>, updates: &[(Slot, Change)]) -> DbResult<()> {
    for (slot, change) in updates {
        match update_triggers(edit, std::slice::from_ref(change)) {
            Ok(()) => work.summary.updated.triggers += 1,
            Err(LinkError::Db(error)) => return Err(error),
            Err(LinkError::Conflict(text)) => work.errors.add_of(*slot, text),
        }
    }
    Ok(())
}

/// Dependencies as the prototypes have them: on the trigger of the same row where they are on
/// another prototype, on the same trigger where they are on a plain one.
fn depend(
    stage: &mut Stage<'_, '_>,
    work: &Work<'_>,
    parents: &HashMap<u64, usize>,
    ids: &HashMap<Slot, u64>,
    existing: &[TriggerPrototype],
) -> Result<(), Stop> {
    let now: HashMap<u64, &[u64]> =
        existing.iter().map(|one| (one.row.id("triggerid"), &*one.depends_on)).collect();
    let mut changed: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (slot, id) in ids {
        let mut wanted: Vec<u64> = work.rule.triggers[slot.prototype]
            .depends_on
            .iter()
            .filter_map(|on| match parents.get(on) {
                Some(prototype) => ids.get(&Slot { prototype: *prototype, ..*slot }).copied(),
                None => Some(*on),
            })
            .collect();
        wanted.sort_unstable();
        if now.get(id).copied().unwrap_or_default() != wanted {
            changed.insert(*id, wanted);
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
    let triggers: Vec<u64> = changed.keys().copied().collect();
    edit.delete(&table::TRIGGER_DEPENDS, "triggerid", &triggers)?;
    let rows: Vec<Vec<Value>> = changed
        .iter()
        .flat_map(|(id, on)| on.iter().map(|on| vec![Value::from(*id), Value::from(*on)]))
        .collect();
    edit.insert_many(&table::TRIGGER_DEPENDS, &["triggerid", "depends_on"], &rows)?;
    Ok(())
}
