//! The method `item.test`: fetches a value if none is given, runs the steps, shows each.

use std::sync::Arc;

use config::Snapshot;
use config::snapshot::source::{Ipmi, Snmp, Source};
use config::snapshot::{Host, Interface, Item, ItemExtra, ItemType};
use eval::itemtest::{self, SHOWN_BYTES_MAX, StepReport, StepsTest, Tested};
use eval::macros::Place;
use eval::preproc::{STEPS_MAX, Step};
use eval::script::Scripts;
use model::{HostId, InterfaceId, Payload, Timestamp, ValueType};
use objects::{InterfaceNeed, InterfaceType, State};
use serde_json::{Map, json};

use crate::{Api, Json};

/// An item that is configured nowhere, to be fetched once.
#[derive(Debug)]
pub struct Probe {
    /// The item; its type says how it is fetched.
    pub item: Item,
    /// The host that it is checked at.
    pub host: Arc<Host>,
    /// The interface that it is checked at; `None` = it needs none.
    pub interface: Option<Interface>,
}

/// The result; the error names the member of `data` that is wrong.
pub(crate) fn test(api: &Api, data: &Json) -> Result<Json, String> {
    let item = object(data, "item").ok_or("The member \"item\" is missing.")?;
    let empty = Json::Null;
    let options = data.get("options").unwrap_or(&empty);
    let kind = number(&item["value_type"]).ok_or("The member \"value_type\" is missing.")?;
    let steps = steps(&item["steps"])?;
    let now = Timestamp::from_unix(api.deps.clock.unix());
    let before = before(options, now)?;
    let failed = options.get("state").and_then(number).is_some_and(|n| State::NotSupported.is(n));
    // Of a failed item its error takes the place of the value.
    let error = options.get("runtime_error").and_then(text);
    let error = error.filter(|_| failed);
    let given = error.or_else(|| text(&item["value"]));
    let mut answer = Map::new();
    let value = match given {
        Some(value) if failed => Payload::NotSupported(value.into()),
        Some(value) => Payload::Text(value.into()),
        None if text(&item["key"]).is_none() => {
            return Err("Give a value to test, or the key of an item to fetch it.".to_owned());
        }
        None => {
            let fetched = fetch(api, item, data.get("host").unwrap_or(&empty));
            answer.insert("item".to_owned(), shown_item(&fetched));
            match fetched {
                Ok(value) => Payload::Text(value.into()),
                Err(error) => Payload::NotSupported(error.into()),
            }
        }
    };
    let single = options.get("single").is_some_and(flag);
    let known = u8::try_from(kind).ok().and_then(ValueType::from_api);
    let value_type = known.unwrap_or(ValueType::Text);
    let test = StepsTest { steps: &steps, value, at: now, before, value_type, single };
    let mut tested = itemtest::run(&test, &mut Scripts::new(Arc::clone(&api.deps.clock)));
    if known.is_none() && !single && tested.result.is_ok() {
        tested.result = Err(format!("Unknown value type \"{kind}\"."));
    }
    answer.insert("preprocessing".to_owned(), shown(tested));
    Ok(Json::Object(answer))
}

fn object<'a>(json: &'a Json, name: &str) -> Option<&'a Json> {
    json.get(name).filter(|member| member.is_object())
}

/// A number, or a text that is one: front ends send both.
fn number(json: &Json) -> Option<i64> {
    json.as_i64().or_else(|| json.as_str()?.parse().ok())
}

