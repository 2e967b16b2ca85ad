//! The tables, once: statements to create them in either database come from this description.
//!
//! Column names are the API's field names, so that an API object and its row need no mapping.
//! There is no NULL: id 0 and the empty text mean "none". A column with an owner goes with its
//! owner (`ON DELETE CASCADE`).

mod migration;
mod tables;

pub(crate) use migration::{migrate_configuration, migrate_state, separate_state};
#[cfg(test)]
pub(crate) use tables::configuration_tables;
pub use tables::tables;

/// Kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole number, 64 bits.
    Int,
    /// Text.
    Text,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name, which is the API's.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Value of a row that does not say.
    pub default: &'static str,
    /// Table whose row owns this one.
    pub owner: Option<&'static str>,
}

/// A table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Primary key.
    pub key: &'static [&'static str],
    /// Columns in order.
    pub columns: &'static [Column],
    /// Further indexes: columns, each ascending or with ` DESC`.
    pub indexes: &'static [&'static [&'static str]],
}

/// What stands behind a column that an index has in descending order.
const DESCENDING: &str = " DESC";

impl Table {
    /// The table of that name. Panics on a name that is not in [`tables`]: a programming error.
    pub fn named(name: &str) -> &'static Self {
        tables().find(|table| table.name == name).unwrap_or_else(|| panic!("BUG: no table {name}"))
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

    /// The same, where it is not there yet.
    fn create_missing(&self) -> String {
        let there =
            |word: &str| (format!("CREATE {word} "), format!("CREATE {word} IF NOT EXISTS "));
        let (table, table_missing) = there("TABLE");
        let (index, index_missing) = there("INDEX");
        self.create().replace(&table, &table_missing).replace(&index, &index_missing)
    }
}

/// Whether the table of that name belongs to the state.
pub(crate) fn is_state(name: &str) -> bool {
    tables::state_tables().any(|table| table.name == name)
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
            for name in named {
                let name = name.trim_end_matches(DESCENDING);
                assert!(table.column(name).is_some(), "{}.{name}", table.name);
            }
            for column in table.columns {
                if let Some(owner) = column.owner {
                    assert_eq!(Table::named(owner).key, [column.name], "{}", table.name);
                }
            }
        }
    }
}
