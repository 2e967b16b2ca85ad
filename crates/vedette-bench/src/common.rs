//! Arguments that several commands have.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Access {
    /// The server's JSON-RPC API.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080/api_jsonrpc.php")]
    pub(crate) api: String,
    /// User of the API, with the right to make hosts.
    #[arg(long, default_value = "Admin")]
    pub(crate) user: String,
    /// The user's password.
    #[arg(long, env = "VEDETTE_ADMIN_PASSWORD", hide_env_values = true)]
    pub(crate) password: String,
}

/// Arguments of all measurements of a running server.
#[derive(Debug, Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) access: Access,
    /// Process of the server, for CPU time and memory; its children are included. Several, where
    /// a database belongs to it.
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pub(crate) pids: Vec<u32>,
    #[command(flatten)]
    pub(crate) files: Files,
}

#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Write the results to this file, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the results to this file as a Markdown table.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Put the results beside those of an earlier run, a file written by --json.
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Write a plot to this file, as SVG or PNG by the file's name (limit, line,
    /// overload and blackout). May be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Vec<PathBuf>,
}

/// Checks of fake agents. The defaults are those of `bench agent`; other commands have their own.
#[derive(Debug, Args)]
pub(crate) struct Checks {
    /// Items per host.
    #[arg(long, default_value = "20")]
    pub(crate) items: usize,
    /// Update interval of each item, seconds.
    #[arg(long, value_name = "SECONDS", default_value = "1")]
    pub(crate) interval: u64,
    /// How long an agent takes to answer: 0s, 250ms, 3s.
    #[arg(long, default_value = "0s", value_parser = duration)]
    pub(crate) delay: Duration,
    /// How long to measure (limit, line: each step).
    #[arg(long, default_value = "30")]
    pub(crate) seconds: u64,
    /// First loopback address of the agents; port 0 = any.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Consecutive addresses on which they listen.
    #[arg(long, default_value_t = 8)]
    pub(crate) addresses: usize,
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit_ms) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1000),
    };
    let n: u64 = digits.parse().map_err(|_| "a time as 250ms or 3s".to_owned())?;
    n.checked_mul(unit_ms).map(Duration::from_millis).ok_or_else(|| "too long".to_owned())
}
