//! A change of the configuration in progress: verbs that write rows and record what they change.

mod copies;

use crate::audit::{Author, Described, Setting, Trail};
use crate::change::{Change, Changes, Deleted, Inheritance, Operation};
use crate::db::{
    Connection, DbError, DbResult, Row, Value, id_params, placeholders, query_by_ids, read_through,
};
use crate::schema::{Column, Kind, Reload, Table};
use crate::snapshot::Settings;
use crate::table;
use crate::{Statements, Touched};

/// Rows of one statement with several parameters each.
const ROWS: usize = 1_000;

/// Ids of one statement.
const IDS: usize = 5_000;

/// Transactions that the table `changes` keeps.
const REVISIONS_KEPT: u64 = 10_000;

/// A change of the configuration in progress. Rows are written with its verbs alone, which record what
/// they change; SQL of one's own is for reading.
pub struct Edit<'a> {
    statements: Statements<'a>,
    author: Option<Author>,
    pub(crate) changes: Changes,
    /// For the audit log; `None` = nobody in particular makes the change, or it is not to be logged.
    trail: Option<Trail>,
    /// How far hosts inherit within the transaction.
    pub(crate) inheritance: Inheritance,
}

impl std::fmt::Debug for Edit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edit").field("changes", &self.changes).finish_non_exhaustive()
    }
}

/// Columns and the values that a row has in them, all of them: `host_groups` with
/// `[("hostid", &hosts), ("groupid", &groups)]` are the memberships of any of the hosts in any of the
/// groups.
pub type Conditions<'a> = [(&'a str, &'a [Value])];

