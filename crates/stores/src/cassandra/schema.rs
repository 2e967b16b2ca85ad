//! Keyspace and tables, and how they came to be.

use std::collections::BTreeMap;

use scylla::statement::prepared::PreparedStatement;
use scylla::value::CqlValue;

use super::super::{not_newer, place};
use super::address::Address;
use super::link::Link;
use super::rows;
use history::{Class, Day, Error, Kind};

/// Longer than these days rows get no end of their own: nodes before the storage format of 5.0
/// refuse ends after January 2038.
const ENDING_DAYS_MAX: u16 = 3_650;
/// A keyspace that we make has so many replicas in each data centre if all have as many nodes.
const REPLICAS: usize = 3;
/// Time for which a node may be down without missing deletions: three days.
const GRACE_S: u32 = 3 * 86_400;

/// Names and types of columns.
type Columns = &'static [(&'static str, &'static str)];

/// Tables are one a kind and retention class, so that whatever lies in one file ends on the same
/// day and goes with it. Of trends the mean names the table.
const TABLES: [(Kind, &str, Columns); 6] = [
    (Kind::Float, "history_float", &[("value", "double")]),
    (Kind::Unsigned, "history_uint", &[("value", "varint")]),
    (Kind::Text, "history_text", &[("value", "text")]),
    (
        Kind::Log,
        "history_log",
        &[
            ("value", "text"),
            ("timestamp", "bigint"),
            ("source", "text"),
            ("severity", "bigint"),
            ("eventid", "bigint"),
        ],
    ),
    (
        Kind::FloatAvg,
        "trends_float",
        &[("num", "bigint"), ("min", "double"), ("avg", "double"), ("max", "double")],
    ),
    (
        Kind::UnsignedAvg,
        "trends_uint",
        &[("num", "bigint"), ("min", "varint"), ("avg", "varint"), ("max", "varint")],
    ),
];

/// The name of a table, such as `history_uint_31d`.
fn name(kind: Kind, class: Class) -> String {
    let found = TABLES.iter().find(|(of, ..)| *of == kind);
    let (_, base, _) = found.expect("BUG: only values and means of trends have tables");
    format!("{base}_{}d", class.0)
}

/// The class of a table of ours.
fn class_of(table: &str) -> Option<Class> {
    let (base, days) = table.strip_suffix('d')?.rsplit_once('_')?;
    TABLES.iter().find(|(_, name, _)| *name == base)?;
    days.parse().ok().map(Class)
}

/// Seconds for which rows of a class are kept after they were written; 0 = for ever.
fn lifetime_s(class: Class, more_days: u32) -> u32 {
    if class.0 > ENDING_DAYS_MAX { 0 } else { (u32::from(class.0) + more_days) * 86_400 }
}

/// The end of a place in the list of days: never before its last row, which comes at the end of its days.
pub(crate) fn listed_s(class: Class, trends: bool) -> i32 {
    i32::try_from(lifetime_s(class, place::days(trends) + 2)).unwrap_or(0)
}

/// The statement that makes a table. Nodes before 4 do not know the better compression.
fn create(keyspace: &str, kind: Kind, class: Class, major: u32) -> String {
    let columns = TABLES.iter().filter(|(of, ..)| *of == kind).flat_map(|(.., columns)| *columns);
    let columns: String = columns.map(|(name, cql)| format!("{name} {cql}, ")).collect();
    let (ns, key) = if kind.is_trend() { ("", "clock") } else { ("ns int, ", "clock, ns") };
    let window = (class.0 / 30).max(1);
    let compression = if major < 4 { "" } else { " AND compression = {'class': 'ZstdCompressor'}" };
    format!(
        "CREATE TABLE IF NOT EXISTS {keyspace}.{} (itemid bigint, day int, clock bigint, {ns}\
         {columns}PRIMARY KEY ((itemid, day), {key})) WITH compaction = \
         {{'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', \
         'compaction_window_size': {window}}} AND default_time_to_live = {} \
         AND gc_grace_seconds = {GRACE_S}{compression}",
        name(kind, class),
        lifetime_s(class, 1),
    )
}

/// Prepared statements of a table.
pub(crate) struct Statements {
    pub(crate) insert: PreparedStatement,
    pub(crate) oldest: PreparedStatement,
    pub(crate) newest: PreparedStatement,
    /// When a partition was written to last.
    pub(crate) written: PreparedStatement,
    pub(crate) delete: PreparedStatement,
}

impl Statements {
    /// Makes the table if it is missing.
    pub(crate) async fn of(
        link: &Link,
        keyspace: &str,
        (kind, class): (Kind, Class),
        major: u32,
    ) -> Result<Self, Error> {
        link.ask(&create(keyspace, kind, class, major)).await?;
        let table = format!("{keyspace}.{}", name(kind, class));
        let columns = rows::columns(kind);
        let number = columns.split(',').count() + 2;
        let marks = vec!["?"; number].join(", ");
        let select = format!(
            "SELECT {columns} FROM {table} \
             WHERE itemid = ? AND day = ? AND clock >= ? AND clock <= ?"
        );
        let down = if kind.is_trend() { "clock DESC" } else { "clock DESC, ns DESC" };
        let insert = format!("INSERT INTO {table} (itemid, day, {columns}) VALUES ({marks})");
        let any = if kind.is_trend() { "num" } else { "value" };
        let written =
            format!("SELECT max(writetime({any})) FROM {table} WHERE itemid = ? AND day = ?");
        let delete = format!("DELETE FROM {table} WHERE itemid = ? AND day = ?");
        Ok(Self {
            insert: link.prepare(insert).await?,
            oldest: link.prepare(format!("{select} LIMIT ?")).await?,
            newest: link.prepare(format!("{select} ORDER BY {down} LIMIT ?")).await?,
            written: link.prepare(written).await?,
            delete: link.prepare(delete).await?,
        })
    }
}

