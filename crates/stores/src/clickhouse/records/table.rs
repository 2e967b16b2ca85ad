//! The tables, what is inserted into them, and what is dropped.

use std::collections::BTreeMap;
use std::net::IpAddr;

use history::Error;
use transactions::columns::COLUMNS;
use transactions::{Column, Decoded, Field, Limits, Position, Stream};

use super::super::http::Client;
use super::super::odd_answer;
use super::super::rows::{Rows, put_bytes};
use super::queue::{Progress, Waiting};

/// A row for each record.
pub(super) const RECORDS: &str = "transactions";
/// The position behind the last block of each stream.
const STREAMS: &str = "transaction_streams";
/// What tells a row from all others, behind `began`.
pub(super) const KEY: &str = "stream_engine, stream_ring, stream_position, stream_row";
/// Seconds of one partition: what is dropped at once.
const PARTITION_S: u64 = 3 * 3_600;
/// The first releases that know codecs, and syncing of inserts; see the tables of history.
const CODECS: u32 = 20;
const SYNCS: u32 = 21;
/// The first release that can be told with a statement to drop partitions of any size.
const DROPS_ANY_SIZE: u32 = 24;
/// Streams of one engine whose positions are read.
const STREAMS_MAX: usize = 8;
/// The only server.
const SERVER: usize = 0;
const US: u64 = 1_000_000;

/// Makes the database and the tables, and adds columns that an older release did not know.
pub(super) fn prepare(client: &Client) -> Result<(), Error> {
    client.make_database(SERVER)?;
    let release = client.release(SERVER)?;
    let sync = match release >= SYNCS {
        true => " SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
        false => "",
    };
    let codec = if release >= CODECS { " CODEC(ZSTD(1))" } else { "" };
    let columns: String = COLUMNS.iter().map(|one| definition(one, release) + ", ").collect();
    client.ask_at(
        SERVER,
        &format!(
            "CREATE TABLE IF NOT EXISTS {RECORDS} ({columns}stream_engine UInt64{codec}, \
             stream_ring UInt64{codec}, stream_position UInt64{codec}, stream_row UInt16{codec}, \
             arrived DateTime('UTC'){codec}) ENGINE = ReplacingMergeTree() \
             PARTITION BY intDiv(toUInt32(arrived), {PARTITION_S}) ORDER BY (began, {KEY}){sync}"
        ),
    )?;
    client.ask_at(
        SERVER,
        &format!(
            "CREATE TABLE IF NOT EXISTS {STREAMS} (engine UInt64, ring UInt64, position UInt64, \
             arrived DateTime('UTC')) ENGINE = ReplacingMergeTree(position) ORDER BY (engine, ring){sync}"
        ),
    )?;
    let present = client.ask_at(
        SERVER,
        &format!(
            "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '{RECORDS}' \
             FORMAT TabSeparated"
        ),
    )?;
    let present = String::from_utf8_lossy(&present).into_owned();
    for column in COLUMNS.iter().filter(|one| present.lines().all(|name| name != one.name)) {
        let definition = definition(column, release);
        client.ask_at(SERVER, &format!("ALTER TABLE {RECORDS} ADD COLUMN {definition}"))?;
    }
    Ok(())
}

fn definition(column: &Column, release: u32) -> String {
    let kind = match column {
        one if one.is_number() => "UInt64",
        one if one.is_address() => "FixedString(16)",
        _ => "String",
    };
    let codec = match column.name {
        _ if release < CODECS => "",
        "began" => " CODEC(DoubleDelta, ZSTD(1))",
        _ => " CODEC(ZSTD(1))",
    };
    format!("`{}` {kind}{codec}", column.name)
}

/// A position as one number, in the same order.
fn number(position: Position) -> u64 {
    u64::from(position.file) << 32 | u64::from(position.offset)
}

fn position(number: u64) -> Position {
    let half = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    Position { file: half(number >> 32), offset: half(number) }
}

fn seconds(us: u64) -> u32 {
    u32::try_from(us / US).unwrap_or(u32::MAX)
}

/// Appends a row of a block.
pub(super) fn put_row(out: &mut Vec<u8>, decoded: &Decoded, row: usize, of: &Waiting) {
    for field in decoded.row(row) {
        match field {
            Field::Number(number) => out.extend_from_slice(&number.to_le_bytes()),
            Field::Text(text) => put_bytes(out, text),
            Field::Address(address) => out.extend_from_slice(&octets(address)),
        }
    }
    for number in [of.stream.engine, of.stream.ring, number(of.at)] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    // A block has at most 16,384 rows.
    out.extend_from_slice(&u16::try_from(row).unwrap_or(u16::MAX).to_le_bytes());
    out.extend_from_slice(&seconds(of.arrived_us).to_le_bytes());
}

/// An IPv6 address; IPv4 is mapped into it.
pub(super) fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// Inserts rows.
pub(super) fn insert(client: &Client, rows: &[u8]) -> Result<(), Error> {
    let columns: String = COLUMNS.iter().map(|one| format!("`{}`, ", one.name)).collect();
    let sql = format!("INSERT INTO {RECORDS} ({columns}{KEY}, arrived) FORMAT RowBinary");
    client.insert(&sql, rows)
}