read_through!(Edit<'_>, statements);

impl<'a> Edit<'a> {
    /// A change, in the audit log if it has an author whose changes the settings want there.
    pub(crate) fn new(
        connection: &'a mut dyn Connection,
        author: Option<Author>,
        settings: &Settings,
    ) -> Self {
        let audited = |author: &&Author| {
            settings.audit.enabled && (settings.audit.system || !author.is_system())
        };
        let trail = author.as_ref().filter(audited).map(|_| Trail::default());
        let (statements, changes) = (Statements::new(connection), Changes::default());
        Self { statements, author, changes, trail, inheritance: Inheritance::default() }
    }

    /// A part of the transaction: everything that `work` does, or nothing.
    pub fn attempt<T, E: From<DbError>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.statements.execute("SAVEPOINT attempt", &[])?;
        let before = std::mem::take(&mut self.changes);
        let trail = self.trail.as_mut().map(std::mem::take);
        let result = work(self);
        let more = std::mem::replace(&mut self.changes, before);
        let more_trail = std::mem::replace(&mut self.trail, trail);
        if result.is_ok() {
            self.changes.extend(more);
            if let (Some(trail), Some(more)) = (&mut self.trail, more_trail) {
                trail.extend(more);
            }
        } else {
            self.statements.execute("ROLLBACK TO SAVEPOINT attempt", &[])?;
        }
        self.statements.execute("RELEASE SAVEPOINT attempt", &[])?;
        result
    }

    /// Changes objects that follow others, which are not in the audit log.
    pub(crate) fn inheriting<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let trail = self.trail.take();
        let result = work(self);
        self.trail = trail;
        result
    }

    /// The trail, if it keeps changes of the table.
    fn trail(&mut self, table: &'static Table) -> Option<&mut Trail> {
        self.trail.as_mut().filter(|_| Trail::wants(table))
    }

    /// Notes a field of an object for the audit log.
    pub fn describe(&mut self, table: &'static Table, id: u64, field: &str, text: Described<'_>) {
        if let Some(trail) = self.trail(table) {
            trail.described(table, id, field, text);
        }
    }

    /// Rows that meet the conditions, if the trail wants them.
    fn rows_for_trail(
        &mut self,
        table: &'static Table,
        conditions: &Conditions<'_>,
        also: &str,
    ) -> DbResult<Vec<Row>> {
        if self.trail(table).is_none() {
            return Ok(Vec::new());
        }
        let (wanted, params) = wanted(conditions);
        self.query(&format!("SELECT * FROM {} WHERE {wanted}{also}", table.name), &params)
    }

    /// The connection of the transaction, for tests that write what no verb writes. Nothing of it is
    /// recorded.
    #[doc(hidden)]
    pub fn unrecorded(&mut self) -> &mut dyn Connection {
        self.statements.connection()
    }

    /// Rows of a SELECT, changes of this transaction included.
    pub fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        self.statements.query(sql, params)
    }

    /// Reserves `n` ids, see [`Statements::next_id`].
    pub fn next_id(&mut self, table: &'static Table, n: u64) -> DbResult<u64> {
        self.statements.next_id(table, n)
    }

    /// Reserves ids of objects that have no table of their own.
    pub fn next_id_of(&mut self, space: &str, n: u64) -> DbResult<u64> {
        self.statements.next_id_of(space, n)
    }

    /// Inserts a row; columns that are not given get their defaults.
    pub fn insert(&mut self, table: &'static Table, row: &[(&str, Value)]) -> DbResult<()> {
        let subject = row.iter().find(|(name, _)| *name == table.subject());
        let subjects: Vec<u64> = subject.map(|(_, value)| id_of(value)).into_iter().collect();
        self.record(table, Operation::Insert, row.iter().map(|(name, _)| *name), subjects)?;
        if let Some(trail) = self.trail(table) {
            let (columns, values): (Vec<&str>, Vec<Value>) = row.iter().cloned().unzip();
            trail.inserted(table, &columns, &[values]);
        }
        self.statements.insert(table, row)
    }

    /// Inserts rows with the same columns, many in one statement.
    pub fn insert_many(
        &mut self,
        table: &'static Table,
        columns: &[&str],
        rows: &[Vec<Value>],
    ) -> DbResult<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.record_rows(table, columns, rows)?;
        if let Some(trail) = self.trail(table) {
            trail.inserted(table, columns, rows);
        }
        self.statements.insert_many(table, columns, rows)
    }

    fn record_rows(
        &mut self,
        table: &'static Table,
        columns: &[&str],
        rows: &[Vec<Value>],
    ) -> DbResult<()> {
        let at = |name: &str| columns.iter().position(|column| *column == name);
        let of = |at: usize| rows.iter().map(move |row| id_of(&row[at]));
        match (at(table.subject()), at("hostid")) {
            (Some(subject), Some(host)) if matches!(table.reload, Reload::Item(_)) => {
                let rows: Vec<(u64, u64)> = of(subject).zip(of(host)).collect();
                self.changes.record_on_hosts(table, columns, &rows);
                Ok(())
            }
            (Some(subject), _) => {
                let new = |id: &u64| self.changes.inserted(owner_of(table), *id);
                let (new, changed): (Vec<u64>, Vec<u64>) = of(subject).partition(new);
                self.changes.record_details(table, &new);
                self.record(table, Operation::Insert, columns, changed)
            }
            (None, _) => self.record(table, Operation::Insert, columns, Vec::new()),
        }
    }

    /// Inserts a row with a new id in the table's single key column; returns the id.
    pub fn insert_new(&mut self, table: &'static Table, row: &[(&str, Value)]) -> DbResult<u64> {
        let key = table.key[0];
        let id = self.next_id(table, 1)?;
        let mut with_id = vec![(key, Value::from(id))];
        with_id.extend_from_slice(row);
        self.insert(table, &with_id)?;
        Ok(id)
    }

    /// Changes columns of the row with this id.
    pub fn update(
        &mut self,
        table: &'static Table,
        id: u64,
        row: &[(&str, Value)],
    ) -> DbResult<()> {
        self.update_many(table, &[id], row)
    }

    /// Gives the rows with these ids the same values.
    pub fn update_many(
        &mut self,
        table: &'static Table,
        ids: &[u64],
        row: &[(&str, Value)],
    ) -> DbResult<()> {
        let key = table.key[0];
        for portion in ids.chunks(IDS) {
            let ids = id_params(portion.iter().copied());
            self.update_rows(table, &[(key, &ids)], row)?;
        }
        Ok(())
    }

    /// Gives the rows that meet the conditions the same values.
    pub fn update_rows(
        &mut self,
        table: &'static Table,
        conditions: &Conditions<'_>,
        row: &[(&str, Value)],
    ) -> DbResult<()> {
        if row.is_empty() || conditions.iter().any(|(_, values)| values.is_empty()) {
            return Ok(());
        }
        let mut subjects = self.subjects(table, conditions)?;
        let moved = row.iter().find(|(name, _)| *name == table.subject());
        subjects.extend(moved.map(|(_, value)| id_of(value)));
        self.record(table, Operation::Update, row.iter().map(|(name, _)| *name), subjects)?;
        for before in self.rows_for_trail(table, conditions, "")? {
            if let Some(trail) = self.trail(table) {
                trail.updated(table, &before, row);
            }
        }
        let sets: Vec<String> = row.iter().map(|(name, _)| format!("{name} = ?")).collect();
        let (wanted, more) = wanted(conditions);
        let sql = format!("UPDATE {} SET {} WHERE {wanted}", table.name, sets.join(", "));
        let mut params: Vec<Value> = row.iter().map(|(_, value)| value.clone()).collect();
        params.extend(more);
        self.statements.execute(&sql, &params).map(drop)
    }

    /// Gives the column of each row its own value.
    pub fn update_each(
        &mut self,
        table: &'static Table,
        column: &str,
        values: &[(u64, Value)],
    ) -> DbResult<()> {
        let key = table.key[0];
        for portion in values.chunks(ROWS) {
            let ids = id_params(portion.iter().map(|(id, _)| *id));
            let subjects = self.subjects(table, &[(key, &ids)])?;
            self.record(table, Operation::Update, [column], subjects)?;
            for before in self.rows_for_trail(table, &[(key, &ids)], "")? {
                let value = portion.iter().find(|(id, _)| *id == before.id(key));
                if let (Some((_, value)), Some(trail)) = (value, self.trail(table)) {
                    trail.updated(table, &before, &[(column, value.clone())]);
                }
            }
            let sql = format!(
                "UPDATE {} SET {column} = v.column2 FROM ({}) AS v WHERE {}.{key} = v.column1",
                table.name,
                typed_values(table, &[key, column], portion.len()),
                table.name
            );
            let params: Vec<Value> =
                portion.iter().flat_map(|(id, value)| [Value::from(*id), value.clone()]).collect();
            self.statements.execute(&sql, &params)?;
        }
        Ok(())
    }

    /// Deletes rows by a column's values.
    pub fn delete(&mut self, table: &'static Table, column: &str, ids: &[u64]) -> DbResult<()> {
        for portion in ids.chunks(IDS) {
            self.delete_rows(table, &[(column, &id_params(portion.iter().copied()))])?;
        }
        Ok(())
    }

    /// Deletes the rows that meet the conditions.
    pub fn delete_rows(
        &mut self,
        table: &'static Table,
        conditions: &Conditions<'_>,
    ) -> DbResult<()> {
        if conditions.iter().any(|(_, values)| values.is_empty()) {
            return Ok(());
        }
        let subjects = self.subjects(table, conditions)?;
        if subjects.is_empty() && table.subject_is_id() {
            return Ok(());
        }
        self.record(table, Operation::Delete, NO_COLUMNS, subjects)?;
        self.record_cascades(table, conditions)?;
        let own = table.column("templateid").filter(|_| crate::audit::is_object(table));
        let own = own.map_or("", |_| " AND templateid = 0");
        for before in self.rows_for_trail(table, conditions, own)? {
            if let Some(trail) = self.trail(table) {
                trail.deleted(table, &before);
            }
        }
        let (wanted, params) = wanted(conditions);
        let sql = format!("DELETE FROM {} WHERE {wanted}", table.name);
        self.statements.execute(&sql, &params).map(drop)
    }

    /// Records the objects that the database deletes with these rows, if there is more of them than rows.
    fn record_cascades(
        &mut self,
        table: &'static Table,
        conditions: &Conditions<'_>,
    ) -> DbResult<()> {
        for (owned, owner) in table.owned_with_data() {
            let (key, (wanted, params)) = (owned.key[0], wanted(conditions));
            let sql = format!(
                "SELECT {key} FROM {} WHERE {owner} IN (SELECT {} FROM {} WHERE {wanted})",
                owned.name, table.key[0], table.name
            );
            let rows = self.query(&sql, &params)?;
            self.changes.record_cascade(owned, rows.iter().map(|row| row.id(key)));
        }
        Ok(())
    }

    /// Gives a setting of the server another value.
    pub fn set(&mut self, setting: &Setting<'_>) -> DbResult<()> {
        if let Some(trail) = &mut self.trail {
            trail.set(setting);
        }
        self.delete_rows(&table::SETTINGS, &[("name", &[setting.stored.into()])])?;
        let row = [("name", setting.stored.into()), ("value", setting.after.into())];
        self.insert(&table::SETTINGS, &row)
    }

    fn record(
        &mut self,
        table: &'static Table,
        operation: Operation,
        columns: impl IntoIterator<Item = impl AsRef<str>>,
        subjects: Vec<u64>,
    ) -> DbResult<()> {
        if let Reload::HostsOf { hosts, .. } = table.reload
            && !subjects.is_empty()
        {
            let rows = query_by_ids(&mut self.statements, hosts, &[], &subjects)?;
            let hosts = rows.iter().map(|row| row.id("hostid"));
            self.changes.reload.hosts_below.extend(hosts);
        }
        self.changes.record(table, operation, columns, subjects);
        Ok(())
    }

    /// The subjects of the rows that meet the conditions.
    fn subjects(
        &mut self,
        table: &'static Table,
        conditions: &Conditions<'_>,
    ) -> DbResult<Vec<u64>> {
        let subject = table.subject();
        if !table.subject_is_id() {
            return Ok(Vec::new());
        }
        if let [(column, values)] = conditions
            && *column == subject
        {
            return Ok(values.iter().map(id_of).collect());
        }
        let (wanted, params) = wanted(conditions);
        let sql = format!("SELECT DISTINCT {subject} FROM {} WHERE {wanted}", table.name);
        Ok(self.query(&sql, &params)?.iter().map(|row| row.id(subject)).collect())
    }

    /// Writes the record of the transaction; returns what those who follow changes have to know.
    pub(crate) fn finish(mut self, before: &crate::Snapshot) -> DbResult<Followed> {
        if self.changes.is_lasting() {
            let revision = self.next_id(&table::CHANGES, 1)?;
            let userid = self.author.as_ref().map_or(0, |author| author.userid);
            let rows = self.changes.rows(revision, userid);
            self.statements.insert_many(&table::CHANGES, &Change::COLUMNS, &rows)?;
            let over = [Value::from(revision.saturating_sub(REVISIONS_KEPT))];
            self.statements.execute("DELETE FROM changes WHERE revision <= ?", &over)?;
        }
        if let (Some(trail), Some(author)) = (self.trail.take(), self.author.take()) {
            let values = trail.finish(&mut self.statements, &author)?;
            self.statements.insert_values(&table::AUDITLOG, &crate::audit::COLUMNS, &values)?;
        }
        let concerns_discovery = self.changes.concern_discovery();
        let deleted = self.changes.deleted();
        let reload = std::mem::take(&mut self.changes.reload);
        let touched = Touched::resolve(&mut self, before, reload)?;
        let (access, configuration) = (self.changes.concern_access(), self.changes.is_lasting());
        let touched = Touched { access, configuration, ..touched };
        Ok(Followed { touched, concerns_discovery, deleted })
    }
}

