//! Fields that objects of some kinds have and others do not.

use config::db::{Row, Value};
use config::schema::Column;

use super::{Draft, Spec};
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;

/// A field that counts only where all these fields have one of their values. Elsewhere it has its default.
pub(crate) struct OnlyWhen {
    pub(crate) name: &'static str,
    /// Fields that decide; each stands before it in the list, or always counts.
    pub(crate) when: &'static [(&'static str, &'static [i64])],
    /// It cannot be empty.
    pub(crate) required: bool,
}

impl OnlyWhen {
    pub(crate) const fn new(
        name: &'static str,
        when: &'static [(&'static str, &'static [i64])],
    ) -> Self {
        Self { name, when, required: false }
    }

    /// The same field, which cannot be empty where it counts.
    pub(crate) const fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

/// Refuses fields that the object does not have, and misses those that it must have. An object that
/// becomes one of another kind loses what that does not have.
pub(crate) fn complete(
    spec: &Spec,
    rules: &[OnlyWhen],
    draft: &mut Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    for rule in rules {
        let name = rule.name;
        let holds = |(field, values): &(&str, &[i64])| {
            values.contains(&draft.value(field, before).as_int())
        };
        if !rule.when.iter().all(holds) {
            let default = spec.table.column(name).map(Column::default_value);
            only(draft, name, &default.unwrap_or_else(|| Value::from("")))?;
        } else if rule.required && draft.text(name, before).is_empty() {
            return Err(match draft.gives(name) {
                true => ApiError::at(&format!("{}/{name}", draft.path), "cannot be empty"),
                false => missing(&draft.path, name),
            });
        }
    }
    Ok(())
}

/// Gives a field the only value that it can have.
pub(crate) fn only(draft: &mut Draft<'_>, name: &'static str, value: &Value) -> ApiResult<()> {
    let path = format!("{}/{name}", draft.path);
    if draft.gives(name) && !same(&draft.value(name, None), value) {
        let what = match value {
            Value::Text(text) if text.is_empty() => "value must be empty".to_owned(),
            Value::Text(text) => match params::time_unit(text, &path) {
                Ok(seconds) => format!("value must be {seconds}"),
                Err(_) => format!("value must be \"{text}\""),
            },
            Value::Int(number) => format!("value must be {number}"),
        };
        return Err(ApiError::at(&path, what));
    }
    draft.set(name, value.clone());
    Ok(())
}

/// Times are equal if they last equally long, other texts if they are the same.
fn same(given: &Value, only: &Value) -> bool {
    let seconds = |value: &Value| params::time_unit(&value.to_string(), "").ok();
    match only {
        Value::Text(_) if seconds(only).is_some() => seconds(given) == seconds(only),
        _ => given == only,
    }
}

#[cfg(test)]
pub(crate) fn check_rules(spec: &Spec, rules: &[OnlyWhen]) {
    for (n, rule) in rules.iter().enumerate() {
        assert!(spec.table.column(rule.name).is_some(), "{}", rule.name);
        for (field, _) in rule.when {
            let place = rules.iter().position(|one| one.name == *field);
            assert!(place.is_none_or(|place| place < n), "{} before {field}", rule.name);
            assert!(spec.table.column(field).is_some(), "{field}");
        }
    }
}
