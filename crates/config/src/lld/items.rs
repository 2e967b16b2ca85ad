//! Items of discovered rows.

use crate::table;
use objects::{ItemType, Origin};
use std::collections::{BTreeMap, HashMap, HashSet};

use super::errors::{self, Deed};
use super::item_check::{check, check_steps};
use super::lost::{self, Known, Mark};
use super::overrides::ITEM;
use super::places::Place;
use super::rule::{ItemPrototype, Rule};
use super::slot::Slot;
use super::substitute::{Substitution, trim};
use super::window::Window;
use super::{Stage, Stop, Work};
use crate::Edit;
use crate::db::{DbResult, Reader, Row, Value, placeholders, query_by_ids};
use crate::link::{LinkError, kind_words};
use crate::objects::{
    Columns, ItemChange, NewItem, Step, Tag, column, create_items, steps, tags, update_items,
};

/// Which items stand for which prototypes in which rows of a window.
pub(super) struct Found {
    ids: HashMap<Slot, u64>,
    /// Item to index of its row.
    places: HashMap<u64, usize>,
    /// Prototype's id to its index.
    prototypes: HashMap<u64, usize>,
}

impl Found {
    fn new(rule: &Rule) -> Self {
        let prototypes = rule.items.iter().map(|one| one.row.id("itemid")).zip(0..).collect();
        Self { ids: HashMap::new(), places: HashMap::new(), prototypes }
    }

    /// The item that an expression of a prototype means in this row: another one for a
    /// prototype (if it was made), the same for any other item.
    pub(super) fn item(&self, named: u64, place: usize) -> Option<u64> {
        match self.prototypes.get(&named) {
            Some(prototype) => self.ids.get(&Slot { prototype: *prototype, row: place }).copied(),
            None => Some(named),
        }
    }

    /// The row that the item was found in.
    pub(super) fn place(&self, item: u64) -> Option<usize> {
        self.places.get(&item).copied()
    }

    fn put(&mut self, slot: Slot, id: u64) {
        self.ids.insert(slot, id);
        self.places.insert(id, slot.row);
    }
}

/// Keys that the order of windows decides about.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Discovered items had them when others needed them.
    refused: HashSet<String>,
    /// Items had them before they got others.
    freed: HashSet<String>,
}

impl Keys {
    pub(super) fn extend(&mut self, more: Self) {
        self.refused.extend(more.refused);
        self.freed.extend(more.freed);
    }

    /// One that was refused is free by now: the same value leads to more.
    pub(super) fn are_free_now(&self) -> bool {
        !self.refused.is_disjoint(&self.freed)
    }
}

/// What an item should be.
pub(super) struct Wanted {
    columns: Columns,
    pub(super) key: String,
    status: i64,
    steps: Vec<Step>,
    tags: Vec<Tag>,
}

/// An item that discovery made before.
struct Existing {
    row: Row,
    steps: Vec<Step>,
    tags: Vec<Tag>,
    found: bool,
}

struct State {
    existing: BTreeMap<u64, Existing>,
    found: Found,
}

/// Changes of one level of prototypes.
#[derive(Default)]
struct Plan {
    creates: Vec<(Slot, NewItem)>,
    updates: Vec<(Slot, ItemChange)>,
}

/// Makes and changes items.
pub(super) fn discover(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    window: &Window<'_>,
) -> Result<Found, Stop> {
    let existing = load(stage.connection(), window)?;
    let mut state = State { existing, found: Found::new(work.rule) };
    let levels = work.rule.items.last().map_or(0, |last| last.level + 1);
    for level in 0..levels {
        let mut plan = plan(work, window, &mut state, level);
        refuse_taken(stage.connection(), work, &mut plan, level)?;
        if plan.creates.is_empty() && plan.updates.is_empty() {
            continue;
        }
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        work.errors.begin(errors::Step::Items(level, Deed::Create));
        create(edit, work, &mut state, plan.creates)?;
        work.errors.begin(errors::Step::Items(level, Deed::Change));
        update(edit, work, &state, plan.updates)?;
    }
    let found = state.existing.values().filter(|one| one.found);
    let known: Vec<Known> = found.map(|one| Known::new(&one.row, "itemid", true)).collect();
    lost::ITEMS.settle(stage, work, &known)?;
    work.found.items.extend(known.iter().map(|one| one.id));
    Ok(state.found)
}

