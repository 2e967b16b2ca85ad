//! `hostprototype.create`, `.update`, `.delete`.

use objects::HostKind;
use std::collections::{BTreeSet, HashSet};

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::objects::{
    GroupPrototype, HostPrototypeParts, column, create_host_prototype, delete_host_prototypes,
    update_host_prototype,
};
use const_format::formatcp;
use eval::macros::token_at;
use objects::sql::{FLAGS_DISCOVERED, FLAGS_RULE, KIND_PROTOTYPE};

use super::{HOST_PROTOTYPE, interfaces};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::item::read_tags;
use crate::object::{Columns, Mode, missing, taken};
use crate::owned::links;
use crate::owned::macros::{self, MacroInput};
use crate::params;
use crate::permission::{Need, and, on_hosts};
use crate::write::{Target, check_uuid, nested, nested_ids, only, rows_of};

/// What an object of the call says, checked by itself.
struct Checked {
    path: String,
    columns: Columns,
    parts: HostPrototypeParts,
    macros: Option<Vec<MacroInput>>,
    /// Interfaces were given, and some.
    interfaces: bool,
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut new: Vec<(u64, Checked)> = Vec::new();
    for (path, object) in params::objects(input)? {
        let mut checked = check(object, &path, Mode::Create)?;
        let rule = object.get("ruleid").ok_or_else(|| missing(&path, "ruleid"))?;
        let rule = params::id(rule, &format!("{path}/ruleid"))?;
        if column(&checked.columns, "name").is_none() {
            let host = column(&checked.columns, "host").cloned();
            checked.columns.extend(host.map(|host| ("name", host)));
        }
        for name in ["host", "name"] {
            let value = column(&checked.columns, name);
            if new.iter().any(|(r, other)| *r == rule && column(&other.columns, name) == value) {
                let value = value.map(ToString::to_string).unwrap_or_default();
                let names = format!("ruleid, {name}");
                return Err(taken(&path, &names, format_args!("{rule}, {value}")));
            }
        }
        new.push((rule, checked));
    }
    let ids = call.write(|edit| {
        let mut ids = Vec::new();
        for (rule, checked) in &mut new {
            let kind = rule_kind(call, edit, *rule)?;
            if HostKind::Host.is(kind) && column(&checked.columns, "uuid").is_some() {
                return Err(ApiError::at(&format!("{}/uuid", checked.path), "value must be empty"));
            }
            check_references(call, edit, 0, checked)?;
            check_group_prototypes(edit, 0, checked)?;
            check_free(edit, *rule, 0, &checked.columns)?;
            let custom = column(&checked.columns, "custom_interfaces").map_or(0, Value::as_int);
            refuse_interfaces(checked, custom)?;
            let given = checked.macros.take().unwrap_or_default();
            checked.parts.macros =
                Some(given.iter().map(MacroInput::new_row).collect::<ApiResult<_>>()?);
            ids.push(create_host_prototype(edit, *rule, &checked.columns, &checked.parts)?);
        }
        Ok(ids)
    })?;
    Ok(HOST_PROTOTYPE.result(&ids))
}

/// What the members say, without a look into the database.
fn check(object: &Json, path: &str, mode: Mode) -> ApiResult<Checked> {
    if mode == Mode::Update && object.get("ruleid").is_some() {
        return Err(ApiError::at(path, "unexpected parameter \"ruleid\""));
    }
    let mut columns = HOST_PROTOTYPE.validate(object, path, mode)?;
    columns.retain(|(name, _)| *name != "ruleid");
    let at = |name: &str| format!("{path}/{name}");
    if let Some(host) = column(&columns, "host") {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ');
        check_pattern(&host.to_string(), &at("host"), "invalid host name", &|rest| {
            rest.chars().all(fits)
        })?;
    }
    match column(&columns, "uuid").map(ToString::to_string) {
        Some(uuid) if uuid.is_empty() => columns.retain(|(name, _)| *name != "uuid"),
        Some(uuid) => check_uuid(&uuid, &at("uuid"))?,
        None => {}
    }
    let mut checked = Checked {
        path: path.to_owned(),
        columns,
        parts: HostPrototypeParts::default(),
        macros: None,
        interfaces: false,
    };
    let parts = &mut checked.parts;
    if let Some(value) = object.get("interfaces") {
        let list = interfaces::parse(value, &at("interfaces"))?;
        checked.interfaces = !list.is_empty();
        parts.interfaces = Some(list);
    }
    if let Some(value) = object.get("groupLinks") {
        let groups = nested_ids(value, &at("groupLinks"), "groupid")?;
        if groups.is_empty() {
            return Err(ApiError::at(&at("groupLinks"), "cannot be empty"));
        }
        parts.group_links = Some(groups);
    }
    if let Some(value) = object.get("groupPrototypes") {
        parts.group_prototypes = Some(group_prototypes(value, &at("groupPrototypes"), mode)?);
    }
    if let Some(value) = object.get("templates") {
        parts.templates = Some(nested_ids(value, &at("templates"), "templateid")?);
    }
    if let Some(value) = object.get("tags") {
        parts.tags = Some(read_tags(value, &at("tags"))?);
    }
    if let Some(value) = object.get("macros") {
        let macros = macros::parse(value, &at("macros"), mode == Mode::Update)?;
        checked.macros = Some(macros);
    }
    Ok(checked)
}

