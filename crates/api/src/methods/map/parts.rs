//! Rows of elements and links.

use std::collections::BTreeSet;

use config::Edit;
use config::schema::Table;

use crate::error::ApiResult;
use crate::object::Columns;

/// Makes these the rows of the element or link that the column `owner` names. Equal rows stay as they are,
/// so that the audit log has changes alone.
pub(super) fn replace(
    edit: &mut Edit<'_>,
    table: &'static Table,
    owner: &'static str,
    id: u64,
    rows: &[Columns],
) -> ApiResult<()> {
    let sql = format!("SELECT * FROM {table} WHERE {owner} = ?");
    let stored = edit.query(&sql, &[id.into()])?;
    let is_compared = |name: &str| name != owner && table.key != [name];
    let compared = || table.columns.iter().filter(|column| is_compared(column.name));
    let before: BTreeSet<Vec<String>> = stored
        .iter()
        .map(|row| compared().filter_map(|one| Some(row.get(one.name)?.to_string())).collect())
        .collect();
    let after = |row: &Columns| {
        let given = |name: &str| row.iter().find(|(column, _)| *column == name);
        let value = |name: &str| given(name).map(|(_, value)| value.to_string());
        let text = |default: String, name| value(name).unwrap_or(default);
        compared().map(|one| text(one.default_value().to_string(), one.name)).collect()
    };
    if before == rows.iter().map(after).collect() {
        return Ok(());
    }
    edit.delete(table, owner, &[id])?;
    for row in rows {
        let row: Columns = row.iter().cloned().chain([(owner, id.into())]).collect();
        match table.key {
            [_] => edit.insert_new(table, &row).map(drop)?,
            _ => edit.insert(table, &row)?,
        }
    }
    Ok(())
}
