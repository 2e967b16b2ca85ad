//! Results: a table for people, JSON for programs.

use std::borrow::Cow;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use crate::picture;

/// One measured figure.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    name: Cow<'static, str>,
    label: Cow<'static, str>,
    value: Value,
}

/// Figures of several loads, one row each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steps {
    /// Name in JSON and heading for people.
    pub(crate) columns: &'static [(&'static str, &'static str)],
    /// As many cells as columns; `None` = not measured.
    pub(crate) rows: Vec<Vec<Option<f64>>>,
}

/// The figures of one command, in the order in which they are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    bench: &'static str,
    settings: Value,
    rows: Vec<Row>,
    steps: Option<Steps>,
    /// A plot of the steps, SVG.
    plot: Option<String>,
}

impl Report {
    /// Without figures yet; `settings` are what the command was told.
    pub fn new(bench: &'static str, settings: Value) -> Self {
        Self { bench, settings, rows: Vec::new(), steps: None, plot: None }
    }

    /// Adds a count.
    pub fn count(&mut self, name: &'static str, label: &'static str, n: u64) {
        self.rows.push(Row { name: name.into(), label: label.into(), value: n.into() });
    }

    /// Adds a measurement; one that is not a number is left out.
    pub fn number(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        label: impl Into<Cow<'static, str>>,
        x: f64,
    ) {
        if x.is_finite() {
            let (name, label) = (name.into(), label.into());
            self.rows.push(Row { name, label, value: json!(rounded(x)) });
        }
    }

    /// Adds a remark.
    pub fn note(&mut self, name: &'static str, label: &'static str, text: &str) {
        self.rows.push(Row { name: name.into(), label: label.into(), value: text.into() });
    }

    /// Adds bytes.
    pub(crate) fn megabytes(&mut self, name: &'static str, label: &'static str, bytes: u64) {
        self.number(name, label, bytes as f64 / f64::from(1 << 20));
    }

    /// The figure `name`, as it goes into JSON.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.rows.iter().find(|row| row.name == name).map(|row| &row.value)
    }

    /// Adds figures of several loads.
    pub(crate) fn table(&mut self, steps: Steps) {
        self.steps = Some(steps);
    }

    /// Adds figures of several loads and their plot.
    pub(crate) fn steps(&mut self, steps: Steps, plot: String) {
        self.steps = Some(steps);
        self.plot = Some(plot);
    }

    /// `{"bench":…,"settings":{…},"results":{…}}`; with several loads also `"steps":[{…}]`.
    pub fn json(&self) -> Value {
        let results: Map<String, Value> = self
            .rows
            .iter()
            .map(|row| (row.name.clone().into_owned(), row.value.clone()))
            .collect();
        let mut json =
            json!({ "bench": self.bench, "settings": self.settings, "results": results });
        if let Some(steps) = &self.steps {
            json["steps"] = steps.json();
        }
        json
    }

    /// Writes [`Report::json`] to a file.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        write(path, &(serde_json::to_string_pretty(&self.json())? + "\n"))
    }

    /// Writes the plot to a file: PNG or SVG, as its name says.
    pub fn save_plot(&self, path: &Path) -> anyhow::Result<()> {
        let Some(plot) = &self.plot else {
            let plotted = "limit, line, overload and blackout";
            bail!("vedette bench {} has no plot: only {plotted} have", self.bench);
        };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => write(path, plot),
            Some("png") => write(path, picture::png(plot)?),
            _ => bail!("--plot {}: the name must end in .svg or .png", path.display()),
        }
    }

    /// A line per figure.
    pub fn text(&self) -> String {
        let width = self.rows.iter().map(|row| row.label.len()).max().unwrap_or(0);
        let mut text = format!("vedette bench {}\n", self.bench);
        if let Some(steps) = &self.steps {
            text += &steps.text();
        }
        for row in &self.rows {
            text += &format!("  {:width$}  {:>14}\n", row.label, shown(&row.value));
        }
        text
    }

    /// The figures beside those of an earlier run (its [`Report::json`]), as a Markdown table
    /// with ratios; without an earlier run just the figures.
    pub fn markdown(&self, earlier: Option<&Value>) -> anyhow::Result<String> {
        let mut text = format!("## vedette bench {}\n\n", self.bench);
        if let Some(earlier) = earlier
            && earlier["bench"] != self.bench
        {
            bail!("the run to compare with is of bench {}, not {}", earlier["bench"], self.bench);
        }
        text += match earlier {
            Some(_) => "| | this run | earlier run | ratio |\n| --- | ---: | ---: | ---: |\n",
            None => "| | |\n| --- | ---: |\n",
        };
        for row in &self.rows {
            text += &format!("| {} | {} |", row.label.trim(), shown(&row.value));
            if let Some(earlier) = earlier {
                let old = &earlier["results"][&*row.name];
                let ratio = row.value.as_f64().zip(old.as_f64()).filter(|(_, old)| *old != 0.0);
                let ratio = ratio.map(|(new, old)| format!("{:.2}", new / old));
                let old = if old.is_null() { String::new() } else { shown(old) };
                text += &format!(" {old} | {} |", ratio.unwrap_or_default());
            }
            text.push('\n');
        }
        if let Some(steps) = &self.steps {
            text += &format!("\n{}", steps.markdown());
        }
        Ok(text)
    }
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn shown(value: &Value) -> String {
    match (value.as_u64(), value.as_f64(), value.as_str()) {
        (Some(n), _, _) => grouped(n),
        (_, Some(x), _) => grouped_number(x),
        (_, _, Some(text)) => text.to_owned(),
        _ => value.to_string(),
    }
}

