use std::collections::BTreeMap;
use std::sync::Arc;

use config::snapshot::source::Http;
use config::snapshot::web::{Scenario, WebStep};
use config::snapshot::{Host, ItemExtra, ItemType};
use eval::interval::UpdateInterval;
use model::{HostId, InterfaceId};

use super::*;
use crate::engines::waits;
use crate::schedule::lane::FIXED;
use collect::testing::{host, item, snapshot};

const START: u32 = 1_700_000_000;
const TIMEOUT: Duration = Duration::from_secs(6);

fn of_kind(id: u64, kind: ItemType) -> Item {
    let mut item = item(id);
    item.interval = Some(Arc::new(UpdateInterval::parse("30s").unwrap()));
    item.kind = kind;
    item.poll_at(InterfaceId(0));
    item
}

fn with_source(mut item: Item, source: Source) -> Item {
    item.extra = Some(Arc::new(ItemExtra { source, ..ItemExtra::default() }));
    item
}

fn asking(id: u64, url: &str) -> Item {
    let http = Http { url: url.to_owned(), ..Http::default() };
    with_source(of_kind(id, ItemType::HttpAgent), Source::Http(Box::new(http)))
}

fn with_hosts(hosts: Vec<Host>) -> Schedule {
    let mut schedule = Schedule::new(waits, 0, 1, START);
    schedule.apply(&snapshot(1, hosts.into_iter().map(Arc::new).collect()), START);
    schedule
}

/// A check in flight: its slot and lane, its item, and how long it takes.
type Flying = (u32, usize, u64, u32);

/// A poller whose clock is an argument.
struct Simulation {
    schedule: Schedule,
    /// By the second in which it ends.
    flying: BTreeMap<u32, Vec<Flying>>,
}

impl Simulation {
    fn of(hosts: Vec<Host>) -> Self {
        Self { schedule: with_hosts(hosts), flying: BTreeMap::new() }
    }

    /// Runs checks that take so many seconds; (second, item) of each end.
    fn run(
        &mut self,
        seconds: std::ops::Range<u32>,
        takes_s: impl Fn(u64) -> u32,
    ) -> Vec<(u32, u64)> {
        let Self { schedule, flying } = self;
        let mut seen = Vec::new();
        for now in seconds {
            schedule.tick(now);
            loop {
                for (slot, lane, id, took_s) in flying.remove(&now).unwrap_or_default() {
                    schedule.paced(lane, Duration::from_secs(took_s.into()), TIMEOUT);
                    schedule.complete(slot, lane, now, false);
                    seen.push((now, id));
                }
                while let Some(lane) = schedule.next_lane(now) {
                    let (slot, item) = schedule.take(lane).unwrap();
                    let (id, took_s) = (item.id.0, takes_s(item.id.0));
                    flying.entry(now + took_s).or_default().push((slot, lane, id, took_s));
                }
                if !flying.contains_key(&now) {
                    break;
                }
            }
        }
        seen
    }
}

fn is_on_time(seen: &[(u32, u64)], id: u64, from: u32, to: u32) -> bool {
    let times: Vec<u32> =
        seen.iter().filter(|(at, who)| *who == id && *at >= from).map(|(at, _)| *at).collect();
    let due: Vec<u32> = (from..to).filter(|at| u64::from(at % 30) == id % 30).collect();
    times == due
}

/// However many items ask servers that never answer, those that ask others are in time.
#[test]
fn the_dead_do_not_hold_up_the_living() {
    const LIVING: std::ops::Range<u64> = 1..200;
    for (items, servers, warm_s) in [(10_000, 1, 61), (20_000, 20_000, 90), (40_000, 10, 90)] {
        let living = LIVING.map(|id| asking(id, &format!("http://living{}/{id}", id % 7)));
        let dead = (1_000..1_000 + items)
            .map(|id| asking(id, &format!("http://dead{}:81/{id}", id % servers)));
        let mut poller = Simulation::of(vec![host(1, living.chain(dead).collect())]);
        let (from, to) = (START + warm_s, START + 300);
        let takes = |id| if LIVING.contains(&id) { 0 } else { 6 };
        let seen = poller.run(START..to, takes);
        for id in LIVING {
            assert!(is_on_time(&seen, id, from, to), "{items} of {servers}: item {id}");
        }
        // They are asked as fast as their part of the places allows: nothing is given up.
        let asked = seen.iter().filter(|(at, id)| !LIVING.contains(id) && *at >= from).count();
        let places = if servers == 1 { 500 } else { 3_000 };
        let rounds = usize::try_from((to - from) / 6 - 1).unwrap();
        assert!(asked >= places * rounds, "{items} of {servers}: {asked}");
        let places = poller.schedule.places_ref(Group::Http);
        assert_eq!(places.slow, places.taken);
    }
}

