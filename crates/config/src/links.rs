//! Signed links: what the recipient of a message may do about one problem without a sign-in.
//!
//! A token names what is done, the user, the problem and until when it is good. Its signature needs the key of the
//! database. A token gives no permission: who accepts one checks what its user may do now.

use std::fmt;

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::Config;
use crate::db::{DbError, DbResult, Row, Value};

/// The row of the table `state_settings` with the key in hexadecimal digits.
const KEY: &str = "link_key";
const KEY_BYTES: usize = 32;
/// Bytes of the signature in a token: 128 bits, which nobody guesses.
const SIGNATURE_BYTES: usize = 16;
/// First byte of a token. A token of another form is not read.
const FORM: u8 = 1;
/// What the key signs beside the token, so that a signature for another purpose is none for a token.
const PURPOSE: &[u8] = b"vedette link\0";
/// Longest token, characters.
const TOKEN_CHARS_MAX: usize = 128;
/// A text of the form of a token is taken for one from this length on: the signature of a shorter part is missing.
const TOKEN_CHARS_MIN: usize = 24;
/// What stands for a token that is not shown.
const HIDDEN: &str = "******";

/// What a link does about its problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// Acknowledges it.
    Acknowledge,
    /// Suppresses it for an hour.
    Suppress,
    /// Closes it.
    Close,
    /// Comments on it: the token is part of the address that responses to a mail go to.
    Reply,
}

impl LinkKind {
    const ALL: [Self; 4] = [Self::Acknowledge, Self::Suppress, Self::Close, Self::Reply];

    /// Its number in tokens.
    const fn number(self) -> u8 {
        match self {
            Self::Acknowledge => 1,
            Self::Suppress => 2,
            Self::Close => 3,
            Self::Reply => 4,
        }
    }

    /// The kind that a macro `{ALERT.LINK.…}` without its braces stands for.
    pub fn of_macro(name: &str) -> Option<Self> {
        Some(match name {
            "ALERT.LINK.ACK" => Self::Acknowledge,
            "ALERT.LINK.SUPPRESS" => Self::Suppress,
            "ALERT.LINK.CLOSE" => Self::Close,
            _ => return None,
        })
    }
}

/// What a token says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// What it does.
    pub kind: LinkKind,
    /// Who does it.
    pub user: u64,
    /// The event of the problem.
    pub problem: u64,
    /// The last second in which it is good, since 1970.
    pub until: u32,
}

/// The text with [`HIDDEN`] for each token in it, also for one whose end is missing. To be used before a text of another
/// program that got links is stored.
pub fn without_tokens(text: &str) -> String {
    let is_of_token = |char: &char| matches!(char, 'a'..='z' | 'A'..='Z' | '2'..='7');
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = rest.chars().take_while(is_of_token).count();
        if length == 0 {
            shown.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(length);
        match token_in(word) {
            Some(at) => {
                shown.push_str(&word[..at]);
                shown.push_str(HIDDEN);
            }
            None => shown.push_str(word),
        }
        rest = after;
    }
    shown
}

/// Where a token starts in a word of its characters: the form and the kind are its first three characters.
fn token_in(word: &str) -> Option<usize> {
    let word = word.to_ascii_lowercase();
    let starts = ["aea", "aeb", "aec"].iter().flat_map(|start| word.match_indices(start));
    let starts = starts.map(|(at, _)| at).filter(|at| word.len() - at >= TOKEN_CHARS_MIN);
    starts.min()
}

/// The key of a database.
#[derive(Clone)]
pub struct LinkKey([u8; KEY_BYTES]);

impl fmt::Debug for LinkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkKey")
    }
}

