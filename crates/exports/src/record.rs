//! Records as lines of JSON, with the members of Zabbix 7.0 in its order.

use std::fmt::Write as _;

use config::snapshot::{Host, Item};
use model::{Sample, SampleValue, Timestamp, Trend, TrendValues, ValueType};

use crate::events::Event;

/// Text as a JSON string.
fn quoted(out: &mut String, text: &str) {
    // A text always has a form in JSON.
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// A number; a whole one has no fraction.
fn float(out: &mut String, value: f64) {
    let text = serde_json::Value::from(value).to_string();
    out.push_str(text.strip_suffix(".0").unwrap_or(&text));
}

fn list<T>(out: &mut String, items: impl IntoIterator<Item = T>, one: impl Fn(&mut String, T)) {
    out.push('[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        one(out, item);
    }
    out.push(']');
}

fn tags<T: AsRef<str>>(out: &mut String, name: &str, tags: &[(T, T)]) {
    let _ = write!(out, ",\"{name}\":");
    list(out, tags, |out, (tag, value)| {
        out.push_str("{\"tag\":");
        quoted(out, tag.as_ref());
        out.push_str(",\"value\":");
        quoted(out, value.as_ref());
        out.push('}');
    });
}

fn host_object(out: &mut String, host: &Host) {
    out.push_str("{\"host\":");
    quoted(out, &host.host);
    out.push_str(",\"name\":");
    quoted(out, &host.name);
    out.push('}');
}

fn groups<'a>(out: &mut String, names: impl IntoIterator<Item = &'a str>) {
    out.push_str(",\"groups\":");
    list(out, names, quoted);
}

/// What all records of an item begin with.
pub(crate) fn item_prefix(host: &Host, item: &Item, name: &str) -> String {
    let item_tags = item.extra.as_ref().map_or(&[][..], |extra| &extra.tags);
    let mut out = String::from("{\"host\":");
    host_object(&mut out, host);
    groups(&mut out, host.group_names.iter().map(|name| &**name));
    tags(&mut out, "item_tags", item_tags);
    let _ = write!(out, ",\"itemid\":{},\"name\":", item.id.0);
    quoted(&mut out, name);
    out
}

/// A value of the item with this prefix, with a newline.
pub(crate) fn value(prefix: &str, kind: ValueType, sample: &Sample) -> String {
    let mut out = String::with_capacity(prefix.len() + 96);
    out.push_str(prefix);
    let Timestamp { clock, ns } = sample.at;
    let _ = write!(out, ",\"clock\":{clock},\"ns\":{ns}");
    if let SampleValue::Log(line) = &sample.value {
        let meta = &line.1;
        let _ = write!(out, ",\"timestamp\":{},\"source\":", meta.timestamp);
        quoted(&mut out, &meta.source);
        let _ = write!(out, ",\"severity\":{},\"eventid\":{}", meta.severity, meta.eventid);
    }
    out.push_str(",\"value\":");
    match &sample.value {
        SampleValue::Float(value) => float(&mut out, *value),
        SampleValue::Unsigned(value) => {
            let _ = write!(out, "{value}");
        }
        SampleValue::Text(text) => quoted(&mut out, text),
        SampleValue::Log(line) => quoted(&mut out, &line.0),
    }
    let _ = writeln!(out, ",\"type\":{}}}", kind.number());
    out
}

/// A trend of the item with this prefix, with a newline.
pub(crate) fn trend(prefix: &str, trend: &Trend) -> String {
    let mut out = format!("{prefix},\"clock\":{},\"count\":{}", trend.hour, trend.num);
    let kind = match trend.values {
        TrendValues::Float { min, avg, max } => {
            for (name, value) in [("min", min), ("avg", avg), ("max", max)] {
                let _ = write!(out, ",\"{name}\":");
                float(&mut out, value);
            }
            ValueType::Float
        }
        TrendValues::Unsigned { min, avg, max } => {
            let _ = write!(out, ",\"min\":{min},\"avg\":{avg},\"max\":{max}");
            ValueType::Unsigned
        }
    };
    let _ = writeln!(out, ",\"type\":{}}}", kind.number());
    out
}

/// A problem of a trigger over these hosts, with a newline.
pub(crate) fn problem(event: &Event, hosts: &[&Host]) -> String {
    let Timestamp { clock, ns } = event.at;
    let mut out =
        format!("{{\"clock\":{clock},\"ns\":{ns},\"value\":1,\"eventid\":{},\"name\":", event.id);
    quoted(&mut out, &event.name);
    let _ = write!(out, ",\"severity\":{},\"hosts\":", event.severity);
    list(&mut out, hosts, |out, host| host_object(out, host));
    let mut names: Vec<&str> = Vec::new();
    for name in hosts.iter().flat_map(|host| &host.group_names) {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    groups(&mut out, names);
    tags(&mut out, "tags", &event.tags);
    out.push_str("}\n");
    out
}

/// The end of a problem, with a newline.
pub(crate) fn recovery(event: &Event, problem: u64) -> String {
    let Timestamp { clock, ns } = event.at;
    let id = event.id;
    format!(
        "{{\"clock\":{clock},\"ns\":{ns},\"value\":0,\"eventid\":{id},\"p_eventid\":{problem}}}\n"
    )
}

#[cfg(test)]
mod tests;
