//! Lists of rows that belong to an object, in tables of their own; links to other objects, too.

use std::collections::{BTreeMap, HashSet};

use config::Edit;
use config::db::{Row, Value};
use config::schema::{Column, Table};
use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::object::{Access, Columns, Field, Mode, columns_of, taken};
use crate::permission::{Need, on_hosts};
use crate::write::{nested, only};

/// A list of rows of an object.
pub(crate) struct Child {
    /// Member of the object.
    pub(crate) member: &'static str,
    /// Option of `get` that shows it.
    pub(crate) select: Option<Select>,
    pub(crate) table: &'static Table,
    /// Column with the id of the object.
    pub(crate) owner: &'static str,
    /// What tells its rows apart, and orders them.
    pub(crate) key: Key,
    /// Condition on the rows of the table that are this list; `None` = all of the object.
    pub(crate) among: Option<&'static str>,
    pub(crate) fields: &'static [Field],
    /// Columns that together no two rows of an object share.
    pub(crate) unique: &'static [&'static str],
    /// An object has one at least.
    pub(crate) required: bool,
    /// Reads a row where the fields alone do not tell what is right.
    pub(crate) parse: Option<Parse>,
    /// Refuses or completes a row.
    pub(crate) check: fn(seen: &mut Seen, row: &mut Columns, path: &str) -> ApiResult<()>,
    /// Refuses rows that refer to what is not there, or not for this user.
    pub(crate) refer: Refer,
}

/// An option of `get` that shows a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Select {
    /// It takes fields of the rows.
    Rows(&'static str),
    /// It also takes `"count"`, for the number of rows.
    RowsOrCount(&'static str),
}

impl Select {
    /// The option.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rows(name) | Self::RowsOrCount(name) => name,
        }
    }
}

/// What [`Child::check`] notes of the rows before, to refuse twins.
pub(crate) type Seen = HashSet<Vec<String>>;

