//! CPU time of preprocessing steps: the same values to items with a step and without it.
//!
//! The items keep no history, so that nothing but the way of a value is measured. A server may
//! answer before it has preprocessed: CPU time is read when the server has come to rest, less
//! what it uses at rest. One item that keeps its history proves that the step does what it should.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::api::{Api, scalar_text};
use crate::proc::Meter;
use crate::register::{ItemSpec, Registered, Through, Wanted, register};
use crate::report::Report;
use crate::send::{address, send};
use crate::{Context, Login};

/// How long a server may take until it knows new items, or has preprocessed what it took.
const WAIT_MAX: Duration = Duration::from_secs(300);
/// What a server at rest uses is measured so long.
const REST: Duration = Duration::from_secs(3);
/// A server is at rest that uses for so long ...
const WINDOW: Duration = Duration::from_millis(500);
/// ... no more than this beyond what it always uses, seconds of CPU: two ticks of the kernel.
const REST_CPU_S: f64 = 0.02;

/// A step and values for it.
#[derive(Debug, Clone, Copy)]
struct Chain {
    name: &'static str,
    /// The API's number of the step.
    kind: u8,
    params: &'static str,
    /// The value with the number `n` in it, and what the step makes of it.
    value: fn(n: usize) -> (String, String),
}

/// Names of the steps that can be measured.
pub const NAMES: [&str; 6] =
    ["jsonpath", "regex", "javascript", "javascript-json", "xpath", "prometheus"];

const CHAINS: [Chain; NAMES.len()] = [
    Chain { name: NAMES[0], kind: 12, params: "$.data.cpu.cores", value: json_document },
    Chain { name: NAMES[1], kind: 5, params: "load average: ([0-9.]+)\n\\1", value: uptime_line },
    Chain { name: NAMES[2], kind: 21, params: "return value * 2 + 1", value: doubled },
    Chain {
        name: NAMES[3],
        kind: 21,
        params: "return JSON.parse(value).data.cpu.cores",
        value: json_document,
    },
    Chain { name: NAMES[4], kind: 11, params: "string(/s/cpu[2]/load)", value: xml_document },
    Chain { name: NAMES[5], kind: 22, params: "cpu{mode=\"user\"}\nvalue\n", value: metrics },
];

