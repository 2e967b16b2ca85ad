//! Which fields are wanted.

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::Field;
use crate::params;

/// Which fields are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// All fields of the object.
    Extend,
    /// The number of objects instead of the objects.
    Count,
    /// The fields of these names.
    Fields(Vec<String>),
}

impl Output {
    /// From an `output` or `select…` option: `"extend"`, `"count"`, a list of names.
    pub(crate) fn parse(value: &Json, path: &str) -> ApiResult<Option<Self>> {
        Ok(Some(match value {
            Json::Null => return Ok(None),
            Json::String(text) if text == "extend" => Self::Extend,
            Json::String(text) if text == "count" => Self::Count,
            Json::Array(names) => {
                let names = names.iter().enumerate();
                let names = names.map(|(n, name)| params::text(name, &format!("{path}/{}", n + 1)));
                Self::Fields(names.collect::<ApiResult<_>>()?)
            }
            Json::Object(_) => {
                return Err(ApiError::at(path, "an array or a character string is expected"));
            }
            _ => return Err(ApiError::at(path, "value must be one of \"extend\", \"count\"")),
        }))
    }

    /// Is this field wanted?
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::Extend => true,
            Self::Count => false,
            Self::Fields(names) => names.iter().any(|n| n == name),
        }
    }

    /// Is this field of an object wanted?
    pub(crate) fn has_field(&self, field: &Field) -> bool {
        self.has(field.name) && !(field.named && *self == Self::Extend)
    }

    /// Refuses names that the option does not take.
    pub(crate) fn only(&self, option: &str, fields: &[&str]) -> ApiResult<()> {
        if let Self::Fields(names) = self
            && let Some(n) = names.iter().position(|name| !fields.contains(&name.as_str()))
        {
            let list: Vec<String> = fields.iter().map(|name| format!("\"{name}\"")).collect();
            let one_of = if list.len() > 1 { "one of " } else { "" };
            let text = format!("value must be {one_of}{}", list.join(", "));
            return Err(ApiError::at(&format!("/{option}/{}", n + 1), text));
        }
        Ok(())
    }

    /// As an `output` parameter for another `get`.
    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Extend => "extend".into(),
            Self::Count => Json::Array(Vec::new()),
            Self::Fields(names) => names.clone().into(),
        }
    }
}
