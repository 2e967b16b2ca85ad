//! The load balancer's engines as the server knows them: what they are to do, how they enrol, what they
//! report.

mod compile;

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::Config;
use crate::db::{Connection, DbResult, Value};

pub use compile::{CompileError, Objects, Service};

/// The configuration that the engines of a group should run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desired {
    /// SHA-256 of the text in hexadecimal digits.
    pub hash: String,
    /// The configuration as an engine reads it, with private keys.
    pub text: String,
}

impl Desired {
    /// Of all enabled services of a group. Equal objects give equal texts.
    ///
    /// # Errors
    /// The database, or an object that a newer version has written.
    pub fn of_group(connection: &mut dyn Connection, group: u64) -> Result<Self, CompileError> {
        Ok(Self::of(&Objects::of_group(connection, group)?))
    }

    /// Of the group of this engine; `None`: there is no such engine.
    ///
    /// # Errors
    /// As [`Desired::of_group`].
    pub fn of_engine(
        connection: &mut dyn Connection,
        engine: u64,
    ) -> Result<Option<Self>, CompileError> {
        let sql = "SELECT enginegroupid FROM engines WHERE engineid = ?";
        let rows = connection.query(sql, &[engine.into()])?;
        rows.first().map(|row| Self::of_group(connection, row.id("enginegroupid"))).transpose()
    }

    /// Of all these services.
    pub fn of(objects: &Objects) -> Self {
        let text = serde_json::to_string(&objects.config()).expect("BUG: plain data is JSON");
        Self { hash: digest(&text), text }
    }
}

/// SHA-256 in hexadecimal digits.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Exchanges an enrolment token for the id of its engine. A token works once, until its end. `None`: it
/// is unknown, used or too old.
///
/// # Errors
/// The database.
pub fn enrol(config: &Config, token: &str, now_s: u64) -> DbResult<Option<u64>> {
    const ENGINE: &str = "SELECT engineid FROM engines \
                          WHERE enrolment_digest = ? AND enrolment_expires_at > ?";
    let digest = [Value::from(digest(token)), now_s.into()];
    // Guesses do not take the lock of changes.
    if config.read(|connection| connection.query(ENGINE, &digest))?.is_empty() {
        return Ok(None);
    }
    config.write(|edit| {
        let rows = edit.query(ENGINE, &digest)?;
        let Some(id) = rows.first().map(|row| row.id("engineid")) else { return Ok(None) };
        let used = [("enrolment_digest", "".into()), ("enrolment_expires_at", 0.into())];
        edit.update("engines", id, &used)?;
        Ok(Some(id))
    })
}

/// What an engine reports of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// When, in seconds since 1970.
    pub at_s: u64,
    /// Address that it connects from.
    pub address: String,
    /// [`Desired::hash`] of the configuration that it runs; empty: none.
    pub running_hash: String,
    /// Why it does not run the newest configuration; empty: it does.
    pub error: String,
}

/// Stores what an engine reports. Reports of deleted engines are dropped.
///
/// # Errors
/// The database.
pub fn report(config: &Config, engine: u64, report: &Report) -> DbResult<()> {
    config.write_state(|state| {
        let sql = "INSERT INTO engine_states (engineid, lastaccess, address, running_hash, error) \
                   SELECT engineid, ?, ?, ?, ? FROM engines WHERE engineid = ? \
                   ON CONFLICT (engineid) DO UPDATE SET lastaccess = excluded.lastaccess, \
                   address = excluded.address, running_hash = excluded.running_hash, \
                   error = excluded.error";
        let Report { at_s, address, running_hash, error } = report;
        let texts = [address, running_hash, error].map(|text| Value::from(text.as_str()));
        let mut values = vec![Value::from(*at_s)];
        values.extend(texts);
        values.push(engine.into());
        state.execute(sql, &values).map(drop)
    })
}

#[cfg(test)]
mod tests;
