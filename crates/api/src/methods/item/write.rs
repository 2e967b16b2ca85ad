//! Creating, changing and deleting items, item prototypes and discovery rules.

use config::table;
use std::collections::{BTreeSet, HashMap};

use config::Edit;
use config::db::{Row, Value};
use config::objects::{ItemChange, NewItem, Step, Tag};
use objects::sql::KIND_PROTOTYPE;
use objects::{HostKind, ItemType, Origin, ValueType};
use serde_json::{Map, json};

use super::fields::Kind;
use super::masters::check_masters;
use super::references::{
    check_formula_hosts, check_lifetimes, check_references, check_uuid, rule_of, text_of,
};
use super::rules::{JMX_ENDPOINT, Presence, Shape, refuse_other};
use super::{lld, steps};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::object::{Access, Columns, Field, FieldKind, missing, taken};
use crate::owned::extent::PORTION_ITEMS;
use crate::owned::inherited;
use crate::params;
use crate::permission::{Need, and, on_hosts};
use crate::write::{nested, only, rows_of};

/// What an object in the call says, checked.
struct Checked {
    columns: Columns,
    preprocessing: Option<Vec<Step>>,
    tags: Option<Vec<Tag>>,
}

pub(super) fn create(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let ids = call.write_checked(|edit| {
        let objects = params::objects(input)?;
        let mut hosts = HashMap::new();
        let mut keys: Vec<(u64, String)> = Vec::new();
        let mut new = Vec::new();
        let mut dependent = Vec::new();
        for (path, object) in objects {
            let members = members(object, &path, kind, false)?;
            let hostid = params::id(
                members.get("hostid").ok_or_else(|| missing(&path, "hostid"))?,
                &format!("{path}/hostid"),
            )?;
            let host = host_kind(call, edit, &mut hosts, hostid)?;
            let ruleid = match kind {
                Kind::Prototype => Some(rule_of(edit, members, &path, hostid)?),
                _ => None,
            };
            let mut checked = check(edit, members, &path, kind, host, None)?;
            check_formula_hosts(call, edit, &checked.columns, None, &path)?;
            checked.columns.push(("hostid", hostid.into()));
            checked.columns.push(("flags", kind.flags().into()));
            checked.columns.extend(ruleid.map(|id| ("ruleid", id.into())));
            check_references(edit, &checked.columns, &path, hostid, kind, ruleid.unwrap_or(0))?;
            let key = (hostid, text_of(&checked.columns, "key_"));
            if keys.contains(&key) {
                let values = format!("{}, {}", key.0, key.1);
                return Err(taken(&path, "hostid, key_", values));
            }
            keys.push(key);
            if text_of(&checked.columns, "master_itemid").parse::<u64>().is_ok_and(|id| id > 0) {
                dependent.push((new.len(), path));
            }
            new.push(NewItem {
                columns: checked.columns,
                preprocessing: checked.preprocessing.unwrap_or_default(),
                tags: checked.tags.unwrap_or_default(),
            });
        }
        let ids = config::objects::create_items(edit, &new)?;
        let dependent: Vec<(u64, String)> =
            dependent.into_iter().map(|(n, path)| (ids[n], path)).collect();
        check_masters(edit, &dependent)?;
        Ok::<_, ApiError>(ids)
    })?;
    Ok(kind.object().result(&ids))
}

/// The members of an object, all of them known.
fn members<'j>(
    object: &'j Json,
    path: &str,
    kind: Kind,
    update: bool,
) -> ApiResult<&'j Map<String, Json>> {
    let Json::Object(members) = object else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    let known = |name: &str| match name {
        "itemid" => update,
        // What tells where an object belongs cannot change.
        "hostid" | "ruleid" if update => false,
        // Old clients send them; they are taken and ignored.
        "flags" => !update && kind == Kind::Item,
        _ => kind.object().field(name).is_some_and(|f| f.access != Access::ReadOnly),
    };
    match members.keys().find(|name| !known(name)) {
        Some(name) => Err(ApiError::at(path, format_args!("unexpected parameter \"{name}\""))),
        None => Ok(members),
    }
}

/// `hosts.kind` of a host or template that the user may change.
fn host_kind(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    known: &mut HashMap<u64, i64>,
    hostid: u64,
) -> ApiResult<i64> {
    if let Some(kind) = known.get(&hostid) {
        return Ok(*kind);
    }
    let right = and(on_hosts(call.user(), Need::Write, "hostid"));
    let sql = format!("SELECT kind FROM hosts WHERE hostid = ? AND kind < {KIND_PROTOTYPE}{right}");
    let rows = edit.query(&sql, &[hostid.into()])?;
    let row = rows.first().ok_or_else(|| ApiError::params(NO_OBJECT))?;
    known.insert(hostid, row.int("kind"));
    Ok(row.int("kind"))
}

