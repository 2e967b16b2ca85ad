//! Signed tokens (RFC 6750, RFC 7519).
//!
//! A key has one algorithm, and a token is checked only with keys of the algorithm that it names: a public key is
//! never the secret of an HMAC, and `none` is no algorithm.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Map, Value};

use super::checks::Now;
use super::scheme::{Credentials, Judged, Passed, read};
use crate::config::{Jwt, JwtAlgorithm, JwtKey, KeySet, public_keys};

/// Bytes of a token.
const TOKEN_MAX: usize = 16 * 1024;
/// Keys that one token is checked with.
const TRIES_MAX: usize = 8;
/// Bytes of a key set.
const SET_MAX: u64 = 1 << 20;
/// Bytes of a claim in a header.
const CLAIM_MAX: usize = 4 * 1024;

type Claims = Map<String, Value>;

/// The tokens that a policy accepts.
pub(super) struct Tokens {
    realm: String,
    leeway_s: u64,
    keys: Vec<Key>,
    /// Claims and the headers that get them.
    claims: Vec<(String, String)>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("realm", &self.realm).finish_non_exhaustive()
    }
}

struct Key {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
    /// What the claims must be, without times.
    validation: Validation,
}

impl Key {
    fn new(config: &Jwt, id: Option<String>, algorithm: Algorithm, key: DecodingKey) -> Self {
        let mut validation = Validation::new(algorithm);
        let mut required = vec!["exp"];
        // Times are compared with the engine's clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        if let Some(issuer) = &config.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        validation.validate_aud = !config.audience.is_empty();
        if validation.validate_aud {
            validation.set_audience(&config.audience);
            required.push("aud");
        }
        validation.set_required_spec_claims(&required);
        Self { id, algorithm, key, validation }
    }
}

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Malformed,
    /// No key has signed it.
    Signature,
    /// Another issuer or audience, or a claim is missing.
    Claims,
    Expired,
    NotYetValid,
}

impl Fault {
    fn text(self) -> &'static str {
        match self {
            Self::Malformed => "the token is malformed",
            Self::Signature => "the signature is not valid",
            Self::Claims => "the claims are not those that are required",
            Self::Expired => "the token has expired",
            Self::NotYetValid => "the token is not valid yet",
        }
    }
}

/// Checks that a token without the id of a key is tried with each key that may have signed it.
fn check_tries(keys: &[Key]) -> Result<(), String> {
    let nameless = |key: &&Key| key.id.is_none();
    for key in keys.iter().filter(nameless) {
        let same = keys.iter().filter(nameless).filter(|own| own.algorithm == key.algorithm);
        if same.count() > TRIES_MAX {
            return Err(format!(
                "more than {TRIES_MAX} keys of {:?} have no id, and a token is tried with {TRIES_MAX} keys: give keys ids",
                key.algorithm
            ));
        }
    }
    Ok(())
}

impl Tokens {
    pub(super) fn compile(config: &Jwt) -> Result<Self, String> {
        let mut keys = Vec::new();
        for (at, key) in config.keys.iter().enumerate() {
            let (algorithm, decoding) = given(key)
                .ok_or_else(|| format!("key {}: it is no {:?} key", at + 1, key.algorithm))?;
            keys.push(Key::new(config, key.id.clone(), algorithm, decoding));
        }
        if let Some(set) = &config.jwks {
            keys.extend(of_set(config, set)?);
        }
        check_tries(&keys)?;
        Ok(Self {
            realm: config.realm.as_ref().unwrap_or(&config.name).clone(),
            leeway_s: config.leeway.0.as_secs(),
            keys,
            claims: config.claims.clone().into_iter().collect(),
        })
    }

    pub(super) fn judge(&self, given: Option<Credentials<'_>>, now: Now) -> Judged {
        let bearer = given.filter(|given| given.scheme.eq_ignore_ascii_case(b"bearer"));
        let Some(Credentials { text: token, .. }) = bearer else {
            return Judged::Refused(format!("Bearer realm=\"{}\"", self.realm));
        };
        match self.claims_of(token, now.unix_s) {
            Ok(claims) => {
                let user = claims.get("sub").and_then(text).unwrap_or_default();
                Judged::Passed(Passed { user, set: self.forwarded(&claims) })
            }
            Err(fault) => Judged::Refused(format!(
                "Bearer realm=\"{}\", error=\"invalid_token\", error_description=\"{}\"",
                self.realm,
                fault.text()
            )),
        }
    }

