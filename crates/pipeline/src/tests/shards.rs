//! Several shards, and shards on threads of their own.

use std::sync::Arc;
use std::time::Duration;

use history::{Reader, Span};
use model::{
    InitialTrigger, ItemId, Payload, Timestamp, Trend, TrendValues, TriggerFinding, TriggerId,
    TriggerState, Value, ValueBatch, ValueType,
};
use stdx::ack;
use stdx::clock::SimClock;
use stdx::queue::bounded;

use crate::testing::{Disk, Rig, START_S, function, host, item, memory, snapshot, trigger};
use crate::{Deps, ShardSet, ShardsConfig};

/// Two hosts that lie on different shards of two.
fn two_hosts() -> (u64, u64) {
    let shard = |n: u64| model::shard_of(model::HostId(n), 2);
    let other = (2..).find(|n| shard(*n) != shard(1)).unwrap();
    (1, other)
}

#[test]
fn a_trigger_over_hosts_of_two_shards() {
    let (a, b) = two_hosts();
    let mut sum = trigger(1, "{1}+{2}>10", &[1, 2]);
    sum.functions = Box::from([function(1, 1, "last", ""), function(2, 2, "sum", "#2")]);
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let config = snapshot(vec![host(a), host(b)], items.clone(), Vec::new());
    let mut rig = Rig::with(config, vec![memory(), memory()], Vec::new());
    // The other shard has a past before the trigger exists.
    rig.send_many(&[(2, "1", 1), (2, "2", 2)]);
    let config = snapshot(vec![host(a), host(b)], items, vec![sum]);
    let touched = config::Touched { triggers: [TriggerId(1)].into(), ..Default::default() };
    rig.configure(config, Some(touched));
    rig.found();
    rig.send(1, &[("7", 3)]);
    let found = rig.found();
    assert!(found.iter().all(|f| f == "1 error "), "{found:?}");
    rig.send(2, &[("3", 4)]);
    assert_eq!(rig.found(), ["1 problem @4 trigger 1"]);
    rig.send(2, &[("!gone", 5)]);
    let host_b = format!("/h{b}/k");
    let error =
        format!("1 error Cannot evaluate function sum({host_b},#2): item is not supported.");
    assert_eq!(rig.found(), [error]);
    rig.send(2, &[("0", 6)]);
    assert_eq!(rig.found(), ["1 error ", "1 ok @6 trigger 1"]);
}

#[test]
fn changed_hosts_of_another_shard_bring_their_triggers() {
    let (a, b) = two_hosts();
    let mut sum = trigger(1, "{1}+{2}>10", &[1, 2]);
    sum.functions = Box::from([function(1, 1, "last", ""), function(2, 2, "last", "")]);
    let items = [(1, a), (2, b), (3, b)].map(|(id, of)| item(id, of, "k", ValueType::Float));
    let config = |triggers| snapshot(vec![host(a), host(b)], Vec::from(items.clone()), triggers);
    let mut rig = Rig::with(config(Vec::new()), vec![memory(), memory()], Vec::new());
    let hosts = [model::HostId(a), model::HostId(b)].into();
    let touched = config::Touched { hosts, ..Default::default() };
    rig.send_many(&[(2, "6", 1)]);
    rig.configure(config(vec![sum]), Some(touched.clone()));
    rig.found();
    rig.send(1, &[("7", 2)]);
    assert_eq!(rig.found(), ["1 problem @2 trigger 1"]);
    rig.send(2, &[("1", 3)]);
    assert_eq!(rig.found(), ["1 ok @3 trigger 1"]);
    rig.configure(config(Vec::new()), Some(touched));
    rig.send(2, &[("8", 4)]);
    assert_eq!(rig.found(), [""; 0]);
}

