//! Creating, changing and deleting graphs and graph prototypes.

use std::collections::{BTreeSet, HashMap};

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::objects::{
    GraphChange, GraphItem, NewGraph, column, create_graphs, delete_graphs, update_graphs,
};
use objects::Origin;
use serde_json::Map;

use super::checks::{Graph, Items, check_names};
use super::{Kind, values};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::object::{Columns, taken};
use crate::owned::extent::PORTION_ITEMS;
use crate::owned::inherited;
use crate::params;
use crate::permission::{Need, and, on_graphs};

/// Types of the ends of the axis, and their items.
const AXES: [(&str, &str); 2] = [("ymin_type", "ymin_itemid"), ("ymax_type", "ymax_itemid")];

/// An end of the axis is fixed.
const FIXED: i64 = 1;

/// An end of the axis follows an item.
const BY_ITEM: i64 = 2;

/// Items as `gitems` has them, by default in the order of the list. One that names a row of the graph by its id
/// keeps what is not given.
fn items(
    given: &Json,
    name: &str,
    kind: Kind,
    existing: Option<&[GraphItem]>,
) -> ApiResult<Vec<GraphItem>> {
    let given = match given {
        Json::Array(_) | Json::Object(_) => params::list(given),
        _ => Vec::new(),
    };
    if given.is_empty() {
        let text = format!("Missing items for {} \"{name}\".", kind.word());
        return Err(ApiError::params(text));
    }
    let none = Map::new();
    let mut items = Vec::with_capacity(given.len());
    for (sortorder, one) in (0..).zip(given) {
        let members = one.as_object().unwrap_or(&none);
        let id = existing.and_then(|_| members.get("gitemid"));
        let before = match id {
            Some(id) => {
                let id = params::id(id, "").map_err(|_| absent())?;
                let same = existing.unwrap_or_default().iter().find(|item| item.gitemid == id);
                Some(same.cloned().ok_or_else(absent)?)
            }
            None => None,
        };
        if before.is_none() && members.get("itemid").is_none() {
            return Err(ApiError::params("Missing \"itemid\" field for item."));
        }
        if existing.is_none() && members.get("color").is_none() {
            let text = format!("No \"color\" given for {}.", kind.word());
            return Err(ApiError::params(text));
        }
        let color = "009600".to_owned();
        let new = GraphItem { calc_fnc: 2, sortorder, color, ..GraphItem::default() };
        let mut item = values::item(members, before.unwrap_or(new))?;
        if existing.is_none() {
            item.gitemid = 0;
        }
        check_color(&item.color)?;
        items.push(item);
    }
    Ok(items)
}

fn check_color(color: &str) -> ApiResult<()> {
    if color.is_empty() {
        return Err(ApiError::params("Empty color."));
    }
    if color.len() != 6 || !color.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(ApiError::params(format!(
            "Color \"{color}\" is not correct: expecting hexadecimal color code (6 symbols)."
        )));
    }
    Ok(())
}

/// What an update refers to is not there, or not for this user.
fn absent() -> ApiError {
    ApiError::params(NO_OBJECT)
}

/// Objects of a call, which may have none.
fn objects(input: &Json) -> ApiResult<Vec<(String, &Json)>> {
    let is_empty = match input {
        Json::Array(list) => list.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    if is_empty { Ok(Vec::new()) } else { params::objects(input) }
}

fn members(object: &Json) -> &Map<String, Json> {
    object.as_object().expect("BUG: `params::objects` gives objects")
}

/// Refuses members that no client may set.
fn refuse_read_only(object: &Json, name: &str, verb: &str, kind: Kind) -> ApiResult<()> {
    match ["templateid", "flags"].into_iter().find(|member| object.get(member).is_some()) {
        None => Ok(()),
        Some(member) => Err(ApiError::params(format!(
            "Cannot {verb} \"{member}\" for {} \"{name}\".",
            kind.word()
        ))),
    }
}

fn text_of<'j>(object: &'j Json, name: &str) -> &'j str {
    object.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// The graph that a row becomes with new columns.