/// Items that may be those of the window's rows, as far as they still exist.
fn load(connection: &mut dyn Reader, window: &Window<'_>) -> DbResult<BTreeMap<u64, Existing>> {
    let ids = window.index.items_of(&window.rows);
    let ids: Vec<u64> = ids.into_iter().filter(|id| !window.found.items.contains(id)).collect();
    let sql = format!(
        "SELECT i.*, d.key_ AS d_key, {} FROM item_discovery d \
         JOIN items i ON i.itemid = d.itemid WHERE d.itemid IN ({{ids}})",
        Mark::COLUMNS
    );
    let rows = query_by_ids(connection, &sql, &[], &ids)?;
    let mut steps = steps(connection, &ids)?;
    let mut tags = tags(connection, "item_tags", "itemid", &ids)?;
    let existing = rows.into_iter().map(|row| {
        let id = row.id("itemid");
        let (steps, tags) = (steps.remove(&id), tags.remove(&id));
        let (steps, tags) = (steps.unwrap_or_default(), tags.unwrap_or_default());
        (id, Existing { row, steps, tags, found: false })
    });
    Ok(existing.collect())
}

fn plan(work: &mut Work<'_>, window: &Window<'_>, state: &mut State, level: usize) -> Plan {
    let mut plan = Plan::default();
    work.errors.begin(errors::Step::Items(level, Deed::Compare));
    let rule = work.rule;
    for (at, prototype) in rule.items.iter().enumerate().filter(|(_, p)| p.level == level) {
        for row in window.rows.clone() {
            let (slot, place) = (Slot { prototype: at, row }, &work.rows[row]);
            let master = match prototype.master {
                Some(prototype) => match state.found.ids.get(&Slot { prototype, ..slot }) {
                    Some(id) => *id,
                    // Without its master there is nothing to depend on.
                    None => continue,
                },
                None => prototype.row.id("master_itemid"),
            };
            let wanted = match wanted(rule, prototype, place, master) {
                Ok(Some(wanted)) => wanted,
                Ok(None) => continue,
                Err(error) => {
                    work.errors.add_of(slot, error);
                    continue;
                }
            };
            if !window.index.gets_key(&wanted.key, slot) {
                let error = cannot(&wanted.key, "another row gives the same key");
                work.errors.add_of(slot, error);
                continue;
            }
            let substitution = Substitution::new(&place.row, &rule.tz);
            let is_free = |id| state.existing.get(&id).is_some_and(|one| !one.found);
            let existing = window.index.item(at, &wanted.key, &substitution, is_free);
            match existing.and_then(|id| state.existing.get_mut(&id)) {
                Some(one) => {
                    one.found = true;
                    let id = one.row.id("itemid");
                    state.found.put(slot, id);
                    let change = difference(one, &wanted);
                    if one.row.text("d_key") != prototype.row.text("key_") || change.is_some() {
                        let change = change.unwrap_or(ItemChange { id, ..ItemChange::default() });
                        plan.updates.push((slot, change));
                    }
                }
                None => plan.creates.push((slot, new_item(wanted))),
            }
        }
    }
    plan
}

fn cannot(key: &str, why: impl std::fmt::Display) -> String {
    format!("Cannot make item with key \"{key}\": {why}.")
}

/// Columns that a discovered item does not take from its prototype.
const OWN: &[&str] = &[
    "itemid",
    "hostid",
    "flags",
    "ruleid",
    "templateid",
    "status",
    "key_",
    "master_itemid",
    "uuid",
    "discover",
    "filter",
    "lld_macro_paths",
    "overrides",
    "lifetime_type",
    "lifetime",
    "enabled_lifetime_type",
    "enabled_lifetime",
];

/// Columns that lose blanks around what macros brought along. Logins, files, sensors and endpoints
/// keep them: there they may be meant.
const TRIMMED: &[&str] = &[
    "name",
    "units",
    "params",
    "snmp_oid",
    "description",
    "timeout",
    "url",
    "status_codes",
    "http_proxy",
    "trapper_hosts",
];

