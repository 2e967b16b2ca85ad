//! Items of discovered rows.

use objects::{ItemType, Origin};
use std::collections::{BTreeSet, HashMap, HashSet};

use super::item_check::{check, check_steps};
use super::lost::{Known, Mark, Tables};
use super::overrides::ITEM;
use super::places::Place;
use super::rule::ItemPrototype;
use super::substitute::{Substitution, trim};
use super::{Stage, Stop, Work};
use crate::Edit;
use crate::db::{Connection, DbResult, Row, Value, placeholders, query_by_ids};
use crate::link::{LinkError, kind_words};
use crate::objects::{
    Columns, ItemChange, NewItem, Step, Tag, column, create_items, delete_items, steps, tags,
    update_items,
};
use crate::schema::Table;

/// Which items stand for which prototypes in which rows.
#[derive(Default)]
pub(super) struct Found {
    /// (index of the prototype, index of the row) to item.
    ids: HashMap<(usize, usize), u64>,
    /// Item to index of its row.
    places: HashMap<u64, usize>,
    /// Prototype's id to its index.
    prototypes: HashMap<u64, usize>,
}

impl Found {
    /// The item that an expression of a prototype means in this row: another one for a
    /// prototype (if it was made), the same for any other item.
    pub(super) fn item(&self, named: u64, place: usize) -> Option<u64> {
        match self.prototypes.get(&named) {
            Some(prototype) => self.ids.get(&(*prototype, place)).copied(),
            None => Some(named),
        }
    }

    /// The row that the item was found in.
    pub(super) fn place(&self, item: u64) -> Option<usize> {
        self.places.get(&item).copied()
    }

    fn put(&mut self, prototype: usize, place: usize, id: u64) {
        self.ids.insert((prototype, place), id);
        self.places.insert(id, place);
    }
}

/// What an item should be.
struct Wanted {
    columns: Columns,
    key: String,
    status: i64,
    steps: Vec<Step>,
    tags: Vec<Tag>,
}

/// An item that discovery made before.
struct Existing {
    row: Row,
    prototype: usize,
    steps: Vec<Step>,
    tags: Vec<Tag>,
    found: bool,
}

struct State {
    existing: Vec<Existing>,
    /// (prototype, key) to index.
    by_key: HashMap<(usize, String), usize>,
    /// Keys that prototypes had when their items were made, if they were others.
    old_keys: HashMap<usize, BTreeSet<String>>,
    /// Keys of this value so far.
    keys: HashSet<String>,
    found: Found,
}

/// Changes of one level of prototypes.
#[derive(Default)]
struct Plan {
    creates: Vec<(usize, usize, NewItem)>,
    /// With the index of the existing item.
    updates: Vec<(usize, ItemChange)>,
}

/// Makes, changes and gives up items.
pub(super) fn discover(stage: &mut Stage<'_, '_>, work: &mut Work<'_>) -> Result<Found, Stop> {
    let mut state = load(stage.connection(), work)?;
    let levels = work.rule.items.last().map_or(0, |last| last.level + 1);
    for level in 0..levels {
        let mut plan = plan(work, &mut state, level);
        refuse_taken(stage.connection(), work, &mut plan)?;
        if plan.creates.is_empty() && plan.updates.is_empty() {
            continue;
        }
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        create(edit, work, &mut state, plan.creates)?;
        update(edit, work, &state, plan.updates)?;
    }
    let known: Vec<Known> = state
        .existing
        .iter()
        .map(|one| Known {
            id: one.row.id("itemid"),
            found: one.found,
            mark: Mark::from_row(&one.row),
            status: one.row.int("status"),
        })
        .collect();
    let fates = work.fates(&known);
    let tables = Tables { objects: "items", discovery: "item_discovery" };
    let (lost, again) = fates.write(stage, &tables)?;
    work.summary.lost.items += lost;
    work.summary.updated.items += again;
    if !fates.delete.is_empty()
        && let Some(edit) = stage.edit()
    {
        let mut deleted = delete_items(edit, &fates.delete)?;
        work.summary.deleted.items.append(&mut deleted.items);
        work.summary.deleted.triggers.append(&mut deleted.triggers);
    }
    Ok(state.found)
}

