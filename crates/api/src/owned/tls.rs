//! Encryption of connections to and from a host.

use config::Edit;
use config::db::Row;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, missing};
use crate::params;

/// Bit for a pre-shared key.
const PSK: i64 = 2;
/// Bit for a certificate.
const CERTIFICATE: i64 = 4;

/// Kinds of connections: 1 without encryption, 2 with a pre-shared key, 4 with a certificate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kinds {
    /// To the peer: one of the numbers.
    pub(crate) connect: i64,
    /// From the peer: a bit mask of them.
    pub(crate) accept: i64,
}

impl Kinds {
    /// The kinds that are given, or those of the row, or unencrypted ones.
    pub(crate) fn parse(input: &Json, now: Option<&Row>, path: &str) -> ApiResult<Self> {
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
        Ok(Self { connect, accept })
    }
}

/// The object that has a pre-shared key. The id of a new one is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    Host(u64),
    Proxy(u64),
    /// Agents that announce themselves.
    Autoregistration,
}

/// Checks the encryption members of a host or proxy; `now` is its row when it exists. Gives the columns
/// to write; what the kinds do not use is cleared.
pub(crate) fn columns(
    edit: &mut Edit<'_>,
    input: &Json,
    now: Option<&Row>,
    path: &str,
    kinds: Kinds,
    holder: Holder,
) -> ApiResult<Columns> {
    let Kinds { connect, accept } = kinds;
    let at = |name: &str| format!("{path}/{name}");
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
    let text = |name: &str| columns.iter().find(|(column, _)| *column == name);
    let text = |name: &str| text(name).map(|(_, value)| value.to_string()).unwrap_or_default();
    let (identity, key) = (text("tls_psk_identity"), text("tls_psk"));
    let is_stored =
        |row: &Row| row.text("tls_psk_identity") == identity && row.text("tls_psk") == key;
    // Databases of earlier versions may have one identity with two keys: other changes are possible.
    if !now.is_some_and(is_stored) {
        check_identity(edit, &identity, &key, holder, path)?;
    }
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

/// One identity stands for one key everywhere, because a peer sends only the identity.
pub(crate) fn check_identity(
    edit: &mut Edit<'_>,
    identity: &str,
    key: &str,
    holder: Holder,
    path: &str,
) -> ApiResult<()> {
    if identity.is_empty() {
        return Ok(());
    }
    let (host, proxy) = match holder {
        Holder::Host(id) => (id, 0),
        Holder::Proxy(id) => (0, id),
        Holder::Autoregistration => (0, 0),
    };
    let mut taken = false;
    for (sql, own) in [
        (
            "SELECT hostid FROM hosts WHERE tls_psk_identity = ? AND tls_psk <> ? AND hostid <> ?",
            host,
        ),
        (
            "SELECT proxyid FROM proxies WHERE tls_psk_identity = ? AND tls_psk <> ? AND proxyid <> ?",
            proxy,
        ),
    ] {
        taken |= !edit.query(sql, &[identity.into(), key.into(), own.into()])?.is_empty();
    }
    if holder != Holder::Autoregistration {
        let sql = "SELECT i.name FROM settings i JOIN settings k ON k.name = 'autoreg_tls_psk' \
                   WHERE i.name = 'autoreg_tls_psk_identity' AND i.value = ? AND k.value <> ?";
        taken |= !edit.query(sql, &[identity.into(), key.into()])?.is_empty();
    }
    if !taken {
        return Ok(());
    }
    Err(ApiError::at(
        &format!("{path}/tls_psk"),
        "another tls_psk value is already associated with given tls_psk_identity",
    ))
}