/// What the prototype is in this row; `None` = nothing.
pub(super) fn wanted(
    rule: &Rule,
    prototype: &ItemPrototype,
    place: &Place,
    master: u64,
) -> Result<Option<Wanted>, String> {
    let proto = &prototype.row;
    let row = Substitution::new(&place.row, &rule.tz);
    let name = row.name(proto.text("name"));
    let mut discover = proto.int("discover");
    let mut status = proto.int("status");
    let mut tags = prototype.tags.clone();
    let (mut delay, mut history, mut trends) =
        (proto.text("delay"), proto.text("history"), proto.text("trends"));
    for operation in rule.operations(place, ITEM, &name)? {
        discover = operation.discover.unwrap_or(discover);
        status = operation.status.unwrap_or(status);
        delay = operation.delay.as_deref().unwrap_or(delay);
        history = operation.history.as_deref().unwrap_or(history);
        trends = operation.trends.as_deref().unwrap_or(trends);
        tags.extend(operation.tags.iter().cloned());
    }
    if discover == 1 {
        return Ok(None);
    }
    let key = row.key(proto.text("key_")).map_err(|e| cannot(proto.text("key_"), e))?;
    let mut columns: Columns = vec![
        ("hostid", rule.hostid.into()),
        ("key_", key.as_str().into()),
        ("master_itemid", master.into()),
    ];
    for table_column in table::ITEMS.columns {
        let name = table_column.name;
        if OWN.contains(&name) {
            continue;
        }
        let text = proto.text(name);
        columns.push((
            name,
            match (name, proto.get(name)) {
                ("delay", _) => row.name(delay).into(),
                ("history", _) => row.name(history).into(),
                ("trends", _) => row.name(trends).into(),
                ("params", _) if ItemType::Calculated.is(proto.int("type")) => {
                    trim(&row.expression(text)).into()
                }
                ("publickey" | "privatekey", _) => text.into(),
                ("query_fields" | "headers" | "parameters", _) => row.json(text).into(),
                ("posts", _) if proto.int("post_type") == 2 => row.json(text).into(),
                ("posts", _) if proto.int("post_type") == 3 => row.xml(text).into(),
                (name, Some(Value::Text(text))) if TRIMMED.contains(&name) => row.name(text).into(),
                (_, Some(Value::Text(text))) => row.text(text).into(),
                (_, Some(value)) => value.clone(),
                (_, None) => table_column.default_value(),
            },
        ));
    }
    check(&columns, proto.int("type")).map_err(|why| cannot(&key, why))?;
    let steps = row.steps(&prototype.steps);
    check_steps(&steps).map_err(|why| cannot(&key, why))?;
    Ok(Some(Wanted { columns, key, status, steps, tags: row.tags(&tags) }))
}

fn new_item(wanted: Wanted) -> NewItem {
    let mut columns = wanted.columns;
    columns.push(("flags", Value::from(Origin::Discovered.number())));
    columns.push(("status", Value::from(wanted.status)));
    NewItem { columns, preprocessing: wanted.steps, tags: wanted.tags }
}

/// What is to change; the status is the user's once the item is there.
fn difference(one: &Existing, wanted: &Wanted) -> Option<ItemChange> {
    let columns: Columns = wanted
        .columns
        .iter()
        .filter(|(name, value)| one.row.get(name) != Some(value))
        .cloned()
        .collect();
    let preprocessing = (one.steps != wanted.steps).then(|| wanted.steps.clone());
    let tags = (one.tags != wanted.tags).then(|| wanted.tags.clone());
    let same = columns.is_empty() && preprocessing.is_none() && tags.is_none();
    let id = one.row.id("itemid");
    (!same).then_some(ItemChange { id, columns, preprocessing, tags })
}

