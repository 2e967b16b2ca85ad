//! Web scenarios: requests one after the other with variables and cookies of their own, whose
//! times, codes and errors are values of the scenario's items. A scenario runs as the check of its
//! item `web.test.fail[…]`.

mod vars;

use std::sync::Arc;
use std::time::Duration;

use config::snapshot::source::Source;
use config::snapshot::web::{Scenario, WebStep, keys};
use config::snapshot::{Host, Item};
use model::{Payload, Value, shard_of};
use wire::http::cookies::Jar;
use wire::http::{content, request, with_query};

use super::check::Check;
use super::http::{self, Auth, Call, Client, Fetched, TlsWish, accepts};
use super::reply::CheckReply;
use crate::schedule::{Group, Waits};
use vars::Variables;

/// What an item of a web scenario waits for. Only the one that the scenario hangs on is checked: the
/// others are fed by it.
pub(crate) fn waits(item: &Item) -> Waits {
    match item.extra.as_ref().map(|extra| &extra.source) {
        Some(Source::Web(_)) => Waits::Group(Group::Web),
        _ => Waits::Other,
    }
}

/// Runs a scenario once.
pub(crate) async fn check(check: &Check<'_>) -> CheckReply {
    let source = check.item.extra.as_ref().map(|extra| &extra.source);
    let Some(Source::Web(scenario)) = source else { return CheckReply::Nothing };
    let client = http::client(check.shared);
    let mut run = Run {
        scenario,
        client: &client,
        variables: Variables::default(),
        jar: Jar::default(),
        results: Vec::new(),
        speeds: Vec::new(),
    };
    let failed = run.all().await;
    let mut results = run.results;
    if !run.speeds.is_empty() {
        let mean = run.speeds.iter().sum::<f64>() / run.speeds.len() as f64;
        results.push((keys::speed(&scenario.name, ""), Payload::Float(mean)));
    }
    let number = match failed {
        Ok(()) => 0,
        Err((number, why)) => {
            results.push((keys::error(&scenario.name), Payload::Text(why.into())));
            number
        }
    };
    send(check, results).await;
    CheckReply::Value(number.to_string())
}

/// Values of the other items leave at once, for the scenario's host.
async fn send(check: &Check<'_>, results: Vec<(String, Payload)>) {
    let at = check.shared.context.now();
    let values: Vec<Value> = results
        .into_iter()
        .filter_map(|(key, payload)| {
            let item = fed(check.host, &key)?;
            Some(Value { item: item.id, at, payload })
        })
        .collect();
    if !values.is_empty() {
        let sink = &check.shared.context.sink;
        let shard = shard_of(check.host.id, sink.shards());
        let _gone = sink.send_unacknowledged(shard, values).await;
    }
}

fn fed<'a>(host: &'a Host, key: &str) -> Option<&'a Arc<Item>> {
    host.item(key).filter(|item| item.kind == config::snapshot::ItemType::Web && item.enabled)
}

struct Run<'a> {
    scenario: &'a Scenario,
    client: &'a Client,
    variables: Variables,
    jar: Jar,
    results: Vec<(String, Payload)>,
    speeds: Vec<f64>,
}

/// Number of the step that failed, and why.
type Failed = (usize, String);

