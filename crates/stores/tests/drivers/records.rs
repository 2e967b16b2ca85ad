//! Records of transactions in ClickHouse: what is found equals what the folder finds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stdx::clock::RealClock;
use transactions::columns::COLUMNS;
use transactions::{
    Answer, Archive, Builder, Cached, Client, Column, Course, Encoder, End, Limits, Position,
    Protocol, Query, Request, Response, Store, Stream, Target, Timings, Transaction,
};

const ALL: Limits = Limits { bytes: u64::MAX, age_us: u64::MAX };
const DAY_US: u64 = 86_400_000_000;
const NOW_US: u64 = 1_790_000_000_000_000;
const STREAMS: [Stream; 3] = [
    Stream { engine: 1, ring: 7 },
    Stream { engine: 1, ring: u64::MAX },
    Stream { engine: 2, ring: 7 },
];
/// Records of a block, and blocks of each stream.
const ROWS: u64 = 400;
const BLOCKS: u64 = 3;
const USERS: [&[u8]; 6] =
    [b"", b"alice", b"it's \\ \"x\"\n\t", b"\xfe\xff", b"\0nul\r", "m\u{fc}".as_bytes()];
const PATHS: [&[u8]; 6] = [b"/", b"/api/users", b"/api/' OR 1=1 --", b"/a b,c", b"", b"/\\x41"];
const TIMES: [u64; 8] = [0, 1, 255, 256, 511, 70_001, (1 << 40) - 1, 1 << 47];
const STATUSES: [u16; 5] = [200, 304, 404, 503, 0];
const ENDS: [End; 3] = [End::Complete, End::ServerTimeout, End::Local];

fn pick<T: Copy>(from: &[T], number: u64) -> T {
    from[usize::try_from(number % from.len() as u64).unwrap()]
}

/// No two begin at the same time.
fn transaction(number: u64) -> Transaction<'static> {
    let address = match number % 3 {
        0 => IpAddr::V6(Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number % 7))),
        _ => IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + u32::try_from(number % 500).unwrap())),
    };
    Transaction {
        began_us: NOW_US - number * 7_919 % 100_003 * 1_000,
        target: Target {
            engine: "lb-1",
            service: pick(&["shop", "blog"], number / 5),
            pool: "web",
            server: pick(&["app1", "app2", ""], number),
        },
        client: Client { address, port: 9, tls: "TLSv1.3", user: pick(&USERS, number / 2) },
        request: Request {
            protocol: Protocol::Http11,
            stream: 0,
            method: b"GET",
            host: b"shop.example",
            path: pick(&PATHS, number),
            query: b"",
            user_agent: b"curl/8",
            referer: b"",
            bytes: 100 + number % 10,
        },
        response: Response {
            status: pick(&STATUSES, number / 7),
            server_status: pick(&STATUSES, number / 7),
            bytes: number * 31 % 5_000,
        },
        timings: Timings {
            client_rtt_us: pick(&TIMES, number),
            connect_us: pick(&TIMES, number / 3),
            response_us: number * 13 % 9_000,
            transfer_us: number * 17 % 700,
            total_us: number * 7_919 % 100_000,
        },
        course: Course {
            end: pick(&ENDS, number / 13),
            tries: 1,
            reused: number.is_multiple_of(2),
            rules: "1,2",
            cached: pick(&[Cached::Unused, Cached::Hit], number / 3),
        },
    }
}

/// Blocks with their streams and positions.
fn blocks() -> Vec<(Stream, Position, Vec<u8>)> {
    let (mut encoder, mut builder) = (Encoder::new().unwrap(), Builder::default());
    let mut blocks = Vec::new();
    for (stream, first) in STREAMS.into_iter().zip((0..).step_by(10_000)) {
        let mut at = Position { file: 3, offset: 0 };
        for block in 0..BLOCKS {
            let numbers = first + block * ROWS..first + (block + 1) * ROWS;
            numbers.for_each(|number| builder.push(&transaction(number)));
            let bytes = builder.finish(&mut encoder);
            let length = u32::try_from(bytes.len()).unwrap();
            blocks.push((stream, at, bytes));
            at.offset += length;
        }
    }
    blocks
}