    /// The claims of a valid token at a Unix time in seconds.
    fn claims_of(&self, token: &[u8], now_s: u64) -> Result<Claims, Fault> {
        if token.len() > TOKEN_MAX {
            return Err(Fault::Malformed);
        }
        let header = jsonwebtoken::decode_header(token).map_err(|_| Fault::Malformed)?;
        // RFC 7515, 4.1.11: extensions that are not understood.
        if header.crit.is_some() {
            return Err(Fault::Malformed);
        }
        let of_algorithm = || self.keys.iter().filter(|key| key.algorithm == header.alg);
        let has_id = |key: &&Key| key.id.is_some() && key.id == header.kid;
        let named = of_algorithm().any(|key| has_id(&key));
        // A key with an id is for tokens with that id, or without any.
        let suits = |key: &&Key| {
            if named { has_id(key) } else { key.id.is_none() || header.kid.is_none() }
        };
        for key in of_algorithm().filter(suits).take(TRIES_MAX) {
            match jsonwebtoken::decode::<Claims>(token, &key.key, &key.validation) {
                Ok(data) => return self.in_time(data.claims, now_s),
                Err(error) if matches!(error.kind(), ErrorKind::InvalidSignature) => {}
                Err(error) => {
                    return Err(match error.kind() {
                        ErrorKind::MissingRequiredClaim(_)
                        | ErrorKind::InvalidIssuer
                        | ErrorKind::InvalidAudience => Fault::Claims,
                        _ => Fault::Malformed,
                    });
                }
            }
        }
        Err(Fault::Signature)
    }

    fn in_time(&self, claims: Claims, now_s: u64) -> Result<Claims, Fault> {
        let time = |name: &str| match claims.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(Fault::Malformed),
        };
        let (now_s, leeway_s) = (now_s as f64, self.leeway_s as f64);
        let end = time("exp")?.ok_or(Fault::Claims)?;
        if end + leeway_s <= now_s {
            return Err(Fault::Expired);
        }
        if time("nbf")?.is_some_and(|begin| begin > now_s + leeway_s) {
            return Err(Fault::NotYetValid);
        }
        Ok(claims)
    }

    /// Headers with the claims that the token has and a header can have.
    fn forwarded(&self, claims: &Claims) -> Vec<(String, String)> {
        let value = |(claim, header): &(String, String)| {
            let text = text(claims.get(claim)?)?;
            let fits = text.len() <= CLAIM_MAX && !text.bytes().any(|b| b < b' ' || b == 127);
            fits.then(|| (header.clone(), text))
        };
        self.claims.iter().filter_map(value).collect()
    }
}

/// A claim as the value of a header: a scalar, or a list of scalars separated by commas.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Array(values) => {
            let scalar = |value: &Value| match value {
                Value::Array(_) => None,
                // A comma within a member would make two of it.
                value => text(value).filter(|text| !text.contains(',')),
            };
            Some(values.iter().map(scalar).collect::<Option<Vec<_>>>()?.join(","))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// A key of the configuration.
fn given(key: &JwtKey) -> Option<(Algorithm, DecodingKey)> {
    let pem = key.key.0.as_bytes();
    let (algorithm, decoding) = match key.algorithm {
        JwtAlgorithm::HS256 => (Algorithm::HS256, Ok(DecodingKey::from_secret(pem))),
        JwtAlgorithm::RS256 => (Algorithm::RS256, DecodingKey::from_rsa_pem(pem)),
        JwtAlgorithm::ES256 => (Algorithm::ES256, DecodingKey::from_ec_pem(pem)),
        JwtAlgorithm::EdDSA => (Algorithm::EdDSA, DecodingKey::from_ed_pem(pem)),
    };
    let decoding = decoding.ok()?;
    let length = |key: &DecodingKey| key.try_get_as_bytes().map_or(0, <[u8]>::len);
    let suits = match algorithm {
        // An uncompressed point of P-256.
        Algorithm::ES256 => length(&decoding) == 65,
        Algorithm::EdDSA => length(&decoding) == 32,
        _ => true,
    };
    suits.then_some((algorithm, decoding))
}

/// The public keys of a set.
fn of_set(config: &Jwt, set: &KeySet) -> Result<Vec<Key>, String> {
    let (text, name) = match set {
        KeySet::Text(text) => (text.clone(), "'jwks'".to_owned()),
        KeySet::File(path) => (read(path, SET_MAX)?, path.display().to_string()),
    };
    let keys = public_keys(&text).map_err(|problem| format!("{name}: {problem}"))?;
    Ok(keys.into_iter().map(|key| Key::new(config, key.id, key.algorithm, key.key)).collect())
}

#[cfg(test)]
mod tests;
