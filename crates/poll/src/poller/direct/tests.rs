use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

use stdx::clock::RealClock;

use super::*;

const LIMIT: Duration = Duration::from_secs(60);
/// Of checks that get a response.
const LONG_MS: u64 = 60_000;

/// A check of the item `key.<slot>`.
fn job(slot: u32) -> Job {
    Job { slot, lane: 1, item: Arc::new(collect::testing::item(u64::from(slot))) }
}

fn route(address: SocketAddr, dialect: Dialect, timeout_ms: u64) -> Route {
    let timeout = Duration::from_millis(timeout_ms);
    Route { address, source: None, dialect, timeout, begun: Duration::ZERO }
}

/// Moves until `count` checks have ended.
fn run(direct: &mut Direct, count: usize) -> Vec<Ended> {
    let clock = RealClock::shared();
    let begin = clock.monotonic();
    let mut ended = Vec::new();
    while ended.len() < count {
        let now = clock.monotonic();
        assert!(now - begin < LIMIT, "{} of {count} ended", ended.len());
        direct.advance(now, Duration::ZERO);
        direct.time_out(now);
        direct.ended(&mut ended);
        std::thread::yield_now();
    }
    assert_eq!(direct.len(), 0);
    ended
}

/// An agent that does with each connection what `with` says.
fn agent(with: impl Fn(&mut TcpStream, String) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 13];
            stream.read_exact(&mut head).unwrap();
            let bytes = u32::from_le_bytes(head[5..9].try_into().unwrap());
            let mut body = vec![0; bytes as usize];
            stream.read_exact(&mut body).unwrap();
            with(&mut stream, String::from_utf8(body).unwrap());
        }
    });
    address
}

fn now() -> Duration {
    RealClock::shared().monotonic()
}

fn value(text: &str) -> Vec<u8> {
    let json = format!(r#"{{"version":"7.0.0","variant":1,"data":[{{"value":"{text}"}}]}}"#);
    zbxd::encode(json.as_bytes(), zbxd::PROTOCOL)
}

#[test]
fn answers_in_any_pieces() {
    for piece in [1, 5, 13, 14, 1000] {
        let address = agent(move |stream, text| {
            assert!(
                text.starts_with("{\"request\":\"passive checks\",\"data\":[{\"key\":\"key."),
                "{text}"
            );
            for part in value("17").chunks(piece) {
                stream.write_all(part).unwrap();
            }
        });
        let mut direct = Direct::new(1 << 20).unwrap();
        for slot in 0..20 {
            direct.start(job(slot), route(address, Dialect::Json, LONG_MS), now());
        }
        let ended = run(&mut direct, 20);
        let mut slots: Vec<u32> = ended.iter().map(|ended| ended.job.slot).collect();
        slots.sort_unstable();
        assert_eq!(slots, (0..20).collect::<Vec<_>>());
        let seventeen = CheckReply::Value("17".into());
        assert!(ended.iter().all(|ended| ended.reply == seventeen), "{ended:?}");
    }
}

#[test]
fn an_old_agent_is_asked_again_in_plain_text() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let address = agent(move |stream, text| {
        count.fetch_add(1, Ordering::SeqCst);
        let text = if text == "key.1" { "9" } else { "ZBX_NOTSUPPORTED\0Unsupported item key." };
        stream.write_all(&zbxd::encode(text.as_bytes(), zbxd::PROTOCOL)).unwrap();
    });
    let mut direct = Direct::new(1 << 20).unwrap();
    direct.start(job(1), route(address, Dialect::Json, LONG_MS), now());
    let ended = run(&mut direct, 1).remove(0);
    assert_eq!((ended.reply, ended.route.dialect), (CheckReply::Value("9".into()), Dialect::Plain));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn errors_are_reported() {
    let hangs_up = agent(|_, _| ());
    let headless = agent(|stream, _| stream.write_all(b"42").unwrap());
    let short = agent(|stream, _| stream.write_all(&value("17")[..20]).unwrap());
    let large = agent(|stream, _| stream.write_all(&value(&"x".repeat(5000))).unwrap());
    let nobody = stdx::listening::free_address().unwrap();
    let failed =
        |what: &str| CheckReply::NetworkError(format!("Get value from agent failed: {what}"));
    let cases = [
        (
            hangs_up,
            CheckReply::NetworkError(
                "Received empty response from Zabbix Agent at [127.0.0.1]. Assuming that agent \
                 dropped connection because of access permissions."
                    .into(),
            ),
        ),
        (headless, CheckReply::Value("42".into())),
        (short, failed("the answer is shorter than expected 55 bytes")),
        (large, failed("the answer is 5053 bytes long, more than the 4096 bytes allowed")),
        (
            nobody,
            failed(&format!(
                "cannot establish TCP connection to [[127.0.0.1]:{}]: [111] Connection refused",
                nobody.port()
            )),
        ),
    ];
    let mut direct = Direct::new(4096).unwrap();
    for (address, expected) in cases {
        direct.start(job(1), route(address, Dialect::Plain, LONG_MS), now());
        assert_eq!(run(&mut direct, 1)[0].reply, expected);
    }
}

#[test]
fn silence_ends_with_the_timeout_and_its_stage() {
    // The connection stands, the answer never comes.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let mut direct = Direct::new(4096).unwrap();
    let begin = Duration::from_secs(1000);
    for (slot, timeout_ms) in [(1, 3000), (2, 1000), (3, 3000)] {
        direct.start(job(slot), route(address, Dialect::Json, timeout_ms), begin);
    }
    // All have their connection, and have sent their request.
    let _open = [(); 3].map(|()| {
        let (stream, _) = silent.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        while stream.peek(&mut [0]).is_err() {
            direct.advance(begin, Duration::ZERO);
        }
        stream
    });
    let mut ended = Vec::new();
    let mut slots_at = |after_ms: u64| {
        direct.time_out(begin + Duration::from_millis(after_ms));
        direct.ended(&mut ended);
        let text = "Get value from agent failed: cannot read response: timed out";
        assert!(ended.iter().all(|e| e.reply == CheckReply::NetworkError(text.into())));
        ended.drain(..).map(|ended| ended.job.slot).collect::<Vec<_>>()
    };
    // A second more than the item's timeout, which the agent keeps itself.
    assert_eq!(slots_at(1999), [0; 0]);
    assert_eq!(slots_at(2000), [2]);
    assert_eq!(slots_at(3999), [0; 0]);
    assert_eq!(slots_at(4000), [1, 3]);
    assert!(direct.table.is_clean());
}

#[test]
fn reused_slot_ignores_the_timer_of_its_predecessor() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let quick = agent(|stream, _| stream.write_all(&value("1")).unwrap());
    let mut direct = Direct::new(4096).unwrap();
    direct.start(job(1), route(quick, Dialect::Json, 3000), now());
    assert_eq!(run(&mut direct, 1)[0].job.slot, 1);
    let begin = now() + Duration::from_secs(2);
    let silent = silent.local_addr().unwrap();
    direct.start(job(2), route(silent, Dialect::Json, 3000), begin);
    direct.time_out(begin + Duration::from_millis(3999));
    let mut ended = Vec::new();
    direct.ended(&mut ended);
    assert!(ended.is_empty());
    direct.time_out(begin + Duration::from_millis(4000));
    direct.ended(&mut ended);
    assert_eq!(ended[0].job.slot, 2);
}
