//! `mediatype.test`: sends one message by a stored media type, or runs its webhook once. Zabbix has no such method: its
//! frontend sends `alert.send` to the trapper port, which is served here by this method.

use std::time::Duration;

use config::db::Row;
use model::alert::{Outcome, Outgoing, ScriptLine, Trial};
use model::{AlertId, EventId, MediaTypeId};
use objects::MediaTypeKind;
use serde_json::{Map, json};

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Document, Id, Nested, OneOf, Text};
use crate::object::{Field, field, missing};
use crate::params;
use crate::write::{nested, only};

/// Longest subject and text, as of alerts.
const SUBJECT_CHARS_MAX: usize = 255;
const MESSAGE_BYTES_MAX: usize = 65_535;
/// Longest addresses, as of a user's media.
const SENDTO_CHARS_MAX: usize = 1_024;
/// Parameters of a webhook or a script.
const PARAMETERS_MAX: usize = 1_000;

/// Between an error and the lines that a webhook logged.
const LOG_FOLLOWS: &str = "\n\nLog:\n";
/// Characters of log lines that an error has.
const LOG_CHARS_MAX: usize = 16 << 10;

pub(crate) const PARAMETERS: &[Field] = &[
    field("mediatypeid", Id, Required, "Id of a media type, which may be switched off."),
    field(
        "sendto",
        Nested,
        Optional,
        "Address of the receiver; e-mail: also a list. Required for e-mail and SMS.",
    ),
    field("subject", Text(255), Optional, "Subject of the message."),
    field("message", Text(65_535), Optional, "Text of the message."),
    field(
        "parameters",
        Nested,
        Optional,
        "Webhook: `[{name, value}]`, script: `[{value}]`, instead of the stored ones.",
    ),
    field(
        "report_failure",
        OneOf(&[0, 1]),
        Optional,
        "1 = a message that is not sent is a result with the member `error`, not an error.",
    ),
];

pub(crate) const RESULT: &[Field] = &[
    field(
        "result",
        Text(0),
        ReadOnly,
        "What the receiver said; webhook: what the script returned.",
    ),
    field("duration", Text(0), ReadOnly, "Milliseconds that the attempt took."),
    field(
        "error",
        Text(0),
        ReadOnly,
        "Why it was not sent, as alerts show it; empty = it was sent.",
    ),
    field("log", Document, ReadOnly, "Lines of the dialogue with the receiver."),
    field("script_log", Document, ReadOnly, "Webhook: `[{level, ms, message}]`, what it logged."),
];

/// Sends the message.
pub(super) fn test(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let Json::Object(members) = input else {
        return Err(ApiError::at("/", "an object is expected"));
    };
    let known: Vec<&str> = PARAMETERS.iter().map(|field| field.name).collect();
    only(members, "/", &known)?;
    let id = members.get("mediatypeid").ok_or_else(|| missing("/", "mediatypeid"))?;
    let id = params::id(id, "/mediatypeid")?;
    let media_type = MediaType::read(call, id)?;
    let message = media_type.message(members)?;
    let trial = call.api.deps.live.test_media(&message).map_err(ApiError::application)?;
    let failure = media_type.failure(&trial.outcome);
    let reported = params::flag(members.get("report_failure"));
    match failure {
        Some(failure) if !reported => Err(ApiError::application(failure.full + &logged(&trial))),
        failure => Ok(shown(&trial, failure.map_or_else(String::new, |failure| failure.error))),
    }
}

/// A stored media type, as far as a test needs it.
struct MediaType {
    id: u64,
    name: String,
    kind: MediaTypeKind,
    parameters: Vec<(String, String)>,
    is_living: bool,
    deduplicates: bool,
}

