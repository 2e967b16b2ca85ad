//! The tables, once: statements to create them in either database come from this description.
//!
//! Column names are the API's field names, so that an API object and its row need no mapping.
//! There is no NULL: id 0 and the empty text mean "none". A column with an owner goes with its
//! owner (`ON DELETE CASCADE`).

mod migration;
mod tables;

pub(crate) use migration::{migrate_configuration, migrate_state, separate_state};
pub use tables::named as table;
pub use tables::tables;
pub(crate) use tables::{balancing_tables, configuration_tables, state_tables};

/// Kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole number, 64 bits.
    Int,
    Text,
}

/// A column, as both databases get it.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name, which is the API's.
    pub name: &'static str,
    pub kind: Kind,
    /// Value of a row that does not say.
    pub default: &'static str,
    /// Table whose row owns this one.
    pub owner: Option<&'static str>,
    /// The server notes a state here: a change of it is none of the configuration.
    pub state: bool,
}

/// What the snapshot reads again when rows of a table change. The columns name the objects that the
/// rows belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// Nothing: monitoring does not need the table.
    Nothing,
    /// The host in this column.
    Host(&'static str),
    /// The host in this column, or all hosts below the template in it.
    HostsBelow(&'static str),
    /// The hosts, or the hosts below the templates, that a query finds by the ids in a column.
    HostsOf {
        /// The column.
        subject: &'static str,
        /// The query: `hostid` by `{ids}`.
        hosts: &'static str,
    },
    /// The item in this column.
    Item(&'static str),
    /// The trigger in this column.
    Trigger(&'static str),
    /// Rules of network discovery, connectors; a new revision tells others of actions and media types.
    Discovery,
    /// Everything: macros, regular expressions and settings may concern any item.
    Everything,
}

/// A table, as both databases get it.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    pub name: &'static str,
    /// Primary key.
    pub key: &'static [&'static str],
    /// What the snapshot reads again after a change.
    pub reload: Reload,
    /// Low-level discovery reads it although monitoring does not.
    read_by_discovery: bool,
    /// It decides who may sign in, and with which rights.
    decides_access: bool,
    /// Its changes are recorded.
    recorded: bool,
    /// The server keeps data of its objects outside the configuration.
    has_data: bool,
    /// Columns in order.
    pub columns: &'static [Column],
    /// Further indexes: columns, each ascending or with ` DESC`.
    pub indexes: &'static [&'static [&'static str]],
    /// First columns of indexes that have the same value in most rows.
    usual: &'static [&'static str],
}

/// What stands behind a column that an index has in descending order.
const DESCENDING: &str = " DESC";

/// Its name, as SQL needs it.
impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Table {
    /// The table of that name. Panics on a name that is not in [`tables`]: a programming error.
    pub fn named(name: &str) -> &'static Self {
        Self::find(name).unwrap_or_else(|| panic!("BUG: no table {name}"))
    }

    /// The table of that name, if there is one.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        tables().find(|table| table.name == name)
    }

    /// The same table, which low-level discovery reads.
    const fn read_by_discovery(self) -> Self {
        Self { read_by_discovery: true, ..self }
    }

    /// The same table, which decides who may sign in, and with which rights.
    const fn decides_access(self) -> Self {
        Self { decides_access: true, ..self }
    }

    /// The same table with rows that the server writes as it goes, which are no configuration.
    const fn unrecorded(self) -> Self {
        Self { recorded: false, ..self }
    }

    /// The same table of objects of which the server keeps data outside the configuration: history,
    /// problems. Their deletion is recorded also if they go with their owners.
    const fn has_data(self) -> Self {
        Self { has_data: true, ..self }
    }

    /// The same table, in most rows of which these columns, each the first of an index, have the same value: 0 for none, or
    /// the usual kind.
    const fn usual_in(self, usual: &'static [&'static str]) -> Self {
        Self { usual, ..self }
    }

    /// Indexes that tell few rows apart, because most have the same value.
    fn usual(&self) -> impl Iterator<Item = &'static [&'static str]> {
        self.indexes.iter().copied().filter(|columns| self.usual.contains(&columns[0]))
    }

    /// Tables of objects with data outside the configuration that rows of this table own, and the column
    /// of the owner.
    pub(crate) fn owned_with_data(&self) -> impl Iterator<Item = (&'static Self, &'static str)> {
        tables().filter(|table| table.has_data).filter_map(|table| {
            let mut columns = table.columns.iter();
            let owner = columns.find(|column| column.owner == Some(self.name))?;
            Some((table, owner.name))
        })
    }

    /// The column with the id of the object that a row belongs to: `itemid` of preprocessing steps,
    /// `hostid` of interfaces.
    pub fn subject(&self) -> &'static str {
        match self.reload {
            Reload::Host(column)
            | Reload::HostsBelow(column)
            | Reload::HostsOf { subject: column, .. }
            | Reload::Item(column)
            | Reload::Trigger(column) => column,
            Reload::Nothing | Reload::Discovery | Reload::Everything => {
                let owned = self.columns.iter().find(|column| column.owner.is_some());
                owned.map_or(self.key[0], |column| column.name)
            }
        }
    }

    /// Whether objects of the table have numbers: settings have names.
    pub(crate) fn subject_is_id(&self) -> bool {
        self.column(self.subject()).is_some_and(|column| column.kind == Kind::Int)
    }

    /// Whether what discovery rules make depends on the table.
    pub(crate) fn is_read_by_discovery(&self) -> bool {
        let monitored = !matches!(self.reload, Reload::Nothing | Reload::Discovery);
        self.recorded && (monitored || self.read_by_discovery)
    }

    /// Whether the table decides who may sign in, and with which rights.
    pub(crate) fn is_of_access(&self) -> bool {
        self.decides_access
    }

    /// Whether changes of the table are changes of the configuration.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorded
    }

    /// Whether the server notes a state in this column.
    pub(crate) fn is_state_column(&self, name: &str) -> bool {
        self.column(name).is_some_and(|column| column.state)
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    fn create(&self) -> String {
        let mut parts: Vec<String> = self.columns.iter().map(|c| c.definition(self)).collect();
        parts.push(format!("PRIMARY KEY ({})", self.key.join(", ")));
        let mut sql = format!("CREATE TABLE {} (\n  {}\n);\n", self.name, parts.join(",\n  "));
        for columns in self.indexes {
            let (table, names) = (self.name, columns.join("_").replace(DESCENDING, ""));
            sql += &format!("CREATE INDEX {table}_{names} ON {table} ({});\n", columns.join(", "));
        }
        sql
    }

    /// The same, if it does not exist.
    fn create_missing(&self) -> String {
        let there =
            |word: &str| (format!("CREATE {word} "), format!("CREATE {word} IF NOT EXISTS "));
        let (table, table_missing) = there("TABLE");
        let (index, index_missing) = there("INDEX");
        self.create().replace(&table, &table_missing).replace(&index, &index_missing)
    }
}