/// Checks an object's members against the rules of its type. `before`: the row that changes.
fn check(
    edit: &mut Edit<'_>,
    members: &Map<String, Json>,
    path: &str,
    kind: Kind,
    host_kind: i64,
    before: Option<&Row>,
) -> ApiResult<Checked> {
    let fields = kind.object().fields.iter();
    let fields: Vec<&Field> = fields.filter(|f| f.access != Access::ReadOnly).collect();
    let plain = |f: &&&Field| !matches!(f.name, "itemid" | "hostid" | "ruleid");
    let mut given: Columns = Vec::new();
    for field in fields.iter().filter(plain) {
        let field_path = format!("{path}/{}", field.name);
        match members.get(field.name) {
            Some(value) => {
                let value = match field.name {
                    "query_fields" | "headers" | "parameters" => {
                        Some(pairs(value, &field_path, field.name)?)
                    }
                    _ => field.kind.check(value, &field_path)?,
                };
                given.extend(value.map(|value| (field.name, value)));
            }
            None if before.is_none() && field.access == Access::Required => {
                return Err(missing(path, field.name));
            }
            None => {}
        }
    }
    let shape = shape(kind, HostKind::Template.is(host_kind), &given, before);
    if ValueType::Binary.is(shape.value_type)
        && shape.item_type != ItemType::Dependent
        && members.contains_key("value_type")
    {
        let path = format!("{path}/value_type");
        return Err(ApiError::at(&path, "value must be one of 0, 1, 2, 3, 4"));
    }
    let typed = before.is_none_or(|row| row.int("type") != shape.item_type.number());
    let mut columns = Columns::new();
    for field in fields.iter().filter(plain) {
        if matches!(field.kind, FieldKind::Nested) {
            continue;
        }
        let at = format!("{path}/{}", field.name);
        let value = config::objects::column(&given, field.name).cloned();
        let stored = before.and_then(|row| row.get(field.name)).cloned();
        columns.extend(
            decide(&shape, field, value, stored, typed, path, &at)?.map(|v| (field.name, v)),
        );
    }
    if kind == Kind::Rule && before.is_none() {
        columns.push(("value_type", Value::from(ValueType::Text.number())));
    }
    if shape.item_type == ItemType::Jmx
        && config::objects::column(&columns, "jmx_endpoint").is_none()
        && typed
    {
        columns.push(("jmx_endpoint", JMX_ENDPOINT.into()));
    }
    check_lifetimes(&columns, before, path)?;
    check_uuid(edit, &columns, before, path)?;
    let mut checked = Checked { columns, preprocessing: None, tags: None };
    nested_members(edit, members, path, kind, &mut checked)?;
    Ok(checked)
}

/// The column's new value, if it gets one.
fn decide(
    shape: &Shape,
    field: &Field,
    value: Option<Value>,
    stored: Option<Value>,
    typed: bool,
    path: &str,
    at: &str,
) -> ApiResult<Option<Value>> {
    match (shape.presence(field.name), value) {
        (Presence::Fixed(fixed), Some(value)) => {
            if matches!(field.kind, FieldKind::Json) {
                if !value.to_string().is_empty() {
                    return Err(ApiError::at(at, "should be empty"));
                }
            } else {
                refuse_other(field, &value, fixed, at)?;
            }
            Ok(Some(value))
        }
        // What the new type has no use for goes back to what it is without it.
        (Presence::Fixed(fixed), None) => {
            let number =
                matches!(field.kind, FieldKind::Id | FieldKind::Int(..) | FieldKind::OneOf(_));
            let fixed = if number { Value::Int(fixed.parse().unwrap_or(0)) } else { fixed.into() };
            let default =
                table::ITEMS.column(field.name).map(config::schema::Column::default_value);
            let now = stored.or(default);
            Ok((now.is_some_and(|now| now != fixed)).then_some(fixed))
        }
        (_, Some(value)) => {
            shape.check(field.name, &value, at)?;
            Ok(Some(value))
        }
        (Presence::Required, None) => match stored {
            None => Err(missing(path, field.name)),
            Some(stored) if typed => shape.check(field.name, &stored, at).map(|()| None),
            Some(_) => Ok(None),
        },
        (Presence::Optional, None) => Ok(None),
    }
}