/// A name with at least one LLD macro, whose rest `fits`.
fn check_pattern(
    name: &str,
    path: &str,
    wrong: &str,
    fits: &dyn Fn(&str) -> bool,
) -> ApiResult<()> {
    let (mut rest, mut at, mut macros) = (String::new(), 0, 0);
    while let Some(c) = name.get(at..).and_then(|rest| rest.chars().next()) {
        match token_at(name, at).filter(eval::macros::Token::is_lld_macro) {
            Some(token) => {
                macros += 1;
                at = token.span.end;
            }
            None => {
                rest.push(c);
                at += c.len_utf8();
            }
        }
    }
    if macros == 0 {
        let text = "must contain at least one low-level discovery macro";
        return Err(ApiError::at(path, text));
    }
    if fits(&rest) { Ok(()) } else { Err(ApiError::at(path, wrong)) }
}

fn group_prototypes(value: &Json, path: &str, mode: Mode) -> ApiResult<Vec<GroupPrototype>> {
    let members: &[&str] =
        if mode == Mode::Update { &["group_prototypeid", "name"] } else { &["name"] };
    let mut found: Vec<GroupPrototype> = Vec::new();
    for (path, given) in nested(value, path)? {
        only(given, &path, members)?;
        let id = given.get("group_prototypeid");
        let id = id.map(|id| params::id(id, &format!("{path}/group_prototypeid"))).transpose()?;
        let id = id.unwrap_or(0);
        if id > 0 && found.iter().any(|one| one.id == id) {
            return Err(taken(&path, "group_prototypeid", id));
        }
        let Some(name) = given.get("name") else {
            if id == 0 {
                return Err(missing(&path, "name"));
            }
            found.push(GroupPrototype { id, name: String::new() });
            continue;
        };
        let at = format!("{path}/name");
        let name = params::text(name, &at)?;
        if name.is_empty() {
            return Err(ApiError::at(&at, "cannot be empty"));
        }
        if name.chars().count() > 255 {
            return Err(ApiError::at(&at, "value is too long"));
        }
        let whole = !name.split('/').any(str::is_empty);
        check_pattern(&name, &at, "invalid host group name", &|_| whole)?;
        found.push(GroupPrototype { id, name });
    }
    Ok(found)
}

/// Patterns that are given by their ids are the prototype's, and each name is there once; those
/// without a name get the one that they have.
fn check_group_prototypes(
    edit: &mut Edit<'_>,
    prototype: u64,
    checked: &mut Checked,
) -> ApiResult<()> {
    let sql = "SELECT group_prototypeid, name FROM group_prototypes \
               WHERE groupid = 0 AND hostid = ?";
    let rows = edit.query(sql, &[prototype.into()])?;
    let given = checked.parts.group_prototypes.as_deref_mut().unwrap_or_default();
    let mut names = HashSet::new();
    for (n, one) in given.iter_mut().enumerate() {
        let path = format!("{}/groupPrototypes/{}", checked.path, n + 1);
        if one.id > 0 {
            let row = rows.iter().find(|row| row.id("group_prototypeid") == one.id);
            let text = "object does not exist or belongs to another object";
            let row = row.ok_or_else(|| ApiError::at(&path, text))?;
            if one.name.is_empty() {
                row.text("name").clone_into(&mut one.name);
            }
        }
        if !names.insert(&one.name) {
            return Err(taken(&path, "name", &one.name));
        }
    }
    Ok(())
}

/// `hosts.kind` of the rule's host, which the user may change and which people made.
fn rule_kind(call: &Call<'_>, edit: &mut Edit<'_>, rule: u64) -> ApiResult<i64> {
    let right = and(on_hosts(call.user(), Need::Write, "h.hostid"));
    let sql = format!(
        "SELECT h.hostid, h.kind FROM items i JOIN hosts h ON h.hostid = i.hostid \
         WHERE i.flags = {FLAGS_RULE} AND i.itemid = ?{right}"
    );
    let rows = edit.query(&sql, &[rule.into()])?;
    let row = rows.first().ok_or_else(ApiError::no_object)?;
    refuse_discovered(edit, row.id("hostid"))?;
    Ok(row.int("kind"))
}

