//! `vedette bench ping`: rounds of pings by the server's own engine, and by fping beside it.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bench::Context;
use bench::report::Report;
use clap::Args;
use poll::{Outcome, Pinger, Series};
use serde_json::json;

use crate::common::{Files, duration};

/// Arguments of `vedette bench ping`.
#[derive(Debug, Args)]
pub(crate) struct Ping {
    /// The first address; those that follow it are pinged too. All of 127.0.0.0/8 is this machine.
    #[arg(long, value_name = "IP", default_value = "127.5.0.0")]
    pub(crate) first: Ipv4Addr,
    /// How many addresses.
    #[arg(long, value_name = "N", default_value_t = 4_000)]
    pub(crate) addresses: u32,
    /// Packets for each address in a round.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) packets: u32,
    /// From one packet to an address to the next.
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = duration)]
    pub(crate) interval: Duration,
    /// How long an answer may take.
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = duration)]
    pub(crate) timeout: Duration,
    /// Rounds; the median is shown.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) rounds: usize,
    /// Let this fping do the same after each round.
    #[arg(long, value_name = "FILE")]
    pub(crate) fping: Option<PathBuf>,
    /// Arguments of fping beyond -C, -p and -t.
    #[arg(long, value_name = "ARGS", default_value = "-q -i 1")]
    pub(crate) fping_args: String,
    #[command(flatten)]
    pub(crate) files: Files,
}

/// What one round brought.
struct Round {
    took: Duration,
    cpu: Duration,
    answered: u64,
    sent: u64,
    /// Means of the addresses, sorted.
    times: Vec<Duration>,
}

/// Pings in rounds, each followed by one of fping.
pub(crate) fn run(told: &Ping, context: &Context<'_>) -> anyhow::Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let pinger = Arc::new(Pinger::new(Arc::clone(&context.clock), None));
    let (mut own, mut fping) = (Vec::new(), Vec::new());
    for _ in 0..told.rounds.max(1) {
        own.push(runtime.block_on(sweep(told, &pinger, context))?);
        if let Some(program) = &told.fping {
            fping.push(sweep_with(program, told, context)?);
        }
    }
    let own = median(own);
    let settings = json!({
        "first": told.first.to_string(), "addresses": told.addresses, "packets": told.packets,
        "interval_ms": u64::try_from(told.interval.as_millis())?,
        "timeout_ms": u64::try_from(told.timeout.as_millis())?,
        "rounds": told.rounds, "fping_args": told.fping_args,
    });
    let mut report = Report::new("ping", settings);
    report.count("sent", "packets sent in a round", own.sent);
    report.count("answered", "answered", own.answered);
    report.number("seconds", "seconds of a round (median)", own.took.as_secs_f64());
    report.number("cpu_s", "CPU seconds of a round", own.cpu.as_secs_f64());
    let micros = |share: usize| {
        let at = (own.times.len() * share / 100).min(own.times.len().saturating_sub(1));
        own.times.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    };
    report.number("time_p50_us", "time of an answer, median, µs", micros(50));
    report.number("time_p99_us", "time of an answer, 99 %, µs", micros(99));
    if !fping.is_empty() {
        let fping = median(fping);
        report.count("fping_answered", "fping: answered", fping.answered);
        report.number("fping_seconds", "fping: seconds", fping.took.as_secs_f64());
        report.number("fping_cpu_s", "fping: CPU seconds", fping.cpu.as_secs_f64());
    }
    Ok(report)
}

fn addresses(told: &Ping) -> impl Iterator<Item = Ipv4Addr> + use<> {
    let first = told.first.to_bits();
    (0..told.addresses).map(move |n| Ipv4Addr::from_bits(first.wrapping_add(n)))
}

/// The round whose duration is in the middle.
fn median(mut rounds: Vec<Round>) -> Round {
    rounds.sort_by_key(|round| round.took);
    let middle = rounds.len() / 2;
    rounds.swap_remove(middle)
}

async fn sweep(told: &Ping, pinger: &Arc<Pinger>, context: &Context<'_>) -> anyhow::Result<Round> {
    let (begin, cpu) = (context.clock.monotonic(), stdx::sys::cpu_time());
    let mut tasks = tokio::task::JoinSet::new();
    for address in addresses(told) {
        let series = Series {
            to: SocketAddr::new(IpAddr::V4(address), 0),
            packets: told.packets,
            interval: told.interval,
            size: 56,
            timeout: told.timeout,
            redirect: false,
        };
        let pinger = Arc::clone(pinger);
        tasks.spawn(async move { pinger.ping(series).await });
    }
    let mut outcomes: Vec<Outcome> = Vec::new();
    while let Some(result) = tasks.join_next().await {
        outcomes.push(result??);
    }
    let took = context.clock.monotonic().saturating_sub(begin);
    let cpu = stdx::sys::cpu_time().saturating_sub(cpu);
    let mut times: Vec<_> =
        outcomes.iter().filter(|one| one.received > 0).map(Outcome::mean).collect();
    times.sort_unstable();
    let answered = outcomes.iter().map(|one| u64::from(one.received)).sum();
    let sent = outcomes.iter().map(|one| u64::from(one.sent)).sum();
    Ok(Round { took, cpu, answered, sent, times })
}

/// The same by fping, which prints `address : time time -` for each address.
fn sweep_with(program: &Path, told: &Ping, context: &Context<'_>) -> anyhow::Result<Round> {
    let list: String = addresses(told).map(|address| format!("{address}\n")).collect();
    let (begin, cpu) = (context.clock.monotonic(), cpu_of_children()?);
    let mut child = Command::new(program)
        .args(["-C", &told.packets.to_string()])
        .args(["-p", &told.interval.as_millis().to_string()])
        .args(["-t", &told.timeout.as_millis().to_string()])
        .args(told.fping_args.split_ascii_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if let Some(mut input) = child.stdin.take() {
        // It reads all of its list before it sends.
        input.write_all(list.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let took = context.clock.monotonic().saturating_sub(begin);
    let cpu = cpu_of_children()?.saturating_sub(cpu);
    let text = String::from_utf8_lossy(&output.stderr);
    let fields = || text.lines().filter_map(|line| line.split_once(" : "));
    let words = || fields().flat_map(|(_, times)| times.split_ascii_whitespace());
    let answered = words().filter(|word| word.parse::<f64>().is_ok()).count();
    if fields().next().is_none() {
        bail!("fping said: {}", text.trim_end());
    }
    let (answered, sent) = (u64::try_from(answered)?, u64::try_from(words().count())?);
    Ok(Round { took, cpu, answered, sent, times: Vec::new() })
}

/// CPU time of children that have ended (proc(5), /proc/pid/stat, fields 16 and 17).
fn cpu_of_children() -> anyhow::Result<Duration> {
    /// USER_HZ on Linux.
    const TICKS_PER_S: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name in brackets may hold anything.
    let (_, rest) = stat.rsplit_once(") ").context("/proc/self/stat has no name")?;
    let ticks = rest.split(' ').skip(13).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_PER_S))
}
