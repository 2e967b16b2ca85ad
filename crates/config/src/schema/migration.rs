//! How a new database gets its tables, and how one of an older version is brought up to date.

mod alerting;
mod icons;

use super::tables::{configuration_tables, state_tables};
use super::{Column, Table};
use crate::db::{CONFIGURATION, Connection, DbError, DbResult, Value};

/// Steps from one schema version to the next; version 1 is [`super::tables()`] as of the first release.
/// A fresh database gets the tables of today and the newest version at once; an older one gets, after
/// its steps, the missing tables (those of version 3 are maintenance and discovery).
/// Version 4 tells links that discovery made; before, it unlinked all others from its hosts. The step
/// to version 6 is [`separate_state`]. Version 7 has an index on the priority of triggers, the record of
/// changes and the audit log, version 8 what hosts have yet to take over from templates, version 9 the
/// objects of the load balancer, each version up to 16 more of their columns, version 17 alerting
/// ([`alerting`]), version 18 grouping, calming and on-call schedules, version 19 proxies, graphs, maps,
/// dashboards and sign-in.
/// From version [`SEPARATE`] on, a step adds what [`lacking`] finds: a new table or column needs a new
/// version and nothing else.
const MIGRATIONS: &[&str] = &[
    "CREATE TABLE group_prototypes (group_prototypeid INTEGER NOT NULL, \
     hostid BIGINT NOT NULL DEFAULT 0 REFERENCES hosts (hostid) ON DELETE CASCADE, \
     groupid BIGINT NOT NULL DEFAULT 0, name TEXT NOT NULL DEFAULT '', \
     templateid BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (group_prototypeid)); \
     CREATE INDEX group_prototypes_hostid ON group_prototypes (hostid); \
     CREATE INDEX group_prototypes_groupid ON group_prototypes (groupid)",
    "",
    "UPDATE host_templates SET link_type = 1 \
     WHERE hostid IN (SELECT hostid FROM hosts WHERE kind = 0 AND flags = 4)",
    // New indexes, on `uuid` of items and triggers and on events: missing ones are created below.
    "",
];

/// The last version with the state among the tables of the configuration.
const TOGETHER: i64 = 5;

/// The first version with the state in tables of its own.
const SEPARATE: i64 = 6;

const VERSION: i64 = 19;

/// Version 2 has an index on open problems, and sign-ins; version 3 the states of engines and a wider
/// index on the time of events; version 4 what engines report of themselves and of certificates;
/// version 5 which engines own which VIPs; version 6 alerts and escalations; version 7 why messages are
/// withheld.
const STATE_VERSION: i64 = 7;

const _: () = assert!(MIGRATIONS.len() as i64 == TOGETHER - 1, "one migration per version");
const _: () = assert!(SEPARATE == TOGETHER + 1, "one step separates the state");

/// What the configuration was when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Without any table, or without the first objects.
    New,
    /// With the state among its own tables.
    Together,
    /// As today.
    Separate,
}

impl Before {
    pub(crate) fn has_separate_state(self) -> bool {
        self == Self::Separate
    }
}

/// Creates the tables of the configuration, or brings those of an older version up to date, but for the
/// last step.
pub(crate) fn migrate_configuration(connection: &mut dyn Connection) -> DbResult<Before> {
    let found = version(connection, "schema_version", VERSION)?;
    if found >= SEPARATE {
        if found < VERSION {
            let newest = newest_configuration(connection, found)?;
            run(connection, &newest)?;
        }
        let used = !connection.query("SELECT roleid FROM roles LIMIT 1", &[])?.is_empty();
        return Ok(if used { Before::Separate } else { Before::New });
    }
    if found == TOGETHER {
        return Ok(Before::Together);
    }
    let mut sql = String::new();
    let (reached, before) = if found == 0 {
        sql.extend(configuration_tables().map(Table::create));
        (VERSION, Before::New)
    } else {
        let done = usize::try_from(found - 1).unwrap_or(0);
        for step in MIGRATIONS.iter().skip(done) {
            sql += step;
            sql += ";\n";
        }
        sql.extend(configuration_tables().map(Table::create_missing));
        (TOGETHER, Before::Together)
    };
    sql += &format!("INSERT INTO schema_version (version) VALUES ({reached});\n");
    run(connection, &sql)?;
    Ok(before)
}

