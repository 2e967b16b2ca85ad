//! Triggers of discovered rows.

use objects::Origin;
use std::collections::{BTreeMap, HashMap};

use eval::expr::Expression;

use super::item_check::NAME_CHARS_MAX;
use super::items::Found;
use super::lost::{Known, Mark, Tables};
use super::overrides::TRIGGER;
use super::rule::{self, TriggerPrototype};
use super::substitute::Substitution;
use super::{Stage, Stop, Work};
use crate::Edit;
use crate::db::{DbResult, Value, query_by_ids};
use crate::link::LinkError;
use crate::objects::{
    Columns, NewTrigger, Tag, TriggerChange, TriggerFunction, create_triggers, delete_triggers,
    replace_ids, update_triggers,
};
use crate::schema::Table;

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

/// Makes, changes and gives up triggers.
pub(super) fn discover(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    items: &Found,
) -> Result<(), Stop> {
    let parents: HashMap<u64, usize> = work
        .rule
        .triggers
        .iter()
        .enumerate()
        .map(|(at, prototype)| (prototype.row.id("triggerid"), at))
        .collect();
    let existing = load(stage, &parents)?;
    // Which existing trigger stands for which prototype in which row.
    let mut by_place: HashMap<(usize, usize), usize> = HashMap::new();
    for (index, one) in existing.iter().enumerate() {
        let place = one.functions.iter().find_map(|(_, f)| items.place(f.itemid));
        let prototype = parents.get(&one.row.id("d_parent"));
        if let (Some(place), Some(prototype)) = (place, prototype) {
            by_place.insert((*prototype, place), index);
        }
    }
    let (mut found, mut creates, mut updates) = (vec![false; existing.len()], vec![], vec![]);
    let mut ids: HashMap<(usize, usize), u64> = HashMap::new();
    let rule = work.rule;
    for (at, prototype) in rule.triggers.iter().enumerate() {
        for place in 0..work.rows.len() {
            let wanted = match wanted(work, prototype, place, items) {
                Ok(Some(wanted)) => wanted,
                Ok(None) => continue,
                Err(error) => {
                    work.errors.add(error);
                    continue;
                }
            };
            if let Some(index) = by_place.get(&(at, place)) {
                let one = &existing[*index];
                found[*index] = true;
                ids.insert((at, place), one.row.id("triggerid"));
                updates.extend(difference(one, wanted));
            } else {
                creates.push(((at, place), wanted));
            }
        }
    }
    if !creates.is_empty() || !updates.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        create(edit, work, creates, &mut ids)?;
        update(edit, work, &updates)?;
    }
    depend(stage, work, &parents, &ids, &existing)?;
    give_up(stage, work, &existing, &found)
}

fn load(
    stage: &mut Stage<'_, '_>,
    parents: &HashMap<u64, usize>,
) -> DbResult<Vec<TriggerPrototype>> {
    let ids: Vec<u64> = parents.keys().copied().collect();
    let sql = format!(
        "SELECT t.*, d.parent_triggerid AS d_parent, {} FROM trigger_discovery d \
         JOIN triggers t ON t.triggerid = d.triggerid WHERE d.parent_triggerid IN ({{ids}})",
        Mark::COLUMNS
    );
    let mut rows = query_by_ids(stage.connection(), &sql, &[], &ids)?;
    rows.sort_by_key(|row| row.id("triggerid"));
    rule::complete(stage.connection(), rows)
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
    for table_column in Table::named("triggers").columns {
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
    creates: Vec<((usize, usize), Wanted)>,
    ids: &mut HashMap<(usize, usize), u64>,
) -> DbResult<()> {
    let mut places = Vec::with_capacity(creates.len());
    let mut news = Vec::with_capacity(creates.len());
    for (place, wanted) in creates {
        let mut columns = wanted.columns;
        columns.push(("flags", Value::from(Origin::Discovered.number())));
        columns.push(("status", Value::from(wanted.status)));
        places.push((place, wanted.description));
        news.push(NewTrigger {
            columns,
            expression: wanted.expression,
            recovery: wanted.recovery,
            functions: wanted.functions,
            tags: wanted.tags,
            depends_on: Vec::new(),
        });
    }
    let mut made: Vec<((usize, usize), u64)> = Vec::with_capacity(news.len());
    match create_triggers(edit, &news) {
        Ok(new) => made.extend(places.iter().map(|(place, _)| *place).zip(new)),
        Err(LinkError::Db(error)) => return Err(error),
        // Refused before anything was written: the others are made one by one.
        Err(LinkError::Conflict(_)) => {
            for ((place, description), new) in places.iter().zip(&news) {
                match create_triggers(edit, std::slice::from_ref(new)) {
                    Ok(new) => made.extend(new.first().map(|id| (*place, *id))),
                    Err(LinkError::Db(error)) => return Err(error),
                    Err(LinkError::Conflict(_)) => {
                        work.errors.add(cannot(description, "the host has the same trigger"));
                    }
                }
            }
        }
    }
    work.summary.created.triggers += made.len();
    let rows: Vec<Vec<Value>> = made
        .iter()
        .map(|((at, _), id)| {
            let parent = work.rule.triggers[*at].row.id("triggerid");
            vec![Value::from(*id), parent.into(), work.clock_s.into()]
        })
        .collect();
    ids.extend(made);
    edit.insert_many("trigger_discovery", &["triggerid", "parent_triggerid", "lastcheck"], &rows)
}

fn update(edit: &mut Edit<'_>, work: &mut Work<'_>, updates: &[Change]) -> DbResult<()> {
    for change in updates {
        match update_triggers(edit, std::slice::from_ref(change)) {
            Ok(()) => work.summary.updated.triggers += 1,
            Err(LinkError::Db(error)) => return Err(error),
            Err(LinkError::Conflict(text)) => work.errors.add(text),
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
    ids: &HashMap<(usize, usize), u64>,
    existing: &[TriggerPrototype],
) -> Result<(), Stop> {
    let now: HashMap<u64, &[u64]> =
        existing.iter().map(|one| (one.row.id("triggerid"), &*one.depends_on)).collect();
    let mut changed: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for ((at, place), id) in ids {
        let mut wanted: Vec<u64> = work.rule.triggers[*at]
            .depends_on
            .iter()
            .filter_map(|on| match parents.get(on) {
                Some(prototype) => ids.get(&(*prototype, *place)).copied(),
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
    edit.delete("trigger_depends", "triggerid", &triggers)?;
    let rows: Vec<Vec<Value>> = changed
        .iter()
        .flat_map(|(id, on)| on.iter().map(|on| vec![Value::from(*id), Value::from(*on)]))
        .collect();
    edit.insert_many("trigger_depends", &["triggerid", "depends_on"], &rows)?;
    Ok(())
}

fn give_up(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    existing: &[TriggerPrototype],
    found: &[bool],
) -> Result<(), Stop> {
    let known: Vec<Known> = existing
        .iter()
        .zip(found)
        .map(|(one, found)| Known {
            id: one.row.id("triggerid"),
            found: *found,
            mark: Mark::from_row(&one.row),
            status: one.row.int("status"),
        })
        .collect();
    let fates = work.fates(&known);
    let tables = Tables { objects: "triggers", discovery: "trigger_discovery" };
    let (lost, again) = fates.write(stage, &tables)?;
    work.summary.lost.triggers += lost;
    work.summary.updated.triggers += again;
    if !fates.delete.is_empty()
        && let Some(edit) = stage.edit()
    {
        let mut deleted = delete_triggers(edit, &fates.delete)?;
        work.summary.deleted.triggers.append(&mut deleted);
    }
    Ok(())
}
