//! The load balancer's engines as the server knows them: what they are to do, how they enrol, what they
//! report.

mod catalogue;
mod compile;
mod credential;
mod groups;
pub mod hosts;
mod monitors;
pub mod orders;
pub mod pem;
mod placement;
mod stored;
mod tickets;

use crate::table;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::Config;
use crate::db::{DbResult, Reader, Value};

pub use catalogue::{Catalogue, CatalogueEngine, CataloguePool, CatalogueService};
pub use compile::{CompileError, Objects, Service};
pub use credential::Credential;
pub use monitors::{Monitor, monitors, pools_of_monitor};
pub use placement::{Placed, PlacedVip, keep_placement, placed_groups};
pub use stored::stored;
pub use tickets::{forget_tickets, groups_of_engines, rotate_tickets, ticket_secrets};

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
    pub fn of_group(connection: &mut dyn Reader, group: u64) -> Result<Self, CompileError> {
        Ok(Self::of(&Objects::of_group(connection, group)?))
    }

    /// Of the group of this engine; `None`: there is no such engine.
    ///
    /// # Errors
    /// As [`Desired::of_group`].
    pub fn of_engine(
        connection: &mut dyn Reader,
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

const OF_TOKEN: &str = "SELECT engineid FROM engines \
                        WHERE enrolment_digest = ? AND enrolment_expires_at > ?";

/// The engine that a token lets enrol. `None`: the token is unknown, used or too old.
///
/// # Errors
/// The database.
pub fn of_token(config: &Config, token: &str, now_s: u64) -> DbResult<Option<u64>> {
    let digest = [Value::from(digest(token)), now_s.into()];
    let rows = config.read(|connection| connection.query(OF_TOKEN, &digest))?;
    Ok(rows.first().map(|row| row.id("engineid")))
}

/// Uses up a token: from now on its engine is known by the certificate with this fingerprint, and by no
/// older one. Returns the engine, as [`of_token`].
///
/// # Errors
/// The database.
pub fn enrol(config: &Config, token: &str, now_s: u64, fingerprint: &str) -> DbResult<Option<u64>> {
    // Guesses do not take the lock of changes.
    if of_token(config, token, now_s)?.is_none() {
        return Ok(None);
    }
    let digest = [Value::from(digest(token)), now_s.into()];
    config.write(|edit| {
        let rows = edit.query(OF_TOKEN, &digest)?;
        let Some(id) = rows.first().map(|row| row.id("engineid")) else { return Ok(None) };
        let used = [("enrolment_digest", "".into()), ("enrolment_expires_at", 0.into())];
        edit.update(&table::ENGINES, id, &used)?;
        edit.delete(&table::ENGINE_CERTIFICATES, "engineid", &[id])?;
        let known = [("engineid", id.into()), ("fingerprint", fingerprint.into())];
        edit.insert(&table::ENGINE_CERTIFICATES, &known)?;
        Ok(Some(id))
    })
}

/// An engine as the server recognises it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Name today; records keep the one of the enrolment.
    pub name: String,
    /// Id of its group.
    pub group: u64,
    /// Fingerprint of its certificate; empty: it has not enrolled.
    pub fingerprint: String,
    /// That of the certificate that it gets next; empty: none.
    pub next_fingerprint: String,
}

/// What is known of an engine; `None`: there is none with this id.
///
/// # Errors
/// The database.
pub fn known(config: &Config, engine: u64) -> DbResult<Option<Known>> {
    let sql = "SELECT e.name, e.enginegroupid, COALESCE(c.fingerprint, '') AS fingerprint, \
               COALESCE(c.next_fingerprint, '') AS next_fingerprint \
               FROM engines e LEFT JOIN engine_certificates c ON c.engineid = e.engineid \
               WHERE e.engineid = ?";
    let rows = config.read(|connection| connection.query(sql, &[engine.into()]))?;
    Ok(rows.first().map(|row| Known {
        name: row.text("name").to_owned(),
        group: row.id("enginegroupid"),
        fingerprint: row.text("fingerprint").to_owned(),
        next_fingerprint: row.text("next_fingerprint").to_owned(),
    }))
}

/// Notes the certificate that an engine gets next. It stays known by `fingerprint` until it uses the next
/// one. `false`: it is not known by that any more.
///
/// # Errors
/// The database.
pub fn renew(config: &Config, engine: u64, fingerprint: &str, next: &str) -> DbResult<bool> {
    let known = KnownBy { engine, column: "fingerprint", fingerprint };
    known.replace(config, &[("next_fingerprint", next.into())])
}

/// An engine uses its next certificate: the one before is not known any more.
///
/// # Errors
/// The database.
pub fn renewed(config: &Config, engine: u64, next: &str) -> DbResult<bool> {
    let columns = [("fingerprint", next.into()), ("next_fingerprint", "".into())];
    KnownBy { engine, column: "next_fingerprint", fingerprint: next }.replace(config, &columns)
}

