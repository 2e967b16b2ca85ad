//! The results: a Markdown table for people, JSON for programs.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::load::Outcome;
use super::row::{Body, Connections, Row};

/// Requests to which the CPU times of the table refer.
const REQUESTS: f64 = 100_000.0;

/// A program that was measured.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// What one row brought: the runs of each balancer, in the order of the columns; none where it could
/// not be measured.
pub(crate) struct Measured {
    pub(crate) row: &'static Row,
    pub(crate) runs: Vec<Vec<Outcome>>,
}

/// Median, smallest and largest of some runs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

impl Spread {
    /// `None` of nothing.
    fn of(mut figures: Vec<f64>) -> Option<Self> {
        figures.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*figures.first()?, *figures.last()?);
        let (upper, lower) = (figures.len() / 2, (figures.len() - 1) / 2);
        Some(Self { median: f64::midpoint(figures[lower], figures[upper]), min, max })
    }
}

/// What the figure of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// CPU seconds for 100,000 requests.
    CpuTime,
    /// Gbit for a CPU second.
    Gbit,
    /// Bytes of the balancer's memory for a connection.
    Memory,
    /// Milliseconds until a change is live.
    Change,
}

impl Unit {
    fn of(row: &Row) -> Self {
        match (row.connections, row.body) {
            _ if row.changes.is_some() => Self::Change,
            (Connections::Idle, _) => Self::Memory,
            (_, Body::Small) => Self::CpuTime,
            (_, Body::Bulk) => Self::Gbit,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::CpuTime => "CPU s per 100,000 requests",
            Self::Gbit => "Gbit per CPU s",
            Self::Memory => "bytes per connection",
            Self::Change => "ms until it is live",
        }
    }

    fn figure(self, run: &Outcome) -> f64 {
        match self {
            Self::CpuTime => run.cpu_s / run.requests as f64 * REQUESTS,
            Self::Gbit => run.bytes as f64 * 8.0 / 1e9 / run.cpu_s,
            Self::Memory => {
                let growth = run.memory.map(|memory| memory.after.saturating_sub(memory.before));
                growth.unwrap_or(0) as f64 / run.requests as f64
            }
            Self::Change => run.seconds * 1000.0 / run.changes as f64,
        }
    }
}

impl Measured {
    fn spread(&self, column: usize) -> Option<Spread> {
        let runs = self.runs.get(column)?;
        let figures = runs.iter().map(|run| self.unit().figure(run));
        // Too short a run uses no tick of CPU time.
        Spread::of(figures.filter(|figure| figure.is_finite()).collect())
    }

    /// CPU time, memory or time of a column for the same work, as a multiple of the first one's.
    fn ratio(&self, column: usize) -> Option<f64> {
        let (first, other) = (self.spread(0)?.median, self.spread(column)?.median);
        let ratio = match self.unit() {
            Unit::CpuTime | Unit::Memory | Unit::Change => other / first,
            Unit::Gbit => first / other,
        };
        ratio.is_finite().then_some(ratio)
    }

    fn unit(&self) -> Unit {
        Unit::of(self.row)
    }
}

/// Results of `vedette bench lb`.
pub struct Comparison {
    pub(crate) settings: Value,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Measured>,
    /// What was not measured, and why.
    pub(crate) notes: Vec<String>,
}

impl Comparison {
    /// A Markdown table, and below it what was not measured.
    pub fn text(&self) -> String {
        let mut text = "|".to_owned();
        let mut cell = |words: &str| {
            let _infallible = write!(text, " {words} |");
        };
        cell("CPU s per 100,000 requests");
        let (first, others) = match self.columns.split_first() {
            Some((first, others)) => (first.name.as_str(), others),
            None => ("", [].as_slice()),
        };
        self.columns.iter().for_each(|column| cell(&format!("{} {}", column.name, column.version)));
        others.iter().for_each(|other| cell(&format!("{} / {first}", other.name)));
        text += "\n| --- |";
        text += &" ---: |".repeat(self.columns.len() + others.len());
        text.push('\n');
        for measured in &self.rows {
            text += &self.line(measured);
        }
        for note in &self.notes {
            let _infallible = writeln!(text, "\n{note}");
        }
        text
    }

    fn line(&self, measured: &Measured) -> String {
        let mut line = format!("| {}", measured.row.label);
        if measured.unit() != Unit::CpuTime {
            let _infallible = write!(line, ", {}", measured.unit().name());
        }
        for column in 0..self.columns.len() {
            let cell = measured.spread(column).map_or("–".to_owned(), |found| {
                format!("{} ({}–{})", short(found.median), short(found.min), short(found.max))
            });
            let _infallible = write!(line, " | {cell}");
        }
        for column in 1..self.columns.len() {
            let cell =
                measured.ratio(column).map_or("–".to_owned(), |ratio| format!("**{ratio:.2}**"));
            let _infallible = write!(line, " | {cell}");
        }
        line + " |\n"
    }

