//! Messages and commands that wait although their action or their user was deleted: the server stopped, or the database failed, before
//! the alerts were deleted, too.

use std::collections::{BTreeMap, BTreeSet};

use config::Config;
use config::db::{DbResult, Reader, Row, Value, placeholders, query_by_ids};
use objects::AlertStatus;

/// The alerts that may be sent or run. The others fail with the error that `error` has for their row.
pub(super) fn without_withdrawn(
    config: &Config,
    mut rows: Vec<Row>,
    error: fn(&Row) -> &'static str,
) -> DbResult<Vec<Row>> {
    let withdrawn = config.read(|connection| withdrawn(connection, &rows))?;
    if withdrawn.is_empty() {
        return Ok(rows);
    }
    let mut by_error: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for row in rows.extract_if(.., |row| withdrawn.contains(&row.id("alertid"))) {
        by_error.entry(error(&row)).or_default().push(row.id("alertid"));
    }
    for (error, ids) in by_error {
        tracing::warn!(alerts = ids.len(), error, "alerts are withdrawn");
        let marks = placeholders(ids.len());
        let failed = AlertStatus::Failed.text();
        let sql = format!(
            "UPDATE alerts SET status = {failed}, error = ?, nextcheck = 0 WHERE alertid IN ({marks})"
        );
        let params = ids.iter().map(|id| Value::from(*id));
        let params = Vec::from_iter(std::iter::once(error.into()).chain(params));
        config.write_state(|state| state.execute(&sql, &params))?;
    }
    Ok(rows)
}

fn withdrawn(connection: &mut dyn Reader, rows: &[Row]) -> DbResult<BTreeSet<u64>> {
    let mut known = |column: &str, sql: &str| -> DbResult<BTreeSet<u64>> {
        let ids = BTreeSet::from_iter(rows.iter().map(|row| row.id(column)));
        let found = query_by_ids(connection, sql, &[], &Vec::from_iter(ids))?;
        // 0 = it is of no single action.
        Ok(found.iter().map(|row| row.id(column)).chain([0]).collect())
    };
    let actions = known("actionid", "SELECT actionid FROM actions WHERE actionid IN ({ids})")?;
    let users = known("userid", "SELECT userid FROM users WHERE userid IN ({ids})")?;
    let is_known =
        |row: &&Row| actions.contains(&row.id("actionid")) && users.contains(&row.id("userid"));
    Ok(rows.iter().filter(|row| !is_known(row)).map(|row| row.id("alertid")).collect())
}
