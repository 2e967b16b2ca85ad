//! Nanoseconds per value of each step, function, expression and macro: `cargo bench -p eval`.
//!
//! `cargo bench -p eval -- jsonpath trend` measures only rows whose name holds one of the words.
//! Figures are in README.md one folder up.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

mod expressions;
mod functions;
mod history;
mod large;
mod macros;
mod steps;
mod table;

use table::Bench;

fn main() {
    let mut bench = Bench::from_arguments();
    steps::run(&mut bench);
    history::run(&mut bench);
    functions::run(&mut bench);
    expressions::run(&mut bench);
    macros::run(&mut bench);
    large::run(&mut bench);
}
