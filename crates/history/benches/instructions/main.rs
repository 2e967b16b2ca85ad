//! The functions that each value goes through, for counting their instructions.
//!
//! `cargo xtask instructions` runs this under callgrind, which counts only within [`counted`], and
//! compares with `baseline.txt` beside this file. Alone it takes the name of a case, runs it and
//! says nothing; without a name it lists the cases and how many values each handles.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

mod evaluation;
mod storage;

use std::hint::black_box;
use std::io::Write as _;

/// A case: its name, the values that it handles, and how it is run. What is prepared does not count.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) values: u32,
    pub(crate) run: fn(values: u32),
}

/// What is counted: callgrind collects while this function runs. Its name is part of the contract
/// with `cargo xtask instructions`.
#[inline(never)]
pub(crate) fn counted(call: &mut dyn FnMut()) {
    black_box(call)();
}

fn main() {
    let cases = evaluation::CASES.iter().chain(storage::CASES);
    // Cargo adds `--bench`.
    match std::env::args().skip(1).find(|word| !word.starts_with('-')) {
        Some(name) => {
            let case = cases.clone().find(|case| case.name == name);
            let case = case.unwrap_or_else(|| panic!("there is no case {name}"));
            (case.run)(case.values);
        }
        None => {
            let mut out = std::io::stdout().lock();
            for case in cases {
                writeln!(out, "{} {}", case.name, case.values).unwrap();
            }
        }
    }
}
