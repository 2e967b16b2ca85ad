//! Tables, and how they came to be.

use super::super::{not_newer, place};
use super::http::Client;
use super::odd_answer;
use history::{Class, Day, Error};

/// The first release that can be told with a statement to drop partitions of any size.
const DROPS_ANY_SIZE: u32 = 24;
/// What the names of a server's own tables end with, in a cluster.
const LOCAL: &str = "_local";

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

/// Tables of values in the order of [`history::Kind::VALUES`].
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
        let days = place::days(self.trends);
        Day(part.number.saturating_add(1).saturating_mul(days))
    }

    /// The table that holds the rows of a server; in a cluster the name is that of all together.
    pub(crate) fn local(&self, cluster: bool) -> String {
        let local = if cluster { LOCAL } else { "" };
        format!("{}{local}", self.name)
    }

    /// The statements that make it. Servers before 20 know neither codecs nor syncing.
    fn create(&self, place: &Place) -> Vec<String> {
        let mut statements = vec![self.create_local(place)];
        if let Some(cluster) = &place.cluster {
            let (name, database) = (self.name, &place.database);
            // By item, so that the rows of one key meet on one server.
            statements.push(format!(
                "CREATE TABLE IF NOT EXISTS {name} AS `{database}`.{name}{LOCAL} \
                 ENGINE = Distributed(`{cluster}`, `{database}`, {name}{LOCAL}, itemid)"
            ));
        }
        statements
    }

    fn create_local(&self, place: &Place) -> String {
        let major = place.major;
        let codec = |codec: &'static str| if major < 20 { "" } else { codec };
        let days = place::days(self.trends);
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
            self.local(place.cluster.is_some()),
            codec("CODEC(Delta,ZSTD(1))"),
            codec("CODEC(DoubleDelta,ZSTD(1))"),
            codec("CODEC(ZSTD(1))"),
            days * 86_400,
        )
    }
}

/// Where tables are made.
struct Place {
    /// Release of the server.
    major: u32,
    database: String,
    cluster: Option<String>,
}

/// Steps from one version of the tables to the next, the oldest first. What a step once did it
/// does for ever: change tables by a new one.
const MIGRATIONS: [fn(&Place) -> Vec<String>; 1] =
    [|place| tables().flat_map(|table| table.create(place)).collect()];

/// Makes the database and its tables, or brings those that are there up to date.
pub(crate) fn prepare(client: &Client) -> Result<(), Error> {
    let versions: Vec<_> = client.servers().map(|server| version(client, server)).collect();
    let newest = versions.iter().flatten().copied().max().unwrap_or(0);
    not_newer(client.location(), &newest, &MIGRATIONS.len())?;
    // A server says so only when all have the tables: others may be away now.
    if newest == MIGRATIONS.len() {
        return Ok(());
    }
    let versions = versions.into_iter().collect::<Result<Vec<usize>, Error>>()?;
    for (number, step) in MIGRATIONS.iter().enumerate() {
        let older = || client.servers().filter(|&server| versions[server] <= number);
        for server in older() {
            for statement in step(&place(client, server)?) {
                client.ask_at(server, &statement)?;
            }
        }
        for server in older() {
            let sql = format!("INSERT INTO vedette_schema VALUES ({}, now())", number + 1);
            client.ask_at(server, &sql)?;
        }
    }
    Ok(())
}

/// The version of a server's tables; 0 = there are none.
fn version(client: &Client, server: usize) -> Result<usize, Error> {
    // First of all: whatever names a database that is missing is refused.
    client.make_database(server)?;
    client.ask_at(
        server,
        "CREATE TABLE IF NOT EXISTS vedette_schema (version UInt32, applied DateTime) \
         ENGINE = MergeTree() ORDER BY version",
    )?;
    let done = client.ask_at(server, "SELECT toUInt32(max(version)) FROM vedette_schema")?;
    let done = String::from_utf8_lossy(&done).trim().parse();
    done.map_err(|_| odd_answer("the version of the tables"))
}

fn place(client: &Client, server: usize) -> Result<Place, Error> {
    let (database, cluster) = (client.address.database.clone(), client.address.cluster.clone());
    Ok(Place { major: client.release(server)?, database, cluster })
}

/// A partition of a table: rows of one class and day, or span of days.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) table: String,
    pub(crate) class: Class,
    pub(crate) number: u32,
    pub(crate) bytes: u64,
}

/// All partitions of a server.
pub(crate) fn partitions(client: &Client, server: usize) -> Result<Vec<Part>, Error> {
    let answer = client.ask_at(
        server,
        "SELECT table, partition, sum(bytes_on_disk) FROM system.parts \
         WHERE active AND database = currentDatabase() GROUP BY table, partition \
         FORMAT TabSeparated",
    )?;
    let text = String::from_utf8_lossy(&answer).into_owned();
    let cluster = client.address.cluster.is_some();
    Ok(text.lines().filter_map(|line| partition(line, cluster)).collect())
}

/// Drops a partition; gives its bytes.
pub(crate) fn drop_partition(
    client: &Client,
    server: usize,
    table: &Table,
    part: &Part,
) -> Result<u64, Error> {
    let table = table.local(client.address.cluster.is_some());
    // What is above the server's limit (50 GB) was not made by mistake.
    let any_size = if client.release(server)? < DROPS_ANY_SIZE {
        ""
    } else {
        " SETTINGS max_partition_size_to_drop = 0"
    };
    let (class, number) = (part.class.0, part.number);
    let sql = format!("ALTER TABLE {table} DROP PARTITION ({class},{number}){any_size}");
    client.ask_at(server, &sql).map(|_| part.bytes)
}

/// Name, partition as `(31,19675)`, bytes, with tabs between; others are not ours.
fn partition(line: &str, cluster: bool) -> Option<Part> {
    let mut columns = line.split('\t');
    let table = columns.next()?;
    let table = if cluster { table.strip_suffix(LOCAL)? } else { table }.to_owned();
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
            assert_eq!(partition(line, false), expected, "{line}");
        }
        assert_eq!(partition("history_float_local\t(31,5)\t1", true), Some(part(5, 1)));
        assert_eq!(partition("history_float\t(31,5)\t1", true), None);
        assert_eq!(VALUES[0].ends(&part(19675, 0)), Day(19676));
        assert_eq!(TRENDS[0].ends(&part(2, 0)), Day(93));
        assert_eq!(VALUES[0].ends(&part(u32::MAX, 0)), Day(u32::MAX));
    }

    #[test]
    fn old_servers_get_no_codecs() {
        for table in tables() {
            let at = |major, cluster: Option<&str>| Place {
                major,
                database: "db".to_owned(),
                cluster: cluster.map(str::to_owned),
            };
            let old = table.create(&at(18, None)).join(";");
            let new = table.create(&at(26, None)).join(";");
            let cluster = table.create(&at(18, Some("two")));
            assert!(cluster[0].contains("_local (") && cluster[1].contains("(`two`, `db`, "));
            assert!(!old.contains("CODEC") && !old.contains("SETTINGS"), "{old}");
            assert!(new.contains("CODEC(ZSTD(1))") && new.contains("fsync_after_insert"), "{new}");
            for column in table.columns().split(',') {
                assert!(old.contains(&format!("{column} ")), "{column}: {old}");
            }
        }
    }
}
