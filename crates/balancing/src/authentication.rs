//! Authentication of clients: policies, which services and rules name.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::syntax::{FIXED, has_control, is_token};
use super::{Rule, Time, canonical_path};

/// The name that a rule has in the place of a policy's: no authentication.
pub const NO_AUTHENTICATION: &str = "none";
/// What is shown in the place of a secret.
pub const HIDDEN: &str = "******";

/// Users of one policy, keys of one policy, policies of one service.
const USERS_MAX: usize = 10_000;
const KEYS_MAX: usize = 64;
const POLICIES_MAX: usize = 64;
/// Bytes of a user's name.
const USER_MAX: usize = 128;
/// Bytes of a key for HS256, at least (RFC 7518, 3.2).
const HMAC_MIN: usize = 32;
/// Longest difference of clocks.
const LEEWAY_MAX: Duration = Duration::from_secs(3600);

/// A text that is never shown: the hash of a password, or a key.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Which clients may send requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Authentication {
    /// Name of the policy for all requests for which no rule names one; default: none is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require: Option<String>,
    /// Policies with users and passwords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub basic: Vec<Basic>,
    /// Policies with signed tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jwt: Vec<Jwt>,
}

/// Basic authentication (RFC 7617).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Basic {
    /// Name of the policy, unique in the service.
    pub name: String,
    /// What the client shows to the user; default: the name of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realm: Option<String>,
    /// Hashes of passwords by user: bcrypt (`$2y$`), SHA-512-crypt (`$6$`) or Argon2 (`$argon2id$`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub users: BTreeMap<String, Secret>,
    /// A file with more users, in the form of htpasswd: `user:hash` in each line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The request header that gets the user's name; default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_header: Option<String>,
    /// The server gets the header Authorization.
    #[serde(default = "yes")]
    pub pass_authorization: bool,
}

/// Tokens of the header Authorization (RFC 6750, RFC 7519).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// Name of the policy, unique in the service.
    pub name: String,
    /// What the client shows to the user; default: the name of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realm: Option<String>,
    /// Required value of `iss`; default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Values one of which `aud` must have; empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
    /// How far clocks may differ, for `exp` and `nbf`.
    #[serde(default = "leeway")]
    pub leeway: Time,
    /// Keys. A token is checked with those of its algorithm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<JwtKey>,
    /// Public keys as a JWK set (RFC 7517).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks: Option<KeySet>,
    /// Request headers that get claims: names of headers by claim.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, String>,
    /// The server gets the header Authorization.
    #[serde(default = "yes")]
    pub pass_authorization: bool,
}

/// A key that checks tokens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct JwtKey {
    /// `kid` of the tokens; default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The only algorithm that the key is used with.
    pub algorithm: JwtAlgorithm,
    /// The public key in PEM format, or the secret of HS256.
    pub key: Secret,
}

/// How tokens are signed (RFC 7518, 3.1; RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum JwtAlgorithm {
    /// HMAC with SHA-256.
    HS256,
    /// RSA, PKCS #1 version 1.5, with SHA-256.
    RS256,
    /// ECDSA on P-256 with SHA-256.
    ES256,
    /// Ed25519.
    EdDSA,
}

/// Public keys in JSON: the name of a file, or the text itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySet {
    /// A file, read when the configuration is applied.
    File(PathBuf),
    /// The text, which begins with `{`.
    Text(String),
}

impl Serialize for KeySet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::File(path) => path.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for KeySet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_json = text.trim_start().starts_with('{');
        Ok(if is_json { Self::Text(text) } else { Self::File(text.into()) })
    }
}

fn yes() -> bool {
    true
}

fn leeway() -> Time {
    Time(Duration::from_secs(30))
}

/// The kind of a hashed password, with what it costs within limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordHash {
    /// `$2a$`, `$2b$`, `$2y$`.
    Bcrypt,
    /// `$5$`, `$6$`: SHA-256 and SHA-512 of the C library.
    ShaCrypt,
    /// `$argon2i$`, `$argon2id$`.
    Argon2,
}

