//! Tables, partitions and views, and how they came to be.
//!
//! Range partitions of MySQL meet: there is none for a day alone, only one for all below a bound.
//! So a table is cut at the start and the end of each day that has rows, and what lies between
//! such days are *gaps*: partitions without rows, since a row of a gap would have had it cut
//! first. Only gaps are ever cut, which costs next to nothing.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::client::Client;
use crate::not_newer;
use crate::sql::session::Schema;
use crate::sql::tables::{Part, Set, Table, start_of};
use history::{Class, Day, Error};

/// Version of everything here. A later one adds a step to `prepare` for what it finds.
const VERSION: i64 = 1;

/// Bounds of the partitions of each table. Beyond the last there is one more, `pmax`.
#[derive(Debug, Default)]
pub(crate) struct Known {
    tables: BTreeMap<Table, BTreeSet<i64>>,
}

fn look(client: &mut Client) -> Result<Known, Error> {
    let mut known = Known::default();
    let found = client.query(
        "SELECT TABLE_NAME, PARTITION_DESCRIPTION FROM information_schema.PARTITIONS \
         WHERE TABLE_SCHEMA = DATABASE() AND PARTITION_NAME IS NOT NULL",
        (),
    )?;
    for row in found {
        let read = mysql::from_row_opt::<(String, String)>(row);
        let (name, bound) = read.map_err(|_| client.odd_answer("its partitions"))?;
        if let Some(table) = Table::parse(&name) {
            let bounds = known.tables.entry(table).or_default();
            // The last one has no bound.
            bounds.extend(bound.parse::<i64>());
        }
    }
    Ok(known)
}

impl Schema<Client> for Known {
    fn prepare(client: &mut Client, location: &str) -> Result<Self, Error> {
        client.run(
            "CREATE TABLE IF NOT EXISTS vedette_schema (version BIGINT NOT NULL PRIMARY KEY, \
             applied TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB",
        )?;
        let sql = "SELECT CAST(COALESCE(MAX(version), 0) AS SIGNED) FROM vedette_schema";
        let done: i64 = client.ask_one(sql, ())?;
        not_newer(location, &done, &VERSION)?;
        let known = look(client)?;
        if done < VERSION {
            for set in Set::ALL {
                client.run(&view(set, &known))?;
            }
            client.run(&format!("REPLACE INTO vedette_schema (version) VALUES ({VERSION})"))?;
        }
        Ok(known)
    }

    fn tables(&self) -> Vec<Table> {
        self.tables.keys().copied().collect()
    }

    fn place(&mut self, client: &mut Client, part: &Part, today: Day) -> Result<(), Error> {
        let table = part.table;
        if let Entry::Vacant(vacant) = self.tables.entry(table) {
            client.run(&create(table))?;
            vacant.insert(BTreeSet::new());
            client.run(&view(table.set, self))?;
        }
        let bounds = self.tables.entry(table).or_default();
        let Some(cut) = cut(bounds, part) else { return Ok(()) };
        // A bound that two partitions share is one of many; of a lone one both bounds count.
        part.fits(bounds.iter().map(|&bound| table.part_at(bound)), today)?;
        client.run(&cut.sql(&table))?;
        bounds.extend([part.from(), part.till()]);
        Ok(())
    }

    fn drop_before(&mut self, client: &mut Client, class: Class, day: Day) -> Result<u64, Error> {
        let border = start_of(day);
        let mut bytes = 0;
        for (table, bounds) in self.tables.iter_mut().filter(|(table, _)| table.class == class) {
            let old: Vec<i64> = bounds.range(..=border).copied().collect();
            // The lowest is a gap. The last of the others becomes that: it stays, without rows.
            let [dropped @ .., last] = old.as_slice() else { continue };
            if dropped.is_empty() {
                continue;
            }
            bytes += size(client, table, *last)?;
            let names: Vec<String> = dropped.iter().map(|&bound| part_name(bound)).collect();
            let table = table.name();
            client.run(&format!("ALTER TABLE {table} TRUNCATE PARTITION {}", part_name(*last)))?;
            client.run(&format!("ALTER TABLE {table} DROP PARTITION {}", names.join(", ")))?;
            bounds.retain(|bound| !dropped.contains(bound));
        }
        Ok(bytes)
    }
}

