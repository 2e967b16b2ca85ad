//! Rows of a discovery.

use crate::json::{self, Json, JsonError};
use crate::jsonpath::{Path, PathError};
use crate::macros::{TokenKind, token_at};

use super::ROWS_MAX;

/// Why there are no rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LldError {
    /// No JSON.
    #[error("Invalid discovery rule value: cannot parse as a valid JSON object: {0}")]
    Json(#[from] JsonError),
    /// Neither an array nor an object with an array `data`.
    #[error("the discovery value must be a JSON array, or an object with a \"data\" array")]
    Shape,
    /// Too many rows.
    #[error("the discovery value has more than {ROWS_MAX} rows")]
    TooMany,
    /// A macro path is wrong.
    #[error("invalid path of LLD macro \"{0}\": {1}")]
    Path(String, PathError),
    /// Not of the form `{#NAME}`.
    #[error("invalid LLD macro \"{0}\"")]
    Macro(String),
}

/// Where an LLD macro's value stands in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct MacroPath {
    /// The macro, with braces.
    pub lld_macro: String,
    path: Path,
}

impl MacroPath {
    /// From the API's `lld_macro` and `path`.
    pub fn parse(lld_macro: &str, path: &str) -> Result<Self, LldError> {
        let fits = token_at(lld_macro, 0)
            .is_some_and(|t| t.span.end == lld_macro.len() && matches!(t.kind, TokenKind::Lld(_)));
        if !fits {
            return Err(LldError::Macro(lld_macro.to_owned()));
        }
        let path = Path::parse(path).map_err(|e| LldError::Path(lld_macro.to_owned(), e))?;
        Ok(Self { lld_macro: lld_macro.to_owned(), path })
    }
}

/// Values of LLD macros: one discovered thing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    macros: Vec<(String, String)>,
}

impl Row {
    /// A row of macros (with braces) and values.
    pub fn new(macros: Vec<(String, String)>) -> Self {
        Self { macros }
    }

    /// Value of a macro, given with braces.
    pub fn get(&self, lld_macro: &str) -> Option<&str> {
        self.macros.iter().find(|(name, _)| name == lld_macro).map(|(_, value)| value.as_str())
    }

    /// All macros with their values.
    pub fn macros(&self) -> &[(String, String)] {
        &self.macros
    }
}

/// Rows of a discovery value: an array of objects, or an object whose member `data` is one.
/// A macro path overrides a member of the same name; values that are no scalars are JSON.
pub fn parse_rows(text: &str, paths: &[MacroPath]) -> Result<Vec<Row>, LldError> {
    let document = json::parse_container(text)?;
    let rows = match &document {
        Json::Array(rows) => rows,
        other => match other.get("data") {
            Some(Json::Array(rows)) => rows,
            _ => return Err(LldError::Shape),
        },
    };
    if rows.len() > ROWS_MAX {
        return Err(LldError::TooMany);
    }
    Ok(rows.iter().map(|row| read(row, paths)).collect())
}

fn read(row: &Json<'_>, paths: &[MacroPath]) -> Row {
    let mut macros: Vec<(String, String)> = Vec::new();
    for path in paths {
        // What a row does not have stays unresolved.
        if let Ok(Some(value)) = path.path.query(row) {
            macros.push((path.lld_macro.clone(), value));
        }
    }
    if let Json::Object(members) = row {
        for (name, value) in members {
            if name.starts_with("{#") && !macros.iter().any(|(n, _)| n == name) {
                macros.push((name.to_string(), value.to_plain()));
            }
        }
    }
    Row { macros }
}
