//! Runs a directory of recorded cases and tells per file what became of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use eval::conformance::Report;

mod framing;

/// Files whose cases are put to a running server, and why they are not run.
const NEED_A_SERVER: &[(&str, &str)] = &[
    ("api_", "needs a running server"),
    ("calculated_items", "needs a running server"),
    ("history_push", "needs a running server"),
];

/// Runs `DIR` and the directories below it. The text ends with the totals; an error holds the
/// same text.
pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<String> {
    let folder = arguments.next().context("usage: cargo xtask conformance DIR")?;
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files)?;
    files.sort();
    if files.is_empty() {
        bail!("no file of cases (*.jsonl) in {folder}");
    }
    let (mut text, mut sum) = (String::new(), Report::default());
    for path in &files {
        let lines = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let (report, why) = run_one(&name, &lines);
        let (passed, failed) = (report.passed, report.failed.len());
        let rest = report.not_applicable;
        write!(text, "{name:28} {passed:5} ok {failed:5} wrong {rest:5} not applicable")?;
        if report.decided > 0 {
            write!(text, " ({} decided by the reference's answer)", report.decided)?;
        }
        writeln!(text, "{}", why.map_or_else(String::new, |w| format!(" ({w})")))?;
        for reason in &report.failed {
            writeln!(text, "    {reason}")?;
        }
        sum.passed += passed;
        sum.not_applicable += rest;
        sum.failed.extend(report.failed);
    }
    let failed = sum.failed.len();
    let rest = sum.not_applicable;
    writeln!(text, "{} passed, {failed} failed, {rest} not applicable", sum.passed)?;
    if failed > 0 {
        bail!("{failed} cases failed\n{text}");
    }
    Ok(text)
}

/// The report of a file, and why its cases were not run.
fn run_one(name: &str, lines: &str) -> (Report, Option<&'static str>) {
    if name == "zbxd_framing" {
        return (framing::run(lines), None);
    }
    if let Some(report) = eval::conformance::run_file(name, lines) {
        return (report, None);
    }
    let why = NEED_A_SERVER.iter().find(|(start, _)| name.starts_with(start));
    let report = Report { not_applicable: lines.lines().count(), ..Report::default() };
    (report, Some(why.map_or("no runner knows this file", |(_, why)| why)))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let cannot = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}
