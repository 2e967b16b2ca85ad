//! Items, discovery rules and prototypes: one table, told apart by `flags`.

use crate::table;
use const_format::formatcp;
use objects::sql::KIND_TEMPLATE;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use objects::{HostKind, OnFail, StepKind};

use super::graph::without_items;
use super::{Columns, Tag, column, delete_hosts_of_rules, delete_triggers, ids_of, new_uuid};
use crate::Edit;
use crate::db::{DbResult, Row, Value, placeholders, query_by_ids};
use crate::link::{
    Changed, Later, LinkError, Work, check_interfaces, children_on, inherit_items, kind_words,
    later, linked_below, remap_interfaces, settle_unlinked,
};

/// A preprocessing step as the API has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// Parameters, joined by line feeds.
    pub params: String,
    /// What happens when it fails.
    pub error_handler: OnFail,
    /// The value or error that the handler sets.
    pub error_handler_params: String,
}

/// An item, rule or prototype to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewItem {
    /// Columns of `items`: `hostid`, `flags`, `key_`, `name`, `type` and what else is not default.
    /// Without `uuid`, an item of a template gets a new one.
    pub columns: Columns,
    /// Preprocessing in order.
    pub preprocessing: Vec<Step>,
    pub tags: Vec<Tag>,
}

/// A change of an item, rule or prototype.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemChange {
    /// Which.
    pub id: u64,
    /// Columns that change. Children on linked hosts follow.
    pub columns: Columns,
    /// New preprocessing, if it changes.
    pub preprocessing: Option<Vec<Step>>,
    /// New tags, if they change.
    pub tags: Option<Vec<Tag>>,
}

/// Columns of a parent that its children have their own values of.
pub(crate) const OWN_COLUMNS: &[&str] =
    &["itemid", "hostid", "flags", "ruleid", "templateid", "interfaceid", "master_itemid", "uuid"];

/// Creates items; those of templates are inherited by everything linked below. Returns the ids in
/// order. A key that its host has already is a conflict.
pub fn create_items(edit: &mut Edit<'_>, items: &[NewItem]) -> Result<Vec<u64>, LinkError> {
    let hosts: BTreeSet<u64> = items.iter().map(|item| id_in(&item.columns, "hostid")).collect();
    let hosts: Vec<u64> = hosts.into_iter().collect();
    settle_unlinked(edit, &hosts)?;
    refuse_taken_keys(edit, items, &hosts)?;
    let kinds = host_kinds(edit, &hosts)?;
    let first = edit.next_id(&table::ITEMS, u64::try_from(items.len()).unwrap_or(u64::MAX))?;
    let ids: Vec<u64> = (first..).take(items.len()).collect();

    let table = &table::ITEMS;
    let names: Vec<&str> = table.columns.iter().map(|c| c.name).collect();
    let mut rows = Vec::with_capacity(items.len());
    for (item, id) in items.iter().zip(&ids) {
        let on_template = kinds.get(&id_in(&item.columns, "hostid")) == Some(&1);
        let mut row = Vec::with_capacity(names.len());
        for table_column in table.columns {
            row.push(match (table_column.name, column(&item.columns, table_column.name)) {
                ("itemid", _) => Value::from(*id),
                ("uuid", None) if on_template => new_uuid()?.into(),
                (_, Some(value)) => value.clone(),
                (_, None) => table_column.default_value(),
            });
        }
        rows.push(row);
    }
    edit.insert_many(&table::ITEMS, &names, &rows)?;
    let steps: Vec<(u64, &[Step])> =
        ids.iter().zip(items).map(|(id, item)| (*id, item.preprocessing.as_slice())).collect();
    insert_steps(edit, &steps)?;
    let tags: Vec<(u64, &[Tag])> =
        ids.iter().zip(items).map(|(id, item)| (*id, item.tags.as_slice())).collect();
    insert_tags(edit, &tags)?;

    let templates: Vec<u64> = hosts.into_iter().filter(|id| kinds.get(id) == Some(&1)).collect();
    let below = linked_below(edit, &templates)?;
    if !below.is_empty() {
        let later = later(edit, &templates, ids.len())?;
        let left = edit.inheriting(|edit| inherit_items(edit, &ids, &below, later.as_ref()))?;
        if let Some(later) = later {
            later.leave(edit, &Work::NewItems(left))?;
        }
    }
    Ok(ids)
}

fn id_in(columns: &Columns, name: &str) -> u64 {
    column(columns, name).map_or(0, |v| u64::try_from(v.as_int()).unwrap_or(0))
}

/// `hosts.kind` by id: 0 host, 1 template.
fn host_kinds(edit: &mut Edit<'_>, hosts: &[u64]) -> DbResult<HashMap<u64, i64>> {
    let sql = "SELECT hostid, kind FROM hosts WHERE hostid IN ({ids})";
    let rows = query_by_ids(edit, sql, &[], hosts)?;
    Ok(rows.iter().map(|row| (row.id("hostid"), row.int("kind"))).collect())
}

