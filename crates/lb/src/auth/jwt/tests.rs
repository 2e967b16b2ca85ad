use jsonwebtoken::{EncodingKey, Header};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, PKCS_RSA_SHA256};
use serde_json::json;

use super::*;
use crate::config::Secret;

const NOW_S: u64 = 1_700_000_000;
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A policy of a YAML text.
fn policy(text: &str) -> Jwt {
    serde_saphyr::from_str(text).unwrap()
}

fn key(algorithm: JwtAlgorithm, key: &str) -> JwtKey {
    JwtKey { id: None, algorithm, key: Secret(key.to_owned()) }
}

/// A policy with one key.
fn with_key(algorithm: JwtAlgorithm, of: &str) -> Jwt {
    Jwt { keys: vec![key(algorithm, of)], ..policy("{name: api}") }
}

fn of_secret(more: &str) -> Tokens {
    let text = format!("{{name: api, keys: [{{algorithm: HS256, key: {SECRET}}}]{more}}}");
    Tokens::compile(&policy(&text)).unwrap()
}

fn token(header: &Header, claims: &Value, key: &EncodingKey) -> String {
    jsonwebtoken::encode(header, claims, key).unwrap()
}

fn signed(claims: &Value) -> String {
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    token(&Header::new(Algorithm::HS256), claims, &key)
}

fn fault(tokens: &Tokens, token: &str) -> Option<Fault> {
    tokens.claims_of(token.as_bytes(), NOW_S).err()
}

/// An encoding key with its public key.
fn pair(algorithm: JwtAlgorithm) -> (EncodingKey, String) {
    let kind = match algorithm {
        JwtAlgorithm::RS256 => &PKCS_RSA_SHA256,
        JwtAlgorithm::ES256 => &PKCS_ECDSA_P256_SHA256,
        _ => &PKCS_ED25519,
    };
    let pair = KeyPair::generate_for(kind).unwrap();
    let pem = pair.serialize_pem();
    let key = match algorithm {
        JwtAlgorithm::RS256 => EncodingKey::from_rsa_pem(pem.as_bytes()),
        JwtAlgorithm::ES256 => EncodingKey::from_ec_pem(pem.as_bytes()),
        _ => EncodingKey::from_ed_pem(pem.as_bytes()),
    };
    (key.unwrap(), pair.public_key_pem())
}

#[test]
fn keys_that_no_token_would_be_tried_with_are_refused() {
    let with = |count: usize, id: Option<&str>| {
        let own = JwtKey { id: id.map(str::to_owned), ..key(JwtAlgorithm::HS256, SECRET) };
        Tokens::compile(&Jwt { keys: vec![own; count], ..policy("{name: api}") }).map(drop)
    };
    assert_eq!(with(TRIES_MAX, None), Ok(()));
    assert_eq!(with(TRIES_MAX + 1, Some("a")), Ok(()));
    assert!(with(TRIES_MAX + 1, None).is_err_and(|problem| problem.contains("give keys ids")));
}

#[test]
fn times_are_compared_with_leeway() {
    let tokens = of_secret("");
    let ends = |exp: u64| fault(&tokens, &signed(&json!({ "exp": exp })));
    assert_eq!(ends(NOW_S + 60), None);
    assert_eq!(ends(NOW_S - 29), None);
    assert_eq!(ends(NOW_S - 30), Some(Fault::Expired));
    let begins = |nbf: u64| fault(&tokens, &signed(&json!({ "exp": NOW_S + 60, "nbf": nbf })));
    assert_eq!(begins(NOW_S + 30), None);
    assert_eq!(begins(NOW_S + 31), Some(Fault::NotYetValid));
    assert_eq!(fault(&tokens, &signed(&json!({}))), Some(Fault::Claims), "no end");
    assert_eq!(fault(&tokens, &signed(&json!({ "exp": "soon" }))), Some(Fault::Claims));
}

