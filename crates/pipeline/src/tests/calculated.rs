//! Calculated items on their intervals, over one shard and over several.

use std::sync::Arc;

use eval::macros::{MacroDef, MacroKind};
use model::{HostId, ItemId, SampleValue, ValueType};

use crate::testing::{Rig, calculated, host, item, memory, snapshot};

fn last(rig: &Rig, item: u64) -> Option<SampleValue> {
    rig.stored(item).pop()
}

#[test]
fn formulas_over_own_items() {
    let formulas = [
        ("avg(//k,#5)", Some(3.0)),
        ("max(/h1/k,#4)", Some(5.0)),
        ("last(//k,#1)", Some(5.0)),
        ("(avg(//k,#5) * 2) + 1", Some(7.0)),
        ("sum(//k,#5) - avg(//k,#5)", Some(12.0)),
        ("sum(last_foreach(/*/k))", Some(5.0)),
        ("count(//k,1h)", Some(5.0)),
        ("last(//none)", None),
        ("1+", None),
        ("count(//k,0)", Some(0.0)),
        ("count(exists_foreach(/h1/k))", None),
        ("count(exists_foreach(/*/k))", Some(1.0)),
    ];
    let mut items = vec![item(1, 1, "k", ValueType::Float)];
    for (id, (formula, _)) in (100..).zip(&formulas) {
        items.push(calculated(id, 1, &format!("c{id}"), formula, "10s"));
    }
    let mut rig = Rig::new(snapshot(vec![host(1)], items, Vec::new()));
    rig.send(1, &[("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5)]);
    rig.pass(30);
    for (id, (formula, value)) in (100..).zip(&formulas) {
        assert_eq!(last(&rig, id), value.map(SampleValue::Float), "{formula}");
        assert_eq!(rig.error_of(id).is_empty(), value.is_some(), "{formula}");
        let times = if value.is_some() { 3 } else { 0 };
        assert_eq!(rig.stored(id).len(), times, "{formula}");
    }
    assert_eq!(rig.error_of(107), "Cannot evaluate function last(//none): item does not exist.");
}

#[test]
fn formulas_over_items_of_other_shards() {
    let hosts: Vec<_> = (1..=8).map(host).collect();
    let mut items: Vec<_> = (1..=8).map(|n| item(n, n, "k", ValueType::Float)).collect();
    items.push(calculated(100, 1, "sum", "sum(last_foreach(/*/k))", "10s"));
    items.push(calculated(101, 2, "mix", "last(/h1/k)+last(/h7/k)+avg(/h8/k,5m)", "10s"));
    let mut rig = Rig::with(
        snapshot(hosts, items, Vec::new()),
        vec![memory(), memory(), memory()],
        Vec::new(),
    );
    let shards: std::collections::BTreeSet<_> =
        (1..=8).map(|n| model::shard_of(HostId(n), 3)).collect();
    assert!(shards.len() > 1, "the hosts have to lie on several shards");
    let values: Vec<(u64, String)> = (1..=8).map(|n| (n, n.to_string())).collect();
    let values: Vec<(u64, &str, u32)> = values.iter().map(|(n, v)| (*n, v.as_str(), 1)).collect();
    rig.send_many(&values);
    rig.pass(12);
    assert_eq!(last(&rig, 100), Some(SampleValue::Float(36.0)));
    assert_eq!(last(&rig, 101), Some(SampleValue::Float(16.0)));
}

#[test]
fn out_of_turn() {
    let items = vec![item(1, 1, "k", ValueType::Float), calculated(2, 1, "c", "last(//k)*2", "1h")];
    let mut rig = Rig::new(snapshot(vec![host(1)], items, Vec::new()));
    rig.send(1, &[("4", 1)]);
    rig.pass(2);
    rig.cores[0].calculate_now(&[ItemId(2), ItemId(1), ItemId(9)]);
    assert_eq!(last(&rig, 2), Some(SampleValue::Float(8.0)));
}

#[test]
fn keys_are_named_as_configured_and_secrets_have_no_value() {
    let formulas = [
        ("last(//k[{$SECRET}])", Some(5.0)),
        ("length({$SECRET})", Some(6.0)),
        ("length(\"{$SECRET}\")", Some(6.0)),
        ("last(//k[{$SECRET}])+{$SECRET}", None),
        ("last(//none[{$SECRET}])", None),
    ];
    let mut keyed = item(1, 1, "k[hidden]", ValueType::Float);
    keyed.written_key = Some("k[{$SECRET}]".into());
    keyed.shown_key = Some("k[******]".into());
    let mut items = vec![keyed];
    for (id, (formula, _)) in (100..).zip(&formulas) {
        items.push(calculated(id, 1, &format!("c{id}"), formula, "10s"));
    }
    let mut config = snapshot(vec![host(1)], items, Vec::new());
    let secret =
        MacroDef { kind: MacroKind::Secret, ..MacroDef::text("{$SECRET}", "hidden").unwrap() };
    Arc::make_mut(&mut config.macros).of_host.insert(HostId(1), vec![secret]);
    let mut rig = Rig::new(config);
    rig.send(1, &[("5", 1)]);
    rig.pass(30);
    for (id, (formula, value)) in (100..).zip(&formulas) {
        assert_eq!(last(&rig, id), value.map(SampleValue::Float), "{formula}");
        let error = rig.error_of(id);
        assert_eq!(error.is_empty(), value.is_some(), "{formula}");
        assert!(!error.contains("hidden"), "{formula}: {error}");
    }
}

#[test]
fn clock_set_back_stops_no_calculation_or_timed_trigger() {
    let mut nodata = crate::testing::trigger(1, "{1}=1", &[1]);
    nodata.functions = Box::from([crate::testing::function(1, 1, "nodata", "30s")]);
    let items =
        vec![item(1, 1, "k", ValueType::Float), calculated(100, 1, "c", "count(//k,1h)+1", "5s")];
    let mut rig = Rig::new(snapshot(vec![host(1)], items, vec![nodata]));
    rig.send(1, &[("1", 1)]);
    rig.pass(20);
    let before = rig.stored(100).len();
    assert_eq!(rig.found(), [""; 0]);
    rig.clock.set_back(std::time::Duration::from_secs(600));
    rig.pass(75);
    assert!(rig.stored(100).len() >= before + 14, "{before}, {}", rig.stored(100).len());
    let found = rig.found();
    let problems = found.iter().filter(|found| found.starts_with("1 problem ")).count();
    assert_eq!(problems, 1, "{found:?}");
}

#[test]
fn last_and_a_period_of_the_same_item_of_another_shard() {
    let hosts: Vec<_> = (1..=8).map(host).collect();
    let far =
        (2..=8).find(|n| model::shard_of(HostId(*n), 2) != model::shard_of(HostId(1), 2)).unwrap();
    let formula = |host: u64| format!("last(/h{host}/k)+count(/h{host}/k,1m)");
    let items = vec![
        item(1, 1, "k", ValueType::Float),
        item(2, far, "k", ValueType::Float),
        calculated(100, 1, "near", &formula(1), "10s"),
        calculated(101, 1, "far", &formula(far), "10s"),
    ];
    let config = snapshot(hosts, items, Vec::new());
    let mut rig = Rig::with(config, vec![memory(), memory()], Vec::new());
    rig.send_many(&[(1, "7", 1), (2, "7", 1)]);
    rig.pass(300);
    assert_eq!(last(&rig, 100), Some(SampleValue::Float(7.0)));
    assert_eq!(last(&rig, 101), last(&rig, 100), "{}", rig.error_of(101));
}

#[test]
fn more_items_than_one_tick_calculates_are_not_late() {
    const ITEMS: u64 = 5_000;
    let mut items = vec![item(1, 1, "k", ValueType::Float)];
    items.extend((0..ITEMS).map(|n| calculated(100 + n, 1, &format!("c{n}"), "last(//k)", "1s")));
    let mut rig = Rig::new(snapshot(vec![host(1)], items.clone(), Vec::new()));
    rig.send(1, &[("4", 0)]);
    // Each new interval leaves a stale entry behind.
    for delay in ["2s", "3s", "4s", "1s"] {
        for item in items.iter_mut().skip(1) {
            item.interval = Some(Arc::new(eval::interval::UpdateInterval::parse(delay).unwrap()));
        }
        rig.configure(snapshot(vec![host(1)], items.clone(), Vec::new()), None);
    }
    for second in 1..=4 {
        rig.pass(1);
        // The ticks of the rest of the second.
        (0..9).for_each(|_| rig.cores[0].tick());
        let calculated = |n: &u64| rig.stored(100 + n).len() >= second;
        assert_eq!((0..ITEMS).filter(|n| !calculated(n)).count(), 0, "second {second}");
    }
}
