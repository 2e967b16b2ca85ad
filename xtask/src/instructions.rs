//! Instruction counts of hot functions, compared with the counts in the clone.
//!
//! Unlike times they are the same on a busy machine. They do depend on the compiler, on the
//! libraries and a little on the processor, so after a new compiler the baseline is written again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

const BASELINE: &str = "crates/history/benches/instructions/baseline.txt";
/// The function within which is counted.
const COUNTED: &str = "*instructions::counted*";
/// Hash maps with random seeds make counts differ a little between runs.
const TOLERANCE_PERCENT: f64 = 3.0;

/// Instructions per value by case.
type Counts = BTreeMap<String, f64>;

struct Options {
    update: bool,
    tolerance: f64,
    /// Cases to run; empty = all.
    cases: Vec<String>,
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self { update: false, tolerance: TOLERANCE_PERCENT, cases: Vec::new() };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--update" => options.update = true,
                "--tolerance" => {
                    let text = words.next().context("--tolerance needs a number of per cent")?;
                    options.tolerance =
                        text.parse().with_context(|| format!("{text} is no number of per cent"))?;
                }
                other if other.starts_with('-') => bail!("unknown argument {other}"),
                _ => options.cases.push(word),
            }
        }
        if options.update && !options.cases.is_empty() {
            bail!("--update writes all counts: name no cases");
        }
        Ok(options)
    }
}

/// `cargo xtask instructions [--update] [--tolerance PERCENT] [CASE...]`
pub(crate) fn run(words: impl Iterator<Item = String>) -> anyhow::Result<String> {
    let options = Options::parse(words)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the clone")?;
    let program = build(root)?;
    let listed = Command::new(&program).output().context("cannot list the cases")?;
    let cases = parse_cases(&String::from_utf8_lossy(&listed.stdout))?;
    let unknown = options.cases.iter().find(|name| !cases.iter().any(|case| case.0 == **name));
    if let Some(name) = unknown {
        bail!("there is no case {name}");
    }
    let mut counts = Counts::new();
    for (name, values) in cases {
        if options.cases.is_empty() || options.cases.contains(&name) {
            let instructions = count(&program, &name)?;
            counts.insert(name, instructions / f64::from(values));
        }
    }
    let path = root.join(BASELINE);
    if options.update {
        std::fs::write(&path, written(&counts))
            .with_context(|| format!("cannot write {BASELINE}"))?;
        return Ok(format!("{}\n{BASELINE} is written\n", table(&counts, &counts).0));
    }
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {BASELINE}"))?;
    let mut baseline = parse_counts(&text)?;
    if !options.cases.is_empty() {
        baseline.retain(|name, _| counts.contains_key(name));
    }
    judge(&counts, &baseline, options.tolerance)
}

/// Builds the bench and gives the program's path.
fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["bench", "-p", "history", "--bench", "instructions", "--no-run"])
        .args(["--message-format", "json"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("the bench does not build");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "instructions")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo names no program")
}

/// Instructions of a case.
fn count(program: &Path, case: &str) -> anyhow::Result<f64> {
    let out = std::env::temp_dir().join(format!("instructions-{}-{case}", std::process::id()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .arg(case)
        .output()
        .context("cannot run valgrind: it is Debian's package valgrind")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{case} failed:\n{said}");
    }
    let text = std::fs::read_to_string(&out).with_context(|| format!("{case}: {said}"))?;
    let _ = std::fs::remove_file(&out);
    summary(&text).with_context(|| format!("{case}: callgrind counted nothing"))
}

/// The sum in a file of callgrind.
fn summary(text: &str) -> Option<f64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")))?;
    line.split_ascii_whitespace().next()?.parse().ok().filter(|n| *n > 0.0)
}

fn parse_cases(text: &str) -> anyhow::Result<Vec<(String, u32)>> {
    let case = |line: &str| {
        let (name, values) = line.split_once(' ')?;
        Some((name.to_owned(), values.parse().ok()?))
    };
    text.lines().map(|line| case(line).with_context(|| format!("no case: {line}"))).collect()
}

