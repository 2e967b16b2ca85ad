//! Tags of hosts and templates.

use std::collections::BTreeSet;

use config::Edit;
use config::table;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{missing, taken};
use crate::params;
use crate::write::{nested, only};

/// Tag and value.
pub(crate) type Tag = (String, String);

/// Reads a list of `{tag, value}`; `automatic` may be there as 0, so that what was read can be
/// sent back.
pub(crate) fn parse(value: &Json, path: &str) -> ApiResult<Vec<Tag>> {
    let (mut tags, mut seen): (Vec<Tag>, BTreeSet<Tag>) = Default::default();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["tag", "value", "automatic"])?;
        let text = |name: &str| {
            let path = format!("{path}/{name}");
            let text = members.get(name).map(|value| params::text(value, &path)).transpose()?;
            match text {
                Some(text) if text.chars().count() > 255 => {
                    Err(ApiError::at(&path, "value is too long"))
                }
                text => Ok(text),
            }
        };
        let tag = text("tag")?.ok_or_else(|| missing(&path, "tag"))?;
        if tag.is_empty() {
            return Err(ApiError::at(&format!("{path}/tag"), "cannot be empty"));
        }
        if members.get("automatic").is_some_and(|v| params::int(v, "") != Ok(0)) {
            return Err(ApiError::at(&format!("{path}/automatic"), "value must be 0"));
        }
        let tag = (tag, text("value")?.unwrap_or_default());
        if !seen.insert(tag.clone()) {
            return Err(taken(&path, "tag, value", format_args!("{}, {}", tag.0, tag.1)));
        }
        tags.push(tag);
    }
    Ok(tags)
}

/// Makes these the tags of a host or template; those that discovery made stay.
pub(crate) fn replace(edit: &mut Edit<'_>, hostid: u64, tags: &[Tag]) -> ApiResult<()> {
    let owner = [hostid.into()];
    edit.delete_rows(&table::HOST_TAGS, &[("hostid", &owner), ("automatic", &[0.into()])])?;
    let kept = edit.query("SELECT tag, value FROM host_tags WHERE hostid = ?", &owner)?;
    let is_kept =
        |tag: &Tag| kept.iter().any(|r| r.text("tag") == tag.0 && r.text("value") == tag.1);
    for tag in tags.iter().filter(|tag| !is_kept(tag)) {
        let row = [
            ("hostid", hostid.into()),
            ("tag", tag.0.as_str().into()),
            ("value", tag.1.as_str().into()),
        ];
        edit.insert_new(&table::HOST_TAGS, &row)?;
    }
    Ok(())
}