#[test]
fn issuer_and_audience_are_required() {
    let tokens = of_secret(", issuer: me, audience: [shop, store]");
    let found = |iss: &str, aud: Value| {
        fault(&tokens, &signed(&json!({ "exp": NOW_S + 60, "iss": iss, "aud": aud })))
    };
    assert_eq!(found("me", json!("shop")), None);
    assert_eq!(found("me", json!(["other", "store"])), None);
    assert_eq!(found("you", json!("shop")), Some(Fault::Claims));
    assert_eq!(found("me", json!(["other"])), Some(Fault::Claims));
    assert_eq!(fault(&tokens, &signed(&json!({ "exp": NOW_S + 60 }))), Some(Fault::Claims));
    let any = of_secret("");
    let claims = json!({ "exp": NOW_S + 60, "iss": "you", "aud": "other" });
    assert_eq!(fault(&any, &signed(&claims)), None);
}

#[test]
fn each_algorithm_is_verified_with_its_keys_alone() {
    let claims = json!({ "exp": NOW_S + 60, "sub": "alice" });
    for (algorithm, name) in [
        (JwtAlgorithm::RS256, Algorithm::RS256),
        (JwtAlgorithm::ES256, Algorithm::ES256),
        (JwtAlgorithm::EdDSA, Algorithm::EdDSA),
    ] {
        let ((private, public), (other, _)) = (pair(algorithm), pair(algorithm));
        let tokens = Tokens::compile(&with_key(algorithm, &public)).unwrap();
        let header = Header::new(name);
        assert_eq!(fault(&tokens, &token(&header, &claims, &private)), None, "{name:?}");
        let forged = token(&header, &claims, &other);
        assert_eq!(fault(&tokens, &forged), Some(Fault::Signature), "{name:?}");
        // The public key as the secret of an HMAC.
        let confused = EncodingKey::from_secret(public.as_bytes());
        let confused = token(&Header::new(Algorithm::HS256), &claims, &confused);
        assert_eq!(fault(&tokens, &confused), Some(Fault::Signature), "{name:?}");
    }
}

#[test]
fn unsigned_tokens_and_unknown_extensions_are_refused() {
    use base64::Engine;
    let part =
        |value: Value| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string());
    let tokens = of_secret("");
    let claims = json!({ "exp": NOW_S + 60 });
    for header in [json!({ "alg": "none" }), json!({ "alg": "None" }), json!({})] {
        let token = format!("{}.{}.", part(header), part(claims.clone()));
        assert_eq!(fault(&tokens, &token), Some(Fault::Malformed));
    }
    let unsigned = format!("{}.{}.", part(json!({ "alg": "HS256" })), part(claims.clone()));
    assert_eq!(fault(&tokens, &unsigned), Some(Fault::Signature));
    let extended = Header { crit: Some(vec!["b64".to_owned()]), ..Header::new(Algorithm::HS256) };
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    assert_eq!(fault(&tokens, &token(&extended, &claims, &key)), Some(Fault::Malformed));
    for text in ["", "a.b", "a.b.c", "a.b.c.d"] {
        assert_eq!(fault(&tokens, text), Some(Fault::Malformed), "{text}");
    }
    let long = "a".repeat(TOKEN_MAX + 1);
    assert_eq!(fault(&tokens, &long), Some(Fault::Malformed));
}

#[test]
fn a_token_with_an_id_is_verified_with_the_key_of_that_id() {
    let other = "another secret of more than 32 bytes";
    let text = format!(
        "{{name: api, keys: [{{id: a, algorithm: HS256, key: {other}}}, \
         {{id: b, algorithm: HS256, key: {SECRET}}}]}}"
    );
    let tokens = Tokens::compile(&policy(&text)).unwrap();
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    let found = |id: Option<&str>| {
        let header = Header { kid: id.map(str::to_owned), ..Header::new(Algorithm::HS256) };
        fault(&tokens, &token(&header, &json!({ "exp": NOW_S + 60 }), &key))
    };
    assert_eq!(found(Some("b")), None);
    assert_eq!(found(None), None);
    assert_eq!(found(Some("a")), Some(Fault::Signature));
    assert_eq!(found(Some("c")), Some(Fault::Signature));
}

