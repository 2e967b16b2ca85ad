//! Searches, compared with a plain look at each transaction.

use std::path::Path;
use std::sync::atomic::AtomicU32;

use proptest::prelude::*;

use super::*;
use crate::block::Encoder;
use crate::columns::{Source, octets};
use crate::testing::transaction;
use crate::{Builder, Limits, Log};

const ALL: Limits = Limits { bytes: u64::MAX, age_us: u64::MAX };

/// Writes transactions `numbers` in blocks of `rows`.
fn write(folder: &Path, numbers: std::ops::Range<u64>, rows: usize) {
    let (mut log, mut builder) = (Log::open(folder, ALL).unwrap(), Builder::default());
    let mut encoder = Encoder::new().unwrap();
    let end = numbers.end;
    for number in numbers {
        builder.push(&transaction(number));
        if builder.len() == rows || number + 1 == end {
            log.append(&builder.finish(&mut encoder)).unwrap();
        }
    }
}

fn query(filter: &str) -> Query {
    Query {
        filter: filter.parse().unwrap(),
        from_us: 0,
        to_us: u64::MAX,
        rows: 10,
        bars: 20,
        group: None,
        threads: 2,
    }
}

fn search(folder: &Path, query: &Query) -> Answer {
    Folder::open(folder).unwrap().search(query, &|| false)
}

/// The value of a column, by the transaction itself.
fn cell(column: &'static Column, number: u64) -> Cell {
    let transaction = transaction(number);
    match column.source {
        Source::Number(read) => Cell::Number(read(&transaction)),
        Source::Text(read) => column.cell(read(&transaction)),
        Source::Word(read) => column.cell(read(&transaction).as_bytes()),
        Source::Address(read) => column.cell(&octets(read(&transaction))),
    }
}

fn number(cell: &Cell) -> u64 {
    let Cell::Number(number) = cell else { panic!("{cell} is not a number") };
    *number
}

#[test]
fn a_row_comes_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0..1_000, 300);
    let rows = search(folder.path(), &Query { rows: 1_000, ..query("") }).rows;
    assert_eq!(rows.len(), 1_000);
    let mut numbers: Vec<u64> = (0..1_000).collect();
    let key =
        |row: &Row| (number(row.get("began").unwrap()), number(row.get("client_port").unwrap()));
    numbers.sort_by_key(|number| {
        let t = transaction(*number);
        (t.began_us, u64::from(t.client.port))
    });
    let mut rows = rows;
    assert!(rows.is_sorted_by_key(|row| Reverse(key(row).0)), "newest first");
    rows.sort_by_key(key);
    for (row, number) in rows.iter().zip(numbers) {
        let wanted: Vec<Cell> = COLUMNS.iter().map(|column| cell(column, number)).collect();
        assert_eq!(row.0, wanted);
    }
}

#[test]
fn an_empty_folder_answers_with_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let answer = search(folder.path(), &query("status=5xx"));
    assert_eq!((answer.matched, answer.rows.len(), answer.damaged), (0, 0, 0));
}

#[test]
fn a_search_ends_with_its_client() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0..1_000, 10);
    let looks = AtomicU32::new(0);
    let folder = Folder::open(folder.path()).unwrap();
    let answer = folder.search(&query(""), &|| looks.fetch_add(1, Ordering::Relaxed) >= 5);
    assert!(answer.stopped);
    assert!(answer.scanned <= 50, "{} rows were looked at", answer.scanned);
}

#[test]
fn rows_that_arrive_are_found_by_a_folder_that_is_open() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = Folder::open(place.path()).unwrap();
    write(place.path(), 0..100, 50);
    assert_eq!(folder.search(&query(""), &|| false).matched, 0);
    folder.refresh().unwrap();
    write(place.path(), 100..150, 50);
    folder.refresh().unwrap();
    assert_eq!(folder.search(&query(""), &|| false).matched, 150);
    folder.skip();
    write(place.path(), 150..160, 50);
    folder.refresh().unwrap();
    assert_eq!(folder.search(&query(""), &|| false).matched, 10, "only what is new");
}

