//! JMX checks through a Java gateway. What is due on an interface goes out in one request for each
//! endpoint.

use std::time::Duration;

use config::snapshot::Item;
use config::snapshot::source::{Jmx, Source};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::java_gateway::{self, AnswerError, Endpoint, ItemResult};
use wire::zbxd;

use super::check::Check;
use super::check::Shared;
use super::dial::{self, EXTRA};
use super::login::{self, Place};
use super::reply::CheckReply;

const NO_GATEWAY: &str =
    "JMX needs a Java gateway: start the server with --java-gateway HOST:PORT.";
pub(crate) const NO_ENDPOINT: &str = "The item has no JMX endpoint.";

/// Asks the gateway for the item's value.
pub(crate) async fn check(check: &Check<'_>) -> CheckReply {
    let Some(jmx) = jmx(check.item) else {
        return CheckReply::ConfigError(NO_ENDPOINT.to_owned());
    };
    match ask(check.shared, jmx, &[&check.item.key], check.timeout).await {
        Ok(results) => results.into_iter().next().map_or(CheckReply::Nothing, reply),
        Err(reply) => reply,
    }
}

pub(crate) fn jmx(item: &Item) -> Option<&Jmx> {
    match item.extra.as_deref().map(|extra| &extra.source) {
        Some(Source::Jmx(jmx)) => Some(jmx),
        _ => None,
    }
}

pub(crate) fn reply(result: ItemResult) -> CheckReply {
    match result {
        Ok(value) => CheckReply::Value(value),
        Err(why) => CheckReply::NotSupported(why),
    }
}

/// The results in the order of the keys, or the reply of all items.
pub(crate) async fn ask(
    shared: &Shared,
    jmx: &Jmx,
    keys: &[&str],
    limit: Duration,
) -> Result<Vec<ItemResult>, CheckReply> {
    let place = match gateway(shared) {
        Some(Ok(place)) => place,
        Some(Err(why)) => return Err(CheckReply::NetworkError(why)),
        None => return Err(CheckReply::ConfigError(NO_GATEWAY.to_owned())),
    };
    let endpoint =
        Endpoint { address: &jmx.endpoint, username: &jmx.username, password: &jmx.password };
    let request = java_gateway::request(&endpoint, keys);
    // The gateway has a limit of its own, whose error says more.
    let text = match timeout(limit + EXTRA, exchange(shared, &place, &request)).await {
        Ok(Ok(text)) => text,
        Ok(Err(why)) => return Err(CheckReply::NetworkError(why)),
        Err(_) => {
            let why = format!(
                "the Java gateway at {gateway} did not answer in time",
                gateway = shared.config.java_gateway
            );
            return Err(CheckReply::NetworkError(why));
        }
    };
    java_gateway::parse(&text, keys.len()).map_err(
        |why @ (AnswerError::Failed(_) | AnswerError::Invalid(_))| {
            CheckReply::NetworkError(why.to_string())
        },
    )
}

/// Where the gateway is, or why that is not known; `None` = the server runs without one.
pub(super) fn gateway(shared: &Shared) -> Option<Result<Place, String>> {
    let gateway = Some(shared.config.java_gateway.as_str()).filter(|text| !text.is_empty())?;
    let place = gateway.rsplit_once(':').and_then(|(host, port)| {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let (port, encoding, more) = (port.parse().ok()?, String::new(), Vec::new());
        Some(Place { host, port, encoding, more })
    });
    Some(place.ok_or_else(|| format!("--java-gateway {gateway} is not HOST:PORT")))
}

async fn exchange(shared: &Shared, place: &Place, request: &str) -> Result<String, String> {
    let failed = |why: String| format!("the Java gateway cannot be asked: {why}");
    let mut stream = login::connect(shared, place).await.map_err(failed)?;
    let bytes = zbxd::encode(request.as_bytes(), zbxd::PROTOCOL);
    stream.write_all(&bytes).await.map_err(|error| failed(dial::os_error(&error)))?;
    let max = usize::try_from(shared.config.agent_answer_bytes_max).unwrap_or(usize::MAX);
    let frame = dial::read_frame(&mut stream, max).await.map_err(failed)?;
    let frame = frame.ok_or_else(|| failed("it closed the connection".to_owned()))?;
    Ok(frame.text().into_owned())
}
