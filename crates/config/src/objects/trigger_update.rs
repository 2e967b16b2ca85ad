//! Changes of triggers and trigger prototypes.

use crate::table;
use const_format::formatcp;
use objects::sql::KIND_TEMPLATE;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::trigger::{insert_dependencies, insert_tags, with_ids};
use super::{Columns, Tag, TriggerChange, TriggerFunction, ids_of, insert_functions, replace_ids};
use crate::Edit;
use crate::db::{DbResult, Row, query_by_ids};
use crate::link::{
    Changed, Later, LinkError, Work, inherit_dependencies, inherit_triggers, item_children, later,
    related_children,
};

/// Names of what changes beside columns, for [`Changed`].
const EXPRESSIONS: &str = "functions";
const TAGS: &str = "trigger_tags";
const DEPENDENCIES: &str = "trigger_depends";

/// Changes triggers; children on linked hosts get the same changes, level by level.
pub fn update_triggers(edit: &mut Edit<'_>, changes: &[TriggerChange]) -> Result<(), LinkError> {
    let later = inheritance_of(edit, changes)?;
    let only = later.as_ref().map(|later| &later.templates);
    let mut left = Vec::new();
    for change in changes {
        let mut level = vec![(change.id, change.expressions.clone())];
        let mut top = true;
        let mut parents = Vec::new();
        while !level.is_empty() {
            let ids: Vec<u64> = level.iter().map(|(id, _)| *id).collect();
            if top {
                apply(edit, change, &level, top)?;
            } else {
                edit.inheriting(|edit| apply(edit, change, &level, top))?;
            }
            if let (Some(on), true) = (&change.depends_on, top) {
                edit.delete(&table::TRIGGER_DEPENDS, "triggerid", &ids)?;
                insert_dependencies(edit, change.id, on)?;
            }
            if change.depends_on.is_some() {
                edit.inheriting(|edit| inherit_dependencies(edit, &ids, only, true))?;
            }
            if later.as_ref().is_some_and(|later| !later.behind) && change.expressions.is_some() {
                // Hosts that lack one of the items refuse the change.
                next_level(edit, &level, None)?;
            }
            level = next_level(edit, &level, only)?;
            top = false;
            parents.extend(ids);
        }
        left.push(Changed { ids: parents, columns: names(change) });
    }
    match later {
        Some(later) => Ok(later.leave(edit, &Work::Triggers(left))?),
        None => Ok(()),
    }
}

/// How hosts inherit these changes. Dependencies are checked for circles on the hosts when they are
/// made: at once, unless the hosts lack the triggers.
fn inheritance_of(edit: &mut Edit<'_>, changes: &[TriggerChange]) -> DbResult<Option<Later>> {
    let ids: Vec<u64> = changes.iter().map(|change| change.id).collect();
    let sql = formatcp!(
        "SELECT DISTINCT h.hostid FROM functions f JOIN items i ON i.itemid = f.itemid \
               JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = {KIND_TEMPLATE} AND f.triggerid IN ({{ids}})"
    );
    let mut templates = ids_of(edit, sql, "hostid", &ids)?;
    // New expressions may name others.
    let functions = changes.iter().filter_map(|change| change.expressions.as_ref());
    let items: BTreeSet<u64> =
        functions.flat_map(|(_, _, functions)| functions.iter().map(|f| f.itemid)).collect();
    let sql = formatcp!(
        "SELECT DISTINCT h.hostid FROM items i JOIN hosts h ON h.hostid = i.hostid \
               WHERE h.kind = {KIND_TEMPLATE} AND i.itemid IN ({{ids}})"
    );
    templates.extend(ids_of(edit, sql, "hostid", &Vec::from_iter(items))?);
    if templates.is_empty() {
        return Ok(None);
    }
    let later = later(edit, &templates, ids.len())?;
    let whole = |change: &TriggerChange| change.depends_on.is_some();
    Ok(later.filter(|later| later.behind || !changes.iter().any(whole)))
}

