//! Tables, partitions and views, and how they came to be.

use std::collections::{BTreeMap, BTreeSet};

use super::client::Client;
use crate::not_newer;
use crate::sql::session::Schema;
use crate::sql::tables::{Part, Set, Table, start_of};
use history::{Class, Day, Error};

/// Version of everything here. A later one adds a step to `prepare` for what it finds.
const VERSION: i32 = 1;

/// How a table is split by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    /// Partitions, made by us as they are needed.
    Partitions,
    /// A hypertable of TimescaleDB, which makes its chunks itself.
    Chunks,
}

/// What is there. Of a hypertable the parts are its chunks.
#[derive(Debug, Default)]
pub(crate) struct Known {
    tables: BTreeMap<Table, Split>,
    parts: BTreeSet<Part>,
    timescale: bool,
}

fn look(client: &mut Client) -> Result<Known, Error> {
    let timescale = client.query("SELECT 1 FROM pg_extension WHERE extname = 'timescaledb'")?;
    let mut known = Known { timescale: !timescale.is_empty(), ..Known::default() };
    let found = client.query(
        "SELECT relname::text, relkind = 'p' FROM pg_class \
         WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('p', 'r')",
    )?;
    for row in found {
        let odd = |_| client.odd_answer("the names of the tables");
        let name: &str = row.try_get(0).map_err(odd)?;
        if let Some(table) = Table::parse(name) {
            let is_split = row.try_get(1).map_err(odd)?;
            let split = if is_split { Split::Partitions } else { Split::Chunks };
            known.tables.insert(table, split);
        } else if let Some(part) = Part::parse(name) {
            known.parts.insert(part);
        }
    }
    if known.timescale {
        known.parts.extend(chunks(client)?);
    }
    Ok(known)
}

fn chunks(client: &mut Client) -> Result<Vec<Part>, Error> {
    let found = client.query(
        "SELECT hypertable_name::text, range_start_integer FROM timescaledb_information.chunks \
         WHERE hypertable_schema = current_schema() AND range_start_integer IS NOT NULL",
    )?;
    let mut parts = Vec::new();
    for row in found {
        let odd = |_| client.odd_answer("the chunks of the tables");
        let (name, from): (&str, i64) =
            (row.try_get(0).map_err(odd)?, row.try_get(1).map_err(odd)?);
        parts.extend(Table::parse(name).map(|table| table.part_at(from)));
    }
    Ok(parts)
}

impl Schema<Client> for Known {
    fn prepare(client: &mut Client, location: &str) -> Result<Self, Error> {
        let encoding = client.query("SELECT current_setting('server_encoding')")?;
        if encoding.first().and_then(|row| row.try_get(0).ok()) != Some("UTF8") {
            return Err(Error::config(format!(
                "the database {location} is not encoded in UTF8: create one that is"
            )));
        }
        client.run(
            "CREATE TABLE IF NOT EXISTS vedette_schema \
             (version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())",
        )?;
        let done = client.query("SELECT coalesce(max(version), 0) FROM vedette_schema")?;
        let done: i32 = done
            .first()
            .and_then(|row| row.try_get(0).ok())
            .ok_or_else(|| client.odd_answer("the version of the tables"))?;
        not_newer(location, &done, &VERSION)?;
        let known = look(client)?;
        if done < VERSION {
            client.transaction(|client| {
                for set in Set::ALL {
                    client.run(&view(set, &known))?;
                }
                client.run(&format!(
                    "INSERT INTO vedette_schema (version) VALUES ({VERSION}) ON CONFLICT DO NOTHING"
                ))
            })?;
        }
        Ok(known)
    }

    fn tables(&self) -> Vec<Table> {
        self.tables.keys().copied().collect()
    }

    fn place(&mut self, client: &mut Client, part: &Part, today: Day) -> Result<(), Error> {
        let table = part.table;
        let split = match self.tables.get(&table) {
            Some(&split) => split,
            None => self.make(client, table)?,
        };
        if self.parts.contains(part) {
            return Ok(());
        }
        part.fits(self.parts.iter().copied(), today)?;
        if split == Split::Partitions {
            // Attaching lets readers of the table go on, unlike making it as a partition. It wants
            // the constraints that people gave the table.
            let (name, table) = (part.name(), table.name());
            client.run(&format!(
                "CREATE TABLE {name} (LIKE {table} INCLUDING INDEXES INCLUDING CONSTRAINTS); \
                 ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({}) TO ({})",
                part.from(),
                part.till()
            ))?;
        }
        self.parts.insert(*part);
        Ok(())
    }

    fn drop_before(&mut self, client: &mut Client, class: Class, day: Day) -> Result<u64, Error> {
        let border = start_of(day);
        let mut bytes = 0;
        let of_class = self.tables.iter().filter(|(table, _)| table.class == class);
        for (table, split) in of_class {
            let is_old = |part: &Part| part.table == *table && part.till() <= border;
            if *split == Split::Chunks {
                bytes += drop_chunks(client, &table.name(), border)?;
                self.parts.retain(|part| !is_old(part));
                continue;
            }
            let old: Vec<Part> = self.parts.iter().copied().filter(is_old).collect();
            for part in old {
                let name = part.name();
                bytes += size(client, &format!("SELECT pg_total_relation_size('{name}')"))?;
                client.run(&format!("DROP TABLE IF EXISTS {name}"))?;
                self.parts.remove(&part);
            }
        }
        Ok(bytes)
    }
}

impl Known {
    /// Where rows of a partition are written to.
    pub(crate) fn target(&self, part: &Part) -> String {
        match self.tables.get(&part.table) {
            Some(Split::Chunks) => part.table.name(),
            _ => part.name(),
        }
    }

