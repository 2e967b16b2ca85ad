//! What goes into statements and comes out of them.

use std::borrow::Cow;
use std::sync::Arc;

/// A parameter or a column: whole number or text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// BIGINT.
    Int(i64),
    Text(String),
}

impl Value {
    /// The number, or the number that the text spells, or 0.
    pub fn as_int(&self) -> i64 {
        match self {
            Self::Int(v) => *v,
            Self::Text(text) => text.parse().unwrap_or(0),
        }
    }
}

/// As the API writes it: numbers in decimal.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(v) => v.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<i64> for Value {
    fn from(v: i64) -> Self {
        Self::Int(v)
    }
}

/// Ids stay far below 2^63.
impl From<u64> for Value {
    fn from(v: u64) -> Self {
        Self::Int(i64::try_from(v).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value {
    fn from(v: u32) -> Self {
        Self::Int(i64::from(v))
    }
}

impl From<i32> for Value {
    fn from(v: i32) -> Self {
        Self::Int(i64::from(v))
    }
}

impl From<u8> for Value {
    fn from(v: u8) -> Self {
        Self::Int(i64::from(v))
    }
}

impl From<bool> for Value {
    fn from(v: bool) -> Self {
        Self::Int(i64::from(v))
    }
}

macro_rules! from_kinds {
    ($($kind:ident),+) => {
        $(impl From<objects::$kind> for Value {
            fn from(kind: objects::$kind) -> Self {
                Self::Int(kind.number())
            }
        })+
    };
}

from_kinds!(
    GroupKind,
    HostKind,
    InventoryMode,
    ItemType,
    OnFail,
    Origin,
    Status,
    StepKind,
    ValueType
);

impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Self::Text(v.to_owned())
    }
}

impl From<String> for Value {
    fn from(v: String) -> Self {
        Self::Text(v)
    }
}

/// A column of the row at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell<'r> {
    /// Of a BIGINT column.
    Int(i64),
    /// Of a TEXT column.
    Text(Cow<'r, str>),
}

/// Columns of the row at hand, by their place in the query.
pub trait Cells {
    /// The column as it is stored.
    fn cell(&self, at: usize) -> Cell<'_>;

    /// The row with its values, to keep it.
    fn to_row(&self, columns: &Arc<[Box<str>]>) -> Row {
        let value = |at| match self.cell(at) {
            Cell::Int(v) => Value::Int(v),
            Cell::Text(text) => Value::Text(text.into_owned()),
        };
        Row { columns: Arc::clone(columns), values: (0..columns.len()).map(value).collect() }
    }

    /// A number; 0 if there is none.
    fn int(&self, at: usize) -> i64;

    /// A text; empty if there is none.
    fn text(&self, at: usize) -> &str;

    /// An id; 0 = none.
    fn id(&self, at: usize) -> u64 {
        u64::try_from(self.int(at)).unwrap_or(0)
    }

    /// A number of one byte; 255 if it is none.
    fn small(&self, at: usize) -> u8 {
        u8::try_from(self.int(at)).unwrap_or(u8::MAX)
    }
}

impl Cells for Row {
    fn cell(&self, at: usize) -> Cell<'_> {
        match self.values.get(at) {
            Some(Value::Int(v)) => Cell::Int(*v),
            Some(Value::Text(text)) => Cell::Text(Cow::Borrowed(text)),
            None => Cell::Int(0),
        }
    }

    fn int(&self, at: usize) -> i64 {
        self.values.get(at).map_or(0, Value::as_int)
    }

    fn text(&self, at: usize) -> &str {
        match self.values.get(at) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }
}

/// A row: columns by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub(super) columns: Arc<[Box<str>]>,
    pub(super) values: Vec<Value>,
}

impl Row {
    /// A row of these columns.
    pub(crate) fn new<'c>(columns: impl IntoIterator<Item = (&'c str, Value)>) -> Self {
        let (names, values): (Vec<Box<str>>, Vec<Value>) =
            columns.into_iter().map(|(name, value)| (Box::from(name), value)).unzip();
        Self { columns: names.into(), values }
    }

    /// The column, if the query has it.
    pub fn get(&self, column: &str) -> Option<&Value> {
        let at = self.columns.iter().position(|name| **name == *column)?;
        self.values.get(at)
    }

    /// A number; 0 if there is none.
    pub fn int(&self, column: &str) -> i64 {
        self.get(column).map_or(0, Value::as_int)
    }

    /// An id; 0 = none.
    pub fn id(&self, column: &str) -> u64 {
        u64::try_from(self.int(column)).unwrap_or(0)
    }

    /// A text; empty if there is none.
    pub fn text(&self, column: &str) -> &str {
        match self.get(column) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// Columns with their values, in the order of the query.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.columns.iter().map(|name| &**name).zip(&self.values)
    }
}
