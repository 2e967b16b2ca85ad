//! Choices of a group.

use super::super::tests::named;
use super::*;

/// A client with a cookie `srv` and an address.
#[derive(Default)]
struct Visitor {
    cookie: Option<String>,
    key: Option<u64>,
}

impl Client for Visitor {
    fn cookie(&self, name: &str) -> Option<&[u8]> {
        (name == "srv").then_some(self.cookie.as_ref()?.as_bytes())
    }

    fn key(&self, _: &Pool) -> Option<u64> {
        self.key
    }
}

/// Pools a, b and c with two servers each, which have the persistence that is written.
fn pools(persistence: &str) -> BTreeMap<String, Arc<Pool>> {
    let pool = |name: &str| (name.to_owned(), Arc::new(named(name, persistence, 2)));
    ["a", "b", "c"].map(pool).into()
}

fn group(
    members: &str,
    pools: &BTreeMap<String, Arc<Pool>>,
    before: Option<&Group>,
) -> Result<Group, String> {
    let text = format!("name: g\n{members}\n");
    Group::compile(&serde_saphyr::from_str(&text).unwrap(), pools, before)
}

/// How many of 1,000 new clients each pool gets.
fn shares(group: &Group) -> BTreeMap<&str, usize> {
    let mut shares = BTreeMap::new();
    for _ in 0..1_000 {
        *shares.entry(group.choose(&Visitor::default(), 0).name.as_str()).or_default() += 1;
    }
    shares
}

fn set(pool: &Pool, healthy: bool) {
    for server in &pool.servers {
        server.shared.set_healthy(healthy, 0);
    }
}

#[test]
fn members_of_a_priority_share_requests_by_ratio_exactly() {
    let pools = pools("");
    let canary = group("members: [{pool: a, ratio: 9}, {pool: b}]", &pools, None).unwrap();
    assert_eq!(shares(&canary), [("a", 900), ("b", 100)].into());
    // No two requests in a row go to the smaller one.
    let order: Vec<&str> =
        (0..20).map(|_| canary.choose(&Visitor::default(), 0).name.as_str()).collect();
    assert!(order.windows(2).all(|pair| pair != ["b", "b"]), "{order:?}");
    let more = "members: [{pool: a, ratio: 3}, {pool: b}, {pool: c, priority: 9, ratio: 0}]";
    assert_eq!(
        shares(&group(more, &pools, Some(&canary)).unwrap()),
        [("a", 750), ("b", 250)].into()
    );
}

#[test]
fn the_highest_priority_with_enough_servers_gets_requests() {
    let pools = pools("");
    let text =
        "min_servers: 2\nmembers: [{pool: a}, {pool: b, priority: 5}, {pool: c, priority: 9}]";
    let group = group(text, &pools, None).unwrap();
    assert_eq!(shares(&group), [("c", 1_000)].into());
    pools["c"].servers[0].shared.set_healthy(false, 0);
    assert_eq!(shares(&group), [("b", 1_000)].into(), "one of c is too few");
    set(&pools["b"], false);
    assert_eq!(shares(&group), [("a", 1_000)].into());
    pools["a"].servers[1].shared.set_healthy(false, 0);
    assert_eq!(shares(&group), [("c", 1_000)].into(), "none has enough: the highest with any");
    set(&pools["c"], false);
    assert_eq!(shares(&group), [("a", 1_000)].into());
    set(&pools["a"], false);
    assert_eq!(shares(&group), [("c", 1_000)].into(), "none has any: the highest");
}

#[test]
fn a_pool_without_servers_leaves_its_share_to_the_others() {
    let pools = pools("");
    let text = "members: [{pool: a, ratio: 2}, {pool: b}, {pool: c}]";
    let group = group(text, &pools, None).unwrap();
    set(&pools["b"], false);
    let found = shares(&group);
    assert!(found["a"].abs_diff(667) <= 1 && found["c"].abs_diff(333) <= 1, "{found:?}");
    for _ in 0..3 {
        pools["a"].failed(0, 0);
        pools["a"].failed(1, 0);
    }
    assert_eq!(shares(&group), [("c", 1_000)].into(), "ejected servers are not usable");
}

#[test]
fn cookie_keeps_a_client_on_its_pool_while_active() {
    let pools = pools("{type: cookie, name: srv}");
    let client = Visitor { cookie: Some(pools["b"].servers[1].cookie.clone()), key: None };
    let always = |text: &str, pool: &str| {
        let group = group(text, &pools, None).unwrap();
        (0..50).all(|_| group.choose(&client, 0).name == pool)
    };
    assert!(always("members: [{pool: a, ratio: 99}, {pool: b}]", "b"));
    assert!(always("members: [{pool: a}, {pool: b, ratio: 0}]", "b"), "no new clients");
    assert!(always("members: [{pool: a, priority: 1}, {pool: b}]", "a"), "a switch");
    pools["b"].servers[1].shared.set_healthy(false, 0);
    assert!(always("members: [{pool: a, ratio: 99}, {pool: b}]", "b"), "another server of b");
    set(&pools["b"], false);
    assert!(always("members: [{pool: a}, {pool: b}]", "a"));
}

#[test]
fn recognised_client_keeps_its_pool_at_a_larger_ratio() {
    let pools = pools("{type: source_ip}");
    let of = |text: &str| {
        let group = group(text, &pools, None).unwrap();
        let pool = |n: u64| {
            let client = Visitor { key: Some(hash(&n.to_be_bytes())), cookie: None };
            assert_eq!(group.choose(&client, 0).name, group.choose(&client, 0).name);
            group.choose(&client, 0).name.clone()
        };
        (0..2_000).map(pool).collect::<Vec<String>>()
    };
    let before = of("members: [{pool: a, ratio: 9}, {pool: b, ratio: 1}]");
    let after = of("members: [{pool: a, ratio: 8}, {pool: b, ratio: 2}]");
    let on_b = |pools: &[String]| pools.iter().filter(|pool| *pool == "b").count();
    // 5 standard deviations of a binomial distribution.
    assert!(on_b(&before).abs_diff(200) <= 68 && on_b(&after).abs_diff(400) <= 90);
    assert!(before.iter().zip(&after).all(|(before, after)| before == "a" || after == "b"));
}

#[test]
fn a_missing_pool_is_named() {
    let error = group("members: [{pool: a}, {pool: x}]", &pools(""), None).unwrap_err();
    assert!(error.starts_with("member 2: pool 'x' does not exist"), "{error}");
}