/// Refuses copies of a rule's host prototypes that this user could not create on the host or
/// template; returns those of their templates that the copies may have.
pub(crate) fn check_copies(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    rule: u64,
    host: u64,
) -> ApiResult<BTreeSet<u64>> {
    let sql = formatcp!(
        "SELECT p.hostid FROM host_discovery d JOIN hosts p ON p.hostid = d.hostid \
               WHERE p.kind = {KIND_PROTOTYPE} AND d.parent_itemid = ?"
    );
    let prototypes = edit.query(sql, &[rule.into()])?;
    if prototypes.is_empty() {
        return Ok(BTreeSet::new());
    }
    refuse_discovered(edit, host)?;
    let prototypes: Vec<u64> = prototypes.iter().map(|row| row.id("hostid")).collect();
    let mut ids = |table: &str, column: &str| -> ApiResult<Vec<u64>> {
        let sql =
            format!("SELECT {column} FROM {table} WHERE {column} > 0 AND hostid IN ({{ids}})");
        let rows = query_by_ids(edit, &sql, &[], &prototypes)?;
        Ok(rows.iter().map(|row| row.id(column)).collect())
    };
    let (groups, templates) =
        (ids("group_prototypes", "groupid")?, ids("host_templates", "templateid")?);
    check_groups(call, edit, &groups)?;
    call.allowed(edit, Target::Template, Need::Read, &templates)
}

/// Hosts made by discovery have no host prototypes of their own.
fn refuse_discovered(edit: &mut Edit<'_>, host: u64) -> ApiResult<()> {
    let sql = formatcp!("SELECT host FROM hosts WHERE flags = {FLAGS_DISCOVERED} AND hostid = ?");
    match edit.query(sql, &[host.into()])?.first() {
        None => Ok(()),
        Some(row) => Err(ApiError::params(format!(
            "Cannot create a host prototype on a discovered host \"{}\".",
            row.text("host")
        ))),
    }
}

/// The user may put hosts into these groups, and they are none of discovery's.
fn check_groups(call: &Call<'_>, edit: &mut Edit<'_>, groups: &[u64]) -> ApiResult<()> {
    call.require(edit, Target::HostGroup, Need::Write, groups)?;
    let sql = formatcp!(
        "SELECT name FROM groups_ WHERE flags = {FLAGS_DISCOVERED} AND groupid IN ({{ids}})"
    );
    if let Some(row) = query_by_ids(edit, sql, &[], groups)?.first() {
        let text = "Group prototype cannot be based on a discovered host group";
        return Err(ApiError::params(format!("{text} \"{}\".", row.text("name"))));
    }
    Ok(())
}

/// Templates, and groups that the prototype `own` gets or loses, exist, and the user may use them.
fn check_references(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    own: u64,
    checked: &Checked,
) -> ApiResult<()> {
    if let Some(groups) = &checked.parts.group_links {
        let sql = "SELECT groupid FROM group_prototypes WHERE groupid > 0 AND hostid = ?";
        let now = edit.query(sql, &[own.into()])?;
        let now: BTreeSet<u64> = now.iter().map(|row| row.id("groupid")).collect();
        let then: BTreeSet<u64> = groups.iter().copied().collect();
        let changed: Vec<u64> = now.symmetric_difference(&then).copied().collect();
        check_groups(call, edit, &changed)?;
    }
    if let Some(templates) = &checked.parts.templates {
        let path = format!("{}/templates", checked.path);
        call.require_at(edit, Target::Template, Need::Read, templates, &path)?;
    }
    let Some(uuid) = column(&checked.columns, "uuid") else { return Ok(()) };
    let sql = formatcp!("SELECT hostid FROM hosts WHERE kind = {KIND_PROTOTYPE} AND uuid = ?");
    if edit.query(sql, std::slice::from_ref(uuid))?.is_empty() {
        return Ok(());
    }
    Err(ApiError::params("Host prototype with the same UUID already exists."))
}

/// Names are unique within a rule.
fn check_free(edit: &mut Edit<'_>, rule: u64, own: u64, columns: &Columns) -> ApiResult<()> {
    for (name, words) in [("host", "host name"), ("name", "visible name")] {
        let Some(value) = column(columns, name) else { continue };
        let sql = format!(
            "SELECT r.name FROM host_discovery d JOIN hosts p ON p.hostid = d.hostid \
             JOIN items r ON r.itemid = d.parent_itemid \
             WHERE p.kind = {KIND_PROTOTYPE} AND d.parent_itemid = ? AND p.{name} = ? AND p.hostid <> ?"
        );
        let rows = edit.query(&sql, &[rule.into(), value.clone(), own.into()])?;
        if let Some(row) = rows.first() {
            return Err(ApiError::params(format!(
                "Host prototype with {words} \"{value}\" already exists in discovery rule \"{}\".",
                row.text("name"),
            )));
        }
    }
    Ok(())
}