impl PasswordHash {
    /// Recognises a hash, and refuses what would take seconds to check: a cost of bcrypt beyond 14, more than
    /// a million rounds, more than 256 MiB or 10 passes.
    ///
    /// # Errors
    /// What is supported, without the hash.
    pub fn of(hash: &str) -> Result<Self, String> {
        let fields: Vec<&str> = hash.split('$').collect();
        let number = |text: &str| text.parse::<u32>().ok();
        match fields.as_slice() {
            ["", "2a" | "2b" | "2y", cost, rest] if rest.len() == 53 => match number(cost) {
                Some(4..=14) => Ok(Self::Bcrypt),
                _ => Err("the cost of bcrypt is limited to 14".to_owned()),
            },
            ["", "5" | "6", salt, hash] if !salt.is_empty() && !hash.is_empty() => {
                Ok(Self::ShaCrypt)
            }
            ["", "5" | "6", rounds, _salt, hash] if !hash.is_empty() => {
                match rounds.strip_prefix("rounds=").and_then(number) {
                    Some(1000..=1_000_000) => Ok(Self::ShaCrypt),
                    _ => Err("the rounds of SHA-crypt are limited to 1,000,000".to_owned()),
                }
            }
            ["", "argon2i" | "argon2id", "v=19", costs, _salt, hash] if !hash.is_empty() => {
                let cost =
                    |name: &str| costs.split(',').find_map(|cost| number(cost.strip_prefix(name)?));
                match (cost("m="), cost("t=")) {
                    (Some(1..=262_144), Some(1..=10)) => Ok(Self::Argon2),
                    _ => Err("Argon2 is limited to 256 MiB and 10 passes".to_owned()),
                }
            }
            _ => Err("it is not a hash of bcrypt, SHA-512-crypt or Argon2; make one with \
                      'htpasswd -nB', 'mkpasswd -m sha-512' or 'argon2 -id -e'"
                .to_owned()),
        }
    }
}

/// Checks a user's name.
fn check_user(user: &str) -> Result<(), String> {
    if user.is_empty() || user.len() > USER_MAX || user.contains(':') || has_control(user) {
        return Err(format!(
            "'{}' is not a name of a user: it has 1 to {USER_MAX} bytes, no colon and no control \
             characters",
            user.escape_debug()
        ));
    }
    Ok(())
}

impl Basic {
    /// The users of a file in the form of htpasswd.
    ///
    /// # Errors
    /// The number of the line, and what is wrong with it, without the hash.
    pub fn parse_file(text: &str) -> Result<BTreeMap<String, Secret>, String> {
        let mut users = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |problem: String| format!("line {}: {problem}", at + 1);
            let (user, hash) = line
                .split_once(':')
                .ok_or_else(|| wrong("it is not of the form user:hash".to_owned()))?;
            check_user(user).map_err(wrong)?;
            PasswordHash::of(hash).map_err(wrong)?;
            users.insert(user.to_owned(), Secret(hash.to_owned()));
        }
        if users.len() > USERS_MAX {
            return Err(format!("it has more than {USERS_MAX} users"));
        }
        Ok(users)
    }

    fn check(&self) -> Result<(), String> {
        if self.users.is_empty() && self.file.is_none() {
            return Err("it has no users; set 'users' or 'file'".to_owned());
        }
        if self.users.len() > USERS_MAX {
            return Err(format!("it has more than {USERS_MAX} users"));
        }
        for (user, hash) in &self.users {
            check_user(user)?;
            PasswordHash::of(&hash.0).map_err(|problem| format!("user '{user}': {problem}"))?;
        }
        check_realm(self.realm.as_deref())?;
        self.user_header.as_deref().map_or(Ok(()), check_header)
    }
}