#[test]
fn a_server_that_comes_back_is_in_time_again() {
    let items = (1..=12_000).map(|id| asking(id, &format!("http://server{}/", id % 40)));
    let mut poller = Simulation::of(vec![host(1, items.collect())]);
    let back_at = START + 200;
    poller.run(START..back_at, |_| 6);
    let to = START + 400;
    let seen = poller.run(back_at..to, |id| if id % 40 == 3 { 0 } else { 6 });
    for id in (1..=12_000).filter(|id| id % 40 == 3) {
        assert!(is_on_time(&seen, id, back_at + 60, to), "item {id}");
    }
}

/// A group that is full of quick checks still has a quarter of its places for the slow ones.
#[test]
fn the_slow_have_their_share() {
    let hosts = (1..=40).map(|id| {
        let items = (0..100).map(|n| of_kind(id * 1_000 + n, ItemType::External));
        host(id, items.collect())
    });
    let mut poller = Simulation::of(hosts.collect());
    let slow = |id: u64| id < 5_000;
    let seen = poller.run(START..START + 600, |id| if slow(id) { 9 } else { 2 });
    let count = seen.iter().filter(|(at, id)| slow(*id) && *at > START + 100).count();
    // 16 places for 500 seconds, 9 seconds each.
    assert!(count > 16 * 500 / 9 * 8 / 10, "{count}");
    let quick = seen.iter().filter(|(at, id)| !slow(*id) && *at > START + 100).count();
    assert!(quick > 48 * 500 / 2 * 8 / 10, "{quick}");
}

#[test]
fn a_lane_has_its_share_of_the_places() {
    let external = |id| of_kind(id, ItemType::External);
    let mut items: Vec<Item> = (1..=100).map(external).collect();
    let mut agent = of_kind(200, ItemType::Agent);
    agent.poll_at(InterfaceId(1));
    items.push(agent);
    let mut schedule = with_hosts(vec![host(1, items)]);
    let start = |schedule: &mut Schedule, now| {
        schedule.tick(now);
        let mut out = Vec::new();
        while let Some(lane) = schedule.next_lane(now) {
            let (slot, item) = schedule.take(lane).unwrap();
            out.push((slot, lane, item.kind));
        }
        out
    };
    // Nobody knows yet how long they take.
    let first = start(&mut schedule, START + 61);
    assert_eq!(first.len(), 8 + 1);
    assert!(start(&mut schedule, START + 61).is_empty());
    for (slot, lane, kind) in first {
        if kind == ItemType::External {
            schedule.paced(lane, Duration::ZERO, TIMEOUT);
        }
        schedule.complete(slot, lane, START + 62, false);
    }
    let second = start(&mut schedule, START + 62);
    assert_eq!(second.len(), 32);
    // The host goes while its checks run: what they leave is used again.
    schedule.apply(&snapshot(2, vec![]), START + 63);
    assert!(schedule.asked.is_empty() || schedule.slots.len() == 32);
    for (slot, lane, _) in second {
        schedule.complete(slot, lane, START + 64, false);
    }
    assert_eq!((schedule.asked.len(), schedule.slots.len()), (0, 0));
    assert_eq!(schedule.places_ref(Group::External).taken, 0);
    schedule.apply(&snapshot(3, vec![host(1, vec![external(1)]).into()]), START + 64);
    assert_eq!(schedule.lanes.len(), FIXED + 2);
    assert_eq!(start(&mut schedule, START + 125).len(), 1);
}

