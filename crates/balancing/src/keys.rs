//! Public keys of a JWK set (RFC 7517): what the server accepts is what engines can use.

use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, OctetKeyPairParameters, PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;

/// Keys of a key set.
const KEYS_MAX: usize = 256;

/// A key that checks tokens of one algorithm.
pub struct PublicKey {
    /// `kid` of the tokens; none: any.
    pub id: Option<String>,
    /// The only algorithm that it is used with.
    pub algorithm: Algorithm,
    /// The key itself.
    pub key: DecodingKey,
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublicKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The public keys of a set. Keys of other kinds are ignored (RFC 7517, 5), and so are secrets.
///
/// # Errors
/// The text is not a key set, has too many keys, or none that can be used.
pub fn public_keys(text: &str) -> Result<Vec<PublicKey>, String> {
    let wrong = || "it is no JWK set; it has the form {\"keys\": [...]}".to_owned();
    let parsed: Value = serde_json::from_str(text).map_err(|_| wrong())?;
    let list = parsed.get("keys").and_then(Value::as_array).ok_or_else(wrong)?;
    if list.len() > KEYS_MAX {
        return Err(format!("it has more than {KEYS_MAX} keys"));
    }
    let keys = list.iter().filter_map(|value| {
        let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
        let algorithm = algorithm(&jwk)?;
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        Some(PublicKey { id: jwk.common.key_id, algorithm, key })
    });
    let keys: Vec<PublicKey> = keys.collect();
    if keys.is_empty() {
        return Err("it has no key of RS256, ES256 or EdDSA".to_owned());
    }
    Ok(keys)
}

fn algorithm(jwk: &Jwk) -> Option<Algorithm> {
    let (algorithm, name) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        AlgorithmParameters::OctetKeyPair(OctetKeyPairParameters {
            curve: EllipticCurve::Ed25519,
            ..
        }) => (Algorithm::EdDSA, KeyAlgorithm::EdDSA),
        _ => return None,
    };
    let other = jwk.common.key_algorithm.as_ref().is_some_and(|own| *own != name);
    let encrypts = jwk.common.public_key_use == Some(PublicKeyUse::Encryption);
    (!other && !encrypts).then_some(algorithm)
}