/// Steps from one version of the tables to the next, the oldest first. What a step once did it
/// does for ever: change tables by a new one.
const MIGRATIONS: [fn(&str) -> Vec<String>; 1] = [|keyspace| {
    vec![format!(
        "CREATE TABLE IF NOT EXISTS {keyspace}.history_days (itemid bigint, keep int, kind int, \
         day int, PRIMARY KEY (itemid, keep, kind, day)) WITH gc_grace_seconds = {GRACE_S}"
    )]
}];

/// What has to be known of a keyspace before it is used.
pub(crate) struct State {
    /// Release of the nodes.
    pub(crate) major: u32,
    /// Nothing that was deleted is younger, microseconds since 1970.
    pub(crate) cleared: i64,
    /// Before these days rows of a class are gone, though they may be on the disks yet.
    pub(crate) dropped: BTreeMap<Class, Day>,
}

/// Makes the keyspace and its common tables, or brings those that are there up to date.
pub(crate) async fn prepare(link: &Link, address: &Address) -> Result<State, Error> {
    let keyspace = &address.keyspace;
    make_keyspace(link, address).await?;
    link.ask(&format!(
        "CREATE TABLE IF NOT EXISTS {keyspace}.vedette_state (name text PRIMARY KEY, value bigint)"
    ))
    .await?;
    let state: BTreeMap<String, i64> = link
        .ask(&format!("SELECT name, value FROM {keyspace}.vedette_state"))
        .await?
        .into_iter()
        .filter_map(|row| match <[_; 2]>::try_from(row.columns).ok()? {
            [Some(CqlValue::Text(name)), Some(CqlValue::BigInt(value))] => Some((name, value)),
            _ => None,
        })
        .collect();
    let number = |name: &str| state.get(name).copied().unwrap_or(0);
    let done = usize::try_from(number("version")).unwrap_or(usize::MAX);
    not_newer(link.location(), &done, &MIGRATIONS.len())?;
    for (number, step) in MIGRATIONS.iter().enumerate().skip(done) {
        for statement in step(keyspace) {
            link.ask(&statement).await?;
        }
        link.ask(&format!(
            "INSERT INTO {keyspace}.vedette_state (name, value) VALUES ('version', {})",
            number + 1
        ))
        .await?;
    }
    let version = link.ask("SELECT release_version FROM system.local").await?;
    let version = version.first().and_then(|row| row.columns.first()?.as_ref()?.as_text());
    let major = version.and_then(|version| version.split('.').next()?.parse().ok()).unwrap_or(0);
    let dropped = |(name, value): (&String, &i64)| {
        let class = name.strip_prefix("dropped_")?.strip_suffix('d')?.parse().ok()?;
        Some((Class(class), Day(u32::try_from(*value).ok()?)))
    };
    let dropped = state.iter().filter_map(dropped).collect();
    Ok(State { major, cleared: number("cleared"), dropped })
}

async fn make_keyspace(link: &Link, address: &Address) -> Result<(), Error> {
    let keyspace = &address.keyspace;
    let found = link
        .ask(&format!(
            "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = '{keyspace}'"
        ))
        .await?;
    if !found.is_empty() {
        return Ok(());
    }
    let nodes = link.centres().into_values().min().unwrap_or(1);
    let replicas = address.replication.map_or(nodes.min(REPLICAS), usize::from);
    let made = format!(
        "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = \
         {{'class': 'NetworkTopologyStrategy', 'replication_factor': {replicas}}}"
    );
    link.ask(&made).await?;
    tracing::info!(keyspace, replicas, "created a Cassandra keyspace for history");
    Ok(())
}

/// The classes that have tables.
pub(crate) async fn classes(link: &Link, keyspace: &str) -> Result<Vec<Class>, Error> {
    let tables = link
        .ask(&format!(
            "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{keyspace}'"
        ))
        .await?;
    let name = |row: &scylla::value::Row| class_of(row.columns.first()?.as_ref()?.as_text()?);
    let mut classes: Vec<Class> = tables.iter().filter_map(name).collect();
    classes.sort_unstable();
    classes.dedup();
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_by_kind_and_class() {
        for (kind, ..) in TABLES {
            assert_eq!(class_of(&name(kind, Class(31))), Some(Class(31)));
            for column in rows::columns(kind).split(", ") {
                let made = create("k", kind, Class(31), 5);
                assert!(made.contains(&format!("{column} ")), "{column}: {made}");
            }
        }
        for other in ["vedette_state", "history_days", "history_uint", "history_uint_d", "x_31d"] {
            assert_eq!(class_of(other), None, "{other}");
        }
    }

    #[test]
    fn rows_end_with_their_class() {
        for (days, seconds, window) in
            [(1, 2 * 86_400, 1), (31, 32 * 86_400, 1), (372, 373 * 86_400, 12)]
        {
            let made = create("k", Kind::Float, Class(days), 3);
            assert!(made.contains(&format!("default_time_to_live = {seconds} ")), "{made}");
            assert!(made.contains(&format!("'compaction_window_size': {window}}}")), "{made}");
            assert!(!made.contains("Zstd"), "{made}");
        }
        assert_eq!((lifetime_s(Class(9300), 1), listed_s(Class(9300), true)), (0, 0));
        assert_eq!(listed_s(Class(1), false), 4 * 86_400);
        // Listed with its first hour, and its last comes 31 days later.
        assert_eq!(listed_s(Class(31), true), 64 * 86_400);
    }
}
