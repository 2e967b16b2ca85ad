//! Runs recorded cases from outside the clone: the directory `conformance` and the item tests
//! `golden/server` below `VEDETTE_SHARED`. `cargo xtask conformance` runs the same for people.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test, with a line per file")]

use std::path::{Path, PathBuf};

#[expect(
    clippy::disallowed_methods,
    reason = "an environment variable names the folder of recorded data"
)]
fn folder(below: &str) -> PathBuf {
    let shared = std::env::var("VEDETTE_SHARED")
        .expect("set VEDETTE_SHARED to the directory with conformance/ and golden/");
    Path::new(&shared).join(below)
}

/// Runs every file that has a runner; returns how many cases passed.
fn run(folder: &Path) -> usize {
    let (mut passed, mut failed) = (0, Vec::new());
    let files = std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("cannot read {}: {e}", folder.display()));
    for file in files {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "jsonl") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy();
        let lines = std::fs::read_to_string(&path).unwrap();
        if let Some(report) = eval::conformance::run_file(&name, &lines) {
            println!("{name}: {} passed, {} failed", report.passed, report.failed.len());
            passed += report.passed;
            failed.extend(report.failed);
        }
    }
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
    passed
}

#[test]
fn every_case_passes() {
    assert!(run(&folder("conformance")) > 800, "cases are missing");
}

#[test]
fn item_tests_give_the_recorded_results() {
    assert!(run(&folder("golden/server")) > 400, "exchanges are missing");
}