/// Takes out what would get a key that another item of the host has.
fn refuse_taken(
    connection: &mut dyn Reader,
    work: &mut Work<'_>,
    plan: &mut Plan,
    level: usize,
) -> DbResult<()> {
    fn key_in(columns: &Columns) -> Option<&str> {
        match column(columns, "key_") {
            Some(Value::Text(key)) => Some(key),
            _ => None,
        }
    }
    let created = plan.creates.iter().filter_map(|(_, new)| key_in(&new.columns));
    let changed = plan.updates.iter().filter_map(|(_, change)| key_in(&change.columns));
    let keys: Vec<&str> = created.chain(changed).collect();
    let mut taken: HashMap<String, i64> = HashMap::new();
    for portion in keys.chunks(1_000) {
        let sql = format!(
            "SELECT key_, flags FROM items WHERE hostid = ? AND key_ IN ({})",
            placeholders(portion.len())
        );
        let mut params = vec![Value::from(work.rule.hostid)];
        params.extend(portion.iter().map(|key| Value::from(*key)));
        for row in connection.query(&sql, &params)? {
            taken.insert(row.text("key_").to_owned(), row.int("flags"));
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    let free = |work: &mut Work<'_>, slot: Slot, columns: &Columns| {
        let Some((key, flags)) = key_in(columns).and_then(|key| taken.get_key_value(key)) else {
            return true;
        };
        let words = if Origin::Discovered.is(*flags) {
            work.keys.refused.insert(key.clone());
            "another discovered item"
        } else {
            kind_words(*flags)
        };
        work.errors.add_of(slot, cannot(key, format_args!("{words} of the host has this key")));
        false
    };
    work.errors.begin(errors::Step::Items(level, Deed::RefuseNew));
    plan.creates.retain(|(slot, new)| free(work, *slot, &new.columns));
    // What cannot get its new key stays as it was.
    work.errors.begin(errors::Step::Items(level, Deed::RefuseChanged));
    plan.updates.retain(|(slot, change)| free(work, *slot, &change.columns));
    Ok(())
}

fn create(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    state: &mut State,
    creates: Vec<(Slot, NewItem)>,
) -> DbResult<()> {
    if creates.is_empty() {
        return Ok(());
    }
    let (slots, news): (Vec<Slot>, Vec<NewItem>) = creates.into_iter().unzip();
    let mut made: Vec<(Slot, u64)> = Vec::with_capacity(news.len());
    match create_items(edit, &news) {
        Ok(ids) => made.extend(slots.into_iter().zip(ids)),
        Err(LinkError::Db(error)) => return Err(error),
        // Keys were compared before; what is still refused is refused one by one.
        Err(LinkError::Conflict(_)) => {
            for (slot, new) in slots.into_iter().zip(&news) {
                match create_items(edit, std::slice::from_ref(new)) {
                    Ok(ids) => made.extend(ids.first().map(|id| (slot, *id))),
                    Err(LinkError::Db(error)) => return Err(error),
                    Err(LinkError::Conflict(text)) => work.errors.add_of(slot, text),
                }
            }
        }
    }
    let mut rows = Vec::with_capacity(made.len());
    for (slot, id) in made {
        let prototype = &work.rule.items[slot.prototype].row;
        rows.push(vec![
            Value::from(id),
            prototype.id("itemid").into(),
            prototype.text("key_").into(),
            work.clock_s.into(),
        ]);
        state.found.put(slot, id);
    }
    work.summary.created.items += rows.len();
    let columns = ["itemid", "parent_itemid", "key_", "lastcheck"];
    edit.insert_many(&table::ITEM_DISCOVERY, &columns, &rows)
}

fn update(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    state: &State,
    updates: Vec<(Slot, ItemChange)>,
) -> DbResult<()> {
    for (slot, change) in updates {
        let same = ItemChange { id: change.id, ..ItemChange::default() };
        if change != same {
            match update_items(edit, std::slice::from_ref(&change)) {
                Ok(()) => {}
                Err(LinkError::Db(error)) => return Err(error),
                Err(LinkError::Conflict(text)) => {
                    work.errors.add_of(slot, text);
                    continue;
                }
            }
        }
        work.summary.updated.items += 1;
        let row = &state.existing[&change.id].row;
        if column(&change.columns, "key_").is_some() {
            work.keys.freed.insert(row.text("key_").to_owned());
        }
        let pattern = work.rule.items[slot.prototype].row.text("key_");
        if row.text("d_key") != pattern {
            edit.update(&table::ITEM_DISCOVERY, change.id, &[("key_", pattern.into())])?;
        }
    }
    Ok(())
}