fn graph(columns: &Columns, before: Option<&Row>, items: Vec<GraphItem>) -> Graph {
    let value = |name: &str| -> Value {
        let given = column(columns, name).or_else(|| before.and_then(|row| row.get(name)));
        given.cloned().unwrap_or(Value::Int(0))
    };
    let axis = |(kind, item): (&str, &str)| match value(kind).as_int() {
        BY_ITEM => u64::try_from(value(item).as_int()).unwrap_or(0),
        _ => 0,
    };
    Graph {
        id: before.map_or(0, |row| row.id("graphid")),
        name: value("name").to_string(),
        items,
        axes: AXES.map(axis),
        graphtype: value("graphtype").as_int(),
    }
}

/// An end of the axis that follows no item has none. Fixed ends are in their order.
fn settle_axes(columns: &mut Columns, graph: &Graph, before: Option<&Row>) -> ApiResult<()> {
    let value = |columns: &Columns, name: &str| {
        let given = column(columns, name).or_else(|| before.and_then(|row| row.get(name)));
        given.map(ToString::to_string).unwrap_or_default()
    };
    for ((kind, item), id) in AXES.into_iter().zip(graph.axes) {
        let given = column(columns, item).is_some();
        if value(columns, kind) != BY_ITEM.to_string() {
            if given || before.is_some_and(|row| row.id(item) > 0) {
                columns.retain(|(name, _)| *name != item);
                columns.push((item, 0.into()));
            }
        } else if id == 0 && given {
            return Err(ApiError::no_object());
        } else if id == 0 && before.is_none() {
            return Err(ApiError::at(item, "a number is expected"));
        }
    }
    let number = |name: &str| value(columns, name).parse::<f64>().ok();
    let are_fixed = AXES.iter().all(|(kind, _)| value(columns, kind) == FIXED.to_string());
    let (min, max) = (number("yaxismin").unwrap_or(0.0), number("yaxismax").unwrap_or(100.0));
    if are_fixed && max <= min {
        let text = "Y axis MAX value must be greater than Y axis MIN value.";
        return Err(ApiError::params(text));
    }
    Ok(())
}

pub(super) fn create(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let ids = call.write(|edit| {
        let (mut all, mut graphs) = (Vec::new(), Vec::new());
        for (path, object) in objects(input)? {
            if object.get("name").is_none_or(Json::is_null) {
                let text = format!("Missing \"name\" field for {}.", kind.word());
                return Err(ApiError::params(text));
            }
            let name = text_of(object, "name");
            refuse_read_only(object, name, "set", kind)?;
            let given = object.get("gitems").unwrap_or(&Json::Null);
            let items = items(given, name, kind, None)?;
            let mut columns = values::columns(members(object), kind, &path)?;
            let graph = graph(&columns, None, items);
            settle_axes(&mut columns, &graph, None)?;
            all.push((path, columns));
            graphs.push(graph);
        }
        let items = Items::load(call, edit, &graphs)?;
        let mut uuids = BTreeSet::new();
        for ((path, columns), graph) in all.iter().zip(&graphs) {
            items.check(graph, kind)?;
            check_uuid(edit, columns, items.are_of_template(graph), path, &mut uuids)?;
        }
        check_names(edit, &items, &graphs, kind)?;
        let new: Vec<NewGraph> = all
            .into_iter()
            .zip(graphs)
            .map(|((_, mut columns), graph)| {
                if kind == Kind::Prototype {
                    columns.push(("flags", Value::from(Origin::Prototype.number())));
                }
                NewGraph { columns, items: graph.items }
            })
            .collect();
        Ok(create_graphs(edit, &new)?)
    })?;
    Ok(kind.object().result(&ids))
}

/// Only graphs of templates have a universal id, which no other graph has; `given`: those of the same call.
fn check_uuid(
    edit: &mut Edit<'_>,
    columns: &Columns,
    on_template: bool,
    path: &str,
    given: &mut BTreeSet<String>,
) -> ApiResult<()> {
    let Some(uuid) = column(columns, "uuid") else { return Ok(()) };
    if !on_template {
        return Err(ApiError::at(&format!("{path}/uuid"), "value must be empty"));
    }
    if !given.insert(uuid.to_string()) {
        return Err(taken(path, "uuid", uuid));
    }
    let sql = "SELECT graphid FROM graphs WHERE uuid = ?";
    if edit.query(sql, std::slice::from_ref(uuid))?.is_empty() {
        return Ok(());
    }
    Err(ApiError::at(path, "graph with the same UUID already exists"))
}

