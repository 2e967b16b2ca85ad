//! `vedette bench`: what its commands are told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use bench::agents::AgentOptions;
use bench::configuration::ConfigOptions;
use bench::ledger::CheckOptions;
use bench::report::Report;
use bench::trapper::TrapperOptions;
use bench::{Context, Login, Through};
use clap::{Args, FromArgMatches, Subcommand};
use stdx::clock::RealClock;

/// Measure a server through its public protocols: this one, or any Zabbix.
///
/// All commands make hosts of their own through the API and remove them at the end. Generator and
/// server share the machine, so both their CPU times are reported.
#[derive(Debug, Args)]
struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Send values by the sender protocol, as fast as the server takes them.
    Trapper(Trapper),
    /// Let the server poll agents that answer at once or late.
    Agent(Agent),
    /// Make many items: memory per item, time until a change is live.
    Config(Config),
    /// Prove that no acknowledged value is lost: send with --log, kill and restart the server at
    /// will, compare with --check.
    Crash(Crash),
    /// Remove what broken measurements left on the server.
    Clean(Access),
}

#[derive(Debug, Args)]
struct Access {
    /// The server's JSON-RPC API.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080/api_jsonrpc.php")]
    api: String,
    /// User of the API, with the right to make hosts.
    #[arg(long, default_value = "Admin")]
    user: String,
    /// The user's password.
    #[arg(long, env = "VEDETTE_ADMIN_PASSWORD", hide_env_values = true)]
    password: String,
}

#[derive(Debug, Args)]
struct Output {
    /// Process of the server, for CPU time and memory; its children are included. Several, where
    /// a database belongs to it.
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pids: Vec<u32>,
    /// Leave the hosts on the server.
    #[arg(long)]
    keep: bool,
    /// Write the results to this file, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Load {
    /// Trapper port of the server.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:10051")]
    server: String,
    /// Hosts to make.
    #[arg(long, default_value_t = 100)]
    hosts: usize,
    /// Items per host.
    #[arg(long, default_value_t = 45)]
    items: usize,
    /// Values per request.
    #[arg(long, default_value_t = 1000)]
    batch: usize,
    /// Requests at a time.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// How long to measure.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Values per second, or "max".
    #[arg(long, value_name = "N|max", default_value = "max", value_parser = rate)]
    rate: Rate,
}

/// `None` = as fast as the server takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rate(Option<u64>);

#[derive(Debug, Args)]
struct Trapper {
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    load: Load,
    /// Read the values of a sample of items back and compare them.
    #[arg(long)]
    verify: bool,
    /// Write every acknowledged value to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Store counters as change per second; their values are then not those that were sent.
    #[arg(long, conflicts_with = "log")]
    change_per_second: bool,
    /// Put a trigger on each N-th item that is a number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    trigger_every: usize,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
struct Agent {
    #[command(flatten)]
    access: Access,
    /// Hosts to make.
    #[arg(long, default_value_t = 1000)]
    hosts: usize,
    /// Items per host.
    #[arg(long, default_value_t = 20)]
    items: usize,
    /// Update interval of each item, seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1)]
    interval: u64,
    /// How long an agent takes to answer: 0s, 250ms, 3s.
    #[arg(long, default_value = "0s", value_parser = duration)]
    delay: Duration,
    /// How long to measure.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// First loopback address of the agents; port 0 = any.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Consecutive addresses on which they listen.
    #[arg(long, default_value_t = 8)]
    addresses: usize,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
struct Config {
    #[command(flatten)]
    access: Access,
    /// Trapper port of the server.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:10051")]
    server: String,
    /// Hosts to make.
    #[arg(long, default_value_t = 10_000)]
    hosts: usize,
    /// Items of all hosts together.
    #[arg(long, default_value_t = 450_000)]
    items: usize,
    /// Make items one by one instead of by linking a template.
    #[arg(long)]
    without_template: bool,
    /// Changes of one item that are timed.
    #[arg(long, default_value_t = 20)]
    changes: usize,
    /// Rest before memory is read.
    #[arg(long, default_value = "5s", value_parser = duration)]
    settle: Duration,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("mode").required(true).args(["log", "check"]))]
struct Crash {
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    load: Load,
    /// Send, and write every acknowledged value to this file. The hosts stay on the server.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Compare this file with the server's history; exit status 1 if anything is missing,
    /// duplicated or different.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "max" => Ok(Rate(None)),
        _ => match text.parse() {
            Ok(n) if n > 0 => Ok(Rate(Some(n))),
            _ => Err("a number of values per second, or max".to_owned()),
        },
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit_ms) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1000),
    };
    let n: u64 = digits.parse().map_err(|_| "a time as 250ms or 3s".to_owned())?;
    n.checked_mul(unit_ms).map(Duration::from_millis).ok_or_else(|| "too long".to_owned())
}

impl Access {
    fn login(&self) -> Login {
        let (url, user) = (self.api.clone(), self.user.clone());
        Login { url, user, password: self.password.clone() }
    }
}