/// Bytes of the partitions up to a bound, as of when the server last counted them.
fn size(client: &mut Client, table: &Table, bound: i64) -> Result<u64, Error> {
    client.ask_one(
        "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS UNSIGNED) \
         FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? \
         AND PARTITION_DESCRIPTION <> 'MAXVALUE' \
         AND CAST(PARTITION_DESCRIPTION AS SIGNED) <= ?",
        (table.name(), bound),
    )
}

/// Named by the bound, so that no two partitions of a table have the same name.
fn part_name(bound: i64) -> String {
    format!("p{bound}")
}

/// A gap and how it is split.
#[derive(Debug, PartialEq, Eq)]
struct Cut {
    /// Its bound; `None` = it is the last partition.
    gap: Option<i64>,
    /// Bounds of the partitions that replace it, but for the gap's own.
    at: Vec<i64>,
}

/// How to split a table for a partition; `None` = it exists.
fn cut(bounds: &BTreeSet<i64>, part: &Part) -> Option<Cut> {
    let (from, till) = (part.from(), part.till());
    let at: Vec<i64> = [from, till].into_iter().filter(|moment| !bounds.contains(moment)).collect();
    let gap = bounds.range(from + 1..).next().copied();
    (!at.is_empty()).then_some(Cut { gap, at })
}

impl Cut {
    fn sql(&self, table: &Table) -> String {
        let less =
            |bound: &i64| format!("PARTITION {} VALUES LESS THAN ({bound})", part_name(*bound));
        let mut pieces: Vec<String> = self.at.iter().map(less).collect();
        let gap = match self.gap {
            Some(bound) => {
                pieces.push(less(&bound));
                part_name(bound)
            }
            None => {
                pieces.push("PARTITION pmax VALUES LESS THAN MAXVALUE".to_owned());
                "pmax".to_owned()
            }
        };
        let pieces = pieces.join(", ");
        format!("ALTER TABLE {} REORGANIZE PARTITION {gap} INTO ({pieces})", table.name())
    }
}

/// The statement that makes a table.
fn create(table: Table) -> String {
    let columns = match table.set {
        Set::Float => "value DOUBLE NULL, bits BIGINT UNSIGNED NULL",
        Set::Unsigned => "value BIGINT UNSIGNED NOT NULL",
        Set::Text => "value LONGTEXT NOT NULL",
        Set::Log => {
            "value LONGTEXT NOT NULL, logtime INT UNSIGNED NOT NULL, source TEXT NOT NULL, \
             severity INT UNSIGNED NOT NULL, eventid INT UNSIGNED NOT NULL"
        }
        Set::FloatTrends => {
            "num INT UNSIGNED NOT NULL, min DOUBLE NULL, avg DOUBLE NULL, max DOUBLE NULL, \
             bits VARBINARY(24) NULL"
        }
        Set::UnsignedTrends => {
            "num INT UNSIGNED NOT NULL, min BIGINT UNSIGNED NOT NULL, \
             avg BIGINT UNSIGNED NOT NULL, max BIGINT UNSIGNED NOT NULL"
        }
    };
    format!(
        "CREATE TABLE IF NOT EXISTS {} (itemid BIGINT UNSIGNED NOT NULL, moment BIGINT NOT NULL, \
         {columns}, PRIMARY KEY (itemid, moment)) ENGINE = InnoDB CHARACTER SET utf8mb4 \
         COLLATE utf8mb4_bin PARTITION BY RANGE (moment) \
         (PARTITION pmax VALUES LESS THAN MAXVALUE)",
        table.name()
    )
}

