//! How much a rule may cost: counted, not timed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stdx::clock::RealClock;

use super::*;
use crate::table;

#[test]
pub(super) fn the_usual_value_reads_nothing() {
    let b = Box::new(&[]);
    b.item("k[{#N}]", &[]);
    let names: Vec<String> = (0..300).map(|n| format!("n{n}")).collect();
    let all = rows(&names.join(" "));
    assert_eq!(b.discover(&all).created.items, 300);
    let memory = b.config.lld();
    let known = |memory: &crate::lld::Memory| {
        memory.known(ItemId(b.rule), &all, memory.generation(), 2_000).is_some()
    };
    assert!(known(memory), "right after its own change");
    b.edit(|e| Ok(e.insert_new(&table::MAINTENANCES, &[("name", "x".into())])?));
    assert!(known(memory), "what happens elsewhere does not count");
    let suppressed: DbResult<()> = b.config.write_state(|state| {
        let event = Value::from(70_u64);
        state.insert(&table::EVENTS, &[("eventid", event.clone())])?;
        state.insert(&table::PROBLEMS, &[("eventid", event.clone())])?;
        state.insert(&table::EVENT_SUPPRESS, &[("eventid", event), ("maintenanceid", 1_u64.into())])
    });
    suppressed.unwrap();
    let sql = "SELECT eventid FROM event_suppress";
    let rows: DbResult<_> = b.config.read(|c| c.query(sql, &[]));
    assert_eq!(rows.unwrap().len(), 1);
    assert!(known(memory), "a suppressed problem does not count either");
    b.item("j[{#N}]", &[]);
    assert!(!known(memory), "a new prototype does");
    assert_eq!(b.discover(&all).created.items, 300);
    assert!(known(memory));
}

/// Prints what the audit log adds to the discovery of 5,000 items, as milliseconds of the fastest of five runs:
/// `cargo test -p config --lib -- --ignored --nocapture the_cost_of_the_audit_log`.
#[test]
#[ignore = "prints figures and decides nothing"]
fn the_cost_of_the_audit_log() {
    let names: Vec<String> = (0..5_000).map(|n| format!("n{n}")).collect();
    let all = rows(&names.join(" "));
    let clock = RealClock::shared();
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..5 {
        for (audited, fastest) in [false, true].into_iter().zip(&mut fastest) {
            let b = Box::new(&[]);
            let off = [("name", "auditlog_mode".into()), ("value", "0".into())];
            if !audited {
                b.edit(|e| Ok(e.insert(&table::SETTINGS, &off)?));
            }
            b.item("k[{#N}]", &[]);
            let begin = clock.monotonic();
            assert_eq!(b.discover(&all).created.items, 5_000);
            *fastest = (clock.monotonic() - begin).min(*fastest);
            let entries = b.shown("SELECT COUNT(*) AS v FROM auditlog");
            assert_eq!(entries, if audited { "5000" } else { "0" });
        }
    }
    let [without, with] = fastest.map(|took| took.as_millis());
    println!("5,000 items: {without} ms without the audit log, {with} ms with it");
}

/// Prints the longest time that a small change of another caller takes while 20,000 items are discovered:
/// `cargo test -p config --lib -- --ignored --nocapture the_longest_wait`.
#[test]
#[ignore = "prints figures and decides nothing"]
fn the_longest_wait() {
    let names: Vec<String> = (0..20_000).map(|n| format!("n{n}")).collect();
    let all = rows(&names.join(" "));
    let clock = RealClock::shared();
    let b = Box::new(&[]);
    b.item("k[{#N}]", &[]);
    let maintenance = b.edit(|e| Ok(e.insert_new(&table::MAINTENANCES, &[("name", "0".into())])?));
    for (what, value, clock_s) in [("made", &*all, 1_000), ("lost", "[]", 2_000)] {
        let is_over = AtomicBool::new(false);
        let (took, mut waits) = std::thread::scope(|scope| {
            let (b, clock, is_over) = (&b, &clock, &is_over);
            let other = scope.spawn(move || {
                let mut waits = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let begin = clock.monotonic();
                    let name = [("name", format!("{}", waits.len()).into())];
                    b.edit(|e| Ok(e.update(&table::MAINTENANCES, maintenance, &name)?));
                    waits.push(clock.monotonic() - begin);
                    std::thread::sleep(Duration::from_millis(5));
                }
                waits
            });
            let begin = clock.monotonic();
            let summary = b.discover_at(value, clock_s);
            let took = clock.monotonic() - begin;
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(summary.created.items + summary.lost.items, 20_000);
            (took, other.join().unwrap())
        });
        waits.sort_unstable();
        println!(
            "20,000 items {what}: {} ms, {} changes of another caller meanwhile; the longest took {} ms",
            took.as_millis(),
            waits.len(),
            waits.last().map_or(0, Duration::as_millis)
        );
    }
}
