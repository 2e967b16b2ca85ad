//! Value texts of senders before JSON: `host:key:value`, and XML with base64 members.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::reading::{Content, LogFields, Moment, Reading, Target};

/// `host:key:value`; the value may hold colons and line feeds.
pub(crate) fn colons(text: &str, now: Moment) -> Option<Reading<'_>> {
    let (host, rest) = text.split_once(':')?;
    let (key, value) = rest.split_once(':')?;
    Some(reading(Cow::Borrowed(host), Cow::Borrowed(key), Cow::Borrowed(value), now))
}

/// `<req><host>…</host><key>…</key><data>…</data>…</req>`, every member in base64. A missing
/// `data` is an empty value, as Zabbix takes it; `None` without host or key.
pub(crate) fn xml(text: &str, now: Moment) -> Option<Reading<'static>> {
    let member = |name: &str| -> Option<String> {
        let start = text.find(&format!("<{name}>"))? + name.len() + 2;
        let end = start + text[start..].find(&format!("</{name}>"))?;
        let bytes = STANDARD.decode(text[start..end].trim()).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let number = |name: &str| member(name)?.parse::<u64>().ok();
    let small = |name: &str| number(name).and_then(|n| u32::try_from(n).ok());
    let value = member("data").unwrap_or_default();
    let mut reading =
        reading(Cow::Owned(member("host")?), Cow::Owned(member("key")?), Cow::Owned(value), now);
    let log = LogFields {
        lastlogsize: number("lastlogsize"),
        mtime: None,
        timestamp: small("timestamp"),
        source: member("source").map(Cow::Owned),
        severity: small("severity"),
        eventid: None,
    };
    if log != LogFields::default() {
        reading.log = Some(Box::new(log));
    }
    Some(reading)
}

fn reading<'a>(
    host: Cow<'a, str>,
    key: Cow<'a, str>,
    value: Cow<'a, str>,
    now: Moment,
) -> Reading<'a> {
    Reading {
        target: Target::Key { host, key },
        at: now,
        content: Content::Value(value),
        id: None,
        log: None,
    }
}