/// What a change is about, as [`Changed`] has it.
fn names(change: &TriggerChange) -> Vec<String> {
    let others = [
        (EXPRESSIONS, change.expressions.is_some()),
        (TAGS, change.tags.is_some()),
        (DEPENDENCIES, change.depends_on.is_some()),
    ];
    let others = others.into_iter().filter(|(_, changes)| *changes).map(|(name, _)| name);
    let columns = change.columns.iter().map(|(name, _)| *name).filter(|name| *name != "uuid");
    columns.chain(others).map(ToOwned::to_owned).collect()
}

type Expressions = (String, String, Vec<TriggerFunction>);
type Level = Vec<(u64, Option<Expressions>)>;

/// Writes the change to the triggers of one level.
fn apply(
    edit: &mut Edit<'_>,
    change: &TriggerChange,
    level: &Level,
    top: bool,
) -> Result<(), LinkError> {
    // A universal id is the template's alone.
    let columns: Columns =
        change.columns.iter().filter(|(name, _)| top || *name != "uuid").cloned().collect();
    let ids: Vec<u64> = level.iter().map(|(id, _)| *id).collect();
    edit.update_many(&table::TRIGGERS, &ids, &columns)?;
    for (id, expressions) in level {
        let Some((expression, recovery, functions)) = expressions else { continue };
        edit.delete(&table::FUNCTIONS, "triggerid", &[*id])?;
        let count = u64::try_from(functions.len()).unwrap_or(u64::MAX);
        let first = edit.next_id(&table::FUNCTIONS, count)?;
        let rows: Vec<(u64, u64, TriggerFunction)> =
            (first..).zip(functions).map(|(fid, f)| (fid, *id, f.clone())).collect();
        insert_functions(edit, &rows)?;
        edit.update(
            &table::TRIGGERS,
            *id,
            &[
                ("expression", with_ids(expression, first).into()),
                ("recovery_expression", with_ids(recovery, first).into()),
            ],
        )?;
    }
    if let Some(tags) = &change.tags {
        edit.delete(&table::TRIGGER_TAGS, "triggerid", &ids)?;
        insert_tags(edit, &ids, tags)?;
    }
    Ok(())
}

/// The children (only on these hosts and templates, if given) with their expressions, if those change.
fn next_level(
    edit: &mut Edit<'_>,
    level: &Level,
    only: Option<&BTreeSet<u64>>,
) -> Result<Level, LinkError> {
    let mut next = Level::new();
    for (id, expressions) in level {
        let children = match (expressions, only) {
            (None, None) => {
                let sql = "SELECT triggerid FROM triggers WHERE templateid IN ({ids})";
                let children = ids_of(edit, sql, "triggerid", &[*id])?;
                next.extend(children.into_iter().map(|child| (child, None)));
                continue;
            }
            _ => related_children(edit, &[*id], only)?,
        };
        let Some(expressions) = expressions else {
            let ids: BTreeSet<u64> = children.into_values().collect();
            next.extend(ids.into_iter().map(|child| (child, None)));
            continue;
        };
        let items: BTreeSet<u64> = expressions.2.iter().map(|f| f.itemid).collect();
        let items = item_children(edit, &Vec::from_iter(items), only)?;
        for ((_, host), child) in children {
            next.push((child, Some(on_host(expressions, &items, host)?)));
        }
    }
    Ok(next)
}

/// The expressions with the items that a host has of those named.
fn on_host(
    (expression, recovery, functions): &Expressions,
    items: &HashMap<u64, BTreeMap<u64, u64>>,
    host: u64,
) -> Result<Expressions, LinkError> {
    let mapped = functions
        .iter()
        .map(|f| {
            let itemid = *items.get(&f.itemid)?.get(&host)?;
            Some(TriggerFunction { itemid, ..f.clone() })
        })
        .collect::<Option<Vec<_>>>();
    let Some(mapped) = mapped else {
        return Err(LinkError::Conflict(
            "The expression names items of a template that is not linked to all hosts \
             that inherit the trigger. Link the template there first."
                .to_owned(),
        ));
    };
    Ok((expression.clone(), recovery.clone(), mapped))
}

