//! Creating, changing and deleting triggers and trigger prototypes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use config::audit::Described;
use config::db::{Row, Value, query_by_ids};
use config::objects::{ExpressionError, NewTrigger, Resolved, Tag, TriggerChange, column, resolve};
use config::{Edit, table};
use objects::{CorrelationMode, HostKind, Origin, RecoveryMode};

use super::checks::{check_event_name, check_modes, check_prototypes, check_url, check_uuid};
use super::circles::refuse_circles;
use super::{Kind, expand};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Mode, taken};
use crate::owned::extent::PORTION_ITEMS;
use crate::owned::inherited;
use crate::params;
use crate::permission::{Need, and, on_hosts, on_triggers};
use crate::write::{nested_ids, rows_of};

/// What an object in the call says, checked field by field.
struct Input {
    columns: Columns,
    expression: Option<String>,
    recovery: Option<String>,
    tags: Option<Vec<Tag>>,
    depends_on: Option<Vec<u64>>,
}

fn read(object: &Json, path: &str, kind: Kind, mode: Mode) -> ApiResult<Input> {
    let mut columns = kind.object().validate(object, path, mode)?;
    let mut take = |name: &str| {
        let at = columns.iter().position(|(column, _)| *column == name)?;
        Some(columns.remove(at).1.to_string())
    };
    let (expression, recovery) = (take("expression"), take("recovery_expression"));
    if let Some(url) = column(&columns, "url").map(ToString::to_string) {
        check_url(&url, &format!("{path}/url"))?;
    }
    if let Some(name) = column(&columns, "event_name").map(ToString::to_string) {
        check_event_name(&name, &format!("{path}/event_name"))?;
    }
    let list = |name: &str| match object.get(name) {
        Some(value @ (Json::Array(_) | Json::Object(_))) => Ok(Some(value)),
        Some(_) => Err(ApiError::at(&format!("{path}/{name}"), "an array is expected")),
        None => Ok(None),
    };
    let tags = match list("tags")? {
        Some(value) => Some(unique_tags(value, &format!("{path}/tags"))?),
        None => None,
    };
    let depends_on = match list("dependencies")? {
        Some(value) => Some(nested_ids(value, &format!("{path}/dependencies"), "triggerid")?),
        None => None,
    };
    Ok(Input { columns, expression, recovery, tags, depends_on })
}

/// Tags of triggers: the same tag and value only once, given or not.
fn unique_tags(value: &Json, path: &str) -> ApiResult<Vec<Tag>> {
    let tags = crate::methods::item::read_tags(value, path)?;
    let mut seen = BTreeSet::new();
    for (n, tag) in tags.iter().enumerate() {
        if !seen.insert(tag) {
            let path = format!("{path}/{}", n + 1);
            return Err(taken(&path, "tag, value", format!("{}, {}", tag.tag, tag.value)));
        }
    }
    Ok(tags)
}

fn resolved(
    edit: &mut Edit<'_>,
    expression: &str,
    recovery: &str,
    path: &str,
    kind: Kind,
) -> ApiResult<Resolved> {
    resolve(edit, expression, recovery, kind == Kind::Prototype).map_err(|error| match error {
        ExpressionError::Syntax { recovery, text } => {
            let name = if recovery { "recovery_expression" } else { "expression" };
            ApiError::at(&format!("{path}/{name}"), text)
        }
        ExpressionError::Reference(text) => ApiError::params(text),
        ExpressionError::Db(error) => error.into(),
    })
}

