use super::*;
use collect::queue::{Interval, Reason};
use collect::testing::{host, item, snapshot};
use config::snapshot::{ItemType, MonitoredBy};
use eval::interval::UpdateInterval;
use model::{Available, ReachDelays};

const START: u32 = 1_700_000_000;

fn with_delay(id: u64, delay: &str) -> Item {
    let mut item = item(id);
    item.interval = Some(Arc::new(UpdateInterval::parse(delay).unwrap()));
    item
}

fn schedule() -> Schedule {
    Schedule::new(crate::engines::waits, 0, 1, START)
}

/// Items that start at `now`, none of which has ended yet.
fn started(schedule: &mut Schedule, now: u32) -> Vec<(u32, usize, u64)> {
    schedule.tick(now);
    let mut out = Vec::new();
    while let Some(lane) = schedule.next_lane(now) {
        if let Some((slot, item)) = schedule.take(lane) {
            out.push((slot, lane, item.id.0));
        }
    }
    out
}

/// Runs with checks that succeed at once; (second, item) of each.
fn run(schedule: &mut Schedule, seconds: std::ops::Range<u32>) -> Vec<(u32, u64)> {
    let mut seen = Vec::new();
    for now in seconds {
        loop {
            let batch = started(schedule, now);
            if batch.is_empty() {
                break;
            }
            for (slot, lane, id) in batch {
                seen.push((now, id));
                schedule.complete(slot, lane, now, false);
            }
        }
    }
    seen
}

#[test]
fn every_item_has_its_interval_and_is_spread() {
    let mut schedule = schedule();
    let items = (1..=600).map(|id| with_delay(id, "30s")).collect();
    schedule.apply(&snapshot(1, vec![host(1, items).into()]), START);
    assert_eq!(schedule.len(), 600);
    let seen = run(&mut schedule, START + 61..START + 121);
    for id in 1..=600 {
        let times: Vec<u32> = seen.iter().filter(|(_, i)| *i == id).map(|(t, _)| *t).collect();
        let expected: Vec<u32> =
            (START + 61..START + 121).filter(|t| u64::from(t % 30) == id % 30).collect();
        // What was due in the first minute comes in the first second looked at.
        assert_eq!(times[times.len() - expected.len()..], expected, "item {id}");
    }
    for now in START + 63..START + 121 {
        assert_eq!(seen.iter().filter(|(t, _)| *t == now).count(), 20, "second {now}");
    }
}

#[test]
fn new_items_come_within_a_minute_unless_only_scheduled() {
    let mut schedule = schedule();
    let items = vec![with_delay(7, "1d"), with_delay(8, "0;h12"), with_delay(9, "1h;m5")];
    schedule.apply(&snapshot(1, vec![host(1, items).into()]), START);
    // START is 22:13:20 UTC; 12:00 is far away.
    let seen: Vec<u64> = run(&mut schedule, START..START + 61).iter().map(|s| s.1).collect();
    assert_eq!(seen, [7, 9]);
}

#[test]
fn a_change_touches_only_what_changed() {
    let mut schedule = schedule();
    let one = Arc::new(host(1, vec![with_delay(1, "60"), with_delay(2, "60")]));
    let two = Arc::new(host(2, vec![with_delay(3, "60")]));
    schedule.apply(&snapshot(1, vec![Arc::clone(&one), Arc::clone(&two)]), START);
    run(&mut schedule, START..START + 70);
    // Item 1 goes, 2 gets another interval, 4 is new, host 2 stays as it is.
    let one = Arc::new(host(1, vec![with_delay(2, "10"), with_delay(4, "60")]));
    schedule.apply(&snapshot(2, vec![one, Arc::clone(&two)]), START + 70);
    assert_eq!(schedule.len(), 3);
    let seen = run(&mut schedule, START + 70..START + 130);
    let count = |id| seen.iter().filter(|s| s.1 == id).count();
    assert_eq!((count(1), count(2), count(3)), (0, 6, 1));
    assert!(count(4) >= 1 && count(4) <= 2);
    // A host that goes away, and one that is switched off.
    let mut off = host(2, vec![with_delay(3, "60")]);
    off.monitored = false;
    let applied = schedule.apply(&snapshot(3, vec![off.into()]), START + 130);
    assert_eq!(applied.gone.iter().map(|h| h.id.0).collect::<Vec<_>>(), [1]);
    assert_eq!((applied.off.as_slice(), applied.idle.len()), (&[HostId(2)][..], 2));
    assert_eq!((schedule.len(), run(&mut schedule, START + 130..START + 300).len()), (0, 0));
}