fn shape(kind: Kind, on_template: bool, given: &Columns, before: Option<&Row>) -> Shape {
    let table = &table::ITEMS;
    let value = |name: &str| {
        config::objects::column(given, name)
            .cloned()
            .or_else(|| before.and_then(|row| row.get(name)).cloned())
            .or_else(|| table.column(name).map(config::schema::Column::default_value))
            .unwrap_or(Value::Int(0))
    };
    let int = |name: &str| value(name).as_int();
    Shape {
        kind,
        on_template,
        item_type: ItemType::from_number(int("type")).unwrap_or(ItemType::Trapper),
        value_type: if kind == Kind::Rule { 4 } else { int("value_type") },
        key: value("key_").to_string(),
        authtype: int("authtype"),
        request_method: int("request_method"),
        post_type: int("post_type"),
        allow_traps: int("allow_traps"),
        lifetime_type: int("lifetime_type"),
        enabled_type: int("enabled_lifetime_type"),
        snmp_oid: value("snmp_oid").to_string(),
    }
}

fn nested_members(
    edit: &mut Edit<'_>,
    members: &Map<String, Json>,
    path: &str,
    kind: Kind,
    checked: &mut Checked,
) -> ApiResult<()> {
    if let Some(value) = members.get("preprocessing") {
        let path = format!("{path}/preprocessing");
        checked.preprocessing = Some(steps::read(value, &path, kind)?);
    }
    if let Some(value) = members.get("tags") {
        checked.tags = Some(tags(value, &format!("{path}/tags"))?);
    }
    if let Some(value) = members.get("filter") {
        let filter = lld::filter(value, &format!("{path}/filter"))?;
        checked.columns.push(("filter", filter.to_string().into()));
    }
    if let Some(value) = members.get("lld_macro_paths") {
        let paths = lld::macro_paths(value, &format!("{path}/lld_macro_paths"))?;
        checked.columns.push(("lld_macro_paths", lld::column(&paths)));
    }
    if let Some(value) = members.get("overrides") {
        let mut overrides = lld::overrides(value, &format!("{path}/overrides"))?;
        lld::refer_to_templates(edit, &mut overrides)?;
        checked.columns.push(("overrides", lld::column(&overrides)));
    }
    Ok(())
}

/// Reads tags; the same tag with the same value may come once.
pub(crate) fn tags(value: &Json, path: &str) -> ApiResult<Vec<Tag>> {
    let (mut tags, mut seen): (Vec<Tag>, BTreeSet<Tag>) = Default::default();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["tag", "value"])?;
        let text = |name: &str| match members.get(name) {
            Some(value) => params::text(value, &format!("{path}/{name}")),
            None => Ok(String::new()),
        };
        if !members.contains_key("tag") {
            return Err(missing(&path, "tag"));
        }
        let tag = Tag { tag: text("tag")?, value: text("value")? };
        if tag.tag.is_empty() {
            return Err(ApiError::at(&format!("{path}/tag"), "cannot be empty"));
        }
        if !seen.insert(tag.clone()) && members.contains_key("value") {
            return Err(taken(&path, "tag, value", format!("{}, {}", tag.tag, tag.value)));
        }
        tags.push(tag);
    }
    Ok(tags)
}

/// Name and value pairs as JSON text; none is the empty text.
fn pairs(value: &Json, path: &str, name: &str) -> ApiResult<Value> {
    let mut out: Vec<Json> = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["name", "value", "sortorder"])?;
        let text = |name: &str| match members.get(name) {
            Some(value) => params::text(value, &format!("{path}/{name}")),
            None => Err(missing(&path, name)),
        };
        let key = text("name")?;
        if key.is_empty() {
            return Err(ApiError::at(&format!("{path}/name"), "cannot be empty"));
        }
        let value = text("value")?;
        if name == "parameters" && out.iter().any(|other| other["name"] == *key) {
            return Err(taken(&path, "name", key));
        }
        out.push(json!({ "name": key, "value": value }));
    }
    Ok(lld::column(&Json::Array(out)))
}

