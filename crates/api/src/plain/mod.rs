//! Methods of plain objects: rows of a table with lists of rows of their own. What an object is stands
//! in its [`Spec`]; what only it does, in the hooks of its [`Plain`].

mod child;
mod only;
mod read;
mod write;

use config::Edit;
use config::db::{Row, Value};
use config::schema::Table;

use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::found::Found;
use crate::get::Get;
use crate::object::{Columns, Object};
use crate::permission::Need;
use crate::relate::Relation;

pub(crate) use child::{Child, Key, Seen, Select, number, text};
#[cfg(test)]
pub(crate) use only::check_rules;
pub(crate) use only::{OnlyWhen, complete as complete_kinds, only};
pub(crate) use read::read;
pub(crate) use write::{change, insert, remove, rows};

/// What a plain object is, beside its fields.
pub(crate) struct Spec {
    /// Its fields.
    pub(crate) object: &'static Object,
    /// Table that writes go to.
    pub(crate) table: &'static Table,
    /// Options of `get` that take ids, with the condition that they stand for.
    pub(crate) by_ids: &'static [(&'static str, &'static str)],
    /// Further options of `get`, for [`Plain::select`] and [`Plain::show`].
    pub(crate) options: &'static [&'static str],
    /// Fields that are given once only and never change.
    pub(crate) fixed: &'static [&'static str],
    /// Fields that together no other object may have.
    pub(crate) unique: Option<Unique>,
    /// Column with the host or template that it belongs to: its rights are those on that.
    pub(crate) of_host: Option<&'static str>,
    /// Lists of rows that belong to it.
    pub(crate) children: &'static [Child],
    /// Objects of other kinds that it shows.
    pub(crate) relations: &'static [Related],
}

impl Spec {
    /// An object that is read by its ids, with nothing else.
    pub(crate) const fn new(
        object: &'static Object,
        table: &'static Table,
        by_ids: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            object,
            table,
            by_ids,
            options: &[],
            fixed: &[],
            unique: None,
            of_host: None,
            children: &[],
            relations: &[],
        }
    }
}

/// Fields that no two objects share.
pub(crate) struct Unique {
    pub(crate) columns: &'static [&'static str],
    /// Condition on the rows among which they are unique; `None` = all.
    pub(crate) among: Option<&'static str>,
    /// The error, where `{name}` is the value of the column `name`.
    pub(crate) error: &'static str,
}

/// Objects of another kind that `get` shows.
pub(crate) struct Related {
    /// The option.
    pub(crate) select: &'static str,
    /// The option takes `"count"`.
    pub(crate) counts: bool,
    /// The other objects.
    pub(crate) relation: Relation,
    /// Pairs of ids, this object's first, by `{ids}`.
    pub(crate) pairs: &'static str,
}

/// An object as a call gives it.
pub(crate) struct Draft<'j> {
    /// Where it stands in the parameters.
    pub(crate) path: String,
    /// Its id; 0 = it is new.
    pub(crate) id: u64,
    /// What is given.
    pub(crate) input: &'j Json,
    /// Columns that are given.
    pub(crate) columns: Columns,
    /// Lists of rows, in the order of [`Spec::children`]; `None` = not given.
    pub(crate) children: Vec<Option<Vec<Columns>>>,
}

impl Draft<'_> {
    /// The value that the object will have in a column: the given one, or the one that it has.
    pub(crate) fn value(&self, column: &str, before: Option<&Row>) -> Value {
        let given = self.columns.iter().find(|(name, _)| *name == column);
        match (given, before) {
            (Some((_, value)), _) => value.clone(),
            (None, Some(row)) => row.get(column).cloned().unwrap_or_else(|| Value::from("")),
            (None, None) => Value::from(""),
        }
    }

    /// The same as a text.
    pub(crate) fn text(&self, column: &str, before: Option<&Row>) -> String {
        self.value(column, before).to_string()
    }

    /// Whether the call gives the column a value.
    pub(crate) fn gives(&self, column: &str) -> bool {
        self.columns.iter().any(|(name, _)| *name == column)
    }

    /// Gives the column a value.
    pub(crate) fn set(&mut self, column: &'static str, value: impl Into<Value>) {
        self.columns.retain(|(name, _)| *name != column);
        self.columns.push((column, value.into()));
    }
}

/// What only this object does. All of it is optional. The hooks of a write run in this order.
pub(crate) trait Plain: Sync {
    /// What the object is.
    fn spec(&self) -> &'static Spec;

    /// Refuses a call whatever it says.
    fn allow(&self, _call: &Call<'_>, _action: Action) -> ApiResult<()> {
        Ok(())
    }

    /// Limits `get` to what this user may see, and by the object's own options.
    fn select(&self, _get: &mut Get<'_, '_>, _call: &Call<'_>, _input: &Json) -> ApiResult<()> {
        Ok(())
    }

    /// Adds to what `get` shows.
    fn show(&self, _found: &mut Found<'_, '_>) -> ApiResult<()> {
        Ok(())
    }

    /// Refuses or completes an object as it is given, before anything is read.
    fn given(&self, _call: &Call<'_>, _draft: &mut Draft<'_>) -> ApiResult<()> {
        Ok(())
    }

    /// Refuses to change objects; `rows` are theirs, none for new ones.
    fn may_write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        _drafts: &[Draft<'_>],
        _rows: &[Row],
    ) -> ApiResult<()> {
        Ok(())
    }

    /// Refuses or completes an object before it is written; `before` is its row, if it has one.
    fn write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        _draft: &mut Draft<'_>,
        _before: Option<&Row>,
    ) -> ApiResult<()> {
        Ok(())
    }

    /// Completes what was written, or refuses it after all.
    fn written(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        _drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        Ok(())
    }

    /// Deletes objects, with what does not go by itself, or refuses to.
    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        delete_rows(self.spec(), edit, rows)
    }

    /// Does what follows when objects are gone.
    fn deleted(&self, _call: &Call<'_>, _ids: &[u64]) -> ApiResult<()> {
        Ok(())
    }
}

/// Deletes the rows of objects.
pub(crate) fn delete_rows(spec: &Spec, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id(spec.object.key)).collect();
    crate::avi::forget_deleted(edit, spec.object.name, &ids)?;
    Ok(edit.delete(spec.table, spec.object.key, &ids)?)
}

/// What a method does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Get,
    Create,
    Update,
    Delete,
}

impl Action {
    /// As in the name of the method.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// The `get` method of an object.
pub(crate) fn get<P: Plain + Default>(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    read(&P::default(), call, input)
}

/// The `create` method of an object.
pub(crate) fn create<P: Plain + Default>(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    insert(&P::default(), call, input)
}

/// The `update` method of an object.
pub(crate) fn update<P: Plain + Default>(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    change(&P::default(), call, input)
}

/// The `delete` method of an object.
pub(crate) fn delete<P: Plain + Default>(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    remove(&P::default(), call, input)
}

/// What `get` needs, by its option `editable`.
pub(crate) fn need(get: &Get<'_, '_>) -> Need {
    Need::of_get(get.flag("editable"))
}