impl Steps {
    fn json(&self) -> Value {
        let row = |cells: &Vec<Option<f64>>| {
            let members = self.columns.iter().zip(cells);
            let cell = |x: &Option<f64>| x.map_or(Value::Null, |x| json!(rounded(x)));
            members.map(|((name, _), x)| ((*name).to_owned(), cell(x))).collect::<Map<_, _>>()
        };
        self.rows.iter().map(|cells| Value::Object(row(cells))).collect()
    }

    fn cells(&self) -> impl Iterator<Item = Vec<String>> {
        let shown = |x: &Option<f64>| x.map_or_else(String::new, |x| grouped_number(rounded(x)));
        self.rows.iter().map(move |row| row.iter().map(shown).collect())
    }

    fn text(&self) -> String {
        let head: Vec<String> = self.columns.iter().map(|(_, label)| (*label).to_owned()).collect();
        let lines: Vec<Vec<String>> = std::iter::once(head).chain(self.cells()).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &Vec<String>| {
            let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
            padded.collect::<String>() + "\n"
        };
        lines.iter().map(line).collect()
    }

    fn markdown(&self) -> String {
        let head: Vec<&str> = self.columns.iter().map(|(_, label)| *label).collect();
        let mut text = format!("| {} |\n|{}\n", head.join(" | "), " ---: |".repeat(head.len()));
        for cells in self.cells() {
            text += &format!("| {} |\n", cells.join(" | "));
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

    #[test]
    fn steps_and_comparisons() {
        let mut report = Report::new("limit", json!({}));
        report.count("hosts", "hosts", 2000);
        report.note("limit", "limit", "queue");
        assert!(report.save_plot(Path::new("nowhere")).is_err());
        let rows = vec![vec![Some(1000.0), Some(0.5)], vec![Some(2000.0), None]];
        let columns = &[("hosts", "hosts"), ("cpu", "CPU")];
        report.steps(Steps { columns, rows }, "<svg/>".to_owned());
        let wrong = report.save_plot(Path::new("plot.gif")).unwrap_err().to_string();
        assert!(wrong.contains(".svg or .png"), "{wrong}");
        assert_eq!(
            report.json()["steps"],
            json!([{ "hosts": 1000.0, "cpu": 0.5 }, { "hosts": 2000.0, "cpu": null }])
        );
        assert!(report.text().contains("  hosts  CPU\n  1,000  0.5\n  2,000     \n"));
        let earlier = json!({ "bench": "limit", "results": { "hosts": 1000, "limit": "cpu" } });
        let markdown = report.markdown(Some(&earlier)).unwrap();
        assert!(markdown.contains("| hosts | 2,000 | 1,000 | 2.00 |\n"), "{markdown}");
        assert!(markdown.contains("| limit | queue | cpu |  |\n"), "{markdown}");
        assert!(markdown.contains("| hosts | CPU |\n| ---: | ---: |\n| 1,000 | 0.5 |\n"));
        assert!(report.markdown(None).unwrap().contains("| hosts | 2,000 |\n"));
        let other = json!({ "bench": "agent", "results": {} });
        assert!(report.markdown(Some(&other)).is_err());
    }
}
