//! Certificates that the server orders from authorities, and how far it is.

use crate::table;
use balancing::{AcmeOrder, Challenge};
use const_format::formatcp;
use objects::sql::STATUS_ENABLED;

use super::pem::{self, Facts};
use crate::Config;
use crate::db::{DbResult, Reader, Row, Value};

/// A certificate that is ordered.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordered {
    /// `certificateid`.
    pub id: u64,
    /// Name of the certificate, for the log.
    pub name: String,
    /// What is ordered.
    pub order: AcmeOrder,
    /// When a user last asked for it; Unix time in seconds.
    pub requested_at: u64,
    /// The key and the chain in PEM format; empty: there is none yet.
    pub pem: String,
}

/// All certificates that are ordered.
///
/// # Errors
/// The database.
pub fn ordered(config: &Config) -> DbResult<Vec<Ordered>> {
    let sql = "SELECT certificateid, name, acme, requested_at, certificate, private_key \
               FROM certificates WHERE acme <> '{}' ORDER BY certificateid";
    let rows = config.read(|connection| connection.query(sql, &[]))?;
    let one = |row: &Row| {
        // The API has checked it.
        let order = serde_json::from_str(row.text("acme")).ok()?;
        Some(Ordered {
            id: row.id("certificateid"),
            name: row.text("name").to_owned(),
            order,
            requested_at: row.id("requested_at"),
            pem: format!("{}{}", row.text("private_key"), row.text("certificate")),
        })
    };
    Ok(rows.iter().filter_map(one).collect())
}

/// A certificate that an authority has issued.
#[derive(Debug, Clone, Copy)]
pub struct Arrived<'a> {
    /// PKCS #8 in PEM format.
    pub private_key: &'a str,
    /// What it says.
    pub facts: &'a Facts,
    /// The newest request of a user that it fulfils; Unix time in seconds.
    pub requested_s: u64,
}

/// Stores a certificate that arrived, and ends the requests that it fulfils. One that is no longer ordered
/// is dropped.
///
/// # Errors
/// The database.
pub fn keep_certificate(config: &Config, id: u64, arrived: &Arrived<'_>) -> DbResult<()> {
    config.write(|edit| {
        let sql = "SELECT requested_at FROM certificates WHERE certificateid = ? AND acme <> '{}'";
        let rows = edit.query(sql, &[id.into()])?;
        let Some(row) = rows.first() else { return Ok(()) };
        let mut columns = arrived.facts.columns();
        columns.push(("private_key", arrived.private_key.into()));
        if row.id("requested_at") <= arrived.requested_s {
            columns.push(("requested_at", 0.into()));
        }
        edit.update(&table::CERTIFICATES, id, &columns)
    })
}

/// Shows orders that the last end of the server interrupted as failed.
///
/// # Errors
/// The database.
pub fn note_interrupted(config: &Config) -> DbResult<()> {
    let sql = "UPDATE certificate_states SET phase = 'failed', \
               error = 'the server ended during the order' WHERE phase = 'ordering'";
    config.write_state(|state| state.execute(sql, &[]).map(drop))
}

/// The attempts since the last certificate, as the load balancer wrote them; empty: none.
///
/// # Errors
/// The database.
pub fn attempts(config: &Config, id: u64) -> DbResult<String> {
    let sql = "SELECT attempts FROM certificate_states WHERE certificateid = ?";
    let rows = config.read(|connection| connection.query(sql, &[id.into()]))?;
    Ok(rows.first().map(|row| row.text("attempts").to_owned()).unwrap_or_default())
}

/// Stores the attempts since the last certificate.
///
/// # Errors
/// The database.
pub fn keep_attempts(config: &Config, id: u64, attempts: &str) -> DbResult<()> {
    let sql = "INSERT INTO certificate_states (certificateid, attempts) \
               SELECT certificateid, ? FROM certificates WHERE certificateid = ? \
               ON CONFLICT (certificateid) DO UPDATE SET attempts = excluded.attempts";
    config.write_state(|state| state.execute(sql, &[attempts.into(), id.into()]).map(drop))
}

/// What users see of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// `waiting`, `ordering`, `issued` or `failed`.
    pub phase: &'static str,
    /// Why the last order failed, or why none begins; empty: neither.
    pub error: String,
    /// When the next order begins; Unix time in seconds.
    pub next_attempt: u64,
}

