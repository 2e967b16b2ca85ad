//! Media of users: where messages go.

use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::table;
use objects::MediaTypeKind;
use serde_json::{Map, json};

use super::provisioned::read_only;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Output;
use crate::object::missing;
use crate::params;
use crate::write::{nested, only};

const KNOWN: &[&str] = &["mediaid", "mediatypeid", "sendto", "active", "severity", "period"];

/// Characters of the addresses of a medium together, and of its periods.
const TEXT_MAX: usize = 1_024;

/// A medium as a client gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Media {
    path: String,
    /// Id of a medium that the user has; `None` = a new one.
    id: Option<u64>,
    mediatypeid: u64,
    /// Addresses; e-mail has several.
    sendto: Vec<String>,
    active: i64,
    severity: i64,
    period: String,
}

/// Checks a list of media by itself. With `knows_ids` media may have ids.
pub(super) fn parse(value: &Json, path: &str, knows_ids: bool) -> ApiResult<Vec<Media>> {
    let known = if knows_ids { KNOWN } else { &KNOWN[1..] };
    let (mut medias, mut seen) = (Vec::new(), BTreeSet::new());
    for (path, members) in nested(value, path)? {
        only(members, &path, known)?;
        let media = Media::parse(members, path)?;
        if let Some(id) = media.id.filter(|id| !seen.insert(*id)) {
            return Err(crate::object::taken(&media.path, "mediaid", id));
        }
        medias.push(media);
    }
    Ok(medias)
}

impl Media {
    fn parse(members: &Map<String, Json>, path: String) -> ApiResult<Self> {
        let at = |name: &str| format!("{path}/{name}");
        let number = |name: &str, default: i64, wrong: &str, max: i64| match members.get(name) {
            None => Ok(default),
            Some(value) => match params::int(value, &at(name))? {
                n if (0..=max).contains(&n) => Ok(n),
                _ => Err(ApiError::at(&at(name), format_args!("value must be one of {wrong}"))),
            },
        };
        let id = members.get("mediaid").map(|v| params::id(v, &at("mediaid"))).transpose()?;
        let kind = members.get("mediatypeid").ok_or_else(|| missing(&path, "mediatypeid"))?;
        let mediatypeid = params::id(kind, &at("mediatypeid"))?;
        let sendto = members.get("sendto").ok_or_else(|| missing(&path, "sendto"))?;
        let sendto = sendto_of(sendto, &at("sendto"))?;
        let active = number("active", 0, "0, 1", 1)?;
        let severity = number("severity", 63, "0-63", 63)?;
        let period = match members.get("period") {
            None => "1-7,00:00-24:00".to_owned(),
            Some(value) => params::text(value, &at("period"))?,
        };
        if period.is_empty() {
            return Err(ApiError::at(&at("period"), "cannot be empty"));
        }
        if period.chars().count() > TEXT_MAX {
            return Err(ApiError::at(&at("period"), "value is too long"));
        }
        if !is_period(&period) {
            return Err(ApiError::at(&at("period"), "a time period is expected"));
        }
        Ok(Self { id, mediatypeid, sendto, active, severity, period, path })
    }

    /// The address as it is stored.
    fn stored_sendto(&self, kind: MediaTypeKind) -> ApiResult<String> {
        let path = format!("{}/sendto", self.path);
        if kind == MediaTypeKind::Email {
            for (n, address) in self.sendto.iter().enumerate() {
                let path = format!("{path}/{}", n + 1);
                if address.is_empty() {
                    return Err(ApiError::at(&path, "cannot be empty"));
                }
                if !is_address(address) {
                    return Err(ApiError::at(&path, "an email address is expected"));
                }
            }
        } else if self.sendto.len() > 1 {
            return Err(ApiError::at(&path, "a character string is expected"));
        }
        let sendto = self.sendto.join("\n");
        if sendto.chars().count() > TEXT_MAX {
            return Err(ApiError::at(&path, "value is too long"));
        }
        Ok(sendto)
    }
}

