//! Figures of one and of several engines, across restarts and outages.

use config::engines::{CatalogueEngine, CataloguePool, CatalogueService};
use proxying::engine_link::analytics::{Counter, Counts, Kind, Measured, State as Seen, Usage};
use proxying::engine_link::histogram::{BUCKETS, Histogram, bucket};
use proxying::engine_link::monitors::{Monitored, Verdict};
use stdx::clock::SimClock;

use super::*;

const SERVICE: Subject = Subject::Service(7);
const POOL: Subject = Subject::Pool(3);
/// Unix time of the start, in seconds.
const START: u64 = 1_700_000_000;

struct Bed {
    board: Arc<Board>,
    clock: Arc<SimClock>,
}

/// One service, its pool with the servers a and b, and two engines.
fn bed() -> Bed {
    let clock = SimClock::at(Duration::from_secs(START));
    let board = Board::new(Arc::clone(&clock) as _);
    let service = CatalogueService {
        name: "web".to_owned(),
        pools: vec![3],
        certificates: vec![("www".to_owned(), START + 10 * 86_400)],
    };
    let servers = vec!["a".to_owned(), "b".to_owned()];
    let engine = |name: &str| CatalogueEngine { name: name.to_owned(), enrolled: true };
    board.learn(Catalogue {
        services: [(7, service)].into(),
        pools: [(3, CataloguePool { name: "app".to_owned(), servers })].into(),
        engines: [(1, engine("lb-1")), (2, engine("lb-2"))].into(),
    });
    Bed { board, clock }
}

fn counts(requests: u64, errors: u64, times_us: &[u64]) -> Counts {
    let mut all = [0; BUCKETS];
    times_us.iter().for_each(|time| all[bucket(*time)] += 1);
    let mut counts = Counts { total: Histogram::of_all(all.into_iter()), ..Counts::default() };
    counts.counters[Counter::Requests] = requests;
    counts.counters[Counter::ServerErrors] = errors;
    counts
}

fn object(kind: Kind, name: &str, server: &str) -> Measured {
    let (name, server) = (name.into(), server.into());
    let (born, open, state, counts) = (1, 0, Seen::default(), Counts::default());
    Measured { kind, name, server, born, open, state, counts, monitors: Vec::new() }
}

fn service(counts: Counts) -> Measured {
    Measured { counts, open: 4, ..object(Kind::Service, "web", "") }
}

impl Bed {
    /// A report of an engine whose process started at `epoch`, so many seconds after that.
    fn report(&self, engine: u64, epoch: u64, at_s: u64, objects: Vec<Measured>) {
        let usage =
            Usage { epoch, at_us: at_s * 1_000_000, cpu_us: at_s * 250_000, ..Usage::default() };
        self.board.take(engine, Portion { usage, objects });
    }

    fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    fn value(&self, subject: Subject, parameters: &str) -> Result<Figure, String> {
        let parameters: Vec<String> = parameters.split(',').map(str::to_owned).collect();
        self.board.value(subject, &parameters)
    }

