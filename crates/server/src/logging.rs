//! Where the process logs to, and what.

use std::io::IsTerminal;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Logs to standard error, where systemd and people look.
pub(crate) fn log(level: &str) -> anyhow::Result<()> {
    let level = parse(level)?;
    // The driver logs four lines per attempt while Cassandra is unavailable; the feeder logs a summary.
    let clients = if level >= LevelFilter::DEBUG { level } else { LevelFilter::OFF };
    let shown = Targets::new().with_default(level).with_target("scylla", clients);
    let colours = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_ansi(colours).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines).with(shown).init();
    Ok(())
}

/// Logs to standard error for the server, which adds the time.
pub(crate) fn log_to_server(level: &str) -> anyhow::Result<()> {
    let shown = Targets::new().with_default(parse(level)?);
    let lines = tracing_subscriber::fmt::layer()
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines).with(shown).init();
    Ok(())
}

fn parse(level: &str) -> anyhow::Result<LevelFilter> {
    level.parse().map_err(|_| anyhow::anyhow!("parameter log: \"{level}\" is not a log level"))
}
