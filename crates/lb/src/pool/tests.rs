//! Choices of a pool.

use super::arrange::schedule;
use super::*;

fn servers(weights: &[u16]) -> Vec<Server> {
    let server = |(at, weight): (usize, &u16)| Server {
        name: format!("s{at}"),
        address: "127.0.0.1:1".parse().unwrap(),
        weight: *weight,
        most: u32::MAX,
        backup: false,
        admin: State::Up,
        cookie: String::new(),
        shared: ServerState::new(true, 1),
    };
    weights.iter().enumerate().map(server).collect()
}

fn pool(algorithm: &str, weights: &[u16]) -> Pool {
    let text = format!("name: p\nservers: []\nalgorithm: {algorithm}\n");
    let config: crate::config::Pool = serde_saphyr::from_str(&text).unwrap();
    Pool::new(&config, servers(weights), Arc::default()).arranged()
}

/// A pool with so many servers and a persistence that is written as in the file; "": none.
pub(super) fn named(name: &str, persistence: &str, number: usize) -> Pool {
    let mut text = format!("name: {name}\nservers: []\n");
    if !persistence.is_empty() {
        text += &format!("persistence: {persistence}\n");
    }
    let config: crate::config::Pool = serde_saphyr::from_str(&text).unwrap();
    let mut servers = servers(&vec![1; number]);
    for server in &mut servers {
        server.cookie = format!("{name}/{}", server.name);
    }
    Pool::new(&config, servers, Arc::default()).arranged()
}

fn chosen(pool: &Pool, wish: &Wish, random: u64) -> u16 {
    match pool.choose(wish, random, 0) {
        Choice::Server(index) => index,
        other => panic!("{other:?}"),
    }
}

#[test]
fn weights_are_interleaved() {
    assert_eq!(schedule(&[4, 2]), [0, 1, 0]);
    assert_eq!(schedule(&[5, 1, 1]), [0, 0, 1, 0, 2, 0, 0]);
    assert_eq!(schedule(&[0, 3]), [1]);
    assert!(schedule(&[65_535, 1]).len() <= 4098);
}

#[test]
fn a_missing_server_does_not_shift_the_others() {
    let pool = pool("round_robin", &[1, 1, 1]);
    pool.servers[1].shared.set_healthy(false, 0);
    let order: Vec<u16> = (0..6).map(|_| chosen(&pool, &Wish::default(), 0)).collect();
    assert_eq!(order, [0, 2, 0, 2, 0, 2]);
}

#[test]
fn the_loss_of_a_server_moves_only_its_own_keys() {
    let pool = pool("uri_hash", &[1, 1, 1, 1]);
    let wish = |n: u32| Wish { hash: Some(hash(&n.to_be_bytes())), ..Wish::default() };
    let before: Vec<u16> = (0..1000).map(|n| chosen(&pool, &wish(n), 0)).collect();
    let share = before.iter().filter(|index| **index == 2).count();
    assert!((150..350).contains(&share), "{share}");
    pool.servers[2].shared.set_healthy(false, 0);
    for (n, before) in before.iter().enumerate() {
        let after = chosen(&pool, &wish(u32::try_from(n).unwrap()), 0);
        assert!(after == *before || *before == 2);
    }
}

#[test]
fn failing_server_is_ejected_unless_it_is_the_last() {
    let pool = pool("round_robin", &[1, 1]);
    for _ in 0..3 {
        pool.failed(0, 0);
    }
    assert!((0..4).all(|_| chosen(&pool, &Wish::default(), 0) == 1));
    assert!((0..2).any(|_| pool.choose(&Wish::default(), 0, 10_001) == Choice::Server(0)));
    pool.servers[1].shared.set_healthy(false, 0);
    assert_eq!(chosen(&pool, &Wish::default(), 0), 0);
}

