//! Tables, and how they came to be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::super::not_newer;
use super::client::{Client, Scan};
use super::rows::{CellSet, Cells};
use history::{Class, Day, Error};

/// Version of the tables: raise it with each change, and change those that are there.
const VERSION: i64 = 1;
/// Longest time to live: HBase counts it in seconds of 31 bits.
const ENDING_DAYS_MAX: u32 = i32::MAX.cast_unsigned() / 86_400;

/// A table: rows of one retention class, which end by themselves together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Table {
    pub(crate) trends: bool,
    pub(crate) class: Class,
}

impl Table {
    pub(crate) fn name(self, prefix: &str) -> String {
        format!("{prefix}_{}", self.key())
    }

    /// Its row in the table of states.
    fn key(self) -> String {
        format!("{}_{}d", if self.trends { "trends" } else { "history" }, self.class.0)
    }

    fn read(key: &str) -> Option<Self> {
        let (family, days) = key.strip_suffix('d')?.split_once('_')?;
        let trends = match family {
            "history" => false,
            "trends" => true,
            _ => return None,
        };
        Some(Self { trends, class: Class(days.parse().ok()?) })
    }
}

/// What has to be known of the tables before they are used.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) tables: BTreeSet<Table>,
    /// Before these days rows of a class are gone, though they may be on the disks yet.
    pub(crate) dropped: BTreeMap<Class, Day>,
    /// The youngest moment in the table of states, of it alone.
    pub(crate) moment: i64,
}

impl State {
    /// Before this day nothing of a class is shown.
    pub(crate) fn first_day(&self, class: Class) -> Day {
        self.dropped.get(&class).copied().unwrap_or(Day(0))
    }

    /// Reads a row of the state table; unknown rows are ignored.
    fn take(&mut self, key: &str, value: i64) {
        let dropped = || key.strip_prefix("dropped_")?.strip_suffix('d')?.parse().ok();
        if let Some(table) = Table::read(key) {
            self.tables.insert(table);
        } else if let Some(class) = dropped() {
            self.dropped.insert(Class(class), Day(u32::try_from(value).unwrap_or(0)));
        }
    }
}

/// The schema of a table as the gateway wants it. Its only family is `v`.
fn schema(name: &str, days: Option<Class>, compression: &str) -> String {
    let mut family = json!({
        "name": "v",
        "VERSIONS": "1",
        "COMPRESSION": compression,
        "DATA_BLOCK_ENCODING": "FAST_DIFF",
        "BLOOMFILTER": "ROW",
    });
    let mut table = json!({ "name": name });
    if let Some(Class(days)) = days {
        if u32::from(days) < ENDING_DAYS_MAX {
            family["TTL"] = ((u64::from(days) + 1) * 86_400).to_string().into();
        }
        // Files that have rows of one window of time: they end, and go, as a whole.
        table["hbase.hstore.engine.class"] =
            "org.apache.hadoop.hbase.regionserver.DateTieredStoreEngine".into();
        // As HBase's guide wants it with that: it keeps more files.
        table["hbase.hstore.blockingStoreFiles"] = "60".into();
    }
    table["ColumnSchema"] = json!([family]);
    table.to_string()
}

fn state_table(client: &Client) -> String {
    format!("{}_state", client.prefix)
}

/// Reads what is known of the tables; makes the table of states when it is missing.
pub(crate) fn prepare(client: &Client) -> Result<State, Error> {
    let name = state_table(client);
    if !client.has_table(&name)? {
        client.make_table(&name, &schema(&name, None, &client.compression))?;
        tracing::info!(table = name, "created HBase history tables");
    }
    let all = Scan { start: "", end: "", newest_first: false, filter: "", limit: None };
    let answer = client.scan(&name, &all)?;
    let (mut state, mut version) = (State::default(), 0);
    for row in CellSet::read(&answer)?.rows {
        let key = row.key()?;
        for cell in row.cells {
            let number = || std::str::from_utf8(&cell.value()?).ok()?.parse::<i64>().ok();
            state.moment = state.moment.max(cell.timestamp);
            match (key.as_str(), number()) {
                ("version", Some(found)) => version = found,
                (key, Some(value)) => state.take(key, value),
                (_, None) => {}
            }
        }
    }
    not_newer(client.server.location(), &version, &VERSION)?;
    if version < VERSION {
        let moment = state.moment.saturating_add(1);
        remember(client, "version", VERSION, moment)?;
        state.moment = moment;
    }
    Ok(state)
}

/// Writes a row of the table of states.
pub(crate) fn remember(client: &Client, key: &str, value: i64, moment: i64) -> Result<(), Error> {
    let mut cells = Cells::new(moment);
    cells.begin(key);
    cells.put("v", value.to_string().as_bytes());
    client.put(&state_table(client), cells.end())
}

/// The row that tells from which day on rows of a class are shown.
pub(crate) fn dropped(class: Class) -> String {
    format!("dropped_{}d", class.0)
}

/// Makes a table that is not in the state; `moment` is that of telling so.
pub(crate) fn make(client: &Client, table: Table, moment: i64) -> Result<(), Error> {
    let name = table.name(&client.prefix);
    // It may exist: the call that created it was interrupted.
    if !client.has_table(&name)? {
        client.make_table(&name, &schema(&name, Some(table.class), &client.compression))?;
    }
    remember(client, &table.key(), 1, moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_states_is_read() {
        let mut state = State::default();
        for (key, value) in [
            ("history_31d", 1),
            ("trends_372d", 1),
            ("dropped_31d", 20_000),
            ("dropped_3d", -1),
            ("cleared", 7),
            ("history_d", 1),
            ("other_3d", 1),
            ("history_70000d", 1),
        ] {
            state.take(key, value);
        }
        let table = |trends, days| Table { trends, class: Class(days) };
        let tables = [table(false, 31), table(true, 372)];
        assert!(state.tables.iter().eq(&tables), "{state:?}");
        assert_eq!([state.first_day(Class(31)), state.first_day(Class(3))], [Day(20_000), Day(0)]);
        for table in tables {
            assert_eq!(Table::read(&table.key()), Some(table));
        }
        assert_eq!(table(false, 31).name("ns:x"), "ns:x_history_31d");
    }

    #[test]
    fn rows_end_with_their_class() {
        for (days, ttl) in [(1, "172800"), (31, "2764800"), (24_000, "2073686400")] {
            let made: serde_json::Value =
                serde_json::from_str(&schema("x", Some(Class(days)), "GZ")).unwrap();
            assert_eq!(made["ColumnSchema"][0]["TTL"], ttl);
        }
        for forever in [schema("x", Some(Class(u16::MAX)), "GZ"), schema("x", None, "GZ")] {
            assert!(!forever.contains("TTL"), "{forever}");
        }
    }
}
