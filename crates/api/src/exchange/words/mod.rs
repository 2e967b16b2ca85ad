//! Fields of exports and of the API: names, words for numbers, defaults that are left out.

pub(super) mod dashboards;
mod graphs;
mod hosts;
mod items;
pub(super) mod maps;
mod media;
mod web;

use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};

pub(super) use graphs::{GRAPH, GRAPH_AXES, GRAPH_ITEM};
pub(super) use hosts::{
    GROUP, HOST, HOST_PROTOTYPE, INTERFACE, INVENTORY_MODE, MACRO, MAPPING, SNMP_DETAILS, TAG,
    TEMPLATE,
};
pub(super) use items::{
    CONDITION, DISCOVERED, FILTER, ITEM, MACRO_PATH, OPERATION, OPERATION_SETS, OVERRIDE, RULE,
    STEP, TRIGGER, VALUES,
};
pub(super) use media::{
    FALLBACK, MEDIA_TYPE, MEDIA_TYPE_REST, MESSAGE_TEMPLATE, SCRIPT_PARAMETER, WEBHOOK_PARAMETER,
};
pub(super) use web::{SCENARIO, WEB_STEP};

/// One field both ways.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// Name in an export.
    pub(super) export: &'static str,
    /// Name in the API.
    pub(super) api: &'static str,
    /// Words of an export for the API's numbers; empty = a text as it is.
    pub(super) words: &'static [(&'static str, &'static str)],
    /// API value that an export leaves out; `None` = always written.
    pub(super) default: Option<&'static str>,
}

const fn text(export: &'static str, api: &'static str) -> Word {
    Word { export, api, words: &[], default: Some("") }
}

const fn always(export: &'static str, api: &'static str) -> Word {
    Word { export, api, words: &[], default: None }
}

const fn text_or(export: &'static str, api: &'static str, default: &'static str) -> Word {
    Word { export, api, words: &[], default: Some(default) }
}

const fn word(
    export: &'static str,
    api: &'static str,
    words: &'static [(&'static str, &'static str)],
    default: &'static str,
) -> Word {
    Word { export, api, words, default: Some(default) }
}

/// Members of an export's object as members of the API; those without a word are not touched.
pub(super) fn to_api(words: &[Word], node: &Json, path: &str) -> ApiResult<Map<String, Json>> {
    let mut out = Map::new();
    for word in words {
        let Some(value) = node.get(word.export) else { continue };
        let here = format!("{path}/{}", word.export);
        let Json::String(value) = value else {
            return Err(invalid(&here, "a character string is expected"));
        };
        let value = if word.words.is_empty() {
            value.as_str()
        } else {
            let found = word.words.iter().find(|(name, _)| name == value);
            match found {
                Some((_, number)) => number,
                None if value.is_empty() => continue,
                None => return Err(invalid(&here, &format!("unexpected constant \"{value}\""))),
            }
        };
        out.insert(word.api.to_owned(), value.into());
    }
    Ok(out)
}

/// Members of the API as an export has them; defaults are left out.
pub(super) fn to_export(words: &[Word], row: &Json) -> Map<String, Json> {
    let mut out = Map::new();
    for word in words {
        let Some(value) = row.get(word.api).and_then(Json::as_str) else { continue };
        if word.default == Some(value) {
            continue;
        }
        let shown = word.words.iter().find(|(_, number)| *number == value).map_or(value, |w| w.0);
        out.insert(word.export.to_owned(), shown.into());
    }
    out
}

/// An error about a place in an import.
pub(super) fn invalid(path: &str, what: &str) -> ApiError {
    ApiError::application(format!("Invalid tag \"{path}\": {what}."))
}

/// Refuses members that nothing reads: a misspelt one would be lost silently.
pub(super) fn check_members(
    node: &Json,
    known: &[&[Word]],
    more: &[&str],
    path: &str,
) -> ApiResult<()> {
    let Json::Object(members) = node else { return Err(invalid(path, "an array is expected")) };
    for name in members.keys() {
        let found = known.iter().any(|words| words.iter().any(|word| word.export == name))
            || more.contains(&name.as_str());
        if !found {
            return Err(invalid(path, &format!("unexpected tag \"{name}\"")));
        }
    }
    Ok(())
}

const YES: &[(&str, &str)] = &[("NO", "0"), ("YES", "1")];