fn wait(what: &str, condition: impl Fn() -> bool) {
    let clock = RealClock::shared();
    let begin = clock.monotonic();
    while !condition() {
        assert!(clock.monotonic() - begin < Duration::from_secs(60), "{what} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn open(url: &str, limits: Limits) -> Arc<dyn Store> {
    let store = stores::open_records(&format!("clickhouse={url}"), limits, &RealClock::shared());
    let store = store.unwrap();
    wait("the store", || store.is_ready());
    store
}

fn fill(store: &dyn Store) {
    for (stream, at, block) in blocks() {
        store.keep(stream, at, &block, NOW_US).unwrap();
    }
}

fn archive(folder: &Path) -> Archive {
    let archive = Archive::open(folder, ALL).unwrap();
    fill(&archive);
    archive
}

fn query(filter: &str, group: &str) -> Query {
    Query {
        filter: filter.parse().unwrap(),
        from_us: 0,
        to_us: u64::MAX,
        rows: 25,
        bars: 30,
        group: Column::named(group),
        threads: 2,
    }
}

fn search(store: &dyn Store, query: &Query) -> Answer {
    store.search(query, &|| false).unwrap()
}

fn compare(folder: &dyn Store, database: &dyn Store, query: &Query, what: &str) {
    let (expected, found) = (search(folder, query), search(database, query));
    assert_eq!(found.matched, expected.matched, "{what}");
    assert_eq!(found.rows, expected.rows, "{what}");
    let (Some(expected), Some(found)) = (expected.summary, found.summary) else {
        assert_eq!(query.bars, 0, "{what}");
        return;
    };
    assert_eq!(found.histogram, expected.histogram, "{what}");
    assert_eq!(found.timings(), expected.timings(), "{what}");
    for most in [2, usize::MAX] {
        let (expected, others) = expected.groups(most);
        assert_eq!(found.groups(most), (expected, others), "{what}");
    }
}

const FILTERS: [&str; 23] = [
    "",
    "status=5xx",
    "status!=200,404",
    "total>50ms connect=256",
    "total<=0.05s",
    "status<0",
    "client_rtt>=1099511627775",
    "path^=/api",
    "path!^=/api",
    "path=\"/api/' OR 1=1 --\"",
    "path*=' path$=--",
    "path=",
    "path*=",
    "path$=\\x41",
    "path=\"/a b,c\",/",
    "user=alice",
    "user!=",
    "user*=\\",
    "user=m\u{fc}",
    "client=10.0.0.0/24,2001:db8::3",
    "client=::/0",
    "client!=0.0.0.0/0",
    "fault=server end!=complete service=shop",
];

#[test]
fn records_are_found_as_in_the_folder() {
    let Some(url) = super::clickhouse() else { return };
    let folder = tempfile::tempdir().unwrap();
    let archive = archive(folder.path());
    let (database, other) = (open(&url, ALL), open(&url, ALL));
    // The second one knows nothing of what the first one has taken: as after a lost acknowledgement.
    for store in [&database, &other] {
        fill(store.as_ref());
    }
    for store in [&database, &other] {
        for stream in STREAMS {
            let end = store.end(stream).unwrap();
            assert_eq!(end, Archive::end(&archive, stream));
            wait("an acknowledgement", || store.sync(stream).unwrap() == end);
        }
    }
    let total = STREAMS.len() as u64 * BLOCKS * ROWS;
    assert_eq!(search(database.as_ref(), &query("", "")).matched, total, "each record once");
    for (filter, column) in FILTERS.iter().zip(COLUMNS.iter().cycle().skip(2)) {
        let query = query(filter, column.name);
        compare(&archive, database.as_ref(), &query, filter);
        compare(&archive, database.as_ref(), &Query { bars: 0, ..query }, filter);
    }
    for column in &COLUMNS {
        compare(&archive, database.as_ref(), &query("status=200,503", column.name), column.name);
    }
    for (from, to) in
        [(0, 50_000), (30_000, 70_000), (70_000, 70_000), (70_001, 70_001), (200_000, 300_000)]
    {
        let (from_us, to_us) =
            (NOW_US - 100_000_000 + from * 1_000, NOW_US - 100_000_000 + to * 1_000);
        let query = Query { from_us, to_us, rows: 2_000, ..query("path^=/", "user") };
        compare(&archive, database.as_ref(), &query, &format!("{from} to {to}"));
    }
    let stopped = database.search(&query("", ""), &|| true).unwrap();
    assert!(stopped.stopped && stopped.rows.is_empty());
    drop((database, other));
    let again = open(&url, Limits { age_us: DAY_US, ..ALL });
    for stream in STREAMS {
        assert_eq!(again.end(stream).unwrap(), Archive::end(&archive, stream), "after a restart");
    }
    again.delete_old(NOW_US + 2 * DAY_US).unwrap();
    assert_eq!(search(again.as_ref(), &query("", "")).matched, 0, "too old");
}