#[test]
fn a_new_configuration_ends_no_ejection() {
    let pool = pool("round_robin", &[1, 1]);
    (0..3).for_each(|_| pool.failed(0, 0));
    pool.servers[0].shared.set_unmonitored(10);
    assert!((0..4).all(|_| chosen(&pool, &Wish::default(), 20) == 1));
    pool.servers[1].shared.set_healthy(false, 0);
    pool.servers[1].shared.set_unmonitored(10);
    assert!(pool.keeps(1, 20), "its monitors are gone, and what they said with them");
}

#[test]
fn copies_get_no_ejected_server_and_take_none_from_clients() {
    let pool = pool("round_robin", &[1, 1]);
    let copies = pool.for_copies();
    let copied = |now| copies.choose(&Wish::default(), 0, now);
    for server in [0, 1] {
        (0..3).for_each(|_| copies.failed(server, 0));
    }
    assert_eq!((copied(0), copied(10_001)), (Choice::Unavailable, Choice::Server(0)));
    let clients = [0, 1, 0, 1].map(|_| chosen(&pool, &Wish::default(), 0));
    assert_eq!(clients, [0, 1, 0, 1]);
    assert_eq!(pool.servers[0].shared.failures_total(), 3);
    // Successes of copies do not hide failures of clients, nor do copies spend what clients may repeat.
    assert_eq!((0..100).filter(|_| copies.may_repeat(RetryOn::Connect, 0)).count(), 10);
    assert!(pool.may_repeat(RetryOn::Connect, 0));
    (0..2).for_each(|_| pool.failed(0, 0));
    copies.succeeded(0);
    pool.failed(0, 0);
    assert_eq!(pool.servers[0].state(false, 0), Seen::Down);
}

#[test]
fn an_ejection_begins_once_however_long_failures_go_on() {
    let ejection = Ejection::default();
    let begins = |now| (0..9).filter_map(|_| ejection.failed(3, 100, now)).collect::<Vec<_>>();
    assert_eq!(begins(10), [3]);
    assert!(begins(50).is_empty(), "it is extended");
    assert_eq!((ejection.since(149), ejection.since(150)), (Some(10), None));
    assert_eq!(begins(200), [3]);
}

#[test]
fn repetitions_end_with_the_budget() {
    let pool = pool("round_robin", &[1]);
    for _ in 0..100 {
        pool.count_request(1);
    }
    let repeated = (0..100).filter(|_| pool.may_repeat(RetryOn::Connect, 0)).count();
    assert_eq!(repeated, 30, "ten, and 20 % of 100");
    assert!(!pool.may_repeat(RetryOn::Closed, 0));
}

#[test]
fn another_server_is_one_that_works_and_was_not_tried() {
    let pool = pool("round_robin", &[1, 1, 0]);
    let tried = Wish { tried: vec![1], ..Wish::default() };
    assert!(pool.has_other(&Wish::default(), 0, 0));
    assert!(!pool.has_other(&tried, 0, 0));
    pool.servers[1].shared.set_healthy(false, 0);
    assert!(!pool.has_other(&Wish::default(), 0, 0));
}

#[test]
fn the_faster_server_gets_more() {
    let pool = pool("least_load", &[1, 1]);
    for (index, time_us) in [(0, 200_000), (1, 5_000)] {
        pool.servers[index].shared.response_time.add(time_us, 0);
    }
    let chosen: Vec<u16> = (0..60).map(|_| chosen(&pool, &Wish::default(), 0)).collect();
    assert_eq!(chosen.iter().filter(|index| **index == 0).count(), 1, "{chosen:?}");
}

/// A pool whose last server came back at 1 s and starts slowly over 10 s.
fn easing(algorithm: &str, weights: &[u16]) -> Pool {
    let pool = Pool { slow_ms: 10_000, ..pool(algorithm, weights) };
    let last = &pool.servers[weights.len() - 1].shared;
    assert!(last.set_healthy(false, 0) && last.set_healthy(true, 1_000));
    pool
}