/// Notes up to where ClickHouse has streams.
pub(super) fn insert_positions(
    client: &Client,
    ends: &BTreeMap<Stream, (Position, u64)>,
) -> Result<(), Error> {
    let mut rows = Vec::new();
    for (stream, (end, arrived_us)) in ends {
        for number in [stream.engine, stream.ring, number(*end)] {
            rows.extend_from_slice(&number.to_le_bytes());
        }
        rows.extend_from_slice(&seconds(*arrived_us).to_le_bytes());
    }
    let sql = format!("INSERT INTO {STREAMS} (engine, ring, position, arrived) FORMAT RowBinary");
    client.insert(&sql, &rows)
}

/// Up to where ClickHouse has each stream.
pub(super) fn positions(client: &Client) -> Result<BTreeMap<Stream, Progress>, Error> {
    let answer = client.ask(&format!(
        "SELECT engine, ring, max(position), toUInt32(max(arrived)) AS newest FROM {STREAMS} \
         GROUP BY engine, ring ORDER BY newest DESC LIMIT {STREAMS_MAX} BY engine FORMAT RowBinary"
    ))?;
    let mut rows = Rows(&answer);
    let mut known = BTreeMap::new();
    let mut one = || {
        let stream = Stream { engine: rows.u64()?, ring: rows.u64()? };
        let end = position(rows.u64()?);
        let arrived_us = u64::from(rows.u32()?) * US;
        Some(((stream, Progress { taken: end, stored: end, arrived_us }), rows.0.is_empty()))
    };
    while !answer.is_empty() {
        let ((stream, progress), is_last) = one().ok_or_else(|| odd_answer("a position"))?;
        known.insert(stream, progress);
        if is_last {
            break;
        }
    }
    Ok(known)
}

/// Drops partitions beyond the limits, the oldest first. The newest one stays.
pub(super) fn delete_old(client: &Client, limits: Limits, now_us: u64) -> Result<(), Error> {
    let answer = client.ask_at(
        SERVER,
        &format!(
            "SELECT partition, sum(bytes_on_disk) FROM system.parts WHERE active AND \
             database = currentDatabase() AND table = '{RECORDS}' GROUP BY partition FORMAT TabSeparated"
        ),
    )?;
    let any_size = match client.release(SERVER)? < DROPS_ANY_SIZE {
        true => "",
        // What is above the server's limit (50 GB) was not made by mistake.
        false => " SETTINGS max_partition_size_to_drop = 0",
    };
    for number in beyond(partitions(&String::from_utf8_lossy(&answer)), limits, now_us) {
        let sql = format!("ALTER TABLE {RECORDS} DROP PARTITION {number}{any_size}");
        client.ask_at(SERVER, &sql)?;
        tracing::debug!(number, "a partition of old records was dropped");
    }
    Ok(())
}

/// Numbers of partitions with their bytes, the oldest first.
fn partitions(text: &str) -> Vec<(u64, u64)> {
    let one = |line: &str| {
        let (number, bytes) = line.split_once('\t')?;
        Some((number.parse().ok()?, bytes.trim().parse().ok()?))
    };
    let mut partitions: Vec<_> = text.lines().filter_map(one).collect();
    partitions.sort_unstable();
    partitions
}

/// The partitions to drop.
fn beyond(partitions: Vec<(u64, u64)>, limits: Limits, now_us: u64) -> Vec<u64> {
    let before_s = now_us.saturating_sub(limits.age_us) / US;
    let mut bytes: u64 = partitions.iter().map(|(_, bytes)| bytes).sum();
    let mut left = partitions.len();
    let mut drops = Vec::new();
    for (number, own) in partitions {
        let is_old = number.saturating_add(1).saturating_mul(PARTITION_S) <= before_s;
        if !is_old && (bytes <= limits.bytes || left <= 1) {
            break;
        }
        bytes -= own;
        left -= 1;
        drops.push(number);
    }
    drops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_keep_their_order_as_numbers() {
        let all = [(0, 0), (1, 0), (1, u32::MAX), (2, 0), (u32::MAX, u32::MAX)];
        let all = all.map(|(file, offset)| Position { file, offset });
        assert!(all.map(number).is_sorted());
        assert_eq!(all.map(|one| position(number(one))), all);
    }

    #[test]
    fn old_and_large_partitions_go_and_the_newest_stays() {
        let hours = |hours: u64| hours * 3_600 * US;
        let text = "101\t40\n100\t10\nodd\t1\n102\t30\n";
        let parts = partitions(text);
        assert_eq!(parts, [(100, 10), (101, 40), (102, 30)]);
        let of =
            |bytes, age_us, now_h| beyond(parts.clone(), Limits { bytes, age_us }, hours(now_h));
        assert_eq!(of(100, hours(6), 309), [100_u64; 1], "ends with hour 303");
        assert_eq!(of(100, hours(7), 309), [0_u64; 0]);
        assert_eq!(of(70, hours(100), 309), [100]);
        assert_eq!(of(1, hours(100), 309), [100, 101]);
        assert_eq!(of(100, hours(1), 400), [100, 101, 102]);
    }

    #[test]
    fn a_column_has_the_type_of_its_values_and_codecs_if_known() {
        let of = |name, release| definition(Column::named(name).unwrap(), release);
        assert_eq!(of("status", 18), "`status` UInt64");
        assert_eq!(of("client", 18), "`client` FixedString(16)");
        assert_eq!(of("user", 26), "`user` String CODEC(ZSTD(1))");
        assert_eq!(of("began", 26), "`began` UInt64 CODEC(DoubleDelta, ZSTD(1))");
    }
}