#[test]
fn trends_of_another_shard() {
    let (a, b) = two_hosts();
    let mut both = trigger(1, "{1}+{2}>10", &[1, 2]);
    both.functions =
        Box::from([function(1, 1, "last", ""), function(2, 2, "trendavg", "2h:now/h")]);
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let mut config = snapshot(vec![host(a), host(b)], items, vec![both]);
    Arc::make_mut(&mut config.settings).timezone = String::from("UTC");
    let mut rig = Rig::with(config, vec![memory(), memory()], Vec::new());
    let owner = model::shard_of(model::HostId(b), 2);
    let trend = |back: u32, avg: f64| Trend {
        item: ItemId(2),
        hour: START_S - back * 3_600,
        num: 1,
        values: TrendValues::Float { min: avg, avg, max: avg },
    };
    let trends = [trend(2, 4.0), trend(1, 6.0)];
    rig.cores[owner].driver.write_trends(&trends).unwrap();
    rig.send(1, &[("5", 1)]);
    assert_eq!(rig.found(), [""; 0], "5 + 5 is not above 10");
    rig.send(1, &[("6", 2)]);
    assert_eq!(rig.found(), ["1 problem @2 trigger 1"]);
    // What was fetched is not believed for long.
    rig.cores[owner].driver.write_trends(&[trend(1, 2.0)]).unwrap();
    rig.pass(90);
    rig.send(1, &[("6", 92)]);
    assert_eq!(rig.found(), ["1 ok @92 trigger 1"]);
}

#[test]
fn trigger_over_unkept_values_of_another_shard_is_unknown() {
    let (a, b) = two_hosts();
    let mut both = trigger(1, "{1}=1 and {2}<25000", &[1, 2]);
    both.functions = Box::from([function(1, 1, "last", ""), function(2, 2, "count", "1d")]);
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let config = snapshot(vec![host(a), host(b)], items, vec![both]);
    let mut rig = Rig::with(config, vec![memory(), memory()], Vec::new());
    rig.clock.advance(Duration::from_secs(26_000));
    rig.pass(1);
    let values: Vec<(&str, u32)> = (1..=26_000).map(|clock| ("1", clock)).collect();
    rig.send(2, &values);
    rig.found();
    rig.send(1, &[("1", 26_000)]);
    let found = rig.found();
    assert!(!found.iter().any(|found| found.contains("problem")), "{found:?}");
    assert!(rig.cores.iter().any(|core| {
        core.triggers.error(TriggerId(1)).contains("more than 16384 values of an item")
    }));
}

#[test]
fn dependencies_reach_over_shards() {
    let (a, b) = two_hosts();
    let mut dependent = trigger(2, "{1}>5", &[2]);
    dependent.depends_on = Box::from([TriggerId(1)]);
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let triggers = vec![trigger(1, "{1}>5", &[1]), dependent];
    let config = snapshot(vec![host(a), host(b)], items, triggers);
    let mut rig = Rig::with(config, vec![memory(), memory()], Vec::new());
    rig.send(1, &[("9", 1)]);
    rig.send(2, &[("9", 2)]);
    assert_eq!(rig.found(), ["1 problem @1 trigger 1"]);
    rig.send(1, &[("1", 3)]);
    rig.send(2, &[("9", 4)]);
    assert_eq!(rig.found(), ["1 ok @3 trigger 1", "2 problem @4 trigger 2"]);
}

#[test]
fn full_queues_stop_values_and_lose_nothing() {
    let items = vec![item(1, 1, "k", ValueType::Float)];
    let triggers = (1..=15_000).map(|id| trigger(id, "{1}>5", &[1]));
    let mut rig = Rig::new(snapshot(vec![host(1)], items, triggers.collect()));
    rig.send(1, &[("9", 1)]);
    assert!(!rig.cores[0].takes_values());
    let mut found = 0;
    while rig.findings.try_recv().is_some() {
        found += 1;
        rig.cores[0].send_waiting();
    }
    assert_eq!(found, 15_000);
    assert!(rig.cores[0].takes_values());
}

/// A running set over two shards with one item on each.
struct Running {
    set: ShardSet,
    clock: Arc<SimClock>,
    findings: stdx::queue::Receiver<TriggerFinding>,
    live: tokio::sync::broadcast::Receiver<crate::LiveNote>,
}

fn running() -> Running {
    running_after(Vec::new())
}

