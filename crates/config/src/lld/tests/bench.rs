//! How much a rule may cost: counted, not timed.

use super::*;

#[test]
fn the_usual_value_reads_nothing() {
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
    let session = [("digest", "x".into()), ("userid", Value::from(1))];
    b.edit(|e| Ok(drop(e.insert("sessions", &session))));
    assert!(known(memory), "what happens elsewhere does not count");
    b.item("j[{#N}]", &[]);
    assert!(!known(memory), "a new prototype does");
    assert_eq!(b.discover(&all).created.items, 300);
    assert!(known(memory));
}
