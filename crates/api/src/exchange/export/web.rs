//! Web scenarios.

use const_format::formatcp;
use objects::sql::TYPE_WEB;
use serde_json::Map;

use super::order::{SCENARIOS, WEB_STEPS, arrange};
use super::{Export, put_list};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{SCENARIO, TAG, WEB_STEP, to_export};
use crate::methods::httptest::SECRETS;

impl Export<'_, '_> {
    /// Scenarios that are the owner's own, not inherited.
    pub(super) fn web_scenarios(&self, owner: u64) -> ApiResult<Vec<Json>> {
        let rows = self.call.rows(
            formatcp!("SELECT delay, status, uuid, params FROM items WHERE type = {TYPE_WEB} AND templateid = 0 \
             AND params <> '' AND hostid = ? ORDER BY name"),
            &[owner.into()],
        )?;
        let scenarios = rows.iter().map(|row| {
            let mut doc: Json = serde_json::from_str(row.text("params")).unwrap_or_default();
            for name in ["delay", "uuid"] {
                doc[name] = row.text(name).into();
            }
            doc["status"] = row.int("status").to_string().into();
            scenario(&doc)
        });
        Ok(scenarios.collect())
    }
}

fn scenario(doc: &Json) -> Json {
    let mut out = to_export(SCENARIO, doc);
    // Secrets never leave.
    for name in SECRETS {
        out.shift_remove(*name);
    }
    put_list(&mut out, "variables", members(doc, "variables"));
    put_list(&mut out, "headers", members(doc, "headers"));
    let steps = members(doc, "steps");
    put_list(&mut out, "steps", steps.iter().map(step).collect());
    let tags = members(doc, "tags");
    put_list(&mut out, "tags", tags.iter().map(|tag| to_export(TAG, tag).into()).collect());
    arrange(out, SCENARIOS).into()
}

fn step(doc: &Json) -> Json {
    let mut out: Map<String, Json> = to_export(WEB_STEP, doc);
    put_list(&mut out, "query_fields", members(doc, "query_fields"));
    match &doc["posts"] {
        Json::String(text) if !text.is_empty() => {
            out.insert("posts".to_owned(), text.clone().into());
        }
        _ => put_list(&mut out, "posts", members(doc, "posts")),
    }
    put_list(&mut out, "variables", members(doc, "variables"));
    put_list(&mut out, "headers", members(doc, "headers"));
    arrange(out, WEB_STEPS).into()
}

fn members(doc: &Json, name: &str) -> Vec<Json> {
    doc[name].as_array().cloned().unwrap_or_default()
}
