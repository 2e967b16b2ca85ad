use proxying::caching::{Stale, Terms};

use super::super::fields::Fields;
use super::super::object::{Origin, Variant};
use super::*;

fn store(size: usize, objects: usize) -> Store {
    Store::new(Budget::new(size, size / 4, objects))
}

fn key(resource: &str) -> Key {
    let resource = [&80_u16.to_be_bytes()[..], b"a.test\0", resource.as_bytes()].concat();
    Key { resource: resource.into(), selector: Box::default() }
}

fn head(names: &[&str], request: &[Field<'_>]) -> Head {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Head {
        status: 200,
        reason: Box::default(),
        fields: Fields::default(),
        terms: Terms { lifetime_s: 60, validate: false, stale: Stale::default(), shared: false },
        variant: Variant::of(&[], names, request),
        origin: Origin { age_s: 0, at_us: 0 },
    }
}

fn add(store: &Store, resource: &str, length: usize) {
    let key = key(resource);
    store.add(&key, store.mark(&key.resource), head(&[], &[]), vec![0; length]);
}

fn has(store: &Store, resource: &str) -> bool {
    store.find(&key(resource), &[]).is_some()
}

#[test]
fn memory_and_number_stay_within_the_limits() {
    let store = store(1 << 20, 100);
    for number in 0..2_000_usize {
        add(&store, &format!("/{number}"), number * 37 % 40_000);
        let [stored, arriving, objects] = store.budget.taken();
        assert!(stored <= 3 << 18 && arriving == 0 && objects <= 100, "{stored} {objects}");
    }
    assert!(has(&store, "/1999"));
    for number in 0..2_000 {
        store.invalidate(&key(&format!("/{number}")).resource);
    }
    assert_eq!(store.budget.taken(), [0; 3]);
}

#[test]
fn resources_that_are_used_stay() {
    // With four, a resource is mostly alone in its part.
    for objects in [4, 50] {
        let store = store(1 << 20, objects);
        add(&store, "/often", 100);
        for number in 0..500 {
            assert!(has(&store, "/often"), "after {number} others, of {objects}");
            add(&store, &format!("/{number}"), 100);
        }
        assert!(!has(&store, "/0"));
    }
}

#[test]
fn responses_that_are_being_sent_count_until_they_are_sent() {
    let store = store(1 << 20, 1_000);
    let sent: Vec<_> = (0..7)
        .map(|number| {
            add(&store, &format!("/{number}"), 100_000);
            store.find(&key(&format!("/{number}")), &[]).expect("a stored response")
        })
        .collect();
    for _ in 0..100 {
        add(&store, "/other", 100_000);
    }
    assert!(!has(&store, "/other"), "there is no room");
    drop(sent);
    add(&store, "/other", 100_000);
    assert!(has(&store, "/other"));
}

#[test]
fn a_response_from_before_an_invalidation_is_not_stored() {
    let store = store(1 << 20, 10);
    let key = key("/a");
    let mark = store.mark(&key.resource);
    store.invalidate(&key.resource);
    store.add(&key, mark, head(&[], &[]), Vec::new());
    assert!(!has(&store, "/a"));
    assert_eq!(store.budget.taken(), [0; 3]);
    add(&store, "/a", 1);
    assert!(has(&store, "/a"));
}

#[test]
fn variants_are_found_by_the_fields_of_requests() {
    let store = store(1 << 20, 100);
    let key = key("/a");
    let language = |value: &'static str| [Field::new(b"Accept-Language", value.as_bytes())];
    let put = |value: &'static str, body: u8| {
        let head = head(&["accept-language"], &language(value));
        store.add(&key, store.mark(&key.resource), head, vec![body]);
    };
    let found =
        |request: &[Field<'_>]| store.find(&key, request).map(|object| object.content.bytes[0]);
    put("de", 1);
    put("en", 2);
    put("de", 3);
    assert_eq!(found(&language("de")), Some(3), "the newer one replaces it");
    assert_eq!(found(&language("en")), Some(2));
    assert_eq!(found(&language("fr")), None);
    assert_eq!(found(&[]), None);
    assert_eq!(store.budget.taken()[2], 2);
    let other = Key { selector: b"beta".as_slice().into(), ..key.clone() };
    assert!(store.find(&other, &language("de")).is_none(), "another pool");
}

#[test]
fn variants_of_a_resource_are_limited() {
    let store = store(1 << 20, 100);
    let key = key("/a");
    let names: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    for name in &names {
        let request = [Field::new(b"X-A", name.as_bytes())];
        store.add(&key, store.mark(&key.resource), head(&["x-a"], &request), Vec::new());
    }
    let found = |name: &String| store.find(&key, &[Field::new(b"X-A", name.as_bytes())]).is_some();
    assert_eq!(names.iter().filter(|name| found(name)).count(), VARIANTS);
    assert!(found(&names[99]) && !found(&names[0]));
}

#[test]
fn purges_remove_resources_of_all_ports_and_count_variants() {
    let store = store(1 << 20, 100);
    let keys: Vec<Key> = [80_u16, 443]
        .iter()
        .flat_map(|port| ["/a", "/a/1", "/b"].map(|target| (port, target)))
        .map(|(port, target)| {
            let resource = [&port.to_be_bytes()[..], b"a.test\0", target.as_bytes()].concat();
            Key { resource: resource.into(), selector: Box::default() }
        })
        .collect();
    let fill = || {
        for key in &keys {
            store.add(key, store.mark(&key.resource), head(&[], &[]), vec![0; 10]);
        }
    };
    let purge = |purge: Purge| store.purge(&purge);
    fill();
    let arriving = store.mark(&keys[0].resource);
    assert_eq!(purge(Purge::Uri("a.test/a".to_owned())), 2, "of two ports");
    store.add(&keys[0], arriving, head(&[], &[]), vec![0; 10]);
    assert!(store.find(&keys[0], &[]).is_none(), "it was fetched before the purge");
    assert!(store.find(&keys[1], &[]).is_some());
    fill();
    assert_eq!(purge(Purge::Prefix("a.test/a".to_owned())), 4);
    assert_eq!(purge(Purge::Prefix("b.test/".to_owned())), 0);
    assert_eq!(purge(Purge::All), 2);
    assert_eq!(store.budget.taken(), [0; 3]);
}
