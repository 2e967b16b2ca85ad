//! New rows in the audit log.

use super::catalog::{self, Resource};
use super::details::Details;
use super::{AuditAction, Trail, scenario};
use crate::db::{Row, Value};
use crate::schema::Table;

/// New rows of one table with the same columns: everything that does not depend on the values.
struct Rows<'c> {
    table: &'static Table,
    columns: Vec<Given<'c>>,
    /// Type of a macro, which decides whether its value is a secret, or of an item.
    kind: Option<Place>,
    /// The object, or the object that the row is a member of.
    subject: Place,
}

/// A column that the rows have.
struct Given<'c> {
    name: &'c str,
    /// Rows with this value are not in the details.
    default: Option<Value>,
    is_secret: bool,
    is_hidden: bool,
}

/// What a new row is.
#[derive(Clone, Copy)]
enum What<'a> {
    /// An object of this kind.
    Object(Option<&'static Resource>),
    /// A member of an object, at this path.
    Member(&'a str),
}

impl What<'_> {
    fn path(&self) -> &str {
        match self {
            Self::Object(_) => "",
            Self::Member(path) => path,
        }
    }

    /// What the API calls a column.
    fn member<'c>(&self, column: &'c str) -> &'c str {
        match self {
            Self::Object(Some(kind)) => kind.member(column),
            _ => column,
        }
    }
}

/// Where the value of a column is.
enum Place {
    At(usize),
    /// The rows do not have the column.
    Default(Value),
}

impl Place {
    fn of(table: &Table, columns: &[&str], name: &str) -> Self {
        match columns.iter().position(|column| *column == name) {
            Some(at) => Self::At(at),
            None => Self::Default(
                table.column(name).map_or(Value::Int(0), |column| column.default_value()),
            ),
        }
    }

    fn value<'v>(&'v self, row: &'v [Value]) -> &'v Value {
        match self {
            Self::At(at) => &row[*at],
            Self::Default(value) => value,
        }
    }

    fn id(&self, row: &[Value]) -> u64 {
        u64::try_from(self.value(row).as_int()).unwrap_or(0)
    }
}

/// Objects of a table.
struct Objects {
    kinds: Vec<&'static Resource>,
    /// The column that tells kinds apart.
    kind: Option<Place>,
    name: Place,
}

impl Objects {
    fn of(table: &Table, columns: &[&str]) -> Self {
        let kinds: Vec<_> = catalog::kinds(table).collect();
        let of_kind = kinds.iter().find_map(|kind| kind.column());
        let kind = of_kind.map(|column| Place::of(table, columns, column));
        let name = kinds.first().map_or("", |kind| kind.name);
        Self { kind, name: Place::of(table, columns, name), kinds }
    }

    fn kind(&self, row: &[Value]) -> Option<&'static Resource> {
        let value = self.kind.as_ref().map_or(0, |place| place.value(row).as_int());
        self.kinds.iter().copied().find(|kind| kind.is(value))
    }

    fn name<'v>(&'v self, row: &'v [Value]) -> &'v str {
        match self.name.value(row) {
            Value::Text(name) => name,
            Value::Int(_) => "",
        }
    }
}

impl<'c> Rows<'c> {
    fn new(table: &'static Table, columns: &'c [&str], subject: &str) -> Self {
        let given = |name: &&'c str| Given {
            name,
            default: table.column(name).map(|column| column.default_value()),
            is_secret: catalog::is_secret(table, name),
            is_hidden: catalog::is_hidden(table, name),
        };
        let place = |name: &str| Place::of(table, columns, name);
        Self {
            table,
            columns: columns.iter().map(given).collect(),
            kind: table.column("type").map(|column| place(column.name)),
            subject: place(subject),
        }
    }

    /// Adds the columns that do not have their defaults.
    fn add(&self, details: &mut Details, what: What<'_>, row: &[Value]) {
        let path = what.path();
        let kind = || self.kind.as_ref().map(|place| place.value(row).as_int());
        let is_secret = catalog::is_secret_row(self.table, |_| kind());
        for (column, value) in self.columns.iter().zip(row) {
            let is_subject = !path.is_empty() && column.name == self.table.subject();
            let is_default = column.default.as_ref().is_none_or(|default| default == value);
            if is_subject || is_default || column.is_hidden {
                continue;
            }
            let is_secret = column.is_secret || (is_secret && column.name == "value");
            let shown = catalog::shown(value, is_secret);
            details.push(path, what.member(column.name), &["add", &shown]);
        }
    }

    fn is_scenario(&self, row: &[Value]) -> bool {
        let kind = self.kind.as_ref().filter(|_| self.table.name == "items");
        kind.is_some_and(|place| scenario::is_type(place.value(row).as_int()))
    }
}

impl Trail {
    /// Rows are new.
    pub(crate) fn inserted(
        &mut self,
        table: &'static Table,
        columns: &[&str],
        rows: &[Vec<Value>],
    ) {
        if super::is_object(table) {
            self.inserted_objects(table, columns, rows);
        } else {
            self.inserted_members(table, columns, rows);
        }
    }

    fn inserted_objects(&mut self, table: &'static Table, columns: &[&str], rows: &[Vec<Value>]) {
        let of = Rows::new(table, columns, table.key[0]);
        let objects = Objects::of(table, columns);
        for row in rows {
            if of.is_scenario(row) {
                self.inserted_scenario(table, columns, row);
                continue;
            }
            let (id, kind) = (of.subject.id(row), objects.kind(row));
            let name = kind.map_or("", |_| objects.name(row)).to_owned();
            if let Some(details) = self.object(table, id, kind, name, AuditAction::Add) {
                of.add(details, What::Object(kind), row);
            }
        }
    }

    fn inserted_scenario(&mut self, table: &'static Table, columns: &[&str], row: &[Value]) {
        let value = |name: &str| Place::of(table, columns, name).value(row).clone();
        let full = table.columns.iter().map(|column| (column.name, value(column.name)));
        let full = Row::new(full);
        let fields = scenario::added(&full);
        self.note(table, &full, AuditAction::Add, fields);
    }

    fn inserted_members(&mut self, table: &'static Table, columns: &[&str], rows: &[Vec<Value>]) {
        let Some((owner, member)) = catalog::member(table) else { return };
        let of = Rows::new(table, columns, table.subject());
        let key: Vec<Place> =
            catalog::member_key(table).map(|name| Place::of(table, columns, name)).collect();
        for row in rows {
            let key = key.iter().map(|place| place.value(row).to_string());
            let path = format!("{member}[{}]", key.collect::<Vec<_>>().join("."));
            let details = self.member(owner, of.subject.id(row), &path, AuditAction::Add);
            if let Some(details) = details {
                of.add(details, What::Member(&path), row);
            }
        }
    }
}
