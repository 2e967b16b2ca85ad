//! The `tags` / `evaltype` options of `get` methods as a condition.

use config::db::Value;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::get::{like, limits};
use crate::params;

/// A condition of SQL and the values of its `?`.
pub(crate) type Condition = (String, Vec<Value>);

/// A condition on tags. `id` is the column with the id of what has tags; `set` gives, for a test
/// of the columns `tag` and `value`, the subquery of ids that pass it.
///
/// Operators: 0 contains, 1 equals, 2 does not contain, 3 does not equal, 4 exists, 5 does not
/// exist. `evaltype` 0: conditions on one tag are alternatives, different tags must all hold;
/// 2: any may hold.
pub(crate) fn condition(
    input: &Json,
    id: &str,
    set: impl Fn(&str) -> String,
) -> ApiResult<Option<Condition>> {
    let tags = match input.get("tags") {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::Array(tags)) => tags,
        Some(_) => return Err(ApiError::at("/tags", "an array is expected")),
    };
    if tags.is_empty() {
        return Ok(None);
    }
    limits::alternatives("/tags", tags.len())?;
    let any = input.get("evaltype").and_then(|v| params::int(v, "").ok()) == Some(2);
    let mut by_tag: Vec<(String, Vec<Condition>)> = Vec::new();
    for (n, tag) in tags.iter().enumerate() {
        let path = format!("/tags/{}", n + 1);
        let text = |name: &str| match tag.get(name) {
            Some(value) => params::text(value, &format!("{path}/{name}")),
            None => Ok(String::new()),
        };
        let (name, value) = (text("tag")?, text("value")?);
        limits::text(&format!("{path}/value"), &value)?;
        let operator = match tag.get("operator") {
            Some(value) => params::int(value, &format!("{path}/operator"))?,
            None => 0,
        };
        let part = one(id, &name, &value, operator, &set);
        match by_tag.iter_mut().find(|(known, _)| *known == name) {
            Some((_, parts)) => parts.push(part),
            None => by_tag.push((name, vec![part])),
        }
    }
    let mut values = Vec::new();
    let groups: Vec<String> = by_tag
        .into_iter()
        .map(|(_, parts)| {
            let (texts, params): (Vec<String>, Vec<Vec<Value>>) = parts.into_iter().unzip();
            values.extend(params.into_iter().flatten());
            format!("({})", texts.join(" OR "))
        })
        .collect();
    let word = if any { " OR " } else { " AND " };
    Ok(Some((format!("({})", groups.join(word)), values)))
}

fn one(
    id: &str,
    tag: &str,
    value: &str,
    operator: i64,
    set: &impl Fn(&str) -> String,
) -> Condition {
    let not = if matches!(operator, 2 | 3 | 5) { "NOT " } else { "" };
    let tag = Value::from(tag);
    let (test, values) = match operator {
        1 | 3 => ("tag = ? AND value = ?", vec![tag, value.into()]),
        // Everything contains the empty text: what counts is the tag.
        0 | 2 if !value.is_empty() => (
            "tag = ? AND LOWER(value) LIKE ? ESCAPE '!'",
            vec![tag, like(value, false, false).into()],
        ),
        _ => ("tag = ?", vec![tag]),
    };
    (format!("{id} {not}IN ({})", set(test)), values)
}

/// For [`condition`]: ids of hosts or templates with such a tag of their own.
pub(crate) fn own_host_tags(test: &str) -> String {
    format!("SELECT hostid FROM host_tags WHERE {test}")
}

/// For [`condition`]: ids of hosts or templates with such a tag, own or from linked templates.
pub(crate) fn inherited_host_tags(test: &str) -> String {
    format!(
        "WITH RECURSIVE tagged(id) AS (SELECT hostid FROM host_tags WHERE {test} \
           UNION SELECT ht.hostid FROM host_templates ht JOIN tagged ON ht.templateid = tagged.id) \
         SELECT id FROM tagged"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn operators_and_grouping() {
        let check = |input: Json| condition(&input, "t.id", own_host_tags).unwrap().unwrap();
        let (sql, values) = check(json!({ "tags": [
            { "tag": "a", "value": "x" }, { "tag": "b", "operator": 5 }, { "tag": "a", "value": "y", "operator": 3 },
        ] }));
        assert_eq!(
            sql,
            "((t.id IN (SELECT hostid FROM host_tags WHERE tag = ? AND LOWER(value) LIKE ? ESCAPE '!') \
             OR t.id NOT IN (SELECT hostid FROM host_tags WHERE tag = ? AND value = ?)) \
             AND (t.id NOT IN (SELECT hostid FROM host_tags WHERE tag = ?)))"
        );
        assert_eq!(values.len(), 5);
        assert!(
            check(json!({ "tags": [{ "tag": "a" }, { "tag": "b" }], "evaltype": "2" }))
                .0
                .contains(") OR (")
        );
        assert_eq!(condition(&json!({ "tags": null }), "t.id", own_host_tags), Ok(None));
        assert!(condition(&json!({ "tags": "x" }), "t.id", own_host_tags).is_err());
    }
}