fn refuse_taken_keys(
    edit: &mut Edit<'_>,
    items: &[NewItem],
    hosts: &[u64],
) -> Result<(), LinkError> {
    let mut keys: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for item in items {
        if let Some(Value::Text(key)) = column(&item.columns, "key_") {
            keys.entry(key).or_default().push(id_in(&item.columns, "hostid"));
        }
    }
    let names: Vec<&str> = keys.keys().copied().collect();
    for portion in names.chunks(500) {
        let sql = format!(
            "SELECT i.key_, i.flags, h.hostid, h.kind, h.host FROM items i \
             JOIN hosts h ON h.hostid = i.hostid WHERE i.key_ IN ({}) AND i.hostid IN ({{ids}})",
            placeholders(portion.len())
        );
        let params: Vec<Value> = portion.iter().map(|key| Value::from(*key)).collect();
        for row in query_by_ids(edit, &sql, &params, hosts)? {
            if keys.get(row.text("key_")).is_some_and(|of| of.contains(&row.id("hostid"))) {
                return Err(taken(&row));
            }
        }
    }
    Ok(())
}

fn taken(row: &Row) -> LinkError {
    LinkError::Conflict(format!(
        "{} with key \"{}\" already exists on the {} \"{}\".",
        capitalized(kind_words(row.int("flags"))),
        row.text("key_"),
        if HostKind::Template.is(row.int("kind")) { "template" } else { "host" },
        row.text("host")
    ))
}

fn capitalized(words: &str) -> String {
    words.strip_prefix('a').map_or_else(|| words.to_owned(), |rest| format!("A{rest}"))
}

fn insert_steps(edit: &mut Edit<'_>, items: &[(u64, &[Step])]) -> DbResult<()> {
    let mut rows = Vec::new();
    for (id, steps) in items {
        for (n, step) in (1_i64..).zip(steps.iter()) {
            rows.push(vec![
                Value::from(*id),
                Value::from(n),
                step.kind.into(),
                step.params.as_str().into(),
                step.error_handler.into(),
                step.error_handler_params.as_str().into(),
            ]);
        }
    }
    let columns = ["itemid", "step", "type", "params", "error_handler", "error_handler_params"];
    edit.insert_many(&table::ITEM_PREPROCESSING, &columns, &rows)
}

fn insert_tags(edit: &mut Edit<'_>, items: &[(u64, &[Tag])]) -> DbResult<()> {
    let count: usize = items.iter().map(|(_, tags)| tags.len()).sum();
    if count == 0 {
        return Ok(());
    }
    let first = edit.next_id(&table::ITEM_TAGS, u64::try_from(count).unwrap_or(u64::MAX))?;
    let pairs = items.iter().flat_map(|(id, tags)| tags.iter().map(move |tag| (*id, tag)));
    let rows: Vec<Vec<Value>> = (first..)
        .zip(pairs)
        .map(|(tagid, (id, tag))| {
            vec![
                Value::from(tagid),
                Value::from(id),
                tag.tag.as_str().into(),
                tag.value.as_str().into(),
            ]
        })
        .collect();
    edit.insert_many(&table::ITEM_TAGS, &["itemtagid", "itemid", "tag", "value"], &rows)
}

/// Changes items; children on linked hosts get the same changes, level by level.
pub fn update_items(edit: &mut Edit<'_>, changes: &[ItemChange]) -> Result<(), LinkError> {
    let later = inheritance_of(edit, changes)?;
    let mut left = Vec::new();
    for change in changes {
        if let Some(Value::Text(key)) = column(&change.columns, "key_") {
            refuse_key_on_hosts(edit, &[change.id], key)?;
        }
        edit.update(&table::ITEMS, change.id, &change.columns)?;
        set_children(edit, change, &[change.id])?;
        let ids = edit.inheriting(|edit| update_below(edit, change, later.as_ref()))?;
        left.extend((!ids.is_empty()).then(|| Changed { ids, columns: names(change) }));
    }
    match later {
        Some(later) => Ok(later.leave(edit, &Work::Items(left))?),
        None => Ok(()),
    }
}

/// How hosts inherit these changes. Those of masters are checked on the hosts when they are made: at
/// once, unless the hosts lack the items.
fn inheritance_of(edit: &mut Edit<'_>, changes: &[ItemChange]) -> DbResult<Option<Later>> {
    let ids: Vec<u64> = changes.iter().map(|change| change.id).collect();
    let sql = formatcp!(
        "SELECT DISTINCT h.hostid FROM items i JOIN hosts h ON h.hostid = i.hostid \
               WHERE h.kind = {KIND_TEMPLATE} AND i.itemid IN ({{ids}})"
    );
    let templates = ids_of(edit, sql, "hostid", &ids)?;
    if templates.is_empty() {
        return Ok(None);
    }
    let later = later(edit, &templates, ids.len())?;
    let whole = |change: &ItemChange| column(&change.columns, "master_itemid").is_some();
    Ok(later.filter(|later| later.behind || !changes.iter().any(whole)))
}

