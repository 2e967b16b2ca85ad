//! What one statement may have. More is a clear error instead of one of the database.

use crate::error::{ApiError, ApiResult};

/// Texts of `search` for one field, and tags of one option. SQLite takes expressions of a depth of 1,000.
const ALTERNATIVES_MAX: usize = 800;
/// SQLite takes 32,766, PostgreSQL 65,535.
const VALUES_MAX: usize = 32_000;
/// Longest pattern that SQLite takes.
const PATTERN_BYTES_MAX: usize = 50_000;

/// Refuses too many texts or tags of one option.
pub(crate) fn alternatives(path: &str, count: usize) -> ApiResult<()> {
    at_most(path, count, ALTERNATIVES_MAX)
}

/// Refuses too many values of all options together.
pub(super) fn values(count: usize) -> ApiResult<()> {
    at_most("/", count, VALUES_MAX)
}

fn at_most(path: &str, count: usize, most: usize) -> ApiResult<()> {
    if count > most {
        return Err(ApiError::at(path, format_args!("at most {most} values can be given")));
    }
    Ok(())
}

/// Refuses a text of which the pattern may be too long: signs are escaped, lower case may be longer.
pub(crate) fn text(path: &str, text: &str) -> ApiResult<()> {
    if text.len() > PATTERN_BYTES_MAX / 3 {
        return Err(ApiError::at(path, "value is too long"));
    }
    Ok(())
}

/// Refuses a pattern that is too long.
pub(super) fn pattern(path: &str, pattern: String) -> ApiResult<String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(ApiError::at(path, "value is too long"));
    }
    Ok(pattern)
}