/// The view over all classes of a set, with times in UTC.
fn view(set: Set, known: &Known) -> String {
    let columns = match set {
        Set::Float | Set::Unsigned | Set::Text => "value",
        Set::Log => {
            "value, TIMESTAMP '1970-01-01 00:00:00' + INTERVAL logtime SECOND AS logtime, source, \
             severity, eventid"
        }
        Set::FloatTrends | Set::UnsignedTrends => "num, min, avg, max",
    };
    let select = |from: String| {
        format!(
            "SELECT TIMESTAMP '1970-01-01 00:00:00' + INTERVAL moment DIV 1000 MICROSECOND \
             AS time, itemid, {columns}, moment FROM {from}"
        )
    };
    let tables = known.tables.keys().filter(|table| table.set == set).map(Table::name);
    let mut selects: Vec<String> = tables.map(select).collect();
    if selects.is_empty() {
        let names =
            columns.replace("TIMESTAMP '1970-01-01 00:00:00' + INTERVAL logtime SECOND AS ", "");
        let nulls: Vec<String> = names.split(", ").map(|name| format!("NULL AS {name}")).collect();
        selects.push(format!(
            "SELECT NULL AS time, NULL AS itemid, {}, NULL AS moment FROM DUAL WHERE 1 = 0",
            nulls.join(", ")
        ));
    }
    format!("CREATE OR REPLACE VIEW {} AS {}", set.name(), selects.join(" UNION ALL "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table { set: Set::Float, class: Class(31) };

    fn part(number: u32) -> Part {
        Part { table: TABLE, number }
    }

    fn bounds(days: &[u32]) -> BTreeSet<i64> {
        days.iter().map(|&day| part(day).from()).collect()
    }

    #[test]
    fn only_gaps_are_cut() {
        for (days, wanted, gap, at) in [
            (&[][..], 100, None, &[100, 101][..]),
            (&[100, 101], 101, None, &[102]),
            (&[100, 101], 99, Some(100), &[99]),
            (&[100, 101], 105, None, &[105, 106]),
            (&[100, 101], 90, Some(100), &[90, 91]),
            (&[100, 101, 105, 106], 103, Some(105), &[103, 104]),
            (&[100, 101, 105, 106], 104, Some(105), &[104]),
            (&[100, 101, 105, 106], 101, Some(105), &[102]),
        ] {
            let expected = Cut {
                gap: gap.map(|day| part(day).from()),
                at: at.iter().map(|&day| part(day).from()).collect(),
            };
            assert_eq!(cut(&bounds(days), &part(wanted)), Some(expected), "{days:?} {wanted}");
        }
        for there in [100, 105] {
            assert_eq!(cut(&bounds(&[100, 101, 105, 106]), &part(there)), None, "{there}");
        }
    }

    #[test]
    fn a_gap_between_two_days_is_not_taken_for_a_day() {
        // Days 100 and 102 are there: what lies between has both bounds, and is just wide enough.
        assert_eq!(cut(&bounds(&[100, 101, 102, 103]), &part(101)), None);
    }

    #[test]
    fn cutting_keeps_the_bound_of_the_gap() {
        let sql = cut(&bounds(&[3]), &part(1)).unwrap().sql(&TABLE);
        assert_eq!(
            sql,
            "ALTER TABLE history_float_31 REORGANIZE PARTITION p259200000000000 INTO (\
             PARTITION p86400000000000 VALUES LESS THAN (86400000000000), \
             PARTITION p172800000000000 VALUES LESS THAN (172800000000000), \
             PARTITION p259200000000000 VALUES LESS THAN (259200000000000))"
        );
        let sql = cut(&BTreeSet::new(), &part(0)).unwrap().sql(&TABLE);
        assert!(sql.contains("PARTITION pmax INTO (PARTITION p0 VALUES LESS THAN (0), "), "{sql}");
        assert!(sql.ends_with("PARTITION pmax VALUES LESS THAN MAXVALUE)"), "{sql}");
    }

    #[test]
    fn tables_and_views_have_all_columns() {
        let mut known = Known::default();
        for set in Set::ALL {
            let table = Table { set, class: Class(93) };
            let sql = create(table);
            for column in super::super::rows::columns(set) {
                assert!(sql.contains(&format!(" {column} ")), "{column}: {sql}");
            }
            assert!(view(set, &known).contains("FROM DUAL WHERE 1 = 0"));
            known.tables.insert(table, BTreeSet::new());
            known.tables.insert(Table { set, class: Class(7) }, BTreeSet::new());
            let sql = view(set, &known);
            assert!(sql.contains("UNION ALL") && sql.ends_with(&table.name()), "{sql}");
        }
    }
}
