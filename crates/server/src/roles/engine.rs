//! `vedette engine`: the load balancer's engine.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use lb::config::{Order, Purge, Time};
use lb::import::{Origin, import};
use lb::orders;
use lb::{Beginning, Drain};
use stdx::clock::RealClock;

const CHECK: &str = "check";
const IMPORT: &str = "import";
const PURGE: &str = "purge";

/// Where an engine under a server keeps what it has.
const DATA: &str = "/var/lib/vedette-engine";

/// Parameters of an engine that gets its configuration from a server.
fn controlled() -> [Arg; 5] {
    let controller = Arg::new("controller")
        .long("controller")
        .value_name("HOST:PORT")
        .conflicts_with("config")
        .help("Server that sends the configuration and takes the records: its --engines address");
    let data = Arg::new("data")
        .long("data")
        .value_name("DIR")
        .default_value(DATA)
        .value_parser(clap::value_parser!(PathBuf))
        .help("With --controller: folder of the engine's key, configuration and records");
    let token = Arg::new("token")
        .long("token")
        .value_name("TOKEN")
        .env("VEDETTE_ENGINE_TOKEN")
        .hide_env_values(true)
        .requires("controller")
        .help(
            "For the first start: the one-time token of engine.generate. Use the environment, because \
             flags are visible to all users",
        );
    let scripts = Arg::new("monitor-scripts")
        .long("monitor-scripts")
        .value_name("DIR")
        .requires("controller")
        .value_parser(clap::value_parser!(PathBuf))
        .help(
            "With --controller: folder of programs that health monitors of type script may run; without it, \
             they run none",
        );
    let announce = Arg::new("announce")
        .long("announce")
        .value_name("FILE")
        .requires("controller")
        .value_parser(clap::value_parser!(PathBuf))
        .help(
            "With --controller: file (YAML) with the members of 'announce': how other machines learn of the \
             VIPs of this one",
        );
    [controller, data, token, scripts, announce]
}

/// Parameters of processes that follow each other.
fn succession() -> [Arg; 2] {
    let drain = Arg::new("drain")
        .long("drain")
        .value_name("TIME")
        .value_parser(|text: &str| text.parse::<Time>())
        .help("Longest time, such as 30s, for which SIGTERM lets connections end; default: it closes them at once");
    let takeover = Arg::new("takeover")
        .long("takeover")
        .action(ArgAction::SetTrue)
        .help("Start beside an engine with the same files and addresses, which then gets SIGTERM");
    [drain, takeover]
}

fn control() -> Arg {
    Arg::new("control")
        .long("control")
        .value_name("SOCKET")
        .value_parser(clap::value_parser!(PathBuf))
}

fn config() -> Arg {
    Arg::new("config")
        .long("config")
        .value_name("FILE")
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
        .about("Run the load balancer's engine, from a file or under a server: HTTP, gRPC, TCP, UDP, TLS")
        .long_about(
            "Run the load balancer's engine, from a file (--config) or under a Vedette server \
             (--controller). It forwards requests of HTTP/1.1, \
             HTTP/2 and HTTP/3, gRPC calls, WebSocket, TCP and UDP to pools of servers, with or without TLS on either side.\n\
             With --config, SIGHUP reads the file again: open connections stay, and a file with errors \
             changes nothing. With --controller, the server sends each change; without the server, the \
             engine goes on and keeps its records for it. SIGTERM ends the process and its connections; with \
             --drain it first lets them end.",
        )
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .arg(config().required_unless_present("controller"))
        .args(controlled())
        .arg(control().requires("config").help(
            "With --config: Unix socket to create for 'vedette engine purge'; default: none",
        ))
        .args(succession())
        .arg(log)
        .subcommand(
            Command::new(CHECK)
                .about("Check a configuration, with its certificates, without using it")
                .arg(config().required(true)),
        )
        .subcommand(import_command())
        .subcommand(purge_command())
}

