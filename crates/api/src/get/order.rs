//! Order of rows.

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::Object;
use crate::params;

fn check_sort_order(params: &Json) -> ApiResult<()> {
    let given = params.get("sortorder").filter(|v| !v.is_null());
    for value in given.map(params::list).unwrap_or_default() {
        if !matches!(value.as_str(), Some("ASC" | "DESC")) {
            return Err(ApiError::at("/sortorder", "value must be one of \"ASC\", \"DESC\""));
        }
    }
    Ok(())
}

/// What stands behind `ORDER BY`.
pub(super) fn order(params: &Json, object: &Object, also: &[&str]) -> ApiResult<String> {
    let fields = params.get("sortfield").filter(|v| !v.is_null());
    let Some(fields) = fields else { return Ok(format!("t.{}", object.key)) };
    let orders: Vec<bool> = match params.get("sortorder") {
        None | Some(Json::Null) => Vec::new(),
        Some(value) => params::list(value)
            .into_iter()
            .map(|v| v.as_str().is_some_and(|text| text.eq_ignore_ascii_case("DESC")))
            .collect(),
    };
    if object.strict {
        check_sort_order(params)?;
    }
    let many = params.get("sortorder").is_some_and(Json::is_array);
    let (mut parts, mut sorted) = (Vec::new(), Vec::new());
    for (n, value) in params::list(fields).into_iter().enumerate() {
        let path = format!("/sortfield/{}", n + 1);
        let name = params::text(value, &path)?;
        let mut sortable = object.sort.iter().chain(also);
        let Some(name) = sortable.find(|known| **known == name) else {
            let list: Vec<String> = object.sort.iter().map(|s| format!("\"{s}\"")).collect();
            let one_of = if list.len() > 1 { "one of " } else { "" };
            let text = format!("value must be {one_of}{}", list.join(", "));
            return Err(if object.strict {
                ApiError::at(&path, text)
            } else {
                ApiError::application(format!("Sorting by field \"{name}\" not allowed."))
            });
        };
        let at = if many { n } else { 0 };
        let descending = orders.get(at).copied().unwrap_or(false);
        if !sorted.contains(&name) {
            sorted.push(name);
            parts.push(format!("t.{name}{}", if descending { " DESC" } else { "" }));
        }
    }
    // Behind the key, nothing makes a difference.
    if !sorted.contains(&&object.key) {
        parts.push(format!("t.{}", object.key));
    }
    Ok(parts.join(", "))
}