/// The first version that obeys the period of events of services.
const RETENTION: i64 = 19;

/// Creates what the configuration of version `from` does not have yet, once its state is separate. Which
/// rows are new depends on the version: earlier steps of the same start may have created their tables.
fn newest_configuration(connection: &mut dyn Connection, from: i64) -> DbResult<String> {
    let mut sql = lacking(connection, configuration_tables());
    sql += &alerting::statements(connection, from)?;
    sql += &icons::statements(connection, from);
    if from < RETENTION {
        // Before, events of services were kept as long as those of triggers; the default is a day.
        sql += "INSERT INTO settings (name, value) SELECT 'hk_events_service', '365d' \
                WHERE NOT EXISTS (SELECT 1 FROM settings WHERE name = 'hk_events_service');\n";
    }
    sql += &format!("INSERT INTO schema_version (version) VALUES ({VERSION});\n");
    Ok(sql)
}

/// Statements for the columns, tables and indexes that a database does not have. An added column does not
/// refer to its owner: SQLite takes no such column.
fn lacking<'t>(connection: &mut dyn Connection, tables: impl Iterator<Item = &'t Table>) -> String {
    let mut sql = String::new();
    for table in tables {
        let names = table.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
        let exists = has_columns(connection, table.name, "COUNT(*)");
        if exists && !has_columns(connection, table.name, &names) {
            for column in table.columns {
                if !has_columns(connection, table.name, column.name) {
                    let definition = Column { owner: None, ..*column }.definition(table);
                    sql += &format!("ALTER TABLE {table} ADD COLUMN {definition};\n");
                }
            }
        }
        sql += &table.create_missing();
    }
    sql
}

fn has_columns(connection: &mut dyn Connection, table: &str, columns: &str) -> bool {
    connection.query(&format!("SELECT {columns} FROM {table} LIMIT 1"), &[]).is_ok()
}

/// Whether the table exists and is not empty.
fn has_rows(connection: &mut dyn Connection, table: &str) -> bool {
    let found = connection.query(&format!("SELECT 1 AS one FROM {table} LIMIT 1"), &[]);
    found.is_ok_and(|rows| !rows.is_empty())
}

