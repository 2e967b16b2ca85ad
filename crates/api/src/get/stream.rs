//! Rows of a `get` on their way from the database to the answer: only some are in memory at once.
//!
//! Rows that go out as they are stored are written while the statement runs, as long as the client
//! keeps up. Of all others, only the ids are kept, and the rows are read and completed in windows.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use config::db::{Cell, Cells, Row};
use foldhash::fast::RandomState;

use super::{Found, Get, Query};
use crate::answer::{Answer, push_json, push_number, push_text, separate};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::found::FoundRow;
use crate::object::{FieldKind, Object};
use crate::params;

/// Rows that are completed at once.
const WINDOW: usize = if cfg!(test) { 40 } else { 250 };
/// The same where each row may get many objects.
const WINDOW_OF_MANY: usize = 50;
/// Options that give each row many objects.
const MANY: &[&str] = &["selectItems", "selectTriggers", "selectGraphs", "selectHosts"];
/// What a call with several windows takes of the memory of all answers for them.
const WINDOW_BYTES: usize = 1 << 20;

impl<'c, 'a> Get<'c, 'a> {
    /// The result of the method: each row with what `work` does to it. `work` sees some of the rows
    /// at a time, so it must treat each row for itself. An option `select…` or `expand…`, or output
    /// named in [`Get::works_on`], is what makes it necessary; otherwise it is not called.
    pub(crate) fn answer(
        mut self,
        work: impl Fn(&mut Found<'c, 'a>) -> ApiResult<()>,
    ) -> ApiResult<Json> {
        let (call, params, object) = (self.call, self.params, self.object);
        let counts = self.flag("countOutput");
        let Some(answer) = (!counts).then(|| call.take_answer()).flatten() else {
            let mut found = self.run()?;
            work(&mut found)?;
            return Ok(found.finish());
        };
        let adds = adds_members(params);
        let output = self.output()?;
        let is_plain = !adds && !self.works_on.iter().any(|name| output.has(name));
        let at_once = self.from_memory && !adds && call.is_super_admin();
        if is_plain {
            self.needed.clone_from(&self.also_shown);
        }
        let mut query = self.query()?;
        query.hides_key = answer.hides_key();
        let keyed = params::flag(params.get("preservekeys"));
        let mut rows = Rows { answer, keyed, n: 0 };
        let stream = Stream { call, params, object, query };
        match (is_plain, at_once) {
            (true, _) => stream.plain(&mut rows)?,
            (false, true) => stream.at_once(&mut rows, work)?,
            (false, false) => stream.windows(&mut rows, work)?,
        }
        rows.end()?;
        Ok(Json::Null)
    }
}

/// Is there an option that adds members or changes them?
fn adds_members(params: &Json) -> bool {
    let adds = |(name, value): (&String, &Json)| {
        !value.is_null() && (name.starts_with("select") || name.starts_with("expand"))
    };
    params.as_object().is_some_and(|members| members.iter().any(adds))
}

/// Writes rows as members or as a list.
struct Rows<'w> {
    answer: &'w Answer,
    keyed: bool,
    n: usize,
}

impl Rows<'_> {
    fn push(&mut self, id: u64, row: impl FnOnce(&mut Vec<u8>)) -> ApiResult<()> {
        let Self { answer, keyed, n } = *self;
        self.n += 1;
        let before = |out: &mut Vec<u8>| {
            if n == 0 {
                out.push(if keyed { b'{' } else { b'[' });
            }
            separate(out, n);
            if keyed {
                push_number(out, i64::try_from(id).unwrap_or(i64::MAX));
                out.push(b':');
            }
        };
        answer.row(id, before, row)
    }

    /// An empty result is an array in any case, as in [`crate::out::keyed`].
    fn end(self) -> ApiResult<()> {
        let Self { answer, keyed, n } = self;
        let end: &[u8] = match (n, keyed) {
            (0, _) => b"[]",
            (_, true) => b"}",
            (_, false) => b"]",
        };
        answer.write(|out| out.extend_from_slice(end))
    }
}

struct Stream<'c, 'a> {
    call: &'c Call<'a>,
    params: &'c Json,
    object: &'static Object,
    query: Query<'c>,
}

impl<'c, 'a> Stream<'c, 'a> {
    /// Shows each row to `first` until that takes no more (`Ok(false)`), and returns the ids of the
    /// rows from there on. The statement does not wait for the client.
    fn split(
        &self,
        first: &mut dyn FnMut(u64, &dyn Cells) -> ApiResult<bool>,
    ) -> ApiResult<Vec<u64>> {
        if self.query.keys_only {
            return self.query.kept(self.call);
        }
        let keep = |id| self.query.keep.as_ref().is_none_or(|keep| keep(id));
        let key = self.query.position(self.object.key);
        let (mut rest, mut takes, mut failed) = (Vec::new(), true, None);
        self.call.read(|connection| {
            let row = &mut |row: &dyn Cells| {
                let id = row.id(key);
                if !keep(id) {
                    return ControlFlow::Continue(());
                }
                if takes {
                    match first(id, row) {
                        Ok(took) => takes = took,
                        Err(error) => {
                            failed = Some(error);
                            return ControlFlow::Break(());
                        }
                    }
                }
                if !takes {
                    rest.push(id);
                }
                ControlFlow::Continue(())
            };
            Ok::<_, ApiError>(connection.each_until(&self.query.sql, &self.query.values, row)?)
        })?;
        failed.map_or(Ok(rest), Err)
    }