/// What a change is about, as [`Changed`] has it.
fn names(change: &ItemChange) -> Vec<String> {
    let columns = change.columns.iter().map(|(name, _)| *name);
    let steps = change.preprocessing.is_some().then_some(STEPS);
    let tags = change.tags.is_some().then_some(TAGS);
    columns.chain(steps).chain(tags).map(ToOwned::to_owned).collect()
}

const STEPS: &str = "item_preprocessing";
const TAGS: &str = "item_tags";

/// Replaces preprocessing and tags of these items, as far as the change says so.
fn set_children(edit: &mut Edit<'_>, change: &ItemChange, ids: &[u64]) -> DbResult<()> {
    if let Some(steps) = &change.preprocessing {
        edit.delete(&table::ITEM_PREPROCESSING, "itemid", ids)?;
        let all: Vec<(u64, &[Step])> = ids.iter().map(|id| (*id, steps.as_slice())).collect();
        insert_steps(edit, &all)?;
    }
    if let Some(tags) = &change.tags {
        edit.delete(&table::ITEM_TAGS, "itemid", ids)?;
        let all: Vec<(u64, &[Tag])> = ids.iter().map(|id| (*id, tags.as_slice())).collect();
        insert_tags(edit, &all)?;
    }
    Ok(())
}

/// Columns that the children take over.
fn inherited(change: &ItemChange) -> Columns {
    change.columns.iter().filter(|(name, _)| !OWN_COLUMNS.contains(name)).cloned().collect()
}

/// With `later`, only templates take over the change, and hosts are checked; returns the items whose
/// children on hosts have yet to take it over.
fn update_below(
    edit: &mut Edit<'_>,
    change: &ItemChange,
    later: Option<&Later>,
) -> Result<Vec<u64>, LinkError> {
    let master = column(&change.columns, "master_itemid").map(Value::as_int);
    let nothing = inherited(change).is_empty()
        && master.is_none()
        && change.preprocessing.is_none()
        && change.tags.is_none();
    if nothing {
        return Ok(Vec::new());
    }
    let mut left = Vec::new();
    let mut parents: Vec<(u64, i64)> = vec![(change.id, master.unwrap_or(0))];
    while let Some((parent, parent_master)) = parents.pop() {
        let sql = "SELECT itemid, hostid FROM items WHERE templateid IN ({ids})";
        let mut rows = query_by_ids(edit, sql, &[], &[parent])?;
        if let Some(Value::Text(key)) = column(&change.columns, "key_") {
            let children: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
            refuse_key_on_hosts(edit, &children, key)?;
        }
        if let Some(later) = later {
            left.push(parent);
            let is_of_host = |row: &mut Row| !later.templates.contains(&row.id("hostid"));
            let of_hosts: Vec<Row> = rows.extract_if(.., is_of_host).collect();
            if let Some(kind) = column(&change.columns, "type") {
                let ids: Vec<u64> = of_hosts.iter().map(|row| row.id("itemid")).collect();
                check_interfaces(edit, &ids, kind.as_int())?;
            }
        }
        let children: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
        if children.is_empty() {
            continue;
        }
        update_children(edit, change, parent_master, &children)?;
        let sql = "SELECT itemid, master_itemid FROM items WHERE itemid IN ({ids})";
        let rows = query_by_ids(edit, sql, &[], &children)?;
        parents.extend(rows.iter().map(|row| (row.id("itemid"), row.int("master_itemid"))));
    }
    Ok(left)
}

/// Gives children of an item the same change; `master`: the item's own master.
fn update_children(
    edit: &mut Edit<'_>,
    change: &ItemChange,
    master: i64,
    children: &[u64],
) -> Result<(), LinkError> {
    edit.update_many(&table::ITEMS, children, &inherited(change))?;
    if column(&change.columns, "master_itemid").is_some() {
        let sql = "SELECT i.itemid, COALESCE((SELECT MAX(m.itemid) FROM items m \
                   WHERE m.templateid = ? AND m.templateid > 0 AND m.hostid = i.hostid), 0) \
                   AS master FROM items i WHERE i.itemid IN ({ids})";
        let rows = query_by_ids(edit, sql, &[Value::from(master)], children)?;
        let masters: Vec<(u64, Value)> =
            rows.iter().map(|row| (row.id("itemid"), row.id("master").into())).collect();
        edit.update_each(&table::ITEMS, "master_itemid", &masters)?;
    }
    if column(&change.columns, "type").is_some() {
        remap_interfaces(edit, children)?;
    }
    Ok(set_children(edit, change, children)?)
}

