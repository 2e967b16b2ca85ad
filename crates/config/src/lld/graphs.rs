//! Graphs of discovered rows.

use crate::table;
use objects::Origin;
use objects::sql::FLAGS_PROTOTYPE;
use std::collections::{HashMap, HashSet};

use super::errors::{Deed, Step};
use super::items::Found;
use super::lost::{self, Known, Mark};
use super::overrides::GRAPH;
use super::rule::{self, GraphPrototype};
use super::slot::Slot;
use super::substitute::Substitution;
use super::window::Window;
use super::{Stage, Stop, Work};
use crate::Edit;
use crate::db::{DbResult, Reader, Value, placeholders, query_by_ids};
use crate::link::LinkError;
use crate::objects::{
    Columns, GraphChange, GraphItem, NewGraph, column, create_graphs, update_graphs,
};

/// Longest name of a graph, characters.
const NAME_CHARS_MAX: usize = 128;

/// What a graph should be.
struct Wanted {
    columns: Columns,
    name: String,
    items: Vec<GraphItem>,
}

/// What is to be written.
#[derive(Default)]
struct Plan {
    creates: Vec<(Slot, Wanted)>,
    updates: Vec<(Slot, GraphChange)>,
}

/// Makes and changes graphs.
pub(super) fn discover(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    window: &Window<'_>,
    items: &Found,
) -> Result<(), Stop> {
    let rule = work.rule;
    let parents: HashMap<u64, usize> =
        rule.graphs.iter().map(|prototype| prototype.row.id("graphid")).zip(0..).collect();
    let existing = load(stage.connection(), window)?;
    // Which existing graph stands for which prototype in which row.
    let mut by_slot: HashMap<Slot, usize> = HashMap::new();
    for (index, one) in existing.iter().enumerate() {
        let row = one.items.iter().find_map(|item| items.place(item.itemid));
        let prototype = parents.get(&one.row.id("d_parent")).copied();
        if let (Some(row), Some(prototype)) = (row, prototype) {
            by_slot.insert(Slot { prototype, row }, index);
        }
    }
    let (mut found, mut plan) = (vec![], Plan::default());
    work.errors.begin(Step::Graphs(Deed::Compare));
    for (at, prototype) in rule.graphs.iter().enumerate() {
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
                found.push(Known::without_status(&one.row, "graphid", true));
                plan.updates.extend(difference(one, wanted).map(|change| (slot, change)));
            } else {
                plan.creates.push((slot, wanted));
            }
        }
    }
    refuse_taken(stage.connection(), work, &mut plan)?;
    if !plan.creates.is_empty() || !plan.updates.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        work.errors.begin(Step::Graphs(Deed::Create));
        create(edit, work, plan.creates)?;
        work.errors.begin(Step::Graphs(Deed::Change));
        update(edit, work, plan.updates)?;
    }
    lost::GRAPHS.settle(stage, work, &found)?;
    work.found.graphs.extend(found.iter().map(|one| one.id));
    Ok(())
}

/// Graphs that may be those of the window's rows, as far as they still exist.
fn load(connection: &mut dyn Reader, window: &Window<'_>) -> DbResult<Vec<GraphPrototype>> {
    let ids = window.index.graphs_of(&window.rows);
    let ids: Vec<u64> = ids.into_iter().filter(|id| !window.found.graphs.contains(id)).collect();
    let sql = format!(
        "SELECT g.*, d.parent_graphid AS d_parent, {} FROM graph_discovery d \
         JOIN graphs g ON g.graphid = d.graphid WHERE d.graphid IN ({{ids}})",
        Mark::COLUMNS_WITHOUT_STATUS
    );
    let mut rows = query_by_ids(connection, &sql, &[], &ids)?;
    rows.sort_by_key(|row| row.id("graphid"));
    rule::with_items(connection, rows)
}

/// Columns that a discovered graph does not take from its prototype as they are.
const OWN: &[&str] =
    &["graphid", "flags", "templateid", "uuid", "name", "ymin_itemid", "ymax_itemid", "discover"];

fn wanted(
    work: &Work<'_>,
    prototype: &GraphPrototype,
    place_at: usize,
    items: &Found,
) -> Result<Option<Wanted>, String> {
    let place = &work.rows[place_at];
    let proto = &prototype.row;
    let name = Substitution::new(&place.row, &work.rule.tz).name(proto.text("name"));
    let mut discover = proto.int("discover");
    for operation in work.rule.operations(place, GRAPH, &name)? {
        discover = operation.discover.unwrap_or(discover);
    }
    if discover == 1 {
        return Ok(None);
    }
    let mut shown = Vec::with_capacity(prototype.items.len());
    for item in &prototype.items {
        let Some(itemid) = items.item(item.itemid, place_at) else { return Ok(None) };
        shown.push(GraphItem { gitemid: 0, itemid, ..item.clone() });
    }
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
        return Err(cannot(&name, "a name has 1 to 128 characters"));
    }
    let mut columns: Columns = vec![("name", name.as_str().into())];
    for axis in ["ymin_itemid", "ymax_itemid"] {
        let item = match proto.id(axis) {
            0 => Some(0),
            named => items.item(named, place_at),
        };
        let Some(item) = item else { return Ok(None) };
        columns.push((axis, item.into()));
    }
    let names = table::GRAPHS.columns.iter().map(|column| column.name);
    let same = names.filter(|name| !OWN.contains(name));
    columns.extend(same.filter_map(|name| Some((name, proto.get(name)?.clone()))));
    Ok(Some(Wanted { columns, name, items: shown }))
}

