//! Media types.

use objects::MediaTypeKind;
use serde_json::{Map, json};

use super::{Import, list, text};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{
    FALLBACK, MEDIA_TYPE, MEDIA_TYPE_REST, MESSAGE_TEMPLATE, SCRIPT_PARAMETER, WEBHOOK_PARAMETER,
    Word, check_members, invalid, to_api,
};

impl Import<'_, '_> {
    /// Writes the media types that the rules allow. The name tells which one exists.
    pub(super) fn media_types(&self, tree: &Json, path: &str) -> ApiResult<()> {
        let rules = self.rules.of("mediaTypes");
        let nodes = list(tree, "media_types", "media_type", path)?;
        if !rules.any() {
            return Ok(());
        }
        let mut written = Vec::new();
        for (path, node) in nodes {
            let mut object = media_type(node, &path)?;
            let sql = "SELECT mediatypeid FROM media_types WHERE name = ?";
            let known = self.call.rows(sql, &[text(node, "name").into()])?;
            let writes = if known.is_empty() { rules.create } else { rules.update };
            if writes && !text(node, FALLBACK).is_empty() {
                written.push((path.clone(), node));
            }
            match known.first() {
                Some(row) if rules.update => {
                    let id = row.id("mediatypeid").to_string();
                    object.insert("mediatypeid".to_owned(), id.into());
                    self.change("mediatype.update", vec![Json::Object(object)])?;
                }
                None if rules.create => {
                    self.create("mediatype.create", vec![Json::Object(object)])?;
                }
                _ => {}
            }
        }
        // A fallback may come later in the file.
        written.iter().try_for_each(|(path, node)| self.fallback(node, path))
    }

    fn fallback(&self, node: &Json, path: &str) -> ApiResult<()> {
        let id = |name: &str| -> ApiResult<Option<String>> {
            let sql = "SELECT mediatypeid FROM media_types WHERE name = ?";
            let rows = self.call.rows(sql, &[name.into()])?;
            Ok(rows.first().map(|row| row.id("mediatypeid").to_string()))
        };
        let fallback = text(node, FALLBACK);
        let (Some(own), Some(other)) = (id(text(node, "name"))?, id(fallback)?) else {
            let error = format!("the media type \"{fallback}\" does not exist");
            return Err(invalid(&format!("{path}/{FALLBACK}"), &error));
        };
        let update = json!({ "mediatypeid": own, "fallback_mediatypeid": other });
        self.change("mediatype.update", vec![update])
    }
}

/// A media type as the API has it, with all fields that media types of its kind have.
fn media_type(node: &Json, path: &str) -> ApiResult<Map<String, Json>> {
    let words = [MEDIA_TYPE, MEDIA_TYPE_REST];
    let lists = ["parameters", "storm_limit", FALLBACK, "message_templates"];
    check_members(node, &words, &lists, path)?;
    require(node, &["name", "type"], path)?;
    let mut out = Map::new();
    for words in words {
        let given = to_api(words, node, path)?;
        for word in words {
            let default = word.default.unwrap_or("");
            let value = given.get(word.api).cloned().unwrap_or_else(|| default.into());
            out.insert(word.api.to_owned(), value);
        }
    }
    let limit = node.get("storm_limit").cloned().unwrap_or(Json::Null);
    out.insert("storm_limit".to_owned(), limit);
    out.insert("fallback_mediatypeid".to_owned(), "0".into());
    let is_kind = |kind: MediaTypeKind| text(node, "type") == kind.word();
    let words: &[Word] =
        if is_kind(MediaTypeKind::Script) { SCRIPT_PARAMETER } else { WEBHOOK_PARAMETER };
    let parameters = rows(node, "parameters", words, &[words[0].export], path)?;
    out.insert("parameters".to_owned(), parameters);
    let required = ["event_source", "operation_mode"];
    let messages = rows(node, "message_templates", MESSAGE_TEMPLATE, &required, path)?;
    out.insert("message_templates".to_owned(), messages);
    Ok(out)
}

/// A list of simple objects, each of which has these members.
fn rows(node: &Json, name: &str, words: &[Word], required: &[&str], path: &str) -> ApiResult<Json> {
    let mut rows = Vec::new();
    for (path, node) in list(node, name, name.trim_end_matches('s'), path)? {
        check_members(node, &[words], &[], &path)?;
        require(node, required, &path)?;
        rows.push(Json::Object(to_api(words, node, &path)?));
    }
    Ok(rows.into())
}

fn require(node: &Json, names: &[&str], path: &str) -> ApiResult<()> {
    match names.iter().find(|name| text(node, name).is_empty()) {
        Some(name) => Err(invalid(path, &format!("the tag \"{name}\" is missing"))),
        None => Ok(()),
    }
}