/// Members that only the template may change, for its children, in the order of complaint.
const OF_TEMPLATE: &[&str] = &[
    "uuid",
    "name",
    "key_",
    "value_type",
    "type",
    "units",
    "valuemapid",
    "logtimefmt",
    "preprocessing",
    "filter",
    "lld_macro_paths",
    "overrides",
    "master_itemid",
    "snmp_oid",
    "ipmi_sensor",
    "url",
    "query_fields",
    "request_method",
    "post_type",
    "posts",
    "headers",
    "status_codes",
    "follow_redirects",
    "retrieve_mode",
    "output_format",
    "http_proxy",
    "verify_peer",
    "verify_host",
    "ssl_cert_file",
    "ssl_key_file",
    "ssl_key_password",
    "parameters",
];

fn refuse_read_only(row: &Row, members: &Map<String, Json>, path: &str) -> ApiResult<()> {
    let (what, name) = if Origin::Discovered.is(row.int("flags")) {
        let other = members.keys().find(|name| !matches!(name.as_str(), "itemid" | "status"));
        ("discovered", other.map(String::as_str))
    } else if row.id("templateid") > 0 {
        ("inherited", OF_TEMPLATE.iter().copied().find(|name| members.contains_key(*name)))
    } else {
        return Ok(());
    };
    match name {
        Some(name) => Err(ApiError::at(
            path,
            format_args!("cannot update readonly parameter \"{name}\" of {what} object"),
        )),
        None => Ok(()),
    }
}

pub(super) fn update(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let ids = call.write_checked(|edit| {
        let updates = kind.object().updates(input)?;
        let ids: Vec<u64> = updates.iter().map(|(_, id, _)| *id).collect();
        for (path, _, object) in &updates {
            members(object, path, kind, true)?;
        }
        let rows = writable(call, edit, &ids, kind)?;
        let mut changes = Vec::new();
        let mut dependent = Vec::new();
        for ((path, id, object), row) in updates.into_iter().zip(&rows) {
            let members = members(object, &path, kind, true)?;
            refuse_read_only(row, members, &path)?;
            let checked = check(edit, members, &path, kind, row.int("host_kind"), Some(row))?;
            check_formula_hosts(call, edit, &checked.columns, Some(row), &path)?;
            let hostid = row.id("hostid");
            let mut all = checked.columns.clone();
            if config::objects::column(&all, "type").is_none() {
                all.push(("type", row.int("type").into()));
            }
            check_references(edit, &all, &path, hostid, kind, row.id("ruleid"))?;
            if config::objects::column(&checked.columns, "master_itemid").is_some() {
                dependent.push((id, path.clone()));
            }
            changes.push(ItemChange {
                id,
                columns: changed(checked.columns, row),
                preprocessing: checked.preprocessing,
                tags: checked.tags,
            });
        }
        config::objects::update_items(edit, &changes)?;
        check_masters(edit, &dependent)?;
        Ok::<_, ApiError>(ids)
    })?;
    Ok(kind.object().result(&ids))
}

/// Columns that really change: only these go to the children.
fn changed(columns: Columns, row: &Row) -> Columns {
    columns.into_iter().filter(|(name, value)| row.get(name) != Some(value)).collect()
}

/// Rows that the user may change, in the order of the ids, with `host_kind`.
fn writable(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64], kind: Kind) -> ApiResult<Vec<Row>> {
    let right = and(on_hosts(call.user(), Need::Write, "t.hostid"));
    let sql = format!(
        "SELECT t.*, h.kind AS host_kind FROM items t JOIN hosts h ON h.hostid = t.hostid \
         WHERE {}{right} AND t.itemid IN ({{ids}})",
        kind.condition()
    );
    rows_of(edit, &sql, "itemid", ids)
}

pub(super) fn delete(
    call: &Call<'_>,
    input: &Json,
    kind: Kind,
    keys: &'static str,
) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    let check = |edit: &mut Edit<'_>| {
        let rows = writable(call, edit, &ids, kind)?;
        let words = match kind {
            Kind::Item => "item",
            Kind::Rule => "LLD rule",
            Kind::Prototype => "item prototype",
        };
        if let Some(n) = rows.iter().position(|row| row.id("templateid") > 0) {
            let path = format!("/{}", n + 1);
            return Err(ApiError::at(&path, format_args!("cannot delete inherited {words}")));
        }
        Ok(())
    };
    inherited::delete_from_hosts(call, &inherited::ITEMS, &ids, PORTION_ITEMS, check)?;
    call.write(|edit| {
        check(edit)?;
        Ok::<_, ApiError>(config::objects::delete_items(edit, &ids)?)
    })?;
    Ok(json!({ keys: ids.iter().map(ToString::to_string).collect::<Vec<_>>() }))
}
