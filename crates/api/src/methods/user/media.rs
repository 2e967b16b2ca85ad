//! Media of users: where messages go. Kept as JSON in the user's row.

use config::Edit;
use config::schema::tables;
use serde_json::{Map, json};

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;
use crate::write::{nested, only};

const KNOWN: &[&str] = &["mediaid", "mediatypeid", "sendto", "active", "severity", "period"];

/// Checks a list of media. Gives them as they are kept, without ids.
pub(super) fn parse(value: &Json, path: &str) -> ApiResult<Vec<Map<String, Json>>> {
    let mut medias = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, KNOWN)?;
        let at = |name: &str| format!("{path}/{name}");
        let kind = members.get("mediatypeid").ok_or_else(|| missing(&path, "mediatypeid"))?;
        let kind = params::id(kind, &at("mediatypeid"))?;
        let sendto = match members.get("sendto") {
            None => return Err(missing(&path, "sendto")),
            Some(Json::Array(list)) => {
                let numbered = list.iter().enumerate();
                let texts = numbered
                    .map(|(n, v)| params::text(v, &format!("{}/{}", at("sendto"), n + 1)))
                    .collect::<ApiResult<Vec<String>>>()?;
                if texts.is_empty() {
                    return Err(ApiError::at(&at("sendto"), "cannot be empty"));
                }
                Json::from(texts)
            }
            Some(value) => params::text(value, &at("sendto"))?.into(),
        };
        let number = |name: &str, default: i64, max: i64| match members.get(name) {
            None => Ok(default),
            Some(value) => match params::int(value, &at(name))? {
                n if (0..=max).contains(&n) => Ok(n),
                _ => Err(ApiError::at(&at(name), format_args!("value must be one of 0-{max}"))),
            },
        };
        let period = match members.get("period") {
            None => "1-7,00:00-24:00".to_owned(),
            Some(value) => params::text(value, &at("period"))?,
        };
        if !is_period(&period) {
            return Err(ApiError::at(&at("period"), "a time period is expected"));
        }
        let one = json!({
            "mediaid": members.get("mediaid").map(|v| params::id(v, &at("mediaid"))).transpose()?,
            "mediatypeid": kind.to_string(),
            "sendto": sendto,
            "active": number("active", 0, 1)?.to_string(),
            "severity": number("severity", 63, 63)?.to_string(),
            "period": period,
            "userdirectory_mediaid": "0",
            "provisioned": "0",
        });
        if let Json::Object(one) = one {
            medias.push(one);
        }
    }
    Ok(medias)
}

/// JSON text of media for the user's row; new ones get ids, known ones keep theirs.
pub(super) fn stored(
    edit: &mut Edit<'_>,
    medias: &[Map<String, Json>],
    now: &str,
    path: &str,
) -> ApiResult<String> {
    let known: Vec<Json> = serde_json::from_str(now).unwrap_or_default();
    let mut out = Vec::new();
    for (n, media) in medias.iter().enumerate() {
        let mut media = media.clone();
        let kind = media["mediatypeid"].as_str().and_then(|id| id.parse().ok()).unwrap_or(0);
        let email = media_kind(edit, kind, &format!("{path}/{}/mediatypeid", n + 1))? == Some(0);
        shape_sendto(&mut media, email);
        let given = media["mediaid"].as_u64().map(|id| id.to_string());
        let id = match given {
            Some(id) if known.iter().any(|old| old["mediaid"] == id.as_str()) => id,
            Some(_) => return Err(ApiError::no_object()),
            None => edit.next_id_of("media", 1)?.to_string(),
        };
        media.insert("mediaid".to_owned(), id.into());
        out.push(Json::Object(media));
    }
    Ok(Json::Array(out).to_string())
}

/// Type of the media type (0 = email), which must exist. While media types are not kept at all,
/// any is taken.
fn media_kind(edit: &mut Edit<'_>, id: u64, path: &str) -> ApiResult<Option<i64>> {
    if !tables().any(|table| table.name == "mediatypes") {
        return Ok(None);
    }
    let rows = edit.query("SELECT type FROM mediatypes WHERE mediatypeid = ?", &[id.into()])?;
    match rows.first() {
        Some(row) => Ok(Some(row.int("type"))),
        None => Err(ApiError::at(path, "object does not exist")),
    }
}

/// Email has a list of addresses, everything else one.
fn shape_sendto(media: &mut Map<String, Json>, email: bool) {
    let sendto = media.get("sendto").cloned().unwrap_or_default();
    let shaped = match sendto {
        Json::Array(list) if list.len() == 1 && !email => list[0].clone(),
        Json::String(text) if email => json!([text]),
        other => other,
    };
    media.insert("sendto".to_owned(), shaped);
}

/// `1-5,09:00-18:00;6-7,10:00-12:00`; a part may be a user macro.
fn is_period(text: &str) -> bool {
    let day = |text: &str| text.parse::<u8>().ok().filter(|day| (1..=7).contains(day));
    let minute = |text: &str| {
        let (hours, minutes) = text.split_once(':')?;
        let (hours, minutes) = (hours.parse::<u32>().ok()?, minutes.parse::<u32>().ok()?);
        (minutes < 60 && hours * 60 + minutes <= 24 * 60).then_some(hours * 60 + minutes)
    };
    let one = |part: &str| {
        if part.starts_with("{$") && part.ends_with('}') {
            return true;
        }
        let Some((days, times)) = part.split_once(',') else { return false };
        let days = match days.split_once('-') {
            Some((from, to)) => day(from).zip(day(to)).is_some_and(|(from, to)| from <= to),
            None => day(days).is_some(),
        };
        let times = times.split_once('-');
        days && times
            .and_then(|(from, to)| minute(from).zip(minute(to)))
            .is_some_and(|(from, to)| from < to)
    };
    !text.is_empty() && text.trim_end_matches(';').split(';').all(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        for (text, good) in [
            ("1-7,00:00-24:00", true),
            ("1-5,09:00-18:00;6-7,10:00-12:00", true),
            ("1,9:00-18:00;{$P};", true),
            ("{$P}", true),
            ("x", false),
            ("", false),
            ("0-7,00:00-24:00", false),
            ("5-1,00:00-24:00", false),
            ("1-7,18:00-09:00", false),
            ("1-7,00:00-25:00", false),
        ] {
            assert_eq!(is_period(text), good, "{text}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (media, good) in [
            (json!({ "mediatypeid": 1, "sendto": "x" }), true),
            (json!({ "mediatypeid": 1, "sendto": ["a@b", "c@d"] }), true),
            (json!({ "sendto": "x" }), false),
            (json!({ "mediatypeid": 1 }), false),
            (json!({ "mediatypeid": 1, "sendto": [] }), false),
            (json!({ "mediatypeid": 1, "sendto": "x", "severity": 64 }), false),
            (json!({ "mediatypeid": 1, "sendto": "x", "period": "x" }), false),
            (json!({ "mediatypeid": 1, "sendto": "x", "nosuch": 1 }), false),
        ] {
            assert_eq!(parse(&json!([media]), "/1/medias").is_ok(), good, "{media}");
        }
    }
}