impl LinkKey {
    /// The key of this database, which is made at the first use. A database that gets another one (the row is
    /// deleted) accepts no link that was made before.
    ///
    /// # Errors
    /// The database cannot be used, or the machine has no random numbers.
    pub fn of(config: &Config) -> DbResult<Self> {
        if let Some(key) = Self::stored(config)? {
            return Ok(key);
        }
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| DbError::statement("(random bytes)", error))?;
        let row = [Value::from(KEY), HEXLOWER.encode(&bytes).into()];
        let written: DbResult<u64> = config.write_state(|state| {
            let sql = "INSERT INTO state_settings (name, value) VALUES (?, ?) \
                       ON CONFLICT (name) DO NOTHING";
            state.execute(sql, &row)
        });
        written?;
        config.sync_state()?;
        let stored = Self::stored(config)?;
        stored.ok_or_else(|| DbError::unavailable("(key of links)", "the new row cannot be read"))
    }

    /// The key of this database, if it has one: without one, no link was signed.
    ///
    /// # Errors
    /// The database cannot be read, or the key is damaged.
    pub fn stored(config: &Config) -> DbResult<Option<Self>> {
        let sql = "SELECT value FROM state_settings WHERE name = ?";
        let rows: Vec<Row> = config.read(|connection| connection.query(sql, &[KEY.into()]))?;
        let Some(row) = rows.first() else { return Ok(None) };
        let bytes = HEXLOWER.decode(row.text("value").as_bytes()).ok();
        let key = bytes.and_then(|bytes| bytes.try_into().ok()).map(Self);
        let damaged = || DbError::statement(sql, format_args!("the value of {KEY} is damaged"));
        key.ok_or_else(damaged).map(Some)
    }

    /// The token of a link: lower-case letters and digits.
    pub fn sign(&self, link: &Link) -> String {
        let mut bytes = vec![FORM, link.kind.number()];
        bytes.extend(link.until.to_be_bytes());
        put_number(&mut bytes, link.user);
        put_number(&mut bytes, link.problem);
        let signature = self.signature(&bytes).finalize().into_bytes();
        bytes.extend(&signature[..SIGNATURE_BYTES]);
        BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()
    }

    /// What a token says, if it was signed with this key. The time is not checked. Mail servers may change the case
    /// of letters.
    pub fn open(&self, token: &str) -> Option<Link> {
        if token.len() > TOKEN_CHARS_MAX {
            return None;
        }
        let bytes = BASE32_NOPAD.decode(token.to_ascii_uppercase().as_bytes()).ok()?;
        let (said, signature) =
            bytes.split_at_checked(bytes.len().checked_sub(SIGNATURE_BYTES)?)?;
        self.signature(said).verify_truncated_left(signature).ok()?;
        let (head, mut rest) = said.split_first_chunk::<6>()?;
        let [form, kind, until @ ..] = *head;
        if form != FORM {
            return None;
        }
        let kind = LinkKind::ALL.into_iter().find(|known| known.number() == kind)?;
        let (user, problem) = (take_number(&mut rest)?, take_number(&mut rest)?);
        let link = Link { kind, user, problem, until: u32::from_be_bytes(until) };
        rest.is_empty().then_some(link)
    }

    fn signature(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("BUG: a key of HMAC has any length");
        mac.chain_update(PURPOSE).chain_update(bytes)
    }
}

