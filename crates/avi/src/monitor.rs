//! Health monitors.

use serde_json::{Value as Json, json};

use crate::plan::{Plan, members_of, number};
use crate::reader::Reader;
use crate::{Members, Result};

const KINDS: &[(&str, &str)] = &[
    ("HEALTH_MONITOR_TCP", "tcp"),
    ("HEALTH_MONITOR_HTTP", "http"),
    ("HEALTH_MONITOR_HTTPS", "http"),
    ("HEALTH_MONITOR_UDP", "udp"),
    ("HEALTH_MONITOR_DNS", "dns"),
    ("HEALTH_MONITOR_SMTP", "smtp"),
];

/// Classes of responses that pass, and the status that Vedette expects.
const CODES: &[(&str, u16)] = &[("HTTP_2XX", 200)];

const RECORDS: &[(&str, &str)] = &[
    ("DNS_RECORD_A", "A"),
    ("DNS_RECORD_AAAA", "AAAA"),
    ("DNS_RECORD_CNAME", "CNAME"),
    ("DNS_RECORD_MX", "MX"),
    ("DNS_RECORD_NS", "NS"),
    ("DNS_RECORD_PTR", "PTR"),
    ("DNS_RECORD_SOA", "SOA"),
    ("DNS_RECORD_SRV", "SRV"),
    ("DNS_RECORD_TXT", "TXT"),
];

/// Seconds between checks, and seconds for one, of monitors that do not say.
const INTERVAL_S: u64 = 10;
const TIMEOUT_S: u64 = 4;

pub(crate) fn translate(reader: &Reader<'_>) -> Result<Plan> {
    let name = reader.required("name")?;
    reader.required("type")?;
    let kind = reader.word("type", KINDS)?.unwrap_or("tcp");
    let seconds =
        |name: &str, default: u64| Ok(format!("{}s", reader.number(name)?.unwrap_or(default)));
    let mut out = members_of(json!({
        "name": name,
        "type": kind,
        "interval": seconds("send_interval", INTERVAL_S)?,
        "timeout": seconds("receive_timeout", TIMEOUT_S)?,
        "up": reader.number("successful_checks")?.unwrap_or(2),
        "down": reader.number("failed_checks")?.unwrap_or(2),
        "udp": {},
        "dns": {},
    }));
    out.insert("description".to_owned(), reader.text("description")?.unwrap_or_default().into());
    match kind {
        "http" => {
            let secure = reader.text("type")? == Some("HEALTH_MONITOR_HTTPS");
            let member = if secure { "https_monitor" } else { "http_monitor" };
            http(reader.object(member)?, &mut out)?;
        }
        "udp" => {
            let udp = udp(reader)?;
            out.insert("udp".to_owned(), udp);
        }
        "dns" => {
            let dns = dns(reader)?;
            out.insert("dns".to_owned(), dns);
        }
        _ => {}
    }
    Ok(Plan::Objects(vec![out]))
}

fn http(http: Option<Reader<'_>>, out: &mut Members) -> Result<()> {
    let (mut path, mut status, mut body) = ("/", 200, "");
    if let Some(http) = http {
        let request = http.text("http_request")?.unwrap_or("GET / HTTP/1.0");
        let line = request.lines().next().unwrap_or_default();
        let mut words = line.split_whitespace();
        if words.next() != Some("GET") || request.trim_end().lines().count() > 1 {
            let text = "Vedette's monitors send GET requests without headers, such as \
                        \"GET /health HTTP/1.1\"";
            return Err(http.refuse("http_request", text));
        }
        path = words.next().unwrap_or("/");
        let codes = http.texts("http_response_code")?;
        let found = CODES.iter().find(|(code, _)| codes.contains(code));
        match found {
            Some((_, expected)) => status = *expected,
            None if codes.is_empty() => {}
            None => {
                let text = "Vedette's monitors expect status 200; add \"HTTP_2XX\"";
                return Err(http.refuse("http_response_code", text));
            }
        }
        body = http.text("http_response")?.unwrap_or_default();
    }
    out.insert("path".to_owned(), path.into());
    out.insert("status".to_owned(), status.into());
    out.insert("body".to_owned(), body.into());
    Ok(())
}

/// A backslash begins an escape in Vedette's texts.
fn octets(text: &str) -> String {
    text.replace('\\', "\\\\")
}

fn udp(reader: &Reader<'_>) -> Result<Json> {
    let udp = reader.object("udp_monitor")?;
    let udp = udp.ok_or_else(|| reader.refuse("udp_monitor", "this member is required"))?;
    let mut out = json!({ "send": octets(udp.required("udp_request")?) });
    if let Some(expected) = udp.text("udp_response")? {
        out["expect"] = octets(expected).into();
    }
    Ok(out)
}

fn dns(reader: &Reader<'_>) -> Result<Json> {
    let dns = reader.object("dns_monitor")?;
    let dns = dns.ok_or_else(|| reader.refuse("dns_monitor", "this member is required"))?;
    let all = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];
    let codes: &[(&str, &[&str])] = &[("RCODE_NO_ERROR", &all[..1]), ("RCODE_ANYTHING", &all)];
    Ok(json!({
        "name": dns.required("query_name")?,
        "type": dns.word("record_type", RECORDS)?.unwrap_or("A"),
        "rcodes": dns.word("rcode", codes)?.unwrap_or(&all[..1]),
    }))
}

pub(crate) fn show(object: &Json) -> Members {
    let kind = object["type"].as_str().unwrap_or_default();
    let word = KINDS.iter().find(|(_, own)| *own == kind).map(|(word, _)| *word);
    let mut shown = members_of(json!({
        "name": object["name"],
        "description": object["description"],
        "type": word,
        "send_interval": seconds(&object["interval"]),
        "receive_timeout": seconds(&object["timeout"]),
        "successful_checks": number(&object["up"]),
        "failed_checks": number(&object["down"]),
    }));
    match kind {
        "http" => {
            let path = object["path"].as_str().unwrap_or("/");
            let mut http = json!({
                "http_request": format!("GET {path} HTTP/1.1"),
                "http_response_code": ["HTTP_2XX"],
            });
            if object["body"] != "" {
                http["http_response"] = object["body"].clone();
            }
            shown.insert("http_monitor".to_owned(), http);
        }
        "udp" => {
            let udp = &object["udp"];
            let udp =
                members_of(json!({ "udp_request": udp["send"], "udp_response": udp["expect"] }));
            shown.insert("udp_monitor".to_owned(), udp.into());
        }
        "dns" => {
            let record = object["dns"]["type"].as_str().unwrap_or("A");
            let record = RECORDS.iter().find(|(_, own)| *own == record).map(|(word, _)| *word);
            let dns = json!({ "query_name": object["dns"]["name"], "record_type": record });
            shown.insert("dns_monitor".to_owned(), dns);
        }
        _ => {}
    }
    shown
}

/// Whole seconds of a time such as `500ms`, rounded up.
fn seconds(value: &Json) -> u64 {
    let text = value.as_str().unwrap_or_default();
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().unwrap_or(0);
    match unit {
        "d" => number * 86_400,
        "h" => number * 3_600,
        "m" => number * 60,
        "ms" => number.div_ceil(1_000),
        _ => number,
    }
}