/// An INSERT with the values as literals.
fn insert(table: &Table, row: &[(&str, Value)]) -> String {
    let names: Vec<&str> = row.iter().map(|(name, _)| *name).collect();
    let literal = |(_, value): &(&str, Value)| match value {
        Value::Int(number) => number.to_string(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
    };
    let values: Vec<String> = row.iter().map(literal).collect();
    format!("INSERT INTO {table} ({}) VALUES ({});\n", names.join(", "), values.join(", "))
}

/// Creates the tables of the state, or what those of an older version do not have. With `before` new
/// tables get what the configuration has of it.
/// With SQLite, `connection` has the configuration attached.
pub(crate) fn migrate_state(connection: &mut dyn Connection, before: Before) -> DbResult<()> {
    let found = version(connection, "state_version", STATE_VERSION)?;
    if found == STATE_VERSION {
        return Ok(());
    }
    let mut sql = String::new();
    let moves = found == 0 && before == Before::Together;
    if moves && !connection.has_parts() {
        // The tables are there already, with owners in the configuration.
        sql += "ALTER TABLE sessions DROP CONSTRAINT IF EXISTS sessions_userid_fkey; \
                ALTER TABLE IF EXISTS event_suppress \
                DROP CONSTRAINT IF EXISTS event_suppress_maintenanceid_fkey;\n";
    }
    if found == 0 && connection.has_parts() {
        // The configuration, which is attached, may have tables of the same names.
        sql.extend(state_tables().map(Table::create_missing));
    } else {
        sql += &lacking(connection, state_tables());
    }
    if moves {
        sql += &moved(connection)?;
    }
    if found > 0 || !connection.has_parts() {
        sql += "DROP INDEX IF EXISTS events_clock;\n";
    }
    sql += &format!("INSERT INTO state_version (version) VALUES ({STATE_VERSION});\n");
    run(connection, &sql)
}

/// Tables of version [`TOGETHER`] that are the state's now, owners before what they own.
const MOVED: &[&str] =
    &["events", "event_tags", "problems", "acknowledges", "event_suppress", "sessions"];

/// Statements that copy what the configuration has of the state.
fn moved(connection: &mut dyn Connection) -> DbResult<String> {
    let mut sql = String::new();
    let mut from = String::new();
    if connection.has_parts() {
        from = format!("{CONFIGURATION}.");
        let rows = connection
            .query(&format!("SELECT name FROM {from}sqlite_master WHERE type = 'table'"), &[])?;
        let there = |name: &str| rows.iter().any(|row| row.text("name") == name);
        for name in MOVED.iter().filter(|name| there(name)) {
            let columns = Table::named(name).columns.iter().map(|column| column.name);
            let columns =
                columns.filter(|column| *column != "epoch").collect::<Vec<_>>().join(", ");
            sql += &format!("INSERT INTO {name} ({columns}) SELECT {columns} FROM {from}{name};\n");
        }
    }
    sql += &format!(
        "INSERT INTO trigger_states (triggerid, value, lastchange, state, error) \
         SELECT triggerid, value, lastchange, state, error FROM {from}triggers \
         WHERE value <> 0 OR lastchange <> 0 OR state <> 0;\n\
         INSERT INTO token_accesses (tokenid, lastaccess) \
         SELECT tokenid, lastaccess FROM {from}tokens WHERE lastaccess <> 0;\n\
         INSERT INTO state_ids (name, next) \
         SELECT name, next FROM {from}ids WHERE name IN ({STATE_IDS});\n\
         INSERT INTO state_settings (name, value) SELECT name, value FROM {from}settings \
         WHERE name = 'findings_written';\n"
    );
    Ok(sql)
}

const STATE_IDS: &str = "'events', 'event_tags', 'acknowledges'";

/// The last step of [`migrate_configuration`], once the state has what it needs: removes the state from
/// the configuration.
pub(crate) fn separate_state(connection: &mut dyn Connection, before: Before) -> DbResult<()> {
    if before != Before::Together {
        return Ok(());
    }
    tracing::info!("moving events, problems and sessions out of the configuration");
    let mut sql = String::new();
    if connection.has_parts() {
        for name in MOVED.iter().rev() {
            sql += &format!("DROP TABLE IF EXISTS {name};\n");
        }
    }
    sql += "DROP INDEX IF EXISTS triggers_value;\n";
    for column in ["value", "lastchange", "state", "error"] {
        sql += &format!("ALTER TABLE triggers DROP COLUMN {column};\n");
    }
    sql += &format!(
        "ALTER TABLE tokens DROP COLUMN lastaccess;\n\
         DELETE FROM ids WHERE name IN ({STATE_IDS});\n\
         DELETE FROM settings WHERE name = 'findings_written';\n"
    );
    sql += &newest_configuration(connection, TOGETHER)?;
    run(connection, &sql)
}

/// The version that `table` has; 0 = a new database.
fn version(connection: &mut dyn Connection, table: &str, known: i64) -> DbResult<i64> {
    connection.batch(&format!(
        "CREATE TABLE IF NOT EXISTS {table} (version BIGINT NOT NULL PRIMARY KEY)"
    ))?;
    let rows = connection.query(&format!("SELECT MAX(version) AS version FROM {table}"), &[])?;
    let found = rows.first().map_or(0, |row| row.int("version"));
    if found > known {
        return Err(DbError::TooNew { found, known });
    }
    Ok(found)
}

/// Runs statements in a transaction.
fn run(connection: &mut dyn Connection, sql: &str) -> DbResult<()> {
    let sql = connection.dialect(&format!("BEGIN;\n{sql}COMMIT;"));
    let result = connection.batch(&sql);
    if result.is_err() {
        drop(connection.batch("ROLLBACK"));
    }
    result
}

#[cfg(test)]
mod tests;
