//! Totals of a test run, from the logs of its parts.

use anyhow::{Context, bail};

/// Results of one part.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
    skipped: u64,
}

/// Sums `paths`; the text ends with the plain closing line of the whole run.
pub(crate) fn run(paths: impl Iterator<Item = String>) -> anyhow::Result<String> {
    let mut sum = Totals::default();
    let mut text = String::new();
    let mut without_tests = Vec::new();
    for path in paths {
        let log = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let part = of_log(&log);
        let name = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".log");
        if part.passed + part.failed == 0 {
            without_tests.push(path.clone());
        }
        let Totals { passed, failed, skipped } = part;
        text += &format!("{name:24} {passed:6} passed {failed:6} failed {skipped:6} skipped\n");
        sum.passed += passed;
        sum.failed += failed;
        sum.skipped += skipped;
    }
    let Totals { passed, failed, skipped } = sum;
    text += &format!("{passed} passed, {failed} failed, {skipped} skipped\n");
    if !without_tests.is_empty() {
        bail!("{text}no result of a test in {}", without_tests.join(", "));
    }
    if failed > 0 {
        bail!("{text}");
    }
    Ok(text)
}

fn of_log(log: &str) -> Totals {
    let mut totals = Totals::default();
    for line in log.lines() {
        let line = line.trim();
        let of_cargo = line.starts_with("test result:");
        // `N passed, M failed` as our own scripts print it, `Tests  N passed (N)` as Vitest does.
        let words: Vec<&str> =
            line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
        let of_script = words.first().is_some_and(|w| w.parse::<u64>().is_ok())
            && words.get(1) == Some(&"passed");
        let of_vitest = words.first() == Some(&"Tests") && words.contains(&"passed");
        if !(of_cargo || of_script || of_vitest) {
            continue;
        }
        for pair in words.windows(2) {
            let Ok(n) = pair[0].parse::<u64>() else { continue };
            match pair[1] {
                "passed" => totals.passed += n,
                "failed" => totals.failed += n,
                "ignored" | "skipped" => totals.skipped += n,
                _ => {}
            }
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_runners() {
        let log = "test result: ok. 6 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                   noise 3 passed\n 4 passed, 1 failed\n      Tests  12 passed (12)\n";
        assert_eq!(of_log(log), Totals { passed: 22, failed: 1, skipped: 1 });
    }
}