    /// `{"bench":"lb","settings":{…},"balancers":[…],"rows":[…],"notes":[…]}`; each row has the
    /// figures of the table and those of each run by the names of balancers.
    pub fn json(&self) -> Value {
        let balancers: Vec<Value> = self
            .columns
            .iter()
            .map(|column| json!({ "name": column.name, "version": column.version }))
            .collect();
        let rows: Vec<Value> = self.rows.iter().map(|measured| self.row_json(measured)).collect();
        json!({
            "bench": "lb", "settings": self.settings, "balancers": balancers, "rows": rows,
            "notes": self.notes,
        })
    }

    fn row_json(&self, measured: &Measured) -> Value {
        let mut figures = Map::new();
        for (column, runs) in self.columns.iter().zip(&measured.runs) {
            let runs: Vec<Value> = runs
                .iter()
                .map(|run| {
                    json!({
                        "figure": measured.unit().figure(run),
                        "requests": run.requests, "bytes": run.bytes,
                        "cpu_s": run.cpu_s, "seconds": run.seconds,
                        "changes": run.changes,
                        "memory_before_bytes": run.memory.map(|memory| memory.before),
                        "memory_after_bytes": run.memory.map(|memory| memory.after),
                    })
                })
                .collect();
            let at = figures.len();
            let spread = measured
                .spread(at)
                .map(|found| json!({ "median": found.median, "min": found.min, "max": found.max }));
            let ratio = measured.ratio(at);
            figures.insert(
                column.name.clone(),
                json!({ "spread": spread, "cpu_ratio": ratio, "runs": runs }),
            );
        }
        let Row { name, label, .. } = measured.row;
        json!({ "name": name, "label": label, "unit": measured.unit().name(), "balancers": figures })
    }

    /// Writes [`Comparison::json`] to a file.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&self.json())? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Three digits, as far as they are behind the point.
fn short(x: f64) -> String {
    let digits = if x < 10.0 { 2 } else { usize::from(x < 1000.0) };
    format!("{x:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::super::row::ROWS;
    use super::*;

    fn run(requests: u64, cpu_s: f64) -> Outcome {
        Outcome {
            requests,
            bytes: requests * 125_000_000,
            cpu_s,
            seconds: 2.0,
            changes: 0,
            memory: None,
        }
    }

    fn comparison() -> Comparison {
        let column = |name: &str| Column { name: name.to_owned(), version: "1.0".to_owned() };
        let row = |name| ROWS.iter().find(|row| row.name == name).unwrap();
        Comparison {
            settings: json!({}),
            columns: vec![column("vedette"), column("haproxy"), column("nginx")],
            rows: vec![
                Measured {
                    row: row("keep-alive-64"),
                    runs: vec![
                        vec![run(100_000, 1.0), run(100_000, 4.0), run(200_000, 1.6)],
                        vec![run(100_000, 1.5)],
                        Vec::new(),
                    ],
                },
                Measured {
                    row: row("bulk-64"),
                    runs: vec![vec![run(40, 2.0)], vec![run(30, 3.0)], vec![run(1, 0.0)]],
                },
            ],
            notes: vec!["nginx, TCP: not installed".to_owned()],
        }
    }

    #[test]
    fn the_table_has_medians_ranges_and_ratios_of_cpu_time() {
        let text = comparison().text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].ends_with("| nginx 1.0 | haproxy / vedette | nginx / vedette |"),
            "{text}"
        );
        assert_eq!(lines[1], "| --- | ---: | ---: | ---: | ---: | ---: |");
        let expected = "| keep-alive, 64 connections | 1.00 (0.80–4.00) | 1.50 (1.50–1.50) | – | **1.50** | – |";
        assert_eq!(lines[2], expected);
        // More bits for a second are less CPU time.
        assert!(lines[3].contains("| 20.0 (20.0–20.0) | 10.0 (10.0–10.0) | – | **2.00** | – |"));
        assert_eq!(lines[5], "nginx, TCP: not installed");
    }

    #[test]
    fn programs_get_each_run() {
        let json = comparison().json();
        let found = &json["rows"][0]["balancers"];
        assert_eq!(found["vedette"]["runs"].as_array().unwrap().len(), 3);
        assert_eq!(found["haproxy"]["cpu_ratio"], 1.5);
        assert_eq!(found["nginx"]["spread"], Value::Null);
        assert_eq!(json["rows"][1]["unit"], "Gbit per CPU s");
    }

    #[test]
    fn the_median_of_two_is_between_them() {
        let spread = Spread::of(vec![3.0, 1.0]).unwrap();
        assert_eq!(spread, Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
