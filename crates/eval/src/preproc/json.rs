//! JSONPath steps.

use super::text::found_error;
use crate::json::{Extent, parse_container, parse_first_container};
use crate::jsonpath::{Path, PathError, QueryError};

/// What a path finds; `text` is the path as it was written.
pub(super) fn extract(
    value: &str,
    text: &str,
    path: &Result<Path, PathError>,
) -> Result<String, String> {
    let found = match path {
        Ok(path) => path.query_text(value, Extent::Start).map_err(|e| e.to_string()),
        // What is wrong with the document is said first.
        Err(error) => Err(match parse_first_container(value) {
            Err(error) => error.to_string(),
            Ok(_) => error.to_string(),
        }),
    };
    let found = found
        .and_then(|found| found.ok_or_else(|| "no data matches the specified path".to_owned()));
    found.map_err(|reason| format!("cannot extract value from json by path \"{text}\": {reason}"))
}

/// Fails with what the path finds. What is not JSON holds no error either.
pub(super) fn check_error(value: &str, path: &Result<Path, PathError>) -> Result<(), String> {
    let path = match path {
        Ok(path) => path,
        Err(error) if parse_container(value).is_ok() => return Err(error.to_string()),
        Err(_) => return Ok(()),
    };
    match path.query_text(value, Extent::Whole) {
        Ok(Some(error)) => found_error(error),
        Ok(None) | Err(QueryError::Document(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
