//! Results: a table for people, JSON for programs.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

/// One measured figure.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    name: &'static str,
    label: &'static str,
    value: Value,
}

/// The figures of one command, in the order in which they are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    bench: &'static str,
    settings: Value,
    rows: Vec<Row>,
}

impl Report {
    /// Without figures yet; `settings` are what the command was told.
    pub fn new(bench: &'static str, settings: Value) -> Self {
        Self { bench, settings, rows: Vec::new() }
    }

    /// Adds a count.
    pub(crate) fn count(&mut self, name: &'static str, label: &'static str, n: u64) {
        self.rows.push(Row { name, label, value: n.into() });
    }

    /// Adds a measurement; one that is no number is left out.
    pub(crate) fn number(&mut self, name: &'static str, label: &'static str, x: f64) {
        if x.is_finite() {
            self.rows.push(Row { name, label, value: json!(rounded(x)) });
        }
    }

    /// Adds a remark.
    pub(crate) fn note(&mut self, name: &'static str, label: &'static str, text: &str) {
        self.rows.push(Row { name, label, value: text.into() });
    }

    /// Adds bytes.
    pub(crate) fn megabytes(&mut self, name: &'static str, label: &'static str, bytes: u64) {
        self.number(name, label, bytes as f64 / f64::from(1 << 20));
    }

    /// The figure `name`, as it goes into JSON.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.rows.iter().find(|row| row.name == name).map(|row| &row.value)
    }

    /// `{"bench":…,"settings":{…},"results":{…}}`.
    pub fn json(&self) -> Value {
        let results: Map<String, Value> =
            self.rows.iter().map(|row| (row.name.to_owned(), row.value.clone())).collect();
        json!({ "bench": self.bench, "settings": self.settings, "results": results })
    }

    /// Writes [`Report::json`] to a file.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&self.json())? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// A line per figure.
    pub fn text(&self) -> String {
        let width = self.rows.iter().map(|row| row.label.len()).max().unwrap_or(0);
        let mut text = format!("vedette bench {}\n", self.bench);
        for row in &self.rows {
            let shown = match row.value.as_u64() {
                Some(n) => grouped(n),
                None => row.value.as_f64().map_or_else(|| row.value.to_string(), grouped_number),
            };
            text += &format!("  {:width$}  {shown:>14}\n", row.label);
        }
        text
    }
}

/// Four significant digits, or whole numbers: what a measurement is worth.
fn rounded(x: f64) -> f64 {
    if x == 0.0 || x.abs() >= 1000.0 {
        return x.round();
    }
    let digits = 3 - x.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits.clamp(0, 6));
    (x * scale).round() / scale
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn grouped_number(x: f64) -> String {
    if x.fract() == 0.0 && (0.0..1e15).contains(&x) { grouped(x as u64) } else { x.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        for (n, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(n), expected);
        }
        for (x, expected) in
            [(0.0, 0.0), (1234.56, 1235.0), (12.3456, 12.35), (0.012_345_6, 0.01235), (-2.0, -2.0)]
        {
            assert_eq!(rounded(x), expected);
        }
    }

    #[test]
    fn text_and_json_hold_the_same_figures() {
        let mut report = Report::new("trapper", json!({ "hosts": 2 }));
        report.count("acknowledged", "values acknowledged", 1_200_000);
        report.number("rate", "values/s", 312_345.6);
        report.number("nothing", "left out", f64::NAN);
        report.megabytes("rss", "memory, MiB", 3 << 20);
        assert_eq!(
            report.json().to_string(),
            r#"{"bench":"trapper","settings":{"hosts":2},"results":{"acknowledged":1200000,"rate":312346.0,"rss":3.0}}"#
        );
        let text = report.text();
        assert!(text.contains("values acknowledged       1,200,000\n"), "{text}");
        assert!(text.contains("312,346\n") && !text.contains("left out"), "{text}");
        assert_eq!(report.get("rss"), Some(&json!(3.0)));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        report.save(&path).unwrap();
        let read: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(read, report.json());
    }
}
