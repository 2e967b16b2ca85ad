//! Passive checks in both dialects: JSON since 7.0, plain text before.
//!
//! An interface starts with JSON. An agent before 7.0 takes the JSON for a key and answers with
//! an error text: [`parse_answer`] then says [`Parsed::RetryPlain`], the same check is sent again
//! as plain text at once, and the interface keeps that dialect.

use std::borrow::Cow;

use crate::message::{Members, MessageError, Version};

/// How requests and answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Since 7.0.
    Json,
    /// Bare key, bare value.
    Plain,
}

/// The value of an item that the agent does not support: this, a NUL byte, the reason.
pub const NOT_SUPPORTED: &str = "ZBX_NOTSUPPORTED";
/// The agent could not run the check.
pub const ERROR: &str = "ZBX_ERROR";

/// Longest timeout that an agent takes, seconds.
pub const TIMEOUT_S_MAX: u64 = 600;

/// A request for the value of `key`; `timeout_s` is told in JSON only.
pub fn request(key: &str, timeout_s: u64, dialect: Dialect) -> String {
    match dialect {
        Dialect::Plain => key.to_owned(),
        Dialect::Json => {
            // Asked tens of thousands of times a second: no tree of members in between.
            let key = serde_json::Value::String(key.to_owned());
            format!(
                r#"{{"request":"passive checks","data":[{{"key":{key},"timeout":{timeout_s}}}]}}"#
            )
        }
    }
}

/// A request as the agent reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// The dialect to answer in.
    pub dialect: Dialect,
    /// The check, or why there is none.
    pub check: Result<Check<'a>, String>,
}

/// The check that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check<'a> {
    /// The item key, not yet parsed.
    pub key: Cow<'a, str>,
    /// How long it may take, seconds; `None` in plain text.
    pub timeout_s: Option<u64>,
}

impl<'a> Request<'a> {
    /// Reads a request. Text that is not JSON is a key, up to the first line feed.
    pub fn parse(text: &'a str) -> Self {
        if text.starts_with('{')
            && let Ok(members) = Members::parse(text)
        {
            return Self { dialect: Dialect::Json, check: Self::parse_json(&members) };
        }
        let key = text.split('\n').next().unwrap_or(text);
        let check = Ok(Check { key: Cow::Borrowed(key.trim_end_matches('\r')), timeout_s: None });
        Self { dialect: Dialect::Plain, check }
    }

    fn parse_json(members: &Members<'a>) -> Result<Check<'a>, String> {
        match members.text("request").as_deref() {
            Some("passive checks") => (),
            Some(other) => return Err(format!("unknown request \"{other}\"")),
            None => return Err(MessageError::Missing("request").to_string()),
        }
        let data = members.raw("data").ok_or_else(|| MessageError::Missing("data").to_string())?;
        let rows: Vec<Members<'a>> = serde_json::from_str(data.get())
            .map_err(|error| MessageError::not_json(&error).to_string())?;
        let row = rows.into_iter().next().ok_or("received empty \"data\" tag")?;
        let key = row.text("key").ok_or_else(|| MessageError::Missing("key").to_string())?;
        let timeout =
            row.text("timeout").ok_or_else(|| MessageError::Missing("timeout").to_string())?;
        // A timeout that is not a number or out of range is the item's error, not the request's.
        Ok(Check { key, timeout_s: Some(parse_seconds(&timeout).unwrap_or(0)) })
    }
}

impl Check<'_> {
    /// The timeout is absent or one that an agent takes.
    pub const fn timeout_is_supported(&self) -> bool {
        match self.timeout_s {
            None => true,
            Some(seconds) => seconds > 0 && seconds <= TIMEOUT_S_MAX,
        }
    }
}

/// `3`, `3s`, `1m`: digits with a unit of time; seconds.
pub(crate) fn parse_seconds(text: &str) -> Option<u64> {
    let unit = match text.bytes().last()? {
        b's' => 1,
        b'm' => 60,
        b'h' => 3600,
        b'd' => 86_400,
        b'w' => 604_800,
        _ => return crate::message::parse_u64(text),
    };
    crate::message::parse_u64(&text[..text.len() - 1])?.checked_mul(unit)
}

