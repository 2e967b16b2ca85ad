//! A panic in the work for one item or trigger stops no other, and no start.

use std::sync::Arc;

use eval::preproc::Step;
use model::{ItemId, SampleValue, TriggerId, TriggerState, Unwritten, ValueType};

use crate::fault::FAULTY;
use crate::testing::{Disk, Rig, START_S, calculated, host, item, snapshot, trigger};

const FAULT: &str = "This is a fault of Vedette; report it to its developers: a fault for the test";

fn floats() -> Vec<config::snapshot::Item> {
    vec![item(1, 1, "k", ValueType::Float)]
}

#[test]
fn faulty_trigger_is_unknown_and_others_go_on() {
    let triggers = vec![trigger(2, "{1}>5", &[1]), trigger(FAULTY, "{1}>5", &[1])];
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(), triggers));
    rig.send(1, &[("6", 1)]);
    let found = rig.found();
    assert_eq!(found[0], "2 problem @1 trigger 2");
    assert!(found[1].starts_with(&format!("{FAULTY} error {FAULT}")), "{found:?}");
    // Said once.
    rig.send(1, &[("7", 2), ("1", 3)]);
    assert_eq!(rig.found(), ["2 ok @3 trigger 2"]);
    assert_eq!(rig.cores[0].triggers.state(TriggerId(FAULTY)), TriggerState::Ok);
}

#[test]
fn faulty_trigger_does_not_end_the_start_after_a_crash() {
    let triggers = vec![trigger(2, "{1}>5", &[1]), trigger(FAULTY, "{1}>5", &[1])];
    let config = || snapshot(vec![host(1)], floats(), triggers.clone());
    let disk = Disk::default();
    let mut rig = Rig::with(config(), vec![Box::new(disk.clone())], Vec::new());
    rig.send(1, &[("6", 1)]);
    let unwritten = Unwritten { since: model::UnixSeconds(START_S), events: Vec::new() };
    let drivers = vec![Box::new(disk) as _];
    let mut rig = Rig::after_losing(config(), drivers, Vec::new(), true, Some(unwritten));
    rig.pass(2);
    let found = rig.found();
    assert!(found.contains(&"2 problem @1 trigger 2".to_owned()), "{found:?}");
    assert!(!rig.cores[0].progress.is_behind());
}

#[test]
fn faulty_items_are_not_supported_and_others_go_on() {
    let change: Arc<[Step]> = Arc::from([Step::from_api(9, "", 0, "").unwrap()]);
    let script: Arc<[Step]> = Arc::from([Step::from_api(21, "return value", 0, "").unwrap()]);
    for (steps, last) in [(&change, 1.0), (&script, 3.0)] {
        let mut faulty = item(FAULTY, 1, "faulty", ValueType::Float);
        faulty.steps = Arc::clone(steps);
        let mut sound = item(2, 1, "sound", ValueType::Float);
        sound.steps = Arc::clone(steps);
        let mut part = item(3, 1, "part", ValueType::Float);
        part.depend_on(ItemId(FAULTY));
        let mut rig = Rig::new(snapshot(vec![host(1)], vec![faulty, sound, part], Vec::new()));
        for n in 1..=3 {
            let value = n.to_string();
            rig.send_many(&[(FAULTY, &value, n), (2, &value, n)]);
        }
        for id in [FAULTY, 3] {
            assert!(rig.error_of(id).starts_with(FAULT), "{}", rig.error_of(id));
            assert!(rig.stored(id).is_empty());
        }
        assert_eq!(rig.stored(2).last(), Some(&SampleValue::Float(last)));
    }
}

#[test]
fn faulty_calculated_item_is_not_supported() {
    let items = vec![
        item(1, 1, "k", ValueType::Float),
        calculated(FAULTY, 1, "faulty", "last(//k)", "10s"),
        calculated(3, 1, "sound", "last(//k)", "10s"),
    ];
    let mut rig = Rig::new(snapshot(vec![host(1)], items, Vec::new()));
    rig.send(1, &[("6", 1)]);
    rig.pass(20);
    assert!(rig.error_of(FAULTY).starts_with(FAULT), "{}", rig.error_of(FAULTY));
    assert_eq!(rig.stored(3).last(), Some(&SampleValue::Float(6.0)));
}