/// Gives the children that these hosts have of changed items what the items have now.
pub(crate) fn take_over_items(
    edit: &mut Edit<'_>,
    changed: &[Changed],
    hosts: &[u64],
) -> Result<(), LinkError> {
    let parents: Vec<u64> = changed.iter().flat_map(|one| one.ids.iter().copied()).collect();
    let mut children: HashMap<u64, Vec<u64>> = HashMap::new();
    for row in children_on(edit, &parents, hosts)? {
        children.entry(row.id("templateid")).or_default().push(row.id("itemid"));
    }
    let sql = "SELECT * FROM items WHERE itemid IN ({ids})";
    let rows = query_by_ids(edit, sql, &[], &parents)?;
    let rows: HashMap<u64, &Row> = rows.iter().map(|row| (row.id("itemid"), row)).collect();
    for one in changed {
        for id in &one.ids {
            let (Some(row), Some(children)) = (rows.get(id), children.get(id)) else { continue };
            if one.has("key_") {
                refuse_key_on_hosts(edit, children, row.text("key_"))?;
            }
            let change = change_of(edit, row, one)?;
            update_children(edit, &change, row.int("master_itemid"), children)?;
        }
    }
    Ok(())
}

/// What has changed of an item, as it is now.
fn change_of(edit: &mut Edit<'_>, row: &Row, changed: &Changed) -> DbResult<ItemChange> {
    let id = row.id("itemid");
    let columns = table::ITEMS.columns.iter().map(|column| column.name);
    let columns = columns.filter(|name| changed.has(name));
    let columns: Columns =
        columns.filter_map(|name| Some((name, row.get(name)?.clone()))).collect();
    let (mut preprocessing, mut tags) = (None, None);
    if changed.has(STEPS) {
        let mut steps = super::steps(edit, &[id])?;
        preprocessing = Some(steps.remove(&id).unwrap_or_default());
    }
    if changed.has(TAGS) {
        let sql = "SELECT tag, value FROM item_tags WHERE itemid = ? ORDER BY itemtagid";
        tags = Some(edit.query(sql, &[id.into()])?.iter().map(Tag::from_row).collect());
    }
    Ok(ItemChange { id, columns, preprocessing, tags })
}

/// Refuses a new key of these items that another item of the same host has. One that has yet to take
/// over another key does not count.
fn refuse_key_on_hosts(edit: &mut Edit<'_>, ids: &[u64], key: &str) -> Result<(), LinkError> {
    let sql = "SELECT o.key_, o.flags, h.kind, h.host FROM items i \
               JOIN items o ON o.hostid = i.hostid AND o.itemid <> i.itemid \
               JOIN hosts h ON h.hostid = i.hostid WHERE o.key_ = ? AND i.itemid IN ({ids}) \
               AND NOT EXISTS (SELECT 1 FROM items p WHERE p.itemid = o.templateid \
               AND p.key_ <> o.key_)";
    let rows = query_by_ids(edit, sql, &[key.into()], ids)?;
    rows.first().map_or(Ok(()), |row| Err(taken(row)))
}

/// Deletes items with everything that hangs on them: children on linked hosts, dependent items,
/// prototypes of rules, what discovery made of them (hosts too), triggers that name them, graphs that show
/// nothing else.
pub fn delete_items(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<()> {
    let mut all: BTreeSet<u64> = ids.iter().copied().collect();
    let mut frontier: Vec<u64> = ids.to_vec();
    while !frontier.is_empty() {
        let mut next = BTreeSet::new();
        for sql in [
            "SELECT itemid FROM items WHERE templateid IN ({ids})",
            "SELECT itemid FROM items WHERE master_itemid IN ({ids})",
            "SELECT itemid FROM items WHERE ruleid IN ({ids})",
            "SELECT itemid FROM item_discovery WHERE parent_itemid IN ({ids})",
            "SELECT i.itemid FROM host_discovery d JOIN items i ON i.hostid = d.hostid \
             WHERE d.parent_itemid IN ({ids})",
        ] {
            next.extend(ids_of(edit, sql, "itemid", &frontier)?);
        }
        frontier = next.into_iter().filter(|id| all.insert(*id)).collect();
    }
    let all: Vec<u64> = all.into_iter().collect();
    let sql = "SELECT DISTINCT triggerid FROM functions WHERE itemid IN ({ids})";
    let triggers = ids_of(edit, sql, "triggerid", &all)?;
    delete_triggers(edit, &triggers)?;
    without_items(edit, &all)?;
    delete_hosts_of_rules(edit, &all)?;
    edit.delete(&table::PARTS, "ruleid", &all)?;
    edit.delete(&table::ITEMS, "itemid", &all)
}
