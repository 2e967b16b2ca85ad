//! JMX checks through a Java gateway. What is due on an interface goes out in one request for each
//! endpoint.

use std::rc::Rc;
use std::time::Duration;

use config::snapshot::Item;
use config::snapshot::source::{Jmx, Source};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use wire::java_gateway::{self, AnswerError, Endpoint, ItemResult};
use wire::zbxd;

use super::Poller;
use super::agent::{self, AgentReply, EXTRA};
use super::direct::Job;
use super::login::{self, Place};
use super::probe::Check;
use super::together::Due;
use crate::status::Shared;

/// Items of one request: the gateway asks for one after the other within the timeout.
const TOGETHER_MAX: usize = 32;

const NO_ENDPOINT: &str = "The item has no JMX endpoint.";

/// Asks the gateway for the item's value.
pub(super) async fn check(check: &Check<'_>) -> AgentReply {
    let Some(jmx) = jmx(check.item) else {
        return AgentReply::ConfigError(NO_ENDPOINT.to_owned());
    };
    match ask(check.shared, jmx, &[&check.item.key], check.timeout).await {
        Ok(results) => results.into_iter().next().map_or(AgentReply::Nothing, reply),
        Err(reply) => reply,
    }
}

fn jmx(item: &Item) -> Option<&Jmx> {
    match item.extra.as_deref().map(|extra| &extra.source) {
        Some(Source::Jmx(jmx)) => Some(jmx),
        _ => None,
    }
}

fn reply(result: ItemResult) -> AgentReply {
    match result {
        Ok(value) => AgentReply::Value(value),
        Err(why) => AgentReply::NotSupported(why),
    }
}

/// The results in the order of the keys, or the reply of all items.
async fn ask(
    shared: &Shared,
    jmx: &Jmx,
    keys: &[&str],
    limit: Duration,
) -> Result<Vec<ItemResult>, AgentReply> {
    let gateway = &shared.config.java_gateway;
    if gateway.is_empty() {
        return Err(AgentReply::ConfigError(
            "JMX needs a Java gateway: start the server with --java-gateway HOST:PORT.".to_owned(),
        ));
    }
    let endpoint =
        Endpoint { address: &jmx.endpoint, username: &jmx.username, password: &jmx.password };
    let request = java_gateway::request(&endpoint, keys);
    // The gateway has a limit of its own, whose error says more.
    let text = match timeout(limit + EXTRA, exchange(shared, &request)).await {
        Ok(Ok(text)) => text,
        Ok(Err(why)) => return Err(AgentReply::NetworkError(why)),
        Err(_) => {
            let why = format!("the Java gateway at {gateway} did not answer in time");
            return Err(AgentReply::NetworkError(why));
        }
    };
    java_gateway::parse(&text, keys.len()).map_err(
        |why @ (AnswerError::Failed(_) | AnswerError::Invalid(_))| {
            AgentReply::NetworkError(why.to_string())
        },
    )
}

async fn exchange(shared: &Shared, request: &str) -> Result<String, String> {
    let config = &shared.config;
    let gateway = config.java_gateway.as_str();
    let (host, port) = gateway
        .rsplit_once(':')
        .and_then(|(host, port)| Some((host, port.parse().ok()?)))
        .ok_or_else(|| format!("--java-gateway {gateway} is not HOST:PORT"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let place = Place { host, port, encoding: String::new(), more: Vec::new() };
    let failed = |why: String| format!("the Java gateway cannot be asked: {why}");
    let mut stream = login::connect(shared, &place).await.map_err(failed)?;
    let bytes = zbxd::encode(request.as_bytes(), zbxd::PROTOCOL);
    stream.write_all(&bytes).await.map_err(|error| failed(agent::os_error(&error)))?;
    let max = usize::try_from(config.limits.agent_answer_bytes_max).unwrap_or(usize::MAX);
    let frame = agent::read_frame(&mut stream, max).await.map_err(failed)?;
    let frame = frame.ok_or_else(|| failed("it closed the connection".to_owned()))?;
    Ok(frame.text().into_owned())
}

impl Poller {
    /// Starts what is due on a JMX interface.
    pub(super) fn start_jmx(self: &Rc<Self>, lane: usize) {
        let due = self.take_due(lane, TOGETHER_MAX);
        drop(tokio::task::spawn_local(Rc::clone(self).run_jmx(due)));
    }

    async fn run_jmx(self: Rc<Self>, due: Due) {
        let mut left = due.jobs;
        while let Some(first) = left.first().map(|job| job.item.clone()) {
            let endpoint = jmx(&first);
            let (these, others): (Vec<Job>, _) =
                left.into_iter().partition(|job| jmx(&job.item) == endpoint);
            left = others;
            self.ask_jmx(endpoint, &these, due.timeout).await;
        }
        self.start_due(1);
        self.settle();
    }

    async fn ask_jmx(&self, endpoint: Option<&Jmx>, jobs: &[Job], limit: Duration) {
        let keys: Vec<&str> = jobs.iter().map(|job| &*job.item.key).collect();
        let answered = match endpoint {
            Some(endpoint) => ask(&self.shared, endpoint, &keys, limit).await,
            None => Err(AgentReply::ConfigError(NO_ENDPOINT.to_owned())),
        };
        match answered {
            Ok(results) => {
                jobs.iter().zip(results).for_each(|(job, result)| self.done(job, reply(result)));
            }
            Err(reply) => jobs.iter().for_each(|job| self.done(job, reply.clone())),
        }
    }
}
