//! Two shards under random orders of values, refused writes, values sent again, crashes, edits of a
//! trigger, clocks that are set back, and crashes that cost findings of acknowledged values, by seeds,
//! against a small model of what must come out: nothing acknowledged is lost or changed, and each
//! problem opens and recovers once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use config::Snapshot;
use eval::preproc::Step;
use history::Driver as _;
use model::{
    HostId, InitialTrigger, SampleValue, Timestamp, TriggerId, TriggerState, UnixSeconds,
    Unwritten, ValueType, shard_of,
};

use crate::testing::{Disk, Rig, START_S, calculated, host, item, snapshot, trigger};

const SEEDS: u64 = 60;
const OPERATIONS: u64 = 80;
const CHANGE: u8 = 9;
const DISCARD_UNCHANGED: u8 = 19;
/// Items that get values; the first two make triggers, the third has dependents 4 and 5.
const SENT: [u64; 3] = [1, 2, 3];

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn steps(kind: u8) -> Arc<[Step]> {
    Arc::from([Step::from_api(kind, "", 0, "").unwrap()])
}

/// The trigger over both shards is evaluated on that of its first item.
fn configuration(hosts: (u64, u64), turned: bool) -> Snapshot {
    let (a, b) = hosts;
    let mut unchanged = item(4, a, "unchanged", ValueType::Unsigned);
    unchanged.depend_on(model::ItemId(3));
    unchanged.steps = steps(DISCARD_UNCHANGED);
    let mut change = item(5, a, "change", ValueType::Float);
    change.depend_on(model::ItemId(3));
    change.steps = steps(CHANGE);
    let items = vec![
        item(1, a, "a", ValueType::Unsigned),
        item(2, b, "b", ValueType::Unsigned),
        item(3, a, "master", ValueType::Unsigned),
        unchanged,
        change,
        calculated(6, b, "calculated", "1+1", "5s"),
    ];
    let both = if turned { [2, 1] } else { [1, 2] };
    let mut each = trigger(3, "{1}>5", &[2]);
    each.multiple = true;
    let triggers = vec![trigger(1, "{1}>5 and {2}>5", &both), trigger(2, "{1}>5", &[1]), each];
    snapshot(vec![host(a), host(b)], items, triggers)
}

/// What must come out.
#[derive(Default)]
struct Model {
    stored: BTreeMap<u64, Vec<f64>>,
    /// With its time.
    last: BTreeMap<u64, (u64, u32)>,
    /// Of the master, since the last start.
    before: Option<u64>,
    problem: BTreeMap<u64, bool>,
    /// Time of the newest event that is written, by trigger.
    events: BTreeMap<u64, u32>,
    findings: Vec<String>,
}

impl Model {
    fn store(&mut self, item: u64, value: u64, clock: u32) {
        self.stored.entry(item).or_default().push(value as f64);
        self.last.insert(item, (value, clock));
        if item == 3 {
            if self.before != Some(value) {
                self.stored.entry(4).or_default().push(value as f64);
            }
            // A counter that goes back gives no change.
            if let Some(before) = self.before.filter(|before| *before <= value) {
                self.stored.entry(5).or_default().push(value as f64 - before as f64);
            }
            self.before = Some(value);
        }
    }

    /// Evaluates triggers that name one of the items, as of their items' newest values.
    fn evaluate(&mut self, items: &[u64]) {
        let (a, b) = (self.last.get(&1).copied(), self.last.get(&2).copied());
        let high = |(value, at): (u64, u32)| (value > 5, at);
        let both = a.zip(b).map(|(a, b)| (a.0 > 5 && b.0 > 5, a.1.max(b.1)));
        let all = [(1, both, &[1, 2][..]), (2, a.map(high), &[1]), (3, b.map(high), &[2])];
        for (id, verdict, named) in all {
            let Some((now, at)) = verdict else { continue };
            if !named.iter().any(|item| items.contains(item)) || self.events.get(&id) >= Some(&at) {
                continue;
            }
            let before = self.problem.insert(id, now).unwrap_or(false);
            if before != now || (now && id == 3) {
                let word = if now { "problem" } else { "ok" };
                self.findings.push(format!("{id} {word} @{at} trigger {id}"));
                self.events.insert(id, at);
            }
        }
    }
}

struct World {
    random: Random,
    hosts: (u64, u64),
    turned: bool,
    disks: [Disk; 2],
    rig: Rig,
    model: Model,
    clock: u32,
}

