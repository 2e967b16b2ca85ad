//! Internal items whose values other programs return: `zabbix[stats,<ip>,<port>,…]`, the statistics
//! of a server or proxy, and `zabbix[java,,…]`, those of the Java gateway. Error texts are the field's.

use std::time::Duration;

use config::snapshot::Item;
use eval::key::ItemKey;
use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::java_gateway;
use wire::zbxd;

use super::check::Check;
use super::dial;
use super::jmx;
use super::login::{self, Place};
use super::reply::CheckReply;
use crate::schedule::{Group, Waits};

/// Port of a server or proxy whose key names none.
const PORT: u16 = 10_051;
const LOOPBACK: &str = "127.0.0.1";
const NO_GATEWAY: &str = "JavaGateway configuration parameter not set or empty";

/// What is requested from another program.
#[derive(Debug, PartialEq, Eq)]
enum Remote {
    /// Statistics of the server or proxy at an address; the request.
    Statistics { host: String, port: u16, request: Json },
    /// A figure of the Java gateway about itself.
    JavaGateway,
}

/// What the item waits for when it is due.
pub(crate) fn waits(item: &Item) -> Waits {
    match remote(&item.key) {
        None => Waits::Nothing,
        Some(_) => Waits::Group(Group::Statistics),
    }
}

/// Requests the value from another program; `None` = this server computes the item.
pub(crate) async fn check(check: &Check<'_>) -> Option<CheckReply> {
    let value = match remote(&check.item.key)? {
        Ok(Remote::Statistics { host, port, request }) => {
            statistics(check, host, port, &request).await
        }
        Ok(Remote::JavaGateway) => gateway(check).await,
        Err(why) => Err(why),
    };
    Some(value.map_or_else(CheckReply::NotSupported, CheckReply::Value))
}

/// Reads the key; `None` = this server computes the item.
fn remote(key: &str) -> Option<Result<Remote, String>> {
    let key = ItemKey::parse(key).ok().filter(|key| key.name == "zabbix")?;
    let param = |at: usize| key.param(at).unwrap_or_default();
    match param(0).as_str() {
        "java" => Some(Ok(Remote::JavaGateway)),
        "stats" if !(param(1).is_empty() && param(2).is_empty()) => Some(statistics_of(&key)),
        _ => None,
    }
}

fn statistics_of(key: &ItemKey) -> Result<Remote, String> {
    if key.param_count() > 6 {
        return Err("Invalid number of parameters.".to_owned());
    }
    let given = |at: usize| key.param(at).filter(|text| !text.is_empty());
    let port = match given(2) {
        None => PORT,
        Some(port) => port.parse().map_err(|_| "Invalid third parameter.".to_owned())?,
    };
    let request = match key.param(3).as_deref() {
        None => json!({ "request": "zabbix.stats" }),
        Some("queue") => {
            let mut params = json!({});
            for (name, at) in [("from", 4), ("to", 5)] {
                if let Some(bound) = given(at) {
                    params[name] = bound.into();
                }
            }
            json!({ "request": "zabbix.stats", "type": "queue", "params": params })
        }
        Some(_) => return Err("Invalid forth parameter.".to_owned()),
    };
    let host = given(1).unwrap_or_else(|| LOOPBACK.to_owned());
    Ok(Remote::Statistics { host, port, request })
}

/// The whole response of a server or proxy.
async fn statistics(
    check: &Check<'_>,
    host: String,
    port: u16,
    request: &Json,
) -> Result<String, String> {
    let failed = |why: &str| format!("Cannot obtain internal statistics: {why}");
    if check.shared.context.resolver.find(&host).await.is_err() {
        return Err(failed(&format!("getaddrinfo() failed for '{host}': [1] Unknown host")));
    }
    let place = Place { host, port, encoding: String::new(), more: Vec::new() };
    let text = exchange(check, &place, &request.to_string()).await.map_err(|why| failed(&why))?;
    match answered(&text) {
        Ok(()) => Ok(text),
        Err(Refusal::Reason(why)) => Err(failed(&why)),
        Err(Refusal::Malformed(why)) => Err(why.to_owned()),
    }
}

/// Why a response brings no statistics.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// The reason that the response gives.
    Reason(String),
    /// It is no response; the text of the item's error.
    Malformed(&'static str),
}

