//! Rounds that the disk refuses change nothing: what is sent again meets what it met before.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use eval::preproc::Step;
use model::{SampleValue, ValueType};

use crate::testing::{Disk, Rig, host, item, snapshot, trigger};

const CHANGE: u8 = 9;
const DISCARD_UNCHANGED: u8 = 19;
const DISCARD_UNCHANGED_HEARTBEAT: u8 = 20;
const JAVASCRIPT: u8 = 21;

fn steps(steps: &[(u8, &str)]) -> Arc<[Step]> {
    steps.iter().map(|(kind, params)| Step::from_api(*kind, params, 0, "").unwrap()).collect()
}

fn numbers(rig: &Rig, item: u64) -> Vec<u64> {
    let number = |value| match value {
        SampleValue::Unsigned(v) => v,
        other => panic!("{other:?}"),
    };
    rig.stored(item).into_iter().map(number).collect()
}

/// A rig whose disk can be made to refuse.
fn rig(items: Vec<config::snapshot::Item>) -> (Rig, Disk) {
    let disk = Disk::default();
    let config = snapshot(vec![host(1)], items, Vec::new());
    (Rig::with(config, vec![Box::new(disk.clone())], Vec::new()), disk)
}

#[test]
fn resent_values_meet_the_preprocessing_state_of_the_first_try() {
    let sleep = "Zabbix.sleep(1); return value";
    for (name, kinds, expected) in [
        ("no steps", vec![], vec![10, 25]),
        ("discard unchanged", vec![(DISCARD_UNCHANGED, "")], vec![10, 25]),
        ("heartbeat", vec![(DISCARD_UNCHANGED_HEARTBEAT, "1h")], vec![10, 25]),
        ("simple change", vec![(CHANGE, "")], vec![15]),
        ("script on the shard", vec![(JAVASCRIPT, "return value"), (CHANGE, "")], vec![15]),
        ("script on a worker", vec![(JAVASCRIPT, sleep), (CHANGE, "")], vec![15]),
    ] {
        // A dependent item and one of its own, both with the steps.
        let master = item(1, 1, "master", ValueType::Unsigned);
        let mut dependent = item(2, 1, "dependent", ValueType::Unsigned);
        dependent.depend_on(master.id);
        let mut own = item(3, 1, "own", ValueType::Unsigned);
        dependent.steps = steps(&kinds);
        own.steps = steps(&kinds);
        let (mut rig, disk) = rig(vec![master, dependent, own]);
        rig.send_many(&[(1, "10", 1), (3, "10", 1)]);
        disk.refuses.store(true, Ordering::Relaxed);
        for _ in 0..2 {
            let outcome = rig.send_many(&[(1, "25", 20), (3, "25", 20)]);
            assert!(outcome.lost, "{name}");
        }
        disk.refuses.store(false, Ordering::Relaxed);
        let outcome = rig.send_many(&[(1, "25", 20), (3, "25", 20)]);
        assert_eq!((outcome.processed, outcome.lost), (2, false), "{name}");
        assert_eq!(numbers(&rig, 1), [10, 25], "{name}");
        assert_eq!(numbers(&rig, 2), expected, "{name}");
        assert_eq!(numbers(&rig, 3), expected, "{name}");
        assert_eq!(rig.cores[0].desk.held(), 0, "{name}");
    }
}

#[test]
fn values_behind_a_refused_result_see_the_earlier_state() {
    let mut waits = item(1, 1, "waits", ValueType::Unsigned);
    waits.steps = steps(&[(JAVASCRIPT, "Zabbix.sleep(1); return value"), (CHANGE, "")]);
    let (mut rig, disk) = rig(vec![waits]);
    rig.send(1, &[("10", 1), ("12", 2)]);
    disk.refuses.store(true, Ordering::Relaxed);
    // The value leaves for a worker in a round with nothing to write, and its result is refused.
    assert!(rig.send(1, &[("25", 3)]).lost);
    disk.refuses.store(false, Ordering::Relaxed);
    assert!(!rig.send(1, &[("25", 3), ("26", 4)]).lost);
    assert_eq!(numbers(&rig, 1), [2, 13, 1]);
}

#[test]
fn a_refused_round_reaches_neither_discovery_nor_other_shards() {
    let shard = |n: u64| model::shard_of(model::HostId(n), 2);
    let (a, b) = (1, (2..).find(|n| shard(*n) != shard(1)).unwrap());
    let mut rule = item(3, b, "rule", ValueType::Text);
    rule.discovery_rule = true;
    let items = vec![
        item(1, a, "k", ValueType::Unsigned),
        item(2, b, "k", ValueType::Unsigned),
        rule,
        item(4, b, "raw", ValueType::Unsigned),
    ];
    let config =
        snapshot(vec![host(a), host(b)], items, vec![trigger(1, "{1}>5 and {2}>5", &[1, 2])]);
    let disks = [Disk::default(), Disk::default()];
    let drivers = disks.iter().map(|disk| Box::new(disk.clone()) as _).collect();
    let mut rig = Rig::with(config, drivers, Vec::new());
    rig.send_many(&[(1, "9", 1), (2, "1", 1)]);
    rig.found();
    for disk in &disks {
        disk.refuses.store(true, Ordering::Relaxed);
    }
    let message = [(2, "!gone", 2), (3, "[]", 2), (4, "1", 2)];
    assert!(rig.send_many(&message).lost);
    assert!(rig.lld.try_recv().is_none());
    assert_eq!(rig.found(), [""; 0]);
    assert_eq!(rig.error_of(2), "");
    for disk in &disks {
        disk.refuses.store(false, Ordering::Relaxed);
    }
    assert!(!rig.send_many(&message).lost);
    assert!(rig.lld.try_recv().is_some());
    assert_eq!(rig.error_of(2), "gone");
    let error = format!("1 error Cannot evaluate function last(/h{b}/k): item is not supported.");
    assert_eq!(rig.found(), [error]);
}