/// See [`Child::parse`].
pub(crate) type Parse = fn(&Call<'_>, &Map<String, Json>, &str) -> ApiResult<Columns>;

/// See [`Child::refer`].
pub(crate) type Refer = fn(&Call<'_>, &mut Edit<'_>, &[Columns], &str) -> ApiResult<()>;

/// The column that tells the rows of an object apart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    /// Number of the row in the list.
    Position(&'static str),
    /// Id of its own.
    Id(&'static str),
    /// Id of its own. A row that names it keeps what it leaves out; others are new.
    Named(&'static str),
    /// Id of the object that the row links to.
    Link(&'static str),
}

impl Key {
    const fn column(self) -> &'static str {
        match self {
            Self::Position(column)
            | Self::Id(column)
            | Self::Named(column)
            | Self::Link(column) => column,
        }
    }
}

impl Child {
    /// A list that may be empty, of rows that their fields describe, and that no option shows.
    pub(crate) const fn new(
        member: &'static str,
        table: &'static Table,
        owner: &'static str,
        key: Key,
        fields: &'static [Field],
    ) -> Self {
        Self {
            member,
            select: None,
            table,
            owner,
            key,
            among: None,
            fields,
            unique: &[],
            required: false,
            parse: None,
            check: |_, _, _| Ok(()),
            refer: |_, _, _, _| Ok(()),
        }
    }

    /// Whether rows may be given a member of this name.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        let given = self.fields.iter().filter(|field| field.access != Access::ReadOnly);
        given.map(|field| field.name).any(|known| known == name)
    }

    fn among(&self) -> String {
        self.among.map_or_else(String::new, |condition| format!(" AND {condition}"))
    }
}

/// Shows the list if the call asks for it.
pub(super) fn show(found: &mut Found<'_, '_>, child: &Child, strict: bool) -> ApiResult<()> {
    let Some(option) = child.select else { return Ok(()) };
    let (select, counts) = (option.name(), matches!(option, Select::RowsOrCount(_)));
    let wanted = match (strict, counts) {
        (false, _) => found.wants_uncounted(select)?,
        (true, true) => found.wants(select)?,
        (true, false) => found.wants_list(select)?,
    };
    let Some(wanted) = wanted else { return Ok(()) };
    let names: Vec<&'static str> = child.fields.iter().map(|field| field.name).collect();
    if strict {
        wanted.only(select, &names)?;
    }
    let Child { table, owner, key, .. } = child;
    let user = found.call.user();
    let shown = |field: &Field| {
        let Field { name, column, .. } = field;
        let seen = field.of_host.then(|| on_hosts(user, Need::Read, column)).flatten();
        match seen {
            Some(seen) => format!(", CASE WHEN {seen} THEN {column} ELSE 0 END AS {name}"),
            None => format!(", {column} AS {name}"),
        }
    };
    let columns: String = child.fields.iter().map(shown).collect();
    let sql = format!(
        "SELECT {owner} AS owner{columns} FROM {table} WHERE {owner} IN ({{ids}}){} \
         ORDER BY {table}.{owner}, {table}.{}",
        child.among(),
        key.column(),
    );
    found.attach(child.member, &wanted, &sql, &names)
}

/// Reads the list as it is given.
pub(super) fn parse(
    call: &Call<'_>,
    child: &Child,
    list: &Json,
    path: &str,
) -> ApiResult<Vec<Columns>> {
    let names = child.fields.iter().map(|field| field.name);
    let names: Vec<&str> = names.filter(|name| child.is_given(name)).collect();
    let mut rows: Vec<Columns> = Vec::new();
    let (mut links, mut seen, mut noted) = (HashSet::new(), HashSet::new(), Seen::new());
    for (path, members) in nested(list, path)? {
        only(members, &path, &names)?;
        let mut row = match child.parse {
            Some(parse) => parse(call, members, &path)?,
            None => {
                let members = Json::Object(Map::clone(members));
                columns_of(child.fields, "", &members, &path, Mode::Create)?
            }
        };
        if let Key::Link(column) = child.key {
            let link = child.fields.iter().find(|field| field.column == column);
            if let Some(field) = link
                && !links.insert(number(&row, column))
            {
                return Err(taken(&path, field.name, number(&row, column)));
            }
        }
        (child.check)(&mut noted, &mut row, &path)?;
        let own: Vec<String> = child.unique.iter().map(|column| shown(&row, column)).collect();
        if !own.is_empty() && !seen.insert(own.clone()) {
            return Err(taken(&path, &child.unique.join(", "), own.join(", ")));
        }
        rows.push(row);
    }
    if rows.is_empty() && child.required {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    Ok(rows)
}

/// Rows that one statement deletes: databases limit its parameters.
const GONE_AT_ONCE: usize = 10_000;

/// Makes these the rows of the object. Only what differs is written, so that the audit log shows just that.
pub(super) fn write(
    edit: &mut Edit<'_>,
    child: &Child,
    id: u64,
    rows: &[Columns],
) -> ApiResult<()> {
    let (table, owner, key) = (child.table, child.owner, child.key.column());
    let sql = format!("SELECT * FROM {table} WHERE {owner} = ?{} ORDER BY {key}", child.among());
    let stored = edit.query(&sql, &[id.into()])?;
    let (mut new, mut changed) = (Vec::new(), Vec::new());
    let mut stored: BTreeMap<i64, Row> =
        stored.into_iter().map(|row| (row.int(key), row)).collect();
    let mut is_prefix = true;
    for (position, row) in (0_i64..).zip(rows) {
        let place = match child.key {
            Key::Position(_) => Some(position),
            Key::Link(column) | Key::Named(column) => Some(number(row, column)),
            // Ids give the order: rows behind the first one that differs are written again.
            Key::Id(_) => {
                let next = stored.first_key_value().filter(|_| is_prefix);
                let same = next.filter(|(_, before)| differing(child, before, row).is_empty());
                is_prefix = same.is_some();
                same.map(|(place, _)| *place)
            }
        };
        match place.and_then(|place| Some((place, stored.remove(&place)?))) {
            Some((place, before)) => changed.push((place, differing(child, &before, row))),
            None => new.push((position, row)),
        }
    }
    let gone: Vec<Value> = stored.into_keys().map(Value::from).collect();
    for some in gone.chunks(GONE_AT_ONCE) {
        edit.delete_rows(table, &[(owner, &[id.into()]), (key, some)])?;
    }
    for (place, row) in changed {
        edit.update_rows(table, &[(owner, &[id.into()]), (key, &[place.into()])], &row)?;
    }
    for (position, row) in new {
        let mut columns = vec![(owner, Value::from(id))];
        columns.extend(row.iter().cloned());
        match child.key {
            Key::Position(column) => {
                columns.push((column, position.into()));
                edit.insert(table, &columns)?;
            }
            Key::Id(_) => drop(edit.insert_new(table, &columns)?),
            Key::Named(column) => {
                columns.retain(|(name, _)| *name != column);
                edit.insert_new(table, &columns)?;
            }
            Key::Link(_) => edit.insert(table, &columns)?,
        }
    }
    Ok(())
}

/// Columns that get other values; those that are not given get their defaults, or stay.
fn differing(child: &Child, before: &Row, row: &Columns) -> Columns {
    let columns = child.table.columns.iter();
    let columns = columns.filter(|one| ![child.owner, child.key.column()].contains(&one.name));
    let value = |column: &Column| {
        let given = row.iter().find(|(name, _)| *name == column.name);
        given.map_or_else(|| column.default_value(), |(_, value)| value.clone())
    };
    let is_kept = |column: &&Column| {
        matches!(child.key, Key::Named(_)) && row.iter().all(|(name, _)| *name != column.name)
    };
    let columns = columns.filter(|column| !is_kept(column));
    let all = columns.map(|column| (column.name, value(column)));
    all.filter(|(name, new)| shown_of(before.get(name)) != new.to_string()).collect()
}

fn shown(row: &Columns, column: &str) -> String {
    shown_of(row.iter().find(|(name, _)| *name == column).map(|(_, value)| value))
}

fn shown_of(value: Option<&Value>) -> String {
    value.map_or_else(String::new, ToString::to_string)
}

/// A row's text in a column, if it is given.
pub(crate) fn text<'r>(row: &'r Columns, column: &str) -> Option<&'r str> {
    row.iter().find_map(|(name, value)| match value {
        Value::Text(text) if *name == column => Some(text.as_str()),
        _ => None,
    })
}

/// A row's number in a column; what is not given is 0.
pub(crate) fn number(row: &Columns, column: &str) -> i64 {
    row.iter().find(|(name, _)| *name == column).map_or(0, |(_, value)| value.as_int())
}