#[test]
fn an_item_that_asks_another_changes_its_lane() {
    let mut schedule =
        with_hosts(vec![host(1, vec![asking(1, "http://a/"), asking(2, "http://b/")])]);
    assert_eq!((schedule.asked.len(), schedule.lanes.len()), (2, FIXED + 2));
    let both = vec![asking(1, "http://b/x"), asking(2, "http://b/")];
    schedule.apply(&snapshot(2, vec![host(1, both).into()]), START + 1);
    assert_eq!((schedule.asked.len(), schedule.free_lanes.len()), (1, 1));
    // While it is in flight.
    schedule.tick(START + 61);
    let lane = schedule.next_lane(START + 61).unwrap();
    let (slot, item) = schedule.take(lane).unwrap();
    let moved = vec![asking(1, "http://c/"), asking(2, "http://c/")];
    schedule.apply(&snapshot(3, vec![host(1, moved).into()]), START + 62);
    assert_eq!(schedule.asked.len(), 2);
    schedule.complete(slot, lane, START + 62, false);
    assert_eq!((schedule.asked.len(), item.id.0 <= 2), (1, true));
    let mut poller = Simulation { schedule, flying: BTreeMap::new() };
    assert!(poller.run(START + 62..START + 130, |_| 0).len() >= 4);
}

#[test]
fn who_is_asked() {
    let scenario = |url: &str, proxy: &str| {
        let step = WebStep { url: url.to_owned(), ..WebStep::default() };
        let proxy = proxy.to_owned();
        let scenario = Scenario { proxy, steps: vec![step], ..Scenario::default() };
        with_source(of_kind(1, ItemType::Web), Source::Web(Box::new(scenario)))
    };
    let key = |kind, key: &str| {
        let mut item = of_kind(1, kind);
        item.key = key.into();
        item
    };
    let other_host = |mut item: Item| {
        item.host = HostId(9);
        item
    };
    let (ssh, simple, odbc) = (ItemType::Ssh, ItemType::Simple, ItemType::Database);
    let service = |params: &str| key(simple, &format!("net.tcp.service[{params}]"));
    for (one, other, same) in [
        (asking(1, "http://a/b"), asking(2, "HTTP://A/c?d"), true),
        (asking(1, "http://a/b"), asking(2, "https://a/b"), false),
        (asking(1, "http://a/b"), other_host(asking(2, "http://a/")), true),
        (asking(1, "http://u:p@a:81/"), asking(2, "http://a:81"), true),
        (asking(1, "http://a:81/"), asking(2, "http://a:82/"), false),
        (asking(1, "a/x?u=http://b/"), asking(2, "a/y"), true),
        (asking(1, "http://[::1]:8/"), asking(2, "http://[::1]:8/#x"), true),
        (scenario("http://a/", ""), scenario("http://a/b", ""), true),
        (scenario("http://a/", "p:1"), scenario("http://b/", "http://p:1"), true),
        (scenario("http://a/", ""), asking(1, "http://a/"), false),
        (key(ssh, "ssh.run[a,h]"), key(ssh, "ssh.run[b,h]"), true),
        (key(ssh, "ssh.run[a,h]"), key(ssh, "ssh.run[a,h,23]"), false),
        (key(ssh, "ssh.run[a]"), other_host(key(ssh, "ssh.run[a]")), false),
        (key(odbc, "db.odbc.get[a,dsn]"), key(odbc, "db.odbc.select[b,dsn]"), true),
        (key(odbc, "db.odbc.get[a,,x=1]"), key(odbc, "db.odbc.get[a,,x=2]"), false),
        (service("ssh,h"), other_host(service("ssh,h")), true),
        (service("ssh"), other_host(service("ssh")), false),
        (service("ssh"), service("http"), false),
    ] {
        let number = |item: &Item| match waits(item) {
            Waits::Group(group) => whom(group, item),
            other => panic!("{other:?}"),
        };
        assert_eq!(number(&one) == number(&other), same, "{one:?} {other:?}");
    }
    let external = |n| of_kind(n, ItemType::External);
    let number = |item: Item| whom(Group::External, &item);
    assert_eq!(number(external(1)), number(external(2)));
    assert_ne!(number(external(1)), number(other_host(external(1))));
    assert_eq!(waits(&key(simple, "icmpping")), Waits::Pings);
}
