//! Automation that needs more than a line of make.
//!
//! `cargo xtask totals FILE...` sums the results in logs of test runs, prints them, and fails when
//! a test failed, when a run broke off, or when nothing ran.
//!
//! `cargo xtask conformance DIR` runs recorded cases of evaluation and framing, prints per file how
//! many passed, failed and are not applicable, and every failure.
//!
//! `cargo xtask fuzz --seconds N` feeds every parser and evaluator with arbitrary input.
//!
//! `cargo xtask instructions` counts the instructions of hot functions (with valgrind) and fails
//! when one needs more than its baseline.
//!
//! `cargo xtask ratchets` counts long functions, import circles and the like, and fails when a crate has
//! more of them than `xtask/ratchets.toml` says.

mod conformance;
mod fuzz;
mod instructions;
mod ratchets;
mod totals;

use std::io::Write;
use std::process::ExitCode;

const HELP: &str = "usage: cargo xtask totals LOG... | conformance DIR | fuzz [--seconds N | --inputs N] [--seed N] [TARGET...] | instructions [--update] [--tolerance PERCENT] [CASE...] | ratchets [--list MEASURE | --write]\n";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let result = match arguments.next().as_deref() {
        Some("conformance") => conformance::run(arguments),
        Some("fuzz") => fuzz::run(arguments),
        Some("instructions") => instructions::run(arguments),
        Some("ratchets") => ratchets::run(arguments),
        Some("totals") => totals::run(arguments),
        _ => Err(anyhow::anyhow!("{HELP}")),
    };
    match result {
        Ok(text) => {
            let shown = std::io::stdout().write_all(text.as_bytes());
            if shown.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