    fn plain(&self, rows: &mut Rows<'_>) -> ApiResult<()> {
        let plain = PlainRow::new(self.object, &self.query);
        let rest = self.split(&mut |id, row| {
            let takes = !rows.answer.is_full();
            if takes {
                rows.push(id, |out| plain.write(out, row))?;
            }
            Ok(takes)
        })?;
        if self.query.columns == [self.object.key] {
            // The id is all there is of a row.
            for id in rest {
                rows.push(id, |out| plain.write(out, &Key(id)))?;
            }
            return Ok(());
        }
        for ids in rest.chunks(WINDOW) {
            let (mut text, mut place) = (Vec::new(), HashMap::<_, _, RandomState>::default());
            for row in self.query.by_ids(self.call, self.object, ids)? {
                let start = text.len();
                plain.write(&mut text, &row);
                place.insert(row.id(self.object.key), start..text.len());
            }
            for id in ids {
                // A row that was deleted meanwhile is left out.
                let Some(row) = place.remove(id) else { continue };
                rows.push(*id, |out| out.extend_from_slice(&text[row]))?;
            }
        }
        Ok(())
    }

    /// Rows that are completed without the database, while the statement runs.
    fn at_once(
        &self,
        rows: &mut Rows<'_>,
        work: impl Fn(&mut Found<'c, 'a>) -> ApiResult<()>,
    ) -> ApiResult<()> {
        let columns = self.columns();
        // Rows to complete, and complete ones for which the answer had no room: a statement does not
        // wait for a client.
        let (mut some, mut late) = (Vec::new(), Vec::new());
        let rest = self.split(&mut |_, row| {
            if some.len() == WINDOW {
                for row in self.complete(std::mem::take(&mut some), &work)? {
                    if late.is_empty() && !rows.answer.is_full() {
                        rows.push(row.id, |out| row.write(out))?;
                    } else {
                        late.push(row);
                    }
                }
            }
            let takes = late.is_empty() && !rows.answer.is_full();
            if takes {
                some.push(row.to_row(&columns));
            }
            Ok(takes)
        })?;
        for row in late {
            rows.push(row.id, |out| row.write(out))?;
        }
        self.window(rows, some, &work)?;
        self.rest(rows, &rest, WINDOW, work)
    }

    fn columns(&self) -> Arc<[Box<str>]> {
        self.query.columns.iter().map(|name| Box::from(*name)).collect()
    }

    fn windows(
        &self,
        rows: &mut Rows<'_>,
        work: impl Fn(&mut Found<'c, 'a>) -> ApiResult<()>,
    ) -> ApiResult<()> {
        let wants =
            |name: &&str| self.params.get(name).is_some_and(|v| !v.is_null() && v != "count");
        let window = if MANY.iter().any(wants) { WINDOW_OF_MANY } else { WINDOW };
        let columns = self.columns();
        let mut first: Vec<Row> = Vec::new();
        let rest = self.split(&mut |_, row| {
            let takes = first.len() < window;
            if takes {
                first.push(row.to_row(&columns));
            }
            Ok(takes)
        })?;
        self.window(rows, first, &work)?;
        self.rest(rows, &rest, window, work)
    }

    /// The rows of which only the ids were kept.
    fn rest(
        &self,
        rows: &mut Rows<'_>,
        rest: &[u64],
        window: usize,
        work: impl Fn(&mut Found<'c, 'a>) -> ApiResult<()>,
    ) -> ApiResult<()> {
        let windows = if rest.is_empty() { 0 } else { WINDOW_BYTES };
        let _memory = self.call.hold(windows)?;
        for ids in rest.chunks(window) {
            let found = self.query.in_order(self.call, self.object, ids)?;
            self.window(rows, found, &work)?;
        }
        Ok(())
    }

    fn window(
        &self,
        rows: &mut Rows<'_>,
        window: Vec<Row>,
        work: &impl Fn(&mut Found<'c, 'a>) -> ApiResult<()>,
    ) -> ApiResult<()> {
        for row in self.complete(window, work)? {
            rows.push(row.id, |out| row.write(out))?;
        }
        Ok(())
    }

    fn complete(
        &self,
        window: Vec<Row>,
        work: &impl Fn(&mut Found<'c, 'a>) -> ApiResult<()>,
    ) -> ApiResult<Vec<FoundRow>> {
        self.call.gone.check()?;
        let columns = self.query.shown_columns(self.object);
        let row = |row| FoundRow::new(&columns, row);
        let mut found = Found {
            call: self.call,
            params: self.params,
            rows: window.into_iter().map(row).collect(),
            output: self.query.output.clone(),
            total: None,
        };
        work(&mut found)?;
        Ok(found.rows)
    }
}

/// A row with nothing but its key.
struct Key(u64);

impl Cells for Key {
    fn cell(&self, at: usize) -> Cell<'_> {
        Cell::Int(self.int(at))
    }

    fn int(&self, _at: usize) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    fn text(&self, _at: usize) -> &str {
        ""
    }
}

/// How a row that needs no work is written.
struct PlainRow {
    /// What stands before the value, the column, its kind.
    members: Vec<(Vec<u8>, usize, FieldKind)>,
}

impl PlainRow {
    fn new(object: &'static Object, query: &Query<'_>) -> Self {
        let members = query.shown(object).enumerate().map(|(n, field)| {
            let mut before = Vec::new();
            separate(&mut before, n);
            push_text(&mut before, field.name);
            before.push(b':');
            (before, query.position(field.name), field.kind)
        });
        Self { members: members.collect() }
    }

    fn write(&self, out: &mut Vec<u8>, row: &dyn Cells) {
        out.push(b'{');
        for (before, at, kind) in &self.members {
            out.extend_from_slice(before);
            match row.cell(*at) {
                Cell::Text(text) => match kind.stored_json(&text) {
                    Some(value) => push_json(out, &value),
                    None => push_text(out, &text),
                },
                Cell::Int(v) => push_number(out, v),
            }
        }
        out.push(b'}');
    }
}