/// A filter and what it means.
type Case = (&'static str, fn(u64) -> bool);

const CASES: [Case; 16] = [
    ("", |_| true),
    ("status=5xx", |n| transaction(n).response.status / 100 == 5),
    ("status=200,404", |n| [200, 404].contains(&transaction(n).response.status)),
    ("status!=200,404", |n| ![200, 404].contains(&transaction(n).response.status)),
    ("total>50ms", |n| transaction(n).timings.total_us > 50_000),
    ("total<=0.05s connect=300", |n| {
        let timings = transaction(n).timings;
        timings.total_us <= 50_000 && timings.connect_us == 300
    }),
    ("response_bytes>=2K", |n| transaction(n).response.bytes >= 2_048),
    ("status<0", |_| false),
    ("path^=/api", |n| transaction(n).request.path.starts_with(b"/api")),
    ("path!^=/api", |n| !transaction(n).request.path.starts_with(b"/api")),
    ("path=\"/a b\"", |n| transaction(n).request.path == b"/a b"),
    ("path=", |n| transaction(n).request.path.is_empty()),
    ("user_agent*=\"5.0 (X\" path$=svg", |n| {
        let request = transaction(n).request;
        request.user_agent.starts_with(b"Mozilla") && request.path.ends_with(b"svg")
    }),
    ("client=10.0.0.0/24", |n| {
        transaction(n).client.address.to_string().strip_prefix("10.0.0.").is_some()
    }),
    ("client=2001:db8::/32", |n| transaction(n).client.address.is_ipv6()),
    ("fault=server end!=complete service=shop", |n| {
        let t = transaction(n);
        t.target.service == "shop"
            && (t.course.end == End::ServerTimeout
                || t.course.end == End::Local && t.response.server_status >= 500)
    }),
];

use crate::record::End;

#[test]
fn filters_find_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0..3_000, 700);
    for (filter, meets) in CASES {
        let wanted: Vec<u64> = (0..3_000).filter(|number| meets(*number)).collect();
        let answer = search(folder.path(), &Query { rows: 3_000, ..query(filter) });
        assert_eq!(answer.matched, wanted.len() as u64, "{filter}");
        assert_eq!(answer.rows.len(), wanted.len(), "{filter}");
        let summary = answer.summary.unwrap();
        let bars: u64 = summary.histogram.bars.iter().map(|bar| bar.count).sum();
        assert_eq!(bars, wanted.len() as u64, "{filter}");
        let longest = wanted.iter().map(|number| transaction(*number).timings.total_us).max();
        let found = summary.timings()[4].max;
        let longest = longest.unwrap_or(0);
        assert!(found.abs_diff(longest) * 100 <= longest, "{filter}: {found} for {longest}");
    }
}

#[test]
fn groups_add_up() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0..2_000, 333);
    for name in ["path", "status", "client", "server", "end"] {
        let column = Column::named(name).unwrap();
        let mut wanted: HashMap<Cell, u64> = HashMap::new();
        for number in 0..2_000 {
            *wanted.entry(cell(column, number)).or_default() += 1;
        }
        let answer = search(folder.path(), &Query { group: Some(column), ..query("") });
        let summary = answer.summary.unwrap();
        let (groups, other) = summary.groups(usize::MAX);
        let found: HashMap<Cell, u64> =
            groups.iter().map(|(value, rows)| ((*value).clone(), rows.count)).collect();
        assert_eq!(found, wanted, "{name}");
        assert_eq!(other, Group::default());
        let (first, other) = summary.groups(2);
        let counted: u64 = first.iter().map(|(_, rows)| rows.count).sum();
        assert_eq!(counted + other.count, 2_000, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn times_bound_what_is_found(from in 0_u64..400_000, span in 0_u64..400_000, rows in 1_usize..900) {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 0..3_000, rows);
        let (from_us, to_us) = (900_000 + from, 900_000 + from + span);
        let within = |number: &u64| (from_us..=to_us).contains(&transaction(*number).began_us);
        let mut wanted: Vec<u64> =
            (0..3_000).filter(within).map(|number| transaction(number).began_us).collect();
        wanted.sort_unstable_by_key(|began| Reverse(*began));
        let answer = search(folder.path(), &Query { from_us, to_us, ..query("") });
        prop_assert_eq!(answer.matched, wanted.len() as u64);
        wanted.truncate(10);
        let found: Vec<u64> =
            answer.rows.iter().map(|row| number(row.get("began").unwrap())).collect();
        prop_assert_eq!(found, wanted);
    }

    /// Whatever happened to the bytes: no panic, and other blocks are still found.
    #[test]
    fn damaged_bytes_cost_their_block_only(at in 0_usize..60_000, bit in 0_u8..8) {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 0..2_000, 100);
        let name = crate::folder::names(folder.path()).unwrap().remove(0);
        let path = folder.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, bytes).unwrap();
        let found = Folder::open(folder.path()).unwrap();
        let query = Query { rows: 2_000, group: Column::named("path"), ..query("path^=/") };
        let answer = found.search(&query, &|| false);
        let whole = (0..2_000).filter(|n| transaction(*n).request.path.starts_with(b"/")).count();
        prop_assert!(answer.matched as usize + 100 >= whole);
        prop_assert!(answer.rows.len() + 100 >= whole);
    }
}
