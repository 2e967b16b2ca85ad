//! Items with scripts: on the shard, and where scripts may take their time.

use std::sync::Arc;
use std::time::Duration;

use eval::preproc::Step;
use model::{ItemId, Payload, SampleValue, Timestamp, Value, ValueBatch, ValueType};
use stdx::ack;

use crate::testing::{Rig, START_S, host, item, snapshot};

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
    part.depend_on(ItemId(2));
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
    assert_eq!(rig.send(1, &[("1", 1)]).processed, 1);
    assert!(!rig.acknowledged_early, "nobody knows what a script does that never ran");
    assert_eq!(rig.send(1, &[("2", 2), ("3", 3)]).processed, 2);
    assert!(rig.acknowledged_early);
    assert_eq!(numbers(&rig, 1), [2, 4, 6]);
    assert_eq!(rig.cores[0].desk.held(), 0);
}

/// Hands values of one item to the only shard, which does its round; the scripts may still run.
fn hand(rig: &mut Rig, item: u64, text: &str, n: u32) -> ack::Waiter {
    let value = |at| Value {
        item: ItemId(item),
        at: Timestamp::from_s(START_S + at),
        payload: Payload::Text(text.into()),
    };
    let (mut acks, waiter) = ack::split(1);
    let batch = ValueBatch { values: (0..n).map(value).collect(), ack: acks.pop() };
    rig.cores[0].run(&mut vec![batch]);
    waiter
}

#[test]
fn values_of_others_are_kept_whatever_a_script_does() {
    let mut endless = item(1, 1, "endless", ValueType::Text);
    endless.steps = steps(&[(JAVASCRIPT, "while (value == 'x') {} return value")]);
    let plain = item(2, 2, "plain", ValueType::Text);
    let mut good = item(3, 2, "good", ValueType::Text);
    good.steps = steps(&[(JAVASCRIPT, "return value + '!'")]);
    let mut rig =
        Rig::new(snapshot(vec![host(1), host(2)], vec![endless, plain, good], Vec::new()));
    // The clock stands still, and so does the end of the script's time.
    let hanging = hand(&mut rig, 1, "x", 1);
    assert_eq!(hand(&mut rig, 2, "a", 1).blocking_wait().processed, 1);
    assert_eq!(rig.stored(2), [SampleValue::Text("a".into())]);
    assert!(format!("{:?}", rig.cores[0].scripts).contains("started: false"), "on the shard");
    // More behind it than a shard holds: intake pauses, and goes on without the script's item.
    let behind = hand(&mut rig, 1, "y", 5_000);
    assert!(!rig.cores[0].takes_values());
    rig.clock.advance(Duration::from_secs(1));
    assert!(rig.cores[0].takes_values());
    let refused = hand(&mut rig, 1, "y", 10).blocking_wait();
    assert_eq!((refused.processed, refused.failed), (0, 10));
    assert_eq!(hand(&mut rig, 2, "b", 1).blocking_wait().processed, 1);
    let others = hand(&mut rig, 3, "c", 1);
    while !others.is_done() {
        let done = rig.inboxes[0].scripts.blocking_recv().unwrap();
        assert_eq!(done.item.id, ItemId(3), "the other one still runs");
        rig.cores[0].run_done(vec![done]);
    }
    assert_eq!(rig.stored(3), [SampleValue::Text("c!".into())]);
    assert!(!hanging.is_done());
    while !hanging.is_done() {
        rig.clock.advance(Duration::from_secs(11));
        match rig.inboxes[0].scripts.try_recv() {
            Some(done) => rig.cores[0].run_done(vec![done]),
            None => std::thread::yield_now(),
        }
    }
    rig.settle();
    assert_eq!(hanging.blocking_wait().processed, 1);
    assert_eq!(behind.blocking_wait().processed, 5_000);
    assert_eq!(rig.send(1, &[("y", 6_000)]).processed, 1, "taken again");
}

#[test]
fn endless_scripts_of_one_host_leave_workers_for_others() {
    const ENDLESS: u64 = 20;
    let items = (1..=ENDLESS + 1).map(|id| {
        let good = id > ENDLESS;
        let mut item = item(id, if good { 2 } else { 1 }, &format!("k{id}"), ValueType::Text);
        let script = if good { "return value + '!'" } else { "while (true) {} return value" };
        item.steps = steps(&[(JAVASCRIPT, script)]);
        item
    });
    let mut rig = Rig::new(snapshot(vec![host(1), host(2)], items.collect(), Vec::new()));
    let hanging: Vec<_> = (1..=ENDLESS).map(|id| hand(&mut rig, id, "x", 1)).collect();
    let others = hand(&mut rig, ENDLESS + 1, "a", 1);
    // The clock stands still, and so does the end of the scripts' time.
    let done = rig.inboxes[0].scripts.blocking_recv().unwrap();
    assert_eq!(done.item.id, ItemId(ENDLESS + 1), "the endless ones still run");
    rig.cores[0].run_done(vec![done]);
    assert_eq!(others.blocking_wait().processed, 1);
    assert!(hanging.iter().all(|one| !one.is_done()));
    while hanging.iter().any(|one| !one.is_done()) {
        rig.clock.advance(Duration::from_secs(11));
        match rig.inboxes[0].scripts.try_recv() {
            Some(done) => rig.cores[0].run_done(vec![done]),
            None => std::thread::yield_now(),
        }
    }
}

#[test]
fn values_behind_a_waiting_script_keep_their_order() {
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
    // Each look at the clock advances it, which reaches the script's own limit.
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
