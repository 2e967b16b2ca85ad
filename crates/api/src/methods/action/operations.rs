//! Operations of actions: as clients give them, as they are kept, as they are shown.

use config::table;
use std::collections::BTreeMap;

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::objects::Tag;
use objects::{InventoryMode, OperationKind};
use serde_json::{Map, json};

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Output};
use crate::object::missing;
use crate::params;
use crate::permission::Need;
use crate::write::{Target, nested, nested_ids, only};

/// Operations of the field that are not performed yet.
const MESSAGES: [OperationKind; 2] = [OperationKind::Message, OperationKind::Script];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operation {
    kind: OperationKind,
    groups: Vec<u64>,
    templates: Vec<u64>,
    inventory_mode: InventoryMode,
    tags: Vec<Tag>,
}

/// Reads the operations of an action called `name`.
pub(super) fn parse(value: &Json, path: &str, name: &str) -> ApiResult<Vec<Operation>> {
    let mut operations: Vec<Operation> = Vec::new();
    for (path, members) in nested(value, path)? {
        let operation = Operation::parse(members, &path)?;
        let kind = operation.kind;
        let once = kind.member().is_empty() || kind == OperationKind::Inventory;
        if once && operations.iter().any(|other| other.kind == kind) {
            return Err(ApiError::params(format!(
                "Operation \"{}\" already exists for action \"{name}\".",
                kind.label()
            )));
        }
        operations.push(operation);
    }
    if operations.is_empty() {
        return Err(none(name));
    }
    Ok(operations)
}

/// An action has to do something.
pub(super) fn none(name: &str) -> ApiError {
    ApiError::params(format!("No operations defined for action \"{name}\"."))
}

impl Operation {
    fn parse(members: &Map<String, Json>, path: &str) -> ApiResult<Self> {
        let at = |name: &str| format!("{path}/{name}");
        let kind = members.get("operationtype").ok_or_else(|| missing(path, "operationtype"))?;
        let kind = params::int(kind, &at("operationtype"))?;
        if MESSAGES.iter().any(|known| known.is(kind)) {
            return Err(ApiError::at(
                &at("operationtype"),
                "operations that send messages or run scripts are not supported yet",
            ));
        }
        let kinds = OperationKind::ON_HOSTS;
        let Some(kind) = kinds.iter().copied().find(|known| known.is(kind)) else {
            let list: Vec<&str> = MESSAGES.iter().chain(kinds).map(|kind| kind.text()).collect();
            let text = format!("value must be one of {}", list.join(", "));
            return Err(ApiError::at(&at("operationtype"), text));
        };
        let member = kind.member();
        only(members, path, &["operationtype", member])?;
        let mut operation = Self {
            kind,
            groups: Vec::new(),
            templates: Vec::new(),
            inventory_mode: InventoryMode::Manual,
            tags: Vec::new(),
        };
        if member.is_empty() {
            return Ok(operation);
        }
        let value = members.get(member).ok_or_else(|| missing(path, member))?;
        let path = at(member);
        match member {
            "opgroup" => operation.groups = nested_ids(value, &path, "groupid")?,
            "optemplate" => operation.templates = nested_ids(value, &path, "templateid")?,
            "optag" => operation.tags = tags(value, &path)?,
            _ => {
                operation.inventory_mode = inventory_mode(value, &path)?;
                return Ok(operation);
            }
        }
        let Self { groups, templates, tags, .. } = &operation;
        if groups.is_empty() && templates.is_empty() && tags.is_empty() {
            return Err(ApiError::at(&path, "cannot be empty"));
        }
        Ok(operation)
    }

    /// Refuses what is not there, or not for this user.
    pub(super) fn check(&self, call: &Call<'_>, edit: &mut Edit<'_>) -> ApiResult<()> {
        for (ids, target, need, what, name) in [
            (&self.groups, Target::HostGroup, Need::Write, "host group", "Host group"),
            (&self.templates, Target::Template, Need::Read, "template", "Template"),
        ] {
            let allowed = call.allowed(edit, target, need, ids)?;
            if !ids.iter().all(|id| allowed.contains(id)) {
                return Err(ApiError::application(format!(
                    "Incorrect action condition or operation {what}. {name} does not exist or you \
                     have no access to it."
                )));
            }
        }
        Ok(())
    }

    fn write(&self, edit: &mut Edit<'_>, action: u64, known: Option<u64>) -> ApiResult<()> {
        let id = match known {
            Some(id) => {
                edit.update(
                    &table::OPERATIONS,
                    id,
                    &[("inventory_mode", self.inventory_mode.number().into())],
                )?;
                for table in
                    [&table::OPERATION_GROUPS, &table::OPERATION_TEMPLATES, &table::OPERATION_TAGS]
                {
                    edit.delete(table, "operationid", &[id])?;
                }
                id
            }
            None => {
                let row = [
                    ("actionid", Value::from(action)),
                    ("operationtype", self.kind.number().into()),
                    ("inventory_mode", self.inventory_mode.number().into()),
                ];
                edit.insert_new(&table::OPERATIONS, &row)?
            }
        };
        for (table, key, ids) in [
            (&table::OPERATION_GROUPS, "groupid", &self.groups),
            (&table::OPERATION_TEMPLATES, "templateid", &self.templates),
        ] {
            let rows: Vec<Vec<Value>> =
                ids.iter().map(|other| vec![id.into(), (*other).into()]).collect();
            edit.insert_many(table, &["operationid", key], &rows)?;
        }
        for (n, Tag { tag, value }) in self.tags.iter().enumerate() {
            let row = [
                ("operationid", Value::from(id)),
                ("sortorder", Value::from(n as u64)),
                ("tag", tag.as_str().into()),
                ("value", value.as_str().into()),
            ];
            edit.insert(&table::OPERATION_TAGS, &row)?;
        }
        Ok(())
    }
}

