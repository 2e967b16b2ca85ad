//! What a `get` found: rows on their way to output, where `select…` options add to them.

use std::collections::HashMap;

use config::db::{Cell, Cells, Row, Value};
use foldhash::fast::RandomState;

use crate::answer::{push_number, push_text, separate};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::object::Field;
use crate::out::{self, Out};
use crate::params;

/// Where a statement has what goes out.
pub(crate) struct ShownColumns {
    /// Place of the column with the row's id.
    pub(crate) key: usize,
    /// Places of the columns that go out, in their order.
    pub(crate) shown: Vec<(usize, &'static Field)>,
}

/// A row and what of it goes out.
#[derive(Debug)]
pub(crate) struct FoundRow {
    pub(crate) id: u64,
    /// The row with all columns that were read.
    pub(crate) row: Row,
    /// The output so far.
    pub(crate) out: Out,
}

impl FoundRow {
    /// A row with these columns in the output.
    pub(crate) fn new(columns: &ShownColumns, row: Row) -> Self {
        let mut out = Out::with_capacity(columns.shown.len() + 4);
        for (at, field) in &columns.shown {
            match row.cell(*at) {
                Cell::Int(v) => out.push_int(field.name, v),
                Cell::Text(text) => match field.kind.stored_json(&text) {
                    Some(value) => out.push(field.name, value),
                    None => out.push_text(field.name, &text),
                },
            }
        }
        Self { id: Cells::id(&row, columns.key), row, out }
    }

    /// Appends the output as JSON.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.out.write(out);
    }
}

/// Rows of a `get`.
#[derive(Debug)]
pub(crate) struct Found<'c, 'a> {
    pub(crate) call: &'c Call<'a>,
    /// Options of the call.
    pub(crate) params: &'c Json,
    /// Wanted fields.
    pub(crate) output: Output,
    /// With `countOutput`: how many.
    pub(crate) total: Option<i64>,
    /// The rows in order.
    pub(crate) rows: Vec<FoundRow>,
}

impl Found<'_, '_> {
    /// Ids of all rows.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.rows.iter().map(|row| row.id).collect()
    }

    /// What a `select…` option asks for; `None` = not asked, or nothing found to add to.
    pub(crate) fn wants(&self, option: &str) -> ApiResult<Option<Output>> {
        match self.params.get(option) {
            Some(value) => {
                let wanted = Output::parse(value, &format!("/{option}"))?;
                Ok(wanted.filter(|_| !self.rows.is_empty()))
            }
            None => Ok(None),
        }
    }

    /// The same for an option that does not count: `"count"` is refused.
    pub(crate) fn wants_list(&self, option: &str) -> ApiResult<Option<Output>> {
        match self.params.get(option) {
            Some(Json::String(text)) if text != "extend" => {
                Err(ApiError::at(&format!("/{option}"), "value must be \"extend\""))
            }
            _ => self.wants(option),
        }
    }

    /// The same for an option where `"count"` is ignored, as older methods do.
    pub(crate) fn wants_uncounted(&self, option: &str) -> ApiResult<Option<Output>> {
        Ok(self.wants(option)?.filter(|wanted| *wanted != Output::Count))
    }

    /// An option of the call.
    pub(crate) fn option(&self, name: &str) -> Option<&Json> {
        self.params.get(name)
    }

    /// Adds `member` to each row: rows of an owned table (tags, macros, mappings …), the columns
    /// of `fields` that are wanted. `sql` has `{ids}` and gives a column `owner`.
    pub(crate) fn attach(
        &mut self,
        member: &'static str,
        wanted: &Output,
        sql: &str,
        fields: &[&str],
    ) -> ApiResult<()> {
        let ids = self.ids();
        let rows = self.call.read(|c| Ok(config::db::query_by_ids(c, sql, &[], &ids)?))?;
        let shown: Vec<&str> = fields.iter().copied().filter(|name| wanted.has(name)).collect();
        // Number and text of what belongs to each row.
        let mut of_row: HashMap<u64, (usize, Vec<u8>), RandomState> = HashMap::default();
        for row in rows {
            let (n, text) = of_row.entry(row.id("owner")).or_default();
            separate(text, *n);
            *n += 1;
            text.push(b'{');
            let values = shown.iter().filter_map(|name| Some((name, row.get(name)?)));
            for (n, (name, value)) in values.enumerate() {
                separate(text, n);
                push_text(text, name);
                text.push(b':');
                match value {
                    Value::Int(v) => push_number(text, *v),
                    Value::Text(value) => push_text(text, value),
                }
            }
            text.push(b'}');
        }
        for row in &mut self.rows {
            let (n, text) = of_row.remove(&row.id).unwrap_or_default();
            if *wanted == Output::Count {
                row.out.insert(member, n.to_string().into());
            } else {
                row.out.insert_text(member, [b"[", &text[..], b"]"].concat());
            }
        }
        Ok(())
    }

    /// The answer.
    pub(crate) fn finish(self) -> Json {
        if let Some(total) = self.total {
            return Json::String(total.to_string());
        }
        if params::flag(self.params.get("preservekeys")) {
            let rows = self.rows.into_iter().map(|row| (row.id.to_string(), row.out.into_json()));
            return out::keyed(rows.collect());
        }
        self.rows.into_iter().map(|row| row.out.into_json()).collect()
    }
}

impl Call<'_> {
    /// Pairs of ids: the first two columns of a query with `{ids}`.
    pub(crate) fn pairs(&self, sql: &str, ids: &[u64]) -> ApiResult<Vec<(u64, u64)>> {
        let rows = self.read(|c| Ok(config::db::query_by_ids(c, sql, &[], ids)?))?;
        let number =
            |value: Option<&Value>| value.map_or(0, |v| u64::try_from(v.as_int()).unwrap_or(0));
        Ok(rows
            .iter()
            .map(|row| {
                let mut columns = row.iter().map(|(_, value)| value);
                (number(columns.next()), number(columns.next()))
            })
            .collect())
    }
}
