//! Arguments of `vedette bench` and its commands.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bench::agents::SnmpStyle;
use clap::{Args, Subcommand, ValueEnum};

use crate::active::Active;
use crate::alerts::Alerts;
use crate::common::{Access, Checks, Common, duration};
use crate::history_service::HistoryService;
use crate::lb::Lb;
use crate::limit::Limit;
use crate::ping::Ping;

/// Measure a server through its public protocols: Vedette, or any Zabbix-compatible server.
///
/// All commands make hosts of their own through the API and remove them at the end. Generator and
/// server share the machine, so both their CPU times are reported.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) what: What,
}

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Send values by the sender protocol, as fast as the server takes them.
    Trapper(Trapper),
    /// CPU seconds that preprocessing steps take: the same values with and without a step.
    Steps(Steps),
    /// Let active agents ask for their items and send a value each, again and again.
    Active(Active),
    /// Open many problems, and receive the messages about them: latency, messages per second, groups.
    Alerts(Alerts),
    /// Let the server poll agents that answer at once or late.
    Agent(Agent),
    /// HTTP agent items that ask web servers of ours over open connections.
    Http(Agent),
    /// Let the server poll SNMP devices.
    Snmp(Snmp),
    /// Ask for history, graphs and newest values while values are written.
    Read(Read),
    /// Write and read through the history service, over gRPC and HTTP.
    HistoryService(HistoryService),
    /// Send more values than the server can handle, and measure rate, memory, queue and lost
    /// acknowledged values.
    Overload(Overload),
    /// Let most hosts stop answering for some minutes: what it costs, what others notice, how soon
    /// it is seen that they are back.
    Blackout(Blackout),
    /// Make many items: memory per item, time until a change is live.
    Config(Config),
    /// Find the limit: more and more hosts until pollers, CPU, memory or queue say stop, then fewer, until the limit
    /// is known to some per cent.
    Limit(Limit),
    /// Values written against the ideal line, for several numbers of targets.
    Line(Line),
    /// Ping many addresses in rounds, by this program alone: no server is needed, but the
    /// capability CAP_NET_RAW.
    Ping(Ping),
    /// CPU time of load balancers for the same requests: `vedette engine`, HAProxy and nginx, as far
    /// as they are installed. Everything runs on loopback, on two cores.
    Lb(Lb),
    /// Measure the limits of this machine, for the page Capacity of the UI.
    ///
    /// Starts a server of its own on an empty folder and free ports of loopback, so that a server
    /// in use needs no password and gets no hosts; it shares the machine with the measurement, so
    /// take a quiet hour.
    Capacity(Capacity),
    /// Prove that no acknowledged value is lost: send with --log, kill and restart the server at
    /// will, compare with --check.
    Crash(Crash),
    /// Remove what broken measurements left on the server.
    Clean(Access),
    /// Turn a plot from SVG into PNG, as it looks on every machine.
    Picture(Picture),
}

#[derive(Debug, Args)]
pub(crate) struct Load {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Trapper port of the server.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:10051")]
    pub(crate) server: String,
    /// Hosts to make.
    #[arg(long, default_value_t = 100)]
    pub(crate) hosts: usize,
    /// Items per host.
    #[arg(long, default_value_t = 45)]
    pub(crate) items: usize,
    /// Send the items in one random order over all hosts, as requests of many senders arrive.
    /// Without it requests hold neighbouring items.
    #[arg(long)]
    pub(crate) random: bool,
    /// Values per request.
    #[arg(long, default_value_t = 1000)]
    pub(crate) batch: usize,
    /// Requests at a time.
    #[arg(long, default_value_t = 8)]
    pub(crate) connections: usize,
    /// How long to measure.
    #[arg(long, default_value_t = 20)]
    pub(crate) seconds: u64,
    /// Values per second, or "max".
    #[arg(long, value_name = "N|max", default_value = "max", value_parser = rate)]
    pub(crate) rate: Rate,
    /// Leave the hosts on the server.
    #[arg(long)]
    pub(crate) keep: bool,
}

/// `None` = as fast as the server takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate(pub(crate) Option<u64>);