impl Load {
    fn options(&self, access: &Access, output: &Output) -> TrapperOptions {
        TrapperOptions {
            server: self.server.clone(),
            login: access.login(),
            hosts: self.hosts,
            items: self.items,
            batch: self.batch,
            connections: self.connections,
            seconds: self.seconds,
            rate: self.rate.0,
            pids: output.pids.clone(),
            verify: false,
            keep: output.keep,
            ledger: None,
            change_per_second: false,
            trigger_every: 0,
        }
    }
}

/// Adds the command and its arguments.
pub(crate) fn add(command: clap::Command) -> clap::Command {
    Bench::augment_args(command)
}

/// Runs one of the measurements.
pub(crate) fn run(matches: &clap::ArgMatches) -> anyhow::Result<()> {
    let mut progress = std::io::stderr();
    let mut context = Context { clock: RealClock::shared(), progress: &mut progress };
    match Bench::from_arg_matches(matches)?.what {
        What::Trapper(told) => {
            let options = TrapperOptions {
                verify: told.verify,
                ledger: told.log.clone(),
                change_per_second: told.change_per_second,
                trigger_every: told.trigger_every,
                ..told.load.options(&told.access, &told.output)
            };
            finish(&bench::trapper::run(&options, &mut context)?, &told.output)
        }
        What::Agent(told) => {
            let options = AgentOptions {
                login: told.access.login(),
                hosts: told.hosts,
                items: told.items,
                interval_s: told.interval,
                delay: told.delay,
                seconds: told.seconds,
                pids: told.output.pids.clone(),
                listen: told.listen,
                addresses: told.addresses,
                keep: told.output.keep,
            };
            finish(&bench::agents::run(&options, &mut context)?, &told.output)
        }
        What::Config(told) => {
            let options = ConfigOptions {
                server: told.server.clone(),
                login: told.access.login(),
                hosts: told.hosts,
                items: told.items,
                through: if told.without_template { Through::Items } else { Through::Template },
                changes: told.changes,
                settle: told.settle,
                pids: told.output.pids.clone(),
                keep: told.output.keep,
            };
            finish(&bench::configuration::run(&options, &mut context)?, &told.output)
        }
        What::Crash(told) => crash(&told, &mut context),
        What::Clean(access) => {
            let removed = bench::clean(&access.login())?;
            say(&format!("{removed} hosts removed\n"))
        }
    }
}

fn crash(told: &Crash, context: &mut Context<'_>) -> anyhow::Result<()> {
    let Some(file) = &told.check else {
        let options = TrapperOptions {
            keep: true,
            ledger: told.log.clone(),
            ..told.load.options(&told.access, &told.output)
        };
        return finish(&bench::trapper::run(&options, context)?, &told.output);
    };
    let options =
        CheckOptions { login: told.access.login(), file: file.clone(), keep: told.output.keep };
    let (findings, report) = bench::ledger::check(&options, context)?;
    if let Some(path) = &told.output.json {
        report.save(path)?;
    }
    say(&format!("{findings}\n"))?;
    if !findings.is_clean() {
        bail!("history does not hold what was acknowledged");
    }
    Ok(())
}

fn finish(report: &Report, output: &Output) -> anyhow::Result<()> {
    if let Some(path) = &output.json {
        report.save(path)?;
    }
    say(&report.text())
}

fn say(text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<What, clap::Error> {
        let words = line.split_ascii_whitespace();
        let matches = add(clap::Command::new("bench")).try_get_matches_from(words)?;
        Ok(Bench::from_arg_matches(&matches)?.what)
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let What::Trapper(told) = parse("bench trapper --password p").unwrap() else { panic!() };
        let options = told.load.options(&told.access, &told.output);
        assert_eq!((options.hosts, options.items, options.batch), (100, 45, 1000));
        assert_eq!((options.connections, options.seconds, options.rate), (8, 20, None));
        assert_eq!(options.login.user, "Admin");
        let What::Agent(told) = parse("bench agent --password p").unwrap() else { panic!() };
        assert_eq!((told.hosts, told.items, told.interval, told.seconds), (1000, 20, 1, 30));
        let What::Config(told) = parse("bench config --password p").unwrap() else { panic!() };
        assert_eq!((told.hosts, told.items), (10_000, 450_000));
    }

    #[test]
    fn arguments() {
        let line = "bench trapper --password p --rate 5000 --pid 1,2 --pid 3 --verify --keep";
        let What::Trapper(told) = parse(line).unwrap() else { panic!() };
        assert_eq!((told.load.rate, told.output.pids), (Rate(Some(5000)), vec![1, 2, 3]));
        assert!(told.verify && told.output.keep);
        let What::Agent(told) = parse("bench agent --password p --delay 3s").unwrap() else {
            panic!()
        };
        assert_eq!(told.delay, Duration::from_secs(3));
        for (text, ms) in [("0s", 0), ("250ms", 250), ("2", 2000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)));
        }
    }

    #[test]
    fn what_is_refused() {
        for line in [
            "bench",
            "bench trapper --password p --rate 0",
            "bench trapper --password p --rate fast",
            "bench trapper --password p --pid x",
            "bench agent --password p --delay soon",
            "bench agent --password p --delay 99999999999999999999s",
            "bench agent --password p --listen here",
            "bench trapper --password p --log f --change-per-second",
            "bench crash --password p",
            "bench crash --password p --log a --check b",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
