//! Values sent by senders (`sender data`) and active agents (`agent data`), and the answer.

use std::borrow::Cow;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::message::{Members, MessageError, Scalar, Version};
use crate::reading::{
    CLOCK_MAX, Moment, NS_MAX, READINGS_MAX, Readings, ReadingsSeed, RowRules, TOO_MANY, Target,
};

/// Values of a sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderData<'a> {
    /// The values.
    pub readings: Readings<'a>,
}

/// Values of an active agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentData<'a> {
    /// Technical name of the host; agents before 6.4 name it in every row instead.
    pub host: Option<Cow<'a, str>>,
    /// 32 characters that change when the agent starts; empty = none.
    pub session: Cow<'a, str>,
    /// The agent's version.
    pub version: Version,
    /// The values.
    pub readings: Readings<'a>,
    /// Results of remote commands.
    pub commands: Vec<CommandResult<'a>>,
}

/// Result of a remote command that an active agent ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult<'a> {
    /// The id that came with the command.
    pub id: u64,
    /// Output, or what went wrong.
    pub result: Result<Cow<'a, str>, Cow<'a, str>>,
}

/// Parses a `sender data` request that arrived at `now`. Clock and ns at top level are ignored,
/// as Zabbix ignores them.
pub fn parse_sender_data(text: &str, now: Moment) -> Result<SenderData<'_>, MessageError> {
    let envelope = Envelope::parse(text, RowRules { now, by_itemid: false })?;
    Ok(SenderData { readings: envelope.readings.ok_or(MessageError::NoData)? })
}

/// Parses an `agent data` request that arrived at `now`.
pub fn parse_agent_data(text: &str, now: Moment) -> Result<AgentData<'_>, MessageError> {
    let envelope = Envelope::parse(text, RowRules { now, by_itemid: true })?;
    let session = scalar(envelope.session).unwrap_or_default();
    check_session(&session)?;
    let commands = parse_commands(envelope.commands)?;
    let readings = match envelope.readings {
        Some(readings) => readings,
        None if envelope.commands.is_some() => Readings::default(),
        None => return Err(MessageError::NoData),
    };
    let version = scalar(envelope.version).map_or(Version::UNKNOWN, |v| Version::parse(&v));
    Ok(AgentData { host: scalar(envelope.host), session, version, readings, commands })
}

/// A session token has 32 characters or is absent.
pub(crate) fn check_session(session: &str) -> Result<(), MessageError> {
    match session.len() {
        0 | 32 => Ok(()),
        other => Err(MessageError::SessionLength(other)),
    }
}

fn scalar(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    Scalar::from_raw(raw?).map(|scalar| scalar.0)
}

fn parse_commands(raw: Option<&RawValue>) -> Result<Vec<CommandResult<'_>>, MessageError> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let rows: Vec<Members<'_>> =
        serde_json::from_str(raw.get()).map_err(|error| MessageError::not_json(&error))?;
    Ok(rows.iter().filter_map(command_result).collect())
}

fn command_result<'a>(row: &Members<'a>) -> Option<CommandResult<'a>> {
    let id = row.number("id")?;
    let result = match (row.text("value"), row.text("error")) {
        (Some(value), _) => Ok(value),
        (None, Some(error)) => Err(error),
        (None, None) => return None,
    };
    Some(CommandResult { id, result })
}

/// The top level of both requests: values are read in place, all else is looked at afterwards.
struct Envelope<'a> {
    readings: Option<Readings<'a>>,
    host: Option<&'a RawValue>,
    session: Option<&'a RawValue>,
    version: Option<&'a RawValue>,
    commands: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    fn parse(text: &'a str, rules: RowRules) -> Result<Self, MessageError> {
        let mut json = serde_json::Deserializer::from_str(text);
        json.deserialize_map(EnvelopeVisitor(rules))
            .and_then(|envelope| json.end().map(|()| envelope))
            .map_err(|error| {
                if error.to_string().starts_with(TOO_MANY) {
                    MessageError::TooManyRows(READINGS_MAX)
                } else {
                    MessageError::not_json(&error)
                }
            })
    }
}

struct EnvelopeVisitor(RowRules);

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope =
            Envelope { readings: None, host: None, session: None, version: None, commands: None };
        let mut seen_data = false;
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let slot = match name.as_ref() {
                "data" if !seen_data => {
                    seen_data = true;
                    envelope.readings = map.next_value_seed(ReadingsSeed(self.0))?;
                    continue;
                }
                "host" => &mut envelope.host,
                "session" => &mut envelope.session,
                "version" => &mut envelope.version,
                "commands" => &mut envelope.commands,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let raw = map.next_value()?;
            slot.get_or_insert(raw);
        }
        Ok(envelope)
    }
}

/// What became of the values of a request.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Values taken.
    pub processed: usize,
    /// Values refused: unknown item, not allowed, bad row, resent.
    pub failed: usize,
    /// Time spent, seconds.
    pub seconds: f64,
}