/// Stores what users see of an order.
///
/// # Errors
/// The database.
pub fn show(config: &Config, id: u64, progress: &Progress) -> DbResult<()> {
    let sql = "INSERT INTO certificate_states (certificateid, phase, error, next_attempt) \
               SELECT certificateid, ?, ?, ? FROM certificates WHERE certificateid = ? \
               ON CONFLICT (certificateid) DO UPDATE SET phase = excluded.phase, \
               error = excluded.error, next_attempt = excluded.next_attempt";
    let values = [
        Value::from(progress.phase),
        progress.error.as_str().into(),
        progress.next_attempt.into(),
        id.into(),
    ];
    config.write_state(|state| state.execute(sql, &values).map(drop))
}

const ACCOUNT: &str =
    "SELECT acmeaccountid, account FROM acme_accounts WHERE directory = ? AND contact = ?";

/// The account of these mail addresses (JSON) at an authority, as the load balancer wrote it.
///
/// # Errors
/// The database.
pub fn account(config: &Config, directory: &str, contact: &str) -> DbResult<Option<String>> {
    let values = [Value::from(directory), contact.into()];
    let rows = config.read(|connection| connection.query(ACCOUNT, &values))?;
    Ok(rows.first().map(|row| row.text("account").to_owned()))
}

/// Stores an account.
///
/// # Errors
/// The database.
pub fn keep_account(
    config: &Config,
    directory: &str,
    contact: &str,
    account: &str,
) -> DbResult<()> {
    let values = [Value::from(directory), contact.into()];
    config.write(|edit| {
        let found = edit.query(ACCOUNT, &values)?;
        match found.first() {
            Some(row) => {
                let id = row.id("acmeaccountid");
                edit.update(&table::ACME_ACCOUNTS, id, &[("account", account.into())])
            }
            None => {
                let columns = [
                    ("directory", directory.into()),
                    ("contact", contact.into()),
                    ("account", account.into()),
                ];
                edit.insert_new(&table::ACME_ACCOUNTS, &columns).map(drop)
            }
        }
    })
}

/// The groups whose engines can pass the checks of a certificate. If services use it, `http-01` passes in
/// their groups alone: the host names lead there.
///
/// # Errors
/// The database.
pub fn checked_by(config: &Config, id: u64, challenge: Challenge) -> DbResult<Vec<u64>> {
    const PLAIN: &str = formatcp!(
        "SELECT DISTINCT s.enginegroupid FROM virtualservices s \
         WHERE s.status = {STATUS_ENABLED} AND s.type = 'http' AND NOT EXISTS \
         (SELECT 1 FROM virtualservice_certificates c WHERE c.virtualserviceid = s.virtualserviceid) \
         ORDER BY s.enginegroupid"
    );
    const WITH_IT: &str = formatcp!(
        "SELECT DISTINCT s.enginegroupid FROM virtualservices s \
         JOIN virtualservice_certificates c ON c.virtualserviceid = s.virtualserviceid \
         WHERE s.status = {STATUS_ENABLED} AND c.certificateid = ?"
    );
    let groups = |rows: Vec<Row>| rows.iter().map(|row| row.id("enginegroupid")).collect();
    let read = |connection: &mut dyn Reader| -> DbResult<Vec<u64>> {
        if challenge == Challenge::Dns01 {
            return Ok(Vec::new());
        }
        let using: Vec<u64> = groups(connection.query(WITH_IT, &[id.into()])?);
        if challenge == Challenge::TlsAlpn01 {
            return Ok(using);
        }
        let mut plain: Vec<u64> = groups(connection.query(PLAIN, &[])?);
        plain.retain(|group| using.is_empty() || using.contains(group));
        Ok(plain)
    };
    config.read(read)
}

/// The key and what the first certificate says, of a text with both.
///
/// # Errors
/// What is missing.
pub fn read_pair(text: &str) -> Result<(String, Facts), &'static str> {
    let chain = pem::service_chain(text)?;
    let (key, written) = pem::key(text)?;
    pem::check_pair(&chain, &key)?;
    Ok((written, pem::facts(&chain)?))
}