/// Writes the operations of an action; those of a kind that it had keep their ids.
pub(super) fn write(edit: &mut Edit<'_>, action: u64, operations: &[Operation]) -> ApiResult<()> {
    let sql = "SELECT operationid, operationtype FROM operations WHERE actionid = ? \
               ORDER BY operationid";
    let rows = edit.query(sql, &[action.into()])?;
    let mut known: Vec<(i64, u64)> =
        rows.iter().map(|row| (row.int("operationtype"), row.id("operationid"))).collect();
    for operation in operations {
        let same = known.iter().position(|(kind, _)| operation.kind.is(*kind));
        let id = same.map(|at| known.remove(at).1);
        operation.write(edit, action, id)?;
    }
    let gone: Vec<u64> = known.into_iter().map(|(_, id)| id).collect();
    edit.delete(&table::OPERATIONS, "operationid", &gone)?;
    Ok(())
}

fn tags(value: &Json, path: &str) -> ApiResult<Vec<Tag>> {
    let mut tags = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["tag", "value"])?;
        let text = |name: &str| {
            members.get(name).map(|v| params::text(v, &format!("{path}/{name}"))).transpose()
        };
        let tag = text("tag")?.ok_or_else(|| missing(&path, "tag"))?;
        if tag.is_empty() {
            return Err(ApiError::at(&format!("{path}/tag"), "cannot be empty"));
        }
        tags.push(Tag { tag, value: text("value")?.unwrap_or_default() });
    }
    Ok(tags)
}

fn inventory_mode(value: &Json, path: &str) -> ApiResult<InventoryMode> {
    let members = match value {
        Json::Object(members) => members,
        Json::Array(list) if list.is_empty() => return Ok(InventoryMode::Manual),
        _ => return Err(ApiError::at(path, "an array is expected")),
    };
    only(members, path, &["inventory_mode"])?;
    let path = format!("{path}/inventory_mode");
    let mode = members.get("inventory_mode").map_or(Ok(0), |v| params::int(v, &path))?;
    InventoryMode::from_number(mode)
        .filter(|mode| *mode != InventoryMode::Disabled)
        .ok_or_else(|| ApiError::at(&path, "value must be one of 0, 1"))
}

/// Operations of the found actions, the members that are wanted.
pub(super) fn shown(found: &Found<'_, '_>, wanted: &Output) -> ApiResult<BTreeMap<u64, Vec<Json>>> {
    let select = |sql: &str, ids: &[u64]| -> ApiResult<Vec<Row>> {
        found.call.read(|c| Ok(query_by_ids(c, sql, &[], ids)?))
    };
    let sql = "SELECT * FROM operations WHERE actionid IN ({ids}) ORDER BY actionid, operationid";
    let rows = select(sql, &found.ids())?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("operationid")).collect();
    let groups = select(
        "SELECT operationid, groupid FROM operation_groups WHERE operationid IN ({ids}) \
         ORDER BY groupid",
        &ids,
    )?;
    let templates = select(
        "SELECT operationid, templateid FROM operation_templates WHERE operationid IN ({ids}) \
         ORDER BY templateid",
        &ids,
    )?;
    let tags = select(
        "SELECT operationid, tag, value FROM operation_tags WHERE operationid IN ({ids}) \
         ORDER BY operationid, sortorder",
        &ids,
    )?;
    let mut lists: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in &rows {
        let id = row.id("operationid");
        let of = |other: &&Row| other.id("operationid") == id;
        let ids = |rows: &[Row], key: &str| -> Json {
            rows.iter().filter(of).map(|row| json!({ key: row.id(key).to_string() })).collect()
        };
        let kind = row.int("operationtype");
        let member = OperationKind::from_number(kind).map_or("", OperationKind::member);
        let own = match member {
            "opgroup" => ids(&groups, "groupid"),
            "optemplate" => ids(&templates, "templateid"),
            "optag" => tags
                .iter()
                .filter(of)
                .map(|row| json!({ "tag": row.text("tag"), "value": row.text("value") }))
                .collect(),
            _ => json!({ "inventory_mode": row.int("inventory_mode").to_string() }),
        };
        let all = [
            ("operationid", id.to_string().into()),
            ("actionid", row.id("actionid").to_string().into()),
            ("operationtype", kind.to_string().into()),
            ("esc_period", "0".into()),
            ("esc_step_from", "1".into()),
            ("esc_step_to", "1".into()),
            ("evaltype", "0".into()),
            ("opconditions", json!([])),
            (member, own),
        ];
        let out: Map<String, Json> = all
            .into_iter()
            .filter(|(name, _)| !name.is_empty() && wanted.has(name))
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        lists.entry(row.id("actionid")).or_default().push(Json::Object(out));
    }
    Ok(lists)
}