fn load(connection: &mut dyn Connection, work: &Work<'_>) -> DbResult<State> {
    let prototypes: HashMap<u64, usize> =
        work.rule.items.iter().enumerate().map(|(at, p)| (p.row.id("itemid"), at)).collect();
    let parents: Vec<u64> = work.rule.items.iter().map(|p| p.row.id("itemid")).collect();
    let sql = format!(
        "SELECT i.*, d.parent_itemid AS d_parent, d.key_ AS d_key, {} FROM item_discovery d \
         JOIN items i ON i.itemid = d.itemid WHERE d.parent_itemid IN ({{ids}})",
        Mark::COLUMNS
    );
    let rows = query_by_ids(connection, &sql, &[], &parents)?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
    let mut steps = steps(connection, &ids)?;
    let mut tags = tags(connection, "item_tags", "itemid", &ids)?;
    let mut state = State {
        existing: Vec::with_capacity(rows.len()),
        by_key: HashMap::new(),
        old_keys: HashMap::new(),
        keys: HashSet::new(),
        found: Found { prototypes, ..Found::default() },
    };
    for row in rows {
        let Some(at) = state.found.prototypes.get(&row.id("d_parent")).copied() else { continue };
        let id = row.id("itemid");
        if row.text("d_key") != work.rule.items[at].row.text("key_") {
            state.old_keys.entry(at).or_default().insert(row.text("d_key").to_owned());
        }
        state.by_key.insert((at, row.text("key_").to_owned()), state.existing.len());
        state.existing.push(Existing {
            prototype: at,
            steps: steps.remove(&id).unwrap_or_default(),
            tags: tags.remove(&id).unwrap_or_default(),
            found: false,
            row,
        });
    }
    Ok(state)
}

fn plan(work: &mut Work<'_>, state: &mut State, level: usize) -> Plan {
    let mut plan = Plan::default();
    let rule = work.rule;
    for (at, prototype) in rule.items.iter().enumerate().filter(|(_, p)| p.level == level) {
        for (place_at, place) in work.rows.iter().enumerate() {
            let master = match prototype.master {
                Some(master) => match state.found.ids.get(&(master, place_at)) {
                    Some(id) => *id,
                    // Without its master there is nothing to depend on.
                    None => continue,
                },
                None => prototype.row.id("master_itemid"),
            };
            let wanted = match wanted(work, prototype, place, master) {
                Ok(Some(wanted)) => wanted,
                Ok(None) => continue,
                Err(error) => {
                    work.errors.add(error);
                    continue;
                }
            };
            if !state.keys.insert(wanted.key.clone()) {
                work.errors.add(cannot(&wanted.key, "another row gives the same key"));
                continue;
            }
            let substitution = Substitution::new(&place.row, &rule.tz);
            match state.existing_for(at, &wanted.key, &substitution) {
                Some(found) => {
                    let one = &mut state.existing[found];
                    one.found = true;
                    let id = one.row.id("itemid");
                    let change = difference(one, &wanted);
                    state.found.put(at, place_at, id);
                    if one.row.text("d_key") != prototype.row.text("key_") || change.is_some() {
                        let change = change.unwrap_or(ItemChange { id, ..ItemChange::default() });
                        plan.updates.push((found, change));
                    }
                }
                None => plan.creates.push((at, place_at, new_item(wanted))),
            }
        }
    }
    plan
}

