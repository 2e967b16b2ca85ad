//! Tables, and how they came to be.

use super::http::Client;
use super::odd_answer;
use crate::{Class, Day, Error, Fault};

/// Days of trends that share a partition.
pub(crate) const TREND_DAYS: u32 = 31;

/// A table of ours.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Name, type, codec of the columns between key and `keep`.
    values: &'static [(&'static str, &'static str, &'static str)],
    trends: bool,
}

const FLOAT: &str = "CODEC(ZSTD(1))";
const WHOLE: &str = "CODEC(DoubleDelta,ZSTD(1))";
const TEXT: &str = "CODEC(ZSTD(1))";

/// Tables of values in the order of [`crate::Kind::VALUES`].
pub(crate) const VALUES: [Table; 4] = [
    Table { name: "history_float", values: &[("value", "Float64", FLOAT)], trends: false },
    Table { name: "history_uint", values: &[("value", "UInt64", WHOLE)], trends: false },
    Table { name: "history_text", values: &[("value", "String", TEXT)], trends: false },
    Table {
        name: "history_log",
        values: &[
            ("value", "String", TEXT),
            ("timestamp", "UInt32", WHOLE),
            ("source", "String", TEXT),
            ("severity", "UInt32", TEXT),
            ("eventid", "UInt32", TEXT),
        ],
        trends: false,
    },
];

/// Tables of trends: floats, whole numbers.
pub(crate) const TRENDS: [Table; 2] = [
    Table {
        name: "trends_float",
        values: &[
            ("num", "UInt32", TEXT),
            ("min", "Float64", FLOAT),
            ("avg", "Float64", FLOAT),
            ("max", "Float64", FLOAT),
        ],
        trends: true,
    },
    Table {
        name: "trends_uint",
        values: &[
            ("num", "UInt32", TEXT),
            ("min", "UInt64", WHOLE),
            ("avg", "UInt64", WHOLE),
            ("max", "UInt64", WHOLE),
        ],
        trends: true,
    },
];

pub(crate) fn tables() -> impl Iterator<Item = &'static Table> {
    VALUES.iter().chain(&TRENDS)
}

impl Table {
    /// Names of the columns in the order in which rows are written.
    pub(crate) fn columns(&self) -> String {
        let ns = if self.trends { "" } else { ",ns" };
        let values: Vec<&str> = self.values.iter().map(|(name, ..)| *name).collect();
        format!("itemid,clock{ns},{},keep", values.join(","))
    }

    /// The day after the last one of a partition.
    pub(crate) fn ends(&self, part: &Part) -> Day {
        let days = if self.trends { TREND_DAYS } else { 1 };
        Day((part.number + 1).saturating_mul(days))
    }

    /// The statement that makes it. Servers before 20 know neither codecs nor syncing.
    fn create(&self, major: u32) -> String {
        let codec = |codec: &'static str| if major < 20 { "" } else { codec };
        let days = if self.trends { TREND_DAYS } else { 1 };
        let (ns, key) = if self.trends {
            (String::new(), "itemid, clock")
        } else {
            (format!("ns UInt32 {}, ", codec("CODEC(ZSTD(1))")), "itemid, clock, ns")
        };
        let values: String =
            self.values.iter().map(|(n, t, c)| format!("{n} {t} {}, ", codec(c))).collect();
        let settings = if major < 21 {
            ""
        } else {
            " SETTINGS fsync_after_insert = 1, fsync_part_directory = 1"
        };
        format!(
            "CREATE TABLE IF NOT EXISTS {} (itemid UInt64 {}, clock DateTime('UTC') {}, {ns}{values}\
             keep UInt16 {}) ENGINE = ReplacingMergeTree() \
             PARTITION BY (keep, intDiv(toUInt32(clock), {})) ORDER BY ({key}){settings}",
            self.name,
            codec("CODEC(Delta,ZSTD(1))"),
            codec("CODEC(DoubleDelta,ZSTD(1))"),
            codec("CODEC(ZSTD(1))"),
            days * 86_400,
        )
    }
}

