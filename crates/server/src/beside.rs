//! Commands that are programs of their own, installed beside `vedette`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches};

/// The command.
pub(crate) const BENCH: &str = "bench";
/// Its program.
const PROGRAM: &str = "vedette-bench";
const ARGUMENTS: &str = "arguments";

/// Whatever follows the command: the program knows its own arguments.
pub(crate) fn arguments() -> Arg {
    Arg::new(ARGUMENTS)
        .action(ArgAction::Append)
        .num_args(0..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true)
        .value_parser(clap::value_parser!(OsString))
        .help("Measurement and its arguments; see vedette bench --help")
}

/// Becomes the program.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let path = std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .context("cannot tell where vedette is installed")?
        .with_file_name(PROGRAM);
    if !path.exists() {
        anyhow::bail!(
            "{} is not there: `make bench` builds it, and the package contains it",
            path.display()
        );
    }
    let arguments = matches.get_many::<OsString>(ARGUMENTS).unwrap_or_default();
    let error = Command::new(&path).args(arguments).exec();
    Err(error).with_context(|| format!("cannot run {}", path.display()))
}