impl Run<'_> {
    async fn all(&mut self) -> Result<(), Failed> {
        let scenario = self.scenario;
        let set = self.variables.set(&scenario.variables, None);
        set.map_err(|why| (1, format!("error in scenario variables {why}")))?;
        for (number, step) in scenario.steps.iter().enumerate() {
            let done = self.step(step).await;
            done.map_err(|why| (number + 1, why))?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &WebStep) -> Result<(), String> {
        let fetched = self.fetch(step).await?;
        self.measured(step, &fetched);
        let status = fetched.answer.status;
        let ranges = self.variables.filled(&step.status_codes);
        if !accepts(&ranges, status) {
            return Err(format!(
                "response code \"{status}\" did not match any of the required status codes \
                 \"{ranges}\""
            ));
        }
        let text = searched(step, &fetched);
        let wanted = self.variables.filled(&step.required);
        if !wanted.is_empty() && !vars::is_found(&wanted, &text) {
            let place = self.variables.filled(&step.url);
            return Err(format!("required pattern \"{wanted}\" was not found on {place}"));
        }
        let scenario = self.scenario;
        let set = self.variables.set(&scenario.variables, Some(&text));
        set.map_err(|why| format!("error in scenario variables {why}"))?;
        let set = self.variables.set(&step.variables, Some(&text));
        set.map_err(|why| format!("error in step variables {why}"))
    }

    async fn fetch(&mut self, step: &WebStep) -> Result<Fetched, String> {
        let scenario = self.scenario;
        let filled = |text: &str| self.variables.filled(text);
        let pairs = |list: &[(String, String)]| -> Vec<(String, String)> {
            list.iter().map(|(name, value)| (filled(name), filled(value))).collect()
        };
        let own = if step.headers.is_empty() { &scenario.headers } else { &step.headers };
        let headers: Vec<_> =
            pairs(own).iter().filter_map(|(name, value)| request::header(name, value)).collect();
        let (fields, form) = (pairs(&step.query_fields), pairs(&step.form));
        let posts = match form.is_empty() {
            true => filled(&step.posts),
            false => form_text(&form),
        };
        let (user, password) = (filled(&scenario.username), filled(&scenario.password));
        let (agent, proxy) = (filled(&scenario.agent), filled(&scenario.proxy));
        let url = filled(&step.url);
        let call = Call {
            url: &with_query(&url, fields.iter().map(|(name, value)| (&**name, &**value))),
            method: match (posts.is_empty(), step.retrieve_mode) {
                (false, _) => "POST",
                (true, 1) => "HEAD",
                (true, _) => "GET",
            },
            headers: &headers,
            body: Some(posts.as_bytes()).filter(|posts| !posts.is_empty()),
            agent: Some(&agent),
            auth: Auth::from_api(scenario.authtype, &user, &password),
            proxy: &proxy,
            tls: TlsWish {
                verify_peer: scenario.verify_peer,
                verify_host: scenario.verify_host,
                cert_file: &scenario.ssl_cert_file,
                key_file: &scenario.ssl_key_file,
                key_password: &scenario.ssl_key_password,
            },
            follow: step.follow_redirects,
            timeout: Duration::from_secs(step.timeout_s.into()),
        };
        let mut last = String::new();
        for _ in 0..scenario.attempts.max(1) {
            match self.client.fetch(&call, &mut self.jar).await {
                Ok(fetched) => return Ok(fetched),
                Err(failure) => last = failure.to_string(),
            }
        }
        Err(last)
    }

    fn measured(&mut self, step: &WebStep, fetched: &Fetched) {
        let name = &self.scenario.name;
        let seconds = fetched.spent.as_secs_f64();
        let speed = (fetched.bytes as f64 / seconds.max(1e-6)).round();
        self.speeds.push(speed);
        self.results.extend([
            (keys::speed(name, &step.name), Payload::Float(speed)),
            (keys::time(name, &step.name), Payload::Float(seconds)),
            (keys::code(name, &step.name), Payload::Unsigned(fetched.answer.status.into())),
        ]);
    }
}

/// Where a step looks for what it wants.
fn searched(step: &WebStep, fetched: &Fetched) -> String {
    let head = || content::head_text(&fetched.head);
    let body = || {
        let kind = fetched.answer.header("content-type").last().map(str::to_owned);
        content::text(fetched.answer.body.clone(), kind.as_deref())
    };
    match step.retrieve_mode {
        1 => head(),
        2 => head() + &body(),
        _ => body(),
    }
}

fn form_text(form: &[(String, String)]) -> String {
    let pairs = form.iter().map(|(name, value)| (&**name, &**value));
    let text = with_query("", pairs);
    text.strip_prefix('?').unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