/// Rows that the user may change.
fn writable(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    ids: &[u64],
    kind: Kind,
) -> ApiResult<HashMap<u64, Row>> {
    let right = and(on_graphs(call.user(), Need::Write, "t.graphid"));
    let sql = format!(
        "SELECT t.* FROM graphs t WHERE {}{right} AND t.graphid IN ({{ids}})",
        kind.condition()
    );
    let rows = query_by_ids(edit, &sql, &[], ids)?;
    Ok(rows.into_iter().map(|row| (row.id("graphid"), row)).collect())
}

/// Items of these graphs.
fn existing(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<HashMap<u64, Vec<GraphItem>>> {
    let sql = "SELECT * FROM graph_items WHERE graphid IN ({ids})";
    let mut rows = query_by_ids(edit, sql, &[], ids)?;
    rows.sort_by_key(|row| row.id("gitemid"));
    let mut items: HashMap<u64, Vec<GraphItem>> = HashMap::new();
    for row in &rows {
        items.entry(row.id("graphid")).or_default().push(GraphItem::from_row(row));
    }
    Ok(items)
}

/// Inherited graphs are changed on the template; of inherited prototypes, only `discover` is the host's.
fn changeable(object: &Json, row: &Row, kind: Kind) -> ApiResult<Json> {
    if Origin::Discovered.is(row.int("flags")) {
        return Err(ApiError::application("Cannot update a discovered graph."));
    }
    if row.id("templateid") == 0 {
        return Ok(object.clone());
    }
    if kind == Kind::Graph {
        let name = object.get("name").and_then(Json::as_str).unwrap_or_else(|| row.text("name"));
        return Err(ApiError::params(format!("Cannot update a templated graph \"{name}\".")));
    }
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        members.retain(|name, _| name == "discover");
    }
    Ok(object)
}

pub(super) fn update(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let mut updates = Vec::new();
    for (path, object) in objects(input)? {
        let id = object.get("graphid").and_then(|id| params::id(id, "").ok());
        updates.push((path, id.ok_or_else(absent)?, object));
    }
    let ids: Vec<u64> = updates.iter().map(|(_, id, _)| *id).collect();
    call.write(|edit| {
        let rows = writable(call, edit, &ids, kind)?;
        let shown = existing(edit, &ids)?;
        let (mut changes, mut graphs) = (Vec::new(), Vec::new());
        for (path, id, object) in &updates {
            let row = rows.get(id).ok_or_else(absent)?;
            refuse_read_only(object, row.text("name"), "update", kind)?;
            let object = changeable(object, row, kind)?;
            let before = shown.get(id).map_or(&[][..], Vec::as_slice);
            let mut columns = values::columns(members(&object), kind, path)?;
            let mut graph = graph(&columns, Some(row), before.to_vec());
            let given = match object.get("gitems") {
                Some(given) => Some(items(given, &graph.name, kind, Some(before))?),
                None => None,
            };
            graph.items = given.clone().unwrap_or(graph.items);
            settle_axes(&mut columns, &graph, Some(row))?;
            columns.retain(|(name, value)| row.get(name) != Some(value));
            changes.push(GraphChange { id: *id, columns, items: given });
            graphs.push(graph);
        }
        let items = Items::load(call, edit, &graphs)?;
        let mut uuids = BTreeSet::new();
        for (n, (change, graph)) in changes.iter().zip(&graphs).enumerate() {
            items.check(graph, kind)?;
            let (path, on_template) = (format!("/{}", n + 1), items.are_of_template(graph));
            check_uuid(edit, &change.columns, on_template, &path, &mut uuids)?;
        }
        check_names(edit, &items, &graphs, kind)?;
        Ok::<_, ApiError>(update_graphs(edit, &changes)?)
    })?;
    Ok(kind.object().result(&ids))
}

pub(super) fn delete(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    let check = |edit: &mut Edit<'_>| {
        let rows = writable(call, edit, &ids, kind)?;
        if rows.len() < ids.len() {
            return Err(ApiError::no_object());
        }
        if rows.values().any(|row| row.id("templateid") > 0) {
            let text = format!("Cannot delete templated {}.", kind.word());
            return Err(ApiError::params(text));
        }
        Ok(())
    };
    inherited::delete_from_hosts(call, &inherited::GRAPHS, &ids, PORTION_ITEMS, check)?;
    call.write(|edit| {
        check(edit)?;
        Ok::<_, ApiError>(delete_graphs(edit, &ids)?)
    })?;
    Ok(kind.object().result(&ids))
}
