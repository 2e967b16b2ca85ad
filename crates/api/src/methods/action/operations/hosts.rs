//! Operations on hosts that were found.

use config::objects::Tag;
use objects::{InventoryMode, OperationKind};
use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;
use crate::write::{nested, nested_ids, only};

/// What happens to the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OnHost {
    pub(super) groups: Vec<u64>,
    pub(super) templates: Vec<u64>,
    pub(super) inventory_mode: InventoryMode,
    pub(super) tags: Vec<Tag>,
}

impl OnHost {
    pub(super) fn parse(
        members: &Map<String, Json>,
        path: &str,
        kind: OperationKind,
    ) -> ApiResult<Self> {
        let member = kind.member();
        let mut operation = Self {
            groups: Vec::new(),
            templates: Vec::new(),
            inventory_mode: InventoryMode::Manual,
            tags: Vec::new(),
        };
        if member.is_empty() {
            return Ok(operation);
        }
        let value = members.get(member).ok_or_else(|| missing(path, member))?;
        let path = format!("{path}/{member}");
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
