//! What spares users messages: settings that an action has as JSON.

use config::db::Value;
use serde_json::{Map, json};

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{missing, taken};
use crate::params;
use crate::write::only;

/// Tags of one inhibition.
const TAGS_MAX: usize = 20;
/// Characters of a tag's name.
const TAG_CHARS_MAX: usize = 255;

type Column = (&'static str, Value);

/// The column `inhibition`, if the action gives it.
pub(super) fn inhibition(object: &Json, path: &str) -> ApiResult<Option<Column>> {
    let Some(given) = params::settings(object, "inhibition", path)? else { return Ok(None) };
    let text = match given {
        Some(members) => {
            json!({ "tags": tags(members, &format!("{path}/inhibition"))? }).to_string()
        }
        None => String::new(),
    };
    Ok(Some(("inhibition", text.into())))
}

fn tags(members: &Map<String, Json>, path: &str) -> ApiResult<Vec<String>> {
    only(members, path, &["tags"])?;
    let given = members.get("tags").ok_or_else(|| missing(path, "tags"))?;
    let path = format!("{path}/tags");
    let given = given.as_array().ok_or_else(|| ApiError::at(&path, "an array is expected"))?;
    if given.is_empty() {
        return Err(ApiError::at(&path, "cannot be empty"));
    }
    if given.len() > TAGS_MAX {
        return Err(ApiError::at(&path, format_args!("at most {TAGS_MAX} tags can be given")));
    }
    let mut tags: Vec<String> = Vec::new();
    for (n, tag) in given.iter().enumerate() {
        let path = format!("{path}/{}", n + 1);
        let tag = params::text(tag, &path)?;
        if tag.is_empty() {
            return Err(ApiError::at(&path, "cannot be empty"));
        }
        if tag.chars().count() > TAG_CHARS_MAX {
            return Err(ApiError::at(&path, "value is too long"));
        }
        if tags.contains(&tag) {
            return Err(taken(&path, "tag", tag));
        }
        tags.push(tag);
    }
    Ok(tags)
}