    fn rate(&self, figure: &str) -> f64 {
        match self.value(SERVICE, figure) {
            Ok(Figure::Float(rate)) => rate,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn rate_is_the_difference_of_two_reports_by_time() {
    let bed = bed();
    bed.value(SERVICE, "requests").unwrap_err();
    bed.report(1, 9, 3_600, vec![service(counts(50_000, 10, &[]))]);
    // What was counted before is not that of one interval.
    assert_eq!(bed.value(SERVICE, "requests"), Ok(Figure::Nothing));
    assert_eq!(bed.value(SERVICE, "connections"), Ok(Figure::Unsigned(4)));
    bed.report(1, 9, 3_610, vec![service(counts(50_200, 20, &[]))]);
    assert_eq!(bed.rate("requests"), 20.0);
    assert_eq!(bed.rate("errors,server"), 1.0);
    assert_eq!(bed.rate("errors,percent"), 5.0);
    assert_eq!(bed.rate("errors,client"), 0.0);
    // After an outage of the link, the rate is the mean of that time.
    bed.wait(100);
    bed.value(SERVICE, "requests").unwrap_err();
    bed.report(1, 9, 3_710, vec![service(counts(50_700, 20, &[]))]);
    assert_eq!(bed.rate("requests"), 5.0);
}

#[test]
fn a_restart_of_an_engine_makes_no_negative_rate() {
    let bed = bed();
    bed.report(1, 9, 3_600, vec![service(counts(50_000, 0, &[]))]);
    bed.report(1, 9, 3_610, vec![service(counts(50_100, 0, &[]))]);
    assert_eq!(bed.rate("requests"), 10.0);
    bed.report(1, 10, 5, vec![service(counts(40, 0, &[]))]);
    assert_eq!(bed.rate("requests"), 8.0, "all of the new process");
    bed.report(1, 10, 15, vec![service(counts(50, 0, &[]))]);
    assert_eq!(bed.rate("requests"), 1.0);
    // A service that is deleted and created again counts from zero, too.
    let again = Measured { born: 2, ..service(counts(30, 0, &[])) };
    bed.report(1, 10, 25, vec![again]);
    assert_eq!(bed.rate("requests"), 3.0);
}

#[test]
fn engines_are_added_and_a_missing_one_is_left_out() {
    let bed = bed();
    for (engine, requests) in [(1, 100), (2, 500)] {
        bed.report(engine, 9, 10, vec![service(counts(requests, 0, &[1_000; 10]))]);
        bed.report(engine, 9, 20, vec![service(counts(requests * 2, 0, &[1_000; 20]))]);
    }
    assert_eq!(bed.rate("requests"), 60.0);
    assert_eq!(bed.value(SERVICE, "connections"), Ok(Figure::Unsigned(8)));
    bed.wait(30);
    bed.report(1, 9, 50, vec![service(counts(500, 0, &[]))]);
    bed.wait(10);
    assert_eq!(bed.rate("requests"), 10.0, "the engine that still reports");
    bed.wait(30);
    let unknown = bed.value(SERVICE, "requests").unwrap_err();
    assert!(unknown.contains("No engine has reported"), "{unknown}");
}

#[test]
fn percentiles_and_apdex_are_those_of_all_engines() {
    let bed = bed();
    let (fast, slow) = ([10_000; 90], [1_000_000; 10]);
    for (engine, times) in [(1, &fast[..]), (2, &slow[..])] {
        bed.report(engine, 9, 10, vec![service(counts(0, 0, &[]))]);
        let requests = times.len() as u64;
        bed.report(engine, 9, 20, vec![service(counts(requests, 0, times))]);
    }
    for (figure, expected) in [("total,p50", 0.01), ("total,p90", 0.01), ("total,p99", 1.0)] {
        let found = bed.rate(figure);
        assert!((found - expected).abs() <= expected / 8.0, "{figure}: {found}");
    }
    // 90 of 100 are satisfied, 10 tolerated.
    assert_eq!(bed.rate("apdex,0.5"), 0.95);
    assert_eq!(bed.value(SERVICE, "response,p95"), Ok(Figure::Nothing), "no server responded");
    for wrong in ["total,p101", "total,95", "apdex,soon", "apdex", "requests,x", "nonsense"] {
        bed.value(SERVICE, wrong).unwrap_err();
    }
}

#[test]
fn a_server_is_up_if_all_engines_see_it_up() {
    let bed = bed();
    let seen = |engine, a, b| {
        let server = |name, state| Measured { state, ..object(Kind::Server, "app", name) };
        bed.report(engine, 9, 10, vec![server("a", a), server("b", b)]);
    };
    let states =
        || ["a", "b"].map(|name| bed.value(POOL, &format!("server,{name},state")).unwrap());
    let up = || bed.value(POOL, "servers,up").unwrap();
    seen(1, Seen::Up, Seen::Down);
    assert_eq!(states(), [Figure::Unsigned(1), Figure::Unsigned(0)]);
    assert_eq!(up(), Figure::Unsigned(1));
    seen(2, Seen::Down, Seen::Down);
    assert_eq!(states(), [Figure::Unsigned(5), Figure::Unsigned(0)]);
    assert_eq!(up(), Figure::Unsigned(0), "one engine has none");
    seen(2, Seen::Unchecked, Seen::Drain);
    assert_eq!(states(), [Figure::Unsigned(1), Figure::Unsigned(5)]);
    assert_eq!(bed.value(SERVICE, "servers,up"), Ok(Figure::Unsigned(1)));
    assert_eq!(bed.value(POOL, "servers,all"), Ok(Figure::Unsigned(2)));
    // A pool counts what its servers do.
    let asked = |requests| Measured {
        counts: counts(requests, 0, &[]),
        ..object(Kind::Server, "app", "b")
    };
    bed.report(1, 9, 20, vec![asked(100)]);
    bed.report(2, 9, 20, vec![asked(50)]);
    assert_eq!(bed.value(POOL, "requests"), Ok(Figure::Float(15.0)));
    assert_eq!(bed.value(POOL, "server,b,requests"), Ok(Figure::Float(15.0)));
    bed.wait(60);
    bed.value(POOL, "servers,up").unwrap_err();
    bed.value(POOL, "server,a,state").unwrap_err();
}

#[test]
fn health_has_the_reasons_of_each_engine() {
    let bed = bed();
    let monitor = |verdict, reason: &str| Monitored {
        name: "web".into(),
        verdict,
        reason: reason.into(),
        changed_at: 5,
        checked_at: 6,
    };
    let server = |state, monitor| Measured {
        state,
        monitors: vec![monitor],
        ..object(Kind::Server, "app", "a")
    };
    bed.report(1, 9, 10, vec![server(Seen::Up, monitor(Verdict::Passes, ""))]);
    let reason = || bed.value(POOL, "server,a,reason");
    assert_eq!(reason(), Ok(Figure::Text("none".to_owned())));
    let fails = monitor(Verdict::Fails, "connection refused");
    bed.report(2, 9, 10, vec![server(Seen::Down, fails)]);
    assert_eq!(reason(), Ok(Figure::Text("lb-2: web: connection refused".to_owned())));
    let health = bed.board.health(3).unwrap();
    assert_eq!(
        (&health[0]["state"], &health[1]["state"]),
        (&"down_on_some".into(), &"unknown".into())
    );
    let second = &health[0]["engines"][1];
    assert_eq!((&second["engineid"], &second["state"]), (&"2".into(), &"down".into()));
    let expected = serde_json::json!({
        "name": "web", "result": "fails", "reason": "connection refused", "changed_at": "5",
        "checked_at": "6",
    });
    assert_eq!(second["monitors"][0], expected);
    // What was reported too long ago is unknown.
    bed.wait(60);
    assert_eq!(bed.board.health(3).unwrap()[0]["state"], "unknown");
    reason().unwrap_err();
    assert!(bed.board.health(4).is_none());
}

#[test]
fn objects_that_do_not_exist_take_no_memory() {
    let bed = bed();
    let strange = vec![object(Kind::Service, "other", ""), object(Kind::Server, "app", "c")];
    bed.report(1, 9, 10, strange);
    bed.report(99, 9, 10, vec![service(counts(1, 0, &[]))]);
    assert!(lock(&bed.board.state).engines[&1].objects.is_empty());
    assert!(!lock(&bed.board.state).engines.contains_key(&99));
    bed.report(1, 9, 20, vec![service(counts(1, 0, &[]))]);
    bed.board.learn(Catalogue::default());
    assert!(lock(&bed.board.state).engines.is_empty());
}

#[test]
fn engine_counts_as_disconnected_after_time_to_connect() {
    let bed = bed();
    let engine = Subject::Engine(1);
    assert_eq!(bed.value(engine, "connected"), Ok(Figure::Nothing));
    bed.wait(61);
    assert_eq!(bed.value(engine, "connected"), Ok(Figure::Unsigned(0)));
    bed.value(engine, "cpu").unwrap_err();
    bed.board.connected(1, true);
    bed.board.configured(1, true);
    assert_eq!(bed.value(engine, "connected"), Ok(Figure::Unsigned(1)));
    assert_eq!(bed.value(engine, "configured"), Ok(Figure::Unsigned(1)));
    bed.report(1, 9, 10, vec![]);
    bed.report(1, 9, 20, vec![]);
    assert_eq!(bed.value(engine, "cpu"), Ok(Figure::Float(25.0)));
    assert_eq!(bed.value(engine, "uptime"), Ok(Figure::Unsigned(20)));
    assert_eq!(bed.value(engine, "requests"), Ok(Figure::Float(0.0)));
    assert_eq!(bed.value(engine, "connections"), Ok(Figure::Unsigned(0)));
}

#[test]
fn certificates_and_servers_are_discovered() {
    let bed = bed();
    let rows = |text: &str| Ok(Figure::Text(text.to_owned()));
    assert_eq!(
        bed.value(SERVICE, "discovery,certificates"),
        rows(r##"[{"{#CERTIFICATE}":"www"}]"##)
    );
    assert_eq!(
        bed.value(POOL, "discovery,servers"),
        rows(r##"[{"{#SERVER}":"a"},{"{#SERVER}":"b"}]"##)
    );
    assert_eq!(bed.value(SERVICE, "certificate,www"), Ok(Figure::Float(10.0)));
    bed.value(SERVICE, "certificate,other").unwrap_err();
}

#[test]
fn a_host_is_found_by_its_technical_name() {
    for subject in [Subject::Service(1), Subject::Pool(20), Subject::Engine(u64::MAX)] {
        assert_eq!(Subject::of_host(&subject.host()), Some(subject));
    }
    for other in ["lb.service.", "lb.service.01", "lb.node.1", "lb.service.+1", "web", "LB.pool.1"]
    {
        assert_eq!(Subject::of_host(other), None, "{other}");
    }
}
