//! Lists of rows that belong to an object, in tables of their own; links to other objects, too.

use config::Edit;
use config::db::Value;
use config::schema::Table;
use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Output;
use crate::object::{Columns, Field, Mode, columns_of, taken};
use crate::permission::{Need, on_hosts};
use crate::write::{nested, only};

/// A list of rows of an object.
pub(crate) struct Child {
    /// Member of the object.
    pub(crate) member: &'static str,
    /// Option of `get` that shows it.
    pub(crate) select: Option<&'static str>,
    /// The option takes `"count"`.
    pub(crate) counts: bool,
    /// Its table.
    pub(crate) table: &'static Table,
    /// Column with the id of the object.
    pub(crate) owner: &'static str,
    /// What tells its rows apart, and orders them.
    pub(crate) key: Key,
    /// Condition on the rows of the table that are this list; `None` = all of the object.
    pub(crate) among: Option<&'static str>,
    /// Its fields.
    pub(crate) fields: &'static [Field],
    /// Column with the id of a host, which is 0 for users who may not see the host.
    pub(crate) host: Option<&'static str>,
    /// An object has one at least.
    pub(crate) required: bool,
    /// Reads a row where the fields alone do not tell what is right.
    pub(crate) parse: Option<Parse>,
    /// Refuses or completes a row; `rows` come before it.
    pub(crate) check: fn(rows: &[Columns], row: &mut Columns, path: &str) -> ApiResult<()>,
    /// Refuses rows that refer to what is not there, or not for this user.
    pub(crate) refer: Refer,
}

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
    /// Id of the object that the row links to.
    Link(&'static str),
}

impl Key {
    const fn column(self) -> &'static str {
        match self {
            Self::Position(column) | Self::Id(column) | Self::Link(column) => column,
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
            counts: false,
            table,
            owner,
            key,
            among: None,
            fields,
            host: None,
            required: false,
            parse: None,
            check: |_, _, _| Ok(()),
            refer: |_, _, _, _| Ok(()),
        }
    }

    fn among(&self) -> String {
        self.among.map_or_else(String::new, |condition| format!(" AND {condition}"))
    }
}

/// Shows the list if the call asks for it.
pub(super) fn show(found: &mut Found<'_, '_>, child: &Child, strict: bool) -> ApiResult<()> {
    let Some(select) = child.select else { return Ok(()) };
    let wanted = match (strict, child.counts) {
        (false, _) => found.wants_uncounted(select)?,
        (true, true) => found.wants(select)?,
        (true, false) => found.wants_list(select)?,
    };
    let Some(wanted) = wanted else { return Ok(()) };
    let names: Vec<&'static str> = child.fields.iter().map(|field| field.name).collect();
    if let (Output::Fields(asked), true) = (&wanted, strict)
        && let Some(n) = asked.iter().position(|name| !names.contains(&name.as_str()))
    {
        let list: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let path = format!("/{select}/{}", n + 1);
        return Err(ApiError::at(&path, format!("value must be one of {}", list.join(", "))));
    }
    let Child { table, owner, key, .. } = child;
    let seen =
        child.host.and_then(|host| Some((host, on_hosts(found.call.user(), Need::Read, host)?)));
    let shown = |field: &Field| match &seen {
        Some((host, seen)) if *host == field.column => {
            format!(", CASE WHEN {seen} THEN {host} ELSE 0 END AS {}", field.name)
        }
        _ => format!(", {} AS {}", field.column, field.name),
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
    let names: Vec<&str> = child.fields.iter().map(|field| field.name).collect();
    let mut rows: Vec<Columns> = Vec::new();
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
                && rows.iter().any(|other| number(other, column) == number(&row, column))
            {
                return Err(taken(&path, field.name, number(&row, column)));
            }
        }
        (child.check)(&rows, &mut row, &path)?;
        rows.push(row);
    }
    if rows.is_empty() && child.required {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    Ok(rows)
}

/// Makes these the rows of the object.
pub(super) fn write(
    edit: &mut Edit<'_>,
    child: &Child,
    id: u64,
    rows: &[Columns],
) -> ApiResult<()> {
    let (table, owner, key) = (child.table, child.owner, child.key.column());
    if child.among.is_some() {
        let sql = format!("SELECT {key} FROM {table} WHERE {owner} = ?{}", child.among());
        let old = edit.query(&sql, &[id.into()])?;
        let old: Vec<Value> = old.iter().filter_map(|row| row.get(key).cloned()).collect();
        edit.delete_rows(table, &[(owner, &[id.into()]), (key, &old)])?;
    } else {
        edit.delete(table, owner, &[id])?;
    }
    for (position, row) in (0_i64..).zip(rows) {
        let mut columns = vec![(owner, Value::from(id))];
        columns.extend(row.iter().cloned());
        match child.key {
            Key::Position(column) => {
                columns.push((column, position.into()));
                edit.insert(table, &columns)?;
            }
            Key::Id(_) => drop(edit.insert_new(table, &columns)?),
            Key::Link(_) => edit.insert(table, &columns)?,
        }
    }
    Ok(())
}

/// Refuses a row that has the same values in these columns as one before it.
pub(crate) fn refuse_twin(
    rows: &[Columns],
    row: &Columns,
    columns: &[&str],
    path: &str,
) -> ApiResult<()> {
    let values = |row: &Columns| -> Vec<String> {
        let value = |column: &&str| {
            let found = row.iter().find(|(name, _)| name == column);
            found.map_or_else(String::new, |(_, value)| value.to_string())
        };
        columns.iter().map(value).collect()
    };
    let own = values(row);
    if rows.iter().any(|other| values(other) == own) {
        return Err(taken(path, &columns.join(", "), own.join(", ")));
    }
    Ok(())
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
