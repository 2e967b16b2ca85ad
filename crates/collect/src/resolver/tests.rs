use std::sync::atomic::{AtomicUsize, Ordering};

use stdx::clock::{Clock as _, RealClock, SimClock};

use super::*;

/// What a lookup of a name that begins with "dead" waits for.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    /// Lookups of all names.
    asked: AtomicUsize,
}

impl Gate {
    fn wait(&self) {
        let open = self.open.lock().unwrap();
        drop(self.opened.wait_while(open, |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

fn resolver(clock: SharedClock) -> (Resolver, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let system = Arc::clone(&gate);
    let look_up = move |name: &str| {
        system.asked.fetch_add(1, Ordering::SeqCst);
        if name.starts_with("dead") {
            system.wait();
            return Err(String::from("nobody answers"));
        }
        if name.starts_with("gone") {
            return Err(String::from("no such name"));
        }
        Ok(vec![IpAddr::from([10, 0, 0, 1])])
    };
    (Resolver::with(clock, Box::new(look_up)), gate)
}

#[tokio::test]
async fn dead_names_hold_up_no_living_one() {
    let (resolver, gate) = resolver(RealClock::shared());
    // A name that answered before …
    resolver.find("living").await.unwrap();
    resolver.0.lock().names.get_mut("living").unwrap().addresses.clear();
    // … and has to be looked up again, while more wait for a server that is silent than there are
    // threads.
    let dead: Vec<_> = (0..2 * lanes::THREADS_MAX)
        .map(|n| {
            let resolver = resolver.clone();
            tokio::spawn(async move { resolver.find(&format!("dead{n}")).await })
        })
        .collect();
    // All threads that such names may have are taken.
    while gate.asked.load(Ordering::SeqCst) <= lanes::THREADS_MAX / 4 * 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(resolver.find("living").await, Ok(vec![IpAddr::from([10, 0, 0, 1])]));
    gate.open();
    for one in dead {
        assert_eq!(one.await.unwrap(), Err(String::from("nobody answers")));
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_however_many_ask() {
    let (resolver, gate) = resolver(RealClock::shared());
    let asking: Vec<_> = (0..100)
        .map(|_| {
            let resolver = resolver.clone();
            tokio::spawn(async move { resolver.find("dead").await })
        })
        .collect();
    let waiting = || {
        let state = resolver.0.lock();
        let teller = state.names.get("dead").and_then(|known| known.lookup.as_ref());
        teller.map_or(0, watch::Sender::receiver_count)
    };
    while waiting() < 100 {
        tokio::task::yield_now().await;
    }
    gate.open();
    for one in asking {
        assert!(one.await.unwrap().is_err());
    }
    assert_eq!(gate.asked.load(Ordering::SeqCst), 1);
    // What has failed is asked again, an address never.
    assert!(resolver.find("dead").await.is_err());
    assert_eq!(resolver.find("::1").await, Ok(vec!["::1".parse().unwrap()]));
    assert_eq!(gate.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn addresses_outlive_a_slow_failure_but_not_a_quick_one() {
    let clock = SimClock::at(Duration::from_secs(1_000));
    let (resolver, gate) = resolver(clock.clone());
    let asked = || gate.asked.load(Ordering::SeqCst);
    resolver.find("living").await.unwrap();
    clock.advance(FRESH - Duration::from_secs(1));
    resolver.find("living").await.unwrap();
    assert_eq!(asked(), 1);
    for (name, took, kept) in [("living", LONG, true), ("living", Duration::ZERO, false)] {
        let now = clock.monotonic();
        let failed = Err(String::from("failed"));
        resolver.0.lock().learn(name, failed, took, now);
        assert_eq!(!resolver.0.lock().names[name].addresses.is_empty(), kept, "{took:?}");
    }
    // Old ones are used while they are looked up again, but not for ever.
    resolver.find("living").await.unwrap();
    assert_eq!(asked(), 2);
    clock.advance(FRESH);
    assert!(resolver.known("living").is_ok());
    clock.advance(FRESH + STALE);
    resolver.find("living").await.unwrap();
    assert!(asked() >= 3);
    assert_eq!(resolver.find("gone").await, Err(String::from("no such name")));
}

#[tokio::test]
async fn the_system_is_asked() {
    let resolver = Resolver::new(RealClock::shared());
    let found = resolver.find("localhost").await.unwrap();
    assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
}