#[test]
fn hosts_of_a_proxy_are_not_polled() {
    let mut schedule = schedule();
    let internal = |id: u64, key: &str| {
        let mut item = with_delay(id, "10");
        (item.kind, item.key) = (ItemType::Internal, key.into());
        item
    };
    let host = |by: MonitoredBy| {
        let items = vec![
            with_delay(1, "10"),
            internal(2, "zabbix[uptime]"),
            internal(3, "zabbix[host,,maintenance]"),
        ];
        Arc::new(Host { monitored_by: by, ..host(1, items) })
    };
    schedule.apply(&snapshot(1, vec![host(MonitoredBy::Server)]), START);
    assert_eq!(schedule.len(), 3);
    // What was known of its agent and its interface holds no longer.
    let applied = schedule.apply(&snapshot(2, vec![host(MonitoredBy::Proxy)]), START + 1);
    assert_eq!((applied.off.as_slice(), applied.idle.len()), (&[HostId(1)][..], 1));
    let seen = run(&mut schedule, START + 1..START + 61);
    assert!(!seen.is_empty() && seen.iter().all(|(_, item)| *item == 3), "{seen:?}");
    let applied = schedule.apply(&snapshot(3, vec![host(MonitoredBy::ProxyGroup)]), START + 61);
    assert!(applied.off.is_empty());
    schedule.apply(&snapshot(4, vec![host(MonitoredBy::Server)]), START + 62);
    assert_eq!(schedule.len(), 3);
}

#[test]
fn an_item_that_goes_while_in_flight_leaves_nothing() {
    let mut schedule = schedule();
    schedule.apply(&snapshot(1, vec![host(1, vec![with_delay(1, "1")]).into()]), START);
    let flying = started(&mut schedule, START + 60);
    assert_eq!(flying.len(), 1);
    schedule.apply(&snapshot(2, vec![]), START + 60);
    schedule.complete(flying[0].0, flying[0].1, START + 60, true);
    assert_eq!((schedule.len(), schedule.free_lanes.len()), (0, 1));
    // Slot and lane are used again.
    schedule.apply(&snapshot(3, vec![host(2, vec![with_delay(2, "1")]).into()]), START + 61);
    assert_eq!((schedule.lanes.len(), schedule.free_lanes.len()), (FIXED + 1, 0));
    assert_eq!(run(&mut schedule, START + 61..START + 200).len(), 200 - 62);
}

#[test]
fn an_interface_gets_few_checks_at_one_time() {
    let mut schedule = schedule();
    let items = (1..=20).map(|id| with_delay(id, "1")).collect();
    schedule.apply(&snapshot(1, vec![host(1, items).into()]), START);
    let first = started(&mut schedule, START + 61);
    assert_eq!(first.len(), 5);
    assert!(started(&mut schedule, START + 62).is_empty());
    let (slot, lane, _) = first[0];
    schedule.complete(slot, lane, START + 62, false);
    assert_eq!(started(&mut schedule, START + 62).len(), 1);
    let report = schedule.queue(START + 71, 100, false);
    let reasons = |r| report.details.iter().filter(|late| late.reason == r).count();
    // All were due 70 s ago; one of 20 has been checked and waits again.
    assert_eq!((reasons(Reason::InFlight), reasons(Reason::HostBusy)), (5, 14));
    assert_eq!(report.rows[&ItemType::Agent].delays, [0, 0, 0, 19, 0, 0]);
    let without_details = schedule.queue(START + 71, 0, false);
    assert!(without_details.details.is_empty());
    for (from, to, expected) in [
        ("5", None, 19),
        ("5", Some("1m"), 0),
        ("1m", Some("71"), 19),
        ("71", None, 0),
        ("9", Some("9"), 0),
    ] {
        let interval = Interval::parse(Some(from), to).unwrap();
        assert_eq!(without_details.within(interval), expected, "{from} to {to:?}");
    }
}