/// Whether the response has statistics.
fn answered(text: &str) -> Result<(), Refusal> {
    if text.is_empty() {
        return Err(Refusal::Reason("received empty response.".to_owned()));
    }
    let response = serde_json::from_str::<Json>(text)
        .map_err(|_| Refusal::Malformed("Value should be a JSON object."))?;
    match response.get("response") {
        None => Err(Refusal::Malformed("Cannot find tag: response.")),
        Some(Json::String(response)) if response == "success" => Ok(()),
        Some(_) => match response.get("info").and_then(Json::as_str) {
            Some(info) => Err(Refusal::Reason(info.to_owned())),
            None => Err(Refusal::Malformed("Cannot find tag: info.")),
        },
    }
}

async fn gateway(check: &Check<'_>) -> Result<String, String> {
    let place = jmx::gateway(check.shared).ok_or_else(|| NO_GATEWAY.to_owned())??;
    let request = json!({ "request": "java gateway internal", "keys": [&*check.item.key] });
    let text = exchange(check, &place, &request.to_string()).await?;
    let results = java_gateway::parse(&text, 1).map_err(|error| error.to_string())?;
    results.into_iter().next().unwrap_or_else(|| Err("Cannot get item value".to_owned()))
}

/// Sends a request and reads the response, within the time of the check.
async fn exchange(check: &Check<'_>, place: &Place, request: &str) -> Result<String, String> {
    let exchange = async {
        let mut stream = login::connect(check.shared, place).await?;
        let bytes = zbxd::encode(request.as_bytes(), zbxd::PROTOCOL);
        stream.write_all(&bytes).await.map_err(|error| dial::os_error(&error))?;
        let max = check.shared.config.agent_answer_bytes_max;
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        let frame = dial::read_frame(&mut stream, max).await?;
        Ok(frame.map_or_else(String::new, |frame| frame.text().into_owned()))
    };
    let limit: Duration = check.timeout;
    timeout(limit, exchange).await.unwrap_or_else(|_| Err("read timeout".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_whose_values_other_programs_return() {
        let all = json!({ "request": "zabbix.stats" });
        let queue =
            |params: Json| json!({ "request": "zabbix.stats", "type": "queue", "params": params });
        for (key, host, port, request) in [
            ("zabbix[stats,192.0.2.1]", "192.0.2.1", 10_051, all.clone()),
            ("zabbix[stats,192.0.2.1,]", "192.0.2.1", 10_051, all.clone()),
            ("zabbix[stats,,10052]", "127.0.0.1", 10_052, all),
            ("zabbix[stats,a,1,queue]", "a", 1, queue(json!({}))),
            ("zabbix[stats,a,1,queue,,1h]", "a", 1, queue(json!({ "to": "1h" }))),
            ("zabbix[stats,a,1,queue,x,]", "a", 1, queue(json!({ "from": "x" }))),
        ] {
            let wanted = Remote::Statistics { host: host.to_owned(), port, request };
            assert_eq!(remote(key), Some(Ok(wanted)), "{key}");
        }
        for (key, error) in [
            ("zabbix[stats,a,65536]", "Invalid third parameter."),
            ("zabbix[stats,a,-1]", "Invalid third parameter."),
            ("zabbix[stats,a,1,]", "Invalid forth parameter."),
            ("zabbix[stats,a,1,Queue]", "Invalid forth parameter."),
            ("zabbix[stats,a,1,queue,1m,2m,]", "Invalid number of parameters."),
        ] {
            assert_eq!(remote(key), Some(Err(error.to_owned())), "{key}");
        }
        assert_eq!(remote("zabbix[java,,ping]"), Some(Ok(Remote::JavaGateway)));
        for key in ["zabbix[stats]", "zabbix[stats,,]", "zabbix[stats,,,queue]", "stats[a]", "z["] {
            assert_eq!(remote(key), None, "{key}");
        }
    }

    #[test]
    fn responses_without_statistics() {
        let reason = |why: &str| Err(Refusal::Reason(why.to_owned()));
        for (text, result) in [
            (r#"{"response":"success","data":{}}"#, Ok(())),
            ("", reason("received empty response.")),
            (r#"{"response":"failed","info":"Permission denied."}"#, reason("Permission denied.")),
            (r#"{"response":"failed"}"#, Err(Refusal::Malformed("Cannot find tag: info."))),
            (r#"{"response":5}"#, Err(Refusal::Malformed("Cannot find tag: info."))),
            ("[]", Err(Refusal::Malformed("Cannot find tag: response."))),
            ("hello", Err(Refusal::Malformed("Value should be a JSON object."))),
        ] {
            assert_eq!(answered(text), result, "{text}");
        }
    }
}