/// What an agent answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<'a> {
    Value(Cow<'a, str>),
    /// Nothing to store (`"value":null`).
    Nothing,
    /// The item is not supported, and why.
    NotSupported(Cow<'a, str>),
    /// The agent could not run the check: like a network error, to be tried again.
    AgentError(Cow<'a, str>),
    /// Nothing came: the agent does not accept this server's address.
    Refused,
}

/// What an answer means to the one who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// An answer in the dialect of the request.
    Answer(Answer<'a>),
    /// An agent before 7.0: ask again in plain text, and from now on.
    RetryPlain,
}

/// Reads an answer to a request in `dialect`.
pub fn parse_answer(text: &str, dialect: Dialect) -> Parsed<'_> {
    if text.is_empty() {
        return Parsed::Answer(Answer::Refused);
    }
    match dialect {
        Dialect::Plain => Parsed::Answer(parse_plain(text)),
        Dialect::Json => match Members::parse(text) {
            Ok(members) => Parsed::Answer(parse_json(&members)),
            Err(_) => Parsed::RetryPlain,
        },
    }
}

fn parse_plain(text: &str) -> Answer<'_> {
    if let Some(rest) = text.strip_prefix(NOT_SUPPORTED) {
        if rest.is_empty() {
            return Answer::NotSupported(Cow::Borrowed("Not supported by Zabbix Agent"));
        }
        if let Some(reason) = rest.strip_prefix('\0') {
            return Answer::NotSupported(Cow::Borrowed(reason));
        }
    }
    if text == ERROR {
        return Answer::AgentError(Cow::Borrowed("Zabbix Agent non-critical error"));
    }
    Answer::Value(Cow::Borrowed(text))
}

fn parse_json<'a>(members: &Members<'a>) -> Answer<'a> {
    if let Some(error) = members.text("error") {
        return Answer::AgentError(error);
    }
    let rows: Option<Vec<Members<'a>>> =
        members.raw("data").and_then(|data| serde_json::from_str(data.get()).ok());
    let Some(row) = rows.and_then(|rows| rows.into_iter().next()) else {
        return Answer::AgentError(Cow::Borrowed("the agent's answer holds no \"data\""));
    };
    if let Some(error) = row.text("error") {
        return Answer::NotSupported(error);
    }
    match (row.raw("value"), row.text("value")) {
        (_, Some(value)) => Answer::Value(value),
        (Some(raw), None) if raw.get() == "null" => Answer::Nothing,
        _ => Answer::AgentError(Cow::Borrowed("the agent's answer holds no \"value\"")),
    }
}

/// The version of the agent from a JSON answer.
pub fn answer_version(text: &str) -> Option<Version> {
    Members::parse(text).ok()?.text("version").map(|version| Version::parse(&version))
}

/// Writes an answer. `version` is the agent's own version as it tells it, `7.0.0`.
pub fn encode_answer(answer: &Answer<'_>, dialect: Dialect, version: &str) -> String {
    if *answer == Answer::Refused {
        return String::new();
    }
    match dialect {
        Dialect::Json => {
            let mut json = serde_json::json!({ "version": version, "variant": 1 });
            match answer {
                Answer::Value(value) => json["data"] = serde_json::json!([{ "value": value }]),
                Answer::Nothing | Answer::Refused => {
                    json["data"] = serde_json::json!([{ "value": null }]);
                }
                Answer::NotSupported(why) => json["data"] = serde_json::json!([{ "error": why }]),
                Answer::AgentError(why) => json["error"] = serde_json::json!(why),
            }
            json.to_string()
        }
        Dialect::Plain => match answer {
            Answer::Value(value) => value.clone().into_owned(),
            Answer::Nothing | Answer::Refused => String::new(),
            Answer::NotSupported(why) => format!("{NOT_SUPPORTED}\0{why}"),
            Answer::AgentError(_) => ERROR.to_owned(),
        },
    }
}