/// Rows that SQLite expects of a table without statistics.
const ROWS: u32 = 1 << 20;
/// Rows with one value: more than those of a host or an event, fewer than reading the whole table would cost.
const ROWS_OF_A_VALUE: u32 = 1 << 10;

/// A row of `sqlite_stat1` (<https://sqlite.org/fileformat2.html#stat1tab>).
#[derive(Debug)]
pub(crate) struct Statistic {
    pub(crate) table: &'static str,
    pub(crate) index: String,
    /// The number of rows, then of those that are equal in the first column, in the first two, and so on.
    pub(crate) rows: String,
}

/// What SQLite is to know of indexes of these tables in which most rows have the same value.
///
/// It expects ten rows for a value of an index that it has no statistics of. It then finds the items of a host among all
/// items without a template, or a group's hosts among all hosts. Measured statistics (`ANALYZE`) would depend on what
/// there is when they are made; these are what a large installation has. PostgreSQL keeps its own.
pub(crate) fn statistics<'t>(
    tables: impl Iterator<Item = &'t Table>,
) -> impl Iterator<Item = Statistic> {
    let indexes = tables.flat_map(|table| table.usual().map(|columns| (table.name, columns)));
    indexes.map(|(table, columns)| Statistic {
        table,
        index: format!("{table}_{}", columns.join("_")),
        rows: format!("{ROWS} {ROWS_OF_A_VALUE}{}", " 1".repeat(columns.len() - 1)),
    })
}

/// Whether the table of that name belongs to the state.
pub(crate) fn is_state(name: &str) -> bool {
    state_tables().any(|table| table.name == name)
}

impl Column {
    /// Value of a row that does not say.
    pub fn default_value(&self) -> crate::db::Value {
        match self.kind {
            Kind::Int => crate::db::Value::Int(self.default.parse().unwrap_or(0)),
            Kind::Text => crate::db::Value::from(self.default),
        }
    }

    fn definition(&self, table: &Table) -> String {
        let Self { name, default, .. } = self;
        let mut sql = match self.kind {
            // SQLite: a single INTEGER key is the row id itself, which saves an index.
            Kind::Int if table.key == [*name] => format!("{name} INTEGER NOT NULL"),
            Kind::Int => format!("{name} BIGINT NOT NULL DEFAULT {default}"),
            Kind::Text => {
                format!("{name} TEXT NOT NULL DEFAULT '{}'", default.replace('\'', "''"))
            }
        };
        if let Some(owner) = self.owner {
            let key = Table::named(owner).key.join(", ");
            sql += &format!(" REFERENCES {owner} ({key}) ON DELETE CASCADE");
        }
        sql
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_owners_and_indexes_name_columns_that_exist() {
        for table in tables() {
            let named = table.key.iter().chain(table.indexes.iter().copied().flatten());
            let named = named.chain(table.usual);
            for name in named {
                let name = name.trim_end_matches(DESCENDING);
                assert!(table.column(name).is_some(), "{}.{name}", table.name);
            }
            for column in table.columns {
                if let Some(owner) = column.owner {
                    let key = Table::named(owner).key;
                    // Fields of widgets refer to objects of any kind.
                    let is_field = column.name == "value" && key.len() == 1;
                    assert!(is_field || key == [column.name], "{}.{}", table.name, column.name);
                }
            }
        }
    }

    #[test]
    fn each_table_has_the_column_of_its_subject() {
        for table in tables() {
            assert!(table.column(table.subject()).is_some(), "{}", table.name);
        }
        for (table, subject) in [
            ("item_tags", "itemid"),
            ("interfaces", "hostid"),
            ("functions", "triggerid"),
            ("actions", "actionid"),
            ("operation_tags", "operationid"),
            ("user_groups", "userid"),
        ] {
            assert_eq!(Table::named(table).subject(), subject);
        }
    }
}
