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
    b.edit(|e| Ok(e.insert_new("maintenances", &[("name", "x".into())])?));
    assert!(known(memory), "what happens elsewhere does not count");
    b.item("j[{#N}]", &[]);
    assert!(!known(memory), "a new prototype does");
    assert_eq!(b.discover(&all).created.items, 300);
    assert!(known(memory));
}
