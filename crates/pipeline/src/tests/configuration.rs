//! Configurations swapped while values come.

use config::Touched;
use config::snapshot::{Item, Trigger};
use model::{ItemId, TriggerId, ValueType};

use crate::testing::{Rig, calculated, function, host, item, snapshot, trigger};

fn touched(items: &[u64], triggers: &[u64]) -> Option<Touched> {
    Some(Touched {
        items: items.iter().map(|id| ItemId(*id)).collect(),
        triggers: triggers.iter().map(|id| TriggerId(*id)).collect(),
        ..Touched::default()
    })
}

fn config(items: &[Item], triggers: &[Trigger]) -> config::Snapshot {
    snapshot(vec![host(1)], items.to_vec(), triggers.to_vec())
}

#[test]
fn changes_are_seen_by_the_next_value() {
    let float = item(1, 1, "k", ValueType::Float);
    // Whether the shard is told what changed or has to look at everything.
    for told in [true, false] {
        let say = |touched: Option<Touched>| touched.filter(|_| told);
        let mut rig = Rig::new(config(&[], &[]));
        assert_eq!(rig.send(1, &[("9", 1)]).failed, 1);
        rig.configure(config(std::slice::from_ref(&float), &[]), say(touched(&[1], &[])));
        assert_eq!(rig.send(1, &[("9", 2)]).processed, 1);
        let one = trigger(1, "{1}>5", &[1]);
        rig.configure(
            config(std::slice::from_ref(&float), std::slice::from_ref(&one)),
            say(touched(&[], &[1])),
        );
        rig.send(1, &[("9", 3)]);
        assert_eq!(rig.found(), ["1 problem @3 trigger 1"]);
        let mut off = one.clone();
        off.enabled = false;
        rig.configure(config(std::slice::from_ref(&float), &[off]), say(touched(&[], &[1])));
        rig.send(1, &[("1", 4)]);
        assert_eq!(rig.found(), [""; 0]);
        rig.configure(config(std::slice::from_ref(&float), &[one]), say(touched(&[], &[1])));
        rig.send(1, &[("1", 5)]);
        assert_eq!(rig.found(), ["1 ok @5 trigger 1"]);
        rig.configure(config(&[], &[]), say(touched(&[1], &[1])));
        assert_eq!(rig.send(1, &[("1", 6)]).failed, 1);
        assert_eq!((rig.cores[0].slots.len(), rig.cores[0].triggers.len()), (0, 0));
    }
}

#[test]
fn deleted_items_are_swept_away() {
    let items: Vec<Item> =
        (1..=100).map(|id| item(id, 1, &format!("k{id}"), ValueType::Float)).collect();
    let mut rig = Rig::new(config(&items, &[]));
    for id in 1..=100 {
        rig.send(id, &[("1", 1)]);
    }
    // The change names none of them: the notification is incomplete.
    rig.configure(config(&items[..10], &[]), touched(&[], &[]));
    assert_eq!(rig.cores[0].slots.len(), 100);
    rig.pass(2);
    assert_eq!(rig.cores[0].slots.len(), 10);
}

#[test]
fn time_based_triggers_and_calculated_items_come_and_go() {
    let float = item(1, 1, "k", ValueType::Float);
    let sum = calculated(2, 1, "c", "1+1", "5s");
    let mut nodata = trigger(1, "{1}=1", &[1]);
    nodata.functions = Box::from([function(1, 1, "nodata", "10s")]);
    let mut rig = Rig::new(config(std::slice::from_ref(&float), &[]));
    rig.pass(60);
    assert_eq!(rig.found(), [""; 0]);
    rig.configure(config(&[float.clone(), sum], &[nodata]), touched(&[2], &[1]));
    rig.pass(50);
    assert_eq!(rig.stored(2).len(), 10);
    assert_eq!(rig.found().len(), 1);
    rig.configure(config(&[float], &[]), touched(&[2], &[1]));
    rig.send(1, &[("1", 110)]);
    rig.pass(100);
    assert_eq!(rig.stored(2).len(), 10);
    assert_eq!(rig.found(), [""; 0]);
}

#[test]
fn an_item_that_comes_later_may_be_without_data_at_first() {
    let mut nodata = trigger(1, "{1}=1", &[1]);
    nodata.functions = Box::from([function(1, 1, "nodata", "60s")]);
    let mut rig = Rig::new(config(&[], &[]));
    rig.pass(600);
    let float = item(1, 1, "k", ValueType::Float);
    rig.configure(config(&[float], &[nodata]), touched(&[1], &[1]));
    rig.pass(59);
    assert!(rig.found().iter().all(|found| found.contains("error")));
    rig.pass(60);
    assert!(rig.found().iter().any(|found| found.contains("problem")));
}