fn text(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn flag(json: &Json) -> bool {
    match json {
        Json::Bool(flag) => *flag,
        other => text(other).is_some_and(|text| text == "1" || text == "true"),
    }
}

fn steps(json: &Json) -> Result<Vec<Step>, String> {
    let list = match json {
        Json::Null => return Ok(Vec::new()),
        Json::Array(list) if list.len() <= STEPS_MAX => list,
        _ => return Err(format!("The member \"steps\" must be a list of {STEPS_MAX} at most.")),
    };
    let missing = |name: &str| format!("The member \"{name}\" of a preprocessing step is missing.");
    let small = |step: &Json, name: &str| {
        let value = number(&step[name]).ok_or_else(|| missing(name))?;
        u8::try_from(value).map_err(|_| format!("The member \"{name}\" of a step is out of range."))
    };
    list.iter()
        .map(|step| {
            let params = text(&step["params"]).ok_or_else(|| missing("params"))?;
            let handler = small(step, "error_handler")?;
            let set = text(&step["error_handler_params"])
                .ok_or_else(|| missing("error_handler_params"))?;
            Step::from_api(small(step, "type")?, &params, handler, &set).map_err(|e| e.to_string())
        })
        .collect()
}

type Before = Option<(model::CompactString, Timestamp)>;

fn before(options: &Json, now: Timestamp) -> Result<Before, String> {
    let Some(history) = object(options, "history") else { return Ok(None) };
    let value = text(&history["value"]).ok_or("The member \"value\" of \"history\" is missing.")?;
    let when =
        text(&history["timestamp"]).ok_or("The member \"timestamp\" of \"history\" is missing.")?;
    let ago = itemtest::seconds_ago(&when).ok_or_else(|| {
        format!("The time \"{when}\" of the value before is not like \"now\" or \"now-5m\".")
    })?;
    let at = Timestamp { clock: now.clock.saturating_sub(ago), ns: now.ns };
    Ok(Some((value.into(), at)))
}

/// A text, cut where it gets too long to be shown.
fn put_text(out: &mut Map<String, Json>, name: &str, text: String) {
    if text.len() <= SHOWN_BYTES_MAX {
        out.insert(name.to_owned(), Json::String(text));
        return;
    }
    let end = (0..=SHOWN_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    out.insert(name.to_owned(), text[..end].into());
    out.insert("truncated".to_owned(), true.into());
    out.insert("original_size".to_owned(), text.len().into());
}

fn shown_item(fetched: &Result<String, String>) -> Json {
    let mut out = Map::new();
    let (Ok(text) | Err(text)) = fetched;
    let windows = text.contains("\r\n");
    match fetched {
        Ok(value) => put_text(&mut out, "result", value.clone()),
        Err(error) => put_text(&mut out, "error", error.clone()),
    }
    out.insert("eol".to_owned(), if windows { "CRLF" } else { "LF" }.into());
    Json::Object(out)
}

fn put_value(out: &mut Map<String, Json>, value: Option<String>) {
    match value {
        Some(value) => put_text(out, "result", value),
        None => drop(out.insert("result".to_owned(), Json::Null)),
    }
}

fn shown(tested: Tested) -> Json {
    let mut out = Map::new();
    if tested.previous {
        out.insert("previous".to_owned(), true.into());
    }
    out.insert("steps".to_owned(), tested.steps.into_iter().map(shown_step).collect());
    match tested.result {
        Ok(value) => put_value(&mut out, value),
        Err(error) => put_text(&mut out, "error", error),
    }
    Json::Object(out)
}

fn shown_step(step: StepReport) -> Json {
    let mut out = Map::new();
    if let Some(handler) = step.handler {
        out.insert("action".to_owned(), handler.into());
    }
    if let Some(error) = step.error {
        let mut value = Map::new();
        put_text(&mut value, "value", error);
        out.insert("error".to_owned(), Json::Object(value));
    }
    match step.result {
        Ok(value) => put_value(&mut out, value),
        Err(error) if step.handler.is_some() => put_text(&mut out, "failed", error),
        Err(_) => {}
    }
    Json::Object(out)
}

/// The value of an item as its check would bring it now.
fn fetch(api: &Api, item: &Json, host: &Json) -> Result<String, String> {
    let snapshot = api.deps.config.snapshot();
    let id = HostId(host.get("hostid").and_then(number).map_or(0, i64::cast_unsigned));
    let of_kind = number(&item["type"]).unwrap_or(0);
    let Some(kind) = u8::try_from(of_kind).ok().and_then(ItemType::from_api) else {
        return Err(format!("There is no item type {of_kind}."));
    };
    let is_own = matches!(kind, ItemType::Internal | ItemType::Calculated);
    if !is_own && (!kind.is_polled() || kind == ItemType::Web) {
        return Err(format!(
            "Items of type {of_kind} have no check that the server could run for a test. \
             Give a value instead."
        ));
    }
    let by_proxy = match host.get("proxyid").and_then(number) {
        Some(proxy) => proxy != 0,
        None => snapshot.hosts.get(&id).is_some_and(|known| !known.is_of_server()),
    };
    if by_proxy && kind != ItemType::Calculated {
        return Err("The test runs on a proxy, and proxies cannot connect yet.".to_owned());
    }
    api.deps.live.fetch(probe(&snapshot, made_up(item, kind, id), host)?)
}

/// The item with the host and the interface that the request gives, for the rest as configured.
fn probe(snapshot: &Snapshot, item: Item, json: &Json) -> Result<Probe, String> {
    let known = snapshot.hosts.get(&item.host);
    let interface = match item.kind.interface() {
        InterfaceNeed::Of(kind) => Some(interface(known.map(Arc::as_ref), json, kind)?),
        InterfaceNeed::Any => interface(known.map(Arc::as_ref), json, InterfaceType::Agent).ok(),
        InterfaceNeed::None => None,
    };
    let host = Arc::new(host(known, json, item.host));
    Ok(Probe { item, host, interface })
}

/// The host with the protection that the request gives, for the rest as it is configured.
fn host(known: Option<&Arc<Host>>, json: &Json, id: HostId) -> Host {
    let mut host = known.map_or_else(|| Host::unconfigured(id), |host| (**host).clone());
    if let Some(connect) = json.get("tls_connect").and_then(number) {
        let of = |name: &str| text(&json[name]).unwrap_or_default().into();
        host.tls.connect = u8::try_from(connect).unwrap_or(host.tls.connect);
        host.tls.issuer = of("tls_issuer");
        host.tls.subject = of("tls_subject");
        // Keys are never shown, so that a form sends them only when they were typed in.
        let (identity, key): (Arc<str>, Arc<str>) = (of("tls_psk_identity"), of("tls_psk"));
        if !identity.is_empty() && !key.is_empty() {
            (host.tls.psk_identity, host.tls.psk) = (identity, key);
        }
    }
    host
}

fn interface(known: Option<&Host>, host: &Json, kind: InterfaceType) -> Result<Interface, String> {
    let kind = kind as u8;
    let json = &host["interface"];
    let id = json.get("interfaceid").and_then(number).map_or(0, i64::cast_unsigned);
    let configured = known.and_then(|host| {
        let main = || host.interfaces.iter().find(|one| one.main && one.kind == kind);
        host.interface(InterfaceId(id)).or_else(main)
    });
    let Some(address) = json.get("address").and_then(text) else {
        let none = || {
            let kind = Interface::kind_name(kind);
            format!("The host has no {kind} interface. Give an address, or a value to test.")
        };
        return configured.cloned().ok_or_else(none);
    };
    let port = json.get("port").and_then(number).and_then(|port| u16::try_from(port).ok());
    let port = port.ok_or("The port of the interface must be a number up to 65535.")?;
    let use_ip = json.get("useip").is_none_or(flag);
    let (ip, dns) = if use_ip { (address, String::new()) } else { (String::new(), address) };
    Ok(Interface {
        id: InterfaceId(id),
        kind,
        main: true,
        use_ip,
        ip: ip.into(),
        dns: dns.into(),
        port,
        snmp: Snmp::new(&json["details"].to_string(), &as_it_is).map(Arc::new),
        ipmi: match host.get("ipmi_username") {
            Some(_) => {
                let column = |name: &str| text(&host[name]).unwrap_or_default();
                Some(Arc::new(Ipmi::new(&column, &as_it_is)))
            }
            // A form without the host's settings means those that are configured.
            None => configured.and_then(|one| one.ipmi.clone()),
        },
    })
}

/// The caller of a test has resolved the macros.
fn as_it_is(text: &str, _place: Place) -> String {
    text.to_owned()
}

/// Names and values in the forms that front ends use for tests: headers one a line, query fields
/// as a text with a list of `{"name": "value"}`, or both as the API has them.
fn as_pairs(json: &Json) -> Json {
    let pair = |name: &str, value: &Json| json!({ "name": name, "value": value });
    let list = match json {
        Json::String(lines) => match serde_json::from_str(lines) {
            Ok(list @ Json::Array(_)) => return as_pairs(&list),
            _ => {
                let lines = lines.lines().filter_map(|line| line.split_once(':'));
                return lines.map(|(name, value)| pair(name, &value.trim().into())).collect();
            }
        },
        Json::Array(list) => list.as_slice(),
        _ => &[],
    };
    let members = |one: &Json| match one.as_object() {
        Some(members) if members.contains_key("name") && members.contains_key("value") => {
            Some(one.clone())
        }
        members => members?.iter().next().map(|(name, value)| pair(name, value)),
    };
    list.iter().filter_map(members).collect()
}

/// An item that is nowhere configured.
fn made_up(item: &Json, kind: ItemType, host: HostId) -> Item {
    let member = |name: &str| match &item[name] {
        Json::Null => String::new(),
        pairs if matches!(name, "query_fields" | "headers") => as_pairs(pairs).to_string(),
        list @ (Json::Array(_) | Json::Object(_)) => list.to_string(),
        plain => text(plain).unwrap_or_default(),
    };
    let extra = ItemExtra {
        params: member("params"),
        timeout: member("timeout"),
        source: Source::new(kind, &member, &as_it_is),
        ..ItemExtra::default()
    };
    let key = text(&item["key"]).unwrap_or_default().into();
    Item::unconfigured(host, kind, key, extra)
}

/// The request `expressions.evaluate`: which expressions are true. The error says what is wrong with it.
pub fn expressions(data: &Json, now: Timestamp) -> Result<Json, String> {
    let list = data.get("expressions").and_then(Json::as_array);
    let list = list.ok_or("The member \"expressions\" is missing.")?;
    let tz = jiff::tz::TimeZone::system();
    let one = |expression: &Json| {
        let source = text(expression).unwrap_or_default();
        match itemtest::truth(&source, now, &tz) {
            Ok(value) => json!({ "expression": source, "value": u8::from(value) }),
            Err(error) => json!({ "expression": source, "error": error }),
        }
    };
    Ok(list.iter().map(one).collect())
}
