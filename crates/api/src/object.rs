//! One table per API object: fields with type, default, rule and documentation. Validation of
//! writes, output and filters of reads come from it.

use std::collections::BTreeSet;

use config::db::Value;
use serde_json::json;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::params;

/// An API object.
#[derive(Debug)]
pub(crate) struct Object {
    /// As in `hostgroup.get`.
    pub(crate) name: &'static str,
    /// Its database table, or a subquery in brackets that gives the columns.
    pub(crate) table: &'static str,
    /// Its id field, which is the table's key.
    pub(crate) key: &'static str,
    /// Id field in results of writes, as in `groupids`.
    pub(crate) keys: &'static str,
    /// Fields in the order of output.
    pub(crate) fields: &'static [Field],
    /// `get` refuses options that it does not know, and gives the id only when asked to.
    pub(crate) strict: bool,
    /// Fields to sort by.
    pub(crate) sort: &'static [&'static str],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// Its name in the API and in the table.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) kind: FieldKind,
    /// Who may set it.
    pub(crate) access: Access,
    /// One line for people.
    pub(crate) doc: &'static str,
    /// Its column, where that has another name.
    pub(crate) column: &'static str,
    /// For which objects it counts; `None` = for all.
    pub(crate) when: Option<When>,
    /// Refuses a text, by the columns of the fields before it; the error is for people.
    pub(crate) test: Option<Test>,
    /// It is the id of a host, in a list of rows: 0 for users who may not see the host.
    pub(crate) of_host: bool,
    /// It is in the output of `get` only if `output` names it: Zabbix does not have it.
    pub(crate) named: bool,
}

/// A field counts by the value of one before it in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct When {
    /// The field before it.
    pub(crate) field: &'static str,
    /// The values for which it counts, and is required if it is one that must be given.
    pub(crate) values: &'static [i64],
    /// Why anything but an empty text is refused for other values.
    pub(crate) error: &'static str,
}

/// See [`Field::test`].
pub(crate) type Test = fn(&Columns, &str) -> Result<(), &'static str>;

impl Field {
    /// The same field in a column of another name.
    pub(crate) const fn in_column(self, column: &'static str) -> Self {
        Self { column, ..self }
    }

    /// The same field, which counts only where the field before it has one of these values.
    pub(crate) const fn when(
        self,
        field: &'static str,
        values: &'static [i64],
        error: &'static str,
    ) -> Self {
        Self { when: Some(When { field, values, error }), ..self }
    }

    /// The same field of a list, with the id of a host that not every user may see.
    pub(crate) const fn of_host(self) -> Self {
        Self { of_host: true, ..self }
    }

    /// The same field, which `get` shows only if `output` names it.
    pub(crate) const fn named(self) -> Self {
        Self { named: true, ..self }
    }

    /// The same field with a test of its text.
    pub(crate) const fn tested(self, test: Test) -> Self {
        Self { test: Some(test), ..self }
    }

    /// Checks a value that is given; `before` are the columns of the fields before it.
    fn check(&self, value: &Json, path: &str, before: &Columns) -> ApiResult<Option<Value>> {
        let Some(value) = self.kind.check(value, path)? else { return Ok(None) };
        if let Value::Text(text) = &value {
            match self.when.filter(|when| !when.holds(before)) {
                Some(when) if !text.is_empty() => return Err(ApiError::at(path, when.error)),
                Some(_) => {}
                None => {
                    let test = self.test.map_or(Ok(()), |test| test(before, text));
                    test.map_err(|error| ApiError::at(path, error))?;
                }
            }
        }
        Ok(Some(value))
    }
}