impl MediaType {
    fn read(call: &Call<'_>, id: u64) -> ApiResult<Self> {
        let rows = call.rows("SELECT * FROM media_types WHERE mediatypeid = ?", &[id.into()])?;
        let row = rows.first().ok_or_else(ApiError::no_object)?;
        let kind = MediaTypeKind::from_number(row.int("type")).ok_or_else(ApiError::no_object)?;
        let sql =
            "SELECT name, value FROM media_type_params WHERE mediatypeid = ? ORDER BY position";
        let rows = call.rows(sql, &[id.into()])?;
        let parameter = |row: &Row| (row.text("name").to_owned(), row.text("value").to_owned());
        let parameters = rows.iter().map(parameter).collect();
        let is_on = |column: &str| row.int(column) == 1;
        let (is_living, deduplicates) = (is_on("living"), is_on("deduplicates"));
        Ok(Self {
            id,
            name: row.text("name").to_owned(),
            kind,
            parameters,
            is_living,
            deduplicates,
        })
    }

    fn message(&self, members: &Map<String, Json>) -> ApiResult<Outgoing> {
        let text = |name: &str| {
            let given = members.get(name).map(|value| params::text(value, &format!("/{name}")));
            given.unwrap_or_else(|| Ok(String::new()))
        };
        let (subject, message) = (text("subject")?, text("message")?);
        if subject.chars().count() > SUBJECT_CHARS_MAX {
            return Err(ApiError::at("/subject", "value is too long"));
        }
        if message.len() > MESSAGE_BYTES_MAX {
            return Err(ApiError::at("/message", "value is too long"));
        }
        let sendto = self.addresses(members.get("sendto"))?;
        let parameters = match members.get("parameters") {
            Some(given) => self.given(given)?,
            None => {
                let (none, zero) = (String::new(), String::from("0"));
                let mut values = vec![
                    ("{ALERT.SENDTO}", &sendto),
                    ("{ALERT.SUBJECT}", &subject),
                    ("{ALERT.MESSAGE}", &message),
                ];
                // The message of a test is the first one.
                values.extend(self.is_living.then_some(("{ALERT.MESSAGE.ID}", &none)));
                values.extend(self.deduplicates.then_some(("{ALERT.ID}", &zero)));
                let own = self.parameters.iter();
                own.map(|(name, value)| (expand(name, &values), expand(value, &values))).collect()
            }
        };
        Ok(Outgoing {
            alert: AlertId(0),
            media_type: MediaTypeId(self.id),
            sendto,
            subject,
            message,
            parameters,
            problem: EventId(0),
            reply_to: String::new(),
            failures: 0,
        })
    }

    /// Addresses as alerts have them: lines.
    fn addresses(&self, given: Option<&Json>) -> ApiResult<String> {
        let path = "/sendto";
        let addresses = match given {
            None => Vec::new(),
            Some(Json::Array(list)) if self.kind == MediaTypeKind::Email => {
                let numbered = list.iter().enumerate();
                numbered
                    .map(|(n, one)| params::text(one, &format!("{path}/{}", n + 1)))
                    .collect::<ApiResult<Vec<_>>>()?
            }
            Some(one) => vec![params::text(one, path)?],
        };
        let is_addressed = matches!(self.kind, MediaTypeKind::Email | MediaTypeKind::Sms);
        if is_addressed && given.is_none() {
            return Err(missing("/", "sendto"));
        }
        if is_addressed
            && (addresses.is_empty() || addresses.iter().any(|one| one.trim().is_empty()))
        {
            return Err(ApiError::at(path, "cannot be empty"));
        }
        let addresses = addresses.join("\n");
        if addresses.chars().count() > SENDTO_CHARS_MAX {
            return Err(ApiError::at(path, "value is too long"));
        }
        Ok(addresses)
    }

