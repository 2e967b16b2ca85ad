//! The statement of a `get`.

use std::collections::HashMap;
use std::ops::ControlFlow;

use config::db::{Cells, Row, Value, query_by_ids};
use foldhash::fast::RandomState;

use super::{Found, Keep, Output, Rank};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::found::{FoundRow, ShownColumns};
use crate::object::{Field, Object};

/// The statement of a `get`.
pub(super) struct Query<'c> {
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
    pub(super) limit: Option<i64>,
    pub(super) offset: i64,
    /// Which of the rows are in the result.
    pub(super) keep: Option<Keep<'c>>,
    /// Their order, if it is not that of the statement.
    pub(super) rank: Option<Rank<'c>>,
    /// The statement gives only keys, because the limit counts rows that `keep` accepts.
    pub(super) keys_only: bool,
}

impl<'c> Query<'c> {
    /// What the statement selects.
    pub(super) fn selects(&self, object: &Object) -> String {
        if self.keys_only {
            return format!("t.{}", object.key);
        }
        if self.counts { "COUNT(*) AS n".to_owned() } else { self.selected() }
    }

    /// Limit and offset of the statement.
    pub(super) fn window(&self) -> String {
        let (offset, mut sql) = (self.offset, String::new());
        if self.keys_only {
            return sql;
        }
        // SQLite takes an offset only behind a limit.
        if let Some(limit) = self.limit.or((offset > 0).then_some(i64::MAX)) {
            sql += &format!(" LIMIT {limit}");
        }
        if offset > 0 {
            sql += &format!(" OFFSET {offset}");
        }
        sql
    }

    /// Ids of the result where the statement gives only keys.
    pub(super) fn kept(&self, call: &Call<'_>) -> ApiResult<Vec<u64>> {
        let mut ids = Vec::new();
        let Some(keep) = self.keep.as_ref().filter(|_| self.keys_only) else { return Ok(ids) };
        let number = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
        let (skipped, limit) = (number(self.offset), self.limit.map_or(usize::MAX, number));
        let limit = if self.counts { usize::MAX } else { limit };
        let read = if self.rank.is_some() { usize::MAX } else { limit.saturating_add(skipped) };
        call.read(|connection| {
            let row = &mut |row: &dyn Cells| {
                let id = row.id(0);
                if keep(id) {
                    ids.push(id);
                }
                if ids.len() < read { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            Ok::<_, ApiError>(connection.each_until(&self.sql, &self.values, row)?)
        })?;
        if let Some(rank) = &self.rank {
            ids.sort_by_key(|id| rank(*id));
        }
        Ok(ids.into_iter().skip(skipped).take(limit).collect())
    }

    /// Rows with these ids, in no order.
    pub(super) fn by_ids(
        &self,
        call: &Call<'_>,
        object: &Object,
        ids: &[u64],
    ) -> ApiResult<Vec<Row>> {
        let (columns, table, key) = (self.selected(), object.table, object.key);
        let sql = format!("SELECT {columns} FROM {table} t WHERE t.{key} IN ({{ids}})");
        call.read(|connection| Ok(query_by_ids(connection, &sql, &[], ids)?))
    }

    /// The same in the order of the ids, without those that are gone.
    pub(super) fn in_order(
        &self,
        call: &Call<'_>,
        object: &Object,
        ids: &[u64],
    ) -> ApiResult<Vec<Row>> {
        let found = self.by_ids(call, object, ids)?.into_iter();
        let mut found: HashMap<u64, Row, RandomState> =
            found.map(|row| (row.id(object.key), row)).collect();
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

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
        let shows = |field: &&Field| {
            self.output.has_field(field)
                || (field.name == object.key && !object.strict && !self.hides_key)
        };
        let also = self.also_shown.iter().filter_map(|name| object.field(name));
        object.columns().filter(shows).chain(also.filter(move |field| !shows(field)))
    }

    /// The places of those, and of the key.
    pub(super) fn shown_columns(&self, object: &'static Object) -> ShownColumns {
        let shown = self.shown(object).map(|field| (self.position(field.name), field));
        ShownColumns { key: self.position(object.key), shown: shown.collect() }
    }

    pub(super) fn run<'a>(
        self,
        call: &'c Call<'a>,
        params: &'c Json,
        object: &'static Object,
    ) -> ApiResult<Found<'c, 'a>> {
        let kept = self.kept(call)?;
        let (mut rows, count) = match (self.keys_only, self.counts) {
            (true, true) => (Vec::new(), i64::try_from(kept.len()).unwrap_or(i64::MAX)),
            (true, false) => (self.in_order(call, object, &kept)?, 0),
            (false, counts) => {
                let rows = call.rows(&self.sql, &self.values)?;
                let count = if counts { rows.first().map_or(0, |row| row.int("n")) } else { 0 };
                (rows, count)
            }
        };
        if let Some(keep) = self.keep.as_ref().filter(|_| !self.counts) {
            rows.retain(|row| keep(row.id(object.key)));
        }
        let total = self.counts.then_some(count);
        let rows = if self.counts { Vec::new() } else { rows };
        let columns = self.shown_columns(object);
        let rows = rows.into_iter().map(|row| FoundRow::new(&columns, row)).collect();
        Ok(Found { call, params, output: self.output, total, rows })
    }
}