#[derive(Debug, Args)]
pub(crate) struct Trapper {
    #[command(flatten)]
    pub(crate) load: Load,
    /// Read the values of a sample of items back and compare them.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Write every acknowledged value to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Store counters as change per second; their values are then not those that were sent.
    #[arg(long, conflicts_with = "log")]
    pub(crate) change_per_second: bool,
    /// Put a trigger on each N-th item that is a number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) trigger_every: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Steps {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Trapper port of the server.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:10051")]
    pub(crate) server: String,
    /// Which steps.
    #[arg(
        long,
        value_name = "STEP",
        value_delimiter = ',',
        default_value = "jsonpath,regex,javascript",
        value_parser = bench::steps::NAMES
    )]
    pub(crate) chains: Vec<String>,
    /// Items that the values of a step are spread over.
    #[arg(long, default_value_t = 20)]
    pub(crate) items: usize,
    /// Values for each step, and as many without it.
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub(crate) values: usize,
    /// Values per request.
    #[arg(long, default_value_t = 1000)]
    pub(crate) batch: usize,
    /// Times that everything is done; the medians count.
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,
    /// Leave the hosts on the server.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    #[command(flatten)]
    pub(crate) load: Load,
    /// Clients that ask at one time.
    #[arg(long, default_value_t = 2)]
    pub(crate) readers: usize,
    /// Values are written so long before the first query.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) warm: u64,
    /// Write and ask for values of so long ago: from beyond the embedded days a store gives them.
    #[arg(long, default_value = "0s", value_parser = duration)]
    pub(crate) age: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct Overload {
    #[command(flatten)]
    pub(crate) load: Load,
    /// How long the sustainable rate is measured before.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    pub(crate) calm: u64,
    /// Offered rate as a multiple of the sustainable one.
    #[arg(long, default_value_t = 2.0)]
    pub(crate) times: f64,
    /// Connections of the overload as a multiple of --connections.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) connections_times: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Blackout {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Hosts that stop answering, half of them agents, half SNMP devices.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) hosts: usize,
    /// Hosts that answer all the time.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) living: usize,
    /// Items per host.
    #[arg(long, default_value_t = 5)]
    pub(crate) items: usize,
    /// Update interval of each item, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) interval: u64,
    /// How long to look before.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub(crate) before: Duration,
    /// How long nobody answers.
    #[arg(long, value_name = "TIME", default_value = "180s", value_parser = duration)]
    pub(crate) dark: Duration,
    /// How long to look afterwards.
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = duration)]
    pub(crate) after: Duration,
    /// First loopback address of the hosts.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Consecutive addresses on which they listen.
    #[arg(long, default_value_t = 8)]
    pub(crate) addresses: usize,
    /// Leave the hosts on the server.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Agent {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Hosts to make.
    #[arg(long, default_value_t = 1000)]
    pub(crate) hosts: usize,
    /// How long the server gets until it polls at full speed, beside one interval.
    #[arg(long, value_name = "TIME", default_value = "90s", value_parser = duration)]
    pub(crate) warm: Duration,
    #[command(flatten)]
    pub(crate) checks: Checks,
    /// Leave the hosts on the server.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Snmp {
    #[command(flatten)]
    pub(crate) load: Agent,
    /// How items ask.
    #[arg(long, value_enum, default_value_t = Style::Get)]
    pub(crate) style: Style,
    /// Values that a walk brings.
    #[arg(long, default_value_t = 150)]
    pub(crate) rows: u32,
    /// Allow the server to ask for several values in one request.
    #[arg(long)]
    pub(crate) bulk: bool,
}

/// How SNMP items ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    /// get[OID]
    Get,
    /// An OID alone.
    Oid,
    /// walk[OID]
    Walk,
}

impl Style {
    pub(crate) const fn of(self, rows: u32) -> SnmpStyle {
        match self {
            Self::Get => SnmpStyle::Get,
            Self::Oid => SnmpStyle::Oid,
            Self::Walk => SnmpStyle::Walk(rows),
        }
    }
}

#[derive(Debug, Args)]
#[command(mut_arg("items", |arg| arg.default_value("10")))]
pub(crate) struct Line {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Numbers of targets (hosts), one measurement each.
    #[arg(long, value_delimiter = ',', default_value = "100,200,400,800")]
    pub(crate) targets: Vec<usize>,
    /// Count what this history store of the server holds, too: a store as the server's parameter
    /// names it.
    #[arg(long, value_name = "KIND=URL")]
    pub(crate) history_store: Option<String>,
    #[command(flatten)]
    pub(crate) checks: Checks,
}

#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Trapper port of the server.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:10051")]
    pub(crate) server: String,
    /// Hosts to make.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) hosts: usize,
    /// Items of all hosts together.
    #[arg(long, default_value_t = 450_000)]
    pub(crate) items: usize,
    /// Make items one by one instead of by linking a template.
    #[arg(long)]
    pub(crate) without_template: bool,
    /// Changes of one item that are timed.
    #[arg(long, default_value_t = 20)]
    pub(crate) changes: usize,
    /// Rest before memory is read.
    #[arg(long, default_value = "5s", value_parser = duration)]
    pub(crate) settle: Duration,
    /// Leave the hosts on the server.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Capacity {
    /// Data folder of the server that shows the result.
    #[arg(long, value_name = "DIR", env = "VEDETTE_DATA", default_value = "var")]
    pub(crate) data: PathBuf,
    /// How long each of the two loads is measured.
    #[arg(long, default_value_t = 20)]
    pub(crate) seconds: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Picture {
    /// The drawing.
    #[arg(value_name = "FILE.svg")]
    pub(crate) from: PathBuf,
    /// The picture to write.
    #[arg(value_name = "FILE.png")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("mode").required(true).args(["log", "check"]))]
pub(crate) struct Crash {
    #[command(flatten)]
    pub(crate) load: Load,
    /// Send, and write every acknowledged value to this file. The hosts stay on the server.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Compare this file with the server's history; exit status 1 if anything is missing,
    /// duplicated or different.
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
}

pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "max" => Ok(Rate(None)),
        _ => match text.parse() {
            Ok(n) if n > 0 => Ok(Rate(Some(n))),
            _ => Err("a number of values per second, or max".to_owned()),
        },
    }
}
