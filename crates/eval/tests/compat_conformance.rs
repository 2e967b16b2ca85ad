//! Runs recorded cases from outside the clone: the directory `conformance` and the item tests
//! `golden/server` below `VEDETTE_SHARED`. Prints per file how many cases passed.

#![expect(clippy::unwrap_used, reason = "recorded cases have the members that are read")]

#[expect(unreachable_pub, reason = "a test target has no outside")]
mod compat;

use compat::{cases, report};

#[test]
fn every_case_passes() {
    let mut failed = Vec::new();
    for (file, run) in compat::RUNNERS {
        let (mut passed, mut known, mut wrong) = (0, 0, Vec::new());
        for case in cases(&format!("conformance/{file}.jsonl")) {
            let id = case["id"].as_str().unwrap_or("?").to_owned();
            if compat::is_known(file, &case) {
                known += 1;
                continue;
            }
            match run(&case) {
                Ok(()) => passed += 1,
                Err(reason) => wrong.push(format!("{id}: {reason}")),
            }
        }
        report(file, passed, known, &wrong);
        failed.extend(wrong);
    }
    assert!(failed.is_empty(), "{} cases failed", failed.len());
}

#[test]
fn item_tests_give_the_recorded_results() {
    let mut failed = Vec::new();
    for file in compat::GOLDEN {
        let (mut passed, mut wrong) = (0, Vec::new());
        for case in cases(&format!("golden/server/{file}.jsonl")) {
            let id = case["id"].as_str().unwrap_or("?").to_owned();
            match compat::golden(&case) {
                None => {}
                Some(Ok(())) => passed += 1,
                Some(Err(reason)) => wrong.push(format!("{id}: {reason}")),
            }
        }
        report(&format!("golden {file}"), passed, 0, &wrong);
        failed.extend(wrong);
    }
    assert!(failed.is_empty(), "{} cases failed", failed.len());
}