impl When {
    fn holds(&self, before: &Columns) -> bool {
        let value = before.iter().find(|(name, _)| *name == self.field);
        self.values.contains(&value.map_or(0, |(_, value)| value.as_int()))
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FieldKind {
    /// Reference to another object; "0" = none.
    Id,
    /// Whole number in a range.
    Int(i64, i64),
    /// One of these numbers.
    OneOf(&'static [i64]),
    /// Text of at most so many characters; 0 = any length.
    Text(usize),
    /// Text that cannot be empty.
    Name(usize),
    /// Array or object that the method itself reads; no column of its own.
    Nested,
    /// JSON text in one column; the method itself validates and writes it.
    Json,
    /// The same, an object or a list of any form.
    Document,
    /// The same, an object of settings; an empty column is `null`. See [`params::settings`].
    Settings,
}

/// Who may set a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Must be given to create.
    Required,
    /// May be given.
    Optional,
    ReadOnly,
    /// Only written (secrets); never in output.
    WriteOnly,
}

/// Shorthand for field tables.
pub(crate) const fn field(
    name: &'static str,
    kind: FieldKind,
    access: Access,
    doc: &'static str,
) -> Field {
    Field {
        name,
        kind,
        access,
        doc,
        column: name,
        when: None,
        test: None,
        of_host: false,
        named: false,
    }
}

/// Whether a write makes or changes an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Create,
    /// `update`: the id must be given, all else may be left out.
    Update,
}

/// Columns and their new values.
pub(crate) type Columns = Vec<(&'static str, Value)>;

impl Object {
    /// The field of that name.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Fields that `get` can give and that are columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().filter(|field| {
            field.access != Access::WriteOnly && !matches!(field.kind, FieldKind::Nested)
        })
    }

    /// What a write gives: the ids of what it made, changed or deleted.
    pub(crate) fn result(&self, ids: &[u64]) -> Json {
        let ids: Json = ids.iter().map(ToString::to_string).collect();
        json!({ self.keys: ids })
    }

    /// Checks an input object by the field table and gives its plain columns. Unknown members are
    /// refused; `Nested` and `Json` members are left to the method.
    pub(crate) fn validate(&self, input: &Json, path: &str, mode: Mode) -> ApiResult<Columns> {
        let Json::Object(members) = input else {
            return Err(ApiError::at(path, "an array is expected"));
        };
        for name in members.keys() {
            let known = self.field(name).is_some_and(|f| f.access != Access::ReadOnly)
                || (mode == Mode::Update && name == self.key);
            if !known {
                return Err(ApiError::at(path, format_args!("unexpected parameter \"{name}\"")));
            }
        }
        if mode == Mode::Update && !members.contains_key(self.key) {
            return Err(missing(path, self.key));
        }
        columns_of(self.fields, self.key, input, path, mode)
    }

    /// The id in an update's object.
    pub(crate) fn id_of(&self, input: &Json, path: &str) -> ApiResult<u64> {
        match input.get(self.key) {
            Some(value) => params::id(value, &format!("{path}/{}", self.key)),
            None => Err(missing(path, self.key)),
        }
    }

    /// Objects of an update call with path and id; none may come twice.
    pub(crate) fn updates<'j>(&self, input: &'j Json) -> ApiResult<Vec<(String, u64, &'j Json)>> {
        let (mut updates, mut seen) = (Vec::new(), BTreeSet::new());
        for (path, object) in params::objects(input)? {
            let id = self.id_of(object, &path)?;
            if !seen.insert(id) {
                return Err(taken(&path, self.key, id));
            }
            updates.push((path, id, object));
        }
        Ok(updates)
    }
}

/// Columns of the given members by a field table, unknown members ignored.
pub(crate) fn columns_of(
    fields: &'static [Field],
    key: &str,
    input: &Json,
    path: &str,
    mode: Mode,
) -> ApiResult<Columns> {
    let mut columns = Columns::new();
    for field in fields.iter().filter(|f| f.access != Access::ReadOnly && f.name != key) {
        match input.get(field.name) {
            Some(value) => {
                let path = format!("{path}/{}", field.name);
                if let Some(value) = field.check(value, &path, &columns)? {
                    columns.push((field.column, value));
                }
            }
            None if mode == Mode::Create
                && field.access == Access::Required
                && field.when.is_none_or(|when| when.holds(&columns)) =>
            {
                return Err(missing(path, field.name));
            }
            None => {}
        }
    }
    Ok(columns)
}

/// One value comes twice in a list: `value (groupid)=(5) already exists`.
pub(crate) fn taken(path: &str, names: &str, values: impl std::fmt::Display) -> ApiError {
    ApiError::at(path, format_args!("value ({names})=({values}) already exists"))
}

pub(crate) fn missing(path: &str, name: &str) -> ApiError {
    ApiError::at(path, format_args!("the parameter \"{name}\" is missing"))
}

impl FieldKind {
    /// What a column with this text holds, if that is JSON.
    pub(crate) fn stored_json(self, text: &str) -> Option<Json> {
        match self {
            Self::Settings => Some(serde_json::from_str(text).unwrap_or(Json::Null)),
            Self::Json | Self::Document => {
                Some(serde_json::from_str(text).unwrap_or_else(|_| Json::Array(Vec::new())))
            }
            _ => None,
        }
    }

    /// The column's value, or why it is refused; `None` for what the method reads itself.
    pub(crate) fn check(self, value: &Json, path: &str) -> ApiResult<Option<Value>> {
        Ok(Some(match self {
            Self::Id => Value::from(params::id(value, path)?),
            Self::Int(min, max) => {
                let n = params::int(value, path)?;
                if !(min..=max).contains(&n) {
                    return Err(ApiError::at(
                        path,
                        format_args!("value must be one of {min}-{max}"),
                    ));
                }
                Value::Int(n)
            }
            Self::OneOf(allowed) => {
                let n = params::int(value, path)?;
                if !allowed.contains(&n) {
                    return Err(params::one_of(path, allowed.iter().copied()));
                }
                Value::Int(n)
            }
            Self::Text(max) | Self::Name(max) => {
                let text = params::text(value, path)?;
                if matches!(self, Self::Name(_)) && text.is_empty() {
                    return Err(ApiError::at(path, "cannot be empty"));
                }
                if max > 0 && text.chars().count() > max {
                    return Err(ApiError::at(path, "value is too long"));
                }
                Value::Text(text)
            }
            Self::Nested | Self::Json | Self::Document | Self::Settings => return Ok(None),
        }))
    }
}