/// An engine, and what it must be known by.
struct KnownBy<'f> {
    engine: u64,
    column: &'static str,
    fingerprint: &'f str,
}

impl KnownBy<'_> {
    /// Changes what the engine is known by. `false`: it is known by something else.
    fn replace(self, config: &Config, columns: &[(&str, Value)]) -> DbResult<bool> {
        let Self { engine, column, fingerprint } = self;
        config.write(|edit| {
            let sql = format!(
                "SELECT engineid FROM engine_certificates WHERE engineid = ? AND {column} = ?"
            );
            let is_known = !edit.query(&sql, &[engine.into(), fingerprint.into()])?.is_empty();
            if is_known {
                edit.update(&table::ENGINE_CERTIFICATES, engine, columns)?;
            }
            Ok(is_known)
        })
    }
}

/// The authority that issues the certificates of engines, in PEM format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAuthority {
    /// The certificate whose fingerprint tokens end with.
    pub certificate: String,
    /// PKCS #8; it never leaves the server.
    pub private_key: String,
}

/// The authority of this configuration. The first call stores `new`.
///
/// # Errors
/// The database.
pub fn authority(config: &Config, new: &StoredAuthority) -> DbResult<StoredAuthority> {
    const ALL: &str = "SELECT certificate, private_key FROM engine_authorities";
    let found = |rows: Vec<crate::db::Row>| {
        rows.first().map(|row| StoredAuthority {
            certificate: row.text("certificate").to_owned(),
            private_key: row.text("private_key").to_owned(),
        })
    };
    if let Some(stored) = found(config.read(|connection| connection.query(ALL, &[]))?) {
        return Ok(stored);
    }
    config.write(|edit| {
        if let Some(stored) = found(edit.query(ALL, &[])?) {
            return Ok(stored);
        }
        let columns = [
            ("certificate", new.certificate.as_str().into()),
            ("private_key", new.private_key.as_str().into()),
        ];
        edit.insert_new(&table::ENGINE_AUTHORITIES, &columns)?;
        Ok(new.clone())
    })
}

/// The newest change of the configuration. A greater number than before: a change since.
///
/// # Errors
/// The database.
pub fn revision(config: &Config) -> DbResult<u64> {
    let sql = "SELECT COALESCE(MAX(revision), 0) AS revision FROM changes";
    let rows = config.read(|connection| connection.query(sql, &[]))?;
    Ok(rows.first().map_or(0, |row| row.id("revision")))
}

/// Tables that say nothing about what engines run. An engine that enrols again changes `engines` as well.
const UNRELATED: &[&str] = &["engine_certificates", "acme_accounts"];

/// Whether engines or what they run changed after this revision.
///
/// # Errors
/// The database.
pub fn changed_since(config: &Config, revision: u64) -> DbResult<bool> {
    let tables = crate::schema::balancing_tables().filter(|table| !UNRELATED.contains(&table.name));
    let names = tables.map(|table| format!("'{}'", table.name));
    let names = names.collect::<Vec<_>>().join(", ");
    let sql =
        format!("SELECT revision FROM changes WHERE revision > ? AND name IN ({names}) LIMIT 1");
    Ok(!config.read(|connection| connection.query(&sql, &[revision.into()]))?.is_empty())
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
    /// Version of its program.
    pub version: String,
    /// When its connection began, in seconds since 1970.
    pub connected_at: u64,
    /// End of the certificate by which it is recognised, in seconds since 1970.
    pub certificate_until: u64,
}

/// Stores what an engine reports. Reports of deleted engines are dropped.
///
/// # Errors
/// The database.
pub fn report(config: &Config, engine: u64, report: &Report) -> DbResult<()> {
    config.write_state(|state| {
        let sql = "INSERT INTO engine_states (engineid, lastaccess, address, running_hash, error, \
                   version, connected_at, certificate_until) \
                   SELECT engineid, ?, ?, ?, ?, ?, ?, ? FROM engines WHERE engineid = ? \
                   ON CONFLICT (engineid) DO UPDATE SET lastaccess = excluded.lastaccess, \
                   address = excluded.address, running_hash = excluded.running_hash, \
                   error = excluded.error, version = excluded.version, \
                   connected_at = excluded.connected_at, \
                   certificate_until = excluded.certificate_until";
        let texts = [&report.address, &report.running_hash, &report.error, &report.version];
        let mut values = vec![Value::from(report.at_s)];
        values.extend(texts.map(|text| Value::from(text.as_str())));
        values.extend([report.connected_at, report.certificate_until, engine].map(Value::from));
        state.execute(sql, &values).map(drop)
    })
}

#[cfg(test)]
mod tests;