fn purge_command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new(PURGE)
        .about("Remove stored responses from the cache of a running engine, and print how many")
        .arg(control().required(true).help("Socket of the engine: its --control"))
        .arg(text("service", "NAME", "Virtual service; default: all"))
        .arg(text("uri", "URI", "Remove one URI, such as www.example.com/a?b=1"))
        .arg(text("prefix", "URI", "Remove all URIs that begin so, such as www.example.com/a/"))
        .arg(Arg::new("all").long("all").action(ArgAction::SetTrue).help("Remove all responses"))
        .group(ArgGroup::new("what").args(["uri", "prefix", "all"]).required(true))
}

/// Removes stored responses of a running engine.
fn run_purge(matches: &ArgMatches) -> anyhow::Result<()> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let purge = match (text("uri"), text("prefix")) {
        (Some(uri), _) => Purge::Uri(uri),
        (None, Some(prefix)) => Purge::Prefix(prefix),
        (None, None) => Purge::All,
    };
    purge.check().map_err(anyhow::Error::msg)?;
    let socket = matches.get_one::<PathBuf>("control").cloned().unwrap_or_default();
    let purged = orders::send(&socket, &Order { service: text("service"), purge })?;
    writeln!(std::io::stdout(), "{purged} responses removed")?;
    Ok(())
}

fn import_command() -> Command {
    let from = Arg::new("from")
        .long("from")
        .value_name("PRODUCT")
        .required(true)
        .value_parser(["haproxy", "nginx"])
        .help("Product whose configuration the file is");
    let file = Arg::new("file")
        .value_name("FILE")
        .required(true)
        .value_parser(clap::value_parser!(PathBuf))
        .help("haproxy.cfg or nginx.conf");
    Command::new(IMPORT)
        .about("Convert the configuration of HAProxy or nginx")
        .long_about(
            "Convert the configuration of HAProxy or nginx. The result goes to the standard output, \
             and a line for each directive that was not converted exactly to the standard error. \
             'not converted': it is missing in the result; 'differs': it is similar.",
        )
        .arg(from)
        .arg(file)
}

/// Prints a converted configuration and what could not be converted.
fn run_import(matches: &ArgMatches) -> anyhow::Result<()> {
    let file = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    let origin = match matches.get_one::<String>("from").map(String::as_str) {
        Some("nginx") => Origin::Nginx,
        _ => Origin::Haproxy,
    };
    let imported = import(origin, &file)?;
    let text = imported.config.render().map_err(anyhow::Error::msg)?;
    std::io::stdout().write_all(text.as_bytes())?;
    let mut errors = std::io::stderr();
    write!(errors, "{}", imported.report)?;
    let (services, pools) = (imported.config.virtual_services.len(), imported.config.pools.len());
    let missing = imported.report.missing_count();
    let differ = imported.report.findings().count() - missing;
    writeln!(
        errors,
        "{services} virtual services, {pools} pools; not converted: {missing}, different: {differ}"
    )?;
    if let Err(problem) = lb::check(&imported.config) {
        writeln!(errors, "The result needs changes before the engine can use it: {problem:#}")?;
    }
    Ok(())
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
    if let Some((IMPORT, matches)) = matches.subcommand() {
        return run_import(matches);
    }
    if let Some((PURGE, matches)) = matches.subcommand() {
        return run_purge(matches);
    }
    crate::logging::log(matches.get_one::<String>("log").map_or("info", String::as_str))?;
    stdx::thread::on_failure(crate::failure::end_engine);
    stdx::thread::set_running(true);
    let clock = RealClock::shared();
    let deadline = matches.get_one::<Time>("drain").map_or(Duration::ZERO, |time| time.0);
    let drain = Drain { deadline };
    let beginning =
        if matches.get_flag("takeover") { Beginning::Takeover } else { Beginning::Alone };
    match matches.get_one::<String>("controller") {
        Some(controller) => {
            let options = control::engine::Options {
                controller: controller.clone(),
                data: matches.get_one::<PathBuf>("data").cloned().unwrap_or_default(),
                token: matches.get_one::<String>("token").cloned(),
                monitor_scripts: matches.get_one::<PathBuf>("monitor-scripts").cloned(),
                announce: matches.get_one::<PathBuf>("announce").cloned(),
                beginning,
                drain,
            };
            control::engine::run(&options, &clock)
        }
        None => {
            let control = matches.get_one::<PathBuf>("control").cloned();
            lb::run(&lb::Service { file: file(matches), beginning, drain, control }, &clock)
        }
    }
}