impl Jwt {
    fn check(&self) -> Result<(), String> {
        if self.keys.is_empty() && self.jwks.is_none() {
            return Err("it has no keys; set 'keys' or 'jwks'".to_owned());
        }
        if self.keys.len() > KEYS_MAX {
            return Err(format!("it has more than {KEYS_MAX} keys"));
        }
        let mut ids = HashSet::new();
        for (at, key) in self.keys.iter().enumerate() {
            let wrong = |problem: &str| Err(format!("key {}: {problem}", at + 1));
            if let Some(id) = &key.id
                && !ids.insert((id, key.algorithm))
            {
                return wrong("another key of its algorithm has the same 'id'");
            }
            if key.algorithm == JwtAlgorithm::HS256 {
                if key.key.0 == HIDDEN {
                    return wrong(
                        "its stored secret cannot be told from those of other keys; set 'key', \
                         or give each key an 'id' before keys are added or removed",
                    );
                }
                if key.key.0.contains("-----BEGIN ") {
                    return wrong("a PEM text is not a secret of HS256; correct 'algorithm'");
                }
                if key.key.0.len() < HMAC_MIN {
                    return wrong("the secret of HS256 has at least 32 bytes");
                }
            } else if !key.key.0.contains("-----BEGIN PUBLIC KEY-----") {
                return wrong("a public key in PEM format is expected (BEGIN PUBLIC KEY)");
            }
        }
        if self.leeway.0 > LEEWAY_MAX {
            return Err("'leeway' is at most 1h".to_owned());
        }
        check_realm(self.realm.as_deref())?;
        self.claims.values().try_for_each(|header| check_header(header))
    }
}

fn check_realm(realm: Option<&str>) -> Result<(), String> {
    if realm.is_some_and(|realm| has_control(realm) || realm.contains(['"', '\\'])) {
        return Err("'realm' contains a quote, a backslash or a control character".to_owned());
    }
    Ok(())
}

fn check_header(name: &str) -> Result<(), String> {
    let fixed = FIXED.iter().chain(&["authorization", "cookie"]);
    if !is_token(name) || fixed.into_iter().any(|fixed| fixed.eq_ignore_ascii_case(name)) {
        return Err(format!("'{name}' is not a header that can be set"));
    }
    Ok(())
}

impl Authentication {
    fn names(&self) -> impl Iterator<Item = &String> {
        let basic = self.basic.iter().map(|policy| &policy.name);
        basic.chain(self.jwt.iter().map(|policy| &policy.name))
    }

    /// Checks the policies, and that those which are named exist.
    ///
    /// # Errors
    /// The first problem.
    pub(crate) fn check(&self, rules: &[Rule]) -> Result<(), String> {
        let mut names = HashSet::new();
        for name in self.names() {
            if name.is_empty() || name == NO_AUTHENTICATION || has_control(name) {
                return Err(format!(
                    "'authentication': '{}' is not a name of a policy",
                    name.escape_debug()
                ));
            }
            if name.contains(['"', '\\']) {
                return Err(format!("'authentication': the name '{name}' contains a quote"));
            }
            if !names.insert(name) {
                return Err(format!("'authentication': policy '{name}' exists twice"));
            }
        }
        if names.len() > POLICIES_MAX {
            return Err(format!("'authentication' has more than {POLICIES_MAX} policies"));
        }
        let at = |name: &str, problem| format!("'authentication': policy '{name}': {problem}");
        for basic in &self.basic {
            basic.check().map_err(|problem| at(&basic.name, problem))?;
        }
        for jwt in &self.jwt {
            jwt.check().map_err(|problem| at(&jwt.name, problem))?;
        }
        let guards = || rules.iter().filter(|rule| rule.then.authentication.is_some());
        let conditions = || guards().map(|rule| &rule.conditions);
        let mut paths = conditions().flat_map(|c| c.path.iter().chain(&c.path_prefix));
        if let Some(path) = paths.find(|path| canonical_path(path).is_none()) {
            return Err(format!(
                "a rule with 'authentication' has the path '{path}', which servers may take for another one"
            ));
        }
        let of_rules = guards().filter_map(|rule| rule.then.authentication.as_ref());
        let of_rules = of_rules.filter(|name| *name != NO_AUTHENTICATION);
        match self.require.iter().chain(of_rules).find(|name| !names.contains(name)) {
            Some(name) => Err(format!(
                "policy '{name}' does not exist; add it to 'authentication' or correct the name"
            )),
            None => Ok(()),
        }
    }

