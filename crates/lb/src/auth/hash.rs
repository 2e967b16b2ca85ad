//! Hashes of passwords.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::PasswordVerifier;
use sha_crypt::ShaCrypt;

use crate::config::{HIDDEN, PasswordHash};

/// The hash of a password; never shown.
#[derive(Clone)]
pub(super) struct Hash(Arc<str>);

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Hash {
    pub(super) fn of(text: &str) -> Self {
        Self(text.into())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether this is the password. It takes up to a second of CPU time.
    pub(super) fn is_of(&self, password: &[u8]) -> bool {
        match PasswordHash::of(&self.0) {
            Ok(PasswordHash::Bcrypt) => bcrypt::verify(password, &self.0).unwrap_or(false),
            Ok(PasswordHash::ShaCrypt) => {
                let hash = sha_crypt::PasswordHashRef::new(&self.0);
                hash.is_ok_and(|hash| ShaCrypt::default().verify_password(password, hash).is_ok())
            }
            Ok(PasswordHash::Argon2) => {
                let hash = argon2::password_hash::phc::PasswordHash::new(&self.0);
                hash.is_ok_and(|hash| Argon2::default().verify_password(password, &hash).is_ok())
            }
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_checked_with_each_kind_of_hash() {
        let bcrypt = bcrypt::hash("password", 4).unwrap();
        // Made with `openssl passwd -6`, and a test vector of the reference implementation of Argon2.
        let sha_512 = "$6$saltstring$adDbXsJjcDlq2662QPgd.tkSOVmnG9Tt3oXl4HR60SusC3AGjirnDenVZp3DGwLwqy6iYKCzannhaX9DR72nN1";
        let argon2 =
            "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        for hash in [bcrypt.as_str(), sha_512, argon2] {
            assert!(Hash::of(hash).is_of(b"password"), "{hash}");
            assert!(!Hash::of(hash).is_of(b"passwor"), "{hash}");
            assert!(!Hash::of(hash).is_of(b""), "{hash}");
        }
        assert!(!Hash::of("password").is_of(b"password"), "no plain text");
        assert_eq!(format!("{:?}", Hash::of("secret")), "******");
    }
}