fn running_after(unsupported: Vec<(ItemId, Box<str>)>) -> Running {
    let (a, b) = two_hosts();
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Unsigned)];
    let config = snapshot(vec![host(a), host(b)], items, vec![trigger(1, "{1}>5", &[1])]);
    let clock = SimClock::at(Duration::from_secs(START_S.into()));
    let (findings_out, findings) = bounded("findings", 100);
    let (lld, _) = bounded("lld", 100);
    let (live_out, live) = tokio::sync::broadcast::channel(100);
    let deps = Deps {
        clock: clock.clone(),
        snapshot: Arc::new(config),
        drivers: vec![memory(), memory()],
        past: None,
        findings: findings_out,
        lld,
        live: Some(live_out),
        export: None,
        triggers: Vec::new(),
        unwritten: None,
        unsupported,
    };
    let set = ShardSet::spawn(ShardsConfig::default(), deps).unwrap();
    Running { set, clock, findings, live }
}

impl Running {
    fn send(&self, item: u64, clock: u32, value: f64) -> ack::Outcome {
        let (a, b) = two_hosts();
        let host = if item == 1 { a } else { b };
        let (mut parts, waiter) = ack::split(1);
        let at = Timestamp::from_s(START_S + clock);
        let value = Value { item: ItemId(item), at, payload: Payload::Float(value) };
        let shard = model::shard_of(model::HostId(host), 2);
        let batch = ValueBatch { values: vec![value], ack: parts.pop() };
        self.set.shards()[shard].values.blocking_send(batch).unwrap();
        waiter.blocking_wait()
    }
}

#[test]
fn threads_take_values_answer_and_stop() {
    let mut running = running();
    for clock in 1..=5 {
        assert_eq!(running.send(1, clock, f64::from(clock)).processed, 1);
        assert_eq!(running.send(2, clock, f64::from(clock)).processed, 1);
    }
    let set = &running.set;
    let reports = set.items(&[ItemId(2), ItemId(1), ItemId(77)]).unwrap();
    let seen: Vec<_> = reports
        .iter()
        .map(|report| {
            let value = |n: usize| report.last[n].as_ref().and_then(|s| s.value.as_f64());
            (report.item.0, value(0), value(1))
        })
        .collect();
    assert_eq!(seen, [(2, Some(5.0), Some(4.0)), (1, Some(5.0), Some(4.0))]);
    let newest = set.newest(&[ItemId(1), ItemId(77), ItemId(2)], 3).unwrap();
    assert_eq!(newest.iter().map(Vec::len).collect::<Vec<_>>(), [3, 0, 3]);
    let query = history::RangeQuery {
        item: ItemId(2),
        value_type: ValueType::Unsigned,
        span: Span::new(START_S + 2, START_S + 4),
        limit: None,
        order: history::Order::OldestFirst,
    };
    assert_eq!(set.range(&query).unwrap().len(), 3);
    assert_eq!(running.send(1, 6, 9.0).processed, 1);
    assert!(matches!(
        running.findings.blocking_recv(),
        Some(TriggerFinding::Problem { trigger: TriggerId(1), .. })
    ));
    let state = |set: &ShardSet| set.triggers(&[TriggerId(1)]).unwrap()[0].state;
    assert_eq!(state(set), TriggerState::Problem);
    set.set_trigger(TriggerId(1), TriggerState::Ok);
    assert_eq!(state(set), TriggerState::Ok);
    assert!(set.flush().is_ok());
    assert_eq!(set.gauges().values, 11);
    let note = running.live.blocking_recv().unwrap();
    assert!(!note.is_empty());
    running.clock.advance(Duration::from_secs(1));
    running.set.stop();
    assert!(running.set.items(&[ItemId(1)]).is_err());
    let batch = ValueBatch { values: Vec::new(), ack: None };
    assert!(running.set.shards()[0].values.blocking_send(batch).is_err());
}

#[test]
fn unsupported_items_stay_so_over_a_restart() {
    let why = |text: &str| -> Box<str> { text.into() };
    let before = vec![
        (ItemId(1), why("no such key")),
        (ItemId(2), why("no such file")),
        (ItemId(77), why("deleted meanwhile")),
    ];
    let running = running_after(before.clone());
    assert_eq!(running.set.unsupported().unwrap(), before[..2]);
    let reports = running.set.items(&[ItemId(1)]).unwrap();
    assert_eq!(reports[0].error, "no such key");
    // A value proves the opposite.
    running.send(1, 1, 3.0);
    assert_eq!(running.set.unsupported().unwrap(), before[1..2]);
    running.set.stop();
}

