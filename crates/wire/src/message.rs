//! What all messages share: scalars that may come as number or text, versions, errors.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Why a request or an answer was not understood. The texts go into `info` of a `failed` answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Not JSON, or not an object.
    #[error("cannot parse as a valid JSON object: {0}")]
    NotJson(String),
    /// No `data` array in a request that needs one.
    #[error("cannot open \"data\" token")]
    NoData,
    /// A member is missing or has the wrong type.
    #[error("cannot find \"{0}\" token")]
    Missing(&'static str),
    /// An object is missing.
    #[error("cannot find tag: {0}")]
    NoTag(&'static str),
    /// A member holds what it must not.
    #[error("invalid value of \"{0}\"")]
    Invalid(&'static str),
    /// A number that no port has.
    #[error("\"{0}\" is not a valid port")]
    Port(String),
    /// A session token must have 32 characters.
    #[error("invalid session token length {0}")]
    SessionLength(usize),
    /// A row of `data` in a request that is taken whole or not at all.
    #[error("invalid row {row} of \"data\": {reason}")]
    Row {
        /// Counted from 1.
        row: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// More rows than are taken in one request.
    #[error("\"data\" has more than {0} rows: send them in several requests")]
    TooManyRows(usize),
}

impl MessageError {
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::NotJson(error.to_string())
    }
}

/// The answer `{"response":"failed","info":…}`.
pub fn failed(info: &str) -> String {
    serde_json::json!({ "response": "failed", "info": info }).to_string()
}

/// A JSON scalar as text: strings unescaped, numbers and booleans as written, null as empty text.
/// Senders write the same member as number or text at will.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scalar<'a>(pub Cow<'a, str>);

impl<'a> Scalar<'a> {
    /// `None` for an object or an array.
    pub fn from_raw(raw: &'a RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            b'{' | b'[' => None,
            b'n' => Some(Self(Cow::Borrowed(""))),
            b'"' => {
                let inner = text.get(1..text.len() - 1)?;
                if memchr_backslash(inner) {
                    serde_json::from_str(text).ok().map(|s: String| Self(Cow::Owned(s)))
                } else {
                    Some(Self(Cow::Borrowed(inner)))
                }
            }
            _ => Some(Self(Cow::Borrowed(text))),
        }
    }

    /// A whole number without sign; nothing else.
    pub fn as_u64(&self) -> Option<u64> {
        parse_u64(&self.0)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn memchr_backslash(text: &str) -> bool {
    text.as_bytes().contains(&b'\\')
}

/// Digits only: `str::parse` takes a leading plus sign, which agents and servers do not.
pub(crate) fn parse_u64(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        Scalar::from_raw(raw)
            .ok_or_else(|| serde::de::Error::custom("expected a number, a text or a boolean"))
    }
}

/// Version of an agent or a proxy, without its patch number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 7 in 7.0.22.
    pub major: u16,
    /// 0 in 7.0.22.
    pub minor: u16,
}

impl Version {
    /// What a peer that does not tell its version is taken for.
    pub const UNKNOWN: Self = Self::new(4, 2);
    /// The first that gets item ids, delays as text, and persistent sessions.
    pub const WITH_ITEMID: Self = Self::new(4, 4);

    /// A version.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }

    /// From `7.0.22`, `7.0`, `7.0.0rc1`; anything else is [`Version::UNKNOWN`].
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split('.').map(|part| part.parse().ok());
        match (parts.next().flatten(), parts.next().flatten()) {
            (Some(major), Some(minor)) => Self { major, minor },
            _ => Self::UNKNOWN,
        }
    }
}

/// Members of a JSON object as they stand in the text, the first of equal names.
#[derive(Debug, Default)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, MessageError> {
        serde_json::from_str(text).map_err(|error| MessageError::not_json(&error))
    }

    pub(crate) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, raw)| *raw)
    }

    /// Absent, null, object and array are all `None`.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(name)?;
        if raw.get() == "null" { None } else { Scalar::from_raw(raw).map(|scalar| scalar.0) }
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        parse_u64(&self.text(name)?)
    }
}

/// More members than any message has; a stranger's object with more is not worth its memory.
const MEMBERS_MAX: usize = 1024;

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, raw)) = map.next_entry::<BorrowedName<'de>, _>()? {
                    if members.len() == MEMBERS_MAX {
                        return Err(serde::de::Error::custom("the object has too many members"));
                    }
                    members.push((name.0, raw));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

struct BorrowedName<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for BorrowedName<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = BorrowedName<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a member name")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(BorrowedName(Cow::Borrowed(name)))
            }
            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(BorrowedName(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}