#[test]
fn a_set_has_public_keys_alone() {
    use base64::Engine;
    let base64 = |bytes: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    let point = pair.public_key_raw();
    let set = json!({ "keys": [
        { "kty": "oct", "k": base64(SECRET.as_bytes()), "alg": "HS256" },
        { "kty": "unheard-of" },
        { "kty": "EC", "crv": "P-256", "kid": "e", "use": "sig",
          "x": base64(&point[1..33]), "y": base64(&point[33..]) },
    ] });
    let config = Jwt { jwks: Some(KeySet::Text(set.to_string())), ..policy("{name: api}") };
    let tokens = Tokens::compile(&config).unwrap();
    assert_eq!(tokens.keys.len(), 1);
    let claims = json!({ "exp": NOW_S + 60 });
    let private = EncodingKey::from_ec_pem(pair.serialize_pem().as_bytes()).unwrap();
    assert_eq!(fault(&tokens, &token(&Header::new(Algorithm::ES256), &claims, &private)), None);
    assert_eq!(fault(&tokens, &signed(&claims)), Some(Fault::Signature), "secrets are ignored");
    for (set, part) in [("{}", "it is no JWK set"), ("{\"keys\": []}", "it has no key of RS256")] {
        let config = Jwt { jwks: Some(KeySet::Text(set.to_owned())), ..config.clone() };
        let problem = Tokens::compile(&config).unwrap_err();
        assert!(problem.contains(part), "{problem}");
    }
    let missing = Jwt { jwks: Some(KeySet::File("/no/such/file".into())), ..config };
    assert!(Tokens::compile(&missing).unwrap_err().contains("cannot read /no/such/file"));
}

#[test]
fn keys_that_are_of_another_algorithm_are_refused() {
    let (_, public) = pair(JwtAlgorithm::ES256);
    for algorithm in [JwtAlgorithm::RS256, JwtAlgorithm::EdDSA] {
        let problem = Tokens::compile(&with_key(algorithm, &public)).unwrap_err();
        assert!(problem.starts_with("key 1: it is no "), "{problem}");
    }
}

#[test]
fn claims_become_headers_if_a_header_can_have_them() {
    let tokens =
        of_secret(", claims: {sub: X-User, roles: X-Roles, n: X-N, evil: X-Evil, tree: X-Tree}");
    let claims = json!({
        "exp": NOW_S + 60, "sub": "alice", "roles": ["a", "b"], "n": 7,
        "evil": "x\r\nX-Admin: 1", "tree": {"a": 1},
    });
    let judged = |given: Option<(&[u8], &[u8])>| {
        let given = given.map(|(scheme, text)| Credentials { scheme, text });
        tokens.judge(given, Now { ms: 0, unix_s: NOW_S })
    };
    let passed = |claims: &Value| match judged(Some((b"bearer", signed(claims).as_bytes()))) {
        Judged::Passed(passed) => passed,
        _ => panic!("the token is valid"),
    };
    let Passed { user, set } = passed(&claims);
    assert_eq!(user, "alice");
    assert_eq!(passed(&json!({ "exp": NOW_S + 60 })).user, "", "no subject");
    let set: Vec<_> = set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(set, [("X-N", "7"), ("X-Roles", "a,b"), ("X-User", "alice")]);
    let Judged::Refused(challenge) = judged(None) else { panic!("no token") };
    assert_eq!(challenge, "Bearer realm=\"api\"");
    let Judged::Refused(challenge) = judged(Some((b"Bearer", b"x"))) else {
        panic!("no valid token");
    };
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
}
