//! Alerting at scale: from values to messages that a local HTTP server receives from a webhook.
//!
//! Three parts, each of which can be left out:
//!
//! * latency: many problems are open; more open at a fixed rate, each with its message. Measured from
//!   before the value is sent until its message has come.
//! * deliveries: the receiver lets the first messages wait until all messages are stored; then it responds, and
//!   the messages per second are counted.
//! * groups: many problems open at once, with one message for the problems of each host. Values of other
//!   hosts are sent at a fixed rate before and meanwhile.

mod objects;
mod problems;
mod sink;

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::api::Api;
use crate::payload::Order;
use crate::proc::Meter;
use crate::register::register;
use crate::report::{Report, grouped};
use crate::send::address;
use crate::trapper::{self, Measured, TrapperOptions};
use crate::{Context, Login};
use objects::Objects;
pub use objects::clean;
use problems::Problems;
use sink::{Ledger, Sink};

/// How long a server may take until it knows new objects.
const READY_MAX: Duration = Duration::from_secs(180);
/// A server that sends no message for so long sends no more.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Longest time for which the receiver lets messages wait: less than the time of an attempt.
const HOLD_MAX: Duration = Duration::from_secs(45);
/// The same beside its wait for groups: messages of groups wait until the server has looked at all problems.
const BACKLOG_MAX: Duration = Duration::from_secs(300);
/// How long no further message may come after those of the groups.
const QUIET: Duration = Duration::from_secs(3);
/// A count that has not grown for so long is complete.
const CALM: Duration = Duration::from_secs(2);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);
/// Hosts and items whose values are sent beside the problems.
const VALUES: [usize; 2] = [100, 10];

/// Options of `vedette bench alerts`.
#[derive(Debug, Clone)]
pub struct AlertsOptions {
    /// `HOST:PORT` of the trapper port.
    pub server: String,
    /// The API of the same server.
    pub login: Login,
    /// Hosts whose values open problems.
    pub hosts: usize,
    /// Items of each of them.
    pub items: usize,
    /// Concurrent sessions of the webhook.
    pub sessions: u32,
    /// Sizes of the parts.
    pub parts: Parts,
    /// Address of the receiver.
    pub listen: SocketAddr,
    /// The server's processes, for CPU time and memory.
    pub pids: Vec<u32>,
    /// Leave what was made on the server.
    pub keep: bool,
}

/// How much is measured; 0 leaves a part out.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    /// Problems that are open before anything is measured.
    pub open: u64,
    /// New problems per second while the latency is measured.
    pub rate: u64,
    /// How long the latency is measured, and values of other hosts.
    pub seconds: u64,
    /// Messages that are delivered at once.
    pub messages: u64,
    /// Problems that open at once and are grouped.
    pub grouped: u64,
    /// From the first problem of a group to its message, in whole seconds.
    pub group_wait: Duration,
    /// Values per second of other hosts meanwhile.
    pub values: u64,
}

/// What all parts use.
struct Bench<'a> {
    options: &'a AlertsOptions,
    server: SocketAddr,
    api: &'a Api,
    objects: &'a Objects,
    sink: &'a Sink,
    meter: &'a Meter,
    report: Report,
}

/// Runs the measurement.
///
/// # Errors
/// The server cannot be reached, refuses what is made, or sends no messages.
pub fn run(options: &AlertsOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    let server = address(&options.server)?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let sink = Sink::start(options.listen, context.clock.clone())?;
    let sizes = [options.hosts.max(1), options.items.max(1)];
    let objects = Objects::make(&api, sizes, options.sessions, sink.address, context)?;
    context.say("the hosts and the action are made");
    let mut bench = Bench {
        options,
        server,
        api: &api,
        objects: &objects,
        sink: &sink,
        meter: &meter,
        report: Report::new("alerts", settings(options)),
    };
    let measured = bench.measure(context);
    let report = bench.report;
    if options.keep {
        context.say("the hosts stay on the server: vedette bench clean removes them");
    } else if let Err(error) = objects.remove(&api) {
        context.say(&format!("cannot remove the hosts: {error:#}"));
    }
    measured.map(|()| report)
}

