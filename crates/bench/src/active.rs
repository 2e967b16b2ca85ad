//! Active agents: each asks for its list of items, then sends one value, over a connection for each
//! request, as agents do.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::api::Api;
use crate::proc::{Meter, Usage};
use crate::register::{ItemSpec, Through, Wanted, register};
use crate::report::{Report, grouped};
use crate::send::{address, ask, outcome};
use crate::stats::Histogram;
use crate::{Context, Login};

/// How long a server may take until all agents get their items.
const READY_MAX: Duration = Duration::from_secs(180);
const RETRY: Duration = Duration::from_millis(50);
/// Until a server has given back the memory that new hosts took for a moment.
const REST: Duration = Duration::from_secs(5);
/// Key of the item that every agent has.
const KEY: &str = "bench.active";

/// Parameters of `vedette bench active`.
#[derive(Debug, Clone)]
pub struct ActiveOptions {
    /// `HOST:PORT` of the trapper port.
    pub server: String,
    /// The API of the same server.
    pub login: Login,
    /// Active agents, a host each.
    pub agents: usize,
    /// Requests in flight at one time.
    pub connections: usize,
    /// Times that each agent asks and sends.
    pub rounds: usize,
    /// The server's processes.
    pub pids: Vec<u32>,
    /// Leave the hosts on the server.
    pub keep: bool,
}

/// One agent.
struct Agent {
    host: String,
    session: String,
    /// What the server told last: the item, and the state of the configuration.
    item: u64,
    revision: u64,
    /// Number of the last value.
    sent: u64,
}

impl Agent {
    fn new(number: usize, host: &str, start: Duration) -> Self {
        let session = format!("{:016x}{number:016x}", start.as_nanos() as u64);
        Self { host: host.to_owned(), session, item: 0, revision: 0, sent: 0 }
    }

    fn request(&self) -> Value {
        json!({
            "request": "active checks", "host": self.host, "version": "7.0.22",
            "session": self.session, "config_revision": self.revision,
        })
    }

    /// Takes over the server's answer; `false` = the server does not know its item yet.
    fn told(&mut self, answer: &str) -> anyhow::Result<bool> {
        let answer: Value = serde_json::from_str(answer).context("the answer is not JSON")?;
        if let Some(revision) = answer["config_revision"].as_u64() {
            self.revision = revision;
        }
        // Without a list, the last one goes on.
        if let Some(item) = answer["data"][0]["itemid"].as_u64() {
            self.item = item;
        }
        Ok(self.item != 0)
    }

    /// A value of the moment `unix`.
    fn values(&mut self, unix: Duration) -> Value {
        self.sent += 1;
        json!({
            "request": "agent data", "host": self.host, "version": "7.0.22",
            "session": self.session,
            "data": [{
                "itemid": self.item, "id": self.sent, "value": self.sent.to_string(),
                "clock": unix.as_secs(), "ns": unix.subsec_nanos(),
            }],
            "clock": unix.as_secs(), "ns": unix.subsec_nanos(),
        })
    }
}

/// What the requests of some agents took.
#[derive(Default)]
struct Latency {
    checks: Histogram,
    data: Histogram,
}

/// Runs the measurement.
pub fn run(options: &ActiveOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    let server = address(&options.server)?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let item = json!({ "name": KEY, "key_": KEY, "type": 7, "value_type": 3, "delay": "1m" });
    let wanted = Wanted {
        hosts: options.agents.max(1),
        items: vec![ItemSpec { params: item }],
        through: Through::Template,
        interfaces: Vec::new(),
        snmp: None,
        trigger_every: 0,
    };
    let made = register(&api, &wanted, context)?;
    let measured = measure(options, server, &meter, &made.hosts, context);
    if options.keep {
        context.say("the hosts stay on the server: vedette bench clean removes them");
    } else if let Err(error) = made.remove(&api) {
        context.say(&format!("cannot remove the hosts: {error:#}"));
    }
    Ok(report(options, &measured?))
}

struct Measured {
    requests: u64,
    seconds: f64,
    latency: Latency,
    /// Before any agent came, after each had come once, and at the end.
    usage: [Option<Usage>; 3],
    own_cpu_s: f64,
}

fn measure(
    options: &ActiveOptions,
    server: SocketAddr,
    meter: &Meter,
    hosts: &[String],
    context: &mut Context<'_>,
) -> anyhow::Result<Measured> {
    let start = context.clock.unix();
    let mut agents: Vec<Agent> =
        hosts.iter().enumerate().map(|(n, host)| Agent::new(n, host, start)).collect();
    wait_ready(server, agents.last_mut().context("BUG: no host was made")?, context)?;
    sleep(REST);
    let before = meter.usage();
    // Who comes first is compared with history, and gets a list: a round that is not measured.
    rounds(options, server, &mut agents, 1, context)?;
    let (known, own_start) = (meter.usage(), stdx::sys::cpu_time());
    let begin = context.clock.monotonic();
    let latency = rounds(options, server, &mut agents, options.rounds.max(1), context)?;
    let seconds = (context.clock.monotonic() - begin).as_secs_f64();
    let requests = 2 * (agents.len() * options.rounds.max(1)) as u64;
    context.say(&format!("{} requests in {seconds:.1} s", grouped(requests)));
    let own_cpu_s = (stdx::sys::cpu_time() - own_start).as_secs_f64();
    Ok(Measured { requests, seconds, latency, usage: [before, known, meter.usage()], own_cpu_s })
}

