//! Two shards and the writer of events under random orders of values, writes that the disk of one
//! shard or the configuration database refuses, values sent again, restarts, edits of a trigger, clocks
//! that are set back or jump forward, and crashes that cost findings of acknowledged values, by seeds,
//! against a small model of what must come out: nothing acknowledged is lost or changed, and each
//! problem opens and recovers once, also in the database. `SEED=N SEEDS=1` runs one seed.

mod database;
mod model;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ::model::{HostId, ItemId, SampleValue, TriggerId, ValueType, shard_of};
use config::Snapshot;
use eval::preproc::Step;
use history::Driver as _;
use stdx::clock::{Clock as _, SimClock};

use self::database::Database;
use self::model::Model;
use crate::testing::{Before, Disk, Rig, START_S, calculated, host, item, snapshot, trigger};

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
    unchanged.depend_on(ItemId(3));
    unchanged.steps = steps(DISCARD_UNCHANGED);
    let mut change = item(5, a, "change", ValueType::Float);
    change.depend_on(ItemId(3));
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

struct World {
    random: Random,
    hosts: (u64, u64),
    turned: bool,
    clock: Arc<SimClock>,
    disks: [Disk; 2],
    database: Database,
    rig: Rig,
    model: Model,
    /// Time of the newest value, seconds since the start.
    at: u32,
}

fn start(clock: &Arc<SimClock>, disks: &[Disk; 2], config: Snapshot, before: Before) -> Rig {
    let drivers = disks.iter().map(|disk| Box::new(disk.clone()) as _).collect();
    Rig::at(Arc::clone(clock), config, drivers, before)
}

impl World {
    fn new(seed: u64, database: Option<Database>) -> Self {
        let shard = |n: u64| shard_of(HostId(n), 2);
        let hosts = (1, (2..).find(|n| shard(*n) != shard(1)).unwrap());
        let disks = [Disk::default(), Disk::default()];
        let clock = SimClock::at(Duration::from_secs(START_S.into()));
        let rig = start(&clock, &disks, configuration(hosts, false), Before::default());
        let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let database = match database {
            Some(database) => database.emptied(Arc::clone(&clock)),
            None => Database::new(Arc::clone(&clock)),
        };
        let model = Model::default();
        let mut world =
            Self { random, hosts, turned: false, clock, disks, database, rig, model, at: 0 };
        // The first mark.
        world.rig.pass(1);
        world.database.pending.extend(world.rig.found_with_findings().1);
        world.write();
        world
    }

    /// A value of any item, a little later than the one before; its text and shard.
    fn value(&mut self) -> (u64, u64, usize) {
        let now_s = u32::try_from(self.clock.unix().as_secs()).unwrap();
        self.at = (self.at + 1).max(now_s.saturating_sub(START_S));
        let item = SENT[self.random.below(3) as usize];
        let host = if item == 2 { self.hosts.1 } else { self.hosts.0 };
        (item, self.random.below(10), shard_of(HostId(host), 2))
    }

    fn send(&mut self, evaluate: bool) {
        let (item, value, shard) = self.value();
        let text = value.to_string();
        let refuses = self.disks[shard].refuses.load(Ordering::Relaxed);
        let outcome = self.rig.send(item, &[(&text, self.at)]);
        assert_eq!(outcome.lost, refuses, "the disk of one shard refuses for this shard alone");
        if refuses {
            // Some senders give up.
            if self.random.below(4) == 0 {
                return;
            }
            self.disks[shard].refuses.store(false, Ordering::Relaxed);
            let outcome = self.rig.send(item, &[(&text, self.at)]);
            assert_eq!((outcome.processed, outcome.lost), (1, false));
        }
        self.model.store(item, value, self.at);
        if evaluate && item != 3 {
            self.model.evaluate(&[item]);
        }
    }

    fn boot(&mut self, before: Before) {
        self.model.before = None;
        let config = configuration(self.hosts, self.turned);
        self.rig = start(&self.clock, &self.disks, config, before);
    }

    /// Ends in good order: findings that the database refuses wait in a file for the next start.
    fn restart(&mut self) {
        let triggers = self.database.restart();
        assert_eq!(self.database.events(), self.model.all);
        self.boot(Before { triggers, after_crash: true, unwritten: None });
    }

    /// Values are acknowledged, and the process ends before it has written what it found.
    fn crash(&mut self) {
        for _ in 0..self.random.below(4) {
            self.send(false);
        }
        let (triggers, unwritten) = self.database.crash();
        self.model.lose_all_but(self.database.events());
        self.model.findings.clear();
        self.boot(Before { triggers, after_crash: true, unwritten });
        self.rig.pass(1);
        self.model.evaluate(&[1, 2]);
    }

    /// Writes what was found, as far as the database takes it.
    fn write(&mut self) {
        let size = 1 + self.random.below(4) as usize;
        for (trigger, state) in self.database.write(size) {
            self.rig.cores.iter_mut().for_each(|core| core.set_trigger(trigger, state));
        }
    }

    fn operate(&mut self) {
        match self.random.below(24) {
            0 => self.restart(),
            4 | 5 => self.crash(),
            1 => {
                self.turned = !self.turned;
                let touched =
                    config::Touched { triggers: [TriggerId(1)].into(), ..Default::default() };
                self.rig.configure(configuration(self.hosts, self.turned), Some(touched));
            }
            2 => {
                let seconds = 10 + self.random.below(5_000);
                self.clock.set_back(Duration::from_secs(seconds));
                self.rig.pass(1);
            }
            6 => {
                let seconds = 10 + self.random.below(20_000);
                self.clock.advance(Duration::from_secs(seconds));
                self.rig.pass(1);
            }
            3 => self.rig.pass(7),
            7 | 8 => {
                let n = self.random.below(2) as usize;
                self.disks[n].refuses.fetch_xor(true, Ordering::Relaxed);
            }
            9 => self.database.break_down(self.random.below(3) as usize),
            10 => self.database.heal(),
            _ => self.send(true),
        }
        let (mut found, findings) = self.rig.found_with_findings();
        self.database.pending.extend(findings);
        // Triggers of one value are evaluated on several shards, in any order.
        found.retain(|found| !found.contains(" error "));
        let mut expected = std::mem::take(&mut self.model.findings);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        if self.random.below(3) > 0 {
            self.write();
        }
    }

    fn check(&mut self) {
        for disk in &self.disks {
            disk.refuses.store(false, Ordering::Relaxed);
        }
        self.database.heal();
        self.write();
        assert_eq!(self.database.events(), self.model.all);
        let open = self.model.all.iter().filter(|(_, all)| all.last().is_some_and(|last| last.0));
        assert_eq!(self.database.open(), open.map(|(id, _)| *id).collect::<Vec<_>>());
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
fn acknowledged_values_survive_and_problems_open_once() {
    #[expect(clippy::disallowed_methods, reason = "chosen in manual runs")]
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (first, seeds) = (number("SEED").unwrap_or(1), number("SEEDS").unwrap_or(SEEDS));
    let mut database = None;
    for seed in first..first + seeds {
        let before = database.take();
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut world = World::new(seed, before);
            for _ in 0..OPERATIONS {
                world.operate();
            }
            world.check();
            world.database
        }));
        database = run.ok();
        assert!(database.is_some(), "seed {seed}");
    }
}