fn parse_counts(text: &str) -> anyhow::Result<Counts> {
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|line| {
        let (name, count) = line.split_once(char::is_whitespace)?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    })
    .collect::<Option<Counts>>()
    .with_context(|| format!("{BASELINE} holds a line that is no case with its count"))
}

fn written(counts: &Counts) -> String {
    let mut text =
        "# Instructions per value, written by `cargo xtask instructions --update`.\n".to_owned();
    for (name, count) in counts {
        let _ = writeln!(text, "{name:28} {count:10.1}");
    }
    text
}

/// Lines for people, and the cases with their change in per cent.
fn table(counts: &Counts, baseline: &Counts) -> (String, Vec<(String, f64)>) {
    let mut text =
        format!("{:28} {:>12} {:>12} {:>8}\n", "instructions per value", "now", "before", "");
    let mut changes = Vec::new();
    for (name, now) in counts {
        let Some(before) = baseline.get(name) else {
            let _ = writeln!(text, "{name:28} {now:12.1} {:>12}", "new");
            continue;
        };
        let percent = (now / before - 1.0) * 100.0;
        let _ = writeln!(text, "{name:28} {now:12.1} {before:12.1} {percent:+7.1}%");
        changes.push((name.clone(), percent));
    }
    (text, changes)
}

fn judge(counts: &Counts, baseline: &Counts, tolerance: f64) -> anyhow::Result<String> {
    let (text, changes) = table(counts, baseline);
    let worse: Vec<String> = changes
        .iter()
        .filter(|(_, percent)| *percent > tolerance)
        .map(|(name, percent)| format!("{name} needs {percent:.1} % more instructions"))
        .collect();
    let missing = baseline.keys().filter(|name| !counts.contains_key(*name));
    let missing: Vec<String> =
        missing.map(|name| format!("{name} is not there any more")).collect();
    let problems = [worse, missing].concat();
    if !problems.is_empty() {
        bail!("{text}{}", problems.join("\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[(&str, f64)]) -> Counts {
        rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn what_is_worse_is_named() {
        let before = counts(&[("a", 100.0), ("b", 200.0)]);
        let same = counts(&[("a", 102.9), ("b", 150.0), ("c", 5.0)]);
        let text = judge(&same, &before, 3.0).unwrap();
        assert!(
            text.contains("+2.9%") && text.contains("-25.0%") && text.contains("new"),
            "{text}"
        );
        let worse = judge(&counts(&[("a", 104.0), ("b", 200.0)]), &before, 3.0).unwrap_err();
        assert!(worse.to_string().ends_with("a needs 4.0 % more instructions"), "{worse}");
        let gone = judge(&counts(&[("a", 100.0)]), &before, 3.0).unwrap_err();
        assert!(gone.to_string().ends_with("b is not there any more"), "{gone}");
    }

    #[test]
    fn a_baseline_reads_back() {
        let before = counts(&[("sender-request", 512.5), ("z", 1.0)]);
        assert_eq!(parse_counts(&written(&before)).unwrap(), before);
        assert!(parse_counts("one\n").is_err() && parse_counts("one x\n").is_err());
        assert_eq!(parse_cases("a 5\nb 6\n").unwrap(), [("a".to_owned(), 5), ("b".to_owned(), 6)]);
        assert!(parse_cases("a\n").is_err());
        assert_eq!(summary("x: 1\nsummary: 1200\n"), Some(1200.0));
        assert_eq!(summary("totals: 0\n"), None);
        assert_eq!(summary(""), None);
    }

    #[test]
    fn arguments() {
        let parse = |line: &str| Options::parse(line.split_whitespace().map(str::to_owned));
        let options = parse("--tolerance 5 a b").unwrap();
        assert_eq!((options.tolerance, options.cases.len(), options.update), (5.0, 2, false));
        for wrong in ["--tolerance", "--tolerance x", "--quick", "--update a"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