impl State {
    /// The item made for this prototype and row: by the key, or by the key that the row gives
    /// with what the prototype's key was before.
    fn existing_for(&self, at: usize, key: &str, row: &Substitution<'_>) -> Option<usize> {
        let by = |key: &str| {
            let found = self.by_key.get(&(at, key.to_owned())).copied()?;
            (!self.existing[found].found).then_some(found)
        };
        by(key).or_else(|| {
            let old = self.old_keys.get(&at)?;
            old.iter().find_map(|old| by(&row.key(old).ok()?))
        })
    }
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
fn wanted(
    work: &Work<'_>,
    prototype: &ItemPrototype,
    place: &Place,
    master: u64,
) -> Result<Option<Wanted>, String> {
    let proto = &prototype.row;
    let row = Substitution::new(&place.row, &work.rule.tz);
    let name = row.name(proto.text("name"));
    let mut discover = proto.int("discover");
    let mut status = proto.int("status");
    let mut tags = prototype.tags.clone();
    let (mut delay, mut history, mut trends) =
        (proto.text("delay"), proto.text("history"), proto.text("trends"));
    for operation in work.rule.operations(place, ITEM, &name)? {
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
        ("hostid", work.rule.hostid.into()),
        ("key_", key.as_str().into()),
        ("master_itemid", master.into()),
    ];
    for table_column in Table::named("items").columns {
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
    connection: &mut dyn Connection,
    work: &mut Work<'_>,
    plan: &mut Plan,
) -> DbResult<()> {
    fn key_in(columns: &Columns) -> Option<&str> {
        match column(columns, "key_") {
            Some(Value::Text(key)) => Some(key),
            _ => None,
        }
    }
    let created = plan.creates.iter().filter_map(|(_, _, new)| key_in(&new.columns));
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
    let mut free = |columns: &Columns| {
        let Some((key, flags)) = key_in(columns).and_then(|key| taken.get_key_value(key)) else {
            return true;
        };
        let words = if Origin::Discovered.is(*flags) {
            "another discovered item"
        } else {
            kind_words(*flags)
        };
        work.errors.add(cannot(key, format_args!("{words} of the host has this key")));
        false
    };
    plan.creates.retain(|(_, _, new)| free(&new.columns));
    // What cannot get its new key stays as it was.
    plan.updates.retain(|(_, change)| free(&change.columns));
    Ok(())
}

fn create(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    state: &mut State,
    creates: Vec<(usize, usize, NewItem)>,
) -> DbResult<()> {
    if creates.is_empty() {
        return Ok(());
    }
    let (places, news): (Vec<(usize, usize)>, Vec<NewItem>) =
        creates.into_iter().map(|(at, place, new)| ((at, place), new)).unzip();
    let mut made: Vec<((usize, usize), u64)> = Vec::with_capacity(news.len());
    match create_items(edit, &news) {
        Ok(ids) => made.extend(places.into_iter().zip(ids)),
        Err(LinkError::Db(error)) => return Err(error),
        // Keys were compared before; what is still refused is refused one by one.
        Err(LinkError::Conflict(_)) => {
            for (place, new) in places.into_iter().zip(&news) {
                match create_items(edit, std::slice::from_ref(new)) {
                    Ok(ids) => made.extend(ids.first().map(|id| (place, *id))),
                    Err(LinkError::Db(error)) => return Err(error),
                    Err(LinkError::Conflict(text)) => work.errors.add(text),
                }
            }
        }
    }
    let mut rows = Vec::with_capacity(made.len());
    for ((at, place), id) in made {
        let prototype = &work.rule.items[at].row;
        rows.push(vec![
            Value::from(id),
            prototype.id("itemid").into(),
            prototype.text("key_").into(),
            work.clock_s.into(),
        ]);
        state.found.put(at, place, id);
    }
    work.summary.created.items += rows.len();
    let columns = ["itemid", "parent_itemid", "key_", "lastcheck"];
    edit.insert_many("item_discovery", &columns, &rows)
}

fn update(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    state: &State,
    updates: Vec<(usize, ItemChange)>,
) -> DbResult<()> {
    for (existing, change) in updates {
        let same = ItemChange { id: change.id, ..ItemChange::default() };
        if change != same {
            match update_items(edit, std::slice::from_ref(&change)) {
                Ok(()) => {}
                Err(LinkError::Db(error)) => return Err(error),
                Err(LinkError::Conflict(text)) => {
                    work.errors.add(text);
                    continue;
                }
            }
        }
        work.summary.updated.items += 1;
        let one = &state.existing[existing];
        let key = work.rule.items[one.prototype].row.text("key_");
        if one.row.text("d_key") != key {
            edit.update("item_discovery", change.id, &[("key_", key.into())])?;
        }
    }
    Ok(())
}