/// Gives the children that these hosts have of changed triggers what the triggers have now.
pub(crate) fn take_over_triggers(
    edit: &mut Edit<'_>,
    changed: &[Changed],
    hosts: &[u64],
) -> Result<(), LinkError> {
    let parents: Vec<u64> = changed.iter().flat_map(|one| one.ids.iter().copied()).collect();
    let only: BTreeSet<u64> = hosts.iter().copied().collect();
    // A trigger whose expression named an item that the hosts did not have yet.
    let moved = changed.iter().filter(|one| one.has(EXPRESSIONS));
    let moved: Vec<u64> = moved.flat_map(|one| one.ids.iter().copied()).collect();
    inherit_triggers(edit, &moved, Some(hosts), None)?;
    let mut children: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
    for ((parent, host), child) in related_children(edit, &parents, Some(&only))? {
        children.entry(parent).or_default().insert(child, host);
    }
    let sql = "SELECT * FROM triggers WHERE triggerid IN ({ids})";
    for row in query_by_ids(edit, sql, &[], &parents)? {
        let id = row.id("triggerid");
        let Some(children) = children.get(&id) else { continue };
        for one in changed.iter().filter(|one| one.ids.contains(&id)) {
            let change = change_of(edit, &row, one)?;
            let items = match &change.expressions {
                Some((_, _, functions)) => {
                    let items: BTreeSet<u64> = functions.iter().map(|f| f.itemid).collect();
                    item_children(edit, &Vec::from_iter(items), Some(&only))?
                }
                None => HashMap::new(),
            };
            let of = |host: u64| {
                change.expressions.as_ref().map(|all| on_host(all, &items, host)).transpose()
            };
            let level: Result<Level, LinkError> =
                children.iter().map(|(child, host)| Ok((*child, of(*host)?))).collect();
            apply(edit, &change, &level?, false)?;
            if one.has(DEPENDENCIES) {
                inherit_dependencies(edit, &[id], Some(&only), true)?;
            }
        }
    }
    Ok(())
}

/// What has changed of a trigger, but for its dependencies, as it is now.
fn change_of(edit: &mut Edit<'_>, row: &Row, changed: &Changed) -> DbResult<TriggerChange> {
    let id = row.id("triggerid");
    let columns = table::TRIGGERS.columns.iter().map(|column| column.name);
    let columns = columns.filter(|name| changed.has(name));
    let columns: Columns =
        columns.filter_map(|name| Some((name, row.get(name)?.clone()))).collect();
    let (mut expressions, mut tags) = (None, None);
    if changed.has(EXPRESSIONS) {
        let sql = "SELECT functionid, itemid, name, parameter FROM functions WHERE triggerid = ? \
                   ORDER BY functionid";
        let rows = edit.query(sql, &[id.into()])?;
        let ids: Vec<u64> = rows.iter().map(|row| row.id("functionid")).collect();
        // In the form of a change: `{0}`, `{1}` and so on.
        let place = |text: &str| {
            replace_ids(text, &mut |id| {
                format!("{{{}}}", ids.iter().position(|known| *known == id).unwrap_or(0))
            })
        };
        let functions = rows.iter().map(TriggerFunction::from_row).collect();
        let (expression, recovery) = (row.text("expression"), row.text("recovery_expression"));
        expressions = Some((place(expression), place(recovery), functions));
    }
    if changed.has(TAGS) {
        let sql = "SELECT tag, value FROM trigger_tags WHERE triggerid = ? ORDER BY triggertagid";
        tags = Some(edit.query(sql, &[id.into()])?.iter().map(Tag::from_row).collect());
    }
    Ok(TriggerChange { id, columns, expressions, tags, depends_on: None })
}
