//! Secrets of the session tickets of each engine group.

use std::collections::HashMap;

use crate::Config;
use crate::db::{DbResult, Row, Value};

/// The secrets of a group; the first call stores `new`. `now_s`: Unix time.
///
/// # Errors
/// The database.
pub fn ticket_secrets(config: &Config, group: u64, new: &str, now_s: u64) -> DbResult<String> {
    const OF_GROUP: &str = "SELECT secrets FROM ticket_secrets WHERE enginegroupid = ?";
    let text = |rows: Vec<Row>| rows.first().map(|row| row.text("secrets").to_owned());
    if let Some(found) =
        text(config.read(|connection| connection.query(OF_GROUP, &[group.into()]))?)
    {
        return Ok(found);
    }
    config.write_state(|state| {
        let values = [group.into(), new.into(), now_s.into()];
        let sql = "INSERT INTO ticket_secrets (enginegroupid, secrets, rotated_at) \
                   VALUES (?, ?, ?) ON CONFLICT (enginegroupid) DO NOTHING";
        state.execute(sql, &values)?;
        Ok(text(state.query(OF_GROUP, &[group.into()])?).unwrap_or_default())
    })
}

/// Forgets the secrets of a group, so that the next call of [`ticket_secrets`] stores others: an engine that
/// knows them has left the group.
///
/// # Errors
/// The database.
pub fn forget_tickets(config: &Config, group: u64) -> DbResult<()> {
    let sql = "DELETE FROM ticket_secrets WHERE enginegroupid = ?";
    config.write_state(|state| state.execute(sql, &[group.into()]).map(drop))
}

/// The group of each engine, by the engine's id.
///
/// # Errors
/// The database.
pub fn groups_of_engines(config: &Config) -> DbResult<HashMap<u64, u64>> {
    let sql = "SELECT engineid, enginegroupid FROM engines";
    let rows = config.read(|connection| connection.query(sql, &[]))?;
    Ok(rows.iter().map(|row| (row.id("engineid"), row.id("enginegroupid"))).collect())
}

/// Changes secrets that are older than `before_s`, or of the future. `true`: some were.
///
/// # Errors
/// The database.
pub fn rotate_tickets(
    config: &Config,
    before_s: u64,
    now_s: u64,
    rotated: impl Fn(&str) -> Option<String>,
) -> DbResult<bool> {
    const DUE: &str = "SELECT enginegroupid, secrets FROM ticket_secrets \
                       WHERE rotated_at <= ? OR rotated_at > ?";
    let values = [Value::from(before_s), now_s.into()];
    if config.read(|connection| connection.query(DUE, &values))?.is_empty() {
        return Ok(false);
    }
    config.write_state(|state| {
        for row in state.query(DUE, &values)? {
            let Some(new) = rotated(row.text("secrets")) else { continue };
            let sql =
                "UPDATE ticket_secrets SET secrets = ?, rotated_at = ? WHERE enginegroupid = ?";
            state.execute(
                sql,
                &[new.as_str().into(), now_s.into(), row.id("enginegroupid").into()],
            )?;
        }
        Ok(true)
    })
}