/// Steps from one version of the tables to the next, the oldest first. What a step once did it
/// does for ever: change tables by a new one.
const MIGRATIONS: [fn(u32) -> Vec<String>; 1] =
    [|major| tables().map(|table| table.create(major)).collect()];

/// Makes the database and its tables, or brings those that are there up to date.
pub(crate) fn prepare(client: &Client) -> Result<(), Error> {
    // First of all: whatever names a database that is missing is refused.
    client.make_database()?;
    let version = client.ask("SELECT version()")?;
    let version = String::from_utf8_lossy(&version);
    let major = version.trim().split('.').next().and_then(|n| n.parse().ok());
    let major: u32 = major.ok_or_else(|| odd_answer("its version"))?;
    client.ask(
        "CREATE TABLE IF NOT EXISTS vedette_schema (version UInt32, applied DateTime) \
         ENGINE = MergeTree() ORDER BY version",
    )?;
    let done = client.ask("SELECT toUInt32(max(version)) FROM vedette_schema")?;
    let done: usize = String::from_utf8_lossy(&done)
        .trim()
        .parse()
        .map_err(|_| odd_answer("the version of the tables"))?;
    if done > MIGRATIONS.len() {
        let message = format!(
            "the tables in {} have version {done}, this release knows {}: run the newer release",
            client.location(),
            MIGRATIONS.len()
        );
        return Err(Error { fault: Fault::Config, retry: false, message });
    }
    for (number, step) in MIGRATIONS.iter().enumerate().skip(done) {
        for statement in step(major) {
            client.ask(&statement)?;
        }
        client.ask(&format!("INSERT INTO vedette_schema VALUES ({}, now())", number + 1))?;
    }
    Ok(())
}

/// A partition of a table: rows of one class and day, or span of days.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) table: String,
    pub(crate) class: Class,
    pub(crate) number: u32,
    pub(crate) bytes: u64,
}

/// All partitions.
pub(crate) fn partitions(client: &Client) -> Result<Vec<Part>, Error> {
    let answer = client.ask(
        "SELECT table, partition, sum(bytes_on_disk) FROM system.parts \
         WHERE active AND database = currentDatabase() GROUP BY table, partition \
         FORMAT TabSeparated",
    )?;
    let text = String::from_utf8_lossy(&answer).into_owned();
    Ok(text.lines().filter_map(partition).collect())
}

/// `history_float	(31,19675)	1234`; others are not ours.
fn partition(line: &str) -> Option<Part> {
    let mut columns = line.split('\t');
    let table = columns.next()?.to_owned();
    let (class, number) = columns.next()?.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    Some(Part {
        table,
        class: Class(class.trim().parse().ok()?),
        number: number.trim().parse().ok()?,
        bytes: columns.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_read_and_what_is_not_ours_is_passed_over() {
        let part = |number, bytes| Part {
            table: "history_float".to_owned(),
            class: Class(31),
            number,
            bytes,
        };
        for (line, expected) in [
            ("history_float\t(31,19675)\t12", Some(part(19675, 12))),
            ("history_float\t(31, 7)\t0", Some(part(7, 0))),
            ("vedette_schema\ttuple()\t4", None),
            ("other\t20231114\t4", None),
            ("", None),
        ] {
            assert_eq!(partition(line), expected, "{line}");
        }
        assert_eq!(VALUES[0].ends(&part(19675, 0)), Day(19676));
        assert_eq!(TRENDS[0].ends(&part(2, 0)), Day(93));
    }

    #[test]
    fn old_servers_get_no_codecs() {
        for table in tables() {
            let (old, new) = (table.create(18), table.create(26));
            assert!(!old.contains("CODEC") && !old.contains("SETTINGS"), "{old}");
            assert!(new.contains("CODEC(ZSTD(1))") && new.contains("fsync_after_insert"), "{new}");
            for column in table.columns().split(',') {
                assert!(old.contains(&format!("{column} ")), "{column}: {old}");
            }
        }
    }
}
