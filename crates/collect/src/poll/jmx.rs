//! JMX checks through a Java gateway.

use config::snapshot::source::Source;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::java_gateway::{self, AnswerError, Endpoint};
use wire::zbxd;

use super::agent::{self, AgentReply, EXTRA};
use super::login::{self, Place};
use super::probe::Check;

/// Asks the gateway for the item's value.
pub(super) async fn check(check: &Check<'_>) -> AgentReply {
    let config = &check.shared.config;
    if config.java_gateway.is_empty() {
        return AgentReply::ConfigError(
            "JMX needs a Java gateway: start the server with --java-gateway HOST:PORT.".to_owned(),
        );
    }
    let Some(Source::Jmx(jmx)) = check.item.extra.as_deref().map(|extra| &extra.source) else {
        return AgentReply::ConfigError("The item has no JMX endpoint.".to_owned());
    };
    let endpoint =
        Endpoint { address: &jmx.endpoint, username: &jmx.username, password: &jmx.password };
    let request = java_gateway::request(&endpoint, &[&check.item.key]);
    // The gateway has a limit of its own, whose error says more.
    let answer = timeout(check.timeout + EXTRA, ask(check, &request)).await;
    let text = match answer {
        Ok(Ok(text)) => text,
        Ok(Err(why)) => return AgentReply::NetworkError(why),
        Err(_) => {
            let gateway = &config.java_gateway;
            return AgentReply::NetworkError(format!(
                "the Java gateway at {gateway} did not answer in time"
            ));
        }
    };
    match java_gateway::parse(&text, 1).map(|mut results| results.pop()) {
        Ok(Some(Ok(value))) => AgentReply::Value(value),
        Ok(Some(Err(why))) => AgentReply::NotSupported(why),
        Ok(None) => AgentReply::Nothing,
        Err(why @ (AnswerError::Failed(_) | AnswerError::Invalid(_))) => {
            AgentReply::NetworkError(why.to_string())
        }
    }
}

async fn ask(check: &Check<'_>, request: &str) -> Result<String, String> {
    let config = &check.shared.config;
    let gateway = config.java_gateway.as_str();
    let (host, port) = gateway
        .rsplit_once(':')
        .and_then(|(host, port)| Some((host, port.parse().ok()?)))
        .ok_or_else(|| format!("--java-gateway {gateway} is not HOST:PORT"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let place = Place { host, port, encoding: String::new(), more: Vec::new() };
    let failed = |why: String| format!("the Java gateway cannot be asked: {why}");
    let mut stream = login::connect(check.shared, &place).await.map_err(failed)?;
    let bytes = zbxd::encode(request.as_bytes(), zbxd::PROTOCOL);
    stream.write_all(&bytes).await.map_err(|error| failed(agent::os_error(&error)))?;
    let max = usize::try_from(config.limits.agent_answer_bytes_max).unwrap_or(usize::MAX);
    let frame = agent::read_frame(&mut stream, max).await.map_err(failed)?;
    let frame = frame.ok_or_else(|| failed("it closed the connection".to_owned()))?;
    Ok(frame.text().into_owned())
}
