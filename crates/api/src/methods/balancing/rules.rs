//! Rules of virtual services. They name pools by `poolid`, so that a pool can be renamed.

use balancing::Rule;
use config::Edit;
use serde_json::Value as Json;

use super::members::typed;
use crate::error::{ApiError, ApiResult};
use crate::params;
use crate::plain::Draft;
use crate::write::{names, no_object_at};

/// Checks the list of rules; the text has ids of pools as texts.
pub(super) fn read(value: &Json, path: &str) -> ApiResult<String> {
    let Json::Array(rules) = value else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    let rules = rules.iter().enumerate();
    let rules = rules.map(|(n, rule)| read_one(rule, &format!("{path}/{}", n + 1)));
    Ok(Json::Array(rules.collect::<ApiResult<_>>()?).to_string())
}

fn read_one(rule: &Json, path: &str) -> ApiResult<Json> {
    let mut stored = rule.clone();
    // The engine's type has the pool's name where the API has its id.
    let mut of_engine = rule.clone();
    if let Some(then) = of_engine.get_mut("then").and_then(Json::as_object_mut) {
        if then.contains_key("pool") {
            let text = "unexpected parameter \"pool\"; choose a pool by \"poolid\"";
            return Err(ApiError::at(&format!("{path}/then"), text));
        }
        if let Some(id) = then.remove("poolid") {
            let id = params::id(&id, &format!("{path}/then/poolid"))?.to_string();
            then.insert("pool".to_owned(), id.clone().into());
            stored["then"]["poolid"] = id.into();
        }
    }
    let checked = typed::<Rule>(&of_engine, path)?.check();
    checked.map_err(|problem| ApiError::at(path, problem))?;
    Ok(stored)
}

/// Refuses rules that choose pools that do not exist.
pub(super) fn require_pools(edit: &mut Edit<'_>, draft: &Draft<'_>) -> ApiResult<()> {
    if !draft.gives("rules") {
        return Ok(());
    }
    let rules: Json = serde_json::from_str(&draft.text("rules", None)).unwrap_or_default();
    for (n, rule) in params::list(&rules).into_iter().enumerate() {
        let id = rule["then"]["poolid"].as_str().and_then(|id| id.parse::<u64>().ok());
        if let Some(id) = id
            && names(edit, "pools", "poolid", "name", &[id])?.is_empty()
        {
            return Err(no_object_at(&format!("{}/rules/{}/then/poolid", draft.path, n + 1)));
        }
    }
    Ok(())
}