    fn make(&mut self, client: &mut Client, table: Table) -> Result<Split, Error> {
        let split = if self.timescale { Split::Chunks } else { Split::Partitions };
        let mut tables = self.tables.clone();
        tables.insert(table, split);
        let known = Self { tables, ..Self::default() };
        client.transaction(|client| {
            client.run(&create(table, split))?;
            client.run(&view(table.set, &known))
        })?;
        self.tables = known.tables;
        Ok(split)
    }
}

fn drop_chunks(client: &mut Client, table: &str, border: i64) -> Result<u64, Error> {
    let sql = format!("SELECT hypertable_size('{table}')");
    let before = size(client, &sql)?;
    client.query(&format!("SELECT drop_chunks('{table}', older_than => {border}::bigint)"))?;
    Ok(before.saturating_sub(size(client, &sql)?))
}

fn size(client: &mut Client, sql: &str) -> Result<u64, Error> {
    let found = client.query(sql)?;
    let bytes: Option<i64> = found.first().and_then(|row| row.try_get(0).ok());
    Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0))
}

/// The statements that make a table.
fn create(table: Table, split: Split) -> String {
    let columns = match table.set {
        Set::Float => "value double precision NOT NULL",
        Set::Unsigned => "value bigint NOT NULL",
        Set::Text => "value text NOT NULL, raw bytea",
        Set::Log => {
            "value text NOT NULL, raw bytea, logtime bigint NOT NULL, source text NOT NULL, \
             severity bigint NOT NULL, eventid bigint NOT NULL"
        }
        Set::FloatTrends => {
            "num bigint NOT NULL, min double precision NOT NULL, avg double precision NOT NULL, \
             max double precision NOT NULL"
        }
        Set::UnsignedTrends => {
            "num bigint NOT NULL, min bigint NOT NULL, avg bigint NOT NULL, max bigint NOT NULL"
        }
    };
    let name = table.name();
    let create = format!(
        "CREATE TABLE IF NOT EXISTS {name} (itemid bigint NOT NULL, moment bigint NOT NULL, \
         {columns}, PRIMARY KEY (itemid, moment))"
    );
    match split {
        Split::Partitions => format!("{create} PARTITION BY RANGE (moment)"),
        Split::Chunks => format!(
            "{create}; SELECT create_hypertable('{name}', 'moment', chunk_time_interval => \
             {}::bigint, create_default_indexes => false, if_not_exists => true)",
            table.width_ns()
        ),
    }
}

/// The view over all classes of a set, with real times and unsigned numbers.
fn view(set: Set, known: &Known) -> String {
    let whole = |column: &str| {
        format!(
            "CASE WHEN {column} < 0 THEN {column}::numeric + 18446744073709551616 \
             ELSE {column}::numeric END AS {column}"
        )
    };
    let columns = match set {
        Set::Float => "value".to_owned(),
        Set::Unsigned => whole("value"),
        Set::Text => "value".to_owned(),
        Set::Log => "value, to_timestamp(logtime) AS logtime, source, severity, eventid".to_owned(),
        Set::FloatTrends => "num, min, avg, max".to_owned(),
        Set::UnsignedTrends => {
            format!("num, {}, {}, {}", whole("min"), whole("avg"), whole("max"))
        }
    };
    let typed = match set {
        Set::Float => "0::double precision AS value",
        Set::Unsigned => "0::bigint AS value",
        Set::Text => "''::text AS value",
        Set::Log => {
            "''::text AS value, 0::bigint AS logtime, ''::text AS source, 0::bigint AS severity, \
             0::bigint AS eventid"
        }
        Set::FloatTrends => {
            "0::bigint AS num, 0::double precision AS min, 0::double precision AS avg, \
             0::double precision AS max"
        }
        Set::UnsignedTrends => {
            "0::bigint AS num, 0::bigint AS min, 0::bigint AS avg, 0::bigint AS max"
        }
    };
    // No class yet, or one: the columns have the same types.
    let nothing = format!("(SELECT 0::bigint AS itemid, 0::bigint AS moment, {typed} LIMIT 0)");
    let tables = known.tables.keys().filter(|table| table.set == set).map(Table::name);
    let selects: Vec<String> = std::iter::once(format!("{nothing} AS nothing"))
        .chain(tables)
        .map(|from| {
            format!(
                "SELECT to_timestamp(moment::double precision / 1e9) AS time, itemid, {columns}, \
                 moment FROM {from}"
            )
        })
        .collect();
    format!("CREATE OR REPLACE VIEW {} AS {}", set.name(), selects.join(" UNION ALL "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_all_columns_that_are_written() {
        for set in Set::ALL {
            let table = Table { set, class: Class(93) };
            let plain = create(table, Split::Partitions);
            for column in super::super::rows::columns(set) {
                assert!(plain.contains(&format!(" {column} ")), "{column}: {plain}");
            }
            assert!(plain.ends_with("PARTITION BY RANGE (moment)"));
            let chunks = create(table, Split::Chunks);
            assert!(chunks.contains("chunk_time_interval => 259200000000000::bigint"), "{chunks}");
        }
    }

    #[test]
    fn views_are_over_all_classes() {
        let mut known = Known::default();
        assert!(!view(Set::Float, &known).contains("UNION"));
        for class in [3, 31] {
            let table = Table { set: Set::Float, class: Class(class) };
            known.tables.insert(table, Split::Partitions);
        }
        let sql = view(Set::Float, &known);
        assert!(sql.contains("FROM history_float_3 ") && sql.ends_with("FROM history_float_31"));
        assert!(!view(Set::Text, &known).contains("UNION"));
    }
}
