//! The statement of a `get`.

use config::db::Value;

use super::{Found, Output};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::found::FoundRow;
use crate::object::{Field, Object};

/// The statement of a `get`.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
    /// It gives a number, not rows.
    pub(super) counts: bool,
    pub(super) output: Output,
    /// Columns of its rows.
    pub(super) columns: Vec<&'static str>,
    /// Those shown behind the output.
    pub(super) also_shown: Vec<&'static str>,
    /// The key is only shown if it is asked for.
    pub(super) hides_key: bool,
}

impl Query {
    /// The columns in a statement.
    pub(super) fn selected(&self) -> String {
        self.columns.iter().map(|name| format!("t.{name}")).collect::<Vec<_>>().join(", ")
    }

    /// Place of a column, which is one of them.
    pub(super) fn position(&self, column: &str) -> usize {
        let at = self.columns.iter().position(|name| *name == column);
        at.unwrap_or_else(|| panic!("BUG: {column} is not read"))
    }

    /// The columns that go out, in their order.
    pub(super) fn shown(&self, object: &'static Object) -> impl Iterator<Item = &'static Field> {
        let shows =
            |name: &str| self.output.has(name) || (name == object.key && !object.strict && !self.hides_key);
        let output = object.columns().filter(move |field| shows(field.name));
        let also = self.also_shown.iter().filter(move |name| !shows(name));
        output.chain(also.filter_map(|name| object.field(name)))
    }

    pub(super) fn run<'c, 'a>(
        self,
        call: &'c Call<'a>,
        params: &'c Json,
        object: &'static Object,
    ) -> ApiResult<Found<'c, 'a>> {
        let rows = call.rows(&self.sql, &self.values)?;
        let total = self.counts.then(|| rows.first().map_or(0, |row| row.int("n")));
        let rows = if self.counts { Vec::new() } else { rows };
        let shown: Vec<&Field> = self.shown(object).collect();
        let rows = rows.into_iter().map(|row| FoundRow::new(object, &shown, row)).collect();
        Ok(Found { call, params, output: self.output, total, rows })
    }
}
