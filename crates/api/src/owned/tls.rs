//! Encryption of connections to and from a host.

use config::Edit;
use config::db::{Row, Value};

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, missing};
use crate::params;

/// Bit for a pre-shared key.
const PSK: i64 = 2;
/// Bit for a certificate.
const CERTIFICATE: i64 = 4;

/// Checks the encryption members of a host; `now` is its row when it exists. Gives the columns to
/// write; what the chosen kinds do not use is cleared.
pub(crate) fn columns(
    edit: &mut Edit<'_>,
    input: &Json,
    now: Option<&Row>,
    path: &str,
) -> ApiResult<Columns> {
    let at = |name: &str| format!("{path}/{name}");
    let number = |name: &str| input.get(name).map(|v| params::int(v, &at(name))).transpose();
    let before = |name: &str| now.map_or(1, |row| row.int(name));
    let connect = number("tls_connect")?.unwrap_or_else(|| before("tls_connect"));
    if ![1, PSK, CERTIFICATE].contains(&connect) {
        return Err(ApiError::at(&at("tls_connect"), "value must be one of 1, 2, 4"));
    }
    let accept = number("tls_accept")?.unwrap_or_else(|| before("tls_accept"));
    if !(1..=7).contains(&accept) {
        return Err(ApiError::at(&at("tls_accept"), "value must be one of 1-7"));
    }
    let mut columns: Columns = vec![("tls_connect", connect.into()), ("tls_accept", accept.into())];
    let used = connect | accept;
    for (name, bit, required) in [
        ("tls_issuer", CERTIFICATE, false),
        ("tls_subject", CERTIFICATE, false),
        ("tls_psk_identity", PSK, true),
        ("tls_psk", PSK, true),
    ] {
        let given = input.get(name).map(|v| params::text(v, &at(name))).transpose()?;
        let stored = now.map_or("", |row| row.text(name));
        let text = if used & bit == 0 {
            if given.is_some_and(|text| !text.is_empty()) {
                return Err(ApiError::at(&at(name), "value must be empty"));
            }
            String::new()
        } else {
            match given {
                Some(text) if required && text.is_empty() => {
                    return Err(ApiError::at(&at(name), "cannot be empty"));
                }
                Some(text) => text,
                None if required && stored.is_empty() => return Err(missing(path, name)),
                None => stored.to_owned(),
            }
        };
        check(name, &text, &at(name))?;
        columns.push((name, text.into()));
    }
    check_identity(edit, &columns, now, path)?;
    Ok(columns)
}

/// A text that does not belong where it is given: too long, or no key.
pub(crate) fn check(name: &str, text: &str, path: &str) -> ApiResult<()> {
    let length = text.chars().count();
    if name == "tls_psk" && !text.is_empty() {
        if length < 32 {
            return Err(ApiError::at(path, "minimum length is 32 characters"));
        }
        if length % 2 == 1 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(ApiError::at(path, "an even number of hexadecimal characters is expected"));
        }
    }
    let max = match name {
        "tls_psk" => 512,
        "tls_psk_identity" => 128,
        _ => 1024,
    };
    if length > max {
        return Err(ApiError::at(path, "value is too long"));
    }
    Ok(())
}

/// One identity stands for one key everywhere: the peer tells only the identity.
fn check_identity(
    edit: &mut Edit<'_>,
    columns: &Columns,
    now: Option<&Row>,
    path: &str,
) -> ApiResult<()> {
    let text = |name: &str| match columns.iter().find(|(column, _)| *column == name) {
        Some((_, Value::Text(text))) => text.clone(),
        _ => String::new(),
    };
    let (identity, key) = (text("tls_psk_identity"), text("tls_psk"));
    if identity.is_empty() {
        return Ok(());
    }
    let own = now.map_or(0, |row| row.id("hostid"));
    let others = edit.query(
        "SELECT hostid FROM hosts WHERE tls_psk_identity = ? AND tls_psk <> ? AND hostid <> ?",
        &[identity.into(), key.into(), own.into()],
    )?;
    if others.is_empty() {
        return Ok(());
    }
    Err(ApiError::at(
        &format!("{path}/tls_psk"),
        "another tls_psk value is already associated with given tls_psk_identity",
    ))
}