    fn given(&self, given: &Json) -> ApiResult<Vec<(String, String)>> {
        let path = "/parameters";
        let known: &[&str] = match self.kind {
            MediaTypeKind::Webhook => &["name", "value"],
            MediaTypeKind::Script => &["sortorder", "value"],
            MediaTypeKind::Email | MediaTypeKind::Sms => {
                let what = "only webhooks and scripts have parameters";
                return Err(ApiError::at(path, what));
            }
        };
        let rows = nested(given, path)?;
        if rows.len() > PARAMETERS_MAX {
            return Err(ApiError::at(path, format_args!("at most {PARAMETERS_MAX} are allowed")));
        }
        let mut parameters = Vec::with_capacity(rows.len());
        for (path, row) in rows {
            only(row, &path, known)?;
            let text = |name: &str| {
                let value =
                    row.get(name).map(|value| params::text(value, &format!("{path}/{name}")));
                value.unwrap_or_else(|| Ok(String::new()))
            };
            if self.kind == MediaTypeKind::Webhook && !row.contains_key("name") {
                return Err(missing(&path, "name"));
            }
            parameters.push((text("name")?, text("value")?));
        }
        Ok(parameters)
    }

    /// Why a message was not sent. `None` = it was.
    fn failure(&self, outcome: &Outcome) -> Option<Failure> {
        let name = &self.name;
        let at_fault = match self.kind {
            MediaTypeKind::Email => "The mail server did not accept the message",
            MediaTypeKind::Script => "The program of the media type failed",
            MediaTypeKind::Sms => "The modem did not send the message",
            MediaTypeKind::Webhook => "The webhook failed",
        };
        let (error, full) = match outcome {
            Outcome::Sent { .. } => return None,
            Outcome::Failed { error, .. } => (error.as_str(), format!("{at_fault}: {error}")),
            Outcome::Impossible { error } => {
                let full = format!("Media type \"{name}\" cannot send with its settings: {error}");
                (error.as_str(), full)
            }
            Outcome::Unknown { error } => {
                let full = format!("It is not known whether the receiver has the message: {error}");
                (error.as_str(), full)
            }
            Outcome::NotStarted => {
                let text = "The server stops: nothing was sent.";
                (text, text.to_owned())
            }
        };
        Some(Failure { error: error.to_owned(), full })
    }
}

/// Why a message was not sent.
struct Failure {
    /// As alerts show it.
    error: String,
    /// With what is at fault: the settings, the script, or the receiver.
    full: String,
}

/// What the caller gets.
fn shown(trial: &Trial, error: String) -> Json {
    let line = |line: &ScriptLine| json!({ "level": line.level, "ms": milliseconds(line.at), "message": line.text });
    json!({
        "result": trial.response,
        "duration": milliseconds(trial.took).to_string(),
        "error": error,
        "log": trial.log,
        "script_log": trial.script_log.iter().map(line).collect::<Vec<_>>(),
    })
}

/// What a webhook logged, for the end of an error.
fn logged(trial: &Trial) -> String {
    let lines: Vec<&str> = trial.script_log.iter().map(|line| line.text.as_str()).collect();
    let log: String = lines.join("\n").chars().take(LOG_CHARS_MAX).collect();
    if log.is_empty() { log } else { format!("{LOG_FOLLOWS}{log}") }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Replaces each macro once: a value that contains another one stays.
fn expand(template: &str, values: &[(&str, &String)]) -> String {
    let (mut out, mut rest) = (String::with_capacity(template.len()), template);
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let known = values.iter().find(|(name, _)| from.starts_with(name));
        let (text, length) = known.map_or(("{", 1), |(name, value)| (value.as_str(), name.len()));
        out.push_str(text);
        rest = &from[length..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_of_alerts_are_expanded_once() {
        let texts = [String::from("{ALERT.MESSAGE}"), String::from("s"), String::from("{x}")];
        let values = [
            ("{ALERT.SENDTO}", &texts[0]),
            ("{ALERT.SUBJECT}", &texts[1]),
            ("{ALERT.MESSAGE}", &texts[2]),
        ];
        for (template, expected) in [
            ("", ""),
            ("{ALERT.SENDTO}", "{ALERT.MESSAGE}"),
            ("a{{ALERT.SUBJECT}}{ALERT.MESSAGE}é{", "a{s}{x}é{"),
            ("{EVENT.ID} {ALERT", "{EVENT.ID} {ALERT"),
        ] {
            assert_eq!(expand(template, &values), expected, "{template}");
        }
    }
}