#[test]
fn why_items_are_late() {
    let mut schedule = schedule();
    let mut items: Vec<_> = (1..=3).map(|id| with_delay(id, "1")).collect();
    let mut external = with_delay(9, "1");
    external.kind = ItemType::External;
    items.push(external);
    schedule.apply(&snapshot(1, vec![host(1, items).into()]), START);
    schedule.tick(START + 61);
    let told = |schedule: &Schedule, pressed| {
        let report = schedule.queue(START + 90, 10, pressed);
        let mut reasons: Vec<_> = report.details.iter().map(|l| (l.kind, l.reason)).collect();
        reasons.sort_unstable_by_key(|(kind, _)| *kind);
        reasons.dedup();
        reasons
    };
    let (agent, external) = (ItemType::Agent, ItemType::External);
    let both = |one, other| [(agent, one), (external, other)];
    let (poller, history) = (Reason::PollerBusy, Reason::HistoryBusy);
    assert_eq!(told(&schedule, false), both(poller, poller));
    assert_eq!(told(&schedule, true), both(history, history));
    schedule.lane_mut(FIXED).state.failure(START + 61, "x", &ReachDelays::default());
    let programs = schedule.lanes.iter().position(|lane| lane.group.is_some()).unwrap();
    schedule.lane_mut(programs).line = Some(Pace::Slow);
    assert_eq!(told(&schedule, true), both(Reason::Unreachable, Reason::HostBusy));
    schedule.lane_mut(programs).line = Some(Pace::Quick);
    assert_eq!(told(&schedule, true), both(Reason::Unreachable, Reason::TypeBusy));
}

/// A dead host with 45 items: which second has how many attempts.
#[test]
fn a_dead_host_costs_one_attempt_per_round() {
    let mut schedule = schedule();
    let items = (1..=45).map(|id| with_delay(id, "60")).collect();
    schedule.apply(&snapshot(1, vec![host(1, items).into()]), START);
    let mut attempts = Vec::new();
    let mut probed = std::collections::BTreeSet::new();
    let delays = ReachDelays::default();
    for now in START..START + 400 {
        // A loop as the poller's: whatever starts ends at once with an error.
        while let Some((slot, lane, id)) = started(&mut schedule, now).first().copied() {
            attempts.push(now - START);
            probed.insert(id);
            schedule.lane_mut(lane).state.failure(now, "timed out", &delays);
            schedule.complete(slot, lane, now, true);
            assert!(attempts.len() < 100, "the host is hammered: {attempts:?}");
        }
    }
    let first = attempts[0];
    let relative: Vec<u32> = attempts.iter().map(|at| at - first).collect();
    assert_eq!(relative, [0, 15, 30, 45, 60, 120, 180, 240, 300, 360]);
    // Another item nearly each round: one bad item does not speak for the host.
    assert!(probed.len() >= relative.len() - 1, "{probed:?}");
    let lane = schedule.lane_ref(FIXED);
    assert_eq!(lane.state.available, Available::No);
    let report = schedule.queue(START + 400, 1000, false);
    assert_eq!((report.total, report.rows[&ItemType::Agent].unavailable), (0, 45));
    assert!(report.details.iter().all(|late| late.reason == Reason::Unavailable));
    // It comes back: one probe, then everything at once.
    let mut now = START + 400;
    let probe = loop {
        now += 1;
        if let Some(probe) = started(&mut schedule, now).first().copied() {
            break probe;
        }
    };
    schedule.lane_mut(probe.1).state.success(now);
    schedule.complete(probe.0, probe.1, now, false);
    assert_eq!(run(&mut schedule, now..now + 1).len(), 44);
}

#[test]
fn check_now_does_not_wait() {
    let mut schedule = schedule();
    let hosts = vec![host(1, vec![with_delay(1, "1h"), with_delay(2, "0;h12")]).into()];
    schedule.apply(&snapshot(1, hosts), START);
    run(&mut schedule, START..START + 70);
    assert!(schedule.check_now(ItemId(1)) && schedule.check_now(ItemId(2)));
    assert!(!schedule.check_now(ItemId(99)));
    let seen: Vec<u64> = run(&mut schedule, START + 70..START + 71).iter().map(|s| s.1).collect();
    assert_eq!(seen, [1, 2]);
}