fn start(disks: &[Disk; 2], config: Snapshot, model: &Model, unwritten: bool) -> Rig {
    let drivers = disks.iter().map(|disk| Box::new(disk.clone()) as _).collect();
    let state = |problem| if problem { TriggerState::Problem } else { TriggerState::Ok };
    let triggers = model.problem.iter().map(|(id, problem)| InitialTrigger {
        trigger: TriggerId(*id),
        state: state(*problem),
        error: String::new(),
    });
    let at = |(id, at): (&u64, &u32)| (TriggerId(*id), Timestamp::from_s(START_S + at));
    let events = model.events.iter().map(at).collect();
    let unwritten = unwritten.then_some(Unwritten { since: UnixSeconds(START_S), events });
    Rig::after_losing(config, drivers, triggers.collect(), true, unwritten)
}

impl World {
    fn new(seed: u64) -> Self {
        let shard = |n: u64| shard_of(HostId(n), 2);
        let hosts = (1, (2..).find(|n| shard(*n) != shard(1)).unwrap());
        let disks = [Disk::default(), Disk::default()];
        let rig = start(&disks, configuration(hosts, false), &Model::default(), false);
        let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        Self { random, hosts, turned: false, disks, rig, model: Model::default(), clock: 0 }
    }

    fn send(&mut self) {
        self.clock += 1;
        let item = SENT[self.random.below(3) as usize];
        let (value, clock) = (self.random.below(10), self.clock);
        let refused = self.random.below(4) == 0;
        let text = value.to_string();
        if refused {
            let on = |yes| self.disks.iter().for_each(|d| d.refuses.store(yes, Ordering::Relaxed));
            on(true);
            assert!(self.rig.send(item, &[(&text, clock)]).lost);
            on(false);
            // Some senders give up.
            if self.random.below(4) == 0 {
                return;
            }
        }
        let outcome = self.rig.send(item, &[(&text, clock)]);
        assert_eq!((outcome.processed, outcome.lost), (1, false));
        self.model.store(item, value, clock);
        if item != 3 {
            self.model.evaluate(&[item]);
        }
    }

    fn restart(&mut self, unwritten: bool) {
        self.model.before = None;
        let config = configuration(self.hosts, self.turned);
        self.rig = start(&self.disks, config, &self.model, unwritten);
    }

    /// Values are acknowledged, and the process ends before it has written what it found.
    fn lose_findings(&mut self) {
        for _ in 0..=self.random.below(3) {
            self.clock += 1;
            let (item, value) = (SENT[self.random.below(3) as usize], self.random.below(10));
            let outcome = self.rig.send(item, &[(&value.to_string(), self.clock)]);
            assert_eq!((outcome.processed, outcome.lost), (1, false));
            self.model.store(item, value, self.clock);
        }
        self.restart(true);
        self.rig.pass(1);
        self.model.evaluate(&[1, 2]);
    }

    fn operate(&mut self) {
        match self.random.below(20) {
            0 => {
                let unwritten = self.random.below(2) == 0;
                self.restart(unwritten);
            }
            4 | 5 => self.lose_findings(),
            1 => {
                self.turned = !self.turned;
                let touched =
                    config::Touched { triggers: [TriggerId(1)].into(), ..Default::default() };
                self.rig.configure(configuration(self.hosts, self.turned), Some(touched));
            }
            2 => {
                let seconds = 10 + self.random.below(5_000);
                self.rig.clock.set_back(Duration::from_secs(seconds));
                self.rig.pass(1);
            }
            3 => self.rig.pass(7),
            _ => self.send(),
        }
        // Triggers of one value are evaluated on several shards, in any order.
        let found = self.rig.found().into_iter().filter(|found| !found.contains(" error "));
        let mut found: Vec<String> = found.collect();
        let mut expected = std::mem::take(&mut self.model.findings);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    fn check(&mut self) {
        for item in [1, 2, 3, 4, 5] {
            let number = |value| match value {
                SampleValue::Unsigned(v) => v as f64,
                SampleValue::Float(v) => v,
                other => panic!("{other:?}"),
            };
            let stored: Vec<f64> = self.rig.stored(item).into_iter().map(number).collect();
            assert_eq!(stored, self.model.stored.remove(&item).unwrap_or_default(), "item {item}");
        }
        let written = |disks: &[Disk; 2]| disks.iter().map(|d| d.counters().samples).sum::<u64>();
        let before = written(&self.disks);
        self.rig.pass(11);
        assert!(written(&self.disks) > before, "the calculated item stands still");
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_problems_open_and_recover_once() {
    for seed in 1..=SEEDS {
        let run = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..OPERATIONS {
                world.operate();
            }
            world.check();
        });
        assert!(run.is_ok(), "seed {seed}");
    }
}
