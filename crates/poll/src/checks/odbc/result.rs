//! What a database answered, as the value of an item.

use serde::Deserialize;
use serde_json::Value as Json;

/// What the key wants of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The first column of the first row.
    Value,
    /// JSON: objects by the columns' names.
    Rows,
    /// JSON: objects by macros that are made of the columns' names.
    Discovery,
}

/// Names of the columns; values row by row.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Rows {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Option<String>>>,
}

/// The item's value.
pub(super) fn text(form: Form, rows: &Rows) -> Result<String, String> {
    match form {
        Form::Value => match rows.rows.first().map(|row| row.first().cloned().flatten()) {
            Some(Some(value)) => Ok(value),
            Some(None) => Err("SQL query returned NULL value.".to_owned()),
            None => Err("SQL query returned empty result.".to_owned()),
        },
        Form::Rows => Ok(objects(&rows.columns, &rows.rows)),
        Form::Discovery => Ok(objects(&macros(&rows.columns)?, &rows.rows)),
    }
}

fn macros(columns: &[String]) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let sign = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if column.is_empty() || !column.chars().all(sign) {
            return Err(format!("Cannot convert column #{} name to macro.", at + 1));
        }
        let name = format!("{{#{}}}", column.to_ascii_uppercase());
        if names.contains(&name) {
            return Err(format!("Duplicate macro name: {name}."));
        }
        names.push(name);
    }
    Ok(names)
}

/// Written by hand: columns may have the same name twice, and each is kept.
fn objects(names: &[String], rows: &[Vec<Option<String>>]) -> String {
    let names: Vec<String> =
        names.iter().map(|name| Json::from(name.as_str()).to_string()).collect();
    let row = |row: &Vec<Option<String>>| {
        let member = |(name, value): (&String, &Option<String>)| {
            let value = value.as_deref().map_or(Json::Null, Json::from);
            format!("{name}:{value}")
        };
        let members: Vec<String> = names.iter().zip(row).map(member).collect();
        format!("{{{}}}", members.join(","))
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("[{}]", rows.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: &[&str], rows: &[&[Option<&str>]]) -> Rows {
        let row = |row: &&[Option<&str>]| row.iter().map(|v| v.map(str::to_owned)).collect();
        Rows {
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn forms() {
        let two = rows(&["a", "B c"], &[&[Some("1"), None], &[Some("\"x\""), Some("")]]);
        let doubled = rows(&["a", "a"], &[&[Some("1"), Some("2")]]);
        let found = rows(&["Name", "n.1_"], &[&[Some("x"), None]]);
        let none = rows(&["a"], &[]);
        let null = rows(&["a"], &[&[None]]);
        for (form, rows, expected) in [
            (Form::Value, &two, Ok("1")),
            (Form::Value, &none, Err("SQL query returned empty result.")),
            (Form::Value, &null, Err("SQL query returned NULL value.")),
            (Form::Rows, &two, Ok(r#"[{"a":"1","B c":null},{"a":"\"x\"","B c":""}]"#)),
            (Form::Rows, &doubled, Ok(r#"[{"a":"1","a":"2"}]"#)),
            (Form::Rows, &none, Ok("[]")),
            (Form::Discovery, &two, Err("Cannot convert column #2 name to macro.")),
            (Form::Discovery, &doubled, Err("Duplicate macro name: {#A}.")),
            (Form::Discovery, &found, Ok(r##"[{"{#NAME}":"x","{#N.1_}":null}]"##)),
            (Form::Discovery, &none, Ok("[]")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(text(form, rows), expected, "{form:?} {rows:?}");
        }
    }
}