#[test]
fn a_clock_set_back_does_not_stop_the_checks() {
    let mut schedule = schedule();
    schedule.apply(&snapshot(1, vec![host(1, vec![with_delay(1, "30")]).into()]), START);
    run(&mut schedule, START..START + 100);
    let seen = run(&mut schedule, START - 86_400..START - 86_400 + 90);
    assert_eq!(seen.len(), 3);
}

#[test]
fn items_of_other_types_and_invalid_ones_are_not_scheduled() {
    let mut schedule = schedule();
    let mut trap = with_delay(1, "1");
    trap.kind = ItemType::SnmpTrap;
    let mut off = with_delay(2, "1");
    off.enabled = false;
    let mut invalid = with_delay(3, "1");
    invalid.interval = None;
    invalid.invalid = Some("invalid update interval \"x\"".into());
    let mut internal = with_delay(4, "1");
    internal.kind = ItemType::Internal;
    let snapshot_one = snapshot(1, vec![host(1, vec![trap, off, invalid, internal]).into()]);
    let applied = schedule.apply(&snapshot_one, START);
    assert_eq!(applied.invalid.iter().map(|i| i.id.0).collect::<Vec<_>>(), [3]);
    assert_eq!(schedule.len(), 1);
    // Told once, not with each change of the host.
    let again = host(
        1,
        snapshot_one.hosts.get(&HostId(1)).unwrap().items.iter().map(|i| (**i).clone()).collect(),
    );
    assert!(schedule.apply(&snapshot(2, vec![again.into()]), START).invalid.is_empty());
    assert_eq!(run(&mut schedule, START + 62..START + 64).len(), 2);
}

#[test]
fn hosts_are_shared_out_over_pollers() {
    let hosts: Vec<_> = (1..=100).map(|id| host(id, vec![with_delay(id, "60")]).into()).collect();
    let snapshot = snapshot(1, hosts);
    let mut total = 0;
    for number in 0..3 {
        let mut schedule = Schedule::new(crate::engines::waits, number, 3, START);
        schedule.apply(&snapshot, START);
        assert!(schedule.len() > 20, "poller {number} has {}", schedule.len());
        total += schedule.len();
    }
    assert_eq!(total, 100);
}

#[test]
fn a_changed_address_is_tried_at_once() {
    let mut schedule = schedule();
    let items = || vec![with_delay(1, "1")];
    schedule.apply(&snapshot(1, vec![host(1, items()).into()]), START);
    let (slot, lane, _) = started(&mut schedule, START + 60)[0];
    schedule.lane_mut(lane).state.failure(START + 60, "x", &ReachDelays::default());
    schedule.complete(slot, lane, START + 60, true);
    assert!(started(&mut schedule, START + 61).is_empty());
    let mut moved = host(1, items());
    moved.interfaces[0].port = 10_051;
    schedule.apply(&snapshot(2, vec![moved.into()]), START + 61);
    assert_eq!(started(&mut schedule, START + 61).len(), 1);
}

#[test]
fn pings_of_an_interface_are_due_together() {
    let mut schedule = schedule();
    let item = |id: u64, key: &str, kind: ItemType| {
        let mut item = with_delay(id, "30");
        (item.kind, item.key) = (kind, key.into());
        item.poll_at(InterfaceId(7));
        item
    };
    let (simple, agent) = (ItemType::Simple, ItemType::Agent);
    let items = vec![
        item(1, "icmpping", simple),
        item(12, "icmppingloss[]", simple),
        item(23, "icmppingsec[,5]", simple),
        item(4, "net.tcp.service[ssh]", simple),
        item(5, "icmpping", agent),
    ];
    let due: Vec<_> = items.iter().map(|item| schedule.next_due(item, START)).collect();
    assert!(due[0].is_some_and(|due| due > START));
    assert_eq!(due[..2], due[1..3]);
    // Whatever else there is spreads by its own number.
    assert_ne!(due[0], due[3]);
    assert_ne!(due[3], due[4]);
    schedule.apply(&snapshot(1, vec![host(1, items).into()]), START);
    assert_eq!(schedule.len(), 5);
}
