//! What spares users messages: settings that an action has as JSON.

use config::db::Value;
use serde_json::{Map, json};

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::FieldKind::OneOf;
use crate::object::{missing, taken};
use crate::params;
use crate::write::only;

/// Tags of one inhibition.
const TAGS_MAX: usize = 20;
/// Characters of a tag's name.
const TAG_CHARS_MAX: usize = 255;

/// What can be switched on.
const FLAGS: &[&str] = &["transients", "flapping"];
/// Longest wait of step 1 if none is given.
const MAX_HOLD: &str = "10m";
/// Longest wait that can be given, seconds.
const HOLD_S_MAX: u64 = 86_400;

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

/// The column `calming`, if the action gives it: with all members.
pub(super) fn calming(object: &Json, path: &str) -> ApiResult<Option<Column>> {
    let Some(given) = params::settings(object, "calming", path)? else { return Ok(None) };
    let Some(members) = given else { return Ok(Some(("calming", String::new().into()))) };
    let path = format!("{path}/calming");
    only(members, &path, &[FLAGS, &["max_hold"]].concat())?;
    let mut settings = Map::new();
    for name in FLAGS {
        let value = match members.get(*name) {
            Some(value) => OneOf(&[0, 1]).check(value, &format!("{path}/{name}"))?,
            None => None,
        };
        settings.insert((*name).to_owned(), value.map_or(0, |value| value.as_int()).into());
    }
    let hold = members.get("max_hold").cloned().unwrap_or_else(|| MAX_HOLD.into());
    let hold_path = format!("{path}/max_hold");
    let hold = params::text(&hold, &hold_path)?;
    if !(1..=HOLD_S_MAX).contains(&params::time_unit(&hold, &hold_path)?) {
        let text = format!("value must be one of 1-{HOLD_S_MAX}");
        return Err(ApiError::at(&hold_path, text));
    }
    settings.insert("max_hold".to_owned(), hold.into());
    Ok(Some(("calming", Json::Object(settings).to_string().into())))
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
