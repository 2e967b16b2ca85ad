//! Authentication policies of virtual services. Their secrets are stored and never shown.

use balancing::{Authentication, HIDDEN, Jwt, JwtAlgorithm, JwtKey, KeySet, public_keys};
use config::db::Row;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey};
use serde_json::Value as Json;

use super::members::{object, optional, typed};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::plain::Draft;

const COLUMN: &str = "authentication";

/// Checks the policies; `{}` stands for none. File names would be read on each engine.
pub(super) fn read(value: &Json, path: &str) -> ApiResult<String> {
    let text = optional::<Authentication>(value, path)?;
    let policies: Authentication = typed(&object(value, path)?, path)?;
    for (n, basic) in policies.basic.iter().enumerate() {
        if basic.file.is_some() {
            let text = "files are for engines that run alone; set \"users\"";
            return Err(ApiError::at(&format!("{path}/basic/{}/file", n + 1), text));
        }
    }
    for (n, jwt) in policies.jwt.iter().enumerate() {
        check_keys(jwt, &format!("{path}/jwt/{}", n + 1))?;
    }
    Ok(text)
}

fn check_keys(jwt: &Jwt, path: &str) -> ApiResult<()> {
    for (n, key) in jwt.keys.iter().enumerate() {
        if !is_key(key) {
            let text = format!("a public key of {:?} in PEM format is expected", key.algorithm);
            return Err(ApiError::at(&format!("{path}/keys/{}/key", n + 1), text));
        }
    }
    let problem = match &jwt.jwks {
        None => return Ok(()),
        Some(KeySet::File(_)) => "the text of a JWK set is expected".to_owned(),
        Some(KeySet::Text(text)) => match public_keys(text) {
            Ok(_) => return Ok(()),
            Err(problem) => problem,
        },
    };
    Err(ApiError::at(&format!("{path}/jwks"), problem))
}

/// Whether the key is of its algorithm.
fn is_key(key: &JwtKey) -> bool {
    let public = || PKey::public_key_from_pem(key.key.0.as_bytes()).ok();
    match key.algorithm {
        JwtAlgorithm::HS256 => true,
        JwtAlgorithm::RS256 => {
            public().is_some_and(|key| key.id() == Id::RSA && (2048..=8192).contains(&key.bits()))
        }
        JwtAlgorithm::ES256 => public().is_some_and(|key| {
            key.ec_key().is_ok_and(|key| key.group().curve_name() == Some(Nid::X9_62_PRIME256V1))
        }),
        JwtAlgorithm::EdDSA => public().is_some_and(|key| key.id() == Id::ED25519),
    }
}

/// Gives hidden secrets their stored values: a client sends back what it has read.
pub(super) fn restore(draft: &mut Draft<'_>, before: Option<&Row>) {
    if !draft.gives(COLUMN) {
        return;
    }
    let given = draft.text(COLUMN, None);
    let Some(before) = before.filter(|_| given.contains(HIDDEN)) else { return };
    let parse = |text: &str| serde_json::from_str::<Authentication>(text).ok();
    let Some((mut given, mut stored)) = parse(&given).zip(parse(before.text(COLUMN))) else {
        return;
    };
    given.restore(&mut stored);
    if let Ok(text) = serde_json::to_string(&given) {
        draft.set(COLUMN, text);
    }
}

/// Hides the secrets of shown policies.
pub(super) fn show(found: &mut Found<'_, '_>) {
    if !found.output.has(COLUMN) {
        return;
    }
    for row in &mut found.rows {
        let text = row.row.text(COLUMN);
        if text.is_empty() || text == "{}" {
            continue;
        }
        // A text that is none of this version is not shown at all.
        let shown = serde_json::from_str::<Authentication>(text).ok().and_then(|mut policies| {
            policies.hide();
            serde_json::to_value(policies).ok()
        });
        row.out.insert(COLUMN, shown.unwrap_or(Json::Null));
    }
}