#[test]
fn values_meet_the_configuration_that_came_before_them() {
    let running = running();
    let (a, _) = two_hosts();
    let shard = &running.set.shards()[model::shard_of(model::HostId(a), 2)];
    let mut items = vec![item(1, a, "k", ValueType::Float)];
    // With each a shard might look at the value first.
    for id in 1_000..1_200 {
        items.push(item(id, a, &format!("k{id}"), ValueType::Float));
        let config = Arc::new(snapshot(vec![host(a)], items.clone(), Vec::new()));
        let touched = config::Touched { items: [ItemId(id)].into(), ..Default::default() };
        let (mut parts, waiter) = ack::split(1);
        let at = Timestamp::from_s(START_S + 1);
        let value = Value { item: ItemId(id), at, payload: Payload::Float(1.0) };
        let batch = ValueBatch { values: vec![value], ack: parts.pop() };
        // Both wait when the shard looks up again.
        let (reply, _answer) = tokio::sync::oneshot::channel();
        let question = crate::command::Command::Unsupported { reply };
        shard.commands.blocking_send(question).unwrap();
        running.set.configure(&config, Some(&touched));
        shard.values.blocking_send(batch).unwrap();
        assert_eq!(waiter.blocking_wait().processed, 1, "item {id}");
    }
    running.set.stop();
}

#[test]
fn an_only_shard_on_its_thread_takes_values() {
    let config = snapshot(vec![host(1)], vec![item(1, 1, "k", ValueType::Unsigned)], Vec::new());
    let clock = SimClock::at(Duration::from_secs(START_S.into()));
    let (findings, _kept) = bounded("findings", 10);
    let (lld, _kept_too) = bounded("lld", 10);
    let deps = Deps {
        clock,
        snapshot: Arc::new(config),
        drivers: vec![memory()],
        past: None,
        findings,
        lld,
        live: None,
        export: None,
        triggers: Vec::new(),
        unwritten: None,
        unsupported: Vec::new(),
    };
    let set = ShardSet::spawn(ShardsConfig::default(), deps).unwrap();
    for clock in 1..=3 {
        let (mut parts, waiter) = ack::split(1);
        let values = vec![Value {
            item: ItemId(1),
            at: Timestamp::from_s(START_S + clock),
            payload: Payload::Unsigned(clock.into()),
        }];
        let batch = ValueBatch { values, ack: parts.pop() };
        assert!(set.values()[0].blocking_send(batch).is_ok(), "the shard has ended");
        assert_eq!(waiter.blocking_wait().processed, 1);
    }
    assert!(set.stop());
}

/// Two items on two shards, and a trigger over both.
fn over_two_shards(disks: &[Disk; 2], state: TriggerState) -> Rig {
    let (a, b) = two_hosts();
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let both = trigger(1, "{1}>5 and {2}=1", &[1, 2]);
    let config = snapshot(vec![host(a), host(b)], items, vec![both]);
    let drivers = disks.iter().map(|disk| Box::new(disk.clone()) as _).collect();
    let initial = InitialTrigger { trigger: TriggerId(1), state, error: String::new() };
    let mut rig = Rig::with(config, drivers, vec![initial]);
    rig.settle();
    rig
}

/// Problems and recoveries found, without errors.
fn events(rig: &mut Rig) -> Vec<String> {
    rig.found().into_iter().filter(|found| !found.contains(" error ")).collect()
}

#[test]
fn a_restart_evaluates_no_trigger_over_two_shards() {
    let disks = [Disk::default(), Disk::default()];
    let mut rig = over_two_shards(&disks, TriggerState::Ok);
    rig.send(1, &[("10", 1)]);
    rig.send(2, &[("1", 2)]);
    rig.send(1, &[("1", 3)]);
    assert_eq!(events(&mut rig), ["1 problem @2 trigger 1", "1 ok @3 trigger 1"]);
    let mut rig = over_two_shards(&disks, TriggerState::Ok);
    rig.pass(2);
    assert_eq!(rig.found(), [""; 0]);
    rig.send(1, &[("7", 4)]);
    assert_eq!(rig.found(), ["1 problem @4 trigger 1"]);
}