    /// The secrets, with what they belong to.
    fn secrets(&mut self) -> impl Iterator<Item = (Owner, &mut Secret)> {
        let of_users = self.basic.iter_mut().flat_map(|policy| {
            let name = &policy.name;
            let user = move |user: &String| Owner::User(name.clone(), user.clone());
            policy.users.iter_mut().map(move |(name, hash)| (user(name), hash))
        });
        let of_keys = self.jwt.iter_mut().flat_map(|policy| {
            let name = &policy.name;
            let secret = policy.keys.iter_mut().filter(|key| key.algorithm == JwtAlgorithm::HS256);
            let mut unnamed = 0;
            secret.map(move |key| {
                let owner = match &key.id {
                    Some(id) => Owner::Key(name.clone(), id.clone()),
                    None => {
                        unnamed += 1;
                        Owner::Unnamed(name.clone(), unnamed)
                    }
                };
                (owner, &mut key.key)
            })
        });
        of_users.chain(of_keys)
    }

    /// The secrets in words, each with whether it is [`HIDDEN`].
    pub fn named_secrets(&mut self) -> Vec<(String, bool)> {
        let named = |(of, secret): (Owner, &mut Secret)| (of.to_string(), secret.0 == HIDDEN);
        self.secrets().map(named).collect()
    }

    /// Replaces all secrets by [`HIDDEN`].
    pub fn hide(&mut self) {
        for (_, secret) in self.secrets() {
            HIDDEN.clone_into(&mut secret.0);
        }
    }

    /// Replaces each [`HIDDEN`] by the secret that the same user or key had before. Keys without ids keep theirs
    /// only if all of the policy are hidden and none was added or removed: it is not known which one is which.
    pub fn restore(&mut self, before: &mut Self) {
        let stored: BTreeMap<Owner, String> =
            before.secrets().map(|(of, secret)| (of, secret.0.clone())).collect();
        let number = |policy: &String| {
            let unnamed = |of: &&Owner| matches!(of, Owner::Unnamed(own, _) if own == policy);
            stored.keys().filter(unnamed).count()
        };
        let mut hidden: BTreeMap<String, usize> = BTreeMap::new();
        let mut changed = HashSet::new();
        for (of, secret) in self.secrets() {
            let Owner::Unnamed(policy, _) = of else { continue };
            if secret.0 != HIDDEN {
                changed.insert(policy.clone());
            }
            *hidden.entry(policy).or_default() += 1;
        }
        changed.extend(hidden.into_iter().filter(|(of, n)| *n != number(of)).map(|(of, _)| of));
        for (of, secret) in self.secrets().filter(|(_, secret)| secret.0 == HIDDEN) {
            let told = !matches!(&of, Owner::Unnamed(policy, _) if changed.contains(policy));
            if let Some(stored) = stored.get(&of).filter(|_| told) {
                secret.0.clone_from(stored);
            }
        }
    }
}

/// What a secret belongs to. The first text is the name of the policy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    User(String, String),
    Key(String, String),
    /// A key without an id, by its place among those of its policy.
    Unnamed(String, usize),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(policy, user) => write!(f, "hash of user '{user}' of policy '{policy}'"),
            Self::Key(policy, id) => write!(f, "secret of key '{id}' of policy '{policy}'"),
            Self::Unnamed(policy, at) => write!(f, "secret {at} of HS256 of policy '{policy}'"),
        }
    }
}

#[cfg(test)]
mod tests;