fn settings(options: &AlertsOptions) -> serde_json::Value {
    let Parts { open, rate, seconds, messages, grouped, group_wait, values } = options.parts;
    json!({
        "server": options.server, "hosts": options.hosts, "items": options.items,
        "sessions": options.sessions, "open": open, "rate": rate, "seconds": seconds,
        "messages": messages, "grouped": grouped, "group_wait_s": group_wait.as_secs(),
        "values": values,
    })
}

impl Bench<'_> {
    fn measure(&mut self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let objects = self.objects;
        let mut problems = Problems {
            server: self.server,
            hosts: &objects.hosts.hosts,
            items: objects.items,
            clock: context.clock.clone(),
            next: 0,
        };
        let parts = self.options.parts;
        self.warm(&mut problems, context)?;
        self.open(&mut problems, context)?;
        objects.enable(self.api, true)?;
        self.wait_for_action(&mut problems, context)?;
        if parts.rate > 0 {
            self.latency(&mut problems, context)?;
        }
        if parts.messages > 0 {
            self.deliveries(&mut problems, context)?;
        }
        if parts.grouped > 0 {
            self.groups(&mut problems, context)?;
        }
        Ok(())
    }

    /// Waits until the server accepts values of all items.
    fn warm(&self, problems: &mut Problems<'_>, context: &mut Context<'_>) -> anyhow::Result<()> {
        let start = context.clock.monotonic();
        let all = (self.objects.hosts.hosts.len() * self.objects.items) as u64;
        context.say("waiting until the server knows the items");
        while let Err(error) = problems.burst(all, self.sink) {
            if context.clock.monotonic() - start > READY_MAX {
                bail!("after {} s still: {error:#}", READY_MAX.as_secs());
            }
            sleep(LOOK);
        }
        context.say("the server knows the items");
        Ok(())
    }

    /// Opens problems without an action for them.
    fn open(&self, problems: &mut Problems<'_>, context: &mut Context<'_>) -> anyhow::Result<()> {
        let wanted = self.options.parts.open;
        let start = context.clock.monotonic();
        let (mut open, mut grew) = (self.objects.open(self.api)?, start);
        problems.burst(wanted.saturating_sub(open), self.sink)?;
        // Those of the warming up may still come, too: the action must not find any that it is not for.
        while open < wanted || context.clock.monotonic() - grew < CALM {
            let now = context.clock.monotonic();
            let found = self.objects.open(self.api)?;
            if found > open {
                grew = now;
            } else if now - grew > SILENCE_MAX {
                bail!("only {found} of {wanted} problems are open");
            }
            open = found;
            sleep(LOOK);
        }
        let seconds = (context.clock.monotonic() - start).as_secs_f64();
        context.say(&format!("{} problems are open after {seconds:.1} s", grouped(open)));
        Ok(())
    }

    /// Waits until a new problem is reported, and all that were opened for that.
    fn wait_for_action(
        &self,
        problems: &mut Problems<'_>,
        context: &mut Context<'_>,
    ) -> anyhow::Result<()> {
        let start = context.clock.monotonic();
        self.sink.reset();
        while self.sink.with(|ledger| ledger.messages) == 0 {
            if context.clock.monotonic() - start > READY_MAX {
                bail!("the action sends no message: does the server run webhooks?");
            }
            problems.open(1, self.sink)?;
            sleep(4 * LOOK);
        }
        let mut messages = 0;
        while self.sink.with(|ledger| ledger.messages) > messages {
            messages = self.sink.with(|ledger| ledger.messages);
            sleep(CALM);
        }
        context.say("the action is live");
        self.sink.reset();
        Ok(())
    }

    /// Waits for messages, until the server is silent for long; prints a line each second.
    fn receive(&self, wanted: u64, context: &mut Context<'_>) -> Ledger {
        let mut last = (context.clock.monotonic(), self.sink.with(|ledger| ledger.messages));
        let mut told = last;
        loop {
            sleep(LOOK);
            let now = context.clock.monotonic();
            let messages = self.sink.with(|ledger| ledger.messages);
            if messages > last.1 {
                last = (now, messages);
            }
            if messages >= wanted || now - last.0 > SILENCE_MAX {
                return self.sink.reset();
            }
            if now - told.0 > Duration::from_secs(1) {
                let rate = (messages - told.1) as f64 / (now - told.0).as_secs_f64();
                context.say(&format!(
                    "{} of {} messages, {} a second",
                    grouped(messages),
                    grouped(wanted),
                    grouped(rate as u64)
                ));
                told = (now, messages);
            }
        }
    }

    fn latency(
        &mut self,
        problems: &mut Problems<'_>,
        context: &mut Context<'_>,
    ) -> anyhow::Result<()> {
        let Parts { rate, seconds, .. } = self.options.parts;
        context.say(&format!("{rate} new problems a second for {seconds} s"));
        let (before, start) = (self.meter.usage(), context.clock.monotonic());
        problems.at_rate(rate, Duration::from_secs(seconds), self.sink)?;
        let opened_s = (context.clock.monotonic() - start).as_secs_f64();
        let ledger = self.receive(rate * seconds, context);
        let report = &mut self.report;
        report.number("opened_per_s", "new problems/s", (rate * seconds) as f64 / opened_s);
        for (name, label, share) in [
            ("latency_p50_ms", "value to message p50, ms", 0.5),
            ("latency_p95_ms", "value to message p95, ms", 0.95),
            ("latency_p99_ms", "value to message p99, ms", 0.99),
            ("latency_max_ms", "value to message max, ms", 1.0),
        ] {
            report.number(name, label, ledger.latency.percentile_ms(share));
        }
        let missing = (rate * seconds).saturating_sub(ledger.messages);
        report.count("latency_missing", "messages missing", missing);
        if let (Some(before), Some(after)) = (before, self.meter.usage()) {
            let cpu_s = after.cpu_s - before.cpu_s;
            let seconds = (context.clock.monotonic() - start).as_secs_f64();
            report.number("latency_cores", "server cores busy", cpu_s / seconds);
        }
        Ok(())
    }

    fn deliveries(
        &mut self,
        problems: &mut Problems<'_>,
        context: &mut Context<'_>,
    ) -> anyhow::Result<()> {
        let wanted = self.options.parts.messages;
        let earlier = self.objects.stored(self.api)?;
        self.sink.respond(false);
        let start = context.clock.monotonic();
        problems.burst(wanted, self.sink)?;
        let mut stored = 0;
        while stored < wanted && context.clock.monotonic() - start < HOLD_MAX {
            sleep(LOOK);
            stored = self.objects.stored(self.api)?.saturating_sub(earlier);
        }
        let stored_s = (context.clock.monotonic() - start).as_secs_f64();
        context.say(&format!("{} messages are stored after {stored_s:.1} s", grouped(stored)));
        let (before, start) = (self.meter.usage(), context.clock.monotonic());
        self.sink.respond(true);
        let ledger = self.receive(wanted, context);
        let seconds = ledger.last.saturating_sub(start).as_secs_f64();
        let report = &mut self.report;
        report.number("stored_per_s", "messages/s stored", stored as f64 / stored_s);
        report.number("delivered_per_s", "messages/s delivered", ledger.messages as f64 / seconds);
        let missing = wanted.saturating_sub(ledger.messages);
        report.count("delivered_missing", "messages missing", missing);
        if let (Some(before), Some(after)) = (before, self.meter.usage()) {
            let millions = ledger.messages as f64 / 1e6;
            let cpu_s = (after.cpu_s - before.cpu_s) / millions;
            report.number(
                "delivered_cpu_s_per_million",
                "server CPU s per million messages",
                cpu_s,
            );
        }
        Ok(())
    }

    fn groups(
        &mut self,
        problems: &mut Problems<'_>,
        context: &mut Context<'_>,
    ) -> anyhow::Result<()> {
        let Parts { grouped: wanted, group_wait, .. } = self.options.parts;
        let has_groups = self.objects.group(self.api, group_wait);
        if !has_groups {
            context.say("the server groups no messages: each problem has its own");
        }
        let load = self.values();
        let made = register(self.api, &trapper::wanted(&load), context)?;
        context.say("values of other hosts, before the problems");
        let before = trapper::measure(&load, self.server, self.meter, self.api, &made, context)?;
        self.sink.reset();
        let groups = (self.objects.hosts.hosts.len() as u64).min(wanted);
        let stored = self.objects.stored(self.api)?;
        let memory = self.meter.usage().map(|usage| usage.rss_bytes);
        context.say(&format!("{} problems at once", grouped(wanted)));
        let start = context.clock.monotonic();
        let mut found = std::thread::scope(|scope| {
            let clock = context.clock.clone();
            let (server, meter, api, made, load) =
                (self.server, self.meter, self.api, &made, &load);
            let values = scope.spawn(move || {
                let mut quiet = std::io::sink();
                let mut context = Context { clock, progress: &mut quiet };
                trapper::measure(load, server, meter, api, made, &mut context)
            });
            let burst = problems.burst(wanted, self.sink)?;
            let wanted = if has_groups { groups } else { wanted };
            let peak = self.peak(wanted, start, context);
            let meanwhile = values.join().unwrap_or_else(|_| bail!("BUG: a sender panicked"))?;
            anyhow::Ok(Grouped { burst, peak, meanwhile, ledger: Ledger::default(), stored: 0 })
        })?;
        if has_groups {
            sleep(QUIET);
        }
        found.ledger = self.sink.reset();
        found.stored = self.objects.stored(self.api)?.saturating_sub(stored);
        made.remove(self.api).context("cannot remove the other hosts")?;
        self.report_groups(&found, &before, memory, start);
        Ok(())
    }

    /// Waits for the messages of a burst; returns the largest memory meanwhile.
    fn peak(&self, wanted: u64, start: Duration, context: &mut Context<'_>) -> u64 {
        let mut peak = 0;
        let (mut messages, mut grew) = (0, start);
        loop {
            sleep(LOOK);
            let now = context.clock.monotonic();
            peak = self.meter.usage().map_or(0, |usage| usage.rss_bytes).max(peak);
            let found = self.sink.with(|ledger| ledger.messages);
            if found > messages {
                (messages, grew) = (found, now);
                let seconds = (now - start).as_secs_f64();
                context.say(&format!("{} messages after {seconds:.1} s", grouped(messages)));
            }
            if messages >= wanted || now - grew > self.options.parts.group_wait + BACKLOG_MAX {
                return peak;
            }
        }
    }

    /// The load of values of other hosts.
    fn values(&self) -> TrapperOptions {
        let Parts { seconds, values, .. } = self.options.parts;
        let [hosts, items] = VALUES;
        TrapperOptions {
            server: self.options.server.clone(),
            login: self.options.login.clone(),
            hosts,
            items,
            order: Order::InTurn,
            batch: 500,
            connections: 2,
            seconds,
            rate: Some(values),
            pids: Vec::new(),
            verify: false,
            keep: false,
            ledger: None,
            change_per_second: false,
            trigger_every: 0,
        }
    }

    fn report_groups(
        &mut self,
        found: &Grouped,
        before: &Measured,
        memory: Option<u64>,
        start: Duration,
    ) {
        let report = &mut self.report;
        report.count("grouped_problems", "problems at once", self.options.parts.grouped);
        report.number("burst_s", "sent within, s", found.burst.as_secs_f64());
        report.count("groups", "groups", self.objects.hosts.hosts.len() as u64);
        report.count("grouped_messages", "messages", found.ledger.messages);
        report.count("told", "problems that they report", found.ledger.problems);
        report.count("grouped_stored", "alerts stored", found.stored);
        let last_s = found.ledger.last.saturating_sub(start).as_secs_f64();
        report.number("last_message_s", "last message after, s", last_s);
        if let Some(memory) = memory {
            report.megabytes("memory_before_mib", "memory before, MiB", memory);
            report.megabytes("memory_peak_mib", "memory at most, MiB", found.peak);
        }
        let p99 = |measured: &Measured| measured.latency.percentile_ms(0.99);
        report.number("values_before_per_s", "other values/s before", before.rate());
        report.number("values_per_s", "other values/s meanwhile", found.meanwhile.rate());
        report.number("values_ratio", "ratio", found.meanwhile.rate() / before.rate());
        report.number("values_before_p99_ms", "their request p99 before, ms", p99(before));
        report.number("values_p99_ms", "their request p99 meanwhile, ms", p99(&found.meanwhile));
    }
}

/// What came of problems that open at once.
struct Grouped {
    burst: Duration,
    /// Largest memory, bytes.
    peak: u64,
    /// Values of other hosts.
    meanwhile: Measured,
    ledger: Ledger,
    /// Number of alerts.
    stored: u64,
}
