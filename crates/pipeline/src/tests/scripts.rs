//! Items with scripts: on the shard, and where scripts may take their time.

use std::sync::Arc;
use std::time::Duration;

use eval::preproc::Step;
use model::{SampleValue, ValueType};

use crate::testing::{Rig, host, item, snapshot};

const JAVASCRIPT: u8 = 21;
const CHANGE: u8 = 9;

fn steps(steps: &[(u8, &str)]) -> Arc<[Step]> {
    steps.iter().map(|(kind, params)| Step::from_api(*kind, params, 0, "").unwrap()).collect()
}

fn rig() -> Rig {
    let mut quick = item(1, 1, "quick", ValueType::Unsigned);
    quick.steps = steps(&[(JAVASCRIPT, "return value * 2")]);
    let mut waits = item(2, 1, "waits", ValueType::Unsigned);
    waits.steps = steps(&[(JAVASCRIPT, "Zabbix.sleep(1); return value"), (CHANGE, "")]);
    let mut endless = item(3, 1, "endless", ValueType::Text);
    endless.steps = steps(&[(JAVASCRIPT, "while (value == 'x') {} return value")]);
    let mut part = item(4, 1, "part", ValueType::Unsigned);
    part.depend_on(model::ItemId(2));
    part.steps = steps(&[(JAVASCRIPT, "return value + '0'")]);
    let mut refused = item(5, 1, "refused", ValueType::Text);
    refused.steps = steps(&[(JAVASCRIPT, "return new HttpRequest().get('no address')")]);
    Rig::new(snapshot(vec![host(1)], vec![quick, waits, endless, part, refused], Vec::new()))
}

fn numbers(rig: &Rig, item: u64) -> Vec<u64> {
    let number = |v| match v {
        SampleValue::Unsigned(v) => v,
        other => panic!("{other:?}"),
    };
    rig.stored(item).into_iter().map(number).collect()
}

#[test]
fn a_quick_script_stays_on_the_shard() {
    let mut rig = rig();
    assert_eq!(rig.send(1, &[("1", 1), ("2", 2), ("3", 3)]).processed, 3);
    assert!(rig.acknowledged_early);
    assert_eq!(numbers(&rig, 1), [2, 4, 6]);
    assert_eq!(rig.cores[0].desk.held(), 0);
}

#[test]
fn values_behind_a_waiting_script_keep_their_order_and_what_steps_remember() {
    let mut rig = rig();
    let values: Vec<(String, u32)> = (0..50).map(|n: u32| ((n * n).to_string(), n)).collect();
    let values: Vec<(&str, u32)> = values.iter().map(|(v, at)| (v.as_str(), *at)).collect();
    let outcome = rig.send(2, &values);
    // "Processed" is said when the last is written, whatever the script takes.
    assert!(!rig.acknowledged_early);
    assert_eq!((outcome.processed, outcome.failed, outcome.lost), (50, 0, false));
    let changes: Vec<u64> = (1..50).map(|n| 2 * n - 1).collect();
    assert_eq!(numbers(&rig, 2), changes);
    // Dependent items follow their master.
    let tens: Vec<u64> = changes.iter().map(|n| n * 10).collect();
    assert_eq!(numbers(&rig, 4), tens);
}

#[test]
fn an_endless_script_stops_neither_its_shard_nor_others() {
    let mut rig = rig();
    // Time passes for whoever looks, which is the script's own limit.
    rig.clock.tick(Duration::from_millis(6));
    rig.send_many(&[(3, "x", 1), (1, "4", 1), (3, "y", 2)]);
    assert_eq!(numbers(&rig, 1), [8]);
    assert_eq!(rig.stored(3), [SampleValue::Text("y".into())]);
    rig.send(3, &[("x", 3)]);
    let error = rig.error_of(3);
    assert!(error.contains("timeout"), "{error}");
}

#[test]
fn what_the_world_refuses_is_the_items_error() {
    let mut rig = rig();
    rig.send(5, &[("v", 1)]);
    let error = rig.error_of(5);
    assert!(error.contains("cannot get URL: "), "{error}");
}