/// Numbers like those of a thread (xorshift64).
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// How many of 12,000 requests the last server gets, each second from its return on. So many requests are
/// in flight at once.
fn shares(pool: &Pool, in_flight: usize) -> Vec<usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let mut flying = std::collections::VecDeque::new();
    let mut second = |second: u64| {
        let request = |_| {
            if flying.len() >= in_flight {
                let ended: u16 = flying.pop_front().unwrap();
                pool.server(ended).shared.release();
            }
            let choice = pool.choose(&Wish::default(), random(&mut state), second * 1_000);
            let Choice::Server(index) = choice else { panic!("{choice:?}") };
            flying.push_back(index);
            usize::from(index) == pool.servers.len() - 1
        };
        (0..12_000).map(request).filter(|last| *last).count()
    };
    (1..=12).map(&mut second).collect()
}

#[test]
fn a_server_that_comes_back_gets_a_growing_share_of_turns() {
    // Its weight is w, that of the others 2: its share at a part p is p * w / (p * w + 2).
    for (weights, weight) in [([1, 1, 1], 1.0), ([1, 1, 4], 4.0)] {
        let found = shares(&easing("round_robin", &weights), 1);
        for (second, found) in found.iter().enumerate() {
            let part = (0.05 + 0.095 * second as f64).min(1.0) * weight;
            let expected = 12_000.0 * part / (part + 2.0);
            // 5 standard deviations of a binomial distribution at most.
            assert!((*found as f64 - expected).abs() <= 275.0, "{second} s: {found}, {expected}");
        }
    }
}

#[test]
fn all_weighted_algorithms_start_servers_slowly() {
    for algorithm in ["round_robin", "least_connections", "least_load", "random"] {
        for in_flight in [1, 60] {
            let pool = easing(algorithm, &[1, 1, 1]);
            for server in &pool.servers {
                server.shared.response_time.add(5_000, 1_000);
            }
            let found = shares(&pool, in_flight);
            let context = format!("{algorithm}, {in_flight} in flight: {found:?}");
            assert!((100..=800).contains(&found[0]), "{context}");
            assert!((3_700..=4_300).contains(&found[11]), "{context}");
            let steps = found.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
            assert!(steps.clone().all(|step| step <= 1_000), "{context}");
            assert!(found[5] > found[0] + 500 && found[10] + 300 > found[5], "{context}");
        }
    }
}

#[test]
fn servers_that_all_start_slowly_share_all_requests() {
    let pool = easing("round_robin", &[1, 1]);
    pool.servers[0].shared.come_back(1_000);
    let found = shares(&pool, 1);
    assert!(found.iter().all(|share| share.abs_diff(6_000) <= 1), "{found:?}");
    let alone = easing("least_connections", &[1]);
    assert_eq!(shares(&alone, 1), [12_000; 12]);
}

#[test]
fn slow_start_follows_an_ejection_and_keeps_persistence() {
    let pool = Pool { slow_ms: 10_000, ..pool("round_robin", &[1, 1]) };
    for _ in 0..3 {
        pool.failed(1, 0);
    }
    let mut state = 1;
    let mut share = |now_ms| {
        let mut choice = || pool.choose(&Wish::default(), random(&mut state), now_ms);
        (0..2_000).filter(|_| choice() == Choice::Server(1)).count()
    };
    assert_eq!(share(9_999), 0);
    assert!((50..=150).contains(&share(10_000)));
    assert!(share(20_000).abs_diff(1_000) <= 1);
    let wish = Wish { sticky: Some(1), ..Wish::default() };
    assert!((0..9).all(|_| pool.choose(&wish, 0, 10_000) == Choice::Server(1)));
}

#[test]
fn a_full_pool_differs_from_an_unavailable_one() {
    let mut pool = pool("least_connections", &[1]);
    pool.servers[0].most = 1;
    assert_eq!(chosen(&pool, &Wish::default(), 0), 0);
    assert_eq!(pool.choose(&Wish::default(), 0, 0), Choice::Full);
    pool.servers[0].shared.set_healthy(false, 0);
    assert_eq!(pool.choose(&Wish::default(), 0, 0), Choice::Unavailable);
}