/// Appends the number without leading zeros, behind its length.
fn put_number(bytes: &mut Vec<u8>, number: u64) {
    let number = number.to_be_bytes();
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let rest = &number[zeros..];
    bytes.extend(u8::try_from(rest.len()));
    bytes.extend(rest);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (length, rest) = bytes.split_first()?;
    let (number, rest) = rest.split_at_checked(usize::from(*length))?;
    *bytes = rest;
    let mut whole = [0; 8];
    whole.get_mut(8_usize.checked_sub(number.len())?..)?.copy_from_slice(number);
    Some(u64::from_be_bytes(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Location;

    const LINK: Link =
        Link { kind: LinkKind::Acknowledge, user: 7, problem: 1_234_567, until: 1_800_000_000 };

    fn key(byte: u8) -> LinkKey {
        LinkKey([byte; KEY_BYTES])
    }

    #[test]
    fn a_token_says_what_was_signed() {
        for kind in LinkKind::ALL {
            for number in [0, 1, 255, 256, 1_234_567, u64::MAX] {
                for until in [0, u32::MAX] {
                    let link = Link { kind, user: number, problem: u64::MAX - number, until };
                    let token = key(1).sign(&link);
                    assert_eq!(key(1).open(&token), Some(link), "{token}");
                    assert_eq!(key(1).open(&token.to_uppercase()), Some(link));
                }
            }
        }
    }

    #[test]
    fn a_text_is_shown_without_its_tokens() {
        for kind in LinkKind::ALL {
            let token = key(1).sign(&Link { kind, ..LINK });
            for (text, shown) in [
                (format!("{{\"m\":\"a\\n{token}\"}}"), "{\"m\":\"a\\n******\"}"),
                (format!("https://m.test/act/{token}?x ä"), "https://m.test/act/******?x ä"),
                (format!("<v+{}@m.test>", token.to_uppercase()), "<v+******@m.test>"),
                (format!("{token} {token}"), "****** ******"),
                (token[..30].to_owned(), "******"),
            ] {
                assert_eq!(without_tokens(&text), shown, "{kind:?}");
            }
        }
        for text in
            ["", "ä", "Error: aea", "550 no such user aeagh", "connect ECONNREFUSED 1.2.3.4"]
        {
            assert_eq!(without_tokens(text), text);
        }
    }

    #[test]
    fn tokens_fit_into_the_local_part_of_an_address() {
        let token = key(1).sign(&LINK);
        assert_eq!(token.len(), 45, "{token}");
        assert!(token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
    }

    #[test]
    fn changed_tokens_say_nothing() {
        let token = key(1).sign(&LINK);
        for at in 0..token.len() {
            for other in ["a", "b", "7", "0", "-", "=", "ä", ""] {
                let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
                if changed != token {
                    assert_eq!(key(1).open(&changed), None, "{changed}");
                }
            }
            assert_eq!(key(1).open(&token[..at]), None);
        }
        assert_eq!(key(1).open(&format!("{token}a")), None);
        assert_eq!(key(1).open(&"a".repeat(1 << 20)), None);
        assert_eq!(key(2).open(&token), None, "another database signed it");
    }

    #[test]
    fn other_forms_are_not_read() {
        let signed = |said: &[u8]| {
            let mut bytes = said.to_vec();
            let signature = key(1).signature(said).finalize().into_bytes();
            bytes.extend(&signature[..SIGNATURE_BYTES]);
            key(1).open(&BASE32_NOPAD.encode(&bytes))
        };
        assert!(signed(&[1, 1, 0, 0, 0, 9, 1, 5, 1, 6]).is_some());
        for said in [
            &[2, 1, 0, 0, 0, 9, 1, 5, 1, 6][..],
            &[1, 9, 0, 0, 0, 9, 1, 5, 1, 6],
            &[1, 1, 0, 0, 0, 9, 1, 5, 1, 6, 0],
            &[1, 1, 0, 0, 0, 9, 1, 5],
            &[1, 1, 0, 0, 0, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 5, 1, 6],
            &[1, 1, 0, 0],
            &[],
        ] {
            assert_eq!(signed(said), None, "{said:?}");
        }
    }

    #[test]
    fn a_database_keeps_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Config::open(Location::Sqlite(folder.path().join("c.db"))).unwrap();
        let first = LinkKey::of(&open()).unwrap();
        let config = open();
        assert_eq!(LinkKey::of(&config).unwrap().0, first.0);
        let run = |sql: &str| {
            let done: DbResult<u64> = config.write_state(|state| state.execute(sql, &[]));
            done.unwrap();
        };
        run("UPDATE state_settings SET value = 'x' WHERE name = 'link_key'");
        assert!(LinkKey::of(&config).is_err());
        run("DELETE FROM state_settings WHERE name = 'link_key'");
        assert_ne!(LinkKey::of(&config).unwrap().0, first.0);
        assert_eq!(format!("{first:?}"), "LinkKey");
    }
}