/// Checks which items an expression may name together, and that the user may change their hosts.
fn check_items(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    items: &[config::objects::ItemRef],
    description: &str,
    kind: Kind,
) -> ApiResult<()> {
    let hosts: BTreeMap<u64, i64> = items.iter().map(|i| (i.hostid, i.host_kind)).collect();
    let ids: Vec<u64> = hosts.keys().copied().collect();
    if let Some(condition) = on_hosts(call.user(), Need::Write, "hostid") {
        let sql = format!("SELECT hostid FROM hosts WHERE {condition} AND hostid IN ({{ids}})");
        let allowed = query_by_ids(edit, &sql, &[], &ids)?;
        if allowed.len() < ids.len() {
            return Err(ApiError::params(
                "Incorrect trigger expression. One of its hosts does not exist or you have no \
                 access to it.",
            ));
        }
    }
    let templates: Vec<u64> = hosts.iter().filter(|(_, k)| **k == 1).map(|(id, _)| *id).collect();
    if !templates.is_empty() && templates.len() < hosts.len() {
        return Err(ApiError::params(
            "Incorrect trigger expression. Trigger expression elements should not belong to a \
             template and a host simultaneously.",
        ));
    }
    if templates.len() > 1 {
        let sql = "SELECT templateid, hostid FROM host_templates WHERE templateid IN ({ids})";
        let mut linked: BTreeMap<u64, BTreeSet<u64>> =
            templates.iter().map(|id| (*id, BTreeSet::new())).collect();
        for row in query_by_ids(edit, sql, &[], &templates)? {
            linked.entry(row.id("templateid")).or_default().insert(row.id("hostid"));
        }
        let sets: BTreeSet<_> = linked.values().collect();
        if sets.len() > 1 {
            return Err(ApiError::params(format!(
                "{} \"{description}\" belongs to templates with different linkages.",
                kind.word()
            )));
        }
    }
    check_prototypes(items, description, kind)
}

pub(super) fn create(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let ids = call.write(|edit| {
        let mut new: Vec<NewTrigger> = Vec::new();
        let mut written: Vec<[String; 2]> = Vec::new();
        let mut seen: Vec<(String, String)> = Vec::new();
        for (path, object) in params::objects(input)? {
            let Input { mut columns, expression, recovery, tags, depends_on } =
                read(object, &path, kind, Mode::Create)?;
            let expression = expression.unwrap_or_default();
            let recovery = recovery.unwrap_or_default();
            let text = |name: &str| match name {
                "recovery_expression" => recovery.clone(),
                _ => column(&columns, name).map(ToString::to_string).unwrap_or_default(),
            };
            check_modes(&text)?;
            let description = text("description");
            let pair = (description.clone(), expression.clone());
            if seen.contains(&pair) {
                let values = format!("{description}, {expression}");
                return Err(taken(&path, "description, expression", values));
            }
            seen.push(pair);
            let resolved = resolved(edit, &expression, &recovery, &path, kind)?;
            let on_template = resolved.items.iter().any(|item| item.host_kind == 1);
            check_uuid(&columns, on_template, &path)?;
            check_items(call, edit, &resolved.items, &description, kind)?;
            if kind == Kind::Prototype {
                columns.push(("flags", Value::from(Origin::Prototype.number())));
            }
            let depends_on = depends_on.unwrap_or_default();
            check_dependencies(call, edit, &description, on_template, &depends_on)?;
            written.push([expression, recovery]);
            new.push(NewTrigger {
                columns,
                expression: resolved.expression,
                recovery: resolved.recovery,
                functions: resolved.functions,
                tags: tags.unwrap_or_default(),
                depends_on,
            });
        }
        let ids = config::objects::create_triggers(edit, &new)?;
        for (id, now) in ids.iter().zip(&written) {
            describe(edit, *id, now, None);
        }
        Ok(ids)
    })?;
    Ok(kind.object().result(&ids))
}

/// Tells the audit log expressions as people write them.
fn describe(edit: &mut Edit<'_>, id: u64, now: &[String; 2], before: Option<&[String; 2]>) {
    for (at, field) in ["expression", "recovery_expression"].into_iter().enumerate() {
        let now = &now[at];
        let text = match before.map(|before| &before[at]) {
            Some(before) if before == now => continue,
            Some(before) => Described::Changed { now, before },
            None if now.is_empty() => continue,
            None => Described::New(now),
        };
        edit.describe(&table::TRIGGERS, id, field, text);
    }
}