impl Media {
    /// Refuses another type or address of a medium that the user's directory gave, as the stored row has it.
    fn check_provisioned(&self, stored: &Row) -> ApiResult<()> {
        if stored.id("userdirectory_mediaid") == 0 {
            return Ok(());
        }
        for (name, is_changed) in [
            ("mediatypeid", self.mediatypeid != stored.id("mediatypeid")),
            ("sendto", self.sendto.join("\n") != stored.text("sendto")),
        ] {
            if is_changed {
                return Err(read_only(&self.path, name));
            }
        }
        Ok(())
    }
}

/// One address, or a list of some.
fn sendto_of(value: &Json, path: &str) -> ApiResult<Vec<String>> {
    match value {
        Json::String(text) => Ok(vec![text.clone()]),
        Json::Array(list) => {
            let text = |(n, v): (usize, &Json)| params::text(v, &format!("{path}/{}", n + 1));
            let texts = list.iter().enumerate().map(text).collect::<ApiResult<Vec<String>>>()?;
            if texts.is_empty() {
                return Err(ApiError::at(path, "cannot be empty"));
            }
            Ok(texts)
        }
        _ => Err(ApiError::at(path, "an array is expected")),
    }
}

/// Makes these the media of a user: known ones keep their ids, those that are not in the list go. Media of the
/// user's directory stay, and keep their type and addresses.
pub(super) fn write(edit: &mut Edit<'_>, userid: u64, medias: &[Media]) -> ApiResult<()> {
    let kinds: Vec<u64> = medias.iter().map(|media| media.mediatypeid).collect();
    let sql = "SELECT mediatypeid, type FROM media_types WHERE mediatypeid IN ({ids})";
    let kinds = query_by_ids(edit, sql, &[], &kinds)?;
    let kinds: BTreeMap<u64, i64> =
        kinds.iter().map(|row| (row.id("mediatypeid"), row.int("type"))).collect();
    let sql =
        "SELECT mediaid, mediatypeid, sendto, userdirectory_mediaid FROM media WHERE userid = ?";
    let mut gone = edit.query(sql, &[userid.into()])?;
    let mut rows = Vec::new();
    for media in medias {
        if let Some(id) = media.id {
            let place = gone.iter().position(|row| row.id("mediaid") == id).ok_or_else(|| {
                ApiError::at(
                    &format!("{}/mediaid", media.path),
                    "object does not exist or belongs to another object",
                )
            })?;
            media.check_provisioned(&gone.remove(place))?;
        }
        let kind = kinds.get(&media.mediatypeid).and_then(|kind| MediaTypeKind::from_number(*kind));
        let kind = kind.ok_or_else(|| {
            ApiError::at(&format!("{}/mediatypeid", media.path), "object does not exist")
        })?;
        let row = vec![
            ("mediatypeid", Value::from(media.mediatypeid)),
            ("sendto", media.stored_sendto(kind)?.into()),
            ("active", media.active.into()),
            ("severity", media.severity.into()),
            ("period", media.period.as_str().into()),
        ];
        rows.push((media.id, row));
    }
    gone.retain(|row| row.id("userdirectory_mediaid") == 0);
    let gone: Vec<u64> = gone.iter().map(|row| row.id("mediaid")).collect();
    edit.delete(&table::MEDIA, "mediaid", &gone)?;
    for (id, mut row) in rows {
        if let Some(id) = id {
            edit.update(&table::MEDIA, id, &row)?;
        } else {
            row.push(("userid", userid.into()));
            edit.insert_new(&table::MEDIA, &row)?;
        }
    }
    Ok(())
}

/// Adds the media of the found users.
pub(super) fn show(found: &mut Found<'_, '_>, wanted: &Output) -> ApiResult<()> {
    let ids = found.ids();
    let sql = "SELECT m.*, t.type AS kind FROM media m \
               JOIN media_types t ON t.mediatypeid = m.mediatypeid \
               WHERE m.userid IN ({ids}) ORDER BY m.userid, m.mediaid";
    let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], &ids)?))?;
    let mut of_user: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in &rows {
        let mut media = shown(row);
        media.retain(|name, _| wanted.has(name));
        of_user.entry(row.id("userid")).or_default().push(Json::Object(media));
    }
    for row in &mut found.rows {
        let list = of_user.remove(&row.id).unwrap_or_default();
        row.out.insert("medias", Json::Array(list));
    }
    Ok(())
}

