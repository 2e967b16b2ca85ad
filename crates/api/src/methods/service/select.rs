//! Options of `service.get` that select services.

use const_format::formatcp;
use objects::ServiceTagOperator;
use serde_json::json;
use services::access::Need;

use super::rights::access;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::{params, tags};

/// Services that have a tag of the agreements in `{ids}`, as `service_tags g` and `sla_service_tags a`.
pub(crate) const TAGGED: &str = formatcp!(
    "a.tag = g.tag AND (CASE WHEN a.operator = {} THEN CASE WHEN LOWER(g.value) LIKE '%' || \
     REPLACE(REPLACE(REPLACE(LOWER(a.value), '!', '!!'), '%', '!%'), '_', '!_') || '%' ESCAPE '!' \
     THEN 1 ELSE 0 END ELSE CASE WHEN g.value = a.value THEN 1 ELSE 0 END END) = 1",
    ServiceTagOperator::Contains.text()
);

/// Adds the conditions of the options.
pub(super) fn conditions(get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
    for name in ["deep_parentids", "without_problem_tags", "editable"] {
        if !matches!(input.get(name), None | Some(Json::Null | Json::Bool(_))) {
            return Err(ApiError::at(&format!("/{name}"), "a boolean is expected"));
        }
    }
    relatives(get, call, input)?;
    get.by_ids(
        "slaids",
        &format!(
            "t.serviceid IN (SELECT g.serviceid FROM service_tags g JOIN sla_service_tags a ON {TAGGED} \
             WHERE a.slaid IN ({{ids}}))"
        ),
    )?;
    if get.flag("without_problem_tags") {
        get.and("t.serviceid NOT IN (SELECT serviceid FROM service_problem_tags)", []);
    }
    check_tags(input)?;
    for (option, table) in [("tags", "service_tags"), ("problem_tags", "service_problem_tags")] {
        let set = |test: &str| format!("SELECT serviceid FROM {table} WHERE {test}");
        let input = json!({ "tags": input.get(option), "evaltype": input.get("evaltype") });
        if let Some((condition, values)) = tags::condition(&input, "t.serviceid", set)? {
            get.and(condition, values);
        }
    }
    Ok(())
}

/// Only services that the user sees have relatives. 0 stands for services without parents, or without children.
fn relatives(get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
    for (option, own, other) in
        [("parentids", "serviceid", "parentid"), ("childids", "parentid", "serviceid")]
    {
        let Some(ids) = params::ids(input, option)? else { continue };
        let seen = call.read(|c| Ok(access(call).among(c, Need::Read, &ids)?))?;
        let some = seen.iter().map(ToString::to_string).collect::<Vec<_>>();
        let list = if some.is_empty() { "NULL".to_owned() } else { some.join(",") };
        let direct = format!("SELECT {own} FROM service_links WHERE {other} IN ({list})");
        let mut condition = format!("t.serviceid IN ({direct})");
        if option == "parentids" && get.flag("deep_parentids") {
            condition = format!(
                "t.serviceid IN (WITH RECURSIVE below(id) AS ({direct} UNION SELECT l.serviceid \
                 FROM service_links l JOIN below ON l.parentid = below.id) SELECT id FROM below)"
            );
        }
        if ids.contains(&0) {
            condition += &format!(" OR t.serviceid NOT IN (SELECT {own} FROM service_links)");
        }
        get.and(format!("({condition})"), []);
    }
    Ok(())
}

fn check_tags(input: &Json) -> ApiResult<()> {
    if let Some(value) = input.get("evaltype").filter(|value| !value.is_null())
        && !matches!(params::int(value, "/evaltype")?, 0 | 2)
    {
        return Err(ApiError::at("/evaltype", "value must be one of 0, 2"));
    }
    for option in ["tags", "problem_tags"] {
        let given = input.get(option).filter(|value| !value.is_null());
        if given.is_some_and(|value| !value.is_array()) {
            return Err(ApiError::at(&format!("/{option}"), "an array is expected"));
        }
        let given = given.and_then(Json::as_array).into_iter().flatten();
        for (n, tag) in given.enumerate() {
            let path = format!("/{option}/{}", n + 1);
            if tag.get("tag").is_none() {
                return Err(crate::object::missing(&path, "tag"));
            }
            let operator =
                tag.get("operator").map(|value| params::int(value, &format!("{path}/operator")));
            if operator.transpose()?.is_some_and(|operator| !(0..=5).contains(&operator)) {
                let text = "value must be one of 0, 1, 2, 3, 4, 5";
                return Err(ApiError::at(&format!("{path}/operator"), text));
            }
        }
    }
    Ok(())
}
