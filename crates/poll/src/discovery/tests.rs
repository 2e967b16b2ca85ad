use std::sync::Arc;

use config::snapshot::discovery::{Discovery, DiscoveryRule};
use eval::ranges::AddressRanges;

use super::{Place, Turns};

fn rule(id: u64, range: &str, concurrency_max: u16) -> DiscoveryRule {
    DiscoveryRule {
        id,
        name: "r".into(),
        addresses: AddressRanges::parse(range).unwrap(),
        delay_s: 60,
        concurrency_max,
        checks: Vec::new(),
        error: String::new(),
    }
}

fn turns(rules: Vec<DiscoveryRule>) -> Turns {
    let mut turns = Turns::default();
    let rules = rules.into_iter().map(Arc::new).collect();
    turns.follow(&Arc::new(Discovery { rules, autoregisters: false }));
    turns
}

/// Everything that may begin now: rule and address.
fn all(turns: &mut Turns) -> Vec<(u64, String, Place)> {
    std::iter::from_fn(|| turns.next())
        .map(|(rule, ip, place)| (rule.id, ip.to_string(), place))
        .collect()
}

#[test]
fn rules_have_their_share_and_their_limit() {
    let mut turns = turns(vec![rule(1, "10.0.0.1-3", 0), rule(2, "10.1.0.0/16", 2)]);
    assert!(all(&mut turns).is_empty(), "nothing is due");
    assert!(turns.begin(100).is_empty());
    let begun = all(&mut turns);
    let shown: Vec<_> = begun.iter().map(|(rule, ip, _)| (*rule, ip.as_str())).collect();
    let expected =
        [(1, "10.0.0.1"), (2, "10.1.0.1"), (1, "10.0.0.2"), (2, "10.1.0.2"), (1, "10.0.0.3")];
    assert_eq!(shown, expected);
    // One of the second rule ends: one of it begins.
    assert!(!turns.ended(begun[1].2));
    assert_eq!(all(&mut turns).len(), 1);
    // The first rule's round is over with its last address, whichever that is.
    let of_first: Vec<Place> = begun.iter().filter(|b| b.0 == 1).map(|b| b.2).collect();
    let over: Vec<bool> = of_first.iter().map(|place| turns.ended(*place)).collect();
    assert_eq!(over, [false, false, true]);
    // It begins again after its delay, counted from its begin.
    for (now_s, count) in [(101, 0), (159, 0), (160, 3)] {
        assert!(turns.begin(now_s).is_empty());
        assert_eq!(all(&mut turns).len(), count, "{now_s}");
    }
}

#[test]
fn changed_rules_start_over_and_others_continue() {
    let first = Arc::new(rule(1, "10.0.0.1-3", 1));
    let second = Arc::new(rule(2, "10.1.0.1-3", 1));
    let mut turns = Turns::default();
    let rules = vec![Arc::clone(&first), second];
    turns.follow(&Arc::new(Discovery { rules, autoregisters: false }));
    turns.begin(100);
    let before = all(&mut turns);
    let changed = Arc::new(rule(2, "10.2.0.1", 1));
    let rules = vec![changed, Arc::clone(&first)];
    turns.follow(&Arc::new(Discovery { rules, autoregisters: false }));
    turns.begin(101);
    let after = all(&mut turns);
    assert_eq!(after.len(), 1);
    assert_eq!((after[0].0, after[0].1.as_str()), (2, "10.2.0.1"));
    // What an earlier round of a changed rule brings ends nothing.
    assert!(!turns.ended(before[1].2));
    assert!(turns.ended(after[0].2));
    assert!(!turns.ended(before[0].2));
    assert_eq!(all(&mut turns)[0].1, "10.0.0.2");
    turns.follow(&Arc::default());
    assert!(all(&mut turns).is_empty(), "rules that are gone look nowhere");
    assert!(!turns.ended(before[0].2));
}

#[test]
fn rules_that_cannot_work_say_so_each_round() {
    let broken = DiscoveryRule { error: String::from("no"), ..rule(1, "10.0.0.1", 0) };
    let mut turns = turns(vec![broken]);
    for (now_s, count) in [(100, 1), (120, 0), (160, 1)] {
        assert_eq!(turns.begin(now_s).len(), count, "{now_s}");
        assert!(all(&mut turns).is_empty());
    }
}