fn json_document(n: usize) -> (String, String) {
    let disks = r#"{"name":"sda","used":1234567,"total":9999999},{"name":"sdb","used":7654321}"#;
    let cpu = format!(r#"{{"load":[0.5,0.75,1.25],"cores":{n}}}"#);
    let data = format!(r#"{{"cpu":{cpu},"disks":[{disks}],"uptime":123456}}"#);
    (format!(r#"{{"status":"ok","data":{data}}}"#), n.to_string())
}

fn uptime_line(n: usize) -> (String, String) {
    let load = format!("{n}.52");
    (format!(" 10:01:33 up 5 days, 3:07, 2 users, load average: {load}, 0.58, 0.59"), load)
}

fn doubled(n: usize) -> (String, String) {
    (n.to_string(), (n * 2 + 1).to_string())
}

fn xml_document(n: usize) -> (String, String) {
    let cpu = |number, load: &str| format!("<cpu n=\"{number}\"><load>{load}</load></cpu>");
    (format!("<s>{}{}</s>", cpu(0, "0.5"), cpu(1, &n.to_string())), n.to_string())
}

fn metrics(n: usize) -> (String, String) {
    let text = "# HELP cpu Time\n# TYPE cpu counter\ncpu{mode=\"idle\",n=\"0\"} 1234.5\n";
    (format!("{text}cpu{{mode=\"user\",n=\"0\"}} {n}\nload1 0.5\nload5 0.75\n"), n.to_string())
}

/// Options of `vedette bench steps`.
#[derive(Debug, Clone)]
pub struct StepsOptions {
    /// `HOST:PORT` of the trapper port.
    pub server: String,
    /// The API of the same server.
    pub login: Login,
    /// Some of [`NAMES`].
    pub chains: Vec<String>,
    /// Items that the values of a step are spread over.
    pub items: usize,
    /// Values for each step, and as many without it.
    pub values: usize,
    /// Values per request.
    pub batch: usize,
    /// Times that everything is done; the medians count.
    pub rounds: usize,
    /// The server's processes.
    pub pids: Vec<u32>,
    /// Leave the host on the server.
    pub keep: bool,
}

/// CPU seconds of one load.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    per_million: f64,
    values_per_s: f64,
}

struct Run<'a> {
    options: &'a StepsOptions,
    server: SocketAddr,
    meter: Meter,
    api: Api,
    made: Registered,
}

/// Runs the measurement.
pub fn run(options: &StepsOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    if options.pids.is_empty() {
        bail!("--pid is missing: CPU time of the server's processes is what is measured here");
    }
    let chains = options.chains.iter().map(|name| {
        let chain = CHAINS.iter().find(|chain| chain.name == name);
        chain.copied().with_context(|| format!("there is no step \"{name}\""))
    });
    let chains: Vec<Chain> = chains.collect::<anyhow::Result<_>>()?;
    let server = address(&options.server)?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let wanted = Wanted {
        hosts: 1,
        items: items(options, &chains),
        through: Through::Template,
        interfaces: Vec::new(),
        snmp: None,
        trigger_every: 0,
    };
    let made = register(&api, &wanted, context)?;
    let run = Run { options, server, meter, api, made };
    let measured = run.all(&chains, context);
    if options.keep {
        context.say("the host stays on the server: vedette bench clean removes it");
    } else if let Err(error) = run.made.remove(&run.api) {
        context.say(&format!("cannot remove the host: {error:#}"));
    }
    Ok(report(options, &chains, &measured?))
}

/// A set of items without a step, one for each chain, and an item of each that keeps history.
fn items(options: &StepsOptions, chains: &[Chain]) -> Vec<ItemSpec> {
    let sets = chains.iter().map(|chain| (chain.name, Some((chain.kind, chain.params))));
    std::iter::once(("plain", None))
        .chain(sets)
        .flat_map(|(name, step)| {
            let numbered =
                (0..options.items).map(move |n| ItemSpec::text(&key(name, n), step, "0"));
            numbered.chain([ItemSpec::text(&check_key(name), step, "1d")])
        })
        .collect()
}

fn key(set: &str, number: usize) -> String {
    format!("bench.{set}[{number}]")
}

fn check_key(set: &str) -> String {
    format!("bench.{set}.check")
}

/// A framed request; values without a time get that of their arrival.
fn request(host: &str, rows: impl Iterator<Item = (String, String)>) -> Vec<u8> {
    let rows: Vec<_> =
        rows.map(|(key, value)| json!({ "host": host, "key": key, "value": value })).collect();
    let text = json!({ "request": "sender data", "data": rows }).to_string();
    wire::zbxd::encode(text.as_bytes(), 0)
}

impl Run<'_> {
    /// By chain: costs without the step and with it.
    fn all(
        &self,
        chains: &[Chain],
        context: &mut Context<'_>,
    ) -> anyhow::Result<Vec<(Vec<Cost>, Vec<Cost>)>> {
        for name in chains.iter().map(|chain| chain.name).chain(["plain"]) {
            self.wait_known(name, context)?;
        }
        let mut costs: Vec<(Vec<Cost>, Vec<Cost>)> =
            chains.iter().map(|_| Default::default()).collect();
        for round in 1..=self.options.rounds.max(1) {
            for (chain, (plain, with)) in chains.iter().zip(&mut costs) {
                plain.push(self.load(chain, "plain", context)?);
                with.push(self.load(chain, chain.name, context)?);
                let (a, b) = (plain[plain.len() - 1], with[with.len() - 1]);
                context.say(&format!(
                    "round {round}: {:16} {:8.2} CPU s per million, {:8.2} without the step",
                    chain.name, b.per_million, a.per_million
                ));
            }
        }
        Ok(costs)
    }

    fn host(&self) -> anyhow::Result<&str> {
        Ok(self.made.hosts.first().context("BUG: no host was made")?)
    }

    /// Sends to the items of a set until the server knows them.
    fn wait_known(&self, set: &str, context: &Context<'_>) -> anyhow::Result<()> {
        let rows = (0..self.options.items).map(|n| (key(set, n), "{}".to_owned()));
        let request = request(self.host()?, rows.chain([(check_key(set), "{}".to_owned())]));
        let start = context.clock.monotonic();
        while send(self.server, &request)?.failed > 0 {
            if context.clock.monotonic() - start > WAIT_MAX {
                bail!("the server does not take values for items that its API has made");
            }
            sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Sends the values of a chain to the items of a set.
    fn load(&self, chain: &Chain, set: &str, context: &Context<'_>) -> anyhow::Result<Cost> {
        let host = self.host()?;
        let clock = &context.clock;
        let rest = self.rest(context)?;
        let (start, cpu) = (clock.monotonic(), self.cpu_s()?);
        let requests = self.options.values.div_ceil(self.options.batch.max(1)).max(1);
        let batch = self.options.batch.max(1);
        // A thousand different values are made beforehand, in requests that are sent in turn.
        let made: Vec<Vec<u8>> = (0..1000_usize.div_ceil(batch).min(requests))
            .map(|turn| {
                let numbers = turn * batch..(turn + 1) * batch;
                let item = |n: usize| key(set, n % self.options.items.max(1));
                request(host, numbers.map(|n| (item(n), (chain.value)(n % 1000).0)))
            })
            .collect();
        for turn in 0..requests {
            let outcome = send(self.server, &made[turn % made.len()])?;
            if outcome.failed > 0 {
                bail!("{} of {batch} values were refused", outcome.failed);
            }
        }
        let taken_s = (clock.monotonic() - start).as_secs_f64();
        let (value, expected) = (chain.value)(7);
        let expected = if set == "plain" { value.clone() } else { expected };
        let since = clock.unix().as_secs();
        let last = request(host, std::iter::once((check_key(set), value)));
        send(self.server, &last)?;
        loop {
            self.wait_rest(rest, context)?;
            let (spent, used) = (clock.monotonic() - start, self.cpu_s()? - cpu);
            let kept = self.kept(set, since)?;
            if let Some(kept) = kept {
                if kept != expected {
                    bail!("{set}: the server made \"{kept}\" of a value, not \"{expected}\"");
                }
                let values = (requests * batch) as f64;
                let own = used - rest * spent.as_secs_f64();
                return Ok(Cost {
                    per_million: own * 1e6 / values,
                    values_per_s: values / taken_s,
                });
            }
            if spent > WAIT_MAX {
                bail!("{set}: the last value is not in history");
            }
        }
    }

    /// Newest value of the item that keeps history, if one came `since` then.
    fn kept(&self, set: &str, since: u64) -> anyhow::Result<Option<String>> {
        let itemids = self.made.itemids(&self.api, &[check_key(set)])?;
        let params = json!({
            "output": ["value"], "history": 4, "itemids": itemids, "time_from": since,
            "sortfield": "clock", "sortorder": "DESC", "limit": 1,
        });
        Ok(scalar_text(&self.api.call("history.get", &params)?[0]["value"]))
    }

    fn cpu_s(&self) -> anyhow::Result<f64> {
        Ok(self.meter.usage().context("the server's processes have ended")?.cpu_s)
    }

    /// CPU that the server uses all the time: seconds per second.
    fn rest(&self, context: &Context<'_>) -> anyhow::Result<f64> {
        self.wait_rest(0.2, context)?;
        let (start, cpu) = (context.clock.monotonic(), self.cpu_s()?);
        sleep(REST);
        Ok((self.cpu_s()? - cpu) / (context.clock.monotonic() - start).as_secs_f64())
    }

    /// Until the server has used no more than `rest` twice.
    fn wait_rest(&self, rest: f64, context: &Context<'_>) -> anyhow::Result<()> {
        let begin = context.clock.monotonic();
        let mut calm = 0;
        while calm < 2 {
            let (start, cpu) = (context.clock.monotonic(), self.cpu_s()?);
            sleep(WINDOW);
            let spent = (context.clock.monotonic() - start).as_secs_f64();
            let at_rest = self.cpu_s()? - cpu <= rest * spent + REST_CPU_S;
            calm = if at_rest { calm + 1 } else { 0 };
            if context.clock.monotonic() - begin > WAIT_MAX {
                bail!("the server does not come to rest");
            }
        }
        Ok(())
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn report(options: &StepsOptions, chains: &[Chain], measured: &[(Vec<Cost>, Vec<Cost>)]) -> Report {
    let settings = json!({
        "server": options.server, "chains": options.chains, "items": options.items,
        "values": options.values, "batch": options.batch, "rounds": options.rounds,
    });
    let mut report = Report::new("steps", settings);
    let cost = |costs: &[Cost]| median(costs.iter().map(|cost| cost.per_million).collect());
    for (chain, (plain, with)) in chains.iter().zip(measured) {
        let name = chain.name;
        let mut number = |part: &str, label: &str, x: f64| {
            report.number(format!("{name}_{part}"), format!("{name}: {label}"), x);
        };
        number("cpu_s_per_million", "CPU s per million values", cost(with));
        number("plain_cpu_s_per_million", "the same values without the step", cost(plain));
        // Of each round, so that what disturbs a round disturbs both.
        let own = with.iter().zip(plain).map(|(with, plain)| with.per_million - plain.per_million);
        number("own_cpu_s_per_million", "the step alone", median(own.collect()));
        let rates = with.iter().map(|cost| cost.values_per_s).collect();
        number("values_per_s", "values/s taken", median(rates));
    }
    report
}

#[cfg(test)]
mod tests {
    use wire::sender::parse_sender_data;
    use wire::{Content, Moment};

    use super::*;

    fn options() -> StepsOptions {
        StepsOptions {
            server: "127.0.0.1:1".to_owned(),
            login: Login { url: String::new(), user: String::new(), password: String::new() },
            chains: NAMES.map(str::to_owned).to_vec(),
            items: 3,
            values: 10,
            batch: 5,
            rounds: 1,
            pids: Vec::new(),
            keep: false,
        }
    }

    #[test]
    fn every_chain_has_items_and_one_that_keeps_history() {
        let items = items(&options(), &CHAINS);
        assert_eq!(items.len(), (1 + CHAINS.len()) * 4);
        let kept = items.iter().filter(|item| item.params["history"] == json!("1d"));
        assert_eq!(kept.count(), 1 + CHAINS.len());
        assert!(items[0].params.get("preprocessing").is_none());
        assert_eq!(items[4].params["key_"], json!("bench.jsonpath[0]"));
        assert_eq!(items[4].params["preprocessing"][0]["params"], json!("$.data.cpu.cores"));
    }

    #[test]
    fn requests_are_what_a_server_reads() {
        for chain in CHAINS {
            let (value, expected) = (chain.value)(12);
            assert!(value.len() >= 2 && !expected.is_empty() && value != expected);
            let frame = request("h", std::iter::once((key("a", 1), value.clone())));
            let text = str::from_utf8(&frame[13..]).unwrap();
            let data = parse_sender_data(text, Moment { clock: 1, ns: 0 }).unwrap();
            assert_eq!(data.readings.rows[0].content, Content::Value(value.into()));
        }
    }

    #[test]
    fn without_processes_nothing_is_measured() {
        let mut progress = Vec::new();
        let clock = stdx::clock::RealClock::shared();
        let mut context = Context { clock, progress: &mut progress };
        let error = run(&options(), &mut context).unwrap_err().to_string();
        assert!(error.contains("--pid"), "{error}");
    }

    #[test]
    fn medians_of_rounds() {
        let cost = |per_million| Cost { per_million, values_per_s: 1e5 };
        let with = [5.0, 9.0, 6.0].map(cost).to_vec();
        let plain = [4.0, 7.5, 4.5].map(cost).to_vec();
        let report = report(&options(), &CHAINS[..1], &[(plain, with)]);
        assert_eq!(report.get("jsonpath_cpu_s_per_million"), Some(&json!(6.0)));
        assert_eq!(report.get("jsonpath_plain_cpu_s_per_million"), Some(&json!(4.5)));
        assert_eq!(report.get("jsonpath_own_cpu_s_per_million"), Some(&json!(1.5)));
        assert!(median(Vec::new()).is_nan());
    }
}
