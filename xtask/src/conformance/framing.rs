//! Fragments fed one after the other, then the end of the connection.

use anyhow::Context;
use eval::conformance::Report;
use serde_json::Value;
use wire::zbxd::{Decoder, Limits, Progress};

/// Runs all cases.
pub(super) fn run(lines: &str) -> Report {
    let mut report = Report::default();
    for line in lines.lines().filter(|l| !l.trim().is_empty()) {
        match case(line) {
            Ok(()) => report.passed += 1,
            Err(error) => report.failed.push(format!("{error:#}")),
        }
    }
    report
}

fn case(line: &str) -> anyhow::Result<()> {
    let case: Value = serde_json::from_str(line).context("a line is no JSON")?;
    let fragments = case["fragments_hex"].as_array().context("no fragments")?;
    let mut decoder = Decoder::new(Limits::TRAPPER);
    let mut accepted = None;
    for fragment in fragments {
        let bytes = unhex(fragment.as_str().unwrap_or_default()).context("no hexadecimal text")?;
        match decoder.feed(&bytes) {
            Ok(Progress::More) => {}
            Ok(progress) => {
                accepted = progress.only().ok().flatten().map(|frame| frame.bytes);
                return compare(&case, accepted);
            }
            Err(_) => return compare(&case, None),
        }
    }
    if let Ok(Some(frame)) = decoder.end() {
        accepted = Some(frame.bytes);
    }
    compare(&case, accepted)
}

fn compare(case: &Value, accepted: Option<u64>) -> anyhow::Result<()> {
    let wanted =
        (case["expect"]["accepted"] == true).then(|| case["expect"]["bytes"].as_u64()).flatten();
    anyhow::ensure!(
        accepted == wanted,
        "{}: wanted {wanted:?}, got {accepted:?}",
        case["id"].as_str().unwrap_or("?")
    );
    Ok(())
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok()).collect()
}
