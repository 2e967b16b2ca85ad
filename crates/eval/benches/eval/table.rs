//! Measuring and showing.

use std::hint::black_box;
use std::io::Write as _;
use std::time::Duration;

use stdx::clock::{RealClock, SharedClock};
use stdx::sys::thread_cpu_time;

/// One measurement takes so long; the best of [`ROUNDS`] counts, as others share the machine.
const ROUND: Duration = Duration::from_millis(15);
const ROUNDS: usize = 5;

/// What is measured with one clock and shown in tables.
pub(crate) struct Bench {
    clock: SharedClock,
    words: Vec<String>,
}

/// Rows of one table.
pub(crate) struct Table<'b> {
    bench: &'b Bench,
    title: &'static str,
    unit: &'static str,
    rows: Vec<(String, f64)>,
}

impl Bench {
    /// Words on the command line choose rows; cargo adds `--bench`.
    pub(crate) fn from_arguments() -> Self {
        let words = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
        Self { clock: RealClock::shared(), words }
    }

    /// The clock of scripts.
    pub(crate) fn clock(&self) -> SharedClock {
        SharedClock::clone(&self.clock)
    }

    /// An empty table.
    pub(crate) fn table(&self, title: &'static str, unit: &'static str) -> Table<'_> {
        Table { bench: self, title, unit, rows: Vec::new() }
    }

    /// Nanoseconds of one call, the best of several rounds.
    fn measure<R>(&self, mut call: impl FnMut() -> R) -> f64 {
        // CPU time: what others do on the machine counts less.
        let mut time = |calls: u32| {
            let start = thread_cpu_time();
            for _ in 0..calls {
                black_box(call());
            }
            thread_cpu_time() - start
        };
        let mut calls = 1;
        while time(calls) < ROUND / 4 {
            calls *= 2;
        }
        calls *= 4;
        let best = (0..ROUNDS).map(|_| time(calls)).min().unwrap();
        best.as_secs_f64() * 1e9 / f64::from(calls)
    }
}

impl Table<'_> {
    /// Measures a row: `call` handles `values` values.
    pub(crate) fn row<R>(&mut self, name: &str, values: u32, call: impl FnMut() -> R) {
        let words = &self.bench.words;
        if words.is_empty() || words.iter().any(|word| name.contains(word.as_str())) {
            let ns = self.bench.measure(call) / f64::from(values);
            self.rows.push((name.to_owned(), ns));
        }
    }

    /// Prints the rows, the dearest first, as a Markdown table.
    pub(crate) fn show(mut self) {
        if self.rows.is_empty() {
            return;
        }
        self.rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        let width = self.rows.iter().map(|row| row.0.len()).max().unwrap().max(4);
        let unit = self.unit;
        let mut out = std::io::stdout().lock();
        let line = "-".repeat(width);
        let dashes = "-".repeat(unit.len().saturating_sub(1));
        writeln!(out, "\n### {}\n", self.title).unwrap();
        writeln!(out, "| {:width$} | {unit} |\n| {line} | {dashes}: |", "what").unwrap();
        for (name, ns) in &self.rows {
            let (digits, unit_width) = (usize::from(*ns < 100.0), unit.len());
            writeln!(out, "| {name:width$} | {ns:>unit_width$.digits$} |").unwrap();
        }
    }
}