/// What follows from the record of a transaction.
pub(crate) struct Followed {
    /// For the snapshot and all that subscribe to changes.
    pub(crate) touched: Touched,
    /// Something has changed that discovery rules read.
    pub(crate) concerns_discovery: bool,
    /// Objects whose history and problems go, once the change is live.
    pub(crate) deleted: Deleted,
}

const NO_COLUMNS: [&str; 0] = [];

fn id_of(value: &Value) -> u64 {
    match value {
        Value::Int(id) => u64::try_from(*id).unwrap_or(0),
        Value::Text(_) => 0,
    }
}

/// The table of the objects that a table has details of; its own name if it has none.
fn owner_of(table: &Table) -> &'static str {
    table.column(table.subject()).and_then(|column| column.owner).unwrap_or(table.name)
}

/// A WHERE clause with its parameters.
fn wanted(conditions: &Conditions<'_>) -> (String, Vec<Value>) {
    let one = |(column, values): &(&str, &[Value])| match values.len() {
        1 => format!("{column} = ?"),
        n => format!("{column} IN ({})", placeholders(n)),
    };
    let parts: Vec<String> = conditions.iter().map(one).collect();
    let params = conditions.iter().flat_map(|(_, values)| values.iter().cloned());
    (parts.join(" AND "), params.collect())
}

/// `VALUES` of `rows` rows of these columns. PostgreSQL takes the types of all rows from the first.
fn typed_values(table: &Table, columns: &[&str], rows: usize) -> String {
    let typed = |name: &&str| match table.column(name).map(|column: &Column| column.kind) {
        Some(Kind::Int) => "CAST(? AS BIGINT)",
        _ => "CAST(? AS TEXT)",
    };
    let first: Vec<&str> = columns.iter().map(typed).collect();
    let more = format!(", ({})", placeholders(columns.len())).repeat(rows.saturating_sub(1));
    format!("VALUES ({}){more}", first.join(", "))
}