fn cannot(name: &str, why: impl std::fmt::Display) -> String {
    format!("Cannot make graph \"{name}\": {why}.")
}

fn difference(one: &GraphPrototype, wanted: Wanted) -> Option<GraphChange> {
    let differs = |(name, value): &(&str, Value)| one.row.get(name) != Some(value);
    let columns: Columns = wanted.columns.into_iter().filter(differs).collect();
    // Rows keep their ids, so that items may have another order by id than those of the prototype.
    let sorted = |items: &[GraphItem]| {
        let items = items.iter().map(|item| GraphItem { gitemid: 0, ..item.clone() });
        let mut items: Vec<GraphItem> = items.collect();
        items.sort_unstable();
        items
    };
    let items = (sorted(&one.items) != sorted(&wanted.items)).then_some(wanted.items);
    let id = one.row.id("graphid");
    (!columns.is_empty() || items.is_some()).then_some(GraphChange { id, columns, items })
}

/// Takes out what would get a name that another graph of the host has. A graph that cannot get its new name
/// stays as it was.
fn refuse_taken(connection: &mut dyn Reader, work: &mut Work<'_>, plan: &mut Plan) -> DbResult<()> {
    fn renamed(change: &GraphChange) -> Option<String> {
        column(&change.columns, "name").map(ToString::to_string)
    }
    let created = plan.creates.iter().map(|(_, new)| new.name.clone());
    let names = created.chain(plan.updates.iter().filter_map(|(_, change)| renamed(change)));
    let names: Vec<String> = names.collect();
    let mut taken: HashSet<String> = HashSet::new();
    for portion in names.chunks(1_000) {
        let sql = format!(
            "SELECT DISTINCT g.name FROM items i JOIN graph_items gi ON gi.itemid = i.itemid \
             JOIN graphs g ON g.graphid = gi.graphid WHERE g.flags <> {FLAGS_PROTOTYPE} AND i.hostid = ? AND g.name IN ({})",
            placeholders(portion.len())
        );
        let mut params = vec![Value::from(work.rule.hostid)];
        params.extend(portion.iter().map(|name| Value::from(name.as_str())));
        let rows = connection.query(&sql, &params)?;
        taken.extend(rows.iter().map(|row| row.text("name").to_owned()));
    }
    let mut free = |work: &mut Work<'_>, slot: Slot, name: String| {
        if taken.insert(name.clone()) {
            return true;
        }
        work.errors.add_of(slot, cannot(&name, "the host has a graph of this name"));
        false
    };
    work.errors.begin(Step::Graphs(Deed::RefuseNew));
    plan.creates.retain(|(slot, new)| free(work, *slot, new.name.clone()));
    work.errors.begin(Step::Graphs(Deed::RefuseChanged));
    plan.updates
        .retain(|(slot, change)| renamed(change).is_none_or(|name| free(work, *slot, name)));
    Ok(())
}

fn create(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    creates: Vec<(Slot, Wanted)>,
) -> Result<(), Stop> {
    let (mut slots, mut news) = (Vec::new(), Vec::new());
    for (slot, wanted) in creates {
        let mut columns = wanted.columns;
        columns.push(("flags", Value::from(Origin::Discovered.number())));
        slots.push(slot);
        news.push(NewGraph { columns, items: wanted.items });
    }
    if news.is_empty() {
        return Ok(());
    }
    let ids = create_graphs(edit, &news).map_err(of_database)?;
    work.summary.created.graphs += ids.len();
    let row = |(slot, id): (&Slot, u64)| {
        let parent = work.rule.graphs[slot.prototype].row.id("graphid");
        vec![Value::from(id), parent.into(), work.clock_s.into()]
    };
    let rows: Vec<Vec<Value>> = slots.iter().zip(ids).map(row).collect();
    let columns = ["graphid", "parent_graphid", "lastcheck"];
    Ok(edit.insert_many(&table::GRAPH_DISCOVERY, &columns, &rows)?)
}

fn update(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    updates: Vec<(Slot, GraphChange)>,
) -> Result<(), Stop> {
    let changes: Vec<GraphChange> = updates.into_iter().map(|(_, change)| change).collect();
    update_graphs(edit, &changes).map_err(of_database)?;
    work.summary.updated.graphs += changes.len();
    Ok(())
}

/// Graphs of hosts have no children, which alone could be in conflict.
fn of_database(error: LinkError) -> Stop {
    match error {
        LinkError::Db(error) => Stop::Db(error),
        LinkError::Conflict(text) => unreachable!("BUG: {text}"),
    }
}
