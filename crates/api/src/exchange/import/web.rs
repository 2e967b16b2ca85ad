//! Web scenarios, each with its items, to which triggers and graphs refer.

use std::collections::BTreeSet;

use const_format::formatcp;
use objects::sql::TYPE_WEB;
use serde_json::Map;

use super::owners::Owner;
use super::{Import, list, text};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{SCENARIO, TAG, WEB_STEP, to_api};
use crate::methods::httptest;

impl Import<'_, '_> {
    /// Writes the scenarios of an owner that the rules allow.
    pub(super) fn web_scenarios(&self, owner: &Owner<'_>) -> ApiResult<()> {
        let rules = self.rules.of("httptests");
        let known = self.call.rows(
            formatcp!(
                "SELECT itemid, name, uuid FROM items WHERE type = {TYPE_WEB} AND templateid = 0 \
             AND params <> '' AND hostid = ?"
            ),
            &[owner.id.into()],
        )?;
        let known: Vec<(u64, String, String)> = known
            .iter()
            .map(|row| {
                let name = httptest::name_of(row.text("name")).to_owned();
                (row.id("itemid"), name, row.text("uuid").to_owned())
            })
            .collect();
        let mut seen = BTreeSet::new();
        for (path, node) in list(owner.node, "httptests", "httptest", &owner.path)? {
            let (name, uuid) = (text(node, "name"), text(node, "uuid"));
            let same = known
                .iter()
                .find(|(_, _, id)| !uuid.is_empty() && id == uuid)
                .or_else(|| known.iter().find(|(_, known, _)| known == name));
            seen.extend(same.map(|(id, ..)| *id));
            if if same.is_some() { !rules.update } else { !rules.create } {
                continue;
            }
            let doc = scenario(node, &path)?;
            let before = same.map(|(id, name, _)| (*id, name.as_str()));
            self.may(if before.is_some() { "httptest.update" } else { "httptest.create" })?;
            httptest::import(self.call, owner.id, before, (&doc, &path))?;
        }
        if rules.delete && owner.existed {
            let gone = known.iter().map(|(id, ..)| *id).filter(|id| !seen.contains(id));
            self.delete_later("httptest.delete", gone);
        }
        Ok(())
    }
}

/// A scenario as the API has it.
fn scenario(node: &Json, path: &str) -> ApiResult<Json> {
    let mut out = to_api(SCENARIO, node, path)?;
    pairs(&mut out, node, "variables", "variable", path)?;
    pairs(&mut out, node, "headers", "header", path)?;
    let mut tags = Vec::new();
    for (path, tag) in list(node, "tags", "tag", path)? {
        tags.push(Json::Object(to_api(TAG, tag, &path)?));
    }
    out.insert("tags".to_owned(), tags.into());
    let mut steps = Vec::new();
    for (path, node) in list(node, "steps", "step", path)? {
        let mut step = to_api(WEB_STEP, node, &path)?;
        pairs(&mut step, node, "variables", "variable", &path)?;
        pairs(&mut step, node, "headers", "header", &path)?;
        pairs(&mut step, node, "query_fields", "query_field", &path)?;
        match node.get("posts") {
            Some(Json::String(posts)) => {
                drop(step.insert("posts".to_owned(), posts.clone().into()))
            }
            Some(_) => pairs(&mut step, node, "posts", "post_field", &path)?,
            None => {}
        }
        steps.push(Json::Object(step));
    }
    out.insert("steps".to_owned(), steps.into());
    Ok(out.into())
}

fn pairs(
    out: &mut Map<String, Json>,
    node: &Json,
    name: &str,
    one: &str,
    path: &str,
) -> ApiResult<()> {
    let found = list(node, name, one, path)?;
    if !found.is_empty() {
        let pair = |node: &Json| serde_json::json!({ "name": text(node, "name"), "value": text(node, "value") });
        out.insert(name.to_owned(), found.iter().map(|(_, node)| pair(node)).collect());
    }
    Ok(())
}