#[test]
fn early_values_are_evaluated_with_the_past_of_other_shards() {
    let disks = [Disk::default(), Disk::default()];
    over_two_shards(&disks, TriggerState::Ok).send(2, &[("1", 1)]);
    let (a, b) = two_hosts();
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let config =
        snapshot(vec![host(a), host(b)], items, vec![trigger(1, "{1}>5 and {2}=1", &[1, 2])]);
    let drivers = disks.iter().map(|disk| Box::new(disk.clone()) as _).collect();
    // The first batch comes before any message between shards.
    let mut rig = Rig::with(config, drivers, Vec::new());
    rig.send(1, &[("9", 2), ("1", 3)]);
    assert_eq!(rig.found(), ["1 problem @2 trigger 1", "1 ok @3 trigger 1"]);
}

#[test]
fn edited_trigger_moves_its_state_to_the_new_shard() {
    let disks = [Disk::default(), Disk::default()];
    let mut rig = over_two_shards(&disks, TriggerState::Ok);
    rig.send(2, &[("1", 1)]);
    rig.send(1, &[("9", 2)]);
    assert_eq!(events(&mut rig), ["1 problem @2 trigger 1"]);
    let (a, b) = two_hosts();
    let edited = |id| {
        let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
        let mut turned = trigger(1, "{1}=7 or {2}>50", &[2, 1]);
        turned.description = format!("revision {id}").into();
        snapshot(vec![host(a), host(b)], items, vec![turned])
    };
    let touched = config::Touched { triggers: [TriggerId(1)].into(), ..Default::default() };
    rig.configure(edited(1), Some(touched.clone()));
    rig.send(1, &[("8", 3)]);
    assert_eq!(rig.found(), ["1 ok @3 revision 1"]);
    rig.send(2, &[("!broken", 4)]);
    let error = format!("Cannot evaluate function last(/h{b}/k): item is not supported.");
    assert_eq!(rig.found(), [format!("1 error {error}")]);
    // Back to the shard of the first host: it clears the error that the other one found.
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let back = snapshot(vec![host(a), host(b)], items, vec![trigger(1, "{1}>5", &[1])]);
    rig.configure(back, Some(touched));
    rig.send(1, &[("1", 5)]);
    assert_eq!(rig.found(), ["1 error "]);
}

#[test]
fn the_newest_value_of_another_shard_counts_however_old_it_is() {
    let (a, b) = two_hosts();
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let mut both = trigger(1, "{1}>5 and {2}=1 and {3}>=0", &[1, 2]);
    both.functions = Box::from([
        function(1, 1, "last", ""),
        function(2, 2, "last", ""),
        function(3, 2, "count", "1m"),
    ]);
    let disks = [Disk::default(), Disk::default()];
    let drivers = || disks.iter().map(|disk| Box::new(disk.clone()) as _).collect();
    let config = snapshot(vec![host(a), host(b)], items, vec![both]);
    Rig::with(config.clone(), drivers(), Vec::new()).send(2, &[("1", 1)]);
    let mut rig = Rig::with(config, drivers(), Vec::new());
    rig.pass(600);
    rig.send(1, &[("9", 600)]);
    assert_eq!(rig.found(), ["1 problem @600 trigger 1"]);
}

#[test]
fn a_late_answer_of_another_shard_is_waited_for() {
    let disks = [Disk::default(), Disk::default()];
    over_two_shards(&disks, TriggerState::Ok).send(2, &[("1", 1)]);
    let mut rig = over_two_shards(&disks, TriggerState::Ok);
    let (a, b) = two_hosts();
    let items = vec![item(1, a, "k", ValueType::Float), item(2, b, "k", ValueType::Float)];
    let mut longer = trigger(1, "{1}>5 and {2}=1", &[1, 2]);
    longer.functions = Box::from([function(1, 1, "last", ""), function(2, 2, "last", "#9")]);
    let config = Arc::new(snapshot(vec![host(a), host(b)], items, vec![longer]));
    let shard = model::shard_of(model::HostId(a), 2);
    // The other shard is busy: nothing moves between them for a minute.
    rig.cores[shard].foreign.forget(ItemId(2));
    rig.cores[shard].configure(crate::command::NewConfig { snapshot: config, touched: None });
    for _ in 0..60 {
        rig.clock.advance(Duration::from_secs(1));
        rig.cores[shard].tick();
    }
    assert!(!rig.cores[shard].foreign.is_ready(ItemId(2)), "no answer is not an empty answer");
    rig.settle();
    assert!(rig.cores[shard].foreign.is_ready(ItemId(2)));
}