/// Dependencies exist, the user sees them, and no template's trigger depends on one further down.
fn check_dependencies(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    description: &str,
    on_template: bool,
    on: &[u64],
) -> ApiResult<()> {
    if on.is_empty() {
        return Ok(());
    }
    let right = and(on_triggers(call.user(), Need::Read, "t.triggerid"));
    let sql = format!(
        "SELECT t.triggerid, t.description, h.kind, h.name FROM triggers t \
         JOIN functions f ON f.triggerid = t.triggerid JOIN items i ON i.itemid = f.itemid \
         JOIN hosts h ON h.hostid = i.hostid WHERE t.triggerid IN ({{ids}}){right}"
    );
    // The condition on rights stands behind the ids, which `query_by_ids` does not mind.
    let rows = query_by_ids(edit, &sql, &[], on)?;
    let found: HashMap<u64, &Row> = rows.iter().map(|row| (row.id("triggerid"), row)).collect();
    if on.iter().any(|id| !found.contains_key(id)) {
        return Err(ApiError::no_object());
    }
    for other in on {
        let row = found[other];
        if on_template && HostKind::Host.is(row.int("kind")) {
            return Err(ApiError::params(format!(
                "Trigger \"{description}\" cannot depend on the trigger \"{}\" from the host \
                 \"{}\", because dependencies on triggers from a child template or host are not \
                 allowed.",
                row.text("description"),
                row.text("name")
            )));
        }
    }
    Ok(())
}

/// Fields of an inherited trigger that only the template's may change.
const OF_TEMPLATE: &[&str] = &[
    "uuid",
    "description",
    "expression",
    "recovery_mode",
    "recovery_expression",
    "correlation_mode",
    "correlation_tag",
    "manual_close",
];

fn refuse_read_only(object: &Json, row: &Row) -> ApiResult<()> {
    let given = |name: &&&str| object.get(**name).is_some();
    let (word, name) = if Origin::Discovered.is(row.int("flags")) {
        let names = object.as_object().into_iter().flat_map(|o| o.keys());
        let other = names.map(String::as_str).find(|n| !matches!(*n, "triggerid" | "status"));
        ("discovered", other)
    } else if row.id("templateid") > 0 {
        ("templated", OF_TEMPLATE.iter().find(given).copied())
    } else {
        return Ok(());
    };
    let Some(name) = name else { return Ok(()) };
    let description = object.get("description").and_then(Json::as_str);
    Err(ApiError::params(format!(
        "Cannot update \"{name}\" for {word} trigger \"{}\".",
        description.unwrap_or_else(|| row.text("description"))
    )))
}

/// Rows that the user may change, in the order of the ids.
fn writable(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64], kind: Kind) -> ApiResult<Vec<Row>> {
    let right = and(on_triggers(call.user(), Need::Write, "t.triggerid"));
    let sql = format!(
        "SELECT t.* FROM triggers t WHERE {}{right} AND t.triggerid IN ({{ids}})",
        kind.condition()
    );
    rows_of(edit, &sql, "triggerid", ids)
}

pub(super) fn update(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let updates = kind.object().updates(input)?;
    let ids: Vec<u64> = updates.iter().map(|(_, id, _)| *id).collect();
    // Expressions in the form of the call, for those that are not in it.
    let stored: Vec<(u64, String)> = expressions_of(call, &ids, "expression")?;
    let recoveries: Vec<(u64, String)> = expressions_of(call, &ids, "recovery_expression")?;
    let expressions = expand::expressions(call, &stored)?;
    let recoveries = expand::expressions(call, &recoveries)?;
    call.write(|edit| {
        let (mut changes, mut written) = (Vec::new(), Vec::new());
        let mut inputs = Vec::new();
        for (path, id, object) in &updates {
            inputs.push((path, *id, *object, read(object, path, kind, Mode::Update)?));
        }
        let rows = writable(call, edit, &ids, kind)?;
        for ((path, id, object, input), row) in inputs.into_iter().zip(&rows) {
            refuse_read_only(object, row)?;
            let before = [&expressions, &recoveries]
                .map(|texts| texts.get(&id).cloned().unwrap_or_default());
            let (change, now) = change(call, edit, input, row, &before, path, kind)?;
            changes.push(change);
            written.push((id, now, before));
        }
        config::objects::update_triggers(edit, &changes)?;
        for (id, now, before) in &written {
            describe(edit, *id, now, Some(before));
        }
        let dependent: Vec<u64> =
            changes.iter().filter(|one| one.depends_on.is_some()).map(|one| one.id).collect();
        refuse_circles(edit, &dependent)
    })?;
    Ok(kind.object().result(&ids))
}

