//! Names of hosts and templates: one space for technical names, one for visible ones.

use config::Edit;
use objects::HostKind;
use objects::sql::KIND_OWNERS;

use crate::error::{ApiError, ApiResult};

/// Longest technical and visible name, in characters.
pub(crate) const NAME_MAX: usize = 128;

/// Letters, digits, `_`, `.`, `-`, and spaces that are not at the ends; not empty.
pub(crate) fn is_technical_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(' ')
        && !name.ends_with(' ')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ' '))
}

/// Kind (0 host, 1 template) of the other host or template whose `column` has this value.
fn holder(edit: &mut Edit<'_>, column: &str, name: &str, own: u64) -> ApiResult<Option<i64>> {
    let sql = format!(
        "SELECT kind FROM hosts WHERE {column} = ? AND hostid <> ? AND kind IN {KIND_OWNERS}"
    );
    let rows = edit.query(&sql, &[name.into(), own.into()])?;
    Ok(rows.first().map(|row| row.int("kind")))
}

/// Refuses names that another host or template has. `own` is the id of the one that is changed,
/// 0 for a new one; `template`: the words differ.
pub(crate) fn check_free(
    edit: &mut Edit<'_>,
    own: u64,
    host: Option<&str>,
    name: Option<&str>,
    template: bool,
) -> ApiResult<()> {
    for (column, value) in [("host", host), ("name", name)] {
        let Some(value) = value else { continue };
        let Some(kind) = holder(edit, column, value, own)? else { continue };
        let who = if HostKind::Template.is(kind) { "Template" } else { "Host" };
        let what = match (column, template) {
            ("host", true) => "host name",
            ("host", false) => "the same name",
            (_, true) => "visible name",
            (_, false) => "the same visible name",
        };
        return Err(ApiError::params(format!("{who} with {what} \"{value}\" already exists.")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_technical_name;

    #[test]
    fn spaces_are_allowed_only_inside_of_names() {
        for (name, good) in [
            ("a", true),
            ("a b", true),
            ("a-b_c.d", true),
            ("", false),
            (" ", false),
            ("   ", false),
            (" a", false),
            ("a ", false),
            ("a\tb", false),
        ] {
            assert_eq!(is_technical_name(name), good, "{name:?}");
        }
    }
}