fn refuse_interfaces(checked: &Checked, custom: i64) -> ApiResult<()> {
    if custom == 0 && checked.interfaces {
        return Err(ApiError::at(&format!("{}/interfaces", checked.path), "should be empty"));
    }
    Ok(())
}

/// Members that only the template may change, for its children, in the order of complaint.
const OF_TEMPLATE: &[&str] = &[
    "uuid",
    "host",
    "name",
    "custom_interfaces",
    "interfaces",
    "groupLinks",
    "groupPrototypes",
    "templates",
    "tags",
    "macros",
    "inventory_mode",
];

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let updates = HOST_PROTOTYPE.updates(input)?;
    let ids: Vec<u64> = updates.iter().map(|(_, id, _)| *id).collect();
    call.write(|edit| {
        let rows = writable(call, edit, &ids)?;
        for ((path, id, object), row) in updates.iter().zip(&rows) {
            if row.id("templateid") > 0
                && let Some(name) = OF_TEMPLATE.iter().find(|name| object.get(**name).is_some())
            {
                let text =
                    format!("cannot update readonly parameter \"{name}\" of inherited object");
                return Err(ApiError::at(path, text));
            }
            let mut checked = check(object, path, Mode::Update)?;
            if HostKind::Host.is(row.int("kind")) && column(&checked.columns, "uuid").is_some() {
                return Err(ApiError::at(&format!("{path}/uuid"), "value must be empty"));
            }
            if column(&checked.columns, "uuid").map(ToString::to_string).as_deref()
                == Some(row.text("uuid"))
            {
                checked.columns.retain(|(name, _)| *name != "uuid");
            }
            check_references(call, edit, *id, &checked)?;
            if let Some(templates) = &mut checked.parts.templates {
                templates.extend(links::hidden(call, edit, *id)?);
            }
            check_group_prototypes(edit, *id, &mut checked)?;
            check_free(edit, row.id("ruleid"), *id, &checked.columns)?;
            let custom = column(&checked.columns, "custom_interfaces").map(Value::as_int);
            let custom = custom.unwrap_or_else(|| row.int("custom_interfaces"));
            refuse_interfaces(&checked, custom)?;
            if custom == 0 && row.int("custom_interfaces") == 1 {
                checked.parts.interfaces = Some(Vec::new());
            }
            if let Some(given) = &checked.macros {
                checked.parts.macros = Some(macro_rows(edit, *id, given)?);
            }
            update_host_prototype(edit, *id, &checked.columns, &checked.parts)?;
        }
        Ok(HOST_PROTOTYPE.result(&ids))
    })
}

/// Rows of these macros: one of the same id or name keeps what is not given.
fn macro_rows(edit: &mut Edit<'_>, id: u64, given: &[MacroInput]) -> ApiResult<Vec<Columns>> {
    macros::replace(edit, id, given)?;
    const COLUMNS: &[&str] = &["hostmacroid", "macro", "value", "description", "type"];
    let columns = |row: &Row| -> Columns {
        let one = |name: &&'static str| Some((*name, row.get(name)?.clone()));
        COLUMNS.iter().filter_map(one).collect()
    };
    Ok(macros::of(edit, id)?.iter().map(columns).collect())
}

/// Rows of prototypes that the user may change, in the order of the ids, with `ruleid` and the
/// `kind` of the rule's host.
fn writable(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Vec<Row>> {
    let right = and(on_hosts(call.user(), Need::Write, "h.hostid"));
    let sql = format!(
        "SELECT p.hostid, p.templateid, p.uuid, p.custom_interfaces, i.itemid AS ruleid, h.kind \
         FROM hosts p JOIN host_discovery d ON d.hostid = p.hostid \
         JOIN items i ON i.itemid = d.parent_itemid JOIN hosts h ON h.hostid = i.hostid \
         WHERE p.kind = {KIND_PROTOTYPE} AND p.hostid IN ({{ids}}){right}"
    );
    rows_of(edit, &sql, "hostid", ids)
}

pub(super) fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let rows = writable(call, edit, &ids)?;
        if let Some(n) = rows.iter().position(|row| row.id("templateid") > 0) {
            let text = "cannot delete templated host prototype";
            return Err(ApiError::at(&format!("/{}", n + 1), text));
        }
        Ok::<_, ApiError>(delete_host_prototypes(edit, &ids)?)
    })?;
    Ok(HOST_PROTOTYPE.result(&ids))
}
