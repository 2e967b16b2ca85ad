//! The program `vedette`: commands and their parameters. What they do is in the layers below.

mod account;
mod beside;
mod built_in_agent;
mod failure;
mod first_start;
mod folder;
mod history_command;
mod listen;
mod logging;
mod mail_reply_command;
mod pairing;
mod params;
mod parts;
mod password_command;
mod roles;
mod transactions_command;
mod verify_command;

use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use params::Values;

/// 1,000,000 values/s allocate and free on many threads; the system's allocator costs a third of
/// a core there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn command() -> Command {
    let server = Command::new("server")
        .about("Run the monitoring server: listeners, history, triggers, API and UI")
        .long_about(
            "Run the monitoring server. All listeners use loopback addresses by default.\n\
             The first start creates the data folder, the user Admin, and two hosts: this machine \
             and Vedette itself.",
        );
    let agent = roles::agent::command().arg(
        Arg::new(built_in_agent::FLAG)
            .long(built_in_agent::FLAG)
            .action(ArgAction::SetTrue)
            .hide(true),
    );
    let get = Command::new("get")
        .about("Get one value from an agent")
        .arg(Arg::new("key").required(true).help("Item key, as in system.cpu.load[all,avg1]"))
        .arg(
            Arg::new("agent")
                .long("agent")
                .value_name("ADDR")
                .default_value("127.0.0.1:10050")
                .help("Address of the agent"),
        );
    let bench = Command::new(beside::BENCH)
        .about("Measure a server through its public protocols: Vedette, or any Zabbix-compatible server")
        .disable_help_flag(true)
        .arg(beside::arguments());
    let parameters = Command::new("parameters")
        .about("Print all parameters: flags, environment, vedette.toml (Markdown)");
    let form = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let api = Command::new("api")
        .about("Print all methods and fields of the API (Markdown)")
        .arg(form("openrpc", "Print an OpenRPC document (JSON) instead"))
        .arg(form("typescript", "Print types for TypeScript instead").conflicts_with("openrpc"));
    Command::new("vedette")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Infrastructure monitoring that speaks Zabbix 7.0, in one program")
        .after_help("Start with: vedette server, then open the address that it prints.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(params::add(server, params::SERVER))
        .subcommand(agent)
        .subcommand(get)
        .subcommand(roles::engine::command())
        .subcommand(transactions_command::command())
        .subcommand(password_command::command())
        .subcommand(history_command::command())
        .subcommand(mail_reply_command::command())
        .subcommand(bench)
        .subcommand(parameters)
        .subcommand(api)
}

fn main() -> ExitCode {
    // Every command creates files with secrets: databases, history, generated passwords.
    stdx::sys::set_umask(folder::OTHERS);
    let matches = command().get_matches();
    if let Some((mail_reply_command::NAME, matches)) = matches.subcommand() {
        return mail_reply_command::run(matches);
    }
    match dispatch(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "vedette: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(matches: &ArgMatches) -> anyhow::Result<()> {
    match matches.subcommand() {
        Some(("server", matches)) => roles::server::run(&Values::read(matches, params::SERVER)?),
        Some(("agent", matches)) if matches.get_flag(built_in_agent::FLAG) => built_in_agent::run(),
        Some(("agent", matches)) => roles::agent::run(matches),
        Some(("get", matches)) => {
            let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
            let value = roles::agent::get(text("agent"), text("key"))?;
            writeln!(std::io::stdout(), "{value}")?;
            Ok(())
        }
        Some(("engine", matches)) => roles::engine::run(matches),
        Some((transactions_command::NAME, matches)) => transactions_command::run(matches),
        Some(("password", matches)) => password_command::run(matches),
        Some(("history", matches)) => history_command::run(matches),
        Some((beside::BENCH, matches)) => beside::run(matches),
        Some(("parameters", _)) => {
            std::io::stdout().write_all(params::page().as_bytes())?;
            Ok(())
        }
        Some(("api", matches)) => {
            let text = match matches {
                matches if matches.get_flag("openrpc") => api::openrpc(),
                matches if matches.get_flag("typescript") => api::typescript(),
                _ => api::reference(),
            };
            std::io::stdout().write_all(text.as_bytes())?;
            Ok(())
        }
        _ => anyhow::bail!("no such command; see vedette --help"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_are_consistent() {
        super::command().debug_assert();
    }
}
