//! `vedette engine`: the load balancer's engine.

use std::io::Write;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use stdx::clock::RealClock;

const CHECK: &str = "check";

fn config() -> Arg {
    Arg::new("config")
        .long("config")
        .value_name("FILE")
        .required(true)
        .value_parser(clap::value_parser!(PathBuf))
        .help("Configuration of the load balancer (YAML); see docs/load-balancer.md")
}

/// The command and its parameters.
pub(crate) fn command() -> Command {
    let log = Arg::new("log")
        .long("log")
        .value_name("LEVEL")
        .default_value("info")
        .help("Log level: error, warn, info, debug or trace");
    Command::new("engine")
        .about("Run the load balancer's engine from a file: HTTP, gRPC, TCP, TLS")
        .long_about(
            "Run the load balancer's engine from a file. It forwards requests of HTTP/1.1 and \
             HTTP/2, gRPC calls, WebSocket and TCP connections to pools of servers, with or without TLS on either side.\n\
             SIGHUP reads the file again: open connections stay, and a file with errors changes \
             nothing. SIGTERM ends the process and its connections.\n\
             Not supported yet: HTTP/3, UDP and rate limits.",
        )
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .arg(config())
        .arg(log)
        .subcommand(
            Command::new(CHECK)
                .about("Check a configuration, with its certificates, without using it")
                .arg(config()),
        )
}

/// Runs the engine, or checks its file.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let file =
        |matches: &ArgMatches| matches.get_one::<PathBuf>("config").cloned().unwrap_or_default();
    if let Some((CHECK, matches)) = matches.subcommand() {
        let file = file(matches);
        lb::check(&lb::read(&file)?)?;
        writeln!(std::io::stdout(), "{}: the configuration is valid", file.display())?;
        return Ok(());
    }
    crate::logging::log(matches.get_one::<String>("log").map_or("info", String::as_str))?;
    stdx::thread::on_failure(crate::failure::end_engine);
    stdx::thread::set_running(true);
    lb::run(&file(matches), &RealClock::shared())
}
