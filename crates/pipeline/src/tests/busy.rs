//! A shard whose peers answer slowly, or whose discovery is behind.

use model::{HostId, ItemId, LldValue, Payload, SampleValue, Timestamp, ValueType, shard_of};
use stdx::queue::bounded;
use tokio::sync::oneshot;

use crate::calculated::CalculationId;
use crate::command::Scope;
use crate::core::Core;
use crate::outbox::Outbox;
use crate::peers::{Purpose, TICKETS_MAX};
use crate::testing::{Rig, START_S, calculated, host, item, memory, snapshot, trigger};

/// Two hosts, each on a shard of its own.
fn hosts() -> (u64, u64) {
    let shard = |n: u64| shard_of(HostId(n), 2);
    (1, (2..).find(|n| shard(*n) != shard(1)).unwrap())
}

/// Leaves room for `free` more questions to the other shard.
fn fill(core: &mut Core, free: usize) {
    let peer = 1 - core.place.index;
    let ask = |core: &mut Core, n: u64| {
        // No calculation has such an id: the answer finds nothing to do.
        let purpose = Purpose::Calculation(CalculationId(u64::MAX - n));
        core.ask(peer, Vec::new(), Scope::Newest(1), purpose)
    };
    let (max, free) = (TICKETS_MAX as u64, free as u64);
    assert!((0..max - free).all(|n| ask(core, n)));
}

#[test]
fn past_that_cannot_be_asked_for_is_asked_for_later() {
    let (a, b) = hosts();
    let items = || vec![item(1, a, "k", ValueType::Unsigned), item(2, b, "k", ValueType::Unsigned)];
    let all = || vec![host(a), host(b)];
    let mut rig =
        Rig::with(snapshot(all(), items(), Vec::new()), vec![memory(), memory()], Vec::new());
    rig.send_many(&[(1, "1", 1), (2, "9", 2)]);
    let owner = shard_of(HostId(a), 2);
    fill(&mut rig.cores[owner], 0);
    // The value of the other shard is older than the trigger, which is evaluated here.
    let config = snapshot(all(), items(), vec![trigger(1, "{1}>5 and {2}>5", &[1, 2])]);
    rig.configure(config, None);
    rig.send(1, &[("9", 3)]);
    assert_eq!(rig.found(), [""; 0], "the past of the other item is unknown");
    rig.pass(1);
    assert_eq!(rig.found(), ["1 problem @3 trigger 1"]);
}

#[test]
fn calculation_with_refused_questions_is_repeated() {
    let (a, b) = hosts();
    let formula = format!("last(/h{b}/k)+avg(/h{b}/k,1h)");
    let items = vec![
        item(2, b, "k", ValueType::Unsigned),
        calculated(3, a, "c", &formula, "10s"),
        item(4, a, "k", ValueType::Unsigned),
    ];
    let config = snapshot(vec![host(a), host(b)], items, Vec::new());
    let mut rig = Rig::with(config, vec![memory(), memory()], Vec::new());
    rig.send(2, &[("4", 1)]);
    let owner = shard_of(HostId(a), 2);
    // The second of two questions is refused.
    for free in [0, 1] {
        let stored = rig.stored(3).len();
        let core = &mut rig.cores[owner];
        fill(core, free);
        let calculated = core.snapshot.items.get(&ItemId(3)).cloned().unwrap();
        core.calculate_now(&[ItemId(3)]);
        // One more finds no room either way: what was asked is not taken back.
        let (reply, mut value) = oneshot::channel();
        core.calculate_for(&calculated, reply);
        let Ok(Payload::NotSupported(error)) = value.try_recv() else { panic!("{free} free") };
        assert!(error.contains("too busy"), "{error}");
        rig.settle();
        assert_eq!(rig.stored(3).len(), stored, "{free} free: not from a part of the values");
        assert_eq!(rig.error_of(3), "", "the item stays as it is");
        rig.pass(10);
        assert_eq!(rig.stored(3).len(), stored + 1, "{free} free");
        assert_eq!(rig.stored(3).pop(), Some(SampleValue::Float(8.0)));
    }
}

#[test]
fn large_values_of_discovery_rules_stop_intake_by_bytes() {
    let mut rule = item(1, 1, "rule", ValueType::Text);
    rule.discovery_rule = true;
    let mut rig = Rig::new(snapshot(vec![host(1)], vec![rule], Vec::new()));
    // The worker behind it has taken one value and not finished it.
    let (tx, mut lld) = bounded("lld", 1);
    let busy = LldValue { rule: ItemId(1), at: Timestamp::from_s(START_S), rows: Ok("[]".into()) };
    assert!(tx.try_send(busy).is_ok());
    rig.cores[0].lld = Outbox::weighing(tx, LldValue::bytes);
    let large = format!("[{}]", " ".repeat((16 << 20) - 2));
    for n in 0..4 {
        assert!(rig.cores[0].takes_values(), "{n} of 16 MiB wait");
        assert!(!rig.send(1, &[(&large, n)]).lost);
    }
    assert_eq!(rig.cores[0].waiting(), 4);
    assert!(!rig.cores[0].takes_values(), "64 MiB wait");
    let mut received = 0;
    while let Some(value) = lld.try_recv() {
        received += usize::from(value.bytes() > 2);
        rig.cores[0].send_waiting();
    }
    assert_eq!(received, 4, "nothing is lost");
    assert!(rig.cores[0].takes_values());
}
