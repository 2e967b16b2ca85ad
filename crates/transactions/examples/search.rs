//! What records cost, and how long a search in them takes:
//!
//!     cargo run --release -p transactions --example search -- [millions of records]
//!
//! It writes an hour of records, 10,000 a second at 36 million, of 1,000 paths, 5,000 clients and 4
//! servers, into a temporary folder, then searches.
#![allow(clippy::disallowed_methods, reason = "it measures the machine's time")]

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use transactions::{
    Builder, Cached, Client, Column, Course, Encoder, End, Filter, Folder, Limits, Log, Protocol,
    Query, Request, Response, Target, Timings, Transaction,
};

const HOUR_US: u64 = 3_600_000_000;
const SERVERS: [&str; 4] = ["app-1", "app-2", "app-3", "app-4"];

/// Numbers that look random and are the same in each run (splitmix64).
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn pick<T>(from: &[T], number: u64) -> &T {
    let place = number % from.len() as u64;
    &from[usize::try_from(place).expect("a place of a slice")]
}

fn transaction<'t>(number: u64, records: u64, paths: &'t [String]) -> Transaction<'t> {
    let random = mix(number);
    let response_us =
        200 + (random >> 8) % 400 + if random.is_multiple_of(97) { 50_000 } else { 0 };
    let transfer_us = 10 + (random >> 20) % 60;
    let status = if random.is_multiple_of(211) { 503 } else { 200 };
    Transaction {
        began_us: 1_790_000_000_000_000 + number * HOUR_US / records,
        target: Target {
            engine: "lb-1",
            service: "shop",
            pool: "app",
            server: pick::<&str>(&SERVERS, random >> 3),
        },
        client: Client {
            address: IpAddr::V4(Ipv4Addr::from_bits(
                0x0a00_0000 | u32::try_from((random >> 30) % 5_000).unwrap_or(0),
            )),
            port: u16::try_from((random >> 40) % 28_000 + 32_000).unwrap_or(0),
            tls: "TLSv1.3",
            user: b"",
        },
        request: Request {
            protocol: Protocol::Http11,
            stream: 0,
            method: b"GET",
            host: b"shop.example",
            path: pick(paths, (random >> 5) % 31 * ((random >> 50) % 33)).as_bytes(),
            query: b"",
            user_agent: b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            referer: b"",
            bytes: 400 + random % 64,
        },
        response: Response { status, server_status: status, bytes: 600 + (random >> 12) % 8_000 },
        timings: Timings {
            client_rtt_us: 300 + (random >> 33) % 100,
            connect_us: 0,
            response_us,
            transfer_us,
            total_us: response_us + transfer_us,
        },
        course: Course {
            end: End::Complete,
            tries: 1,
            reused: true,
            rules: "",
            cached: Cached::Unused,
        },
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let millions: u64 = std::env::args().nth(1).map_or(Ok(36), |text| text.parse())?;
    let records = millions * 1_000_000;
    let paths: Vec<String> =
        (0..1_000).map(|n| format!("/catalog/{}/product-{n}", n % 17)).collect();
    let folder = tempfile::tempdir()?;
    let limits = Limits { bytes: u64::MAX, age_us: u64::MAX };
    let (mut log, mut builder) = (Log::open(folder.path(), limits)?, Builder::default());
    let mut encoder = Encoder::new()?;
    let mut out = std::io::stdout();
    let (start, mut bytes) = (Instant::now(), 0);
    for number in 0..records {
        builder.push(&transaction(number, records, &paths));
        if builder.is_full() || number + 1 == records {
            let block = builder.finish(&mut encoder);
            bytes += block.len() as u64;
            log.append(&block)?;
        }
    }
    let spent = start.elapsed();
    writeln!(
        out,
        "{millions} M records: {} ns and {} bytes each, with the time to make them up",
        spent.as_nanos() / u128::from(records),
        bytes / records
    )?;
    let start = Instant::now();
    let mut folder = Folder::open(folder.path())?;
    folder.refresh()?;
    writeln!(out, "opened in {:?}", start.elapsed())?;
    for (filter, group) in [
        ("path=/catalog/3/product-20 status=503", None),
        ("status=5xx", Some("server")),
        ("client=10.0.3.0/24 total>50ms", Some("path")),
        ("", Some("status")),
    ] {
        let query = Query {
            filter: filter.parse::<Filter>()?,
            from_us: 0,
            to_us: u64::MAX,
            rows: 100,
            bars: 60,
            group: group.and_then(Column::named),
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        };
        let start = Instant::now();
        let answer = folder.search(&query, &|| false);
        writeln!(
            out,
            "{:>10.0?}  {filter:?} group {group:?}: {} found",
            start.elapsed(),
            answer.matched
        )?;
    }
    Ok(())
}