fn expressions_of(call: &Call<'_>, ids: &[u64], name: &str) -> ApiResult<Vec<(u64, String)>> {
    let sql =
        format!("SELECT triggerid, {name} AS text FROM triggers WHERE triggerid IN ({{ids}})");
    let rows = call.read(|c| Ok(query_by_ids(c, &sql, &[], ids)?))?;
    Ok(rows.iter().map(|row| (row.id("triggerid"), row.text("text").to_owned())).collect())
}

/// One trigger's change, checked, and its new expressions as people write them; `before`: the former ones.
fn change(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    input: Input,
    row: &Row,
    before: &[String; 2],
    path: &str,
    kind: Kind,
) -> ApiResult<(TriggerChange, [String; 2])> {
    let Input { mut columns, expression, mut recovery, tags, depends_on } = input;
    let mode =
        column(&columns, "recovery_mode").and_then(|mode| RecoveryMode::from_number(mode.as_int()));
    // Another way to recover leaves no expression behind, another mode no tag.
    if mode.is_some_and(|mode| mode != RecoveryMode::RecoveryExpression) && recovery.is_none() {
        recovery = Some(String::new());
    }
    let closes_all = column(&columns, "correlation_mode")
        .is_some_and(|mode| CorrelationMode::All.is(mode.as_int()));
    if (closes_all || mode == Some(RecoveryMode::None))
        && column(&columns, "correlation_tag").is_none()
    {
        columns.push(("correlation_tag", "".into()));
    }
    if mode == Some(RecoveryMode::None) && column(&columns, "correlation_mode").is_none() {
        columns.push(("correlation_mode", CorrelationMode::All.number().into()));
    }
    let new_recovery = recovery.unwrap_or_else(|| before[1].clone());
    let text = |name: &str| match name {
        "recovery_expression" => new_recovery.clone(),
        _ => match column(&columns, name) {
            Some(value) => value.to_string(),
            None => row.get(name).map(ToString::to_string).unwrap_or_default(),
        },
    };
    check_modes(&text)?;
    let description = text("description");
    let now = [expression.unwrap_or_else(|| before[0].clone()), new_recovery];
    let changed = now != *before;
    let id = row.id("triggerid");
    let on_template = {
        let rows = edit.query(
            "SELECT h.kind FROM functions f JOIN items i ON i.itemid = f.itemid \
             JOIN hosts h ON h.hostid = i.hostid WHERE f.triggerid = ? LIMIT 1",
            &[id.into()],
        )?;
        rows.first().is_some_and(|row| HostKind::Template.is(row.int("kind")))
    };
    check_uuid(&columns, on_template, path)?;
    let expressions = if changed {
        let resolved = resolved(edit, &now[0], &now[1], path, kind)?;
        check_items(call, edit, &resolved.items, &description, kind)?;
        Some((resolved.expression, resolved.recovery, resolved.functions))
    } else {
        None
    };
    if let Some(on) = &depends_on {
        check_dependencies(call, edit, &description, on_template, on)?;
    }
    columns.retain(|(name, value)| row.get(name) != Some(value));
    Ok((TriggerChange { id, columns, expressions, tags, depends_on }, now))
}

pub(super) fn delete(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    let stored = expressions_of(call, &ids, "expression")?;
    let expressions = expand::expressions(call, &stored)?;
    let check = |edit: &mut Edit<'_>| {
        let rows = writable(call, edit, &ids, kind)?;
        if let Some(row) = rows.iter().find(|row| row.id("templateid") > 0) {
            let text = expressions.get(&row.id("triggerid")).map_or("", String::as_str);
            return Err(ApiError::params(format!(
                "Cannot delete templated {} \"{}:{text}\".",
                kind.word().to_lowercase(),
                row.text("description")
            )));
        }
        Ok(())
    };
    inherited::delete_from_hosts(call, &inherited::TRIGGERS, &ids, PORTION_ITEMS, check)?;
    call.write(|edit| {
        check(edit)?;
        Ok::<_, ApiError>(config::objects::delete_triggers(edit, &ids)?)
    })?;
    Ok(kind.object().result(&ids))
}