/// Asks for the last agent's items until the server has them.
fn wait_ready(
    server: SocketAddr,
    agent: &mut Agent,
    context: &mut Context<'_>,
) -> anyhow::Result<()> {
    let start = context.clock.monotonic();
    while !agent.told(&ask(server, &framed(&agent.request()))?)? {
        if context.clock.monotonic() - start > READY_MAX {
            bail!("the server has no items for an agent that its API has made");
        }
        sleep(RETRY);
    }
    Ok(())
}

fn framed(request: &Value) -> Vec<u8> {
    wire::zbxd::encode(request.to_string().as_bytes(), wire::zbxd::PROTOCOL)
}

/// Lets all agents ask and send, `count` times.
fn rounds(
    options: &ActiveOptions,
    server: SocketAddr,
    agents: &mut [Agent],
    count: usize,
    context: &Context<'_>,
) -> anyhow::Result<Latency> {
    let share = agents.len().div_ceil(options.connections.max(1));
    let clock = &context.clock;
    let visit = |agent: &mut Agent, latency: &mut Latency| -> anyhow::Result<()> {
        let request = framed(&agent.request());
        let start = clock.monotonic();
        let answer = ask(server, &request)?;
        latency.checks.add(clock.monotonic() - start);
        if !agent.told(&answer)? {
            bail!("the server has no items for {}", agent.host);
        }
        let request = framed(&agent.values(clock.unix()));
        let start = clock.monotonic();
        let answer = ask(server, &request)?;
        latency.data.add(clock.monotonic() - start);
        let kept = outcome(&answer).context("the answer to values makes no sense")?;
        if (kept.processed, kept.failed) != (1, 0) {
            bail!("the server refused a value of {}", agent.host);
        }
        Ok(())
    };
    let parts: Vec<Latency> = std::thread::scope(|scope| {
        let workers: Vec<_> = agents
            .chunks_mut(share)
            .map(|agents| {
                scope.spawn(move || {
                    let mut latency = Latency::default();
                    for _ in 0..count {
                        for agent in &mut *agents {
                            visit(agent, &mut latency)?;
                        }
                    }
                    Ok(latency)
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| bail!("BUG: an agent panicked")))
            .collect::<anyhow::Result<_>>()
    })?;
    let mut all = Latency::default();
    for part in parts {
        all.checks.merge(&part.checks);
        all.data.merge(&part.data);
    }
    Ok(all)
}

fn report(options: &ActiveOptions, measured: &Measured) -> Report {
    let settings = json!({
        "server": options.server, "agents": options.agents, "connections": options.connections,
        "rounds": options.rounds,
    });
    let mut report = Report::new("active", settings);
    let requests = measured.requests as f64;
    report.count("requests", "requests answered", measured.requests);
    report.number("requests_per_s", "requests/s", requests / measured.seconds);
    for (name, label, histogram, share) in [
        ("checks_p50_ms", "active checks p50, ms", &measured.latency.checks, 0.5),
        ("checks_p99_ms", "active checks p99, ms", &measured.latency.checks, 0.99),
        ("data_p50_ms", "agent data p50, ms", &measured.latency.data, 0.5),
        ("data_p99_ms", "agent data p99, ms", &measured.latency.data, 0.99),
    ] {
        report.number(name, label, histogram.percentile_ms(share));
    }
    if let [Some(before), Some(known), Some(end)] = measured.usage {
        let cpu_s = end.cpu_s - known.cpu_s;
        report.number("server_cpu_s", "server CPU, s", cpu_s);
        report.number("server_us_per_request", "server CPU, µs a request", cpu_s * 1e6 / requests);
        let grown = end.rss_bytes.saturating_sub(before.rss_bytes) as f64;
        let each = grown / options.agents.max(1) as f64;
        report.number("bytes_per_agent", "server memory, bytes an agent that has come", each);
        report.megabytes("rss_before_mib", "memory before, MiB", before.rss_bytes);
        report.megabytes("rss_end_mib", "memory after, MiB", end.rss_bytes);
    }
    report.number(
        "own_us_per_request",
        "generator CPU, µs a request",
        measured.own_cpu_s * 1e6 / requests,
    );
    report
}

#[cfg(test)]
mod tests {
    use wire::Moment;
    use wire::trapper::Request;

    use super::*;

    #[test]
    fn requests_are_those_of_an_agent() {
        let mut agent = Agent::new(7, "web", Duration::from_secs(5));
        let now = Moment { clock: 1, ns: 0 };
        let text = agent.request().to_string();
        let Request::ActiveChecks(checks) = Request::parse(&text, now).unwrap() else { panic!() };
        assert_eq!((checks.session.len(), checks.config_revision), (32, 0));
        for (answer, known) in [
            (r#"{"response":"success","config_revision":3,"data":[]}"#, false),
            (r#"{"response":"success","config_revision":4,"data":[{"itemid":12}]}"#, true),
            (r#"{"response":"success"}"#, true),
        ] {
            assert_eq!(agent.told(answer).unwrap(), known, "{answer}");
        }
        assert_eq!((agent.item, agent.revision), (12, 4));
        let text = agent.values(Duration::from_secs(9)).to_string();
        let Request::AgentData(data) = Request::parse(&text, now).unwrap() else { panic!() };
        assert_eq!((data.readings.rows.len(), data.readings.malformed), (1, 0));
        assert_eq!(data.readings.rows[0].id, Some(1));
    }
}
