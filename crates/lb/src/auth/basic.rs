//! Users with passwords (RFC 7617).

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::checks::{Checks, Now, Task};
use super::hash::Hash;
use super::scheme::{Credentials, Judged, Passed, read};
use crate::config::Basic;

/// Bytes of user and password together; a longer password is wrong.
const CREDENTIALS_MAX: usize = 512;
/// Bytes of a file.
const FILE_MAX: u64 = 4 << 20;

/// The users of a policy.
#[derive(Debug)]
pub(super) struct Users {
    challenge: String,
    users: BTreeMap<String, Hash>,
    decoys: Decoys,
    user_header: Option<String>,
}

/// The hashes that passwords of unknown users are checked with, so that neither names nor costs are told by the
/// time: a name has always the same one, and each cost is as frequent as among users.
#[derive(Debug)]
struct Decoys {
    hashes: Vec<Hash>,
    /// Made of the hashes, so all threads and engines choose alike.
    secret: [u8; 32],
}

impl Decoys {
    fn of<'h>(users: impl Iterator<Item = &'h Hash>) -> Self {
        let hashes: Vec<Hash> = users.cloned().collect();
        let mut secret = Sha256::new();
        for hash in &hashes {
            secret.update(hash.text());
        }
        Self { hashes, secret: secret.finalize().into() }
    }

    fn choose(&self, user: &[u8]) -> Option<&Hash> {
        let digest = Sha256::new().chain_update(self.secret).chain_update(user).finalize();
        let number = digest.iter().take(8).fold(0, |all: u64, byte| all << 8 | u64::from(*byte));
        let place = number.checked_rem(self.hashes.len() as u64)?;
        self.hashes.get(usize::try_from(place).ok()?)
    }
}

impl Users {
    pub(super) fn compile(config: &Basic) -> Result<Self, String> {
        let mut users = BTreeMap::new();
        if let Some(path) = &config.file {
            let text = read(path, FILE_MAX)?;
            let of_file = Basic::parse_file(&text)
                .map_err(|problem| format!("{}: {problem}", path.display()))?;
            users.extend(of_file);
        }
        users.extend(config.users.clone());
        let hashed = users.into_iter().map(|(user, hash)| (user, Hash::of(&hash.0)));
        let users: BTreeMap<String, Hash> = hashed.collect();
        let realm = config.realm.as_ref().unwrap_or(&config.name);
        Ok(Self {
            challenge: format!("Basic realm=\"{realm}\", charset=\"UTF-8\""),
            decoys: Decoys::of(users.values()),
            users,
            user_header: config.user_header.clone(),
        })
    }

    /// Judges credentials whose password was checked before; others are a task.
    pub(super) fn judge(
        &self,
        given: Option<Credentials<'_>>,
        checks: &Checks,
        now: Now,
    ) -> Judged {
        let refused = || Judged::Refused(self.challenge.clone());
        let basic = given.filter(|given| given.scheme.eq_ignore_ascii_case(b"basic"));
        let Some(pair) = basic.and_then(|given| decode(given.text)) else { return refused() };
        let Some(colon) = memchr::memchr(b':', &pair) else { return refused() };
        let (user, password) = (&pair[..colon], &pair[colon + 1..]);
        let named = std::str::from_utf8(user).ok().and_then(|user| self.users.get_key_value(user));
        // An unknown user takes as long as a wrong password, so that names cannot be found out.
        let Some(hash) = named.map(|(_, hash)| hash).or_else(|| self.decoys.choose(user)) else {
            return refused();
        };
        let task = Task::new(checks, hash, &pair, password, named.is_some());
        match (checks.look(&task.key, now.ms), named) {
            (Some(true), Some((user, _))) => {
                let header = self.user_header.iter();
                let set = header.map(|name| (name.clone(), user.clone())).collect();
                Judged::Passed(Passed { user: user.clone(), set })
            }
            (Some(_), _) => refused(),
            (None, _) => Judged::Check(Box::new(task)),
        }
    }
}

fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let short = text.len() <= CREDENTIALS_MAX * 4 / 3 + 4;
    let pair = short.then(|| STANDARD.decode(text).ok()).flatten()?;
    (pair.len() <= CREDENTIALS_MAX).then_some(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_users_have_stable_hashes_of_all_costs() {
        let hashes = [Hash::of("cheap"), Hash::of("costly")];
        let decoys = Decoys::of(hashes.iter());
        let again = Decoys::of(hashes.iter());
        let of = |decoys: &Decoys, n: u32| {
            decoys.choose(format!("user{n}").as_bytes()).unwrap().text().to_owned()
        };
        let costly = (0..1_000).filter(|n| of(&decoys, *n) == "costly").count();
        assert!((400..600).contains(&costly), "{costly}");
        assert!((0..1_000).all(|n| of(&decoys, n) == of(&again, n)));
        assert!(Decoys::of([].into_iter()).choose(b"a").is_none());
    }

    #[test]
    fn credentials_are_bounded() {
        assert_eq!(decode(b"YTpi").unwrap(), b"a:b");
        assert_eq!(decode(b"YTpi!"), None);
        assert_eq!(decode(STANDARD.encode([b'a'; CREDENTIALS_MAX + 1]).as_bytes()), None);
        assert_eq!(decode(&[b'A'; 100_000]), None);
    }
}