impl Outcome {
    /// The text of `info`.
    pub fn info(&self) -> String {
        format!(
            "processed: {}; failed: {}; total: {}; seconds spent: {:.6}",
            self.processed,
            self.failed,
            self.processed + self.failed,
            self.seconds
        )
    }

    /// The answer to `sender data` and `agent data`. `upload_disabled` tells an agent to keep its
    /// values because the server is full.
    pub fn answer(&self, upload_disabled: bool) -> String {
        let upload = if upload_disabled { ",\"upload\":\"disabled\"" } else { "" };
        format!("{{\"response\":\"success\"{upload},\"info\":\"{}\"}}", self.info())
    }

    /// The three counts from the `info` of an answer, for programs that send values.
    pub fn parse_info(info: &str) -> Option<Self> {
        let mut outcome = Self::default();
        let mut found = 0;
        for part in info.split(';') {
            let (name, value) = part.split_once(':')?;
            let value = value.trim();
            match name.trim() {
                "processed" => outcome.processed = value.parse().ok()?,
                "failed" => outcome.failed = value.parse().ok()?,
                "seconds spent" => outcome.seconds = value.parse().ok()?,
                _ => continue,
            }
            found += 1;
        }
        (found >= 2).then_some(outcome)
    }
}

/// An answer to sent values, as a sender or an agent reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendAnswer<'a> {
    /// The server took the request; `info` then holds the counts.
    pub success: bool,
    /// Counts, or why the request was refused.
    pub info: Cow<'a, str>,
    /// The server is full: keep values.
    pub upload_disabled: bool,
}

impl<'a> SendAnswer<'a> {
    /// Reads an answer.
    pub fn parse(text: &'a str) -> Result<Self, MessageError> {
        let members = Members::parse(text)?;
        let response = members.text("response").ok_or(MessageError::Missing("response"))?;
        Ok(Self {
            success: response == "success",
            info: members.text("info").unwrap_or_default(),
            upload_disabled: members.text("upload").as_deref() == Some("disabled"),
        })
    }
}

/// The bare answer to the two text forms older than JSON.
pub const OLD_TEXT_ANSWER: &str = "OK";

/// One value of `history.push`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRow<'a> {
    /// For which item.
    pub target: Target<'a>,
    pub value: Cow<'a, str>,
    /// When.
    pub at: Moment,
}

/// The request `history.push` on the trapper port: taken whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPush<'a> {
    /// Session id or API token.
    pub sid: Option<Cow<'a, str>>,
    /// Address of the API's client.
    pub clientip: Option<Cow<'a, str>>,
    /// The values.
    pub rows: Vec<PushRow<'a>>,
}

/// Parses `history.push` that arrived at `now`.
pub fn parse_history_push(text: &str, now: Moment) -> Result<HistoryPush<'_>, MessageError> {
    let members = Members::parse(text)?;
    let data = members.raw("data").ok_or(MessageError::NoData)?;
    let rows: Vec<Members<'_>> =
        serde_json::from_str(data.get()).map_err(|error| MessageError::not_json(&error))?;
    if rows.len() > READINGS_MAX {
        return Err(MessageError::TooManyRows(READINGS_MAX));
    }
    let mut ns = 0;
    let rows = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            push_row(row, now, &mut ns)
                .map_err(|reason| MessageError::Row { row: index + 1, reason })
        })
        .collect::<Result<_, _>>()?;
    Ok(HistoryPush { sid: members.text("sid"), clientip: members.text("clientip"), rows })
}

fn push_row<'a>(
    row: &Members<'a>,
    now: Moment,
    next_ns: &mut u32,
) -> Result<PushRow<'a>, &'static str> {
    let (itemid, host, key) = (row.raw("itemid"), row.text("host"), row.text("key"));
    let target = match (itemid, host, key) {
        (Some(_), None, None) => {
            Target::Item(row.number("itemid").ok_or("itemid is not a number")?)
        }
        (None, Some(host), Some(key)) => Target::Key { host, key },
        (Some(_), _, _) => return Err("itemid excludes host and key"),
        (None, _, _) => return Err("itemid, or host and key, is needed"),
    };
    let value = row.text("value").ok_or("value is missing")?;
    let mut rising = || {
        *next_ns += 1;
        *next_ns - 1
    };
    let at = match (row.raw("clock"), row.raw("ns")) {
        (None, None) => now.plus_ns(rising()),
        (None, Some(_)) => return Err("ns needs clock"),
        (Some(_), ns) => {
            let small = |name| row.number(name).and_then(|n| u32::try_from(n).ok());
            let clock = small("clock")
                .filter(|clock| (1..=CLOCK_MAX).contains(clock))
                .ok_or("clock is not between 1 and 2147483647")?;
            let ns = match ns {
                Some(_) => {
                    small("ns").filter(|ns| *ns <= NS_MAX).ok_or("ns is not below 1000000000")?
                }
                None => rising(),
            };
            Moment { clock, ns }
        }
    };
    Ok(PushRow { target, value, at })
}