fn shown(row: &Row) -> Map<String, Json> {
    let sendto = row.text("sendto");
    let sendto = match MediaTypeKind::Email.is(row.int("kind")) {
        true => sendto.split('\n').collect(),
        false => Json::from(sendto),
    };
    let directory = row.id("userdirectory_mediaid");
    let all = [
        ("mediaid", row.id("mediaid").to_string().into()),
        ("mediatypeid", row.id("mediatypeid").to_string().into()),
        ("sendto", sendto),
        ("active", row.int("active").to_string().into()),
        ("severity", row.int("severity").to_string().into()),
        ("period", row.text("period").into()),
        ("userdirectory_mediaid", directory.to_string().into()),
        ("provisioned", json!(u8::from(directory != 0).to_string())),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// `a@example.com`, or with a name: `Name <a@example.com>`.
pub(crate) fn is_address(text: &str) -> bool {
    if text.contains(['\n', '\r']) {
        return false;
    }
    let address = match text.split_once('<') {
        Some((_, rest)) => match rest.strip_suffix('>') {
            Some(address) => address,
            None => return false,
        },
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let atom = |text: &str| {
        let special = |c: char| "!#$%&'*+-/=?^_`{|}~".contains(c);
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || special(c))
    };
    let label = |text: &str| {
        let inner = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        (1..=63).contains(&text.len()) && inner && !text.starts_with('-') && !text.ends_with('-')
    };
    let literal = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let domain_ok = match literal {
        Some(ip) => {
            let ip = ip.strip_prefix("IPv6:").unwrap_or(ip);
            ip.parse::<std::net::IpAddr>().is_ok()
        }
        None => domain.len() <= 253 && domain.contains('.') && domain.split('.').all(label),
    };
    local.len() <= 64 && local.split('.').all(atom) && domain_ok
}

/// `1-5,09:00-18:00;6-7,10:00-12:00`; a part may be a user macro.
pub(crate) fn is_period(text: &str) -> bool {
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
    text.split(';').all(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        for (text, good) in [
            ("1-7,00:00-24:00", true),
            ("1-5,09:00-18:00;6-7,10:00-12:00", true),
            ("1,9:00-18:00;{$P}", true),
            ("1,9:00-18:00;", false),
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
            (json!({ "mediatypeid": 1, "sendto": 5 }), false),
            (json!({ "mediatypeid": 1, "sendto": "x", "mediaid": 1 }), false),
            (json!({ "mediatypeid": 1, "sendto": "x", "severity": 64 }), false),
            (json!({ "mediatypeid": 1, "sendto": "x", "period": "x" }), false),
            (json!({ "mediatypeid": 1, "sendto": "x", "nosuch": 1 }), false),
        ] {
            assert_eq!(parse(&json!([media]), "/1/medias", false).is_ok(), good, "{media}");
        }
    }

    #[test]
    fn addresses_of_e_mail() {
        for (text, good) in [
            ("a@b.c", true),
            ("Bob <d.e+f@example.com>", true),
            ("<a@b.c>", true),
            ("X<a@b.c>", true),
            ("a@[127.0.0.1]", true),
            ("a@[IPv6:::1]", true),
            ("nomail", false),
            ("a@b", false),
            ("a b@c.d", false),
            ("a@b.c>", false),
            ("X <a@b.c> y", false),
            ("é@b.c", false),
            ("@b.c", false),
            ("a@", false),
            ("a@b@c.d", false),
            ("a@b.c\n", false),
            ("X\r\nBcc: y@b.c <a@b.c>", false),
            ("a@-b.c", false),
        ] {
            assert_eq!(is_address(text), good, "{text}");
        }
    }
}
